#include "tools/launch_job.h"

#include <sys/resource.h>

#include <filesystem>
#include <iterator>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace hilo::tools {
namespace {

int64_t OpenFiles() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

TEST(LaunchJobTest, ProcessThatCannotBeStarted_LeavesNoPipes) {
  LaunchJob job({});
  const int64_t before = OpenFiles();
  const absl::Status too_long = job.AddMember(
      {.name = "0", .arguments = {"true"}, .variables = {}, .host = "host", .input = std::string(2 << 20, 'x')});
  EXPECT_EQ(too_long.code(), absl::StatusCode::kInvalidArgument) << too_long;
  EXPECT_EQ(OpenFiles(), before);
  // At each of the pipes that are made before the process is.
  rlimit limit = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  int failures = 0;
  for (rlim_t files = 3;; ++files) {
    const rlimit few = {.rlim_cur = files, .rlim_max = limit.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    const absl::Status status =
        job.AddMember({.name = "1", .arguments = {"true"}, .variables = {}, .host = "host", .input = "x"});
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    if (status.ok()) break;
    ++failures;
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    EXPECT_EQ(OpenFiles(), before);
  }
  EXPECT_GE(failures, 6);  // two files for each of three pipes
}

TEST(LaunchJobTest, ProcessThatEnds_LeavesNoPipes) {
  const int64_t before = OpenFiles();
  {
    LaunchJob job({});
    ASSERT_EQ(job.AddMember({.name = "0", .arguments = {"true"}, .variables = {}, .host = "", .input = ""}),
              absl::OkStatus());
    const volatile int no_signal = 0;
    EXPECT_EQ(job.Await(&no_signal), 0);
  }
  EXPECT_EQ(OpenFiles(), before);
}

}  // namespace
}  // namespace hilo::tools
