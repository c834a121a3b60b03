#include "base/work_budget.h"

#include "gtest/gtest.h"

namespace hilo {
namespace {

TEST(WorkBudgetTest, EndsWhenItIsSpent) {
  WorkBudget budget(nullptr, "walk", 10);
  EXPECT_TRUE(budget.Spend(4).ok());
  EXPECT_TRUE(budget.Spend(6).ok());
  EXPECT_EQ(0, budget.left());
  EXPECT_EQ("RESOURCE_EXHAUSTED: the walk takes more operations than it may", budget.Spend(1).ToString());
  EXPECT_FALSE(WorkBudget(nullptr, "walk", 10).Spend(INT64_MAX).ok());
}

TEST(WorkBudgetTest, PollsTheCancellation) {
  CancellationToken token;
  WorkBudget budget(&token, "walk");
  EXPECT_TRUE(budget.Spend(1).ok());
  token.Expire();
  absl::Status status;
  for (int i = 0; status.ok() && i < 100'000; ++i) status = budget.Spend(1);
  EXPECT_EQ("DEADLINE_EXCEEDED: the walk was ended by its deadline", status.ToString());
}

}  // namespace
}  // namespace hilo
