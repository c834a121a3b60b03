// Addresses, scalars, runs of lanes and stores, and IrArray, which consists of them.
#include "backends/llvm/elements/array_access.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/numeric/bits.h"
#include "backends/llvm/elements/known_lanes.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "backends/llvm/lanes/lane_plan.h"
#include "llvm/Analysis/VectorUtils.h"

namespace hilo::codegen {
namespace {

// Begins the keys of addresses among those of indices (EmitterContext::FindIndex), whose operations are counted from 0.
constexpr uint64_t kAddress = ~uint64_t{0};

// {0, w, 2 w, ..., 1, w + 1, ...}: converts `vectors` concatenated vectors of w lanes to groups of one lane of each.
std::vector<int> Interleave(int width, int vectors = 2) {
  std::vector<int> shuffle;
  for (int lane = 0; lane < width; ++lane) {
    for (int i = 0; i < vectors; ++i) shuffle.push_back(i * width + lane);
  }
  return shuffle;
}

// Lanes of 8 and 16 bits from which on masked accesses without AVX-512 are loops over the active lanes: LLVM would test
// and access every lane in blocks of its own. A median of five u8[20000] compiles in 670 ms with those and in 83 with
// loops.
constexpr int kMinLoopedLanes = 8;
bool IsAccessedInLoop(const TargetTraits& target, int64_t bytes, int lanes, llvm::Value* mask) {
  return !target.has_avx512 && bytes <= 2 && lanes >= kMinLoopedLanes && !llvm::isa<llvm::Constant>(mask);
}

// Emits a loop of `body`, which adds no blocks, over the numbers of the active lanes.
void ForActiveLanes(EmitterContext& context, llvm::Value* mask, absl::FunctionRef<void(llvm::Value* lane)> body) {
  llvm::IRBuilderBase& b = context.b();
  const auto lanes = llvm::cast<llvm::FixedVectorType>(mask->getType())->getNumElements();
  llvm::Type* type = b.getIntNTy(lanes);
  llvm::Value *zero = llvm::ConstantInt::get(type, 0), *one = llvm::ConstantInt::get(type, 1);
  llvm::Value* all = b.CreateBitCast(mask, type);
  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::BasicBlock* loop = llvm::BasicBlock::Create(context.llvm_context(), "lanes", context.function());
  llvm::BasicBlock* after = llvm::BasicBlock::Create(context.llvm_context(), "after_lanes", context.function());
  b.CreateCondBr(b.CreateICmpNE(all, zero), loop, after);
  b.SetInsertPoint(loop);
  llvm::PHINode* active = b.CreatePHI(type, 2);
  llvm::Value* lane = b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, active, b.getTrue());
  body(b.CreateZExtOrTrunc(lane, b.getInt64Ty()));
  llvm::Value* left = b.CreateAnd(active, b.CreateSub(active, one));
  active->addIncoming(all, before);
  active->addIncoming(left, loop);
  b.CreateCondBr(b.CreateICmpNE(left, zero), loop, after);
  b.SetInsertPoint(after);
}

llvm::Value* PairMask(EmitterContext& context) {
  llvm::Value* mask = context.lanes.mask;
  return mask == nullptr ? nullptr : context.b().CreateShuffleVector(mask, mask, Interleave(context.lanes.width));
}

bool IsRun(EmitterContext& context, const LaneIndex& at) {
  return context.lanes.width > 1 && !at.IsArbitrary() && !at.IsPatterned() && at.stride() == 1;
}

}  // namespace

llvm::Value* ArrayAccess::Load(const LaneIndex& at) {
  if (at.IsUniform() || width() == 1) return LoadScalar(at);
  if (llvm::Value* lanes = LoadWhole(at)) return lanes;
  if (at.IsPatterned()) {
    llvm::Value* pattern = LoadPattern(at);
    return pattern != nullptr ? pattern : Gather(at);
  }
  if (at.IsArbitrary()) return Gather(at);
  if (at.stride() == 1) return LoadRun(at, width(), context_.lanes.mask);
  if (at.stride() == -1) {
    return b_.CreateVectorReverse(LoadRun(RunStart(at), width(), Reversed(context_.lanes.mask)));
  }
  const bool small = std::abs(at.stride()) <= kLargestShuffledStride;
  if (context_.lanes.mask != nullptr) return small && IsTable(at) ? LoadShuffled(at) : Gather(at);
  return small ? LoadShuffled(at) : LoadLanes(at);
}

