#include "runtime/device_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace hilo {
namespace {

using Order = DeviceQueue::Order;

constexpr absl::Duration kLong = absl::Seconds(20);

TEST(DeviceQueueTest, PiecesInOrderDoNotOvertake) {
  std::vector<int> ran;
  {
    DeviceQueue queue;
    for (int i = 0; i < 100; ++i) {
      queue.Enqueue([&ran, i] {
        EXPECT_FALSE(DeviceQueue::RunsBesideAnother());
        ran.push_back(i);
      });
    }
  }
  ASSERT_EQ(ran.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(ran[i], i);
}

TEST(DeviceQueueTest, IndependentPiecesRunBesideEachOther) {
  absl::Notification enqueued, first, second;
  {
    DeviceQueue queue;
    queue.Enqueue([&] { enqueued.WaitForNotification(); });
    // Each waits for the other.
    queue.Enqueue(
        [&] {
          EXPECT_TRUE(queue.IsCurrent());
          EXPECT_TRUE(DeviceQueue::RunsBesideAnother());
          first.Notify();
          EXPECT_TRUE(second.WaitForNotificationWithTimeout(kLong));
        },
        Order::kIndependent);
    queue.Enqueue(
        [&] {
          EXPECT_TRUE(queue.IsCurrent());
          EXPECT_TRUE(DeviceQueue::RunsBesideAnother());
          second.Notify();
          EXPECT_TRUE(first.WaitForNotificationWithTimeout(kLong));
        },
        Order::kIndependent);
    enqueued.Notify();
    first.WaitForNotification();
    second.WaitForNotification();
  }
}

TEST(DeviceQueueTest, OneIndependentPieceAloneHasAllThreads) {
  DeviceQueue queue;
  absl::Notification done;
  queue.Enqueue(
      [&] {
        EXPECT_FALSE(DeviceQueue::RunsBesideAnother());
        done.Notify();
      },
      Order::kIndependent);
  EXPECT_TRUE(done.WaitForNotificationWithTimeout(kLong));
}

// Once two pieces have run beside each other, the second thread must not go on to take what comes one by one: it would
// run on one processor while the first thread waits.
TEST(DeviceQueueTest, PiecesThatAreAwaitedHaveAllThreadsAgain) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    DeviceQueue queue;
    absl::Notification enqueued, first, second;
    queue.Enqueue([&] { enqueued.WaitForNotification(); });
    const auto meet = [](absl::Notification* own, absl::Notification* other) {
      own->Notify();
      EXPECT_TRUE(other->WaitForNotificationWithTimeout(kLong));
    };
    queue.Enqueue([&] { meet(&first, &second); }, Order::kIndependent);
    queue.Enqueue([&] { meet(&second, &first); }, Order::kIndependent);
    enqueued.Notify();
    while (!queue.IsIdle()) absl::SleepFor(absl::Milliseconds(1));
    absl::SleepFor(absl::Milliseconds(2));  // both threads wait
    for (int i = 0; i < 20; ++i) {
      absl::Notification done;
      queue.Enqueue(
          [&] {
            EXPECT_FALSE(DeviceQueue::RunsBesideAnother());
            done.Notify();
          },
          Order::kIndependent);
      done.WaitForNotification();
      while (!queue.IsIdle()) absl::SleepFor(absl::Microseconds(50));
    }
  }
}

TEST(DeviceQueueTest, NothingStartsBesideAPieceInOrder) {
  absl::Notification enqueued;
  std::atomic<int> started{0};
  {
    DeviceQueue queue;
    queue.Enqueue([&] {
      enqueued.WaitForNotification();
      absl::SleepFor(absl::Milliseconds(50));
      EXPECT_EQ(started, 0);
    });
    for (int i = 0; i < 2; ++i) queue.Enqueue([&] { ++started; }, Order::kIndependent);
    enqueued.Notify();
  }
  EXPECT_EQ(started, 2);
}

TEST(DeviceQueueTest, AllWorkIsDoneBeforeTheQueueIsGone) {
  for (int repetition = 0; repetition < 50; ++repetition) {
    std::atomic<int> done{0};
    {
      DeviceQueue queue;
      for (int i = 0; i < 100; ++i) queue.Enqueue([&] { ++done; }, i % 3 == 0 ? Order::kInOrder : Order::kIndependent);
    }
    EXPECT_EQ(done, 100);
  }
}

// The last reference may be released by a piece of work, on either thread.
TEST(DeviceQueueTest, APieceOfWorkMayDestroyTheQueue) {
  for (int repetition = 0; repetition < 50; ++repetition) {
    auto done = std::make_shared<std::atomic<int>>(0);
    auto ended = std::make_shared<absl::Notification>();
    auto queue = std::make_shared<DeviceQueue>();
    for (int i = 0; i < 20; ++i) {
      queue->Enqueue(
          [queue, done, ended]() mutable {
            queue.reset();
            if (++*done == 20) ended->Notify();
          },
          Order::kIndependent);
    }
    queue.reset();
    EXPECT_TRUE(ended->WaitForNotificationWithTimeout(kLong));
  }
}

}  // namespace
}  // namespace hilo
