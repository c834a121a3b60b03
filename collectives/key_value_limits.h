// What every KeyValueStore checks first.
#ifndef HILO_COLLECTIVES_KEY_VALUE_LIMITS_H_
#define HILO_COLLECTIVES_KEY_VALUE_LIMITS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace hilo {

// Errors: InvalidArgument unless the sizes are within kMaxKeyBytes and kMaxValueBytes.
absl::Status CheckKeyAndValue(absl::string_view key, absl::string_view value);

}  // namespace hilo

#endif  // HILO_COLLECTIVES_KEY_VALUE_LIMITS_H_
