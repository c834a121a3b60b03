// The environment of the interpreter's evaluations: the run's device and the others that it works
// with.
#ifndef HILO_BACKENDS_INTERPRETER_DEVICE_ENVIRONMENT_H_
#define HILO_BACKENDS_INTERPRETER_DEVICE_ENVIRONMENT_H_

#include "backends/interpreter/custom_call_table.h"
#include "hlo/evaluator/evaluation_environment.h"
#include "runtime/compiler.h"

namespace hilo {

class DeviceEnvironment : public EvaluationEnvironment {
 public:
  // Both must outlive this object.
  DeviceEnvironment(const RunContext& run, const CustomCallTable& custom_calls)
      : run_(run), custom_calls_(custom_calls) {}
  int64_t replica_id() const override { return run_.replica_id; }
  int64_t partition_id() const override { return run_.partition_id; }
  absl::StatusOr<Literal> Run(const HloInstruction& instruction, Operands operands,
                              absl::Span<const ComputationFn> computations) override;

 private:
  absl::StatusOr<Literal> RunCustomCall(const HloInstruction& instruction, Operands operands);

  const RunContext& run_;
  const CustomCallTable& custom_calls_;
};

}  // namespace hilo

#endif  // HILO_BACKENDS_INTERPRETER_DEVICE_ENVIRONMENT_H_
