#include "runtime/guarded.h"

#include <stdexcept>

#include "gtest/gtest.h"
#include "runtime/ffi/custom_call_status.h"

namespace hilo {
namespace {

template <typename Exception>
std::string Thrown(Exception exception) {
  return Guarded([&]() -> absl::Status { throw exception; }).ToString();
}

TEST(GuardedTest, ExceptionsBecomeStatuses) {
  EXPECT_TRUE(Guarded([] { return absl::OkStatus(); }).ok());
  EXPECT_EQ("RESOURCE_EXHAUSTED: the process is out of memory", Thrown(std::bad_alloc()));
  EXPECT_EQ("INTERNAL: unexpected exception: words", Thrown(std::runtime_error("words")));
  EXPECT_EQ("INTERNAL: unexpected exception of an unknown type", Thrown(7));
}

// Handlers in C set failures; what the message cannot hold leaves a failure without one.
TEST(GuardedTest, NoExceptionLeavesTheStatusOfACustomCall) {
  XlaCustomCallStatus status;
  XlaCustomCallStatusSetFailure(&status, "x", SIZE_MAX);
  ASSERT_TRUE(status.failure.has_value());
  EXPECT_EQ("", *status.failure);
}

}  // namespace
}  // namespace hilo
