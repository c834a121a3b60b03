#include "base/check.h"

#include "gtest/gtest.h"

namespace hilo {
namespace {

TEST(CheckTest, PassesWhenTrue) { HILO_CHECK(1 + 1 == 2); }

TEST(CheckDeathTest, NamesTheCondition) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const int one = 1;
  EXPECT_DEATH(HILO_CHECK(one == 2), "check failed: one == 2");
}

}  // namespace
}  // namespace hilo
