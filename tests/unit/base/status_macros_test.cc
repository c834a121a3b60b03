#include "hilo/status_macros.h"

#include <memory>
#include <utility>

#include "base/errors.h"
#include "gtest/gtest.h"

namespace hilo {
namespace {

absl::StatusOr<std::unique_ptr<int>> Positive(int x) {
  if (x <= 0) return InvalidArgument("expected a positive number, got ", x);
  return std::make_unique<int>(x);
}

absl::StatusOr<int> Twice(int x) {
  HILO_ASSIGN_OR_RETURN(const std::unique_ptr<int> first, Positive(x));
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<int> second, Positive(x));
  return *first + *second;
}

absl::Status CheckSmall(int x) {
  HILO_RETURN_IF_ERROR(Positive(x).status());
  HILO_RET_CHECK(x < 100) << "x is " << x;
  return absl::OkStatus();
}

TEST(StatusMacrosTest, AssignOrReturn) {
  EXPECT_EQ(*Twice(4), 8);
  EXPECT_EQ(Twice(-4).status(), absl::InvalidArgumentError("expected a positive number, got -4"));
}

TEST(StatusMacrosTest, ReturnIfErrorAndRetCheck) {
  EXPECT_EQ(CheckSmall(4), absl::OkStatus());
  EXPECT_EQ(CheckSmall(0).code(), absl::StatusCode::kInvalidArgument);
  const absl::Status status = CheckSmall(100);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  const std::string message(status.message());
  EXPECT_EQ(message.find("internal check failed at tests/unit/base/status_macros_test.cc:"), 0u) << message;
  EXPECT_NE(message.find(": x < 100: x is 100"), std::string::npos) << message;
}

TEST(ErrorsTest, ContextKeepsTheCode) {
  EXPECT_EQ(AddContext(NotFound("no ", 3), "; in %x"), absl::NotFoundError("no 3; in %x"));
  EXPECT_EQ(AddContext(absl::OkStatus(), "; in %x"), absl::OkStatus());
}

}  // namespace
}  // namespace hilo
