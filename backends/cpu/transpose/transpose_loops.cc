#include "backends/cpu/transpose/transpose_loops.h"

#include <algorithm>

#include "backends/cpu/transpose/transpose_kernels.h"

namespace hilo::cpu::transpose {
namespace {

constexpr int64_t kMostLanes = 16;
constexpr int64_t kBytesBetweenPolls = 1 << 22;  // a millisecond

template <typename T>
StripsKernel<T> KernelOf(const Loops& loops) {
#if defined(__x86_64__)
  return loops.vector_bytes == 64 ? StripsKernel<T>(avx512::Strips) : StripsKernel<T>(avx2::Strips);
#else
  return nullptr;  // other processors have no such vectors
#endif
}

// Stores where `count` rows from `first` on begin in the result.
void RowsFrom(const Loops& loops, int64_t first, int64_t count, int64_t* rows) {
  int64_t index[Loops::kMostRowDimensions], at = 0;
  for (int64_t d = loops.row_dimensions - 1; d >= 0; --d) {
    index[d] = first % loops.of_rows[d].count;
    first /= loops.of_rows[d].count;
    at += index[d] * loops.of_rows[d].result;
  }
  for (int64_t i = 0; i < count; ++i) {
    rows[i] = at;
    for (int64_t d = loops.row_dimensions - 1; d >= 0; --d) {
      const Dimension& dimension = loops.of_rows[d];
      at += dimension.result;
      if (++index[d] < dimension.count) break;
      at -= dimension.count * dimension.result;
      index[d] = 0;
    }
  }
}

template <typename T>
bool RunUnits(const Loops& loops, const T* operand, T* result, int64_t begin, int64_t end,
              const volatile int32_t* cancelled) {
  const StripsKernel<T> kernel = KernelOf<T>(loops);
  const int64_t width = loops.vector_bytes / static_cast<int64_t>(sizeof(T));
  const int64_t strips = (loops.rows + width - 1) / width, blocks = (loops.columns + loops.block - 1) / loops.block;
  const int64_t most =
      std::max<int64_t>(1, kBytesBetweenPolls / (loops.vector_bytes * std::min(loops.block, loops.columns)));
  int64_t rows[kMostLanes];
  const bool is_strided = loops.row_dimensions == 1;
  const int64_t row_stride = is_strided ? loops.of_rows[0].result : 0;
  for (int64_t unit = begin; unit < end;) {
    int64_t strip = unit % strips, rest = unit / strips;
    const int64_t column = rest % blocks * loops.block, columns = std::min(loops.block, loops.columns - column);
    rest /= blocks;
    const T* from = operand + column * loops.column;
    T* to = result + column;
    for (int64_t d = loops.outer_count - 1; d >= 0; --d) {
      const Dimension& outer = loops.outer[d];
      from += rest % outer.count * outer.operand;
      to += rest % outer.count * outer.result;
      rest /= outer.count;
    }
    while (strip < strips && unit < end) {
      if (*cancelled != 0) return false;
      // The last strip overlaps the one before.
      const int64_t row = std::min(strip * width, loops.rows - width);
      const int64_t count =
          is_strided ? std::clamp<int64_t>(loops.rows / width - strip, 1, std::min(most, end - unit)) : 1;
      if (!is_strided) RowsFrom(loops, row, width, rows);
      kernel(from + row, loops.column, to + row * row_stride, is_strided ? nullptr : rows, row_stride, columns, count,
             is_strided && loops.is_staged != 0);
      strip += count;
      unit += count;
    }
  }
  return true;
}

}  // namespace

bool Run(const Loops& loops, const void* operand, void* result, int64_t begin, int64_t end,
         const volatile int32_t* cancelled) {
  const auto run = [&](auto element) {
    using T = decltype(element);
    return RunUnits(loops, static_cast<const T*>(operand), static_cast<T*>(result), begin, end, cancelled);
  };
  return loops.element_bytes == 8 ? run(uint64_t{}) : run(uint32_t{});
}

}  // namespace hilo::cpu::transpose
