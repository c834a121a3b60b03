#include "hilo/xla_builder.h"
#include "hlo/builder/add_op.h"
#include "hlo/ops/structure/custom_call_attributes.h"

namespace hilo {
namespace {

std::unique_ptr<CustomCallAttrs> CallAttributes(const std::string& target, const std::string& opaque,
                                                bool has_side_effect, absl::Span<const OutputOperandAliasing> aliasing,
                                                const Literal* literal, CustomCallSchedule schedule,
                                                CustomCallApiVersion api_version) {
  auto attributes = std::make_unique<CustomCallAttrs>();
  attributes->custom_call_target = target;
  attributes->custom_call_has_side_effect = has_side_effect;
  for (const auto& [output, operand] : aliasing) {
    attributes->output_to_operand_aliasing.push_back(
        {.output_index = output, .operand = operand.first, .operand_index = operand.second});
  }
  if (literal != nullptr) attributes->literal = literal->ToString();
  attributes->schedule = schedule;
  attributes->api_version = api_version;
  attributes->backend_config.text = opaque;
  return attributes;
}

}  // namespace

XlaOp CustomCall(XlaBuilder* builder, const std::string& call_target_name, absl::Span<const XlaOp> operands,
                 const Shape& shape, const std::string& opaque, bool has_side_effect,
                 absl::Span<const OutputOperandAliasing> output_operand_aliasing, const Literal* literal,
                 CustomCallSchedule schedule, CustomCallApiVersion api_version) {
  return AddOp(builder, HloOpcode::kCustomCall, operands,
               CallAttributes(call_target_name, opaque, has_side_effect, output_operand_aliasing, literal, schedule,
                              api_version),
               {}, &shape);
}

XlaOp CustomCallWithComputation(XlaBuilder* builder, const std::string& call_target_name,
                                absl::Span<const XlaOp> operands, const XlaComputation& computation, const Shape& shape,
                                const std::string& opaque, bool has_side_effect,
                                absl::Span<const OutputOperandAliasing> output_operand_aliasing, const Literal* literal,
                                CustomCallSchedule schedule, CustomCallApiVersion api_version) {
  return AddOp(builder, HloOpcode::kCustomCall, operands,
               CallAttributes(call_target_name, opaque, has_side_effect, output_operand_aliasing, literal, schedule,
                              api_version),
               {&computation}, &shape);
}

XlaOp CustomCallWithLayout(XlaBuilder* builder, const std::string& call_target_name, absl::Span<const XlaOp> operands,
                           const Shape& shape_with_layout, absl::Span<const Shape> operand_shapes_with_layout,
                           const std::string& opaque, bool has_side_effect,
                           absl::Span<const OutputOperandAliasing> output_operand_aliasing, const Literal* literal,
                           CustomCallSchedule schedule, CustomCallApiVersion api_version) {
  absl::Status layouts = ShapeUtil::ValidateWithLayout(shape_with_layout);
  for (const Shape& shape : operand_shapes_with_layout) layouts.Update(ShapeUtil::ValidateWithLayout(shape));
  if (!layouts.ok()) return builder->ReportError(layouts);
  auto attributes = CallAttributes(call_target_name, opaque, has_side_effect, output_operand_aliasing, literal,
                                   schedule, api_version);
  attributes->operand_layout_constraints.shapes.emplace(operand_shapes_with_layout.begin(),
                                                        operand_shapes_with_layout.end());
  return AddOp(builder, HloOpcode::kCustomCall, operands, std::move(attributes), {}, &shape_with_layout);
}

}  // namespace hilo