llvm::Value* ArrayAccess::LoadRun(const LaneIndex& at, int count, llvm::Value* mask) {
  llvm::Type* type = llvm::FixedVectorType::get(type_, count);
  llvm::Value* pointer = Pointer(at);
  if (mask == nullptr) return Tag(b_.CreateAlignedLoad(type, pointer, Alignment(at)));
  if (IsPadded(at, count)) {
    llvm::Value* all = Tag(b_.CreateAlignedLoad(type, pointer, Alignment(at)));
    return b_.CreateSelect(mask, all, llvm::Constant::getNullValue(type));
  }
  llvm::Align alignment = Alignment(at);
  if (context_.lanes.may_be_far) {
    pointer = NearPointer(at, count);
    alignment = llvm::Align(ElementAlignment());
  }
  llvm::Constant* zeros = llvm::Constant::getNullValue(type);
  if (!IsAccessedInLoop(context_.target(), bytes_, count, mask))
    return Tag(b_.CreateMaskedLoad(type, pointer, alignment, mask, zeros));
  llvm::AllocaInst* lanes = context_.EntryAlloca(type, 1, count * bytes_, "lanes");
  b_.CreateStore(zeros, lanes);
  ForActiveLanes(context_, mask, [&](llvm::Value* lane) {
    llvm::Value* element = Tag(b_.CreateAlignedLoad(type_, b_.CreateGEP(type_, pointer, lane), llvm::Align(bytes_)));
    b_.CreateStore(element, b_.CreateInBoundsGEP(type_, lanes, lane));
  });
  return b_.CreateLoad(type, lanes);
}

void ArrayAccess::Store(const LaneIndex& at, llvm::Value* value) {
  if (width() == 1 && context_.lanes.mask != nullptr) return StoreIf(context_.lanes.mask, at, value);
  if (at.IsUniform() || width() == 1) {
    value = context_.Lane(value, 0);
    llvm::Value* any = context_.AnyLaneActive();
    return any == nullptr ? StoreScalar(at, value) : StoreIf(any, at, value);
  }
  value = context_.Splat(value);
  const bool is_strided = !at.IsArbitrary() && !at.IsPatterned();
  if (at.stride() == 1 && is_strided) return StoreRun(at, value, context_.lanes.mask);
  if (at.stride() == -1 && is_strided) {
    return StoreRun(RunStart(at), b_.CreateVectorReverse(value), Reversed(context_.lanes.mask));
  }
  if (is_strided && context_.lanes.mask == nullptr && !context_.target().has_avx512) return StoreLanes(at, value, 1);
  Tag(b_.CreateMaskedScatter(value, Pointers(at), llvm::Align(ElementAlignment()), context_.MaskValue()));
}

void ArrayAccess::StoreLanes(const LaneIndex& at, llvm::Value* values, int count) {
  for (int lane = 0; lane < width(); ++lane) {
    const LaneIndex position = at.AddConstant(lane * at.stride());
    std::vector<int> of_lane(static_cast<size_t>(count));
    std::iota(of_lane.begin(), of_lane.end(), lane * count);
    llvm::Value* element = count == 1 ? b_.CreateExtractElement(values, static_cast<uint64_t>(lane))
                                      : b_.CreateShuffleVector(values, of_lane);
    Tag(b_.CreateAlignedStore(element, Pointer(position), Alignment(position)));
  }
}

