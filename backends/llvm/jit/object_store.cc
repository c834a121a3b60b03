#include "backends/llvm/jit/object_store.h"

#include <cstdlib>

#include "base/byte_stream.h"
#include "base/log_sink.h"
#include "base/sha256.h"
#include "hilo/version.h"
#include "runtime/disk_cache.h"

namespace hilo::codegen {
namespace {

constexpr char kMagic[] = "hilo object 1";

// What is compiled of a module is decided by this build's passes, too.
std::string FileKey(absl::string_view key) {
  ByteWriter out;
  for (const absl::string_view text : {absl::string_view(kMagic), Version(), absl::string_view(BuildId()), key})
    out.Text(text);
  return DigestToHex(Sha256::Of(out.bytes()));
}

// The checksum is of the key and the object: an entry under another key's name is damaged.
std::string Checksum(absl::string_view key, absl::string_view object) {
  Sha256 hash;
  hash.Update(key);
  hash.Update(object);
  return std::string(DigestBytes(hash.Finish()));
}

}  // namespace

std::unique_ptr<ObjectStore> ObjectStore::Open(const std::optional<std::string>& folder, int64_t limit) {
  const char* variable = std::getenv("HILO_CACHE_DIR");
  std::string chosen = folder.value_or(variable == nullptr ? "" : variable);
  if (chosen.empty() || BuildId().empty()) return nullptr;
  return std::unique_ptr<ObjectStore>(new ObjectStore(std::make_unique<DiskCache>(std::move(chosen), limit)));
}

ObjectStore::ObjectStore(std::unique_ptr<DiskCache> cache) : cache_(std::move(cache)) {}
ObjectStore::~ObjectStore() = default;

std::optional<std::string> ObjectStore::Find(absl::string_view key) {
  const std::string file = FileKey(key);
  const std::optional<std::string> bytes = cache_->Read(file);
  if (!bytes.has_value()) return std::nullopt;
  ByteReader in(*bytes, "object");
  const absl::string_view magic = in.Text();
  const absl::string_view checksum = in.Text();
  const absl::string_view object = in.Text();
  if (in.Finish().ok() && magic == kMagic && checksum == Checksum(key, object)) return std::string(object);
  cache_->CountRejected();
  LogWarning("recompiling the damaged cache entry ", cache_->PathOf(file));
  return std::nullopt;
}

void ObjectStore::Insert(absl::string_view key, absl::string_view object) {
  ByteWriter out;
  out.Text(kMagic);
  out.Text(Checksum(key, object));
  out.Text(object);
  const absl::Status written = cache_->Write(FileKey(key), out.bytes());
  if (!written.ok() && !warned_.exchange(true)) LogWarning("compiled code is not cached: ", written.message());
}

}  // namespace hilo::codegen
