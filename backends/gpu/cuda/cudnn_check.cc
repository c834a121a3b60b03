// Compares the constants of cudnn_constants.h with those of cuDNN's header, where it is installed.
#include "backends/gpu/cuda/cudnn_constants.h"

#if __has_include(<cudnn.h>)
#include <cudnn.h>

namespace hilo::gpu::cudnn {

static_assert(kTypeHandle == CUDNN_TYPE_HANDLE);
static_assert(kTypeDataType == CUDNN_TYPE_DATA_TYPE);
static_assert(kTypeBoolean == CUDNN_TYPE_BOOLEAN);
static_assert(kTypeInt64 == CUDNN_TYPE_INT64);
static_assert(kTypeFloat == CUDNN_TYPE_FLOAT);
static_assert(kTypeDouble == CUDNN_TYPE_DOUBLE);
static_assert(kTypeVoidPtr == CUDNN_TYPE_VOID_PTR);
static_assert(kTypeConvolutionMode == CUDNN_TYPE_CONVOLUTION_MODE);
static_assert(kTypeHeurMode == CUDNN_TYPE_HEUR_MODE);
static_assert(kTypeKnobType == CUDNN_TYPE_KNOB_TYPE);
static_assert(kTypeNumericalNote == CUDNN_TYPE_NUMERICAL_NOTE);
static_assert(kTypePointwiseMode == CUDNN_TYPE_POINTWISE_MODE);
static_assert(kTypeDescriptor == CUDNN_TYPE_BACKEND_DESCRIPTOR);
static_assert(kTypeChar == CUDNN_TYPE_CHAR);
static_assert(kTypeInt32 == CUDNN_TYPE_INT32);
static_assert(kDataFloat == CUDNN_DATA_FLOAT);
static_assert(kDataDouble == CUDNN_DATA_DOUBLE);
static_assert(kDataHalf == CUDNN_DATA_HALF);
static_assert(kDataBfloat16 == CUDNN_DATA_BFLOAT16);
static_assert(kPointwise == CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
static_assert(kConvolution == CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
static_assert(kEngine == CUDNN_BACKEND_ENGINE_DESCRIPTOR);
static_assert(kEngineConfig == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
static_assert(kEngineHeuristic == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
static_assert(kExecutionPlan == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
static_assert(kKnobChoice == CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
static_assert(kOperationForward == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
static_assert(kOperationBackwardFilter == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR);
static_assert(kOperationBackwardData == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR);
static_assert(kOperationPointwise == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
static_assert(kOperationGraph == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
static_assert(kVariantPack == CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
static_assert(kTensor == CUDNN_BACKEND_TENSOR_DESCRIPTOR);
static_assert(kDeviceProperties == CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
static_assert(kPointwiseMode == CUDNN_ATTR_POINTWISE_MODE);
static_assert(kPointwiseMathPrecision == CUDNN_ATTR_POINTWISE_MATH_PREC);
static_assert(kPointwiseReluUpperClip == CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP);
static_assert(kConvolutionComputeType == CUDNN_ATTR_CONVOLUTION_COMP_TYPE);
static_assert(kConvolutionMode == CUDNN_ATTR_CONVOLUTION_CONV_MODE);
static_assert(kConvolutionDilations == CUDNN_ATTR_CONVOLUTION_DILATIONS);
static_assert(kConvolutionStrides == CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
static_assert(kConvolutionPostPaddings == CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
static_assert(kConvolutionPrePaddings == CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
static_assert(kConvolutionSpatialDims == CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS);
static_assert(kHeuristicMode == CUDNN_ATTR_ENGINEHEUR_MODE);
static_assert(kHeuristicGraph == CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
static_assert(kHeuristicResults == CUDNN_ATTR_ENGINEHEUR_RESULTS);
static_assert(kEngineConfigEngine == CUDNN_ATTR_ENGINECFG_ENGINE);
static_assert(kEngineConfigKnobs == CUDNN_ATTR_ENGINECFG_KNOB_CHOICES);
static_assert(kPlanHandle == CUDNN_ATTR_EXECUTION_PLAN_HANDLE);
static_assert(kPlanEngineConfig == CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
static_assert(kPlanWorkspaceSize == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
static_assert(kKnobChoiceType == CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE);
static_assert(kKnobChoiceValue == CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE);
static_assert(kForwardAlpha == CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA);
static_assert(kForwardAlpha + 3 == CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W);
static_assert(kForwardAlpha + 5 == CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y);
static_assert(kBackwardDataAlpha == CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA);
static_assert(kBackwardDataAlpha + 3 == CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W);
static_assert(kBackwardDataAlpha + 4 == CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX);
static_assert(kBackwardDataAlpha + 5 == CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY);
static_assert(kBackwardFilterAlpha == CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA);
static_assert(kBackwardFilterAlpha + 3 == CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW);
static_assert(kBackwardFilterAlpha + 4 == CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X);
static_assert(kBackwardFilterAlpha + 5 == CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY);
static_assert(kOperationPointwiseDescriptor == CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
static_assert(kOperationPointwiseX == CUDNN_ATTR_OPERATION_POINTWISE_XDESC);
static_assert(kOperationPointwiseB == CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
static_assert(kOperationPointwiseY == CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
static_assert(kGraphHandle == CUDNN_ATTR_OPERATIONGRAPH_HANDLE);
static_assert(kGraphOperations == CUDNN_ATTR_OPERATIONGRAPH_OPS);
static_assert(kTensorByteAlignment == CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
static_assert(kTensorDataType == CUDNN_ATTR_TENSOR_DATA_TYPE);
static_assert(kTensorDimensions == CUDNN_ATTR_TENSOR_DIMENSIONS);
static_assert(kTensorStrides == CUDNN_ATTR_TENSOR_STRIDES);
static_assert(kTensorUniqueId == CUDNN_ATTR_TENSOR_UNIQUE_ID);
static_assert(kTensorIsVirtual == CUDNN_ATTR_TENSOR_IS_VIRTUAL);
static_assert(kTensorIsByValue == CUDNN_ATTR_TENSOR_IS_BY_VALUE);
static_assert(kVariantPackIds == CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
static_assert(kVariantPackPointers == CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
static_assert(kVariantPackWorkspace == CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
static_assert(kEngineGraph == CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
static_assert(kEngineGlobalIndex == CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
static_assert(kEngineNumericalNotes == CUDNN_ATTR_ENGINE_NUMERICAL_NOTE);
static_assert(kDevicePropertiesDevice == CUDNN_ATTR_DEVICEPROP_DEVICE_ID);
static_assert(kDevicePropertiesJson == CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION);
static_assert(kModeConvolution == CUDNN_CONVOLUTION);
static_assert(kModeCrossCorrelation == CUDNN_CROSS_CORRELATION);
static_assert(kHeuristicFallback == CUDNN_HEUR_MODE_FALLBACK);
static_assert(kHeuristicA == CUDNN_HEUR_MODE_A);
static_assert(kNoteTensorCore == CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
static_assert(kNoteDownConvertInputs == CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS);
static_assert(kNoteReducedPrecision == CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION);
static_assert(kNoteNondeterministic == CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
static_assert(kNoteWinograd == CUDNN_NUMERICAL_NOTE_WINOGRAD);
static_assert(kPointwiseAdd == CUDNN_POINTWISE_ADD);
static_assert(kPointwiseReluForward == CUDNN_POINTWISE_RELU_FWD);
static_assert(kNotSupportedFrom == CUDNN_STATUS_NOT_SUPPORTED);

}  // namespace hilo::gpu::cudnn
#endif
