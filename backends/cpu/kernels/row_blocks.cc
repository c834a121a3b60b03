// A vector of consecutive elements of the result covers a few rows. For each array that the loop reads, the indices of
// these elements lie in a box; where the box begins depends on the block, but which of its elements a lane reads does
// not. If the box spans few elements of the array, they are loaded in runs and permuted.
#include "backends/cpu/kernels/row_blocks.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "backends/cpu/kernels/code_size.h"
#include "base/math.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::cpu {
namespace {

// More vectors in a block cost more code than the lanes that they fill are worth.
constexpr int64_t kMaxVectors = 8;
// The same for loops that are elements otherwise, which are mostly long.
constexpr int64_t kFewVectors = 4;
// Code of a block, from which on it has two vectors: the time to compile a block grows with the square of its code.
// Measured on AVX-512, rows of 10 elements, with all vectors and with two: 8 sines that are selected 85 and 43 ms to
// compile, 4.7 and 4.9 us to run, 64 sines 2600 and 480 ms, 39 and 38 us, 8 exponentials 28 and 24 ms, 3.9 and 4.2 us.
constexpr int64_t kMaxBlockCode = 3000, kMinBlockVectors = 2;
// Vectors that the elements of an array for one vector may span.
constexpr int64_t kMaxRuns = 3;
// Blocks pay from this part of the vectors that single rows take.
constexpr double kLargestShare = 0.75;

// The number of indices of a vector along each dimension of an array.
using Box = std::vector<int64_t>;

// Returns the number of elements between the first and the last of a box in an array of `shape`.
int64_t Span(const Shape& shape, const Box& box) {
  int64_t span = 1, stride = 1;
  for (int64_t d = shape.rank(); d-- > 0; stride *= shape.dimensions(d)) span += (box[d] - 1) * stride;
  return IsComplexType(shape.element_type()) ? 2 * span : span;
}

// The box in a reshape's operand. It has all indices of dimensions that become others, unless all lanes have the same.
std::optional<Box> Reshaped(const Shape& to, const Box& box, const Shape& from) {
  if (ShapeUtil::IsZeroElementArray(to)) return std::nullopt;
  Box result(from.rank(), 1);
  int64_t i = 0, d = 0;
  while (true) {
    while (i < from.rank() && from.dimensions(i) == 1) ++i;
    while (d < to.rank() && to.dimensions(d) == 1) ++d;
    if (i == from.rank() || d == to.rank()) return result;
    if (from.dimensions(i) == to.dimensions(d)) {
      result[i++] = box[d++];
      continue;
    }
    const int64_t first = i;
    int64_t from_size = from.dimensions(i++), to_size = to.dimensions(d);
    bool is_one = box[d++] == 1;
    while (from_size != to_size) {
      if (from_size < to_size) {
        from_size *= from.dimensions(i++);
      } else {
        is_one = is_one && box[d] == 1;
        to_size *= to.dimensions(d++);
      }
    }
    for (int64_t j = first; j < i; ++j) result[j] = is_one ? 1 : from.dimensions(j);
  }
}

// The box in operand `i` of an instruction; nullopt if it is none.
std::optional<Box> OperandBox(const HloInstruction& instruction, int64_t i, const Box& box) {
  const Shape& operand = instruction.operand(i)->shape();
  const HloOpcode opcode = instruction.opcode();
  if (opcode == HloOpcode::kReverse) return box;
  if (opcode == HloOpcode::kReshape || opcode == HloOpcode::kBitcast)
    return Reshaped(instruction.shape(), box, operand);
  if (opcode == HloOpcode::kBroadcast) {
    Box result;
    for (int64_t dim : instruction.attrs<BroadcastAttrs>().dimensions) result.push_back(box[dim]);
    return result;
  }
  if (opcode == HloOpcode::kTranspose) {
    Box result(box.size());
    for (size_t d = 0; d < box.size(); ++d) result[instruction.attrs<TransposeAttrs>().dimensions[d]] = box[d];
    return result;
  }
  if (opcode == HloOpcode::kSlice) {
    Box result = box;
    for (size_t d = 0; d < box.size(); ++d)
      result[d] = (box[d] - 1) * instruction.attrs<SliceAttrs>().slice[d].stride + 1;
    return result;
  }
  if (opcode == HloOpcode::kPad || opcode == HloOpcode::kConcatenate) {
    if (operand.rank() == 0) return Box();
    Box result = box;
    for (size_t d = 0; d < box.size(); ++d)
      result[d] = std::max<int64_t>(1, std::min(box[d], operand.dimensions(static_cast<int64_t>(d))));
    return result;
  }
  if (!IsElementwise(opcode)) return std::nullopt;
  return operand.rank() == 0 ? Box() : box;
}

// Returns true if elements of a vector may come from different operands.
bool JoinsWithin(const HloInstruction& instruction, const Box& box) {
  if (instruction.opcode() == HloOpcode::kConcatenate)
    return box[instruction.attrs<ConcatenateAttrs>().dimensions[0]] > 1;
  if (instruction.opcode() != HloOpcode::kPad) return false;
  const auto& padding = instruction.attrs<PadAttrs>().padding.dimensions;
  for (size_t d = 0; d < box.size(); ++d) {
    if (box[d] > 1 && padding[d] != PaddingConfig::Dimension()) return true;
  }
  return false;
}

// Returns true if all arrays that `root` reads for a vector of elements in `box` are runs that span at most `most`
// elements. `joins`: elements of a vector may come from different operands.
bool ReadsRuns(const HloInstruction* root, const Box& box, int64_t most, bool joins) {
  using Read =
      std::tuple<const HloInstruction*, Box, /*is_run=*/bool>;  // of consecutive elements, or of any in the box
  const bool is_fused = root->parent()->IsFusion();
  absl::flat_hash_set<Read> seen;
  std::vector<Read> work{{root, box, true}};
  while (!work.empty()) {
    const Read read = work.back();
    work.pop_back();
    if (!seen.insert(read).second) continue;
    const auto& [instruction, here, is_run] = read;
    if (!instruction->shape().IsArray()) return false;
    if (instruction->IsParameter() || instruction->IsConstant() || (!is_fused && instruction != root)) {
      if (!is_run && Span(instruction->shape(), here) > most) return false;
      continue;
    }
    if (instruction->opcode() == HloOpcode::kIota) continue;
    if (!joins && JoinsWithin(*instruction, here)) return false;
    for (int64_t i = 0; i < instruction->operand_count(); ++i) {
      std::optional<Box> operand = OperandBox(*instruction, i, here);
      if (!operand) return false;
      work.push_back({instruction->operand(i), *std::move(operand), is_run && IsElementwise(instruction->opcode())});
    }
  }
  return true;
}

// Returns the most rows that one vector of a block reaches.
int64_t RowsOfVector(const RowBlocks& blocks) {
  int64_t most = 1;
  for (int64_t first = 0; first < blocks.block_elements(); first += blocks.width) {
    const int64_t last = std::min(first + blocks.width, blocks.block_elements()) - 1;
    most = std::max(most, last / blocks.row_elements - first / blocks.row_elements + 1);
  }
  return most;
}

// Chooses the block that takes the fewest vectors a row, of at most `most` vectors if it has several rows.
RowBlocks BestBlock(int64_t row_rank, int64_t row_elements, int64_t table_rows, int width, int64_t most) {
  RowBlocks best{row_rank, row_elements, 1, width};
  for (int64_t rows = 2; rows <= table_rows && rows * row_elements <= most * width; ++rows) {
    const RowBlocks blocks{row_rank, row_elements, rows, width};
    if (blocks.vectors() * best.block_rows < best.vectors() * rows) best = blocks;
  }
  return best;
}

// Returns the smallest block that ends with a whole vector, which needs no masks.
RowBlocks UnmaskedBlock(int64_t row_rank, int64_t row_elements, int width) {
  return {row_rank, row_elements, width / std::gcd<int64_t>(row_elements, width), width};
}

}  // namespace

