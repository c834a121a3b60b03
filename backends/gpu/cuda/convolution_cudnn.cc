// The graph of a convolution: the operation itself, whose result is a virtual tensor if more follows, and one pointwise
// operation each for residual, bias and activation.
#include "backends/gpu/cuda/cudnn_constants.h"
#include "backends/gpu/cuda/cudnn_graph.h"
#include "backends/gpu/lib/convolution.h"
#include "backends/gpu/lib/cuda_libraries.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

// Numbers of tensors.
enum : int64_t { kX = 1, kW, kY, kResidual, kBias, kFirstVirtual };

int CudnnType(PrimitiveType type) {
  switch (type) {
    case F16: return cudnn::kDataHalf;
    case BF16: return cudnn::kDataBfloat16;
    case F64: return cudnn::kDataDouble;
    default: return cudnn::kDataFloat;
  }
}

std::vector<int64_t> Dimensions(int64_t images, int64_t features, const std::vector<int64_t>& spatial) {
  std::vector<int64_t> dimensions = {images, features};
  dimensions.insert(dimensions.end(), spatial.begin(), spatial.end());
  return dimensions;
}

// Strides of an array in memory, whose dimensions are in this order except that features may be last.
std::vector<int64_t> Strides(const std::vector<int64_t>& dimensions, bool features_last) {
  std::vector<int64_t> strides(dimensions.size());
  int64_t stride = features_last ? dimensions[1] : 1;
  for (size_t d = dimensions.size(); d-- > 2;) {
    strides[d] = stride;
    stride *= dimensions[d];
  }
  strides[1] = features_last ? 1 : stride;
  strides[0] = features_last ? stride : stride * dimensions[1];
  return strides;
}

class Maker {
 public:
  explicit Maker(const ConvolutionDescriptor& convolution)
      : c_(convolution),
        x_(Dimensions(c_.images, c_.in_features, c_.in)),
        w_(Dimensions(c_.out_features, c_.groups < 1 ? 0 : c_.in_features / c_.groups, c_.taps)),
        y_(Dimensions(c_.images, c_.out_features, c_.out)),
        compute_(c_.type == F64 ? cudnn::kDataDouble : cudnn::kDataFloat) {}

  absl::StatusOr<CudnnGraph> Make(void* handle) {
    const bool more = c_.HasEpilogue();
    const auto type = [&](ConvolutionKind computed) {
      return CudnnType(c_.kind == computed ? c_.result_type : c_.type);
    };
    HILO_ASSIGN_OR_RETURN(void* x, Tensor(kX, type(ConvolutionKind::kBackwardInput), x_));
    HILO_ASSIGN_OR_RETURN(void* w, Tensor(kW, type(ConvolutionKind::kBackwardFilter), w_));
    HILO_ASSIGN_OR_RETURN(void* y, more ? Virtual() : Tensor(kY, type(ConvolutionKind::kForward), y_));
    HILO_RETURN_IF_ERROR(Convolve(x, w, y));
    int rest = c_.has_residual + c_.has_bias + (c_.activation != ConvolutionActivation::kNone);
    const auto follow = [&](int mode, void* operand, double clip = -1) -> absl::Status {
      HILO_ASSIGN_OR_RETURN(void* next, --rest == 0 ? Tensor(kY, CudnnType(c_.result_type), y_) : Virtual());
      HILO_RETURN_IF_ERROR(graph_.AddPointwise(mode, y, operand, next, clip));
      y = next;
      return absl::OkStatus();
    };
    if (c_.has_residual) {
      HILO_ASSIGN_OR_RETURN(void* residual, Tensor(kResidual, CudnnType(c_.type), y_));
      HILO_RETURN_IF_ERROR(follow(cudnn::kPointwiseAdd, residual));
    }
    if (c_.has_bias) {
      HILO_ASSIGN_OR_RETURN(void* bias, Tensor(kBias, CudnnType(c_.type),
                                               Dimensions(1, c_.out_features, std::vector<int64_t>(c_.out.size(), 1))));
      HILO_RETURN_IF_ERROR(follow(cudnn::kPointwiseAdd, bias));
    }
    if (c_.activation == ConvolutionActivation::kRelu)
      HILO_RETURN_IF_ERROR(follow(cudnn::kPointwiseReluForward, nullptr));
    if (c_.activation == ConvolutionActivation::kRelu6)
      HILO_RETURN_IF_ERROR(follow(cudnn::kPointwiseReluForward, nullptr, 6));
    HILO_RETURN_IF_ERROR(graph_.Finish(handle));
    return std::move(graph_);
  }

