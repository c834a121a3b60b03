// The code of an algorithm is an engine's number and its knobs, as in "e38,2=3,13=1", from which its plan is recreated.
// A handle belongs to a device; its stream is set before each use, under a lock: queued work keeps the stream with
// which it was queued.
#include "backends/gpu/cuda/cudnn_graph.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <mutex>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "backends/gpu/cuda/cuda_status.h"
#include "backends/gpu/cuda/cudnn_constants.h"
#include "backends/gpu/driver/cuda_library.h"
#include "backends/gpu/lib/cuda_libraries.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

using namespace cudnn;  // NOLINT: its numbers are all over this file

struct Cudnn {
#define HILO_CUDA_FN HILO_CUDA_FN_MEMBER
#include "backends/gpu/cuda/cudnn.def"
#undef HILO_CUDA_FN
};

absl::StatusOr<Cudnn> LoadCudnn() {
  // Some engines are compiled at run time by libnvrtc, which cuDNN opens by name alone: preloading it makes the copy in
  // our search folders available.
  for (const absl::string_view compiler : {"libnvrtc.so.13", "libnvrtc.so.12"})
    LoadCudaLibrary({compiler}).IgnoreError();
  HILO_ASSIGN_OR_RETURN(void* library, LoadCudaLibrary({"libcudnn.so.9"}));
  Cudnn table;
#define HILO_CUDA_FN HILO_CUDA_FN_LOAD
#include "backends/gpu/cuda/cudnn.def"
#undef HILO_CUDA_FN
  return table;
}

const absl::StatusOr<Cudnn>& Library() {
  static const auto* const library = new absl::StatusOr<Cudnn>(LoadCudnn());
  return *library;
}

absl::Status StatusOf(int status, const char* what) {
  if (status == 0) return absl::OkStatus();
  char words[512] = "";
  Library()->cudnnGetLastErrorString(words, sizeof(words));
  const std::string message =
      absl::StrCat(what, ": ", Library()->cudnnGetErrorString(status), *words == '\0' ? "" : ": ", words);
  if (status >= kNotSupportedFrom && status <= kNotSupportedTo) return Unimplemented("cuDNN: ", message);
  return InvalidArgument("cuDNN: ", message);
}

// A plan of an engine for one device.
struct Plan {
  std::unique_ptr<CudnnDescriptor> plan;
  LibraryAlgorithm algorithm;
};

// State of a device, for the life of the process.
struct DeviceState {
  void* handle = nullptr;
  absl::flat_hash_map<std::string, Plan> plans;  // by work and algorithm
};

std::mutex& DevicesMutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

// Returns the state of the current device. DevicesMutex() must be held.
absl::StatusOr<DeviceState*> StateOfDevice() {
  HILO_RETURN_IF_ERROR(Library().status());
  static auto* const devices = new absl::flat_hash_map<int, std::unique_ptr<DeviceState>>;
  int device = 0;
  HILO_CUDA_RETURN_IF_ERROR(cudaGetDevice(&device));
  std::unique_ptr<DeviceState>& state = (*devices)[device];
  if (state == nullptr) state = std::make_unique<DeviceState>();
  if (state->handle == nullptr) HILO_RETURN_IF_ERROR(StatusOf(Library()->cudnnCreate(&state->handle), "cudnnCreate"));
  return state.get();
}

bool IsWanted(const CudnnDescriptor& engine, const CudnnWork& work) {
  constexpr int kMaxNotes = 16;
  const std::vector<int> notes = engine.Enums(kEngineNumericalNotes, kTypeNumericalNote, kMaxNotes);
  const auto has = [&](int note) { return absl::c_linear_search(notes, note); };
  if (has(kNoteNondeterministic)) return false;
  return work.allow_tf32 ||
         (!has(kNoteTensorCore) && !has(kNoteDownConvertInputs) && !has(kNoteReducedPrecision) && !has(kNoteWinograd));
}

