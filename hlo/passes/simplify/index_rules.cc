// Slices, updates, gathers and scatters at indices that the program computes.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/affine_index.h"
#include "hlo/passes/simplify/rules.h"

namespace hilo::simplify {
namespace {

using Result = absl::StatusOr<HloInstruction*>;

Result DynamicSliceWhole(HloInstruction* i) {
  return If(ShapeUtil::SameDimensions(i->shape(), i->operand(0)->shape()), i->operand(0));
}

// dynamic-slice with constant starts.
Result DynamicSliceToSlice(HloInstruction* i) {
  const Shape& operand = i->operand(0)->shape();
  std::vector<SliceRange> ranges;
  if (i->operand_count() != operand.rank() + 1) return nullptr;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const HloInstruction* start = i->operand(d + 1);
    if (!start->IsConstant() || !start->shape().IsScalar()) return nullptr;
    const int64_t size = i->shape().dimensions(d);
    const int64_t at = std::clamp<int64_t>(start->literal().GetAsInt64(0), 0, operand.dimensions(d) - size);
    ranges.push_back({at, at + size, 1});
  }
  return MakeSlice(i->operand(0), ranges);
}

// gather(op(x)), as of the logits of labels, which were converted for all of a softmax: the elements that are gathered
// are converted, and the array need not be in memory as what all of it becomes.
Result GatherBeforeUnary(HloInstruction* i) {
  HloInstruction* op = i->operand(0);
  if (!IsElementwise(op->opcode()) || op->opcode() == HloOpcode::kMap || op->operand_count() != 1 ||
      ShapeUtil::ElementsIn(i->shape()) >= ShapeUtil::ElementsIn(op->shape()))
    return nullptr;
  auto gathered = i->parent()->AddOp(HloOpcode::kGather, {op->operand(0), i->operand(1)}, i->attributes()->Clone());
  if (!gathered.ok()) return gathered.status();
  HloInstruction* result = i->parent()->AddInstruction(op->CloneWithNewOperands(i->shape(), {*gathered}));
  ShapeUtil::SetToDefaultLayout(result->mutable_shape());
  return result;
}

Result UpdateWhole(HloInstruction* i) {
  return If(ShapeUtil::Compatible(i->shape(), i->operand(1)->shape()), i->operand(1));
}

// What was just written is read again.
Result DynamicSliceOfUpdate(HloInstruction* i) {
  HloInstruction* update = i->operand(0);
  if (update->opcode() != HloOpcode::kDynamicUpdateSlice || i->operand_count() + 1 != update->operand_count())
    return nullptr;
  for (int64_t d = 1; d < i->operand_count(); ++d) {
    if (i->operand(d) != update->operand(d + 1)) return nullptr;
  }
  return If(ShapeUtil::SameDimensions(i->shape(), update->operand(1)->shape()), update->operand(1));
}

// Returns the first index of the one window that `indices` state, in every dimension of `array`: scalars.
absl::StatusOr<std::vector<HloInstruction*>> StartsOf(HloInstruction* array, HloInstruction* indices,
                                                      const std::vector<int64_t>& index_map) {
  const PrimitiveType type = indices->shape().element_type();
  HILO_ASSIGN_OR_RETURN(HloInstruction * flat,
                        MakeReshape(indices, ShapeUtil::MakeShape(type, {static_cast<int64_t>(index_map.size())})));
  std::vector<HloInstruction*> starts;
  HloInstruction* zero = nullptr;
  for (int64_t d = 0; d < array->shape().rank(); ++d) {
    const auto at = std::find(index_map.begin(), index_map.end(), d);
    if (at == index_map.end()) {
      if (zero == nullptr) zero = array->parent()->AddConstant(LiteralUtil::Zero(type));
      starts.push_back(zero);
      continue;
    }
    const int64_t k = at - index_map.begin();
    HILO_ASSIGN_OR_RETURN(HloInstruction * element, MakeSlice(flat, {{k, k + 1, 1}}));
    HILO_ASSIGN_OR_RETURN(starts.emplace_back(), MakeReshape(element, ShapeUtil::MakeShape(type, {})));
  }
  return starts;
}

Result MakeDynamicSlice(HloInstruction* array, std::vector<HloInstruction*> starts, std::vector<int64_t> sizes) {
  auto attributes = std::make_unique<DynamicSliceAttrs>();
  attributes->dynamic_slice_sizes = std::move(sizes);
  starts.insert(starts.begin(), array);
  return array->parent()->AddOp(HloOpcode::kDynamicSlice, starts, std::move(attributes));
}

// A gather of one slice. Both clamp the start so that the slice is within the array.
Result GatherToDynamicSlice(HloInstruction* i) {
  HloInstruction* array = i->operand(0);
  HloInstruction* indices = i->operand(1);
  const GatherAttrs& gather = i->attrs<GatherAttrs>();
  const int64_t count = static_cast<int64_t>(gather.start_index_map.size());
  if (!gather.operand_batching_dims.empty() || count == 0 || ShapeUtil::ElementsIn(indices->shape()) != count)
    return nullptr;
  // A collapsed dimension of the slice may be empty where the result is not.
  if (ShapeUtil::IsZeroElementArray(i->shape()) || absl::c_linear_search(gather.slice_sizes, 0)) return nullptr;
  HILO_ASSIGN_OR_RETURN(std::vector<HloInstruction*> starts, StartsOf(array, indices, gather.start_index_map));
  HILO_ASSIGN_OR_RETURN(HloInstruction * slice, MakeDynamicSlice(array, std::move(starts), gather.slice_sizes));
  return MakeReshape(slice, i->shape());
}

// Returns combine(old, update), if the computation is an operation on its parameters, or the update itself.
Result Combined(const HloComputation& combine, HloInstruction* old, HloInstruction* update) {
  const HloInstruction* root = combine.root_instruction();
  if (root == combine.parameter_instruction(1)) return update;
  if (OpcodeInfo(root->opcode()).family != HloFamily::kBinary || !root->operand(0)->IsParameter() ||
      !root->operand(1)->IsParameter() || !ShapeUtil::SameElementType(root->shape(), old->shape()))
    return nullptr;
  const auto value = [&](int64_t side) { return root->operand(side)->parameter_number() == 0 ? old : update; };
  return MakeBinary(root->opcode(), value(0), value(1));
}

// A scatter of one window, which a dynamic-update-slice writes in place. Scatters leave out windows that are not within
// the array: the window's elements stay as they are then.
Result ScatterToDynamicUpdateSlice(HloInstruction* i) {
  const ScatterAttrs& scatter = i->attrs<ScatterAttrs>();
  const int64_t count = static_cast<int64_t>(scatter.scatter_dims_to_operand_dims.size());
  if (i->operand_count() != 3 || !scatter.input_batching_dims.empty() || count == 0) return nullptr;
  HloInstruction *array = i->operand(0), *indices = i->operand(1), *updates = i->operand(2);
  if (ShapeUtil::ElementsIn(indices->shape()) != count || ShapeUtil::IsZeroElementArray(updates->shape()) ||
      !ShapeUtil::SameElementType(array->shape(), updates->shape()))
    return nullptr;
  std::vector<int64_t> sizes;
  auto window_dim = scatter.update_window_dims.begin();
  for (int64_t d = 0; d < array->shape().rank(); ++d) {
    const auto& inserted = scatter.inserted_window_dims;
    const bool is_inserted = std::find(inserted.begin(), inserted.end(), d) != inserted.end();
    sizes.push_back(is_inserted ? 1 : updates->shape().dimensions(*window_dim++));
  }
  HILO_ASSIGN_OR_RETURN(std::vector<HloInstruction*> starts,
                        StartsOf(array, indices, scatter.scatter_dims_to_operand_dims));
  HILO_ASSIGN_OR_RETURN(HloInstruction * old, MakeDynamicSlice(array, starts, sizes));
  HILO_ASSIGN_OR_RETURN(HloInstruction * update, MakeReshape(updates, old->shape()));
  HILO_ASSIGN_OR_RETURN(update, Combined(*i->called_computation(), old, update));
  if (update == nullptr) return nullptr;
  HloComputation* computation = i->parent();
  const Shape index = ShapeUtil::MakeShape(S64, {});
  HloInstruction* is_inside = nullptr;
  for (const int64_t d : scatter.scatter_dims_to_operand_dims) {
    HILO_ASSIGN_OR_RETURN(HloInstruction * start,
                          computation->AddOp(HloOpcode::kConvert, {starts[d]}, nullptr, {}, &index));
    HloInstruction* first = computation->AddConstant(LiteralUtil::CreateR0<int64_t>(0));
    HloInstruction* last =
        computation->AddConstant(LiteralUtil::CreateR0<int64_t>(array->shape().dimensions(d) - sizes[d]));
    HILO_ASSIGN_OR_RETURN(HloInstruction * nearest, computation->AddOp(HloOpcode::kClamp, {first, start, last}));
    HILO_ASSIGN_OR_RETURN(HloInstruction * is_here,
                          computation->AddOp(HloOpcode::kCompare, {start, nearest}, std::make_unique<CompareAttrs>()));
    if (is_inside == nullptr) {
      is_inside = is_here;
    } else {
      HILO_ASSIGN_OR_RETURN(is_inside, MakeBinary(HloOpcode::kAnd, is_inside, is_here));
    }
  }
  HILO_ASSIGN_OR_RETURN(HloInstruction * everywhere,
                        MakeBroadcast(is_inside, ShapeUtil::MakeShape(PRED, old->shape().dimensions()), {}));
  HILO_ASSIGN_OR_RETURN(update, computation->AddOp(HloOpcode::kSelect, {everywhere, update, old}));
  std::vector<HloInstruction*> operands = {array, update};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return computation->AddOp(HloOpcode::kDynamicUpdateSlice, operands);
}

// A scatter of one element into each row of equal elements, as in the gradient of a lookup in rows: each element of the
// result compares its position with the index of its row. Unlike a scatter this is fused with what reads it.
Result ScatterIntoScalar(HloInstruction* i) {
  const ScatterAttrs& scatter = i->attrs<ScatterAttrs>();
  if (i->operand_count() != 3 || scatter.scatter_dims_to_operand_dims.size() != 1 ||
      scatter.inserted_window_dims.size() != 1 || !scatter.update_window_dims.empty() ||
      scatter.input_batching_dims.empty() || !IsScalarBroadcast(i->operand(0)))
    return nullptr;
  HloInstruction *array = i->operand(0), *indices = i->operand(1), *updates = i->operand(2);
  const Shape& shape = array->shape();
  const PrimitiveType type = indices->shape().element_type();
  const int64_t dimension = scatter.scatter_dims_to_operand_dims[0];
  if ((type != S32 && type != S64) || shape.dimensions(dimension) > INT32_MAX ||
      ShapeUtil::IsZeroElementArray(updates->shape()) || !ShapeUtil::SameElementType(shape, updates->shape()))
    return nullptr;
  // Each dimension of the updates is one of rows, in order, or has one index.
  std::vector<int64_t> rows, sizes;
  for (int64_t u = 0, of_indices = 0; u < updates->shape().rank(); ++u, ++of_indices) {
    if (of_indices == scatter.index_vector_dim) ++of_indices;
    const auto& batching = scatter.scatter_indices_batching_dims;
    const auto found = std::find(batching.begin(), batching.end(), of_indices);
    const int64_t size = updates->shape().dimensions(u);
    if (found == batching.end()) {
      if (size != 1) return nullptr;
      continue;
    }
    const int64_t row = scatter.input_batching_dims[found - batching.begin()];
    if (!rows.empty() && row < rows.back()) return nullptr;
    rows.push_back(row);
    sizes.push_back(size);
  }
  HILO_ASSIGN_OR_RETURN(HloInstruction * update,
                        MakeReshape(updates, ShapeUtil::MakeShape(shape.element_type(), sizes)));
  HILO_ASSIGN_OR_RETURN(HloInstruction * old, MakeBroadcast(array->operand(0), update->shape(), {}));
  HILO_ASSIGN_OR_RETURN(update, Combined(*i->called_computation(), old, update));
  if (update == nullptr) return nullptr;
  HILO_ASSIGN_OR_RETURN(update, MakeBroadcast(update, shape, rows));
  const Shape positions = ShapeUtil::MakeShape(type, shape.dimensions());
  HILO_ASSIGN_OR_RETURN(HloInstruction * index, MakeReshape(indices, ShapeUtil::MakeShape(type, sizes)));
  HILO_ASSIGN_OR_RETURN(index, MakeBroadcast(index, positions, rows));
  auto along = std::make_unique<IotaAttrs>();
  along->iota_dimension = dimension;
  HILO_ASSIGN_OR_RETURN(HloInstruction * position,
                        i->parent()->AddOp(HloOpcode::kIota, {}, std::move(along), {}, &positions));
  HILO_ASSIGN_OR_RETURN(HloInstruction * is_here,
                        i->parent()->AddOp(HloOpcode::kCompare, {position, index}, std::make_unique<CompareAttrs>()));
  return i->parent()->AddOp(HloOpcode::kSelect, {is_here, update, array});
}

// An update that is made or not, as in dynamic programs: the old elements are written back rather than all others read
// and written.
Result SelectOfUpdate(HloInstruction* i) {
  HloInstruction* pred = i->operand(0);
  if (pred->opcode() == HloOpcode::kBroadcast) pred = pred->operand(0);
  if (pred->shape().rank() != 0) return nullptr;
  const bool updates_if_true = i->operand(1)->opcode() == HloOpcode::kDynamicUpdateSlice;
  HloInstruction *update = i->operand(updates_if_true ? 1 : 2), *array = i->operand(updates_if_true ? 2 : 1);
  if (update->opcode() != HloOpcode::kDynamicUpdateSlice || update->operand(0) != array || update->users().size() != 1)
    return nullptr;
  HloInstruction* made = update->operand(1);
  const std::vector<HloInstruction*> starts(update->operands().begin() + 2, update->operands().end());
  const absl::Span<const int64_t> sizes = made->shape().dimensions();
  HILO_ASSIGN_OR_RETURN(HloInstruction * old, MakeDynamicSlice(array, starts, {sizes.begin(), sizes.end()}));
  HILO_ASSIGN_OR_RETURN(HloInstruction * is_true,
                        MakeBroadcast(pred, ShapeUtil::MakeShape(PRED, made->shape().dimensions()), {}));
  HILO_ASSIGN_OR_RETURN(
      HloInstruction * elements,
      i->parent()->AddOp(HloOpcode::kSelect, {is_true, updates_if_true ? made : old, updates_if_true ? old : made}));
  std::vector<HloInstruction*> operands = {array, elements};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return i->parent()->AddOp(HloOpcode::kDynamicUpdateSlice, operands);
}

// The gradient of an element that a loop reads at a computed index: an array of zeros but for one update is added to
// the sum of all. The other elements stay as they are (-0, which the sum makes 0, stays -0), so that an iteration costs
// what its update costs instead of a pass over the array.
Result AddOfUpdatedZeros(HloInstruction* i) {
  const auto is_updated_zeros = [](const HloInstruction* x) {
    return x->opcode() == HloOpcode::kDynamicUpdateSlice && x->users().size() == 1 && IsAll(x->operand(0), 0);
  };
  const int64_t side = is_updated_zeros(i->operand(1)) ? 1 : 0;
  const HloInstruction* update = i->operand(side);
  HloInstruction* array = i->operand(1 - side);
  if (!is_updated_zeros(update) || array == update) return nullptr;
  HloInstruction* added = update->operand(1);
  const std::vector<HloInstruction*> starts(update->operands().begin() + 2, update->operands().end());
  const absl::Span<const int64_t> sizes = added->shape().dimensions();
  HILO_ASSIGN_OR_RETURN(HloInstruction * old, MakeDynamicSlice(array, starts, {sizes.begin(), sizes.end()}));
  HILO_ASSIGN_OR_RETURN(HloInstruction * sum, MakeBinary(HloOpcode::kAdd, old, added));
  std::vector<HloInstruction*> operands = {array, sum};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return i->parent()->AddOp(HloOpcode::kDynamicUpdateSlice, operands);
}

// Few columns at most, which are strided loads of a loop over rows.
constexpr int64_t kMaxGatheredColumns = 8;

// Of columns that are known: x[:, [3, 1, 7]].
Result GatherOfColumns(HloInstruction* i) {
  const GatherAttrs& attrs = i->attrs<GatherAttrs>();
  HloInstruction* x = i->operand(0);
  const HloInstruction* indices = i->operand(1);
  const int64_t last = x->shape().rank() - 1;
  if (!indices->IsConstant() || last < 1 || attrs.start_index_map != std::vector<int64_t>{last} ||
      attrs.collapsed_slice_dims != std::vector<int64_t>{last} || !attrs.operand_batching_dims.empty() ||
      static_cast<int64_t>(attrs.offset_dims.size()) != last || i->shape().rank() != last + 1)
    return nullptr;
  const int64_t count = ShapeUtil::ElementsIn(indices->shape()), size = x->shape().dimensions(last);
  if (count < 2 || count > kMaxGatheredColumns || i->shape().dimensions(last) != count || attrs.slice_sizes[last] == 0)
    return nullptr;
  std::vector<SliceRange> ranges;
  for (int64_t d = 0; d < last; ++d) {
    if (attrs.offset_dims[d] != d || attrs.slice_sizes[d] != x->shape().dimensions(d)) return nullptr;
    ranges.push_back({0, x->shape().dimensions(d), 1});
  }
  std::vector<HloInstruction*> columns;
  for (int64_t k = 0; k < count; ++k) {
    const int64_t column = std::clamp<int64_t>(indices->literal().GetAsInt64(k), 0, size - 1);
    ranges.resize(last);
    ranges.push_back({column, column + 1, 1});
    HILO_ASSIGN_OR_RETURN(columns.emplace_back(), MakeSlice(x, ranges));
  }
  auto dimension = std::make_unique<ConcatenateAttrs>();
  dimension->dimensions = {last};
  return i->parent()->AddOp(HloOpcode::kConcatenate, columns, std::move(dimension));
}

// Windows of one element along a dimension, as JAX makes them of an index in a function that is mapped over a batch:
// the dimensions of size 1 would be the last ones of a loop, whose rows have no lanes then.
Result GatherOfUnitWindows(HloInstruction* i) {
  const GatherAttrs& attrs = i->attrs<GatherAttrs>();
  auto collapsed = std::make_unique<GatherAttrs>(attrs);
  const auto contains = [](const std::vector<int64_t>& dims, int64_t d) {
    return std::find(dims.begin(), dims.end(), d) != dims.end();
  };
  std::vector<int64_t> kept, removed;  // of the result's dimensions
  auto offset = attrs.offset_dims.begin();
  for (int64_t d = 0; d < i->operand(0)->shape().rank(); ++d) {
    if (contains(attrs.collapsed_slice_dims, d) || contains(attrs.operand_batching_dims, d)) continue;
    if (attrs.slice_sizes[d] == 1) {
      collapsed->collapsed_slice_dims.push_back(d);
      removed.push_back(*offset++);
    } else {
      kept.push_back(*offset++);
    }
  }
  if (removed.empty()) return nullptr;
  std::sort(collapsed->collapsed_slice_dims.begin(), collapsed->collapsed_slice_dims.end());
  for (int64_t& dim : kept)
    dim -= std::count_if(removed.begin(), removed.end(), [&](int64_t other) { return other < dim; });
  collapsed->offset_dims = std::move(kept);
  HILO_ASSIGN_OR_RETURN(HloInstruction * gather,
                        i->parent()->AddOp(HloOpcode::kGather, i->operands(), std::move(collapsed)));
  return MakeReshape(gather, i->shape());
}

// Returns true if S32 has all numbers of `affine`, and the steps between them.
bool FitsS32(const AffineIndex& affine) {
  const auto fits = [](int64_t number) {
    return number >= std::numeric_limits<int32_t>::min() && number <= std::numeric_limits<int32_t>::max();
  };
  return fits(affine.range.first) && fits(affine.range.last) && absl::c_all_of(affine.coefficients, fits);
}

// Returns the numbers of `affine` as an array of S32, of the dimensions of `like`.
Result MakeAffineS32(HloInstruction* like, const AffineIndex& affine) {
  const Shape shape = ShapeUtil::ChangeElementType(like->shape(), S32);
  HILO_ASSIGN_OR_RETURN(
      HloInstruction * sum,
      MakeBroadcast(like->parent()->AddConstant(LiteralUtil::CreateR0<int32_t>(static_cast<int32_t>(affine.offset))),
                    shape, {}));
  bool is_zero = affine.offset == 0;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (affine.coefficients[d] == 0) continue;
    auto attributes = std::make_unique<IotaAttrs>();
    attributes->iota_dimension = d;
    HILO_ASSIGN_OR_RETURN(HloInstruction * term,
                          like->parent()->AddOp(HloOpcode::kIota, {}, std::move(attributes), {}, &shape));
    if (affine.coefficients[d] != 1) {
      HILO_ASSIGN_OR_RETURN(HloInstruction * factor, MakeUniform(term, static_cast<double>(affine.coefficients[d])));
      HILO_ASSIGN_OR_RETURN(term, MakeBinary(HloOpcode::kMultiply, term, factor));
    }
    if (!std::exchange(is_zero, false)) {
      HILO_ASSIGN_OR_RETURN(term, MakeBinary(HloOpcode::kAdd, sum, term));
    }
    sum = term;
  }
  return sum;
}

