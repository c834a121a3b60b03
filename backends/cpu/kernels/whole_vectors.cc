// Arrays of a few vectors, all of whose elements are at indices that are known at compile time: element-wise work,
// movement, reductions of few terms and products of small matrices. All vectors of a result begin at multiples of the
// width, also where they are read (IrArray), so that LLVM keeps arrays on the stack in registers: a loop over states of
// some 50 elements has no memory accesses, no copies, and no loads that wait for stores of other sizes.
#include "absl/algorithm/container.h"
#include "absl/numeric/bits.h"
#include "backends/cpu/kernels/choice_families.h"
#include "backends/cpu/kernels/code_size.h"
#include "backends/cpu/kernels/kernel_choice.h"
#include "backends/cpu/kernels/kernels.h"
#include "backends/llvm/elements/element_convert.h"
#include "backends/llvm/elements/scalar_computation.h"
#include "backends/llvm/nest/loop_elements.h"
#include "hilo/host.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/dot_sides.h"
#include "hlo/analysis/hero.h"
#include "hlo/analysis/loop_results.h"
#include "hlo/analysis/reduction.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo::cpu {
namespace {

using codegen::Index;
using codegen::LaneIndex;
using codegen::TargetTraits;

// Elements of the largest arrays.
constexpr int64_t kMaxElements = 64;
// Vectors of fewer bits would leave arrays of a few elements in several registers, which permutations do not cross.
constexpr int64_t kFewestBits = 256;
// Code of the largest loop, as all of it is emitted once for each vector.
constexpr int64_t kMaxCode = 340;
// Columns of a product, of which lanes repeat rows of the right factor: fewer are quicker as scalars. With AVX2, 200
// iterations of f32[n,n] times itself take 1.33 us as scalars and 1.92 in vectors for n = 2, 1.95 and 2.21 for 3, 3.52
// and 2.02 for 4.
constexpr uint64_t kFewestColumns = 4;
// Work for an element that makes vectors worth it, however the elements are read.
constexpr double kFunctionWork = 8;

// Ops that read their operands at indices that depend on the index of their result alone. Gathers from few vectors
// permute these.
constexpr OpcodeSet kMovements = {HloOpcode::kBitcast, HloOpcode::kBroadcast, HloOpcode::kConcatenate,
                                  HloOpcode::kIota,    HloOpcode::kPad,       HloOpcode::kReshape,
                                  HloOpcode::kReverse, HloOpcode::kSlice,     HloOpcode::kTranspose};

// Those whose elements are in other lanes than they were. Broadcasts are not: they mostly repeat one element.
constexpr OpcodeSet kLaneChanges = {HloOpcode::kConcatenate, HloOpcode::kPad,    HloOpcode::kReverse,
                                    HloOpcode::kSlice,       HloOpcode::kGather, HloOpcode::kTranspose};

// Returns true if all that `root` is computed of in its fusion is at known indices, and real.
bool HasKnownIndices(const HloInstruction* root, const TargetTraits& target) {
  const bool is_fused = root->parent()->IsFusion();
  absl::flat_hash_set<const HloInstruction*> seen;
  std::vector<const HloInstruction*> work = {root};
  while (!work.empty()) {
    const HloInstruction* instruction = work.back();
    work.pop_back();
    if (!seen.insert(instruction).second) continue;
    const Shape& shape = instruction->shape();
    if (!shape.IsArray() || IsComplexType(shape.element_type())) return false;
    if (instruction->IsParameter() || instruction->IsConstant() || (!is_fused && instruction != root)) {
      if (ShapeUtil::ElementsIn(shape) > 2 * kMaxElements) return false;
      continue;
    }
    const bool is_register_gather = target.has_avx512 && instruction->opcode() == HloOpcode::kGather &&
                                    ShapeUtil::ElementsIn(instruction->operand(0)->shape()) <= kMaxElements;
    const bool is_known = is_register_gather || kMovements.contains(instruction->opcode()) ||
                          IsElementwise(instruction->opcode()) ||
                          (instruction == root && instruction->opcode() == HloOpcode::kReduce);
    if (!is_known) return false;
    work.insert(work.end(), instruction->operands().begin(), instruction->operands().end());
  }
  return true;
}

// Returns true if elements change their lanes: what is one permutation of two registers with AVX-512 takes several
// instructions without, and nothing at all if each element is a scalar. Rolls of 6 to 16 elements in a loop took 1.3 to
// 2 times as long in vectors of 256 bits.
bool MovesElements(const HloInstruction& instruction) {
  if (instruction.opcode() != HloOpcode::kFusion) return kLaneChanges.contains(instruction.opcode());
  return absl::c_any_of(instruction.called_computation()->instructions(),
                        [](const HloInstruction* fused) { return kLaneChanges.contains(fused->opcode()); });
}

// Returns true if an array is read by a loop that moves its elements.
bool IsMoved(const HloInstruction* array) {
  return absl::c_any_of(array->users(), [](const HloInstruction* user) { return MovesElements(*user); });
}

// Returns the width of the vectors of all roots; 0 if they do not suit.
int64_t WidthOf(const LoopResults& loop, const TargetTraits& target) {
  int64_t width = kMaxElements;
  for (const HloInstruction* root : loop.roots) {
    if (!root->shape().IsArray() || !ShapeUtil::SameDimensions(root->shape(), loop.shape()) ||
        !HasKnownIndices(root, target))
      return 0;
    width = std::min<int64_t>(width, codegen::FullVectorWidth(root, target));
  }
  // Without AVX-512 there are no masked loads of 8 and 16 bits.
  const bool is_narrow = width > target.vector_bits / 32;
  if (is_narrow && !target.has_avx512 && ShapeUtil::ElementsIn(loop.shape()) % width != 0) return 0;
  return width;
}

// Returns the vectors of the largest arrays: with two of them and what is computed from both, registers are used up.
// With 16 registers, ten HMC steps of 50 dimensions in f64 take 251 us with arrays of 8 and 173 with those of 4.
int64_t MaxVectors(const TargetTraits& target) { return target.vector_registers / 4; }

KernelConfig Kernel(int64_t width, absl::string_view why) {
  return {.kind = KernelKind::kWholeVectors, .width = width, .why = std::string(why)};
}

// Calls `body` for each vector of an array of `dimensions`, with its index, under its lanes.
absl::Status ForEachWholeVector(FunctionEmitter& f, absl::Span<const int64_t> dimensions, int64_t width,
                                absl::FunctionRef<absl::Status(const Index&)> body) {
  llvm::IRBuilder<>& b = f.b();
  const int64_t count = Product(dimensions);
  if (count == 1) return body(Index(std::vector<LaneIndex>(dimensions.size())));
  for (int64_t first = 0; first < count; first += width) {
    codegen::RegionScope region(f.context());
    f.context().lanes = {.width = static_cast<int>(width)};
    if (count - first < width) {
      std::vector<llvm::Constant*> active;
      for (int64_t lane = 0; lane < width; ++lane) active.push_back(b.getInt1(lane < count - first));
      f.context().lanes.mask = llvm::ConstantVector::get(active);
    }
    const LaneIndex linear = LaneIndex::Strided(b.getInt64(static_cast<uint64_t>(first)), 1, width, count);
    HILO_RETURN_IF_ERROR(body(Index::FromLinear(linear, dimensions)));
  }
  return absl::OkStatus();
}

// Computes a fused operand of a reduction, in full vectors, which later reads find on the stack.
absl::Status EmitOperand(FunctionEmitter& f, const HloInstruction* operand, int64_t width) {
  const int64_t count = ShapeUtil::ElementsIn(operand->shape());
  const PrimitiveType type = operand->shape().element_type();
  codegen::IrArray array;
  const int64_t components = IsComplexType(type) ? 2 : 1;
  array.pointer = f.context().EntryAlloca(codegen::MemoryType(f.b().getContext(), type), (count + width) * components,
                                          kBufferAlignment, operand->name());
  array.shape = operand->shape();
  array.alignment = kBufferAlignment;
  array.padding = width * PrimitiveTypeByteSize(type);
  HILO_RETURN_IF_ERROR(
      ForEachWholeVector(f, operand->shape().dimensions(), width, [&](const Index& index) -> absl::Status {
        HILO_ASSIGN_OR_RETURN(const codegen::ElementValue value, f.elements().Generate(operand, index));
        array.Store(f.context(), index, value);
        return absl::OkStatus();
      }));
  f.SetValue(operand, {.array = array});
  return absl::OkStatus();
}

}  // namespace

