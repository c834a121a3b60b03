#include "backends/gpu/emulated/async_copies.h"

#include <cstring>

namespace hilo::gpu {

void AsyncCopies::Wait(int64_t rest, absl::FunctionRef<void(const AsyncCopy&)> landed) {
  size_t count = 0;
  for (const auto& [copy, group] : pending_) {
    if (rest >= 0 && group >= group_ - rest) break;
    std::memcpy(copy.shared, copy.global, static_cast<size_t>(copy.from_global));
    std::memset(copy.shared + copy.from_global, 0, static_cast<size_t>(copy.bytes - copy.from_global));
    landed(copy);
    ++count;
  }
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace hilo::gpu
