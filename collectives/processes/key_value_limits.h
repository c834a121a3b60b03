// What every KeyValueStore checks first.
#ifndef HILO_COLLECTIVES_PROCESSES_KEY_VALUE_LIMITS_H_
#define HILO_COLLECTIVES_PROCESSES_KEY_VALUE_LIMITS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace hilo {

// Errors: InvalidArgument unless the sizes are within kMaxKeyBytes and kMaxValueBytes.
absl::Status CheckKeyAndValue(absl::string_view key, absl::string_view value);
// Errors: InvalidArgument unless there are at most kMaxKeysAtOnce keys, of sizes within kMaxKeyBytes.
absl::Status CheckKeys(absl::Span<const std::string> keys);

}  // namespace hilo

#endif  // HILO_COLLECTIVES_PROCESSES_KEY_VALUE_LIMITS_H_
