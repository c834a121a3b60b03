// The approximate search for the k best elements is an exact one: of a comparison of two elements with their numbers it
// is a top-k, of any other all are sorted, and the first are taken.
#include "hlo/import/stablehlo/library_calls.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ops/reduction/search_attributes.h"

namespace hilo::stablehlo {
namespace {

absl::StatusOr<std::vector<Shape>> ResultShapesOf(const OpConversion& c) {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < c.op.results.size(); ++i) {
    HILO_ASSIGN_OR_RETURN(shapes.emplace_back(), c.ResultShape(i));
  }
  return shapes;
}

// Returns true if `direction` is how the computation compares its first two parameters.
bool Compares(const HloComputation& computation, ComparisonDirection direction) {
  const HloInstruction& root = *computation.root_instruction();
  return root.opcode() == HloOpcode::kCompare && computation.num_parameters() >= 2 &&
         root.attrs<CompareAttrs>().direction == direction && root.operand(0) == computation.parameter_instruction(0) &&
         root.operand(1) == computation.parameter_instruction(1);
}

// Returns true if the best elements along `dimension` are those of a top-k, with their numbers.
bool IsTopK(const OpConversion& c, absl::Span<const Shape> results, int64_t dimension) {
  if (results.size() != 2 ||
      (!Compares(*c.regions[0], ComparisonDirection::kGt) && !Compares(*c.regions[0], ComparisonDirection::kLt)))
    return false;
  const HloInstruction& numbers = *c.operands[1];
  const Shape& shape = c.operands[0]->shape();
  if (!shape.IsArray() || dimension < 0 || dimension >= shape.rank() || numbers.opcode() != HloOpcode::kIota ||
      numbers.attrs<IotaAttrs>().iota_dimension != dimension || numbers.shape().element_type() != S32 ||
      !ShapeUtil::SameDimensions(shape, numbers.shape()) || IsComplexType(shape.element_type()) ||
      shape.element_type() == PRED || !shape.is_static())
    return false;
  std::vector<int64_t> best(shape.dimensions().begin(), shape.dimensions().end());
  best[dimension] = results[0].rank() == shape.rank() ? results[0].dimensions(dimension) : -1;
  return best[dimension] <= shape.dimensions(dimension) &&
         absl::c_all_of(results, [&](const Shape& result) { return absl::c_equal(result.dimensions(), best); });
}

absl::StatusOr<Results> TopK(OpConversion& c, int64_t k, int64_t dimension) {
  auto attributes = std::make_unique<TopKAttrs>();
  attributes->k = k;
  attributes->largest = Compares(*c.regions[0], ComparisonDirection::kGt);
  // The dimension changes places with the last one, and back.
  const int64_t rank = c.operands[0]->shape().rank();
  std::vector<int64_t> order(rank);
  absl::c_iota(order, 0);
  std::swap(order[dimension], order[rank - 1]);
  const auto moved = [&](HloInstruction* array) -> absl::StatusOr<HloInstruction*> {
    return dimension == rank - 1 ? array : c.Transpose(array, order);
  };
  HILO_ASSIGN_OR_RETURN(HloInstruction * elements, moved(c.operands[0]));
  HILO_ASSIGN_OR_RETURN(HloInstruction * all, c.Add(HloOpcode::kTopK, {elements}, std::move(attributes)));
  Results best;
  for (const int64_t i : {0, 1}) {
    HILO_ASSIGN_OR_RETURN(HloInstruction * element, c.Element(all, i));
    HILO_ASSIGN_OR_RETURN(best.emplace_back(), moved(element));
  }
  return best;
}

absl::StatusOr<Results> ApproxTopK(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(2 * c.op.results.size()));
  HILO_RETURN_IF_ERROR(c.ExpectAtLeast(2));
  if (c.regions.size() != 1) return InvalidArgument("expected one computation that compares, got ", c.regions.size());
  HILO_ASSIGN_OR_RETURN(const std::vector<Shape> results, ResultShapesOf(c));
  const Attribute* config = c.op.Find("mhlo.backend_config");
  if (config == nullptr) config = c.op.Find("backend_config");
  auto sort = std::make_unique<SortAttrs>();
  bool has_dimension = false;
  for (const NamedAttribute& entry :
       config == nullptr ? absl::Span<const NamedAttribute>() : absl::MakeConstSpan(config->entries)) {
    if (entry.name != "reduction_dim" || entry.value->kind != Attribute::Kind::kInteger) continue;
    sort->dimensions = {entry.value->integer};
    has_dimension = true;
  }
  if (!has_dimension) return InvalidArgument("expected reduction_dim in the backend_config");
  const int64_t dimension = sort->dimensions[0];
  if (IsTopK(c, results, dimension)) return TopK(c, results[0].dimensions(dimension), dimension);
  const std::vector<HloInstruction*> values(c.operands.begin(),
                                            c.operands.begin() + static_cast<std::ptrdiff_t>(results.size()));
  sort->is_stable = true;
  HILO_ASSIGN_OR_RETURN(HloInstruction * sorted, c.Add(HloOpcode::kSort, values, std::move(sort), c.regions));
  Results best;
  for (size_t i = 0; i < results.size(); ++i) {
    HloInstruction* all = sorted;
    if (results.size() > 1) {
      HILO_ASSIGN_OR_RETURN(all, c.Element(sorted, static_cast<int64_t>(i)));
    }
    if (results[i].rank() != all->shape().rank())
      return InvalidArgument("expected results of ", all->shape().rank(), " dimensions, got ", results[i].ToString());
    auto slice = std::make_unique<SliceAttrs>();
    for (const int64_t size : results[i].dimensions()) slice->slice.push_back({0, size, 1});
    HILO_ASSIGN_OR_RETURN(best.emplace_back(), c.Add(HloOpcode::kSlice, {all}, std::move(slice)));
  }
  return best;
}

}  // namespace

Converter FindLibraryCall(absl::string_view target) {
  if (target == "ApproxTopK") return ApproxTopK;
  return nullptr;
}

}  // namespace hilo::stablehlo
