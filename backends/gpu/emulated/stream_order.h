// Determines which operations on streams are ordered, and which of them race.
//
// Every stream counts its operations; a vector clock holds, for each stream, the last operation known to be done. An
// operation's clock joins those at queueing time of its stream's earlier operations, of the events that the stream
// waited for, and of what the host had waited for. Two operations race if they access the same bytes, at least one of
// them writing, and neither is in the other's clock.
#ifndef HILO_BACKENDS_GPU_EMULATED_STREAM_ORDER_H_
#define HILO_BACKENDS_GPU_EMULATED_STREAM_ORDER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "backends/gpu/driver/gpu_driver.h"
#include "backends/gpu/emulated/access_report.h"

namespace hilo::gpu {

using StreamClock = std::map<int, uint64_t>;  // by stream: operations done

// A point on a stream, as stored in an event. Stream -1: never recorded.
struct StreamPoint {
  int stream = -1;
  uint64_t sequence = 0;
  StreamClock clock;
};

// Not thread-safe.
class StreamOrder {
 public:
  // Returns the sequence number of a new operation on `stream`, after reporting its races with earlier ones.
  uint64_t Queue(int stream, const std::string& what, absl::Span<const GpuSlice> slices,
                 std::vector<EmulatedReport>* reports);
  StreamPoint Record(int stream) { return {stream, clocks_[stream][stream], clocks_[stream]}; }
  void Wait(int stream, const StreamPoint& point) { Join(&clocks_[stream], point.clock); }
  // Records that the host has waited for `point`: whatever is queued from now on comes after it.
  void HostHasWaited(const StreamPoint& point);
  // Call when the memory is freed. Its next use, even by the host, comes after all earlier accesses: a device's pool
  // guarantees that.
  void Forget(const void* memory, int64_t bytes);
  // Call when a stream ends for whose operations the host has waited.
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
  std::vector<Touch> history_;  // operations not known to the host to be done
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMULATED_STREAM_ORDER_H_
