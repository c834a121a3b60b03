// The table of expansions: rewrites of an op in terms of others.
//
// To add one: a separate file (or that of its family) in this folder with the function, its declaration below, a row in
// expansions.cc.
#ifndef HILO_HLO_PASSES_EXPAND_EXPANSIONS_H_
#define HILO_HLO_PASSES_EXPAND_EXPANSIONS_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/builder/xla_builder.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo {

// Builds the computation of `instruction` on `operands`, which represent its operands in `builder`, and returns its
// result, of a compatible shape. The expander replaces the instruction by that and copies its origin. The built
// graph may contain ops that are expanded in turn. Errors: Unimplemented if the op has a form without
// expansion; the builder stores errors of the ops built.
using Expansion = absl::StatusOr<XlaOp> (*)(const HloInstruction& instruction, XlaBuilder* builder,
                                            absl::Span<const XlaOp> operands);

// Null if the op has none.
Expansion FindExpansion(HloOpcode opcode);

// The called computation of an instruction in the form that builder functions take.
absl::StatusOr<XlaComputation> CalledComputation(const HloInstruction& instruction, int64_t i = 0);

// The rows.
absl::StatusOr<XlaOp> ExpandBatchNormGrad(const HloInstruction& instruction, XlaBuilder* builder,
                                          absl::Span<const XlaOp> operands);
absl::StatusOr<XlaOp> ExpandBatchNormInference(const HloInstruction& instruction, XlaBuilder* builder,
                                               absl::Span<const XlaOp> operands);
absl::StatusOr<XlaOp> ExpandBatchNormTraining(const HloInstruction& instruction, XlaBuilder* builder,
                                              absl::Span<const XlaOp> operands);
absl::StatusOr<XlaOp> ExpandConvolution(const HloInstruction& instruction, XlaBuilder* builder,
                                        absl::Span<const XlaOp> operands);
// Whether a dot is one of integers of 8 bits or fewer, except s8 with sums of 32 bits, to which its expansion converts
// the others if possible.
bool IsDotOfSmallIntegers(const HloInstruction& dot);
absl::StatusOr<XlaOp> ExpandDot(const HloInstruction& instruction, XlaBuilder* builder,
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
absl::StatusOr<XlaOp> ExpandStochasticConvert(const HloInstruction& instruction, XlaBuilder* builder,
                                              absl::Span<const XlaOp> operands);
absl::StatusOr<XlaOp> ExpandTopK(const HloInstruction& instruction, XlaBuilder* builder,
                                 absl::Span<const XlaOp> operands);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_EXPAND_EXPANSIONS_H_
