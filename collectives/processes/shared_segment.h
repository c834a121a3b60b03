// Memory that several processes of one host map. Private to collectives.
#ifndef HILO_COLLECTIVES_PROCESSES_SHARED_SEGMENT_H_
#define HILO_COLLECTIVES_PROCESSES_SHARED_SEGMENT_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "collectives/processes/sockets.h"

namespace hilo {

// A mapped range of memory, unmapped with the object.
class Mapping {
 public:
  Mapping() = default;
  Mapping(void* data, int64_t bytes) : data_(data), bytes_(bytes) {}
  Mapping(Mapping&& other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Mapping();
  uint8_t* data() const { return static_cast<uint8_t*>(data_); }

 private:
  void* data_ = nullptr;
  int64_t bytes_ = 0;
};

// An anonymous file in memory, which goes with the last process that has it open or mapped, however that ends. Its size
// is sealed: no process can make the pages disappear that another has mapped.
class SharedSegment {
 public:
  // `bytes` zeros. Errors of all functions: Unavailable, with the system's reason.
  static absl::StatusOr<SharedSegment> Create(int64_t bytes);
  // The segment that a process of this host has offered. Errors: Unavailable if the process is on another host or its
  // segment cannot be opened; InvalidArgument unless it is a sealed segment of `bytes` bytes.
  static absl::StatusOr<SharedSegment> Open(absl::string_view offer, int64_t bytes);

  // How other processes find it, while this process has it open: text without spaces at its ends.
  absl::StatusOr<std::string> Offer() const;
  // Sees to it that the pages exist: without memory for one, the process that touches it first would be ended.
  absl::Status Allocate(int64_t offset, int64_t bytes) const;
  // `offset` and `bytes` are multiples of the page size, within the segment.
  absl::StatusOr<Mapping> Map(int64_t offset, int64_t bytes) const;

 private:
  explicit SharedSegment(FileDescriptor file) : file_(std::move(file)) {}
  FileDescriptor file_;
};

}  // namespace hilo

#endif  // HILO_COLLECTIVES_PROCESSES_SHARED_SEGMENT_H_
