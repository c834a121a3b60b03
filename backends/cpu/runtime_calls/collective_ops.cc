// Collectives and the queries of replica and partition ids, as runtime calls.
#include "backends/cpu/runtime_calls/collective_ops.h"

#include "collectives/collective_op.h"
#include "hilo/status_macros.h"

namespace hilo::cpu {
namespace {

class CollectiveRuntimeCall : public RuntimeCall {
 public:
  explicit CollectiveRuntimeCall(CollectiveOp op) : op_(std::move(op)) {}

  absl::Status Run(const RunContext& run, const RuntimeCallArrays& arrays) const override {
    auto combine = [&](void* result, const void* a, const void* b, int64_t count) {
      const uint8_t* operands[] = {static_cast<const uint8_t*>(a), static_cast<const uint8_t*>(b)};
      uint8_t* results[] = {static_cast<uint8_t*>(result)};
      arrays.computations[0](operands, results, count);
      return absl::OkStatus();
    };
    const std::vector<const void*> operands(arrays.operands.begin(), arrays.operands.end());
    const std::vector<void*> results(arrays.results.begin(), arrays.results.end());
    const DevicePosition position{run.replica_id, run.partition_id, run.replica_count, run.partition_count};
    return op_.Run(position, run.communicator, run.cancellation, combine, operands, results);
  }

 private:
  const CollectiveOp op_;
};

class DeviceIdRuntimeCall : public RuntimeCall {
 public:
  explicit DeviceIdRuntimeCall(bool partition) : partition_(partition) {}

  absl::Status Run(const RunContext& run, const RuntimeCallArrays& arrays) const override {
    *reinterpret_cast<uint32_t*>(arrays.results[0]) =
        static_cast<uint32_t>(partition_ ? run.partition_id : run.replica_id);
    return absl::OkStatus();
  }

 private:
  const bool partition_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RuntimeCall>> MakeCollectiveOp(const HloInstruction& instruction,
                                                              const CompileOptions&) {
  HILO_ASSIGN_OR_RETURN(CollectiveOp op, CollectiveOp::Create(instruction));
  return std::make_unique<CollectiveRuntimeCall>(std::move(op));
}

absl::StatusOr<std::unique_ptr<RuntimeCall>> MakeDeviceIdOp(const HloInstruction& instruction, const CompileOptions&) {
  return std::make_unique<DeviceIdRuntimeCall>(instruction.opcode() == HloOpcode::kPartitionId);
}

}  // namespace hilo::cpu
