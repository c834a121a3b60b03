// A folder of files shared by processes: compiled programs under the digests of their inputs.
//
// A file is written under another name and then renamed, so readers never see a partial file, and a reader that has
// opened one keeps it even if it is removed or replaced. Nothing is flushed to the disk: a file that a system crash
// leaves torn fails its checksums, and is recreated. A file's time is that of its last use. Only one process at a time
// cleans up.
#ifndef HILO_RUNTIME_DISK_CACHE_H_
#define HILO_RUNTIME_DISK_CACHE_H_

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "hilo/client.h"

namespace hilo {

// Thread-safe.
class DiskCache {
 public:
  // `folder` is created on the first write, for this user alone. `limit` is in bytes.
  DiskCache(std::string folder, int64_t limit) : folder_(std::move(folder)), limit_(limit) {}

  // The entry under `key`, some letters and digits.
  std::optional<std::string> Read(const std::string& key);
  // Counts the last Read as rejected: its bytes were unusable.
  void CountRejected();
  // Keeps `bytes`, and periodically removes the least recently used entries, so that the folder holds `limit`
  // bytes: more only for as long as each process that writes has written another sixteenth. Errors: ResourceExhausted
  // if the bytes alone are more; Unavailable if the system refuses, with its reason.
  absl::Status Write(const std::string& key, absl::string_view bytes);

  std::string PathOf(const std::string& key) const;
  DiskCacheStats stats() const;

 private:
  void Tidy();

  const std::string folder_;
  const int64_t limit_;
  std::atomic<int64_t> hits_{0}, misses_{0}, rejected_{0}, writes_{0};
  std::mutex mutex_;
  int64_t written_ = -1;  // bytes since Tidy; -1: it has not run yet
};

}  // namespace hilo

#endif  // HILO_RUNTIME_DISK_CACHE_H_
