#include "base/phase_times.h"

#include <gtest/gtest.h>

#include <thread>

namespace hilo {
namespace {

TEST(PhaseTimes, AddsUpPhasesInTheOrderOfTheirFirstStart) {
  PhaseTimes times;
  times.Install();
  {
    const PhaseTimer outer("pass", "a");
    EXPECT_EQ(times.current(), "pass a");
    std::thread([] { const PhaseTimer inner("llvm", "b", /*on_workers=*/true); }).join();
    EXPECT_EQ(times.current(), "pass a");
  }
  {
    const PhaseTimer again("pass", "a");
  }
  EXPECT_EQ(times.current(), "");
  const std::vector<PhaseTimes::Row> rows = times.rows();
  ASSERT_EQ(rows.size(), 2);
  EXPECT_EQ(rows[0].name, "a");
  EXPECT_EQ(rows[0].count, 2);
  EXPECT_FALSE(rows[0].on_workers);
  EXPECT_EQ(rows[1].name, "b");
  EXPECT_TRUE(rows[1].on_workers);
  EXPECT_GE(rows[0].nanoseconds, rows[1].nanoseconds);
}

TEST(PhaseTimes, CollectsNothingWhenNoneIsInstalled) {
  const PhaseTimes never_installed;
  {
    PhaseTimes gone;
    gone.Install();
  }
  {
    const PhaseTimer timer("pass", "a");
  }
  EXPECT_TRUE(never_installed.rows().empty());
}

}  // namespace
}  // namespace hilo