// Returns the code of a configuration from the heuristics; empty if it must not be used.
std::string CodeOf(const CudnnDescriptor& config, const CudnnWork& work) {
  constexpr int kMaxKnobs = 64;
  const std::vector<CudnnDescriptor> engine = config.Descriptors(kEngineConfigEngine, kEngine, 1);
  if (engine.empty() || !IsWanted(engine[0], work)) return "";
  const std::vector<int64_t> index = engine[0].Ints(kEngineGlobalIndex);
  if (index.empty()) return "";
  std::string code = absl::StrCat("e", index[0]);
  for (const CudnnDescriptor& knob : config.Descriptors(kEngineConfigKnobs, kKnobChoice, kMaxKnobs)) {
    const std::vector<int> type = knob.Enums(kKnobChoiceType, kTypeKnobType, 1);
    const std::vector<int64_t> value = knob.Ints(kKnobChoiceValue);
    if (!type.empty() && !value.empty()) absl::StrAppend(&code, ",", type[0], "=", value[0]);
  }
  return code;
}

// Parses a code: the engine's number, knobs and their values.
absl::StatusOr<std::vector<std::pair<int64_t, int64_t>>> ParseCode(absl::string_view code) {
  std::vector<std::pair<int64_t, int64_t>> numbers;
  bool good = absl::ConsumePrefix(&code, "e");
  for (absl::string_view part : absl::StrSplit(code, ',')) {
    const std::pair<absl::string_view, absl::string_view> sides = absl::StrSplit(part, absl::MaxSplits('=', 1));
    numbers.emplace_back();
    good = good && absl::SimpleAtoi(sides.first, &numbers.back().first) &&
           (numbers.size() == 1 || absl::SimpleAtoi(sides.second, &numbers.back().second));
  }
  if (!good) return InvalidArgument("cuDNN has no algorithm ", code);
  return numbers;
}

// The graph and its parts are needed only while the plan is made.
absl::StatusOr<Plan> MakePlan(void* handle, const CudnnGraph& graph, const std::string& code) {
  HILO_ASSIGN_OR_RETURN(const auto numbers, ParseCode(code));
  void* graph_handle = graph.handle();
  CudnnDescriptor engine(kEngine);
  engine.Refer(kEngineGraph, {&graph_handle, 1});
  engine.SetInt(kEngineGlobalIndex, numbers[0].first);
  HILO_RETURN_IF_ERROR(engine.Finalize());
  std::vector<CudnnDescriptor> knobs;
  std::vector<void*> knob_handles;
  for (size_t i = 1; i < numbers.size(); ++i) {
    CudnnDescriptor& knob = knobs.emplace_back(kKnobChoice);
    knob.SetEnum(kKnobChoiceType, kTypeKnobType, static_cast<int>(numbers[i].first));
    knob.SetInt(kKnobChoiceValue, numbers[i].second);
    HILO_RETURN_IF_ERROR(knob.Finalize());
    knob_handles.push_back(knob.handle());
  }
  CudnnDescriptor config(kEngineConfig);
  void* const engine_handle = engine.handle();
  config.Refer(kEngineConfigEngine, {&engine_handle, 1});
  if (!knob_handles.empty()) config.Refer(kEngineConfigKnobs, knob_handles);
  HILO_RETURN_IF_ERROR(config.Finalize());
  auto plan = std::make_unique<CudnnDescriptor>(kExecutionPlan);
  plan->Set(kPlanHandle, kTypeHandle, 1, &handle);
  void* const config_handle = config.handle();
  plan->Refer(kPlanEngineConfig, {&config_handle, 1});
  HILO_RETURN_IF_ERROR(plan->Finalize());
  const std::vector<int64_t> bytes = plan->Ints(kPlanWorkspaceSize);
  if (bytes.empty() || bytes[0] < 0) return Internal("cuDNN does not say how much workspace engine ", code, " needs");
  return Plan{std::move(plan), {code, bytes[0]}};
}

