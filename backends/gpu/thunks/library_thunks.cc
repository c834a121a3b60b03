#include "backends/gpu/thunks/library_thunks.h"

#include "absl/strings/str_cat.h"
#include "backends/gpu/thunks/thunk_stream.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

template <typename Stream, typename Choice>
void ChoiceFields(Stream& stream, Choice& choice) {
  stream.Text(choice.algorithm.code);
  stream.Size(choice.algorithm.workspace_bytes);
  stream.Text(choice.version);
}

// Renews a choice that is not for the library of this process.
void Renew(ThunkReader& in, const LibraryWork& work, SelectedAlgorithm* selected) {
  absl::StatusOr<LibraryChoice> choice = in.environment().algorithms->Choose(work, &selected->choice);
  if (choice.ok()) {
    selected->choice = *std::move(choice);
  } else {
    selected->status = choice.status();
  }
  const int64_t bytes = selected->choice.algorithm.workspace_bytes;
  if (in.Require(bytes <= work.max_workspace_bytes, absl::StrCat(work.max_workspace_bytes, " bytes of workspace")))
    in.NeedWorkspace(bytes);
}

LibraryWorkspace WorkspaceOf(const GpuRun& run, int64_t bytes) { return {bytes > 0 ? run.workspace : nullptr, bytes}; }

}  // namespace

template <typename Stream, typename Self>
void GemmThunk::Fields(Stream& stream, Self& self) {
  auto& gemm = self.gemm_;
  stream.Text(self.name_);
  for (auto* type : {&gemm.a_type, &gemm.b_type, &gemm.d_type}) stream.Type(*type);
  for (auto* flag : {&gemm.transpose_a, &gemm.transpose_b, &gemm.has_bias, &gemm.allow_tf32}) stream.Bool(*flag);
  for (auto* size : {&gemm.m, &gemm.n, &gemm.k, &gemm.lda, &gemm.ldb, &gemm.ldd, &gemm.batch, &gemm.stride_a,
                     &gemm.stride_b, &gemm.stride_d, &gemm.alignment_a, &gemm.alignment_b, &gemm.alignment_d,
                     &self.loop_.count, &self.loop_.step_a, &self.loop_.step_b, &self.loop_.step_d}) {
    stream.Size(*size);
  }
  stream.Real(gemm.alpha);
  stream.Real(gemm.beta);
  stream.Enum(gemm.activation, GemmActivation::kGelu);
  ChoiceFields(stream, self.selected_.choice);
  auto& arrays = self.arrays_;
  for (auto* array : {&arrays.a, &arrays.b, &arrays.c, &arrays.d, &arrays.bias}) stream.Slice(*array);
}

void GemmThunk::Write(ThunkWriter& out) const { Fields(out, *this); }

std::unique_ptr<Thunk> GemmThunk::Read(ThunkReader& in) {
  std::unique_ptr<GemmThunk> thunk(new GemmThunk());
  Fields(in, *thunk);
  const GemmDescriptor& gemm = thunk->gemm_;
  if (!in.ok()) return nullptr;
  if (const absl::Status status = CheckGemm(gemm, thunk->loop_); !in.Require(status.ok(), status.message()))
    return nullptr;
  const GemmBytes bytes = BytesOfGemm(gemm, thunk->loop_);
  const Arrays& arrays = thunk->arrays_;
  in.RequireBytes(arrays.a, bytes.a, /*written=*/false);
  in.RequireBytes(arrays.b, bytes.b, /*written=*/false);
  in.RequireBytes(arrays.c, gemm.beta == 0 ? 0 : bytes.d, /*written=*/false);
  in.RequireBytes(arrays.d, bytes.d, /*written=*/true);
  in.RequireBytes(arrays.bias, bytes.bias, /*written=*/false);
  if (in.ok()) Renew(in, GemmWork(in.environment().device, gemm), &thunk->selected_);
  return thunk;
}

