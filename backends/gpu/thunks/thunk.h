// The run-time form of a GPU program: a sequence of thunks, each a launch, a copy, a host call, or control flow around
// sequences.
//
// A thunk refers to the memory that it reads and writes by slices of buffer assignment; addresses are resolved when it
// runs. All work is queued on one stream, in order.
#ifndef HILO_BACKENDS_GPU_THUNKS_THUNK_H_
#define HILO_BACKENDS_GPU_THUNKS_THUNK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "backends/gpu/driver/gpu_driver.h"
#include "hlo/memory/buffer_assignment.h"
#include "runtime/compiler.h"

namespace hilo::gpu {

// A kernel argument: a pointer to a slice or into scratch memory, or a number.
struct KernelArgument {
  enum class Kind : uint8_t { kSlice, kScratch, kInteger };
  Kind kind = Kind::kSlice;
  BufferSlice slice;   // kSlice
  int64_t offset = 0;  // kScratch, bytes
  int64_t size = 0;    // kScratch, bytes
  int64_t value = 0;   // kInteger, i64
  bool written = false;

  static KernelArgument Slice(const BufferSlice& slice, bool written) {
    return {.kind = Kind::kSlice, .slice = slice, .written = written};
  }
  static KernelArgument Scratch(int64_t offset, int64_t size, bool written) {
    return {.kind = Kind::kScratch, .slice = {}, .offset = offset, .size = size, .written = written};
  }
  static KernelArgument Integer(int64_t value) { return {.kind = Kind::kInteger, .slice = {}, .value = value}; }
};

class CollectiveRun;
class GraphCache;

// One run of the program, in the scope that is running.
struct GpuRun {
  const RunContext& context;
  GpuStream& stream;
  absl::Span<GpuKernel* const> kernels;
  absl::Span<uint8_t* const> constants;
  uint8_t* scratch = nullptr;
  std::vector<uint8_t*> parameters, outputs;
  uint8_t* frame = nullptr;
  CollectiveRun* collectives = nullptr;  // null: the program has none
  GraphCache* graphs = nullptr;          // null: thunks are queued one by one
  GpuDriver* driver = nullptr;           // of the stream, for stream-ordered memory
  bool is_captured = false;              // by a graph: the device executes the control flow

  // Returns the same run, with work queued on another stream.
  GpuRun On(GpuStream& other) const;

  uint8_t* Address(const BufferSlice& slice) const;
  uint8_t* Address(const KernelArgument& argument) const;
  // Returns the addresses of all its memory.
  std::vector<const void*> addresses() const;
};

class Thunk {
 public:
  virtual ~Thunk() = default;
  // Queues the work; waits for it if the host needs a result. Errors: the device's; Cancelled and DeadlineExceeded from
  // loops; those of host calls.
  virtual absl::Status Run(GpuRun& run) const = 0;
  // Lines of text for dumps, each beginning with `indent`.
  virtual std::string ToString(const std::string& indent) const = 0;
  // Returns the memory that it accesses, if it only queues work that accesses just this. Nullopt for thunks that wait
  // on the host or run other thunks.
  virtual std::optional<std::vector<KernelArgument>> Touches() const { return std::nullopt; }
  // Returns true if its work can be captured: the host takes no decisions and waits for nothing.
  virtual bool IsCapturable() const { return false; }
  // Returns true if it can be captured provided that all ranks of the run capture it, as for collectives.
  virtual bool IsCapturableTogether() const { return IsCapturable(); }
  // Returns true if it can only be captured by a stream that captures control flow.
  virtual bool HasControlFlow() const { return false; }
  // The index of the collective that it leaves running beside the program's stream; -1: none.
  virtual int64_t starts() const { return -1; }
};

using ThunkSequence = std::vector<std::unique_ptr<Thunk>>;
absl::Status RunThunks(const ThunkSequence& thunks, GpuRun& run);
std::string ThunksToString(const ThunkSequence& thunks, const std::string& indent);
std::string SliceToString(const BufferSlice& slice);
bool AreCapturable(const ThunkSequence& thunks);
bool HaveControlFlow(const ThunkSequence& thunks);

class KernelThunk : public Thunk {
 public:
  // `kernel` is an index into GpuRun::kernels, `name` the instruction's name.
  KernelThunk(std::string name, int64_t kernel, std::string kernel_name, LaunchDimensions dimensions,
              std::vector<KernelArgument> arguments)
      : name_(std::move(name)),
        kernel_(kernel),
        kernel_name_(std::move(kernel_name)),
        dimensions_(dimensions),
        arguments_(std::move(arguments)) {}
  absl::Status Run(GpuRun& run) const override;
  std::string ToString(const std::string& indent) const override;
  std::optional<std::vector<KernelArgument>> Touches() const override { return arguments_; }
  bool IsCapturable() const override { return true; }