// Returns at most `most` plans that fit the workspace. DevicesMutex() must be held.
absl::StatusOr<std::vector<Plan>> RankedPlans(void* handle, const CudnnWork& work, int64_t workspace_bytes, int most) {
  HILO_ASSIGN_OR_RETURN(const CudnnGraph graph, work.make(handle));
  std::vector<Plan> plans;
  for (int mode : {kHeuristicA, kHeuristicFallback}) {
    constexpr int kMaxConfigs = 64;
    CudnnDescriptor heuristic(kEngineHeuristic);
    void* const graph_handle = graph.handle();
    heuristic.Refer(kHeuristicGraph, {&graph_handle, 1});
    heuristic.SetEnum(kHeuristicMode, kTypeHeurMode, mode);
    if (!heuristic.Finalize().ok()) continue;
    for (const CudnnDescriptor& config : heuristic.Descriptors(kHeuristicResults, kEngineConfig, kMaxConfigs)) {
      const std::string code = CodeOf(config, work);
      if (code.empty() || absl::c_any_of(plans, [&](const Plan& plan) { return plan.algorithm.code == code; }))
        continue;
      absl::StatusOr<Plan> plan = MakePlan(handle, graph, code);
      if (plan.ok() && plan->algorithm.workspace_bytes <= workspace_bytes) plans.push_back(*std::move(plan));
      if (static_cast<int>(plans.size()) == most) return plans;
    }
  }
  if (plans.empty()) return Unimplemented("cuDNN has no engine for ", work.text);
  return plans;
}

// DevicesMutex() must be held. Without a code, returns the first of the ranking.
absl::StatusOr<const Plan*> PlanOf(DeviceState& state, const CudnnWork& work, const LibraryAlgorithm& algorithm,
                                   int64_t workspace_bytes) {
  const std::string key = absl::StrCat(
      work.text, " by ", algorithm.code.empty() ? absl::StrCat("the best in ", workspace_bytes) : algorithm.code);
  if (const auto it = state.plans.find(key); it != state.plans.end()) return &it->second;
  if (algorithm.code.empty()) {
    HILO_ASSIGN_OR_RETURN(std::vector<Plan> plans, RankedPlans(state.handle, work, workspace_bytes, 1));
    return &state.plans.emplace(key, std::move(plans[0])).first->second;
  }
  HILO_ASSIGN_OR_RETURN(const CudnnGraph graph, work.make(state.handle));
  HILO_ASSIGN_OR_RETURN(Plan plan, MakePlan(state.handle, graph, algorithm.code));
  return &state.plans.emplace(key, std::move(plan)).first->second;
}

}  // namespace

CudnnDescriptor::CudnnDescriptor(int type) {
  status_ = Library().status();
  if (status_.ok())
    status_ = StatusOf(Library()->cudnnBackendCreateDescriptor(type, &handle_), "cudnnBackendCreateDescriptor");
}

CudnnDescriptor::~CudnnDescriptor() {
  if (handle_ != nullptr) Library()->cudnnBackendDestroyDescriptor(handle_);
}

void CudnnDescriptor::Set(int attribute, int type, int64_t count, const void* values) {
  if (status_.ok())
    status_ = StatusOf(Library()->cudnnBackendSetAttribute(handle_, attribute, type, count, values),
                       "cudnnBackendSetAttribute");
}
void CudnnDescriptor::SetInt(int attribute, int64_t value) { Set(attribute, kTypeInt64, 1, &value); }
void CudnnDescriptor::SetInts(int attribute, const std::vector<int64_t>& values) {
  Set(attribute, kTypeInt64, static_cast<int64_t>(values.size()), values.data());
}
void CudnnDescriptor::SetEnum(int attribute, int type, int value) { Set(attribute, type, 1, &value); }
void CudnnDescriptor::SetBool(int attribute, bool value) { Set(attribute, kTypeBoolean, 1, &value); }
void CudnnDescriptor::Refer(int attribute, absl::Span<void* const> descriptors) {
  Set(attribute, kTypeDescriptor, static_cast<int64_t>(descriptors.size()), descriptors.data());
}

