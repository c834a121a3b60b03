// DeviceAssignment: maps replicas and partitions of a program to devices.
#ifndef HILO_RUNTIME_DEVICE_ASSIGNMENT_H_
#define HILO_RUNTIME_DEVICE_ASSIGNMENT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace hilo {

// A table of replica_count x partition_count numbers of devices. Devices are also listed flat: that of replica r and
// partition p is number r * partition_count + p.
class DeviceAssignment {
 public:
  // One device: number 0.
  DeviceAssignment() = default;
  // Devices 0, 1, 2 ... in order.
  DeviceAssignment(int64_t replica_count, int64_t partition_count);
  // Errors: InvalidArgument unless there are replica_count * partition_count different devices, none negative.
  static absl::StatusOr<DeviceAssignment> Create(int64_t replica_count, int64_t partition_count,
                                                 absl::Span<const int> devices);

  int64_t replica_count() const { return replica_count_; }
  int64_t partition_count() const { return partition_count_; }
  int64_t device_count() const { return static_cast<int64_t>(devices_.size()); }
  int operator()(int64_t replica, int64_t partition) const { return devices_[replica * partition_count_ + partition]; }
  absl::Span<const int> devices() const { return devices_; }
  // "{{0,1},{2,3}}": a list of partitions for every replica.
  std::string ToString() const;

 private:
  int64_t replica_count_ = 1, partition_count_ = 1;
  std::vector<int> devices_ = {0};
};

}  // namespace hilo

#endif  // HILO_RUNTIME_DEVICE_ASSIGNMENT_H_
