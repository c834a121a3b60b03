// The memory of a leaf of an instruction.
#ifndef HILO_HLO_MEMORY_BUFFER_SLICE_H_
#define HILO_HLO_MEMORY_BUFFER_SLICE_H_

#include <cstdint>

#include "hlo/ir/hlo_instruction.h"

namespace hilo {

enum class StorageKind : uint8_t {
  kNone,       // no bytes: tokens and empty arrays
  kParameter,  // read-only: leaf `index` of the scope's parameters, counted depth first over all of them
  kOutput,     // leaf `index` of the scope's result
  kConstant,   // constant `index` of the module's pool
  kStack,      // private to one piece of code; `index` numbers it within the scope
  kFrame,      // `offset` in the scope's frame
};

struct BufferSlice {
  StorageKind kind = StorageKind::kNone;
  int64_t index = 0;
  int64_t offset = 0;   // bytes, kFrame only
  int64_t size = 0;     // bytes
  int64_t buffer = -1;  // id within the scope: equal ids share memory
  bool SameMemory(const BufferSlice& other) const { return kind == other.kind && buffer == other.buffer; }
};

struct LeafRef {
  const HloInstruction* instruction;
  int64_t leaf;  // depth-first number within the instruction's shape
};

// The number of leaves of `shape`, and the depth-first number of the leaf at `index`.
int64_t LeafCount(const Shape& shape);
int64_t LeafNumber(const Shape& shape, const ShapeIndex& index);

}  // namespace hilo

#endif  // HILO_HLO_MEMORY_BUFFER_SLICE_H_
