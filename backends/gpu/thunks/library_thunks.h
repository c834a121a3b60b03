// Library calls as thunks.
#ifndef HILO_BACKENDS_GPU_THUNKS_LIBRARY_THUNKS_H_
#define HILO_BACKENDS_GPU_THUNKS_LIBRARY_THUNKS_H_

#include <string>
#include <utility>

#include "backends/gpu/lib/convolution.h"
#include "backends/gpu/lib/fft.h"
#include "backends/gpu/lib/solver.h"
#include "backends/gpu/match/gemm_match.h"
#include "backends/gpu/thunks/thunk.h"

namespace hilo::gpu {

class GemmThunk : public Thunk {
 public:
  // Uses the product and the trip count of `match`. c and bias are read if the product has them.
  GemmThunk(std::string name, const GemmMatch& match, LibraryAlgorithm algorithm, BufferSlice a, BufferSlice b,
            BufferSlice c, BufferSlice d, BufferSlice bias, KernelArgument workspace)
      : name_(std::move(name)),
        gemm_(match.gemm),
        turns_(match.turns),
        turn_a_(match.turn_a),
        turn_b_(match.turn_b),
        turn_d_(match.turn_d),
        algorithm_(std::move(algorithm)),
        a_(a),
        b_(b),
        c_(c),
        d_(d),
        bias_(bias),
        workspace_(workspace) {}
  absl::Status Run(GpuRun& run) const override;
  std::string ToString(const std::string& indent) const override;
  std::optional<std::vector<KernelArgument>> Touches() const override;
  bool IsCapturable() const override { return true; }

 private:
  std::string name_;
  GemmDescriptor gemm_;
  int64_t turns_, turn_a_, turn_b_, turn_d_;
  LibraryAlgorithm algorithm_;
  BufferSlice a_, b_, c_, d_, bias_;
  KernelArgument workspace_;
};

class ConvolutionThunk : public Thunk {
 public:
  // residual and bias are read if the convolution has them.
  ConvolutionThunk(std::string name, ConvolutionDescriptor convolution, LibraryAlgorithm algorithm, BufferSlice lhs,
                   BufferSlice rhs, BufferSlice result, BufferSlice residual, BufferSlice bias,
                   KernelArgument workspace)
      : name_(std::move(name)),
        convolution_(std::move(convolution)),
        algorithm_(std::move(algorithm)),
        lhs_(lhs),
        rhs_(rhs),
        result_(result),
        residual_(residual),
        bias_(bias),
        workspace_(workspace) {}
  absl::Status Run(GpuRun& run) const override;
  std::string ToString(const std::string& indent) const override;
  std::optional<std::vector<KernelArgument>> Touches() const override;
  bool IsCapturable() const override { return true; }

 private:
  std::string name_;
  ConvolutionDescriptor convolution_;
  LibraryAlgorithm algorithm_;
  BufferSlice lhs_, rhs_, result_, residual_, bias_;
  KernelArgument workspace_;
};

class FftThunk : public Thunk {
 public:
  // `copy`, if not empty, receives a copy of the input first, because the library destroys its input.
  FftThunk(std::string name, FftDescriptor fft, BufferSlice in, BufferSlice out, KernelArgument copy,
           KernelArgument workspace)
      : name_(std::move(name)), fft_(std::move(fft)), in_(in), out_(out), copy_(copy), workspace_(workspace) {}
  absl::Status Run(GpuRun& run) const override;
  std::string ToString(const std::string& indent) const override;
  std::optional<std::vector<KernelArgument>> Touches() const override;
  bool IsCapturable() const override { return true; }

 private:
  std::string name_;
  FftDescriptor fft_;
  BufferSlice in_, out_;
  KernelArgument copy_, workspace_;
};

// The library may wait for the device, so it is not captured.
class SolverThunk : public Thunk {
 public:
  // `call` has the arrays without addresses; `operands` and `results` are their memory.
  SolverThunk(std::string name, SolverCall call, std::vector<KernelArgument> operands,
              std::vector<KernelArgument> results)
      : name_(std::move(name)), call_(std::move(call)), operands_(std::move(operands)), results_(std::move(results)) {}
  absl::Status Run(GpuRun& run) const override;
  std::string ToString(const std::string& indent) const override;
  std::optional<std::vector<KernelArgument>> Touches() const override;

 private:
  std::string name_;
  SolverCall call_;
  std::vector<KernelArgument> operands_, results_;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_THUNKS_LIBRARY_THUNKS_H_
