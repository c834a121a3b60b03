#include "hlo/ops/table/hlo_opcode.h"

#include "absl/container/flat_hash_map.h"

namespace hilo {

bool InTypeClass(PrimitiveType type, uint32_t classes) {
  return ((classes & kBool) != 0 && type == PRED) || ((classes & kSignedInt) != 0 && IsSignedIntegralType(type)) ||
         ((classes & kUnsignedInt) != 0 && IsUnsignedIntegralType(type)) ||
         ((classes & kFloat) != 0 && IsFloatingPointType(type)) || ((classes & kComplex) != 0 && IsComplexType(type));
}

std::optional<HloOpcode> HloOpcodeFromString(absl::string_view text) {
  static const auto* const opcodes = [] {
    auto* map = new absl::flat_hash_map<absl::string_view, HloOpcode>();
    for (int i = 0; i < kHloOpcodeCount; ++i) map->emplace(kHloOpcodeTable[i].text, static_cast<HloOpcode>(i));
    return map;
  }();
  auto found = opcodes->find(text);
  if (found == opcodes->end()) return std::nullopt;
  return found->second;
}

}  // namespace hilo
