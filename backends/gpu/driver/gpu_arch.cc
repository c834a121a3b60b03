#include "backends/gpu/driver/gpu_arch.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

constexpr int kLargestNumber = 9999;

}  // namespace

std::string ExactArchitecture(absl::string_view arch) { return absl::StrCat(absl::StripSuffix(arch, "a"), "a"); }

absl::StatusOr<Architecture> ParseArchitecture(absl::string_view arch) {
  Architecture result;
  absl::string_view number = arch;
  int value = 0;
  const bool named = absl::ConsumePrefix(&number, "sm_");
  result.exact = absl::ConsumeSuffix(&number, "a");
  if (!named || !absl::SimpleAtoi(number, &value) || value < 10 || value > kLargestNumber)
    return InvalidArgument("expected a GPU architecture as in sm_90, got '", arch, "'");
  result.major = value / 10;
  result.minor = value % 10;
  return result;
}

absl::StatusOr<std::string> PtxArchitecture(absl::string_view arch,
                                            absl::FunctionRef<bool(absl::string_view)> is_known) {
  HILO_ASSIGN_OR_RETURN(const Architecture wanted, ParseArchitecture(arch));
  if (is_known(arch)) return std::string(arch);
  for (int number = wanted.number(); number >= 10; --number) {
    std::string older = absl::StrCat("sm_", number);
    if (is_known(older)) return older;
  }
  return InvalidArgument("the GPU architecture ", arch, " is older than all that kernels are made for");
}

absl::string_view FormatName(GpuImageFormat format) {
  switch (format) {
    case GpuImageFormat::kBitcode: return "bitcode";
    case GpuImageFormat::kPtx: return "ptx";
    case GpuImageFormat::kCubin: return "cubin";
  }
  return "";
}

absl::Status CheckRunsOn(absl::string_view arch, GpuImageFormat format, absl::string_view device) {
  HILO_ASSIGN_OR_RETURN(const Architecture code, ParseArchitecture(arch));
  HILO_ASSIGN_OR_RETURN(const Architecture there, ParseArchitecture(device));
  const bool same_major = code.major == there.major, not_newer = code.number() <= there.number();
  // Machine code runs on later chips of its generation, PTX on all later ones.
  const bool runs = code.exact ? same_major && code.minor == there.minor
                               : not_newer && (same_major || format != GpuImageFormat::kCubin);
  if (runs) return absl::OkStatus();
  return FailedPrecondition("the serialized executable has ", FormatName(format), " for ", arch,
                            ", which does not run on this device's ", device);
}

}  // namespace hilo::gpu
