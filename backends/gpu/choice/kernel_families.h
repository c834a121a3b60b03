// The choice of a kernel within each family of instructions (kernel_choice.h). All decisions and their thresholds are
// in kernel_*.cc; facts about instructions come from match/ and hlo/analysis.
#ifndef HILO_BACKENDS_GPU_CHOICE_KERNEL_FAMILIES_H_
#define HILO_BACKENDS_GPU_CHOICE_KERNEL_FAMILIES_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "backends/gpu/choice/kernel_facts.h"
#include "backends/gpu/match/operands.h"
#include "hlo/analysis/attention.h"
#include "hlo/analysis/dot_sides.h"
#include "hlo/analysis/loop_results.h"
#include "hlo/analysis/score_grid.h"
#include "hlo/ir/kernel_config.h"
#include "hlo/memory/buffer_assignment.h"
#include "hlo/passes/hlo_pass.h"

namespace hilo::gpu {

// Threads that fill a device: 1,024 on each of an H100's 132 multiprocessors.
inline constexpr int64_t kWantedThreads = int64_t{1} << 17;
// A thread reads and writes at most 16 bytes at a time, and at most eight elements, whose code is repeated.
inline constexpr int64_t kGroupBytes = 16, kMaxInGroup = 8;

// Returns the number of adjacent elements, at most `most`, that fill kGroupBytes with elements of `bytes` and divide
// lines of `line` elements.
int64_t GroupOf(int64_t bytes, int64_t line, int64_t most = kMaxInGroup);

// Compute capability, times ten, from which kernels use tensor cores: with mma.sync for bf16 and 8 bits, and ldmatrix.
inline constexpr int kFirstTensorCores = 80;
// Shared memory that kernels of a fixed size have, the least bytes of an asynchronous copy, and the most cells between
// lines in shared memory (score_multiplier.h, tensor_core.h).
inline constexpr int64_t kSharedBytes = 48 << 10, kMinCopiedBytes = 4, kLineGap = 8;

// Returns the number of adjacent elements of an operand: along its last dimension, unless that is one of the batch.
int64_t MinorSize(const DotSide& side);

// A loop over the results; `why` is the reason why it is no other kernel.
absl::StatusOr<KernelConfig> ChooseLoop(const HloInstruction& instruction, const KernelFacts& facts,
                                        absl::string_view why);
// Returns the width of a loop that computes `roots`.
int64_t LoopWidth(const HloInstruction& instruction, const LoopResults& results, const KernelFacts& facts);

// In registers, if they hold the rows; nullopt otherwise.
std::optional<KernelConfig> ChooseRegisterRows(const HloInstruction& instruction, const KernelFacts& facts);
// By blocks that read their rows again from the second cache, if the model finds that faster than a kernel for each
// reduction and one for the results; nullopt otherwise.
std::optional<KernelConfig> ChooseStreamedRows(const HloInstruction& instruction, const KernelFacts& facts);
absl::StatusOr<KernelConfig> ChooseReduction(const HloInstruction& instruction, const KernelFacts& facts);
absl::StatusOr<KernelConfig> ChooseReduceWindow(const HloInstruction& instruction, const KernelFacts& facts);

absl::StatusOr<KernelConfig> ChooseAttention(const Attention& attention);
absl::StatusOr<KernelConfig> ChooseAttentionGradient(const HloInstruction& instruction, const ScoreGrid& grid);
absl::StatusOr<KernelConfig> ChooseDot(const HloInstruction& instruction, const KernelFacts& facts);
absl::StatusOr<KernelConfig> ChooseRaggedDot(const HloInstruction& instruction, const KernelFacts& facts);
absl::StatusOr<KernelConfig> ChooseConvolution(const HloInstruction& instruction, const KernelFacts& facts);
absl::StatusOr<KernelConfig> ChooseTranspose(const HloInstruction& instruction, const KernelFacts& facts);
absl::StatusOr<KernelConfig> ChooseConcatenate(const HloInstruction& instruction, const KernelFacts& facts);
absl::StatusOr<KernelConfig> ChooseUpdate(const HloInstruction& instruction, const KernelFacts& facts);
absl::StatusOr<KernelConfig> ChooseScatter(const HloInstruction& instruction, const KernelFacts& facts);
absl::StatusOr<KernelConfig> ChooseSort(const HloInstruction& instruction, const KernelFacts& facts);
KernelConfig ChooseTopK(const HloInstruction& instruction);

// A library's call, if the library does it; nullopt otherwise.
std::optional<KernelConfig> ChooseLibraryCall(const HloInstruction& instruction, const KernelFacts& facts);
// A custom call: of a library, a kernel, a function on the stream or on the host.
absl::StatusOr<KernelConfig> ChooseCustomCall(const HloInstruction& instruction, const KernelFacts& facts);

// Marks sequences of small instructions, and loops of them, in a computation and what it runs.
absl::Status ChooseSequences(HloModule* module, const BufferAssignment& assignment, const PassContext& context);
// Marks small instructions in a row that share a launch.
absl::Status ChooseGroups(HloModule* module, const BufferAssignment& assignment, const KernelFacts& facts,
                          const PassContext& context);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_CHOICE_KERNEL_FAMILIES_H_
