// Test files: HLO modules with what they must compute, or the error they must give.
//
//   // run: (f32[3]{1,2,-3}) == f32[3]{1,4,9} ulps=1
//   HloModule square
//   ENTRY main { ... }
//   // ----
//   // error: transpose: dimensions
//   HloModule wrong ...
//
// A module with replica_count or num_partitions runs on as many devices. Then arguments and results are those of all
// devices, or one list and one result a device, with | between them:
//
//   // run: (f32[1]{1}) | (f32[1]{2}) == f32[1]{3}
//   // run: (f32[1]{1}) | (f32[1]{2}) == error: text that the error contains
//
// Arguments and results are literals: a shape and its elements, "(...)" for tuples. Options behind a result: ulps=N,
// rel=X, abs=X.
#ifndef HILO_TESTS_FILE_TESTS_TEST_FILE_H_
#define HILO_TESTS_FILE_TESTS_TEST_FILE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hilo/literal.h"

namespace hilo::testing {

// Lists are by device, or hold one entry for all.
struct RunLine {
  int line;
  std::vector<std::vector<Literal>> arguments;
  std::vector<Literal> expected;
  ErrorSpec spec;
  std::string
      error;  // if not empty: instead of a result, compilation or the run must end with an error that contains this
};

struct TestModule {
  int line = 1;  // of its first line in the file
  std::string name;
  std::string text;
  std::vector<RunLine> runs;
  std::optional<std::string> error;  // text that the error must contain
};

// Errors: InvalidArgument with file and line.
absl::StatusOr<std::vector<TestModule>> ParseTestFile(const std::string& path, absl::string_view text);

// "f32[2]{1,2}", "(s32[] 5, pred[] true)".
absl::StatusOr<Literal> ParseArgument(absl::string_view text);

}  // namespace hilo::testing

#endif  // HILO_TESTS_FILE_TESTS_TEST_FILE_H_
