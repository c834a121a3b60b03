#include "hlo/analysis/cost_model.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "hlo/analysis/prefix_scan.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/linalg/convolution_attributes.h"
#include "hlo/ops/linalg/linalg_attributes.h"
#include "hlo/ops/reduction/search_attributes.h"
#include "hlo/ops/structure/custom_call_attributes.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo {
namespace {

// Elements of all array leaves of a shape.
double Elements(const Shape& shape) {
  double count = 0;
  for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(shape)) {
    if (leaf.shape->IsArray()) count += static_cast<double>(ShapeUtil::ElementsIn(*leaf.shape));
  }
  return count;
}

double Bytes(const Shape& shape) { return static_cast<double>(ShapeUtil::ByteSizeOf(shape)); }

double WindowElements(const Window& window) {
  double count = 1;
  for (const Window::Dimension& dimension : window.dimensions) count *= static_cast<double>(dimension.size);
  return count;
}

// Returns true for a division or remainder by a constant, which all elements share.
bool DividesByConstant(const HloInstruction& instruction) {
  const OpCost cost = OpcodeInfo(instruction.opcode()).cost;
  if (cost != OpCost::kDivision && cost != OpCost::kRemainder) return false;
  const HloInstruction* divisor = instruction.operand(1);
  if (divisor->opcode() == HloOpcode::kBroadcast) divisor = divisor->operand(0);
  return divisor->IsConstant();
}

// The time of an element of `type` beside that of single precision: vectors hold fewer of the wide ones and more of the
// narrow integers, narrow floats are converted.
double TypeFactor(PrimitiveType type, OpCost cost, bool divides_by_constant = false) {
  const bool is_function = cost >= OpCost::kRoot && cost <= OpCost::kPower;
  if (IsComplexType(type)) return (type == C128 ? 2 : 1) * (is_function ? 5 : 3);
  if (type == F64) return is_function ? 3.5 : 2;  // half as many lanes, and more terms
  const int bytes = std::max(PrimitiveTypeByteSize(type), 1);
  if (IsFloatingPointType(type)) return bytes == 4 ? 1 : 3;  // narrow ones are converted
  const bool divides =
      cost == OpCost::kDivision || cost == OpCost::kRemainder;  // there are no vector instructions for it
  // By a constant they are a multiplication and shifts. Measured on AVX2, ns an element: s32 % 97 0.25 to 0.37, u8 / 3
  // 0.14, u64 % 1009 0.37, a chain of seven s64 divisions and remainders 17.
  if (divides_by_constant) return bytes > 4 ? 3 : 1;
  if (divides) return bytes > 4 ? 8 : 4;
  return std::min(bytes, 8) / 4.0;
}

// Returns the instructions of one element in single precision, by a thread without vectors: those that NVIDIA's
// assembler makes for sm_90, but for branches that are rarely taken.
double ScalarInstructions(OpCost cost) {
  switch (cost) {
    case OpCost::kNothing: return 0;
    case OpCost::kMove:
    case OpCost::kArithmetic:
    case OpCost::kOwn: return 1;
    case OpCost::kTransposed: return 2;
    case OpCost::kIndexed:
    case OpCost::kGathered:
    case OpCost::kRoot: return 8;
    case OpCost::kDivision: return 14;
    case OpCost::kExponential: return 25;
    case OpCost::kRemainder: return 30;
    case OpCost::kLogarithm: return 32;
    case OpCost::kTrigonometric: return 60;
    case OpCost::kPower: return 80;
  }
  return 1;
}

// The same of e^x of real numbers in single precision, which the machine's 2^y makes: 11 instructions for sm_90, of
// which two are minima, at half the rate. A test counts them (golden_kernels_test.cc). With --strict there are 21: the
// estimate is too low there.
constexpr double kMachineExponential = 12;

// Instructions of scalar code beside those of single precision: a complex product has four, floats of 8 bits are
// converted after each operation. Those of 16 bits stay in single precision.
double ScalarFactor(PrimitiveType type) {
  const bool is_narrow = IsFloatingPointType(type) && PrimitiveTypeByteSize(type) < 2;
  return IsComplexType(type) || is_narrow ? 3 : 1;
}

PrimitiveType ElementType(const HloInstruction& instruction) {
  const Shape& shape = instruction.shape();
  if (instruction.opcode() == HloOpcode::kCompare) return instruction.operand(0)->shape().element_type();
  return shape.IsArray() ? shape.element_type() : F32;
}

