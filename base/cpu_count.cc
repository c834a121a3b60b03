#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>

#include "absl/strings/numbers.h"
#include "base/thread_pool.h"

namespace hilo {
namespace {

// CPUs that the control group of the process may use, or 0 if it says nothing.
int CgroupQuota() {
  double quota = 0, period = 0;
  std::string word;
  if (std::ifstream v2("/sys/fs/cgroup/cpu.max"); v2 >> word >> period && absl::SimpleAtod(word, &quota) && period > 0) {
    return static_cast<int>(std::ceil(quota / period));
  }
  std::ifstream v1_quota("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"), v1_period("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  if (v1_quota >> quota && v1_period >> period && quota > 0 && period > 0) {
    return static_cast<int>(std::ceil(quota / period));
  }
  return 0;
}

}  // namespace

int UsableCpuCount() {
  int count = 1;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) count = std::max(1, CPU_COUNT(&set));
  if (const int quota = CgroupQuota(); quota > 0) count = std::min(count, quota);
  int wanted = 0;
  if (const char* text = std::getenv("HILO_NUM_THREADS"); text != nullptr && absl::SimpleAtoi(text, &wanted) && wanted > 0) {
    count = wanted;
  }
  return count;
}

}  // namespace hilo
