// Launches and copies.
#ifndef HILO_BACKENDS_GPU_THUNKS_KERNEL_THUNKS_H_
#define HILO_BACKENDS_GPU_THUNKS_KERNEL_THUNKS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/gpu/thunks/thunk.h"

namespace hilo::gpu {

class KernelThunk : public Thunk {
 public:
  // `kernel` is an index into GpuRun::kernels, `name` the instruction's name. `shared_bytes` are those of a block
  // besides what the kernel declares.
  KernelThunk(std::string name, int64_t kernel, std::string kernel_name, int64_t blocks, int64_t threads,
              int64_t shared_bytes, std::vector<KernelArgument> arguments)
      : name_(std::move(name)),
        kernel_(kernel),
        kernel_name_(std::move(kernel_name)),
        blocks_(blocks),
        threads_(threads),
        shared_bytes_(shared_bytes),
        arguments_(std::move(arguments)) {}
  static std::unique_ptr<Thunk> Read(ThunkReader& in);
  ThunkKind kind() const override { return ThunkKind::kKernel; }
  void Write(ThunkWriter& out) const override;
  absl::Status Run(GpuRun& run) const override;
  std::string ToString(const std::string& indent) const override;
  std::optional<std::vector<KernelArgument>> Touches() const override { return arguments_; }
  bool IsCapturable() const override { return true; }

 private:
  KernelThunk() = default;
  template <typename Stream, typename Self>
  static void Fields(Stream& stream, Self& self);

  std::string name_;
  int64_t kernel_ = 0;
  std::string kernel_name_;
  int64_t blocks_ = 1, threads_ = 1;  // threads of a block
  int64_t shared_bytes_ = 0;
  std::vector<KernelArgument> arguments_;
};

class CopyThunk : public Thunk {
 public:
  CopyThunk(BufferSlice to, BufferSlice from, int64_t bytes) : to_(to), from_(from), bytes_(bytes) {}
  static std::unique_ptr<Thunk> Read(ThunkReader& in);
  ThunkKind kind() const override { return ThunkKind::kCopy; }
  void Write(ThunkWriter& out) const override;
  absl::Status Run(GpuRun& run) const override;
  std::string ToString(const std::string& indent) const override;
  std::optional<std::vector<KernelArgument>> Touches() const override {
    return std::vector<KernelArgument>{KernelArgument::Slice(to_, true), KernelArgument::Slice(from_, false)};
  }
  bool IsCapturable() const override { return true; }

 private:
  CopyThunk() = default;
  template <typename Stream, typename Self>
  static void Fields(Stream& stream, Self& self);

  BufferSlice to_, from_;
  int64_t bytes_ = 0;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_THUNKS_KERNEL_THUNKS_H_
