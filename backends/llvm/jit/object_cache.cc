#include "backends/llvm/jit/object_cache.h"

#include <cstdint>
#include <cstdlib>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/log_sink.h"
#include "base/sha256.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Module.h"

namespace hilo::codegen {
namespace {

size_t LimitOfProcess() {
  constexpr uint32_t kDefault = 64;
  const char* text = std::getenv("HILO_CODE_CACHE_MB");
  uint32_t megabytes = kDefault;
  if (text != nullptr && !absl::SimpleAtoi(text, &megabytes)) {
    megabytes = kDefault;
    LogWarning("HILO_CODE_CACHE_MB: expected a number of megabytes, got '", text, "'; the cache of code has ",
               kDefault);
  }
  return size_t{megabytes} << 20;
}

}  // namespace

ObjectCache& ObjectCache::OfProcess() {
  static ObjectCache* const cache = new ObjectCache(LimitOfProcess());
  return *cache;
}

std::string ObjectCache::KeyOf(const llvm::Module& module, const CpuFeatures& cpu, OptLevel level) {
  llvm::SmallVector<char, 0> bitcode;
  llvm::BitcodeWriter writer(bitcode);
  writer.writeModule(module);
  writer.writeStrtab();  // the names of functions; linkers' table of symbols, which follows in files, is derived
  Sha256 hash;
  hash.Update(absl::StrCat(cpu.ToText(), "\n", static_cast<int>(level), "\n"));
  hash.Update(absl::string_view(bitcode.data(), bitcode.size()));
  return std::string(DigestBytes(hash.Finish()));
}

std::optional<std::string> ObjectCache::Find(absl::string_view key) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return std::nullopt;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->second;
}

void ObjectCache::Insert(absl::string_view key, std::string object) {
  Entry entry(key, std::move(object));
  if (BytesOf(entry) > limit_) return;
  std::lock_guard<std::mutex> lock(mutex_);
  if (by_key_.contains(key)) return;  // another thread compiled the same
  bytes_ += BytesOf(entry);
  entries_.push_front(std::move(entry));
  by_key_[entries_.front().first] = entries_.begin();
  while (bytes_ > limit_) {
    bytes_ -= BytesOf(entries_.back());
    by_key_.erase(entries_.back().first);
    entries_.pop_back();
  }
}

size_t ObjectCache::bytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return bytes_;
}

}  // namespace hilo::codegen
