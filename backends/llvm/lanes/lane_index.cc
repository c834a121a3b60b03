// The index algebra. A regular index is value + offset + lane * stride or + steps[lane], where only `value` is an LLVM
// value and all the rest is known at compile time; the constant part is stored separately so that equal indices have
// equal keys and adjacent elements of a stencil share their base.
#include "backends/llvm/lanes/lane_index.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace hilo::codegen {
namespace {

using Range = LaneIndex::Range;

int64_t FloorMod(int64_t a, int64_t b) {
  const int64_t r = a % b;
  return r < 0 ? r + b : r;
}
int64_t FloorDiv(int64_t a, int64_t b) { return (a - FloorMod(a, b)) / b; }

// Range of an expression whose exact ends are given; unknown if they overflow.
Range MakeRange(__int128 low, __int128 high) {
  constexpr __int128 kLimit = __int128{1} << 62;
  if (low < -kLimit || high > kLimit) return {};
  return {static_cast<int64_t>(low), static_cast<int64_t>(high)};
}

bool FitsInt32(const Range& range) { return range.low >= -(int64_t{1} << 30) && range.high <= (int64_t{1} << 30); }

// Returns true if x and x - offset fit 32 bits for x in `range`.
bool FitsInt32(const Range& range, int64_t offset) { return FitsInt32(range) && FitsInt32({offset, offset}); }

// Lanes that are known to fit 32 bits, in as many. What was widened from them costs nothing.
llvm::Value* Narrow(EmitterContext& context, llvm::Value* lanes) {
  llvm::Type* narrow = lanes->getType()->getWithNewBitWidth(32);
  if (auto* widened = llvm::dyn_cast<llvm::CastInst>(lanes);
      widened != nullptr && widened->getSrcTy() == narrow && widened->isIntegerCast()) {
    return widened->getOperand(0);
  }
  return context.b().CreateTrunc(lanes, narrow);
}
llvm::Value* Widen(EmitterContext& context, llvm::Value* lanes) {
  return context.b().CreateSExt(lanes, lanes->getType()->getWithNewBitWidth(64));
}

// Consecutive indices of more lanes than one register has of 32 bits are compared as bytes, if a byte counts them.
constexpr int kMaxWideLanes = 16, kMaxByteLanes = 128;

uint64_t Bits(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

// Emits an index operation unless the same one is cached.
template <typename F>
llvm::Value* Once(EmitterContext& context, std::vector<uint64_t> key, F&& emit) {
  if (llvm::Value* known = context.FindIndex(key)) return known;
  llvm::Value* value = emit();
  context.RememberIndex(std::move(key), value);
  return value;
}

enum Operation : uint64_t { kAddValues, kAddOffset, kMul, kDiv, kFloorDiv, kLanes, kSteps };

// The quotient of a scalar base, rounded down. Lane 0 may be inactive, and the base of a strided index then negative,
// while other lanes rely on it.
llvm::Value* DivideBase(EmitterContext& context, llvm::Value* base, int64_t divisor, bool may_be_negative) {
  llvm::IRBuilder<>& b = context.b();
  llvm::Value* constant = context.Int64(divisor);
  return Once(context, {may_be_negative ? kFloorDiv : kDiv, Bits(base), static_cast<uint64_t>(divisor)}, [&] {
    if (!may_be_negative) return b.CreateUDiv(base, constant);
    llvm::Value* down =
        b.CreateSelect(b.CreateICmpSLT(base, b.getInt64(0)), b.CreateSub(base, context.Int64(divisor - 1)), base);
    return b.CreateSDiv(down, constant);
  });
}

}  // namespace

LaneIndex LaneIndex::Constant(int64_t value) {
  LaneIndex index;
  index.offset_ = value;
  index.range_ = {value, value};
  return index;
}

LaneIndex LaneIndex::Strided(llvm::Value* base, int64_t stride, int64_t multiple_of, int64_t limit) {
  LaneIndex index;
  index.stride_ = stride;
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(base)) {
    index.offset_ = known->getSExtValue();
    if (stride == 0) return Constant(index.offset_);
  } else {
    index.value_ = base;
    index.multiple_of_ = multiple_of;
  }
  if (limit >= 0) index.range_ = {0, limit - 1};
  return index;
}

