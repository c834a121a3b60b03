// A process opens the segment of another through /proc/PID/fd, for which the system demands the same rights as for
// reading the other's memory. Process numbers may mean another process in another container of the host, so the file's
// name is compared before it is opened; that it is the one offered is for the user to find out, by what is in it.
#include "collectives/processes/shared_segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

constexpr char kName[] = "hilo-processes";
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

absl::Status SystemError(absl::string_view call, int error = errno) {
  return Unavailable(call, ": ", ErrnoText(error));
}

// Differs between hosts, and changes whenever a host is started.
absl::StatusOr<std::string> BootId() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  if (file >> id) return id;
  return Unavailable("the system does not tell its boot id");
}

}  // namespace

Mapping::~Mapping() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

absl::StatusOr<SharedSegment> SharedSegment::Create(int64_t bytes) {
  FileDescriptor file(memfd_create(kName, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.is_open()) return SystemError("memfd_create");
  if (ftruncate(file.number(), bytes) != 0) return SystemError("ftruncate");
  if (fcntl(file.number(), F_ADD_SEALS, kSeals) != 0) return SystemError("F_ADD_SEALS");
  return SharedSegment(std::move(file));
}

absl::StatusOr<std::string> SharedSegment::Offer() const {
  HILO_ASSIGN_OR_RETURN(const std::string boot_id, BootId());
  return absl::StrCat(boot_id, " ", getpid(), " ", file_.number());
}

absl::StatusOr<SharedSegment> SharedSegment::Open(absl::string_view offer, int64_t bytes) {
  const std::vector<std::string> parts = absl::StrSplit(offer, ' ');
  int64_t process, number;
  if (parts.size() != 3 || !absl::SimpleAtoi(parts[1], &process) || !absl::SimpleAtoi(parts[2], &number))
    return InvalidArgument("expected a boot id, a process and a file descriptor, got '", offer, "'");
  HILO_ASSIGN_OR_RETURN(const std::string boot_id, BootId());
  if (parts[0] != boot_id) return Unavailable("the process is on another host");
  const std::string path = absl::StrCat("/proc/", process, "/fd/", number);
  char target[64];
  const ssize_t length = readlink(path.c_str(), target, sizeof(target));
  if (length < 0) return SystemError(path);
  if (!absl::StartsWith(absl::string_view(target, length), absl::StrCat("/memfd:", kName, " ")))
    return InvalidArgument(path, " is no segment of shared memory");
  FileDescriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) return SystemError(path);
  struct stat status = {};
  if (fstat(file.number(), &status) != 0) return SystemError("fstat");
  if (status.st_size != bytes || (fcntl(file.number(), F_GET_SEALS) & kSeals) != kSeals)
    return InvalidArgument("expected a sealed segment of ", bytes, " bytes, got ", status.st_size, " bytes at ", path);
  return SharedSegment(std::move(file));
}

absl::Status SharedSegment::Allocate(int64_t offset, int64_t bytes) const {
  const int error = posix_fallocate(file_.number(), offset, bytes);
  return error == 0 ? absl::OkStatus() : SystemError("posix_fallocate", error);
}

absl::StatusOr<Mapping> SharedSegment::Map(int64_t offset, int64_t bytes) const {
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.number(), offset);
  if (data == MAP_FAILED) return SystemError("mmap");
  return Mapping(data, bytes);
}

}  // namespace hilo
