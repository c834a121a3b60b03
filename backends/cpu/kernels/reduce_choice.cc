// Chooses among the loops of a reduction, with the producers fused into its operands.
//
// *Short rows*: a few elements that lie one after the other, combined by one operation known to be associative and
// commutative; the lanes are terms of as many results as there are lanes (short_rows.cc).
//
// *Rows*: the minor-most dimension is reduced and the computation is one operation known to be associative and
// commutative; the lanes are along the row, in several accumulators that start from the operation's identity and are
// combined at the end. *Columns*: the minor-most dimension is kept; the lanes are adjacent results, and each adds up
// its elements in row-major order; also of short rows, which are read in strides then. *Streams*: the same for long
// rows of large arrays, a block of rows at a time. *Each*: everything else, result by result. Rows of very few elements
// are a loop over the results, like any element-wise operation. Floating-point rows are reordered, always in the same
// way for a shape, and long sums are sums of partial sums; in strict mode all are in order, as in the specification's
// loop.
#include "backends/cpu/kernels/reduce_choice.h"

#include <algorithm>

#include "absl/numeric/bits.h"
#include "absl/strings/str_cat.h"
#include "backends/cpu/kernels/choice_families.h"
#include "backends/cpu/kernels/even_part.h"
#include "backends/cpu/kernels/function_lanes.h"
#include "backends/cpu/kernels/row_plan.h"
#include "backends/llvm/elements/scalar_computation.h"
#include "base/math.h"
#include "hlo/analysis/arg_reduction.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/analysis/reduction.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::cpu {
namespace {

using codegen::NumericOptions;
using codegen::TargetTraits;

// Reductions that read at most this many elements are fully unrolled.
constexpr int64_t kUnrolledInputs = 32;
// Vectors that are accumulated independently, to hide each other's latency: in short rows at most half of the row's.
constexpr int64_t kAccumulators = kRowAccumulators, kMaxAccumulators = 8;
// Elements that take that many operations, functions among them, hide the latency of the addition before: one vector is
// accumulated then, or two if so much code computes it that a processor does not look ahead to the next one. That is
// less code to compile. Measured on AVX2 with 4, 2 and 1, us and ms to compile: exponentials of f64[150,3]'s distances
// 50, 53 and 50, 25, 23 and 16; of 50,000 logarithms of hyperbolic cosines of f32 106, 111 and 114, 47, 36 and 14;
// 100,000 sines 42, 42 and 53, 24, 19 and 12.
constexpr double kLatencyWork = 16;
constexpr int64_t kFarAhead = 60;
// Columns per part, if there are too few rows of results to be the parts.
constexpr int64_t kColumns = 512;
constexpr int64_t kFewReducedRows = 16;
// Streams: results of a part at most, rows of a block, rows in all (each block rounds the total once more), and the
// least bytes of a row and of the array.
constexpr int64_t kStreamColumns = 1024, kStreamRows = 8, kMaxStreamedRows = 1 << 13;
constexpr int64_t kStreamRowBytes = 2048, kStreamBytes = 2 << 20;
// Numbers that are added sequentially in long sums.
constexpr int64_t kSum = 32;
// Cached rows that are short are computed in blocks: the most vectors of a block, which stay in the first cache, its
// least and most rows, and the least blocks of an array, so that threads share them evenly.
constexpr int64_t kBlockVectors = 256, kMinBlockRows = 4, kMaxBlockRows = 16, kMinBlocks = 8;
// Short rows: vectors at most, and elements of those of a maximum or minimum.
constexpr int64_t kStridedVectors = 4, kStridedSelection = 16;
// Vectors of their results together: each is loaded lane by lane, so that two keep the units busy. Measured with 4 and
// 2, us and ms to compile: maximum of f32[16384,10] 11.8 and 11.9, 6.2 and 4.4; argmax of f32[16384,48] 54.9 and 53.3,
// 7.7 and 5.5; largest differences of f64[150,6] and f64[160,6] 11.5 and 11.4, 4.6 and 3.6; 12.2 and 3.1 with 1.
constexpr int64_t kStridedAccumulators = 2;
// Operations per element from which rows shorter than a vector leave too many lanes idle.
constexpr double kStridedWork = 8;
// Elements of one result, if they are in a row and lanes read them by shuffles, and if the lanes are in the row.
constexpr int64_t kShortRow = 4, kShortColumn = 8;
// Sums of the products of a matrix and a vector in columns: the least results and terms, the most bytes of the matrix,
// which stays in the second cache, and cycles: of an addition that waits for the one before, and to combine the lanes
// of a row. Measured in loops of 100 products, AVX-512, rows and columns in ns: f32[8,8] 22 and 13, f32[32,32] 65 and
// 42, f32[64,64] 217 and 90, f32[100,100] 565 and 374, f32[200,200] 1716 and 1597; f64[64,64] 363 and 168.
constexpr int64_t kMinColumnResults = 8, kColumnBytes = 512 << 10, kAddLatency = 4, kCombinedLanes = 8;
// Adjacent results; fewer would leave lanes empty.
constexpr int64_t kFewResults = 4;
// Rows whose neighboring lanes are combined: the most elements, bytes, and their largest prime factor, which is the
// shuffles of a vector, with AVX-512 and with AVX2; and operations an element, as the code of all vectors is unrolled.
// Measured, 16384 rows, one thread, AVX-512, us before and after: sums of f32[,5] 12.1 and 2.2, f32[,7] 12.4 and 5.4,
// f32[,16] 11.8 and 9.0, f64[,12] 15.2 and 14.4, u8[,8] 8.2 and 0.9; maximum of f64[,12] 15.1 and 17.0. AVX2: f32[,5]
// 11.2 and 4.8, f32[,7] 11.3 and 8.6, f32[,16] 14.2 and 15.4; maximum of f32[,7] 14.3 and 15.1.
// Longer rows of narrow numbers take longer to compile: sums of bf16[,12] 5.6 rather than 4.5 ms.
constexpr int64_t kMaxShortRow = 16, kMaxNarrowRow = 10, kShortRowBytes = 80, kShortRowBytesAvx2 = 40;
constexpr int64_t kMaxShortFactor = 7, kMaxShortFactorAvx2 = 5;
constexpr double kShortRowWork = 8;
// Lanes times shuffles of a block, unless it has no more lanes than that: LLVM takes some 4 us for each lane of a
// shuffle of bytes. And(pred[16384,6]) takes 0.9 us with 64 lanes, 1.5 with 32, 2.4 with 16; 15.5 before.
constexpr int64_t kShuffledLanes = 1000, kShortRowLanes = 16;

bool IsFloatSum(HloOpcode opcode, PrimitiveType type) {
  return opcode == HloOpcode::kAdd && !IsIntegralType(type) && type != PRED;
}

// In one long sum of floating-point numbers each addition rounds at the magnitude of the total. So blocks of elements
// are summed first, then blocks of these sums, and so on. Returns the number of elements below each step of the loops,
// from the innermost on. Empty: a single loop.
std::vector<int64_t> PartialSums(const Reduction& r, const NumericOptions& numerics) {
  const int64_t elements = Product(r.reduced_sizes);
  const std::optional<HloOpcode> opcode = ReductionOp(r.computation());
  if (!opcode.has_value() || !IsFloatSum(*opcode, r.input.element_type()) || !MayReorder(*r.reduce, numerics.strict))
    return {};
  if (elements < 2 * kSum) return {};  // also a reduction over no dimensions, which has no row
  std::vector<int64_t> lengths;
  // Uses whole rows if they are of about that length.
  const int64_t row = r.reduced_sizes.back();
  for (int64_t length = row >= kSum / 2 && row <= 4 * kSum ? row : kSum; length <= elements / 2; length *= kSum)
    lengths.push_back(length);
  return lengths;
}

// Returns the fused broadcasts that have one value for all elements of a result: loops over these compute them once.
std::vector<const HloInstruction*> InvariantBroadcasts(const Reduction& r) {
  std::vector<const HloInstruction*> invariant;
  if (!r.reduce->parent()->IsFusion()) return invariant;
  for (const HloInstruction* instruction : r.reduce->parent()->instructions()) {
    if (instruction->opcode() != HloOpcode::kBroadcast || !ShapeUtil::SameDimensions(instruction->shape(), r.input))
      continue;
    const auto& dimensions = instruction->attrs<BroadcastAttrs>().dimensions;
    if (absl::c_all_of(dimensions, [&](int64_t d) { return absl::c_linear_search(r.kept, d); }))
      invariant.push_back(instruction);
  }
  return invariant;
}

// The widest vector in which all operands and fused producers of the reduction are full.
int WidthFor(const Reduction& r, const TargetTraits& target) {
  int width = 1 << 20;
  const std::vector<const HloInstruction*> invariant = InvariantBroadcasts(r);
  for (int64_t i = 0; i < r.count; ++i) {
    const HloInstruction* operand = r.reduce->operand(i);
    if (operand->IsParameter() || operand->parent() != r.reduce->parent() || operand->parent()->IsFusion() == false) {
      width = std::min(width, FullWidth(target, std::vector<PrimitiveType>{operand->shape().element_type()}));
    } else {
      width = std::min(width, codegen::PreferredWidth(operand, target, /*flat=*/false, /*behind=*/0, invariant));
    }
  }
  return width;
}

KernelConfig ChooseEach(const Reduction& r, const NumericOptions& numerics, absl::string_view why) {
  return {.kind = KernelKind::kReduceEach,
          .tile = PartialSums(r, numerics),
          .parts = Product(r.kept_sizes),
          .why = std::string(why)};
}

// Returns the vectors of a part of a row, of `columns` results, that are accumulated together: all if they are few, the
// last of which may not be full (EmitShortColumns); otherwise those that leave the fewest to one by one, which wait for
// each other's latency, and of these the most.
int64_t ColumnAccumulators(const Reduction& r, int64_t columns, int width, const TargetTraits& target) {
  // Values of a vector that a loop carries: a maximum also has which lanes are NaN.
  const std::optional<HloOpcode> opcode = ReductionOp(r.computation());
  const int64_t values = r.count > 1 || opcode == HloOpcode::kMaximum || opcode == HloOpcode::kMinimum ? 2 : 1;
  const int64_t most = target.has_avx512 ? kMaxAccumulators : kMaxAccumulators / values;
  if (columns > width && columns <= most * width) return CeilDiv(columns, width);
  const int64_t vectors = std::max<int64_t>(1, columns / width);
  int64_t best = std::min(vectors, most);
  for (int64_t count = best - 1; count >= kAccumulators; --count) {
    if (vectors % count < vectors % best) best = count;
  }
  return best;
}

// Returns nullopt unless the reduction is a sum of many rows of at least half a page each, in an array that is larger
// than a cache of a core: there a part that reads some lines of each row waits for memory, as processors prefetch along
// rows. Measured: f32[4096] times f32[4096,4096] on one thread 3.7 -> 2.1 ms; 1.8 with parts of 4,096 results, 3.4 with
// blocks of 32 rows.
std::optional<KernelConfig> ChooseStreams(const Reduction& r, int width, const NumericOptions& numerics) {
  const PrimitiveType type = r.input.element_type();
  const std::optional<HloOpcode> opcode = ReductionOp(r.computation());
  if (r.count != 1 || (type != F32 && type != F64) || !opcode.has_value() || !IsFloatSum(*opcode, type) ||
      !MayReorder(*r.reduce, numerics.strict))
    return std::nullopt;
  const int64_t row = r.kept_sizes.back(), rows = Product(r.reduced_sizes), bytes = PrimitiveTypeByteSize(type);
  if (r.kept_sizes.size() != 1 || r.reduced_sizes.size() != 1 || row * bytes < kStreamRowBytes ||
      row * rows * bytes < kStreamBytes || rows < 2 * kStreamRows || rows > kMaxStreamedRows)
    return std::nullopt;
  const int64_t group = width * kMaxAccumulators;
  int64_t block = kStreamColumns;
  while (block > group && row % block != 0) block /= 2;
  if (row % block != 0 || block % group != 0) return std::nullopt;
  return KernelConfig{.kind = KernelKind::kReduceStreams,
                      .width = width,
                      .tile = {block, kMaxAccumulators, kStreamRows},
                      .parts = row / block,
                      .why = "the minor dimension is kept; rows are read in blocks, as streams"};
}

KernelConfig ChooseColumns(const Reduction& r, int width, const TargetTraits& target, const NumericOptions& numerics) {
  const int64_t row = r.kept_sizes.back(), rows = Product(r.kept_sizes) / row, group = width * kAccumulators;
  int64_t block = row;
  if (rows < kFewReducedRows && row >= 2 * kColumns) {
    block = CeilDiv(kColumns, group) * group;
    if (rows == 1) block = EvenPart(row, block, width * kMaxAccumulators);
  }
  KernelConfig config{.kind = KernelKind::kReduceColumns,
                      .width = width,
                      .tile = {block, ColumnAccumulators(r, block, width, target)},
                      .parts = rows * CeilDiv(row, block),
                      .why = "the minor dimension is kept"};
  const std::vector<int64_t> sums = PartialSums(r, numerics);
  config.tile.insert(config.tile.end(), sums.begin(), sums.end());
  return config;
}

// Rows of up to kStridedVectors vectors may be reduced in lanes that are adjacent results, each in order; the lanes
// read rows in strides. Returns nullopt unless that is faster than what takes a row at a time: one element after the
// other, or lanes along a row that are combined by more than an addition. Measured: argmax of f32[16384,10] on two
// threads 247 -> 16 us, of f32[16384,48] 150 -> 68; maximum of f32[16384,10] 28 -> 14, of f32[16384,32] 39 -> 40; sum
// of the exponentials of f32[10000,6] 18 -> 10.5.
std::optional<KernelConfig> ChooseStridedRows(const Reduction& r, int width, const TargetTraits& target,
                                              const NumericOptions& numerics) {
  const PrimitiveType type = r.input.element_type();
  const int64_t row = Product(r.reduced_sizes);
  if (width < 2 || r.kept_sizes.empty() || r.kept_sizes.back() < width || row < 1 ||
      (PrimitiveTypeBitWidth(type) < 32 && !target.has_avx512) || !codegen::CanEmitComputation(r.computation()))
    return std::nullopt;
  int64_t most = kStridedVectors * width;
  if (MayReorder(*r.reduce, numerics.strict)) {
    const HloOpcode opcode = *ReductionOp(r.computation());
    const bool selects = opcode == HloOpcode::kMaximum || opcode == HloOpcode::kMinimum;
    const Work work = WorkOf(*r.instruction);
    const bool has_functions = work.operations >= kStridedWork * static_cast<double>(ShapeUtil::ElementsIn(r.input));
    most = selects && !IsIntegralType(type) ? kStridedSelection : has_functions ? most / kStridedVectors - 1 : 0;
  }
  if (row > most) return std::nullopt;
  KernelConfig config = ChooseColumns(r, width, target, numerics);
  config.tile[1] = std::min(config.tile[1], kStridedAccumulators);
  config.why = "short rows: lanes are adjacent results";
  return config;
}

// Returns true if the elements are read, or computed, in the order of memory, or gathered one by one in that order.
bool ReadsFlat(const Reduction& r) {
  const HloInstruction* operand = r.reduce->operand(0);
  return operand->IsParameter() || !r.reduce->parent()->IsFusion() || codegen::IsFlat(operand, /*with_gathers=*/true);
}

// Returns true if `opcode` does to the bytes 0 and 1 what it does to predicates.
bool IsSameOfBytes(HloOpcode opcode) {
  return opcode == HloOpcode::kAnd || opcode == HloOpcode::kOr || opcode == HloOpcode::kXor ||
         opcode == HloOpcode::kMaximum || opcode == HloOpcode::kMinimum;
}

// Returns how many operations the code of an element has, at least: a gather takes the time of several and is one.
double OperationsOfElement(const Reduction& r) {
  const int64_t elements = ShapeUtil::ElementsIn(r.input);
  double operations = WorkOf(*r.instruction).operations / static_cast<double>(elements);
  if (!r.reduce->parent()->IsFusion()) return operations;
  for (const HloInstruction* instruction : r.reduce->parent()->instructions()) {
    if (instruction->opcode() == HloOpcode::kGather && ShapeUtil::ElementsIn(instruction->shape()) == elements)
      operations += 1 - CostFacts(HloOpcode::kGather).operations;
  }
  return operations;
}

// Returns the size of the code of an element, of a fusion (CostFacts).
int64_t CodeSizeOfElement(const Reduction& r) {
  int64_t size = 0;
  for (const HloInstruction* instruction : r.reduce->parent()->instructions())
    size += CostFacts(instruction->opcode()).code_size;
  return size;
}

// Returns the shuffles of a block of rows: two for two vectors, and N of N vectors for a larger prime N.
int64_t ShortRowShuffles(int64_t row) {
  int64_t shuffles = 0;
  for (const int64_t factor : ShortRowFactors(row)) {
    row /= factor;
    shuffles += row * (factor == 2 ? 2 : factor * factor);
  }
  return shuffles;
}

// Rows of few elements, in vectors that have no idle lane. Returns nullopt if the rows do not lie one after the other,
// or if a step would take more shuffles than lanes along each row.
std::optional<KernelConfig> ChooseShortRows(const Reduction& r, const TargetTraits& target,
                                            const NumericOptions& numerics) {
  const PrimitiveType type = r.input.element_type();
  const int64_t row = Product(r.reduced_sizes), rows = Product(r.kept_sizes);
  const bool is_type = type == PRED
                           ? IsSameOfBytes(ReductionOp(r.computation()).value_or(HloOpcode::kAdd))
                           : !IsComplexType(type) && !IsSmallFloatType(type) && PrimitiveTypeBitWidth(type) >= 8;
  if (r.count != 1 || !is_type || !MayReorder(*r.reduce, numerics.strict) ||
      !codegen::CanEmitComputation(r.computation()) || !ReadsFlat(r))
    return std::nullopt;
  for (size_t i = 0; i < r.kept.size(); ++i)
    if (r.kept[i] != static_cast<int64_t>(i)) return std::nullopt;
  const int64_t max_bytes = target.has_avx512 ? kShortRowBytes : kShortRowBytesAvx2;
  const int64_t max_factor = target.has_avx512 ? kMaxShortFactor : kMaxShortFactorAvx2;
  if (target.vector_bits < 256 || row < 2 || row > kMaxShortRow || row * PrimitiveTypeByteSize(type) > max_bytes ||
      ShortRowFactors(row).back() > max_factor)
    return std::nullopt;
  if (row > kMaxNarrowRow && PrimitiveTypeBitWidth(type) < 32) return std::nullopt;
  if (OperationsOfElement(r) > kShortRowWork) return std::nullopt;
  const HloInstruction* operand = r.reduce->operand(0);
  const bool is_computed = r.reduce->parent()->IsFusion() && !operand->IsParameter();
  const int64_t bits =
      IsFloatingPointType(type) ? std::max(32, PrimitiveTypeBitWidth(type)) : 8 * PrimitiveTypeByteSize(type);
  int64_t width = is_computed ? codegen::PreferredWidth(operand, target, /*flat=*/true) : target.vector_bits / bits;
  const int64_t max_lanes = target.has_avx512 ? kShuffledLanes / ShortRowShuffles(row) : 0;
  while (width > kShortRowLanes && (width > max_lanes || width > rows)) width /= 2;
  if (width < 2 || rows < width) return std::nullopt;
  const int64_t part = CeilDiv(kColumns, width) * width;
  return KernelConfig{.kind = KernelKind::kReduceShortRows,
                      .width = width,
                      .tile = {part},
                      .parts = CeilDiv(rows, part),
                      .why = "short rows, one after the other: neighboring lanes are combined"};
}

KernelConfig ChooseRows(const Reduction& r, HloOpcode opcode, int width, const TargetTraits& target) {
  int64_t most = kAccumulators;
  const bool has_functions =
      WorkOf(*r.instruction).transcendentals >= static_cast<double>(ShapeUtil::ElementsIn(r.input));
  if (has_functions && OperationsOfElement(r) >= kLatencyWork) most = CodeSizeOfElement(r) > kFarAhead ? 2 : 1;
  if (const int64_t vectors = VectorsOfFunctions(*r.instruction, r.reduced_sizes.back(), width, target); vectors > 1) {
    width *= static_cast<int>(vectors);
    most = 1;
  }
  return {.kind = KernelKind::kReduceRows,
          .width = width,
          .tile = RowTile(r.reduced_sizes.back(), width, IsFloatSum(opcode, r.input.element_type()), most),
          .parts = Product(r.kept_sizes),
          .why = "the minor dimension is reduced by one associative op"};
}

}  // namespace

