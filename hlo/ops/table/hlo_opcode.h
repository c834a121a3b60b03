// The opcodes of HLO and the properties of each in the table (hlo_opcode.def).
#ifndef HILO_HLO_OPS_TABLE_HLO_OPCODE_H_
#define HILO_HLO_OPS_TABLE_HLO_OPCODE_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "hilo/primitive_type.h"

namespace hilo {

enum class HloOpcode : uint8_t {
#define HLO_UNARY(opcode, ...) opcode,
#define HLO_BINARY(opcode, ...) opcode,
#define HLO_OP(opcode, ...) opcode,
#include "hlo/ops/table/hlo_opcode.def"
#undef HLO_UNARY
#undef HLO_BINARY
#undef HLO_OP
};

inline constexpr int kHloOpcodeCount = 0
#define HLO_UNARY(opcode, ...) +1
#define HLO_BINARY(opcode, ...) +1
#define HLO_OP(opcode, ...) +1
#include "hlo/ops/table/hlo_opcode.def"
#undef HLO_UNARY
#undef HLO_BINARY
#undef HLO_OP
    ;

// The kind of rule that an op follows.
enum class HloFamily : uint8_t { kUnary, kBinary, kOwn };

// Classes of element types, as a mask.
enum TypeClass : uint32_t {
  kBool = 1,         // PRED
  kSignedInt = 2,    // S1 .. S64
  kUnsignedInt = 4,  // U1 .. U64
  kFloat = 8,        // F4E2M1FN .. F64
  kComplex = 16,     // C64, C128
  kInt = kSignedInt | kUnsignedInt,
  kSigned = kSignedInt,
  kNumber = kInt | kFloat | kComplex,
};
bool InTypeClass(PrimitiveType type, uint32_t classes);

// Result element type of a unary op.
enum class ResultRule : uint8_t { kSameType, kComplexToReal, kPred };

// Properties that passes and emitters query, as a mask. One that implies another contains it.
enum HloTrait : uint32_t {
  kNoTraits = 0,
  kElementwise = 1,  // result element i depends on element i of each array operand (scalars may be broadcast)
  kCommutative = 2,
  kAssociative = 4,   // mathematically; floating-point rounding aside
  kMovement = 8,      // result elements are operand elements (or a padding value), moved
  kControlFlow = 16,  // runs called computations under native control flow
  kForwarding = 32,   // result shares the operand's memory: tuple, get-tuple-element, opt-barrier, add-dependency
  kSideEffect = 64,   // may not be deleted when unused, merged, copied, or computed at compile time
  kPerDevice = 128,   // depends on the device or on others: may not be computed at compile time
  kCollective = 256 | kPerDevice,  // devices compute it together; includes the starts of asynchronous pairs
  kTransfer = 512 | kSideEffect,   // exchanges data with the host or with one other device: infeed, send, ...
};

// The work of one element of an op's result, besides reading its operands (hlo/analysis/cost_model.cc has the numbers).
enum class OpCost : uint8_t {
  kNothing,     // no code: parameters, tuples
  kMove,        // a move, or the value of an index
  kTransposed,  // a move across lines of memory
  kIndexed,     // a move after bounds checks or computed starts
  kGathered,    // a move from an arbitrary address
  kArithmetic,  // an instruction or a few
  kDivision,
  kRemainder,
  kRoot,
  kExponential,
  kLogarithm,
  kTrigonometric,  // and other functions of about sixty instructions
  kPower,
  kOwn,  // depends on the attributes or on called computations
};

inline constexpr int kVariadic = -1;

// One row of the table.
struct HloOpcodeInfo {
  absl::string_view text;
  HloFamily family;
  int arity;               // kVariadic: any number
  uint32_t operand_types;  // unary and binary families; 0: the op's own rule
  ResultRule result_rule;  // unary family
  uint32_t traits;
  absl::string_view called;  // names of called computations, see the table
  OpCost cost;
};

// The table, in the order of HloOpcode.
inline constexpr HloOpcodeInfo kHloOpcodeTable[] = {
#define HLO_UNARY(opcode, text, function, types, rule, cost) \
  {text, HloFamily::kUnary, 1, types, ResultRule::rule, kElementwise, "", cost},
#define HLO_BINARY(opcode, text, function, types, traits, cost) \
  {text, HloFamily::kBinary, 2, types, ResultRule::kSameType, kElementwise | (traits), "", cost},
#define HLO_OP(opcode, text, arity, attributes, called, traits, cost) \
  {text, HloFamily::kOwn, arity, 0, ResultRule::kSameType, traits, called, cost},
#include "hlo/ops/table/hlo_opcode.def"
#undef HLO_UNARY
#undef HLO_BINARY
#undef HLO_OP
};

constexpr const HloOpcodeInfo& OpcodeInfo(HloOpcode opcode) { return kHloOpcodeTable[static_cast<int>(opcode)]; }

constexpr absl::string_view HloOpcodeString(HloOpcode opcode) { return OpcodeInfo(opcode).text; }
std::optional<HloOpcode> HloOpcodeFromString(absl::string_view text);
constexpr bool HasTrait(HloOpcode opcode, HloTrait trait) { return (OpcodeInfo(opcode).traits & trait) == trait; }
constexpr bool IsElementwise(HloOpcode opcode) { return HasTrait(opcode, kElementwise); }

}  // namespace hilo

#endif  // HILO_HLO_OPS_TABLE_HLO_OPCODE_H_
