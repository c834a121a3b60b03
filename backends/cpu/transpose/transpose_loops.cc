#include "backends/cpu/transpose/transpose_loops.h"

#include <algorithm>

#include "backends/cpu/transpose/transpose_kernels.h"

namespace hilo::cpu::transpose {
namespace {

constexpr int64_t kBytesBetweenPolls = 1 << 22;  // a millisecond

template <typename T>
StripsKernel<T> KernelOf(const Loops& loops) {
#if defined(__x86_64__)
  if constexpr (sizeof(T) < 4)
    return StripsKernel<T>(avx2::Strips);
  else
    return loops.vector_bytes == 64 ? StripsKernel<T>(avx512::Strips) : StripsKernel<T>(avx2::Strips);
#else
  return nullptr;  // other processors have no such vectors
#endif
}

// Where rows begin in the result, if they are in several dimensions.
class RowTable {
 public:
  explicit RowTable(const Loops& loops) : loops_(loops) {}

  // Returns where rows begin from `first` on; `count` of them are valid, at most kMax.
  const int64_t* From(int64_t first, int64_t count) {
    if (first < begin_ || first + count > end_) Fill(loops_.rows <= kMax ? 0 : first);
    return rows_ + (first - begin_);
  }

  static constexpr int64_t kMax = 512;

 private:
  void Fill(int64_t first) {
    begin_ = first;
    end_ = std::min(loops_.rows, first + kMax);
    int64_t index[Loops::kMaxRowDimensions], at = 0;
    for (int64_t d = loops_.row_dimensions - 1; d >= 0; --d) {
      index[d] = first % loops_.of_rows[d].count;
      first /= loops_.of_rows[d].count;
      at += index[d] * loops_.of_rows[d].result;
    }
    for (int64_t i = 0; i < end_ - begin_; ++i) {
      rows_[i] = at;
      for (int64_t d = loops_.row_dimensions - 1; d >= 0; --d) {
        const Dimension& dimension = loops_.of_rows[d];
        at += dimension.result;
        if (++index[d] < dimension.count) break;
        at -= dimension.count * dimension.result;
        index[d] = 0;
      }
    }
  }

  const Loops& loops_;
  int64_t begin_ = 0, end_ = 0;
  int64_t rows_[kMax];
};

// An index in the outer dimensions, the last of which are blocks of columns. It is divided once: the divisions of an
// index take longer than a tile.
class OuterIndex {
 public:
  OuterIndex(const Loops& loops, int64_t blocks, int64_t number) {
    std::copy_n(loops.outer, loops.outer_count, dims_);
    dims_[loops.outer_count] = {.count = blocks, .operand = loops.block * loops.column, .result = loops.block};
    last_ = loops.outer_count;
    for (int64_t d = last_; d >= 0; --d) {
      index_[d] = number % dims_[d].count;
      number /= dims_[d].count;
      operand_ += index_[d] * dims_[d].operand;
      result_ += index_[d] * dims_[d].result;
    }
  }

  void Advance() {
    for (int64_t d = last_; d >= 0; --d) {
      operand_ += dims_[d].operand;
      result_ += dims_[d].result;
      if (++index_[d] < dims_[d].count) break;
      operand_ -= dims_[d].count * dims_[d].operand;
      result_ -= dims_[d].count * dims_[d].result;
      index_[d] = 0;
    }
  }

  int64_t operand() const { return operand_; }
  int64_t result() const { return result_; }
  int64_t block() const { return index_[last_]; }

 private:
  Dimension dims_[Loops::kMaxOuter + 1];
  int64_t index_[Loops::kMaxOuter + 1], last_, operand_ = 0, result_ = 0;
};

template <typename T>
bool RunUnits(const Loops& loops, const T* operand, T* result, int64_t begin, int64_t end,
              const volatile int32_t* cancelled) {
  const StripsKernel<T> kernel = KernelOf<T>(loops);
  const int64_t width = loops.vector_bytes / static_cast<int64_t>(sizeof(T));
  const int64_t strips = (loops.rows + width - 1) / width, blocks = (loops.columns + loops.block - 1) / loops.block;
  const bool is_strided = loops.row_dimensions == 1;
  const int64_t row_stride = is_strided ? loops.of_rows[0].result : 0;
  int64_t most = std::max<int64_t>(1, kBytesBetweenPolls / (loops.vector_bytes * std::min(loops.block, loops.columns)));
  if (!is_strided) most = std::min(most, RowTable::kMax / width);
  RowTable rows(loops);
  OuterIndex outer(loops, blocks, begin / strips);
  for (int64_t unit = begin, strip = begin % strips; unit < end; strip = 0, outer.Advance()) {
    const T* const from = operand + outer.operand();
    T* const to = result + outer.result();
    const int64_t columns = std::min(loops.block, loops.columns - outer.block() * loops.block);
    while (strip < strips && unit < end) {
      if (*cancelled != 0) return false;
      // The last strip overlaps the one before.
      const int64_t row = std::min(strip * width, loops.rows - width);
      const int64_t count = std::clamp<int64_t>(loops.rows / width - strip, 1, std::min(most, end - unit));
      kernel(from + row, loops.column, to + row * row_stride, is_strided ? nullptr : rows.From(row, count * width),
             row_stride, columns, count, is_strided && loops.is_staged != 0);
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
  switch (loops.element_bytes) {
    case 1: return run(uint8_t{});
    case 2: return run(uint16_t{});
    case 4: return run(uint32_t{});
    default: return run(uint64_t{});
  }
}

}  // namespace hilo::cpu::transpose
