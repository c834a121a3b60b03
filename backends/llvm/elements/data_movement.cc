// An op that moves elements is a map from its index to its operand's; that map is all that is emitted. Where an element
// may come from several operands (pad, concatenate, dynamic-update-slice) a Guard selects.
#include "backends/llvm/elements/data_movement.h"

#include <algorithm>
#include <optional>

#include "backends/llvm/elements/op_dispatch.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo::codegen {
namespace {

using Dims = std::vector<LaneIndex>;

// Instructions between a concatenation and the array whose parts it puts together.
constexpr int kMaxMoves = 256;

// Returns the parameter of a fusion of which `moved` has parts, by slices, reshapes and concatenations; null if there
// is no such one. `budget`: instructions that may be visited.
const HloInstruction* OnlyArrayOf(const HloInstruction* moved, int* budget) {
  constexpr OpcodeSet kMoves = {HloOpcode::kConcatenate, HloOpcode::kReshape, HloOpcode::kSlice};
  if (--*budget < 0) return nullptr;
  if (moved->IsParameter()) return moved;
  if (!kMoves.contains(moved->opcode())) return nullptr;
  const HloInstruction* array = OnlyArrayOf(moved->operand(0), budget);
  for (int64_t i = 1; array != nullptr && i < moved->operand_count(); ++i) {
    if (OnlyArrayOf(moved->operand(i), budget) != array) return nullptr;
  }
  return array;
}

// Returns `on_true` where a uniform condition holds, else `on_false`, in a dimension of `size` elements; nullopt if
// lanes are apart in different ways. Of indices that are constants apart the constants are chosen, which do not depend
// on the position in a row.
std::optional<LaneIndex> ChosenIndex(EmitterContext& context, llvm::Value* condition, const LaneIndex& on_true,
                                     const LaneIndex& on_false, int64_t size) {
  const auto is_regular = [](const LaneIndex& i) { return !i.IsArbitrary() && !i.IsPatterned(); };
  if (!is_regular(on_true) || !is_regular(on_false) || on_true.stride() != on_false.stride()) return std::nullopt;
  llvm::IRBuilder<>& b = context.b();
  LaneIndex base, chosen;
  if (on_true.BaseVariable() == on_false.BaseVariable()) {
    if (llvm::Value* shared = on_true.BaseVariable()) base = LaneIndex::Uniform(shared);
    chosen = on_true.BaseConstant() == on_false.BaseConstant()
                 ? LaneIndex::Constant(on_true.BaseConstant())
                 : LaneIndex::Uniform(b.CreateSelect(condition, context.Int64(on_true.BaseConstant()),
                                                     context.Int64(on_false.BaseConstant())));
  } else {
    chosen = LaneIndex::Uniform(b.CreateSelect(condition, on_true.Base(context), on_false.Base(context)));
  }
  const LaneIndex lanes = LaneIndex::Strided(context.Int64(0), on_true.stride());
  return lanes.Add(context, base).Add(context, chosen).WithRange({0, size - 1});
}

class Movement {
 public:
  Movement(ElementEmitter& emitter, const HloInstruction* instruction, const Index& index)
      : emitter_(emitter),
        context_(emitter.context()),
        instruction_(*instruction),
        index_(index),
        types_{instruction->shape().element_type()} {}

