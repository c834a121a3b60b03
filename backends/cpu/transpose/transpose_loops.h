// Transposes by tiles in registers that were compiled with Hilo: LLVM takes 4 to 8 ms for the same tiles, most of them
// for the shuffles.
#ifndef HILO_BACKENDS_CPU_TRANSPOSE_TRANSPOSE_LOOPS_H_
#define HILO_BACKENDS_CPU_TRANSPOSE_TRANSPOSE_LOOPS_H_

#include <cstdint>

namespace hilo::cpu::transpose {

// A dimension with its strides in elements.
struct Dimension {
  int64_t count = 1, operand = 0, result = 0;
};

// Generated code has it as a constant. Rows are adjacent elements of the operand, in one dimension or several, columns
// are those of the result; there is at least a vector of each, of narrow elements kNarrowColumns columns. Units are the
// outer dimensions, times blocks of columns, times strips of as many rows as a vector has lanes.
struct Loops {
  static constexpr int64_t kMaxOuter = 4, kMaxRowDimensions = 4;

  int64_t element_bytes = 4, vector_bytes = 32;  // 4 or 8, in vectors of 32 or 64; 1 or 2, in vectors of 16
  int64_t rows = 0, columns = 0, block = 0;      // `block`: columns of a unit
  int64_t column = 0;                            // elements between columns of the operand
  int64_t is_staged = 0;  // 1: of one row dimension; several tiles of a strip are written row by row
  int64_t outer_count = 0, row_dimensions = 0;
  Dimension outer[kMaxOuter];
  Dimension of_rows[kMaxRowDimensions];  // in the order of the operand
};

// Computes units [begin, end). Polls `cancelled`: returns false if the run was stopped.
bool Run(const Loops& loops, const void* operand, void* result, int64_t begin, int64_t end,
         const volatile int32_t* cancelled);

}  // namespace hilo::cpu::transpose

#endif  // HILO_BACKENDS_CPU_TRANSPOSE_TRANSPOSE_LOOPS_H_
