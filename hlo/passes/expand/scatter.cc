// scatter => the same with the updates sorted by where they go; stable, so that the updates of an element keep their
// order:
//
//   r = f32[100,8] scatter(x, i, f32[5000,8] u), to_apply=add   =>   (k, p) = (u8[5000], s32[5000]) sort(i, iota)
//                                                                    r = scatter(x, k, u[p]),
//                                                                    indices_are_sorted=true
//
// Each window is one wide, or fills its dimension. Updates whose windows are not inside the operand come last; where a
// number for these would take another digit, as with 256 windows, sums get -0 in the last window for them. The keys,
// which state where windows go, become the indices; updates of one small element are sorted themselves, others
// gathered.
//
// Where updates replace elements, only the last update of each window counts, and nothing is sorted: `o` has the number
// of that update, -1 if there is none, for each origin of a window. Where about as many windows are replaced as there
// are, of an array that is not read, they read their updates; else the other updates go outside, and indices are
// unique:
//
//   r = f32[100,8] scatter(x, i, f32[100,8] u), to_apply=second
//     =>   o = s32[100] scatter(-1, i, iota), to_apply=maximum
//          r = select(o >= 0, u[o], x)                                      or
//          r = scatter(x, select(o[i] == iota, i, outside), u), unique_indices=true
#include <algorithm>
#include <limits>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/builder/add_op.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/expand/expansions.h"

