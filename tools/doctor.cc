// hilo doctor: what this machine has, what is missing, and what mends it.
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/cpu/runtime/onednn_library.h"
#include "backends/gpu/runtime/library_report.h"
#include "backends/llvm/jit/host_features.h"
#include "backends/registry.h"
#include "base/cpu_count.h"
#include "base/errors.h"
#include "hilo/client.h"
#include "hilo/module.h"
#include "hilo/status_macros.h"
#include "hilo/version.h"
#include "tools/command.h"

namespace hilo::tools {
namespace {

// Counts what is wrong, and prints the rest.
class Report {
 public:
  void Title(const char* title) { std::printf("%s\n", title); }
  void Good(const std::string& text) { std::printf("  ok       %s\n", text.c_str()); }
  // Something that Hilo does without.
  void Absent(const std::string& text, const std::string& mend) {
    std::printf("  absent   %s\n", text.c_str());
    if (!mend.empty()) std::printf("           to have it: %s\n", mend.c_str());
  }
  void Wrong(const std::string& text, const std::string& mend) {
    ++wrong_;
    std::printf("  WRONG    %s\n           to mend it: %s\n", text.c_str(), mend.c_str());
  }
  int wrong() const { return wrong_; }

 private:
  int wrong_ = 0;
};

absl::Status RunTiny(const std::string& platform) {
  HILO_ASSIGN_OR_RETURN(const std::unique_ptr<Client> client,
                        Client::Create({.platform = platform, .num_threads = 1, .cache_dir = ""}));
  HILO_ASSIGN_OR_RETURN(
      const std::unique_ptr<Executable> executable,
      client->CompileHloText("HloModule m\nENTRY main { x = f32[3] parameter(0)  ROOT y = f32[3] add(x, x) }"));
  const Literal x = LiteralUtil::CreateR1<float>({1, 2, 3});
  HILO_ASSIGN_OR_RETURN(const Literal y, executable->ExecuteLiterals({&x}));
  return CompareLiterals(LiteralUtil::CreateR1<float>({2, 4, 6}), y, {});
}

void CheckPlatforms(Report* report) {
  report->Title("Platforms (each compiles and runs a small program)");
  for (const std::string& name : PlatformNames()) {
    const absl::Status status = RunTiny(name);
    const std::string message(status.message());
    if (status.ok()) {
      report->Good(name);
    } else if (status.code() == absl::StatusCode::kUnavailable) {
      report->Absent(absl::StrCat(name, ": ", message), "");
    } else if (name == "cpu") {
      report->Wrong(absl::StrCat(name, ": ", message),
                    "allow this process to map executable memory (SELinux: setsebool deny_execmem off)");
    } else {
      report->Wrong(absl::StrCat(name, ": ", message), "report it, with this output");
    }
  }
}

void CheckProcessor(Report* report) {
  report->Title("Processor");
  const absl::StatusOr<codegen::CpuFeatures> features = codegen::FeaturesOf("");
  if (!features.ok()) return report->Wrong(std::string(features.status().message()), "report it, with this output");
  report->Good(absl::StrCat(features->cpu, ", ", features->triple));
  const int usable = UsableCpuCount(), quota = CgroupCpuQuota("");
  report->Good(absl::StrCat(usable, " threads, of ", std::thread::hardware_concurrency(), " processors",
                            quota > 0 ? absl::StrCat("; the control group allows ", quota) : ""));
}

int PrintObject(dl_phdr_info* info, size_t, void* data) {
  auto* paths = static_cast<std::vector<std::string>*>(data);
  for (const char* name : {"libdnnl", "libgomp", "libabsl_base.", "libz."}) {
    if (info->dlpi_name != nullptr && absl::StrContains(info->dlpi_name, name)) paths->push_back(info->dlpi_name);
  }
  return 0;
}

void CheckLibraries(Report* report) {
  report->Title("Libraries");
  std::vector<std::string> paths;
  const bool has_dnnl = cpu::OneDnnLibrary() != nullptr;  // opens it
  dl_iterate_phdr(PrintObject, &paths);
  for (const std::string& path : paths) {
    std::error_code error;
    const std::filesystem::path real = std::filesystem::canonical(path, error);
    report->Good(error ? path : real.string());
  }
  if (!has_dnnl) {
    report->Absent("oneDNN: large matrix products use Hilo's own kernels",
                   "apt-get install libdnnl2; a Hilo that was built without libdnnl-dev must be built again");
  }
}

// What brings one of NVIDIA's libraries or programs.
std::string MendOf(const std::string& name) {
  const std::pair<const char*, const char*> packages[] = {
      {"cuBLAS", "cublas"}, {"cuFFT", "cufft"},         {"cuDNN", "cudnn"},         {"cuSOLVER", "cusolver"},
      {"NCCL", "nccl"},     {"libdevice", "cuda-nvcc"}, {"nvJitLink", "nvjitlink"}, {"ptxas", "cuda-nvcc"}};
  for (const auto& [part, package] : packages) {
    if (absl::StrContains(name, part)) return absl::StrCat("pip install nvidia-", package, "-cu12");
  }
  return name == "nvdisasm" ? "pip install nvidia-cuda-nvdisasm" : "";
}

void CheckGpuLibraries(Report* report) {
  report->Title("NVIDIA's libraries (for the platform cuda)");
  for (const gpu::LibraryFinding& library : gpu::FindLibraries()) {
    const std::string text = absl::StrCat(library.name, ": ", library.found);
    if (absl::StartsWith(library.found, "/")) {
      report->Good(text);
    } else {
      report->Absent(text, MendOf(library.name));
    }
  }
}

void CheckEnvironment(Report* report) {
  report->Title("Environment");
  bool any = false;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    if (!absl::StartsWith(text, "HILO_") && !absl::StartsWith(text, "JAX_PLATFORMS=") &&
        !absl::StartsWith(text, "XLA_FLAGS=") && !absl::StartsWith(text, "PJRT_NAMES_AND_LIBRARY_PATHS="))
      continue;
    any = true;
    const size_t equals = text.find('=');
    const std::string name = text.substr(0, equals), value = text.substr(equals + 1);
    const bool is_file = name == "HILO_PJRT_LIBRARY" || name == "HILO_LIBRARY";
    if (is_file && access(value.c_str(), R_OK) != 0) {
      report->Wrong(absl::StrCat(text, ": there is no such file"), absl::StrCat("unset ", name));
    } else if (name == "HILO_CACHE_DIR" && !value.empty() && std::filesystem::exists(value) &&
               access(value.c_str(), W_OK | X_OK) != 0) {
      report->Wrong(absl::StrCat(text, ": the folder cannot be written to"), absl::StrCat("chmod u+rwx ", value));
    } else if (name == "HILO_NUM_THREADS" && !NumThreadsVariable().ok()) {
      report->Wrong(absl::StrCat(text, ": ", NumThreadsVariable().status().message()), "unset HILO_NUM_THREADS");
    } else if (name == "HILO_BACKEND" && !absl::StrContains(absl::StrCat(",", absl::StrJoin(PlatformNames(), ","), ","),
                                                            absl::StrCat(",", value, ","))) {
      report->Wrong(absl::StrCat(text, ": there is no such platform; there are ", absl::StrJoin(PlatformNames(), ", ")),
                    "unset HILO_BACKEND");
    } else {
      report->Good(text);
    }
  }
  if (!any) report->Good("no variable that Hilo reads is set");
}

absl::Status Doctor(const Flags&) {
  Report report;
  std::printf("hilo %s, build %s\n", std::string(Version()).c_str(), BuildId().c_str());
  CheckPlatforms(&report);
  CheckProcessor(&report);
  CheckLibraries(&report);
  CheckGpuLibraries(&report);
  CheckEnvironment(&report);
  if (report.wrong() > 0) return FailedPrecondition(report.wrong(), " of these are wrong");
  std::printf("Nothing is wrong.\n");
  return absl::OkStatus();
}

}  // namespace

Command DoctorCommand() {
  return {.name = "doctor",
          .arguments = "",
          .summary = "check the platforms, libraries and variables of this machine",
          .details =
              "For each thing that is missing it prints the command that brings it. The exit code is 1 if something is "
              "wrong, 0 if things\n"
              "are merely absent.\n"
              "\n"
              "Examples:\n"
              "  hilo doctor\n"
              "  hilo doctor | grep -A1 WRONG\n",
          .flags = {},
          .run = &Doctor};
}

}  // namespace hilo::tools
