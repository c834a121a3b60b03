#include "base/aligned_buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/errors.h"
#include "base/math.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

constexpr int64_t kCacheLine = 64;
constexpr int64_t kHugePage = 2 << 20;

}  // namespace

AlignedBuffer::~AlignedBuffer() { std::free(data_); }

absl::StatusOr<AlignedBuffer> AlignedBuffer::Create(int64_t size) {
  if (size < 0) return InvalidArgument("a buffer needs a size of at least 0 bytes, got ", size);
  const int64_t alignment = size >= kHugePage ? kHugePage : kCacheLine;
  const std::optional<int64_t> rounded = RoundUp(std::max<int64_t>(size, 1), alignment);
  void* memory = rounded.has_value() ? std::aligned_alloc(alignment, *rounded) : nullptr;
  if (memory == nullptr) return ResourceExhausted("cannot allocate ", size, " bytes");
  // A wish: without huge pages the memory is as good, only slower at first touch.
  if (alignment == kHugePage) madvise(memory, *rounded, MADV_HUGEPAGE);
  AlignedBuffer buffer;
  buffer.data_ = static_cast<uint8_t*>(memory);
  buffer.size_ = size;
  return buffer;
}

absl::StatusOr<AlignedBuffer> AlignedBuffer::CreateZeroed(int64_t size) {
  HILO_ASSIGN_OR_RETURN(AlignedBuffer buffer, Create(size));
  // Pages that are dropped are zero when they are touched next.
  if (size < kHugePage || madvise(buffer.data(), static_cast<size_t>(size), MADV_DONTNEED) != 0)
    std::memset(buffer.data(), 0, static_cast<size_t>(size));
  return buffer;
}

}  // namespace hilo
