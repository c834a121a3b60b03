// The collectives of the fault tests, each with a check of what it delivers.
#ifndef HILO_TESTS_FAULTS_CHECKED_CALL_H_
#define HILO_TESTS_FAULTS_CHECKED_CALL_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "collectives/communicator.h"

namespace hilo {

constexpr const char* kOps[] = {"all-reduce",           "all-reduce-of-much", "reduce-scatter",
                                "all-gather",           "all-to-all",         "collective-permute",
                                "collective-broadcast", "ragged-all-to-all",  "send"};

// Call number `step` of the op among all ranks, with `count` numbers a rank and a deadline after `most`. Errors: those
// of the communicator; Internal if it succeeds with other numbers than those of this step.
absl::Status CheckedCall(const std::string& op, Communicator& communicator, int64_t step, int64_t count,
                         absl::Duration most);

}  // namespace hilo

#endif  // HILO_TESTS_FAULTS_CHECKED_CALL_H_
