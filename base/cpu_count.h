// The number of processors that this process may use.
#ifndef HILO_BASE_CPU_COUNT_H_
#define HILO_BASE_CPU_COUNT_H_

#include <string>

#include "absl/status/statusor.h"

namespace hilo {

// The most threads that a client may have.
inline constexpr int kMaxThreads = 4096;

// The value of HILO_NUM_THREADS; 0, "one per processor", if it is not set or empty. Errors: InvalidArgument if it is
// not a number from 0 to kMaxThreads.
absl::StatusOr<int> NumThreadsVariable();

// NumThreadsVariable() if that is a number from 1 on; else the least of the affinity mask and the quotas of the control
// groups that the process is in (v1 and v2, rounded up). At least 1.
int UsableCpuCount();

// The least quota, in processors rounded up, of the control groups of this process; 0 if none sets one. `root` replaces
// "/" in /proc/self/cgroup and /sys/fs/cgroup.
int CgroupCpuQuota(const std::string& root);

}  // namespace hilo

#endif  // HILO_BASE_CPU_COUNT_H_