namespace hilo {
namespace {

// Bytes of an update that is sorted rather than gathered.
constexpr int64_t kMaxSortedBytes = 8;
// Numbers of updates for origins that no update goes to: up to so many, or so many for each update, cost less than the
// launches of a sort, or its passes.
constexpr int64_t kMaxUnusedOrigins = int64_t{1} << 22, kMaxOriginsOfUpdate = 8;
// With more origins for each update, windows are not read again to be written.
constexpr int64_t kMaxReadOrigins = 2;
// Of the digits that keys are sorted by.
constexpr int kDigitBits = 8;

int64_t DigitsOf(int64_t largest) {
  int64_t digits = 0;
  for (; largest > 0; largest >>= kDigitBits) ++digits;
  return digits;
}

bool Contains(const std::vector<int64_t>& numbers, int64_t number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

std::vector<int64_t> SizesOf(const Shape& shape, const std::vector<int64_t>& dimensions) {
  std::vector<int64_t> sizes;
  for (int64_t d : dimensions) sizes.push_back(shape.dimensions(d));
  return sizes;
}

// Rows number `rows` (s32[n]) of an array.
XlaOp TakeRows(XlaOp array, const std::vector<int64_t>& sizes, XlaOp rows) {
  GatherDimensionNumbers numbers;
  for (size_t d = 1; d < sizes.size(); ++d) numbers.add_offset_dims(static_cast<int64_t>(d));
  numbers.add_collapsed_slice_dims(0);
  numbers.add_start_index_map(0);
  numbers.set_index_vector_dim(1);
  std::vector<int64_t> slice = sizes;
  slice[0] = 1;
  return Gather(array, rows, numbers, slice);
}

bool AreFree(absl::Span<HloInstruction* const> operands) {
  return std::all_of(operands.begin(), operands.end(), [](const auto* operand) { return IsFreeToRepeat(*operand); });
}

// The arrays of a scatter with one index dimension, the first of the updates, and index vectors as rows.
class ListScatter {
 public:
  ListScatter(const HloInstruction& scatter, absl::Span<const XlaOp> operands)
      : scatter_(scatter),
        attrs_(scatter.attrs<ScatterAttrs>()),
        count_(scatter.operand_count() / 2),
        builder_(operands[0].builder()),
        operands_(operands) {
    const Shape& updates = scatter.operand(count_ + 1)->shape();
    for (int64_t d = 0; d < updates.rank(); ++d) {
      if (!Contains(attrs_.update_window_dims, d)) order_.push_back(d);
    }
    updates_ = {1};
    for (int64_t size : SizesOf(updates, order_)) updates_[0] *= size;
    for (int64_t d : attrs_.update_window_dims) updates_.push_back(updates.dimensions(d));
    order_.insert(order_.end(), attrs_.update_window_dims.begin(), attrs_.update_window_dims.end());
  }

  absl::StatusOr<XlaOp> Sorted() {
    const XlaOp keys = Keys(IndexVectors());
    if (AllAreInside()) ReplaceUpdatesOutside();
    const bool sorts_updates = SortsUpdates();
    std::vector<XlaOp> sorted = {keys};
    for (int64_t i = 0; sorts_updates && i < count_; ++i) sorted.push_back(Reshape(Rows(i), {updates_[0]}));
    if (!sorts_updates) sorted.push_back(Iota(builder_, ShapeUtil::MakeShape(S32, {updates_[0]}), 0));
    HILO_ASSIGN_OR_RETURN(const XlaComputation comparator, Comparator());
    const XlaOp all = Sort(sorted, comparator, 0, /*is_stable=*/true);

    std::vector<XlaOp> updates;
    for (int64_t i = 0; i < count_; ++i) {
      updates.push_back(sorts_updates ? Reshape(GetTupleElement(all, 1 + i), updates_)
                                      : TakeRows(Rows(i), updates_, GetTupleElement(all, 1)));
    }
    auto attributes = std::make_unique<ScatterAttrs>(attrs_);
    attributes->indices_are_sorted = true;
    return ScatterRows(GetTupleElement(all, 0), updates, std::move(attributes));
  }

  // Returns true if updates replace elements, and to number the last of each origin is better than to sort them.
  bool KeepsLast() const {
    const HloInstruction* root = scatter_.called_computation()->root_instruction();
    for (int64_t i = 0; i < count_; ++i) {
      const HloInstruction* result = root->opcode() == HloOpcode::kTuple ? root->operand(i) : root;
      while (result->opcode() == HloOpcode::kCopy) result = result->operand(0);
      if (!result->IsParameter() || result->parameter_number() != count_ + i) return false;
    }
    return CountOfKeys() <= std::max(kMaxUnusedOrigins, kMaxOriginsOfUpdate * updates_[0]) &&
           updates_[0] <= std::numeric_limits<int32_t>::max() && CountOfKeys() < std::numeric_limits<int32_t>::max();
  }

  absl::StatusOr<XlaOp> Last() {
    const XlaOp keys = Keys(IndexVectors()), numbers = Iota(builder_, ShapeUtil::MakeShape(S32, {updates_[0]}), 0);
    XlaBuilder later("later");
    const Shape number = ShapeUtil::MakeScalarShape(S32);
    HILO_ASSIGN_OR_RETURN(const XlaComputation maximum,
                          later.Build(Max(Parameter(&later, 0, number, "a"), Parameter(&later, 1, number, "b"))));
    ScatterDimensionNumbers dimensions;
    dimensions.add_inserted_window_dims(0);
    dimensions.add_scatter_dims_to_operand_dims(0);
    dimensions.set_index_vector_dim(1);
    const XlaOp none = Broadcast(ConstantR0<int32_t>(builder_, -1), {CountOfKeys()});
    const XlaOp last = Scatter(none, ConvertElementType(keys, S32), numbers, maximum, dimensions);
    if (updates_[0] * kMaxReadOrigins >= CountOfKeys() && HasPlainWindows() &&
        AreFree(scatter_.operands().first(count_)))
      return TakeLast(last);
    const XlaOp own = TakeRows(last, {CountOfKeys()},
                               Min(ConvertElementType(keys, S32), ConstantR0<int32_t>(builder_, CountOfKeys() - 1)));
    std::vector<XlaOp> updates;
    for (int64_t i = 0; i < count_; ++i) updates.push_back(Update(i));
    auto attributes = std::make_unique<ScatterAttrs>(attrs_);
    attributes->unique_indices = true;
    attributes->indices_are_sorted = false;
    return ScatterRows(Select(Eq(own, numbers), keys, Numbers(CountOfKeys(), KeyType())), updates,
                       std::move(attributes));
  }

 private:
  // Scatters rows of updates to the windows of the keys.
  absl::StatusOr<XlaOp> ScatterRows(XlaOp keys, absl::Span<const XlaOp> updates,
                                    std::unique_ptr<ScatterAttrs> attributes) {
    std::vector<XlaOp> operands(operands_.begin(), operands_.begin() + count_);
    operands.push_back(VectorsOf(keys));
    operands.insert(operands.end(), updates.begin(), updates.end());
    attributes->update_window_dims.resize(updates_.size() - 1);
    std::iota(attributes->update_window_dims.begin(), attributes->update_window_dims.end(), 1);
    attributes->index_vector_dim = 1;
    HILO_ASSIGN_OR_RETURN(const XlaComputation to_apply, CalledComputation(scatter_));
    const XlaComputation* called[] = {&to_apply};
    return AddOp(builder_, HloOpcode::kScatter, operands, std::move(attributes), called);
  }

  // Returns the operand's dimensions that windows run over, in the order of those of the updates.
  std::vector<int64_t> WindowDimensions() const {
    std::vector<int64_t> dimensions;
    for (int64_t d = 0; d < scatter_.operand(0)->shape().rank(); ++d) {
      if (!Contains(attrs_.inserted_window_dims, d)) dimensions.push_back(d);
    }
    return dimensions;
  }

  // Returns true if windows are one wide where indices select them, and fill the other dimensions.
  bool HasPlainWindows() const {
    const std::vector<int64_t> dimensions = WindowDimensions();
    for (size_t j = 0; j < dimensions.size(); ++j) {
      const int64_t size = scatter_.operand(0)->shape().dimensions(dimensions[j]);
      if (updates_[j + 1] != (Contains(attrs_.scatter_dims_to_operand_dims, dimensions[j]) ? 1 : size)) return false;
    }
    return true;
  }

  // Each origin reads its last update.
  XlaOp TakeLast(XlaOp last) {
    const Shape& operand = scatter_.operand(0)->shape();
    std::vector<int64_t> dimensions = attrs_.scatter_dims_to_operand_dims;
    const std::vector<int64_t> origins = SizesOf(operand, dimensions);
    for (int64_t d : WindowDimensions()) {
      if (!Contains(attrs_.scatter_dims_to_operand_dims, d)) dimensions.push_back(d);
    }
    std::vector<int64_t> order(dimensions.size());  // of the operand's dimensions
    for (size_t d = 0; d < dimensions.size(); ++d) order[dimensions[d]] = static_cast<int64_t>(d);
    const XlaOp zero = ConstantR0<int32_t>(builder_, 0), rows = Max(last, zero);
    std::vector<int64_t> of_origins(origins.size());
    std::iota(of_origins.begin(), of_origins.end(), 0);
    const std::vector<int64_t> sizes = SizesOf(operand, dimensions);
    const XlaOp is_replaced = Transpose(BroadcastInDim(Reshape(Ge(last, zero), origins), sizes, of_origins), order);
    std::vector<XlaOp> results;
    for (int64_t i = 0; i < count_; ++i) {
      const XlaOp windows = Reshape(TakeRows(Update(i), updates_, rows), sizes);
      results.push_back(Select(is_replaced, Transpose(windows, order), operands_[i]));
    }
    return count_ == 1 ? results[0] : Tuple(builder_, results);
  }

  int64_t components() const { return static_cast<int64_t>(attrs_.scatter_dims_to_operand_dims.size()); }
  int64_t SizeOfComponent(int64_t i) const {
    return scatter_.operand(0)->shape().dimensions(attrs_.scatter_dims_to_operand_dims[i]);
  }
  // Returns true if updates outside go to the last window as zeros, which the type has to have, so that keys have a
  // digit less.
  bool AllAreInside() const {
    const PrimitiveType type = scatter_.operand(0)->shape().element_type();
    return count_ == 1 && ReductionOp(*scatter_.called_computation()) == HloOpcode::kAdd && IsFloatingPointType(type) &&
           type != F8E8M0FNU && CountOfKeys() > 0 && DigitsOf(CountOfKeys() - 1) < DigitsOf(CountOfKeys());
  }
  int64_t LargestKey() const { return CountOfKeys() - (AllAreInside() ? 1 : 0); }

  void ReplaceUpdatesOutside() {
    const XlaOp nothing = ConvertElementType(ConstantR0<float>(builder_, -0.0F), scatter_.shape().element_type());
    inside_updates_ = Select(BroadcastInDim(inside_, updates_, {0}), Update(0), Broadcast(nothing, updates_));
  }
  // The updates that are sorted.
  XlaOp Rows(int64_t i) const { return AllAreInside() ? inside_updates_ : Update(i); }

  // Updates as rows.
  XlaOp Update(int64_t i) const { return Reshape(Transpose(operands_[count_ + 1 + i], order_), updates_); }

  // Returns true if updates move with their keys: with one element each, they have no more bytes than a number of them
  // and the wait for what it leads to.
  bool SortsUpdates() const {
    int64_t bytes = 0;
    for (int64_t i = 0; i < count_; ++i)
      bytes += PrimitiveTypeByteSize(scatter_.operand(count_ + 1 + i)->shape().element_type());
    return bytes <= kMaxSortedBytes &&
           std::all_of(updates_.begin() + 1, updates_.end(), [](int64_t size) { return size == 1; });
  }

  // Compares the keys.
  absl::StatusOr<XlaComputation> Comparator() const {
    XlaBuilder order("order");
    const auto pair = [&](int64_t number, PrimitiveType type) {
      const Shape shape = ShapeUtil::MakeScalarShape(type);
      const XlaOp first = Parameter(&order, 2 * number, shape, absl::StrCat("a", number));
      return std::pair(first, Parameter(&order, 2 * number + 1, shape, absl::StrCat("b", number)));
    };
    const auto [a, b] = pair(0, KeyType());
    if (!SortsUpdates()) pair(1, S32);
    for (int64_t i = 0; SortsUpdates() && i < count_; ++i)
      pair(1 + i, scatter_.operand(count_ + 1 + i)->shape().element_type());
    return order.Build(Lt(a, b));
  }

  // As rows.
  XlaOp IndexVectors() {
    const Shape& shape = scatter_.operand(count_)->shape();
    std::vector<int64_t> order;
    for (int64_t d = 0; d < shape.rank(); ++d) {
      if (d != attrs_.index_vector_dim) order.push_back(d);
    }
    if (attrs_.index_vector_dim < shape.rank()) order.push_back(attrs_.index_vector_dim);
    return Reshape(Transpose(operands_[count_], order), {updates_[0], components()});
  }

  int64_t CountOfKeys() const {
    int64_t count = 1;
    for (int64_t i = 0; i < components(); ++i) count *= SizeOfComponent(i);
    return count;
  }
  // The narrowest type.
  PrimitiveType KeyType() const {
    const int64_t count = LargestKey();
    return count <= std::numeric_limits<uint8_t>::max()    ? U8
           : count <= std::numeric_limits<uint16_t>::max() ? U16
           : count <= std::numeric_limits<uint32_t>::max() ? U32
                                                           : U64;
  }
  XlaOp Numbers(int64_t value, PrimitiveType type) const {
    return Broadcast(ConvertElementType(ConstantR0<int64_t>(builder_, value), type), {updates_[0]});
  }

  // A number for each index vector: equal for equal windows, and the largest for those that are not inside. The sort is
  // told that none is larger.
  XlaOp Keys(XlaOp vectors) {
    const Shape& operand = scatter_.operand(0)->shape();
    XlaOp key = Numbers(0, S64);
    inside_ = Eq(key, key);
    const std::vector<int64_t> window_dims = WindowDimensions();
    for (int64_t i = 0; i < components(); ++i) {
      const int64_t dimension = attrs_.scatter_dims_to_operand_dims[i], size = operand.dimensions(dimension);
      int64_t window = 1;
      for (size_t j = 0; j < window_dims.size(); ++j) {
        if (window_dims[j] == dimension) window = updates_[j + 1];
      }
      const XlaOp index = ConvertElementType(Reshape(SliceInDim(vectors, i, i + 1, 1, 1), {updates_[0]}), S64);
      inside_ = And(inside_, And(Ge(index, Numbers(0, S64)), Le(index, Numbers(size - window, S64))));
      key = Add(Mul(key, Numbers(size, S64)), index);
    }
    const XlaOp outside = Numbers(LargestKey(), S64);
    return Min(ConvertElementType(Select(inside_, key, outside), KeyType()), Numbers(LargestKey(), KeyType()));
  }

  // The index vectors that keys are made of, as rows; those of windows outside become others outside, whose first
  // component is too large.
  XlaOp VectorsOf(XlaOp keys) {
    XlaOp rest = keys;
    std::vector<XlaOp> vectors(components());
    for (int64_t i = components() - 1; i >= 0; --i) {
      const XlaOp size = Numbers(SizeOfComponent(i), KeyType());
      vectors[i] = Reshape(i == 0 ? rest : Rem(rest, size), {updates_[0], 1});
      rest = Div(rest, size);
    }
    return ConcatInDim(builder_, vectors, 1);
  }

  const HloInstruction& scatter_;
  const ScatterAttrs& attrs_;
  const int64_t count_;
  XlaBuilder* const builder_;
  const absl::Span<const XlaOp> operands_;
  std::vector<int64_t> order_;    // the dimensions of the updates, those of the windows last
  std::vector<int64_t> updates_;  // their sizes, as a list of windows
  XlaOp inside_;                  // whether each window is inside the operand
  XlaOp inside_updates_;          // those that are not change nothing
};

}  // namespace

absl::StatusOr<XlaOp> ExpandScatter(const HloInstruction& instruction, XlaBuilder*, absl::Span<const XlaOp> operands) {
  ListScatter list(instruction, operands);
  return list.KeepsLast() ? list.Last() : list.Sorted();
}

}  // namespace hilo
