#include "backends/gpu/thunks/thunk.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {

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
          .workspace = workspace,
          .parameters = parameters,
          .outputs = outputs,
          .frame = frame,
          .collectives = collectives,
          .graphs = graphs,
          .driver = driver,
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

}  // namespace hilo::gpu
