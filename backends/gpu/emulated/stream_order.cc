#include "backends/gpu/emulated/stream_order.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace hilo::gpu {

void StreamOrder::Join(StreamClock* clock, const StreamClock& other) {
  for (const auto& [stream, sequence] : other) {
    uint64_t& known = (*clock)[stream];
    known = std::max(known, sequence);
  }
}

uint64_t StreamOrder::Known(const StreamClock& clock, int stream) {
  const auto it = clock.find(stream);
  return it == clock.end() ? 0 : it->second;
}

uint64_t StreamOrder::Queue(int stream, const std::string& what, absl::Span<const GpuSlice> slices,
                            std::vector<EmulatedReport>* reports) {
  StreamClock& clock = clocks_[stream];
  Join(&clock, host_);
  const uint64_t sequence = ++clock[stream];
  for (const GpuSlice& slice : slices) {
    if (slice.bytes <= 0) continue;
    const auto* begin = static_cast<const uint8_t*>(slice.address);
    const auto* end = begin + slice.bytes;
    for (const Touch& touch : history_) {
      const bool overlap = touch.begin < end && begin < touch.end && (touch.is_written || slice.is_written);
      if (!overlap || touch.stream == stream || Known(clock, touch.stream) >= touch.sequence) continue;
      reports->push_back(
          {"stream-race", absl::StrCat(what, " on stream ", stream, slice.is_written ? " writes" : " reads", " what ",
                                       touch.what, " on stream ", touch.stream, touch.is_written ? " writes" : " reads",
                                       ", and no event orders them")});
    }
  }
  for (const GpuSlice& slice : slices) {
    if (slice.bytes <= 0) continue;
    const auto* begin = static_cast<const uint8_t*>(slice.address);
    history_.push_back({begin, begin + slice.bytes, slice.is_written, stream, sequence, what});
  }
  return sequence;
}

void StreamOrder::HostHasWaited(const StreamPoint& point) {
  Join(&host_, point.clock);
  std::erase_if(history_, [&](const Touch& touch) { return Known(host_, touch.stream) >= touch.sequence; });
}

void StreamOrder::Forget(const void* memory, int64_t bytes) {
  const auto* begin = static_cast<const uint8_t*>(memory);
  std::erase_if(history_, [&](const Touch& touch) { return touch.begin < begin + bytes && begin < touch.end; });
}

}  // namespace hilo::gpu
