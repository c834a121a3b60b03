// A tile of the result stays in registers while all products of one section of k are added. For that, both operands are
// copied ("packed") into the order in which the tile reads them: blocks of b of kDepth x kWidth into strips of the
// tile's columns, which stay in the last-level cache, blocks of a of kHeight x kDepth into strips of its rows, which
// stay in the second-level cache. The last strip of columns has as few vectors as it needs. Packing pads strips with
// zeros, so tiles are always complete; those at the edges are computed in a temporary and copied to c.
#include "backends/cpu/gemm/gemm.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <tuple>
#include <type_traits>

#include "backends/cpu/gemm/gemm_kernels.h"
#include "base/aligned_buffer.h"
#include "hilo/status_macros.h"

namespace hilo::cpu::gemm {
namespace {

constexpr int64_t kDepth = 256, kHeight = 128, kWidth = 1008;
constexpr int64_t kLargestTile = 8 * 48;

template <typename T>
const TileKernel<T>& HostTile() {
  const auto choose = [](const auto&... kernels) -> const TileKernel<T>& {
    return std::get<const TileKernel<T>&>(std::tie(kernels...));
  };
#if defined(__x86_64__)
  static const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                                 __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
  static const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (has_avx512) return choose(avx512::kFloat, avx512::kDouble, avx512::kUint32, avx512::kInt16Pair);
  if (has_avx2) return choose(avx2::kFloat, avx2::kDouble, avx2::kUint32, avx2::kInt16Pair);
#endif
  return choose(baseline::kFloat, baseline::kDouble, baseline::kUint32, baseline::kInt16Pair);
}

// Null if the processor has no instruction for such products.
const TileKernel<BFloat16Pair>* BFloat16Tile() {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bf16");
  if (has_instruction) return &avx512bf16::kBFloat16Pair;
#endif
  return nullptr;
}

int64_t RoundUp(int64_t size, int64_t multiple) { return (size + multiple - 1) / multiple * multiple; }

template <typename T, typename Element>
T Packed(Element first, Element second) {
  if constexpr (std::is_same_v<T, Element>)
    return first;
  else if constexpr (Step<T>::kLength == 1)
    return std::bit_cast<T>(uint32_t{static_cast<uint16_t>(first)} << 16);
  else
    return T{static_cast<uint16_t>(first) | uint32_t{static_cast<uint16_t>(second)} << 16};
}

// Pack for rows of b that are contiguous: line by line, as memory is read fastest.
template <typename T>
void PackRows(const T* from, int64_t across, int64_t steps, int64_t step_stride, int64_t widest, int64_t unit, T* to) {
  for (int64_t l = 0; l < steps; ++l) {
    const T* line = from + l * step_stride;
    for (int64_t first = 0; first < across; first += widest) {
      const int64_t count = std::min(widest, across - first), strip = RoundUp(count, unit);
      T* packed = to + first * steps + l * strip;
      std::memcpy(packed, line + first, static_cast<size_t>(count) * sizeof(T));
      std::fill(packed + count, packed + strip, T(0));
    }
  }
}

// Copies a matrix of `across` x `along` elements into strips of width `widest`, the last one perhaps of a smaller
// multiple of `unit`: step l of element i of a strip is at l * strip + i.
template <typename T, typename Element>
void Pack(const Element* from, int64_t across, int64_t across_stride, int64_t along, int64_t along_stride,
          int64_t widest, int64_t unit, T* to) {
  constexpr int kLength = Step<T>::kLength;
  const int64_t steps = RoundUp(along, kLength) / kLength, whole = along / kLength;
  if constexpr (std::is_same_v<T, Element>) {
    if (across_stride == 1) return PackRows(from, across, along, along_stride, widest, unit, to);
  }
  for (int64_t first = 0; first < across; first += widest, to += widest * steps) {
    const int64_t count = std::min(widest, across - first), strip = RoundUp(count, unit);
    const Element* source = from + first * across_stride;
    const int64_t next = (kLength - 1) * along_stride;
    if (across_stride == 1) {
      for (int64_t l = 0; l < whole; ++l) {
        const Element* line = source + kLength * l * along_stride;
        for (int64_t i = 0; i < count; ++i) to[l * strip + i] = Packed<T>(line[i], line[i + next]);
      }
    } else {
      // Several lines at once, so that their cache misses overlap.
      constexpr int64_t kLines = 8;
      int64_t i = 0;
      const auto pack_lines = [&](auto lines) {
        const Element* line = source + i * across_stride;
        for (int64_t l = 0; l < whole; ++l, line += kLength * along_stride) {
          for (int64_t j = 0; j < lines; ++j)
            to[l * strip + i + j] = Packed<T>(line[j * across_stride], line[j * across_stride + next]);
        }
        i += lines;
      };
      while (i + kLines <= count) pack_lines(std::integral_constant<int64_t, kLines>());
      while (i < count) pack_lines(std::integral_constant<int64_t, 1>());
    }
    for (int64_t i = 0; i < count && whole < steps; ++i)
      to[whole * strip + i] = Packed<T>(source[i * across_stride + (along - 1) * along_stride], Element(0));
    if (count == strip) continue;
    for (int64_t l = 0; l < steps; ++l) std::fill(to + l * strip + count, to + (l + 1) * strip, T(0));
  }
}

// Computes a block of c from packed blocks.
template <typename T, typename Sum = typename Step<T>::Sum>
void MultiplyPacked(const TileKernel<T>& tile, int64_t rows, int64_t columns, int64_t steps, const T* a, const T* b,
                    Sum* c, int64_t ldc, bool accumulate) {
  for (int64_t j = 0; j < columns; j += tile.columns()) {
    const int64_t width = std::min(tile.columns(), RoundUp(columns - j, tile.lanes));
    const auto run = tile.run[width / tile.lanes - 1];
    for (int64_t i = 0; i < rows; i += tile.rows) {
      const T* strip_a = a + i * steps;
      const T* strip_b = b + j * steps;
      Sum* to = c + i * ldc + j;
      if (i + tile.rows <= rows && j + width <= columns) {
        run(steps, strip_a, strip_b, to, ldc, accumulate);
        continue;
      }
      Sum edge[kLargestTile];
      run(steps, strip_a, strip_b, edge, width, false);
      for (int64_t r = 0; r < std::min(tile.rows, rows - i); ++r) {
        for (int64_t s = 0; s < std::min(width, columns - j); ++s) {
          const Sum sum = edge[r * width + s];
          to[r * ldc + s] = accumulate ? to[r * ldc + s] + sum : sum;
        }
      }
    }
  }
}

template <typename T, typename Element, typename Sum>
absl::Status MultiplyIn(const TileKernel<T>& tile, int64_t m, int64_t n, int64_t k, const Element* a, Strides a_strides,
                        const Element* b, Strides b_strides, Sum* c, int64_t ldc) {
  const int64_t depth = std::min(k, kDepth), height = RoundUp(std::min(m, kHeight), tile.rows),
                width = RoundUp(std::min(n, kWidth), tile.columns());
  // Reused by the thread's next product.
  thread_local AlignedBuffer space;
  const int64_t bytes = (height + width) * depth * static_cast<int64_t>(sizeof(T));
  if (space.size() < bytes) {
    space = AlignedBuffer();
    HILO_ASSIGN_OR_RETURN(space, AlignedBuffer::Create(bytes));
  }
  T* packed_b = reinterpret_cast<T*>(space.data());
  T* packed_a = packed_b + width * depth;
  for (int64_t j = 0; j < n; j += kWidth) {
    const int64_t columns = std::min(kWidth, n - j);
    for (int64_t l = 0; l < k; l += kDepth) {
      const int64_t section = std::min(kDepth, k - l), steps = RoundUp(section, Step<T>::kLength) / Step<T>::kLength;
      Pack(b + l * b_strides.row + j * b_strides.column, columns, b_strides.column, section, b_strides.row,
           tile.columns(), tile.lanes, packed_b);
      for (int64_t i = 0; i < m; i += kHeight) {
        const int64_t rows = std::min(kHeight, m - i);
        Pack(a + i * a_strides.row + l * a_strides.column, rows, a_strides.row, section, a_strides.column, tile.rows,
             tile.rows, packed_a);
        MultiplyPacked(tile, rows, columns, steps, packed_a, packed_b, c + i * ldc + j, ldc, l > 0);
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

template <typename T>
absl::Status Multiply(int64_t m, int64_t n, int64_t k, const T* a, Strides a_strides, const T* b, Strides b_strides,
                      T* c, int64_t ldc) {
  return MultiplyIn(HostTile<T>(), m, n, k, a, a_strides, b, b_strides, c, ldc);
}

absl::Status Multiply(int64_t m, int64_t n, int64_t k, const int8_t* a, Strides a_strides, const int8_t* b,
                      Strides b_strides, uint32_t* c, int64_t ldc) {
  return MultiplyIn(HostTile<Int16Pair>(), m, n, k, a, a_strides, b, b_strides, c, ldc);
}

absl::Status Multiply(int64_t m, int64_t n, int64_t k, const int16_t* a, Strides a_strides, const int16_t* b,
                      Strides b_strides, uint32_t* c, int64_t ldc) {
  return MultiplyIn(HostTile<Int16Pair>(), m, n, k, a, a_strides, b, b_strides, c, ldc);
}

absl::Status Multiply(int64_t m, int64_t n, int64_t k, const BFloat16Bits* a, Strides a_strides, const BFloat16Bits* b,
                      Strides b_strides, float* c, int64_t ldc) {
  const TileKernel<BFloat16Pair>* const tile = BFloat16Tile();
  return tile != nullptr ? MultiplyIn(*tile, m, n, k, a, a_strides, b, b_strides, c, ldc)
                         : MultiplyIn(HostTile<float>(), m, n, k, a, a_strides, b, b_strides, c, ldc);
}

template absl::Status Multiply<float>(int64_t, int64_t, int64_t, const float*, Strides, const float*, Strides, float*,
                                      int64_t);
template absl::Status Multiply<uint32_t>(int64_t, int64_t, int64_t, const uint32_t*, Strides, const uint32_t*, Strides,
                                         uint32_t*, int64_t);
template absl::Status Multiply<double>(int64_t, int64_t, int64_t, const double*, Strides, const double*, Strides,
                                       double*, int64_t);

}  // namespace hilo::cpu::gemm