// `count` elements of an op whose cost is in the table.
Work ElementWork(const HloInstruction& instruction, double count) {
  const HloOpcode opcode = instruction.opcode();
  const OpCostFacts& facts = CostFacts(opcode);
  Work work;
  const PrimitiveType type = ElementType(instruction);
  work.operations =
      count * facts.operations * TypeFactor(type, OpcodeInfo(opcode).cost, DividesByConstant(instruction));
  const double scalar = opcode == HloOpcode::kExp && !IsComplexType(type) && type != F64
                            ? kMachineExponential
                            : ScalarInstructions(OpcodeInfo(opcode).cost);
  work.instructions = count * scalar * ScalarFactor(type);
  if (facts.transcendental) {
    work.transcendentals = count;
  } else if (IsElementwise(opcode) && !HasTrait(opcode, kMovement)) {
    work.flops = count;
  }
  return work;
}

// One call of each called computation.
Work CalledWork(const HloInstruction& instruction) {
  Work work;
  for (const HloComputation* called : instruction.called_computations()) {
    for (const HloInstruction* inner : called->instructions()) work += ElementWork(*inner, Elements(inner->shape()));
  }
  return work;
}

Work ProductWork(const HloInstruction& product, double flops) {
  Work work;
  work.flops = flops;
  work.product_flops = flops * TypeFactor(ElementType(product), OpCost::kArithmetic);
  // Two loads and a multiply-add for two flops.
  work.instructions = 1.5 * flops * ScalarFactor(ElementType(product));
  return work;
}

// Comparisons of a sort of `length` elements, for one of them.
double SortDepth(double length) { return std::log2(std::max(length, 2.0)); }

double LongestDimension(const Shape& shape) {
  int64_t length = 1;
  for (const int64_t size : shape.dimensions()) length = std::max(length, size);
  return static_cast<double>(length);
}

// The part of the result that `count` elements are.
double PartOf(const HloInstruction& instruction, double count) {
  const double result = Elements(instruction.shape());
  return result > 0 ? count / result : 0;
}

