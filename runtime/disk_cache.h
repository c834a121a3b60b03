// A folder of files that processes share: compiled programs under the digests of what they were compiled from.
//
// A file is written under another name and then renamed, so nobody ever reads a part of one, and a reader that has
// opened one keeps it whoever removes or replaces it. Nothing is flushed to the disk: a file that a crash of the system
// left torn fails its checksums, and is made anew. A file's time is that of its last use. One process at a time tidies
// up.
#ifndef HILO_RUNTIME_DISK_CACHE_H_
#define HILO_RUNTIME_DISK_CACHE_H_

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace hilo {

// Of one client.
struct DiskCacheStats {
  int64_t hits = 0;      // programs loaded
  int64_t misses = 0;    // not there
  int64_t rejected = 0;  // there, but damaged or of no use here
  int64_t writes = 0;
};

// Thread-safe.
class DiskCache {
 public:
  // `folder` is made when it is first written to, for this user alone. `limit` is in bytes.
  DiskCache(std::string folder, int64_t limit) : folder_(std::move(folder)), limit_(limit) {}

  // What is kept under `key`, some letters and digits.
  std::optional<std::string> Read(const std::string& key);
  // The last Read's bytes were of no use.
  void CountRejected();
  // Keeps `bytes`, and now and then removes what was not used for the longest time, so that the folder holds `limit`
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
