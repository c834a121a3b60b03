// Asynchronous copies of a thread from global into shared memory (cp.async).
//
// A copy lands when the thread waits for its group, and not before: a kernel that reads too early, or never waits, has
// what was there before. Checked mode reports accesses to the destination until then.
#ifndef HILO_BACKENDS_GPU_EMULATED_ASYNC_COPIES_H_
#define HILO_BACKENDS_GPU_EMULATED_ASYNC_COPIES_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"

namespace hilo::gpu {

struct AsyncCopy {
  uint8_t* shared = nullptr;
  const uint8_t* global = nullptr;
  int64_t bytes = 0, from_global = 0;  // the rest are zeros
  uint32_t site = 0;                   // of the read; the next one is that of the write
};

class AsyncCopies {
 public:
  void Start(const AsyncCopy& copy) { pending_.push_back({copy, group_}); }
  // Copies since the last call are a group.
  void Commit() { ++group_; }
  // Makes the copies of all groups but the newest `rest`, oldest first, and calls `landed` for each. -1: all copies,
  // those without a group too.
  void Wait(int64_t rest, absl::FunctionRef<void(const AsyncCopy&)> landed);
  bool empty() const { return pending_.empty(); }
  void Clear() { pending_.clear(); }

 private:
  struct Pending {
    AsyncCopy copy;
    int64_t group;
  };
  std::vector<Pending> pending_;
  int64_t group_ = 0;  // of the copies that are being started
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMULATED_ASYNC_COPIES_H_
