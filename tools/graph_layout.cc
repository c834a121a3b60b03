// A layered drawing. Edges that cross layers get a bend in each, which is placed like a box without a size. The order
// within the layers comes from sweeps that sort each layer by the mean position of its neighbours in the layer before;
// the coordinates from sweeps that move each box towards its neighbours as far as the boxes beside it allow.
#include "tools/graph_layout.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

namespace hilo::tools {
namespace {

constexpr double kGapX = 24, kGapY = 44, kMargin = 20, kBendWidth = 10;
constexpr int kOrderSweeps = 8, kPlaceSweeps = 8;

struct Vertex {
  double width = kBendWidth, x = 0;
  int layer = 0;
  std::vector<int> above, below;
};

class Drawing {
 public:
  explicit Drawing(std::vector<GraphBox> boxes) : boxes_(std::move(boxes)) {}

  GraphLayout Run() {
    AssignLayers();
    AddBends();
    Order();
    Place();
    return Result();
  }

 private:
  // `boxes_` stand in an order in which inputs come first.
  void AssignLayers() {
    vertices_.resize(boxes_.size());
    std::vector<int> first_user(boxes_.size(), -1);
    int layers = 0;
    for (size_t i = 0; i < boxes_.size(); ++i) {
      vertices_[i].width = boxes_[i].width;
      for (const int input : boxes_[i].inputs)
        vertices_[i].layer = std::max(vertices_[i].layer, vertices_[input].layer + 1);
      layers = std::max(layers, vertices_[i].layer + 1);
    }
    for (size_t i = 0; i < boxes_.size(); ++i) {
      for (const int input : boxes_[i].inputs) {
        const int layer = vertices_[i].layer;
        first_user[input] = first_user[input] < 0 ? layer : std::min(first_user[input], layer);
      }
    }
    for (size_t i = 0; i < boxes_.size(); ++i) {
      if (boxes_[i].inputs.empty() && first_user[i] > 0) vertices_[i].layer = first_user[i] - 1;
    }
    layers_.resize(layers);
  }

  void AddBends() {
    int64_t bends = 0;
    for (size_t i = 0; i < boxes_.size(); ++i) {
      std::vector<int> inputs = boxes_[i].inputs;
      std::sort(inputs.begin(), inputs.end());
      inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
      for (const int input : inputs) {
        Chain chain{.from = input, .to = static_cast<int>(i)};
        int last = input;
        bends += vertices_[i].layer - vertices_[input].layer - 1;
        for (int layer = vertices_[input].layer + 1; layer < vertices_[i].layer && bends <= kMaxBends; ++layer) {
          const int bend = static_cast<int>(vertices_.size());
          vertices_.push_back({.layer = layer});
          Connect(last, bend);
          chain.bends.push_back(bend);
          last = bend;
        }
        Connect(last, static_cast<int>(i));
        chains_.push_back(std::move(chain));
      }
    }
    for (size_t v = 0; v < vertices_.size(); ++v) layers_[vertices_[v].layer].push_back(static_cast<int>(v));
  }

  void Connect(int above, int below) {
    vertices_[above].below.push_back(below);
    vertices_[below].above.push_back(above);
  }

  void Order() {
    std::vector<double> position(vertices_.size());
    const auto number = [&](const std::vector<int>& layer) {
      for (size_t i = 0; i < layer.size(); ++i)
        position[layer[i]] = static_cast<double>(i) / static_cast<double>(layer.size());
    };
    for (const std::vector<int>& layer : layers_) number(layer);
    for (int sweep = 0; sweep < kOrderSweeps; ++sweep) {
      const bool down = sweep % 2 == 0;
      for (size_t k = 0; k < layers_.size(); ++k) {
        std::vector<int>& layer = layers_[down ? k : layers_.size() - 1 - k];
        for (const int v : layer) {
          const std::vector<int>& others = down ? vertices_[v].above : vertices_[v].below;
          double sum = 0;
          for (const int other : others) sum += position[other];
          if (!others.empty()) position[v] = sum / static_cast<double>(others.size());
        }
        std::stable_sort(layer.begin(), layer.end(), [&](int a, int b) { return position[a] < position[b]; });
        number(layer);
      }
    }
  }

  double Centre(int v) const { return vertices_[v].x + vertices_[v].width / 2; }

