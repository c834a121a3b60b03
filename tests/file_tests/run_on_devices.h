// Runs an executable on all of its devices, from literals to literals.
#ifndef HILO_TESTS_FILE_TESTS_RUN_ON_DEVICES_H_
#define HILO_TESTS_FILE_TESTS_RUN_ON_DEVICES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "hilo/client.h"
#include "hilo/literal.h"

namespace hilo::testing {

// Arguments and results by device, replica * partitions + partition; one literal a parameter.
absl::StatusOr<std::vector<Literal>> RunOnDevices(Client& client, const Executable& executable,
                                                  const std::vector<std::vector<const Literal*>>& arguments);

}  // namespace hilo::testing

#endif  // HILO_TESTS_FILE_TESTS_RUN_ON_DEVICES_H_