// Masks of triangles and bands: lanes compare twice as many numbers of half the size.
Result CompareOfIndices(HloInstruction* i) {
  if (i->operand(0)->shape().element_type() != S64 || i->shape().IsScalar()) return nullptr;
  const auto x = AffineIndexOf(*i->operand(0)), y = AffineIndexOf(*i->operand(1));
  if (!x.has_value() || !y.has_value() || !FitsS32(*x) || !FitsS32(*y)) return nullptr;
  HILO_ASSIGN_OR_RETURN(HloInstruction * left, MakeAffineS32(i->mutable_operand(0), *x));
  HILO_ASSIGN_OR_RETURN(HloInstruction * right, MakeAffineS32(i->mutable_operand(1), *y));
  return i->parent()->AddOp(HloOpcode::kCompare, {left, right},
                            std::make_unique<CompareAttrs>(i->attrs<CompareAttrs>()));
}

const Rule kIndexRules[] = {
    {HloOpcode::kDynamicSlice, "dynamic-slice(dynamic-update-slice(x, y, i), i) => y", DynamicSliceOfUpdate},
    {HloOpcode::kDynamicSlice, "dynamic-slice(x) => x, all of it", DynamicSliceWhole},
    {HloOpcode::kDynamicSlice, "dynamic-slice(x, constants) => slice(x)", DynamicSliceToSlice},
    {HloOpcode::kDynamicUpdateSlice, "dynamic-update-slice(x, y) => y, of the same shape", UpdateWhole},
    {HloOpcode::kDynamicUpdateSlice, "dynamic-update-slice(x, empty) => x",
     [](HloInstruction* i) -> Result {
       return If(ShapeUtil::IsZeroElementArray(i->operand(1)->shape()), i->operand(0));
     }},
    {HloOpcode::kCompare, "compare(x, y) => compare(x, y) of S32, of affine indices of S64 that fit", CompareOfIndices},
    {HloOpcode::kSelect,
     "select(p, dynamic-update-slice(x, y, i), x) => dynamic-update-slice(x, select(p, y, dynamic-slice(x, i)), i)",
     SelectOfUpdate},
    {HloOpcode::kAdd,
     "add(x, dynamic-update-slice(0, y, i)) => dynamic-update-slice(x, add(dynamic-slice(x, i), y), i)",
     AddOfUpdatedZeros, /*exact=*/false},
    {HloOpcode::kGather, "gather(x, constant columns) => concatenate(slice(x), slice(x) ...)", GatherOfColumns},
    {HloOpcode::kGather, "gather(op(x), i) => op(gather(x, i)), of fewer elements", GatherBeforeUnary},
    {HloOpcode::kGather, "gather(x, one index) => reshape(dynamic-slice(x))", GatherToDynamicSlice},
    {HloOpcode::kGather, "gather(x, windows of one element) => reshape(gather(x)), collapsed", GatherOfUnitWindows},
    {HloOpcode::kScatter, "scatter(x, no updates) => x",
     [](HloInstruction* i) -> Result {
       return If(i->operand_count() == 3 && ShapeUtil::IsZeroElementArray(i->operand(2)->shape()), i->operand(0));
     }},
    {HloOpcode::kScatter, "scatter(empty, y) => empty",
     [](HloInstruction* i) -> Result {
       return If(i->operand_count() == 3 && ShapeUtil::IsZeroElementArray(i->shape()), i->operand(0));
     }},
    {HloOpcode::kScatter, "scatter(x, one index, y) => dynamic-update-slice(x, y)", ScatterToDynamicUpdateSlice},
    {HloOpcode::kScatter, "scatter(broadcast(s), an index a row, y) => select(iota == index, op(s, y), s)",
     ScatterIntoScalar},
};

}  // namespace

absl::Span<const Rule> IndexRules() { return kIndexRules; }

}  // namespace hilo::simplify
