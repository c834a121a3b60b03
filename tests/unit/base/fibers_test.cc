#include "base/fibers.h"

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace hilo {
namespace {

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HILO_TEST_WITHOUT_FIBERS
#endif
#endif
#if defined(__SANITIZE_THREAD__) || defined(HILO_TEST_WITHOUT_FIBERS)
#define RESERVE_OR_SKIP(count)          \
  ASSERT_FALSE(Fibers::Reserve(count)); \
  GTEST_SKIP() << "no fibers under ThreadSanitizer"
#else
#define RESERVE_OR_SKIP(count) ASSERT_TRUE(Fibers::Reserve(count))
#endif

TEST(FibersTest, BodiesAlternateAtEachYield) {
  RESERVE_OR_SKIP(3);
  std::string order;
  std::vector<std::function<void()>> bodies;
  for (char name : {'a', 'b', 'c'}) {
    bodies.emplace_back([&order, name] {
      for (int i = 0; i < 'd' - name; ++i) {  // a: three times, c: once
        order += name;
        Fibers::Yield();
      }
    });
  }
  EXPECT_FALSE(Fibers::IsInside());
  Fibers::Run(bodies);
  EXPECT_FALSE(Fibers::IsInside());
  EXPECT_EQ(order, "abcaba");
}

TEST(FibersTest, ABodyThatIsAloneYieldsToItself) {
  RESERVE_OR_SKIP(1);
  int steps = 0;
  Fibers::Run({[&] {
    EXPECT_TRUE(Fibers::IsInside());
    for (; steps < 5; ++steps) Fibers::Yield();
  }});
  EXPECT_EQ(steps, 5);
}

TEST(FibersTest, NoBodies) {
  Fibers::Run({});
  EXPECT_FALSE(Fibers::IsInside());
}

TEST(FibersTest, MoreBodiesThanBefore) {
  for (size_t count : {2, 50, 7}) {
    RESERVE_OR_SKIP(count);
    size_t ended = 0;
    const std::vector<std::function<void()>> bodies(count, [&] {
      Fibers::Yield();
      ++ended;
    });
    Fibers::Run(bodies);
    EXPECT_EQ(ended, count);
  }
}

TEST(FibersTest, NoFibersWithinAFiber) {
  RESERVE_OR_SKIP(1);
  bool inner = true;
  Fibers::Run({[&] { inner = Fibers::Reserve(1); }});
  EXPECT_FALSE(inner);
  EXPECT_TRUE(Fibers::Reserve(1));
}

// Each body has frames of its own and a deep stack, which others do not overwrite.
int64_t Descend(int depth) {
  volatile char frame[1000];
  frame[depth % 1000] = static_cast<char>(depth);
  if (depth == 0) {
    Fibers::Yield();
    return 0;
  }
  const int64_t below = Descend(depth - 1);
  return below + static_cast<unsigned char>(frame[depth % 1000]);
}

TEST(FibersTest, StacksAreDeepAndApart) {
  RESERVE_OR_SKIP(4);
  std::vector<int64_t> sums(4);
  std::vector<std::function<void()>> bodies;
  for (size_t i = 0; i < 4; ++i) bodies.emplace_back([&sums, i] { sums[i] = Descend(200 + static_cast<int>(i)); });
  Fibers::Run(bodies);
  EXPECT_EQ(sums, (std::vector<int64_t>{20100, 20301, 20503, 20706}));
}

TEST(FibersTest, ExceptionsAreCaughtWithinABody) {
  RESERVE_OR_SKIP(2);
  int caught = 0;
  const std::function<void()> body = [&] {
    Fibers::Yield();
    try {
      throw std::runtime_error("within a fiber");
    } catch (const std::runtime_error&) {
      ++caught;
    }
    Fibers::Yield();
  };
  Fibers::Run({body, body});
  EXPECT_EQ(caught, 2);
}

#if defined(__x86_64__)
TEST(FibersTest, EachHasAFloatingPointMode) {
  RESERVE_OR_SKIP(2);
  const unsigned before = _mm_getcsr();
  constexpr unsigned kFlush = 0x8040;
  // The first sets its mode before the second starts, and restores it while the second is in its own.
  unsigned started = 0, kept = 0;
  Fibers::Run({[&] {
                 _mm_setcsr(before | kFlush);
                 Fibers::Yield();
                 _mm_setcsr(before);
               },
               [&] {
                 started = _mm_getcsr();
                 _mm_setcsr(before | kFlush);
                 Fibers::Yield();
                 kept = _mm_getcsr();
                 _mm_setcsr(before);
               }});
  EXPECT_EQ(started & kFlush, 0u);
  EXPECT_EQ(kept & kFlush, kFlush);
  EXPECT_EQ(_mm_getcsr(), before);
}
#endif

}  // namespace
}  // namespace hilo
