// How a backend emits each opcode. Every backend has one table of it, which does not compile unless its rows are
// those of the ops in hlo_opcode.def, in their order.
#ifndef HILO_HLO_PASSES_EMISSION_H_
#define HILO_HLO_PASSES_EMISSION_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo {

enum class Emission : uint8_t {
  kNoCode,       // the value exists without code: parameters, tokens, elements of tuples
  kForwarding,   // the value of its operands, in their memory; within a fusion, their elements
  kElement,      // computed element by element from its operands: any part of a fusion
  kKernel,       // a kernel of its own, perhaps fused with its producers or users; never recomputed as a producer
  kRuntimeCall,  // a call of the runtime or of a library
  kCollective,   // computed by a group of devices together
  kControlFlow,  // runs its computations
  kEvaluated,    // computed by the evaluator
  kExpanded,     // rewritten by its expansion (hlo/passes/expand)
  kRewritten,    // always rewritten by another pass of the pipeline: async-to-sync, expand-dynamic
};

// "no code", "element".
absl::string_view EmissionName(Emission emission);

constexpr bool IsEmitted(Emission emission) {
  return emission != Emission::kExpanded && emission != Emission::kRewritten;
}
// True if the instruction may be any part of a fusion.
constexpr bool IsFusible(Emission emission) {
  return emission == Emission::kElement || emission == Emission::kForwarding;
}

struct EmissionRow {
  HloOpcode opcode;
  Emission usual;
  // The instructions that are emitted in another way, if there are any.
  Emission other = usual;
  bool (*is_other)(const HloInstruction& instruction, bool strict) = nullptr;
  const char* when = "";  // is_other in words

  Emission Of(const HloInstruction& instruction, bool strict) const {
    return is_other != nullptr && is_other(instruction, strict) ? other : usual;
  }
  constexpr bool MayBe(Emission emission) const { return usual == emission || other == emission; }
};

// In the order of HloOpcode.
using EmissionTable = std::array<EmissionRow, kHloOpcodeCount>;

// Not constexpr: called where a row is missing, or out of order, it ends the compilation.
void ErrorEveryOpNeedsARowInTheOrderOfTheTable();

// `rows`: one for each HLO_OP. The unary and binary ops are computed element by element.
template <size_t kRows>
consteval EmissionTable MakeEmissionTable(const EmissionRow (&rows)[kRows]) {
  EmissionTable table = {};
  size_t next = 0;
  for (size_t i = 0; i < table.size(); ++i) {
    const HloOpcode opcode = static_cast<HloOpcode>(i);
    if (OpcodeInfo(opcode).family != HloFamily::kOwn) {
      table[i] = {opcode, Emission::kElement};
      continue;
    }
    if (next == kRows || rows[next].opcode != opcode) ErrorEveryOpNeedsARowInTheOrderOfTheTable();
    table[i] = rows[next++];
  }
  if (next != kRows) ErrorEveryOpNeedsARowInTheOrderOfTheTable();
  return table;
}

// True if `emitter` accepts all opcodes that `table` emits as `emission`; for static_assert.
template <typename Emitter>
consteval bool EmitsAll(const EmissionTable& table, Emission emission, Emitter emitter) {
  for (const EmissionRow& row : table) {
    if (row.MayBe(emission) && !emitter(row.opcode)) return false;
  }
  return true;
}

}  // namespace hilo

#endif  // HILO_HLO_PASSES_EMISSION_H_
