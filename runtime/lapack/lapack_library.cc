// The serial build of OpenBLAS is tried first: it guards its work space, so threads of Hilo may
// call it, and it starts no threads. A threaded build is configured to use one. The library is
// bound to itself (RTLD_DEEPBIND), so that another BLAS in the process does not replace its parts.
#include "runtime/lapack/lapack_library.h"

#include <dlfcn.h>

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
constexpr char kSerial[] = "/usr/lib/aarch64-linux-gnu/openblas-serial/libopenblas.so.0";
#else
constexpr char kSerial[] = "/usr/lib/x86_64-linux-gnu/openblas-serial/libopenblas.so.0";
#endif

void* Open() {
  int flags = RTLD_NOW | RTLD_LOCAL;
#if !defined(HILO_SANITIZED)  // sanitizers need their own malloc in all libraries
  flags |= RTLD_DEEPBIND;
#endif
  for (const char* name : {kSerial, "libopenblas.so.0", "libopenblas.so"}) {
    void* library = dlopen(name, flags);
    if (library == nullptr) continue;
    auto* parallel = reinterpret_cast<int (*)()>(dlsym(library, "openblas_get_parallel"));
    auto* set_threads = reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"));
    if (parallel != nullptr && set_threads != nullptr && parallel() != 0) set_threads(1);
    return library;
  }
  return nullptr;
}

// All routines with a letter in front, or nothing.
std::optional<Routines> Load(char letter, bool is_complex) {
  static void* const library = Open();
  if (library == nullptr) return std::nullopt;
  Routines routines;
  bool complete = true;
  const auto find = [&](const char* name) {
    void* routine = dlsym(library, (letter + std::string(name) + "_").c_str());
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
