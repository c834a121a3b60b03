#include "backends/cpu/kernels/kernels.h"

#include <array>

#include "backends/cpu/kernels/kept_results.h"
#include "backends/cpu/kernels/kernel_choice.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo::cpu {
namespace {

using codegen::Index;
using codegen::LaneIndex;

using Emitter = absl::Status (*)(FunctionEmitter& f, const KernelParts& kernel);

// By KernelKind; null for runtime calls and for the kinds of other backends.
constexpr auto kEmitters = [] {
  std::array<Emitter, kKernelKindCount> emitters{};
#define HILO_CPU_KERNEL(kind, Emit) emitters[static_cast<size_t>(KernelKind::kind)] = &Emit;
#include "backends/cpu/kernels/kernels.def"
#undef HILO_CPU_KERNEL
  return emitters;
}();

Emitter EmitterOf(KernelKind kind) { return kEmitters[static_cast<size_t>(kind)]; }

}  // namespace

bool IsCpuKernel(KernelKind kind) { return EmitterOf(kind) != nullptr || kind == KernelKind::kRuntimeCall; }

absl::Status EmitKernel(FunctionEmitter& f, const HloInstruction* instruction, llvm::Value* begin, llvm::Value* end) {
  const KernelConfig& config = *instruction->kernel();
  HILO_RET_CHECK(EmitterOf(config.kind) != nullptr)
      << "no emitter for kernels of kind " << KernelKindString(config.kind);
  const KernelParts kernel = {instruction, config, begin, end};
  const std::optional<KeptUnless> kept = KeptResults(f, *instruction);
  if (!kept) return EmitterOf(config.kind)(f, kernel);
  const std::vector<LaneIndex> first(kept->condition->shape().rank(), LaneIndex::Constant(0));
  HILO_ASSIGN_OR_RETURN(const codegen::ElementValue condition, f.elements().Generate(kept->condition, Index(first)));
  const auto run = [&]() -> absl::StatusOr<codegen::Carried> {
    HILO_RETURN_IF_ERROR(EmitterOf(config.kind)(f, kernel));
    return codegen::Carried();
  };
  const auto keep = [] { return absl::StatusOr<codegen::Carried>(codegen::Carried()); };
  return (kept->value ? codegen::EmitBranches(f.context(), "changed", condition.re, run, keep)
                      : codegen::EmitBranches(f.context(), "kept", condition.re, keep, run))
      .status();
}

absl::Status ForEach(FunctionEmitter& f, absl::string_view name, llvm::Value* begin, llvm::Value* end,
                     absl::FunctionRef<absl::Status(llvm::Value*)> body, int64_t step, int64_t most) {
  auto* first = llvm::dyn_cast<llvm::ConstantInt>(begin);
  auto* last = llvm::dyn_cast<llvm::ConstantInt>(end);
  if (first != nullptr && last != nullptr && first->getSExtValue() + step >= last->getSExtValue()) {
    if (first->getSExtValue() >= last->getSExtValue()) return absl::OkStatus();
    return body(begin);
  }
  auto result = codegen::EmitLoop(
      f.context(), name, begin, end, step, {},
      [&](llvm::Value* i, const codegen::Carried&) -> absl::StatusOr<codegen::Carried> {
        HILO_RETURN_IF_ERROR(body(i));
        return codegen::Carried();
      },
      /*at_least_once=*/false, most);
  return result.status();
}

absl::Status ForEachVector(FunctionEmitter& f, absl::string_view name, int64_t size, int width,
                           absl::FunctionRef<absl::Status(const LaneIndex&)> body) {
  llvm::IRBuilder<>& b = f.b();
  const int64_t whole = size / width * width;
  if (whole > 0) {
    codegen::RegionScope region(f.context());
    f.context().lanes = {.width = width};
    HILO_RETURN_IF_ERROR(ForEach(
        f, name, b.getInt64(0), b.getInt64(whole),
        [&](llvm::Value* i) { return body(LaneIndex::Strided(i, 1, width, size)); }, width));
  }
  if (whole == size) return absl::OkStatus();
  codegen::RegionScope region(f.context());
  std::vector<llvm::Constant*> active;
  for (int lane = 0; lane < width; ++lane) active.push_back(b.getInt1(lane < size - whole));
  f.context().lanes = {.width = width, .mask = llvm::ConstantVector::get(active)};
  return body(LaneIndex::Strided(b.getInt64(whole), 1, width, size));
}

}  // namespace hilo::cpu
