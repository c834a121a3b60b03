#include "backends/cpu/kernels/kernel_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "backends/cpu/kernels/choice_families.h"
#include "backends/cpu/kernels/cpu_target.h"
#include "backends/llvm/elements/generated_ops.h"
#include "backends/llvm/jit/host_features.h"
#include "backends/llvm/lanes/lane_plan.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/analysis/hero.h"
#include "hlo/analysis/in_place.h"
#include "hlo/analysis/loop_results.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/memory/scheduler.h"
#include "hlo/ops/table/opcode_map.h"
#include "runtime/time_thresholds.h"

namespace hilo::cpu {
namespace {

using codegen::NumericOptions;
using codegen::TargetTraits;

// Of the code around an instruction's loops.
constexpr double kInstructionNanoseconds = 1;

// Copies in loops of arrays that threads compute: the least bytes for which each thread copies what it has in its
// caches, and the parts. Measured on two threads, 10 iterations, us before and after: f32[100,100] with an exponential
// and rolled by rows 75 and 61, by columns 88 and 58, f64[128,128] rolled 121 and 90.
constexpr int64_t kMinSharedBytes = 8 << 10, kSharedParts = 16, kCacheLine = 64;

// Other kernels that read or write what threads have in their caches: bytes of an array, and the least time. Measured
// on two processors of a Zen 4 without a common cache, ten steps of lattice Boltzmann on 128 x 64, whose kernels take 2
// to 60 us: 1340 us with the short ones on one thread, 1145 so, 1040 all on one thread.
constexpr int64_t kMinSharedArray = 32 << 10;
constexpr double kSharedNanoseconds = 1500;
// The least elements of a part of a flat loop that threads share; a multiple of every vector width.
constexpr int64_t kMinSharedElements = 128;

// One thread of a current server: two vectors of operations and a multiply-add of two in each cycle. Copies, additions,
// sums and broadcasts of 16 KB to 64 MB took 1/220 ns for a byte that stays in the first cache, 1/85 to 1/100 in the
// others, and 1/28 to 1/36 in memory.
MachineFacts FactsOf(const TargetTraits& target) {
  return {.operations_per_ns = target.vector_bits / 8.0,
          .product_flops_per_ns = target.vector_bits / 4.0,
          .memory = {{{.bytes = 64 << 10, .bytes_per_ns = 200},
                      {.bytes = 24 << 20, .bytes_per_ns = 90},
                      {.bytes = std::numeric_limits<double>::infinity(), .bytes_per_ns = 30}}}};
}

std::string TimeText(double nanoseconds) {
  if (nanoseconds < 1e3) return absl::StrFormat("%.3g ns", nanoseconds);
  if (nanoseconds < 1e6) return absl::StrFormat("%.3g us", nanoseconds / 1e3);
  return absl::StrFormat("%.4g ms", nanoseconds / 1e6);
}

using Chooser = absl::StatusOr<KernelConfig> (*)(const HloInstruction&, const TargetTraits&, const NumericOptions&);
using Choice = absl::StatusOr<KernelConfig>;

// Of fusions and instructions with this hero; null: a loop.
constexpr OpcodeMap<Chooser> kOfHeroes = {
    {HloOpcode::kDot, ChooseDot},
    {HloOpcode::kDynamicUpdateSlice,
     [](const HloInstruction& i, const TargetTraits& target, const NumericOptions&) -> Choice {
       return ChooseUpdate(i, target);
     }},
    {HloOpcode::kReduce, ChooseReduce},
    {HloOpcode::kReduceWindow, ChooseReduceWindow},
    {HloOpcode::kScatter,
     [](const HloInstruction& i, const TargetTraits& target, const NumericOptions&) -> Choice {
       return ChooseScatter(i, target);
     }},
};
// Of instructions that are not fused.
constexpr OpcodeMap<Chooser> kUnfused = {
    {HloOpcode::kConcatenate,
     [](const HloInstruction& i, const TargetTraits& target, const NumericOptions&) -> Choice {
       return ChooseConcatenate(i, target);
     }},
    {HloOpcode::kConvolution, ChooseConvolution},
    {HloOpcode::kCopy,
     [](const HloInstruction& i, const TargetTraits& target, const NumericOptions&) -> Choice {
       return ChooseCopy(i, target);
     }},
    {HloOpcode::kSelectAndScatter,
     [](const HloInstruction& i, const TargetTraits& target, const NumericOptions&) -> Choice {
       return ChooseSelectAndScatter(i, target);
     }},
    {HloOpcode::kSort,
     [](const HloInstruction& i, const TargetTraits& target, const NumericOptions&) -> Choice {
       return ChooseSort(i, target);
     }},
};

absl::StatusOr<KernelConfig> ChooseKind(const HloInstruction& instruction, const TargetTraits& target,
                                        const NumericOptions& numerics) {
  if (CpuEmission(instruction.opcode()).usual == Emission::kRuntimeCall) {
    return KernelConfig{.kind = KernelKind::kRuntimeCall, .why = "performed by a library or the environment"};
  }
  if (std::optional<KernelConfig> rows = ChooseCachedRows(instruction, target, numerics)) return *std::move(rows);
  const HloInstruction* hero = HeroOf(&instruction);
  Chooser choose = kOfHeroes[hero->opcode()];
  if (choose == nullptr && hero == &instruction) choose = kUnfused[hero->opcode()];
  if (choose != nullptr) return choose(instruction, target, numerics);
  if (!codegen::IsElementGenerated(hero->opcode())) {
    return Unimplemented(HloOpcodeString(hero->opcode()),
                         " is no kernel here: no pass has rewritten it, or it is fused");
  }
  return ChooseLoop(instruction, target);
}

// The time of the arithmetic of a loop beside that in full vectors, which the cost model assumes.
double LanesFactor(const HloInstruction& instruction, const KernelConfig& config, const TargetTraits& target) {
  switch (config.kind) {
    case KernelKind::kLoop:
    case KernelKind::kRows:
    case KernelKind::kRowSegments: break;
    default: return 1;
  }
  int full = target.vector_bits;
  for (const HloInstruction* root : LoopResultsOf(instruction).roots)
    full = std::min(full, codegen::FullVectorWidth(root, target));
  return std::max(1.0, full / static_cast<double>(std::max<int64_t>(config.width, 1)));
}

// Returns true if threads share the kernel, perhaps one of several results.
bool IsShared(const HloInstruction* instruction) {
  if (instruction->opcode() == HloOpcode::kGetTupleElement) instruction = instruction->operand(0);
  const KernelConfig* kernel = KernelOf(*instruction);
  return kernel != nullptr && kernel->parallel;
}

// Returns true for a copy in a loop if threads share the kernel that writes what it reads, or another that reads it.
bool CopiesWhatThreadsShare(const HloInstruction& copy) {
  return copy.parent() != copy.parent()->parent()->entry_computation() &&
         (IsShared(copy.operand(0)) || absl::c_any_of(copy.operand(0)->users(), IsShared));
}

// Makes more parts of a flat loop that has so much work for each element that few of them are worth threads.
void DivideForThreads(const HloInstruction& instruction, KernelConfig* config) {
  if (config->kind != KernelKind::kLoop || config->parts >= kSharedParts) return;
  const int64_t count = ShapeUtil::ElementsIn(LoopResultsOf(instruction).shape());
  config->tile = {
      std::min(config->tile[0], CeilDiv(CeilDiv(count, kSharedParts), kMinSharedElements) * kMinSharedElements)};
  config->parts = CeilDiv(count, config->tile[0]);
}

// Returns false for kernels whose parts threads must not compute at the same time, or that use threads themselves.
bool MayBeShared(const KernelConfig& config) {
  switch (config.kind) {
    case KernelKind::kRuntimeCall:
    case KernelKind::kUpdate: return false;
    case KernelKind::kScatter:
    case KernelKind::kKeySort: return config.parts > 1;
    default: return true;
  }
}

// Sets the time, and `parallel`: such instructions are functions of their own, which the runtime calls on ranges of
// parts.
void ChooseThreads(const HloInstruction& instruction, const TargetTraits& target, KernelConfig* config) {
  Work work = WorkOf(instruction);
  work.operations *= LanesFactor(instruction, *config, target);
  config->nanoseconds = kInstructionNanoseconds + Nanoseconds(work, FactsOf(target));
  if (config->kind == KernelKind::kRuntimeCall) return;
  if (!MayBeShared(*config)) {
    if (config->kind == KernelKind::kKeySort) {
      absl::StrAppend(&config->why, "; ", TimeText(config->nanoseconds),
                      ": one list, whose sort may use threads itself");
    } else {
      absl::StrAppend(&config->why, "; updates may overlap: one part");
    }
    return;
  }
  config->parallel = config->nanoseconds > kParallelNanoseconds;
  if (config->parallel) DivideForThreads(instruction, config);
  const int64_t bytes = config->kind == KernelKind::kCopy ? ShapeUtil::ByteSizeOf(instruction.shape()) : 0;
  if (!config->parallel && bytes >= kMinSharedBytes && CopiesWhatThreadsShare(instruction)) {
    config->parallel = true;
    config->tile = {CeilDiv(CeilDiv(bytes, kSharedParts), kCacheLine) * kCacheLine};
    config->parts = CeilDiv(bytes, config->tile[0]);
    absl::StrAppend(&config->why, "; by the threads that have the elements in their caches");
    return;
  }
  absl::StrAppend(&config->why, "; ", TimeText(config->nanoseconds),
                  config->parallel ? ": worth threads" : ": too short for threads");
}

// Chooses the kernels of a module's instructions; `missing`: only of those that have none. Returns true if any changed.
absl::StatusOr<bool> ChooseKernels(HloModule* module, const CompileOptions& options, bool missing,
                                   const PassContext& context) {
  HILO_ASSIGN_OR_RETURN(const codegen::CpuFeatures features, codegen::FeaturesOf(options.cpu));
  const TargetTraits target = TargetTraits::FromCpu(features);
  const NumericOptions numerics{.strict = options.strict, .flush_denormals = options.flush_denormals};
  bool changed = false;
  HILO_ASSIGN_OR_RETURN(const std::vector<HloComputation*> computations, SequentialComputations(*module));
  for (HloComputation* computation : computations) {
    for (HloInstruction* instruction : computation->instructions()) {
      const KernelConfig* now = instruction->kernel();
      if ((missing && now != nullptr) || !HasKernel(*instruction)) continue;
      HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
      HILO_ASSIGN_OR_RETURN(KernelConfig config, ChooseKernel(*instruction, target, numerics));
      if (now != nullptr && *now == config) continue;
      instruction->set_kernel(std::move(config));
      changed = true;
    }
  }
  return changed;
}

// Returns true if threads have the elements of a large operand or of the result in their caches: they share the kernel
// that writes it, or another that reads it.
bool HasElementsOfThreads(const HloInstruction& instruction) {
  static constexpr size_t kMaxUsers = 8;
  const auto is_read_by_threads = [](const HloInstruction* array) {
    const auto& users = array->users();
    return std::any_of(users.begin(), users.begin() + std::min(users.size(), kMaxUsers), IsShared);
  };
  const auto is_large = [](const HloInstruction* array) {
    return array->shape().IsArray() && ShapeUtil::ByteSizeOf(array->shape()) >= kMinSharedArray;
  };
  return absl::c_any_of(instruction.operands(),
                        [&](const HloInstruction* operand) {
                          return is_large(operand) && (IsShared(operand) || is_read_by_threads(operand));
                        }) ||
         (is_large(&instruction) && is_read_by_threads(&instruction));
}

// Lets threads share kernels that are short, but have what threads have in their caches. Returns true if there are any.
absl::StatusOr<bool> ShareNeighbors(HloModule* module, const PassContext& context) {
  bool changed = false;
  HILO_ASSIGN_OR_RETURN(const std::vector<HloComputation*> computations, SequentialComputations(*module));
  for (HloComputation* computation : computations) {
    HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
    for (HloInstruction* instruction : computation->instructions()) {
      const KernelConfig* kernel = KernelOf(*instruction);
      if (kernel == nullptr || kernel->parallel || kernel->nanoseconds < kSharedNanoseconds || !MayBeShared(*kernel) ||
          !HasElementsOfThreads(*instruction))
        continue;
      KernelConfig shared = *kernel;
      DivideForThreads(*instruction, &shared);
      if (shared.parts < kSharedParts / 2) continue;
      shared.parallel = true;
      absl::StrAppend(&shared.why, ", but threads have its elements in their caches");
      instruction->set_kernel(std::move(shared));
      changed = true;
    }
  }
  return changed;
}

class KernelChoice : public HloPass {
 public:
  explicit KernelChoice(const CompileOptions& options) : options_(options) {}

