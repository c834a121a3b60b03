#include "backends/gpu/thunks/kernel_thunks.h"

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "backends/gpu/thunks/thunk_stream.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

// Of every GPU.
constexpr int64_t kMaxThreadsPerBlock = 1024;
// Of the GPUs with most.
constexpr int64_t kMaxSharedBytes = 227 << 10;

}  // namespace

template <typename Stream, typename Self>
void KernelThunk::Fields(Stream& stream, Self& self) {
  stream.Text(self.name_);
  stream.Kernel(self.kernel_);
  stream.Size(self.blocks_);
  stream.Size(self.threads_);
  stream.Size(self.shared_bytes_);
  stream.Arguments(self.arguments_);
}

void KernelThunk::Write(ThunkWriter& out) const { Fields(out, *this); }

std::unique_ptr<Thunk> KernelThunk::Read(ThunkReader& in) {
  std::unique_ptr<KernelThunk> thunk(new KernelThunk());
  Fields(in, *thunk);
  if (!in.Require(thunk->blocks_ >= 1 && thunk->blocks_ <= INT32_MAX && thunk->threads_ >= 1 &&
                      thunk->threads_ <= kMaxThreadsPerBlock && thunk->shared_bytes_ <= kMaxSharedBytes,
                  "1 to 2147483647 blocks of 1 to 1024 threads and at most 232448 bytes of shared memory"))
    return nullptr;
  const ProgramKernel& kernel = in.program().kernels[thunk->kernel_];
  thunk->kernel_name_ = kernel.name;
  in.Require(static_cast<int64_t>(thunk->arguments_.size()) == kernel.arguments,
             absl::StrCat("the ", kernel.arguments, " arguments of its kernel"));
  return thunk;
}

absl::Status KernelThunk::Run(GpuRun& run) const {
  absl::InlinedVector<uint64_t, 16> values;
  absl::InlinedVector<GpuSlice, 16> slices;
  for (const KernelArgument& argument : arguments_) {
    if (argument.kind == KernelArgument::Kind::kInteger) {
      values.push_back(static_cast<uint64_t>(argument.value));
      continue;
    }
    uint8_t* address = run.Address(argument);
    const int64_t bytes = argument.kind == KernelArgument::Kind::kScratch ? argument.size : argument.slice.size;
    values.push_back(reinterpret_cast<uint64_t>(address));
    slices.push_back({address, bytes, argument.written});
  }
  LaunchDimensions dimensions;
  dimensions.grid.x = static_cast<uint32_t>(blocks_);
  dimensions.block.x = static_cast<uint32_t>(threads_);
  dimensions.dynamic_shared_bytes = static_cast<uint32_t>(shared_bytes_);
  return AddContext(run.stream.Launch(run.kernels[kernel_], dimensions, values, slices),
                    absl::StrCat("; kernel of ", name_));
}

std::string KernelThunk::ToString(const std::string& indent) const {
  std::string text = absl::StrCat(indent, "kernel ", kernel_name_, " grid=", blocks_, " block=", threads_);
  if (shared_bytes_ > 0) absl::StrAppend(&text, " shared=", shared_bytes_);
  absl::StrAppend(&text, " (");
  for (size_t i = 0; i < arguments_.size(); ++i) {
    const KernelArgument& argument = arguments_[i];
    absl::StrAppend(&text, i == 0 ? "" : ", ", argument.written ? "&" : "");
    switch (argument.kind) {
      case KernelArgument::Kind::kInteger: absl::StrAppend(&text, argument.value); break;
      case KernelArgument::Kind::kScratch:
        absl::StrAppend(&text, "scratch[", argument.offset, ", ", argument.offset + argument.size, ")");
        break;
      case KernelArgument::Kind::kSlice: absl::StrAppend(&text, SliceToString(argument.slice)); break;
    }
  }
  return absl::StrCat(text, ")\n");
}

template <typename Stream, typename Self>
void CopyThunk::Fields(Stream& stream, Self& self) {
  stream.Slice(self.to_);
  stream.Slice(self.from_);
  stream.Size(self.bytes_);
}

void CopyThunk::Write(ThunkWriter& out) const { Fields(out, *this); }

std::unique_ptr<Thunk> CopyThunk::Read(ThunkReader& in) {
  std::unique_ptr<CopyThunk> thunk(new CopyThunk());
  Fields(in, *thunk);
  in.RequireBytes(thunk->to_, thunk->bytes_, /*written=*/true);
  in.RequireBytes(thunk->from_, thunk->bytes_, /*written=*/false);
  return thunk;
}

absl::Status CopyThunk::Run(GpuRun& run) const {
  uint8_t *to = run.Address(to_), *from = run.Address(from_);
  return to == from ? absl::OkStatus() : run.stream.Copy(to, from, bytes_);
}

std::string CopyThunk::ToString(const std::string& indent) const {
  return absl::StrCat(indent, "copy ", bytes_, " bytes (&", SliceToString(to_), ", ", SliceToString(from_), ")\n");
}

}  // namespace hilo::gpu
