// Selects a library's algorithm for a piece of work: the library's first choice, or, if HILO_TUNE names a file, the one
// that was fastest when measured on the device.
//
// The file is text with one line for each work: chip, version of the library, descriptor, code of the algorithm and
// bytes of its workspace, separated by tabs. Other lines are skipped, so files of several machines may be concatenated.
// New measurements are appended.
#ifndef HILO_BACKENDS_GPU_LIB_ALGORITHM_SELECTOR_H_
#define HILO_BACKENDS_GPU_LIB_ALGORITHM_SELECTOR_H_

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/gpu/lib/library_device.h"

namespace hilo::gpu {

// Properties of a descriptor that a selector needs.
struct LibraryWork {
  std::string text;  // one line that identifies it
  int64_t max_workspace_bytes = 0;
  // Returns what algorithms' codes depend on, other than the chip.
  std::function<absl::StatusOr<std::string>()> version;
  // Returns between one and `most` algorithms, the library's first choice first.
  std::function<absl::StatusOr<std::vector<LibraryAlgorithm>>(int most)> algorithms;
  // The sizes of the arrays in bytes, and the call on them.
  std::vector<int64_t> array_bytes;
  std::function<absl::Status(GpuStream* stream, absl::Span<void* const> arrays, const LibraryWorkspace& workspace,
                             const LibraryAlgorithm& algorithm)>
      run;
};

// Thread-safe.
class AlgorithmSelector {
 public:
  // `tune_file` may be empty: nothing is measured.
  AlgorithmSelector(const LibraryDevice& device, std::string tune_file)
      : device_(device), tune_file_(std::move(tune_file)) {}
  // Returns the value of HILO_TUNE.
  static std::string TuneFileFromEnvironment();

  // Errors: those of `work`.
  absl::StatusOr<LibraryAlgorithm> Select(const LibraryWork& work);
  // The same, with what the algorithm is for; returns `earlier`, if it is for this device and library.
  absl::StatusOr<LibraryChoice> Choose(const LibraryWork& work, const LibraryChoice* earlier = nullptr);

 private:
  absl::StatusOr<LibraryAlgorithm> SelectTuned(const LibraryWork& work);
  void ReadFile();

  const LibraryDevice device_;
  const std::string tune_file_;
  std::mutex mutex_;
  bool is_read_ = false;
  absl::flat_hash_map<std::string, absl::StatusOr<LibraryAlgorithm>> known_;  // by the first three fields of a line
};

// Returns the fastest of the library's first 8 algorithms, each run on memory of its own: the minimum time of 3 runs
// after one warm-up run. Algorithms that fail are skipped. Waits for the device. Errors: those of `work`, if all of its
// algorithms fail; the device's.
absl::StatusOr<LibraryAlgorithm> FindFastest(GpuDriver& driver, const LibraryWork& work);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_LIB_ALGORITHM_SELECTOR_H_
