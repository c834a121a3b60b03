// A tile of the result stays in registers while all products of one section of k are added. For that, both operands are
// copied ("packed") into the order in which the tile reads them: blocks of b into strips of the tile's columns, blocks
// of a into strips of its rows, which stay in the caches. Read in place are rows of a that are
// contiguous along k, and an operand that is read once or twice or is small. Tiles have as many rows as there are, and
// as few vectors as they need, the last of which may have fewer columns than lanes.
#include "backends/cpu/gemm/gemm.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "backends/cpu/gemm/gemm_kernels.h"
#include "backends/cpu/transpose/transpose_kernels.h"
#include "base/aligned_buffer.h"
#include "hilo/status_macros.h"

namespace hilo::cpu::gemm {
namespace {

constexpr int64_t kDepth = 256;  // of a packed block
// Rows of a block of a, and bytes of a packed block of b. With vectors of 64 bytes, whose processors have larger second
// caches, both fit there; else that of b is in the last one. Measured with vectors of 32 bytes (Zen 3, 512 KB of second
// cache, one thread), as a share of the time with 128 rows and 480 KB: 64 rows and 2000 KB 0.78 to 0.99 in f32, 0.85 to
// 0.95 in f64; 128 rows and 1000 KB 0.80 to 1.02; 128 rows and 240 KB 0.95 to 1.1.
struct BlockSize {
  int64_t rows, bytes;
};
constexpr BlockSize kBlockOfWideVectors{128, 480 << 10}, kBlock{64, 2000 << 10};
// Sections of few rows, for weights that fit the last-level cache, and for those that are read as streams.
constexpr int64_t kDepthOfFewRows = 64, kDepthOfStreams = 16, kCacheBytes = 24 << 20;
constexpr int64_t kFewTerms = 32, kLargeResult = 512 * 1024;
// Bytes that a section of an operand spans if it is read in place however often.
constexpr int64_t kSmallBytes = 96 * 1024;
// Rows of a for which b is not packed, bytes of a section of b and of all of it, and rows if those of b are a multiple
// of kAliasedBytes apart, so that a strip has one set of the first cache. Measured (Zen 3, one thread), in place as a
// share of the time packed, f32: 8 x 128 x 512 0.53, 16 x 128 x 512 0.77, 16 x 512 x 128 0.65, 24 x 640 x 640 0.88,
// 64 x 128 x 512 1.15; 8 x 1024 x 1024 0.76, 16 x 1024 x 1024 1.49, 24 x 64 x 1024 1.41; 6 x 4096 x 640 1.33.
constexpr int64_t kUnpackedRows = 24, kUnpackedSection = 1 << 20, kUnpackedBytes = 4 << 20;
constexpr int64_t kAliasedBytes = 4096, kUnpackedAliasedRows = 8;
// Rows with vectors of 64 bytes, whatever lies between those of b: a tile reads a third of its lines as often. And
// bytes of all of b for kFewTerms, whose strips stay in the first cache. Measured (Zen 4, one thread) likewise, f32: 16
// x 64 x 1024 0.79, 16 x 16 x 4096 0.86, 24 x 32 x 65536 0.88, 16 x 16 x 262144 1.06, 64 x 64 x 512 0.94, 256 x 32 x
// 1000 0.93; f64: 16 x 64 x 1024 0.67, 24 x 512 x 512 0.82, 64 x 512 x 512 0.93, 256 x 256 x 256 0.92, 256 x 256 x 512
// 0.97, 512 x 512 x 512 1.05; c64: 16 x 64 x 1024 0.89, 64 x 128 x 500 0.96.
constexpr int64_t kUnpackedRowsOfWideVectors = 256, kUnpackedBytesOfFewTerms = 8 << 20;

template <typename T, typename Element>
Kernel<T, Element> KernelFor([[maybe_unused]] Instructions instructions) {
#if defined(__x86_64__)
  if (instructions >= Instructions::kAvx512) return avx512::KernelOf<T, Element>();
  if (instructions >= Instructions::kAvx2) return avx2::KernelOf<T, Element>();
#endif
  return baseline::KernelOf<T, Element>();
}

// Tiles that pack a transposed matrix; null without vectors.
template <typename Unit>
transpose::StripsKernel<Unit> TransposeFor([[maybe_unused]] Instructions instructions) {
#if defined(__x86_64__)
  if (instructions >= Instructions::kAvx512) return transpose::avx512::Strips;
  if (instructions >= Instructions::kAvx2) return transpose::avx2::Strips;
#endif
  return nullptr;
}

void Round([[maybe_unused]] Instructions instructions, const float* from, int64_t count, BFloat16Bits* to) {
#if defined(__x86_64__)
  if (instructions >= Instructions::kAvx512) return avx512::RoundToBFloat16(from, count, to);
  if (instructions >= Instructions::kAvx2) return avx2::RoundToBFloat16(from, count, to);
#endif
  baseline::RoundToBFloat16(from, count, to);
}

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t RoundUp(int64_t size, int64_t multiple) { return CeilDiv(size, multiple) * multiple; }

// Copies a matrix of `across` x `along` elements into strips of width `widest`, the last one of as many as there are,
// up to a multiple of `unit`: step l of element i of a strip is at l * strip + i.
template <typename T, typename Element>
void Pack(const Element* from, int64_t across, int64_t across_stride, int64_t along, int64_t along_stride,
          int64_t widest, int64_t unit, T* to) {
  constexpr int kLength = Step<T>::kLength;
  const int64_t steps = CeilDiv(along, kLength), whole = along / kLength, next = (kLength - 1) * along_stride;
  const auto width_at = [&](int64_t first) { return std::min(widest, across - first); };
  if (across_stride == 1) {
    // As many steps of each strip as fill a cache line, so that those of the matrix are read by one strip after the
    // other. Pieces of the matrix's rows are too short for the processor to prefetch.
    constexpr int64_t kAhead = 16, kLine = 64 / static_cast<int64_t>(sizeof(Element));
    const int64_t group = std::max<int64_t>(1, 64 / (widest * static_cast<int64_t>(sizeof(T))));
    for (int64_t begin = 0; begin < whole; begin += group) {
      const int64_t end = std::min(whole, begin + group);
      for (int64_t l = begin + kAhead; l < std::min(whole, end + kAhead); ++l) {
        const Element* line = from + kLength * l * along_stride;
        for (int64_t i = 0; i < across; i += kLine) __builtin_prefetch(line + i);
      }
      for (int64_t first = 0; first < across; first += widest) {
        const int64_t count = width_at(first), strip = RoundUp(count, unit);
        const auto copy = [&](auto elements) {
          for (int64_t l = begin; l < end; ++l) {
            const Element* line = from + first + kLength * l * along_stride;
            T* step = to + first * steps + l * strip;
            for (int64_t i = 0; i < elements; ++i) step[i] = Packed<T>(line[i], line[i + next]);
          }
        };
        constexpr std::integral_constant<int64_t, 4> kUsual{};  // rows of a tile with AVX2
        if (count == kUsual)
          copy(kUsual);
        else
          copy(count);
      }
    }
  }
  for (int64_t first = 0; first < across; first += widest, to += widest * steps) {
    const int64_t count = width_at(first), strip = RoundUp(count, unit);
    const Element* source = from + first * across_stride;
    if (across_stride != 1) {
      // Several lines at once, so that their cache misses overlap.
      constexpr int64_t kLines = 8;
      const auto pack_lines = [&](int64_t i, auto lines) {
        const Element* line = source + i * across_stride;
        for (int64_t l = 0; l < whole; ++l, line += kLength * along_stride) {
          for (int64_t j = 0; j < lines; ++j)
            to[l * strip + i + j] = Packed<T>(line[j * across_stride], line[j * across_stride + next]);
        }
      };
      int64_t i = 0;
      for (; i + kLines <= count; i += kLines) pack_lines(i, std::integral_constant<int64_t, kLines>());
      for (; i < count; ++i) pack_lines(i, std::integral_constant<int64_t, 1>());
    }
    for (int64_t i = 0; i < count && whole < steps; ++i)
      to[whole * strip + i] = Packed<T>(source[i * across_stride + (along - 1) * along_stride], Element(0));
    if (count == strip) continue;
    for (int64_t l = 0; l < steps; ++l) std::fill(to + l * strip + count, to + (l + 1) * strip, T{});
  }
}

// A strip of an operand: element i of step l is at first[i * across + l * step].
template <typename T>
struct Strip {
  const T* first;
  int64_t across, step;
};

template <typename T, typename Element>
class Product {
 public:
  using Sum = typename Step<T>::Sum;
  static constexpr int kLength = Step<T>::kLength;

