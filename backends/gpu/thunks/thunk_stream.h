// Thunks as bytes. A kind of thunk lists its fields once, in a function template Fields(stream, self) for both classes
// below: a writer takes the fields of a thunk, a reader sets those of a new one. The reader checks that slices are
// within their allocations, and numbers within the program's lists; what else a run relies on, the kind checks in its
// Read.
#ifndef HILO_BACKENDS_GPU_THUNKS_THUNK_STREAM_H_
#define HILO_BACKENDS_GPU_THUNKS_THUNK_STREAM_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "backends/gpu/lib/algorithm_selector.h"
#include "backends/gpu/thunks/program_image.h"
#include "backends/gpu/thunks/thunk.h"
#include "base/byte_stream.h"
#include "hilo/ffi.h"
#include "hilo/primitive_type.h"
#include "hlo/memory/buffer_assignment.h"

namespace hilo::gpu {

// The limit of frames, and of scratch memory.
inline int64_t MaxFrameBytes() { return BufferAssignmentOptions().max_frame_bytes; }

// What a program is loaded into.
struct LoadEnvironment {
  LibraryDevice device;
  AlgorithmSelector* algorithms = nullptr;
  const CustomCallRegistry* custom_calls = nullptr;  // null: the default one
  int64_t replica_count = 1, partition_count = 1;    // of the run, as the runtime's part of the artifact states them
};

class ThunkWriter {
 public:
  explicit ThunkWriter(ByteWriter* out) : out_(*out) {}

  void Bool(bool value) { out_.Bool(value); }
  void Int(int64_t value) { out_.I64(value); }
  void Size(int64_t value) { out_.I64(value); }
  void Real(double value) { out_.F64(value); }
  void Text(const std::string& value) { out_.Text(value); }
  void Type(PrimitiveType value) { out_.U32(static_cast<uint32_t>(value)); }
  template <typename E>
  void Enum(E value, E /*last*/) {
    out_.U32(static_cast<uint32_t>(value));
  }
  template <typename T, typename Each>
  void List(const std::vector<T>& list, Each each) {
    out_.U64(list.size());
    for (const T& one : list) each(one);
  }
  void Sizes(const std::vector<int64_t>& sizes) {
    List(sizes, [this](int64_t size) { Size(size); });
  }
  void Slice(const BufferSlice& slice);
  void Slices(const std::vector<BufferSlice>& slices) {
    List(slices, [this](const BufferSlice& slice) { Slice(slice); });
  }
  void Argument(const KernelArgument& argument);
  void Arguments(const std::vector<KernelArgument>& arguments) {
    List(arguments, [this](const KernelArgument& argument) { Argument(argument); });
  }
  void Kernel(int64_t number) { out_.I64(number); }
  void Collective(int64_t number) { out_.I64(number); }
  void Callee(const ThunkScope* scope) { out_.I64(scope->number); }
  void Thunks(const ThunkSequence& thunks);

 private:
  ByteWriter& out_;
};

// After an error, all reads yield zeros and empty lists.
class ThunkReader {
 public:
  // The image has everything but its scopes; `in` and `environment` must outlive the reader.
  ThunkReader(ByteReader* in, ProgramImage* program, const LoadEnvironment* environment)
      : in_(*in), program_(*program), environment_(*environment) {}

  void Bool(bool& value) { value = in_.Bool(); }
  void Int(int64_t& value) { value = in_.I64(); }
  void Size(int64_t& value);  // at least 0
  void Real(double& value) { value = in_.F64(); }
  void Text(std::string& value) { value = std::string(in_.Text()); }
  void Type(PrimitiveType& value);  // of arrays
  template <typename E>
  void Enum(E& value, E last) {
    const uint32_t number = in_.U32();
    if (Require(number <= static_cast<uint32_t>(last), "a smaller number of a kind")) value = static_cast<E>(number);
  }
  template <typename T, typename Each>
  void List(std::vector<T>& list, Each each) {
    for (uint64_t count = in_.Count(1); count > 0 && ok(); --count) each(list.emplace_back());
  }
  void Sizes(std::vector<int64_t>& sizes) {
    List(sizes, [this](int64_t& size) { Size(size); });
  }
  void Slice(BufferSlice& slice);
  void Slices(std::vector<BufferSlice>& slices) {
    List(slices, [this](BufferSlice& slice) { Slice(slice); });
  }
  void Argument(KernelArgument& argument);
  void Arguments(std::vector<KernelArgument>& arguments) {
    List(arguments, [this](KernelArgument& argument) { Argument(argument); });
  }
  void Kernel(int64_t& number);
  void Collective(int64_t& number);
  void Callee(const ThunkScope*& scope);
  void Thunks(ThunkSequence& thunks);

  // Appends a scope to the program.
  void Scope();

  // Fails unless the value just read is as expected. Returns ok().
  bool Require(bool holds, absl::string_view expectation) {
    if (!holds) in_.Fail(expectation);
    return ok();
  }
  // Fails unless the memory has this many bytes, and is not a constant or a parameter if it is written.
  void RequireBytes(const BufferSlice& slice, int64_t bytes, bool written);
  void RequireBytes(const KernelArgument& argument, int64_t bytes, bool written);
  // Fails unless the frame of the scope has these bytes.
  void RequireInFrame(int64_t offset, int64_t bytes);
  // Fails with an error of its own, with `where` appended.
  void Fail(const absl::Status& status, absl::string_view where);
  bool ok() const { return status_.ok() && in_.ok(); }
  // Errors: the first one; InvalidArgument if bytes are left.
  absl::Status Finish();

  const ProgramImage& program() const { return program_; }
  const LoadEnvironment& environment() const { return environment_; }
  void NeedWorkspace(int64_t bytes) { program_.workspace_bytes = std::max(program_.workspace_bytes, bytes); }

 private:
  ByteReader& in_;
  ProgramImage& program_;
  const LoadEnvironment& environment_;
  absl::Status status_;
  const ThunkScope* scope_ = nullptr;   // being read
  std::vector<int64_t> call_depths_;    // of the scopes before it
  int64_t depth_ = 0, call_depth_ = 0;  // of sequences within the scope, and of its calls
};

// Reads the fields of a thunk (thunk_table.cc). Null or unfinished after an error.
std::unique_ptr<Thunk> ReadThunk(ThunkKind kind, ThunkReader& in);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_THUNKS_THUNK_STREAM_H_
