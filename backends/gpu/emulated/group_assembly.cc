#include "backends/gpu/emulated/group_assembly.h"

#include <vector>

#include "backends/gpu/driver/tensor_map.h"
#include "backends/llvm/llvm_compat.h"
#include "base/errors.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

namespace hilo::gpu {
namespace {

// Returns the assembly that `user` calls; empty: none.
llvm::StringRef AssemblyOf(const llvm::User* user) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(user);
  const auto* assembly = call == nullptr ? nullptr : llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand());
  return assembly == nullptr ? llvm::StringRef() : assembly->getAsmString();
}

}  // namespace

bool IsGroupMultiplication(llvm::StringRef assembly) { return assembly.starts_with("wgmma.mma_async."); }

std::optional<GroupStepAssembly> GroupStepOf(llvm::StringRef assembly) {
  if (assembly == "wgmma.fence.sync.aligned;") return GroupStepAssembly{GroupStep::kFence};
  if (assembly == "wgmma.commit_group.sync.aligned;") return GroupStepAssembly{GroupStep::kCommit};
  GroupStepAssembly wait{GroupStep::kWait};
  if (!assembly.consume_front("wgmma.wait_group.sync.aligned ") || assembly.consumeInteger(10, wait.pending) ||
      assembly != ";" || wait.pending < 0)
    return std::nullopt;
  return wait;
}

std::optional<BarrierStep> BarrierStepOf(llvm::StringRef assembly) {
  if (assembly == "mbarrier.init.shared::cta.b64 [$0], $1;") return BarrierStep::kInit;
  if (assembly == "mbarrier.arrive.shared::cta.b64 _, [$0];") return BarrierStep::kArrive;
  if (assembly == "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;") return BarrierStep::kArrive;
  const bool is_loop = assembly.starts_with("{") && assembly.ends_with("}") && assembly.contains("bra ");
  if (is_loop && assembly.contains("mbarrier.try_wait.parity.shared::cta.b64 ") && assembly.contains(", [$0], $1;"))
    return BarrierStep::kWait;
  return std::nullopt;
}

std::optional<int64_t> TensorCopyOf(llvm::StringRef assembly) {
  int64_t dimensions = 0;
  if (!assembly.consume_front("cp.async.bulk.tensor.") || assembly.consumeInteger(10, dimensions) ||
      !assembly.starts_with("d.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1, {") || dimensions < 1 ||
      dimensions > kMaxTensorDimensions)
    return std::nullopt;
  return dimensions;
}

absl::Status CheckPendingSums(const llvm::Function& kernel) {
  std::vector<const llvm::Value*> work;
  for (const llvm::Instruction& instruction : llvm::instructions(kernel)) {
    if (IsGroupMultiplication(AssemblyOf(&instruction))) work.push_back(&instruction);
  }
  llvm::SmallPtrSet<const llvm::Value*, 16> visited(work.begin(), work.end());
  while (!work.empty()) {
    const llvm::Value* value = work.back();
    work.pop_back();
    for (const llvm::User* user : value->users()) {
      const llvm::StringRef assembly = AssemblyOf(user);
      const std::optional<GroupStepAssembly> step = GroupStepOf(assembly);
      if (step.has_value() && step->step == GroupStep::kWait && step->pending == 0) continue;
      if (!step.has_value() && !IsGroupMultiplication(assembly) &&
          !llvm::isa<llvm::ExtractValueInst, llvm::InsertValueInst, llvm::PHINode>(user)) {
        return InvalidArgument("kernel ", codegen::ToStringView(kernel.getName()),
                               " uses the sums of wgmma.mma_async before wgmma.wait_group");
      }
      if (visited.insert(user).second) work.push_back(user);
    }
  }
  return absl::OkStatus();
}

}  // namespace hilo::gpu
