#include "backends/gpu/thunks/thunk.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

// Iterations of a counted loop that are queued before the host waits for them: a cancelled run leaves at most these
// pending.
constexpr int64_t kTurnsInHand = 64;
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

uint8_t* GpuRun::Address(const BufferSlice& slice) const {
  switch (slice.kind) {
    case StorageKind::kParameter: return parameters[slice.index];
    case StorageKind::kOutput: return outputs[slice.index];
    case StorageKind::kConstant: return constants[slice.index];
    case StorageKind::kFrame: return frame + slice.offset;
    case StorageKind::kNone:
    case StorageKind::kStack: break;
  }
  return nullptr;
}

uint8_t* GpuRun::Address(const KernelArgument& argument) const {
  return argument.kind == KernelArgument::Kind::kScratch ? scratch + argument.offset : Address(argument.slice);
}

std::vector<const void*> GpuRun::addresses() const {
  std::vector<const void*> all(parameters.begin(), parameters.end());
  all.insert(all.end(), outputs.begin(), outputs.end());
  all.push_back(frame);
  return all;
}

GpuRun GpuRun::On(GpuStream& other) const {
  return {.context = context,
          .stream = other,
          .kernels = kernels,
          .constants = constants,
          .scratch = scratch,
          .parameters = parameters,
          .outputs = outputs,
          .frame = frame,
          .collectives = collectives,
          .graphs = graphs,
          .is_captured = is_captured};
}

absl::Status RunThunks(const ThunkSequence& thunks, GpuRun& run) {
  for (const auto& thunk : thunks) HILO_RETURN_IF_ERROR(thunk->Run(run));
  return absl::OkStatus();
}

bool AreCapturable(const ThunkSequence& thunks) {
  return std::all_of(thunks.begin(), thunks.end(), [](const auto& thunk) { return thunk->IsCapturable(); });
}

bool HaveControlFlow(const ThunkSequence& thunks) {
  return std::any_of(thunks.begin(), thunks.end(), [](const auto& thunk) { return thunk->HasControlFlow(); });
}

std::string ThunksToString(const ThunkSequence& thunks, const std::string& indent) {
  std::string text;
  for (const auto& thunk : thunks) absl::StrAppend(&text, thunk->ToString(indent));
  return text;
}

std::string SliceToString(const BufferSlice& slice) {
  switch (slice.kind) {
    case StorageKind::kParameter: return absl::StrCat("parameter ", slice.index);
    case StorageKind::kOutput: return absl::StrCat("output ", slice.index);
    case StorageKind::kConstant: return absl::StrCat("constant ", slice.index);
    case StorageKind::kFrame: return absl::StrCat("frame[", slice.offset, ", ", slice.offset + slice.size, ")");
    case StorageKind::kNone:
    case StorageKind::kStack: break;
  }
  return "none";
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
  return AddContext(run.stream.Launch(run.kernels[kernel_], dimensions_, values, slices),
                    absl::StrCat("; kernel of ", name_));
}

std::string KernelThunk::ToString(const std::string& indent) const {
  std::string text =
      absl::StrCat(indent, "kernel ", kernel_name_, " grid=", dimensions_.grid.x, " block=", dimensions_.block.x, " (");
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

absl::Status CopyThunk::Run(GpuRun& run) const {
  uint8_t *to = run.Address(to_), *from = run.Address(from_);
  return to == from ? absl::OkStatus() : run.stream.Copy(to, from, bytes_);
}

std::string CopyThunk::ToString(const std::string& indent) const {
  return absl::StrCat(indent, "copy ", bytes_, " bytes (&", SliceToString(to_), ", ", SliceToString(from_), ")\n");
}

absl::Status WhileThunk::Run(GpuRun& run) const {
  if (run.is_captured) {
    HILO_RETURN_IF_ERROR(RunThunks(condition_, run));
    return run.stream.CaptureWhile(run.Address(predicate_), [&](GpuStream& stream) -> absl::Status {
      GpuRun turn = run.On(stream);
      HILO_RETURN_IF_ERROR(RunThunks(body_, turn));
      return RunThunks(condition_, turn);
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

absl::Status CountedLoopThunk::Run(GpuRun& run) const {
  for (int64_t turn = 0; turn < turns_; ++turn) {
    HILO_RETURN_IF_ERROR(CheckCancelled(run));
    if (turn > 0 && turn % kTurnsInHand == 0) HILO_RETURN_IF_ERROR(run.stream.Synchronize());
    HILO_RETURN_IF_ERROR(RunThunks(body_, run));
  }
  return absl::OkStatus();
}

std::string CountedLoopThunk::ToString(const std::string& indent) const {
  return absl::StrCat(indent, "loop of ", turns_, turns_ == 1 ? " turn" : " turns", "\n", indent, " body\n",
                      ThunksToString(body_, indent + "  "));
}

bool CountedLoopThunk::IsCapturable() const {
  return turns_ <= kTurnsInHand && turns_ * static_cast<int64_t>(body_.size()) <= kMaxCapturedThunks &&
         AreCapturable(body_);
}

absl::Status RepeatThunk::Run(GpuRun& run) const {
  if (run.is_captured) {
    HILO_RETURN_IF_ERROR(RunThunks(body_, run));
    return run.stream.CaptureWhile(run.Address(flag_), [&](GpuStream& stream) {
      GpuRun turn = run.On(stream);
      return RunThunks(body_, turn);
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

absl::Status CallThunk::Run(GpuRun& run) const {
  GpuRun inner{.context = run.context,
               .stream = run.stream,
               .kernels = run.kernels,
               .constants = run.constants,
               .scratch = run.scratch,
               .graphs = run.graphs,
               .is_captured = run.is_captured};
  for (const BufferSlice& slice : parameters_) inner.parameters.push_back(run.Address(slice));
  for (const BufferSlice& slice : outputs_) inner.outputs.push_back(run.Address(slice));
  inner.frame = run.frame + frame_offset_;
  inner.collectives = run.collectives;
  return RunThunks(*callee_, inner);
}

bool CallThunk::IsCapturable() const { return AreCapturable(*callee_); }

std::string CallThunk::ToString(const std::string& indent) const {
  return absl::StrCat(indent, "call ", name_, " frame +", frame_offset_, "\n");
}

}  // namespace hilo::gpu
