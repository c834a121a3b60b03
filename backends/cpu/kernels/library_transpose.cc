#include "backends/cpu/kernels/library_transpose.h"

#include <array>
#include <bit>

#include "absl/algorithm/container.h"
#include "backends/cpu/kernels/library_call.h"
#include "backends/cpu/kernels/transposed_reads.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::cpu {

std::optional<transpose::Loops> LibraryLoopsOf(const HloInstruction& instruction, const KernelConfig& tiles,
                                               const codegen::TargetTraits& target) {
  using transpose::Loops;
  if (instruction.opcode() != HloOpcode::kTranspose) return std::nullopt;
  const std::optional<TransposedReads> reads = TransposedReadsOf(LoopResultsOf(instruction));
  const PrimitiveType type = instruction.shape().element_type();
  const int64_t bytes = PrimitiveTypeByteSize(type), vector_bytes = tiles.width * bytes;
  if (!reads || reads->dims.size() > Loops::kMostRowDimensions || IsComplexType(type) || (bytes != 4 && bytes != 8))
    return std::nullopt;
  if (!target.has_fma || (vector_bytes != 32 && vector_bytes != 64) || 8 * vector_bytes > target.vector_bits)
    return std::nullopt;
  const std::vector<int64_t>& permutation = instruction.attrs<TransposeAttrs>().dimensions;
  const absl::Span<const int64_t> sizes = instruction.shape().dimensions();
  const std::vector<int64_t> of_operand = ShapeUtil::RowMajorStrides(instruction.operand(0)->shape().dimensions()),
                             of_result = ShapeUtil::RowMajorStrides(sizes);
  const auto last = static_cast<int64_t>(sizes.size()) - 1;
  Loops loops{.element_bytes = bytes,
              .vector_bytes = vector_bytes,
              .rows = 1,
              .columns = sizes[last],
              .block = tiles.tile[0],
              .column = of_operand[permutation[last]],
              .row_dimensions = static_cast<int64_t>(reads->dims.size())};
  const auto dimension = [&](int64_t d) {
    return transpose::Dimension{.count = sizes[d], .operand = of_operand[permutation[d]], .result = of_result[d]};
  };
  for (int64_t i = loops.row_dimensions - 1; i >= 0; --i) {
    loops.of_rows[i] = dimension(reads->dims[i]);
    if (loops.of_rows[i].operand != loops.rows) return std::nullopt;
    loops.rows *= loops.of_rows[i].count;
  }
  const int64_t in_last_block = loops.columns % loops.block == 0 ? loops.block : loops.columns % loops.block;
  if (loops.rows < tiles.width || in_last_block < tiles.width) return std::nullopt;
  for (int64_t d = 0; d < last; ++d) {
    if (absl::c_linear_search(reads->dims, d) || sizes[d] == 1) continue;
    if (loops.outer_count == Loops::kMostOuter) return std::nullopt;
    loops.outer[loops.outer_count++] = dimension(d);
  }
  return loops;
}

// A call, with the loops as a constant.
absl::Status EmitLibraryTranspose(FunctionEmitter& f, const KernelParts& kernel) {
  const HloInstruction& transpose = *kernel.instruction;
  const std::optional<transpose::Loops> loops = LibraryLoopsOf(transpose, kernel.config, f.context().target());
  HILO_RET_CHECK(loops.has_value());
  using Numbers = std::array<uint64_t, sizeof(transpose::Loops) / sizeof(int64_t)>;
  EmitLibraryCall(f, kernel, "hilo_cpu_transpose", std::bit_cast<Numbers>(*loops),
                  {f.PointerTo(transpose.operand(0)), f.PointerTo(&transpose)});
  return absl::OkStatus();
}

}  // namespace hilo::cpu
