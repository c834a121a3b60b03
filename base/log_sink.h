// Hilo's log messages, for the sink that the embedder has set (hilo/host.h). Errors are never logged; they are
// returned.
#ifndef HILO_BASE_LOG_SINK_H_
#define HILO_BASE_LOG_SINK_H_

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "hilo/host.h"

namespace hilo {

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