Work DotWork(const HloInstruction& dot, double count) { return ProductWork(dot, DotFlops(dot) * PartOf(dot, count)); }
// Each group has a part of the ragged dimension, be it of the sums or of the rows.
Work RaggedDotWork(const HloInstruction& dot, double count) {
  const auto& attrs = dot.attrs<RaggedDotAttrs>();
  double depth = 1;
  for (const int64_t d : attrs.lhs_contracting_dims)
    depth *= static_cast<double>(dot.operand(0)->shape().dimensions(d));
  const bool sums_groups = absl::c_linear_search(attrs.lhs_contracting_dims, attrs.lhs_ragged_dims[0]);
  const double groups = sums_groups ? static_cast<double>(dot.operand(2)->shape().dimensions().back()) : 1;
  return ProductWork(dot, 2 * count * depth / std::max(groups, 1.0));
}
Work ConvolutionWork(const HloInstruction& convolution, double count) {
  return ProductWork(convolution, ConvolutionFlops(convolution) * PartOf(convolution, count));
}
Work ReduceWork(const HloInstruction& reduce, double count) {
  return CalledWork(reduce) * (Elements(reduce.operand(0)->shape()) * PartOf(reduce, count));
}
Work ReduceWindowWork(const HloInstruction& instruction, double count) {
  return CalledWork(instruction) * (ScanWindowOf(instruction).has_value()
                                        ? count
                                        : count * WindowElements(instruction.attrs<ReduceWindowAttrs>().window));
}
Work SelectAndScatterWork(const HloInstruction& instruction, double) {
  return CalledWork(instruction) * (Elements(instruction.operand(1)->shape()) *
                                    WindowElements(instruction.attrs<SelectAndScatterAttrs>().window));
}
Work MapWork(const HloInstruction& map, double count) { return CalledWork(map) * count; }
// Rows that stay rows are copied; others are read across.
Work TransposeWork(const HloInstruction& transpose, double count) {
  Work work = ElementWork(transpose, count);
  if (transpose.attrs<TransposeAttrs>().dimensions.empty() ||
      transpose.attrs<TransposeAttrs>().dimensions.back() == transpose.shape().rank() - 1)
    work.operations = count * TypeFactor(ElementType(transpose), OpCost::kMove);
  return work;
}
// Elements that are not adjacent are loaded with those between them, which shuffles drop.
Work SliceWork(const HloInstruction& slice, double count) {
  constexpr double kStridedOperations = 2;
  Work work = ElementWork(slice, count);
  if (slice.shape().rank() > 0 && slice.attrs<SliceAttrs>().slice.back().stride != 1)
    work.operations = kStridedOperations * count * TypeFactor(ElementType(slice), OpCost::kMove);
  return work;
}
// Which operand an element comes from is mostly decided for a whole segment of a row.
Work ConcatenateWork(const HloInstruction& concatenate, double count) {
  Work work = ElementWork(concatenate, count);
  work.operations = count * TypeFactor(ElementType(concatenate), OpCost::kMove);
  return work;
}
Work ScatterWork(const HloInstruction& scatter, double) {
  const double updates = Elements(scatter.operand(scatter.operand_count() - 1)->shape());
  Work work = CalledWork(scatter) * updates;
  work += ElementWork(scatter, updates);
  return work;
}
Work SortWork(const HloInstruction& sort, double) {
  // A sort moves both elements of a pair, and a comparison that is not foreseen stops the processor.
  constexpr double kSortOperations = 500;
  const Shape& keys = sort.operand(0)->shape();
  const double comparisons = Elements(keys) * SortDepth(LongestDimension(keys));
  Work work = CalledWork(sort) * comparisons;
  work.operations += kSortOperations * comparisons * static_cast<double>(sort.operand_count());
  work.instructions += 3 * comparisons * static_cast<double>(sort.operand_count());
  return work;
}
Work TopKWork(const HloInstruction& top_k, double) {
  Work work;
  work.flops = work.operations = work.instructions = Elements(top_k.operand(0)->shape());
  return work;
}
Work FftWork(const HloInstruction& fft, double count) {
  Work work;
  work.flops = work.operations = work.instructions = 5 * count * SortDepth(LongestDimension(fft.shape()));
  return work;
}
Work CholeskyWork(const HloInstruction& cholesky, double count) {
  return ProductWork(cholesky, count * static_cast<double>(cholesky.shape().dimensions().back()) / 3);
}
Work TriangularSolveWork(const HloInstruction& solve, double count) {
  return ProductWork(solve, count * static_cast<double>(solve.operand(0)->shape().dimensions().back()));
}
// What LAPACK's routines compute of a matrix: `operations` for each of its elements, and `flops` of products for each
// element and each row or column, whichever are fewer. On matrices of 16 to 256 rows of f32 (AVX-512, one thread) the
// estimate is 0.6 to 2 times the measured time.
struct RoutineFacts {
  absl::string_view name;  // without the letter of the element type
  double operations, flops;
};
constexpr RoutineFacts kRoutines[] = {
    {"potrf", 80, 1.0 / 3},   {"trsm", 100, 1},         {"getrf", 160, 2.0 / 3}, {"geqrf", 160, 4.0 / 3},
    {"geqp3", 320, 4.0 / 3},  {"orgqr", 160, 4.0 / 3},  {"ungqr", 160, 4.0 / 3}, {"ormqr", 160, 2},
    {"unmqr", 160, 2},        {"sytrd", 640, 4.0 / 3},  {"hetrd", 640, 4.0 / 3}, {"gehrd", 1000, 10.0 / 3},
    {"syevd", 2400, 4.0 / 3}, {"heevd", 2400, 4.0 / 3}, {"gesdd", 4500, 5},      {"gesvd", 4500, 5},
    {"gees", 11000, 10},      {"geev", 12000, 10},      {"gtsv", 100, 0},
};
Work CustomCallWork(const HloInstruction& call, double count) {
  Work work = ElementWork(call, count);
  absl::string_view name = call.attrs<CustomCallAttrs>().custom_call_target;
  if (!absl::ConsumePrefix(&name, "lapack_") || !absl::ConsumeSuffix(&name, "_ffi") || name.empty() ||
      call.operand_count() == 0)
    return work;
  name.remove_prefix(1);
  const auto* routine = absl::c_find_if(kRoutines, [&](const RoutineFacts& facts) { return facts.name == name; });
  const Shape& matrix = call.operand(0)->shape();
  if (routine == std::end(kRoutines) || !matrix.IsArray() || matrix.rank() < 2) return work;
  const Shape& result = call.shape();
  const bool may_be_larger = result.IsTuple() ? !result.tuple_shapes().empty() : result.IsArray();
  const double elements =
      std::max(Elements(matrix), may_be_larger ? Elements(result.IsTuple() ? result.tuple_shapes(0) : result) : 0);
  const int64_t last = matrix.rank() - 1;
  const auto least = static_cast<double>(std::min(matrix.dimensions(last), matrix.dimensions(last - 1)));
  const double factor = TypeFactor(matrix.element_type(), OpCost::kArithmetic);
  work.operations += routine->operations * elements * factor;
  work.flops += routine->flops * elements * least;
  work.product_flops += routine->flops * elements * least * factor;
  return work;
}
Work RandomWork(const HloInstruction&, double count) {
  // Rounds of additions, rotations and exclusive ors.
  constexpr double kRandomOperations = 40;
  Work work;
  work.operations = work.instructions = kRandomOperations * count;
  return work;
}