  absl::StatusOr<ElementValue> BitcastConvert() {
    const PrimitiveType from = operand_shape(0).element_type(), to = shape().element_type();
    llvm::IRBuilder<>& b = context_.b();
    if (operand_shape(0).rank() == shape().rank()) {
      HILO_ASSIGN_OR_RETURN(ElementValue x, Operand(0, index_));
      return EmitBitcast(context_, from, to, x);
    }
    const auto width = static_cast<unsigned>(PrimitiveTypeBitWidth(to));  // of PRED 1, of the 8 that are stored
    Dims dims = index_.Dims(context_);
    if (operand_shape(0).rank() < shape().rank()) {  // a part of a wider element, the least significant first
      llvm::Value* part = dims.back().Value(context_);
      dims.pop_back();
      HILO_ASSIGN_OR_RETURN(ElementValue x, Operand(0, Index(dims)));
      llvm::Value* bits = ElementToBits(context_, from, x);
      if (part->getType()->isVectorTy()) bits = context_.Splat(bits);
      if (bits->getType()->isVectorTy()) part = context_.Splat(part);
      llvm::Value* shift = b.CreateMul(b.CreateZExtOrTrunc(part, bits->getType()), IntLike(bits, width));
      bits = b.CreateLShr(bits, shift);
      return ElementFromBits(context_, to, b.CreateTrunc(bits, bits->getType()->getWithNewType(b.getIntNTy(width))));
    }
    ElementValue all;
    const int64_t parts = operand_shape(0).dimensions(operand_shape(0).rank() - 1);
    dims.emplace_back();
    for (int64_t part = 0; part < parts; ++part) {
      dims.back() = LaneIndex::Constant(part);
      HILO_ASSIGN_OR_RETURN(ElementValue x, Operand(0, Index(dims)));
      llvm::Value* bits = ElementToBits(context_, from, x);
      bits = b.CreateZExtOrTrunc(bits, bits->getType()->getWithNewType(b.getIntNTy(width)));
      bits = b.CreateShl(bits, IntLike(bits, part * PrimitiveTypeBitWidth(from)));
      all.re = all.re == nullptr ? bits : b.CreateOr(all.re, bits);
    }
    return ElementFromBits(context_, to, all.re);
  }

  absl::StatusOr<ElementValue> Broadcast() {
    const Dims dims = index_.Dims(context_);
    Dims from;
    for (int64_t d : instruction_.attrs<BroadcastAttrs>().dimensions) from.push_back(dims[d]);
    return Operand(0, Index(std::move(from)));
  }

  absl::StatusOr<ElementValue> Reshape() {
    HILO_ASSIGN_OR_RETURN(ElementValue x,
                          Operand(0, index_.Reshape(context_, shape().dimensions(), operand_shape(0).dimensions())));
    return EmitBitcast(context_, operand_shape(0).element_type(), shape().element_type(), x);
  }

  absl::StatusOr<ElementValue> Transpose() {
    const Dims dims = index_.Dims(context_);
    Dims from(dims.size());
    const auto& permutation = instruction_.attrs<TransposeAttrs>().dimensions;
    for (size_t i = 0; i < dims.size(); ++i) from[permutation[i]] = dims[i];
    return Operand(0, Index(std::move(from)));
  }

  absl::StatusOr<ElementValue> Slice() {
    Dims dims = index_.Dims(context_);
    const auto& ranges = instruction_.attrs<SliceAttrs>().slice;
    for (size_t i = 0; i < dims.size(); ++i)
      dims[i] = dims[i].MulConstant(context_, ranges[i].stride).AddConstant(ranges[i].start);
    return Operand(0, Index(std::move(dims)));
  }

  absl::StatusOr<ElementValue> Reverse() {
    Dims dims = index_.Dims(context_);
    for (int64_t d : instruction_.attrs<ReverseAttrs>().dimensions) {
      dims[d] = dims[d].MulConstant(context_, -1).AddConstant(shape().dimensions(d) - 1);
    }
    return Operand(0, Index(std::move(dims)));
  }

  absl::StatusOr<ElementValue> Pad() {
    Dims dims = index_.Dims(context_);
    const auto& padding = instruction_.attrs<PadAttrs>().padding.dimensions;
    Guard guard;
    for (size_t i = 0; i < dims.size(); ++i) {
      const int64_t size = operand_shape(0).dimensions(i), step = padding[i].interior_padding + 1;
      const LaneIndex shifted = dims[i].AddConstant(-padding[i].edge_padding_low);
      const int64_t limit = size == 0 ? 0 : (size - 1) * step + 1;
      guard.Add(context_, shifted.InRange(context_, 0, limit));
      guard.SetDistance(Distance(0, i, std::max(padding[i].edge_padding_low, padding[i].edge_padding_high)));
      const LaneIndex inside = shifted.WithRange({0, limit - 1});
      guard.Add(context_, inside.RemConstant(context_, step).InRange(context_, 0, 1));
      dims[i] = inside.DivConstant(context_, step);
    }
    return Choose(guard, [&] { return Operand(0, Index(dims)); }, [&] { return Operand(1, Index()); });
  }

