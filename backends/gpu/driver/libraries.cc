#include "backends/gpu/driver/libraries.h"

#include "absl/strings/str_cat.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {

std::optional<LibraryAlgorithm> Libraries::Select(const char* what, const LibraryWork& work) {
  const auto ask = [&](const LibraryDecision* recorded) -> absl::StatusOr<LibraryDecision> {
    HILO_ASSIGN_OR_RETURN(const std::string library, work.version());
    std::string version =
        absl::StrCat(device_.driver == nullptr ? "" : device_.driver->properties().name, " ", library);
    if (recorded != nullptr && recorded->version == version) return *recorded;
    HILO_ASSIGN_OR_RETURN(LibraryAlgorithm algorithm, algorithms_.Select(work));
    return LibraryDecision{std::move(algorithm), std::move(version)};
  };
  return decisions_.Decide(what, work.text, ask).algorithm;
}

std::optional<LibraryAlgorithm> Libraries::SelectGemm(const GemmDescriptor& gemm) {
  return Select("matrix products", GemmWork(device_, gemm));
}

std::optional<LibraryAlgorithm> Libraries::SelectConvolution(const ConvolutionDescriptor& convolution) {
  return Select("convolutions", ConvolutionWork(device_, convolution));
}

std::optional<int64_t> Libraries::SelectFft(const FftDescriptor& fft) {
  if (fft.batch * fft.Points() < thresholds_.fft_points) return std::nullopt;
  const auto ask = [&](const LibraryDecision*) -> absl::StatusOr<LibraryDecision> {
    HILO_ASSIGN_OR_RETURN(const int64_t bytes, FftWorkspaceBytes(device_, fft));
    return LibraryDecision{LibraryAlgorithm{.workspace_bytes = bytes}, ""};
  };
  const std::optional<LibraryAlgorithm>& algorithm =
      decisions_.Decide("Fourier transforms", fft.ToString(), ask).algorithm;
  return algorithm.has_value() ? std::optional<int64_t>(algorithm->workspace_bytes) : std::nullopt;
}

bool Libraries::SelectSolver(absl::string_view routine, PrimitiveType type, int64_t rows, int64_t batch) {
  if (rows < thresholds_.solver_rows || batch > thresholds_.solver_batch) return false;
  const auto ask = [&](const LibraryDecision*) -> absl::StatusOr<LibraryDecision> {
    HILO_RETURN_IF_ERROR(CheckSolver(device_, routine, type));
    return LibraryDecision{LibraryAlgorithm{}, ""};
  };
  return decisions_.Decide("linear algebra", absl::StrCat(routine, " ", PrimitiveTypeName(type)), ask)
      .algorithm.has_value();
}

}  // namespace hilo::gpu
