// The framework's key-value store, through which the processes of a job find each other.
#ifndef HILO_PJRT_FRAMEWORK_STORE_H_
#define HILO_PJRT_FRAMEWORK_STORE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "hilo/collectives.h"
#include "pjrt/abi.h"

namespace hilo::pjrt {

// Calls the callbacks of `args`, which must outlive the store; keys get a Hilo prefix. Errors: InvalidArgument if
// there are none.
absl::StatusOr<std::shared_ptr<KeyValueStore>> FrameworkStore(const PJRT_Client_Create_Args& args);

}  // namespace hilo::pjrt

#endif  // HILO_PJRT_FRAMEWORK_STORE_H_