  absl::string_view name() const override { return "choose-kernels"; }
  bool optional() const override { return false; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    HILO_ASSIGN_OR_RETURN(const bool changed, ChooseKernels(module, options_, /*missing=*/false, context));
    HILO_ASSIGN_OR_RETURN(const bool shared, ShareNeighbors(module, context));
    return changed || shared;
  }

 private:
  CompileOptions options_;
};

}  // namespace

absl::StatusOr<MachineFacts> MachineFactsOf(const std::string& cpu) {
  HILO_ASSIGN_OR_RETURN(const codegen::CpuFeatures features, codegen::FeaturesOf(cpu));
  return FactsOf(TargetTraits::FromCpu(features));
}

bool HasKernel(const HloInstruction& instruction) {
  switch (CpuEmission(instruction.opcode()).usual) {
    case Emission::kControlFlow:
    case Emission::kForwarding:
    case Emission::kNoCode: return false;
    case Emission::kRuntimeCall: return true;
    case Emission::kElement:
    case Emission::kKernel:
    // Those of no row of the CPU, or rewritten: ChooseKernel() fails.
    case Emission::kCollective:
    case Emission::kEvaluated:
    case Emission::kExpanded:
    case Emission::kRewritten: break;
  }
  if (instruction.IsConstant() || IsForwarding(instruction)) return false;
  for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(instruction.shape())) {
    if (leaf.shape->IsArray() && !ShapeUtil::IsZeroElementArray(*leaf.shape)) return true;
  }
  return false;
}

const KernelConfig* KernelOf(const HloInstruction& instruction) {
  return HasKernel(instruction) ? instruction.kernel() : nullptr;
}

absl::StatusOr<KernelConfig> ChooseKernel(const HloInstruction& instruction, const TargetTraits& target,
                                          const NumericOptions& numerics) {
  absl::StatusOr<KernelConfig> config = ChooseKind(instruction, target, numerics);
  if (!config.ok()) return AddContext(config.status(), InstructionContext(instruction));
  ChooseThreads(instruction, target, &*config);
  return config;
}

absl::Status ChooseMissingKernels(HloModule* module, const CompileOptions& options) {
  return ChooseKernels(module, options, /*missing=*/true, {.cancellation = options.cancellation.get()}).status();
}

std::unique_ptr<HloPass> MakeKernelChoice(const CompileOptions& options) {
  return std::make_unique<KernelChoice>(options);
}

}  // namespace hilo::cpu
