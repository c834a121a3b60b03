// A control group's quota limits the groups below it, and a container may or may not see its own group as the root of
// /sys/fs/cgroup. So each group from the one that /proc/self/cgroup names up to the root is read, and the least wins.
#include "base/cpu_count.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "absl/strings/numbers.h"
#include "base/errors.h"

namespace hilo {
namespace {

// Lowers `least` (0: none yet) to quota / period, both in microseconds.
void LowerTo(double quota, double period, int& least) {
  if (!(quota > 0) || !(period > 0)) return;
  const double cpus = std::clamp(std::ceil(quota / period), 1.0, 1e6);
  least = least == 0 ? static_cast<int>(cpus) : std::min(least, static_cast<int>(cpus));
}

// Reads the quota of one group: v2's file holds "QUOTA PERIOD" or "max PERIOD", v1 has a file for each, -1 for none.
void ReadGroup(const std::string& folder, int& least) {
  std::string word;
  double quota = 0;
  double period = 0;
  std::ifstream v2(folder + "/cpu.max");
  if (v2 >> word >> period && absl::SimpleAtod(word, &quota)) LowerTo(quota, period, least);
  std::ifstream v1_quota(folder + "/cpu.cfs_quota_us");
  std::ifstream v1_period(folder + "/cpu.cfs_period_us");
  if (v1_quota >> quota && v1_period >> period) LowerTo(quota, period, least);
}

int AffinityCount() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());  // more processors than the set has bits
}

}  // namespace

int CgroupCpuQuota(const std::string& root) {
  int least = 0;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // "0::/user.slice/x" in v2, "4:cpu,cpuacct:/x" in v1
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && ("," + controllers + ",").find(",cpu,") == std::string::npos) continue;
    const std::string mount = root + "/sys/fs/cgroup" + (controllers.empty() ? "" : "/" + controllers);
    std::string group = line.substr(second + 1);
    while (!group.empty() && group != "/") {
      ReadGroup(mount + group, least);
      group.erase(group.find_last_of('/') == std::string::npos ? 0 : group.find_last_of('/'));
    }
    ReadGroup(mount, least);
  }
  ReadGroup(root + "/sys/fs/cgroup/cpu", least);
  return least;
}

absl::StatusOr<int> NumThreadsVariable() {
  const char* text = std::getenv("HILO_NUM_THREADS");
  if (text == nullptr || *text == '\0') return 0;
  int count = 0;
  if (absl::SimpleAtoi(text, &count) && count >= 0 && count <= kMaxThreads) return count;
  return InvalidArgument("HILO_NUM_THREADS: expected a number from 0 (one per processor) to ", kMaxThreads, ", got ",
                         text);
}

int UsableCpuCount() {
  if (const absl::StatusOr<int> wanted = NumThreadsVariable(); wanted.ok() && *wanted >= 1) return *wanted;
  const int quota = CgroupCpuQuota("");
  return quota > 0 ? std::min(quota, AffinityCount()) : AffinityCount();
}

}  // namespace hilo
