// Values that exist before they are defined, and which of them wait for which: the alias buffers and donations of a
// framework, and the runs that take them as arguments. All functions may be called from any thread.
#ifndef HILO_PJRT_PROMISES_H_
#define HILO_PJRT_PROMISES_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "hilo/executable.h"
#include "runtime/buffer_value.h"

namespace hilo::pjrt {

// Returns a value that one call of Fulfill or Fail will define.
std::shared_ptr<BufferValue> MakePromise();

// Defines `promise` as `value` once that is defined, immediately if it is.
// Errors: InvalidArgument if `value` waits for `promise`, which is then still to be defined (Fail).
absl::Status Fulfill(std::shared_ptr<BufferValue> promise, std::shared_ptr<BufferValue> value);

// Defines `promise`, and all promises that wait for it, as the error `status`.
void Fail(std::shared_ptr<BufferValue> promise, const absl::Status& status);

// The promises that a run depends on, recorded so that Fulfill detects a promise that is given a result of the run.
class RunDependencies {
 public:
  // Before the run starts, which may take the argument's value.
  void AddArgument(const Buffer& argument);
  // After the run has started. Results that share a definition need one call.
  void AddResult(const Buffer& result) const;

 private:
  std::vector<const Event*> promises_;
};

}  // namespace hilo::pjrt

#endif  // HILO_PJRT_PROMISES_H_
