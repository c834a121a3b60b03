// The tables of functions (*.def) declare with plain types what NVIDIA's headers declare with their own: handles are
// void*, enumerations int. Where a header is installed, the compiler compares them: a wrong table does not build.
#include <type_traits>

#include "backends/gpu/collectives/nccl_abi.h"

#if __has_include(<cublas_v2.h>)
#include <cublas_v2.h>
#endif
#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#endif
#if __has_include(<cudnn.h>)
#include <cudnn.h>
#endif
#if __has_include(<cufftXt.h>)
#include <cufftXt.h>
#endif
#if __has_include(<cusolverDn.h>)
#include <cusolverDn.h>
#endif
#if __has_include(<nvJitLink.h>)
#include <nvJitLink.h>
#endif
#if __has_include(<nccl.h>)
#include <nccl.h>
#endif

namespace hilo::gpu {
namespace {

template <typename T>
constexpr bool kIsNumber = std::is_integral_v<T> || std::is_enum_v<T>;

// Whether values of both types are passed the same way. Pointers are equal, unless their pointees are a number or a
// pointer of another size.
template <typename A, typename B>
constexpr bool IsPassedAlike() {
  if constexpr (std::is_pointer_v<A> && std::is_pointer_v<B>) {
    using X = std::remove_pointer_t<A>;
    using Y = std::remove_pointer_t<B>;
    if constexpr ((kIsNumber<X> || std::is_pointer_v<X>) && (kIsNumber<Y> || std::is_pointer_v<Y>))
      return sizeof(X) == sizeof(Y);
    return true;
  } else if constexpr (kIsNumber<A> && kIsNumber<B>) {
    return sizeof(A) == sizeof(B);
  } else if constexpr (std::is_class_v<A> && std::is_class_v<B>) {
    return sizeof(A) == sizeof(B) && std::is_trivially_copyable_v<A>;
  } else {
    return std::is_same_v<A, B>;
  }
}

template <typename Ours, typename Theirs>
struct Calls {
  static constexpr bool kAlike = false;  // different number of parameters
};
template <typename R, typename... A, typename S, typename... B>
  requires(sizeof...(A) == sizeof...(B))
struct Calls<R (*)(A...), S (*)(B...)> {
  static constexpr bool kAlike =
      IsPassedAlike<R, S>() && (IsPassedAlike<std::remove_cv_t<A>, std::remove_cv_t<B>>() && ...);
};

static_assert(Calls<int (*)(void*, const void*), int (*)(int*, float*)>::kAlike);
static_assert(!Calls<int (*)(void*, int), int (*)(void*, int64_t)>::kAlike);
static_assert(!Calls<int (*)(void*), int (*)(void*, void*)>::kAlike);
static_assert(!Calls<int (*)(int*), int (*)(size_t*)>::kAlike);
static_assert(!Calls<int (*)(double), int (*)(int64_t)>::kAlike);

#define HILO_CUDA_FN(result, name, parameters) \
  static_assert(Calls<result(*) parameters, decltype(&::name)>::kAlike, #name);
#define HILO_CUDA_OPTIONAL_FN HILO_CUDA_FN
#if __has_include(<cublas_v2.h>)
#include "backends/gpu/cuda/cublas.def"
#endif
#if __has_include(<cublasLt.h>)
#include "backends/gpu/cuda/cublaslt.def"
#endif
#if __has_include(<cudnn.h>)
#include "backends/gpu/cuda/cudnn.def"
#endif
#if __has_include(<cufftXt.h>)
#include "backends/gpu/cuda/cufft.def"
#endif
#if __has_include(<cusolverDn.h>)
#include "backends/gpu/cuda/cusolver.def"
#endif
#if __has_include(<nvJitLink.h>)
#include "backends/gpu/ptx/nvjitlink.def"
#endif
#if __has_include(<nccl.h>) && defined(NCCL_VERSION_CODE)
#if NCCL_VERSION_CODE >= 22800
#include "backends/gpu/collectives/nccl.def"
#endif
#endif
#undef HILO_CUDA_OPTIONAL_FN
#undef HILO_CUDA_FN

}  // namespace
}  // namespace hilo::gpu