std::optional<RowBlocks> RowBlocksOf(const LoopResults& loop, const codegen::TargetTraits& target, int row_width) {
  // Without AVX2 there are no permutations of bytes.
  if (target.vector_bits < 256) return std::nullopt;
  int width = target.vector_bits;
  for (const HloInstruction* root : loop.roots) {
    if (!root->shape().IsArray() || !ShapeUtil::SameDimensions(root->shape(), loop.shape())) return std::nullopt;
    width = std::min(width, codegen::FullVectorWidth(root, target));
  }
  // AVX2 permutes elements of less than 32 bits within 128 bits.
  if (!target.has_avx512 && width > target.vector_bits / 32) width /= 2;
  const Shape& shape = loop.shape();
  const int64_t minor = shape.rank() > 0 ? shape.dimensions(shape.rank() - 1) : 0;
  std::optional<RowBlocks> best;
  double least =
      kLargestShare * static_cast<double>(CeilDiv(minor, row_width)) / static_cast<double>(std::max<int64_t>(minor, 1));
  const int64_t most_of_code =
      std::max(kMinBlockVectors, kMaxBlockCode / CodeSize(*loop.instruction, /*by_elements=*/false));
  const int64_t max_vectors = std::min(most_of_code, row_width > 1 ? kMaxVectors : kFewVectors);
  int64_t row = 1;
  for (int64_t rank = 1; rank < shape.rank(); ++rank) {
    row *= shape.dimensions(shape.rank() - rank);
    if (row >= (row_width > 1 ? 2 : kMaxVectors) * width) break;
    const int64_t rows = shape.dimensions(shape.rank() - rank - 1);
    const RowBlocks blocks =
        target.has_avx512 ? BestBlock(rank, row, rows, width, max_vectors) : UnmaskedBlock(rank, row, width);
    if (blocks.block_rows > rows || blocks.vectors() > max_vectors) continue;
    const double vectors_per_element =
        static_cast<double>(blocks.vectors()) / static_cast<double>(blocks.block_elements());
    // A row alone is a block if its elements were computed one by one otherwise.
    if ((blocks.block_rows == 1 && row_width > 1) || vectors_per_element > least) continue;
    Box box(shape.rank(), 1);
    for (int64_t d = shape.rank() - rank; d < shape.rank(); ++d) box[d] = shape.dimensions(d);
    box[shape.rank() - rank - 1] = RowsOfVector(blocks);
    bool is_suitable = true;
    // Boxes of rows of several vectors are longer than what one of these reads.
    const int64_t most = (row_width > 1 ? kMaxRuns : kMaxVectors) * width;
    for (const HloInstruction* root : loop.roots)
      is_suitable = is_suitable && ReadsRuns(root, box, most, target.has_avx512);
    if (!is_suitable) continue;
    best = blocks;
    least = vectors_per_element;
  }
  return best;
}

}  // namespace hilo::cpu
