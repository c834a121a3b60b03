// The sizes of a sort by digits (radix_sort_emitter.cc), and what it keeps to know where tiles begin.
#ifndef HILO_BACKENDS_GPU_MATCH_RADIX_TILE_H_
#define HILO_BACKENDS_GPU_MATCH_RADIX_TILE_H_

#include <algorithm>
#include <cstdint>

#include "backends/gpu/match/launch_sizes.h"
#include "backends/gpu/match/sort_match.h"
#include "base/math.h"

namespace hilo::gpu {

inline constexpr int64_t kRadixBits = 8, kRadixDigits = int64_t{1} << kRadixBits;
// Elements per thread and per block. The words of look-back, 256 a tile, are 1/16 of keys of 32 bits.
inline constexpr int64_t kRadixOwn = 16, kRadixTile = kRadixOwn * kBlockSize;

inline int64_t RadixTiles(const KeySort& sort) { return CeilDiv(sort.length, kRadixTile); }

// The bits of a number of elements in a word of look-back; above it are five bits of state.
inline int64_t RadixCountBits(const KeySort& sort) { return sort.length < int64_t{1} << 27 ? 27 : 32; }
inline int64_t RadixWordBytes(const KeySort& sort) { return RadixCountBits(sort) > 27 ? 8 : 4; }

// The bytes of the widest part of an element, real or imaginary.
inline int64_t RadixCellBytes(const KeySort& sort) {
  int64_t bytes = 4;
  for (const HloInstruction* operand : sort.instruction->operands()) {
    const PrimitiveType type = operand->shape().element_type();
    bytes = std::max<int64_t>(bytes, PrimitiveTypeByteSize(IsComplexType(type) ? ComplexComponentType(type) : type));
  }
  return bytes;
}

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_MATCH_RADIX_TILE_H_
