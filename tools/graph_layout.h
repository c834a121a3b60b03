// Places the boxes of a directed graph without cycles: for hilo graph.
#ifndef HILO_TOOLS_GRAPH_LAYOUT_H_
#define HILO_TOOLS_GRAPH_LAYOUT_H_

#include <vector>

namespace hilo::tools {

struct Point {
  double x = 0, y = 0;
};

struct GraphBox {
  double width = 0, height = 0;
  std::vector<int> inputs;  // indices of boxes that come before this one; edges lead from them
  Point corner;             // top left: the result
};

struct GraphEdge {
  int from = 0, to = 0;
  std::vector<Point> points;  // from the bottom of one box to the top of the other
};

struct GraphLayout {
  std::vector<GraphBox> boxes;
  std::vector<GraphEdge> edges;
  double width = 0, height = 0;
};

// Layers from top to bottom, each box below its inputs; boxes without inputs stand just above the first box that reads
// them. Orders within layers reduce crossings. Time: linear in the edges and the layers that they cross, which count as
// at most kMaxBends; longer edges are straight.
GraphLayout LayOut(std::vector<GraphBox> boxes);
inline constexpr int kMaxBends = 200000;

}  // namespace hilo::tools

#endif  // HILO_TOOLS_GRAPH_LAYOUT_H_
