// A random program on a backend against the evaluator.
#ifndef HILO_TESTS_FUZZ_PROGRAM_CHECK_H_
#define HILO_TESTS_FUZZ_PROGRAM_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tests/fuzz/random_module.h"

namespace hilo::fuzz {

// One way to compile a program: "default", "strict" or "without-" and the name of a pass, all for the CPU, or
// "cuda-emulated"; or "interpreter".
struct Configuration {
  bool strict = false, emulated = false, interpreted = false;
  std::string disabled_pass;
  std::string name() const;
  static Configuration FromName(absl::string_view name);
};

// Partitioned programs on the interpreter, every eighth of them on the CPU too; others with the default options,
// strictly, and with one of the optional passes left out, which the seed chooses; exact programs on emulated GPUs, too.
std::vector<Configuration> ConfigurationsOf(uint64_t seed, bool is_partitioned);

// Runs the program, for several replicas on as many devices against the interpreter, for several partitions on as many
// against the program without shardings, and compares the results; looks
// also for writes beside the results and into the arguments. Errors: Unimplemented if the backend refuses the program;
// FailedPrecondition if the evaluator gives no bounds; any other error is a finding.
absl::Status Check(const RandomProgram& program, const Configuration& configuration, const std::string& dump = "");

// Check in a process of its own: empty if the program passes or is refused.
std::string FailureOf(const RandomProgram& program, const Configuration& configuration);

constexpr int kSecondsPerProgram = 30;

}  // namespace hilo::fuzz

#endif  // HILO_TESTS_FUZZ_PROGRAM_CHECK_H_
