// The tiles of transpose_loops.h, compiled once per instruction set.
#ifndef HILO_BACKENDS_CPU_TRANSPOSE_TRANSPOSE_KERNELS_H_
#define HILO_BACKENDS_CPU_TRANSPOSE_TRANSPOSE_KERNELS_H_

#include <cstdint>

namespace hilo::cpu::transpose {

// Transposes `strips` strips of `columns` columns, at least as many as a vector has lanes, of that many rows, which are
// adjacent in the operand. Columns of the operand are `column` elements apart; rows of the result begin where `rows`
// says, if it is not null, else they are `row` elements apart. If `is_staged`, which needs the latter, kStagedTiles
// tiles at once are written row by row.
template <typename T>
using StripsKernel = void (*)(const T* operand, int64_t column, T* result, const int64_t* rows, int64_t row,
                              int64_t columns, int64_t strips, bool is_staged);

inline constexpr int kStagedTiles = 8;
// Bytes of the vectors of narrow elements (of 1 or 2 bytes), and the least columns of their tiles.
inline constexpr int kNarrowBytes = 16, kNarrowColumns = 8;

#if defined(__x86_64__)
// In vectors of 32 bytes, and of 64.
#define HILO_TRANSPOSE_KERNELS(instructions)                                                               \
  namespace instructions {                                                                                 \
  void Strips(const uint32_t* operand, int64_t column, uint32_t* result, const int64_t* rows, int64_t row, \
              int64_t columns, int64_t strips, bool is_staged);                                            \
  void Strips(const uint64_t* operand, int64_t column, uint64_t* result, const int64_t* rows, int64_t row, \
              int64_t columns, int64_t strips, bool is_staged);                                            \
  }
HILO_TRANSPOSE_KERNELS(avx2)
HILO_TRANSPOSE_KERNELS(avx512)
#undef HILO_TRANSPOSE_KERNELS

// Of narrow elements, in vectors of 16 bytes: at least kNarrowColumns columns. Nothing is staged.
namespace avx2 {
void Strips(const uint8_t* operand, int64_t column, uint8_t* result, const int64_t* rows, int64_t row, int64_t columns,
            int64_t strips, bool is_staged);
void Strips(const uint16_t* operand, int64_t column, uint16_t* result, const int64_t* rows, int64_t row,
            int64_t columns, int64_t strips, bool is_staged);
}  // namespace avx2
#endif

}  // namespace hilo::cpu::transpose

#endif  // HILO_BACKENDS_CPU_TRANSPOSE_TRANSPOSE_KERNELS_H_
