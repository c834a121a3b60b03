// Functions that tests/ops/custom-call.hlo calls.
#ifndef HILO_TESTS_FILE_TESTS_TEST_TARGETS_H_
#define HILO_TESTS_FILE_TESTS_TEST_TARGETS_H_

#include "absl/status/status.h"
#include "hilo/ffi.h"

namespace hilo::testing {

absl::Status RegisterTestTargets(CustomCallRegistry* registry);

}  // namespace hilo::testing

#endif  // HILO_TESTS_FILE_TESTS_TEST_TARGETS_H_
