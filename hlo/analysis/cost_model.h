// The cost model: run time and code size of instructions. Fusion, the partitioning of code into
// functions, the choice of threads and vector widths, and user-visible reports (cost_analysis, hilo bench) query this
// model and no other.
//
// The unit of arithmetic is an operation: the time that one element of a single-precision addition takes in vector
// code. The table of ops states the cost class of each op (OpCost in hlo/ops/table/hlo_opcode.def); the
// element type scales it. Bytes are those actually touched: a dynamic-slice reads its slice, a dynamic-update-slice
// writes its update, and values computed inside a fusion cost no memory.
#ifndef HILO_HLO_ANALYSIS_COST_MODEL_H_
#define HILO_HLO_ANALYSIS_COST_MODEL_H_

#include <array>
#include <cstdint>
#include <vector>

#include "hlo/ir/hlo_instruction.h"

namespace hilo {

// The costs of a class of ops, for one element.
struct OpCostFacts {
  int code_size;        // LLVM instructions of one scalar instance
  double operations;    // time, in the unit of the model
  bool transcendental;  // counted by XLA's cost analysis among the transcendentals rather than the flops
};
const OpCostFacts& CostFacts(HloOpcode opcode);

// The cost of one execution of an instruction. Counts are doubles, as products of sizes may exceed 2^63.
struct Work {
  double flops = 0;  // additions, multiplications, comparisons ... of elements of any type; a multiply-add is two
  double transcendentals = 0;  // exponentials, logarithms, trigonometric functions, roots, powers
  double operations = 0;       // the time of all arithmetic but that of products
  double product_flops = 0;    // the flops of dots and convolutions, scaled to the time of single precision
  double instructions = 0;     // of scalar code: what a thread without vectors executes
  double bytes_read = 0;       // of operands, each element at most once
  double bytes_written = 0;    // of results; values computed inside a fusion are excluded

  double bytes() const { return bytes_read + bytes_written; }
  Work& operator+=(const Work& other);
  Work operator*(double times) const;
};

// The work of one execution of the instruction itself; instructions with the trait kControlFlow do no work
// themselves. Linear in the size of the called computations. `reads`, if not null, gets the bytes read of each operand;
// those of an operand that occurs twice are stated once, and those of constants inside a fusion nowhere.
Work WorkOf(const HloInstruction& instruction, std::vector<double>* reads = nullptr);

// A level of a machine's memory, nearest first, and how many of the bytes that an instruction touches it holds.
struct MemoryLevel {
  double bytes;
  double bytes_per_ns;
};

// The throughput of a machine, per nanosecond on one thread.
struct MachineFacts {
  double operations_per_ns;
  double product_flops_per_ns;
  std::array<MemoryLevel, 3> memory;  // the last one holds all bytes

  // The time of touching that many bytes: those that exceed a level are in the next ones.
  double MemoryNanoseconds(double bytes) const;
};

// The time of `work` on one thread of the machine, in nanoseconds. Half of the arithmetic and of the memory accesses,
// whichever takes less time, is hidden behind the other.
double Nanoseconds(const Work& work, const MachineFacts& machine);

// --- recomputing values rather than keeping them in arrays ---
//
// An array costs a write and a read of each element. What passes may recompute instead is bounded here; which kernels
// these values join, and how large those become, is the passes' own.

// Arrays of at most this many elements are in registers: kernels on them are unrolled, and nothing is gained by fusing
// them.
inline constexpr int64_t kRegisterElements = 16;
// Elements of single precision in the widest vectors. A value that is repeated along a vector is computed once for it.
inline constexpr int64_t kVectorElements = 16;
// Kernels that recompute one cheap producer. Each reads the producer's operands, so more of them read more than the
// array's write and reads.
inline constexpr int64_t kMaxCopies = 4;
// Reads of one element, by a broadcast or a gather, for each of which a cheap producer is recomputed. Its operands are
// read as often, at indices that repeat and so do not fill vectors.
inline constexpr int64_t kMaxRepeats = 4;
// Element-wise instructions that are recomputed, in all kernels together, for one element: about the time of writing it
// beyond the caches and reading it again (12 bytes, with the read of the line that is written, at 30 bytes and 64
// operations per ns).
inline constexpr int64_t kMaxRepeatedWork = 32;

// True if recomputing an element of the instruction costs more than keeping it in memory.
bool IsExpensiveToRepeat(const HloInstruction& instruction);

// True if an element costs nothing inside a loop: reading the operand of a broadcast is cheaper than reading the
// broadcast array.
bool IsFreeToRepeat(const HloInstruction& instruction);

// The flops of a dot and of a convolution: two for each multiply-add.
double DotFlops(const HloInstruction& dot);
double ConvolutionFlops(const HloInstruction& convolution);

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_COST_MODEL_H_
