// Shardings that operations of the dialect sdy and custom calls state.
#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/import/stablehlo/op_conversion.h"
#include "hlo/import/stablehlo/shardings.h"
#include "hlo/ops/structure/custom_call_attributes.h"

namespace hilo::stablehlo {
namespace {

// In HLO a custom call states the sharding of a value from there on. The collectives of the dialect leave the value as
// it is for the whole program: the axes that they name follow from the shardings before and behind them.
absl::StatusOr<Results> ShardingMark(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(1));
  const Attribute* sharding = c.op.Find("sharding");
  if (sharding == nullptr) sharding = c.op.Find("out_sharding");
  if (sharding == nullptr) return InvalidArgument("expected a sharding");
  HILO_ASSIGN_OR_RETURN(const std::string text, c.state.shardings->HloText(*sharding));
  auto attributes = std::make_unique<CustomCallAttrs>();
  attributes->custom_call_target = "Sharding";
  HILO_ASSIGN_OR_RETURN(HloInstruction * mark,
                        c.Add(HloOpcode::kCustomCall, c.operands, std::move(attributes), {}, &c.operands[0]->shape()));
  mark->add_extra_attribute("sharding", text);
  HILO_ASSIGN_OR_RETURN(const std::string axes, c.state.shardings->Text(*sharding));
  // HLO's own notation has no words for dimensions that are open, and for priorities.
  if (absl::StrContains(axes, "?") || absl::StrContains(axes, "}p"))
    mark->add_extra_attribute("frontend_attributes", Shardings::FrontendText({axes}));
  return Results{mark};
}

// A mark that nothing uses.
absl::StatusOr<Results> ShardingGroup(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(1));
  HILO_ASSIGN_OR_RETURN(const int64_t group, c.Integer("group_id"));
  auto attributes = std::make_unique<CustomCallAttrs>();
  attributes->custom_call_target = "xla.sdy.ShardingGroup";
  attributes->custom_call_has_side_effect = true;
  HILO_ASSIGN_OR_RETURN(HloInstruction * mark,
                        c.Add(HloOpcode::kCustomCall, c.operands, std::move(attributes), {}, &c.operands[0]->shape()));
  mark->add_extra_attribute("frontend_attributes", absl::StrCat("{xla.sdy.sharding_group_id=\"", group, "\"}"));
  return Results();
}

// A mark past which shardings are propagated in one direction at most.
absl::StatusOr<Results> PropagationBarrier(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(1));
  static constexpr absl::string_view kDirections[] = {"NONE", "FORWARD", "BACKWARD"};
  int64_t number = 0;
  if (const absl::StatusOr<int64_t> given = c.Integer("allowed_direction"); given.ok()) {
    number = *given;
  } else {
    HILO_ASSIGN_OR_RETURN(const absl::string_view direction, c.OneOf("allowed_direction", kDirections));
    number = absl::c_find(kDirections, direction) - kDirections;
  }
  auto attributes = std::make_unique<CustomCallAttrs>();
  attributes->custom_call_target = "xla.sdy.PropagationBarrier";
  HILO_ASSIGN_OR_RETURN(HloInstruction * mark,
                        c.Add(HloOpcode::kCustomCall, c.operands, std::move(attributes), {}, &c.operands[0]->shape()));
  mark->add_extra_attribute("frontend_attributes", absl::StrCat("{xla.sdy.allowed_direction=\"", number, " : i32\"}"));
  return Results{mark};
}

constexpr ConversionRule kShardingRules[] = {
    {"sdy.all_gather", ShardingMark},
    {"sdy.all_reduce", ShardingMark},
    {"sdy.all_slice", ShardingMark},
    {"sdy.all_to_all", ShardingMark},
    {"sdy.collective_permute", ShardingMark},
    {"sdy.propagation_barrier", PropagationBarrier},
    {"sdy.reduce_scatter", ShardingMark},
    {"sdy.replicated_to_unreduced", ShardingMark},
    {"sdy.reshard", ShardingMark},
    {"sdy.sharded_to_unreduced", ShardingMark},
    {"sdy.sharding_constraint", ShardingMark},
    {"sdy.sharding_group", ShardingGroup},
};

}  // namespace

absl::Span<const ConversionRule> ShardingRules() { return kShardingRules; }

absl::Status ShardCustomCall(const OpConversion& c, const Results& results) {
  const Attribute* shardings = c.op.Find("sdy.sharding");
  if (shardings == nullptr || shardings->elements.size() != results.size() || results.empty()) return absl::OkStatus();
  HloInstruction* call = results[0];
  while (call->opcode() != HloOpcode::kCustomCall && call->operand_count() == 1) call = call->mutable_operand(0);
  if (call->opcode() != HloOpcode::kCustomCall) return absl::OkStatus();
  std::vector<std::string> texts;
  for (const Attribute* sharding : shardings->elements) {
    HILO_ASSIGN_OR_RETURN(texts.emplace_back(), c.state.shardings->HloText(*sharding));
  }
  call->add_extra_attribute("sharding",
                            call->shape().IsTuple() ? absl::StrCat("{", absl::StrJoin(texts, ", "), "}") : texts[0]);
  return absl::OkStatus();
}

}  // namespace hilo::stablehlo