absl::Status GemmThunk::Run(GpuRun& run) const {
  const std::string context = absl::StrCat("; product of ", name_);
  HILO_RETURN_IF_ERROR(AddContext(selected_.status, context));
  const LibraryAlgorithm& algorithm = selected_.choice.algorithm;
  const LibraryWorkspace workspace = WorkspaceOf(run, algorithm.workspace_bytes);
  for (int64_t i = 0; i < loop_.count; ++i) {
    auto at = [&](const BufferSlice& slice, int64_t step, PrimitiveType type) {
      return run.Address(slice) + i * step * PrimitiveTypeByteSize(type);
    };
    const GemmOperands operands{.a = at(arrays_.a, loop_.step_a, gemm_.a_type),
                                .b = at(arrays_.b, loop_.step_b, gemm_.b_type),
                                .c = gemm_.beta == 0 ? nullptr : at(arrays_.c, loop_.step_d, gemm_.d_type),
                                .d = at(arrays_.d, loop_.step_d, gemm_.d_type),
                                .bias = gemm_.has_bias ? run.Address(arrays_.bias) : nullptr};
    HILO_RETURN_IF_ERROR(AddContext(RunGemm(&run.stream, gemm_, operands, workspace, algorithm), context));
  }
  return absl::OkStatus();
}

std::optional<std::vector<KernelArgument>> GemmThunk::Touches() const {
  std::vector<KernelArgument> touched = {KernelArgument::Slice(arrays_.d, true),
                                         KernelArgument::Slice(arrays_.a, false),
                                         KernelArgument::Slice(arrays_.b, false)};
  if (gemm_.beta != 0) touched.push_back(KernelArgument::Slice(arrays_.c, false));
  if (gemm_.has_bias) touched.push_back(KernelArgument::Slice(arrays_.bias, false));
  return touched;
}

std::string GemmThunk::ToString(const std::string& indent) const {
  std::string text =
      absl::StrCat(indent, "gemm ", gemm_.ToString(), loop_.count > 1 ? absl::StrCat(" iterations ", loop_.count) : "",
                   " (&", SliceToString(arrays_.d), ", ", SliceToString(arrays_.a), ", ", SliceToString(arrays_.b));
  if (gemm_.beta != 0) absl::StrAppend(&text, ", ", SliceToString(arrays_.c));
  if (gemm_.has_bias) absl::StrAppend(&text, ", ", SliceToString(arrays_.bias));
  return absl::StrCat(text, ") workspace ", selected_.choice.algorithm.workspace_bytes, "\n");
}

template <typename Stream, typename Self>
void ConvolutionThunk::Fields(Stream& stream, Self& self) {
  auto& c = self.convolution_;
  stream.Text(self.name_);
  stream.Enum(c.kind, ConvolutionKind::kBackwardFilter);
  stream.Type(c.type);
  stream.Type(c.result_type);
  for (auto* flag : {&c.features_last, &c.is_reversed, &c.has_residual, &c.has_bias, &c.allow_tf32}) stream.Bool(*flag);
  for (auto* size : {&c.images, &c.in_features, &c.out_features, &c.groups}) stream.Size(*size);
  for (auto* sizes : {&c.in, &c.taps, &c.out, &c.strides, &c.dilations, &c.padding_low, &c.padding_high})
    stream.Sizes(*sizes);
  stream.Enum(c.activation, ConvolutionActivation::kRelu6);
  ChoiceFields(stream, self.selected_.choice);
  auto& arrays = self.arrays_;
  for (auto* array : {&arrays.lhs, &arrays.rhs, &arrays.result, &arrays.residual, &arrays.bias}) stream.Slice(*array);
}

void ConvolutionThunk::Write(ThunkWriter& out) const { Fields(out, *this); }