namespace {

// A vector of rows of some adjacent columns: lane i is in row `first_row + i / columns` of column `first_column + i %
// columns`.
struct ColumnRows {
  llvm::Value* lanes;
  int first_row, first_column, columns;
};

// Appends the vectors of twice as many columns that have the rows of `left` and `right`, of as many columns each.
void AppendMerged(llvm::IRBuilder<>& b, const ColumnRows& left, const ColumnRows& right, int width,
                  std::vector<ColumnRows>* merged) {
  const int columns = left.columns, rows = width / columns / 2;
  for (int half = 0; half < 2; ++half) {
    std::vector<int> shuffle(static_cast<size_t>(width));
    for (int lane = 0; lane < width; ++lane) {
      const int row = half * rows + lane / (2 * columns), column = lane % (2 * columns);
      shuffle[lane] = row * columns + column % columns + (column < columns ? 0 : width);
    }
    merged->push_back({b.CreateShuffleVector(left.lanes, right.lanes, shuffle), left.first_row + half * rows,
                       left.first_column, 2 * columns});
  }
}

// Columns from which merging them pays: of 6 columns the code compiles in 1.04 times the time.
constexpr size_t kMinMerged = 8;

// Returns vectors of as many adjacent columns as are a power of two: each is made in log2(columns) steps, and a row of
// the result then comes from few vectors. Fewer than kMinMerged columns stay vectors of their own.
std::vector<ColumnRows> MergedColumns(llvm::IRBuilder<>& b, absl::Span<llvm::Value* const> columns, int width) {
  std::vector<ColumnRows> vectors;
  for (size_t first = 0; first < columns.size();) {
    const size_t group =
        columns.size() < kMinMerged ? 1 : std::min(absl::bit_floor(columns.size() - first), static_cast<size_t>(width));
    // In the order of columns, then rows: each half of a level merges with the other half.
    std::vector<ColumnRows> level;
    for (size_t c = first; c < first + group; ++c) level.push_back({columns[c], 0, static_cast<int>(c), 1});
    for (size_t merged = 1; merged < group; merged *= 2) {
      std::vector<ColumnRows> next;
      for (size_t pair = 0; pair < level.size(); pair += 2 * merged) {
        for (size_t k = 0; k < merged; ++k) AppendMerged(b, level[pair + k], level[pair + merged + k], width, &next);
      }
      level = std::move(next);
    }
    vectors.insert(vectors.end(), level.begin(), level.end());
    first += group;
  }
  return vectors;
}

}  // namespace

void ArrayAccess::StoreInterleaved(const LaneIndex& at, absl::Span<llvm::Value* const> columns) {
  const int count = static_cast<int>(columns.size()), lanes = width();
  const std::vector<ColumnRows> sources = MergedColumns(b_, columns, lanes);
  for (int vector = 0; vector < count; ++vector) {
    std::vector<int> rows(lanes), shuffle(lanes);
    for (int lane = 0; lane < lanes; ++lane) rows[lane] = (vector * lanes + lane) / count;
    llvm::Value* result = nullptr;
    std::vector<bool> is_done(lanes);
    for (const ColumnRows& source : sources) {
      // Lanes of the result that the source has, by the lane that has them.
      std::vector<int> from(lanes, -1);
      bool is_used = false;
      for (int lane = 0; lane < lanes; ++lane) {
        const int row = rows[lane] - source.first_row, column = (vector * lanes + lane) % count - source.first_column;
        if (column < 0 || column >= source.columns || row < 0 || row >= lanes / source.columns) continue;
        from[lane] = row * source.columns + column;
        is_used = true;
      }
      if (!is_used) continue;
      for (int lane = 0; lane < lanes; ++lane)
        shuffle[lane] = from[lane] < 0 ? (is_done[lane] ? lane : -1) : from[lane] + (result == nullptr ? 0 : lanes);
      result = result == nullptr ? b_.CreateShuffleVector(source.lanes, shuffle)
                                 : b_.CreateShuffleVector(result, source.lanes, shuffle);
      for (int lane = 0; lane < lanes; ++lane) is_done[lane] = is_done[lane] || from[lane] >= 0;
    }
    llvm::Value* mask = context_.lanes.mask;
    StoreRun(at.AddConstant(vector * lanes), result, mask == nullptr ? nullptr : b_.CreateShuffleVector(mask, rows));
  }
}

void ArrayAccess::StoreRun(const LaneIndex& at, llvm::Value* value, llvm::Value* mask) {
  llvm::Value* pointer = Pointer(at);
  if (mask == nullptr || WritesOnlyPadding(at, value, mask)) {
    Tag(b_.CreateAlignedStore(value, pointer, Alignment(at)));
  } else if (const std::optional<std::vector<int>> active = ActiveLanes(mask, LanesOf(value));
             active && !active->empty() && active->back() + 1 == static_cast<int>(active->size())) {
    StoreFirst(at, value, static_cast<int64_t>(active->size()));
  } else if (const int count = LanesOf(value); IsAccessedInLoop(context_.target(), bytes_, count, mask)) {
    llvm::AllocaInst* lanes = context_.EntryAlloca(value->getType(), 1, count * bytes_, "lanes");
    b_.CreateStore(value, lanes);
    ForActiveLanes(context_, mask, [&](llvm::Value* lane) {
      llvm::Value* element = b_.CreateLoad(type_, b_.CreateInBoundsGEP(type_, lanes, lane));
      Tag(b_.CreateAlignedStore(element, b_.CreateGEP(type_, pointer, lane), llvm::Align(bytes_)));
    });
  } else {
    Tag(b_.CreateMaskedStore(value, pointer, Alignment(at), mask));
  }
}

