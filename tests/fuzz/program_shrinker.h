// Makes a program that fails smaller.
#ifndef HILO_TESTS_FUZZ_PROGRAM_SHRINKER_H_
#define HILO_TESTS_FUZZ_PROGRAM_SHRINKER_H_

#include <string>

#include "absl/status/statusor.h"
#include "tests/fuzz/program_check.h"
#include "tests/fuzz/tracked_evaluator.h"

namespace hilo::fuzz {

// Fewer instructions, cut off from what computes their operands, as long as the program still fails in some way.
class Shrinker {
 public:
  Shrinker(RandomProgram program, Configuration configuration, std::string failure)
      : program_(std::move(program)), configuration_(std::move(configuration)), failure_(std::move(failure)) {}

  void Run();
  const RandomProgram& program() const { return program_; }
  const std::string& failure() const { return failure_; }

 private:
  RandomProgram Copy() const;
  bool Try(RandomProgram candidate);
  bool Prefix();
  bool CutOperands();
  bool Enter();
  bool RemoveDead();
  void DropParameters();
  absl::StatusOr<TrackedLeaves> ValueOf(const std::string& name) const;

  RandomProgram program_;
  Configuration configuration_;
  std::string failure_;
  int tries_ = 0;
};

}  // namespace hilo::fuzz

#endif  // HILO_TESTS_FUZZ_PROGRAM_SHRINKER_H_
