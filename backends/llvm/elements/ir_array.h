// An array in memory as generated code sees it: a pointer and a shape, dense and row-major. PRED is one byte, types of
// fewer than 8 bits take one byte per element, complex numbers are (real, imaginary) pairs, as in
// hilo/primitive_type.h.
#ifndef HILO_BACKENDS_LLVM_ELEMENTS_IR_ARRAY_H_
#define HILO_BACKENDS_LLVM_ELEMENTS_IR_ARRAY_H_

#include "backends/llvm/elements/element_convert.h"
#include "backends/llvm/lanes/lane_index.h"
#include "hilo/shape.h"

namespace hilo::codegen {

// Its accesses are ArrayAccess's (array_access.h).
struct IrArray {
  llvm::Value* pointer = nullptr;
  Shape shape;
  llvm::MDNode* alias_scope = nullptr;  // of this array's slice, if slices have alias scopes
  llvm::MDNode* noalias = nullptr;      // the scopes that it does not overlap
  int64_t alignment = 1;                // of the pointer, in bytes
  bool invariant = false;               // not written while the function runs
  int64_t padding = 0;                  // bytes behind the array that may be read and written, as nothing else is there

  // Loads the elements at `index`: a scalar load for a uniform index, a (masked) vector load for stride 1, otherwise
  // strided loads or gathers. Active lanes must be in bounds; inactive lanes access no memory.
  ElementValue Load(EmitterContext& context, const Index& index) const;
  // Stores the active lanes; values are rounded to the element type. For a uniform index in more than one lane the
  // value must be uniform.
  void Store(EmitterContext& context, const Index& index, ElementValue value) const;
  // Stores values[j] at j elements after `first`, whose lanes are a constant number of elements apart: if that is
  // values.size(), they form one contiguous run together, if it is more, a run for each lane.
  void StoreColumns(EmitterContext& context, const Index& first, absl::Span<const ElementValue> values) const;
};

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_ELEMENTS_IR_ARRAY_H_
