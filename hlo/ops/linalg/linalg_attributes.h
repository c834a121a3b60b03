// Attributes of fft, cholesky, triangular-solve and dots other than dot.
#ifndef HILO_HLO_OPS_LINALG_LINALG_ATTRIBUTES_H_
#define HILO_HLO_OPS_LINALG_LINALG_ATTRIBUTES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "hlo/ops/table/attributes.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {

template <>
struct EnumNames<FftType> {
  static constexpr absl::string_view names[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
};
struct FftAttrs : Attributes<FftAttrs> {
  FftType fft_type = FftType::kFft;
  std::vector<int64_t> fft_length;
  static constexpr auto Fields() {
    return std::make_tuple(Field("fft_type", &FftAttrs::fft_type), Field("fft_length", &FftAttrs::fft_length));
  }
};

struct CholeskyAttrs : Attributes<CholeskyAttrs> {
  bool lower = false;
  static constexpr auto Fields() { return std::make_tuple(Field("lower", &CholeskyAttrs::lower, Presence::kOptional)); }
};

template <>
struct EnumNames<TransposeKind> {
  static constexpr absl::string_view names[] = {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};
};
struct TriangularSolveAttrs : Attributes<TriangularSolveAttrs> {
  bool left_side = false;
  bool lower = false;
  bool unit_diagonal = false;
  TransposeKind transpose_a = TransposeKind::kInvalid;  // inference rejects this one
  static constexpr auto Fields() {
    return std::make_tuple(Field("left_side", &TriangularSolveAttrs::left_side, Presence::kOptional),
                           Field("lower", &TriangularSolveAttrs::lower, Presence::kOptional),
                           Field("unit_diagonal", &TriangularSolveAttrs::unit_diagonal, Presence::kOptional),
                           Field("transpose_a", &TriangularSolveAttrs::transpose_a, Presence::kOptional));
  }
};

struct RaggedDotAttrs : Attributes<RaggedDotAttrs> {
  std::vector<int64_t> lhs_batch_dims;
  std::vector<int64_t> lhs_contracting_dims;
  std::vector<int64_t> rhs_batch_dims;
  std::vector<int64_t> rhs_contracting_dims;
  std::vector<int64_t> lhs_ragged_dims;
  std::vector<int64_t> rhs_group_dims;
  std::vector<Precision> operand_precision;
  static constexpr auto Fields() {
    return std::make_tuple(Field("lhs_batch_dims", &RaggedDotAttrs::lhs_batch_dims, Presence::kOptional),
                           Field("lhs_contracting_dims", &RaggedDotAttrs::lhs_contracting_dims, Presence::kOptional),
                           Field("rhs_batch_dims", &RaggedDotAttrs::rhs_batch_dims, Presence::kOptional),
                           Field("rhs_contracting_dims", &RaggedDotAttrs::rhs_contracting_dims, Presence::kOptional),
                           Field("lhs_ragged_dims", &RaggedDotAttrs::lhs_ragged_dims, Presence::kOptional),
                           Field("rhs_group_dims", &RaggedDotAttrs::rhs_group_dims, Presence::kOptional),
                           Field("operand_precision", &RaggedDotAttrs::operand_precision, Presence::kOptional));
  }
};

}  // namespace hilo

#endif  // HILO_HLO_OPS_LINALG_LINALG_ATTRIBUTES_H_
