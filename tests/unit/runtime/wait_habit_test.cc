#include "runtime/wait_habit.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <thread>

#include "runtime/time_thresholds.h"

namespace hilo {
namespace {

void WaitLong() { std::this_thread::sleep_for(std::chrono::nanoseconds(2 * kWaitsAtOnceNanoseconds)); }

// Runs until the habit is what is expected: a wait after a run may take longer than it should on a loaded machine.
bool Becomes(const std::shared_ptr<WaitHabit>& habit, bool expected, void (*after_run)()) {
  for (int run = 0; run < 1000 && habit->WaitsAtOnce() != expected; ++run) {
    WaitHabit::Returned(habit);
    after_run();
  }
  return habit->WaitsAtOnce() == expected;
}

TEST(WaitHabitTest, CallersThatWaitAtOnceAreKnownAfterTwoRuns) {
  auto habit = std::make_shared<WaitHabit>();
  WaitHabit::Returned(habit);
  WaitHabit::Waits();
  EXPECT_FALSE(habit->WaitsAtOnce());
  EXPECT_TRUE(Becomes(habit, true, [] { WaitHabit::Waits(); }));
}

TEST(WaitHabitTest, CallersThatPrepareTheNextRunForgoTheHabit) {
  auto habit = std::make_shared<WaitHabit>();
  ASSERT_TRUE(Becomes(habit, true, [] { WaitHabit::Waits(); }));
  EXPECT_TRUE(Becomes(habit, false, [] {}));
}

TEST(WaitHabitTest, WaitsAfterOtherWorkDoNotCount) {
  auto habit = std::make_shared<WaitHabit>();
  ASSERT_TRUE(Becomes(habit, true, [] { WaitHabit::Waits(); }));
  EXPECT_TRUE(Becomes(habit, false, [] {
    WaitLong();
    WaitHabit::Waits();
  }));
}

TEST(WaitHabitTest, OnlyTheFirstWaitAfterARunCounts) {
  auto habit = std::make_shared<WaitHabit>();
  WaitHabit::Returned(habit);
  for (int i = 0; i < 10; ++i) WaitHabit::Waits();
  EXPECT_FALSE(habit->WaitsAtOnce());
}

TEST(WaitHabitTest, ProgramsMayBeDestroyedBetweenARunAndTheWait) {
  auto habit = std::make_shared<WaitHabit>();
  WaitHabit::Returned(habit);
  habit.reset();
  WaitHabit::Waits();
}

TEST(WaitHabitTest, TimesCountFromTheSecondRunOnAndLongOnesAreForgotten) {
  WaitHabit habit;
  habit.Took(100);
  EXPECT_EQ(habit.RecentNanoseconds(), std::numeric_limits<int64_t>::max());
  habit.Took(300);
  EXPECT_EQ(habit.RecentNanoseconds(), 300);
  habit.Took(1'000'000);
  EXPECT_EQ(habit.RecentNanoseconds(), 1'000'000);
  habit.Took(300);
  EXPECT_EQ(habit.RecentNanoseconds(), 875'000);
  for (int run = 0; run < 100; ++run) habit.Took(300);
  EXPECT_LT(habit.RecentNanoseconds(), 310);
}

}  // namespace
}  // namespace hilo
