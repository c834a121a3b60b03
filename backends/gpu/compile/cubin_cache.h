// Machine code of kernels, kept in the client's cache folder (runtime/disk_cache.h): kernels that programs have in
// common are assembled once, whatever program they are in.
#ifndef HILO_BACKENDS_GPU_COMPILE_CUBIN_CACHE_H_
#define HILO_BACKENDS_GPU_COMPILE_CUBIN_CACHE_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/gpu/compile/assembler.h"

namespace hilo {
class DiskCache;
}

namespace hilo::gpu {

// The name of a kernel's code: a digest of its text (which says the version of PTX), the chip and the assembler.
std::string CubinKey(absl::string_view ptx, absl::string_view arch, absl::string_view assembler);

// As bytes with a checksum, and back: nullopt for anything else.
std::string EncodeCubin(const AssembledCode& code);
std::optional<AssembledCode> DecodeCubin(absl::string_view bytes);

// As Assemble, by way of the cache; null: there is none. What is damaged is made anew.
absl::StatusOr<AssembledCode> AssembleWithCache(DiskCache* cache, absl::string_view ptx, absl::string_view arch);

// The cache in a folder; without a value the one that the variable HILO_CACHE_DIR names. Null if that is empty.
std::unique_ptr<DiskCache> OpenCubinCache(const std::optional<std::string>& folder);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COMPILE_CUBIN_CACHE_H_
