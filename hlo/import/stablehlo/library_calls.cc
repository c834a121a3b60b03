// The approximate search for the k best elements is an exact one: all are sorted, and the first are taken.
#include "hlo/import/stablehlo/library_calls.h"

#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo::stablehlo {
namespace {

absl::StatusOr<std::vector<Shape>> ResultShapesOf(const OpConversion& c) {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < c.op.results.size(); ++i) {
    HILO_ASSIGN_OR_RETURN(shapes.emplace_back(), c.ResultShape(i));
  }
  return shapes;
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
