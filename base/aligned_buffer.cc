#include "base/aligned_buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

#include "base/errors.h"

namespace hilo {
namespace {

constexpr int64_t kHugePage = 2 << 20;

}  // namespace

AlignedBuffer::~AlignedBuffer() { std::free(data_); }

absl::StatusOr<AlignedBuffer> AlignedBuffer::Create(int64_t size) {
  const int64_t alignment = size >= kHugePage ? kHugePage : 64;
  const int64_t rounded = (std::max<int64_t>(size, 1) + alignment - 1) / alignment * alignment;
  void* memory = rounded < size ? nullptr : std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) return ResourceExhausted("cannot allocate ", size, " bytes");
  if (size >= kHugePage) madvise(memory, rounded, MADV_HUGEPAGE);
  AlignedBuffer buffer;
  buffer.data_ = static_cast<uint8_t*>(memory);
  buffer.size_ = size;
  return buffer;
}

}  // namespace hilo
