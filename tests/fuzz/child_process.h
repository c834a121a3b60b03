// Work in a process of its own, so that a crash or a hang is a result like another.
#ifndef HILO_TESTS_FUZZ_CHILD_PROCESS_H_
#define HILO_TESTS_FUZZ_CHILD_PROCESS_H_

#include <functional>
#include <string>

#include "absl/strings/string_view.h"

namespace hilo::fuzz {

// Ends this process when it has used the processor for `seconds`, or ten times as long by the clock: a hang uses none,
// and a machine that is busy with other work is no hang.
void LimitTime(int seconds);

// What `work` returns. A crash, or more than `seconds` (LimitTime), is a last line "CRASH ...".
std::string InChild(int seconds, const std::function<std::string()>& work);

// Whether a line of InChild says that the time was over.
bool IsTimeout(absl::string_view line);

}  // namespace hilo::fuzz

#endif  // HILO_TESTS_FUZZ_CHILD_PROCESS_H_
