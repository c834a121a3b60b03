// sort => a network of element-wise steps (Batcher's bitonic sort): in the step of distance d, each element is compared
// with that d elements away, and the two are swapped if they are in the wrong order.
//
//   y = f32[8] sort(x)   =>   for all powers of two up to the length, runs = 2, 4, 8, and d = runs / 2 ... 2, 1:
//                               x' = f32[8/2d,2,d] reshape(x)
//                               o = reverse(x'), dimensions={1}
//                               x = select(wrong, o, x')
//
// Elements travel with their numbers, which decide between equal ones: the sort is stable. Lists are filled up to a
// power of two with elements that are behind all others. The number of steps grows with the square of the logarithm of
// the length.
//
// A sort of lists by several keys is one by each key instead, the last key first, of the numbers of elements:
//
//   (x, y) = sort(a, b), by a, then b   =>   (-, p) = sort(b, iota)   (x, q) = sort(a[p], p)   y = b[q]
#include <array>

#include "absl/container/flat_hash_map.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/sort_keys.h"
#include "hlo/builder/add_op.h"
#include "hlo/ops/reduction/search_attributes.h"
#include "hlo/passes/expand/expansions.h"

namespace hilo {
namespace {

class SortingNetwork {
 public:
  SortingNetwork(XlaBuilder* builder, const XlaComputation& comparator, const Shape& shape, int64_t dimension)
      : builder_(builder), comparator_(comparator), length_(shape.dimensions(dimension)) {
    for (int64_t d = 0; d < dimension; ++d) outer_ *= shape.dimensions(d);
    for (int64_t d = dimension + 1; d < shape.rank(); ++d) inner_ *= shape.dimensions(d);
    while (padded_ < length_) padded_ *= 2;
  }

  // The sorted operands, of their own shapes.
  std::vector<XlaOp> Sort(absl::Span<const XlaOp> operands, const Shape& shape) {
    std::vector<XlaOp> arrays;
    for (const XlaOp operand : operands) {
      const XlaOp lists = Reshape(operand, {outer_, length_, inner_});
      const absl::StatusOr<Shape> type = builder_->GetShape(lists);
      if (!type.ok()) return {};  // the builder has the error
      arrays.push_back(
          PadInDim(lists, ConstantLiteral(builder_, LiteralUtil::Zero(type->element_type())), 1, 0, padded_ - length_));
    }
    arrays.push_back(Iota(builder_, ShapeUtil::MakeShape(S64, {outer_, padded_, inner_}), 1));
    for (int64_t run = 2; run <= padded_; run *= 2) {
      for (int64_t distance = run / 2; distance > 0; distance /= 2) arrays = Step(arrays, run, distance);
    }
    std::vector<XlaOp> results;
    for (size_t i = 0; i + 1 < arrays.size(); ++i)
      results.push_back(Reshape(SliceInDim(arrays[i], 0, length_, 1, 1), shape.dimensions()));
    return results;
  }

 private:
  // Trades elements that are in the wrong order; runs of odd number are put in descending order.
  std::vector<XlaOp> Step(absl::Span<const XlaOp> arrays, int64_t run, int64_t distance) {
    const Shape positions = ShapeUtil::MakeShape(S64, {outer_, padded_ / (2 * distance), 2, distance, inner_});
    const XlaOp is_second = Iota(builder_, positions, 2), pair = Iota(builder_, positions, 1);
    // A power of two divides the numbers of pairs into those of runs.
    const XlaOp run_number = ShiftRightLogical(pair, Int64(Log2(run / (2 * distance))));
    const XlaOp is_odd_one = Eq(Xor(is_second, And(run_number, Int64(1))), Int64(1));
    std::vector<XlaOp> here, there, first, second;
    for (const XlaOp array : arrays) {
      here.push_back(Reshape(array, positions.dimensions()));
      there.push_back(Rev(here.back(), {2}));
      first.push_back(Select(is_odd_one, there.back(), here.back()));
      second.push_back(Select(is_odd_one, here.back(), there.back()));
    }
    // The one that should come first is the second.
    const XlaOp trade = Before(second, first);
    std::vector<XlaOp> results;
    for (size_t i = 0; i < arrays.size(); ++i)
      results.push_back(Reshape(Select(trade, there[i], here[i]), {outer_, padded_, inner_}));
    // One step a kernel: within one, elements of earlier steps would be computed again for both of their users.
    const XlaOp barrier = OptimizationBarrier(Tuple(builder_, results));
    for (size_t i = 0; i < arrays.size(); ++i) results[i] = GetTupleElement(barrier, static_cast<int64_t>(i));
    return results;
  }

  // Whether the elements `a`, the last of which are their numbers, come before the elements `b`.
  XlaOp Before(absl::Span<const XlaOp> a, absl::Span<const XlaOp> b) {
    std::vector<XlaOp> a_and_b, b_and_a;
    for (size_t i = 0; i + 1 < a.size(); ++i) {
      a_and_b.insert(a_and_b.end(), {a[i], b[i]});
      b_and_a.insert(b_and_a.end(), {b[i], a[i]});
    }
    const XlaOp earlier = Lt(a.back(), b.back());
    const XlaOp less = Map(builder_, a_and_b, comparator_, {0, 1, 2, 3, 4});
    const XlaOp greater = Map(builder_, b_and_a, comparator_, {0, 1, 2, 3, 4});
    const XlaOp before = Or(less, And(Not(greater), earlier));
    if (padded_ == length_) return before;
    const XlaOp both_given = Lt(Max(a.back(), b.back()), Int64(length_));
    return Select(both_given, before, earlier);
  }

