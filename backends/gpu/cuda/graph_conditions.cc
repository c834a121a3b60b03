// A condition is a number that belongs to a node; a kernel of one thread sets it from memory, once before the node and,
// for loops, once more at the end of each iteration. Branches are one node each, with mutually exclusive conditions:
// drivers support nodes that select among several bodies only since later versions.
#include "backends/gpu/cuda/graph_conditions.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/gpu/cuda/cuda_status.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

constexpr int kDriverWithConditions = 12040;
constexpr char kKernel[] = "hilo_set_condition";

}  // namespace

absl::string_view ConditionPtx() {
  return R"(.version 8.3
.target sm_75
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry hilo_set_condition(.param .u64 address_, .param .u32 kind_, .param .s32 branch_, .param .s32 last_, .param .u64 end_, .param .u64 handle_)
{
  .reg .pred %p<8>;
  .reg .b32 %r<10>;
  .reg .b64 %a<4>;
  ld.param.u64 %a1, [address_];
  ld.param.u32 %r1, [kind_];
  ld.param.s32 %r2, [branch_];
  ld.param.s32 %r3, [last_];
  ld.param.u64 %a2, [end_];
  ld.param.u64 %a3, [handle_];
  setp.eq.u32 %p1, %r1, 2;
  @%p1 bra NUMBER;
  ld.u8 %r4, [%a1];
  setp.ne.u32 %p2, %r4, 0;
  selp.u32 %r5, 1, 0, %p2;
  setp.eq.u32 %p3, %r1, 0;
  @%p3 bra BYTE;
  xor.b32 %r4, %r5, 1;
  setp.eq.s32 %p4, %r4, %r2;
  selp.u32 %r5, 1, 0, %p4;
  bra SET;
BYTE:
  setp.eq.u64 %p5, %a2, 0;
  @%p5 bra SET;
  ld.volatile.u32 %r6, [%a2];
  setp.ne.u32 %p6, %r6, 0;
  selp.u32 %r5, 0, %r5, %p6;
  bra SET;
NUMBER:
  ld.u32 %r4, [%a1];
  setp.gt.u32 %p7, %r4, %r3;
  selp.u32 %r4, %r3, %r4, %p7;
  setp.eq.s32 %p4, %r4, %r2;
  selp.u32 %r5, 1, 0, %p4;
SET:
  {
    .param .b64 handle;
    .param .b32 value;
    st.param.b64 [handle], %a3;
    st.param.b32 [value], %r5;
    call.uni cudaGraphSetConditional, (handle, value);
  }
  ret;
}
)";
}

absl::StatusOr<GraphConditions> GraphConditions::Load(int device) {
  int driver = 0;
  HILO_CUDA_RETURN_IF_ERROR(cudaDriverGetVersion(&driver));
  if (driver < kDriverWithConditions)
    return Unimplemented("conditions in graphs: the driver supports CUDA ", driver / 1000, ".", driver % 1000 / 10,
                         " and not 12.4");
  HILO_CUDA_RETURN_IF_ERROR(cudaSetDevice(device));
  std::string log(4096, '\0');
  cudaJitOption options[] = {cudaJitErrorLogBuffer, cudaJitErrorLogBufferSizeBytes};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  const std::string ptx(ConditionPtx());  // zero-terminated
  cudaLibrary_t library = nullptr;
  GraphConditions conditions;
  cudaError_t error = cudaLibraryLoadData(&library, ptx.c_str(), options, values, 2, nullptr, nullptr, 0);
  if (error == cudaSuccess) error = cudaLibraryGetKernel(&conditions.kernel_, library, kKernel);
  // Loads its code now: its first launch is in a capture, where loading is not allowed.
  cudaFuncAttributes attributes;
  if (error == cudaSuccess)
    error = cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(conditions.kernel_));
  if (error == cudaSuccess) return conditions;
  cudaGetLastError();  // not a fault of the device
  return Unimplemented("conditions in graphs: ", cudaGetErrorString(error), " (", log.c_str(), ")");
}

