#include "backends/gpu/driver/cuda_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/errors.h"

namespace hilo::gpu {
namespace {

namespace fs = std::filesystem;

// Locations of files below the root of a toolkit or a package.
constexpr const char* kSubfolders[] = {"", "lib64", "lib", "bin", "nvvm/libdevice", "../nvvm/libdevice"};

std::vector<std::string> Subfolders(const fs::path& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->is_directory(error)) found.push_back(it->path().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

void AddPythonPackages(const fs::path& environment, std::vector<std::string>* roots) {
  for (const std::string& python : Subfolders(environment / "lib")) {
    if (!fs::path(python).filename().string().starts_with("python3")) continue;
    for (const char* packages : {"site-packages", "dist-packages"}) {
      for (std::string& package : Subfolders(fs::path(python) / packages / "nvidia"))
        roots->push_back(std::move(package));
    }
  }
}

std::vector<std::string> Environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return {};
  return absl::StrSplit(value, ':', absl::SkipEmpty());
}

std::vector<std::string> FoldersOf(const std::vector<std::string>& roots) {
  std::vector<std::string> folders;
  std::error_code error;
  for (const std::string& root : roots) {
    for (const char* subfolder : kSubfolders) {
      fs::path folder = *subfolder == '\0' ? fs::path(root) : fs::path(root) / subfolder;
      if (fs::is_directory(folder, error)) folders.push_back(folder.string());
    }
  }
  return folders;
}

bool FindsNothing() { return Environment("HILO_CUDA_PATH") == std::vector<std::string>{"none"}; }

std::vector<std::string> OwnFolders() { return FoldersOf(Environment("HILO_CUDA_PATH")); }

std::vector<std::string> SystemFolders() {
  if (FindsNothing()) return {};
  std::vector<std::string> roots = Environment("CUDA_HOME");
  for (const std::string& root : Environment("CUDA_PATH")) roots.push_back(root);
  roots.push_back("/usr/local/cuda");
  for (const std::string& environment : Environment("VIRTUAL_ENV")) AddPythonPackages(environment, &roots);
  for (const char* environment : {"/usr/local", "/usr"}) AddPythonPackages(environment, &roots);
  return FoldersOf(roots);
}

}  // namespace

std::vector<std::string> CudaFolders() {
  std::vector<std::string> folders = OwnFolders();
  for (std::string& folder : SystemFolders()) {
    if (std::find(folders.begin(), folders.end(), folder) == folders.end()) folders.push_back(std::move(folder));
  }
  return folders;
}

absl::StatusOr<std::string> FindCudaFile(absl::string_view name) {
  const std::vector<std::string> folders = CudaFolders();
  std::error_code error;
  for (const std::string& folder : folders) {
    const fs::path path = fs::path(folder) / std::string(name);
    if (fs::is_regular_file(path, error)) return path.string();
  }
  return NotFound("no file ", name, " in HILO_CUDA_PATH, a CUDA toolkit or Python's nvidia packages; looked in ",
                  folders.empty() ? "no folder, as none of them is there" : absl::StrJoin(folders, ", "));
}

absl::StatusOr<void*> LoadCudaLibrary(absl::Span<const absl::string_view> sonames) {
  if (FindsNothing()) return Unavailable("cannot load ", absl::StrJoin(sonames, " or "), ", as HILO_CUDA_PATH is none");
  std::string words;
  const auto open = [&](const std::string& path) -> void* {
    void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
    const char* why = library == nullptr ? dlerror() : nullptr;
    if (words.empty() && why != nullptr) words = why;
    return library;
  };
  const auto open_in = [&](const std::vector<std::string>& folders) -> void* {
    std::error_code error;
    for (const std::string& folder : folders) {
      for (absl::string_view soname : sonames) {
        const fs::path path = fs::path(folder) / std::string(soname);
        if (!fs::exists(path, error)) continue;
        words.clear();  // an error of an existing library is more useful than the missing files
        if (void* library = open(path.string())) return library;
      }
    }
    return nullptr;
  };
  if (void* library = open_in(OwnFolders())) return library;
  for (absl::string_view soname : sonames) {
    if (void* library = open(std::string(soname))) return library;
  }
  if (void* library = open_in(SystemFolders())) return library;
  return Unavailable("cannot load ", absl::StrJoin(sonames, " or "),
                     " from HILO_CUDA_PATH, the system, a CUDA toolkit or Python's nvidia packages: ", words);
}

absl::StatusOr<void*> CudaSymbol(void* library, absl::string_view name) {
  if (void* address = dlsym(library, std::string(name).c_str())) return address;
  return Unavailable("the library has no function ", name);
}

}  // namespace hilo::gpu
