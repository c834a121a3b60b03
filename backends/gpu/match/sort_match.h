// Sorts by keys: which comparators compare one integer of each side.
#ifndef HILO_BACKENDS_GPU_MATCH_SORT_MATCH_H_
#define HILO_BACKENDS_GPU_MATCH_SORT_MATCH_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "hlo/ir/hlo_instruction.h"

namespace hilo::gpu {

// Returns true for types whose elements can be mapped to integers of the same order: integers, booleans and
// floating-point numbers.
bool HasOrderKey(PrimitiveType type);

// Returns true for instructions allowed in a sort key beside its parameter and constants.
bool IsKeyOp(HloOpcode opcode);

// A sort whose comparator compares one function of the first argument with the same of the second.
struct KeySort {
  const HloInstruction* instruction = nullptr;
  const HloInstruction* key = nullptr;  // in the comparator
  bool descending = false;
  int64_t key_array = 0, count = 0;              // of arrays
  int64_t elements = 0, length = 0, stride = 1;  // of all lists, of a list, between adjacent elements of a list
  std::vector<bool> is_read;                     // for each array: whether anything reads its result

  int64_t lists() const { return elements / length; }
  // Returns true if a pass by digits, the last or another one, moves the array: the keys are needed until then.
  bool Moves(int64_t array, bool is_last) const { return is_read[array] || (array == key_array && !is_last); }
  // Returns true if a sort by digits generates the array instead of reading it: numbers along the lists, as of an
  // argsort.
  bool Generates(int64_t array) const;
  // Bits of a key in a register: narrow floats are F32 there. Those above are the same for all keys of the array, as
  // far as the program states its values.
  int64_t key_bits() const;
};
std::optional<KeySort> KeySortOf(const HloInstruction& sort);

// Returns true if all that reads the instruction are sorts by digits that generate it.
bool IsGenerated(const HloInstruction& iota);

// Bytes of a top-k cell: an element with its index. Elements of 64 bits and their indices take 128 bits.
int64_t TopKCellBytes(PrimitiveType type);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_MATCH_SORT_MATCH_H_
