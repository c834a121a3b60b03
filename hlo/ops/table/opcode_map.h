// Constant sets of opcodes, and tables of what holds for some of them: rules of a pass, functions of a library.
#ifndef HILO_HLO_OPS_TABLE_OPCODE_MAP_H_
#define HILO_HLO_OPS_TABLE_OPCODE_MAP_H_

#include <array>
#include <initializer_list>

#include "hlo/ops/table/hlo_opcode.h"

namespace hilo {

class OpcodeSet {
 public:
  consteval OpcodeSet(std::initializer_list<HloOpcode> opcodes) {
    for (const HloOpcode opcode : opcodes) contains_[static_cast<size_t>(opcode)] = true;
  }
  constexpr bool contains(HloOpcode opcode) const { return contains_[static_cast<size_t>(opcode)]; }

 private:
  std::array<bool, kHloOpcodeCount> contains_ = {};
};

// A value per opcode, T() for those that are not listed: null for pointers to functions.
template <typename T>
class OpcodeMap {
 public:
  struct Row {
    HloOpcode opcode;
    T value;
  };
  consteval OpcodeMap(std::initializer_list<Row> rows) {
    for (const Row& row : rows) values_[static_cast<size_t>(row.opcode)] = row.value;
  }
  constexpr const T& operator[](HloOpcode opcode) const { return values_[static_cast<size_t>(opcode)]; }

 private:
  std::array<T, kHloOpcodeCount> values_ = {};
};

// True if `has` accepts each op of a family that takes operands of one of `classes`, `except` aside: for static_assert.
template <typename Has>
consteval bool CoversFamily(HloFamily family, uint32_t classes, Has has, const OpcodeSet& except = {}) {
  for (int i = 0; i < kHloOpcodeCount; ++i) {
    const HloOpcode opcode = static_cast<HloOpcode>(i);
    const HloOpcodeInfo& info = OpcodeInfo(opcode);
    if (info.family == family && (info.operand_types & classes) != 0 && !except.contains(opcode) && !has(opcode))
      return false;
  }
  return true;
}

}  // namespace hilo

#endif  // HILO_HLO_OPS_TABLE_OPCODE_MAP_H_
