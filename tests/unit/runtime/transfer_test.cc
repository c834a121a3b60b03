// Programs that exchange data with the host while they run.
#include <thread>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "hilo/client.h"
#include "hilo/xla_builder.h"

namespace hilo {
namespace {

// Takes n items, and puts the sum so far into the outfeed after each.
constexpr char kRunningSum[] = R"(HloModule running_sum
condition {
  s = (s32[], f32[], token[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  zero = s32[] constant(0)
  ROOT c = pred[] compare(i, zero), direction=GT
}
body {
  s = (s32[], f32[], token[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  sum = f32[] get-tuple-element(s), index=1
  t = token[] get-tuple-element(s), index=2
  in = (f32[], token[]) infeed(t)
  x = f32[] get-tuple-element(in), index=0
  u = token[] get-tuple-element(in), index=1
  more = f32[] add(sum, x)
  v = token[] outfeed(more, u), outfeed_shape=f32[]
  one = s32[] constant(1)
  j = s32[] subtract(i, one)
  ROOT r = (s32[], f32[], token[]) tuple(j, more, v)
}
ENTRY main {
  n = s32[] parameter(0)
  zero = f32[] constant(0)
  t = token[] after-all()
  init = (s32[], f32[], token[]) tuple(n, zero, t)
  w = (s32[], f32[], token[]) while(init), condition=condition, body=body
  ROOT r = f32[] get-tuple-element(w), index=1
})";

// Nothing but effects: the items taken are never looked at.
constexpr char kSkipAndTag[] = R"(HloModule skip_and_tag
condition {
  s = (s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  two = s32[] constant(2)
  ROOT c = pred[] compare(i, two), direction=LT
}
body {
  s = (s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  t = token[] after-all()
  in = (s32[], token[]) infeed(t)
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ROOT r = (s32[]) tuple(j)
}
yes {
  x = s32[] parameter(0)
  t = token[] after-all()
  o = token[] outfeed(x, t), outfeed_config="yes"
  ROOT r = (token[]) tuple(o)
}
no {
  x = s32[] parameter(0)
  t = token[] after-all()
  y = s32[] negate(x)
  o = token[] outfeed(y, t)
  p = token[] outfeed(x, o)
  ROOT r = (token[]) tuple(p)
}
ENTRY main {
  p = pred[] parameter(0)
  zero = s32[] constant(0)
  init = (s32[]) tuple(zero)
  w = (s32[]) while(init), condition=condition, body=body
  n = s32[] get-tuple-element(w), index=0
  c = (token[]) conditional(p, n, n), true_computation=yes, false_computation=no
  t = token[] get-tuple-element(c), index=0
  a = (s32[], token[]) infeed(t)
  u = token[] get-tuple-element(a), index=1
  b = (s32[], token[]) infeed(u)
  x = s32[] get-tuple-element(a), index=0
  y = s32[] get-tuple-element(b), index=0
  ROOT d = s32[] subtract(x, y)
})";

ChannelHandle Channel(int64_t number, ChannelHandle::ChannelType type) {
  ChannelHandle handle;
  handle.set_handle(number);
  handle.set_type(type);
  return handle;
}

class TransferTest : public testing::TestWithParam<std::string> {
 protected:
  void Compile(absl::string_view text) {
    client_ = *Client::Create({.platform = GetParam()});
    auto executable = client_->CompileHloText(text);
    ASSERT_TRUE(executable.ok()) << executable.status();
    executable_ = *std::move(executable);
  }
  absl::StatusOr<Literal> Run(std::vector<const Literal*> arguments, const ExecuteOptions& options = {}) {
    return executable_->ExecuteLiterals(arguments, options);
  }

  std::unique_ptr<Client> client_;
  std::unique_ptr<Executable> executable_;
};

TEST_P(TransferTest, Loop_ReceivesAndSendsInOrder) {
  Compile(kRunningSum);
  for (float x : {1.0f, 10.0f, 100.0f}) ASSERT_TRUE(client_->TransferToInfeed(LiteralUtil::CreateR0(x)).ok());
  const Literal three = LiteralUtil::CreateR0<int32_t>(3);
  auto sum = Run({&three});
  ASSERT_TRUE(sum.ok()) << sum.status();
  EXPECT_EQ(111.0f, sum->GetFirstElement<float>());
  for (float x : {1.0f, 11.0f, 111.0f}) {
    EXPECT_EQ(x, client_->TransferFromOutfeed(ShapeUtil::MakeScalarShape(F32))->GetFirstElement<float>());
  }
}

TEST_P(TransferTest, Launch_DoesNotWaitForTheHost) {
  Compile(kRunningSum);
  auto two = *client_->BufferFromLiteral(LiteralUtil::CreateR0<int32_t>(2));
  auto results = executable_->Execute({two.get()});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_FALSE((*results)[0]->IsReady());
  for (float x : {5.0f, 6.0f}) {
    ASSERT_TRUE(client_->TransferToInfeed(LiteralUtil::CreateR0(x)).ok());
    EXPECT_TRUE(client_->TransferFromOutfeed().ok());
  }
  EXPECT_EQ(11.0f, (*results)[0]->ToLiteral()->GetFirstElement<float>());
}

TEST_P(TransferTest, UnusedEffects_StayInOrder) {
  Compile(kSkipAndTag);
  for (bool tag : {true, false}) {
    for (int32_t x : {1, 2, 30, 4}) ASSERT_TRUE(client_->TransferToInfeed(LiteralUtil::CreateR0(x)).ok());
    const Literal flag = LiteralUtil::CreateR0(tag);
    auto result = Run({&flag});
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(26, result->GetFirstElement<int32_t>());
    if (!tag) {
      EXPECT_EQ(-2, client_->TransferFromOutfeed()->GetFirstElement<int32_t>());
    }
    EXPECT_EQ(2, client_->TransferFromOutfeed()->GetFirstElement<int32_t>());
    EXPECT_EQ(absl::StatusCode::kDeadlineExceeded,
              client_->TransferFromOutfeed(0, {.deadline = absl::ZeroDuration()}).status().code());
  }
}

TEST_P(TransferTest, ConsumersOfJoinedTokens_FollowAllProducers) {
  Compile(R"(HloModule joined
ENTRY main {
  x = s32[] parameter(0)
  t = token[] after-all()
  one = token[] outfeed(x, t), outfeed_shape=s32[]
  two = token[] outfeed(x, t), outfeed_shape=s32[]
  both = token[] after-all(two, one)
  y = s32[] negate(x)
  last = token[] outfeed(y, both), outfeed_shape=s32[]
  ROOT r = s32[] add-dependency(x, last)
})");
  const Literal three = LiteralUtil::CreateR0<int32_t>(3);
  auto result = Run({&three});
  ASSERT_TRUE(result.ok()) << result.status();
  for (int32_t x : {3, 3, -3}) EXPECT_EQ(x, client_->TransferFromOutfeed()->GetFirstElement<int32_t>());
}

TEST_P(TransferTest, TuplesAndEveryTypeOfElementTravel) {
  Compile(R"(HloModule tuples
ENTRY main {
  t = token[] after-all()
  in = ((f32[2,3]{0,1}, pred[2], s4[3], bf16[]), token[]) infeed(t)
  data = (f32[2,3], pred[2], s4[3], bf16[]) get-tuple-element(in), index=0
  u = token[] get-tuple-element(in), index=1
  o = token[] outfeed(data, u)
  ROOT x = f32[2,3] get-tuple-element(data), index=0
})");
  const Literal item =
      *ParseLiteral("(f32[2,3], pred[2], s4[3], bf16[]) ({{1,2,3},{4,5,6}}, {true,false}, {-8,7,1}, 2.5)");
  ASSERT_TRUE(client_->TransferToInfeed(item).ok());
  auto result = Run({});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(item.element(0), *result);
  auto back = client_->TransferFromOutfeed(item.shape());
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(item, *back);
}

TEST_P(TransferTest, ItemOfOtherShape_EndsTheRunAndEmptiesTheQueues) {
  Compile(kRunningSum);
  ASSERT_TRUE(client_->TransferToInfeed(LiteralUtil::CreateR0(1.0f)).ok());
  ASSERT_TRUE(client_->TransferToInfeed(LiteralUtil::CreateR1<float>({1, 2})).ok());
  ASSERT_TRUE(client_->TransferToInfeed(LiteralUtil::CreateR0(1.0f)).ok());
  const Literal three = LiteralUtil::CreateR0<int32_t>(3);
  const absl::Status status = Run({&three}).status();
  EXPECT_EQ(absl::StatusCode::kInvalidArgument, status.code()) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "infeed: expected an item of shape f32[], got f32[2]")) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "%in = ")) << status;
  EXPECT_EQ(status.message(), client_->TransferFromOutfeed().status().message());
  // The next run starts with empty queues.
  for (float x : {1.0f, 10.0f, 100.0f}) ASSERT_TRUE(client_->TransferToInfeed(LiteralUtil::CreateR0(x)).ok());
  EXPECT_EQ(111.0f, Run({&three})->GetFirstElement<float>());
  EXPECT_EQ(1.0f, client_->TransferFromOutfeed()->GetFirstElement<float>());
  EXPECT_EQ(absl::StatusCode::kInvalidArgument, client_
                                                    ->TransferToInfeed(Literal::MakeTuple([&] {
                                                      std::vector<Literal> inner;
                                                      inner.push_back(Literal::MakeTuple({}));
                                                      return inner;
                                                    }()))
                                                    .code());
  EXPECT_FALSE(client_->TransferToInfeed(three, /*device=*/1).ok());
}

TEST_P(TransferTest, WaitingRun_EndsAtItsDeadlineAndOnCancellation) {
  Compile(kRunningSum);
  const Literal one = LiteralUtil::CreateR0<int32_t>(1);
  EXPECT_EQ(absl::StatusCode::kDeadlineExceeded, Run({&one}, {.deadline = absl::Milliseconds(30)}).status().code());
  auto token = std::make_shared<CancellationToken>();
  std::thread canceller([&] {
    absl::SleepFor(absl::Milliseconds(30));
    token->Cancel();
  });
  EXPECT_EQ(absl::StatusCode::kCancelled, Run({&one}, {.cancellation = token}).status().code());
  canceller.join();
}

TEST_P(TransferTest, ClientDestruction_EndsWaitingRuns) {
  Compile(kRunningSum);
  auto two = *client_->BufferFromLiteral(LiteralUtil::CreateR0<int32_t>(2));
  auto results = executable_->Execute({two.get()});
  ASSERT_TRUE(results.ok());
  executable_.reset();
  client_.reset();
  EXPECT_EQ(absl::StatusCode::kCancelled, (*results)[0]->Await().code());
}

TEST_P(TransferTest, HostTransfersCallTheHost) {
  Compile(R"(HloModule host
ENTRY main {
  x = f32[2] parameter(0)
  t = token[] after-all()
  s = (f32[2], u32[], token[]) send(x, t), channel_id=7, is_host_transfer=true
  sent = token[] send-done(s), channel_id=7, is_host_transfer=true
  r = (f32[2], u32[], token[]) recv(sent), channel_id=8, is_host_transfer=true
  done = (f32[2], token[]) recv-done(r), channel_id=8, is_host_transfer=true
  y = f32[2] get-tuple-element(done), index=0
  ROOT z = f32[2] add(y, y)
})");
  const Literal x = LiteralUtil::CreateR1<float>({1, 2});
  auto callbacks = std::make_shared<HostCallbacks>();
  Literal sent;
  callbacks->sends.push_back({7, [&](int device, const Literal& data) {
                                EXPECT_EQ(0, device);
                                sent = data.Clone();
                                return absl::OkStatus();
                              }});
  EXPECT_TRUE(
      absl::StrContains(Run({&x}, {.host_callbacks = callbacks}).status().message(), "no callback for channel 8"));
  callbacks->recvs.push_back({8, [&](int, const Shape& shape) -> absl::StatusOr<Literal> {
                                EXPECT_EQ("f32[2]", shape.ToString());
                                return LiteralUtil::CreateR1<float>(
                                    {10 * sent.data<float>()[0], 10 * sent.data<float>()[1]});
                              }});
  auto result = Run({&x}, {.host_callbacks = callbacks});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(LiteralUtil::CreateR1<float>({20, 40}), *result);
  callbacks->recvs[0].callback = [](int, const Shape&) -> absl::StatusOr<Literal> {
    return LiteralUtil::CreateR0(1.0f);
  };
  EXPECT_TRUE(absl::StrContains(Run({&x}, {.host_callbacks = callbacks}).status().message(),
                                "the callback of channel 8: expected f32[2], got f32[]"));
  callbacks->sends[0].callback = [](int, const Literal&) { return absl::AbortedError("not now"); };
  EXPECT_EQ(absl::StatusCode::kAborted, Run({&x}, {.host_callbacks = callbacks}).status().code());
}

TEST_P(TransferTest, BuiltProgramsDoTheSame) {
  client_ = *Client::Create({.platform = GetParam()});
  XlaBuilder b("built");
  const Shape shape = ShapeUtil::MakeShape(F32, {2});
  const XlaOp first = InfeedWithToken(CreateToken(&b), shape);
  const XlaOp sum = GetTupleElement(first, 0) + Parameter(&b, 0, shape, "x");
  const XlaOp out = OutfeedWithToken(sum, GetTupleElement(first, 1), shape, "");
  const XlaOp sent = SendToHost(sum, out, shape, Channel(3, ChannelHandle::DEVICE_TO_HOST));
  const XlaOp received = RecvFromHost(sent, shape, Channel(4, ChannelHandle::HOST_TO_DEVICE));
  auto computation = b.Build(GetTupleElement(received, 0));
  ASSERT_TRUE(computation.ok()) << computation.status();
  auto executable = client_->Compile(*computation);
  ASSERT_TRUE(executable.ok()) << executable.status();
  executable_ = *std::move(executable);
  auto callbacks = std::make_shared<HostCallbacks>();
  callbacks->sends.push_back({3, [](int, const Literal&) { return absl::OkStatus(); }});
  callbacks->recvs.push_back(
      {4, [](int, const Shape&) { return absl::StatusOr<Literal>(LiteralUtil::CreateR1<float>({5, 6})); }});
  const Literal x = LiteralUtil::CreateR1<float>({1, 2});
  ASSERT_TRUE(client_->TransferToInfeed(x).ok());
  auto result = Run({&x}, {.host_callbacks = callbacks});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(LiteralUtil::CreateR1<float>({5, 6}), *result);
  EXPECT_EQ(LiteralUtil::CreateR1<float>({2, 4}), *client_->TransferFromOutfeed());
}

TEST_P(TransferTest, TransfersBetweenDevicesAreRefusedByName) {
  client_ = *Client::Create({.platform = GetParam()});
  XlaBuilder b("pair");
  const Shape shape = ShapeUtil::MakeShape(F32, {2});
  Send(Parameter(&b, 0, shape, "x"), Channel(1, ChannelHandle::DEVICE_TO_DEVICE));
  auto computation = b.Build(Recv(&b, shape, Channel(2, ChannelHandle::DEVICE_TO_DEVICE)));
  ASSERT_TRUE(computation.ok()) << computation.status();
  auto executable = client_->Compile(*computation);
  absl::Status status = executable.status();
  if (status.ok()) {
    const Literal x = LiteralUtil::CreateR1<float>({1, 2});
    status = (*executable)->ExecuteLiterals({&x}).status();
  }
  EXPECT_EQ(absl::StatusCode::kUnimplemented, status.code()) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "between devices")) << status;
}

INSTANTIATE_TEST_SUITE_P(Platforms, TransferTest, testing::Values("interpreter", "cpu"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hilo
