// What a GPU program is when it runs: a sequence of thunks, each a launch, a copy, a call of the host, or control flow
// around sequences.
//
// A thunk names the memory that it reads and writes by slices of buffer assignment; addresses are found when it runs.
// Everything goes to one stream, in order.
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

// What a kernel is handed: a pointer to a slice or into scratch memory, or a number.
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
  GraphCache* graphs = nullptr;          // null: everything is queued by itself
  GpuDriver* driver = nullptr;           // of the stream, for memory in its order
  bool is_captured = false;              // by a graph: the device decides what comes next

  // The same, with work queued on another stream.
  GpuRun On(GpuStream& other) const;

  uint8_t* Address(const BufferSlice& slice) const;
  uint8_t* Address(const KernelArgument& argument) const;
  // Where all of its memory lies.
  std::vector<const void*> addresses() const;
};

class Thunk {
 public:
  virtual ~Thunk() = default;
  // Queues the work; waits for it where the host must know a result. Errors: the device's; Cancelled and
  // DeadlineExceeded from loops; what host calls return.
  virtual absl::Status Run(GpuRun& run) const = 0;
  // Lines of text for dumps, each beginning with `indent`.
  virtual std::string ToString(const std::string& indent) const = 0;
  // The memory that it touches, if it does nothing but queue work that touches just this. Others wait for the host, or
  // run other thunks.
  virtual std::optional<std::vector<KernelArgument>> Touches() const { return std::nullopt; }
  // Whether a stream that is being captured takes its work: nothing of it is decided or waited for on the host.
  virtual bool IsCapturable() const { return false; }
  // Whether it can be captured if all ranks of the run capture it: so can collectives.
  virtual bool IsCapturableTogether() const { return IsCapturable(); }
  // Whether it can only be captured by a stream that captures control flow.
  virtual bool HasControlFlow() const { return false; }
  // The number of the collective that goes on beside the program's stream when this has run; -1: none.
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
  // `kernel` is a number in GpuRun::kernels, `name` the instruction's.
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

// The host reads the predicate in each turn; in a graph the device does.
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

// A loop that runs `turns` times: nobody asks, and the device has the next turns in hand.
class CountedLoopThunk : public Thunk {
 public:
  CountedLoopThunk(int64_t turns, ThunkSequence body) : turns_(turns), body_(std::move(body)) {}
  absl::Status Run(GpuRun& run) const override;
  std::string ToString(const std::string& indent) const override;
  // Short loops.
  bool IsCapturable() const override;
  bool HasControlFlow() const override { return HaveControlFlow(body_); }

 private:
  int64_t turns_;
  ThunkSequence body_;
};

// Runs the sequence until it leaves 0 in the byte at `flag`.
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

// The selector is pred (false is branch 1) or s32 (out of range is the last branch).
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

// Runs the sequence of another scope, which outlives this, in a part of the caller's frame.
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
