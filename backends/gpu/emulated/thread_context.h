// The ABI between emulated kernels and the code that runs them: one context per thread, and the kernels' callees.
#ifndef HILO_BACKENDS_GPU_EMULATED_THREAD_CONTEXT_H_
#define HILO_BACKENDS_GPU_EMULATED_THREAD_CONTEXT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/llvm/jit/host_jit.h"

namespace hilo::gpu {

class BlockRun;
class AsyncCopies;
class MultiplyGroups;
struct TensorMap;

enum class AccessKind : uint32_t { kLoad, kStore, kAtomic };

// How a warp operation computes a lane's result from all lanes' values.
enum class WarpOperation : uint32_t {
  kBarrier,
  kShuffleDown,
  kShuffleUp,
  kShuffleButterfly,
  kShuffleIndex,
  kBallot,
  kAll,
  kAny,
  kAdd,
  kMin,
  kMax,
  kUnsignedMin,
  kUnsignedMax,
  kAnd,
  kOr,
  kXor,
  kMatch,
  // On matrices (matrix_operations.h): a lane has several words.
  kLoadMatrix,
  kLoadMatrixTransposed,
  kMultiplyBf16,
  kMultiplyF16,
  kMultiplyS8,
  kMultiplyU8,
  kMultiplyTf32,
  // By all threads of a warp group, asynchronously (group_multiply.h).
  kMultiplyByGroup,
};
// What a thread tells its warp group besides multiplications.
enum class GroupStep : uint32_t { kFence, kCommit, kWait };
// What a thread does at a barrier in shared memory (shared_barriers.h).
enum class BarrierStep : uint32_t { kInit, kArrive, kWait };
inline bool IsMatrixOperation(WarpOperation operation) { return operation >= WarpOperation::kLoadMatrix; }
inline constexpr int kMatrixWords = 10;

// A thread that polls waits for another block: it is ready to look again.
enum class ThreadState : uint8_t { kReady, kPolling, kAtBarrier, kAtSharedBarrier, kInWarpOperation, kDone };

struct ThreadContext {
  // Read by generated code, at fixed offsets.
  uint32_t thread[3], block[3], block_size[3], grid_size[3];
  uint32_t lane;    // index within its warp
  uint32_t linear;  // index within its block
  uint8_t* shared;  // the block's memory

  // Private to the runtime.
  BlockRun* run;
  void* stack_pointer;
  ThreadState state;
  uint32_t site;        // of the barrier or operation that it waits at
  uint32_t warp_epoch;  // number of warp barriers passed
  WarpOperation operation;
  uint32_t mask, value, operand, clamp;  // of the operation
  uint32_t result;
  uint32_t* words;         // of an operation on matrices: registers, and then results
  AsyncCopies* copies;     // that the thread has started
  MultiplyGroups* groups;  // of asynchronous multiplications
};

inline constexpr size_t kThreadOffset = offsetof(ThreadContext, thread), kBlockOffset = offsetof(ThreadContext, block),
                        kBlockSizeOffset = offsetof(ThreadContext, block_size),
                        kGridSizeOffset = offsetof(ThreadContext, grid_size),
                        kLaneOffset = offsetof(ThreadContext, lane), kSharedOffset = offsetof(ThreadContext, shared);

// void kernel(const uint64_t* arguments, ThreadContext* thread)
using KernelFunction = void(const uint64_t*, ThreadContext*);

// Names of the functions that kernels call:
//
//   void barrier(ThreadContext*, u32 site)
//   void poll(ThreadContext*)
//     nanosleep, of a thread that waits for what another block stores
//   u32 warp(ThreadContext*, u32 operation, u32 mask, u32 value, u32 operand, u32 clamp, u32 site)
//   void matrix(ThreadContext*, u32 operation, u32* words, u32 site)
//   void* access(ThreadContext*, void* address, u64 bytes, u32 alignment, u32 kind, u32 site)
//     returns the address, or one that does no harm if the access is out of bounds
//   u64 range(ThreadContext*, void* address, u64 bytes, u32 kind, u32 site)
//     returns the bytes, or 0 if they are out of bounds
//   void copy(ThreadContext*, void* shared, const void* global, u32 bytes, u32 from_global, u32 site)
//     cp.async, which fills the rest with zeros
//   void copy_commit(ThreadContext*)
//   void copy_wait(ThreadContext*, i32 pending)
//     for all but the newest groups; -1: for all copies
//   void group_multiply(ThreadContext*, u32 multiplication, u32* words, u32 site)
//     `multiplication` is as GroupMultiplication encodes it
//   void group_step(ThreadContext*, u32 step, u32 pending, u32 site)
//     `pending` groups may go on after a wait
//   void proxy_fence(ThreadContext*)
//     orders the thread's accesses to shared memory before those of asynchronous copies of tensors and multiplications
//   void shared_barrier(ThreadContext*, u32 step, u32 offset, u32 value, u32 site)
//     `value`: threads, bytes that the thread announces, or parity of the phase that it waits for
//   void tensor_copy(ThreadContext*, u32 offset, const TensorMap*, const i32* coordinates, u32 barrier, u32 site)
inline constexpr char kBarrierFunction[] = "hilo_emulated_barrier", kPollFunction[] = "hilo_emulated_poll",
                      kWarpFunction[] = "hilo_emulated_warp", kMatrixFunction[] = "hilo_emulated_matrix",
                      kAccessFunction[] = "hilo_emulated_access", kRangeFunction[] = "hilo_emulated_range",
                      kCopyFunction[] = "hilo_emulated_copy", kCopyCommitFunction[] = "hilo_emulated_copy_commit",
                      kCopyWaitFunction[] = "hilo_emulated_copy_wait",
                      kGroupMultiplyFunction[] = "hilo_emulated_group_multiply",
                      kGroupStepFunction[] = "hilo_emulated_group_step",
                      kProxyFenceFunction[] = "hilo_emulated_proxy_fence",
                      kSharedBarrierFunction[] = "hilo_emulated_shared_barrier",
                      kTensorCopyFunction[] = "hilo_emulated_tensor_copy";
std::vector<codegen::HostSymbol> ThreadSymbols();
// Those of warp groups.
std::vector<codegen::HostSymbol> GroupSymbols();
// Those of barriers in shared memory.
std::vector<codegen::HostSymbol> SharedBarrierSymbols();

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMULATED_THREAD_CONTEXT_H_
