#include "backends/gpu/lib/gemm.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstring>
#include <optional>
#include <thread>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/gpu/lib/cuda_libraries.h"
#include "base/errors.h"
#include "base/math.h"
#include "hilo/primitive_type.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

bool IsF8(PrimitiveType type) { return type == F8E4M3FN || type == F8E5M2; }

// Returns true if cuBLASLt multiplies these types.
bool TypesGoTogether(const GemmDescriptor& gemm) {
  const PrimitiveType a = gemm.a_type, b = gemm.b_type, d = gemm.d_type;
  if (IsF8(a) && IsF8(b)) return (a != F8E5M2 || b != F8E5M2) && (d == BF16 || d == F16 || d == F32);
  if (a != b) return false;
  if (a == F16 || a == BF16) return d == a || d == F32;
  if (a == S8) return d == S32;
  return (a == F32 || a == F64 || a == C64 || a == C128) && d == a;
}

// Bytes from the first to the last element of a loop's batches of matrices.
int64_t Extent(int64_t columns, int64_t rows, int64_t leading, int64_t batch, int64_t stride, int64_t count,
               int64_t step, PrimitiveType type) {
  if (columns == 0 || rows == 0) return 0;
  std::optional<int64_t> elements = rows;
  for (const auto& [steps, width] : {std::pair(columns - 1, leading), {batch - 1, stride}, {count - 1, step}}) {
    const std::optional<int64_t> more = CheckedMul(steps, width);
    if (!more.has_value() || !elements.has_value()) return INT64_MAX;
    elements = CheckedAdd(*elements, *more);
  }
  return elements.has_value() ? CheckedMul(*elements, PrimitiveTypeByteSize(type)).value_or(INT64_MAX) : INT64_MAX;
}

template <typename T>
auto Wide(T value) {
  if constexpr (std::is_same_v<T, double> || is_complex<T>) {
    return value;
  } else if constexpr (std::is_same_v<T, int8_t>) {
    return static_cast<int32_t>(value);
  } else {
    return static_cast<float>(value);
  }
}

template <typename Sum>
Sum Activate(Sum x, GemmActivation activation) {
  if constexpr (std::is_floating_point_v<Sum>) {
    if (activation == GemmActivation::kRelu) return x > 0 ? x : Sum(0);
    if (activation == GemmActivation::kGelu)
      return x / 2 * (1 + std::tanh(Sum(0.7978845608028654) * (x + Sum(0.044715) * x * x * x)));
  }
  return x;
}

template <typename A, typename B, typename D>
void Multiply(const GemmDescriptor& gemm, const GemmOperands& operands) {
  using Sum = decltype(Wide(A()));
  const auto scale = [](double x) { return static_cast<Sum>(x); };
  for (int64_t batch = 0; batch < gemm.batch; ++batch) {
    const A* a = static_cast<const A*>(operands.a) + batch * gemm.stride_a;
    const B* b = static_cast<const B*>(operands.b) + batch * gemm.stride_b;
    const D* c = static_cast<const D*>(operands.c) + (gemm.beta == 0 ? 0 : batch * gemm.stride_d);
    D* d = static_cast<D*>(operands.d) + batch * gemm.stride_d;
    for (int64_t j = 0; j < gemm.n; ++j) {
      for (int64_t i = 0; i < gemm.m; ++i) {
        Sum sum = Sum(0);
        for (int64_t l = 0; l < gemm.k; ++l) {
          sum += Wide(a[gemm.transpose_a ? l + i * gemm.lda : i + l * gemm.lda]) *
                 Wide(b[gemm.transpose_b ? j + l * gemm.ldb : l + j * gemm.ldb]);
        }
        sum *= scale(gemm.alpha);
        if (gemm.beta != 0) sum += scale(gemm.beta) * static_cast<Sum>(Wide(c[i + j * gemm.ldd]));
        if (gemm.has_bias) sum += static_cast<Sum>(Wide(static_cast<const D*>(operands.bias)[i]));
        d[i + j * gemm.ldd] = static_cast<D>(Activate(sum, gemm.activation));
      }
    }
  }
}

template <typename A, typename B>
absl::Status MultiplySmall(const GemmDescriptor& gemm, const GemmOperands& operands) {
  if (gemm.d_type == F32) return Multiply<A, B, float>(gemm, operands), absl::OkStatus();
  if (gemm.d_type == F16) return Multiply<A, B, half>(gemm, operands), absl::OkStatus();
  return Multiply<A, B, bfloat16>(gemm, operands), absl::OkStatus();
}

