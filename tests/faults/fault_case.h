// A case of the fault tests.
#ifndef HILO_TESTS_FAULTS_FAULT_CASE_H_
#define HILO_TESTS_FAULTS_FAULT_CASE_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace hilo {

// Of four processes; more take longer, in proportion. On a busy machine all take longer: Case::patience.
inline constexpr absl::Duration kDeadlineOfFour = absl::Milliseconds(500);
// Beyond the deadline, for what is stuck; in all, for what is dead or wrong.
inline constexpr absl::Duration kGraceOfFour = absl::Seconds(2);
// A case in which the victim fails while all join.
inline constexpr absl::string_view kJoin = "join";
// The transports by way of MPI begin with this.
inline constexpr absl::string_view kMpi = "mpi-";

// One process of several, the victim, fails in one way while all run one collective over and over, or join.
struct Case {
  std::string transport, op, fault;
  int ranks = 4, victim = 0;
  uint32_t seed = 0;
  double patience = 1;

  absl::Duration deadline() const { return kDeadlineOfFour * ranks / 4 * patience; }
  absl::Duration grace() const { return kGraceOfFour * ranks / 4 * patience; }
  // What takes longer than this hangs.
  absl::Duration most() const { return absl::Seconds(20) * (patience > 1 ? patience : 1); }
  bool is_slow() const { return fault == "slow"; }
  bool is_silent() const { return fault == "stopped" || fault == "cut" || is_resumed(); }
  bool is_resumed() const { return fault == "resumed"; }
  // Whether the victim is left to say how its calls have ended.
  bool has_last_words() const { return is_slow() || is_resumed(); }
  bool is_join() const { return op == kJoin; }
};

}  // namespace hilo

#endif  // HILO_TESTS_FAULTS_FAULT_CASE_H_
