#include <memory>

#include "hilo/xla_builder.h"
#include "hlo/builder/add_op.h"
#include "hlo/ops/linalg/linalg_attributes.h"

namespace hilo {

XlaOp Fft(XlaOp operand, FftType fft_type, absl::Span<const int64_t> fft_length) {
  if (operand.builder() == nullptr) return XlaOp();
  auto attributes = std::make_unique<FftAttrs>();
  attributes->fft_type = fft_type;
  attributes->fft_length.assign(fft_length.begin(), fft_length.end());
  return AddOp(operand.builder(), HloOpcode::kFft, {operand}, std::move(attributes));
}

XlaOp Cholesky(XlaOp a, bool lower) {
  if (a.builder() == nullptr) return XlaOp();
  auto attributes = std::make_unique<CholeskyAttrs>();
  attributes->lower = lower;
  return AddOp(a.builder(), HloOpcode::kCholesky, {a}, std::move(attributes));
}

XlaOp TriangularSolve(XlaOp a, XlaOp b, bool left_side, bool lower, bool unit_diagonal, TransposeKind transpose_a) {
  XlaBuilder* builder = a.builder() != nullptr ? a.builder() : b.builder();
  if (builder == nullptr) return XlaOp();
  auto attributes = std::make_unique<TriangularSolveAttrs>();
  attributes->left_side = left_side;
  attributes->lower = lower;
  attributes->unit_diagonal = unit_diagonal;
  attributes->transpose_a = transpose_a;
  return AddOp(builder, HloOpcode::kTriangularSolve, {a, b}, std::move(attributes));
}

}  // namespace hilo
