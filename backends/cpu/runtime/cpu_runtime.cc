#include "backends/cpu/runtime/cpu_runtime.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "backends/cpu/convolution/convolution_loops.h"
#include "backends/cpu/convolution/patches.h"
#include "backends/cpu/gemm/gemm.h"
#include "backends/cpu/gemm/gemm_calls.h"
#include "backends/cpu/runtime/floating_point_mode.h"
#include "backends/cpu/runtime/onednn_library.h"
#include "backends/cpu/runtime/workspace.h"
#include "backends/cpu/transpose/transpose_loops.h"
#include "hilo/host.h"

namespace {

using hilo::cpu::AllocateWorkspace;
using hilo::cpu::OneDnn;
using hilo::cpu::Workspace;
using hilo::cpu::gemm::BFloat16Bits;
using hilo::cpu::gemm::Complex;

template <typename T, typename Sum>
int32_t Multiply(int64_t m, int64_t n, int64_t k, const T* a, int64_t lda, int64_t transpose_a, const T* b, int64_t ldb,
                 int64_t transpose_b, Sum* c, int64_t ldc) {
  using hilo::cpu::gemm::Strides;
  const Strides a_strides = transpose_a != 0 ? Strides{1, lda} : Strides{lda, 1},
                b_strides = transpose_b != 0 ? Strides{1, ldb} : Strides{ldb, 1};
  return hilo::cpu::gemm::Multiply(m, n, k, a, a_strides, b, b_strides, c, ldc).ok() ? HILO_OK : HILO_OUT_OF_MEMORY;
}

// The library's own threads would compete with ours; the setting is per calling thread and belongs to the embedder.
template <typename Call>
int32_t OnOneThread(const OneDnn& library, const Call& call) {
  const int threads = library.get_max_threads();
  library.set_num_threads(1);
  const int status = call();
  library.set_num_threads(threads);
  return status == 0 ? HILO_OK : HILO_OUT_OF_MEMORY;  // the only possible cause: the arguments are ours
}

int32_t LibraryGemm(const OneDnn& library, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda,
                    bool transpose_a, const float* b, int64_t ldb, bool transpose_b, float* c, int64_t ldc) {
  return OnOneThread(library, [&] {
    return library.sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', m, n, k, 1.0f, a, lda, b, ldb, 0.0f, c, ldc);
  });
}

// The library is slow where it reads both matrices by columns: 6.5 GFlop/s for 16 x 2048 x 2048, where it has 84 by
// rows. The product of the exchanged matrices is by rows, and its transpose pays if sums are long.
constexpr int64_t kExchangedDepth = 256;
constexpr int64_t kExchangedColumns = 512;  // of the result, per call of the library
constexpr int64_t kTransposedTile = 16;

// With AVX2 the library reads matrices in place unless a call has many rows and columns, and is slow if the rows that
// it reads across are a multiple of 2 KB apart, as these share few sets of the caches: f32[256,512] of such a product,
// in GFlop/s of one thread (Zen 3), the library's and our tiles', rows of 1000 elements 83 and 67, of 1024 36 and 51,
// of 2048 34 and 50, of 512 46 and 58, of 1536 44 and 45; with the left matrix transposed 77 and 51, 23 and 39, 22
// and 35.
//
// With AVX-512 it is slow where it packs such rows of a transposed matrix. Products of f32 on two threads (Zen 4), the
// library's and our tiles' us: 48 x 512 x 512 169 and 133, 256 x 1024 x 256 1230 and 757, 256 x 2048 x 512 3730 and
// 3050, 512 x 512 x 512 1340 and 1220, 1024 x 1024 x 128 1500 and 1230; rows of 500 elements 621 and 626, of 768 1010
// and 1050, of 1280 1730 and 1850.
constexpr int64_t kAliasedRows = 512;
constexpr double kInPlace = 0.0038;
bool IsSlowInLibrary(int64_t m, int64_t n, int64_t lda, bool transpose_a, int64_t ldb, bool transpose_b) {
  using hilo::cpu::gemm::Instructions;
  const bool a_is_aliased = lda % kAliasedRows == 0, b_is_aliased = ldb % kAliasedRows == 0;
  const Instructions instructions = hilo::cpu::gemm::HostInstructions();
  if (instructions >= Instructions::kAvx512) return transpose_b && !transpose_a && b_is_aliased;
  const bool is_in_place = 1.0 / static_cast<double>(m) + 1.0 / static_cast<double>(n) >= kInPlace;
  return instructions == Instructions::kAvx2 && is_in_place &&
         ((!transpose_b && b_is_aliased) || (transpose_a && a_is_aliased));
}

// c = transpose(b a), for a of k x m and b of n x k elements.
int32_t ExchangedGemm(const OneDnn& library, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda,
                      const float* b, int64_t ldb, float* c, int64_t ldc) {
  const Workspace<float> product = AllocateWorkspace<float>(std::min(n, kExchangedColumns) * m);
  if (product == nullptr) return HILO_OUT_OF_MEMORY;
  for (int64_t first = 0; first < n; first += kExchangedColumns) {
    const int64_t columns = std::min(kExchangedColumns, n - first);
    const int32_t status =
        LibraryGemm(library, columns, m, k, b + first * ldb, ldb, false, a, lda, false, product.get(), m);
    if (status != HILO_OK) return status;
    for (int64_t i = 0; i < m; i += kTransposedTile) {
      for (int64_t j = 0; j < columns; j += kTransposedTile) {
        for (int64_t row = i; row < std::min(m, i + kTransposedTile); ++row) {
          for (int64_t column = j; column < std::min(columns, j + kTransposedTile); ++column)
            c[row * ldc + first + column] = product[column * m + row];
        }
      }
    }
  }
  return HILO_OK;
}

int32_t MultiplyF32(int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, int64_t transpose_a, const float* b,
                    int64_t ldb, int64_t transpose_b, float* c, int64_t ldc) {
  const bool is_slow = IsSlowInLibrary(m, n, lda, transpose_a != 0, ldb, transpose_b != 0);
  const OneDnn* library = is_slow ? nullptr : hilo::cpu::OneDnnLibrary();
  if (library == nullptr) return Multiply(m, n, k, a, lda, transpose_a, b, ldb, transpose_b, c, ldc);
  if (transpose_a != 0 && transpose_b != 0 && k >= kExchangedDepth)
    return ExchangedGemm(*library, m, n, k, a, lda, b, ldb, c, ldc);
  return LibraryGemm(*library, m, n, k, a, lda, transpose_a != 0, b, ldb, transpose_b != 0, c, ldc);
}

int32_t MultiplyS8(int64_t m, int64_t n, int64_t k, const int8_t* a, int64_t lda, int64_t transpose_a, const int8_t* b,
                   int64_t ldb, int64_t transpose_b, uint32_t* c, int64_t ldc) {
#if defined(__x86_64__)
  // Without these instructions the library adds pairs in 16 bits, with saturation.
  static const bool is_exact =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vnni");
  if (const OneDnn* library = is_exact ? hilo::cpu::OneDnnLibrary() : nullptr; library != nullptr) {
    const int32_t zero = 0;
    return OnOneThread(*library, [&] {
      return library->gemm_s8s8s32(transpose_a != 0 ? 'T' : 'N', transpose_b != 0 ? 'T' : 'N', 'F', m, n, k, 1.0f, a,
                                   lda, 0, b, ldb, 0, 0.0f, reinterpret_cast<int32_t*>(c), ldc, &zero);
    });
  }
#endif
  return Multiply(m, n, k, a, lda, transpose_a, b, ldb, transpose_b, c, ldc);
}

// The functions of kernels: buffers[0] are the numbers of gemm_calls.h, convolution_loops.h, patches.h or
// transpose_loops.h, the arrays follow, the result last.
template <typename T, typename Sum>
using Product = int32_t (*)(int64_t m, int64_t n, int64_t k, const T* a, int64_t lda, int64_t transpose_a, const T* b,
                            int64_t ldb, int64_t transpose_b, Sum* c, int64_t ldc);

template <typename T, typename Sum, Product<T, Sum> kProduct>
int32_t RunProducts(HiloCpuContext* context, uint8_t* /*frame*/, uint8_t** buffers, int64_t begin, int64_t end) {
  const auto& calls = *reinterpret_cast<const hilo::cpu::gemm::Calls*>(buffers[0]);
  const auto* a = reinterpret_cast<const T*>(buffers[1]);
  const auto* b = reinterpret_cast<const T*>(buffers[2]);
  auto* c = reinterpret_cast<Sum*>(buffers[3]);
  for (int64_t i = begin; i < end; ++i) {
    if (*context->cancelled != 0) return HILO_STOPPED;
    const hilo::cpu::gemm::Call call = CallAt(calls, i);
    const int32_t status = kProduct(call.m, call.n, calls.k, a + call.a, calls.a_leading, calls.a_transposed,
                                    b + call.b, calls.b_leading, calls.b_transposed, c + call.c, calls.n);
    if (status != HILO_OK) return status;
  }
  return HILO_OK;
}

template <typename T>
int32_t RunConvolution(HiloCpuContext* context, uint8_t* /*frame*/, uint8_t** buffers, int64_t begin, int64_t end) {
  using hilo::cpu::convolution::Loops;
  using hilo::cpu::convolution::RunState;
  const auto phases = *reinterpret_cast<const int64_t*>(buffers[0]);
  const auto* loops = reinterpret_cast<const Loops*>(buffers[0] + sizeof(int64_t));
  for (int64_t phase = 0, first = 0; phase < phases; first += loops[phase].units, ++phase) {
    const int64_t from = std::max(begin - first, int64_t{0}), to = std::min(end - first, loops[phase].units);
    if (from >= to) continue;
    const RunState state = hilo::cpu::convolution::Run(loops[phase], reinterpret_cast<const T*>(buffers[1]),
                                                       reinterpret_cast<const T*>(buffers[2]),
                                                       reinterpret_cast<T*>(buffers[3]), from, to, context->cancelled);
    if (state != RunState::kDone) return state == RunState::kStopped ? HILO_STOPPED : HILO_OUT_OF_MEMORY;
  }
  return HILO_OK;
}

// The products of patches are exact, and wrap around at 32 bits.
int32_t RunPatches(HiloCpuContext* context, uint8_t* /*frame*/, uint8_t** buffers, int64_t begin, int64_t end) {
  const auto& patches = *reinterpret_cast<const hilo::cpu::convolution::Patches*>(buffers[0]);
  const auto* input = reinterpret_cast<const int8_t*>(buffers[1]);
  const auto* weights = reinterpret_cast<const int8_t*>(buffers[2]);
  auto* result = reinterpret_cast<uint32_t*>(buffers[3]);
  const int64_t terms = patches.Terms(), rows = patches.Rows(), results = patches.results;
  const bool in_place = patches.AreInput();
  const Workspace<int8_t> copies = in_place ? nullptr : AllocateWorkspace<int8_t>(patches.block * terms);
  if (!in_place && copies == nullptr) return HILO_OUT_OF_MEMORY;
  for (int64_t i = begin; i < end; ++i) {
    if (*context->cancelled != 0) return HILO_STOPPED;
    const int64_t first = i * patches.block, count = std::min(patches.block, rows - first);
    if (!in_place) hilo::cpu::convolution::CopyPatches(patches, input, first, count, copies.get());
    const int32_t status = MultiplyS8(count, results, terms, in_place ? input + first * terms : copies.get(), terms,
                                      /*transpose_a=*/0, weights, patches.kernel_transposed != 0 ? terms : results,
                                      patches.kernel_transposed, result + first * results, results);
    if (status != HILO_OK) return status;
  }
  return HILO_OK;
}

int32_t RunTranspose(HiloCpuContext* context, uint8_t* /*frame*/, uint8_t** buffers, int64_t begin, int64_t end) {
  const auto& loops = *reinterpret_cast<const hilo::cpu::transpose::Loops*>(buffers[0]);
  return hilo::cpu::transpose::Run(loops, buffers[1], buffers[2], begin, end, context->cancelled) ? HILO_OK
                                                                                                  : HILO_STOPPED;
}

void* Address(HiloChunkFunction function) { return reinterpret_cast<void*>(function); }

}  // namespace

