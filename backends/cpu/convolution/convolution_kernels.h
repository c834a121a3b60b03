// The tiles of convolution_loops.h, compiled once per instruction set.
#ifndef HILO_BACKENDS_CPU_CONVOLUTION_CONVOLUTION_KERNELS_H_
#define HILO_BACKENDS_CPU_CONVOLUTION_CONVOLUTION_KERNELS_H_

#include <cstdint>

namespace hilo::cpu::convolution {

// The elements of the input that the lanes of a vector read: all the same one; adjacent ones; or, in groups of adjacent
// lanes, for each group as many as it has lanes, one after the other.
enum class Lanes { kAlike, kAdjacent, kGrouped };
// Of Loops::group.
inline constexpr Lanes LanesOf(int64_t group) {
  return group == 0 ? Lanes::kAlike : group == 1 ? Lanes::kAdjacent : Lanes::kGrouped;
}

// Vectors of sums of a tile at most: the other registers hold the operands of a step.
constexpr int64_t MaxSums(int64_t registers) { return registers - 4; }
inline constexpr int64_t kMaxVectors = 4;  // in a row of a tile
// Rows of a tile: the addresses of more do not fit the general registers, and would be loaded for each product. Rows
// that read vectors of the input share only the kernel's, so that a few amortize it.
inline constexpr int64_t kMaxRows = 14, kMaxVectorRows = 4;
inline constexpr int64_t MaxRows(Lanes lanes) { return lanes == Lanes::kAlike ? kMaxRows : kMaxVectorRows; }

// A loop over products, with the distance between the operands of two iterations, in elements.
struct TapLoop {
  int64_t count, lhs, rhs;
};

// The sums of `tiles` tiles of rows times vectors, whose rows follow each other: `taps` are three loops, the outermost
// first; rows are `lhs_row` and `out_row` elements apart, vectors are adjacent. `group`: Loops::group.
// If `adds`, products are added to what `out` has. The last vector has `last` results, all of them unless lanes are
// kAlike; its other lanes are computed as well.
template <typename T>
using TileKernel = void (*)(const TapLoop* taps, int64_t tiles, const T* lhs, int64_t lhs_row, const T* rhs, T* out,
                            int64_t out_row, int64_t group, bool adds, int64_t last);

#if defined(__x86_64__)
// Return the kernel of `rows` rows, up to MaxRows, of `vectors` vectors: up to MaxSums(16) or MaxSums(32) of 32
// bytes, or up to MaxSums(32) of 64 bytes.
#define HILO_CONVOLUTION_KERNELS(instructions)                                 \
  namespace instructions {                                                     \
  TileKernel<float> FloatKernel(Lanes lanes, int64_t rows, int64_t vectors);   \
  TileKernel<double> DoubleKernel(Lanes lanes, int64_t rows, int64_t vectors); \
  }
HILO_CONVOLUTION_KERNELS(avx2)
HILO_CONVOLUTION_KERNELS(avx512vl)
HILO_CONVOLUTION_KERNELS(avx512)
#undef HILO_CONVOLUTION_KERNELS
#endif

}  // namespace hilo::cpu::convolution

#endif  // HILO_BACKENDS_CPU_CONVOLUTION_CONVOLUTION_KERNELS_H_
