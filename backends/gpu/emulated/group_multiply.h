// Multiplications by the tensor cores of a warp group, four warps in a row (wgmma.mma_async): of 64 rows by `columns`
// columns, 32 bytes of each along the depth, both in shared memory as 64-bit descriptors state (PTX ISA, "Asynchronous
// Warpgroup Level Matrix Multiply-Accumulate Instructions", "Matrix Descriptor Format" and "Canonical Layouts").
#ifndef HILO_BACKENDS_GPU_EMULATED_GROUP_MULTIPLY_H_
#define HILO_BACKENDS_GPU_EMULATED_GROUP_MULTIPLY_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hilo/primitive_type.h"

namespace hilo::gpu {

inline constexpr int kGroupThreads = 128;  // of a warp group
inline constexpr int kGroupRows = 64;
// Words of a thread: two descriptors, then its sums.
inline constexpr int kDescriptorWords = 4, kMaxGroupWords = kDescriptorWords + 128;

struct GroupMultiplication {
  PrimitiveType type = BF16;  // of the factors; F32: as tf32
  int columns = 8;
  // Elements that are adjacent in memory are adjacent positions, rather than adjacent in depth.
  bool lhs_transposed = false, rhs_transposed = false;

  int depth() const { return 32 / PrimitiveTypeByteSize(type); }
  int sums() const { return columns / 2; }  // of a thread

  // Parses an instruction of PTX. Errors: Unimplemented for other types and shapes, negated factors, and sums that do
  // not add to what the registers hold.
  static absl::StatusOr<GroupMultiplication> Parse(absl::string_view assembly);
  uint32_t Encode() const;
  static GroupMultiplication Decode(uint32_t code);
};

// A matrix in shared memory, as its descriptor states.
struct SharedMatrix {
  int64_t start = 0;                // in bytes, in the block's memory
  int64_t leading = 0, stride = 0;  // bytes
  int64_t swizzle = 0;              // bytes of a line of its pattern; 0: none
  int base_offset = 0;

  static SharedMatrix Decode(uint64_t descriptor);
  // Returns what is wrong with the descriptor; empty: nothing.
  std::string Fault(bool transposed, PrimitiveType type) const;
  // Returns where the element at `position` and `depth` is, in bytes from the begin of the block's memory.
  int64_t OffsetOf(int64_t position, int64_t depth, bool transposed, int64_t element_bytes) const;
};

// Calls `read` for the bytes that the multiplication reads, 16 at a time.
void ForEachRead(const GroupMultiplication& multiplication, uint64_t lhs, uint64_t rhs,
                 absl::FunctionRef<void(int64_t offset, int64_t bytes)> read);

// Adds the products to the sums of the kGroupThreads threads, whose words `threads` has. As of kMultiply* in
// matrix_operations.h, the products are added in ascending order of depth. All bytes that are read exist.
void MultiplyByGroup(const GroupMultiplication& multiplication, const uint8_t* shared,
                     absl::Span<uint32_t* const> threads);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMULATED_GROUP_MULTIPLY_H_