std::vector<int64_t> ShortRowFactors(int64_t terms) {
  std::vector<int64_t> factors;
  for (int64_t factor = 2; terms > 1; ++factor) {
    for (; terms % factor == 0; terms /= factor) factors.push_back(factor);
  }
  return factors;
}

std::vector<int64_t> RowTile(int64_t row, int width, bool is_float_sum, int64_t most) {
  const int64_t accumulators = std::clamp<int64_t>(row / width / 2, 1, most);
  const int64_t section = kSum * width * most;
  return {accumulators, is_float_sum && row >= 2 * section ? section : 0};
}

bool IsShortReduction(const HloInstruction& reduce) {
  if (!reduce.shape().IsArray() || reduce.shape().rank() == 0) return false;
  // Lanes are adjacent results, or the rows of them.
  const int64_t rank = reduce.shape().rank();
  if (reduce.shape().dimensions(rank - 1) < kFewResults &&
      (rank == 1 || reduce.shape().dimensions(rank - 2) < kFewReducedRows))
    return false;
  if (!codegen::CanEmitComputation(*reduce.called_computation())) return false;
  const Shape& input = reduce.operand(0)->shape();
  int64_t elements = 1;
  bool is_row = false;
  for (int64_t dimension : reduce.attrs<ReduceAttrs>().dimensions) {
    elements = std::min(elements * input.dimensions(dimension), kShortColumn + 1);
    is_row = is_row || dimension == input.rank() - 1;
  }
  return elements > 0 && elements <= (is_row ? kShortRow : kShortColumn);
}

