// Partitions a scheduled module into pieces that LLVM compiles in linear time.
//
// A piece is one LLVM function. A computation with little code is emitted whole, inside the piece of its caller: a
// small loop is then a native loop whose scalars are in registers. A large computation becomes a driver, which runs its
// instructions in pieces of bounded size, and emits large loops and conditionals natively around pieces of their own.
// Memory that only one piece accesses may be a local variable of that piece.
#ifndef HILO_BACKENDS_CPU_COMPILE_PIECE_PLAN_H_
#define HILO_BACKENDS_CPU_COMPILE_PIECE_PLAN_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "backends/llvm/lanes/lane_plan.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/memory/buffer_assignment.h"

namespace hilo::cpu {

// Estimates the number of LLVM operations that an instruction becomes.
int64_t CodeWeight(const HloInstruction& instruction);
class PiecePlan {
 public:
  // Errors: those of SequentialComputations.
  static absl::StatusOr<PiecePlan> Create(const HloModule& module, const codegen::TargetTraits& target);

  // A contiguous part of a driver's schedule.
  struct Run {
    std::vector<const HloInstruction*> instructions;
    // A single large loop or conditional, emitted by the driver itself.
    bool control = false;
    int64_t weight = 0;
  };
  // Returns null for computations that are emitted whole.
  const std::vector<Run>* RunsOf(const HloComputation* computation) const;
  bool IsDriver(const HloComputation* computation) const { return runs_.contains(computation); }
  int64_t WeightOf(const HloComputation* computation) const { return weights_.at(computation); }

  // Returns the estimated nanoseconds that an instruction of the schedule takes on one thread.
  double RunCost(const HloInstruction& instruction) const { return instruction_costs_.at(&instruction); }
  // Returns true for instructions worth splitting across threads: each is emitted as a function of its own, which the
  // runtime calls on ranges of parts.
  bool RunsInParallel(const HloInstruction& instruction) const;

  // Returns true if all definitions and uses of the buffer are emitted into one piece.
  bool IsLocal(const BufferCandidate& buffer) const;

  // Estimated nanoseconds of one run; a second or more for programs with a loop whose trip count is unknown.
  double estimated_nanoseconds() const { return estimated_nanoseconds_; }

 private:
  void MarkPiece(const HloModule& module, const HloComputation& computation, int64_t piece);
  void PlanDriver(const HloModule& module, const HloComputation& computation);

  absl::flat_hash_map<const HloComputation*, int64_t> weights_;
  absl::flat_hash_map<const HloComputation*, double> costs_;
  absl::flat_hash_map<const HloInstruction*, double> instruction_costs_;
  absl::flat_hash_map<const HloComputation*, std::vector<Run>> runs_;
  absl::flat_hash_map<const HloInstruction*, int64_t> piece_of_;
  int64_t next_piece_ = 0;
  double estimated_nanoseconds_ = 0;
};

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_COMPILE_PIECE_PLAN_H_
