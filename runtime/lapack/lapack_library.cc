// The build of OpenBLAS for POSIX threads is tried first and told to use one thread: it guards its work space, so that
// threads of Hilo may call it concurrently. Debian's serial build guards nothing: two threads get the same work space
// and wrong numbers; such a library is called under a mutex. The library is bound to itself (RTLD_DEEPBIND), so that
// another BLAS in the process does not replace its parts.
#include "runtime/lapack/lapack_library.h"

#include <dlfcn.h>

#include <mutex>
#include <optional>
#include <string>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HILO_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HILO_SANITIZED 1
#endif
#endif

namespace hilo::lapack {
namespace {

#if defined(__aarch64__)
#define HILO_OPENBLAS(build) "/usr/lib/aarch64-linux-gnu/openblas-" build "/libopenblas.so.0"
#else
#define HILO_OPENBLAS(build) "/usr/lib/x86_64-linux-gnu/openblas-" build "/libopenblas.so.0"
#endif
constexpr const char* kCandidates[] = {HILO_OPENBLAS("pthread"), "libopenblas.so.0", "libopenblas.so",
                                       HILO_OPENBLAS("serial")};
#undef HILO_OPENBLAS

struct OpenBlas {
  void* handle = nullptr;
  std::string prefix;       // of all names: "scipy_" in the builds of the Python package scipy-openblas32
  bool concurrent = false;  // whether threads may call it at the same time

  void* Find(const std::string& name) const { return dlsym(handle, (prefix + name).c_str()); }
};

OpenBlas Open() {
  int flags = RTLD_NOW | RTLD_LOCAL;
#if !defined(HILO_SANITIZED)  // sanitizers need their own malloc in all libraries
  flags |= RTLD_DEEPBIND;
#endif
  for (const char* name : kCandidates) {
    OpenBlas library{.handle = dlopen(name, flags)};
    if (library.handle == nullptr) continue;
    if (dlsym(library.handle, "scipy_openblas_get_parallel") != nullptr) library.prefix = "scipy_";
    auto* parallel = reinterpret_cast<int (*)()>(library.Find("openblas_get_parallel"));
    auto* set_threads = reinterpret_cast<void (*)(int)>(library.Find("openblas_set_num_threads"));
    library.concurrent = parallel != nullptr && set_threads != nullptr && parallel() != 0;
    if (library.concurrent) set_threads(1);
    return library;
  }
  return {};
}

const OpenBlas& Opened() {
  static const OpenBlas library = Open();
  return library;
}

// All routines with a letter in front, or nothing.
std::optional<Routines> Load(char letter, bool is_complex) {
  const OpenBlas& library = Opened();
  if (library.handle == nullptr) return std::nullopt;
  Routines routines;
  bool complete = true;
  const auto find = [&](const char* name) {
    void* routine = library.Find(letter + std::string(name) + "_");
    complete = complete && routine != nullptr;
    return routine;
  };
#define HILO_LAPACK_ROUTINE(name, complex_name) routines.name = find(is_complex ? #complex_name : #name);
#include "runtime/lapack/lapack_routines.def"
#undef HILO_LAPACK_ROUTINE
  if (!complete) return std::nullopt;
  return routines;
}

const Routines* AddressOf(const std::optional<Routines>& routines) { return routines ? &*routines : nullptr; }

}  // namespace

std::mutex* CallMutex() {
  static std::mutex mutex;
  return Opened().concurrent ? nullptr : &mutex;
}

template <>
const Routines* Library<float>() {
  static const std::optional<Routines> routines = Load('s', false);
  return AddressOf(routines);
}
template <>
const Routines* Library<double>() {
  static const std::optional<Routines> routines = Load('d', false);
  return AddressOf(routines);
}
template <>
const Routines* Library<std::complex<float>>() {
  static const std::optional<Routines> routines = Load('c', true);
  return AddressOf(routines);
}
template <>
const Routines* Library<std::complex<double>>() {
  static const std::optional<Routines> routines = Load('z', true);
  return AddressOf(routines);
}

}  // namespace hilo::lapack