  Product(Instructions instructions, const Kernel<T, Element>& kernel, int64_t m, int64_t n, int64_t k,
          const Element* a, Strides a_strides, const Element* b, Strides b_strides)
      : instructions_(instructions),
        kernel_(kernel),
        m_(m),
        n_(n),
        k_(k),
        a_(a),
        b_(b),
        a_strides_(a_strides),
        b_strides_(b_strides) {
    strip_ = kernel.lanes * kernel.MaxVectors(std::min(m, kernel.rows));
    const bool has_wide_vectors = kernel.lanes * static_cast<int64_t>(sizeof(T)) == 64;
    const auto is_small = [](const Strides& strides, int64_t rows, int64_t columns) {
      const int64_t elements = strides.column == 1 ? rows * strides.row : columns * strides.column;
      return elements * static_cast<int64_t>(sizeof(Element)) <= kSmallBytes;
    };
    if constexpr (kLength == 1 && std::is_same_v<T, Element>) {
      b_in_place_ = b_strides.column == 1 && (m <= kFewRows || is_small(b_strides, std::min(k, kDepth), n) ||
                                              ReadsUnpacked(m, k, b_strides.row, has_wide_vectors));
      a_in_place_ = a_strides.column == 1 || n <= 2 * strip_ || is_small(a_strides, m, k);
    } else if constexpr (sizeof(T) == kLength * sizeof(Element)) {
      a_in_place_ = a_strides.column == 1 && a_strides.row % kLength == 0 && k % kLength == 0 &&
                    reinterpret_cast<uintptr_t>(a) % sizeof(T) == 0;
    }
    const bool streams = b_in_place_ && m <= kFewRows;
    // Strips of whole cache lines, which are then read once.
    constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T));
    if (streams) strip_ = std::max(strip_ / kLine * kLine, kernel.lanes);
    const bool is_cached = k * b_strides.row * static_cast<int64_t>(sizeof(Element)) <= kCacheBytes;
    depth_ = !streams ? kDepth : is_cached ? kDepthOfFewRows : kDepthOfStreams;
    max_steps_ = Steps(std::min(k, depth_));
    const BlockSize block = has_wide_vectors ? kBlockOfWideVectors : kBlock;
    height_ = block.rows;
    width_ = std::max<int64_t>(1, block.bytes / (max_steps_ * static_cast<int64_t>(sizeof(T))) / strip_) * strip_;
    width_ = std::min(width_, RoundUp(n, strip_));
  }

