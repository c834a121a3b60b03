// The choice between libraries and kernels, and of how custom calls are made. Thresholds of size: kernel_settings.h.
#include "absl/strings/str_cat.h"
#include "backends/gpu/choice/kernel_families.h"
#include "backends/gpu/driver/platform_names.h"
#include "backends/gpu/lib/libraries.h"
#include "backends/gpu/match/convolution_match.h"
#include "backends/gpu/match/gemm_match.h"
#include "backends/gpu/match/launch_sizes.h"
#include "backends/gpu/match/library_match.h"
#include "backends/gpu/thunks/host_call.h"
#include "base/errors.h"
#include "hilo/ffi.h"
#include "hlo/ops/structure/custom_call_attributes.h"

namespace hilo::gpu {
namespace {

std::optional<KernelConfig> ChooseSolver(const std::optional<SolverMatch>& match, KernelKind kind,
                                         const KernelFacts& facts) {
  if (!match.has_value() || facts.libraries == nullptr ||
      !facts.libraries->SelectSolver(match->call.routine, match->call.type(), match->rows, match->batch))
    return std::nullopt;
  return KernelConfig{.kind = kind,
                      .why = absl::StrCat("matrices of ", match->rows, " rows, at least ",
                                          facts.settings.library_thresholds.solver_rows)};
}

// The pass that makes such fusions compares sizes with the thresholds.
std::optional<KernelConfig> ChooseProduct(const HloInstruction& fusion, const KernelFacts& facts) {
  Libraries& libraries = *facts.libraries;
  const LibraryThresholds& thresholds = facts.settings.library_thresholds;
  if (const std::optional<GemmMatch> gemm = GemmOf(fusion);
      gemm.has_value() && libraries.SelectGemm(gemm->gemm).has_value())
    return KernelConfig{.kind = KernelKind::kLibraryDot,
                        .why = absl::StrCat("at least ", thresholds.gemm_products, " multiplications")};
  if (const std::optional<ConvolutionMatch> convolution = ConvolutionOf(fusion);
      convolution.has_value() && libraries.SelectConvolution(convolution->descriptor).has_value())
    return KernelConfig{.kind = KernelKind::kLibraryConvolution,
                        .why = absl::StrCat("at least ", thresholds.convolution_products, " multiplications")};
  return std::nullopt;
}

std::optional<KernelConfig> ChooseFft(const HloInstruction& instruction, const KernelFacts& facts) {
  const std::optional<FftDescriptor> fft = FftOf(instruction);
  if (!fft.has_value() || !facts.libraries->SelectFft(*fft).has_value()) return std::nullopt;
  return KernelConfig{.kind = KernelKind::kLibraryFft,
                      .why = absl::StrCat(fft->batch * fft->Points(), " points, at least ",
                                          facts.settings.library_thresholds.fft_points)};
}

bool IsPivotsToPermutation(const HloInstruction& call) {
  const Shape& result = call.shape();
  if (call.operand_count() != 1 || !result.IsArray() || result.element_type() != S32 || result.rank() == 0)
    return false;
  const Shape& pivots = call.operand(0)->shape();
  if (!pivots.IsArray() || pivots.element_type() != S32 || pivots.rank() != result.rank() ||
      ShapeUtil::IsZeroElementArray(result))
    return false;
  const int64_t size = result.dimensions().back(), count = pivots.dimensions().back();
  return count <= size && ShapeUtil::ElementsIn(pivots) == ShapeUtil::ElementsIn(result) / size * count;
}

bool IsOnStream(const CustomCallAttrs& attrs, const KernelFacts& facts) {
  const CustomCallRegistry* registry = facts.custom_calls;
  if (registry == nullptr) registry = &CustomCallRegistry::Default();
  const absl::string_view platforms[] = {kStreamPlatform};
  return registry->Find(attrs.custom_call_target, platforms, attrs.api_version).ok();
}

}  // namespace

std::optional<KernelConfig> ChooseLibraryCall(const HloInstruction& instruction, const KernelFacts& facts) {
  if (facts.libraries == nullptr) return std::nullopt;
  const HloOpcode opcode = instruction.opcode();
  if (opcode == HloOpcode::kFusion) return ChooseProduct(instruction, facts);
  if (opcode == HloOpcode::kFft) return ChooseFft(instruction, facts);
  if (opcode == HloOpcode::kCholesky)
    return ChooseSolver(CholeskyCallOf(instruction), KernelKind::kLibraryCholesky, facts);
  if (opcode == HloOpcode::kTriangularSolve)
    return ChooseSolver(TriangularSolveCallOf(instruction), KernelKind::kLibraryTriangularSolve, facts);
  return std::nullopt;
}

absl::StatusOr<KernelConfig> ChooseCustomCall(const HloInstruction& instruction, const KernelFacts& facts) {
  const CustomCallAttrs& attrs = instruction.attrs<CustomCallAttrs>();
  if (attrs.custom_call_target == "cu_lu_pivots_to_permutation" && IsPivotsToPermutation(instruction)) {
    const int64_t lists = ShapeUtil::ElementsIn(instruction.shape()) / instruction.shape().dimensions().back();
    return KernelConfig{
        .kind = KernelKind::kPivotsToPermutation, .tile = {BlockFor(lists)}, .why = "a thread per list"};
  }
  if (std::optional<KernelConfig> call = ChooseSolver(SolverCallOf(instruction), KernelKind::kLibrarySolver, facts))
    return *std::move(call);
  if (SolverRoutineOf(attrs.custom_call_target).empty() && IsOnStream(attrs, facts))
    return KernelConfig{.kind = KernelKind::kStreamCall, .why = "a function is registered for the device's stream"};
  if (IsHostCall(instruction))
    return KernelConfig{.kind = KernelKind::kHostCall, .why = "its function runs on the host"};
  return Unimplemented(HloOpcodeString(instruction.opcode()), " is not supported on this platform yet");
}

}  // namespace hilo::gpu
