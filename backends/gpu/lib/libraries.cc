#include "backends/gpu/lib/libraries.h"

#include "absl/strings/str_cat.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {

std::optional<LibraryChoice> Libraries::Select(const char* what, const LibraryWork& work) {
  return decisions_.Decide(what, work.text, [&] { return algorithms_.Choose(work); });
}

std::optional<LibraryChoice> Libraries::SelectGemm(const GemmDescriptor& gemm) {
  return Select("matrix products", GemmWork(device_, gemm));
}

std::optional<LibraryChoice> Libraries::SelectConvolution(const ConvolutionDescriptor& convolution) {
  return Select("convolutions", ConvolutionWork(device_, convolution));
}

std::optional<int64_t> Libraries::SelectFft(const FftDescriptor& fft) {
  if (fft.batch * fft.Points() < thresholds_.fft_points) return std::nullopt;
  const auto ask = [&]() -> absl::StatusOr<LibraryChoice> {
    HILO_ASSIGN_OR_RETURN(const int64_t bytes, FftWorkspaceBytes(device_, fft));
    return LibraryChoice{.algorithm = {.workspace_bytes = bytes}};
  };
  const std::optional<LibraryChoice>& choice = decisions_.Decide("Fourier transforms", fft.ToString(), ask);
  return choice.has_value() ? std::optional<int64_t>(choice->algorithm.workspace_bytes) : std::nullopt;
}

bool Libraries::SelectSolver(absl::string_view routine, PrimitiveType type, int64_t rows, int64_t batch) {
  if (rows < thresholds_.solver_rows || batch > thresholds_.solver_batch) return false;
  const auto ask = [&]() -> absl::StatusOr<LibraryChoice> {
    HILO_RETURN_IF_ERROR(CheckSolver(device_, routine, type));
    return LibraryChoice{};
  };
  return decisions_.Decide("linear algebra", absl::StrCat(routine, " ", PrimitiveTypeName(type)), ask).has_value();
}

}  // namespace hilo::gpu
