// A key is a file named by its bytes in hexadecimal digits (beyond what a name may hold, by their
// digest), written to a temporary file and renamed, so that readers see all of a value or nothing.
// Waiting polls, at first every millisecond and later less often.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/errors.h"
#include "base/file.h"
#include "base/sha256.h"
#include "collectives/processes/key_value_limits.h"
#include "collectives/processes/sockets.h"
#include "hilo/collectives.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

constexpr absl::Duration kFirstPause = absl::Milliseconds(1), kLongestPause = absl::Milliseconds(50);
constexpr size_t kLongestReadableKey = 100;

class FileStore : public KeyValueStore {
 public:
  explicit FileStore(std::string folder) : folder_(std::move(folder)) {}

  absl::Status Set(absl::string_view key, absl::string_view value) override {
    HILO_RETURN_IF_ERROR(CheckKeyAndValue(key, value));
    static std::atomic<int64_t> number{0};
    const std::string path = PathOf(key);
    const std::string temporary = absl::StrCat(folder_, "/.", RandomToken(), ".", getpid(), ".", ++number);
    absl::Status written = WriteFile(temporary, value);
    if (written.ok() && rename(temporary.c_str(), path.c_str()) != 0)
      written = Unavailable("cannot write ", path, ": ", ErrnoText(errno));
    if (!written.ok()) unlink(temporary.c_str());
    return written;
  }
  absl::StatusOr<std::string> Get(absl::string_view key, absl::Time deadline) override {
    for (absl::Duration pause = kFirstPause;; pause = std::min(pause * 2, kLongestPause)) {
      auto value = TryGet(key);
      if (!absl::IsNotFound(value.status())) return value;
      const absl::Duration left = deadline - absl::Now();
      if (left <= absl::ZeroDuration()) {
        return DeadlineExceeded("the deadline has passed while waiting for the key ", key, " in ", folder_);
      }
      absl::SleepFor(std::min(pause, left));
    }
  }
  absl::StatusOr<std::string> TryGet(absl::string_view key) override {
    HILO_RETURN_IF_ERROR(CheckKeyAndValue(key, ""));
    const std::string path = PathOf(key);
    if (access(path.c_str(), F_OK) != 0) {
      if (errno != ENOENT) return Unavailable("cannot read ", path, ": ", ErrnoText(errno));
      if (access(folder_.c_str(), R_OK | X_OK) != 0)
        return Unavailable("the folder of the store, ", folder_, ", cannot be read: ", ErrnoText(errno));
      return NotFound("there is no key ", key, " in ", folder_);
    }
    return ReadFile(path);
  }
  absl::Status Delete(absl::string_view key) override {
    HILO_RETURN_IF_ERROR(CheckKeyAndValue(key, ""));
    const std::string path = PathOf(key);
    if (unlink(path.c_str()) == 0 || errno == ENOENT) return absl::OkStatus();
    return Unavailable("cannot delete ", path, ": ", ErrnoText(errno));
  }

 private:
  std::string PathOf(absl::string_view key) const {
    return absl::StrCat(folder_, "/",
                        key.size() <= kLongestReadableKey ? absl::StrCat("k", absl::BytesToHexString(key))
                                                          : absl::StrCat("d", DigestToHex(Sha256::Of(key))));
  }

  const std::string folder_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<KeyValueStore>> MakeFileStore(const std::string& folder) {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::path(folder).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, error);
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return Unavailable("cannot make the folder ", folder, ": ", ErrnoText(errno));
  if (!std::filesystem::is_directory(folder, error)) return Unavailable("the store ", folder, " is not a folder");
  return std::make_shared<FileStore>(folder);
}

}  // namespace hilo