std::unique_ptr<Thunk> ConvolutionThunk::Read(ThunkReader& in) {
  std::unique_ptr<ConvolutionThunk> thunk(new ConvolutionThunk());
  Fields(in, *thunk);
  const ConvolutionDescriptor& c = thunk->convolution_;
  if (!in.ok()) return nullptr;
  if (const absl::Status status = CheckConvolution(c); !in.Require(status.ok(), status.message())) return nullptr;
  const int64_t bytes = PrimitiveTypeByteSize(c.type),
                result_bytes = c.ElementsOfResult() * PrimitiveTypeByteSize(c.result_type);
  const Arrays& arrays = thunk->arrays_;
  in.RequireBytes(arrays.lhs, c.ElementsOfLhs() * bytes, /*written=*/false);
  in.RequireBytes(arrays.rhs, c.ElementsOfRhs() * bytes, /*written=*/false);
  in.RequireBytes(arrays.result, result_bytes, /*written=*/true);
  in.RequireBytes(arrays.residual, c.has_residual ? result_bytes : 0, /*written=*/false);
  in.RequireBytes(arrays.bias, c.has_bias ? c.out_features * bytes : 0, /*written=*/false);
  if (in.ok()) Renew(in, ConvolutionWork(in.environment().device, c), &thunk->selected_);
  return thunk;
}

absl::Status ConvolutionThunk::Run(GpuRun& run) const {
  const std::string context = absl::StrCat("; convolution of ", name_);
  HILO_RETURN_IF_ERROR(AddContext(selected_.status, context));
  const ConvolutionOperands operands{.lhs = run.Address(arrays_.lhs),
                                     .rhs = run.Address(arrays_.rhs),
                                     .result = run.Address(arrays_.result),
                                     .residual = convolution_.has_residual ? run.Address(arrays_.residual) : nullptr,
                                     .bias = convolution_.has_bias ? run.Address(arrays_.bias) : nullptr};
  const LibraryAlgorithm& algorithm = selected_.choice.algorithm;
  return AddContext(
      RunConvolution(&run.stream, convolution_, operands, WorkspaceOf(run, algorithm.workspace_bytes), algorithm),
      context);
}

std::optional<std::vector<KernelArgument>> ConvolutionThunk::Touches() const {
  std::vector<KernelArgument> touched = {KernelArgument::Slice(arrays_.result, true),
                                         KernelArgument::Slice(arrays_.lhs, false),
                                         KernelArgument::Slice(arrays_.rhs, false)};
  if (convolution_.has_residual) touched.push_back(KernelArgument::Slice(arrays_.residual, false));
  if (convolution_.has_bias) touched.push_back(KernelArgument::Slice(arrays_.bias, false));
  return touched;
}

std::string ConvolutionThunk::ToString(const std::string& indent) const {
  std::string text = absl::StrCat(indent, convolution_.ToString(), " (&", SliceToString(arrays_.result), ", ",
                                  SliceToString(arrays_.lhs), ", ", SliceToString(arrays_.rhs));
  if (convolution_.has_residual) absl::StrAppend(&text, ", ", SliceToString(arrays_.residual));
  if (convolution_.has_bias) absl::StrAppend(&text, ", ", SliceToString(arrays_.bias));
  return absl::StrCat(text, ") workspace ", selected_.choice.algorithm.workspace_bytes, "\n");
}

template <typename Stream, typename Self>
void FftThunk::Fields(Stream& stream, Self& self) {
  stream.Text(self.name_);
  stream.Enum(self.fft_.type, FftType::kIrfft);
  stream.Type(self.fft_.part);
  stream.Sizes(self.fft_.lengths);
  stream.Size(self.fft_.batch);
  stream.Slice(self.in_);
  stream.Slice(self.out_);
  stream.Argument(self.copy_);
}

void FftThunk::Write(ThunkWriter& out) const { Fields(out, *this); }

