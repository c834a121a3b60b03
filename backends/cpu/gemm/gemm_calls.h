// A product of matrices, or a batch of products, as calls of gemm.h on blocks of rows and columns, in numbers alone.
#ifndef HILO_BACKENDS_CPU_GEMM_GEMM_CALLS_H_
#define HILO_BACKENDS_CPU_GEMM_GEMM_CALLS_H_

#include <algorithm>
#include <cstdint>

namespace hilo::cpu::gemm {

// A dimension of a batch, with the elements between its matrices on the left and on the right.
struct Batch {
  int64_t count = 1, a = 0, b = 0;
};

// c[m, n] = a[m, k] b[k, n] for each index of the batch. Generated code has it as a constant. The calls are, row-major,
// the indices of the batch, times blocks of `block` rows, times panels of `panel` columns. A transposed matrix is
// stored as [k, m] or [n, k]; `leading` elements are between its rows, those of c are dense.
struct Calls {
  static constexpr int64_t kMaxBatches = 4;

  int64_t m = 0, n = 0, k = 0;
  int64_t block = 1, panel = 1;
  int64_t a_leading = 0, a_transposed = 0, b_leading = 0, b_transposed = 0;
  Batch batches[kMaxBatches];  // the innermost last; those that there are not have one index
};

// One of the calls: its rows and columns, and the elements of the three arrays that it begins with.
struct Call {
  int64_t m, n, a, b, c;
};
inline Call CallAt(const Calls& calls, int64_t number) {
  const int64_t panels = (calls.n + calls.panel - 1) / calls.panel, blocks = (calls.m + calls.block - 1) / calls.block;
  const int64_t column = number % panels * calls.panel, row = number / panels % blocks * calls.block;
  int64_t batch = number / panels / blocks;
  Call call{.m = std::min(calls.block, calls.m - row),
            .n = std::min(calls.panel, calls.n - column),
            .a = row * (calls.a_transposed != 0 ? 1 : calls.a_leading),
            .b = column * (calls.b_transposed != 0 ? calls.b_leading : 1),
            .c = (batch * calls.m + row) * calls.n + column};
  for (int64_t d = Calls::kMaxBatches - 1; d >= 0; --d) {
    const int64_t index = batch % calls.batches[d].count;
    batch /= calls.batches[d].count;
    call.a += index * calls.batches[d].a;
    call.b += index * calls.batches[d].b;
  }
  return call;
}

}  // namespace hilo::cpu::gemm

#endif  // HILO_BACKENDS_CPU_GEMM_GEMM_CALLS_H_