LaneIndex LaneIndex::Arbitrary(llvm::Value* values, int64_t limit) {
  if (!values->getType()->isVectorTy()) return Uniform(values, 1, limit);
  LaneIndex index;
  index.value_ = values;
  index.arbitrary_ = true;
  index.multiple_of_ = 1;
  if (limit >= 0) index.range_ = {0, limit - 1};
  return index;
}

LaneIndex LaneIndex::WithSteps(std::vector<int64_t> steps) const {
  LaneIndex index = *this;
  const int64_t first = steps[0], stride = steps.size() > 1 ? steps[1] - first : 0;
  index.offset_ += first;
  index.stride_ = stride;
  index.steps_ = nullptr;
  bool is_even = true;
  for (size_t lane = 0; lane < steps.size(); ++lane) {
    steps[lane] -= first;
    is_even = is_even && steps[lane] == static_cast<int64_t>(lane) * stride;
  }
  if (!is_even) {
    index.stride_ = 0;
    index.steps_ = std::make_shared<const std::vector<int64_t>>(std::move(steps));
  }
  return index;
}

llvm::Constant* LaneIndex::Steps(EmitterContext& context, llvm::IntegerType* type) const {
  std::vector<llvm::Constant*> steps;
  for (int lane = 0; lane < context.lanes.width; ++lane)
    steps.push_back(llvm::ConstantInt::get(type, static_cast<uint64_t>(Step(lane)), true));
  return llvm::ConstantVector::get(steps);
}

LaneIndex LaneIndex::WithRange(Range range) const {
  LaneIndex index = *this;
  index.range_.low = std::max(range_.low, range.low);
  index.range_.high = std::min(range_.high, range.high);
  return index;
}

llvm::Value* LaneIndex::Base(EmitterContext& context) const {
  if (value_ == nullptr) return context.Int64(offset_);
  if (offset_ == 0) return value_;
  return Once(context, {kAddOffset, Bits(value_), static_cast<uint64_t>(offset_)},
              [&] { return context.b().CreateAdd(value_, context.Int64(offset_)); });
}

int64_t LaneIndex::BaseMultiple() const { return std::gcd(multiple_of_, offset_); }

std::optional<int64_t> LaneIndex::BaseModulo(int64_t divisor) const {
  if (arbitrary_ || multiple_of_ % divisor != 0) return std::nullopt;
  return FloorMod(offset_, divisor);
}

llvm::Value* LaneIndex::Value(EmitterContext& context) const {
  llvm::IRBuilder<>& b = context.b();
  if (arbitrary_) {
    return offset_ == 0 ? value_ : b.CreateAdd(value_, context.Splat(context.Int64(offset_)));
  }
  llvm::Value* base = Base(context);
  if (IsUniform() || context.lanes.width == 1) return base;
  std::vector<uint64_t> key{kLanes, Bits(base), static_cast<uint64_t>(stride_),
                            static_cast<uint64_t>(context.lanes.width)};
  if (IsPatterned()) {
    key[0] = kSteps;
    key.insert(key.end(), steps_->begin(), steps_->end());
  }
  return Once(context, std::move(key),
              [&] { return b.CreateAdd(context.Splat(base), Steps(context, b.getInt64Ty())); });
}

llvm::Value* LaneIndex::Value32(EmitterContext& context) const {
  return FitsInt32(range_) ? Lanes32(context) : nullptr;
}