 private:
  absl::StatusOr<void*> Tensor(int64_t number, int type, const std::vector<int64_t>& dimensions) {
    return graph_.AddTensor(number, type, dimensions, Strides(dimensions, c_.features_last));
  }
  absl::StatusOr<void*> Virtual() {
    return graph_.AddTensor(next_virtual_++, compute_, y_, Strides(y_, c_.features_last), /*is_virtual=*/true);
  }

  absl::Status Convolve(void* x, void* w, void* y) {
    CudnnDescriptor window(cudnn::kConvolution);
    window.SetEnum(cudnn::kConvolutionComputeType, cudnn::kTypeDataType, compute_);
    window.SetEnum(cudnn::kConvolutionMode, cudnn::kTypeConvolutionMode,
                   c_.is_reversed ? cudnn::kModeConvolution : cudnn::kModeCrossCorrelation);
    window.SetInt(cudnn::kConvolutionSpatialDims, static_cast<int64_t>(c_.in.size()));
    window.SetInts(cudnn::kConvolutionDilations, c_.dilations);
    window.SetInts(cudnn::kConvolutionStrides, c_.strides);
    window.SetInts(cudnn::kConvolutionPrePaddings, c_.padding_low);
    window.SetInts(cudnn::kConvolutionPostPaddings, c_.padding_high);
    HILO_ASSIGN_OR_RETURN(void* descriptor, graph_.Add(std::move(window)));

    struct Operation {
      int descriptor, alpha;
    };
    constexpr Operation kOperations[] = {{cudnn::kOperationForward, cudnn::kForwardAlpha},
                                         {cudnn::kOperationBackwardData, cudnn::kBackwardDataAlpha},
                                         {cudnn::kOperationBackwardFilter, cudnn::kBackwardFilterAlpha}};
    const Operation& kind = kOperations[static_cast<int>(c_.kind)];
    CudnnDescriptor operation(kind.descriptor);
    const double one = 1, zero = 0;
    operation.Set(kind.alpha, cudnn::kTypeDouble, 1, &one);
    operation.Set(kind.alpha + 1, cudnn::kTypeDouble, 1, &zero);
    operation.Refer(kind.alpha + 2, {&descriptor, 1});
    operation.Refer(kind.alpha + 3, {&w, 1});
    operation.Refer(kind.alpha + 4, {&x, 1});
    operation.Refer(kind.alpha + 5, {&y, 1});
    return graph_.AddOperation(std::move(operation));
  }

  const ConvolutionDescriptor& c_;
  const std::vector<int64_t> x_, w_, y_;  // dimensions
  const int compute_;
  CudnnGraph graph_;
  int64_t next_virtual_ = kFirstVirtual;
};

CudnnWork WorkOf(const ConvolutionDescriptor& convolution) {
  return {.text = convolution.ToString(),
          .make = [convolution](void* handle) { return Maker(convolution).Make(handle); },
          .max_workspace_bytes = kConvolutionWorkspaceBytes,
          .allow_tf32 = convolution.type != F32 || convolution.allow_tf32};
}

}  // namespace

absl::Status ConvolveByCudnn(void* stream, const ConvolutionDescriptor& convolution,
                             const ConvolutionOperands& operands, const LibraryWorkspace& workspace,
                             const LibraryAlgorithm& algorithm) {
  std::vector<int64_t> numbers = {kX, kW, kY};
  void *lhs = const_cast<void*>(operands.lhs), *rhs = const_cast<void*>(operands.rhs);
  std::vector<void*> addresses = {lhs, rhs, operands.result};
  if (convolution.kind == ConvolutionKind::kBackwardInput) addresses = {operands.result, rhs, lhs};
  if (convolution.kind == ConvolutionKind::kBackwardFilter) addresses = {lhs, operands.result, rhs};
  const auto add = [&](int64_t number, const void* address) {
    numbers.push_back(number);
    addresses.push_back(const_cast<void*>(address));
  };
  if (convolution.has_residual) add(kResidual, operands.residual);
  if (convolution.has_bias) add(kBias, operands.bias);
  return RunCudnn(stream, WorkOf(convolution), numbers, addresses, workspace, algorithm);
}

absl::StatusOr<std::vector<LibraryAlgorithm>> CudnnConvolutionAlgorithms(const ConvolutionDescriptor& convolution,
                                                                         int most) {
  return CudnnAlgorithms(WorkOf(convolution), most);
}

absl::Status CheckCudnnConvolution(const ConvolutionDescriptor& convolution) {
  return CheckCudnnGraph(WorkOf(convolution));
}

}  // namespace hilo::gpu
