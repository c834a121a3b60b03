// Library calls as thunks. They share the program's workspace, as they are queued one after the other on its stream.
// When a program is loaded, a call whose library has another version gets an algorithm of that version; the thunk of a
// library that cannot be loaded fails when it runs.
#ifndef HILO_BACKENDS_GPU_THUNKS_LIBRARY_THUNKS_H_
#define HILO_BACKENDS_GPU_THUNKS_LIBRARY_THUNKS_H_

#include <string>
#include <utility>

#include "backends/gpu/lib/convolution.h"
#include "backends/gpu/lib/fft.h"
#include "backends/gpu/lib/gemm.h"
#include "backends/gpu/lib/solver.h"
#include "backends/gpu/thunks/thunk.h"

namespace hilo::gpu {

// The algorithm of a call, and why it cannot be made here.
struct SelectedAlgorithm {
  LibraryChoice choice;
  absl::Status status;  // of a loaded program
};

class GemmThunk : public Thunk {
 public:
  struct Arrays {
    BufferSlice a, b, c, d, bias;  // c and bias are read if the product has them
  };
  GemmThunk(std::string name, const GemmDescriptor& gemm, const GemmLoop& loop, LibraryChoice choice,
            const Arrays& arrays)
      : name_(std::move(name)), gemm_(gemm), loop_(loop), selected_{std::move(choice), {}}, arrays_(arrays) {}
  static std::unique_ptr<Thunk> Read(ThunkReader& in);
  ThunkKind kind() const override { return ThunkKind::kGemm; }
  void Write(ThunkWriter& out) const override;
  absl::Status Run(GpuRun& run) const override;
  std::string ToString(const std::string& indent) const override;
  std::optional<std::vector<KernelArgument>> Touches() const override;
  bool IsCapturable() const override { return true; }

 private:
  GemmThunk() = default;
  template <typename Stream, typename Self>
  static void Fields(Stream& stream, Self& self);

  std::string name_;
  GemmDescriptor gemm_;
  GemmLoop loop_;
  SelectedAlgorithm selected_;
  Arrays arrays_;
};

class ConvolutionThunk : public Thunk {
 public:
  struct Arrays {
    BufferSlice lhs, rhs, result, residual, bias;  // residual and bias are read if the convolution has them
  };
  ConvolutionThunk(std::string name, ConvolutionDescriptor convolution, LibraryChoice choice, const Arrays& arrays)
      : name_(std::move(name)),
        convolution_(std::move(convolution)),
        selected_{std::move(choice), {}},
        arrays_(arrays) {}
  static std::unique_ptr<Thunk> Read(ThunkReader& in);
  ThunkKind kind() const override { return ThunkKind::kConvolution; }
  void Write(ThunkWriter& out) const override;
  absl::Status Run(GpuRun& run) const override;
  std::string ToString(const std::string& indent) const override;
  std::optional<std::vector<KernelArgument>> Touches() const override;
  bool IsCapturable() const override { return true; }

 private:
  ConvolutionThunk() = default;
  template <typename Stream, typename Self>
  static void Fields(Stream& stream, Self& self);

  std::string name_;
  ConvolutionDescriptor convolution_;
  SelectedAlgorithm selected_;
  Arrays arrays_;
};

class FftThunk : public Thunk {
 public:
  // `copy`, if not empty, receives a copy of the input first, because the library destroys its input.
  FftThunk(std::string name, FftDescriptor fft, BufferSlice in, BufferSlice out, KernelArgument copy,
           int64_t workspace_bytes)
      : name_(std::move(name)),
        fft_(std::move(fft)),
        in_(in),
        out_(out),
        copy_(copy),
        workspace_bytes_(workspace_bytes) {}
  static std::unique_ptr<Thunk> Read(ThunkReader& in);
  ThunkKind kind() const override { return ThunkKind::kFft; }
  void Write(ThunkWriter& out) const override;
  absl::Status Run(GpuRun& run) const override;
  std::string ToString(const std::string& indent) const override;
  std::optional<std::vector<KernelArgument>> Touches() const override;
  bool IsCapturable() const override { return true; }

 private:
  FftThunk() = default;
  template <typename Stream, typename Self>
  static void Fields(Stream& stream, Self& self);

  std::string name_;
  FftDescriptor fft_;
  BufferSlice in_, out_;
  KernelArgument copy_;
  int64_t workspace_bytes_ = 0;  // not serialized: the library is asked when a program is loaded
  absl::Status status_;          // why the library cannot be called here
};

// The library may wait for the device, so it is not captured.
class SolverThunk : public Thunk {
 public:
  // `call` has the arrays without addresses; `operands` and `results` are their memory.
  SolverThunk(std::string name, SolverCall call, std::vector<KernelArgument> operands,
              std::vector<KernelArgument> results)
      : name_(std::move(name)), call_(std::move(call)), operands_(std::move(operands)), results_(std::move(results)) {}
  static std::unique_ptr<Thunk> Read(ThunkReader& in);
  ThunkKind kind() const override { return ThunkKind::kSolver; }
  void Write(ThunkWriter& out) const override;
  absl::Status Run(GpuRun& run) const override;
  std::string ToString(const std::string& indent) const override;
  std::optional<std::vector<KernelArgument>> Touches() const override;

 private:
  SolverThunk() = default;
  template <typename Stream, typename Self>
  static void Fields(Stream& stream, Self& self);

  std::string name_;
  SolverCall call_;
  std::vector<KernelArgument> operands_, results_;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_THUNKS_LIBRARY_THUNKS_H_
