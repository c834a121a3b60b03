// What the handles of the C interface hold, and how its functions report errors. Private to capi.
#ifndef HILO_CAPI_HANDLES_H_
#define HILO_CAPI_HANDLES_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hilo-c/hilo.h"
#include "hilo/client.h"
#include "hilo/executable.h"
#include "hlo/analysis/program_cost.h"
#include "runtime/guarded.h"

namespace hilo::capi {

// A shape as the C interface describes it; the lists belong to it.
struct ArrayShape {
  explicit ArrayShape(const Shape& shape);
  HiloShape View() const;

  Shape shape;
  std::vector<int64_t> dimensions, byte_strides;
};

struct Value {
  std::string name;
  std::shared_ptr<const ArrayShape> shape;
};

// Null for OK. Does not throw: an error that needs memory which is not there is a static one.
HiloError* MakeError(const absl::Status& status) noexcept;

// The result of `body`, which returns a Status, as an error; exceptions included.
template <typename Body>
HiloError* Call(const Body& body) {
  return MakeError(Guarded(body));
}

// Errors: InvalidArgument if the pointer, an argument of the caller, is null.
absl::Status CheckNotNull(const void* pointer, absl::string_view what);

// `event` completed within `seconds`, or an error (negative: no limit).
absl::Status AwaitFor(Event* event, double seconds);

std::unique_ptr<HiloBytes> MakeBytes(std::string bytes);

}  // namespace hilo::capi

struct HiloError {
  absl::Status status;
  std::string message;
};

struct HiloBytes {
  std::string bytes;
};

struct HiloClient {
  std::unique_ptr<hilo::Client> client;
  std::string platform;
};

struct HiloExecutable {
  std::unique_ptr<hilo::Executable> executable;
  std::vector<hilo::capi::Value> parameters, results;  // leaves
  bool has_cost = false;                               // of the program that was compiled
  hilo::ProgramCost cost;
};

struct HiloBuffer {
  std::unique_ptr<hilo::Buffer> buffer;
  std::shared_ptr<const hilo::capi::ArrayShape> shape;
  std::mutex mutex;
  std::shared_ptr<const uint8_t> data;  // of HiloBufferGetData
};

struct HiloEvent {
  std::vector<std::shared_ptr<hilo::Event>> ends;  // of devices that had not ended when HiloExecute returned
  std::shared_ptr<hilo::CancellationToken> cancellation;
};

struct HiloCancellation {
  const std::shared_ptr<hilo::CancellationToken> token = std::make_shared<hilo::CancellationToken>();
};

#endif  // HILO_CAPI_HANDLES_H_