// The second one is the one that a tuner should find.
const std::array<LibraryAlgorithm, 3> kEmulatedGemmAlgorithms = {{{"00", 4096}, {"01", 65536}, {"02", 0}}};
constexpr std::array<int, 3> kEmulatedGemmDelays = {200, 0, 100};  // microseconds

// A real algorithm may overwrite its workspace.
absl::Status EmulatedGemm(const GemmDescriptor& gemm, const GemmOperands& operands, const LibraryWorkspace& workspace,
                          const LibraryAlgorithm& algorithm) {
  for (size_t i = 0; i < kEmulatedGemmAlgorithms.size(); ++i) {
    if (!algorithm.code.empty() && algorithm.code != kEmulatedGemmAlgorithms[i].code) continue;
    if (algorithm.workspace_bytes > 0) std::memset(workspace.memory, 0xA5, algorithm.workspace_bytes);
    if (!algorithm.code.empty()) std::this_thread::sleep_for(std::chrono::microseconds(kEmulatedGemmDelays[i]));
    return GemmOnHost(gemm, operands);
  }
  return InvalidArgument("gemm ", gemm.ToString(), ": the library has no algorithm ", algorithm.code);
}

absl::StatusOr<std::string> GemmLibraryVersion(const LibraryDevice& device) {
  if (device.is_emulated) return std::string("emulated");
  return CublasLtVersion();
}

}  // namespace

GemmBytes BytesOfGemm(const GemmDescriptor& gemm, const GemmLoop& loop) {
  return {.a = Extent(gemm.transpose_a ? gemm.m : gemm.k, gemm.transpose_a ? gemm.k : gemm.m, gemm.lda, gemm.batch,
                      gemm.stride_a, loop.count, loop.step_a, gemm.a_type),
          .b = Extent(gemm.transpose_b ? gemm.k : gemm.n, gemm.transpose_b ? gemm.n : gemm.k, gemm.ldb, gemm.batch,
                      gemm.stride_b, loop.count, loop.step_b, gemm.b_type),
          .d = Extent(gemm.n, gemm.m, gemm.ldd, gemm.batch, gemm.stride_d, loop.count, loop.step_d, gemm.d_type),
          .bias = gemm.has_bias ? CheckedMul(gemm.m, PrimitiveTypeByteSize(gemm.d_type)).value_or(INT64_MAX) : 0};
}

bool WantsTransposedA(PrimitiveType type) { return type == S8 || IsF8(type); }

std::string GemmDescriptor::ToString() const {
  const auto type = [](PrimitiveType t) { return PrimitiveTypeName(t); };
  const bool is_aligned =
      alignment_a == kDeviceAlignment && alignment_b == kDeviceAlignment && alignment_d == kDeviceAlignment;
  const std::string alignments =
      is_aligned ? "" : absl::StrCat(" align ", alignment_a, ",", alignment_b, ",", alignment_d);
  return absl::StrCat(type(a_type), transpose_a ? "t" : "", " ", type(b_type), transpose_b ? "t" : "", " ",
                      type(d_type), " ", m, "x", n, "x", k, " ld ", lda, ",", ldb, ",", ldd, " batch ", batch,
                      " strides ", stride_a, ",", stride_b, ",", stride_d, " alpha ", alpha, " beta ", beta,
                      has_bias ? " bias" : "",
                      activation == GemmActivation::kRelu   ? " relu"
                      : activation == GemmActivation::kGelu ? " gelu"
                                                            : "",
                      allow_tf32 ? " tf32" : "", alignments);
}

