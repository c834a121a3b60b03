// What every text of the mutation tester and of the compile fuzzer goes through.
#ifndef HILO_TESTS_FUZZ_DIGEST_H_
#define HILO_TESTS_FUZZ_DIGEST_H_

#include "absl/strings/string_view.h"

namespace hilo::fuzz {

enum class Digested { kRefused, kParsed, kCompiled };

// Parses and verifies `text`. What is accepted is printed and parsed again, compiled for the CPU unless its arrays are
// large, and run for up to 0.3 seconds, on small numbers, if it needs no more than 1 MiB. Says how far it came; that a
// run failed is no finding.
Digested Digest(absl::string_view text);

}  // namespace hilo::fuzz

#endif  // HILO_TESTS_FUZZ_DIGEST_H_
