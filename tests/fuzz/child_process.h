// Work in a process of its own, so that a crash or a hang is a result like another.
#ifndef HILO_TESTS_FUZZ_CHILD_PROCESS_H_
#define HILO_TESTS_FUZZ_CHILD_PROCESS_H_

#include <functional>
#include <string>

namespace hilo::fuzz {

// What `work` returns. A crash, or more than `seconds`, is a last line "CRASH ...".
std::string InChild(int seconds, const std::function<std::string()>& work);

}  // namespace hilo::fuzz

#endif  // HILO_TESTS_FUZZ_CHILD_PROCESS_H_
