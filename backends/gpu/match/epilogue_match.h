// Shared by products and convolutions: matching of the element-wise instructions after them, and their fusion for a
// library.
#ifndef HILO_BACKENDS_GPU_MATCH_EPILOGUE_MATCH_H_
#define HILO_BACKENDS_GPU_MATCH_EPILOGUE_MATCH_H_

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo::gpu {

// Returns the value of all elements of a scalar constant, or of its broadcast.
std::optional<double> UniformNumber(const HloInstruction* instruction);

// Returns b of opcode(a, b) or opcode(b, a), where is_a identifies a.
template <typename IsA>
const HloInstruction* OtherOperand(const HloInstruction* instruction, HloOpcode opcode, IsA is_a) {
  if (instruction->opcode() != opcode) return nullptr;
  if (is_a(instruction->operand(0))) return instruction->operand(1);
  if (is_a(instruction->operand(1))) return instruction->operand(0);
  return nullptr;
}
inline auto Is(const HloInstruction* x) {
  return [x](const HloInstruction* instruction) { return instruction == x; };
}

// Returns the only user of an instruction; null if it has several, or if its value is used otherwise.
const HloInstruction* OnlyUser(const HloInstruction* instruction);

// Makes a custom fusion of `members`, operands first, and replaces `root`, the last of them, with it. Scalar constants
// are copied into it, even if they have other users. The fusion and its computation are named by `library`.
absl::Status FuseForLibrary(const std::vector<const HloInstruction*>& members, const HloInstruction* root,
                            absl::string_view library);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_MATCH_EPILOGUE_MATCH_H_
