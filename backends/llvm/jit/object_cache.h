// Objects of LLVM modules that this process has compiled, by the modules' content.
//
// A program that differs from an earlier one in a constant or in a layer consists of the same modules but for a few,
// and only these few are compiled. (object_store.h keeps them on
// disk, and runtime/saved_program.h whole programs.)
#ifndef HILO_BACKENDS_LLVM_JIT_OBJECT_CACHE_H_
#define HILO_BACKENDS_LLVM_JIT_OBJECT_CACHE_H_

#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "backends/llvm/jit/host_features.h"
#include "backends/llvm/jit/optimizer.h"

namespace llvm {
class Module;
}  // namespace llvm

namespace hilo::codegen {

// Thread-safe.
class ObjectCache {
 public:
  // The process's. Its limit is 64 MB, or the number of megabytes in the variable HILO_CODE_CACHE_MB.
  static ObjectCache& OfProcess();

  // Keeps at most `limit` bytes, those that were used last; 0: nothing.
  explicit ObjectCache(size_t limit) : limit_(limit) {}

  bool enabled() const { return limit_ > 0; }
  // Returns a digest of all that the object depends on: the module as it is before optimization, without its name, the
  // processor and the level.
  static std::string KeyOf(const llvm::Module& module, const CpuFeatures& cpu, OptLevel level);

  std::optional<std::string> Find(absl::string_view key);
  void Insert(absl::string_view key, std::string object);

  // Of keys and objects.
  size_t bytes() const;

 private:
  using Entry = std::pair<std::string, std::string>;  // key, object
  static size_t BytesOf(const Entry& entry) { return entry.first.size() + entry.second.size(); }

  const size_t limit_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;                                                   // the one used last first
  absl::flat_hash_map<absl::string_view, std::list<Entry>::iterator> by_key_;  // views of the entries' keys
  size_t bytes_ = 0;
};

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_JIT_OBJECT_CACHE_H_
