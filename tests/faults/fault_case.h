// A case of the fault tests.
#ifndef HILO_TESTS_FAULTS_FAULT_CASE_H_
#define HILO_TESTS_FAULTS_FAULT_CASE_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace hilo {

// Of four processes; more take longer, in proportion.
inline constexpr absl::Duration kDeadlineOfFour = absl::Milliseconds(500);
// Beyond the deadline, for what is stuck; in all, for what is dead or wrong.
inline constexpr absl::Duration kGraceOfFour = absl::Seconds(2);
// The transports by way of MPI begin with this.
inline constexpr absl::string_view kMpi = "mpi-";

// One process of several, the victim, fails in one way while all run one collective over and over.
struct Case {
  std::string transport, op, fault;
  int ranks = 4, victim = 0;
  uint32_t seed = 0;

  absl::Duration deadline() const { return kDeadlineOfFour * ranks / 4; }
  absl::Duration grace() const { return kGraceOfFour * ranks / 4; }
  bool is_slow() const { return fault == "slow"; }
  bool is_silent() const { return fault == "stopped" || fault == "cut"; }
};

}  // namespace hilo

#endif  // HILO_TESTS_FAULTS_FAULT_CASE_H_
