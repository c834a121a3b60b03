#include "runtime/transfer_queue.h"

#include <atomic>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

namespace hilo {
namespace {

const absl::Time kNoLimit = absl::InfiniteFuture();
absl::Time Soon() { return absl::Now() + absl::Milliseconds(20); }

Literal Scalar(int32_t value) { return LiteralUtil::CreateR0(value); }
const Shape& ScalarShape() {
  static const Shape* shape = new Shape(ShapeUtil::MakeScalarShape(S32));
  return *shape;
}

TEST(TransferQueue, ItemsLeaveInTheOrderInWhichTheyCame) {
  TransferQueue queue("infeed");
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(queue.Push(Scalar(i), kNoLimit, nullptr).ok());
  EXPECT_EQ(3, queue.size());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(i, queue.Pop(&ScalarShape(), kNoLimit, nullptr)->GetFirstElement<int32_t>());
  EXPECT_EQ(0, queue.size());
}

TEST(TransferQueue, ItemOfOtherShape_IsConsumedAndBothShapesAreNamed) {
  TransferQueue queue("infeed");
  ASSERT_TRUE(queue.Push(LiteralUtil::CreateR1<float>({1, 2}), kNoLimit, nullptr).ok());
  const absl::Status status = queue.Pop(&ScalarShape(), kNoLimit, nullptr).status();
  EXPECT_EQ(absl::StatusCode::kInvalidArgument, status.code());
  EXPECT_EQ("infeed: expected an item of shape s32[], got f32[2]", status.message());
  EXPECT_EQ(0, queue.size());
  ASSERT_TRUE(queue.Push(LiteralUtil::CreateR1<float>({1, 2}), kNoLimit, nullptr).ok());
  EXPECT_TRUE(queue.Pop(nullptr, kNoLimit, nullptr).ok());
}

TEST(TransferQueue, WaitsEndAtDeadlinesAndCancellations) {
  TransferQueue queue("outfeed", /*max_bytes=*/4);
  EXPECT_EQ(absl::StatusCode::kDeadlineExceeded, queue.Pop(nullptr, Soon(), nullptr).status().code());
  ASSERT_TRUE(queue.Push(Scalar(1), kNoLimit, nullptr).ok());
  const absl::Status full = queue.Push(Scalar(2), Soon(), nullptr);
  EXPECT_EQ(absl::StatusCode::kDeadlineExceeded, full.code());
  EXPECT_EQ("the deadline passed while the outfeed waited for room", full.message());
  CancellationToken token;
  std::thread canceller([&] {
    absl::SleepFor(absl::Milliseconds(20));
    token.Cancel();
  });
  EXPECT_EQ(absl::StatusCode::kCancelled, queue.Push(Scalar(3), kNoLimit, &token).code());
  canceller.join();
  EXPECT_EQ(1, queue.size());
  // After its deadline a wait still returns items that are already there.
  EXPECT_TRUE(queue.Pop(nullptr, absl::InfinitePast(), nullptr).ok());
}

TEST(TransferQueue, MemoryIsBoundedButASingleItemMayBeLarger) {
  TransferQueue queue("infeed", /*max_bytes=*/8);
  ASSERT_TRUE(queue.Push(LiteralUtil::CreateR1<float>({1, 2, 3, 4}), kNoLimit, nullptr).ok());
  EXPECT_FALSE(queue.Push(Scalar(1), Soon(), nullptr).ok());
  std::thread consumer([&] {
    absl::SleepFor(absl::Milliseconds(20));
    queue.Pop(nullptr, kNoLimit, nullptr).IgnoreError();
  });
  EXPECT_TRUE(queue.Push(Scalar(1), kNoLimit, nullptr).ok());
  consumer.join();
  EXPECT_TRUE(queue.Push(Scalar(2), kNoLimit, nullptr).ok());
  EXPECT_FALSE(queue.Push(Scalar(3), Soon(), nullptr).ok());
}

TEST(TransferQueue, ManyThreads_LoseNoUpdates) {
  TransferQueue queue("infeed", /*max_bytes=*/16);
  constexpr int kThreads = 4, kItems = 200;
  std::vector<std::thread> threads;
  std::atomic<int64_t> sum{0};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kItems; ++i) queue.Push(Scalar(t * kItems + i), kNoLimit, nullptr).IgnoreError();
    });
    threads.emplace_back([&] {
      for (int i = 0; i < kItems; ++i) sum += queue.Pop(&ScalarShape(), kNoLimit, nullptr)->GetFirstElement<int32_t>();
    });
  }
  for (std::thread& thread : threads) thread.join();
  const int64_t count = kThreads * kItems;
  EXPECT_EQ(count * (count - 1) / 2, sum);
}

TEST(TransferQueue, Failure_EmptiesTheQueueAndEndsWaits) {
  TransferQueue queue("outfeed");
  ASSERT_TRUE(queue.Push(Scalar(1), kNoLimit, nullptr).ok());
  queue.Fail(absl::InternalError("broken"));
  EXPECT_EQ(0, queue.size());
  EXPECT_EQ("broken", queue.Pop(nullptr, kNoLimit, nullptr).status().message());
  queue.Restart();
  absl::Status seen;
  std::atomic<bool> ended = false;
  std::thread waiter([&] {
    seen = queue.Pop(nullptr, kNoLimit, nullptr).status();
    ended = true;
  });
  // Nothing tells when the other thread waits, so it is failed until it has been.
  while (!ended) {
    absl::SleepFor(absl::Milliseconds(20));
    queue.Fail(absl::InternalError("broken again"));
    queue.Restart();
  }
  waiter.join();
  EXPECT_EQ("broken again", seen.message());
  EXPECT_EQ(absl::StatusCode::kDeadlineExceeded, queue.Pop(nullptr, Soon(), nullptr).status().code());
}

}  // namespace
}  // namespace hilo
