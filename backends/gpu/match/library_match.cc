#include "backends/gpu/match/library_match.h"

#include <algorithm>
#include <utility>

#include "hlo/ops/structure/custom_call.h"

namespace hilo::gpu {

std::optional<FftDescriptor> FftOf(const HloInstruction& instruction) {
  const FftAttrs& attrs = instruction.attrs<FftAttrs>();
  const PrimitiveType type = instruction.operand(0)->shape().element_type();
  FftDescriptor fft{.type = attrs.fft_type,
                    .part = IsComplexType(type) ? ComplexComponentType(type) : type,
                    .lengths = attrs.fft_length};
  const Shape& in_time = fft.type == FftType::kRfft ? instruction.operand(0)->shape() : instruction.shape();
  if (ShapeUtil::ElementsIn(in_time) == 0 || fft.lengths.empty()) return std::nullopt;
  fft.batch = ShapeUtil::ElementsIn(in_time) / fft.Points();
  return fft;
}

SolverArray ArrayLike(const Shape& shape) {
  return {.type = shape.element_type(), .dimensions = {shape.dimensions().begin(), shape.dimensions().end()}};
}

std::optional<SolverMatch> CholeskyCallOf(const HloInstruction& cholesky) {
  const Shape& shape = cholesky.shape();
  const int64_t count = ShapeUtil::ElementsIn(shape), n = shape.dimensions().back();
  if (count == 0) return std::nullopt;
  SolverMatch match{.call = {.routine = "potrf",
                             .operands = {ArrayLike(shape)},
                             .results = {ArrayLike(shape), ArrayLike(shape)},
                             .attributes = {{"uplo", cholesky.attrs<CholeskyAttrs>().lower ? 'U' : 'L'}}},
                    .rows = n,
                    .batch = count / (n * n)};
  match.call.results[1].type = S32;
  match.call.results[1].dimensions.resize(shape.rank() - 2);
  return match;
}

std::optional<SolverMatch> TriangularSolveCallOf(const HloInstruction& solve) {
  const TriangularSolveAttrs& attrs = solve.attrs<TriangularSolveAttrs>();
  const Shape &a = solve.operand(0)->shape(), &shape = solve.shape();
  if (ShapeUtil::ElementsIn(shape) == 0 || ShapeUtil::ElementsIn(a) == 0) return std::nullopt;
  const int64_t n = a.dimensions().back();
  SolverArray right = ArrayLike(shape);  // rows and columns are exchanged
  std::swap(right.dimensions[shape.rank() - 2], right.dimensions[shape.rank() - 1]);
  const char transpose = attrs.transpose_a == TransposeKind::kTranspose ? 'T'
                         : attrs.transpose_a == TransposeKind::kAdjoint ? 'C'
                                                                        : 'N';
  return SolverMatch{.call = {.routine = "trsm",
                              .operands = {ArrayLike(a), right},
                              .results = {right},
                              .attributes = {{"side", attrs.left_side ? 'R' : 'L'},
                                             {"uplo", attrs.lower ? 'U' : 'L'},
                                             {"trans_x", transpose},
                                             {"diag", attrs.unit_diagonal ? 'U' : 'N'}}},
                     .rows = n,
                     .batch = ShapeUtil::ElementsIn(a) / (n * n)};
}

std::optional<SolverMatch> SolverCallOf(const HloInstruction& custom_call) {
  const CustomCallAttrs& attrs = custom_call.attrs<CustomCallAttrs>();
  SolverMatch match{.call = {.routine = SolverRoutineOf(attrs.custom_call_target)}};
  if (match.call.routine.empty()) return std::nullopt;
  std::vector<const Shape*> operand_shapes;
  for (const HloInstruction* operand : custom_call.operands()) operand_shapes.push_back(&operand->shape());
  // The arrays as the function sees them, column-major.
  const CallSignature signature = SignatureOf(attrs, operand_shapes, custom_call.shape());
  for (const Shape& shape : signature.operands) {
    if (!shape.IsArray() || ShapeUtil::IsZeroElementArray(shape)) return std::nullopt;
    match.call.operands.push_back(ArrayLike(shape));
  }
  for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(signature.result)) {
    if (!leaf.shape->IsArray() || ShapeUtil::IsZeroElementArray(*leaf.shape)) return std::nullopt;
    match.call.results.push_back(ArrayLike(*leaf.shape));
  }
  if (match.call.operands.empty() || match.call.operands[0].dimensions.size() < 2) return std::nullopt;
  const std::vector<int64_t>& sizes = match.call.operands[0].dimensions;
  const int64_t rows = sizes[sizes.size() - 2], columns = sizes.back();
  if (match.call.routine == "gesvd" && rows < columns) return std::nullopt;  // cuSOLVER supports none of these
  match.rows = std::max(rows, columns);
  match.batch = ShapeUtil::ElementsIn(signature.operands[0]) / (rows * columns);
  return match;
}

}  // namespace hilo::gpu
