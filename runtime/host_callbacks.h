// The host's callbacks for the send and recv instructions of a run that are host transfers.
#ifndef HILO_RUNTIME_HOST_CALLBACKS_H_
#define HILO_RUNTIME_HOST_CALLBACKS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "shape/literal.h"

namespace hilo {

// Callbacks are called on the thread of the run, of device `device`, and block it; on several devices they may be
// called concurrently. Their errors end the run.
struct SendCallback {
  int64_t channel_id = 0;
  // Takes the data that a `send` of the channel sends.
  std::function<absl::Status(int device, const Literal& data)> callback;
};
struct RecvCallback {
  int64_t channel_id = 0;
  // Returns the data for a `recv` of the channel, of a shape compatible with `shape`. Called when the `recv-done`
  // runs.
  std::function<absl::StatusOr<Literal>(int device, const Shape& shape)> callback;
};

struct HostCallbacks {
  std::vector<SendCallback> sends;
  std::vector<RecvCallback> recvs;
};

}  // namespace hilo

#endif  // HILO_RUNTIME_HOST_CALLBACKS_H_