llvm::Value* LaneIndex::Lanes32(EmitterContext& context) const {
  llvm::IRBuilder<>& b = context.b();
  if (arbitrary_) {
    llvm::Value* value = Narrow(context, value_);
    return offset_ == 0 ? value
                        : b.CreateAdd(value, llvm::ConstantInt::get(value->getType(), static_cast<uint64_t>(offset_)));
  }
  llvm::Value* base = b.CreateTrunc(Base(context), b.getInt32Ty());
  if (IsUniform() || context.lanes.width == 1) return base;
  return b.CreateAdd(context.Splat(base), Steps(context, b.getInt32Ty()));
}

LaneIndex LaneIndex::Add(EmitterContext& context, const LaneIndex& other) const {
  if (IsConstant()) return other.AddConstant(offset_);
  if (other.IsConstant()) return AddConstant(other.offset_);
  LaneIndex sum;
  if (range_.Known() && other.range_.Known()) {
    sum.range_ = MakeRange(__int128{range_.low} + other.range_.low, __int128{range_.high} + other.range_.high);
  }
  sum.arbitrary_ = arbitrary_ || other.arbitrary_;
  sum.offset_ = offset_ + other.offset_;
  if (sum.arbitrary_) {
    const bool narrow =
        FitsInt32(range_, offset_) && FitsInt32(other.range_, other.offset_) && FitsInt32(sum.range_, sum.offset_);
    const LaneIndex a = AddConstant(-offset_), c = other.AddConstant(-other.offset_);
    const auto lanes = [&](const LaneIndex& index) {
      return context.Splat(narrow ? index.Lanes32(context) : index.Value(context));
    };
    sum.value_ = context.b().CreateAdd(lanes(a), lanes(c));
    if (narrow) sum.value_ = Widen(context, sum.value_);
    sum.multiple_of_ = 1;
    return sum;
  }
  sum.stride_ = stride_ + other.stride_;
  sum.multiple_of_ = std::gcd(multiple_of_, other.multiple_of_);
  if (IsPatterned() || other.IsPatterned()) {
    std::vector<int64_t> steps;
    for (int lane = 0; lane < context.lanes.width; ++lane) steps.push_back(Step(lane) + other.Step(lane));
    sum = sum.WithSteps(std::move(steps));
  }
  if (value_ == nullptr || other.value_ == nullptr) {
    sum.value_ = value_ != nullptr ? value_ : other.value_;
  } else {
    sum.value_ = Once(context, {kAddValues, Bits(value_), Bits(other.value_)},
                      [&] { return context.b().CreateAdd(value_, other.value_); });
  }
  return sum;
}

LaneIndex LaneIndex::AddConstant(int64_t constant) const {
  LaneIndex sum = *this;
  sum.offset_ += constant;
  if (range_.Known()) sum.range_ = MakeRange(__int128{range_.low} + constant, __int128{range_.high} + constant);
  return sum;
}

LaneIndex LaneIndex::MulConstant(EmitterContext& context, int64_t factor) const {
  if (factor == 1) return *this;
  if (factor == 0) return Constant(0);
  LaneIndex product = *this;
  product.offset_ *= factor;
  product.stride_ *= factor;
  if (IsPatterned()) {
    std::vector<int64_t> steps = *steps_;
    for (int64_t& step : steps) step *= factor;
    product.steps_ = std::make_shared<const std::vector<int64_t>>(std::move(steps));
  }
  product.multiple_of_ *= std::abs(factor);
  if (range_.Known()) {
    const __int128 a = __int128{range_.low} * factor, c = __int128{range_.high} * factor;
    product.range_ = MakeRange(std::min(a, c), std::max(a, c));
  }
  if (value_ != nullptr) {
    product.value_ = Once(context, {kMul, Bits(value_), static_cast<uint64_t>(factor)}, [&] {
      if (arbitrary_ && FitsInt32(range_, offset_) && FitsInt32(product.range_, product.offset_)) {
        llvm::Value* lanes = Narrow(context, value_);
        return Widen(context, context.b().CreateMul(
                                  lanes, llvm::ConstantInt::get(lanes->getType(), static_cast<uint64_t>(factor))));
      }
      llvm::Value* by = context.Int64(factor);
      return context.b().CreateMul(value_, arbitrary_ ? context.Splat(by) : by);
    });
  }
  return product;
}