std::optional<KernelConfig> ChooseWholeVectors(const HloInstruction& instruction, const TargetTraits& target) {
  if (target.vector_bits < kFewestBits || CodeSize(instruction, /*by_elements=*/false) > kMaxCode) return std::nullopt;
  const LoopResults loop = LoopResultsOf(instruction);
  const int64_t count = ShapeUtil::ElementsIn(loop.shape());
  if (count <= kUnrolledElements || count > kMaxElements) return std::nullopt;
  const int64_t width = WidthOf(loop, target);
  if (width == 0 || CeilDiv(count, width) > MaxVectors(target)) return std::nullopt;
  return Kernel(width, "few vectors, with elements at known indices");
}

std::optional<KernelConfig> ChooseWholeVectorSums(const Reduction& r, const TargetTraits& target) {
  if (target.vector_bits < kFewestBits || CodeSize(*r.instruction, /*by_elements=*/false) > kMaxCode)
    return std::nullopt;
  const int64_t results = Product(r.kept_sizes), terms = Product(r.reduced_sizes), count = results * terms;
  if (r.count != 1 || terms < 2 || terms > codegen::kUnrolledTerms || count > kMaxElements ||
      !codegen::CanEmitComputation(r.computation()))
    return std::nullopt;
  if ((results == 1 || count <= kUnrolledElements) && !HasFunctions(*r.instruction, count)) return std::nullopt;
  const int64_t width = WidthOf(LoopResultsOf(*r.instruction), target);
  if (width == 0 || CeilDiv(count, width) > MaxVectors(target)) return std::nullopt;
  return Kernel(width, "few vectors: lanes are results");
}

