#include "backends/gpu/ptx/cubin_cache.h"

#include <cstdlib>

#include "base/byte_stream.h"
#include "base/log_sink.h"
#include "base/sha256.h"
#include "hilo/status_macros.h"
#include "runtime/disk_cache.h"

namespace hilo::gpu {
namespace {

constexpr int64_t kCacheLimit = int64_t{1} << 30;
constexpr char kMagic[] = "hilo cubin 1";

}  // namespace

std::string CubinKey(absl::string_view ptx, absl::string_view arch, absl::string_view assembler) {
  ByteWriter out;
  for (const absl::string_view text : {absl::string_view(kMagic), ptx, arch, assembler}) out.Text(text);
  return DigestToHex(Sha256::Of(out.bytes()));
}

std::string EncodeCubin(const AssembledCode& code) {
  ByteWriter body;
  body.Text(code.cubin);
  body.U64(code.resources.size());
  for (const KernelResources& kernel : code.resources) {
    body.Text(kernel.kernel);
    for (const int64_t number : {int64_t{kernel.registers}, kernel.stack_bytes, kernel.spill_store_bytes,
                                 kernel.spill_load_bytes, kernel.shared_bytes, kernel.constant_bytes}) {
      body.I64(number);
    }
  }
  ByteWriter out;
  out.Text(kMagic);
  out.Raw(DigestBytes(Sha256::Of(body.bytes())));
  out.Raw(body.bytes());
  return out.Take();
}

std::optional<AssembledCode> DecodeCubin(absl::string_view bytes) {
  ByteReader in(bytes, "cubin");
  const absl::string_view magic = in.Text();
  const absl::string_view digest = in.Raw(sizeof(Sha256::Digest));
  if (!in.ok() || magic != kMagic || digest != DigestBytes(Sha256::Of(bytes.substr(in.position()))))
    return std::nullopt;
  AssembledCode code;
  code.cubin = std::string(in.Text());
  for (uint64_t left = in.Count(8); left > 0 && in.ok(); --left) {
    KernelResources& kernel = code.resources.emplace_back();
    kernel.kernel = std::string(in.Text());
    kernel.registers = static_cast<int>(in.I64());
    for (int64_t* number : {&kernel.stack_bytes, &kernel.spill_store_bytes, &kernel.spill_load_bytes,
                            &kernel.shared_bytes, &kernel.constant_bytes})
      *number = in.I64();
  }
  if (!in.Finish().ok()) return std::nullopt;
  return code;
}

absl::StatusOr<AssembledCode> AssembleWithCache(DiskCache* cache, absl::string_view ptx, absl::string_view arch) {
  if (cache == nullptr) return Assemble(ptx, arch);
  HILO_ASSIGN_OR_RETURN(const std::string assembler, AssemblerVersion());
  const std::string key = CubinKey(ptx, arch, assembler);
  if (const std::optional<std::string> bytes = cache->Read(key)) {
    if (std::optional<AssembledCode> code = DecodeCubin(*bytes)) return *std::move(code);
    cache->CountRejected();
    LogWarning("reassembling the damaged kernel of the cache, ", cache->PathOf(key));
  }
  HILO_ASSIGN_OR_RETURN(AssembledCode code, Assemble(ptx, arch));
  if (const absl::Status written = cache->Write(key, EncodeCubin(code)); !written.ok())
    LogWarning("the machine code of a kernel is not cached: ", written.message());
  return code;
}

std::unique_ptr<DiskCache> OpenCubinCache(const std::optional<std::string>& folder) {
  const char* variable = std::getenv("HILO_CACHE_DIR");
  std::string chosen = folder.value_or(variable == nullptr ? "" : variable);
  return chosen.empty() ? nullptr : std::make_unique<DiskCache>(std::move(chosen), kCacheLimit);
}

}  // namespace hilo::gpu
