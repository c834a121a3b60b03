// The run-time form of a GPU program: a sequence of thunks, each a launch, a copy, a host call, or control flow around
// sequences.
//
// A thunk refers to the memory that it reads and writes by slices of buffer assignment; addresses are resolved when it
// runs. All work is queued on one stream, in order. Thunks are what a serialized executable holds: each kind writes its
// fields, and reads them with everything checked that a run relies on (thunk_stream.h).
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
class ThunkReader;
class ThunkWriter;

// One run of the program, in the scope that is running.
struct GpuRun {
  const RunContext& context;
  GpuStream& stream;
  absl::Span<GpuKernel* const> kernels;
  absl::Span<uint8_t* const> constants;
  uint8_t* scratch = nullptr;
  uint8_t* workspace = nullptr;  // of library calls: ProgramImage::workspace_bytes
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

enum class ThunkKind : uint8_t {
#define HILO_THUNK(kind, reader) kind,
#include "backends/gpu/thunks/thunk_kinds.def"
#undef HILO_THUNK
};
inline constexpr uint32_t kThunkKinds = 0
#define HILO_THUNK(kind, reader) +1
#include "backends/gpu/thunks/thunk_kinds.def"
#undef HILO_THUNK
    ;

class Thunk {
 public:
  virtual ~Thunk() = default;
  virtual ThunkKind kind() const = 0;
  // Writes what the kind's reader in thunk_kinds.def reads.
  virtual void Write(ThunkWriter& out) const = 0;
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

// The entry or the target of calls, with its memory.
struct ThunkScope {
  int64_t number = 0;  // index in ProgramImage::scopes
  ThunkSequence thunks;
  int64_t frame_bytes = 0;
  std::vector<int64_t> parameter_bytes, output_bytes;  // by leaf
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_THUNKS_THUNK_H_
