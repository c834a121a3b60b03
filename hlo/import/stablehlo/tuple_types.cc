#include "hlo/import/stablehlo/tuple_types.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/errors.h"

namespace hilo::stablehlo {
namespace {

// Elements of a tuple, and of the tuples within tuples of a module.
constexpr int64_t kMaxLeaves = 100'000, kMaxNestedLeaves = 2'000'000;

}  // namespace

absl::Status TupleTypes::Make(absl::Span<const Type* const> parts, Type* type) {
  Size size{.leaves = 0};
  for (const Type* part : parts) {
    if (!part->IsValue() || !part->IsStatic()) return InvalidArgument("a tuple of ", TypeText(*part));
    const auto found = sizes_.find(part);
    const Size own = found == sizes_.end() ? Size() : found->second;
    size.leaves += own.leaves;
    size.depth = std::max(size.depth, own.depth + 1);
    if (size.leaves > kMaxLeaves) return InvalidArgument("a tuple of more than ", kMaxLeaves, " elements");
  }
  nested_leaves_ += size.leaves - static_cast<int64_t>(parts.size());
  if (nested_leaves_ > kMaxNestedLeaves)
    return InvalidArgument("the tuples within tuples have more than ", kMaxNestedLeaves, " elements in all");
  if (size.depth > ShapeUtil::kMaxTupleDepth)
    return InvalidArgument("tuples are nested deeper than ", ShapeUtil::kMaxTupleDepth, " levels");
  std::vector<Shape> shapes;
  for (const Type* part : parts) shapes.push_back(part->shape);
  type->kind = Type::Kind::kTuple;
  type->shape = Shape(std::move(shapes));
  sizes_.insert_or_assign(type, size);
  return absl::OkStatus();
}

}  // namespace hilo::stablehlo
