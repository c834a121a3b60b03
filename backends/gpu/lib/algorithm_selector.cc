#include "backends/gpu/lib/algorithm_selector.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file_size_signal.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

constexpr int kTried = 8, kTimedRuns = 3;
// Small numbers in every type of floating point, so that the device works as hard as it does on data.
constexpr uint32_t kPattern = 0x3c3c3c3c;

}  // namespace

absl::StatusOr<LibraryAlgorithm> FindFastest(GpuDriver& driver, const LibraryWork& work) {
  HILO_ASSIGN_OR_RETURN(const std::vector<LibraryAlgorithm> algorithms, work.algorithms(kTried));
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<GpuStream> stream, driver.CreateStream());
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<GpuEvent> start, driver.CreateEvent());
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<GpuEvent> end, driver.CreateEvent());
  std::vector<void*> allocated;
  const auto cleanup = absl::MakeCleanup([&] {
    stream->Synchronize().IgnoreError();
    for (void* memory : allocated) driver.Free(memory).IgnoreError();
  });
  auto allocate = [&](int64_t bytes) -> absl::StatusOr<void*> {
    bytes = (bytes + 3) / 4 * 4;
    HILO_ASSIGN_OR_RETURN(void* memory, driver.Allocate(bytes));
    allocated.push_back(memory);
    HILO_RETURN_IF_ERROR(stream->Fill(memory, kPattern, 4, bytes));
    return memory;
  };
  std::vector<void*> arrays;
  for (int64_t bytes : work.array_bytes) {
    HILO_ASSIGN_OR_RETURN(arrays.emplace_back(), allocate(bytes));
  }
  LibraryWorkspace workspace;
  for (const LibraryAlgorithm& algorithm : algorithms)
    workspace.bytes = std::max(workspace.bytes, algorithm.workspace_bytes);
  HILO_ASSIGN_OR_RETURN(workspace.memory, allocate(workspace.bytes));

  const auto time_of = [&](const LibraryAlgorithm& algorithm) -> absl::StatusOr<double> {
    double least = std::numeric_limits<double>::infinity();
    for (int run = 0; run <= kTimedRuns; ++run) {
      HILO_RETURN_IF_ERROR(stream->Record(start.get()));
      HILO_RETURN_IF_ERROR(work.run(stream.get(), arrays, workspace, algorithm));
      HILO_RETURN_IF_ERROR(stream->Record(end.get()));
      HILO_RETURN_IF_ERROR(stream->Synchronize());
      HILO_ASSIGN_OR_RETURN(const double time, end->MillisecondsSince(*start));
      if (run > 0) least = std::min(least, time);
    }
    return least;
  };
  const LibraryAlgorithm* best = nullptr;
  double least = 0;
  absl::Status failed;
  for (const LibraryAlgorithm& algorithm : algorithms) {
    const absl::StatusOr<double> time = time_of(algorithm);
    if (!time.ok()) {
      failed = time.status();
    } else if (best == nullptr || *time < least) {
      best = &algorithm;
      least = *time;
    }
  }
  if (best == nullptr) return failed;
  return *best;
}

std::string AlgorithmSelector::TuneFileFromEnvironment() {
  const char* file = std::getenv("HILO_TUNE");
  return file == nullptr ? "" : file;
}

void AlgorithmSelector::ReadFile() {
  if (is_read_) return;
  is_read_ = true;
  std::ifstream file(tune_file_);
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> fields = absl::StrSplit(line, '\t');
    int64_t bytes = 0;
    if (fields.size() != 5 || !absl::SimpleAtoi(fields[4], &bytes) || bytes < 0) continue;
    known_.insert_or_assign(absl::StrCat(fields[0], "\t", fields[1], "\t", fields[2]),
                            LibraryAlgorithm{fields[3], bytes});
  }
}

absl::StatusOr<LibraryAlgorithm> AlgorithmSelector::SelectTuned(const LibraryWork& work) {
  HILO_ASSIGN_OR_RETURN(const std::string version, work.version());
  const std::string key = absl::StrCat(device_.driver->properties().name, "\t", version, "\t", work.text);
  ReadFile();
  const auto it = known_.find(key);
  if (it != known_.end() && (!it->second.ok() || it->second->workspace_bytes <= work.max_workspace_bytes))
    return it->second;
  absl::StatusOr<LibraryAlgorithm> best = FindFastest(*device_.driver, work);
  const FileSizeSignalHeld held;
  if (best.ok())
    std::ofstream(tune_file_, std::ios::app) << key << '\t' << best->code << '\t' << best->workspace_bytes << '\n';
  known_.insert_or_assign(key, best);
  return best;
}

absl::StatusOr<LibraryAlgorithm> AlgorithmSelector::Select(const LibraryWork& work) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (device_.driver != nullptr && !tune_file_.empty()) return SelectTuned(work);
  if (const auto it = known_.find(work.text); it != known_.end()) return it->second;
  const absl::StatusOr<std::vector<LibraryAlgorithm>> first = work.algorithms(1);
  const absl::StatusOr<LibraryAlgorithm> chosen =
      first.ok() ? absl::StatusOr<LibraryAlgorithm>((*first)[0]) : first.status();
  known_.emplace(work.text, chosen);
  return chosen;
}

absl::StatusOr<LibraryChoice> AlgorithmSelector::Choose(const LibraryWork& work, const LibraryChoice* earlier) {
  HILO_ASSIGN_OR_RETURN(const std::string library, work.version());
  std::string version = absl::StrCat(device_.driver == nullptr ? "" : device_.driver->properties().name, " ", library);
  if (earlier != nullptr && earlier->version == version) return *earlier;
  HILO_ASSIGN_OR_RETURN(LibraryAlgorithm algorithm, Select(work));
  return LibraryChoice{std::move(algorithm), std::move(version)};
}

}  // namespace hilo::gpu
