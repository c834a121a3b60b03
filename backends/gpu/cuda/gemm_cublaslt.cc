// cuBLASLt's constants as numbers, because its header is in another package than the runtime's; where it is installed,
// the compiler compares them.
#include <cuda_runtime_api.h>
#include <library_types.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "backends/gpu/cuda/cuda_status.h"
#include "backends/gpu/driver/cuda_library.h"
#include "backends/gpu/lib/cuda_libraries.h"
#include "backends/gpu/lib/gemm.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#endif

namespace hilo::gpu {
namespace {

constexpr int kCompute32F = 68, kCompute64F = 70, kCompute32I = 72, kCompute32FFastTf32 = 77;
constexpr int kTransposeA = 3, kTransposeB = 4, kEpilogue = 7, kBiasPointer = 8, kBiasType = 26;
constexpr int kBatchCount = 5, kBatchStride = 6, kMaxWorkspace = 1;
constexpr int kMinAlignmentA = 5, kMinAlignmentB = 6, kMinAlignmentC = 7, kMinAlignmentD = 8;
constexpr int kTranspose = 1, kEpilogueNone = 1, kEpilogueRelu = 2, kEpilogueBias = 4, kEpilogueGelu = 32;
constexpr int kLtNotSupported = 15;

struct HeuristicResult {
  uint64_t algorithm[8];
  size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};

#if __has_include(<cublasLt.h>)
static_assert(kCompute32F == CUBLAS_COMPUTE_32F && kCompute64F == CUBLAS_COMPUTE_64F &&
              kCompute32I == CUBLAS_COMPUTE_32I && kCompute32FFastTf32 == CUBLAS_COMPUTE_32F_FAST_TF32);
static_assert(kTransposeA == CUBLASLT_MATMUL_DESC_TRANSA && kTransposeB == CUBLASLT_MATMUL_DESC_TRANSB &&
              kEpilogue == CUBLASLT_MATMUL_DESC_EPILOGUE && kBiasPointer == CUBLASLT_MATMUL_DESC_BIAS_POINTER &&
              kBiasType == CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE);
static_assert(kBatchCount == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT &&
              kBatchStride == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET &&
              kMaxWorkspace == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
static_assert(kMinAlignmentA == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES &&
              kMinAlignmentB == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES &&
              kMinAlignmentC == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES &&
              kMinAlignmentD == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
static_assert(kTranspose == CUBLAS_OP_T && kEpilogueNone == CUBLASLT_EPILOGUE_DEFAULT &&
              kEpilogueRelu == CUBLASLT_EPILOGUE_RELU && kEpilogueBias == CUBLASLT_EPILOGUE_BIAS &&
              kEpilogueGelu == CUBLASLT_EPILOGUE_GELU && kLtNotSupported == CUBLAS_STATUS_NOT_SUPPORTED);
static_assert(sizeof(HeuristicResult) == sizeof(cublasLtMatmulHeuristicResult_t));
#endif

struct CublasLt {
#define HILO_CUDA_FN HILO_CUDA_FN_MEMBER
#include "backends/gpu/cuda/cublaslt.def"
#undef HILO_CUDA_FN
};

absl::StatusOr<CublasLt> LoadCublasLt() {
  HILO_ASSIGN_OR_RETURN(void* library, LoadCudaLibrary({"libcublasLt.so.13", "libcublasLt.so.12"}));
  CublasLt table;
#define HILO_CUDA_FN HILO_CUDA_FN_LOAD
#include "backends/gpu/cuda/cublaslt.def"
#undef HILO_CUDA_FN
  return table;
}

const absl::StatusOr<CublasLt>& LtLibrary() {
  static const auto* const library = new absl::StatusOr<CublasLt>(LoadCublasLt());
  return *library;
}

absl::Status LtStatus(int status, const GemmDescriptor& gemm, const char* what) {
  if (status == 0) return absl::OkStatus();
  const char* name = LtLibrary()->cublasLtGetStatusName(status);
  if (status == kLtNotSupported) return Unimplemented("gemm ", gemm.ToString(), ": ", what, ": ", name);
  return Internal("gemm ", gemm.ToString(), ": ", what, ": ", name);
}

#define HILO_LT_RETURN_IF_ERROR(call, ...) HILO_RETURN_IF_ERROR(LtStatus(LtLibrary()->call(__VA_ARGS__), gemm, #call))

int DataType(PrimitiveType type) {
  switch (type) {
    case F8E4M3FN: return CUDA_R_8F_E4M3;
    case F8E5M2: return CUDA_R_8F_E5M2;
    case F16: return CUDA_R_16F;
    case BF16: return CUDA_R_16BF;
    case F64: return CUDA_R_64F;
    case C64: return CUDA_C_32F;
    case C128: return CUDA_C_64F;
    case S8: return CUDA_R_8I;
    case S32: return CUDA_R_32I;
    default: return CUDA_R_32F;
  }
}

// The types in which sums and factors are computed.
std::pair<int, int> ComputeTypes(const GemmDescriptor& gemm) {
  if (gemm.a_type == F64) return {kCompute64F, CUDA_R_64F};
  if (gemm.a_type == C128) return {kCompute64F, CUDA_C_64F};
  if (gemm.a_type == S8) return {kCompute32I, CUDA_R_32I};
  const int single = gemm.allow_tf32 ? kCompute32FFastTf32 : kCompute32F;
  return {single, gemm.a_type == C64 ? CUDA_C_32F : CUDA_R_32F};
}

// alpha or beta in the library's format; the imaginary part of a complex one stays 0.
struct Scale {
  alignas(16) unsigned char bytes[16] = {};

  Scale(double value, int type) {
    const auto store = [&](auto first) { std::memcpy(bytes, &first, sizeof(first)); };
    if (type == CUDA_R_64F || type == CUDA_C_64F) {
      store(value);
    } else if (type == CUDA_R_32I) {
      store(static_cast<int32_t>(value));
    } else {
      store(static_cast<float>(value));
    }
  }
};

// The library's view of one product.
class Descriptors {
 public:
  Descriptors() = default;
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;
  ~Descriptors() {
    if (operation != nullptr) LtLibrary()->cublasLtMatmulDescDestroy(operation);
    for (void* layout : {a, b, d}) {
      if (layout != nullptr) LtLibrary()->cublasLtMatrixLayoutDestroy(layout);
    }
  }

  absl::Status Make(const GemmDescriptor& gemm, const void* bias) {
    const auto [compute, scale] = ComputeTypes(gemm);
    HILO_LT_RETURN_IF_ERROR(cublasLtMatmulDescCreate, &operation, compute, scale);
    const int32_t transpose = kTranspose;
    if (gemm.transpose_a)
      HILO_LT_RETURN_IF_ERROR(cublasLtMatmulDescSetAttribute, operation, kTransposeA, &transpose, sizeof(transpose));
    if (gemm.transpose_b)
      HILO_LT_RETURN_IF_ERROR(cublasLtMatmulDescSetAttribute, operation, kTransposeB, &transpose, sizeof(transpose));
    uint32_t epilogue = gemm.activation == GemmActivation::kRelu   ? kEpilogueRelu
                        : gemm.activation == GemmActivation::kGelu ? kEpilogueGelu
                                                                   : 0;
    if (gemm.has_bias) epilogue |= kEpilogueBias;
    if (epilogue == 0) epilogue = kEpilogueNone;
    HILO_LT_RETURN_IF_ERROR(cublasLtMatmulDescSetAttribute, operation, kEpilogue, &epilogue, sizeof(epilogue));
    if (gemm.has_bias) {
      const int32_t type = DataType(gemm.d_type);
      HILO_LT_RETURN_IF_ERROR(cublasLtMatmulDescSetAttribute, operation, kBiasPointer, &bias, sizeof(bias));
      HILO_LT_RETURN_IF_ERROR(cublasLtMatmulDescSetAttribute, operation, kBiasType, &type, sizeof(type));
    }
    HILO_RETURN_IF_ERROR(Layout(gemm, &a, gemm.a_type, gemm.transpose_a ? gemm.k : gemm.m,
                                gemm.transpose_a ? gemm.m : gemm.k, gemm.lda, gemm.stride_a));
    HILO_RETURN_IF_ERROR(Layout(gemm, &b, gemm.b_type, gemm.transpose_b ? gemm.n : gemm.k,
                                gemm.transpose_b ? gemm.k : gemm.n, gemm.ldb, gemm.stride_b));
    return Layout(gemm, &d, gemm.d_type, gemm.m, gemm.n, gemm.ldd, gemm.stride_d);
  }

  void* operation = nullptr;
  void* a = nullptr;
  void* b = nullptr;
  void* d = nullptr;

 private:
  static absl::Status Layout(const GemmDescriptor& gemm, void** layout, PrimitiveType type, int64_t rows,
                             int64_t columns, int64_t leading, int64_t stride) {
    HILO_LT_RETURN_IF_ERROR(cublasLtMatrixLayoutCreate, layout, DataType(type), static_cast<uint64_t>(rows),
                            static_cast<uint64_t>(columns), leading);
    if (gemm.batch == 1) return absl::OkStatus();
    const auto batch = static_cast<int32_t>(gemm.batch);
    HILO_LT_RETURN_IF_ERROR(cublasLtMatrixLayoutSetAttribute, *layout, kBatchCount, &batch, sizeof(batch));
    HILO_LT_RETURN_IF_ERROR(cublasLtMatrixLayoutSetAttribute, *layout, kBatchStride, &stride, sizeof(stride));
    return absl::OkStatus();
  }
};

// Handles and chosen algorithms of a device, for the life of the process.
struct LtState {
  void* handle = nullptr;
  absl::flat_hash_map<std::string, HeuristicResult> chosen;
};

// The library's choices, best first.
absl::StatusOr<std::vector<HeuristicResult>> Choices(void* handle, const GemmDescriptor& gemm,
                                                     const Descriptors& descriptors, int64_t workspace_bytes,
                                                     int most) {
  void* preference = nullptr;
  HILO_LT_RETURN_IF_ERROR(cublasLtMatmulPreferenceCreate, &preference);
  const auto bytes = static_cast<uint64_t>(workspace_bytes);
  std::vector<HeuristicResult> results(most);
  int found = 0;
  int status = LtLibrary()->cublasLtMatmulPreferenceSetAttribute(preference, kMaxWorkspace, &bytes, sizeof(bytes));
  for (const auto& [attribute, alignment] :
       {std::pair(kMinAlignmentA, gemm.alignment_a), std::pair(kMinAlignmentB, gemm.alignment_b),
        std::pair(kMinAlignmentC, gemm.alignment_d), std::pair(kMinAlignmentD, gemm.alignment_d)}) {
    const auto in_bytes = static_cast<uint32_t>(alignment);
    if (status == 0)
      status = LtLibrary()->cublasLtMatmulPreferenceSetAttribute(preference, attribute, &in_bytes, sizeof(in_bytes));
  }
  if (status == 0) {
    status = LtLibrary()->cublasLtMatmulAlgoGetHeuristic(handle, descriptors.operation, descriptors.a, descriptors.b,
                                                         descriptors.d, descriptors.d, preference, most, results.data(),
                                                         &found);
  }
  LtLibrary()->cublasLtMatmulPreferenceDestroy(preference);
  HILO_RETURN_IF_ERROR(LtStatus(status, gemm, "cublasLtMatmulAlgoGetHeuristic"));
  results.resize(found);
  std::erase_if(results, [](const HeuristicResult& result) { return result.state != 0; });
  if (results.empty()) return Unimplemented("gemm ", gemm.ToString(), ": cuBLASLt has no algorithm for it");
  return results;
}

std::mutex& LtMutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

// Returns the state of the current device. LtMutex() must be held.
absl::StatusOr<LtState*> StateOfDevice(const GemmDescriptor& gemm) {
  static auto* const devices = new absl::flat_hash_map<int, std::unique_ptr<LtState>>;
  int device = 0;
  HILO_CUDA_RETURN_IF_ERROR(cudaGetDevice(&device));
  std::unique_ptr<LtState>& state = (*devices)[device];
  if (state == nullptr) state = std::make_unique<LtState>();
  if (state->handle == nullptr) HILO_LT_RETURN_IF_ERROR(cublasLtCreate, &state->handle);
  return state.get();
}

std::string CodeOf(const HeuristicResult& result) {
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(result.algorithm), sizeof(result.algorithm)));
}

}  // namespace

absl::Status CheckCublasLtDescriptors(const GemmDescriptor& gemm) {
  HILO_RETURN_IF_ERROR(LtLibrary().status());
  Descriptors descriptors;
  return descriptors.Make(gemm, nullptr);
}

absl::StatusOr<std::string> CublasLtVersion() {
  HILO_RETURN_IF_ERROR(LtLibrary().status());
  return absl::StrCat("cublasLt ", LtLibrary()->cublasLtGetVersion());
}

absl::StatusOr<std::vector<LibraryAlgorithm>> CublasLtAlgorithms(const GemmDescriptor& gemm, int most) {
  HILO_RETURN_IF_ERROR(LtLibrary().status());
  Descriptors descriptors;
  HILO_RETURN_IF_ERROR(descriptors.Make(gemm, nullptr));
  std::lock_guard<std::mutex> lock(LtMutex());
  HILO_ASSIGN_OR_RETURN(LtState * state, StateOfDevice(gemm));
  HILO_ASSIGN_OR_RETURN(const std::vector<HeuristicResult> choices,
                        Choices(state->handle, gemm, descriptors, kGemmWorkspaceBytes, most));
  std::vector<LibraryAlgorithm> algorithms;
  for (const HeuristicResult& choice : choices)
    algorithms.push_back({CodeOf(choice), static_cast<int64_t>(choice.workspace_bytes)});
  return algorithms;
}

absl::Status GemmByCublasLt(void* stream, const GemmDescriptor& gemm, const GemmOperands& operands,
                            const LibraryWorkspace& workspace, const LibraryAlgorithm& algorithm) {
  HILO_RETURN_IF_ERROR(LtLibrary().status());
  if (gemm.batch > INT32_MAX) return Unimplemented("gemm ", gemm.ToString(), ": a batch of more than 2147483647");
  Descriptors descriptors;
  HILO_RETURN_IF_ERROR(descriptors.Make(gemm, operands.bias));
  void* handle;
  HeuristicResult chosen{};
  {
    std::lock_guard<std::mutex> lock(LtMutex());
    HILO_ASSIGN_OR_RETURN(LtState * state, StateOfDevice(gemm));
    handle = state->handle;
    if (!algorithm.code.empty()) {
      const std::string bytes = absl::HexStringToBytes(algorithm.code);
      if (bytes.size() != sizeof(chosen.algorithm))
        return InvalidArgument("gemm ", gemm.ToString(), ": the library has no algorithm ", algorithm.code);
      std::memcpy(chosen.algorithm, bytes.data(), bytes.size());
      chosen.workspace_bytes = static_cast<size_t>(algorithm.workspace_bytes);
    } else {
      const std::string key = absl::StrCat(gemm.ToString(), " workspace ", workspace.bytes);
      auto it = state->chosen.find(key);
      if (it == state->chosen.end()) {
        HILO_ASSIGN_OR_RETURN(const std::vector<HeuristicResult> choices,
                              Choices(handle, gemm, descriptors, workspace.bytes, 1));
        it = state->chosen.emplace(key, choices[0]).first;
      }
      chosen = it->second;
    }
  }
  const int scale_type = ComputeTypes(gemm).second;
  const Scale alpha(gemm.alpha, scale_type), beta(gemm.beta, scale_type);
  HILO_LT_RETURN_IF_ERROR(cublasLtMatmul, handle, descriptors.operation, alpha.bytes, operands.a, descriptors.a,
                          operands.b, descriptors.b, beta.bytes, gemm.beta == 0 ? operands.d : operands.c,
                          descriptors.d, operands.d, descriptors.d, chosen.algorithm, workspace.memory,
                          chosen.workspace_bytes, stream);
  return absl::OkStatus();
}

}  // namespace hilo::gpu