// Returns true if no two lanes of a regular index are in different blocks [k * block, (k + 1) * block): the base is
// offset + a multiple of multiple_of_, so its position in a block is known up to multiples of their common divisor.
bool LaneIndex::LanesStayWithin(EmitterContext& context, int64_t block) const {
  const int64_t grain = std::gcd(multiple_of_, block);
  const int64_t first = FloorMod(offset_, grain);
  if (!IsPatterned()) {
    const int64_t last = first + (context.lanes.width - 1) * stride_;
    return last >= 0 && last < grain;
  }
  const auto [low, high] = std::minmax_element(steps_->begin(), steps_->end());
  return first + *low >= 0 && first + *high < grain;
}

LaneIndex LaneIndex::DivConstant(EmitterContext& context, int64_t divisor) const {
  llvm::IRBuilder<>& b = context.b();
  if (divisor == 1) return *this;
  if (IsConstant()) return Constant(FloorDiv(offset_, divisor));
  if (range_.Known() && range_.low >= 0 && range_.high < divisor) return Constant(0);
  LaneIndex quotient;
  if (range_.Known()) quotient.range_ = {FloorDiv(range_.low, divisor), FloorDiv(range_.high, divisor)};
  if (!arbitrary_ && multiple_of_ % divisor == 0) {
    quotient.multiple_of_ = multiple_of_ / divisor;
    if (value_ != nullptr) {
      quotient.value_ = Once(context, {kDiv, Bits(value_), static_cast<uint64_t>(divisor)},
                             [&] { return b.CreateExactSDiv(value_, context.Int64(divisor)); });
    }
    std::vector<int64_t> steps;
    for (int lane = 0; lane < context.lanes.width; ++lane) steps.push_back(FloorDiv(offset_ + Step(lane), divisor));
    return quotient.WithSteps(std::move(steps));
  }
  const bool whole = !IsPatterned() && stride_ % divisor == 0;
  if (!arbitrary_ && (whole || LanesStayWithin(context, divisor))) {
    quotient.stride_ = whole ? stride_ / divisor : 0;
    quotient.multiple_of_ = 1;
    quotient.value_ = DivideBase(context, Base(context), divisor, /*may_be_negative=*/!IsUniform());
    return quotient;
  }
  // 64-bit vector division by a constant is slow; 32-bit is fast.
  llvm::Value* value = Value(context);
  quotient.arbitrary_ = true;
  quotient.multiple_of_ = 1;
  quotient.value_ = Once(context, {kDiv, Bits(value), static_cast<uint64_t>(divisor)}, [&] {
    if (!FitsInt32(range_) || divisor >= (int64_t{1} << 30)) {
      return b.CreateUDiv(value, context.Splat(context.Int64(divisor)));
    }
    llvm::Value* lanes = Lanes32(context);
    return Widen(context,
                 b.CreateUDiv(lanes, llvm::ConstantInt::get(lanes->getType(), static_cast<uint64_t>(divisor))));
  });
  return quotient;
}