absl::Status CheckGemm(const GemmDescriptor& gemm, const GemmOperands& operands) {
  const auto invalid = [&](const auto&... what) { return InvalidArgument("gemm ", gemm.ToString(), ": ", what...); };
  const auto unimplemented = [&](const auto&... what) {
    return Unimplemented("gemm ", gemm.ToString(), ": ", what...);
  };
  if (gemm.m < 0 || gemm.n < 0 || gemm.k < 0) return invalid("expected sizes of at least 0");
  if (gemm.batch < 1) return invalid("expected a batch of at least 1");
  if (!TypesGoTogether(gemm)) return unimplemented("the library does not multiply these types");
  const int64_t rows_a = gemm.transpose_a ? gemm.k : gemm.m, rows_b = gemm.transpose_b ? gemm.n : gemm.k;
  if (gemm.lda < rows_a) return invalid("expected lda of at least ", rows_a);
  if (gemm.ldb < rows_b) return invalid("expected ldb of at least ", rows_b);
  if (gemm.ldd < gemm.m) return invalid("expected ldd of at least ", gemm.m);
  if (gemm.stride_a < 0 || gemm.stride_b < 0 || gemm.stride_d < 0) return invalid("expected strides of at least 0");
  for (const int64_t alignment : {gemm.alignment_a, gemm.alignment_b, gemm.alignment_d}) {
    if (alignment < 1 || kDeviceAlignment % alignment != 0)
      return invalid("expected alignments that divide ", kDeviceAlignment);
  }
  const GemmBytes bytes = BytesOfGemm(gemm);
  if (std::max({bytes.a, bytes.b, bytes.d, bytes.bias}) == INT64_MAX) return invalid("the arrays fit into no memory");
  // Matrices lie one after the other, or side by side within a leading dimension.
  const bool side_by_side =
      gemm.stride_d >= gemm.m && CheckedMul(gemm.batch, gemm.stride_d).value_or(INT64_MAX) <= gemm.ldd;
  if (gemm.batch > 1 && !side_by_side && gemm.stride_d < CheckedMul(gemm.ldd, gemm.n).value_or(INT64_MAX))
    return invalid("the results of a batch overlap");
  if (gemm.m == 0 || gemm.n == 0) return absl::OkStatus();
  const auto check_pointer = [&](const char* name, const void* pointer, PrimitiveType type,
                                 bool wanted) -> absl::Status {
    if (!wanted) return absl::OkStatus();
    if (pointer == nullptr) return invalid(name, " is null");
    const int64_t alignment = IsF8(gemm.a_type) ? 16 : gemm.a_type == S8 ? 4 : PrimitiveTypeByteSize(type);
    if (reinterpret_cast<uintptr_t>(pointer) % alignment != 0)
      return invalid("expected ", name, " at a multiple of ", alignment, " bytes");
    return absl::OkStatus();
  };
  HILO_RETURN_IF_ERROR(check_pointer("a", operands.a, gemm.a_type, gemm.k > 0));
  HILO_RETURN_IF_ERROR(check_pointer("b", operands.b, gemm.b_type, gemm.k > 0));
  HILO_RETURN_IF_ERROR(check_pointer("c", operands.c, gemm.d_type, gemm.beta != 0));
  HILO_RETURN_IF_ERROR(check_pointer("d", operands.d, gemm.d_type, true));
  HILO_RETURN_IF_ERROR(check_pointer("bias", operands.bias, gemm.d_type, gemm.has_bias));
  if (WantsTransposedA(gemm.a_type) && (!gemm.transpose_a || gemm.transpose_b))
    return unimplemented("8-bit types want A transposed and B not");
  if (IsF8(gemm.a_type)) {
    if (gemm.m % 16 != 0 || gemm.n % 16 != 0 || gemm.k % 16 != 0 || gemm.lda % 16 != 0 || gemm.ldb % 16 != 0 ||
        gemm.ldd % 16 != 0) {
      return unimplemented("8-bit floats want sizes and leading dimensions that are multiples of 16");
    }
  }
  if (gemm.a_type == S8 && (gemm.m % 4 != 0 || gemm.k % 4 != 0 || gemm.lda % 4 != 0 || gemm.ldb % 4 != 0)) {
    return unimplemented("8-bit integers want m, k and leading dimensions that are multiples of 4");
  }
  const bool real = gemm.a_type != S8 && gemm.a_type != C64 && gemm.a_type != C128;
  if ((gemm.has_bias || gemm.activation != GemmActivation::kNone) && (!real || gemm.a_type == F64)) {
    return unimplemented("the library has bias and activation for floats of at most 32 bits alone");
  }
  return absl::OkStatus();
}

absl::Status CheckGemm(const GemmDescriptor& gemm, const GemmLoop& loop) {
  void* aligned = reinterpret_cast<void*>(kDeviceAlignment);
  HILO_RETURN_IF_ERROR(CheckGemm(gemm, {.a = aligned, .b = aligned, .c = aligned, .d = aligned, .bias = aligned}));
  if (loop.count < 1 || loop.step_a < 0 || loop.step_b < 0 || loop.step_d < (loop.count > 1 ? 1 : 0))
    return InvalidArgument("gemm ", gemm.ToString(), ": expected iterations one after the other");
  return absl::OkStatus();
}

