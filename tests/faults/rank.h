// One of the processes of a case.
#ifndef HILO_TESTS_FAULTS_RANK_H_
#define HILO_TESTS_FAULTS_RANK_H_

#include <string>

#include "absl/status/status.h"
#include "tests/faults/fault_case.h"

namespace hilo {

// Joins the others through the folder, runs the collective, and does the fault if it is the victim. Prints what the
// parent checks: code, milliseconds, message; and how it went on.
absl::Status RunRank(const Case& one, int rank, const std::string& folder);

// Under mpirun: runs a child that is the rank, and writes how it ends to the file status_RANK: what waitpid tells, or
// "launcher SIGNAL" if this process is ended first. Returns in the child.
void Supervise(const std::string& folder, int rank);

// Whether connections can be cut here (the fault "cut").
bool MayCutCables();

}  // namespace hilo

#endif  // HILO_TESTS_FAULTS_RANK_H_
