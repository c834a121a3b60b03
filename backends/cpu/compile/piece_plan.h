// Cuts a scheduled module into pieces that LLVM compiles in linear time.
//
// A piece is one LLVM function. A computation whose code is small is emitted whole, inside the piece of whoever runs
// it: a small loop is then a native loop whose scalars live in registers. A large computation becomes a driver, which
// runs its instructions in pieces of bounded size and large loops and conditionals natively around pieces of their own.
// Memory that only one piece touches may be a local of it.
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

// A guess of the number of LLVM operations that an instruction becomes.
int64_t CodeWeight(const HloInstruction& instruction);
class PiecePlan {
 public:
  // Errors: those of SequentialComputations.
  static absl::StatusOr<PiecePlan> Create(const HloModule& module, const codegen::TargetTraits& target);

  // A consecutive part of a driver's schedule.
  struct Run {
    std::vector<const HloInstruction*> instructions;
    // A single large loop, conditional: emitted by the driver itself.
    bool control = false;
    int64_t weight = 0;
  };
  // Empty for computations that are emitted whole.
  const std::vector<Run>* RunsOf(const HloComputation* computation) const;
  bool IsDriver(const HloComputation* computation) const { return runs_.contains(computation); }
  int64_t WeightOf(const HloComputation* computation) const { return weights_.at(computation); }

  // The nanoseconds that an instruction of the schedule takes on one thread.
  double RunCost(const HloInstruction& instruction) const { return instruction_costs_.at(&instruction); }
  // True for instructions worth cutting over threads: emitted as a function of their own, which the runtime calls on
  // ranges of parts.
  bool RunsInParallel(const HloInstruction& instruction) const;

  // True if everything that defines or uses the buffer is emitted into one piece.
  bool IsLocal(const BufferCandidate& buffer) const;

  // The nanoseconds of one run; a second or more for programs with a loop whose trip count is unknown.
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
