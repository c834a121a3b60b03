#include "backends/cpu/kernels/library_convolution.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <initializer_list>
#include <tuple>
#include <vector>

#include "backends/cpu/convolution/convolution_kernels.h"
#include "backends/cpu/convolution/position_kernels.h"
#include "backends/cpu/convolution/position_loops.h"
#include "backends/cpu/kernels/library_call.h"
#include "backends/cpu/kernels/patch_convolution.h"
#include "base/math.h"
#include "hilo/status_macros.h"

namespace hilo::cpu {
namespace {

// Products of an element of a result: the run is polled for cancellation between tiles only.
constexpr int64_t kMaxTerms = 1 << 20;
// Counts, strides and offsets, whose products then fit in 64 bits.
constexpr int64_t kLargestNumber = 1 << 30;

// Vectors that all processors have which have these tiles.
constexpr int64_t kNarrowBits = 256;

using Numbers = std::array<uint64_t, sizeof(convolution::Loops) / sizeof(int64_t)>;

convolution::Axis AxisOf(const ConvolutionAxis& axis) {
  return {.count = axis.count, .lhs = axis.lhs, .rhs = axis.rhs, .out = axis.out, .window = axis.window};
}

// Returns true if convolution_loops.cc has tiles of a partial vector: lanes read the same element of the input, and the
// kernel, which is packed, is one.
bool HasPartialTiles(const ConvolutionPhase& phase, const ConvolutionPlan& plan, const ConvolutionAxis& lanes,
                     PrimitiveType type) {
  double bytes = static_cast<double>(plan.width) * plan.vectors * static_cast<double>(PrimitiveTypeByteSize(type));
  for (const ConvolutionTap& tap : phase.taps) bytes *= static_cast<double>(tap.count);
  return lanes.lhs == 0 && lanes.count > int64_t{plan.width} * (plan.vectors - 1) &&
         bytes <= convolution::Loops::kMaxPacked &&
         std::all_of(phase.axes.begin(), phase.axes.end(),
                     [&](const ConvolutionAxis& axis) { return axis.rhs == 0 || axis == lanes; });
}

// Returns true if convolution_loops.cc has tiles of the plan, whose lanes are features.
bool HasFeatureTiles(const ConvolutionPhase& phase, const ConvolutionPlan& plan, const ConvolutionAxis& lanes,
                     const ConvolutionAxis& tile, PrimitiveType type, int64_t group) {
  return lanes.rhs == 1 && lanes.out == 1 && lanes.window < 0 && tile.rhs == 0 &&
         (!HasPartialVector(phase, plan) || HasPartialTiles(phase, plan, lanes, type)) &&
         (lanes.lhs == 0 || lanes.lhs == 1) && plan.rows <= convolution::MaxRows(convolution::LanesOf(group));
}

// Returns true if position_loops.cc has tiles of the plan, whose lanes are positions.
bool HasPositionTiles(const ConvolutionPhase& phase, const ConvolutionPlan& plan, const ConvolutionAxis& lanes,
                      const ConvolutionAxis& tile, PrimitiveType type) {
  return type == F32 && lanes.group == 1 && std::abs(lanes.lhs) <= convolution::kMaxLaneStride && tile.lhs == 0 &&
         tile.group == 1 && plan.rows <= convolution::kMaxFeatureRows &&
         plan.vectors <= convolution::MaxPositionVectors(plan.rows) &&
         std::has_single_bit(static_cast<unsigned>(plan.vectors)) &&
         (lanes.window < 0 || TapOf(phase, lanes.window).count <= convolution::kMaxPositionTaps);
}

}  // namespace

bool HasPositionLanes(const ConvolutionPhase& phase, const ConvolutionPlan& plan) {
  return plan.lanes >= 0 && phase.axes[static_cast<size_t>(plan.lanes)].rhs == 0;
}

bool HasPartialVector(const ConvolutionPhase& phase, const ConvolutionPlan& plan) {
  return plan.lanes >= 0 && phase.axes[static_cast<size_t>(plan.lanes)].count < int64_t{plan.width} * plan.vectors;
}

std::optional<ConvolutionPlan> PositionPlanOf(const ConvolutionPhase& phase, PrimitiveType type,
                                              const codegen::TargetTraits& target) {
  const int64_t bits = PrimitiveTypeBitWidth(type), width = std::max<int64_t>(1, target.vector_bits / bits);
  ConvolutionPlan plan{.width = static_cast<int>(width)};
  // Adjacent elements of the input first, then full vectors, then neighbours.
  const auto quality = [&](const ConvolutionAxis& axis) {
    const double filled = static_cast<double>(axis.count) / static_cast<double>(CeilDiv(axis.count, width) * width);
    return std::tuple(axis.lhs == 1 && 2 * axis.count >= width, filled, -std::abs(axis.lhs));
  };
  for (int a = 0; a < static_cast<int>(phase.axes.size()); ++a) {
    const ConvolutionAxis& axis = phase.axes[a];
    if (axis.rhs == 1 && axis.out == 1 && (axis.lhs == 0 || axis.lhs == 1) && axis.count * bits >= kNarrowBits)
      return std::nullopt;
    if (axis.rhs == 0 && axis.lhs != 0 && (plan.lanes < 0 || quality(axis) > quality(phase.axes[plan.lanes])))
      plan.lanes = a;
    if (axis.lhs == 0 && axis.rhs != 0 && (plan.tile < 0 || axis.count > phase.axes[plan.tile].count)) plan.tile = a;
  }
  if (plan.lanes < 0) return std::nullopt;
  if (plan.tile >= 0) plan.rows = static_cast<int>(std::min(phase.axes[plan.tile].count, convolution::kMaxFeatureRows));
  const int64_t vectors = CeilDiv(phase.axes[plan.lanes].count, width);
  plan.vectors = static_cast<int>(
      std::min<uint64_t>(std::bit_ceil(static_cast<uint64_t>(vectors)), convolution::MaxPositionVectors(plan.rows)));
  plan.tiles_per_unit = TilesPerUnit(phase, plan);
  return plan;
}

std::optional<convolution::Loops> LibraryLoopsOf(const ConvolutionPhase& phase, const ConvolutionPlan& plan,
                                                 PrimitiveType type, const codegen::TargetTraits& target) {
  using convolution::Loops;
  const int64_t bits = plan.width * PrimitiveTypeBitWidth(type);
  if ((type != F32 && type != F64) || !target.has_fma || target.vector_bits < 256 ||
      (bits != target.vector_bits && bits != kNarrowBits) || plan.lanes < 0 ||
      plan.vectors > convolution::kMaxVectors ||
      int64_t{plan.rows} * plan.vectors > convolution::MaxSums(target.vector_registers))
    return std::nullopt;
  const ConvolutionAxis& lanes = phase.axes[static_cast<size_t>(plan.lanes)];
  const ConvolutionAxis tile = plan.tile < 0 ? ConvolutionAxis() : phase.axes[static_cast<size_t>(plan.tile)];
  const bool are_positions = HasPositionLanes(phase, plan);
  const int64_t group = lanes.lhs == 0 ? 0 : lanes.group;
  if (are_positions ? !HasPositionTiles(phase, plan, lanes, tile, type)
                    : !HasFeatureTiles(phase, plan, lanes, tile, type, group))
    return std::nullopt;
  const ConvolutionUnits units = UnitsOf(phase, plan);
  const ConvolutionReach::Range positions = TiledPositions(phase, tile, plan.placed),
                                inside = TiledPositions(phase, tile, /*placed=*/false);
  if (units.outer.size() > Loops::kMaxOuter || phase.taps.size() > Loops::kTaps ||
      phase.reaches.size() > Loops::kMaxReaches)
    return std::nullopt;
  Loops loops{.lhs = phase.lhs,
              .rhs = phase.rhs,
              .out = phase.out,
              .width = plan.width,
              .vectors = plan.vectors,
              .rows = std::clamp<int64_t>(positions.last - positions.first, 1, plan.rows),
              .first_position = positions.first,
              .positions = positions.last - positions.first,
              .first_inside = inside.first,
              .last_inside = inside.last,
              .tiles = units.tiles,
              .tiles_per_unit = plan.tiles_per_unit,
              .units = units.count,
              .sections = units.sizes[0],
              .lanes = lanes.count,
              .group = group,
              .lane = are_positions ? AxisOf(lanes) : convolution::Axis{.count = 0},
              .tile = AxisOf(tile),
              .outer_count = static_cast<int64_t>(units.outer.size())};
  std::transform(units.outer.begin(), units.outer.end(), loops.outer, AxisOf);
  int64_t terms = 1;
  for (size_t t = 0; t < phase.taps.size(); ++t) {
    const ConvolutionTap& tap = phase.taps[t];
    loops.taps[Loops::kTaps - phase.taps.size() + t] = {tap.count, tap.lhs, tap.rhs, tap.window};
    if (tap.count > kMaxTerms || (terms *= tap.count) > kMaxTerms) return std::nullopt;
  }
  for (size_t r = 0; r < phase.reaches.size(); ++r) {
    const ConvolutionReach& reach = phase.reaches[r];
    loops.reaches[r] = {reach.stride, reach.dilation, reach.offset, reach.size};
  }
  for (const uint64_t word : std::bit_cast<Numbers>(loops)) {
    const auto number = static_cast<int64_t>(word);
    if (number > kLargestNumber || number < -kLargestNumber) return std::nullopt;
  }
  return loops;
}

absl::Status EmitLibraryConvolution(FunctionEmitter& f, const KernelParts& kernel) {
  const HloInstruction& convolution = *kernel.instruction;
  const std::initializer_list<llvm::Value*> arrays = {f.PointerTo(convolution.operand(0)),
                                                      f.PointerTo(convolution.operand(1)), f.PointerTo(&convolution)};
  if (const std::optional<convolution::Patches> patches = PatchesOf(convolution)) {
    using PatchNumbers = std::array<uint64_t, sizeof(convolution::Patches) / sizeof(int64_t)>;
    EmitLibraryCall(f, kernel, "hilo_cpu_convolution_s8", std::bit_cast<PatchNumbers>(*patches), arrays);
    return absl::OkStatus();
  }
  const PrimitiveType type = convolution.shape().element_type();
  const auto phases = PhasesOf(convolution, /*in_order=*/false, f.context().target().vector_bits);
  HILO_RET_CHECK(phases.has_value());
  std::vector<uint64_t> numbers = {phases->size()};
  for (size_t p = 0; p < phases->size(); ++p) {
    const ConvolutionPlan plan = ConvolutionPlan::FromTile(
        absl::MakeConstSpan(kernel.config.tile).subspan(p * ConvolutionPlan::kNumbers, ConvolutionPlan::kNumbers));
    const std::optional<convolution::Loops> loops = LibraryLoopsOf((*phases)[p], plan, type, f.context().target());
    HILO_RET_CHECK(loops.has_value());
    const Numbers phase = std::bit_cast<Numbers>(*loops);
    numbers.insert(numbers.end(), phase.begin(), phase.end());
  }
  EmitLibraryCall(f, kernel, type == F32 ? "hilo_cpu_convolution_f32" : "hilo_cpu_convolution_f64", numbers, arrays);
  return absl::OkStatus();
}

}  // namespace hilo::cpu
