#include <algorithm>
#include <numeric>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "hilo/executable.h"

namespace hilo {

DeviceAssignment::DeviceAssignment(int64_t replica_count, int64_t partition_count)
    : replica_count_(replica_count), partition_count_(partition_count), devices_(replica_count * partition_count) {
  std::iota(devices_.begin(), devices_.end(), 0);
}

absl::StatusOr<DeviceAssignment> DeviceAssignment::Create(int64_t replica_count, int64_t partition_count,
                                                          absl::Span<const int> devices) {
  int64_t count;
  if (replica_count < 1 || partition_count < 1 || __builtin_mul_overflow(replica_count, partition_count, &count) ||
      count != static_cast<int64_t>(devices.size())) {
    return InvalidArgument("device assignment: expected a device for each of ", replica_count, " replicas and ",
                           partition_count, " partitions, got ", devices.size());
  }
  if (std::set<int>(devices.begin(), devices.end()).size() != devices.size() ||
      *std::min_element(devices.begin(), devices.end()) < 0) {
    return InvalidArgument("device assignment: expected different devices, got {", absl::StrJoin(devices, ","), "}");
  }
  DeviceAssignment assignment(1, 1);
  assignment.replica_count_ = replica_count;
  assignment.partition_count_ = partition_count;
  assignment.devices_.assign(devices.begin(), devices.end());
  return assignment;
}

std::string DeviceAssignment::ToString() const {
  std::string text = "{";
  for (int64_t replica = 0; replica < replica_count_; ++replica) {
    absl::StrAppend(&text, replica == 0 ? "{" : ",{",
                    absl::StrJoin(devices().subspan(replica * partition_count_, partition_count_), ","), "}");
  }
  return text + "}";
}

}  // namespace hilo
