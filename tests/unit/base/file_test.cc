#include "base/file.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>

#include "gtest/gtest.h"

namespace hilo {
namespace {

std::string TestPath() {
  return (std::filesystem::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name())
             .string() +
         std::to_string(getpid());
}

TEST(FileTest, Bytes_AreRead) {
  const std::string path = TestPath(), bytes("a\0b\n", 4);
  ASSERT_TRUE(WriteFile(path, bytes).ok());
  EXPECT_EQ(ReadFile(path).value(), bytes);
  ASSERT_TRUE(WriteFile(path, "").ok());
  EXPECT_EQ(ReadFile(path).value(), "");
  std::filesystem::remove(path);
}

TEST(FileTest, ErrorsNameThePath) {
  EXPECT_EQ(ReadFile("/nonexistent/x").status().ToString(),
            "NOT_FOUND: cannot open /nonexistent/x: No such file or directory");
  EXPECT_EQ(ReadFile("/").status().ToString(), "NOT_FOUND: cannot read /: Is a directory");
  EXPECT_EQ(WriteFile("/nonexistent/x", "a").ToString(),
            "UNAVAILABLE: cannot write /nonexistent/x: No such file or directory");
  EXPECT_EQ(WriteFile("/dev/full", "a").ToString(), "UNAVAILABLE: cannot write /dev/full: No space left on device");
  EXPECT_EQ(WriteFile("/dev/full", std::string(100'000, 'a')).ToString(),
            "UNAVAILABLE: cannot write /dev/full: No space left on device");
}

TEST(FileTest, CheckWritable_IsAsWritingWouldBe_AndMakesNothing) {
  const std::string path = TestPath();
  EXPECT_TRUE(CheckWritable(path).ok());
  EXPECT_FALSE(std::filesystem::exists(path));
  ASSERT_TRUE(WriteFile(path, "kept").ok());
  EXPECT_TRUE(CheckWritable(path).ok());
  EXPECT_EQ(ReadFile(path).value(), "kept");
  EXPECT_TRUE(CheckWritable("in_the_current_folder").ok());
  EXPECT_TRUE(CheckWritable("/dev/null").ok());
  for (const std::string& wrong : {std::string("/nonexistent/x"), std::string("/"), path + "/x"}) {
    const absl::Status written = WriteFile(wrong, "a");
    EXPECT_FALSE(written.ok());
    EXPECT_EQ(CheckWritable(wrong), written);
  }
  std::filesystem::remove(path);
}

TEST(FileTest, EndlessStream_IsAnError) {
  EXPECT_EQ(ReadFile("/dev/zero").status().ToString(),
            "RESOURCE_EXHAUSTED: /dev/zero is no ordinary file and holds more than 1073741824 bytes");
}

TEST(FileTest, TheLimitOnFileSizesIsAnError) {
  const std::string path = TestPath();
  struct rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 10;
  const auto handler = signal(SIGXFSZ, SIG_DFL);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const absl::Status at_close = WriteFile(path, std::string(100, 'a')),
                     at_once = WriteFile(path, std::string(100'000, 'a'));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, handler);
  EXPECT_EQ(at_close.ToString(), "UNAVAILABLE: cannot write " + path + ": File too large");
  EXPECT_EQ(at_once.ToString(), "UNAVAILABLE: cannot write " + path + ": File too large");
  sigset_t blocked;
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, nullptr, &blocked), 0);
  EXPECT_EQ(sigismember(&blocked, SIGXFSZ), 0);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace hilo
