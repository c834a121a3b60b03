// Programs that the CPU and the interpreter must agree on.
#ifndef HILO_TESTS_SUPPORT_SAME_RESULTS_H_
#define HILO_TESTS_SUPPORT_SAME_RESULTS_H_

#include <string>

namespace hilo {

// Expects that the HLO module `text` gives the same bits on the CPU, on three threads, and on the interpreter. It takes
// s32 parameters, small whole numbers, and converts them as it likes.
void ExpectSameResults(const std::string& text);

}  // namespace hilo

#endif  // HILO_TESTS_SUPPORT_SAME_RESULTS_H_
