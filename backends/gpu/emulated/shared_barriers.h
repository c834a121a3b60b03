// Barriers in shared memory (mbarrier), and copies of boxes of tensors into shared memory (cp.async.bulk.tensor) that
// complete at them.
//
// A phase of a barrier ends when as many threads as it was initialized for have arrived and all bytes that they
// announced have landed. Copies land when a thread waits for the phase, and not before: a kernel that reads too early
// has what was there before. Checked mode reports accesses to the destination until then.
#ifndef HILO_BACKENDS_GPU_EMULATED_SHARED_BARRIERS_H_
#define HILO_BACKENDS_GPU_EMULATED_SHARED_BARRIERS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "backends/gpu/driver/tensor_map.h"

namespace hilo::gpu {

// The bytes of one copy, lines one after the other in shared memory.
struct TensorCopy {
  // What is in the tensor of a line; the rest are zeros.
  struct Line {
    const uint8_t* from = nullptr;
    int64_t first = 0, bytes = 0;  // in the line
  };
  int64_t to = 0;  // in the block's memory, bytes
  int64_t line_bytes = 0;
  std::vector<Line> lines;
  int64_t swizzle = 0;  // bytes of a line of its pattern; 0: none

  int64_t bytes() const { return line_bytes * static_cast<int64_t>(lines.size()); }
};

// Returns the copy of the box of `map`, which has no fault, at these coordinates.
TensorCopy CopyOf(const TensorMap& map, const int32_t* coordinates, int64_t to);

class SharedBarriers {
 public:
  using Landed = absl::FunctionRef<void(const TensorCopy&)>;

  void Clear() { barriers_.clear(); }
  // All return what is wrong, and then change nothing; empty: nothing is. `at` is the barrier's offset in bytes.
  std::string Init(int64_t at, int64_t threads);
  // Of one thread, which announces `bytes`.
  std::string Arrive(int64_t at, int64_t bytes);
  std::string Start(int64_t at, TensorCopy copy);
  std::string CheckWait(int64_t at) const;
  // Returns true if the phase of this parity has ended; it ends here if it can, and its copies land.
  bool HasEnded(int64_t at, bool parity, Landed landed);
  // Returns the copies that nothing has waited for, and what a phase that cannot end waits for.
  int64_t pending_copies() const;
  std::string Waits(int64_t at) const;

 private:
  struct Barrier {
    int64_t threads = 0, missing = 0;  // of a phase, and that have not arrived in this one
    int64_t bytes = 0;                 // announced in this phase, less those of copies
    bool parity = false;               // of this phase
    std::vector<TensorCopy> copies;
  };
  void End(Barrier& barrier);

  std::map<int64_t, Barrier> barriers_;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMULATED_SHARED_BARRIERS_H_
