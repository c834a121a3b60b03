// What base/ knows of the process: its processors, its log, its cancelled runs.
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/cpu_count.h"
#include "base/log_sink.h"
#include "gtest/gtest.h"
#include "hilo/host.h"

namespace hilo {
namespace {

// A root folder with files in it, gone at the end.
class FakeRoot {
 public:
  FakeRoot() : path_(testing::TempDir() + "hilo_cpu_count_XXXXXX") { EXPECT_NE(mkdtemp(path_.data()), nullptr); }
  ~FakeRoot() { std::filesystem::remove_all(path_); }
  void Write(const std::string& name, const std::string& text) {
    const std::filesystem::path file = path_ + name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(CpuCountTest, NoQuota) {
  FakeRoot root;
  EXPECT_EQ(CgroupCpuQuota(root.path()), 0);
  root.Write("/proc/self/cgroup", "0::/\n");
  root.Write("/sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(CgroupCpuQuota(root.path()), 0);
}

TEST(CpuCountTest, TheLeastQuotaOfTheGroupsAboveWins) {
  FakeRoot root;
  root.Write("/proc/self/cgroup", "0::/outer/inner\n");
  root.Write("/sys/fs/cgroup/outer/inner/cpu.max", "400000 100000\n");
  EXPECT_EQ(CgroupCpuQuota(root.path()), 4);
  root.Write("/sys/fs/cgroup/outer/cpu.max", "150000 100000\n");
  EXPECT_EQ(CgroupCpuQuota(root.path()), 2);
  root.Write("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(CgroupCpuQuota(root.path()), 1);
}

TEST(CpuCountTest, VersionOne) {
  FakeRoot root;
  root.Write("/proc/self/cgroup", "5:memory:/x\n4:cpu,cpuacct:/x\n");
  root.Write("/sys/fs/cgroup/memory/x/cpu.cfs_quota_us", "100000\n");
  root.Write("/sys/fs/cgroup/memory/x/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(CgroupCpuQuota(root.path()), 0);
  root.Write("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "250000\n");
  root.Write("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(CgroupCpuQuota(root.path()), 3);
}

TEST(CpuCountTest, TheEnvironmentDecides) {
  setenv("HILO_NUM_THREADS", "7", 1);
  EXPECT_EQ(UsableCpuCount(), 7);
  for (const char* wrong : {"none", "-1", "2.5", "100000"}) {
    setenv("HILO_NUM_THREADS", wrong, 1);
    EXPECT_GE(UsableCpuCount(), 1);
    EXPECT_EQ(NumThreadsVariable().status().message(),
              absl::StrCat("HILO_NUM_THREADS: expected a number from 0 (one per processor) to 4096, got ", wrong));
  }
  for (const char* automatic : {"0", ""}) {
    setenv("HILO_NUM_THREADS", automatic, 1);
    EXPECT_EQ(*NumThreadsVariable(), 0);
  }
  unsetenv("HILO_NUM_THREADS");
  EXPECT_EQ(*NumThreadsVariable(), 0);
  EXPECT_GE(UsableCpuCount(), 1);
}

TEST(LogSinkTest, IsSilentByDefault) {
  std::vector<std::string> messages;
  LogInfo("unheard");
  SetLogSink([&](LogSeverity severity, absl::string_view message) {
    messages.push_back((severity == LogSeverity::kWarning ? "W " : "I ") + std::string(message));
  });
  LogInfo("one ", 1);
  LogWarning("two");
  SetLogSink(nullptr);
  LogInfo("unheard");
  EXPECT_EQ(messages, (std::vector<std::string>{"I one 1", "W two"}));
}

TEST(CancellationTest, TheFirstReasonStays) {
  CancellationToken token;
  EXPECT_FALSE(token.stopped());
  EXPECT_EQ(*token.flag(), 0);
  EXPECT_EQ(token.status(), absl::OkStatus());
  token.Expire();
  token.Cancel();
  EXPECT_TRUE(token.stopped());
  EXPECT_NE(*token.flag(), 0);
  EXPECT_EQ(token.status().code(), absl::StatusCode::kDeadlineExceeded);
}

}  // namespace
}  // namespace hilo