  // Rounded: Result of another type than Sum.
  template <typename Result>
  absl::Status Run(Result* c, int64_t ldc) {
    constexpr bool kRounds = !std::is_same_v<Result, Sum>;
    // Reused by the thread's next product.
    thread_local AlignedBuffer space;
    const int64_t packed_b = RoundUp((b_in_place_ ? strip_ : width_) * max_steps_, 64),
                  packed_a = a_in_place_ ? 0 : RoundUp(std::min(m_, height_) * max_steps_, 64),
                  sums = kRounds ? m_ * width_ : 0;
    const int64_t bytes =
        (packed_a + packed_b) * static_cast<int64_t>(sizeof(T)) + sums * static_cast<int64_t>(sizeof(Sum));
    if (space.size() < bytes) {
      space = AlignedBuffer();
      HILO_ASSIGN_OR_RETURN(space, AlignedBuffer::Create(bytes));
    }
    packed_b_ = reinterpret_cast<T*>(space.data());
    packed_a_ = packed_b_ + packed_b;
    for (int64_t j = 0; j < n_; j += width_) {
      const int64_t columns = std::min(width_, n_ - j);
      if constexpr (kRounds) {
        Sum* panel = reinterpret_cast<Sum*>(packed_a_ + packed_a);
        MultiplyPanel(j, columns, panel, width_);
        for (int64_t i = 0; i < m_; ++i) Round(instructions_, panel + i * width_, columns, c + i * ldc + j);
      } else {
        MultiplyPanel(j, columns, c + j, ldc);
      }
    }
    return absl::OkStatus();
  }

 private:
  static int64_t Steps(int64_t depth) { return CeilDiv(depth, kLength); }

  // Returns true if so few rows of a read b, whose rows are `stride` elements apart, that packing it does not pay.
  static bool ReadsUnpacked(int64_t m, int64_t k, int64_t stride, bool has_wide_vectors) {
    const int64_t row = stride * static_cast<int64_t>(sizeof(Element));
    const int64_t max_rows = has_wide_vectors           ? kUnpackedRowsOfWideVectors
                             : row % kAliasedBytes == 0 ? kUnpackedAliasedRows
                                                        : kUnpackedRows;
    if (m > max_rows) return false;
    if (has_wide_vectors && k <= kFewTerms) return k * row <= kUnpackedBytesOfFewTerms;
    return std::min(k, kDepth) * row <= kUnpackedSection && k * row <= kUnpackedBytes;
  }

