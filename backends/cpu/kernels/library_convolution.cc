#include "backends/cpu/kernels/library_convolution.h"

#include <algorithm>
#include <array>
#include <bit>
#include <initializer_list>
#include <vector>

#include "backends/cpu/convolution/convolution_kernels.h"
#include "backends/cpu/kernels/library_call.h"
#include "backends/cpu/kernels/patch_convolution.h"
#include "hilo/status_macros.h"

namespace hilo::cpu {
namespace {

// Vectors of products of a unit: 250 cycles of two a cycle, where the call and what precedes it take 30 to 40.
constexpr int64_t kLeastUnitProducts = 500;
// Products of an element of a result: the run is polled for cancellation between tiles only.
constexpr int64_t kMostTerms = 1 << 20;
// Counts, strides and offsets, whose products then fit in 64 bits.
constexpr int64_t kLargestNumber = 1 << 30;

// Vectors that all processors have which have these tiles.
constexpr int64_t kNarrowBits = 256;

using Numbers = std::array<uint64_t, sizeof(convolution::Loops) / sizeof(int64_t)>;

convolution::Axis AxisOf(const ConvolutionAxis& axis) {
  return {.count = axis.count, .lhs = axis.lhs, .rhs = axis.rhs, .out = axis.out, .window = axis.window};
}

}  // namespace

std::optional<convolution::Loops> LibraryLoopsOf(const ConvolutionPhase& phase, const ConvolutionPlan& plan,
                                                 PrimitiveType type, const codegen::TargetTraits& target) {
  using convolution::Loops;
  const int64_t bits = plan.width * PrimitiveTypeBitWidth(type);
  if ((type != F32 && type != F64) || !target.has_fma || target.vector_bits < 256 ||
      (bits != target.vector_bits && bits != kNarrowBits) || plan.lanes < 0 ||
      plan.vectors > convolution::kMostVectors ||
      int64_t{plan.rows} * plan.vectors > convolution::MostSums(target.vector_registers))
    return std::nullopt;
  const ConvolutionAxis& lanes = phase.axes[static_cast<size_t>(plan.lanes)];
  const ConvolutionAxis tile = plan.tile < 0 ? ConvolutionAxis() : phase.axes[static_cast<size_t>(plan.tile)];
  if (lanes.rhs != 1 || lanes.out != 1 || lanes.window >= 0 || tile.rhs != 0 ||
      lanes.count < int64_t{plan.width} * plan.vectors)
    return std::nullopt;
  if (lanes.lhs != 0 && lanes.lhs != 1) return std::nullopt;
  const int64_t group = lanes.lhs == 0 ? 0 : lanes.group;
  if (plan.rows > convolution::MostRows(convolution::LanesOf(group))) return std::nullopt;
  const ConvolutionUnits units = UnitsOf(phase, plan);
  const ConvolutionReach::Range positions = TiledPositions(phase, tile, plan.placed),
                                inside = TiledPositions(phase, tile, /*placed=*/false);
  if (units.outer.size() > Loops::kMostOuter || phase.taps.size() > Loops::kTaps ||
      phase.reaches.size() > Loops::kMostReaches)
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
              .tile = AxisOf(tile),
              .outer_count = static_cast<int64_t>(units.outer.size())};
  std::transform(units.outer.begin(), units.outer.end(), loops.outer, AxisOf);
  int64_t terms = 1;
  for (size_t t = 0; t < phase.taps.size(); ++t) {
    const ConvolutionTap& tap = phase.taps[t];
    loops.taps[Loops::kTaps - phase.taps.size() + t] = {tap.count, tap.lhs, tap.rhs, tap.window};
    if (tap.count > kMostTerms || (terms *= tap.count) > kMostTerms) return std::nullopt;
  }
  const int64_t tiles = std::clamp<int64_t>(loops.tiles, 1, loops.tiles_per_unit);
  if (terms * loops.rows * loops.vectors * tiles < kLeastUnitProducts) return std::nullopt;
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