absl::Status CudnnDescriptor::Finalize() {
  if (status_.ok()) status_ = StatusOf(Library()->cudnnBackendFinalize(handle_), "cudnnBackendFinalize");
  return status_;
}

std::vector<int64_t> CudnnDescriptor::Ints(int attribute) const {
  int64_t count = 0;
  std::vector<int64_t> values(1);
  const int status = Library()->cudnnBackendGetAttribute(handle_, attribute, kTypeInt64, 1, &count, values.data());
  if (status != 0 || count < 1) values.clear();
  return values;
}

std::vector<int> CudnnDescriptor::Enums(int attribute, int type, int most) const {
  int64_t count = 0;
  std::vector<int> values(static_cast<size_t>(most));
  const int status = Library()->cudnnBackendGetAttribute(handle_, attribute, type, most, &count, values.data());
  values.resize(status == 0 ? static_cast<size_t>(std::clamp<int64_t>(count, 0, most)) : 0);
  return values;
}

std::vector<CudnnDescriptor> CudnnDescriptor::Descriptors(int attribute, int type, int most) const {
  int64_t count = 0;
  std::vector<CudnnDescriptor> filled;
  std::vector<void*> handles;
  for (int i = 0; i < most; ++i) handles.push_back(filled.emplace_back(type).handle());
  const int status =
      Library()->cudnnBackendGetAttribute(handle_, attribute, kTypeDescriptor, most, &count, handles.data());
  const int64_t kept = status == 0 ? std::clamp<int64_t>(count, 0, most) : 0;
  while (static_cast<int64_t>(filled.size()) > kept) filled.pop_back();
  return filled;
}

std::string CudnnDescriptor::Text(int attribute) const {
  int64_t count = 0;
  if (Library()->cudnnBackendGetAttribute(handle_, attribute, kTypeChar, 0, &count, nullptr) != 0 || count < 1)
    return "";
  std::string text(static_cast<size_t>(count), '\0');
  if (Library()->cudnnBackendGetAttribute(handle_, attribute, kTypeChar, count, &count, text.data()) != 0) return "";
  return text.substr(0, text.find('\0'));
}

absl::StatusOr<void*> CudnnGraph::AddTensor(int64_t number, int data_type, const std::vector<int64_t>& dimensions,
                                            const std::vector<int64_t>& strides, bool is_virtual) {
  constexpr int64_t kAlignment = 16;
  CudnnDescriptor tensor(kTensor);
  tensor.SetInt(kTensorUniqueId, number);
  tensor.SetEnum(kTensorDataType, kTypeDataType, data_type);
  tensor.SetInts(kTensorDimensions, dimensions);
  tensor.SetInts(kTensorStrides, strides);
  tensor.SetInt(kTensorByteAlignment, kAlignment);
  tensor.SetBool(kTensorIsVirtual, is_virtual);
  return Add(std::move(tensor));
}

absl::StatusOr<void*> CudnnGraph::Add(CudnnDescriptor descriptor) {
  HILO_RETURN_IF_ERROR(descriptor.Finalize());
  descriptors_.push_back(std::move(descriptor));
  return descriptors_.back().handle();
}

absl::Status CudnnGraph::AddOperation(CudnnDescriptor operation) {
  HILO_ASSIGN_OR_RETURN(operations_.emplace_back(), Add(std::move(operation)));
  return absl::OkStatus();
}