// The computation of `count` elements of the result, their operands given; for ops that have no rule, ElementWork.
constexpr OpcodeMap<Work (*)(const HloInstruction& instruction, double count)> kOpWork = {
    {HloOpcode::kCholesky, CholeskyWork},
    {HloOpcode::kConcatenate, ConcatenateWork},
    {HloOpcode::kConvolution, ConvolutionWork},
    {HloOpcode::kCustomCall, CustomCallWork},
    {HloOpcode::kDot, DotWork},
    {HloOpcode::kFft, FftWork},
    {HloOpcode::kMap, MapWork},
    {HloOpcode::kRaggedDot, RaggedDotWork},
    {HloOpcode::kReduce, ReduceWork},
    {HloOpcode::kReduceWindow, ReduceWindowWork},
    {HloOpcode::kRng, RandomWork},
    {HloOpcode::kRngBitGenerator, RandomWork},
    {HloOpcode::kScaledDot, DotWork},
    {HloOpcode::kScatter, ScatterWork},
    {HloOpcode::kSelectAndScatter, SelectAndScatterWork},
    {HloOpcode::kSlice, SliceWork},
    {HloOpcode::kSort, SortWork},
    {HloOpcode::kTopK, TopKWork},
    {HloOpcode::kTranspose, TransposeWork},
    {HloOpcode::kTriangularSolve, TriangularSolveWork},
};
Work OpWork(const HloInstruction& instruction, double count) {
  const auto work = kOpWork[instruction.opcode()];
  return work != nullptr ? work(instruction, count) : ElementWork(instruction, count);
}

// The part of operand `index` that `count` elements are of the result.
double ProportionalDemand(const HloInstruction& user, int64_t index, double count) {
  const double result = Elements(user.shape());
  return result > 0 ? Elements(user.operand(index)->shape()) * count / result : 0;
}
double ReduceDemand(const HloInstruction& reduce, int64_t index, double count) {
  return index < reduce.operand_count() / 2 ? ProportionalDemand(reduce, index, count) : 1;
}
double DotDemand(const HloInstruction& dot, int64_t, double count) {
  return DotFlops(dot) / 2 / std::max(Elements(dot.shape()), 1.0) * count;
}
double ReduceWindowDemand(const HloInstruction& instruction, int64_t index, double count) {
  if (index >= instruction.operand_count() / 2) return 1;
  return ScanWindowOf(instruction).has_value() ? count
                                               : count * WindowElements(instruction.attrs<ReduceWindowAttrs>().window);
}
double DynamicSliceDemand(const HloInstruction&, int64_t index, double count) { return index == 0 ? count : 1; }
double GatherDemand(const HloInstruction& gather, int64_t index, double count) {
  if (index == 0) return count;
  return std::min(Elements(gather.operand(index)->shape()), std::max(count, ProportionalDemand(gather, index, count)));
}
double UpdateDemand(const HloInstruction& update, int64_t index, double count) {
  return index == 0 ? count : std::min(Elements(update.operand(index)->shape()), count);
}
double ScatterDemand(const HloInstruction& scatter, int64_t index, double) {
  return index < scatter.operand_count() / 2 ? 0 : Elements(scatter.operand(index)->shape());
}

constexpr OpcodeMap<double (*)(const HloInstruction& user, int64_t index, double count)> kDemand = {
    {HloOpcode::kDot, DotDemand},
    {HloOpcode::kDynamicSlice, DynamicSliceDemand},
    {HloOpcode::kDynamicUpdateSlice, UpdateDemand},
    {HloOpcode::kGather, GatherDemand},
    {HloOpcode::kReduce, ReduceDemand},
    {HloOpcode::kReduceWindow, ReduceWindowDemand},
    {HloOpcode::kScaledDot, DotDemand},
    {HloOpcode::kScatter, ScatterDemand},
};

