// BufferAssignment: the memory of every value of a scheduled module while it runs.
//
// A *scope* is the entry computation or the target of a `call`, together with the loop bodies, conditions and branches
// that it runs: they share one frame. A callee's scope has a separate frame, which is a temporary inside the
// caller's, so code is compiled once and addressed relative to the frame it is given. Its parameters and results are
// passed by pointers, as the entry's are.
//
// A value is a leaf of an instruction's shape: (instruction, ShapeIndex). Tuples have no memory: they only group
// leaves.
#ifndef HILO_HLO_MEMORY_BUFFER_ASSIGNMENT_H_
#define HILO_HLO_MEMORY_BUFFER_ASSIGNMENT_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "hilo/host.h"
#include "hilo/literal.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/memory/buffer_slice.h"

namespace hilo {

// A set of values that share memory, as the storage policy sees it.
struct BufferCandidate {
  int64_t size;                         // bytes
  absl::Span<const LeafRef> positions;  // every instruction leaf in this memory: definitions and forwarded views
};

struct BufferAssignmentOptions {
  int64_t alignment = kBufferAlignment;  // of frame slices, bytes
  // True if the buffer may be a local of generated code instead of a frame slice. Null: never.
  std::function<bool(const BufferCandidate&)> use_stack;
  int64_t max_frame_bytes = int64_t{1} << 46;
  int64_t loop_local_bytes = 0;  // as copy insertion had it
  const CancellationToken* cancellation = nullptr;
};

class BufferAssignment {
 public:
  // The module must be at kAliased: copy insertion has run (copy_insertion.h).
  // Errors: Internal if two values that must share memory would destroy each other; ResourceExhausted with the limit if
  // a frame exceeds it; Cancelled, DeadlineExceeded.
  static absl::StatusOr<BufferAssignment> Create(const HloModule& module, const BufferAssignmentOptions& options);

  // Memory of an array leaf of `instruction`, by depth-first leaf number or index.
  const BufferSlice& slice(const HloInstruction* instruction, int64_t leaf = 0) const;
  const BufferSlice& slice(const HloInstruction* instruction, const ShapeIndex& index) const;

  struct Scope {
    HloComputation* computation;
    int64_t frame_bytes = 0;
    int64_t stack_count = 0;
    int64_t parameter_leaves = 0;
    int64_t output_leaves = 0;
    std::vector<int64_t> stack_sizes;
    // Leaves of the entry's output that share the memory of a parameter leaf (input_output_alias): output leaf,
    // parameter leaf.
    std::vector<std::pair<int64_t, int64_t>> donations;
  };
  // Callees first; the entry is last.
  const std::vector<Scope>& scopes() const { return scopes_; }
  const Scope& scope(const HloComputation* computation) const;
  // Offset of the callee's frame in the caller's. Bytes.
  int64_t call_frame_offset(const HloInstruction* call) const { return call_frames_.at(call); }
  // Constants in the order of BufferSlice::index.
  const std::vector<std::shared_ptr<const Literal>>& constants() const { return constants_; }

  // A table of frames and values, for dumps.
  std::string ToString() const;

 private:
  friend class BufferAssigner;
  std::vector<Scope> scopes_;
  absl::flat_hash_map<const HloComputation*, size_t> scope_numbers_;
  absl::flat_hash_map<const HloInstruction*, std::vector<BufferSlice>> slices_;
  absl::flat_hash_map<const HloInstruction*, int64_t> call_frames_;
  std::vector<std::shared_ptr<const Literal>> constants_;
};

}  // namespace hilo

#endif  // HILO_HLO_MEMORY_BUFFER_ASSIGNMENT_H_
