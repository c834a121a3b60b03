// The instructions of a program's host ops as text, so that the ops can be made again by another process.
#ifndef HILO_BACKENDS_CPU_HOST_OPS_HOST_OP_TEXT_H_
#define HILO_BACKENDS_CPU_HOST_OPS_HOST_OP_TEXT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/cpu/host_ops/host_op.h"
#include "backends/cpu/runtime/program_image.h"
#include "hlo/ir/hlo_module.h"

namespace hilo::cpu {

// A module whose entry has the instructions, under their names, on each other or on parameters of their operands'
// shapes.
std::string HostOpsToText(const HloModule& module, absl::Span<const HloInstruction* const> instructions);

// Makes the image's host ops of its text. Errors: the parser's; InvalidArgument if an instruction is missing or other
// than the code believes; MakeHostOp's, with the instruction.
absl::StatusOr<std::vector<std::unique_ptr<HostOp>>> MakeHostOps(const ProgramImage& image,
                                                                 const CompileOptions& options);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_HOST_OPS_HOST_OP_TEXT_H_
