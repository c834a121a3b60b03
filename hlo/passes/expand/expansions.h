// The table of expansions: how an op is written in others.
//
// To add one: a file of its own (or of its family) in this folder with the function, its declaration below, its row in
// expansions.cc.
#ifndef HILO_HLO_PASSES_EXPAND_EXPANSIONS_H_
#define HILO_HLO_PASSES_EXPAND_EXPANSIONS_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/builder/xla_builder.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo {

// Builds what `instruction` computes out of `operands`, which stand for its operands in `builder`, and returns its
// result, of a compatible shape. The expander puts that in the instruction's place and carries its origin over. What is
// built may contain ops that are expanded in turn. Errors: Unimplemented if the op has a form that cannot be written in
// others; the builder keeps errors of the ops built.
using Expansion = absl::StatusOr<XlaOp> (*)(const HloInstruction& instruction, XlaBuilder* builder,
                                            absl::Span<const XlaOp> operands);

// Null if the op has none.
Expansion FindExpansion(HloOpcode opcode);

// The called computation of an instruction as builder functions take it.
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
// Whether a dot is one of integers of 8 bits or fewer, but for s8 with sums of 32 bits, which its expansion makes of
// the others where it can.
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
