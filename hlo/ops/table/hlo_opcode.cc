#include "hlo/ops/table/hlo_opcode.h"

#include "absl/container/flat_hash_map.h"

namespace hilo {
namespace {

constexpr HloOpcodeInfo kTable[] = {
#define HLO_UNARY(opcode, text, types, rule, cost) \
  {text, HloFamily::kUnary, 1, types, ResultRule::rule, kElementwise, "", cost},
#define HLO_BINARY(opcode, text, types, traits, cost) \
  {text, HloFamily::kBinary, 2, types, ResultRule::kSameType, kElementwise | (traits), "", cost},
#define HLO_OP(opcode, text, arity, attributes, called, traits, cost) \
  {text, HloFamily::kOwn, arity, 0, ResultRule::kSameType, traits, called, cost},
#include "hlo/ops/table/hlo_opcode.def"
#undef HLO_UNARY
#undef HLO_BINARY
#undef HLO_OP
};
static_assert(std::size(kTable) == kHloOpcodeCount);

}  // namespace

bool InTypeClass(PrimitiveType type, uint32_t classes) {
  return ((classes & kBool) != 0 && type == PRED) || ((classes & kSignedInt) != 0 && IsSignedIntegralType(type)) ||
         ((classes & kUnsignedInt) != 0 && IsUnsignedIntegralType(type)) ||
         ((classes & kFloat) != 0 && IsFloatingPointType(type)) || ((classes & kComplex) != 0 && IsComplexType(type));
}

const HloOpcodeInfo& OpcodeInfo(HloOpcode opcode) { return kTable[static_cast<int>(opcode)]; }

std::optional<HloOpcode> HloOpcodeFromString(absl::string_view text) {
  static const auto* const opcodes = [] {
    auto* map = new absl::flat_hash_map<absl::string_view, HloOpcode>();
    for (int i = 0; i < kHloOpcodeCount; ++i) map->emplace(kTable[i].text, static_cast<HloOpcode>(i));
    return map;
  }();
  auto found = opcodes->find(text);
  if (found == opcodes->end()) return std::nullopt;
  return found->second;
}

}  // namespace hilo
