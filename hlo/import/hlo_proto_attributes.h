// The attributes of instructions as fields of HloInstructionProto.
#ifndef HILO_HLO_IMPORT_HLO_PROTO_ATTRIBUTES_H_
#define HILO_HLO_IMPORT_HLO_PROTO_ATTRIBUTES_H_

#include "absl/status/statusor.h"
#include "hlo/import/hlo_proto_wire.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo {

// The attributes that an instruction of `opcode` has in `proto`, as text in the order of HLO text; without attributes
// at their default, constants and called computations. Errors: InvalidArgument for
// invalid values and for fields that are missing.
absl::StatusOr<AttributeText> AttributesFromProto(HloOpcode opcode, const WireMessage& proto);

// The fields of `attributes` and of attributes at their default.
// Errors: InvalidArgument for invalid values; Unimplemented for attributes for which the message has no field.
absl::StatusOr<WireWriter> AttributesToProto(HloOpcode opcode, const AttributeText& attributes);

}  // namespace hilo

#endif  // HILO_HLO_IMPORT_HLO_PROTO_ATTRIBUTES_H_
