// Infeed, outfeed, send and recv. Included by xla_builder.h.
#ifndef HILO_HLO_BUILDER_TRANSFER_OPS_H_
#define HILO_HLO_BUILDER_TRANSFER_OPS_H_

#include <cstdint>
#include <string>

#include "hlo/builder/channel_handle.h"
#include "shape/shape.h"

namespace hilo {

class XlaBuilder;
class XlaOp;

// The next item of the device's infeed, an array or a tuple of arrays. Infeeds without token are unordered.
XlaOp Infeed(XlaBuilder* builder, const Shape& shape, const std::string& config = "");
// A tuple of the item and a token.
XlaOp InfeedWithToken(XlaOp token, const Shape& shape, const std::string& config = "");
// Puts the operand, an array or a tuple of arrays, into the device's outfeed.
void Outfeed(XlaOp operand, const Shape& shape_with_layout, const std::string& outfeed_config);
// A token.
XlaOp OutfeedWithToken(XlaOp operand, XlaOp token, const Shape& shape_with_layout, const std::string& outfeed_config);

// To and from another device.
void Send(XlaOp operand, const ChannelHandle& handle);
XlaOp Recv(XlaBuilder* builder, const Shape& shape, const ChannelHandle& handle);
XlaOp SendWithToken(XlaOp operand, XlaOp token, const ChannelHandle& handle);       // a token
XlaOp RecvWithToken(XlaOp token, const Shape& shape, const ChannelHandle& handle);  // a tuple of the data and a token
// To and from the callbacks that the host gives to the run (ExecuteOptions::host_callbacks), by number. The type of the
// handle must be DEVICE_TO_HOST and HOST_TO_DEVICE.
XlaOp SendToHost(XlaOp operand, XlaOp token, const Shape& shape_with_layout, const ChannelHandle& handle);  // a token
XlaOp RecvFromHost(XlaOp token, const Shape& shape, const ChannelHandle& handle);  // a tuple of the data and a token

}  // namespace hilo

#endif  // HILO_HLO_BUILDER_TRANSFER_OPS_H_