 private:
  std::string name_;
  int64_t kernel_;
  std::string kernel_name_;
  LaunchDimensions dimensions_;
  std::vector<KernelArgument> arguments_;
};

class CopyThunk : public Thunk {
 public:
  CopyThunk(BufferSlice to, BufferSlice from, int64_t bytes) : to_(to), from_(from), bytes_(bytes) {}
  absl::Status Run(GpuRun& run) const override;
  std::string ToString(const std::string& indent) const override;
  std::optional<std::vector<KernelArgument>> Touches() const override {
    return std::vector<KernelArgument>{KernelArgument::Slice(to_, true), KernelArgument::Slice(from_, false)};
  }
  bool IsCapturable() const override { return true; }

 private:
  BufferSlice to_, from_;
  int64_t bytes_;
};

// The host reads the predicate in each iteration; in a graph, the device does.
class WhileThunk : public Thunk {
 public:
  WhileThunk(BufferSlice predicate, ThunkSequence condition, ThunkSequence body)
      : predicate_(predicate), condition_(std::move(condition)), body_(std::move(body)) {}
  absl::Status Run(GpuRun& run) const override;
  std::string ToString(const std::string& indent) const override;
  bool IsCapturable() const override { return AreCapturable(condition_) && AreCapturable(body_); }
  bool HasControlFlow() const override { return true; }

 private:
  BufferSlice predicate_;
  ThunkSequence condition_, body_;
};

// A loop with trip count `turns`: no predicate is read, and iterations are queued ahead of the device.
class CountedLoopThunk : public Thunk {
 public:
  CountedLoopThunk(int64_t turns, ThunkSequence body) : turns_(turns), body_(std::move(body)) {}
  absl::Status Run(GpuRun& run) const override;
  std::string ToString(const std::string& indent) const override;
  // True for short loops.
  bool IsCapturable() const override;
  bool HasControlFlow() const override { return HaveControlFlow(body_); }

 private:
  int64_t turns_;
  ThunkSequence body_;
};

// Runs the sequence until it sets the byte at `flag` to 0.
class RepeatThunk : public Thunk {
 public:
  RepeatThunk(KernelArgument flag, ThunkSequence body) : flag_(flag), body_(std::move(body)) {}
  absl::Status Run(GpuRun& run) const override;
  std::string ToString(const std::string& indent) const override;
  bool IsCapturable() const override { return AreCapturable(body_); }
  bool HasControlFlow() const override { return true; }

 private:
  KernelArgument flag_;
  ThunkSequence body_;
};

// The selector is pred (false selects branch 1) or s32 (out of range selects the last branch).
class ConditionalThunk : public Thunk {
 public:
  ConditionalThunk(BufferSlice selector, bool is_pred, std::vector<ThunkSequence> branches)
      : selector_(selector), is_pred_(is_pred), branches_(std::move(branches)) {}
  absl::Status Run(GpuRun& run) const override;
  std::string ToString(const std::string& indent) const override;
  bool IsCapturable() const override;
  bool HasControlFlow() const override { return true; }

 private:
  BufferSlice selector_;
  bool is_pred_;
  std::vector<ThunkSequence> branches_;
};

// Runs the sequence of another scope, which must outlive this thunk, in a part of the caller's frame.
class CallThunk : public Thunk {
 public:
  CallThunk(std::string name, const ThunkSequence* callee, int64_t frame_offset, std::vector<BufferSlice> parameters,
            std::vector<BufferSlice> outputs)
      : name_(std::move(name)),
        callee_(callee),
        frame_offset_(frame_offset),
        parameters_(std::move(parameters)),
        outputs_(std::move(outputs)) {}
  absl::Status Run(GpuRun& run) const override;
  std::string ToString(const std::string& indent) const override;
  bool IsCapturable() const override;
  bool HasControlFlow() const override { return HaveControlFlow(*callee_); }

 private:
  std::string name_;
  const ThunkSequence* callee_;
  int64_t frame_offset_;
  std::vector<BufferSlice> parameters_, outputs_;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_THUNKS_THUNK_H_
