// Arrays in NumPy's files.
#ifndef HILO_SHAPE_NPY_H_
#define HILO_SHAPE_NPY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "shape/literal.h"

namespace hilo {

// .npy (versions 1 to 3, C and Fortran order, little and big endian) and .npz (stored and deflated members).
// Types that NumPy lacks travel as raw |V1 or |V2, one element a byte or two; `hint` then says which type they are.
// Errors: InvalidArgument with the file and what was expected; never trusts a length in the file.
absl::StatusOr<Literal> ReadNpy(const std::string& path, PrimitiveType hint = PRIMITIVE_TYPE_INVALID);
absl::StatusOr<Literal> ParseNpy(absl::string_view bytes, PrimitiveType hint = PRIMITIVE_TYPE_INVALID);
absl::Status WriteNpy(const std::string& path, const Literal& literal);
struct NamedLiteral {
  std::string name;
  Literal literal;
};
// `hint(name)` answers for raw |V types; may be null.
absl::StatusOr<std::vector<NamedLiteral>> ReadNpz(const std::string& path,
                                                  PrimitiveType (*hint)(absl::string_view, void*) = nullptr,
                                                  void* hint_context = nullptr);
absl::Status WriteNpz(const std::string& path, absl::Span<const NamedLiteral> arrays);

}  // namespace hilo

#endif  // HILO_SHAPE_NPY_H_
