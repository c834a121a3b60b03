#include "backends/gpu/thunks/library_thunks.h"

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {

absl::Status GemmThunk::Run(GpuRun& run) const {
  const LibraryWorkspace workspace{run.Address(workspace_), workspace_.size};
  for (int64_t turn = 0; turn < turns_; ++turn) {
    auto at = [&](const BufferSlice& slice, int64_t elements, PrimitiveType type) {
      return run.Address(slice) + turn * elements * PrimitiveTypeByteSize(type);
    };
    const GemmOperands operands{.a = at(a_, turn_a_, gemm_.a_type),
                                .b = at(b_, turn_b_, gemm_.b_type),
                                .c = gemm_.beta == 0 ? nullptr : at(c_, turn_d_, gemm_.d_type),
                                .d = at(d_, turn_d_, gemm_.d_type),
                                .bias = gemm_.has_bias ? run.Address(bias_) : nullptr};
    HILO_RETURN_IF_ERROR(
        AddContext(RunGemm(&run.stream, gemm_, operands, workspace, algorithm_), absl::StrCat("; product of ", name_)));
  }
  return absl::OkStatus();
}

std::optional<std::vector<KernelArgument>> GemmThunk::Touches() const {
  std::vector<KernelArgument> touched = {KernelArgument::Slice(d_, true), KernelArgument::Slice(a_, false),
                                         KernelArgument::Slice(b_, false), workspace_};
  if (gemm_.beta != 0) touched.push_back(KernelArgument::Slice(c_, false));
  if (gemm_.has_bias) touched.push_back(KernelArgument::Slice(bias_, false));
  return touched;
}

std::string GemmThunk::ToString(const std::string& indent) const {
  std::string text = absl::StrCat(indent, "gemm ", gemm_.ToString(), turns_ > 1 ? absl::StrCat(" turns ", turns_) : "",
                                  " (&", SliceToString(d_), ", ", SliceToString(a_), ", ", SliceToString(b_));
  if (gemm_.beta != 0) absl::StrAppend(&text, ", ", SliceToString(c_));
  if (gemm_.has_bias) absl::StrAppend(&text, ", ", SliceToString(bias_));
  return absl::StrCat(text, ") workspace ", workspace_.size, "\n");
}

absl::Status ConvolutionThunk::Run(GpuRun& run) const {
  const ConvolutionOperands operands{.lhs = run.Address(lhs_),
                                     .rhs = run.Address(rhs_),
                                     .result = run.Address(result_),
                                     .residual = convolution_.has_residual ? run.Address(residual_) : nullptr,
                                     .bias = convolution_.has_bias ? run.Address(bias_) : nullptr};
  const LibraryWorkspace workspace{run.Address(workspace_), workspace_.size};
  return AddContext(RunConvolution(&run.stream, convolution_, operands, workspace, algorithm_),
                    absl::StrCat("; convolution of ", name_));
}

std::optional<std::vector<KernelArgument>> ConvolutionThunk::Touches() const {
  std::vector<KernelArgument> touched = {KernelArgument::Slice(result_, true), KernelArgument::Slice(lhs_, false),
                                         KernelArgument::Slice(rhs_, false), workspace_};
  if (convolution_.has_residual) touched.push_back(KernelArgument::Slice(residual_, false));
  if (convolution_.has_bias) touched.push_back(KernelArgument::Slice(bias_, false));
  return touched;
}

std::string ConvolutionThunk::ToString(const std::string& indent) const {
  std::string text = absl::StrCat(indent, convolution_.ToString(), " (&", SliceToString(result_), ", ",
                                  SliceToString(lhs_), ", ", SliceToString(rhs_));
  if (convolution_.has_residual) absl::StrAppend(&text, ", ", SliceToString(residual_));
  if (convolution_.has_bias) absl::StrAppend(&text, ", ", SliceToString(bias_));
  return absl::StrCat(text, ") workspace ", workspace_.size, "\n");
}

absl::Status FftThunk::Run(GpuRun& run) const {
  void* in = run.Address(in_);
  if (copy_.size > 0) {
    HILO_RETURN_IF_ERROR(run.stream.Copy(run.Address(copy_), in, copy_.size));
    in = run.Address(copy_);
  }
  return AddContext(RunFft(&run.stream, fft_, in, run.Address(out_), run.Address(workspace_), workspace_.size),
                    absl::StrCat("; transform of ", name_));
}

std::optional<std::vector<KernelArgument>> FftThunk::Touches() const {
  return std::vector<KernelArgument>{KernelArgument::Slice(out_, true), KernelArgument::Slice(in_, false), copy_,
                                     workspace_};
}

std::string FftThunk::ToString(const std::string& indent) const {
  return absl::StrCat(indent, fft_.ToString(), " (&", SliceToString(out_), ", ", SliceToString(in_),
                      copy_.size > 0 ? ", copied" : "", ") workspace ", workspace_.size, "\n");
}

absl::Status SolverThunk::Run(GpuRun& run) const {
  SolverCall call = call_;
  for (size_t i = 0; i < operands_.size(); ++i) call.operands[i].data = run.Address(operands_[i]);
  for (size_t i = 0; i < results_.size(); ++i) call.results[i].data = run.Address(results_[i]);
  return AddContext(RunSolver(&run.stream, call), absl::StrCat("; call of ", name_));
}

std::optional<std::vector<KernelArgument>> SolverThunk::Touches() const {
  std::vector<KernelArgument> touched = results_;
  touched.insert(touched.end(), operands_.begin(), operands_.end());
  return touched;
}

std::string SolverThunk::ToString(const std::string& indent) const {
  std::string text = absl::StrCat(indent, "solver ", call_.ToString(), " (");
  const char* separator = "";
  for (const std::vector<KernelArgument>* arguments : {&results_, &operands_}) {
    for (const KernelArgument& argument : *arguments) {
      absl::StrAppend(&text, std::exchange(separator, ", "), argument.written ? "&" : "",
                      argument.kind == KernelArgument::Kind::kScratch ? "scratch" : SliceToString(argument.slice));
    }
  }
  return absl::StrCat(text, ")\n");
}

}  // namespace hilo::gpu
