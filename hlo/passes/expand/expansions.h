// The table of expansions: rewrites of an op in terms of others.
//
// To add one: a separate file (or that of its family) in this folder with the function, its declaration and its row
// below.
#ifndef HILO_HLO_PASSES_EXPAND_EXPANSIONS_H_
#define HILO_HLO_PASSES_EXPAND_EXPANSIONS_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hilo/xla_builder.h"
#include "hlo/ir/hlo_instruction.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo {

// Builds the computation of `instruction` on `operands`, which represent its operands in `builder`, and returns its
// result, of a compatible shape. The expander replaces the instruction by that and copies its origin. The built
// graph may contain ops that are expanded in turn. Errors: Unimplemented if the op has a form without
// expansion; the builder stores errors of the ops built.
using Expansion = absl::StatusOr<XlaOp> (*)(const HloInstruction& instruction, XlaBuilder* builder,
                                            absl::Span<const XlaOp> operands);

// The called computation of an instruction in the form that builder functions take.
absl::StatusOr<XlaComputation> CalledComputation(const HloInstruction& instruction, int64_t i = 0);

absl::StatusOr<XlaOp> ExpandBatchNormGrad(const HloInstruction& instruction, XlaBuilder* builder,
                                          absl::Span<const XlaOp> operands);
absl::StatusOr<XlaOp> ExpandBatchNormInference(const HloInstruction& instruction, XlaBuilder* builder,
                                               absl::Span<const XlaOp> operands);
absl::StatusOr<XlaOp> ExpandBatchNormTraining(const HloInstruction& instruction, XlaBuilder* builder,
                                              absl::Span<const XlaOp> operands);
absl::StatusOr<XlaOp> ExpandConvolution(const HloInstruction& instruction, XlaBuilder* builder,
                                        absl::Span<const XlaOp> operands);
absl::StatusOr<XlaOp> ExpandCholesky(const HloInstruction& instruction, XlaBuilder* builder,
                                     absl::Span<const XlaOp> operands);
// Whether a dot is one of integers of 8 bits or fewer, except s8 with sums of 32 bits, to which its expansion converts
// the others if possible.
bool IsDotOfSmallIntegers(const HloInstruction& dot);
absl::StatusOr<XlaOp> ExpandDot(const HloInstruction& instruction, XlaBuilder* builder,
                                absl::Span<const XlaOp> operands);
absl::StatusOr<XlaOp> ExpandFft(const HloInstruction& instruction, XlaBuilder* builder,
                                absl::Span<const XlaOp> operands);
absl::StatusOr<XlaOp> ExpandRng(const HloInstruction& instruction, XlaBuilder* builder,
                                absl::Span<const XlaOp> operands);
absl::StatusOr<XlaOp> ExpandRngBitGenerator(const HloInstruction& instruction, XlaBuilder* builder,
                                            absl::Span<const XlaOp> operands);
absl::StatusOr<XlaOp> ExpandScaledDot(const HloInstruction& instruction, XlaBuilder* builder,
                                      absl::Span<const XlaOp> operands);
absl::StatusOr<XlaOp> ExpandCustomCall(const HloInstruction& instruction, XlaBuilder* builder,
                                       absl::Span<const XlaOp> operands);
absl::StatusOr<XlaOp> ExpandScan(const HloInstruction& instruction, XlaBuilder* builder,
                                 absl::Span<const XlaOp> operands);
absl::StatusOr<XlaOp> ExpandScatter(const HloInstruction& instruction, XlaBuilder* builder,
                                    absl::Span<const XlaOp> operands);
absl::StatusOr<XlaOp> ExpandSort(const HloInstruction& instruction, XlaBuilder* builder,
                                 absl::Span<const XlaOp> operands);
absl::StatusOr<XlaOp> ExpandStochasticConvert(const HloInstruction& instruction, XlaBuilder* builder,
                                              absl::Span<const XlaOp> operands);
absl::StatusOr<XlaOp> ExpandTopK(const HloInstruction& instruction, XlaBuilder* builder,
                                 absl::Span<const XlaOp> operands);
absl::StatusOr<XlaOp> ExpandTriangularSolve(const HloInstruction& instruction, XlaBuilder* builder,
                                            absl::Span<const XlaOp> operands);

// Null for ops that have none.
inline constexpr OpcodeMap<Expansion> kExpansions = {
    {HloOpcode::kBatchNormGrad, ExpandBatchNormGrad},
    {HloOpcode::kBatchNormInference, ExpandBatchNormInference},
    {HloOpcode::kBatchNormTraining, ExpandBatchNormTraining},
    {HloOpcode::kCholesky, ExpandCholesky},
    {HloOpcode::kConvolution, ExpandConvolution},
    {HloOpcode::kCustomCall, ExpandCustomCall},
    {HloOpcode::kDot, ExpandDot},
    {HloOpcode::kFft, ExpandFft},
    {HloOpcode::kRaggedDot, ExpandDot},
    {HloOpcode::kRng, ExpandRng},
    {HloOpcode::kRngBitGenerator, ExpandRngBitGenerator},
    {HloOpcode::kScaledDot, ExpandScaledDot},
    {HloOpcode::kScan, ExpandScan},
    {HloOpcode::kScatter, ExpandScatter},
    {HloOpcode::kSort, ExpandSort},
    {HloOpcode::kStochasticConvert, ExpandStochasticConvert},
    {HloOpcode::kTopK, ExpandTopK},
    {HloOpcode::kTriangularSolve, ExpandTriangularSolve},
};
constexpr bool HasExpansion(HloOpcode opcode) { return kExpansions[opcode] != nullptr; }

}  // namespace hilo

#endif  // HILO_HLO_PASSES_EXPAND_EXPANSIONS_H_
