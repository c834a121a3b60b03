#include "runtime/lapack/small_call.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/match.h"
#include "runtime/lapack/lapack_targets.h"
#include "runtime/lapack/small_matrices.h"

namespace hilo::lapack {
namespace {

bool IsSmallMatrix(const Shape& shape) {
  return shape.IsArray() && shape.rank() == 2 && shape.dimensions(0) <= kSmallMatrix &&
         shape.dimensions(1) <= kSmallMatrix;
}

bool IsIndices(const Shape& shape, absl::Span<const int64_t> dimensions) {
  return shape.IsArray() && shape.element_type() == S32 && shape.dimensions() == dimensions;
}

// The character that is an attribute, or 0.
char Letter(const std::vector<ffi::NamedAttribute>& attributes, absl::string_view name) {
  for (const ffi::NamedAttribute& attribute : attributes) {
    if (attribute.name == name && attribute.value.kind == ffi::Attribute::Kind::kScalar && attribute.value.type == U8) {
      return static_cast<char>(attribute.value.bytes[0]);
    }
  }
  return 0;
}

// Result 0, which begins as `operand`.
template <typename T>
T* Begun(const uint8_t* operand, uint8_t* result, int64_t count) {
  if (operand != result && count > 0) std::memcpy(result, operand, static_cast<size_t>(count) * sizeof(T));
  return reinterpret_cast<T*>(result);
}

}  // namespace

template <typename T>
void SmallCall::Cholesky(const SmallCall& call, absl::Span<const uint8_t* const> operands,
                         absl::Span<uint8_t* const> results) {
  T* a = Begun<T>(operands[0], results[0], int64_t{call.n_} * call.n_);
  *reinterpret_cast<int32_t*>(results[1]) = CholeskySmall(a, call.n_, call.lower_);
}

template <typename T>
void SmallCall::Factor(const SmallCall& call, absl::Span<const uint8_t* const> operands,
                       absl::Span<uint8_t* const> results) {
  T* a = Begun<T>(operands[0], results[0], int64_t{call.m_} * call.n_);
  *reinterpret_cast<int32_t*>(results[2]) = FactorSmall(a, call.m_, call.n_, reinterpret_cast<int32_t*>(results[1]));
}

template <typename T>
void SmallCall::Solve(const SmallCall& call, absl::Span<const uint8_t* const> operands,
                      absl::Span<uint8_t* const> results) {
  const T* triangle = reinterpret_cast<const T*>(operands[0]);
  T* b = Begun<T>(operands[1], results[0], int64_t{call.m_} * call.n_);
  SolveSmallTriangles(triangle, call.m_, call.n_, call.left_, call.flipped_, call.lower_, call.unit_, b);
}

bool SmallCall::PrepareCholesky(const CallSignature& signature, const std::vector<ffi::NamedAttribute>& attributes) {
  const char uplo = Letter(attributes, "uplo");
  lower_ = uplo == 'L';
  return (lower_ || uplo == 'U') && PrepareMatrix(signature, 2) && m_ == n_ &&
         IsIndices(signature.result.tuple_shapes(1), {});
}

bool SmallCall::PrepareFactor(const CallSignature& signature) {
  return PrepareMatrix(signature, 3) && IsIndices(signature.result.tuple_shapes(1), {std::min(m_, n_)}) &&
         IsIndices(signature.result.tuple_shapes(2), {});
}

// One small matrix that becomes the first of so many results.
bool SmallCall::PrepareMatrix(const CallSignature& signature, int64_t results) {
  if (signature.operands.size() != 1 || !signature.result.IsTuple() || signature.result.tuple_shapes_size() != results)
    return false;
  const Shape &matrix = signature.operands[0], &result = signature.result.tuple_shapes(0);
  if (!IsSmallMatrix(matrix) || !ShapeUtil::SameDimensions(matrix, result) ||
      result.element_type() != matrix.element_type())
    return false;
  m_ = static_cast<int32_t>(matrix.dimensions(0)), n_ = static_cast<int32_t>(matrix.dimensions(1));
  return true;
}

bool SmallCall::PrepareSolve(const CallSignature& signature, const std::vector<ffi::NamedAttribute>& attributes) {
  if (signature.operands.size() != 2 || !signature.result.IsArray()) return false;
  const Shape &triangle = signature.operands[0], &b = signature.operands[1], &result = signature.result;
  if (!IsSmallMatrix(triangle) || !IsSmallMatrix(b) || !ShapeUtil::SameDimensions(result, b)) return false;
  if (b.element_type() != triangle.element_type() || result.element_type() != triangle.element_type()) return false;
  const char side = Letter(attributes, "side"), uplo = Letter(attributes, "uplo"),
             trans = Letter(attributes, "trans_x"), diag = Letter(attributes, "diag");
  const auto one_of = [](char letter, absl::string_view letters) {
    return absl::StrContains(letters, letter) && letter != 0;
  };
  if (!one_of(side, "LR") || !one_of(uplo, "LU") || !one_of(trans, "NTC") || !one_of(diag, "NU")) return false;
  m_ = static_cast<int32_t>(b.dimensions(0)), n_ = static_cast<int32_t>(b.dimensions(1));
  left_ = side == 'L';
  flipped_ = (trans != 'N') == left_;
  lower_ = (uplo == 'L') != flipped_;
  unit_ = diag == 'U';
  const int64_t size = left_ ? m_ : n_;
  return triangle.dimensions(0) == size && triangle.dimensions(1) == size;
}

std::optional<SmallCall> SmallCall::Of(XLA_FFI_Handler* handler, const CallSignature& signature,
                                       const std::vector<ffi::NamedAttribute>& attributes) {
  const auto target =
      std::find_if(Targets().begin(), Targets().end(), [&](const Target& t) { return t.handler == handler; });
  if (target == Targets().end() || signature.operands.empty() || !signature.operands[0].IsArray()) return std::nullopt;
  SmallCall call;
  const PrimitiveType type = signature.operands[0].element_type();
  if (target->name == "lapack_spotrf_ffi" && type == F32 && call.PrepareCholesky(signature, attributes))
    call.run_ = &Cholesky<float>;
  if (target->name == "lapack_dpotrf_ffi" && type == F64 && call.PrepareCholesky(signature, attributes))
    call.run_ = &Cholesky<double>;
  if (target->name == "lapack_sgetrf_ffi" && type == F32 && call.PrepareFactor(signature)) call.run_ = &Factor<float>;
  if (target->name == "lapack_dgetrf_ffi" && type == F64 && call.PrepareFactor(signature)) call.run_ = &Factor<double>;
  if (target->name == "lapack_strsm_ffi" && type == F32 && call.PrepareSolve(signature, attributes))
    call.run_ = &Solve<float>;
  if (target->name == "lapack_dtrsm_ffi" && type == F64 && call.PrepareSolve(signature, attributes))
    call.run_ = &Solve<double>;
  if (call.run_ == nullptr) return std::nullopt;
  return call;
}

}  // namespace hilo::lapack
