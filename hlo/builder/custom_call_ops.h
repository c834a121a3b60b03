// XlaBuilder's custom calls. Included by xla_builder.h.
#ifndef HILO_HLO_BUILDER_CUSTOM_CALL_OPS_H_
#define HILO_HLO_BUILDER_CUSTOM_CALL_OPS_H_

#include <string>
#include <utility>

#include "absl/types/span.h"
#include "hlo/builder/xla_computation.h"
#include "hlo/ops/structure/custom_call_attributes.h"

namespace hilo {

class Literal;
class XlaBuilder;
class XlaOp;

// Result index; operand and the index in it.
using OutputOperandAliasing = std::pair<ShapeIndex, std::pair<int64_t, ShapeIndex>>;

// Calls the function that is registered as `call_target_name` (runtime/ffi/custom_call_registry.h) and returns a result
// of `shape`. `opaque` is its backend_config. A call without side effects may be removed if its result is unused,
// and be merged with another. Errors, in the builder: InvalidArgument unless aliases name equal shapes.
XlaOp CustomCall(XlaBuilder* builder, const std::string& call_target_name, absl::Span<const XlaOp> operands,
                 const Shape& shape, const std::string& opaque = "", bool has_side_effect = false,
                 absl::Span<const OutputOperandAliasing> output_operand_aliasing = {}, const Literal* literal = nullptr,
                 CustomCallSchedule schedule = SCHEDULE_NONE, CustomCallApiVersion api_version = API_VERSION_ORIGINAL);

// With a computation that is passed to the function.
XlaOp CustomCallWithComputation(XlaBuilder* builder, const std::string& call_target_name,
                                absl::Span<const XlaOp> operands, const XlaComputation& computation, const Shape& shape,
                                const std::string& opaque = "", bool has_side_effect = false,
                                absl::Span<const OutputOperandAliasing> output_operand_aliasing = {},
                                const Literal* literal = nullptr, CustomCallSchedule schedule = SCHEDULE_NONE,
                                CustomCallApiVersion api_version = API_VERSION_ORIGINAL);

// With operands in the layouts of `operand_shapes_with_layout`, and the result in that of `shape_with_layout`.
// Errors: also InvalidArgument if one of these arrays has no layout.
XlaOp CustomCallWithLayout(XlaBuilder* builder, const std::string& call_target_name, absl::Span<const XlaOp> operands,
                           const Shape& shape_with_layout, absl::Span<const Shape> operand_shapes_with_layout,
                           const std::string& opaque = "", bool has_side_effect = false,
                           absl::Span<const OutputOperandAliasing> output_operand_aliasing = {},
                           const Literal* literal = nullptr, CustomCallSchedule schedule = SCHEDULE_NONE,
                           CustomCallApiVersion api_version = API_VERSION_ORIGINAL);

}  // namespace hilo

#endif  // HILO_HLO_BUILDER_CUSTOM_CALL_OPS_H_
