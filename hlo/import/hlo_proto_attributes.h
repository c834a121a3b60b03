// The attributes of instructions as fields of HloInstructionProto.
#ifndef HILO_HLO_IMPORT_HLO_PROTO_ATTRIBUTES_H_
#define HILO_HLO_IMPORT_HLO_PROTO_ATTRIBUTES_H_

#include "absl/status/statusor.h"
#include "hlo/import/hlo_proto_wire.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo {

// The attributes that an instruction of `opcode` has in `proto`, as text in the order of HLO text; without those that
// are left out as they hold their default, and without constants and called computations. Errors: InvalidArgument for
// values that are none and for fields that are missing.
absl::StatusOr<AttributeText> AttributesFromProto(HloOpcode opcode, const WireMessage& proto);

// The fields of `attributes` and of what is at its default.
// Errors: InvalidArgument for values that are none; Unimplemented for attributes for which the message has no field.
absl::StatusOr<WireWriter> AttributesToProto(HloOpcode opcode, const AttributeText& attributes);

}  // namespace hilo

#endif  // HILO_HLO_IMPORT_HLO_PROTO_ATTRIBUTES_H_
