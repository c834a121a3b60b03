// The emitter of each kind of kernel.
#include <array>
#include <iterator>
#include <utility>

#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/emitters/sequence_emitter.h"
#include "base/errors.h"

namespace hilo::gpu {
namespace {

using Emitter = absl::Status (*)(ProgramEmitter& program, const HloInstruction* instruction);

constexpr std::pair<KernelKind, Emitter> kEmitters[] = {
    {KernelKind::kAttention, EmitAttention},
    {KernelKind::kBlockRows, EmitBlockRows},
    {KernelKind::kBlockRowsInOrder, EmitBlockRowsInOrder},
    {KernelKind::kCholesky, EmitCholesky},
    {KernelKind::kCollective, EmitCollective},
    {KernelKind::kColumns, EmitColumns},
    {KernelKind::kConcatenate, EmitConcatenate},
    {KernelKind::kCopy, EmitCopy},
    {KernelKind::kDeviceTransfer, EmitDeviceTransfer},
    {KernelKind::kFft, EmitFft},
    {KernelKind::kHostCall, EmitHostCall},
    {KernelKind::kLibraryCholesky, EmitLibraryCholesky},
    {KernelKind::kLibraryConvolution, EmitLibraryConvolution},
    {KernelKind::kLibraryDot, EmitLibraryDot},
    {KernelKind::kLibraryFft, EmitLibraryFft},
    {KernelKind::kLibrarySolver, EmitLibrarySolver},
    {KernelKind::kLibraryTriangularSolve, EmitLibraryTriangularSolve},
    {KernelKind::kLoop, EmitLoop},
    {KernelKind::kLoopPerResult, EmitLoopPerResult},
    {KernelKind::kMergeSort, EmitMergeSort},
    {KernelKind::kOneThreadLoop, EmitOneThreadLoop},
    {KernelKind::kPivotsToPermutation, EmitPivotsToPermutation},
    {KernelKind::kPrefixScanColumns, EmitPrefixScan},
    {KernelKind::kPrefixScanInOrder, EmitPrefixScanInOrder},
    {KernelKind::kPrefixScanLines, EmitPrefixScan},
    {KernelKind::kRadixSort, EmitRadixSort},
    {KernelKind::kRaggedDot, EmitRaggedDot},
    {KernelKind::kRegisterRows, EmitRegisterRows},
    {KernelKind::kScatterAtomic, EmitScatterAtomic},
    {KernelKind::kScatterInOrder, EmitScatterInOrder},
    {KernelKind::kScatterIndependent, EmitScatterIndependent},
    {KernelKind::kSelectAndScatter, EmitSelectAndScatter},
    {KernelKind::kStreamCall, EmitStreamCall},
    {KernelKind::kTiledConvolution, EmitConvolution},
    {KernelKind::kTiledDot, EmitDot},
    {KernelKind::kTiledTranspose, EmitTranspose},
    {KernelKind::kTopK, EmitTopK},
    {KernelKind::kTriangularSolve, EmitTriangularSolve},
    {KernelKind::kUpdate, EmitUpdateSlice},
    {KernelKind::kWarpRows, EmitWarpRows},
    {KernelKind::kWarpRowsInOrder, EmitWarpRowsInOrder},
};

// By kind; null for those of other backends, for control flow, and for sequences, which have several instructions.
constexpr std::array<Emitter, kKernelKindCount> kEmitterOf = [] {
  std::array<Emitter, kKernelKindCount> table{};
  for (const auto& [kind, emitter] : kEmitters) table[static_cast<size_t>(kind)] = emitter;
  return table;
}();

}  // namespace

absl::Status EmitKernel(ProgramEmitter& program, const HloInstruction* instruction) {
  const KernelKind kind = instruction->kernel()->kind;
  const Emitter emitter = kEmitterOf[static_cast<size_t>(kind)];
  if (emitter == nullptr) return Internal("this backend has no kernel of kind ", KernelKindString(kind));
  return emitter(program, instruction);
}

}  // namespace hilo::gpu