llvm::Value* ArrayAccess::Pointer(const LaneIndex& at) {
  llvm::Value* variable = at.BaseVariable();
  if (variable == nullptr || at.BaseConstant() == 0) return Pointer(at.Base(context_));
  const auto bits = [](const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); };
  std::vector<uint64_t> key{kAddress, bits(array_.pointer), bits(type_), bits(variable)};
  llvm::Value* address = context_.FindIndex(key);
  if (address == nullptr) {
    address = b_.CreateGEP(type_, array_.pointer, variable);
    context_.RememberIndex(std::move(key), address);
  }
  return b_.CreateGEP(type_, address, context_.Int64(at.BaseConstant()));
}

llvm::Value* ArrayAccess::Pointer(llvm::Value* position) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(position);
  if (constant != nullptr && constant->isZero()) return array_.pointer;
  return context_.lanes.mask == nullptr ? b_.CreateInBoundsGEP(type_, array_.pointer, position)
                                        : b_.CreateGEP(type_, array_.pointer, position);
}

llvm::Value* ArrayAccess::NearPointer(const LaneIndex& at, int count) {
  llvm::Value* first = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, at.Base(context_), context_.Int64(-count));
  return Pointer(b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, first, context_.Int64(Components())));
}

bool ArrayAccess::IsPadded(const LaneIndex& at, int64_t count) {
  if (array_.padding == 0) return false;
  auto* first = llvm::dyn_cast<llvm::ConstantInt>(at.Base(context_));
  return first != nullptr && first->getSExtValue() >= 0 &&
         first->getSExtValue() + count <= Components() + array_.padding / bytes_;
}

bool ArrayAccess::WritesOnlyPadding(const LaneIndex& at, llvm::Value* value, llvm::Value* mask) {
  const int lanes = LanesOf(value);
  const std::optional<std::vector<int>> active = ActiveLanes(mask, lanes);
  if (!active || !IsPadded(at, lanes)) return false;
  const int64_t first = llvm::cast<llvm::ConstantInt>(at.Base(context_))->getSExtValue();
  const int64_t inside = std::clamp<int64_t>(Components() - first, 0, lanes);
  return inside == 0 || (static_cast<int64_t>(active->size()) >= inside && (*active)[inside - 1] == inside - 1);
}

llvm::Value* ArrayAccess::Pointers(const LaneIndex& at) {
  llvm::Value* narrow = at.Value32(context_);
  return Pointer(narrow != nullptr ? narrow : at.Value(context_));
}

llvm::Align ArrayAccess::Alignment(const LaneIndex& at) const {
  int64_t bytes = std::gcd(std::max<int64_t>(array_.alignment, 1), at.BaseMultiple() * bytes_);
  return llvm::Align(std::max<int64_t>(bytes & -bytes, 1));
}

llvm::Value* ArrayAccess::LoadScalar(const LaneIndex& at) {
  // If no lane may be active, the index is arbitrary: element 0 is as good as any.
  llvm::Value* active = width() == 1 ? context_.lanes.mask : context_.AnyLaneActive();
  if (active == nullptr) return Tag(b_.CreateAlignedLoad(type_, Pointer(at), Alignment(at)));
  llvm::Value* position = b_.CreateSelect(active, at.Base(context_), context_.Int64(0));
  return Tag(b_.CreateAlignedLoad(type_, Pointer(position), llvm::Align(ElementAlignment())));
}

