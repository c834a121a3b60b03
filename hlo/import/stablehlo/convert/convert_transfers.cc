// Converts tokens, tuples, and transfers into and out of a running program.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/import/stablehlo/op_conversion.h"
#include "hlo/ops/collective/transfer_attributes.h"

namespace hilo::stablehlo {
namespace {

absl::StatusOr<Results> AfterAll(OpConversion& c) { return c.Split(c.Add(HloOpcode::kAfterAll, c.operands)); }

absl::StatusOr<Results> Tuple(OpConversion& c) { return c.Split(c.Add(HloOpcode::kTuple, c.operands)); }

absl::StatusOr<Results> TupleElement(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(1));
  HILO_ASSIGN_OR_RETURN(const int64_t index, c.Integer("index"));
  return c.Split(c.Element(c.operands[0], index));
}

absl::StatusOr<Results> OptimizationBarrier(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(c.op.results.size()));
  if (c.operands.empty()) return Results();
  HILO_ASSIGN_OR_RETURN(HloInstruction * value, c.Joined(c.operands));
  return c.Split(c.Add(HloOpcode::kOptimizationBarrier, {value}));
}

// The data that come with a token: all results but the last one.
absl::StatusOr<Shape> ReceivedShape(const OpConversion& c) {
  std::vector<Shape> shapes;
  for (size_t i = 0; i + 1 < c.op.results.size(); ++i) {
    HILO_ASSIGN_OR_RETURN(shapes.emplace_back(), c.ResultShape(i));
  }
  return shapes.size() == 1 ? shapes[0] : Shape(std::move(shapes));
}

// (data, token) to the data's elements and the token.
absl::StatusOr<Results> SplitReceived(OpConversion& c, absl::StatusOr<HloInstruction*> pair) {
  if (!pair.ok()) return pair.status();
  HILO_ASSIGN_OR_RETURN(HloInstruction * data, c.Element(*pair, 0));
  Results results;
  const size_t count = c.op.results.size() - 1;
  for (size_t i = 0; i < count; ++i) {
    results.push_back(data);
    if (count == 1) break;
    HILO_ASSIGN_OR_RETURN(results.back(), c.Element(data, static_cast<int64_t>(i)));
  }
  HILO_ASSIGN_OR_RETURN(results.emplace_back(), c.Element(*pair, 1));
  return results;
}

absl::Status ExpectTokenResult(const OpConversion& c) {
  if (!c.op.results.empty() && c.op.results.back()->type->kind == Type::Kind::kToken) return absl::OkStatus();
  return InvalidArgument("expected a token as the last result");
}

absl::StatusOr<Results> Infeed(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(1));
  HILO_RETURN_IF_ERROR(ExpectTokenResult(c));
  HILO_ASSIGN_OR_RETURN(const Shape data, ReceivedShape(c));
  const Shape shape(std::vector<Shape>{data, ShapeUtil::MakeTokenShape()});
  auto attributes = std::make_unique<InfeedAttrs>();
  attributes->infeed_config = std::string(c.Text("infeed_config"));
  return SplitReceived(c, c.Add(HloOpcode::kInfeed, c.operands, std::move(attributes), {}, &shape));
}

absl::StatusOr<Results> Outfeed(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectAtLeast(1));
  HILO_ASSIGN_OR_RETURN(HloInstruction * data, c.Joined(absl::MakeConstSpan(c.operands).first(c.operands.size() - 1)));
  auto attributes = std::make_unique<OutfeedAttrs>();
  attributes->outfeed_shape = data->shape();
  attributes->outfeed_config = std::string(c.Text("outfeed_config"));
  return c.Split(c.Add(HloOpcode::kOutfeed, {data, c.operands.back()}, std::move(attributes)));
}

// `to_host`: whether the operation sends. Channels between devices have type 1, from a device to the host 2, and from
// the host to a device 3.
absl::StatusOr<std::unique_ptr<TransferAttrs>> Transfer(const OpConversion& c, bool to_host) {
  const int64_t expected = !c.Flag("is_host_transfer") ? 1 : to_host ? 2 : 3;
  HILO_ASSIGN_OR_RETURN(const int64_t type, c.IntegerOr("channel_type", expected));
  if (type != expected)
    return InvalidArgument("expected ", expected, " as the channel's type where is_host_transfer is ",
                           c.Flag("is_host_transfer") ? "true" : "false", ", got ", type);
  auto attributes = std::make_unique<TransferAttrs>();
  HILO_ASSIGN_OR_RETURN(attributes->channel_id, c.Integer("channel_id"));
  attributes->is_host_transfer = c.Flag("is_host_transfer");
  return attributes;
}

// Adds to a transfer between devices who sends to whom, as HLO has it.
absl::Status NamePairs(const OpConversion& c, HloInstruction* transfer) {
  HILO_ASSIGN_OR_RETURN(const auto pairs, c.Pairs("source_target_pairs"));
  if (pairs.empty()) return absl::OkStatus();
  const std::string text = absl::StrJoin(pairs, ",", [](std::string* out, const std::pair<int64_t, int64_t>& pair) {
    absl::StrAppend(out, "{", pair.first, ",", pair.second, "}");
  });
  transfer->add_extra_attribute("frontend_attributes",
                                absl::StrCat("{_xla_send_recv_source_target_pairs={", text, "}}"));
  return absl::OkStatus();
}

absl::StatusOr<Results> Send(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectAtLeast(1));
  HILO_ASSIGN_OR_RETURN(HloInstruction * data, c.Joined(absl::MakeConstSpan(c.operands).first(c.operands.size() - 1)));
  HILO_ASSIGN_OR_RETURN(const auto attributes, Transfer(c, /*to_host=*/true));
  HILO_ASSIGN_OR_RETURN(HloInstruction * started,
                        c.Add(HloOpcode::kSend, {data, c.operands.back()}, attributes->Clone()));
  HILO_RETURN_IF_ERROR(NamePairs(c, started));
  return c.Split(c.Add(HloOpcode::kSendDone, {started}, attributes->Clone()));
}

absl::StatusOr<Results> Receive(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(1));
  HILO_RETURN_IF_ERROR(ExpectTokenResult(c));
  HILO_ASSIGN_OR_RETURN(const Shape data, ReceivedShape(c));
  HILO_ASSIGN_OR_RETURN(const auto attributes, Transfer(c, /*to_host=*/false));
  const Shape shape(std::vector<Shape>{data, ShapeUtil::MakeScalarShape(U32), ShapeUtil::MakeTokenShape()});
  HILO_ASSIGN_OR_RETURN(HloInstruction * started, c.Add(HloOpcode::kRecv, c.operands, attributes->Clone(), {}, &shape));
  HILO_RETURN_IF_ERROR(NamePairs(c, started));
  return SplitReceived(c, c.Add(HloOpcode::kRecvDone, {started}, attributes->Clone()));
}

constexpr ConversionRule kTransferRules[] = {
    {"stablehlo.after_all", AfterAll},
    {"stablehlo.create_token", AfterAll},
    {"stablehlo.get_tuple_element", TupleElement},
    {"stablehlo.infeed", Infeed},
    {"stablehlo.optimization_barrier", OptimizationBarrier},
    {"stablehlo.outfeed", Outfeed},
    {"stablehlo.recv", Receive},
    {"stablehlo.send", Send},
    {"stablehlo.tuple", Tuple},
};

}  // namespace

absl::Span<const ConversionRule> TransferRules() { return kTransferRules; }

}  // namespace hilo::stablehlo
