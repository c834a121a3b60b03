#include "backends/gpu/libraries.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace hilo::gpu {

std::optional<LibraryAlgorithm> Libraries::Select(const char* what, const LibraryWork& work) {
  absl::StatusOr<LibraryAlgorithm> selected = algorithms_.Select(work);
  if (selected.ok()) return *std::move(selected);
  Note(what, selected.status());
  return std::nullopt;
}

std::optional<LibraryAlgorithm> Libraries::SelectGemm(const GemmDescriptor& gemm) { return Select("matrix products", GemmWork(device_, gemm)); }

std::optional<LibraryAlgorithm> Libraries::SelectConvolution(const ConvolutionDescriptor& convolution) {
  return Select("convolutions", ConvolutionWork(device_, convolution));
}

std::optional<int64_t> Libraries::SelectFft(const FftDescriptor& fft) {
  if (fft.batch * fft.Points() < thresholds_.fft_points) return std::nullopt;
  const absl::StatusOr<int64_t> bytes = FftWorkspaceBytes(device_, fft);
  if (bytes.ok()) return *bytes;
  Note("Fourier transforms", bytes.status());
  return std::nullopt;
}

bool Libraries::SelectSolver(absl::string_view routine, PrimitiveType type, int64_t rows, int64_t batch) {
  if (rows < thresholds_.solver_rows || batch > thresholds_.solver_batch) return false;
  const absl::Status status = CheckSolver(device_, routine, type);
  if (!status.ok()) Note("linear algebra", status);
  return status.ok();
}

void Libraries::Note(const char* what, const absl::Status& status) {
  if (absl::IsUnavailable(status)) missing_.insert(absl::StrCat("kernels in place of the library for ", what, ": ", status.message(), "\n"));
}

std::string Libraries::Missing() const { return absl::StrJoin(missing_, ""); }

}  // namespace hilo::gpu