std::optional<KernelConfig> ChooseWholeVectorProducts(const HloInstruction& dot, const TargetTraits& target) {
  const PrimitiveType type = dot.shape().element_type();
  if (target.vector_bits < kFewestBits || (type != F32 && type != F64)) return std::nullopt;
  const DotSide lhs = LhsOf(dot), rhs = RhsOf(dot);
  const int64_t count = ShapeUtil::ElementsIn(dot.shape()), terms = Product(lhs.contracting_sizes);
  const auto columns = static_cast<uint64_t>(rhs.free_sizes.empty() ? 1 : rhs.free_sizes.back());
  const int64_t width = std::min<int64_t>(count, codegen::FullVectorWidth(&dot, target));
  if (columns < kFewestColumns || !absl::has_single_bit(columns) || count % width != 0 ||
      count / width > MaxVectors(target) || terms > codegen::kUnrolledTerms)
    return std::nullopt;
  const bool is_row = static_cast<uint64_t>(count) == columns;
  // LLVM computes each of its scalars once.
  const bool is_symmetric = lhs.operand == rhs.operand && lhs.contracting == rhs.contracting;
  if (is_row || is_symmetric) return std::nullopt;
  for (const DotSide& side : {lhs, rhs}) {
    const Shape& factor = side.operand->shape();
    if (factor.element_type() != type || ShapeUtil::ElementsIn(factor) > kMaxElements) return std::nullopt;
  }
  return Kernel(width, "few vectors: lanes are columns of rows");
}

bool HasFunctions(const HloInstruction& instruction, int64_t elements) {
  return WorkOf(instruction).operations >= kFunctionWork * static_cast<double>(elements);
}

int64_t KnownIndexWidth(const LoopResults& loop, const TargetTraits& target) {
  if (target.vector_bits < kFewestBits) return 0;
  const HloInstruction& instruction = *loop.instruction;
  if (!target.has_avx512) {
    if (kLaneChanges.contains(instruction.opcode())) return 0;
    const bool is_cheap = !HasFunctions(instruction, ShapeUtil::ElementsIn(loop.shape()));
    if (is_cheap &&
        (MovesElements(instruction) || IsMoved(&instruction) || absl::c_any_of(instruction.operands(), IsMoved)))
      return 0;
  }
  return WidthOf(loop, target);
}

absl::Status EmitWholeVectors(FunctionEmitter& f, const KernelParts& kernel) {
  const HloInstruction& instruction = *kernel.instruction;
  const LoopResults loop = LoopResultsOf(instruction);
  HILO_RETURN_IF_ERROR(f.LoadScalarOperands(&instruction));
  if (const HloInstruction* hero = HeroOf(&instruction); hero->opcode() == HloOpcode::kReduce) {
    const HloInstruction* operand = hero->operand(0);
    if (hero->parent()->IsFusion() && !operand->IsParameter() && !operand->IsConstant())
      HILO_RETURN_IF_ERROR(EmitOperand(f, operand, kernel.config.width));
  }
  f.SetHoldsVectors(&instruction, true);
  return ForEachWholeVector(f, loop.shape().dimensions(), kernel.config.width,
                            [&](const Index& index) { return codegen::EmitElements(f, loop, {index}); });
}

}  // namespace hilo::cpu