  XlaOp Int64(int64_t value) { return ConstantR0<int64_t>(builder_, value); }
  static int64_t Log2(int64_t power) {
    int64_t log = 0;
    while (power >> (log + 1) != 0) ++log;
    return log;
  }

  XlaBuilder* const builder_;
  const XlaComputation& comparator_;
  const int64_t length_;
  int64_t outer_ = 1, inner_ = 1, padded_ = 1;
};

// Copies what a comparator computes from the elements of one array.
class KeyCopy {
 public:
  KeyCopy(XlaBuilder* builder, XlaOp left, XlaOp right) : builder_(builder), sides_{left, right} {}

  XlaOp Of(const HloInstruction& x) {
    if (x.IsParameter()) return sides_[x.parameter_number() % 2];
    const auto known = copies_.find(&x);
    if (known != copies_.end()) return known->second;
    std::vector<XlaOp> operands;
    for (const HloInstruction* operand : x.operands()) operands.push_back(Of(*operand));
    const XlaOp copy = AddOp(builder_, x.opcode(), operands,
                             x.attributes() == nullptr ? nullptr : x.attributes()->Clone(), {}, &x.shape());
    copies_.emplace(&x, copy);
    return copy;
  }

 private:
  XlaBuilder* const builder_;
  const std::array<XlaOp, 2> sides_;
  absl::flat_hash_map<const HloInstruction*, XlaOp> copies_;
};

// Compares elements of the key's array, and not the numbers that are sorted with them.
absl::StatusOr<XlaComputation> ComparatorOf(const SortKey& key, PrimitiveType type) {
  XlaBuilder builder("order");
  std::vector<XlaOp> parameters;
  for (const PrimitiveType of : {type, type, S32, S32})
    parameters.push_back(
        Parameter(&builder, static_cast<int64_t>(parameters.size()), ShapeUtil::MakeScalarShape(of), ""));
  return builder.Build(KeyCopy(&builder, parameters[0], parameters[1]).Of(*key.less));
}

XlaOp TakeElements(XlaOp list, XlaOp numbers) {
  GatherDimensionNumbers dimensions;
  dimensions.add_collapsed_slice_dims(0);
  dimensions.add_start_index_map(0);
  dimensions.set_index_vector_dim(1);
  return Gather(list, numbers, dimensions, {1});
}

// Returns the sorted operands, which are one list each.
absl::StatusOr<std::vector<XlaOp>> SortByEachKey(const HloInstruction& sort, absl::Span<const SortKey> keys,
                                                 XlaBuilder* builder, absl::Span<const XlaOp> operands) {
  const Shape& shape = sort.operand(0)->shape();
  const int64_t length = ShapeUtil::ElementsIn(shape);
  std::vector<XlaOp> lists;
  for (const XlaOp operand : operands) lists.push_back(Reshape(operand, {length}));
  XlaOp numbers = Iota(builder, ShapeUtil::MakeShape(S32, {length}), 0), sorted_key;
  for (size_t i = keys.size(); i-- > 0;) {
    const bool is_first = i + 1 == keys.size();
    const XlaOp list = lists[keys[i].array];
    HILO_ASSIGN_OR_RETURN(const XlaComputation comparator,
                          ComparatorOf(keys[i], sort.operand(keys[i].array)->shape().element_type()));
    const XlaOp both =
        Sort({is_first ? list : TakeElements(list, numbers), numbers}, comparator, 0, /*is_stable=*/true);
    sorted_key = GetTupleElement(both, 0);
    numbers = GetTupleElement(both, 1);
  }
  std::vector<XlaOp> results;
  for (int64_t i = 0; i < sort.operand_count(); ++i) {
    const HloInstruction& operand = *sort.operand(i);
    XlaOp result = sorted_key;
    if (i != keys[0].array) {
      const bool is_number =
          operand.opcode() == HloOpcode::kIota && shape.dimensions(operand.attrs<IotaAttrs>().iota_dimension) == length;
      result =
          is_number ? ConvertElementType(numbers, operand.shape().element_type()) : TakeElements(lists[i], numbers);
    }
    results.push_back(Reshape(result, shape.dimensions()));
  }
  return results;
}

}  // namespace

absl::StatusOr<XlaOp> ExpandSort(const HloInstruction& instruction, XlaBuilder* builder,
                                 absl::Span<const XlaOp> operands) {
  const Shape& shape = instruction.operand(0)->shape();
  const int64_t dimension = instruction.attrs<SortAttrs>().dimensions[0];
  std::vector<XlaOp> sorted(operands.begin(), operands.end());
  if (IsListByKeys(instruction)) {
    HILO_ASSIGN_OR_RETURN(sorted,
                          SortByEachKey(instruction, SortKeysOf(*instruction.called_computation()), builder, operands));
  } else if (!ShapeUtil::IsZeroElementArray(shape) && shape.dimensions(dimension) > 1) {
    HILO_ASSIGN_OR_RETURN(const XlaComputation comparator, CalledComputation(instruction));
    sorted = SortingNetwork(builder, comparator, shape, dimension).Sort(operands, shape);
    HILO_RETURN_IF_ERROR(builder->first_error());
  }
  return instruction.shape().IsTuple() ? Tuple(builder, sorted) : sorted[0];
}

}  // namespace hilo
