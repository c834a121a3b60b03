// What the builder's functions refuse before any op is made: each row is a misused call, and the words of the error
// that Build() returns.
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "hilo/xla_builder.h"
#include "hlo/builder/add_op.h"

namespace hilo {
namespace {

struct Refusal {
  std::string name, message;
  std::function<XlaOp(XlaBuilder*)> make;
};
void PrintTo(const Refusal& c, std::ostream* out) { *out << c.name; }

Shape FloatShape(std::vector<int64_t> sizes) { return ShapeUtil::MakeShape(F32, sizes); }

XlaOp Array(XlaBuilder* b, std::vector<int64_t> sizes) { return Parameter(b, 0, FloatShape(std::move(sizes)), "x"); }
XlaOp Pair(XlaBuilder* b) { return Tuple(b, {ConstantR0<float>(b, 1), ConstantR0<float>(b, 2)}); }
// An operand of another builder, whose shape this builder does not have.
XlaOp Foreign() {
  static XlaBuilder* const other = new XlaBuilder("other");
  static const XlaOp op = ConstantR0<float>(other, 1);
  return op;
}

ChannelHandle Channel(ChannelHandle::ChannelType type) {
  ChannelHandle handle;
  handle.set_handle(1);
  handle.set_type(type);
  return handle;
}

XlaComputation Sum() {
  XlaBuilder b("sum");
  Add(Parameter(&b, 0, FloatShape({}), "a"), Parameter(&b, 1, FloatShape({}), "b"));
  return *b.Build();
}

class RefusalTest : public testing::TestWithParam<Refusal> {};

TEST_P(RefusalTest, Message_StatesTheReason) {
  XlaBuilder b("refused");
  GetParam().make(&b);
  const absl::Status status = b.Build().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(status.message(), GetParam().message)) << status;
}

const std::vector<Refusal> kRefusals = {
    {"all_gather_of_a_tuple", "all-gather: expected arrays with a dimension 0; got (f32[], f32[])",
     [](XlaBuilder* b) { return AllGatherTuple({Pair(b)}, 0, 2); }},
    {"all_gather_dimension", "all-gather: expected arrays with a dimension 1; got f32[4]",
     [](XlaBuilder* b) { return AllGather(Array(b, {4}), 1, 2); }},
    {"all_gather_negative_dimension", "expected arrays with a dimension -1",
     [](XlaBuilder* b) { return AllGather(Array(b, {4}), -1, 2); }},
    {"all_gather_size", "does not go with 9223372036854775807 shards",
     [](XlaBuilder* b) { return AllGather(Array(b, {4}), 0, INT64_MAX); }},
    {"all_gather_of_nothing", "an operand in builder refused is an empty XlaOp",
     [](XlaBuilder* b) { return AllGatherTuple({Array(b, {4}), XlaOp()}, 0, 2); }},
    {"all_to_all_size", "1099511627776 pieces of f32[0,1152921504606846976] are too large",
     [](XlaBuilder* b) { return AllToAll(Array(b, {0, 1152921504606846976}), 0, 1, 1099511627776); }},
    {"reduce_scatter_size", "does not go with 3 shards",
     [](XlaBuilder* b) { return ReduceScatter(Array(b, {4}), Sum(), 0, 3); }},
    {"convolution_of_a_matrix", "convolution: expected an array with dimension 3; got f32[1,1,3]",
     [](XlaBuilder* b) {
       return Conv(Array(b, {1, 1, 5, 5}), Parameter(b, 1, FloatShape({1, 1, 3}), "k"), {1, 1}, Padding::kSame);
     }},
    {"convolution_of_a_tuple", "convolution: expected an array with dimension",
     [](XlaBuilder* b) { return Conv(Pair(b), Pair(b), {1}, Padding::kSame); }},
    {"convolution_padding", "convolution: expected 1 of padding; got 2",
     [](XlaBuilder* b) {
       return ConvGeneral(Array(b, {1, 1, 5}), Parameter(b, 1, FloatShape({1, 1, 3}), "k"), {1}, {{0, 0}, {0, 0}},
                          CreateDefaultConvDimensionNumbers(1));
     }},
    {"convolution_strides", "convolution: expected 1 of window_strides; got 2",
     [](XlaBuilder* b) {
       return ConvGeneral(Array(b, {1, 1, 5}), Parameter(b, 1, FloatShape({1, 1, 3}), "k"), {1, 1}, {{0, 0}},
                          CreateDefaultConvDimensionNumbers(1));
     }},
    {"convolution_lhs_dilation", "convolution: expected 1 of lhs_dilation; got 2",
     [](XlaBuilder* b) {
       return ConvWithGeneralPadding(Array(b, {1, 1, 5}), Parameter(b, 1, FloatShape({1, 1, 3}), "k"), {1}, {{0, 0}},
                                     {1, 1}, {1});
     }},
    {"convolution_rhs_dilation", "convolution: expected 1 of rhs_dilation; got 2",
     [](XlaBuilder* b) {
       return ConvWithGeneralPadding(Array(b, {1, 1, 5}), Parameter(b, 1, FloatShape({1, 1, 3}), "k"), {1}, {{0, 0}},
                                     {1}, {1, 1});
     }},
    {"dynamic_reshape_flags", "DynamicReshape: expected a flag for each of the 2 bounds, got 1",
     [](XlaBuilder* b) {
       return DynamicReshape(Array(b, {4}), {ConstantR0<int32_t>(b, 2), ConstantR0<int32_t>(b, 2)}, {2, 2}, {true});
     }},
    {"broadcast_in_dim_of_a_tuple", "expected an array; got (f32[], f32[])",
     [](XlaBuilder* b) { return BroadcastInDim(Pair(b), {2}, {}); }},
    {"broadcast_in_dim_list", "expected 1 broadcast_dimensions; got {0,1}",
     [](XlaBuilder* b) { return BroadcastInDim(Array(b, {4}), {4, 4}, {0, 1}); }},
    {"broadcast_in_dim_size", "expected size 3 or 1 in operand dimension 0; got 4",
     [](XlaBuilder* b) { return BroadcastInDim(Array(b, {4}), {3}, {0}); }},
    {"broadcast_in_dim_result", "expected sizes of at least 0, got -3",
     [](XlaBuilder* b) { return BroadcastInDim(Array(b, {4}), {-3}, {0}); }},
    {"reduce_window_of_a_tuple", "expected an array; got (f32[], f32[])",
     [](XlaBuilder* b) { return ReduceWindow(Pair(b), ConstantR0<float>(b, 0), Sum(), {2}, {1}, Padding::kSame); }},
    {"reduce_window_sizes", "padding: expected as many input sizes, window sizes and strides; got {4}, {2,2} and {1}",
     [](XlaBuilder* b) {
       return ReduceWindow(Array(b, {4}), ConstantR0<float>(b, 0), Sum(), {2, 2}, {1}, Padding::kSame);
     }},
    {"reduce_window_strides", "window sizes and strides; got {4}, {2} and {1,1}",
     [](XlaBuilder* b) {
       return ReduceWindow(Array(b, {4}), ConstantR0<float>(b, 0), Sum(), {2}, {1, 1}, Padding::kSame);
     }},
    {"reduce_window_of_size_0", "padding: expected window sizes and strides of at least 1; got {0} and {1}",
     [](XlaBuilder* b) {
       return ReduceWindow(Array(b, {4}), ConstantR0<float>(b, 0), Sum(), {0}, {1}, Padding::kSame);
     }},
    {"reduce_window_of_stride_0", "of at least 1; got {1} and {0}",
     [](XlaBuilder* b) {
       return ReduceWindow(Array(b, {4}), ConstantR0<float>(b, 0), Sum(), {1}, {0}, Padding::kSame);
     }},
    {"reduce_window_dilations", "reduce-window: expected 1 window dilations; got {1,1}",
     [](XlaBuilder* b) {
       return ReduceWindowWithGeneralPadding({Array(b, {4})}, {ConstantR0<float>(b, 0)}, Sum(), {2}, {1}, {}, {1, 1},
                                             {{0, 0}});
     }},
    {"reduce_window_base_dilations", "reduce-window: expected 1 base dilations; got {1,1}",
     [](XlaBuilder* b) {
       return ReduceWindowWithGeneralPadding({Array(b, {4})}, {ConstantR0<float>(b, 0)}, Sum(), {2}, {1}, {1, 1}, {},
                                             {{0, 0}});
     }},
    {"reduce_window_padding", "reduce-window: expected 1 pairs of padding; got 2",
     [](XlaBuilder* b) {
       return ReduceWindowWithGeneralPadding({Array(b, {4})}, {ConstantR0<float>(b, 0)}, Sum(), {2}, {1}, {}, {},
                                             {{0, 0}, {0, 0}});
     }},
    {"collapse_of_a_tuple", "collapse: expected an array; got (f32[], f32[])",
     [](XlaBuilder* b) { return Collapse(Pair(b), {0, 1}); }},
    {"starts_of_a_matrix", "expected start indices as scalars or one vector; got s32[1,1]",
     [](XlaBuilder* b) { return DynamicSlice(Array(b, {4}), Reshape(ConstantR1<int32_t>(b, {0}), {1, 1}), {1}); }},
    {"starts_of_a_tuple", "expected start indices as scalars or one vector; got (f32[], f32[])",
     [](XlaBuilder* b) { return DynamicSlice(Array(b, {4}), Pair(b), {1}); }},
    {"slice_limits", "slice: expected as many start indices, limit indices and strides",
     [](XlaBuilder* b) { return Slice(Array(b, {4}), {0}, {1, 2}, {1}); }},
    {"slice_strides", "slice: expected as many start indices, limit indices and strides",
     [](XlaBuilder* b) { return Slice(Array(b, {4}), {0}, {1}, {1, 1}); }},
    {"dot_of_scalars", "dot: expected vectors or matrices; got f32[] and f32[]",
     [](XlaBuilder* b) { return Dot(ConstantR0<float>(b, 1), ConstantR0<float>(b, 1)); }},
    {"dot_of_cuboids", "dot: expected vectors or matrices; got f32[2,2,2] and f32[2,2,2]",
     [](XlaBuilder* b) {
       const XlaOp x = Array(b, {2, 2, 2});
       return Dot(x, x);
     }},
    {"send_to_host_channel", "SendToHost: expected a channel of type DEVICE_TO_HOST",
     [](XlaBuilder* b) {
       return SendToHost(Array(b, {4}), CreateToken(b), FloatShape({4}), Channel(ChannelHandle::HOST_TO_DEVICE));
     }},
    {"send_to_host_layout", "SendToHost: expected a layout for f32[4], got one for f32[5]",
     [](XlaBuilder* b) {
       return SendToHost(Array(b, {4}), CreateToken(b), FloatShape({5}), Channel(ChannelHandle::DEVICE_TO_HOST));
     }},
    {"recv_from_host_channel", "RecvFromHost: expected a channel of type HOST_TO_DEVICE",
     [](XlaBuilder* b) {
       return RecvFromHost(CreateToken(b), FloatShape({4}), Channel(ChannelHandle::DEVICE_TO_HOST));
     }},
    {"parameter_shape", "expected sizes of at least 0, got -4",
     [](XlaBuilder* b) { return Parameter(b, 0, Shape(F32, {-4}), "x"); }},
    {"foreign_operand", "of another builder, other", [](XlaBuilder* b) { return Add(Array(b, {}), Foreign()); }},
    {"foreign_attribute", "of another builder, other",
     [](XlaBuilder* b) {
       AddExtraAttribute(b, Foreign(), "sharding", "{replicated}");
       return Array(b, {});
     }},
};

INSTANTIATE_TEST_SUITE_P(All, RefusalTest, testing::ValuesIn(kRefusals),
                         [](const auto& info) { return info.param.name; });

// A builder that Build() has used up makes nothing more, and says so of each kind of call.
TEST(RefusalTest, ConsumedBuilders) {
  const auto expect = [](const std::function<void(XlaBuilder*, XlaOp)>& use) {
    XlaBuilder b("used");
    const XlaOp x = Parameter(&b, 0, FloatShape({4}), "x");
    ASSERT_TRUE(b.Build().ok());
    use(&b, x);
    EXPECT_EQ(b.first_error().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_TRUE(absl::StrContains(b.first_error().message(), "builder used has been used up by Build()"))
        << b.first_error();
  };
  expect([](XlaBuilder*, XlaOp x) { Neg(x); });
  expect([](XlaBuilder* b, XlaOp) { Parameter(b, 1, FloatShape({}), "y"); });
  expect([](XlaBuilder* b, XlaOp) { ConstantR0<float>(b, 1); });
  expect([](XlaBuilder*, XlaOp x) { BroadcastInDim(x, {4}, {0}); });
  expect([](XlaBuilder*, XlaOp x) { Slice(x, {0}, {1}, {1}); });
  expect([](XlaBuilder*, XlaOp x) { LtTotalOrder(x, x); });
  expect([](XlaBuilder*, XlaOp x) { RngBitGenerator(RandomAlgorithm::kThreeFry, x, FloatShape({})); });
  expect([](XlaBuilder*, XlaOp x) { StochasticConvertType(x, x, S8); });
  expect([](XlaBuilder*, XlaOp x) { DynamicReshape(x, {}, {}, {}); });
}

}  // namespace
}  // namespace hilo
