#include "collectives/mesh.h"

#include <thread>

#include "absl/time/clock.h"
#include "gtest/gtest.h"

namespace hilo {
namespace {

// Takes its time with what it hears.
class SlowListener : public MeshListener {
 public:
  void OnFrame(int64_t, Frame frame) override {
    absl::SleepFor(absl::Milliseconds(200));
    if (frame.header.kind == FrameKind::kFail) heard = true;
  }
  void OnGone(int64_t, const absl::Status&) override {}
  std::atomic<bool> heard{false};
};

// A process that fails says so and goes. Who sends to it afterwards must not take its going for the reason.
TEST(MeshTest, FailedSend_FollowsTheLastMessageOfThePeer) {
  const std::shared_ptr<KeyValueStore> store = MakeInProcessStore();
  SlowListener listeners[2];
  std::unique_ptr<Mesh> meshes[2];
  std::vector<std::thread> threads;
  for (int64_t process : {0, 1}) {
    threads.emplace_back([&, process] {
      auto mesh = Mesh::Connect({.process_id = process,
                                 .process_count = 2,
                                 .store = store.get(),
                                 .name = "mesh",
                                 .host = "127.0.0.1",
                                 .deadline = absl::Now() + absl::Seconds(20)});
      ASSERT_TRUE(mesh.ok()) << mesh.status();
      meshes[process] = *std::move(mesh);
      ASSERT_TRUE(meshes[process]->Start(&listeners[process]).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(meshes[0] != nullptr && meshes[1] != nullptr);
  meshes[1]->Post(0, {.kind = FrameKind::kFail}, "for a reason");
  meshes[1].reset();
  absl::Status status;
  while (status.ok())
    status = meshes[0]->Send(1, {.kind = FrameKind::kCollective}, {"data"}, [] { return absl::OkStatus(); });
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  EXPECT_TRUE(listeners[0].heard);
}

}  // namespace
}  // namespace hilo
