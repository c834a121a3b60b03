// Machine code of kernels, kept in the client's cache folder (runtime/disk_cache.h): kernels that several programs
// share are assembled once.
#ifndef HILO_BACKENDS_GPU_PTX_CUBIN_CACHE_H_
#define HILO_BACKENDS_GPU_PTX_CUBIN_CACHE_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/gpu/ptx/assembler.h"

namespace hilo {
class DiskCache;
}

namespace hilo::gpu {

// Returns the key of a kernel's code: a digest of its text (which states the PTX version), the chip and the assembler.
std::string CubinKey(absl::string_view ptx, absl::string_view arch, absl::string_view assembler);

// Encode as bytes with a checksum, and decode: nullopt for anything else.
std::string EncodeCubin(const AssembledCode& code);
std::optional<AssembledCode> DecodeCubin(absl::string_view bytes);

// As Assemble, through the cache; null: no cache. Damaged entries are recompiled.
absl::StatusOr<AssembledCode> AssembleWithCache(DiskCache* cache, absl::string_view ptx, absl::string_view arch);

// Opens the cache in a folder; nullopt: the folder in HILO_CACHE_DIR. Returns null if that is empty.
std::unique_ptr<DiskCache> OpenCubinCache(const std::optional<std::string>& folder);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_PTX_CUBIN_CACHE_H_
