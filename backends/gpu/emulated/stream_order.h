// Which operations on streams are ordered, and which of them race.
//
// Every stream counts its operations; a clock says, for each stream, up to which of them it is known to be done. An
// operation knows what its stream knew when it was queued: what came before on the stream, what the events that it
// waited for knew, and what the host had waited for. Two operations touch the same bytes, one of them writing, and
// neither knows of the other: a race.
#ifndef HILO_BACKENDS_GPU_EMULATED_STREAM_ORDER_H_
#define HILO_BACKENDS_GPU_EMULATED_STREAM_ORDER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "backends/gpu/driver/gpu_driver.h"
#include "backends/gpu/emulated/emulated_driver.h"

namespace hilo::gpu {

using StreamClock = std::map<int, uint64_t>;  // by stream: operations done

// A point on a stream, as an event keeps it. Stream -1: never recorded.
struct StreamPoint {
  int stream = -1;
  uint64_t sequence = 0;
  StreamClock clock;
};

// Not thread-safe.
class StreamOrder {
 public:
  // The number of a new operation on `stream`, after noting its races with earlier ones.
  uint64_t Queue(int stream, const std::string& what, absl::Span<const GpuSlice> slices,
                 std::vector<EmulatedReport>* reports);
  StreamPoint Record(int stream) { return {stream, clocks_[stream][stream], clocks_[stream]}; }
  void Wait(int stream, const StreamPoint& point) { Join(&clocks_[stream], point.clock); }
  // The host knows that all of this is done; whatever is queued from now on comes after it.
  void HostKnows(const StreamPoint& point);
  // The memory is free now. Who gets it next, be it the host, comes after what was done to it: a device's pool sees to
  // that.
  void Forget(const void* memory, int64_t bytes);
  // A stream of which the host knows everything ends.
  void Forget(int stream) { clocks_.erase(stream); }
  const StreamClock& clock(int stream) { return clocks_[stream]; }

 private:
  struct Touch {
    const uint8_t* begin;
    const uint8_t* end;
    bool is_written;
    int stream;
    uint64_t sequence;
    std::string what;
  };
  static void Join(StreamClock* clock, const StreamClock& other);
  static uint64_t Known(const StreamClock& clock, int stream);

  std::map<int, StreamClock> clocks_;
  StreamClock host_;
  std::vector<Touch> history_;  // what the host does not know to be done
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMULATED_STREAM_ORDER_H_
