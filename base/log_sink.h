// Sink for Hilo's log messages. Discarded unless the embedder sets a sink. Errors are never logged; they are returned.
#ifndef HILO_BASE_LOG_SINK_H_
#define HILO_BASE_LOG_SINK_H_

#include <functional>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace hilo {

enum class LogSeverity { kInfo, kWarning };

using LogSink = std::function<void(LogSeverity severity, absl::string_view message)>;

// Sends the log messages of the whole process to `sink`, from then on and from any thread, one at a time; a null sink
// silences them, which is the state at start. `sink` itself must not log or set the sink.
void SetLogSink(LogSink sink);

// Returns whether a sink is set. Cheap enough to check before a message is formatted.
bool LogSinkIsSet();

// Hands `message` to the sink, if there is one.
void LogMessage(LogSeverity severity, absl::string_view message);

// LogInfo("compiled ", name, " in ", ms, " ms"), formatted as absl::StrCat does, only when a sink is set.
template <typename... Args>
void LogInfo(const Args&... args) {
  if (LogSinkIsSet()) LogMessage(LogSeverity::kInfo, absl::StrCat(args...));
}
template <typename... Args>
void LogWarning(const Args&... args) {
  if (LogSinkIsSet()) LogMessage(LogSeverity::kWarning, absl::StrCat(args...));
}

}  // namespace hilo

#endif  // HILO_BASE_LOG_SINK_H_
