// Programs that failed, as files: HLO text with configuration and arguments in its comments.
#ifndef HILO_TESTS_FUZZ_PROGRAM_FILE_H_
#define HILO_TESTS_FUZZ_PROGRAM_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "tests/fuzz/program_check.h"

namespace hilo::fuzz {

struct ProgramFile {
  RandomProgram program;
  Configuration configuration;
};

std::string ProgramText(const RandomProgram& program, const Configuration& configuration, absl::string_view failure,
                        absl::string_view origin);
// Errors: as of ParseHloModule and ParseLiteral; InvalidArgument if the arguments are not as many as the replicas'
// parameters.
absl::StatusOr<ProgramFile> ReadProgram(const std::string& path);

}  // namespace hilo::fuzz

#endif  // HILO_TESTS_FUZZ_PROGRAM_FILE_H_
