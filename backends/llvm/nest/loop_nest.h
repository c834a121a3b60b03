// Loop nests: the iteration space of a kernel, and how each of its dimensions is walked.
//
// A nest is made from an instruction and its KernelConfig. What happens at a position of the space is the kernel's
// body: elements (loop_elements.h) or sums (elements/terms.h). Each backend lowers nests in its nest_emitter.h: on CPUs
// to loops of vectors, on GPUs to a grid of threads.
#ifndef HILO_BACKENDS_LLVM_NEST_LOOP_NEST_H_
#define HILO_BACKENDS_LLVM_NEST_LOOP_NEST_H_

#include <cstdint>
#include <vector>

#include "backends/llvm/lanes/lane_index.h"
#include "base/math.h"

namespace hilo::codegen {

// One dimension of the space, from the outside in: parts of the kernel, loops over a part, copies of the body, lanes.
struct NestDim {
  std::vector<int64_t> sizes;  // of the dimensions of an array that it covers, row-major
  int64_t part = 1;            // indices of a part; a multiple of unroll * lanes, or at least the size: one part
  int64_t unroll = 1;          // copies of the body in an iteration, `lanes` indices apart
  int64_t lanes = 1;           // adjacent indices that are computed as one vector
  int64_t block = 0;           // if not 0: indices of an iteration, the last of whose vectors may not be full, rather
                               // than unroll * lanes
  std::vector<int64_t> cuts;   // if not empty: 0, then the ends of segments that have loops of their own
  bool repeats = false;        // the body may run again at an index: the last iteration may begin earlier and be full

  int64_t size() const { return Product(sizes); }
  int64_t parts() const { return CeilDiv(size(), part); }
};

// Returns true if a loop that computes `computed` vectors, of which `needed` are different, is better than code of its
// own for those of the last iteration.
inline bool RepeatsFew(int64_t computed, int64_t needed) { return (computed - needed) * 8 <= needed; }

// From the outermost to the innermost.
using LoopNest = std::vector<NestDim>;

// The number of parts, which are independent of each other.
int64_t PartsOf(const LoopNest& nest);

// One index per dimension of a nest.
using Position = std::vector<Index>;

// Returns the index in an array that has the dimensions of all of the nest.
Index Joined(EmitterContext& context, const Position& position);

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_NEST_LOOP_NEST_H_
