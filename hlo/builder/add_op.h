// What Hilo's own code adds to an XlaBuilder: ops by their opcode, and attributes as text.
#ifndef HILO_HLO_BUILDER_ADD_OP_H_
#define HILO_HLO_BUILDER_ADD_OP_H_

#include <memory>
#include <string>

#include "absl/types/span.h"
#include "hilo/xla_builder.h"
#include "hlo/ops/table/attributes.h"
#include "hlo/ops/table/hlo_opcode.h"

namespace hilo {

// Adds any op: the basis of all functions of hilo/xla_builder.h. `stated` is the result's shape where inference cannot
// determine it.
XlaOp AddOp(XlaBuilder* builder, HloOpcode opcode, absl::Span<const XlaOp> operands,
            std::unique_ptr<OpAttributes> attributes = nullptr, absl::Span<const XlaComputation* const> called = {},
            const Shape* stated = nullptr);

// Returns the builder of the first operand that has one, or null.
XlaBuilder* BuilderOf(absl::Span<const XlaOp> operands);

// Stores an attribute that no opcode defines, as HLO text, on the op.
void AddExtraAttribute(XlaBuilder* builder, XlaOp op, std::string name, std::string text);

}  // namespace hilo

#endif  // HILO_HLO_BUILDER_ADD_OP_H_