// How many elements of operand `index` are computed or read for `count` elements of the result.
double DemandOf(const HloInstruction& user, int64_t index, double count) {
  const HloOpcode opcode = user.opcode();
  if (kDemand[opcode] != nullptr) return kDemand[opcode](user, index, count);
  const double all = Elements(user.operand(index)->shape());
  const bool is_read_once =
      IsElementwise(opcode) || HasTrait(opcode, kMovement) || OpcodeInfo(opcode).cost == OpCost::kMove;
  return is_read_once ? std::min(all, count) : all;
}

// What the kernel of `root` writes: the update, where only a part of the first operand's memory changes.
const HloInstruction& WrittenPart(const HloInstruction& root) {
  if (root.opcode() == HloOpcode::kDynamicUpdateSlice) return *root.operand(1);
  if (root.opcode() == HloOpcode::kScatter) return *root.operand(root.operand_count() - 1);
  return root;
}

using Demand = absl::flat_hash_map<const HloInstruction*, double>;

// Adds the work of computing `count` elements of `instruction`, and the elements it demands of its operands.
void Visit(const HloInstruction& instruction, double count, bool is_root, Demand* demand, Work* work) {
  if (instruction.opcode() == HloOpcode::kFusion) {
    const double result = Elements(instruction.shape());
    Work inner = WorkOf(instruction) * (result > 0 ? count / result : 0);
    inner.bytes_read = inner.bytes_written = 0;
    *work += inner;
  } else {
    *work += OpWork(instruction, count);
  }
  for (int64_t i = 0; i < instruction.operand_count(); ++i) {
    double elements = instruction.opcode() == HloOpcode::kFusion ? Elements(instruction.operand(i)->shape())
                                                                 : DemandOf(instruction, i, count);
    if (is_root && i == 0 && &WrittenPart(instruction) != &instruction) elements = 0;  // stays as it is
    // Equal indices are computed once; operands that are read at several are counted as if they were not.
    double& most = (*demand)[instruction.operand(i)];
    most = std::max(most, elements);
  }
}

// The bytes of reading `count` elements of `source`, or all of them.
double BytesRead(const HloInstruction& source, double count) {
  const Shape& shape = source.shape();
  if (!shape.IsArray() || (source.IsConstant() && shape.IsScalar())) return 0;
  const double all = Elements(shape);
  return all > 0 ? Bytes(shape) * std::min(1.0, count / all) : 0;
}

}  // namespace

Work& Work::operator+=(const Work& other) {
  flops += other.flops;
  transcendentals += other.transcendentals;
  operations += other.operations;
  product_flops += other.product_flops;
  instructions += other.instructions;
  bytes_read += other.bytes_read;
  bytes_written += other.bytes_written;
  return *this;
}

Work Work::operator*(double times) const {
  return {flops * times,        transcendentals * times, operations * times,   product_flops * times,
          instructions * times, bytes_read * times,      bytes_written * times};
}

const OpCostFacts& CostFacts(HloOpcode opcode) {
  // In the order of OpCost. The times are those of f32 elements on AVX-512 (tests/cost_model_test.py prints them).
  static constexpr OpCostFacts kFacts[] = {
      {.code_size = 0, .operations = 0, .transcendental = false},    // kNothing
      {.code_size = 3, .operations = 1, .transcendental = false},    // kMove
      {.code_size = 3, .operations = 5, .transcendental = false},    // kTransposed
      {.code_size = 12, .operations = 4, .transcendental = false},   // kIndexed
      {.code_size = 12, .operations = 16, .transcendental = false},  // kGathered
      {.code_size = 3, .operations = 1, .transcendental = false},    // kArithmetic
      {.code_size = 12, .operations = 3, .transcendental = false},   // kDivision
      {.code_size = 25, .operations = 8, .transcendental = false},   // kRemainder
      {.code_size = 3, .operations = 6, .transcendental = true},     // kRoot
      {.code_size = 25, .operations = 8, .transcendental = true},    // kExponential
      {.code_size = 25, .operations = 20, .transcendental = true},   // kLogarithm
      {.code_size = 60, .operations = 18, .transcendental = true},   // kTrigonometric
      {.code_size = 60, .operations = 100, .transcendental = true},  // kPower
      {.code_size = 3, .operations = 1, .transcendental = false},    // kOwn
  };
  static_assert(std::size(kFacts) == static_cast<size_t>(OpCost::kOwn) + 1);
  return kFacts[static_cast<size_t>(OpcodeInfo(opcode).cost)];
}

