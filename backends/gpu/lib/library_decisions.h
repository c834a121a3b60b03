// The work of a module that is assigned to libraries, and the algorithms, each decided once.
#ifndef HILO_BACKENDS_GPU_LIB_LIBRARY_DECISIONS_H_
#define HILO_BACKENDS_GPU_LIB_LIBRARY_DECISIONS_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/gpu/lib/library_device.h"

namespace hilo::gpu {

// Not thread-safe.
class LibraryDecisions {
 public:
  // Queries the library.
  using Ask = std::function<absl::StatusOr<LibraryChoice>()>;
  // Queries once for each work: the library operation, in words, and the work. Nullopt: our own kernels.
  const std::optional<LibraryChoice>& Decide(absl::string_view what, absl::string_view work, const Ask& ask);
  // Returns one line for each library that was needed and could not be loaded.
  std::string Missing() const;

 private:
  std::map<std::pair<std::string, std::string>, std::optional<LibraryChoice>> table_;
  std::map<std::string, std::string> missing_;  // by what
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_LIB_LIBRARY_DECISIONS_H_
