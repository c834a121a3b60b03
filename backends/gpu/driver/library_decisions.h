// Which work of a module goes to libraries, and with which algorithms: decided once, when the module is compiled, and
// kept with serialised programs.
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
  std::optional<LibraryAlgorithm> algorithm;  // nullopt: kernels of our own
  std::string version;                        // the chip and the library that the algorithm's code is for
};

// Not thread-safe.
class LibraryDecisions {
 public:
  // By what the library does, in words, and the work.
  using Table = std::map<std::pair<std::string, std::string>, LibraryDecision>;

  LibraryDecisions() = default;
  // Follows `recorded`.
  explicit LibraryDecisions(Table recorded) : recorded_(std::move(recorded)) {}

  // Asks the library, which may return what is recorded (null: nothing).
  using Ask = std::function<absl::StatusOr<LibraryDecision>(const LibraryDecision* recorded)>;
  // Asks once for each work. What is recorded as a kernel stays one, even where the library is found now; what is
  // recorded as the library's must be done by it.
  const LibraryDecision& Decide(absl::string_view what, absl::string_view work, const Ask& ask);

  const Table& table() const { return table_; }
  // A line for each library that was wanted and could not be loaded.
  std::string Missing() const;
  // Errors: FailedPrecondition if a library cannot do here what is recorded as its work, with the reason.
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