void ArrayAccess::StoreIf(llvm::Value* condition, const LaneIndex& at, llvm::Value* value) {
  llvm::BasicBlock* store = llvm::BasicBlock::Create(context_.llvm_context(), "store", context_.function());
  llvm::BasicBlock* after = llvm::BasicBlock::Create(context_.llvm_context(), "stored", context_.function());
  llvm::Value* pointer = Pointer(at);
  b_.CreateCondBr(condition, store, after);
  b_.SetInsertPoint(store);
  Tag(b_.CreateAlignedStore(value, pointer, Alignment(at)));
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

void ArrayAccess::StoreFirst(const LaneIndex& at, llvm::Value* value, int64_t count) {
  for (int64_t done = 0; done < count;) {
    const int64_t size = int64_t{1} << (63 - absl::countl_zero(static_cast<uint64_t>(count - done)));
    std::vector<int> lanes(static_cast<size_t>(size));
    std::iota(lanes.begin(), lanes.end(), static_cast<int>(done));
    const LaneIndex here = at.AddConstant(done);
    Tag(b_.CreateAlignedStore(b_.CreateShuffleVector(value, lanes), Pointer(here), Alignment(here)));
    done += size;
  }
}
ElementValue IrArray::Load(EmitterContext& context, const Index& index) const {
  const PrimitiveType type = shape.element_type();
  if (ShapeUtil::IsZeroElementArray(shape)) return EmitZero(context, type);
  ArrayAccess access(context, *this);
  if (!IsComplexType(type)) {
    if (llvm::Value* lanes = access.LoadFromRow(index)) return {FromMemory(context, type, lanes)};
  }
  const LaneIndex at = index.Linear(context, shape.dimensions());
  if (!IsComplexType(type)) return {FromMemory(context, type, access.Load(at))};
  const LaneIndex real = at.MulConstant(context, 2);
  if (!IsRun(context, at)) return {access.Load(real), access.Load(real.AddConstant(1))};
  const int width = context.lanes.width;
  llvm::Value* pairs = access.LoadRun(real, 2 * width, PairMask(context));
  std::vector<int> even, odd;
  for (int lane = 0; lane < width; ++lane) {
    even.push_back(2 * lane);
    odd.push_back(2 * lane + 1);
  }
  return {context.b().CreateShuffleVector(pairs, even), context.b().CreateShuffleVector(pairs, odd)};
}

void IrArray::Store(EmitterContext& context, const Index& index, ElementValue value) const {
  const PrimitiveType type = shape.element_type();
  if (ShapeUtil::IsZeroElementArray(shape)) return;
  ArrayAccess access(context, *this);
  const LaneIndex at = index.Linear(context, shape.dimensions());
  if (!IsComplexType(type)) return access.Store(at, ToMemory(context, type, value.re));
  const LaneIndex real = at.MulConstant(context, 2);
  if (IsRun(context, at)) {
    value = context.Splat(value);
    llvm::Value* pairs = context.b().CreateShuffleVector(value.re, value.im, Interleave(context.lanes.width));
    return access.StoreRun(real, pairs, PairMask(context));
  }
  access.Store(real, value.re);
  access.Store(real.AddConstant(1), value.im);
}

void IrArray::StoreColumns(EmitterContext& context, const Index& first, absl::Span<const ElementValue> values) const {
  const PrimitiveType type = shape.element_type();
  ArrayAccess access(context, *this);
  const int width = context.lanes.width;
  LaneIndex at = first.Linear(context, shape.dimensions());
  std::vector<llvm::Value*> columns;
  for (const ElementValue& value : values) {
    const ElementValue splat = context.Splat(value);
    for (llvm::Value* component : {splat.re, splat.im}) {
      if (component != nullptr) columns.push_back(ToMemory(context, type, component));
    }
  }
  if (IsComplexType(type)) at = at.MulConstant(context, 2);
  const int count = static_cast<int>(columns.size());
  if (at.stride() > count && context.lanes.mask != nullptr) {
    for (int column = 0; column < count; ++column) access.Store(at.AddConstant(column), columns[column]);
    return;
  }
  if (static_cast<int64_t>(values.size()) > kLargestShuffledStride && at.stride() == count)
    return access.StoreInterleaved(at, columns);
  const std::vector<int> shuffle = Interleave(width, count);
  llvm::Value* mask = context.lanes.mask;
  if (mask != nullptr && count > 1)
    mask = llvm::concatenateVectors(context.b(), std::vector<llvm::Value*>(count, mask));
  if (mask != nullptr && count > 1) mask = context.b().CreateShuffleVector(mask, shuffle);
  llvm::Value* rows = columns[0];
  if (count > 1) rows = context.b().CreateShuffleVector(llvm::concatenateVectors(context.b(), columns), shuffle);
  if (at.stride() > count) return access.StoreLanes(at, rows, count);
  access.StoreRun(at, rows, mask);
}

}  // namespace hilo::codegen