LaneIndex LaneIndex::RemConstant(EmitterContext& context, int64_t divisor) const {
  llvm::IRBuilder<>& b = context.b();
  if (divisor == 1) return Constant(0);
  if (IsConstant()) return Constant(FloorMod(offset_, divisor));
  if (range_.Known() && range_.low >= 0 && range_.high < divisor) return *this;
  LaneIndex rest;
  rest.range_ = {0, divisor - 1};
  if (!arbitrary_ && multiple_of_ % divisor == 0) {
    std::vector<int64_t> steps;
    for (int lane = 0; lane < context.lanes.width; ++lane) steps.push_back(FloorMod(offset_ + Step(lane), divisor));
    return rest.WithSteps(std::move(steps));
  }
  const bool whole = !IsPatterned() && stride_ % divisor == 0;
  if (!arbitrary_ && (whole || LanesStayWithin(context, divisor))) {
    rest.stride_ = whole ? 0 : stride_;
    rest.steps_ = steps_;
    // The part of the offset below the base's grain stays outside, so that what is known of the base is preserved.
    const int64_t grain = std::gcd(multiple_of_, divisor);
    LaneIndex coarse = *this;
    rest.offset_ = FloorMod(offset_, grain);
    coarse.offset_ -= rest.offset_;
    rest.multiple_of_ = grain;
    rest.value_ = coarse.Base(context);
    llvm::Value* base = rest.value_;
    LaneIndex quotient;
    quotient.value_ = DivideBase(context, base, divisor, /*may_be_negative=*/!IsUniform());
    quotient.multiple_of_ = 1;
    const LaneIndex back = quotient.MulConstant(context, divisor);
    rest.value_ = b.CreateSub(base, back.value_);
    return rest;
  }
  const LaneIndex back = DivConstant(context, divisor).MulConstant(context, divisor);
  rest.arbitrary_ = true;
  rest.multiple_of_ = 1;
  if (FitsInt32(range_)) {
    rest.value_ = Widen(context, b.CreateSub(Lanes32(context), context.Splat(back.Lanes32(context))));
  } else {
    rest.value_ = b.CreateSub(Value(context), context.Splat(back.Value(context)));
  }
  return rest;
}

LaneIndex LaneIndex::Clamp(EmitterContext& context, int64_t low, int64_t high) const {
  if (range_.low >= low && range_.high <= high) return *this;
  if (IsConstant()) return Constant(std::clamp(offset_, low, high));
  llvm::IRBuilder<>& b = context.b();
  llvm::Value* value = Value(context);
  auto constant = [&](int64_t c) { return llvm::ConstantInt::get(value->getType(), static_cast<uint64_t>(c), true); };
  value = EmitBinaryIntrinsic(b, llvm::Intrinsic::smax, value, constant(low));
  value = EmitBinaryIntrinsic(b, llvm::Intrinsic::smin, value, constant(high));
  LaneIndex clamped = Arbitrary(value);
  clamped.range_ = {low, high};
  return clamped;
}

llvm::Value* LaneIndex::InRange(EmitterContext& context, int64_t low, int64_t high) const {
  llvm::IRBuilder<>& b = context.b();
  if (range_.low >= low && range_.high < high) return nullptr;
  if (high <= low || range_.high < low || range_.low >= high) return b.getFalse();
  if (!arbitrary_ && stride_ == 1 && context.lanes.width > kMaxWideLanes && context.lanes.width <= kMaxByteLanes)
    return LanesInRange(context, low, high);
  // low <= x < high is one unsigned comparison of x - low.
  const LaneIndex shifted = AddConstant(-low);
  llvm::Value* value = IsUniform() ? nullptr : shifted.Value32(context);
  if (value == nullptr) {
    value = shifted.Value(context);
    return b.CreateICmpULT(value, llvm::ConstantInt::get(value->getType(), high - low));
  }
  const int64_t span = std::min<int64_t>(high - low, std::numeric_limits<int32_t>::max());
  return b.CreateICmpULT(value, llvm::ConstantInt::get(value->getType(), span));
}

llvm::Value* LaneIndex::LanesInRange(EmitterContext& context, int64_t low, int64_t high) const {
  llvm::IRBuilder<>& b = context.b();
  const int width = context.lanes.width;
  llvm::Value* base = Base(context);
  // The number of the first lane at `bound` or above it.
  const auto first_lane = [&](int64_t bound) {
    llvm::Value* lane = b.CreateSub(context.Int64(bound), base);
    lane = EmitBinaryIntrinsic(b, llvm::Intrinsic::smax, lane, context.Int64(0));
    return b.CreateTrunc(EmitBinaryIntrinsic(b, llvm::Intrinsic::smin, lane, context.Int64(width)), b.getInt8Ty());
  };
  llvm::Value *first = first_lane(low), *end = first_lane(high);
  llvm::Value* lanes = b.CreateSub(Steps(context, b.getInt8Ty()), b.CreateVectorSplat(width, first));
  return b.CreateICmpULT(lanes, b.CreateVectorSplat(width, b.CreateSub(end, first)));
}

