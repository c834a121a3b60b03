#include "backends/gpu/thunks/control_thunks.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/gpu/thunks/thunk_stream.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

// Iterations of a counted loop that are queued before the host waits for them: a cancelled run leaves at most these
// pending.
constexpr int64_t kIterationsInHand = 64;
// The same for a loop that nothing can end early: what is queued takes memory of the host.
constexpr int64_t kIterationsOfOthers = int64_t{1} << 14;
// Limit for a loop within a graph.
constexpr int64_t kMaxCapturedThunks = 64;

absl::Status CheckCancelled(const GpuRun& run) {
  return run.context.cancellation == nullptr ? absl::OkStatus() : run.context.cancellation->status();
}

template <typename T>
absl::StatusOr<T> ReadScalar(GpuRun& run, const uint8_t* address) {
  T value{};
  HILO_RETURN_IF_ERROR(run.stream.Copy(&value, address, sizeof(value)));
  HILO_RETURN_IF_ERROR(run.stream.Synchronize());
  return value;
}

}  // namespace

template <typename Stream, typename Self>
void WhileThunk::Fields(Stream& stream, Self& self) {
  stream.Slice(self.predicate_);
  stream.Thunks(self.condition_);
  stream.Thunks(self.body_);
}

void WhileThunk::Write(ThunkWriter& out) const { Fields(out, *this); }

std::unique_ptr<Thunk> WhileThunk::Read(ThunkReader& in) {
  std::unique_ptr<WhileThunk> thunk(new WhileThunk());
  Fields(in, *thunk);
  in.RequireBytes(thunk->predicate_, 1, /*written=*/false);
  return thunk;
}

absl::Status WhileThunk::Run(GpuRun& run) const {
  if (run.is_captured) {
    HILO_RETURN_IF_ERROR(RunThunks(condition_, run));
    return run.stream.CaptureWhile(run.Address(predicate_), [&](GpuStream& stream) -> absl::Status {
      GpuRun iteration = run.On(stream);
      HILO_RETURN_IF_ERROR(RunThunks(body_, iteration));
      return RunThunks(condition_, iteration);
    });
  }
  while (true) {
    HILO_RETURN_IF_ERROR(CheckCancelled(run));
    HILO_RETURN_IF_ERROR(RunThunks(condition_, run));
    HILO_ASSIGN_OR_RETURN(const uint8_t more, ReadScalar<uint8_t>(run, run.Address(predicate_)));
    if (more == 0) return absl::OkStatus();
    HILO_RETURN_IF_ERROR(RunThunks(body_, run));
  }
}

std::string WhileThunk::ToString(const std::string& indent) const {
  const std::string inner = indent + "  ";
  return absl::StrCat(indent, "while (", SliceToString(predicate_), ")\n", indent, " condition\n",
                      ThunksToString(condition_, inner), indent, " body\n", ThunksToString(body_, inner));
}

template <typename Stream, typename Self>
void CountedLoopThunk::Fields(Stream& stream, Self& self) {
  stream.Size(self.iterations_);
  stream.Thunks(self.body_);
}

void CountedLoopThunk::Write(ThunkWriter& out) const { Fields(out, *this); }

std::unique_ptr<Thunk> CountedLoopThunk::Read(ThunkReader& in) {
  std::unique_ptr<CountedLoopThunk> thunk(new CountedLoopThunk());
  Fields(in, *thunk);
  return thunk;
}

absl::Status CountedLoopThunk::Run(GpuRun& run) const {
  const int64_t in_hand = run.context.cancellation == nullptr ? kIterationsOfOthers : kIterationsInHand;
  for (int64_t i = 0; i < iterations_; ++i) {
    HILO_RETURN_IF_ERROR(CheckCancelled(run));
    if (i > 0 && i % in_hand == 0) HILO_RETURN_IF_ERROR(run.stream.Synchronize());
    HILO_RETURN_IF_ERROR(RunThunks(body_, run));
  }
  return absl::OkStatus();
}

std::string CountedLoopThunk::ToString(const std::string& indent) const {
  return absl::StrCat(indent, "loop of ", iterations_, iterations_ == 1 ? " iteration" : " iterations", "\n", indent,
                      " body\n", ThunksToString(body_, indent + "  "));
}

bool CountedLoopThunk::IsCapturable() const {
  return iterations_ <= kIterationsInHand && iterations_ * static_cast<int64_t>(body_.size()) <= kMaxCapturedThunks &&
         AreCapturable(body_);
}

template <typename Stream, typename Self>
void RepeatThunk::Fields(Stream& stream, Self& self) {
  stream.Argument(self.flag_);
  stream.Thunks(self.body_);
}

void RepeatThunk::Write(ThunkWriter& out) const { Fields(out, *this); }

std::unique_ptr<Thunk> RepeatThunk::Read(ThunkReader& in) {
  std::unique_ptr<RepeatThunk> thunk(new RepeatThunk());
  Fields(in, *thunk);
  in.RequireBytes(thunk->flag_, 1, /*written=*/true);
  return thunk;
}

absl::Status RepeatThunk::Run(GpuRun& run) const {
  if (run.is_captured) {
    HILO_RETURN_IF_ERROR(RunThunks(body_, run));
    return run.stream.CaptureWhile(run.Address(flag_), [&](GpuStream& stream) {
      GpuRun iteration = run.On(stream);
      return RunThunks(body_, iteration);
    });
  }
  while (true) {
    HILO_RETURN_IF_ERROR(CheckCancelled(run));
    HILO_RETURN_IF_ERROR(RunThunks(body_, run));
    HILO_ASSIGN_OR_RETURN(const uint8_t more, ReadScalar<uint8_t>(run, run.Address(flag_)));
    if (more == 0) return absl::OkStatus();
  }
}

