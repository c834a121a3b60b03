// Rules for sorts.
#include <memory>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/sort_keys.h"
#include "hlo/passes/simplify/rules.h"

namespace hilo::simplify {
namespace {

using Result = absl::StatusOr<HloInstruction*>;

// Returns true if `x` is a reverse along `dimension` and no other one.
bool Reverses(const HloInstruction* x, int64_t dimension) {
  return x->opcode() == HloOpcode::kReverse && x->attrs<ReverseAttrs>().dimensions == std::vector<int64_t>{dimension};
}

// Returns true if all that reads `value`, a sort or an element of one, is a reverse along `dimension`.
bool IsReadInReverse(const HloInstruction* value, int64_t dimension) {
  return !value->IsRoot() && absl::c_all_of(value->users(), [&](auto* user) { return Reverses(user, dimension); });
}

// The comparison with both sides exchanged; null if it is one of its parameters.
HloComputation* ExchangeSides(const HloComputation& comparison) {
  if (comparison.root_instruction()->IsParameter()) return nullptr;
  HloComputation* exchanged = comparison.parent()->CloneComputation(comparison, "exchanged");
  for (HloInstruction* instruction : exchanged->instructions()) {
    for (int64_t o = 0; o < instruction->operand_count(); ++o) {
      if (!instruction->operand(o)->IsParameter()) continue;
      const int64_t other = instruction->operand(o)->parameter_number() ^ 1;
      exchanged->ReplaceOperand(instruction, o, exchanged->parameter_instruction(other));
    }
  }
  return exchanged;
}

// As JAX writes a sort in descending order. A stable sort keeps equal elements in the order of the reversed arrays, so
// that the reversed results have them in the order of the arrays themselves.
Result ReverseOfSort(HloInstruction* reverse) {
  HloInstruction* element = reverse->operand(0);
  const bool is_tuple = element->opcode() == HloOpcode::kGetTupleElement;
  HloInstruction* sort = is_tuple ? element->operand(0) : element;
  if (sort->opcode() != HloOpcode::kSort || sort->IsRoot()) return nullptr;
  const int64_t dimension = sort->attrs<SortAttrs>().dimensions[0];
  const bool is_reversed =
      Reverses(reverse, dimension) &&
      absl::c_all_of(sort->operands(), [&](auto* operand) { return Reverses(operand, dimension); }) &&
      (is_tuple ? absl::c_all_of(sort->users(), [&](auto* user) { return IsReadInReverse(user, dimension); })
                : IsReadInReverse(sort, dimension));
  if (!is_reversed) return nullptr;
  HloComputation* comparison = ExchangeSides(*sort->called_computation());
  if (comparison == nullptr) return nullptr;
  std::vector<HloInstruction*> arrays;
  for (HloInstruction* operand : sort->operands()) arrays.push_back(operand->operand(0));
  HILO_ASSIGN_OR_RETURN(HloInstruction * sorted,
                        sort->parent()->AddOp(HloOpcode::kSort, arrays, sort->attributes()->Clone(), {comparison}));
  // All results at once: the sort is not made again for the next one.
  std::vector<HloInstruction*> others;
  for (HloInstruction* user : sort->users()) {
    if (is_tuple) {
      for (HloInstruction* read : user->users()) {
        if (read != reverse) others.push_back(read);
      }
    } else if (user != reverse) {
      others.push_back(user);
    }
  }
  for (HloInstruction* other : others) {
    HloInstruction* result = sorted;
    if (is_tuple) {
      HILO_ASSIGN_OR_RETURN(result, MakeTupleElement(sorted, other->operand(0)->tuple_index()));
    }
    HILO_RETURN_IF_ERROR(sort->parent()->ReplaceAllUsesWith(other, result));
  }
  return is_tuple ? MakeTupleElement(sorted, element->tuple_index()) : sorted;
}

// Elements of a list that is sorted by a network, whose exchanges grow with the square of their number, and arrays that
// are sorted together.
constexpr int64_t kMaxOfNetwork = 9, kMaxArrays = 4;

// What `function` of the parameter of this number is of the elements of `x`.
Result Apply(const HloInstruction& function, int64_t parameter, HloInstruction* x) {
  absl::flat_hash_map<const HloInstruction*, HloInstruction*> arrays;
  Shape shape = x->shape();
  for (const HloInstruction* i : function.parent()->MakePostOrder()) {
    shape.set_element_type(i->shape().element_type());
    if (i->IsParameter()) {
      if (i->parameter_number() == parameter) arrays[i] = x;
    } else if (i->IsConstant()) {
      HILO_ASSIGN_OR_RETURN(arrays[i], MakeBroadcast(x->parent()->AddConstant(i->literal().Clone()), shape, {}));
    } else if (absl::c_all_of(i->operands(), [&](auto* operand) { return arrays.contains(operand); })) {
      std::vector<HloInstruction*> operands;
      for (const HloInstruction* operand : i->operands()) operands.push_back(arrays.at(operand));
      arrays[i] = x->parent()->AddInstruction(i->CloneWithNewOperands(shape, operands));
    }
  }
  return arrays.at(&function);
}

// An integer that orders as the float does in the total order: negative ones the other way round.
Result OrderedBits(HloInstruction* x) {
  const int bits = PrimitiveTypeBitWidth(x->shape().element_type());
  Shape shape = x->shape();
  shape.set_element_type(bits == 16 ? S16 : bits == 32 ? S32 : S64);
  HILO_ASSIGN_OR_RETURN(HloInstruction* const all,
                        x->parent()->AddOp(HloOpcode::kBitcastConvert, {x}, nullptr, {}, &shape));
  HILO_ASSIGN_OR_RETURN(HloInstruction* const sign_bit, MakeUniform(all, bits - 1));
  HILO_ASSIGN_OR_RETURN(HloInstruction* const one, MakeUniform(all, 1));
  HILO_ASSIGN_OR_RETURN(HloInstruction * flips, MakeBinary(HloOpcode::kShiftRightArithmetic, all, sign_bit));
  HILO_ASSIGN_OR_RETURN(flips, MakeBinary(HloOpcode::kShiftRightLogical, flips, one));
  return MakeBinary(HloOpcode::kXor, all, flips);
}

// A slice of one position of a sorted array.
struct Read {
  HloInstruction* slice;
  int64_t array, position;
};

// Adds the slices that read `value`, one of the sorted arrays; returns false if something else reads it.
bool AddReads(const HloInstruction* value, int64_t array, int64_t dimension, std::vector<Read>* reads) {
  if (value->IsRoot()) return false;
  for (HloInstruction* user : value->users()) {
    if (user->opcode() != HloOpcode::kSlice || user->shape().dimensions(dimension) != 1) return false;
    reads->push_back({user, array, user->attrs<SliceAttrs>().slice[dimension].start});
  }
  return true;
}

// Replaces reshapes of the slices that leave out the sorted dimension: with reshapes in between, the exchanges of one
// would be computed in other dimensions than those before.
absl::Status ReplaceReads(absl::Span<const Read> reads, const std::vector<std::vector<HloInstruction*>>& elements) {
  for (const Read& read : reads) {
    HloInstruction* const element = elements[read.position][1 + read.array];
    const std::vector<HloInstruction*> users(read.slice->users().begin(), read.slice->users().end());
    for (HloInstruction* user : users) {
      if (user->opcode() != HloOpcode::kReshape || user->IsRoot() ||
          !ShapeUtil::SameDimensions(user->shape(), element->shape()))
        continue;
      HILO_RETURN_IF_ERROR(user->parent()->ReplaceAllUsesWith(user, element));
    }
  }
  return absl::OkStatus();
}

// Element-wise operations that are computed of parts of their operands.
constexpr int kMaxBeforeSort = 2;

// Returns element `k` of the lists along `dimension` of `x`, in the other dimensions: of what only the sort reads, it
// is computed from those of its operands.
Result ElementOf(HloInstruction* x, int64_t dimension, int64_t k, int steps = kMaxBeforeSort) {
  const Shape shape = ShapeUtil::DeleteDimensions({dimension}, x->shape());
  if (steps > 0 && IsElementwise(x->opcode()) && x->opcode() != HloOpcode::kMap && x->users().size() == 1 &&
      !x->HasControlDependencies() && absl::c_all_of(x->operands(), [&](const HloInstruction* operand) {
        return ShapeUtil::SameDimensions(operand->shape(), x->shape());
      })) {
    std::vector<HloInstruction*> operands;
    for (HloInstruction* operand : x->operands()) {
      HILO_ASSIGN_OR_RETURN(operands.emplace_back(), ElementOf(operand, dimension, k, steps - 1));
    }
    return x->parent()->AddInstruction(x->CloneWithNewOperands(shape, operands));
  }
  std::vector<SliceRange> ranges;
  for (const int64_t size : x->shape().dimensions()) ranges.push_back({0, size, 1});
  ranges[dimension] = {k, k + 1, 1};
  HILO_ASSIGN_OR_RETURN(HloInstruction* const slice, MakeSlice(x, ranges));
  return MakeReshape(slice, shape);
}

// Rewrites a sort of few elements, some of which are read, such as a median: the lists are arrays of first, second ...
// elements, and neighbors in the wrong order are swapped by element-wise operations, which fuse with others. Equal ones
// are not: the sort is stable. Swaps that affect no element which is read are dead.
Result SortOfFew(HloInstruction* sort) {
  const int64_t dimension = sort->attrs<SortAttrs>().dimensions[0], count = sort->operand_count(),
                length = sort->operand(0)->shape().dimensions(dimension);
  std::vector<Read> reads;
  if (length < 2 || length > kMaxOfNetwork || count > kMaxArrays || sort->HasControlDependencies() || sort->IsRoot())
    return nullptr;
  if (count == 1 ? !AddReads(sort, 0, dimension, &reads) : !absl::c_all_of(sort->users(), [&](auto* user) {
        return user->opcode() == HloOpcode::kGetTupleElement && AddReads(user, user->tuple_index(), dimension, &reads);
      }))
    return nullptr;
  if (reads.empty()) return nullptr;
  const HloInstruction* less = sort->called_computation()->root_instruction();
  if (less->opcode() != HloOpcode::kCompare) return nullptr;
  const CompareAttrs& compare = less->attrs<CompareAttrs>();
  const bool is_less = compare.direction == ComparisonDirection::kLt;
  if (!is_less && compare.direction != ComparisonDirection::kGt) return nullptr;
  // The comparison of an element with the one before it.
  int64_t array = 0;
  const bool later_first = AreTwins(less->operand(0), less->operand(1), &array);
  if (!later_first && !AreTwins(less->operand(1), less->operand(0), &array)) return nullptr;
  const HloInstruction& key = *less->operand(later_first ? 0 : 1);
  const PrimitiveType type = key.shape().element_type();
  const bool is_float = type == F16 || type == BF16 || type == F32 || type == F64;
  if (is_float ? compare.type != ComparisonType::kTotalOrder : !IsIntegralType(type)) return nullptr;
  // elements[k]: the key of element k, and the element of each array.
  std::vector<std::vector<HloInstruction*>> elements(length);
  for (int64_t k = 0; k < length; ++k) {
    elements[k].push_back(nullptr);
    for (HloInstruction* operand : sort->operands()) {
      HILO_ASSIGN_OR_RETURN(elements[k].emplace_back(), ElementOf(operand, dimension, k));
    }
    HILO_ASSIGN_OR_RETURN(elements[k][0], Apply(key, 2 * array, elements[k][1 + array]));
    if (!is_float) continue;
    HILO_ASSIGN_OR_RETURN(elements[k][0], OrderedBits(elements[k][0]));
  }
  HloComputation* const parent = sort->parent();
  const auto exchange = [&](int64_t k) -> absl::Status {
    std::vector<HloInstruction*>&first = elements[k], &second = elements[k + 1];
    auto attributes = std::make_unique<CompareAttrs>();
    attributes->direction = compare.direction;
    const std::vector<HloInstruction*> sides = {(later_first ? second : first)[0], (later_first ? first : second)[0]};
    HILO_ASSIGN_OR_RETURN(HloInstruction* const trade,
                          parent->AddOp(HloOpcode::kCompare, sides, std::move(attributes)));
    for (size_t i = 0; i < first.size(); ++i) {
      HloInstruction *const a = first[i], *const b = second[i];
      HILO_ASSIGN_OR_RETURN(first[i], parent->AddOp(HloOpcode::kSelect, {trade, b, a}));
      HILO_ASSIGN_OR_RETURN(second[i], parent->AddOp(HloOpcode::kSelect, {trade, a, b}));
    }
    return absl::OkStatus();
  };
  // From the end that is nearer to what is read: the other one's elements need not be in order.
  int64_t positions = 0;
  for (const Read& read : reads) positions += read.position;
  const bool from_front = 2 * positions < (length - 1) * std::ssize(reads);
  for (int64_t done = 0; done + 1 < length; ++done) {
    for (int64_t k = 0; k + 1 < length - done; ++k) HILO_RETURN_IF_ERROR(exchange(from_front ? length - 2 - k : k));
  }
  HILO_RETURN_IF_ERROR(ReplaceReads(reads, elements));
  std::vector<HloInstruction*> results;
  for (int64_t i = 1; i <= count; ++i) {
    std::vector<HloInstruction*> pieces;
    Shape piece =
        ShapeUtil::MakeShape(sort->operand(i - 1)->shape().element_type(), sort->operand(i - 1)->shape().dimensions());
    piece.set_dimensions(dimension, 1);
    for (const std::vector<HloInstruction*>& element : elements) {
      HILO_ASSIGN_OR_RETURN(pieces.emplace_back(), MakeReshape(element[i], piece));
    }
    auto attributes = std::make_unique<ConcatenateAttrs>();
    attributes->dimensions = {dimension};
    HILO_ASSIGN_OR_RETURN(results.emplace_back(),
                          parent->AddOp(HloOpcode::kConcatenate, pieces, std::move(attributes)));
  }
  return count == 1 ? results[0] : parent->AddOp(HloOpcode::kTuple, results);
}

const Rule kSortRules[] = {
    {HloOpcode::kSort, "sort(x) => concatenate(exchanges of slice(x)), of few elements, some of which are read",
     SortOfFew},
    {HloOpcode::kReverse, "reverse(sort(reverse(x), ...)) => sort(x, ...), the other way round", ReverseOfSort},
};

}  // namespace

absl::Span<const Rule> SortRules() { return kSortRules; }

}  // namespace hilo::simplify