void LaneIndex::AppendKey(std::vector<uint64_t>* key) const {
  key->push_back(Bits(value_));
  key->push_back(static_cast<uint64_t>(offset_));
  key->push_back(static_cast<uint64_t>(stride_));
  if (IsPatterned()) key->insert(key->end(), steps_->begin(), steps_->end());
}

Index Index::FromLinear(LaneIndex linear, absl::Span<const int64_t> dimensions) {
  Index index;
  index.is_linear_ = true;
  index.dims_ = {linear};
  index.bounds_.assign(dimensions.begin(), dimensions.end());
  return index;
}

namespace {

// The row-major digits of `linear` in `sizes`.
std::vector<LaneIndex> Digits(EmitterContext& context, LaneIndex linear, absl::Span<const int64_t> sizes) {
  std::vector<LaneIndex> digits(sizes.size());
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] <= 1) {
      digits[i] = LaneIndex::Constant(0);
      continue;
    }
    digits[i] = linear.RemConstant(context, sizes[i]);
    linear = linear.DivConstant(context, sizes[i]);
  }
  return digits;
}

LaneIndex FromDigits(EmitterContext& context, absl::Span<const LaneIndex> digits, absl::Span<const int64_t> sizes) {
  LaneIndex linear = LaneIndex::Constant(0);
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] != 1) linear = linear.Add(context, digits[i].MulConstant(context, stride));
    stride *= sizes[i];
  }
  return linear.WithRange({0, stride - 1});
}

}  // namespace

std::vector<LaneIndex> Index::Dims(EmitterContext& context) const {
  return is_linear_ ? Digits(context, dims_[0], bounds_) : dims_;
}

LaneIndex Index::Linear(EmitterContext& context, absl::Span<const int64_t> dimensions) const {
  return is_linear_ ? dims_[0] : FromDigits(context, dims_, dimensions);
}

// Dimensions are matched from the front: equal ones pass through, and runs of equal product are flattened and split
// again, so that the lanes of an unchanged minor dimension are preserved.
Index Index::Reshape(EmitterContext& context, absl::Span<const int64_t> from, absl::Span<const int64_t> to) const {
  if (is_linear_) return FromLinear(dims_[0], to);
  for (int64_t size : to) {
    if (size == 0) return Index(std::vector<LaneIndex>(to.size()));
  }
  std::vector<LaneIndex> result;
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    if (i < from.size() && j < to.size() && from[i] == to[j]) {
      result.push_back(dims_[i]);
      ++i, ++j;
    } else if (i < from.size() && from[i] == 1) {
      ++i;
    } else if (j < to.size() && to[j] == 1) {
      result.push_back(LaneIndex::Constant(0));
      ++j;
    } else {
      const size_t i0 = i, j0 = j;
      int64_t product_i = from[i++], product_j = to[j++];
      while (product_i != product_j) {
        if (product_i < product_j) {
          product_i *= from[i++];
        } else {
          product_j *= to[j++];
        }
      }
      const LaneIndex linear =
          FromDigits(context, absl::MakeConstSpan(dims_).subspan(i0, i - i0), from.subspan(i0, i - i0));
      if (i0 == 0 && j0 == 0 && i == from.size() && j == to.size()) return FromLinear(linear, to);
      for (const LaneIndex& digit : Digits(context, linear, to.subspan(j0, j - j0))) result.push_back(digit);
    }
  }
  return Index(std::move(result));
}

bool Index::IsUniform() const {
  for (const LaneIndex& dim : dims_) {
    if (!dim.IsUniform()) return false;
  }
  return true;
}

void Index::AppendKey(std::vector<uint64_t>* key) const {
  key->push_back(is_linear_);
  for (const LaneIndex& dim : dims_) dim.AppendKey(key);
}

}  // namespace hilo::codegen
