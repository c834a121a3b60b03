#include "backends/cpu/kernels/convolution_plan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "backends/cpu/convolution/convolution_kernels.h"
#include "hlo/ops/reduction/sum_type.h"

namespace hilo::cpu {
namespace {

constexpr int64_t kMaxPhases = 16;
// Minimum number of units of a large convolution, for parallelism.
constexpr int64_t kUnits = 32;
// Sections of positions at most, and tiles of a block of lanes in a section at least, as each section reads all of the
// kernel. Measured on two processors without a common cache (Zen 4), in us, one section and these: three results of 3x3
// of 32 features on 128 x 128 567 and 169, depthwise 3x3 457 and 282, grouped 323 and 254, 1x1 of 256 features on a
// batch of 4 of 14 x 14 676 and 557, 5 of 64 features on a batch of 8 of 1000 2250 and 1980 (the last two channels
// first).
constexpr int64_t kMaxSections = 8, kMinSection = 32;
// Vectors of results of a tile from which its taps, independent of each other, fill the multiply-add units by
// themselves: unrolling only lengthens the code.
constexpr int kFullBody = 6;

// Features of a group that are lanes together: the loop over them is unrolled.
constexpr int64_t kMaxGroup = 8;
// Bits of the narrowest vectors of the library.
constexpr int kLibraryBits = 256;
// Rows of a tile whose lanes are pairwise: they share only the vectors of the kernel, so that a few amortize it.
constexpr int64_t kMaxPairwiseRows = 4;

// Indices far outside an array, which are never accessed, may wrap.
int64_t BoundedProduct(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
int64_t Sum(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }
// a / b rounded up, 0 for a < 0.
int64_t CeilDivOrZero(int64_t a, int64_t b) { return a > 0 ? (a - 1) / b + 1 : 0; }

// One window dimension of one phase.
struct PhaseWindow {
  ConvolutionReach reach;
  int64_t positions = 0, first_position = 0, position_step = 1;  // of the result
  int64_t taps = 0, first_tap = 0, tap_step = 1;                 // of the window
};

std::vector<PhaseWindow> PhasesOfWindow(Window::Dimension window, int64_t size, int64_t positions) {
  if (size <= 1) window.base_dilation = 1;
  if (positions <= 1) window.stride = 1;
  if (window.size == 1) window.window_dilation = 1;
  const int64_t dilation = window.base_dilation;
  const int64_t position_step = dilation / std::gcd(dilation, window.stride);
  const int64_t tap_step = dilation / std::gcd(dilation, window.window_dilation);
  std::vector<PhaseWindow> phases;
  for (int64_t first = 0; first < std::min(position_step, positions) && first < kMaxPhases + 1; ++first) {
    PhaseWindow phase{.positions = CeilDivOrZero(positions - first, position_step),
                      .first_position = first,
                      .position_step = position_step,
                      .tap_step = tap_step};
    phase.reach = {.stride = window.stride / std::gcd(dilation, window.stride),
                   .dilation = window.window_dilation / std::gcd(dilation, window.window_dilation),
                   .size = size};
    for (int64_t k = 0; k < std::min(tap_step, window.size); ++k) {
      const int64_t position = first * window.stride + k * window.window_dilation - window.padding_low;
      if (position % dilation != 0) continue;
      phase.first_tap = k;
      phase.taps = CeilDivOrZero(window.size - k, tap_step);
      phase.reach.offset = position / dilation;
      break;
    }
    phases.push_back(phase);
  }
  return phases;
}

bool IsOne(const ConvolutionAxis& a, const ConvolutionAxis& b) {
  return a.lhs == b.lhs * b.count && a.rhs == b.rhs * b.count && a.out == b.out * b.count;
}
bool IsOne(const ConvolutionTap& a, const ConvolutionTap& b) {
  return a.lhs == b.lhs * b.count && a.rhs == b.rhs * b.count;
}

// Merges loop i with loop i + 1 (or, for axes, with any other) if together they are a single stride over the arrays.
template <typename Loop>
void Merge(std::vector<Loop>* loops, bool neighbours) {
  for (size_t i = 0; i < loops->size(); ++i) {
    for (size_t j = neighbours ? i + 1 : 0; j < (neighbours ? std::min(i + 2, loops->size()) : loops->size()); ++j) {
      if (i == j || (*loops)[i].window >= 0 || (*loops)[j].window >= 0 || !IsOne((*loops)[i], (*loops)[j])) continue;
      (*loops)[j].count *= (*loops)[i].count;
      loops->erase(loops->begin() + static_cast<int64_t>(i));
      return Merge(loops, neighbours);
    }
  }
}

// Merges the groups with their features if a group has as many inputs as outputs, which adjacent lanes of a vector can
// share: groups of half a vector and less, as lanes of larger ones can read the same input.
void MergeGroups(int64_t lanes, ConvolutionPhase* phase) {
  const auto is_feature = [](const ConvolutionAxis& axis) {
    return axis.lhs == 0 && axis.rhs == 1 && axis.out == 1 && axis.window < 0;
  };
  const auto feature = std::find_if(phase->axes.begin(), phase->axes.end(), is_feature);
  if (feature == phase->axes.end() || phase->taps.empty()) return;
  ConvolutionTap& tap = phase->taps.back();
  const int64_t size = feature->count;
  if (tap.count != size || tap.lhs != 1 || tap.window >= 0) return;
  if (!std::has_single_bit(static_cast<uint64_t>(size)) || size > kMaxGroup || 2 * size > lanes) return;
  const auto group = std::find_if(phase->axes.begin(), phase->axes.end(), [&](const ConvolutionAxis& axis) {
    return axis.lhs == size && axis.rhs == size && axis.out == size && axis.window < 0;
  });
  if (group == phase->axes.end()) return;
  *group = {.count = size * group->count, .lhs = 1, .rhs = 1, .out = 1, .group = size};
  tap.lhs = 0;
  phase->axes.erase(feature);
}

void AddWindow(const PhaseWindow& window, bool reversed, int64_t size, int64_t lhs_stride, int64_t rhs_stride,
               int64_t out_stride, ConvolutionPhase* phase) {
  const ConvolutionReach& reach = window.reach;
  const int64_t direction = reversed ? -1 : 1;
  ConvolutionAxis axis{.count = window.positions,
                       .lhs = BoundedProduct(reach.stride, lhs_stride),
                       .out = BoundedProduct(window.position_step, out_stride)};
  ConvolutionTap tap{.count = window.taps,
                     .lhs = BoundedProduct(reach.dilation, lhs_stride),
                     .rhs = direction * BoundedProduct(window.tap_step, rhs_stride)};
  phase->lhs = Sum(phase->lhs, BoundedProduct(reach.offset, lhs_stride));
  phase->rhs += (reversed ? size - 1 - window.first_tap : window.first_tap) * rhs_stride;
  phase->out += window.first_position * out_stride;
  if (window.positions == 1) {
    const ConvolutionReach::Range taps = reach.TapsAt(0, window.taps);
    tap.count = taps.last - taps.first;
    phase->lhs = Sum(phase->lhs, BoundedProduct(taps.first, tap.lhs));
    phase->rhs += taps.first * tap.rhs;
  } else if (window.taps > 0) {
    const ConvolutionReach::Range inside = reach.PositionsInside(window.positions, window.taps);
    if (inside.last - inside.first < window.positions) {
      axis.window = tap.window = static_cast<int>(phase->reaches.size());
      phase->reaches.push_back(reach);
    }
  }
  phase->axes.push_back(axis);
  phase->taps.push_back(tap);
}

// The part of a load that operations do not hide, since operands may come from beyond the first-level cache. Larger
// tiles load less. Measured with 0.1, 0.2, 0.3 and 0.4: 3x3 on 14x14x256 takes 6.6, 4.4, 4.5 and 4.5 ms, its kernel's
// gradient 1.8, 1.1, 1.2 and 1.2, 1x1 from 256 to 512 features 2.3, 1.7, 2.0 and 2.1.
constexpr double kLoadShare = 0.2;

// Results that are not adjacent are stored as columns of a tile, or one by one. Little of the time; it decides between
// lanes that are otherwise alike, as both kinds of features in the gradient of a kernel.
constexpr double kFarStores = 1.01;

// A tile that reads more bytes of the kernel gets them from the second-level cache, since the tiles of a block of lanes
// all read the same ones. Such a cache gives 64 bytes in a cycle, the time of two vector operations.
constexpr double kNearBytes = 48 << 10;
constexpr double kFarBytesPerOperation = 32;

// Where the operands of a unit are, and which taps are inside, in vector operations: measured where lanes are pairwise,
// whose units have few products; others have so many that it counts for nothing.
constexpr double kUnitCost = 200;

// What depends on the number of registers, in vector operations.
struct MachineCosts {
  // Independent sums that keep the multiply-add units busy: two products start in each of the four cycles that one
  // takes. The parts of a complex number are sums of two products each.
  double latency = 8;
  // Loading one element to all lanes.
  double broadcast = 0.5;
  // Bytes of a cache line, of which vectors of the kernel take a whole number; 0 if that counts for nothing.
  double line = 0;
  // Positions whose rows reach over a border have code of their own.
  double border = 1.05;
  // Lanes that reach over a border have masks.
  double masks = 1.2;
  // Share of the copies of a tile in its code size.
  double copies = 0;
  // Bytes of the kernel that arrive from the second-level cache during a vector operation, beside other loads.
  double far_bytes = std::numeric_limits<double>::infinity();
};
// Measured with 16 registers on a Zen 3, 3x3 of 64 features, ms for tiles of vectors x rows: 4x3 2.42, 2x6 2.44, 2x5
// 2.53, 1x12 2.80, 2x4 2.83, 1x10 2.90. A broadcast takes as long as a vector, and few sums do not catch up on what was
// late. Tiles at borders take 1.4 times as long to compile as those of the images of a batch, copies up to 3 times. Of
// kernels in the second-level cache, 3x3 of 256 features on 14 x 14, ms on two threads: 4x3 1.6, 2x5 1.8, 2x6 1.9, 4x2
// 2.0, 2x4 2.1.
MachineCosts CostsOf(const ConvolutionMachine& machine) {
  if (machine.registers > 16 && !(machine.in_library && machine.vector_bits <= 256)) return {};
  return {.latency = 8.8, .broadcast = 1, .line = 64, .border = 1.1, .masks = 1.5, .copies = 1, .far_bytes = 12};
}

// Bits of a lane: complex numbers are two vectors.
int BitsOf(PrimitiveType type) { return 8 * static_cast<int>(PrimitiveTypeByteSize(ComplexComponentType(type))); }

// Costs of an access in vector operations.
double LoadCost(int64_t stride, int width, const MachineCosts& costs) {
  if (stride == 0) return costs.broadcast;
  if (stride == 1 || width == 1) return 1;
  return std::abs(stride) <= 4 ? 3 : width;
}

}  // namespace

ConvolutionReach::Range ConvolutionReach::TapsAt(int64_t position, int64_t taps) const {
  const int64_t at = Sum(BoundedProduct(position, stride), offset);
  const int64_t first = std::min(at >= 0 ? 0 : CeilDivOrZero(-at, dilation), taps);
  const int64_t last = at >= size ? 0 : std::min(CeilDivOrZero(size - at, dilation), taps);
  return {first, std::max(first, last)};
}

ConvolutionReach::Range ConvolutionReach::PositionsInside(int64_t positions, int64_t taps) const {
  if (taps == 0) return {0, positions};
  const int64_t last_tap = Sum(offset, BoundedProduct(taps - 1, dilation));
  const int64_t first = std::min(offset >= 0 ? 0 : CeilDivOrZero(-offset, stride), positions);
  const int64_t last = last_tap >= size ? 0 : std::min(CeilDivOrZero(size - last_tap, stride), positions);
  return {first, std::max(first, last)};
}

namespace {

std::optional<std::vector<ConvolutionPhase>> PhasesOf(const ConvolutionAttrs& attrs, const Shape& lhs, const Shape& rhs,
                                                      const Shape& out, bool in_order, int vector_bits) {
  const ConvolutionDimensionNumbers& numbers = attrs.dim_labels;
  const std::vector<int64_t> lhs_strides = ShapeUtil::RowMajorStrides(lhs.dimensions());
  const std::vector<int64_t> rhs_strides = ShapeUtil::RowMajorStrides(rhs.dimensions());
  const std::vector<int64_t> out_strides = ShapeUtil::RowMajorStrides(out.dimensions());
  const int64_t in = rhs.dimensions(numbers.kernel_input_feature_dimension());
  const int64_t groups = attrs.feature_group_count * attrs.batch_group_count;
  const int64_t group_size = rhs.dimensions(numbers.kernel_output_feature_dimension()) / groups;
  const int64_t batch = out.dimensions(numbers.output_batch_dimension());
  const int64_t lhs_batch = lhs_strides[numbers.input_batch_dimension()],
                lhs_feature = lhs_strides[numbers.input_feature_dimension()];
  const int64_t rhs_feature = rhs_strides[numbers.kernel_output_feature_dimension()];
  const int64_t out_feature = out_strides[numbers.output_feature_dimension()];

  ConvolutionPhase base;
  base.axes = {{.count = groups,
                .lhs = attrs.feature_group_count > 1 ? in * lhs_feature : batch * lhs_batch,
                .rhs = group_size * rhs_feature,
                .out = group_size * out_feature},
               {.count = batch, .lhs = lhs_batch, .out = out_strides[numbers.output_batch_dimension()]},
               {.count = group_size, .rhs = rhs_feature, .out = out_feature}};
  std::vector<ConvolutionPhase> phases = {base};
  for (size_t s = 0; s < attrs.window.dimensions.size(); ++s) {
    const Window::Dimension& window = attrs.window.dimensions[s];
    const int64_t input = numbers.input_spatial_dimensions()[s], output = numbers.output_spatial_dimensions()[s];
    const std::vector<PhaseWindow> windows = PhasesOfWindow(window, lhs.dimensions(input), out.dimensions(output));
    if (static_cast<int64_t>(phases.size() * windows.size()) > kMaxPhases) return std::nullopt;
    std::vector<ConvolutionPhase> next;
    for (const ConvolutionPhase& phase : phases) {
      for (const PhaseWindow& one : windows) {
        AddWindow(one, window.window_reversal, window.size, lhs_strides[input],
                  rhs_strides[numbers.kernel_spatial_dimensions()[s]], out_strides[output], &next.emplace_back(phase));
      }
    }
    phases = std::move(next);
  }
  for (ConvolutionPhase& phase : phases) {
    phase.taps.push_back(
        {.count = in, .lhs = lhs_feature, .rhs = rhs_strides[numbers.kernel_input_feature_dimension()]});
    std::erase_if(phase.axes, [](const ConvolutionAxis& axis) { return axis.count == 1; });
    std::erase_if(phase.taps, [](const ConvolutionTap& tap) { return tap.count == 1 && tap.window < 0; });
    if (!in_order) {
      std::stable_sort(phase.taps.begin(), phase.taps.end(), [](const ConvolutionTap& a, const ConvolutionTap& b) {
        return std::abs(a.lhs) + std::abs(a.rhs) > std::abs(b.lhs) + std::abs(b.rhs);
      });
    }
    Merge(&phase.axes, /*neighbours=*/false);
    Merge(&phase.taps, /*neighbours=*/true);
    MergeGroups(vector_bits / BitsOf(out.element_type()), &phase);
  }
  return phases;
}

}  // namespace

std::optional<std::vector<ConvolutionPhase>> PhasesOf(const HloInstruction& convolution, bool in_order,
                                                      int vector_bits) {
  return PhasesOf(convolution.attrs<ConvolutionAttrs>(), convolution.operand(0)->shape(),
                  convolution.operand(1)->shape(), convolution.shape(), in_order, vector_bits);
}

const ConvolutionTap& TapOf(const ConvolutionPhase& phase, int window) {
  return *std::find_if(phase.taps.begin(), phase.taps.end(),
                       [&](const ConvolutionTap& tap) { return tap.window == window; });
}

ConvolutionReach::Range TiledPositions(const ConvolutionPhase& phase, const ConvolutionAxis& tile, bool placed) {
  if (tile.window < 0 || placed) return {0, tile.count};
  return phase.reaches[tile.window].PositionsInside(tile.count, TapOf(phase, tile.window).count);
}

bool ConvolutionPlan::KeepsTapsRolled(int rows) const { return rows * vectors >= kFullBody; }

std::vector<int64_t> ConvolutionPlan::ToTile() const {
  return {lanes, tile, width, vectors, rows, placed ? 1 : 0, tiles_per_unit};
}

ConvolutionPlan ConvolutionPlan::FromTile(absl::Span<const int64_t> numbers) {
  const auto number = [&](size_t i) { return static_cast<int>(numbers[i]); };
  return {.lanes = number(0),
          .tile = number(1),
          .width = number(2),
          .vectors = number(3),
          .rows = number(4),
          .placed = numbers[5] != 0,
          .tiles_per_unit = numbers[6]};
}

ConvolutionUnits UnitsOf(const ConvolutionPhase& phase, const ConvolutionPlan& plan) {
  const ConvolutionAxis none;
  const ConvolutionAxis& lanes = plan.lanes < 0 ? none : phase.axes[plan.lanes];
  const ConvolutionReach::Range positions =
      TiledPositions(phase, plan.tile < 0 ? none : phase.axes[plan.tile], plan.placed);
  ConvolutionUnits units{.sizes = {1, CeilDivOrZero(lanes.count, int64_t{plan.width} * plan.vectors)}};
  units.tiles = CeilDivOrZero(positions.last - positions.first, plan.rows);
  int64_t tiles = units.tiles;
  for (size_t a = 0; a < phase.axes.size(); ++a) {
    if (static_cast<int>(a) == plan.lanes || static_cast<int>(a) == plan.tile) continue;
    units.outer.push_back(phase.axes[a]);
    units.sizes.push_back(phase.axes[a].count);
    tiles *= phase.axes[a].count;
  }
  units.sizes.push_back(std::max<int64_t>(1, CeilDivOrZero(units.tiles, plan.tiles_per_unit)));
  if (units.sizes[1] > 1 && (units.outer.empty() || units.outer[0].rhs == 0)) {
    int64_t& sections = units.sizes[0];
    sections = std::clamp<int64_t>(tiles / kMinSection, 1, kMaxSections);
    while (units.sizes[2] % sections != 0) --sections;
    units.sizes[2] /= sections;
  }
  for (const int64_t size : units.sizes) units.count *= size;
  return units;
}

int64_t TilesPerUnit(const ConvolutionPhase& phase, const ConvolutionPlan& plan) {
  const ConvolutionUnits units = UnitsOf(phase, plan);  // with one tile each
  const int64_t others = units.count / std::max<int64_t>(units.tiles, 1);
  const int64_t chunks =
      std::min(std::max<int64_t>(units.tiles, 1), CeilDivOrZero(kUnits, std::max<int64_t>(others, 1)));
  return std::max<int64_t>(1, CeilDivOrZero(units.tiles, chunks));
}

bool AreAlike(const ConvolutionPhase& a, const ConvolutionPhase& b, const ConvolutionPlan& plan) {
  if (a.axes != b.axes || a.taps != b.taps || a.reaches.size() != b.reaches.size()) return false;
  const ConvolutionAxis none;
  const ConvolutionAxis& lanes = plan.lanes < 0 ? none : a.axes[plan.lanes];
  const ConvolutionAxis& tile = plan.tile < 0 ? none : a.axes[plan.tile];
  for (size_t w = 0; w < a.reaches.size(); ++w) {
    const ConvolutionReach &of_a = a.reaches[w], &of_b = b.reaches[w];
    if (of_a.stride != of_b.stride || of_a.dilation != of_b.dilation || of_a.size != of_b.size) return false;
    // Masked and placed tiles are emitted for their position.
    const int window = static_cast<int>(w);
    const bool is_known = window == lanes.window || (plan.placed && window == tile.window);
    if (is_known && of_a.offset != of_b.offset) return false;
  }
  const ConvolutionReach::Range of_a = TiledPositions(a, tile, plan.placed),
                                of_b = TiledPositions(b, tile, plan.placed);
  return of_a.last - of_a.first == of_b.last - of_b.first;
}

namespace {

// Tiles of an axis that reach outside the input are specialized for their position if the axis is short, its window has
// few taps, and rows share enough that computing one at a time takes longer.
bool IsPlaced(const ConvolutionPhase& phase, const ConvolutionAxis& lanes, const ConvolutionAxis& tile) {
  constexpr int64_t kShortRow = 28, kMaxUnrolledTaps = 5;
  return tile.window >= 0 && !lanes.IsPairwise() && tile.count <= kShortRow &&
         TapOf(phase, tile.window).count <= kMaxUnrolledTaps;
}

}  // namespace

ConvolutionPlan PlanOf(const ConvolutionPhase& phase, PrimitiveType type, const ConvolutionMachine& machine) {
  const int parts = IsComplexType(type) ? 2 : 1;
  const double work = IsComplexType(type) ? 4 : IsFloatingPointType(type) ? 1 : 2;
  const int bits = BitsOf(type);
  const int axes = static_cast<int>(phase.axes.size());
  double all = 1, taps = 1;
  for (const ConvolutionAxis& axis : phase.axes) all *= static_cast<double>(axis.count);
  for (const ConvolutionTap& tap : phase.taps) taps *= static_cast<double>(tap.count);
  const MachineCosts costs = CostsOf(machine);
  const ConvolutionAxis none;
  const bool has_groups =
      std::any_of(phase.axes.begin(), phase.axes.end(), [](const ConvolutionAxis& axis) { return axis.group > 1; });
  ConvolutionPlan best;
  best.cost = -1;
  for (int l = -1; l < axes; ++l) {
    const ConvolutionAxis& lanes = l < 0 ? none : phase.axes[l];
    if (has_groups && lanes.group == 1) continue;
    const bool may_be_partial = machine.may_be_partial && lanes.lhs == 0, fills = machine.in_library && !may_be_partial;
    const int64_t least = machine.in_library && may_be_partial ? kLibraryBits / bits : 1;
    const int width = static_cast<int>(std::bit_ceil(static_cast<uint64_t>(
        std::max(least, std::min<int64_t>(lanes.count, std::max(1, machine.vector_bits / bits))))));
    const int64_t vectors_in_all = CeilDivOrZero(lanes.count, width);
    if (machine.in_library && (lanes.rhs != 1 || lanes.out != 1 || lanes.window >= 0)) continue;
    if (fills && lanes.count < width) continue;
    for (int vectors = 1; vectors <= std::min<int64_t>(4, vectors_in_all); ++vectors) {
      for (int t = -1; t < axes; ++t) {
        if (t >= 0 && t == l) continue;
        const ConvolutionAxis& tile = t < 0 ? none : phase.axes[t];
        if ((machine.in_library && tile.rhs != 0) || (fills && lanes.count < int64_t{width} * vectors)) continue;
        // Lanes of groups take a register for which lanes they read, and one for what these have.
        const int operands = lanes.group > 1 ? vectors + 3 : 4;
        int64_t most = std::clamp<int64_t>((machine.registers - operands * parts) / (vectors * parts), 1, tile.count);
        if (lanes.IsPairwise() && tile.rhs == 0) most = std::min(most, kMaxPairwiseRows);
        if (machine.in_library)
          most = std::min(most, convolution::MaxRows(convolution::LanesOf(lanes.lhs == 0 ? 0 : lanes.group)));
        const bool placed = IsPlaced(phase, lanes, tile);
        const ConvolutionReach::Range positions = TiledPositions(phase, tile, placed);
        // The first and the last tile are specialized, with a copy for each tap.
        const double copies = placed ? 1 + 2 * costs.copies * static_cast<double>(TapOf(phase, tile.window).count) : 1;
        const int64_t tiled = std::max<int64_t>(positions.last - positions.first, 0), singles = tile.count - tiled;
        const double unit_cost = lanes.IsPairwise() ? kUnitCost / std::max(taps, 1.0) : 0;
        for (int64_t rows = most; rows >= 1; --rows) {
          const auto step = [&](int64_t r) {
            const double lhs = LoadCost(lanes.lhs, width, costs) *
                               static_cast<double>((tile.lhs != 0 ? r : 1) * (lanes.lhs != 0 ? vectors : 1));
            const double register_bytes = static_cast<double>(width) * bits / 8;
            double rhs_vectors = lanes.rhs != 0 ? vectors : 1;
            if (lanes.rhs == 1 && costs.line > 0)
              rhs_vectors = std::ceil(rhs_vectors * register_bytes / costs.line) * costs.line / register_bytes;
            if (tile.rhs != 0) rhs_vectors *= static_cast<double>(r);
            const bool is_far = lanes.rhs != 0 && taps * rhs_vectors * register_bytes * parts > kNearBytes;
            const double rhs = LoadCost(lanes.rhs, width, costs) * rhs_vectors *
                               (is_far ? std::max(1.0, register_bytes / kFarBytesPerOperation) : 1);
            const double far = is_far ? rhs_vectors * register_bytes * parts / costs.far_bytes : 0;
            // Several independent chains of sums hide each other's latency.
            return std::max({static_cast<double>(r * vectors) * work, lhs + rhs, far, costs.latency * parts}) +
                   kLoadShare * (lhs + rhs);
          };
          const int64_t tiles = CeilDivOrZero(tiled, rows);
          double cost = all / static_cast<double>(lanes.count * tile.count) *
                        static_cast<double>(CeilDivOrZero(vectors_in_all, vectors)) *
                        (static_cast<double>(tiles) * step(std::min(rows, tiled)) +
                         static_cast<double>(singles) * step(1) + unit_cost);
          cost *= 1 + 0.002 * copies * static_cast<double>(rows * vectors);  // code size
          if (lanes.window >= 0) cost *= costs.masks;
          if (lanes.out != 1) cost *= kFarStores;
          if (tile.window >= 0) cost *= costs.border;
          // Rows that are near each other share lines of the cache. Those of a tile that reaches over a border meet
          // more taps together if these are of an outer loop.
          const bool is_nearer =
              best.tile >= 0 && t >= 0 && !placed && std::abs(tile.lhs) < std::abs(phase.axes[best.tile].lhs);
          if (best.cost < 0 || cost < best.cost || (cost == best.cost && is_nearer)) {
            best = {.lanes = l,
                    .tile = t,
                    .width = width,
                    .vectors = vectors,
                    .rows = static_cast<int>(rows),
                    .cost = cost};
          }
        }
      }
    }
  }
  best.placed =
      best.tile >= 0 && IsPlaced(phase, best.lanes < 0 ? none : phase.axes[best.lanes], phase.axes[best.tile]);
  best.tiles_per_unit = TilesPerUnit(phase, best);
  return best;
}

namespace {

// Returns the vector operations of all phases of a convolution on arrays of these dimensions.
double CostOf(const ConvolutionAttrs& attrs, const Shape& lhs, const Shape& rhs, const Shape& out) {
  const std::optional<std::vector<ConvolutionPhase>> phases =
      PhasesOf(attrs, lhs, rhs, out, /*in_order=*/false, ConvolutionMachine().vector_bits);
  if (!phases) return 0;
  double cost = 0;
  for (const ConvolutionPhase& phase : *phases) {
    double taps = 1;
    for (const ConvolutionTap& tap : phase.taps) taps *= static_cast<double>(tap.count);
    cost += taps * PlanOf(phase, out.element_type(), {}).cost;
  }
  return cost;
}

Shape Permuted(const Shape& shape, const std::vector<int64_t>& permutation) {
  std::vector<int64_t> sizes;
  for (int64_t d : permutation) sizes.push_back(shape.dimensions(d));
  return Shape(shape.element_type(), sizes);
}

// Measured: lanes of features that are minor-most take 10 to 50 % less time than lanes of positions, from a vector of
// features on. Each array that is transposed for that costs an operation an element.
constexpr double kFeaturesGain = 0.15;

// Returns true if it pays to transpose the input and the result so that features are minor-most.
bool PrefersFeaturesLast(const HloInstruction& convolution) {
  ConvolutionAttrs transposed = convolution.attrs<ConvolutionAttrs>();
  if (transposed.feature_group_count != 1 || transposed.batch_group_count != 1) return false;
  const Shape &lhs = convolution.operand(0)->shape(), &rhs = convolution.operand(1)->shape(),
              &out = convolution.shape();
  const int64_t features = rhs.dimensions(transposed.dim_labels.kernel_output_feature_dimension());
  const int64_t width = ConvolutionMachine().vector_bits / PrimitiveTypeBitWidth(out.element_type());
  if (features < width || TransposeInputFeatures(&transposed.dim_labels).empty() ||
      TransposeResultFeatures(&transposed.dim_labels).empty())
    return false;
  double elements = static_cast<double>(ShapeUtil::ElementsIn(lhs));
  for (const int64_t stride : ReadStrides(transposed, lhs, out)) elements /= static_cast<double>(stride);
  elements += static_cast<double>(ShapeUtil::ElementsIn(out));
  const double products = static_cast<double>(ShapeUtil::ElementsIn(out)) *
                          static_cast<double>(ShapeUtil::ElementsIn(rhs)) / static_cast<double>(features);
  return kFeaturesGain * products / static_cast<double>(width) > elements;
}

// The least part of the lanes that features use: nine of two vectors do. Measured (Zen 4, two threads), us of a run and
// ms to compile, transposed and generated, and as it is: 5x5 from 8 to 9 features on 32 x 32 25 and 47, 21 and 3.3.
constexpr double kMinUsedLanes = 0.55;

// Returns true if the lanes of a convolution in f32 or f64, as it is, may be features that fill vectors of 32 bytes,
// which the library has tiles for.
bool HasFeatureLanes(const HloInstruction& convolution) {
  const auto& attrs = convolution.attrs<ConvolutionAttrs>();
  const Shape &kernel = convolution.operand(1)->shape(), &out = convolution.shape();
  const int64_t dimension = attrs.dim_labels.kernel_output_feature_dimension();
  if ((out.element_type() != F32 && out.element_type() != F64) || attrs.feature_group_count != 1 ||
      attrs.batch_group_count != 1 || dimension != kernel.rank() - 1 ||
      attrs.dim_labels.output_feature_dimension() != out.rank() - 1)
    return false;
  const int64_t width = 256 / PrimitiveTypeBitWidth(out.element_type()), features = kernel.dimensions(dimension);
  const int64_t vectors = CeilDivOrZero(features, width);
  return features >= width && static_cast<double>(features) >= kMinUsedLanes * static_cast<double>(vectors * width);
}

// A convolution keeps its form if it costs less than so many times as much as the cheapest other form: a transpose is
// a pass over memory more, and the costs are estimates. A short one whose features the library has tiles for may cost
// more; up to so many times kShortConvolution it counts as short.
constexpr double kKeptForm = 1.2, kKeptShortForm = 2.5, kMaxKeptShort = 5;

}  // namespace

bool MayBeShort(const HloInstruction& convolution) {
  const std::vector<Window::Dimension>& window = convolution.attrs<ConvolutionAttrs>().window.dimensions;
  return convolution.parent() == convolution.parent()->parent()->entry_computation() &&
         std::any_of(window.begin(), window.end(), [](const Window::Dimension& d) { return d.size > 1; });
}

bool IsKernelConvolution(const HloInstruction& convolution, bool strict) {
  const Shape &lhs = convolution.operand(0)->shape(), &rhs = convolution.operand(1)->shape(),
              &out = convolution.shape();
  const PrimitiveType type = out.element_type();
  if (lhs.element_type() != type || rhs.element_type() != type || SumType(type, type, type) != type) return false;
  if (ShapeUtil::IsZeroElementArray(out) || ShapeUtil::IsZeroElementArray(lhs) || ShapeUtil::IsZeroElementArray(rhs))
    return true;
  if (PrefersFeaturesLast(convolution)) return false;
  // Compares with the forms that the expansion makes of it.
  ConvolutionAttrs transposed = convolution.attrs<ConvolutionAttrs>();
  Shape transposed_lhs = lhs, transposed_rhs = rhs;
  double moved = 0, best = -1;
  const double as_it_is = CostOf(transposed, lhs, rhs, out);
  for (Shape* operand : {&transposed_rhs, &transposed_lhs}) {
    const std::vector<int64_t> permutation =
        operand == &transposed_rhs ? TransposeKernel(&transposed.dim_labels) : TransposeInput(&transposed.dim_labels);
    if (permutation.empty()) continue;
    *operand = Permuted(*operand, permutation);
    moved += static_cast<double>(ShapeUtil::ElementsIn(*operand));
    const double cost = CostOf(transposed, transposed_lhs, transposed_rhs, out) + moved;
    if (best < 0 || cost < best) best = cost;
  }
  const bool may_be_short = !strict && as_it_is <= kMaxKeptShort * kShortConvolution && MayBeShort(convolution) &&
                            HasFeatureLanes(convolution);
  return best < 0 || as_it_is < (may_be_short ? kKeptShortForm : kKeptForm) * best;
}

}  // namespace hilo::cpu
