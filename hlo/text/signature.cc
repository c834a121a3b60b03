#include "hlo/text/signature.h"

#include "absl/strings/str_cat.h"
#include "hilo/status_macros.h"

namespace hilo {

absl::StatusOr<Signature> ParseSignature(TextCursor& cursor) {
  Signature signature;
  auto read_type = [&](std::pair<size_t, Shape>* type) -> absl::Status {
    cursor.SkipSpace();
    type->first = cursor.offset();
    HILO_ASSIGN_OR_RETURN(type->second, cursor.ReadShape());
    return absl::OkStatus();
  };
  HILO_RETURN_IF_ERROR(cursor.Expect("(", "before a computation's parameters"));
  if (!cursor.Consume(")")) {
    do {
      HILO_RETURN_IF_ERROR(cursor.Name("a parameter's name").status());
      HILO_RETURN_IF_ERROR(cursor.Expect(":", "after a parameter's name"));
      HILO_RETURN_IF_ERROR(read_type(&signature.parameters.emplace_back()));
    } while (cursor.Consume(","));
    HILO_RETURN_IF_ERROR(cursor.Expect(")", "after a computation's parameters"));
  }
  HILO_RETURN_IF_ERROR(cursor.Expect("->", "before a computation's result"));
  HILO_RETURN_IF_ERROR(read_type(&signature.result));
  return signature;
}

absl::Status CheckSignature(const SourceText& source, const Signature& signature, const HloComputation& computation) {
  const auto& [result_offset, result] = signature.result;
  if (static_cast<int64_t>(signature.parameters.size()) != computation.num_parameters()) {
    return source.Error(result_offset,
                        absl::StrCat("the signature lists ", signature.parameters.size(), " parameters; ",
                                     computation.name(), " has ", computation.num_parameters()));
  }
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    const auto& [offset, shape] = signature.parameters[i];
    const Shape& actual = computation.parameter_instruction(i)->shape();
    if (!ShapeUtil::Compatible(shape, actual)) {
      return source.Error(offset, absl::StrCat("expected the shape of parameter ", i, ", ", actual.ToString(), "; got ",
                                               shape.ToString()));
    }
  }
  const Shape& actual = computation.root_instruction()->shape();
  if (!ShapeUtil::Compatible(result, actual)) {
    return source.Error(result_offset,
                        absl::StrCat("expected the root's shape, ", actual.ToString(), "; got ", result.ToString()));
  }
  return absl::OkStatus();
}

}  // namespace hilo
