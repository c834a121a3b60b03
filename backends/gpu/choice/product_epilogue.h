// What follows a product, as far as it decides whether a kernel of our own computes both.
#ifndef HILO_BACKENDS_GPU_CHOICE_PRODUCT_EPILOGUE_H_
#define HILO_BACKENDS_GPU_CHOICE_PRODUCT_EPILOGUE_H_

#include <optional>

#include "hlo/ir/hlo_instruction.h"

namespace hilo::gpu {

// What element-wise instructions make of the sums of a product, which a library would leave to a loop.
struct Epilogue {
  double left = 0;          // bytes that the library leaves
  double bytes = 0;         // of results, in a kernel of our own
  double of_loop = 0;       // of the loop's results: what other loops read they compute as well
  double read_twice = 0;    // of arrays that the loop would compute from others that it reads
  double instructions = 0;  // of threads
};

// Returns the epilogue of all element-wise instructions that may follow `dot`, or of those without what only loops
// read, which compute it as well; nullopt if there is none, or if a kernel of our own would store no less than a
// library. `sums_integers`: a library's results are the sums themselves.
std::optional<Epilogue> EpilogueOf(const HloInstruction& dot, bool sums_integers);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_CHOICE_PRODUCT_EPILOGUE_H_
