// A plan belongs to a device and a transform, and is kept for the life of the process. Its stream and work area are set
// before each use, under a lock: queued work keeps those with which it was queued.
#include "backends/gpu/lib/fft.h"

#include <cuda_runtime_api.h>
#include <library_types.h>

#include <mutex>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "backends/gpu/cuda/cuda_status.h"
#include "backends/gpu/driver/cuda_library.h"
#include "backends/gpu/lib/cuda_libraries.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

#if __has_include(<cufftXt.h>)
#include <cufftXt.h>
#endif

namespace hilo::gpu {
namespace {

constexpr int kForward = -1, kInverse = 1;
constexpr int kAllocationFailed = 2, kNotSupported = 16;

#if __has_include(<cufftXt.h>)
static_assert(kForward == CUFFT_FORWARD && kInverse == CUFFT_INVERSE && kAllocationFailed == CUFFT_ALLOC_FAILED &&
              kNotSupported == CUFFT_NOT_SUPPORTED);
static_assert(sizeof(cufftHandle) == sizeof(int));
#endif

struct Cufft {
#define HILO_CUDA_FN HILO_CUDA_FN_MEMBER
#include "backends/gpu/cuda/cufft.def"
#undef HILO_CUDA_FN
};

absl::StatusOr<Cufft> LoadCufft() {
  HILO_ASSIGN_OR_RETURN(void* library, LoadCudaLibrary({"libcufft.so.12", "libcufft.so.11"}));
  Cufft table;
#define HILO_CUDA_FN HILO_CUDA_FN_LOAD
#include "backends/gpu/cuda/cufft.def"
#undef HILO_CUDA_FN
  return table;
}

const absl::StatusOr<Cufft>& FftLibrary() {
  static const auto* const library = new absl::StatusOr<Cufft>(LoadCufft());
  return *library;
}

absl::Status FftStatus(int status, const FftDescriptor& fft, const char* what) {
  if (status == 0) return absl::OkStatus();
  if (status == kNotSupported) return Unimplemented(fft.ToString(), ": ", what, ": not supported");
  if (status == kAllocationFailed) return ResourceExhausted(fft.ToString(), ": ", what, ": no memory");
  return Internal(fft.ToString(), ": ", what, ": error ", status, " of cuFFT");
}

#define HILO_FFT_RETURN_IF_ERROR(call, ...) HILO_RETURN_IF_ERROR(FftStatus(FftLibrary()->call(__VA_ARGS__), fft, #call))

struct FftPlan {
  int handle = 0;
  size_t workspace_bytes = 0;
};

std::mutex& PlansMutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

absl::Status MakePlan(const FftDescriptor& fft, FftPlan* plan) {
  HILO_FFT_RETURN_IF_ERROR(cufftSetAutoAllocation, plan->handle, 0);
  const bool is_double = fft.part == F64;
  const int real = is_double ? CUDA_R_64F : CUDA_R_32F, complex = is_double ? CUDA_C_64F : CUDA_C_32F;
  std::vector<long long> lengths(fft.lengths.begin(), fft.lengths.end());
  HILO_FFT_RETURN_IF_ERROR(cufftXtMakePlanMany, plan->handle, static_cast<int>(lengths.size()), lengths.data(), nullptr,
                           1, 0, fft.type == FftType::kRfft ? real : complex, nullptr, 1, 0,
                           fft.type == FftType::kIrfft ? real : complex, fft.batch, &plan->workspace_bytes, complex);
  return absl::OkStatus();
}

// PlansMutex() must be held.
absl::StatusOr<FftPlan> PlanOf(const FftDescriptor& fft) {
  static auto* const plans = new absl::flat_hash_map<std::string, FftPlan>;
  int device = 0;
  HILO_CUDA_RETURN_IF_ERROR(cudaGetDevice(&device));
  const std::string key = absl::StrCat(device, " ", fft.ToString());
  if (const auto it = plans->find(key); it != plans->end()) return it->second;
  FftPlan plan;
  HILO_FFT_RETURN_IF_ERROR(cufftCreate, &plan.handle);
  const absl::Status made = MakePlan(fft, &plan);
  if (!made.ok()) {
    FftLibrary()->cufftDestroy(plan.handle);
    return made;
  }
  plans->emplace(key, plan);
  return plan;
}

}  // namespace

absl::Status CheckCufft() { return FftLibrary().status(); }

absl::StatusOr<int64_t> CufftWorkspaceBytes(const FftDescriptor& fft) {
  HILO_RETURN_IF_ERROR(CheckCufft());
  std::lock_guard<std::mutex> lock(PlansMutex());
  HILO_ASSIGN_OR_RETURN(const FftPlan plan, PlanOf(fft));
  return static_cast<int64_t>(plan.workspace_bytes);
}

absl::Status FftByCufft(void* stream, const FftDescriptor& fft, void* in, void* out, void* workspace,
                        int64_t workspace_bytes) {
  HILO_RETURN_IF_ERROR(CheckCufft());
  std::lock_guard<std::mutex> lock(PlansMutex());
  HILO_ASSIGN_OR_RETURN(const FftPlan plan, PlanOf(fft));
  if (static_cast<int64_t>(plan.workspace_bytes) > workspace_bytes) {
    return InvalidArgument(fft.ToString(), ": expected a workspace of ", plan.workspace_bytes, " bytes, got ",
                           workspace_bytes);
  }
  HILO_FFT_RETURN_IF_ERROR(cufftSetStream, plan.handle, stream);
  HILO_FFT_RETURN_IF_ERROR(cufftSetWorkArea, plan.handle, workspace);
  HILO_FFT_RETURN_IF_ERROR(cufftXtExec, plan.handle, in, out, fft.IsInverse() ? kInverse : kForward);
  return absl::OkStatus();
}

}  // namespace hilo::gpu
