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
  double bytes_written = 0;    // of these

  // Of all instructions' operand i, up to a limit: the bytes that are read of it, of which those of an operand that
  // occurs twice in an instruction count once, and the number of instructions that have one.
  struct Operand {
    double bytes_read = 0;
    double uses = 0;
  };
  static constexpr size_t kMostOperands = 64;
  std::vector<Operand> operands;

  ProgramCost& operator+=(const ProgramCost& other);
};

// The cost of one run of the entry. Loops count as one iteration, conditionals as their most expensive branch, custom
// calls by their bytes only. Errors: InvalidArgument when computations call each other in a cycle.
absl::StatusOr<ProgramCost> CostOfProgram(const HloModule& module);

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_PROGRAM_COST_H_
