// XlaBuilder's linear algebra: Fft, Cholesky, TriangularSolve.
#ifndef HILO_HLO_BUILDER_LINALG_OPS_H_
#define HILO_HLO_BUILDER_LINALG_OPS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "hlo/ops/linalg/linalg_attributes.h"

namespace hilo {

class XlaOp;

// Transforms the minor dimensions, as many as fft_length (the sizes in the time domain) has
// entries.
XlaOp Fft(XlaOp operand, FftType fft_type, absl::Span<const int64_t> fft_length);
// The factor of a = l l^H (lower) or a = u^H u, of a batch of matrices. Only that triangle of `a`
// is read.
XlaOp Cholesky(XlaOp a, bool lower);
// x of op(a) x = b, or of x op(a) = b without left_side, for a batch of triangular matrices.
XlaOp TriangularSolve(XlaOp a, XlaOp b, bool left_side, bool lower, bool unit_diagonal, TransposeKind transpose_a);

}  // namespace hilo

#endif  // HILO_HLO_BUILDER_LINALG_OPS_H_
