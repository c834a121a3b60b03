// Operations that are known by name and attributes only: inference and evaluation say so.
#include "absl/strings/str_cat.h"
#include "hlo/ops/op.h"

namespace hilo {

#define HILO_PENDING(Opcode)                                                                         \
  template <>                                                                                        \
  absl::StatusOr<Shape> Infer<HloOpcode::Opcode>(const OpView& op) {                                 \
    return absl::UnimplementedError(                                                                 \
        absl::StrCat(HloOpcodeString(op.opcode), " is not supported yet: Hilo knows the op by name only")); \
  }                                                                                                  \
  template <>                                                                                        \
  absl::StatusOr<Literal> Evaluate<HloOpcode::Opcode>(const OpView& op, const Shape&, Operands) {    \
    return Infer<HloOpcode::Opcode>(op).status();                                                    \
  }

HILO_PENDING(kCustomCall)

}  // namespace hilo