std::unique_ptr<Thunk> FftThunk::Read(ThunkReader& in) {
  std::unique_ptr<FftThunk> thunk(new FftThunk());
  Fields(in, *thunk);
  const FftDescriptor& fft = thunk->fft_;
  if (!in.ok()) return nullptr;
  const void* aligned = reinterpret_cast<const void*>(kDeviceAlignment);
  if (const absl::Status status = CheckFft(fft, aligned, aligned); !in.Require(status.ok(), status.message()))
    return nullptr;
  in.RequireBytes(thunk->in_, fft.InputBytes(), /*written=*/false);
  in.RequireBytes(thunk->out_, fft.OutputBytes(), /*written=*/true);
  in.RequireBytes(thunk->copy_, fft.type == FftType::kIrfft ? fft.InputBytes() : 0, /*written=*/true);
  in.Require(thunk->copy_.size == 0 || thunk->copy_.size == fft.InputBytes(), "a copy of the input");
  if (!in.ok()) return nullptr;
  if (const absl::StatusOr<int64_t> bytes = FftWorkspaceBytes(in.environment().device, fft); bytes.ok()) {
    thunk->workspace_bytes_ = *bytes;
  } else {
    thunk->status_ = bytes.status();
  }
  in.NeedWorkspace(thunk->workspace_bytes_);
  return thunk;
}

absl::Status FftThunk::Run(GpuRun& run) const {
  const std::string context = absl::StrCat("; transform of ", name_);
  HILO_RETURN_IF_ERROR(AddContext(status_, context));
  void* in = run.Address(in_);
  if (copy_.size > 0) {
    HILO_RETURN_IF_ERROR(run.stream.Copy(run.Address(copy_), in, copy_.size));
    in = run.Address(copy_);
  }
  const LibraryWorkspace workspace = WorkspaceOf(run, workspace_bytes_);
  return AddContext(RunFft(&run.stream, fft_, in, run.Address(out_), workspace.memory, workspace.bytes), context);
}

std::optional<std::vector<KernelArgument>> FftThunk::Touches() const {
  return std::vector<KernelArgument>{KernelArgument::Slice(out_, true), KernelArgument::Slice(in_, false), copy_};
}

std::string FftThunk::ToString(const std::string& indent) const {
  return absl::StrCat(indent, fft_.ToString(), " (&", SliceToString(out_), ", ", SliceToString(in_),
                      copy_.size > 0 ? ", copied" : "", ") workspace ", workspace_bytes_, "\n");
}

template <typename Stream, typename Self>
void SolverThunk::Fields(Stream& stream, Self& self) {
  stream.Text(self.name_);
  stream.Text(self.call_.routine);
  for (auto* arrays : {&self.call_.operands, &self.call_.results}) {
    stream.List(*arrays, [&](auto& array) {
      stream.Type(array.type);
      stream.Sizes(array.dimensions);
    });
  }
  stream.List(self.call_.attributes, [&](auto& attribute) {
    stream.Text(attribute.first);
    stream.Int(attribute.second);
  });
  stream.Arguments(self.operands_);
  stream.Arguments(self.results_);
}

void SolverThunk::Write(ThunkWriter& out) const { Fields(out, *this); }

std::unique_ptr<Thunk> SolverThunk::Read(ThunkReader& in) {
  std::unique_ptr<SolverThunk> thunk(new SolverThunk());
  Fields(in, *thunk);
  const SolverCall& call = thunk->call_;
  if (!in.ok()) return nullptr;
  if (const absl::Status status = CheckSolverCall(call); !in.Require(status.ok(), status.message())) return nullptr;
  const auto check = [&](const std::vector<SolverArray>& arrays, const std::vector<KernelArgument>& memory,
                         bool written) {
    if (!in.Require(arrays.size() == memory.size(), "memory for each array")) return;
    for (size_t i = 0; i < arrays.size(); ++i) in.RequireBytes(memory[i], arrays[i].bytes(), written);
  };
  check(call.operands, thunk->operands_, /*written=*/false);
  check(call.results, thunk->results_, /*written=*/true);
  return thunk;
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