absl::Status CudnnGraph::AddPointwise(int mode, void* x, void* b, void* y, double upper_clip) {
  CudnnDescriptor pointwise(kPointwise);
  pointwise.SetEnum(kPointwiseMode, kTypePointwiseMode, mode);
  pointwise.SetEnum(kPointwiseMathPrecision, kTypeDataType, kDataFloat);
  if (upper_clip >= 0) pointwise.Set(kPointwiseReluUpperClip, kTypeDouble, 1, &upper_clip);
  HILO_ASSIGN_OR_RETURN(void* descriptor, Add(std::move(pointwise)));
  CudnnDescriptor operation(kOperationPointwise);
  operation.Refer(kOperationPointwiseDescriptor, {&descriptor, 1});
  operation.Refer(kOperationPointwiseX, {&x, 1});
  if (b != nullptr) operation.Refer(kOperationPointwiseB, {&b, 1});
  operation.Refer(kOperationPointwiseY, {&y, 1});
  return AddOperation(std::move(operation));
}

absl::Status CudnnGraph::Finish(void* handle) {
  graph_ = std::make_unique<CudnnDescriptor>(kOperationGraph);
  graph_->Refer(kGraphOperations, operations_);
  if (handle != nullptr) graph_->Set(kGraphHandle, kTypeHandle, 1, &handle);
  return graph_->Finalize();
}

absl::StatusOr<std::string> CudnnVersion() {
  HILO_RETURN_IF_ERROR(Library().status());
  return absl::StrCat("cudnn ", Library()->cudnnGetVersion());
}

absl::Status CheckCudnnGraph(const CudnnWork& work) {
  HILO_RETURN_IF_ERROR(Library().status());
  return work.make(nullptr).status();
}

absl::StatusOr<std::vector<LibraryAlgorithm>> CudnnAlgorithms(const CudnnWork& work, int most) {
  std::lock_guard<std::mutex> lock(DevicesMutex());
  HILO_ASSIGN_OR_RETURN(DeviceState * state, StateOfDevice());
  HILO_ASSIGN_OR_RETURN(std::vector<Plan> plans, RankedPlans(state->handle, work, work.max_workspace_bytes, most));
  std::vector<LibraryAlgorithm> algorithms;
  for (Plan& plan : plans) {
    algorithms.push_back(plan.algorithm);
    state->plans.try_emplace(absl::StrCat(work.text, " by ", plan.algorithm.code), std::move(plan));
  }
  return algorithms;
}

absl::Status RunCudnn(void* stream, const CudnnWork& work, const std::vector<int64_t>& numbers,
                      const std::vector<void*>& addresses, const LibraryWorkspace& workspace,
                      const LibraryAlgorithm& algorithm) {
  std::lock_guard<std::mutex> lock(DevicesMutex());
  HILO_ASSIGN_OR_RETURN(DeviceState * state, StateOfDevice());
  HILO_ASSIGN_OR_RETURN(const Plan* plan, PlanOf(*state, work, algorithm, workspace.bytes));
  if (plan->algorithm.workspace_bytes > workspace.bytes) {
    return InvalidArgument(work.text, ": expected a workspace of ", plan->algorithm.workspace_bytes, " bytes, got ",
                           workspace.bytes);
  }
  CudnnDescriptor pack(kVariantPack);
  pack.SetInts(kVariantPackIds, numbers);
  pack.Set(kVariantPackPointers, kTypeVoidPtr, static_cast<int64_t>(addresses.size()), addresses.data());
  pack.Set(kVariantPackWorkspace, kTypeVoidPtr, 1, &workspace.memory);
  HILO_RETURN_IF_ERROR(pack.Finalize());
  HILO_RETURN_IF_ERROR(StatusOf(Library()->cudnnSetStream(state->handle, stream), "cudnnSetStream"));
  return StatusOf(Library()->cudnnBackendExecute(state->handle, plan->plan->handle(), pack.handle()),
                  "cudnnBackendExecute");
}

absl::StatusOr<std::string> CudnnDeviceJson(int device) {
  CudnnDescriptor properties(kDeviceProperties);
  const auto number = static_cast<int32_t>(device);
  properties.Set(kDevicePropertiesDevice, kTypeInt32, 1, &number);
  HILO_RETURN_IF_ERROR(properties.Finalize());
  return properties.Text(kDevicePropertiesJson);
}

}  // namespace hilo::gpu
