// The memory of sorts.
#ifndef HILO_BACKENDS_CPU_RUNTIME_SORT_MEMORY_H_
#define HILO_BACKENDS_CPU_RUNTIME_SORT_MEMORY_H_

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "base/aligned_buffer.h"
#include "base/math.h"

namespace hilo::cpu {

// Hands out the memory of a sort piece by piece.
class SortMemory {
 public:
  explicit SortMemory(int64_t bytes) : has_kept_(bytes <= kKeptBytes && !kept_is_taken_) {
    if (has_kept_) kept_is_taken_ = true;
    AlignedBuffer& buffer = has_kept_ ? kept_ : own_;
    if (buffer.size() < bytes) {
      buffer = AlignedBuffer();
      absl::StatusOr<AlignedBuffer> created = AlignedBuffer::Create(bytes);
      if (!created.ok()) return;
      buffer = *std::move(created);
    }
    next_ = buffer.data();
  }
  ~SortMemory() {
    if (has_kept_) kept_is_taken_ = false;
  }
  SortMemory(const SortMemory&) = delete;
  SortMemory& operator=(const SortMemory&) = delete;

  bool ok() const { return next_ != nullptr; }

  // Returns room for `count` elements, which are not initialized. All that is taken is SizeOf each, added up, at most.
  template <typename T>
  T* Take(int64_t count) {
    uint8_t* const piece = next_;
    next_ += SizeOf<T>(count);
    return reinterpret_cast<T*>(piece);
  }
  template <typename T>
  static int64_t SizeOf(int64_t count) {
    return CeilDiv(count * static_cast<int64_t>(sizeof(T)), 64) * 64;
  }

 private:
  // The first touch of fresh memory can take longer than to sort in it: a thread keeps some, for one sort at a time.
  static constexpr int64_t kKeptBytes = 8 << 20;
  static inline thread_local AlignedBuffer kept_;
  static inline thread_local bool kept_is_taken_ = false;

  const bool has_kept_;
  AlignedBuffer own_;
  uint8_t* next_ = nullptr;
};

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_RUNTIME_SORT_MEMORY_H_