  // Left to right, none overlapping, each as near to its wish as the ones before allow; then back from the right.
  void PlaceLayer(const std::vector<int>& layer, const std::vector<double>& wish) {
    double left = -1e300;
    for (const int v : layer) {
      vertices_[v].x = std::max(wish[v] - vertices_[v].width / 2, left);
      left = vertices_[v].x + vertices_[v].width + kGapX;
    }
    // Runs of boxes that touch are moved to the mean of their wishes.
    for (size_t begin = 0; begin < layer.size();) {
      size_t end = begin + 1;
      double off = wish[layer[begin]] - Centre(layer[begin]);
      while (end < layer.size() &&
             vertices_[layer[end]].x - vertices_[layer[end - 1]].x - vertices_[layer[end - 1]].width < kGapX + 0.5) {
        off += wish[layer[end]] - Centre(layer[end]);
        ++end;
      }
      const double room = begin == 0 ? 1e300
                                     : vertices_[layer[begin]].x - vertices_[layer[begin - 1]].x -
                                           vertices_[layer[begin - 1]].width - kGapX;
      const double move = std::max(off / static_cast<double>(end - begin), -room);
      for (size_t i = begin; i < end && move < 0; ++i) vertices_[layer[i]].x += move;
      begin = end;
    }
  }

  void Place() {
    for (const std::vector<int>& layer : layers_) {
      double x = 0;
      for (const int v : layer) {
        vertices_[v].x = x;
        x += vertices_[v].width + kGapX;
      }
      for (const int v : layer) vertices_[v].x -= x / 2;
    }
    std::vector<double> wish(vertices_.size());
    for (int sweep = 0; sweep < kPlaceSweeps; ++sweep) {
      const bool down = sweep % 2 == 0;
      for (size_t k = 0; k < layers_.size(); ++k) {
        const std::vector<int>& layer = layers_[down ? k : layers_.size() - 1 - k];
        for (const int v : layer) {
          const std::vector<int>& others = down ? vertices_[v].above : vertices_[v].below;
          double sum = 0;
          for (const int other : others) sum += Centre(other);
          wish[v] = others.empty() ? Centre(v) : sum / static_cast<double>(others.size());
        }
        PlaceLayer(layer, wish);
      }
    }
  }

  GraphLayout Result() {
    GraphLayout layout;
    double least = 1e300, most = -1e300;
    for (const Vertex& vertex : vertices_) {
      least = std::min(least, vertex.x);
      most = std::max(most, vertex.x + vertex.width);
    }
    std::vector<double> top(layers_.size()), bottom(layers_.size());
    double y = kMargin;
    for (size_t k = 0; k < layers_.size(); ++k) {
      double height = 0;
      for (const int v : layers_[k]) {
        if (v < static_cast<int>(boxes_.size())) height = std::max(height, boxes_[v].height);
      }
      top[k] = y;
      bottom[k] = y + height;
      y += height + kGapY;
    }
    for (size_t i = 0; i < boxes_.size(); ++i)
      boxes_[i].corner = {vertices_[i].x - least + kMargin, top[vertices_[i].layer]};
    for (const Chain& chain : chains_) {
      GraphEdge edge{.from = chain.from, .to = chain.to};
      edge.points.push_back(
          {Centre(chain.from) - least + kMargin, boxes_[chain.from].corner.y + boxes_[chain.from].height});
      for (const int bend : chain.bends) {
        const int layer = vertices_[bend].layer;
        edge.points.push_back({Centre(bend) - least + kMargin, top[layer]});
        edge.points.push_back({Centre(bend) - least + kMargin, bottom[layer]});
      }
      edge.points.push_back({Centre(chain.to) - least + kMargin, boxes_[chain.to].corner.y});
      layout.edges.push_back(std::move(edge));
    }
    layout.width = most - least + 2 * kMargin;
    layout.height = y - kGapY + kMargin;
    layout.boxes = std::move(boxes_);
    return layout;
  }

  struct Chain {
    int from = 0, to = 0;
    std::vector<int> bends;
  };
  std::vector<GraphBox> boxes_;
  std::vector<Vertex> vertices_;  // the boxes, then the bends
  std::vector<Chain> chains_;     // the edges
  std::vector<std::vector<int>> layers_;
};

}  // namespace

GraphLayout LayOut(std::vector<GraphBox> boxes) { return Drawing(std::move(boxes)).Run(); }

}  // namespace hilo::tools