std::optional<KernelConfig> ChooseCachedRows(const HloInstruction& fusion, const TargetTraits& target,
                                             const NumericOptions& numerics) {
  const std::optional<CachedRowsPlan> plan = PlanCachedRows(fusion, target, numerics.strict);
  if (!plan.has_value()) return std::nullopt;
  const RowSpace& space = plan->group.space;
  const int64_t full_width = plan->width / plan->vectors;
  int64_t block = std::min<int64_t>(full_width, kMaxBlockRows);
  while (block > 1 && (block * space.columns > kBlockVectors * full_width || block * kMinBlocks > space.rows))
    block /= 2;
  if (block < kMinBlockRows) block = 1;
  std::vector<int64_t> tile = RowTile(space.columns, plan->width, /*is_float_sum=*/true,
                                      std::max<int64_t>(1, kRowAccumulators / plan->vectors));
  size_t together = 1;
  for (const RowPhase& phase : plan->phases) together = std::max(together, phase.reduces.size());
  tile[0] = std::max<int64_t>(1, tile[0] / static_cast<int64_t>(absl::bit_ceil(together)));
  tile.push_back(block);
  return KernelConfig{.kind = KernelKind::kCachedRows,
                      .width = plan->width,
                      .tile = std::move(tile),
                      .parts = CeilDiv(space.rows, block),
                      .why = "reductions and what follows them stay in a row"};
}

