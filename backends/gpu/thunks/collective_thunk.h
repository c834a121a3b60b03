// A collective instruction as calls of a communicator. Its HLO semantics are implemented here and in
// emitters/collective_emitter.cc:
//
//   all-reduce: AllReduce, or (reductions and types that the library lacks) AllGather and a combining kernel
//   reduce-scatter: ReduceScatter, or an exchange of pieces and that kernel (in group order); all-gather: AllGather
//   all-to-all: AllToAll if the library has it and there is one array, else a group of Sends and Receives
//   collective-permute: a Send and a Receive in a group; zeros where there is no sender
//   collective-broadcast: Broadcast from the first of the group; zeros outside of all groups
//   ragged-all-to-all: offsets and sizes are exchanged and read by the host, then a group of Sends and Receives
//
// Data dimensions are the most major ones, as established by collective_rewriter.cc. Elements that are only moved are
// transferred as bytes. A rank that is alone copies.
#ifndef HILO_BACKENDS_GPU_THUNKS_COLLECTIVE_THUNK_H_
#define HILO_BACKENDS_GPU_THUNKS_COLLECTIVE_THUNK_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "backends/gpu/collectives/device_communicator.h"
#include "backends/gpu/thunks/thunk.h"

namespace hilo::gpu {

enum class CollectiveKind : uint8_t {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kAllToAll,
  kPermute,
  kBroadcast,
  kRagged
};

// A reduction by a kernel: (pieces of all ranks, result, elements, ranks), one thread per element.
inline constexpr int kCombineBlock = 256, kCombineArguments = 4;
struct ReductionKernel {
  int64_t kernel = -1;
  std::string name;
};

struct CollectiveArray {
  BufferSlice operand, result;
  int64_t bytes = 0;  // of one rank's contribution (all-reduce, all-gather, permute, broadcast), or result
                      // (reduce-scatter); of the array (all-to-all of one)
  int64_t element_bytes = 1;
  // The library reduces `count` elements of `type`. Complex numbers are pairs, predicates bytes.
  PrimitiveType type = U8;
  int64_t count = 0;
  DeviceReduction reduction = DeviceReduction::kSum;
  KernelArgument pieces;  // with a kernel: scratch for the contributions of all ranks
};

struct CollectiveProgram {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  int64_t spec = 0;     // index among the program's collectives
  std::string name;     // "all-reduce %sum"
  std::string context;  // for errors
  std::vector<CollectiveArray> arrays;
  std::vector<ReductionKernel> kernels;  // one per array; empty: the library reduces
  bool along_dimension = false;          // all-to-all of one array

  // Ragged: the result begins as `initial`; s64 or s32 vectors of `updates` numbers, in rows.
  BufferSlice initial, input_offsets, send_sizes, output_offsets;
  KernelArgument exchanged;  // scratch for the others' output offsets and send sizes
  int64_t updates = 0, index_bytes = 4, row_bytes = 0;
};

class CollectiveThunk : public Thunk {
 public:
  explicit CollectiveThunk(CollectiveProgram program) : p_(std::move(program)) {}
  static std::unique_ptr<Thunk> Read(ThunkReader& in);
  ThunkKind kind() const override { return ThunkKind::kCollective; }
  void Write(ThunkWriter& out) const override;
  absl::Status Run(GpuRun& run) const override;
  std::string ToString(const std::string& indent) const override;
  std::optional<std::vector<KernelArgument>> Touches() const override;
  int64_t starts() const override { return p_.spec; }
  // The host reads the offsets of a ragged all-to-all.
  bool IsCapturableTogether() const override { return p_.kind != CollectiveKind::kRagged; }
  const std::string& name() const { return p_.name; }

 private:
  struct Running;
  absl::Status RunOn(Running& r) const;
  absl::Status Reduce(Running& r) const;
  absl::Status AllToAll(Running& r) const;
  absl::Status Permute(Running& r) const;
  absl::Status Broadcast(Running& r) const;
  absl::Status Ragged(Running& r) const;
  absl::Status Combine(Running& r, size_t array, int64_t elements) const;
  absl::Status Exchange(Running& r, const uint8_t* send, uint8_t* receive, int64_t bytes) const;

  CollectiveProgram p_;
};

// Orders what follows on the program's stream after the collective.
class CollectiveAwaitThunk : public Thunk {
 public:
  CollectiveAwaitThunk(int64_t spec, std::string name) : spec_(spec), name_(std::move(name)) {}
  static std::unique_ptr<Thunk> Read(ThunkReader& in);
  ThunkKind kind() const override { return ThunkKind::kCollectiveAwait; }
  void Write(ThunkWriter& out) const override;
  absl::Status Run(GpuRun& run) const override;
  std::string ToString(const std::string& indent) const override;
  bool IsCapturableTogether() const override { return true; }

 private:
  int64_t spec_;
  std::string name_;
};

// Inserts an await for each collective of the sequence before the first thunk that accesses memory which the collective
// writes, or writes memory which it reads; at the end if there is none. `may_share`: whether a parameter and an output,
// given by index, can share memory.
void InsertAwaits(ThunkSequence* thunks, const std::function<bool(int64_t parameter, int64_t output)>& may_share);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_THUNKS_COLLECTIVE_THUNK_H_
