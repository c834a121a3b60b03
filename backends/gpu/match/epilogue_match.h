// What both products and convolutions look for in the element-wise instructions after them, and how these become one
// fusion for a library.
#ifndef HILO_BACKENDS_GPU_MATCH_EPILOGUE_MATCH_H_
#define HILO_BACKENDS_GPU_MATCH_EPILOGUE_MATCH_H_

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo::gpu {

// The number that all elements of a scalar constant, or of its broadcast, are.
std::optional<double> UniformNumber(const HloInstruction* instruction);

// a and b of opcode(a, b) or opcode(b, a), of which is_a says what a is.
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

// The one that reads an instruction, if there is just one and nobody else has its value.
const HloInstruction* OnlyUser(const HloInstruction* instruction);

// Makes a custom fusion of `members`, operands first, and puts it in the place of `root`, the last of them. Scalar
// constants come along, whoever else reads them. The fusion and its computation are named by `library`.
absl::Status FuseForLibrary(const std::vector<const HloInstruction*>& members, const HloInstruction* root,
                            absl::string_view library);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_MATCH_EPILOGUE_MATCH_H_