  void MultiplyPanel(int64_t first_column, int64_t columns, Sum* c, int64_t ldc) {
    for (int64_t l = 0; l < k_; l += depth_) {
      const int64_t depth = std::min(depth_, k_ - l);
      const Element* b = b_ + l * b_strides_.row + first_column * b_strides_.column;
      if (!b_in_place_) PackB(b, columns, depth, packed_b_);
      for (int64_t i = 0; i < m_; i += height_) {
        const int64_t rows = std::min(height_, m_ - i);
        const Element* a = a_ + i * a_strides_.row + l * a_strides_.column;
        if (!a_in_place_) Pack(a, rows, a_strides_.row, depth, a_strides_.column, kernel_.rows, 1, packed_a_);
        MultiplyBlock(a, rows, b, columns, depth, c + i * ldc, ldc, l > 0);
      }
    }
  }

  void PackB(const Element* b, int64_t columns, int64_t depth, T* to) const {
    if (b_strides_.column == 1)
      kernel_.pack_rows(b, columns, depth, b_strides_.row, strip_, to);
    else if (!TransposeB(b, columns, depth, to))
      Pack(b, columns, b_strides_.column, depth, b_strides_.row, strip_, kernel_.lanes, to);
  }
  // Packs columns that are contiguous along k, by tiles of as many columns as steps; returns false if it cannot.
  // Measured on two threads (Zen 4), us by lines and by tiles: bf16 64 x 1024 x 1024 497 and 377, s32 256 x 256 x 256
  // 246 and 210, f64 512 x 512 x 512 2560 and 2450.
  bool TransposeB(const Element* b, int64_t columns, int64_t depth, T* to) const {
    if constexpr (sizeof(T) == kLength * sizeof(Element) && (sizeof(T) == 4 || sizeof(T) == 8)) {
      using Unit = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
      const transpose::StripsKernel<Unit> transposed = TransposeFor<Unit>(instructions_);
      if (transposed == nullptr || b_strides_.row != 1 || b_strides_.column % kLength != 0 ||
          reinterpret_cast<uintptr_t>(b) % sizeof(Unit) != 0)
        return false;
      const int64_t tiles = depth / kLength / kernel_.lanes, steps = tiles * kernel_.lanes;
      for (int64_t first = 0; first < columns; first += strip_, to += strip_ * Steps(depth)) {
        const Element* from = b + first * b_strides_.column;
        const int64_t count = std::min(strip_, columns - first), width = RoundUp(count, kernel_.lanes);
        int64_t done = 0;
        if (count >= kernel_.lanes) {
          done = steps;
          transposed(reinterpret_cast<const Unit*>(from), b_strides_.column / kLength, reinterpret_cast<Unit*>(to),
                     nullptr, width, count, tiles, false);
          for (int64_t l = 0; l < done && count < width; ++l)
            std::fill(to + l * width + count, to + (l + 1) * width, T{});
        }
        Pack(from + done * kLength, count, b_strides_.column, depth - done * kLength, b_strides_.row, strip_,
             kernel_.lanes, to + done * width);
      }
      return true;
    }
    return false;
  }

  Strip<T> StripOfA(const Element* a, int64_t row, int64_t rows, int64_t steps) const {
    if (a_in_place_)
      return {reinterpret_cast<const T*>(a + row * a_strides_.row), a_strides_.row / kLength, a_strides_.column};
    return {packed_a_ + row * steps, 1, rows};
  }
  // `width`: of whole vectors. Without masks, columns that do not fill them are packed in any case.
  Strip<T> StripOfB(const Element* b, int64_t column, int64_t columns, int64_t width, int64_t depth) const {
    if constexpr (std::is_same_v<T, Element>) {
      if (b_in_place_) {
        if (columns == width || kernel_.has_masks) return {b + column, 1, b_strides_.row};
        PackB(b + column, columns, depth, packed_b_);
        return {packed_b_, 1, width};
      }
    }
    return {packed_b_ + column * Steps(depth), 1, width};
  }

