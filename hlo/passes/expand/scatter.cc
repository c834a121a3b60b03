// scatter => the same with the updates sorted by where they go; stable, so that the updates of an element keep their
// order:
//
//   r = f32[100,8] scatter(x, i, f32[5000,8] u), to_apply=add   =>   (k, p) = (u8[5000], s32[5000]) sort(i, iota)
//                                                                    r = scatter(x, k, u[p]),
//                                                                    indices_are_sorted=true
//
// Each window is one wide, or fills its dimension. Updates whose windows are not inside the operand come last. The
// keys, which state where windows go, become the indices; updates of one small element are sorted themselves, others
// gathered.
#include <algorithm>
#include <limits>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "hilo/status_macros.h"
#include "hlo/builder/add_op.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/expand/expansions.h"

namespace hilo {
namespace {

// Bytes of an update that is sorted rather than gathered.
constexpr int64_t kMostSortedBytes = 8;

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
    const bool sorts_updates = SortsUpdates();
    std::vector<XlaOp> sorted = {keys};
    for (int64_t i = 0; sorts_updates && i < count_; ++i) sorted.push_back(Reshape(Update(i), {updates_[0]}));
    if (!sorts_updates) sorted.push_back(Iota(builder_, ShapeUtil::MakeShape(S32, {updates_[0]}), 0));
    HILO_ASSIGN_OR_RETURN(const XlaComputation comparator, Comparator());
    const XlaOp all = Sort(sorted, comparator, 0, /*is_stable=*/true);

    std::vector<XlaOp> operands(operands_.begin(), operands_.begin() + count_);
    operands.push_back(VectorsOf(GetTupleElement(all, 0)));
    for (int64_t i = 0; i < count_; ++i) {
      operands.push_back(sorts_updates ? Reshape(GetTupleElement(all, 1 + i), updates_)
                                       : TakeRows(Update(i), updates_, GetTupleElement(all, 1)));
    }
    auto attributes = std::make_unique<ScatterAttrs>(attrs_);
    attributes->update_window_dims.resize(updates_.size() - 1);
    std::iota(attributes->update_window_dims.begin(), attributes->update_window_dims.end(), 1);
    attributes->index_vector_dim = 1;
    attributes->indices_are_sorted = true;
    HILO_ASSIGN_OR_RETURN(const XlaComputation to_apply, CalledComputation(scatter_));
    const XlaComputation* called[] = {&to_apply};
    return AddOp(builder_, HloOpcode::kScatter, operands, std::move(attributes), called);
  }

 private:
  int64_t components() const { return static_cast<int64_t>(attrs_.scatter_dims_to_operand_dims.size()); }
  int64_t SizeOfComponent(int64_t i) const {
    return scatter_.operand(0)->shape().dimensions(attrs_.scatter_dims_to_operand_dims[i]);
  }
  // Updates as rows.
  XlaOp Update(int64_t i) const { return Reshape(Transpose(operands_[count_ + 1 + i], order_), updates_); }

  // Returns true if updates move with their keys: with one element each, they have no more bytes than a number of them
  // and the wait for what it leads to.
  bool SortsUpdates() const {
    int64_t bytes = 0;
    for (int64_t i = 0; i < count_; ++i)
      bytes += PrimitiveTypeByteSize(scatter_.operand(count_ + 1 + i)->shape().element_type());
    return bytes <= kMostSortedBytes &&
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
  // The narrowest type, with a number for what is outside too.
  PrimitiveType KeyType() const {
    const int64_t count = CountOfKeys();
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
    XlaOp key = Numbers(0, S64), inside = Eq(key, key);
    std::vector<int64_t> window_dims;
    for (int64_t d = 0; d < operand.rank(); ++d) {
      if (!Contains(attrs_.inserted_window_dims, d)) window_dims.push_back(d);
    }
    for (int64_t i = 0; i < components(); ++i) {
      const int64_t dimension = attrs_.scatter_dims_to_operand_dims[i], size = operand.dimensions(dimension);
      int64_t window = 1;
      for (size_t j = 0; j < window_dims.size(); ++j) {
        if (window_dims[j] == dimension) window = updates_[j + 1];
      }
      const XlaOp index = ConvertElementType(Reshape(SliceInDim(vectors, i, i + 1, 1, 1), {updates_[0]}), S64);
      inside = And(inside, And(Ge(index, Numbers(0, S64)), Le(index, Numbers(size - window, S64))));
      key = Add(Mul(key, Numbers(size, S64)), index);
    }
    const XlaOp outside = Numbers(CountOfKeys(), S64);
    return Min(ConvertElementType(Select(inside, key, outside), KeyType()), Numbers(CountOfKeys(), KeyType()));
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
};

}  // namespace

absl::StatusOr<XlaOp> ExpandScatter(const HloInstruction& instruction, XlaBuilder*, absl::Span<const XlaOp> operands) {
  return ListScatter(instruction, operands).Sorted();
}

}  // namespace hilo
