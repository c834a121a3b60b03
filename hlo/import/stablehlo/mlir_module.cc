#include "hlo/import/stablehlo/mlir_module.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo::stablehlo {
namespace {

std::string ListText(const std::vector<const Type*>& types) {
  return absl::StrCat("(",
                      absl::StrJoin(types, ", ",
                                    [](std::string* out, const Type* type) {
                                      // A function's own types are values: no need to go deeper.
                                      absl::StrAppend(
                                          out, type->kind == Type::Kind::kFunction ? "function" : TypeText(*type));
                                    }),
                      ")");
}

}  // namespace

const Attribute* Operation::Find(absl::string_view attribute) const {
  for (const NamedAttribute& candidate : attributes) {
    if (candidate.name == attribute) return candidate.value;
  }
  return nullptr;
}

std::string TypeText(const Type& type) {
  switch (type.kind) {
    case Type::Kind::kForeign: return type.name;
    case Type::Kind::kElement: return type.is_index ? "index" : std::string(PrimitiveTypeName(type.element));
    case Type::Kind::kTensor: {
      std::string text = type.is_buffer ? "memref<" : "tensor<";
      const int64_t rank = type.IsStatic() ? type.shape.rank() : static_cast<int64_t>(type.open_dimensions.size());
      for (int64_t d = 0; d < rank; ++d) {
        const int64_t size = type.IsStatic() ? type.shape.dimensions(d) : type.open_dimensions[d];
        absl::StrAppend(&text, size == kDynamicSize ? "?" : absl::StrCat(size), "x");
      }
      return absl::StrCat(text, PrimitiveTypeName(type.element), ">");
    }
    case Type::Kind::kToken: return "!stablehlo.token";
    case Type::Kind::kTuple: return absl::StrCat("tuple", type.shape.ToString());
    case Type::Kind::kFunction: return absl::StrCat(ListText(type.inputs), " -> ", ListText(type.results));
    case Type::Kind::kFuture: return "!stablehlo.future";
    case Type::Kind::kNone: return "none";
  }
  return "";
}

absl::Status SetTensor(PrimitiveType element, std::vector<int64_t> dimensions, const std::vector<int64_t>& bounds,
                       Type* type) {
  if (!bounds.empty() && bounds.size() != dimensions.size()) {
    return InvalidArgument("expected a bound for each of ", dimensions.size(), " dimensions; got ", bounds.size());
  }
  std::vector<bool> dynamic(dimensions.size(), false);
  std::vector<int64_t> sizes = dimensions;
  bool open = false;
  for (size_t d = 0; d < dimensions.size(); ++d) {
    if (dimensions[d] != kDynamicSize) continue;
    dynamic[d] = true;
    if (!bounds.empty()) sizes[d] = bounds[d];
    open |= sizes[d] == kDynamicSize;
  }
  type->kind = Type::Kind::kTensor;
  type->element = element;
  if (open) {
    for (int64_t size : dimensions) {
      if (size < 0 && size != kDynamicSize) return InvalidArgument("a dimension of size ", size);
    }
    type->open_dimensions = std::move(dimensions);
    return absl::OkStatus();
  }
  const bool bounded = std::find(dynamic.begin(), dynamic.end(), true) != dynamic.end();
  type->shape = bounded ? Shape(element, sizes, dynamic) : Shape(element, sizes);
  return ShapeUtil::Validate(type->shape);
}

}  // namespace hilo::stablehlo
