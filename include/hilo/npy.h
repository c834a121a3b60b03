// Arrays in NumPy's file formats.
#ifndef HILO_NPY_H_
#define HILO_NPY_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hilo/export.h"
#include "hilo/literal.h"

namespace hilo {

// .npy: versions 1 to 3, C and Fortran order, little and big endian. Types that NumPy lacks are stored as raw "|V1" or
// "|V2", one element per byte or two, integers without the bits above their own; `hint` then states their type.
// Errors: InvalidArgument with what was expected; NotFound or Unavailable naming the file; ResourceExhausted if memory
// is short. No length in a file is trusted: allocations are bounded by the size of the file.
HILO_EXPORT absl::StatusOr<Literal> ReadNpy(const std::string& path, PrimitiveType hint = PRIMITIVE_TYPE_INVALID);
HILO_EXPORT absl::StatusOr<Literal> ParseNpy(absl::string_view bytes, PrimitiveType hint = PRIMITIVE_TYPE_INVALID);
// Row-major, little-endian, version 1. Errors: InvalidArgument if `literal` is not an array.
HILO_EXPORT absl::Status WriteNpy(const std::string& path, const Literal& literal);
HILO_EXPORT absl::StatusOr<std::string> SerializeNpy(const Literal& literal);

struct NamedLiteral {
  std::string name;  // without ".npy"
  Literal literal;
};
// Returns the type of the raw array of that name, or nullopt if the member is not to be read.
using NpyTypeHint = std::function<std::optional<PrimitiveType>(absl::string_view name)>;

// .npz: stored and deflated members, also of more than 4 GiB, in the order of the archive; checksums are checked.
HILO_EXPORT absl::StatusOr<std::vector<NamedLiteral>> ReadNpz(const std::string& path,
                                                              const NpyTypeHint& hint = nullptr);
HILO_EXPORT absl::StatusOr<std::vector<NamedLiteral>> ParseNpz(absl::string_view bytes,
                                                               const NpyTypeHint& hint = nullptr);
// Members are stored, as numpy.savez does.
HILO_EXPORT absl::Status WriteNpz(const std::string& path, absl::Span<const NamedLiteral> arrays);

}  // namespace hilo

#endif  // HILO_NPY_H_
