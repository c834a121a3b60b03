// What the interpreter's evaluations find outside: the run's device and the others that it works
// with.
#ifndef HILO_BACKENDS_INTERPRETER_DEVICE_ENVIRONMENT_H_
#define HILO_BACKENDS_INTERPRETER_DEVICE_ENVIRONMENT_H_

#include "hlo/evaluator/evaluation_environment.h"
#include "runtime/compiler.h"

namespace hilo {

class DeviceEnvironment : public EvaluationEnvironment {
 public:
  // `run` outlives this.
  explicit DeviceEnvironment(const RunContext& run) : run_(run) {}
  int64_t replica_id() const override { return run_.replica_id; }
  int64_t partition_id() const override { return run_.partition_id; }
  absl::StatusOr<Literal> Run(const HloInstruction& instruction, Operands operands,
                              absl::Span<const ComputationFn> computations) override;

 private:
  const RunContext& run_;
};

}  // namespace hilo

#endif  // HILO_BACKENDS_INTERPRETER_DEVICE_ENVIRONMENT_H_
