// Partitions a scheduled module into functions that LLVM compiles in linear time.
//
// A computation with little code is emitted whole, into the function of its caller: a small loop is then a native loop
// whose scalars are in registers. A large computation is split: its instructions become outlined functions of bounded
// size, which the function of its caller calls, and large loops and conditionals are emitted natively between those
// calls. Memory that only one function accesses may be a local variable of that function. An entry computation that
// runs long enough is split if it has less code, too, so that threads have something to compile.
#ifndef HILO_BACKENDS_CPU_COMPILE_FUNCTION_PARTITION_H_
#define HILO_BACKENDS_CPU_COMPILE_FUNCTION_PARTITION_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "backends/cpu/kernels/code_size.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/memory/buffer_assignment.h"

namespace hilo::cpu {

class FunctionPartition {
 public:
  // Reads the kernels of the instructions. Those that run in parallel become functions of their own, which the runtime
  // calls on ranges of parts; so do those that a large computation repeats, which the code calls. Errors: those of
  // SequentialComputations.
  static absl::StatusOr<FunctionPartition> Create(const HloModule& module);

  // A contiguous part of the schedule of a split computation.
  struct Segment {
    std::vector<const HloInstruction*> instructions;
    // A single large loop or conditional, which is not outlined.
    bool control = false;
    int64_t code_size = 0;
  };
  // Returns null for computations that are emitted whole.
  const std::vector<Segment>* SegmentsOf(const HloComputation* computation) const;
  bool IsSplit(const HloComputation* computation) const { return segments_.contains(computation); }
  int64_t CodeSizeOf(const HloComputation* computation) const { return code_sizes_.at(computation); }
  int64_t CodeSizeOf(const HloInstruction& instruction) const {
    return CodeSize(instruction, by_elements_.contains(&instruction));
  }

  // Returns true if the instruction's kernel is a function of its own.
  bool IsOutlined(const HloInstruction& instruction) const;

  // Returns the size of all functions together.
  int64_t total_code_size() const { return total_code_size_; }

  // Returns true if all definitions and uses of the buffer are emitted into one function.
  bool IsLocal(const BufferCandidate& buffer) const;

  // Estimated nanoseconds of one execution on one thread, with the computations that it calls.
  double NanosecondsOf(const HloComputation* computation) const { return costs_.at(computation); }
  double NanosecondsOf(const HloInstruction& instruction) const;

  // Estimated nanoseconds of one run; a second or more for programs with a loop whose trip count is unknown.
  double estimated_nanoseconds() const { return estimated_nanoseconds_; }

 private:
  // Returns the operations of the function that an instruction belongs to.
  int64_t InlineCodeSize(const HloInstruction& instruction) const;
  void NoteElements(const HloInstruction& instruction);
  // Notes the kernels of at least that many nanoseconds that the computation repeats.
  void NoteRepeated(const HloModule& module, const HloComputation& computation, double nanoseconds);
  void MarkFunction(const HloModule& module, const HloComputation& computation, int64_t function);
  void PlanSegments(const HloModule& module, const HloComputation& computation, int64_t most);
  // Returns the maximum LLVM operations of a segment of a computation that has more, and of others.
  int64_t MaxSegmentSize(const HloComputation& computation) const;

  absl::flat_hash_map<const HloComputation*, int64_t> code_sizes_;
  absl::flat_hash_map<const HloComputation*, double> costs_;
  absl::flat_hash_map<const HloComputation*, std::vector<Segment>> segments_;
  absl::flat_hash_map<const HloInstruction*, int64_t> function_of_;
  absl::flat_hash_set<const HloInstruction*> by_elements_;  // tiny arrays that are not written as vectors
  absl::flat_hash_set<const HloInstruction*> repeated_;
  int64_t next_function_ = 0;
  int64_t total_code_size_ = 0;
  double estimated_nanoseconds_ = 0;
};

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_COMPILE_FUNCTION_PARTITION_H_
