#include "runtime/disk_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <tuple>
#include <vector>

#include "absl/strings/match.h"
#include "base/errors.h"
#include "base/file.h"
#include "base/file_size_signal.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

namespace fs = std::filesystem;

constexpr char kSuffix[] = ".hilo";
constexpr char kTemporary[] = "writing-";
// A temporary file older than this is considered abandoned.
constexpr time_t kStaleSeconds = 3600;

absl::Status SystemError(absl::string_view what, const std::string& path) {
  return Unavailable(what, " ", path, ": ", std::strerror(errno));
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { Close(); }
  int get() const { return number_; }
  bool Close() { return number_ < 0 || close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

absl::Status WriteError(const std::string& folder) { return SystemError("cannot write into the cache folder", folder); }

absl::Status WriteAll(int file, absl::string_view bytes, const std::string& folder) {
  const FileSizeSignalHeld held;
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return WriteError(folder);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

// Creates the folder and its parents; the last for this user alone, as its contents will be executed.
absl::Status MakeFolder(const std::string& folder) {
  struct stat facts;
  if (stat(folder.c_str(), &facts) == 0) return absl::OkStatus();
  std::error_code ignored;  // the next step reports the error
  const fs::path parent = fs::path(folder).parent_path();
  if (!parent.empty()) fs::create_directories(parent, ignored);
  if (mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return absl::OkStatus();
  return SystemError("cannot make the cache folder", folder);
}

}  // namespace

std::string DiskCache::PathOf(const std::string& key) const { return absl::StrCat(folder_, "/", key, kSuffix); }

DiskCacheStats DiskCache::stats() const {
  return {.hits = hits_, .misses = misses_, .rejected = rejected_, .writes = writes_};
}

std::optional<std::string> DiskCache::Read(const std::string& key) {
  const std::string path = PathOf(key);
  // What is no ordinary file was not written here; to open a pipe would block until its other end is opened.
  struct stat facts;
  const bool ordinary = stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode);
  absl::StatusOr<std::string> bytes = ordinary ? ReadFile(path) : NotFound("no file ", path);
  if (!bytes.ok()) {
    ++misses_;
    return std::nullopt;
  }
  utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // in a folder that cannot be written to, nothing is removed either
  ++hits_;
  return *std::move(bytes);
}

void DiskCache::CountRejected() {
  --hits_;
  ++rejected_;
}

absl::Status DiskCache::Write(const std::string& key, absl::string_view bytes) {
  const auto size = static_cast<int64_t>(bytes.size());
  if (size > limit_) return ResourceExhausted("it has ", size, " bytes, and the cache may hold ", limit_);
  HILO_RETURN_IF_ERROR(MakeFolder(folder_));
  std::string temporary = absl::StrCat(folder_, "/", kTemporary, "XXXXXX");
  FileDescriptor file(mkostemp(temporary.data(), O_CLOEXEC));
  if (file.get() < 0) return SystemError("cannot make a file in the cache folder", folder_);
  const std::string path = PathOf(key);
  absl::Status status = WriteAll(file.get(), bytes, folder_);
  if (status.ok() && !file.Close()) status = WriteError(folder_);
  if (status.ok() && std::rename(temporary.c_str(), path.c_str()) != 0) status = SystemError("cannot make", path);
  if (!status.ok()) {
    unlink(temporary.c_str());
    return status;
  }
  ++writes_;
  std::lock_guard<std::mutex> lock(mutex_);
  if (written_ >= 0) written_ += size;
  if (written_ < 0 || written_ > limit_ / 16) {
    written_ = 0;
    Tidy();
  }
  return absl::OkStatus();
}

void DiskCache::Tidy() {
  const FileDescriptor lock(open(absl::StrCat(folder_, "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (lock.get() < 0 || flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return;  // another process is at it
  struct Entry {
    int64_t seconds, nanoseconds;
    std::string path;
    int64_t bytes;
    bool operator<(const Entry& other) const {
      return std::tie(seconds, nanoseconds, path) < std::tie(other.seconds, other.nanoseconds, other.path);
    }
  };
  std::vector<Entry> entries;
  int64_t total = 0;
  std::error_code error;
  fs::directory_iterator it(folder_, error);
  for (; !error && it != fs::directory_iterator(); it.increment(error)) {
    const std::string path = it->path().string(), name = it->path().filename().string();
    struct stat facts;
    if (lstat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) continue;
    if (absl::StartsWith(name, kTemporary) && facts.st_mtim.tv_sec + kStaleSeconds < time(nullptr))
      unlink(path.c_str());
    if (!absl::EndsWith(name, kSuffix)) continue;
    entries.push_back({facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec, path, facts.st_size});
    total += facts.st_size;
  }
  if (total <= limit_) return;
  std::sort(entries.begin(), entries.end());
  // Somewhat less than allowed, so that there is room for a while.
  for (const Entry& entry : entries) {
    if (total <= limit_ - limit_ / 16) break;
    if (unlink(entry.path.c_str()) == 0 || errno == ENOENT) total -= entry.bytes;
  }
}

}  // namespace hilo
