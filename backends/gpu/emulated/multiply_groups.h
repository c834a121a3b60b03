// Asynchronous multiplications of a thread's warp group (wgmma.mma_async): what the thread has started, and waits for.
#ifndef HILO_BACKENDS_GPU_EMULATED_MULTIPLY_GROUPS_H_
#define HILO_BACKENDS_GPU_EMULATED_MULTIPLY_GROUPS_H_

#include <algorithm>
#include <cstdint>

namespace hilo::gpu {

class MultiplyGroups {
 public:
  // wgmma.fence: orders accesses to registers before the multiplications that follow.
  void Fence() { is_fenced_ = true; }
  // Starts a multiplication; returns false if no fence precedes it since the thread last owned all of its registers.
  bool Start() {
    is_open_ = true;
    return is_fenced_;
  }
  // Multiplications since the last call are a group.
  void Commit() {
    ++group_;
    is_open_ = false;
  }
  // Waits for all groups but the newest `rest`. Returns false if some multiplications are in no group, which no wait
  // covers.
  bool Wait(int64_t rest) {
    finished_ = std::max(finished_, group_ - rest);
    if (!is_pending()) is_fenced_ = false;
    return !is_open_;
  }
  // The group of multiplications that start now, and the number of groups that have been waited for.
  int64_t group() const { return group_; }
  int64_t finished() const { return finished_; }
  bool is_pending() const { return is_open_ || finished_ < group_; }

 private:
  bool is_fenced_ = false, is_open_ = false;
  int64_t group_ = 0, finished_ = 0;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMULATED_MULTIPLY_GROUPS_H_