  absl::StatusOr<ElementValue> Concatenate() {
    const int64_t dimension = instruction_.attrs<ConcatenateAttrs>().dimensions[0];
    const Dims dims = index_.Dims(context_);
    int budget = kMaxMoves;
    // Two sources are a branch that LLVM makes a choice of addresses.
    const HloInstruction* array = instruction_.operand_count() > 2 ? OnlyArrayOf(&instruction_, &budget) : nullptr;
    if (array != nullptr && array->parent()->IsFusion() && dims[dimension].IsUniform() &&
        !dims[dimension].IsConstant()) {
      if (std::optional<Dims> source = SourceOf(&instruction_, dims)) return emitter_.Generate(array, Index(*source));
    }
    return ConcatenatePart(dims, dimension, StartsOf(instruction_), 0, instruction_.operand_count());
  }

  absl::StatusOr<ElementValue> Iota() {
    const LaneIndex at = index_.Dims(context_)[instruction_.attrs<IotaAttrs>().iota_dimension];
    // Indices that are exact in float are converted to it, so that narrower floats are rounded once.
    const int64_t dimension = instruction_.attrs<IotaAttrs>().iota_dimension;
    if (IsFloatingPointType(shape().element_type()) && shape().element_type() != F64 &&
        shape().dimensions(dimension) <= 1 << 24) {
      if (llvm::Value* narrow = at.Value32(context_)) {
        return EmitConvert(context_, F32, shape().element_type(), EmitConvert(context_, S32, F32, {narrow}));
      }
    }
    if (llvm::Value* narrow = at.Value32(context_)) return EmitConvert(context_, S32, shape().element_type(), {narrow});
    return EmitConvert(context_, S64, shape().element_type(), {at.Value(context_)});
  }

  absl::StatusOr<ElementValue> Constant() {
    const Literal& literal = instruction_.literal();
    const LaneIndex at = index_.Linear(context_, shape().dimensions());
    if (ShapeUtil::IsZeroElementArray(shape())) return EmitZero(context_, shape().element_type());
    if (at.IsConstant()) return EmitLiteral(context_, literal, at.constant());
    const absl::Span<const uint8_t> bytes = literal.untyped_data();
    const size_t size = PrimitiveTypeByteSize(shape().element_type());
    // All bytes equal those one element further on.
    HILO_RET_CHECK(std::equal(bytes.begin() + size, bytes.end(), bytes.begin()))
        << "an array constant is not in memory" << InstructionContext(instruction_);
    return EmitLiteral(context_, literal);
  }

  absl::StatusOr<ElementValue> DynamicSlice() {
    Dims dims = index_.Dims(context_);
    for (size_t i = 0; i < dims.size(); ++i) {
      HILO_ASSIGN_OR_RETURN(LaneIndex start, Start(i + 1, operand_shape(0).dimensions(i) - shape().dimensions(i)));
      dims[i] = dims[i].Add(context_, start);
    }
    return Operand(0, Index(std::move(dims)));
  }

  absl::StatusOr<ElementValue> DynamicUpdateSlice() {
    const Dims dims = index_.Dims(context_);
    Dims inside = dims;
    Guard guard;
    for (size_t i = 0; i < dims.size(); ++i) {
      const int64_t size = operand_shape(1).dimensions(i);
      HILO_ASSIGN_OR_RETURN(LaneIndex start, Start(i + 2, shape().dimensions(i) - size));
      const LaneIndex offset = dims[i].Add(context_, start.MulConstant(context_, -1));
      guard.Add(context_, offset.InRange(context_, 0, size));
      guard.SetDistance(Distance(1, i, shape().dimensions(i)));
      inside[i] = offset.WithRange({0, size - 1});
    }
    return Choose(guard, [&] { return Operand(1, Index(inside)); }, [&] { return Operand(0, index_); });
  }

 private:
  using Source = absl::FunctionRef<absl::StatusOr<ElementValue>()>;

  const Shape& shape() const { return instruction_.shape(); }
  const Shape& operand_shape(int64_t i) const { return instruction_.operand(i)->shape(); }
  absl::StatusOr<ElementValue> Operand(int64_t i, const Index& index) {
    return emitter_.Generate(instruction_.operand(i), index);
  }

