#include "collectives/processes/tcp_transport.h"

#include <sys/socket.h>

#include "absl/time/clock.h"
#include "gtest/gtest.h"

namespace hilo {
namespace {

// Takes its time with what it hears.
class SlowListener : public FrameListener {
 public:
  void OnFrame(int64_t, Frame frame) override {
    absl::SleepFor(absl::Milliseconds(200));
    if (frame.header().kind == FrameKind::kFail) heard = true;
  }
  void OnGone(int64_t, const absl::Status&, bool) override {}
  std::atomic<bool> heard{false};
};

// A process that fails says so and goes. Who sends to it afterwards must not take its going for the reason.
TEST(TcpTransportTest, FailedSend_FollowsTheLastMessageOfThePeer) {
  SlowListener listeners[2];
  std::unique_ptr<Transport> transports[2];
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
  for (int64_t process : {0, 1}) {
    std::vector<FileDescriptor> sockets(2);
    sockets[1 - process] = FileDescriptor(ends[process]);
    auto transport = TcpTransport::Create(std::move(sockets));
    ASSERT_TRUE(transport.ok()) << transport.status();
    transports[process] = *std::move(transport);
    ASSERT_TRUE(transports[process]->Start(&listeners[process]).ok());
  }
  transports[1]->Post(0, {.kind = FrameKind::kFail}, "for a reason");
  transports[1].reset();
  absl::Status status;
  while (status.ok())
    status = transports[0]->Send(1, {.kind = FrameKind::kCollective}, {"data"}, [] { return absl::OkStatus(); });
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  EXPECT_TRUE(listeners[0].heard);
}

}  // namespace
}  // namespace hilo
