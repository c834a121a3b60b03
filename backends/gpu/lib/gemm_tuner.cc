#include "backends/gpu/lib/gemm_tuner.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file_size_signal.h"
#include "base/status_macros.h"

namespace hilo::gpu {
namespace {

constexpr int kTried = 8, kTimedRuns = 3;
// Small numbers in every type of floating point, so that the device works as hard as it does on data.
constexpr uint32_t kPattern = 0x3c3c3c3c;

// An upper bound of what an operand spans.
int64_t Bytes(int64_t columns, int64_t leading, int64_t batch, int64_t stride, PrimitiveType type) {
  return (columns * leading + (batch - 1) * stride) * PrimitiveTypeByteSize(type);
}

}  // namespace

absl::StatusOr<GemmAlgorithm> TuneGemm(const LibraryDevice& device, const GemmDescriptor& gemm) {
  HILO_ASSIGN_OR_RETURN(const std::vector<GemmAlgorithm> algorithms, GemmAlgorithms(device, gemm, kTried));
  GpuDriver& driver = *device.driver;
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
  GemmOperands operands;
  HILO_ASSIGN_OR_RETURN(operands.a, allocate(Bytes(gemm.transpose_a ? gemm.m : gemm.k, gemm.lda, gemm.batch, gemm.stride_a, gemm.a_type)));
  HILO_ASSIGN_OR_RETURN(operands.b, allocate(Bytes(gemm.transpose_b ? gemm.k : gemm.n, gemm.ldb, gemm.batch, gemm.stride_b, gemm.b_type)));
  HILO_ASSIGN_OR_RETURN(operands.d, allocate(Bytes(gemm.n, gemm.ldd, gemm.batch, gemm.stride_d, gemm.d_type)));
  operands.c = operands.d;
  if (gemm.has_bias) {
    HILO_ASSIGN_OR_RETURN(operands.bias, allocate(gemm.m * PrimitiveTypeByteSize(gemm.d_type)));
  }
  GemmWorkspace workspace;
  for (const GemmAlgorithm& algorithm : algorithms) workspace.bytes = std::max(workspace.bytes, algorithm.workspace_bytes);
  HILO_ASSIGN_OR_RETURN(workspace.memory, allocate(workspace.bytes));

  const GemmAlgorithm* best = &algorithms[0];
  double least = std::numeric_limits<double>::infinity();
  for (const GemmAlgorithm& algorithm : algorithms) {
    for (int run = 0; run <= kTimedRuns; ++run) {
      HILO_RETURN_IF_ERROR(stream->Record(start.get()));
      HILO_RETURN_IF_ERROR(RunGemm(stream.get(), gemm, operands, workspace, algorithm));
      HILO_RETURN_IF_ERROR(stream->Record(end.get()));
      HILO_RETURN_IF_ERROR(stream->Synchronize());
      HILO_ASSIGN_OR_RETURN(const double time, end->MillisecondsSince(*start));
      if (run == 0 || time >= least) continue;
      least = time;
      best = &algorithm;
    }
  }
  return *best;
}

std::string GemmSelector::TuneFileFromEnvironment() {
  const char* file = std::getenv("HILO_TUNE");
  return file == nullptr ? "" : file;
}

void GemmSelector::ReadFile() {
  if (is_read_) return;
  is_read_ = true;
  std::ifstream file(tune_file_);
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> fields = absl::StrSplit(line, '\t');
    int64_t bytes = 0;
    if (fields.size() != 5 || !absl::SimpleAtoi(fields[4], &bytes) || bytes < 0 || bytes > kGemmWorkspaceBytes) continue;
    known_.insert_or_assign(absl::StrCat(fields[0], "\t", fields[1], "\t", fields[2]), GemmAlgorithm{fields[3], bytes});
  }
}

absl::StatusOr<GemmAlgorithm> GemmSelector::SelectTuned(const GemmDescriptor& gemm) {
  HILO_ASSIGN_OR_RETURN(const std::string version, GemmLibraryVersion(device_));
  const std::string key = absl::StrCat(device_.driver->properties().name, "\t", version, "\t", gemm.ToString());
  ReadFile();
  if (const auto it = known_.find(key); it != known_.end()) return it->second;
  absl::StatusOr<GemmAlgorithm> best = TuneGemm(device_, gemm);
  const FileSizeSignalHeld held;
  if (best.ok()) std::ofstream(tune_file_, std::ios::app) << key << '\t' << best->code << '\t' << best->workspace_bytes << '\n';
  known_.emplace(key, best);
  return best;
}

absl::StatusOr<GemmAlgorithm> GemmSelector::Select(const GemmDescriptor& gemm) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (device_.driver != nullptr && !tune_file_.empty()) return SelectTuned(gemm);
  const std::string key = gemm.ToString();
  if (const auto it = known_.find(key); it != known_.end()) return it->second;
  absl::StatusOr<std::vector<GemmAlgorithm>> first = GemmAlgorithms(device_, gemm, 1);
  const absl::StatusOr<GemmAlgorithm> chosen = first.ok() ? absl::StatusOr<GemmAlgorithm>((*first)[0]) : first.status();
  known_.emplace(key, chosen);
  return chosen;
}

}  // namespace hilo::gpu
