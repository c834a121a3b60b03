// Which algorithm computes a product: the library's first choice, or, if HILO_TUNE names a file, the one that was the fastest when it was tried on the device.
//
// The file is text, a line a product: chip, version of the library, descriptor, code of the algorithm and bytes of its workspace, with tabs between. Lines that say
// something else are passed over, so files of several machines may be put together. What is tried is added at the end.
#ifndef HILO_BACKENDS_GPU_LIB_GEMM_TUNER_H_
#define HILO_BACKENDS_GPU_LIB_GEMM_TUNER_H_

#include <mutex>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "backends/gpu/lib/gemm.h"

namespace hilo::gpu {

// Thread-safe.
class GemmSelector {
 public:
  // `tune_file` may be empty: nothing is tried.
  GemmSelector(const LibraryDevice& device, std::string tune_file) : device_(device), tune_file_(std::move(tune_file)) {}
  // As HILO_TUNE says.
  static std::string TuneFileFromEnvironment();

  // Errors: as GemmAlgorithms.
  absl::StatusOr<GemmAlgorithm> Select(const GemmDescriptor& gemm);

 private:
  absl::StatusOr<GemmAlgorithm> SelectTuned(const GemmDescriptor& gemm);
  void ReadFile();

  const LibraryDevice device_;
  const std::string tune_file_;
  std::mutex mutex_;
  bool is_read_ = false;
  absl::flat_hash_map<std::string, absl::StatusOr<GemmAlgorithm>> known_;  // by the first three fields of a line
};

// The fastest of the library's first 8 algorithms, each run on memory of its own: the least time of 3 runs after one that does not count. Waits for the device.
// Errors: as GemmAlgorithms; the device's.
absl::StatusOr<GemmAlgorithm> TuneGemm(const LibraryDevice& device, const GemmDescriptor& gemm);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_LIB_GEMM_TUNER_H_
