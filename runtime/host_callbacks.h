// What a host gives to a run for the send and recv instructions that are host transfers.
#ifndef HILO_RUNTIME_HOST_CALLBACKS_H_
#define HILO_RUNTIME_HOST_CALLBACKS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "shape/literal.h"

namespace hilo {

// Callbacks are called on the thread of the run, of device `device`, and hold it up; on several devices they may be
// called at once. Their errors end the run.
struct SendCallback {
  int64_t channel_id = 0;
  // Takes what a `send` of the channel sends.
  std::function<absl::Status(int device, const Literal& data)> callback;
};
struct RecvCallback {
  int64_t channel_id = 0;
  // Returns what a `recv` of the channel receives, of a shape compatible with `shape`. Called when the `recv-done`
  // runs.
  std::function<absl::StatusOr<Literal>(int device, const Shape& shape)> callback;
};

struct HostCallbacks {
  std::vector<SendCallback> sends;
  std::vector<RecvCallback> recvs;
};

}  // namespace hilo

#endif  // HILO_RUNTIME_HOST_CALLBACKS_H_
