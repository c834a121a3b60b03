#include "backends/gpu/ptx/assembler.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "backends/gpu/driver/cuda_library.h"
#include "base/errors.h"
#include "base/file.h"
#include "hilo/status_macros.h"

extern char** environ;

namespace hilo::gpu {
namespace {

// Of a thread: a multiprocessor, which has 65,536, runs fewer than 512 threads that have more.
constexpr int kManyRegisters = 128;

struct JitLink {
#define HILO_CUDA_FN HILO_CUDA_FN_MEMBER
#include "backends/gpu/ptx/nvjitlink.def"
#undef HILO_CUDA_FN
};

absl::StatusOr<JitLink> LoadJitLink() {
  HILO_ASSIGN_OR_RETURN(void* library, LoadCudaLibrary({"libnvJitLink.so.13", "libnvJitLink.so.12"}));
  JitLink table;
#define HILO_CUDA_FN HILO_CUDA_FN_LOAD
#include "backends/gpu/ptx/nvjitlink.def"
#undef HILO_CUDA_FN
  return table;
}

const absl::StatusOr<JitLink>& TheJitLink() {
  static const auto* const table = new absl::StatusOr<JitLink>(LoadJitLink());
  return *table;
}

constexpr int kInputPtx = 2;  // NVJITLINK_INPUT_PTX

// Returns the log of a handle, without its terminating zero.
std::string Log(void* handle, int (*size_of)(void*, size_t*), int (*get)(void*, char*)) {
  size_t size = 0;
  if (size_of(handle, &size) != 0 || size == 0) return "";
  std::string log(size, '\0');
  if (get(handle, log.data()) != 0) return "";
  return log.substr(0, log.find('\0'));
}

// A file in the temporary folder, removed by the destructor.
class TemporaryFile {
 public:
  TemporaryFile() {
    const char* folder = std::getenv("TMPDIR");
    path_ = absl::StrCat(folder != nullptr && *folder != '\0' ? folder : "/tmp", "/hilo_ptx_XXXXXX");
    descriptor_ = mkstemp(path_.data());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (descriptor_ < 0) return;
    close(descriptor_);
    unlink(path_.c_str());
  }
  bool ok() const { return descriptor_ >= 0; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int descriptor_ = -1;
};

// Runs a program with its output and errors in a file; returns true if it exited with 0.
bool RunProgram(const std::vector<std::string>& words, const std::string& log_path) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, log_path.c_str(), O_WRONLY | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t process = 0;
  const int failed = posix_spawn(&process, words[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  return failed == 0 && waitpid(process, &status, 0) == process && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Returns the number before `unit` in a line: "8 bytes stack frame".
int64_t NumberBefore(absl::string_view line, absl::string_view unit) {
  const size_t at = line.find(unit);
  if (at == absl::string_view::npos) return 0;
  absl::string_view head = absl::StripTrailingAsciiWhitespace(line.substr(0, at));
  const size_t space = head.find_last_of(" \t:,");
  if (space != absl::string_view::npos) head = head.substr(space + 1);
  int64_t number = 0;
  return absl::SimpleAtoi(head, &number) ? number : 0;
}

}  // namespace

std::vector<KernelResources> ParseResourceLog(absl::string_view log) {
  std::vector<KernelResources> kernels;
  for (absl::string_view line : absl::StrSplit(log, '\n')) {
    const size_t quoted = line.find("Compiling entry function '");
    if (quoted != absl::string_view::npos) {
      absl::string_view name = line.substr(line.find('\'') + 1);
      kernels.push_back({.kernel = std::string(name.substr(0, name.find('\'')))});
    }
    if (kernels.empty()) continue;
    KernelResources& kernel = kernels.back();
    if (line.find("bytes stack frame") != absl::string_view::npos) {
      kernel.stack_bytes = NumberBefore(line, "bytes stack frame");
      kernel.spill_store_bytes = NumberBefore(line, "bytes spill stores");
      kernel.spill_load_bytes = NumberBefore(line, "bytes spill loads");
    }
    if (line.find(" registers") != absl::string_view::npos && line.find("Used ") != absl::string_view::npos) {
      kernel.registers = static_cast<int>(NumberBefore(line, "registers"));
      kernel.shared_bytes = NumberBefore(line, "bytes smem");
      kernel.constant_bytes = NumberBefore(line, "bytes cmem[0]");
    }
  }
  return kernels;
}

// Returns true if the text contains line information.
bool HasLines(absl::string_view ptx) { return absl::StrContains(ptx, "\t.loc\t"); }

absl::StatusOr<AssembledCode> AssembleInProcess(absl::string_view ptx, absl::string_view arch) {
  HILO_RETURN_IF_ERROR(TheJitLink().status());
  const JitLink& link = *TheJitLink();
  const std::string architecture = absl::StrCat("-arch=", arch), text(ptx);
  std::vector<const char*> options = {architecture.c_str(), "-O3", "-verbose"};
  if (HasLines(ptx)) options.push_back("-lineinfo");
  void* handle = nullptr;
  if (const int code = link.nvJitLinkCreate(&handle, static_cast<uint32_t>(options.size()), options.data());
      code != 0) {
    unsigned major = 0, minor = 0;
    link.nvJitLinkVersion(&major, &minor);
    return InvalidArgument("nvJitLink ", major, ".", minor, " does not assemble for ", arch, " (code ", code,
                           "); a newer toolkit may");
  }
  struct Destroy {
    const JitLink& link;
    void** handle;
    ~Destroy() { link.nvJitLinkDestroy(handle); }
  } destroy{link, &handle};
  int code = link.nvJitLinkAddData(handle, kInputPtx, text.c_str(), text.size() + 1, "kernels");
  if (code == 0) code = link.nvJitLinkComplete(handle);
  if (code != 0) {
    return Internal("nvJitLink cannot assemble for ", arch, " (code ", code,
                    "): ", Log(handle, link.nvJitLinkGetErrorLogSize, link.nvJitLinkGetErrorLog));
  }
  AssembledCode result;
  size_t size = 0;
  HILO_RET_CHECK(link.nvJitLinkGetLinkedCubinSize(handle, &size) == 0);
  result.cubin.resize(size);
  HILO_RET_CHECK(link.nvJitLinkGetLinkedCubin(handle, result.cubin.data()) == 0);
  result.resources = ParseResourceLog(Log(handle, link.nvJitLinkGetInfoLogSize, link.nvJitLinkGetInfoLog));
  return result;
}

absl::StatusOr<AssembledCode> AssembleByPtxas(absl::string_view ptx, absl::string_view arch) {
  const absl::StatusOr<std::string> ptxas = FindCudaFile("ptxas");
  if (!ptxas.ok()) return Unavailable(ptxas.status().message());
  const TemporaryFile input, output, log;
  if (!input.ok() || !output.ok() || !log.ok()) return Unavailable("cannot make a file ", input.path(), " for ptxas");
  HILO_RETURN_IF_ERROR(WriteFile(input.path(), ptx));
  std::vector<std::string> arguments = {*ptxas,       absl::StrCat("-arch=", arch), "-O3", "-v", input.path(), "-o",
                                        output.path()};
  if (HasLines(ptx)) arguments.push_back("-lineinfo");
  const bool ran = RunProgram(arguments, log.path());
  HILO_ASSIGN_OR_RETURN(const std::string words, ReadFile(log.path()));
  if (!ran) return Internal(*ptxas, " cannot assemble for ", arch, ": ", words);
  AssembledCode result;
  HILO_ASSIGN_OR_RETURN(result.cubin, ReadFile(output.path()));
  result.resources = ParseResourceLog(words);
  return result;
}

absl::Status CheckAssembler() {
  if (TheJitLink().ok()) return absl::OkStatus();
  const absl::StatusOr<std::string> ptxas = FindCudaFile("ptxas");
  if (ptxas.ok()) return absl::OkStatus();
  return Unavailable("no assembler for GPU code: ", TheJitLink().status().message(), "; ", ptxas.status().message());
}

namespace {

// Returns a text for the file, which identifies the version as well as ptxas's output does, without running it; empty
// if there is none.
std::string PtxasVersion() {
  const absl::StatusOr<std::string> ptxas = FindCudaFile("ptxas");
  struct stat facts{};
  if (!ptxas.ok() || stat(ptxas->c_str(), &facts) != 0) return "";
  return absl::StrCat(*ptxas, " ", facts.st_size, " ", facts.st_mtime);
}

// The registers of the code's kernels, where those of another assembler may be fewer: with spills, all.
int MostRegisters(const AssembledCode& code) {
  int most = 0;
  for (const KernelResources& kernel : code.resources)
    most = std::max(most, kernel.spill_store_bytes > 0 ? INT_MAX : kernel.registers);
  return most;
}

}  // namespace

absl::StatusOr<std::string> AssemblerVersion() {
  HILO_RETURN_IF_ERROR(CheckAssembler());
  std::string version = PtxasVersion();
  if (TheJitLink().ok()) {
    unsigned major = 0, minor = 0;
    HILO_RET_CHECK(TheJitLink()->nvJitLinkVersion(&major, &minor) == 0);
    absl::StrAppend(&version, " nvJitLink ", major, ".", minor);
  }
  return version;
}

namespace {

absl::StatusOr<std::string> FindDisassembler() {
  const char* path = std::getenv("PATH");
  for (const absl::string_view folder : absl::StrSplit(path == nullptr ? "" : path, ':', absl::SkipEmpty())) {
    const std::string file = absl::StrCat(folder, "/nvdisasm");
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  const absl::StatusOr<std::string> file = FindCudaFile("nvdisasm");
  if (file.ok()) return file;
  return Unavailable("sass needs nvdisasm, which is neither on the PATH nor among CUDA's files (",
                     file.status().message(),
                     "); it is in the CUDA toolkit and in the Python package nvidia-cuda-nvdisasm");
}

}  // namespace

absl::Status CheckDisassembler() { return FindDisassembler().status(); }

absl::StatusOr<std::string> Disassemble(absl::string_view cubin) {
  HILO_ASSIGN_OR_RETURN(const std::string nvdisasm, FindDisassembler());
  const TemporaryFile input, output;
  if (!input.ok() || !output.ok()) return Unavailable("cannot make a file ", input.path(), " for nvdisasm");
  HILO_RETURN_IF_ERROR(WriteFile(input.path(), cubin));
  const bool ran = RunProgram({nvdisasm, "-c", input.path()}, output.path());
  HILO_ASSIGN_OR_RETURN(std::string text, ReadFile(output.path()));
  if (!ran) return Internal(nvdisasm, " cannot read the code: ", text);
  return text;
}

absl::StatusOr<AssembledCode> Assemble(absl::string_view ptx, absl::string_view arch) {
  HILO_RETURN_IF_ERROR(CheckAssembler());
  if (!TheJitLink().ok()) return AssembleByPtxas(ptx, arch);
  HILO_ASSIGN_OR_RETURN(AssembledCode code, AssembleInProcess(ptx, arch));
  if (MostRegisters(code) <= kManyRegisters) return code;
  absl::StatusOr<AssembledCode> other = AssembleByPtxas(ptx, arch);
  return other.ok() && MostRegisters(*other) < MostRegisters(code) ? *std::move(other) : std::move(code);
}

}  // namespace hilo::gpu
