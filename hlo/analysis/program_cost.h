// Operation and byte counts of a program, as XLA's cost analysis reports them.
#ifndef HILO_HLO_ANALYSIS_PROGRAM_COST_H_
#define HILO_HLO_ANALYSIS_PROGRAM_COST_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/ir/hlo_module.h"

namespace hilo {

// Counts are doubles, as products of sizes may exceed 2^63.
struct ProgramCost {
  double flops = 0;  // additions, multiplications, comparisons ... of elements of any type; a multiply-add is two
  double transcendentals = 0;  // exponentials, logarithms, trigonometric functions, roots, powers
  double bytes_accessed = 0;   // read by instructions and written by them, as if each went through memory
  double bytes_written = 0;    // the part of bytes_accessed that is written

  // What instructions read of their operand i, added up over all instructions.
  struct Operand {
    double bytes_read = 0;  // an operand that occurs twice in an instruction counts once
    double uses = 0;        // the number of instructions that have an operand i
  };
  static constexpr size_t kMaxOperands = 64;  // later operands are not recorded
  std::vector<Operand> operands;              // by i

  ProgramCost& operator+=(const ProgramCost& other);
};

// The cost of one run of the entry. Loops count as one iteration, conditionals as their most expensive branch, custom
// calls by their bytes only. Errors: InvalidArgument when computations call each other in a cycle.
absl::StatusOr<ProgramCost> CostOfProgram(const HloModule& module);

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_PROGRAM_COST_H_