namespace hilo::cpu {

absl::Span<const codegen::HostSymbol> RuntimeSymbols() {
  static const codegen::HostSymbol symbols[] = {
      {"hilo_cpu_gemm_f32", Address(RunProducts<float, float, MultiplyF32>)},
      {"hilo_cpu_gemm_tiles_f32", Address(RunProducts<float, float, Multiply>)},
      {"hilo_cpu_gemm_f64", Address(RunProducts<double, double, Multiply>)},
      {"hilo_cpu_gemm_u32", Address(RunProducts<uint32_t, uint32_t, Multiply>)},
      {"hilo_cpu_gemm_s8", Address(RunProducts<int8_t, uint32_t, MultiplyS8>)},
      {"hilo_cpu_gemm_s16", Address(RunProducts<int16_t, uint32_t, Multiply>)},
      {"hilo_cpu_gemm_bf16", Address(RunProducts<BFloat16Bits, float, Multiply>)},
      {"hilo_cpu_gemm_bf16_rounded", Address(RunProducts<BFloat16Bits, BFloat16Bits, Multiply>)},
      {"hilo_cpu_gemm_c64", Address(RunProducts<Complex<float>, Complex<float>, Multiply>)},
      {"hilo_cpu_gemm_c128", Address(RunProducts<Complex<double>, Complex<double>, Multiply>)},
      {"hilo_cpu_convolution_f32", Address(RunConvolution<float>)},
      {"hilo_cpu_convolution_f64", Address(RunConvolution<double>)},
      {"hilo_cpu_convolution_s8", Address(RunPatches)},
      {"hilo_cpu_transpose", Address(RunTranspose)},
      {"hilo_cpu_sort", reinterpret_cast<void*>(hilo_cpu_sort)},
  };
  return symbols;
}

int32_t ParallelFor(HiloCpuContext* context, HiloChunkFunction function, uint8_t* frame, uint8_t** buffers,
                    int64_t chunks) {
  auto* pool = static_cast<ThreadPool*>(context->thread_pool);
  const int threads = pool == nullptr ? 1 : pool->num_threads();
  // Several parts per thread balance their speeds; the flag is polled between parts, also on one thread, unless the
  // chunks are few: each may repeat work for what it has.
  const int64_t parts =
      threads == 1 && chunks < kMinParts ? 1 : std::min<int64_t>(chunks, std::max(kMinParts, 4 * threads));
  std::atomic<int32_t> status{HILO_OK};
  // Values rather than references, so that other threads have them with one line of the cache.
  auto run = [context, function, frame, buffers, chunks, parts, &status](int64_t part) {
    FloatingPointMode mode(context->flush_denormals);
    if (status.load(std::memory_order_relaxed) != HILO_OK) return;
    int32_t result = *context->cancelled != 0 ? HILO_STOPPED : HILO_OK;
    if (result == HILO_OK) {
      result = function(context, frame, buffers, chunks * part / parts, chunks * (part + 1) / parts);
    }
    if (result != HILO_OK) status.store(result, std::memory_order_relaxed);
  };
  if (pool == nullptr) {
    for (int64_t part = 0; part < parts; ++part) run(part);
  } else {
    pool->ParallelFor(parts, run);
  }
  return status.load();
}

}  // namespace hilo::cpu