  // Returns the bytes between elements of an operand whose indices in a dimension are `indices` apart.
  int64_t Distance(int64_t operand, size_t dimension, int64_t indices) const {
    const Shape& array = operand_shape(operand);
    return indices * ShapeUtil::RowMajorStrides(array.dimensions())[dimension] *
           PrimitiveTypeByteSize(array.element_type());
  }

  absl::StatusOr<LaneIndex> Start(int64_t operand, int64_t high) {
    HILO_ASSIGN_OR_RETURN(ElementValue value, Operand(operand, Index()));
    return ClampedIndex(context_, operand_shape(operand).element_type(), value, high);
  }

  absl::StatusOr<ElementValue> Choose(const Guard& guard, Source on_true, Source on_false, bool may_skip = false) {
    auto listed = [](absl::StatusOr<ElementValue> value) -> absl::StatusOr<ElementValues> {
      if (!value.ok()) return value.status();
      return ElementValues{*value};
    };
    HILO_ASSIGN_OR_RETURN(ElementValues chosen,
                          guard.Choose(
                              context_, instruction_.name(), index_.IsUniform(), types_,
                              [&] { return listed(on_true()); }, [&] { return listed(on_false()); }, may_skip));
    return chosen[0];
  }

  // Returns the first indices of a concatenation's operands, and the end of the last one.
  static std::vector<int64_t> StartsOf(const HloInstruction& concatenate) {
    const int64_t dimension = concatenate.attrs<ConcatenateAttrs>().dimensions[0];
    std::vector<int64_t> starts{0};
    for (const HloInstruction* operand : concatenate.operands())
      starts.push_back(starts.back() + operand->shape().dimensions(dimension));
    return starts;
  }

  // Returns where the element of `moved` at `dims` is in the array that OnlyArrayOf() returns; nullopt if that differs
  // from lane to lane by more than a stride. What several rows are put together from is then one load of a row, whose
  // address is computed before it, rather than a branch for each vector.
  std::optional<Dims> SourceOf(const HloInstruction* moved, Dims dims) {
    if (moved->opcode() == HloOpcode::kConcatenate)
      return SourceOfPart(*moved, std::move(dims), StartsOf(*moved), 0, moved->operand_count());
    if (moved->IsParameter()) return dims;
    const HloInstruction* operand = moved->operand(0);
    if (moved->opcode() == HloOpcode::kReshape) {
      const Index index(std::move(dims));
      return SourceOf(
          operand, index.Reshape(context_, moved->shape().dimensions(), operand->shape().dimensions()).Dims(context_));
    }
    const auto& ranges = moved->attrs<SliceAttrs>().slice;
    for (size_t i = 0; i < dims.size(); ++i)
      dims[i] = dims[i].MulConstant(context_, ranges[i].stride).AddConstant(ranges[i].start);
    return SourceOf(operand, std::move(dims));
  }

  // The same of operands [first, last) of a concatenation.
  std::optional<Dims> SourceOfPart(const HloInstruction& concatenate, Dims dims, const std::vector<int64_t>& starts,
                                   int64_t first, int64_t last) {
    LaneIndex& at = dims[concatenate.attrs<ConcatenateAttrs>().dimensions[0]];
    at = at.WithRange({starts[first], starts[last] - 1});
    if (last - first == 1) {
      at = at.AddConstant(-starts[first]);
      return SourceOf(concatenate.operand(first), std::move(dims));
    }
    const int64_t middle = (first + last) / 2;
    llvm::Value* condition = at.InRange(context_, starts[first], starts[middle]);
    if (condition != nullptr && condition->getType()->isVectorTy()) return std::nullopt;
    const auto* known = llvm::dyn_cast_or_null<llvm::ConstantInt>(condition);
    if (condition == nullptr || (known != nullptr && known->isOne()))
      return SourceOfPart(concatenate, std::move(dims), starts, first, middle);
    if (known != nullptr) return SourceOfPart(concatenate, std::move(dims), starts, middle, last);
    std::optional<Dims> on_true = SourceOfPart(concatenate, dims, starts, first, middle);
    const std::optional<Dims> on_false = SourceOfPart(concatenate, std::move(dims), starts, middle, last);
    if (!on_true || !on_false) return std::nullopt;
    int budget = kMaxMoves;
    const Shape& array = OnlyArrayOf(&concatenate, &budget)->shape();
    for (size_t i = 0; i < on_true->size(); ++i) {
      const std::optional<LaneIndex> chosen =
          ChosenIndex(context_, condition, (*on_true)[i], (*on_false)[i], array.dimensions(static_cast<int64_t>(i)));
      if (!chosen) return std::nullopt;
      (*on_true)[i] = *chosen;
    }
    return on_true;
  }

