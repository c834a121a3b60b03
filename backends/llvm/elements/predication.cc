#include "backends/llvm/elements/predication.h"

#include "backends/llvm/elements/op_dispatch.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "hilo/status_macros.h"

namespace hilo::codegen {

Carried Pack(const ElementValues& values) {
  Carried carried;
  for (const ElementValue& value : values) {
    carried.push_back(value.re);
    if (value.im != nullptr) carried.push_back(value.im);
  }
  return carried;
}

ElementValues Unpack(absl::Span<llvm::Value* const> carried, absl::Span<const PrimitiveType> types) {
  ElementValues values;
  size_t next = 0;
  for (PrimitiveType type : types) {
    ElementValue& value = values.emplace_back();
    value.re = carried[next++];
    if (IsComplexType(type)) value.im = carried[next++];
  }
  return values;
}

namespace {

// Bytes next to an array that are memory but for the pages at its ends: a loop meets the others in few iterations.
constexpr int64_t kNear = 4096;

}  // namespace

void Guard::SetDistance(int64_t bytes) { may_be_far_ = may_be_far_ || bytes > kNear; }

void Guard::Add(EmitterContext& context, llvm::Value* condition) {
  if (condition == nullptr) return;
  llvm::Value*& all = condition->getType()->isVectorTy() ? lanes_ : uniform_;
  all = all == nullptr ? condition : context.b().CreateAnd(all, condition);
}

absl::StatusOr<ElementValues> Guard::Choose(EmitterContext& context, absl::string_view name, bool uniform,
                                            absl::Span<const PrimitiveType> types,
                                            absl::FunctionRef<absl::StatusOr<ElementValues>()> on_true,
                                            absl::FunctionRef<absl::StatusOr<ElementValues>()> on_false,
                                            bool may_skip) const {
  if (uniform_ == nullptr) return ChooseLanes(context, types, on_true, on_false, may_skip);
  auto packed = [&](absl::StatusOr<ElementValues> values) -> absl::StatusOr<Carried> {
    if (!values.ok()) return values.status();
    if (!uniform) {
      for (ElementValue& value : *values) value = context.Splat(value);
    }
    return Pack(*values);
  };
  HILO_ASSIGN_OR_RETURN(
      Carried chosen,
      EmitBranches(
          context, name, uniform_, [&] { return packed(ChooseLanes(context, types, on_true, on_false, may_skip)); },
          [&] { return packed(on_false()); }));
  return Unpack(chosen, types);
}

absl::StatusOr<ElementValues> Guard::ChooseLanes(EmitterContext& context, absl::Span<const PrimitiveType> types,
                                                 absl::FunctionRef<absl::StatusOr<ElementValues>()> on_true,
                                                 absl::FunctionRef<absl::StatusOr<ElementValues>()> on_false,
                                                 bool may_skip) const {
  if (lanes_ == nullptr) return on_true();
  llvm::IRBuilder<>& b = context.b();
  auto side = [&](llvm::Value* condition,
                  absl::FunctionRef<absl::StatusOr<ElementValues>()> values) -> absl::StatusOr<ElementValues> {
    RegionScope region(context);
    Lanes& lanes = context.lanes;
    lanes.mask = lanes.mask == nullptr ? condition : b.CreateAnd(lanes.mask, condition);
    lanes.first_lane_active = false;
    lanes.may_be_far = lanes.may_be_far || may_be_far_;
    if (!may_skip) return values();
    auto some = [&]() -> absl::StatusOr<Carried> {
      HILO_ASSIGN_OR_RETURN(ElementValues all, values());
      for (ElementValue& value : all) value = context.Splat(value);
      return Pack(all);
    };
    auto none = [&]() -> absl::StatusOr<Carried> {
      ElementValues zeros;
      for (PrimitiveType type : types) zeros.push_back(context.Splat(EmitZero(context, type)));
      return Pack(zeros);
    };
    HILO_ASSIGN_OR_RETURN(Carried chosen, EmitBranches(context, "lanes", b.CreateOrReduce(lanes.mask), some, none));
    return Unpack(chosen, types);
  };
  HILO_ASSIGN_OR_RETURN(ElementValues inside, side(lanes_, on_true));
  HILO_ASSIGN_OR_RETURN(ElementValues outside, side(b.CreateNot(lanes_), on_false));
  for (size_t i = 0; i < inside.size(); ++i) inside[i] = EmitSelect(context, lanes_, inside[i], outside[i]);
  return inside;
}

LaneIndex ClampedIndex(EmitterContext& context, PrimitiveType type, ElementValue value, int64_t high) {
  llvm::IRBuilder<>& b = context.b();
  llvm::Value* x = value.re;
  const int bits = PrimitiveTypeBitWidth(type);
  const bool is_signed = IsSignedIntegralType(type);
  const int digits = std::min(is_signed ? bits - 1 : bits, 63);
  llvm::Type* wide = x->getType()->getWithNewType(b.getInt64Ty());
  auto widen = [&] { return is_signed ? b.CreateSExtOrTrunc(x, wide) : b.CreateZExtOrTrunc(x, wide); };
  // Comparisons in the index's own type are cheaper; one that cannot hold `high` is widened first.
  if ((high >> digits) != 0) x = widen();
  if (is_signed) x = EmitBinaryIntrinsic(b, llvm::Intrinsic::smax, x, IntLike(x, 0));
  x = EmitBinaryIntrinsic(b, is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, x, IntLike(x, high));
  return LaneIndex::Arbitrary(widen(), high + 1);
}

}  // namespace hilo::codegen
