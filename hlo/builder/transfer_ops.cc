#include "base/errors.h"
#include "hilo/xla_builder.h"
#include "hlo/builder/add_op.h"
#include "hlo/ops/collective/transfer_attributes.h"

namespace hilo {
namespace {

std::unique_ptr<OpAttributes> TransferChannel(const ChannelHandle& handle, bool is_host_transfer) {
  auto attributes = std::make_unique<TransferAttrs>();
  attributes->channel_id = handle.handle();
  attributes->is_host_transfer = is_host_transfer;
  return attributes;
}

XlaOp SendPair(XlaOp operand, XlaOp token, const ChannelHandle& handle, bool is_host_transfer) {
  XlaBuilder* builder = operand.builder();
  if (builder == nullptr) return XlaOp();
  const XlaOp context = AddOp(builder, HloOpcode::kSend, {operand, token}, TransferChannel(handle, is_host_transfer));
  return AddOp(builder, HloOpcode::kSendDone, {context}, TransferChannel(handle, is_host_transfer));
}

XlaOp RecvPair(XlaOp token, const Shape& shape, const ChannelHandle& handle, bool is_host_transfer) {
  XlaBuilder* builder = token.builder();
  if (builder == nullptr) return XlaOp();
  const Shape stated(std::vector<Shape>{shape, ShapeUtil::MakeScalarShape(U32), ShapeUtil::MakeTokenShape()});
  const XlaOp context =
      AddOp(builder, HloOpcode::kRecv, {token}, TransferChannel(handle, is_host_transfer), {}, &stated);
  return AddOp(builder, HloOpcode::kRecvDone, {context}, TransferChannel(handle, is_host_transfer));
}

}  // namespace

XlaOp InfeedWithToken(XlaOp token, const Shape& shape, const std::string& config) {
  if (token.builder() == nullptr) return XlaOp();
  auto attributes = std::make_unique<InfeedAttrs>();
  attributes->infeed_config = config;
  const Shape stated(std::vector<Shape>{shape, ShapeUtil::MakeTokenShape()});
  return AddOp(token.builder(), HloOpcode::kInfeed, {token}, std::move(attributes), {}, &stated);
}

XlaOp Infeed(XlaBuilder* builder, const Shape& shape, const std::string& config) {
  return GetTupleElement(InfeedWithToken(CreateToken(builder), shape, config), 0);
}

XlaOp OutfeedWithToken(XlaOp operand, XlaOp token, const Shape& shape_with_layout, const std::string& outfeed_config) {
  if (operand.builder() == nullptr) return XlaOp();
  auto attributes = std::make_unique<OutfeedAttrs>();
  attributes->outfeed_shape = shape_with_layout;
  attributes->outfeed_config = outfeed_config;
  return AddOp(operand.builder(), HloOpcode::kOutfeed, {operand, token}, std::move(attributes));
}

void Outfeed(XlaOp operand, const Shape& shape_with_layout, const std::string& outfeed_config) {
  if (operand.builder() != nullptr)
    OutfeedWithToken(operand, CreateToken(operand.builder()), shape_with_layout, outfeed_config);
}

void Send(XlaOp operand, const ChannelHandle& handle) {
  if (operand.builder() != nullptr) SendWithToken(operand, CreateToken(operand.builder()), handle);
}
XlaOp Recv(XlaBuilder* builder, const Shape& shape, const ChannelHandle& handle) {
  return GetTupleElement(RecvWithToken(CreateToken(builder), shape, handle), 0);
}
XlaOp SendWithToken(XlaOp operand, XlaOp token, const ChannelHandle& handle) {
  return SendPair(operand, token, handle, /*is_host_transfer=*/false);
}
XlaOp RecvWithToken(XlaOp token, const Shape& shape, const ChannelHandle& handle) {
  return RecvPair(token, shape, handle, /*is_host_transfer=*/false);
}

XlaOp SendToHost(XlaOp operand, XlaOp token, const Shape& shape_with_layout, const ChannelHandle& handle) {
  XlaBuilder* builder = operand.builder();
  if (builder == nullptr) return XlaOp();
  if (handle.type() != ChannelHandle::DEVICE_TO_HOST) {
    return builder->ReportError(
        InvalidArgument("SendToHost: expected a channel of type DEVICE_TO_HOST, got type ", handle.type()));
  }
  const absl::StatusOr<Shape> shape = builder->GetShape(operand);
  if (shape.ok() && !ShapeUtil::Compatible(*shape, shape_with_layout)) {
    return builder->ReportError(InvalidArgument("SendToHost: expected a layout for ", shape->ToString(),
                                                ", got one for ", shape_with_layout.ToString()));
  }
  return SendPair(operand, token, handle, /*is_host_transfer=*/true);
}

XlaOp RecvFromHost(XlaOp token, const Shape& shape, const ChannelHandle& handle) {
  XlaBuilder* builder = token.builder();
  if (builder == nullptr) return XlaOp();
  if (handle.type() != ChannelHandle::HOST_TO_DEVICE) {
    return builder->ReportError(
        InvalidArgument("RecvFromHost: expected a channel of type HOST_TO_DEVICE, got type ", handle.type()));
  }
  return RecvPair(token, shape, handle, /*is_host_transfer=*/true);
}

}  // namespace hilo
