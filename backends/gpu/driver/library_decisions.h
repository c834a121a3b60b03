// The work of a module that is assigned to libraries, and the algorithms: decided once, when the module is compiled,
// and stored in serialized programs.
#ifndef HILO_BACKENDS_GPU_DRIVER_LIBRARY_DECISIONS_H_
#define HILO_BACKENDS_GPU_DRIVER_LIBRARY_DECISIONS_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/gpu/lib/library_device.h"

namespace hilo {
class ByteReader;
class ByteWriter;
}  // namespace hilo

namespace hilo::gpu {

struct LibraryDecision {
  std::optional<LibraryAlgorithm> algorithm;  // nullopt: our own kernels
  std::string version;                        // the chip and the library that the algorithm's code is for
};

// Not thread-safe.
class LibraryDecisions {
 public:
  // Keys: the library operation, in words, and the work.
  using Table = std::map<std::pair<std::string, std::string>, LibraryDecision>;

  LibraryDecisions() = default;
  // Reuses the decisions in `recorded`.
  explicit LibraryDecisions(Table recorded) : recorded_(std::move(recorded)) {}

  // Queries the library, which may return the recorded decision (null: none).
  using Ask = std::function<absl::StatusOr<LibraryDecision>(const LibraryDecision* recorded)>;
  // Queries once for each work. Work that is recorded as a kernel stays one, even if the library is found now; work
  // that is recorded as the library's must be done by it.
  const LibraryDecision& Decide(absl::string_view what, absl::string_view work, const Ask& ask);

  const Table& table() const { return table_; }
  // Returns one line for each library that was needed and could not be loaded.
  std::string Missing() const;
  // Errors: FailedPrecondition, with the reason, if a library cannot do work here that is recorded as its own.
  const absl::Status& status() const { return status_; }

 private:
  Table table_, recorded_;
  std::map<std::string, std::string> missing_;  // by what
  absl::Status status_;
};

void Encode(const LibraryDecisions::Table& table, ByteWriter* out);
LibraryDecisions::Table DecodeLibraryDecisions(ByteReader* in);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_DRIVER_LIBRARY_DECISIONS_H_
