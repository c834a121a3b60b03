// Text for JSON files.
#ifndef HILO_BASE_JSON_H_
#define HILO_BASE_JSON_H_

#include <string>

#include "absl/strings/string_view.h"

namespace hilo {

// Returns `text` as a JSON string, with its quotes.
std::string JsonQuoted(absl::string_view text);

}  // namespace hilo

#endif  // HILO_BASE_JSON_H_
