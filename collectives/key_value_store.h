// KeyValueStore: where the processes of a job publish what the others need to find them: addresses,
// identifiers, counts. Small and rarely used; data travels between processes directly.
#ifndef HILO_COLLECTIVES_KEY_VALUE_STORE_H_
#define HILO_COLLECTIVES_KEY_VALUE_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace hilo {

// Thread-safe, as all implementations are. Keys have 1 to 1024 bytes, values up to 16 MiB, of any
// kind.
class KeyValueStore {
 public:
  virtual ~KeyValueStore() = default;

  // Errors of all functions: InvalidArgument for keys and values out of range; Unavailable, naming
  // the store, if it cannot be reached.

  // Replaces an existing value.
  virtual absl::Status Set(absl::string_view key, absl::string_view value) = 0;
  // Waits until the key is set by any process. Errors: DeadlineExceeded, naming the key.
  virtual absl::StatusOr<std::string> Get(absl::string_view key, absl::Time deadline) = 0;
  // Errors: NotFound, naming the key.
  virtual absl::StatusOr<std::string> TryGet(absl::string_view key) = 0;
  // OK also if the key does not exist.
  virtual absl::Status Delete(absl::string_view key) = 0;
};

constexpr int64_t kMaxKeyBytes = 1024;
constexpr int64_t kMaxValueBytes = int64_t{16} << 20;
absl::Status CheckKeyAndValue(absl::string_view key, absl::string_view value);

// For the threads of one process.
std::shared_ptr<KeyValueStore> MakeInProcessStore();

// Files in `folder`, which is created if it is missing, accessible to its owner only: one file per key. For
// processes that share a file system. Errors: Unavailable if the folder cannot be made.
absl::StatusOr<std::shared_ptr<KeyValueStore>> MakeFileStore(const std::string& folder);

// A store that is implemented elsewhere, such as by the caller of a plugin.
struct KeyValueCallbacks {
  std::function<absl::Status(absl::string_view key, absl::string_view value)> set;
  std::function<absl::StatusOr<std::string>(absl::string_view key, absl::Duration timeout)> get;
  std::function<absl::StatusOr<std::string>(absl::string_view key)> try_get;  // may be missing
  std::function<absl::Status(absl::string_view key)> erase;                   // may be missing
};
// Missing functions return Unimplemented; without try_get, TryGet is a get with a short timeout.
std::shared_ptr<KeyValueStore> MakeCallbackStore(KeyValueCallbacks callbacks);

// Waits for all `count` processes. A name may be used once. Errors: DeadlineExceeded, naming
// the processes that are missing.
absl::Status Barrier(KeyValueStore& store, absl::string_view name, int64_t process, int64_t count, absl::Time deadline);

// The store at `address`: file:///FOLDER, or HOST:PORT of a TcpStoreServer, which process 0 (the
// caller with `serve`) starts. Only loopback addresses are served unless the host is another one.
// `token` is the secret of the job, which a TCP store needs. Errors: InvalidArgument for other
// addresses and without a token; Unavailable.
absl::StatusOr<std::shared_ptr<KeyValueStore>> OpenStore(absl::string_view address, absl::string_view token,
                                                         bool serve);

}  // namespace hilo

#endif  // HILO_COLLECTIVES_KEY_VALUE_STORE_H_