absl::Status GemmOnHost(const GemmDescriptor& gemm, const GemmOperands& operands) {
  HILO_RETURN_IF_ERROR(CheckGemm(gemm, operands));
  switch (gemm.a_type) {
    case F8E4M3FN:
      return gemm.b_type == F8E4M3FN ? MultiplySmall<f8e4m3fn, f8e4m3fn>(gemm, operands)
                                     : MultiplySmall<f8e4m3fn, f8e5m2>(gemm, operands);
    case F8E5M2: return MultiplySmall<f8e5m2, f8e4m3fn>(gemm, operands);
    case F16: return MultiplySmall<half, half>(gemm, operands);
    case BF16: return MultiplySmall<bfloat16, bfloat16>(gemm, operands);
    case F32: return Multiply<float, float, float>(gemm, operands), absl::OkStatus();
    case F64: return Multiply<double, double, double>(gemm, operands), absl::OkStatus();
    case C64: return Multiply<complex64, complex64, complex64>(gemm, operands), absl::OkStatus();
    case C128: return Multiply<complex128, complex128, complex128>(gemm, operands), absl::OkStatus();
    default: return Multiply<int8_t, int8_t, int32_t>(gemm, operands), absl::OkStatus();
  }
}

absl::StatusOr<std::vector<LibraryAlgorithm>> GemmAlgorithms(const LibraryDevice& device, const GemmDescriptor& gemm,
                                                             int most) {
  HILO_RETURN_IF_ERROR(CheckGemm(gemm, GemmLoop()));
  if (device.is_emulated) {
    std::vector<LibraryAlgorithm> all(kEmulatedGemmAlgorithms.begin(), kEmulatedGemmAlgorithms.end());
    if (most < static_cast<int>(all.size())) all.resize(most);
    return all;
  }
  if (device.driver != nullptr) return CublasLtAlgorithms(gemm, most);
  HILO_RETURN_IF_ERROR(CheckCublasLtDescriptors(gemm));
  return std::vector<LibraryAlgorithm>{{.workspace_bytes = kGemmWorkspaceBytes}};
}

LibraryWork GemmWork(const LibraryDevice& device, const GemmDescriptor& gemm) {
  const GemmBytes bytes = BytesOfGemm(gemm);
  return {.text = gemm.ToString(),
          .max_workspace_bytes = kGemmWorkspaceBytes,
          .version = [device] { return GemmLibraryVersion(device); },
          .algorithms = [device, gemm](int most) { return GemmAlgorithms(device, gemm, most); },
          .array_bytes = {bytes.a, bytes.b, bytes.d, bytes.bias},
          .run =
              [gemm](GpuStream* stream, absl::Span<void* const> arrays, const LibraryWorkspace& workspace,
                     const LibraryAlgorithm& algorithm) {
                return RunGemm(stream, gemm,
                               {.a = arrays[0], .b = arrays[1], .c = arrays[2], .d = arrays[2], .bias = arrays[3]},
                               workspace, algorithm);
              }};
}

absl::Status RunGemm(GpuStream* stream, const GemmDescriptor& gemm, const GemmOperands& operands,
                     const LibraryWorkspace& workspace, const LibraryAlgorithm& algorithm) {
  HILO_RETURN_IF_ERROR(CheckGemm(gemm, operands));
  if (algorithm.workspace_bytes > workspace.bytes) {
    return InvalidArgument("gemm ", gemm.ToString(), ": the algorithm needs ", algorithm.workspace_bytes,
                           " bytes of workspace, got ", workspace.bytes);
  }
  if (gemm.m == 0 || gemm.n == 0) return absl::OkStatus();
  for (const auto& [array, alignment] :
       {std::pair(operands.a, gemm.alignment_a), std::pair(operands.b, gemm.alignment_b),
        std::pair(operands.c, gemm.alignment_d), std::pair(static_cast<const void*>(operands.d), gemm.alignment_d)}) {
    if (reinterpret_cast<uintptr_t>(array) % alignment != 0)
      return InvalidArgument("gemm ", gemm.ToString(), ": an array is not aligned to ", alignment, " bytes");
  }
  const GemmBytes bytes = BytesOfGemm(gemm);
  std::vector<GpuSlice> slices;
  slices.push_back(GpuSlice::Read(operands.a, bytes.a));
  slices.push_back(GpuSlice::Read(operands.b, bytes.b));
  if (gemm.beta != 0) slices.push_back(GpuSlice::Read(operands.c, bytes.d));
  if (gemm.has_bias) slices.push_back(GpuSlice::Read(operands.bias, bytes.bias));
  slices.push_back(GpuSlice::Write(operands.d, bytes.d));
  slices.push_back(GpuSlice::Write(workspace.memory, workspace.bytes));
  auto call = [gemm, operands, workspace, algorithm](void* native) -> absl::Status {
    if (native == nullptr) return EmulatedGemm(gemm, operands, workspace, algorithm);
    return GemmByCublasLt(native, gemm, operands, workspace, algorithm);
  };
  return stream->Call(std::move(call), slices);
}

}  // namespace hilo::gpu
