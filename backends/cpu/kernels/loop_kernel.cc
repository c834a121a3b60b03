// Loops over the elements of a result: element-wise operations, data movement, and fusions of them, one result or
// several. Which of them: loop_choice.cc.
#include "absl/algorithm/container.h"
#include "backends/cpu/kernels/choice_families.h"
#include "backends/cpu/kernels/code_size.h"
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/nest_emitter.h"
#include "backends/llvm/nest/loop_elements.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/loop_results.h"

namespace hilo::cpu {
namespace {

using codegen::Index;
using codegen::LoopNest;
using codegen::NestDim;
using codegen::Position;

std::vector<int64_t> Outer(const Shape& shape, int64_t inner) {
  auto sizes = shape.dimensions();
  sizes.remove_suffix(inner);
  return {sizes.begin(), sizes.end()};
}

// Elements of small square matrices are mostly read one by one.
bool IsSmallMatrix(const Shape& shape) {
  const int64_t rank = shape.rank();
  return rank >= 2 && shape.dimensions(rank - 1) > 1 && shape.dimensions(rank - 1) == shape.dimensions(rank - 2);
}

// Returns true if the arrays of a tiny loop are in memory anyway or are locals that were written as vectors: then it is
// vectors. Elements that were just stored one by one would delay the load of a vector of them. Other results in locals
// are vectors unless they are small matrices. Functions are worth vectors in any case.
bool UsesVectors(FunctionEmitter& f, const HloInstruction* instruction, const Shape& shape) {
  if (HasFunctions(*instruction, ShapeUtil::ElementsIn(shape))) return true;
  bool has_vectors = false;
  for (const HloInstruction* operand : instruction->operands()) {
    if (operand->shape().IsScalar()) continue;
    if (f.HoldsElements(operand)) return false;
    if (!f.IsLocal(operand)) continue;
    if (!f.HoldsVectors(operand)) return false;
    has_vectors = true;
  }
  return has_vectors || !f.IsLocal(instruction) || !IsSmallMatrix(shape);
}

// Nanoseconds of a vector, by the cost model, from which the last vectors of a row may begin earlier: a minimum for
// each vector is then little beside the rest, and the code is half as much. Measured with AVX-512, in us without and
// with it: rows of 30 copies of 0.9 ns 21.4 and 29.7, of 120 of 1.5 ns 30.0 and 31.9; of 28 maxima of four elements, 4
// ns, 21.3 and 21.7, of 60 sums of exponentials, 10 ns, 10.3 and 8.5. Lanes that are rows are stored in many pieces:
// rows of four copies 5.8 and 4.8.
// Without AVX-512 masks are expensive: a masked store takes 12 cycles on a Zen 3, and narrow elements a branch each.
constexpr double kMinVectorNanoseconds = 2;

bool GainsByRepeating(FunctionEmitter& f, const KernelParts& kernel, const LoopNest& nest) {
  if (kernel.config.kind == KernelKind::kNarrowRows || !f.context().target().has_avx512) return true;
  double elements = 1;
  for (const NestDim& dim : nest) elements *= static_cast<double>(dim.size());
  return kernel.config.nanoseconds * static_cast<double>(kernel.config.width) >= kMinVectorNanoseconds * elements;
}

// Vectors of a row that are emitted one by one, and the code of the largest such loop: the counter and the minimum of a
// loop of two overlapping vectors take as long as these, where elements only move.
constexpr int64_t kMaxUnrolledVectors = 4, kUnrolledRowCode = 100;

// Returns the vectors of an iteration along a row: all of them if they are few and little code, else one.
int64_t UnrolledVectorsOfRow(const KernelParts& kernel, int64_t row) {
  const int64_t vectors = CeilDiv(row, kernel.config.width);
  return vectors <= kMaxUnrolledVectors && CodeSize(*kernel.instruction, /*by_elements=*/false) <= kUnrolledRowCode
             ? std::max<int64_t>(1, vectors)
             : 1;
}

// Returns the segments of a dimension, which follow the indices of a part; none if there is one, in several parts.
std::vector<int64_t> CutsOf(const KernelConfig& config) {
  if (config.tile.size() <= 3 && config.tile[0] < config.tile.back()) return {};
  return {config.tile.begin() + 1, config.tile.end()};
}

// Emits the elements of a nest that covers the dimensions of the results.
absl::Status EmitLoopNest(FunctionEmitter& f, const KernelParts& kernel, LoopNest nest) {
  const LoopResults loop = LoopResultsOf(*kernel.instruction);
  const bool has_vectors = absl::c_any_of(nest, [](const NestDim& dim) { return dim.lanes > 1; });
  f.SetHoldsVectors(kernel.instruction, has_vectors);
  const bool repeats = GainsByRepeating(f, kernel, nest) && MayRepeat(f, *kernel.instruction);
  for (NestDim& dim : nest) dim.repeats = repeats;
  return EmitNest(f, kernel, nest, [&](absl::Span<const Position> positions) {
    std::vector<Index> indices;
    for (const Position& position : positions) indices.push_back(Joined(f.context(), position));
    const bool has_lanes = f.context().lanes.width > 1;
    return kernel.config.kind == KernelKind::kNarrowRows && has_lanes ? EmitRowsOfLanes(f, loop, indices)
                                                                      : EmitElements(f, loop, indices);
  });
}

}  // namespace

absl::Status EmitUnrolled(FunctionEmitter& f, const KernelParts& kernel) {
  const LoopResults loop = LoopResultsOf(*kernel.instruction);
  if (kernel.config.width > 1 && UsesVectors(f, kernel.instruction, loop.shape())) return EmitWholeVectors(f, kernel);
  NestDim all{.sizes = Outer(loop.shape(), 0)};
  all.part = all.unroll = std::max<int64_t>(1, all.size());
  return EmitLoopNest(f, kernel, {all});
}

absl::Status EmitFlatLoop(FunctionEmitter& f, const KernelParts& kernel) {
  const LoopResults loop = LoopResultsOf(*kernel.instruction);
  return EmitLoopNest(f, kernel,
                      {{.sizes = Outer(loop.shape(), 0), .part = kernel.config.tile[0], .lanes = kernel.config.width}});
}

absl::Status EmitRows(FunctionEmitter& f, const KernelParts& kernel) {
  const LoopResults loop = LoopResultsOf(*kernel.instruction);
  const int64_t row = loop.shape().dimensions().back();
  if (!kernel.config.tile.empty()) {
    const auto sizes = loop.shape().dimensions();
    const int64_t together = kernel.config.tile[1], rows = sizes[together];
    const auto before = sizes.first(together), between = sizes.last(sizes.size() - together - 1);
    return EmitLoopNest(f, kernel,
                        {{.sizes = {before.begin(), before.end()}},
                         {.sizes = {rows}, .part = rows, .unroll = rows},
                         {.sizes = {between.begin(), between.end() - 1}},
                         {.sizes = {row}, .part = kernel.config.tile[0], .lanes = kernel.config.width}});
  }
  // A part is a row, or all rows of the minor-most dimensions.
  const std::vector<int64_t> outer = Outer(loop.shape(), 1);
  size_t of_parts = 0;
  for (int64_t parts = 1; parts < kernel.config.parts; ++of_parts) parts *= outer[of_parts];
  codegen::LoopNest nest = {{.sizes = {outer.begin(), outer.begin() + of_parts}}};
  for (size_t d = of_parts; d < outer.size(); ++d) nest.push_back({.sizes = {outer[d]}, .part = outer[d]});
  nest.push_back(
      {.sizes = {row}, .part = row, .unroll = UnrolledVectorsOfRow(kernel, row), .lanes = kernel.config.width});
  return EmitLoopNest(f, kernel, nest);
}

absl::Status EmitRowSegments(FunctionEmitter& f, const KernelParts& kernel) {
  const LoopResults loop = LoopResultsOf(*kernel.instruction);
  const NestDim row{.sizes = {kernel.config.tile.back()},
                    .part = kernel.config.tile[0],
                    .lanes = kernel.config.width,
                    .cuts = CutsOf(kernel.config)};
  return EmitLoopNest(f, kernel, {{.sizes = Outer(loop.shape(), 1)}, row});
}

absl::Status EmitRowBlocks(FunctionEmitter& f, const KernelParts& kernel) {
  const LoopResults loop = LoopResultsOf(*kernel.instruction);
  const int64_t block = kernel.config.tile[1], inner = kernel.config.tile[2] + 1, width = kernel.config.width;
  const auto sizes = loop.shape().dimensions().last(inner);
  return EmitLoopNest(
      f, kernel,
      {{.sizes = Outer(loop.shape(), inner)},
       {.sizes = {sizes.begin(), sizes.end()}, .part = kernel.config.tile[0], .lanes = width, .block = block}});
}

absl::Status EmitNarrowRows(FunctionEmitter& f, const KernelParts& kernel) {
  const LoopResults loop = LoopResultsOf(*kernel.instruction);
  const int64_t rank = loop.shape().rank(), rows = loop.shape().dimensions(rank - 2),
                columns = loop.shape().dimensions(rank - 1);
  return EmitLoopNest(
      f, kernel,
      {{.sizes = Outer(loop.shape(), 2)},
       {.sizes = {rows}, .part = kernel.config.tile[0], .lanes = kernel.config.width, .cuts = CutsOf(kernel.config)},
       {.sizes = {columns}, .part = columns, .unroll = columns}});
}

absl::Status EmitCopy(FunctionEmitter& f, const KernelParts& kernel) {
  const HloInstruction* instruction = kernel.instruction;
  const int64_t bytes = ShapeUtil::ByteSizeOf(instruction->shape()), bytes_per_part = kernel.config.tile[0];
  llvm::IRBuilder<>& b = f.b();
  llvm::Value* from = b.CreateNSWMul(kernel.begin, b.getInt64(bytes_per_part));
  llvm::Value* to = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin,
                                            b.CreateNSWMul(kernel.end, b.getInt64(bytes_per_part)), b.getInt64(bytes));
  llvm::Value* source = f.PointerTo(instruction->operand(0));
  llvm::Value* target = f.PointerTo(instruction);
  if (source == target) return absl::OkStatus();
  // Small values are locals, which have less alignment than buffers.
  b.CreateMemCpy(b.CreateInBoundsGEP(b.getInt8Ty(), target, from), llvm::Align(f.ArrayOf(instruction).alignment),
                 b.CreateInBoundsGEP(b.getInt8Ty(), source, from),
                 llvm::Align(f.ArrayOf(instruction->operand(0)).alignment), b.CreateNSWSub(to, from));
  return absl::OkStatus();
}

}  // namespace hilo::cpu
