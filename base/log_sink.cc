#include "base/log_sink.h"

#include <atomic>
#include <mutex>
#include <utility>

namespace hilo {
namespace {

struct SinkState {
  std::atomic<bool> set{false};
  std::mutex mutex;  // guards sink
  LogSink sink;
};

// Never destroyed, so that threads that outlive main may still log.
SinkState& ProcessSinkState() {
  static SinkState* const state = new SinkState;
  return *state;
}

}  // namespace

void SetLogSink(LogSink sink) {
  SinkState& state = ProcessSinkState();
  std::lock_guard<std::mutex> lock(state.mutex);
  state.set = sink != nullptr;
  state.sink = std::move(sink);
}

bool LogSinkIsSet() { return ProcessSinkState().set.load(std::memory_order_relaxed); }

void LogMessage(LogSeverity severity, absl::string_view message) {
  SinkState& state = ProcessSinkState();
  std::lock_guard<std::mutex> lock(state.mutex);
  if (state.sink != nullptr) state.sink(severity, message);
}

}  // namespace hilo