  // Emits operands [first, last) of a concatenation, selected by bisection.
  absl::StatusOr<ElementValue> ConcatenatePart(Dims dims, int64_t dimension, const std::vector<int64_t>& starts,
                                               int64_t first, int64_t last) {
    LaneIndex& at = dims[dimension];
    at = at.WithRange({starts[first], starts[last] - 1});
    if (last - first == 1) {
      at = at.AddConstant(-starts[first]);
      return Operand(first, Index(std::move(dims)));
    }
    const int64_t middle = (first + last) / 2;
    Guard guard;
    guard.Add(context_, at.InRange(context_, starts[first], starts[middle]));
    guard.SetDistance(Distance(first, dimension, starts[last] - starts[first]));
    return Choose(
        guard, [&] { return ConcatenatePart(dims, dimension, starts, first, middle); },
        [&] { return ConcatenatePart(dims, dimension, starts, middle, last); }, instruction_.operand_count() > 2);
  }

  ElementEmitter& emitter_;
  EmitterContext& context_;
  const HloInstruction& instruction_;
  const Index& index_;
  const PrimitiveType types_[1];
};

using Generator = absl::StatusOr<ElementValues> (*)(ElementEmitter&, const HloInstruction*, const Index&);

template <absl::StatusOr<ElementValue> (Movement::*kEmit)()>
absl::StatusOr<ElementValues> Moved(ElementEmitter& emitter, const HloInstruction* instruction, const Index& index) {
  Movement movement(emitter, instruction, index);
  HILO_ASSIGN_OR_RETURN(ElementValue value, (movement.*kEmit)());
  return ElementValues{value};
}

constexpr OpcodeMap<Generator> kGenerators = {
    {HloOpcode::kBitcast, Moved<&Movement::Reshape>},
    {HloOpcode::kBitcastConvert, Moved<&Movement::BitcastConvert>},
    {HloOpcode::kBroadcast, Moved<&Movement::Broadcast>},
    {HloOpcode::kConcatenate, Moved<&Movement::Concatenate>},
    {HloOpcode::kConstant, Moved<&Movement::Constant>},
    {HloOpcode::kConvolution, EmitConvolutionElement},
    {HloOpcode::kDot, EmitDotElement},
    {HloOpcode::kDynamicSlice, Moved<&Movement::DynamicSlice>},
    {HloOpcode::kDynamicUpdateSlice, Moved<&Movement::DynamicUpdateSlice>},
    {HloOpcode::kGather, EmitGatherElement},
    {HloOpcode::kIota, Moved<&Movement::Iota>},
    {HloOpcode::kPad, Moved<&Movement::Pad>},
    {HloOpcode::kReduce, EmitReduceElement},
    {HloOpcode::kReduceWindow, EmitReduceWindowElement},
    {HloOpcode::kReshape, Moved<&Movement::Reshape>},
    {HloOpcode::kReverse, Moved<&Movement::Reverse>},
    {HloOpcode::kSlice, Moved<&Movement::Slice>},
    {HloOpcode::kTranspose, Moved<&Movement::Transpose>},
};

consteval bool AllHaveGenerators() {
  for (int i = 0; i < kHloOpcodeCount; ++i) {
    const HloOpcode opcode = static_cast<HloOpcode>(i);
    if (kGeneratedOps.contains(opcode) && kGenerators[opcode] == nullptr) return false;
  }
  return true;
}
static_assert(AllHaveGenerators());

}  // namespace

absl::StatusOr<ElementValues> EmitMovement(ElementEmitter& emitter, const HloInstruction* instruction,
                                           const Index& index) {
  const Generator emit = kGenerators[instruction->opcode()];
  if (emit == nullptr) {
    return Unimplemented(HloOpcodeString(instruction->opcode()), " cannot be emitted element by element",
                         InstructionContext(*instruction));
  }
  return emit(emitter, instruction, index);
}

}  // namespace hilo::codegen