bool IsFasterInColumns(const HloInstruction& reduce, const TargetTraits& target, bool /*strict*/) {
  const Shape& matrix = reduce.operand(0)->shape();
  if (matrix.element_type() != F32 && matrix.element_type() != F64) return false;
  const int64_t rows = matrix.dimensions(0), columns = matrix.dimensions(1);
  const int64_t width = FullWidth(target, std::vector<PrimitiveType>{matrix.element_type()});
  if (rows < kMinColumnResults || columns < kMinColumnResults || ShapeUtil::ByteSizeOf(matrix) > kColumnBytes)
    return false;
  const int64_t in_columns = columns * std::max(kAddLatency, CeilDiv(rows, width));
  const int64_t in_rows = rows * (CeilDiv(columns, width) + kCombinedLanes);
  return in_columns < in_rows;
}

absl::StatusOr<KernelConfig> ChooseReduce(const HloInstruction& instruction, const TargetTraits& target,
                                          const NumericOptions& numerics) {
  const Reduction r = ReductionOf(instruction);
  if (std::optional<KernelConfig> whole = ChooseWholeVectorSums(r, target)) return *std::move(whole);
  const bool is_short = IsShortReduction(*r.reduce);
  // What reads nothing may still have many results.
  const bool reads_few = ShapeUtil::ElementsIn(r.input) <= kUnrolledInputs;
  if (reads_few && Product(r.kept_sizes) > kUnrolledInputs) return ChooseEach(r, numerics, "there is nothing to read");
  if (!is_short && reads_few) {
    return KernelConfig{.kind = KernelKind::kReduceUnrolled,
                        .why = absl::StrCat(kUnrolledInputs, " elements at most are read: unrolled")};
  }
  const bool minor_is_kept = !r.kept.empty() && r.kept.back() == r.input.rank() - 1;
  if (is_short && (!minor_is_kept || r.kept_sizes.back() < kFewResults || reads_few))
    return ChooseLoop(instruction, target);
  int width = WidthFor(r, target);
  if (minor_is_kept) {
    while (width > 1 && width > 2 * r.kept_sizes.back()) width /= 2;
    if (width == 1) return ChooseEach(r, numerics, "lanes of adjacent results do not pay");
    if (!codegen::CanEmitComputation(r.computation())) return ChooseEach(r, numerics, "the computation has no lanes");
    if (std::optional<KernelConfig> streams = ChooseStreams(r, width, numerics)) return *std::move(streams);
    return ChooseColumns(r, width, target, numerics);
  }
  if (std::optional<KernelConfig> rows = ChooseShortRows(r, target, numerics)) return *std::move(rows);
  if (std::optional<KernelConfig> strided = ChooseStridedRows(r, width, target, numerics)) return *std::move(strided);
  if (width > 1 && r.reduced_sizes.size() == 1 && r.reduced_sizes[0] >= width && !numerics.strict &&
      IsArgReduction(*r.reduce) && ArgOrderOf(*r.reduce).has_value()) {
    return KernelConfig{.kind = KernelKind::kArgReduction,
                        .width = width,
                        .tile = {r.reduced_sizes[0] >= 2 * kAccumulators * width ? kAccumulators : 1},
                        .parts = Product(r.kept_sizes),
                        .why = "selects an element of a row"};
  }
  const PrimitiveType type = r.input.element_type();
  if (!MayReorder(*r.reduce, numerics.strict) || IsSmallFloatType(type) || r.reduced_sizes.empty())
    return ChooseEach(r, numerics, "elements are combined in order");
  const HloOpcode opcode = *ReductionOp(r.computation());
  while (width > 1 && width > 2 * r.reduced_sizes.back()) width /= 2;
  if (width == 1 || !IdentityOf(opcode, type).has_value())
    return ChooseEach(r, numerics, "lanes along a row do not pay");
  return ChooseRows(r, opcode, width, target);
}

}  // namespace hilo::cpu
