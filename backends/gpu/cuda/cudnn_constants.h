// cuDNN's constants as numbers, because its headers are in another package than the runtime's; where they are
// installed, cudnn_check.cc compares them.
#ifndef HILO_BACKENDS_GPU_CUDA_CUDNN_CONSTANTS_H_
#define HILO_BACKENDS_GPU_CUDA_CUDNN_CONSTANTS_H_

namespace hilo::gpu::cudnn {

// Types of attribute values.
inline constexpr int kTypeHandle = 0, kTypeDataType = 1, kTypeBoolean = 2, kTypeInt64 = 3, kTypeFloat = 4,
                     kTypeDouble = 5, kTypeVoidPtr = 6, kTypeConvolutionMode = 7, kTypeHeurMode = 8, kTypeKnobType = 9,
                     kTypeNumericalNote = 11, kTypePointwiseMode = 14, kTypeDescriptor = 15, kTypeInt32 = 23,
                     kTypeChar = 24;

inline constexpr int kDataFloat = 0, kDataDouble = 1, kDataHalf = 2, kDataBfloat16 = 9;

// Types of descriptors.
inline constexpr int kPointwise = 0, kConvolution = 1, kEngine = 2, kEngineConfig = 3, kEngineHeuristic = 4,
                     kExecutionPlan = 5, kKnobChoice = 7, kOperationForward = 10, kOperationBackwardFilter = 11,
                     kOperationBackwardData = 12, kOperationPointwise = 13, kOperationGraph = 15, kVariantPack = 16,
                     kTensor = 17, kDeviceProperties = 38;

// Attributes.
inline constexpr int kPointwiseMode = 0, kPointwiseMathPrecision = 1, kPointwiseReluUpperClip = 4;
inline constexpr int kConvolutionComputeType = 100, kConvolutionMode = 101, kConvolutionDilations = 102,
                     kConvolutionStrides = 103, kConvolutionPostPaddings = 104, kConvolutionPrePaddings = 105,
                     kConvolutionSpatialDims = 106;
inline constexpr int kHeuristicMode = 200, kHeuristicGraph = 201, kHeuristicResults = 202;
inline constexpr int kEngineConfigEngine = 300, kEngineConfigKnobs = 302;
inline constexpr int kPlanHandle = 400, kPlanEngineConfig = 401, kPlanWorkspaceSize = 402;
inline constexpr int kKnobChoiceType = 600, kKnobChoiceValue = 601;
// For a convolution: alpha, followed by beta, the descriptor, w, x and y.
inline constexpr int kForwardAlpha = 700, kBackwardDataAlpha = 706, kBackwardFilterAlpha = 712;
inline constexpr int kOperationPointwiseDescriptor = 750, kOperationPointwiseX = 751, kOperationPointwiseB = 752,
                     kOperationPointwiseY = 753;
inline constexpr int kGraphHandle = 800, kGraphOperations = 801;
inline constexpr int kTensorByteAlignment = 900, kTensorDataType = 901, kTensorDimensions = 902, kTensorStrides = 903,
                     kTensorUniqueId = 906, kTensorIsVirtual = 907, kTensorIsByValue = 908;
inline constexpr int kVariantPackIds = 1000, kVariantPackPointers = 1001, kVariantPackWorkspace = 1003;
inline constexpr int kEngineGraph = 1300, kEngineGlobalIndex = 1301, kEngineNumericalNotes = 1303;
inline constexpr int kDevicePropertiesDevice = 2700, kDevicePropertiesJson = 2702;

inline constexpr int kModeConvolution = 0, kModeCrossCorrelation = 1;
inline constexpr int kHeuristicFallback = 2, kHeuristicA = 3;
inline constexpr int kNoteTensorCore = 0, kNoteDownConvertInputs = 1, kNoteReducedPrecision = 2,
                     kNoteNondeterministic = 4, kNoteWinograd = 5;
inline constexpr int kPointwiseAdd = 0, kPointwiseReluForward = 100;
inline constexpr int kNotSupportedFrom = 3000, kNotSupportedTo = 3999;

}  // namespace hilo::gpu::cudnn

#endif  // HILO_BACKENDS_GPU_CUDA_CUDNN_CONSTANTS_H_