Work WorkOf(const HloInstruction& instruction, std::vector<double>* reads) {
  Work work;
  if (reads != nullptr) reads->assign(instruction.operand_count(), 0);
  if (HasTrait(instruction.opcode(), kControlFlow) || OpcodeInfo(instruction.opcode()).cost == OpCost::kNothing)
    return work;
  Demand demand;
  if (instruction.opcode() != HloOpcode::kFusion) {
    Visit(instruction, Elements(WrittenPart(instruction).shape()), /*is_root=*/true, &demand, &work);
    work.bytes_written = Bytes(WrittenPart(instruction).shape());
    for (int64_t i = 0; i < instruction.operand_count(); ++i) {
      const double bytes = BytesRead(*instruction.operand(i), std::exchange(demand[instruction.operand(i)], 0));
      work.bytes_read += bytes;
      if (reads != nullptr) (*reads)[i] = bytes;
    }
    return work;
  }
  const HloComputation& fused = *instruction.called_computation();
  const HloInstruction* root = fused.root_instruction();
  if (root->opcode() == HloOpcode::kTuple) {
    for (const HloInstruction* result : root->operands()) demand[result] = Elements(result->shape());
    work.bytes_written = Bytes(root->shape());
  } else {
    demand[root] = Elements(WrittenPart(*root).shape());
    work.bytes_written = Bytes(WrittenPart(*root).shape());
  }
  const std::vector<HloInstruction*> order = fused.MakePostOrder();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const HloInstruction* member = *it;
    if (member->opcode() == HloOpcode::kTuple) continue;
    const double count = demand[member];
    if (!member->IsParameter() && !member->IsConstant()) {
      Visit(*member, count, /*is_root=*/member == root, &demand, &work);
      continue;
    }
    const double bytes = BytesRead(*member, count);
    work.bytes_read += bytes;
    if (reads != nullptr && member->IsParameter()) (*reads)[member->parameter_number()] += bytes;
  }
  return work;
}

double MachineFacts::MemoryNanoseconds(double bytes) const {
  double time = 0;
  for (const MemoryLevel& level : memory) {
    const double here = &level == &memory.back() ? bytes : std::min(bytes, level.bytes);
    time += here / level.bytes_per_ns;
    bytes -= here;
  }
  return time;
}

double Nanoseconds(const Work& work, const MachineFacts& machine) {
  const double arithmetic =
      work.operations / machine.operations_per_ns + work.product_flops / machine.product_flops_per_ns;
  const double memory = machine.MemoryNanoseconds(work.bytes());
  return std::max(arithmetic, memory) + std::min(arithmetic, memory) / 2;
}

bool IsExpensiveToRepeat(const HloInstruction& instruction) {
  // By a constant it costs less than another pass over the array.
  if (instruction.opcode() == HloOpcode::kDivide) return !DividesByConstant(instruction);
  switch (OpcodeInfo(instruction.opcode()).cost) {
    case OpCost::kNothing:
    case OpCost::kMove:
    case OpCost::kTransposed:
    case OpCost::kIndexed:
    case OpCost::kArithmetic: return false;
    case OpCost::kGathered:
    case OpCost::kDivision:
    case OpCost::kRemainder:
    case OpCost::kRoot:
    case OpCost::kExponential:
    case OpCost::kLogarithm:
    case OpCost::kTrigonometric:
    case OpCost::kPower:
    case OpCost::kOwn: return true;
  }
  return true;
}

bool IsFreeToRepeat(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kIota || instruction.opcode() == HloOpcode::kBroadcast;
}

double DotFlops(const HloInstruction& dot) {
  double flops = 2 * Elements(dot.shape());
  for (const int64_t d : dot.attrs<DotAttrs>().lhs_contracting_dims)
    flops *= static_cast<double>(dot.operand(0)->shape().dimensions(d));
  return flops;
}

double ConvolutionFlops(const HloInstruction& convolution) {
  const int64_t dimension = convolution.attrs<ConvolutionAttrs>().dim_labels.kernel_output_feature_dimension();
  const int64_t features = convolution.operand(1)->shape().dimensions(dimension);
  // Every feature of the result has its own part of the kernel.
  return features == 0 ? 0
                       : 2 * Elements(convolution.shape()) * Elements(convolution.operand(1)->shape()) /
                             static_cast<double>(features);
}

}  // namespace hilo
