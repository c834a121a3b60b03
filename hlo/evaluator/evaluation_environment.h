// The environment of an evaluation: the device it runs on, and everything that it exchanges data with.
#ifndef HILO_HLO_EVALUATOR_EVALUATION_ENVIRONMENT_H_
#define HILO_HLO_EVALUATOR_EVALUATION_ENVIRONMENT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hilo/literal.h"
#include "hlo/ir/hlo_instruction.h"
#include "hlo/ops/table/op.h"

namespace hilo {

// True for the ops that an environment runs: collectives and their starts, custom-call, infeed,
// outfeed, send, recv and their dones. Collectives on a single device need no
// environment.
constexpr bool ReachesOutside(HloOpcode opcode) {
  return HasTrait(opcode, kCollective) || HasTrait(opcode, kTransfer) || opcode == HloOpcode::kCustomCall;
}

// One evaluation runs on one thread and calls its environment from there.
class EvaluationEnvironment {
 public:
  virtual ~EvaluationEnvironment() = default;
  virtual int64_t replica_id() const = 0;
  virtual int64_t partition_id() const = 0;
  // Runs an instruction with ReachesOutside() true. `computations` run its called
  // computations. For the start of an all-gather or a collective-permute the result is that of the
  // done. Errors: Unimplemented for ops that the environment does not support; Cancelled,
  // DeadlineExceeded; those of the op.
  virtual absl::StatusOr<Literal> Run(const HloInstruction& instruction, Operands operands,
                                      absl::Span<const ComputationFn> computations) = 0;
};

}  // namespace hilo

#endif  // HILO_HLO_EVALUATOR_EVALUATION_ENVIRONMENT_H_
