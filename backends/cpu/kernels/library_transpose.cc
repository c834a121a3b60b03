#include "backends/cpu/kernels/library_transpose.h"

#include <array>
#include <bit>

#include "absl/algorithm/container.h"
#include "backends/cpu/kernels/library_call.h"
#include "backends/cpu/kernels/transposed_reads.h"
#include "backends/cpu/transpose/transpose_kernels.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::cpu {
namespace {

// Returns true if tiles are written row by row. Rows of the result that are a multiple of 4 KB apart share a set of the
// first-level cache, which has fewer lines than a strip has rows. Microseconds on one thread of a Zen 5 with and
// without: 1024 x 64 to 64 x 1024 4.6 and 8.2, 1024 x 512 63 and 90, 4096 x 256 120 and 162; but 2048 x 1024 563 and
// 446, whose columns are as far apart, and 65536 x 64, which no second-level cache holds, 1470 and 624.
bool IsStaged(const transpose::Loops& loops, int64_t bytes) {
  constexpr int64_t kSet = 4096, kMaxColumn = 2048, kMaxBytes = 4 << 20;
  return loops.row_dimensions == 1 && loops.vector_bytes == 64 &&
         loops.block * loops.element_bytes >= transpose::kStagedTiles * loops.vector_bytes &&
         loops.of_rows[0].result * loops.element_bytes % kSet == 0 &&
         loops.column * loops.element_bytes <= kMaxColumn && bytes <= kMaxBytes;
}

}  // namespace

std::optional<transpose::Loops> LibraryLoopsOf(const HloInstruction& instruction, const KernelConfig& tiles,
                                               const codegen::TargetTraits& target) {
  using transpose::Loops;
  if (instruction.opcode() != HloOpcode::kTranspose) return std::nullopt;
  const std::optional<TransposedReads> reads = TransposedReadsOf(LoopResultsOf(instruction));
  const PrimitiveType type = instruction.shape().element_type();
  const int64_t bytes = PrimitiveTypeByteSize(type), vector_bytes = tiles.width * bytes;
  if (!reads || reads->dims.size() > Loops::kMaxRowDimensions || IsComplexType(type) || IsSubByteType(type) ||
      bytes > 8)
    return std::nullopt;
  const bool is_narrow = bytes < 4;
  if (!target.has_fma || target.vector_bits < 256 || 8 * vector_bytes > target.vector_bits ||
      (is_narrow ? vector_bytes != transpose::kNarrowBytes : vector_bytes != 32 && vector_bytes != 64))
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
  if (loops.rows < tiles.width || in_last_block < (is_narrow ? transpose::kNarrowColumns : tiles.width))
    return std::nullopt;
  for (int64_t d = 0; d < last; ++d) {
    if (absl::c_linear_search(reads->dims, d) || sizes[d] == 1) continue;
    if (loops.outer_count == Loops::kMaxOuter) return std::nullopt;
    loops.outer[loops.outer_count++] = dimension(d);
  }
  loops.is_staged = IsStaged(loops, ShapeUtil::ByteSizeOf(instruction.shape())) ? 1 : 0;
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
