// Moves of elements to other positions that are known: reshapes, transposes, slices, pads, concatenations.
#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/passes/simplify/rules.h"

namespace hilo::simplify {
namespace {

using Result = absl::StatusOr<HloInstruction*>;

bool IsIdentity(const std::vector<int64_t>& permutation) {
  for (size_t i = 0; i < permutation.size(); ++i) {
    if (permutation[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

// Whether the dimensions of size > 1 keep their order.
bool MovesOnlyOnes(const HloInstruction* transpose) {
  int64_t last = -1;
  for (int64_t dimension : transpose->attrs<TransposeAttrs>().dimensions) {
    if (transpose->operand(0)->shape().dimensions(dimension) == 1) continue;
    if (dimension < last) return false;
    last = dimension;
  }
  return true;
}

Result MergeTransposes(HloInstruction* i) {
  HloInstruction* inner = i->operand(0);
  if (inner->opcode() != HloOpcode::kTranspose) return nullptr;
  std::vector<int64_t> merged;
  for (int64_t d : i->attrs<TransposeAttrs>().dimensions)
    merged.push_back(inner->attrs<TransposeAttrs>().dimensions[d]);
  return MakeTranspose(inner->operand(0), merged);
}

Result MergeBroadcasts(HloInstruction* i) {
  HloInstruction* inner = i->operand(0);
  if (inner->opcode() != HloOpcode::kBroadcast) return nullptr;
  std::vector<int64_t> merged;
  for (int64_t d : inner->attrs<BroadcastAttrs>().dimensions)
    merged.push_back(i->attrs<BroadcastAttrs>().dimensions[d]);
  return MakeBroadcast(inner->operand(0), i->shape(), merged);
}

// A broadcast that adds dimensions of size 1 only, in order.
Result BroadcastToReshape(HloInstruction* i) {
  if (ShapeUtil::ElementsIn(i->shape()) != ShapeUtil::ElementsIn(i->operand(0)->shape())) return nullptr;
  const std::vector<int64_t>& dimensions = i->attrs<BroadcastAttrs>().dimensions;
  if (!std::is_sorted(dimensions.begin(), dimensions.end())) return nullptr;
  return MakeReshape(i->operand(0), i->shape());
}

// A reshape that only splits off or drops dimensions of size 1 of a broadcast, or of any broadcast scalar.
Result ReshapeOfBroadcast(HloInstruction* i) {
  if (!IsScalarBroadcast(i->operand(0))) return nullptr;
  return MakeBroadcast(i->operand(0)->operand(0), i->shape(), {});
}

std::vector<int64_t> WithoutOnes(const Shape& shape) {
  std::vector<int64_t> sizes;
  for (int64_t size : shape.dimensions()) {
    if (size != 1) sizes.push_back(size);
  }
  return sizes;
}

// Returns true for an element-wise operation that one instruction reads, on arrays of its dimensions and scalars.
bool IsMovable(const HloInstruction& op) {
  if (!IsElementwise(op.opcode()) || op.opcode() == HloOpcode::kMap || op.opcode() == HloOpcode::kCopy ||
      op.users().size() != 1 || !op.shape().IsArray() || op.operand_count() == 0)
    return false;
  return absl::c_all_of(op.operands(), [&](const HloInstruction* operand) {
    return operand->shape().IsScalar() || ShapeUtil::SameDimensions(operand->shape(), op.shape());
  });
}

// Moves `i`, which moves elements, from the result of `op`, which is movable, to its operands. `move` does so for one.
template <typename Move>
Result HoistAbove(HloInstruction* op, HloInstruction* i, const Move& move) {
  std::vector<HloInstruction*> operands;
  for (HloInstruction* operand : op->operands()) {
    if (!operand->shape().IsScalar() || op->shape().IsScalar()) {
      HILO_ASSIGN_OR_RETURN(operand, move(operand));
    }
    operands.push_back(operand);
  }
  HloInstruction* computed = i->parent()->AddInstruction(op->CloneWithNewOperands(i->shape(), operands));
  ShapeUtil::SetToDefaultLayout(computed->mutable_shape());
  return computed;
}

// A reshape that only adds or drops dimensions of size 1 moves above element-wise operations, where it often cancels
// with its inverse: computations along a last dimension of 1 have no lanes.
Result HoistReshape(HloInstruction* i) {
  HloInstruction* op = i->operand(0);
  if (!IsMovable(*op) || WithoutOnes(op->shape()) != WithoutOnes(i->shape())) return nullptr;
  return HoistAbove(op, i, [&](HloInstruction* operand) {
    return MakeReshape(operand, ShapeUtil::MakeShape(operand->shape().element_type(), i->shape().dimensions()));
  });
}

// The transpose of an array that repeats one with fewer elements, by this factor at least, moves to that array; and
// instructions between them at most.
constexpr int64_t kMinRepeats = 2;
constexpr int kMaxMoved = 8;

bool RepeatsSmallArray(const HloInstruction& broadcast) {
  return broadcast.opcode() == HloOpcode::kBroadcast &&
         ShapeUtil::ElementsIn(broadcast.operand(0)->shape()) <= ShapeUtil::ElementsIn(broadcast.shape()) / kMinRepeats;
}

// Returns true if `value` is computed from small arrays that are repeated. `budget`: instructions to look at.
bool IsOfSmallArrays(const HloInstruction& value, int& budget) {
  if (--budget < 0) return false;
  if (RepeatsSmallArray(value)) return true;
  return IsMovable(value) && absl::c_all_of(value.operands(), [&](const HloInstruction* operand) {
           return operand->shape().IsScalar() || IsOfSmallArrays(*operand, budget);
         });
}

// An outer product is computed in the order of the result rather than transposed.
Result HoistTranspose(HloInstruction* i) {
  HloInstruction* op = i->operand(0);
  int budget = kMaxMoved;
  if (!IsMovable(*op) || op->shape().IsScalar() || !IsOfSmallArrays(*op, budget)) return nullptr;
  return HoistAbove(
      op, i, [&](HloInstruction* operand) { return MakeTranspose(operand, i->attrs<TransposeAttrs>().dimensions); });
}

// transpose(broadcast(x)): the dimensions of x in the order of the result.
Result TransposeSmallArray(HloInstruction* i) {
  HloInstruction* broadcast = i->operand(0);
  if (!RepeatsSmallArray(*broadcast)) return nullptr;
  const std::vector<int64_t>& permutation = i->attrs<TransposeAttrs>().dimensions;
  const std::vector<int64_t>& dimensions = broadcast->attrs<BroadcastAttrs>().dimensions;
  std::vector<int64_t> order, positions;
  for (size_t d = 0; d < permutation.size(); ++d) {
    const auto it = absl::c_find(dimensions, permutation[d]);
    if (it == dimensions.end()) continue;
    order.push_back(it - dimensions.begin());
    positions.push_back(static_cast<int64_t>(d));
  }
  HILO_ASSIGN_OR_RETURN(HloInstruction * transposed, MakeTranspose(broadcast->operand(0), std::move(order)));
  return MakeBroadcast(transposed, i->shape(), std::move(positions));
}

Result SliceWhole(HloInstruction* i) {
  return If(ShapeUtil::SameDimensions(i->shape(), i->operand(0)->shape()) &&
                std::all_of(i->attrs<SliceAttrs>().slice.begin(), i->attrs<SliceAttrs>().slice.end(),
                            [](const SliceRange& range) { return range.stride == 1; }),
            i->operand(0));
}

Result MergeSlices(HloInstruction* i) {
  HloInstruction* inner = i->operand(0);
  if (inner->opcode() != HloOpcode::kSlice) return nullptr;
  std::vector<SliceRange> merged;
  for (size_t d = 0; d < i->attrs<SliceAttrs>().slice.size(); ++d) {
    const SliceRange& a = inner->attrs<SliceAttrs>().slice[d];
    const SliceRange& b = i->attrs<SliceAttrs>().slice[d];
    const int64_t size = i->shape().dimensions(d);
    if (size == 0) {  // its start may lie beyond the operand
      merged.push_back({0, 0, 1});
      continue;
    }
    const int64_t start = a.start + b.start * a.stride;
    const int64_t stride = size == 1 ? 1 : a.stride * b.stride;  // the one element may have any
    merged.push_back({start, start + (size - 1) * stride + 1, stride});
  }
  return MakeSlice(inner->operand(0), merged);
}

// Elements of a broadcast scalar, whichever they are.
Result ElementsOfScalarBroadcast(HloInstruction* i) {
  if (!IsScalarBroadcast(i->operand(0))) return nullptr;
  return MakeBroadcast(i->operand(0)->operand(0), i->shape(), {});
}

// slice(broadcast(x)): what is repeated is cut first.
Result SliceOfBroadcast(HloInstruction* i) {
  const HloInstruction* broadcast = i->operand(0);
  if (broadcast->opcode() != HloOpcode::kBroadcast) return nullptr;
  const std::vector<int64_t>& dimensions = broadcast->attrs<BroadcastAttrs>().dimensions;
  std::vector<SliceRange> ranges;
  for (const int64_t d : dimensions) ranges.push_back(i->attrs<SliceAttrs>().slice[d]);
  auto part = MakeSlice(broadcast->operand(0), std::move(ranges));
  if (!part.ok()) return part.status();
  return MakeBroadcast(*part, i->shape(), dimensions);
}

// The operand of a concatenation in which all of [range.start, range.limit) lies, and where it begins; null: none.
struct ConcatenatedPart {
  HloInstruction* operand = nullptr;
  int64_t begin = 0;
};
ConcatenatedPart PartWith(const HloInstruction& whole, const SliceRange& range) {
  const int64_t dimension = whole.attrs<ConcatenateAttrs>().dimensions[0];
  int64_t begin = 0;
  for (HloInstruction* part : whole.operands()) {
    const int64_t end = begin + part->shape().dimensions(dimension);
    if (range.start >= begin && range.limit <= end) return {part, begin};
    begin = end;
  }
  return {};
}

// Returns `ranges` of a concatenation in its operand `part`.
std::vector<SliceRange> RangesInPart(const HloInstruction& whole, const ConcatenatedPart& part,
                                     std::vector<SliceRange> ranges) {
  SliceRange& range = ranges[whole.attrs<ConcatenateAttrs>().dimensions[0]];
  range.start -= part.begin;
  range.limit -= part.begin;
  return ranges;
}

// True if `ranges` of the value lie in one operand of each concatenation, of at most `depth` that are nested.
bool IsOfNoSeam(const HloInstruction& value, const std::vector<SliceRange>& ranges, int depth) {
  if (value.opcode() != HloOpcode::kConcatenate) return true;
  const ConcatenatedPart part = PartWith(value, ranges[value.attrs<ConcatenateAttrs>().dimensions[0]]);
  return depth > 0 && part.operand != nullptr &&
         IsOfNoSeam(*part.operand, RangesInPart(value, part, ranges), depth - 1);
}

// True if one of the first users of the concatenation reads more than its operand `part`.
bool IsReadBeyond(const HloInstruction& whole, const HloInstruction* part) {
  constexpr size_t kMaxUsers = 64;
  const int64_t dimension = whole.attrs<ConcatenateAttrs>().dimensions[0];
  const absl::Span<HloInstruction* const> users = whole.users();
  return whole.IsRoot() || absl::c_any_of(users.first(std::min(users.size(), kMaxUsers)), [&](const auto* user) {
           return user->opcode() != HloOpcode::kSlice ||
                  PartWith(whole, user->template attrs<SliceAttrs>().slice[dimension]).operand != part;
         });
}

// The part of a concatenation that lies in one operand. If that is a concatenation of which the part needs several
// operands, as neighbors of the elements of a padded array do, all read the larger one where it is computed anyway.
Result SliceOfConcatenate(HloInstruction* i) {
  constexpr int kDepth = 8;
  HloInstruction* whole = i->operand(0);
  if (whole->opcode() != HloOpcode::kConcatenate) return nullptr;
  const std::vector<SliceRange>& ranges = i->attrs<SliceAttrs>().slice;
  const ConcatenatedPart part = PartWith(*whole, ranges[whole->attrs<ConcatenateAttrs>().dimensions[0]]);
  if (part.operand == nullptr) return nullptr;
  if (!IsOfNoSeam(*whole, ranges, kDepth) && IsReadBeyond(*whole, part.operand)) return nullptr;
  return MakeSlice(part.operand, RangesInPart(*whole, part, ranges));
}

// True if `ranges` of the value, computed element by element in a few steps, need one operand of a concatenation.
bool IsOfOnePart(const HloInstruction& value, const std::vector<SliceRange>& ranges, int steps) {
  if (value.opcode() == HloOpcode::kConcatenate)
    return PartWith(value, ranges[value.attrs<ConcatenateAttrs>().dimensions[0]]).operand != nullptr;
  if (steps == 0 || !IsElementwise(value.opcode())) return false;
  return std::any_of(value.operands().begin(), value.operands().end(), [&](const HloInstruction* operand) {
    return ShapeUtil::SameDimensions(operand->shape(), value.shape()) && IsOfOnePart(*operand, ranges, steps - 1);
  });
}

// The columns of a table that was computed as a whole from separate columns, as steps of an integrator are: as they are
// again separate, all steps can be one loop.
Result HoistSlice(HloInstruction* i) {
  constexpr int kSteps = 4;
  HloInstruction* op = i->operand(0);
  if (!IsElementwise(op->opcode()) || op->opcode() == HloOpcode::kMap || op->IsRoot()) return nullptr;
  int64_t elements = 0;  // that all users need
  for (const HloInstruction* user : op->users()) {
    if (user->opcode() != HloOpcode::kSlice) return nullptr;
    elements += ShapeUtil::ElementsIn(user->shape());
  }
  const std::vector<SliceRange>& ranges = i->attrs<SliceAttrs>().slice;
  if (elements > ShapeUtil::ElementsIn(op->shape()) || !IsOfOnePart(*op, ranges, kSteps)) return nullptr;
  std::vector<HloInstruction*> operands;
  for (HloInstruction* operand : op->operands()) {
    if (!operand->shape().IsScalar() || op->shape().IsScalar()) {
      auto slice = MakeSlice(operand, ranges);
      if (!slice.ok()) return slice.status();
      operand = *slice;
    }
    operands.push_back(operand);
  }
  HloInstruction* computed = i->parent()->AddInstruction(op->CloneWithNewOperands(i->shape(), operands));
  ShapeUtil::SetToDefaultLayout(computed->mutable_shape());
  return computed;
}

Result PadNothing(HloInstruction* i) {
  for (const auto& dimension : i->attrs<PadAttrs>().padding.dimensions) {
    if (!(dimension == PaddingConfig::Dimension())) return nullptr;
  }
  return i->operand(0);
}

Result ReverseOnes(HloInstruction* i) {
  for (int64_t dimension : i->attrs<ReverseAttrs>().dimensions) {
    if (i->shape().dimensions(dimension) > 1) return nullptr;
  }
  return i->operand(0);
}

// dot(transpose(x), y): the dot reads x in place, if x has one free dimension at most, whose order cannot change.
Result DotOfTranspose(HloInstruction* i) {
  for (int64_t side = 0; side < 2; ++side) {
    HloInstruction* transpose = i->operand(side);
    if (transpose->opcode() != HloOpcode::kTranspose) continue;
    auto attributes = std::make_unique<DotAttrs>(i->attrs<DotAttrs>());
    std::vector<int64_t>& batch = side == 0 ? attributes->lhs_batch_dims : attributes->rhs_batch_dims;
    std::vector<int64_t>& contracting = side == 0 ? attributes->lhs_contracting_dims : attributes->rhs_contracting_dims;
    if (transpose->shape().rank() - static_cast<int64_t>(batch.size() + contracting.size()) > 1) continue;
    const std::vector<int64_t>& permutation = transpose->attrs<TransposeAttrs>().dimensions;
    for (int64_t& dimension : batch) dimension = permutation[dimension];
    for (int64_t& dimension : contracting) dimension = permutation[dimension];
    // Several contracting dimensions are one only if they are adjacent, and a product requires dense rows or columns
    // of its operands.
    if (std::find(batch.begin(), batch.end(), transpose->shape().rank() - 1) != batch.end()) continue;
    const auto follow = [](int64_t a, int64_t b) { return b != a + 1; };
    if (std::adjacent_find(contracting.begin(), contracting.end(), follow) != contracting.end()) continue;
    std::vector<HloInstruction*> operands = {i->operand(0), i->operand(1)};
    operands[side] = transpose->operand(0);
    return i->parent()->AddOp(HloOpcode::kDot, operands, std::move(attributes), {}, &i->shape());
  }
  return nullptr;
}

// The last dimension with more than one index; -1 if there is none.
int64_t MinorDimension(const Shape& shape) {
  int64_t minor = shape.rank() - 1;
  while (minor >= 0 && shape.dimensions(minor) == 1) --minor;
  return minor;
}

// transpose(dot(x, y)) where dot(y, x) has the dimensions in the order of the result, or at least its rows: the order
// of dimensions that is left to the transpose moves whole rows. Rows of a few elements do not fill vectors, and so
// remain columns.
Result TransposeOfDot(HloInstruction* i) {
  HloInstruction* dot = i->operand(0);
  if (dot->opcode() != HloOpcode::kDot || dot->user_count() > 1) return nullptr;
  const std::vector<int64_t>& permutation = i->attrs<TransposeAttrs>().dimensions;
  auto attributes = std::make_unique<DotAttrs>(dot->attrs<DotAttrs>());
  const int64_t rank = dot->shape().rank(), batch = static_cast<int64_t>(attributes->lhs_batch_dims.size());
  const int64_t lhs_end =
      dot->operand(0)->shape().rank() - static_cast<int64_t>(attributes->lhs_contracting_dims.size());
  // The positions in dot(y, x) of the dimensions of the result.
  std::vector<int64_t> exchanged;
  for (int64_t d : permutation) {
    exchanged.push_back(d < batch ? d : d < lhs_end ? d + rank - lhs_end : d - lhs_end + batch);
  }
  std::vector<int64_t> dimensions(rank);
  for (int64_t d = 0; d < rank; ++d) dimensions[exchanged[d]] = i->shape().dimensions(d);
  const Shape shape = ShapeUtil::MakeShape(dot->shape().element_type(), dimensions);
  const bool in_order = std::is_sorted(exchanged.begin(), exchanged.end());
  if (!in_order) {
    const int64_t minor = MinorDimension(i->shape()), dot_minor = MinorDimension(dot->shape());
    if (minor < 0 || permutation[minor] == dot_minor || exchanged[minor] != MinorDimension(shape)) return nullptr;
    if (i->shape().dimensions(minor) < std::min(kVectorElements, dot->shape().dimensions(dot_minor))) return nullptr;
  }
  std::swap(attributes->lhs_batch_dims, attributes->rhs_batch_dims);
  std::swap(attributes->lhs_contracting_dims, attributes->rhs_contracting_dims);
  std::reverse(attributes->operand_precision.begin(), attributes->operand_precision.end());
  HILO_ASSIGN_OR_RETURN(HloInstruction * product,
                        i->parent()->AddOp(HloOpcode::kDot, {dot->operand(1), dot->operand(0)}, std::move(attributes),
                                           {}, in_order ? &i->shape() : &shape));
  return in_order ? product : MakeTranspose(product, exchanged);
}

Result ConcatenateWithoutEmpty(HloInstruction* i) {
  std::vector<HloInstruction*> parts;
  for (HloInstruction* part : i->operands()) {
    if (!ShapeUtil::IsZeroElementArray(part->shape())) parts.push_back(part);
  }
  if (parts.empty() || static_cast<int64_t>(parts.size()) == i->operand_count()) return nullptr;
  return i->parent()->AddOp(HloOpcode::kConcatenate, parts, i->attributes()->Clone());
}

Result ReverseTwice(HloInstruction* i) {
  HloInstruction* inner = i->operand(0);
  if (inner->opcode() != HloOpcode::kReverse) return nullptr;
  std::vector<int64_t> outer_dimensions = i->attrs<ReverseAttrs>().dimensions,
                       inner_dimensions = inner->attrs<ReverseAttrs>().dimensions;
  std::sort(outer_dimensions.begin(), outer_dimensions.end());
  std::sort(inner_dimensions.begin(), inner_dimensions.end());
  return If(outer_dimensions == inner_dimensions, inner->operand(0));
}

// reverse(transpose(x)) that moves the rows: tiles are transposed where the transpose is the result, or behind what is
// element-wise (TransposedReads).
Result ReverseBeforeTranspose(HloInstruction* i) {
  HloInstruction* transpose = i->operand(0);
  if (transpose->opcode() != HloOpcode::kTranspose || transpose->user_count() > 1) return nullptr;
  const std::vector<int64_t>& permutation = transpose->attrs<TransposeAttrs>().dimensions;
  const int64_t minor = static_cast<int64_t>(permutation.size()) - 1;
  if (minor < 0 || permutation[minor] == minor) return nullptr;
  auto attributes = std::make_unique<ReverseAttrs>(i->attrs<ReverseAttrs>());
  for (int64_t& dimension : attributes->dimensions) dimension = permutation[dimension];
  HILO_ASSIGN_OR_RETURN(HloInstruction * reversed,
                        i->parent()->AddOp(HloOpcode::kReverse, {transpose->operand(0)}, std::move(attributes)));
  return MakeTranspose(reversed, permutation);
}

// A reduction of no element: its initial values.
Result ReduceNothing(HloInstruction* i) {
  if (!ShapeUtil::IsZeroElementArray(i->operand(0)->shape())) return nullptr;
  const int64_t arrays = i->operand_count() / 2;
  std::vector<HloInstruction*> results;
  for (int64_t k = 0; k < arrays; ++k) {
    const Shape& shape = i->shape().IsTuple() ? i->shape().tuple_shapes(k) : i->shape();
    HloInstruction* const init = i->operand(arrays + k);
    if (!ShapeUtil::SameElementType(init->shape(), shape)) return nullptr;
    HILO_ASSIGN_OR_RETURN(results.emplace_back(), MakeBroadcast(init, shape, {}));
  }
  if (!i->shape().IsTuple()) return results[0];
  return i->parent()->AddOp(HloOpcode::kTuple, results);
}

// A reduction of dimensions of size 1, or of none: one step from the initial value.
Result ReduceOneElement(HloInstruction* i) {
  if (i->operand_count() != 2 || i->called_computation()->num_parameters() != 2) return nullptr;
  HloInstruction* x = i->operand(0);
  const HloInstruction* step = i->called_computation()->root_instruction();
  if (ShapeUtil::ElementsIn(i->shape()) != ShapeUtil::ElementsIn(x->shape()) ||
      ShapeUtil::IsZeroElementArray(x->shape()))
    return nullptr;
  if (OpcodeInfo(step->opcode()).family != HloFamily::kBinary || !step->operand(0)->IsParameter() ||
      !step->operand(1)->IsParameter() || step->operand(0) == step->operand(1) ||
      !ShapeUtil::SameElementType(step->shape(), x->shape()) || !ShapeUtil::SameElementType(i->shape(), x->shape()) ||
      !ShapeUtil::SameElementType(i->operand(1)->shape(), x->shape())) {
    return nullptr;
  }
  auto first = MakeBroadcast(i->operand(1), i->shape(), {});
  if (!first.ok()) return first.status();
  auto element = MakeReshape(x, i->shape());
  if (!element.ok()) return element.status();
  const bool swapped = step->operand(0)->parameter_number() == 1;
  return MakeBinary(step->opcode(), swapped ? *element : *first, swapped ? *first : *element);
}

// Operands of a concatenation that grows by one with each sum; the shorter ones are dead, but there until dce.
constexpr int64_t kMaxParts = 1024;

// A sum of arrays that are next to each other, with zeros around them, as the gradient of an array whose parts programs
// take one by one. Not along the rows, which would be cut.
Result AddOfParts(HloInstruction* i) {
  HloInstruction *first = i->operand(0), *second = i->operand(1);
  for (const HloInstruction* part : {first, second}) {
    if (part->opcode() != HloOpcode::kPad || part->user_count() != 1 || !IsAll(part->operand(1), 0)) return nullptr;
  }
  const int64_t minor = MinorDimension(i->shape());
  const auto padding_of = [](const HloInstruction* pad, int64_t d) {
    return pad->attrs<PadAttrs>().padding.dimensions[d];
  };
  std::optional<int64_t> along;
  for (int64_t d = 0; d < i->shape().rank(); ++d) {
    const auto x = padding_of(first, d), y = padding_of(second, d);
    if (x.edge_padding_low == y.edge_padding_low && x.edge_padding_high == y.edge_padding_high &&
        x.interior_padding == y.interior_padding)
      continue;
    const bool fits = !along.has_value() && d != minor && x.interior_padding == 0 && y.interior_padding == 0 &&
                      std::min({x.edge_padding_low, x.edge_padding_high, y.edge_padding_low, y.edge_padding_high}) >= 0;
    if (!fits) return nullptr;
    along = d;
  }
  if (!along.has_value()) return nullptr;
  if (padding_of(first, *along).edge_padding_low > padding_of(second, *along).edge_padding_low)
    std::swap(first, second);
  const int64_t size = first->operand(0)->shape().dimensions(*along),
                begin = padding_of(first, *along).edge_padding_low;
  if (begin + size != padding_of(second, *along).edge_padding_low) return nullptr;
  std::vector<HloInstruction*> parts;
  for (HloInstruction* pad : {first, second}) {
    HloInstruction* part = pad->operand(0);
    const bool has_parts = part->opcode() == HloOpcode::kConcatenate && part->user_count() == 1 &&
                           part->attrs<ConcatenateAttrs>().dimensions[0] == *along;
    if (has_parts) {
      parts.insert(parts.end(), part->operands().begin(), part->operands().end());
    } else {
      parts.push_back(part);
    }
  }
  if (std::ssize(parts) > kMaxParts) return nullptr;
  auto dimensions = std::make_unique<ConcatenateAttrs>();
  dimensions->dimensions = {*along};
  HILO_ASSIGN_OR_RETURN(HloInstruction * together,
                        i->parent()->AddOp(HloOpcode::kConcatenate, parts, std::move(dimensions)));
  auto padding = std::make_unique<PadAttrs>(first->attrs<PadAttrs>());
  padding->padding.dimensions[*along].edge_padding_high = padding_of(second, *along).edge_padding_high;
  return i->parent()->AddOp(HloOpcode::kPad, {together, first->operand(1)}, std::move(padding), {}, &i->shape());
}

const Rule kMovementRules[] = {
    {HloOpcode::kCopy, "copy(x) => x", [](HloInstruction* i) -> Result { return i->operand(0); }},
    {HloOpcode::kReshape, "reshape(x) => x, of the same shape",
     [](HloInstruction* i) -> Result {
       return If(ShapeUtil::Compatible(i->shape(), i->operand(0)->shape()), i->operand(0));
     }},
    {HloOpcode::kReshape, "reshape(reshape(x)) => reshape(x)",
     [](HloInstruction* i) -> Result {
       if (i->operand(0)->opcode() != HloOpcode::kReshape) return nullptr;
       return MakeReshape(i->operand(0)->operand(0), i->shape());
     }},
    {HloOpcode::kReshape, "reshape(broadcast(scalar)) => broadcast(scalar)", ReshapeOfBroadcast},
    {HloOpcode::kReshape, "reshape(op(x, y)) => op(reshape(x), reshape(y)), of dimensions of 1", HoistReshape},
    {HloOpcode::kTranspose, "transpose(x) => x, in the same order",
     [](HloInstruction* i) -> Result { return If(IsIdentity(i->attrs<TransposeAttrs>().dimensions), i->operand(0)); }},
    {HloOpcode::kTranspose, "transpose(x) => reshape(x), moving dimensions of size 1",
     [](HloInstruction* i) -> Result { return MovesOnlyOnes(i) ? MakeReshape(i->operand(0), i->shape()) : nullptr; }},
    {HloOpcode::kTranspose, "transpose(transpose(x)) => transpose(x)", MergeTransposes},
    {HloOpcode::kTranspose, "transpose(broadcast(scalar)) => broadcast(scalar)", ReshapeOfBroadcast},
    {HloOpcode::kTranspose, "transpose(broadcast(x)) => broadcast(transpose(x)), of a small array",
     TransposeSmallArray},
    {HloOpcode::kTranspose, "transpose(op(x, y)) => op(transpose(x), transpose(y)), of small arrays", HoistTranspose},
    {HloOpcode::kBroadcast, "broadcast(broadcast(x)) => broadcast(x)", MergeBroadcasts},
    {HloOpcode::kBroadcast, "broadcast(x) => reshape(x), adding dimensions of size 1", BroadcastToReshape},
    {HloOpcode::kSlice, "slice(x) => x, all of it", SliceWhole},
    {HloOpcode::kSlice, "slice(slice(x)) => slice(x)", MergeSlices},
    {HloOpcode::kSlice, "slice(broadcast(scalar)) => broadcast(scalar)", ElementsOfScalarBroadcast},
    {HloOpcode::kSlice, "slice(broadcast(x)) => broadcast(slice(x))", SliceOfBroadcast},
    {HloOpcode::kDynamicSlice, "dynamic-slice(broadcast(scalar), i) => broadcast(scalar)", ElementsOfScalarBroadcast},
    {HloOpcode::kGather, "gather(broadcast(scalar), i) => broadcast(scalar)", ElementsOfScalarBroadcast},
    {HloOpcode::kReverse, "reverse(broadcast(scalar)) => broadcast(scalar)", ElementsOfScalarBroadcast},
    {HloOpcode::kSlice, "slice(concatenate(x, y)) => slice(x)", SliceOfConcatenate},
    {HloOpcode::kSlice, "slice(op(x, y)) => op(slice(x), slice(y)), of parts of concatenations", HoistSlice},
    {HloOpcode::kPad, "pad(x) => x, by nothing", PadNothing},
    {HloOpcode::kAdd, "add(pad(x, 0), pad(y, 0)) => pad(concatenate(x, y), 0), of adjacent parts", AddOfParts,
     /*exact=*/false},
    {HloOpcode::kConcatenate, "concatenate(x) => x",
     [](HloInstruction* i) -> Result { return If(i->operand_count() == 1, i->operand(0)); }},
    {HloOpcode::kConcatenate, "concatenate(x, empty) => concatenate(x)", ConcatenateWithoutEmpty},
    {HloOpcode::kReverse, "reverse(reverse(x)) => x", ReverseTwice},
    {HloOpcode::kReverse, "reverse(transpose(x)) => transpose(reverse(x)), of other rows", ReverseBeforeTranspose},
    {HloOpcode::kReduce, "reduce(empty, init) => broadcast(init)", ReduceNothing},
    {HloOpcode::kReduce, "reduce(x, init) => op(init, x), of dimensions of size 1", ReduceOneElement},
    {HloOpcode::kReverse, "reverse(x) => x, of dimensions of size 1", ReverseOnes},
    {HloOpcode::kDot, "dot(transpose(x), y) => dot(x, y)", DotOfTranspose},
    {HloOpcode::kTranspose, "transpose(dot(x, y)) => dot(y, x)", TransposeOfDot},
};

}  // namespace

absl::Span<const Rule> MovementRules() { return kMovementRules; }

}  // namespace hilo::simplify
