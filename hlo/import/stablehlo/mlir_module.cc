#include "hlo/import/stablehlo/mlir_module.h"

#include <algorithm>

#include "absl/strings/match.h"
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

std::string ElementText(PrimitiveType element) {
  const std::string name(PrimitiveTypeName(element));
  if (element == PRED) return "i1";
  if (element == C64 || element == C128) return element == C64 ? "complex<f32>" : "complex<f64>";
  if (IsSignedIntegralType(element)) return absl::StrCat("i", name.substr(1));
  if (IsUnsignedIntegralType(element)) return absl::StrCat("ui", name.substr(1));
  return name;
}

// Of many scales the number.
std::string QuantizedText(const Quantization& q) {
  const std::string scales = q.scales.size() == 1 ? absl::StrCat(q.scales[0], ":", q.zero_points[0])
                                                  : absl::StrCat("{", q.scales.size(), " scales}");
  return absl::StrCat("!quant.uniform<", ElementText(q.storage), "<", q.min, ":", q.max, ">:", ElementText(q.expressed),
                      ", ", scales, ">");
}

}  // namespace

std::string ElementText(const Type& type) {
  if (type.is_index) return "index";
  if (type.quantization != nullptr) return QuantizedText(*type.quantization);
  return ElementText(type.element);
}

const Attribute* Operation::Find(absl::string_view attribute) const {
  for (const NamedAttribute& candidate : attributes) {
    if (candidate.name == attribute) return candidate.value;
  }
  return nullptr;
}

std::string TypeText(const Type& type) {
  switch (type.kind) {
    case Type::Kind::kForeign: return type.name;
    case Type::Kind::kElement: return ElementText(type);
    case Type::Kind::kTensor: {
      std::string text = type.is_buffer ? "memref<" : "tensor<";
      const int64_t rank = type.IsStatic() ? type.shape.rank() : static_cast<int64_t>(type.open_dimensions.size());
      for (int64_t d = 0; d < rank; ++d) {
        const int64_t size = type.IsStatic() ? type.shape.dimensions(d) : type.open_dimensions[d];
        absl::StrAppend(&text, size == kDynamicSize ? "?" : absl::StrCat(size), "x");
      }
      return absl::StrCat(text, ElementText(type), ">");
    }
    case Type::Kind::kToken: return "!stablehlo.token";
    case Type::Kind::kTuple: return absl::StrCat("tuple", type.shape.ToString());
    case Type::Kind::kFunction: return absl::StrCat(ListText(type.inputs), " -> ", ListText(type.results));
    case Type::Kind::kFuture: return "!stablehlo.future";
    case Type::Kind::kNone: return "none";
  }
  return "";
}

bool SameType(const Type& a, const Type& b) {
  const auto same_quantization = [&] {
    if (a.quantization == nullptr || b.quantization == nullptr) return a.quantization == b.quantization;
    return *a.quantization == *b.quantization;
  };
  return a.kind == b.kind && a.element == b.element && a.shape == b.shape && a.open_dimensions == b.open_dimensions &&
         a.is_index == b.is_index && a.is_buffer == b.is_buffer && a.name == b.name &&
         a.inputs.size() == b.inputs.size() && a.results.size() == b.results.size() && same_quantization();
}

absl::Status CheckFunctionType(const Operation& function) {
  const Attribute* attribute = function.Find("function_type");
  if (attribute == nullptr || attribute->type == nullptr || attribute->type->kind != Type::Kind::kFunction ||
      function.regions.size() != 1 || function.regions[0]->blocks.size() != 1)
    return absl::OkStatus();
  const auto check = [](absl::string_view what, const std::vector<const Type*>& stated,
                        const std::vector<Value*>& values) -> absl::Status {
    if (stated.size() != values.size())
      return InvalidArgument("the function's type has ", stated.size(), " ", what, "s, but there are ", values.size());
    for (size_t i = 0; i < stated.size(); ++i) {
      if (!SameType(*stated[i], *values[i]->type))
        return InvalidArgument(what, " ", i, " is ", TypeText(*values[i]->type), ", but the function's type states ",
                               TypeText(*stated[i]));
    }
    return absl::OkStatus();
  };
  const Block& block = function.regions[0]->blocks[0];
  HILO_RETURN_IF_ERROR(check("argument", attribute->type->inputs, block.arguments));
  if (block.operations.empty() || !absl::EndsWith(block.operations.back()->name, ".return")) return absl::OkStatus();
  return check("result", attribute->type->results, block.operations.back()->operands);
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
