#include "backends/cpu/runtime/onednn_library.h"

#ifdef HILO_HAVE_ONEDNN
#include <dlfcn.h>

#include <type_traits>

#include "oneapi/dnnl/dnnl.h"
#include "oneapi/dnnl/dnnl_version.h"

#ifndef HILO_ONEDNN_AT_RUN_TIME
// <omp.h> comes with GCC only.
extern "C" int omp_get_max_threads(void);
extern "C" void omp_set_num_threads(int count);
#endif
#endif

namespace hilo::cpu {

#ifdef HILO_HAVE_ONEDNN
namespace {

static_assert(std::is_same_v<dnnl_dim_t, int64_t> && sizeof(dnnl_status_t) == sizeof(int) && dnnl_success == 0);

#ifdef HILO_ONEDNN_AT_RUN_TIME
#define HILO_TEXT(x) #x
#define HILO_SONAME(version) "libdnnl.so." HILO_TEXT(version)

template <typename Function>
bool Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

const OneDnn* Open() {
  void* library = dlopen(HILO_SONAME(DNNL_VERSION_MAJOR), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  static OneDnn functions;
  // dlsym also looks in the libraries that oneDNN needs.
  const bool is_complete = Find(library, "dnnl_sgemm", &functions.sgemm) &&
                           Find(library, "dnnl_gemm_s8s8s32", &functions.gemm_s8s8s32) &&
                           Find(library, "omp_get_max_threads", &functions.get_max_threads) &&
                           Find(library, "omp_set_num_threads", &functions.set_num_threads);
  if (is_complete) return &functions;
  dlclose(library);
  return nullptr;
}

#undef HILO_SONAME
#undef HILO_TEXT
#else
const OneDnn* Open() {
  static const OneDnn functions = {.sgemm = reinterpret_cast<decltype(OneDnn::sgemm)>(&dnnl_sgemm),
                                   .gemm_s8s8s32 = reinterpret_cast<decltype(OneDnn::gemm_s8s8s32)>(&dnnl_gemm_s8s8s32),
                                   .get_max_threads = &omp_get_max_threads,
                                   .set_num_threads = &omp_set_num_threads};
  return &functions;
}
#endif

}  // namespace

const OneDnn* OneDnnLibrary() {
  static const OneDnn* const library = Open();
  return library;
}
#else
const OneDnn* OneDnnLibrary() { return nullptr; }
#endif

}  // namespace hilo::cpu