absl::Status GraphConditions::Set(cudaStream_t stream, const ConditionSource& source,
                                  cudaGraphConditionalHandle handle) const {
  uint64_t address = reinterpret_cast<uint64_t>(source.address), end = reinterpret_cast<uint64_t>(source.end),
           node = handle;
  uint32_t kind = static_cast<uint32_t>(source.kind);
  int32_t branch = source.branch, last = source.last;
  void* arguments[] = {&address, &kind, &branch, &last, &end, &node};
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = {1, 1, 1};
  config.stream = stream;
  return CudaStatus(cudaLaunchKernelExC(&config, kernel_, arguments), "launch of the condition's kernel");
}

#if CUDART_VERSION >= 13000

namespace {

// A stream for a node's body. A thread may create one in a capture if it relaxes its capture mode.
class BodyStream {
 public:
  BodyStream() = default;
  BodyStream(const BodyStream&) = delete;
  BodyStream& operator=(const BodyStream&) = delete;
  ~BodyStream() {
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }
  absl::Status Create() {
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    HILO_CUDA_RETURN_IF_ERROR(cudaThreadExchangeStreamCaptureMode(&mode));
    const cudaError_t error = cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
    HILO_CUDA_RETURN_IF_ERROR(cudaThreadExchangeStreamCaptureMode(&mode));
    return CudaStatus(error, "cudaStreamCreateWithFlags");
  }
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace

absl::Status GraphConditions::Capture(cudaStream_t stream, absl::Span<const ConditionSource> sources, bool repeats,
                                      const std::function<absl::Status(size_t, cudaStream_t)>& body) const {
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
  cudaGraph_t graph = nullptr;
  HILO_CUDA_RETURN_IF_ERROR(cudaStreamGetCaptureInfo(stream, &capturing, nullptr, &graph, nullptr, nullptr, nullptr));
  if (capturing != cudaStreamCaptureStatusActive)
    return FailedPrecondition("control flow is for streams that are being captured");
  std::vector<cudaGraphConditionalHandle> handles(sources.size());
  for (size_t i = 0; i < sources.size(); ++i) {
    HILO_CUDA_RETURN_IF_ERROR(cudaGraphConditionalHandleCreate(&handles[i], graph, 0, cudaGraphCondAssignDefault));
    HILO_RETURN_IF_ERROR(Set(stream, sources[i], handles[i]));
  }
  for (size_t i = 0; i < sources.size(); ++i) {
    const cudaGraphNode_t* before = nullptr;
    size_t count = 0;
    HILO_CUDA_RETURN_IF_ERROR(cudaStreamGetCaptureInfo(stream, &capturing, nullptr, &graph, &before, nullptr, &count));
    cudaGraphNodeParams parameters{};
    parameters.type = cudaGraphNodeTypeConditional;
    parameters.conditional.handle = handles[i];
    parameters.conditional.type = repeats ? cudaGraphCondTypeWhile : cudaGraphCondTypeIf;
    parameters.conditional.size = 1;
    cudaGraphNode_t node = nullptr;
    HILO_CUDA_RETURN_IF_ERROR(cudaGraphAddNode(&node, graph, before, nullptr, count, &parameters));
    BodyStream inner;
    HILO_RETURN_IF_ERROR(inner.Create());
    HILO_CUDA_RETURN_IF_ERROR(cudaStreamBeginCaptureToGraph(inner.get(), parameters.conditional.phGraph_out[0], nullptr,
                                                            nullptr, 0, cudaStreamCaptureModeThreadLocal));
    absl::Status status = body(i, inner.get());
    if (status.ok() && repeats) status = Set(inner.get(), sources[i], handles[i]);
    cudaGraph_t captured = nullptr;
    const cudaError_t ended = cudaStreamEndCapture(inner.get(), &captured);
    HILO_RETURN_IF_ERROR(status);
    HILO_RETURN_IF_ERROR(CudaStatus(ended, "cudaStreamEndCapture of a body"));
    HILO_CUDA_RETURN_IF_ERROR(
        cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1, cudaStreamSetCaptureDependencies));
  }
  return absl::OkStatus();
}

#else

absl::Status GraphConditions::Capture(cudaStream_t, absl::Span<const ConditionSource>, bool,
                                      const std::function<absl::Status(size_t, cudaStream_t)>&) const {
  return Unimplemented("conditions in graphs: this library was built with CUDA ", CUDART_VERSION / 1000, " and not 13");
}

#endif

}  // namespace hilo::gpu