  void MultiplyBlock(const Element* a, int64_t rows, const Element* b, int64_t columns, int64_t depth, Sum* c,
                     int64_t ldc, bool accumulate) const {
    const int64_t steps = Steps(depth);
    const auto multiply_tiles = [&](int64_t j, int64_t begin, int64_t end) {
      const int64_t filled = std::min(strip_, columns - j), vectors = CeilDiv(filled, kernel_.lanes);
      const int64_t last = filled - (vectors - 1) * kernel_.lanes;
      const Strip<T> strip_b = StripOfB(b, j, filled, vectors * kernel_.lanes, depth);
      for (int64_t i = begin; i < end; i += kernel_.rows) {
        const int64_t tile_rows = std::min(kernel_.rows, end - i);
        const Strip<T> strip_a = StripOfA(a, i, tile_rows, steps);
        kernel_.tile(tile_rows, vectors, last < kernel_.lanes)(steps, strip_a.first, strip_a.across, strip_a.step,
                                                               strip_b.first, strip_b.step, c + i * ldc + j, ldc, last,
                                                               accumulate);
      }
    };
    // Few terms and a result that leaves the second-level cache: it is most of what is accessed, and is written along
    // its rows. Down its columns every row of a tile is in another page.
    const bool along_rows = depth <= kFewTerms && rows * ldc * static_cast<int64_t>(sizeof(Sum)) >= kLargeResult &&
                            (!b_in_place_ || kernel_.has_masks);
    const int64_t height = along_rows ? kernel_.rows : rows;
    for (int64_t i = 0; i < rows; i += height) {
      for (int64_t j = 0; j < columns; j += strip_) multiply_tiles(j, i, std::min(rows, i + height));
    }
  }

  const Instructions instructions_;
  const Kernel<T, Element> kernel_;
  const int64_t m_, n_, k_;
  const Element *const a_, *const b_;
  const Strides a_strides_, b_strides_;
  bool a_in_place_ = false, b_in_place_ = false;
  int64_t strip_, depth_, max_steps_, height_, width_;  // of a tile's columns, a section, in steps, and blocks
  T *packed_a_ = nullptr, *packed_b_ = nullptr;
};

}  // namespace

Instructions HostInstructions() {
#if defined(__x86_64__)
  static const Instructions host = [] {
    const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (!has_avx2) return Instructions::kBaseline;
    const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
    if (!has_avx512) return Instructions::kAvx2;
    return __builtin_cpu_supports("avx512bf16") ? Instructions::kAvx512BFloat16 : Instructions::kAvx512;
  }();
  return host;
#else
  return Instructions::kBaseline;
#endif
}

template <typename T, typename Result>
absl::Status Multiply(int64_t m, int64_t n, int64_t k, const T* a, Strides a_strides, const T* b, Strides b_strides,
                      Result* c, int64_t ldc, Instructions instructions) {
  const auto multiply = [&]<typename Factor>(const Kernel<Factor, T>& kernel) {
    return Product<Factor, T>(instructions, kernel, m, n, k, a, a_strides, b, b_strides).Run(c, ldc);
  };
  if constexpr (std::is_same_v<T, BFloat16Bits>) {
#if defined(__x86_64__)
    if (instructions >= Instructions::kAvx512BFloat16) return multiply(avx512bf16::KernelOf<BFloat16Pair, T>());
#endif
    return multiply(KernelFor<float, T>(instructions));
  } else if constexpr (std::is_same_v<T, Result>) {
    return multiply(KernelFor<T, T>(instructions));
  } else {
    return multiply(KernelFor<Int16Pair, T>(instructions));
  }
}

#define HILO_GEMM_MULTIPLY(T, Result)                                                                                 \
  template absl::Status Multiply<T, Result>(int64_t, int64_t, int64_t, const T*, Strides, const T*, Strides, Result*, \
                                            int64_t, Instructions);
HILO_GEMM_MULTIPLY(float, float)
HILO_GEMM_MULTIPLY(double, double)
HILO_GEMM_MULTIPLY(uint32_t, uint32_t)
HILO_GEMM_MULTIPLY(int8_t, uint32_t)
HILO_GEMM_MULTIPLY(int16_t, uint32_t)
HILO_GEMM_MULTIPLY(BFloat16Bits, float)
HILO_GEMM_MULTIPLY(BFloat16Bits, BFloat16Bits)
HILO_GEMM_MULTIPLY(Complex<float>, Complex<float>)
HILO_GEMM_MULTIPLY(Complex<double>, Complex<double>)
#undef HILO_GEMM_MULTIPLY

}  // namespace hilo::cpu::gemm
