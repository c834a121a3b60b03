#include "backends/cpu/fft/scratch_cache.h"

#include <utility>

#include "hilo/status_macros.h"

namespace hilo::cpu::fft {
namespace {

constexpr int64_t kKeptScratch = int64_t{64} << 20;  // bytes

}  // namespace

absl::Status ScratchCache::With(int64_t bytes, absl::FunctionRef<absl::Status(uint8_t*)> body) {
  AlignedBuffer buffer;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    // The smallest one that is large enough.
    auto best = idle_.end();
    for (auto it = idle_.begin(); it != idle_.end(); ++it) {
      if (it->size() >= bytes && (best == idle_.end() || it->size() < best->size())) best = it;
    }
    if (best != idle_.end()) {
      std::swap(*best, idle_.back());
      buffer = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (buffer.size() < bytes) {
    HILO_ASSIGN_OR_RETURN(buffer, AlignedBuffer::Create(bytes));
  }
  const absl::Status status = body(buffer.data());
  if (bytes <= kKeptScratch) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (idle_.size() < 64) idle_.push_back(std::move(buffer));
  }
  return status;
}

}  // namespace hilo::cpu::fft