std::string RepeatThunk::ToString(const std::string& indent) const {
  return absl::StrCat(indent, "repeat while scratch[", flag_.offset, "]\n", ThunksToString(body_, indent + "  "));
}

template <typename Stream, typename Self>
void ConditionalThunk::Fields(Stream& stream, Self& self) {
  stream.Slice(self.selector_);
  stream.Bool(self.is_pred_);
  stream.List(self.branches_, [&](auto& branch) { stream.Thunks(branch); });
}

void ConditionalThunk::Write(ThunkWriter& out) const { Fields(out, *this); }

std::unique_ptr<Thunk> ConditionalThunk::Read(ThunkReader& in) {
  std::unique_ptr<ConditionalThunk> thunk(new ConditionalThunk());
  Fields(in, *thunk);
  in.RequireBytes(thunk->selector_, thunk->is_pred_ ? 1 : 4, /*written=*/false);
  const size_t branches = thunk->branches_.size();
  in.Require(thunk->is_pred_ ? branches == 2 : branches >= 1 && branches <= INT32_MAX,
             "two branches of a pred, at least one of an s32");
  return thunk;
}

absl::Status ConditionalThunk::Run(GpuRun& run) const {
  if (run.is_captured) {
    std::vector<GpuStream::Part> parts;
    for (const ThunkSequence& branch : branches_) {
      parts.push_back([&run, &branch](GpuStream& stream) {
        GpuRun inner = run.On(stream);
        return RunThunks(branch, inner);
      });
    }
    return run.stream.CaptureBranches(run.Address(selector_), is_pred_, parts);
  }
  const int64_t last = static_cast<int64_t>(branches_.size()) - 1;
  int64_t branch;
  if (is_pred_) {
    HILO_ASSIGN_OR_RETURN(const uint8_t selector, ReadScalar<uint8_t>(run, run.Address(selector_)));
    branch = selector != 0 ? 0 : 1;
  } else {
    HILO_ASSIGN_OR_RETURN(const int32_t selector, ReadScalar<int32_t>(run, run.Address(selector_)));
    branch = selector < 0 || selector > last ? last : selector;
  }
  return RunThunks(branches_[branch], run);
}

bool ConditionalThunk::IsCapturable() const { return std::all_of(branches_.begin(), branches_.end(), AreCapturable); }

std::string ConditionalThunk::ToString(const std::string& indent) const {
  std::string text = absl::StrCat(indent, "conditional (", SliceToString(selector_), ")\n");
  for (size_t i = 0; i < branches_.size(); ++i)
    absl::StrAppend(&text, indent, " branch ", i, "\n", ThunksToString(branches_[i], indent + "  "));
  return text;
}

CallThunk::CallThunk(std::string name, const ThunkScope* callee, int64_t frame_offset,
                     std::vector<BufferSlice> parameters, std::vector<BufferSlice> outputs)
    : name_(std::move(name)),
      callee_(callee),
      frame_offset_(frame_offset),
      parameters_(std::move(parameters)),
      outputs_(std::move(outputs)),
      is_capturable_(AreCapturable(callee->thunks)),
      has_control_flow_(HaveControlFlow(callee->thunks)) {}

template <typename Stream, typename Self>
void CallThunk::Fields(Stream& stream, Self& self) {
  stream.Text(self.name_);
  stream.Callee(self.callee_);
  stream.Size(self.frame_offset_);
  stream.Slices(self.parameters_);
  stream.Slices(self.outputs_);
}

void CallThunk::Write(ThunkWriter& out) const { Fields(out, *this); }

std::unique_ptr<Thunk> CallThunk::Read(ThunkReader& in) {
  CallThunk read;
  Fields(in, read);
  if (!in.ok()) return nullptr;
  const ThunkScope& callee = *read.callee_;
  in.RequireInFrame(read.frame_offset_, callee.frame_bytes);
  if (!in.Require(read.parameters_.size() == callee.parameter_bytes.size() &&
                      read.outputs_.size() == callee.output_bytes.size(),
                  "a slice for each parameter and output of the callee"))
    return nullptr;
  for (size_t i = 0; i < read.parameters_.size(); ++i)
    in.RequireBytes(read.parameters_[i], callee.parameter_bytes[i], /*written=*/false);
  for (size_t i = 0; i < read.outputs_.size(); ++i)
    in.RequireBytes(read.outputs_[i], callee.output_bytes[i], /*written=*/true);
  return std::make_unique<CallThunk>(std::move(read.name_), read.callee_, read.frame_offset_,
                                     std::move(read.parameters_), std::move(read.outputs_));
}

absl::Status CallThunk::Run(GpuRun& run) const {
  GpuRun inner = run.On(run.stream);
  inner.parameters.clear();
  inner.outputs.clear();
  for (const BufferSlice& slice : parameters_) inner.parameters.push_back(run.Address(slice));
  for (const BufferSlice& slice : outputs_) inner.outputs.push_back(run.Address(slice));
  inner.frame = run.frame + frame_offset_;
  return RunThunks(callee_->thunks, inner);
}

std::string CallThunk::ToString(const std::string& indent) const {
  return absl::StrCat(indent, "call ", name_, " frame +", frame_offset_, "\n");
}

}  // namespace hilo::gpu
