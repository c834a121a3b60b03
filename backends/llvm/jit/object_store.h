// Objects of LLVM modules in the client's cache folder (runtime/disk_cache.h): of a program that differs from one that
// another process compiled, only the modules that differ are compiled.
#ifndef HILO_BACKENDS_LLVM_JIT_OBJECT_STORE_H_
#define HILO_BACKENDS_LLVM_JIT_OBJECT_STORE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace hilo {
class DiskCache;
}

namespace hilo::codegen {

// Thread-safe.
class ObjectStore {
 public:
  // Opens the store in a folder that holds at most `limit` bytes; nullopt: the folder in HILO_CACHE_DIR. Returns null
  // if the folder is empty or this build of Hilo has no identity.
  static std::unique_ptr<ObjectStore> Open(const std::optional<std::string>& folder, int64_t limit);
  ~ObjectStore();

  // Returns the object under a key of ObjectCache. Damaged entries are not found, with a warning.
  std::optional<std::string> Find(absl::string_view key);
  // Keeps an object. What the system refuses to write is one warning.
  void Insert(absl::string_view key, absl::string_view object);

 private:
  explicit ObjectStore(std::unique_ptr<DiskCache> cache);

  const std::unique_ptr<DiskCache> cache_;
  std::atomic<bool> warned_{false};
};

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_JIT_OBJECT_STORE_H_
