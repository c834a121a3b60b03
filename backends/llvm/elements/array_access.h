// The loads and stores that IrArray is made of, of one component type. Complex numbers are pairs of components.
//
// Every access is one of: a scalar (uniform index), a run of lanes (stride 1 or -1), a small stride or a pattern made
// of a few overlapping runs that end exactly at the last element needed, lane by lane (larger strides), or a gather or
// scatter.
#ifndef HILO_BACKENDS_LLVM_ELEMENTS_ARRAY_ACCESS_H_
#define HILO_BACKENDS_LLVM_ELEMENTS_ARRAY_ACCESS_H_

#include <algorithm>
#include <numeric>
#include <optional>

#include "backends/llvm/elements/ir_array.h"

namespace hilo::codegen {

// Accesses of one component type of one array. Positions count components.
class ArrayAccess {
 public:
  ArrayAccess(EmitterContext& context, const IrArray& array)
      : context_(context),
        b_(context.b()),
        array_(array),
        type_(MemoryType(context.llvm_context(), array.shape.element_type())),
        bytes_(PrimitiveTypeByteSize(ComplexComponentType(array.shape.element_type()))) {}

  // Loads the active lanes at `at`.
  llvm::Value* Load(const LaneIndex& at);
  // Selects the lanes of a short row of the array, which all of them read at any position. Null if they do not, or if
  // it is too long.
  llvm::Value* LoadFromRow(const Index& index);
  // Loads `count` consecutive components; `mask` has as many lanes, or is null.
  llvm::Value* LoadRun(const LaneIndex& at, int count, llvm::Value* mask);

  // Stores the active lanes at `at`.
  void Store(const LaneIndex& at, llvm::Value* value);
  // Stores `count` consecutive components for each lane of `at`. `values` has those of the first lane first.
  void StoreLanes(const LaneIndex& at, llvm::Value* values, int count);
  // Stores one component of each of `columns` for each lane, which together are consecutive: vector by vector, each of
  // which takes its lanes from one column after the other, or many columns from a few vectors that have rows of
  // several. LLVM would take a shuffle of all of them apart.
  void StoreInterleaved(const LaneIndex& at, absl::Span<llvm::Value* const> columns);
  // Stores consecutive components; `mask` has as many lanes as `value`, or is null.
  void StoreRun(const LaneIndex& at, llvm::Value* value, llvm::Value* mask);

 private:
  int width() const { return context_.lanes.width; }
  static int LanesOf(llvm::Value* value) {
    return static_cast<int>(llvm::cast<llvm::FixedVectorType>(value->getType())->getNumElements());
  }
  // Returns the number of components of the array.
  int64_t Components() const {
    return ShapeUtil::ElementsIn(array_.shape) * (IsComplexType(array_.shape.element_type()) ? 2 : 1);
  }

  // Addresses.

  // Returns the address of Base(). Those that are constants apart are relative to one, which may be outside the array.
  llvm::Value* Pointer(const LaneIndex& at);
  // Under a mask the first lane may be outside the array.
  llvm::Value* Pointer(llvm::Value* position);
  // Returns the address of Base() if one of `count` components from there is in the array, otherwise one next to the
  // array: where no memory is, processors take 500 cycles to find that no lane is read.
  llvm::Value* NearPointer(const LaneIndex& at, int count);
  // Returns one pointer per lane. 32-bit indices gather twice as many lanes at once.
  llvm::Value* Pointers(const LaneIndex& at);
  // Returns the known alignment of the array: an element's, unless stated otherwise.
  uint64_t ElementAlignment() const { return std::gcd(std::max<int64_t>(array_.alignment, 1), bytes_); }
  llvm::Align Alignment(const LaneIndex& at) const;
  // Marks an access of the array with what is known of its aliases.
  template <typename T>
  T* Tag(T* instruction) {
    if (array_.alias_scope != nullptr) instruction->setMetadata(llvm::LLVMContext::MD_alias_scope, array_.alias_scope);
    if (array_.noalias != nullptr) instruction->setMetadata(llvm::LLVMContext::MD_noalias, array_.noalias);
    if (array_.invariant && instruction->mayReadFromMemory() && !instruction->mayWriteToMemory()) {
      instruction->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_.llvm_context(), {}));
    }
    return instruction;
  }

  // Scalars and runs.

  // Returns true if `count` components are known to be in the array or its padding: they are then accessed without a
  // mask, so that arrays on the stack become registers.
  bool IsPadded(const LaneIndex& at, int64_t count);
  // Returns true if a vector may be stored without its mask: what that excludes is in the padding.
  bool WritesOnlyPadding(const LaneIndex& at, llvm::Value* value, llvm::Value* mask);
  llvm::Value* LoadScalar(const LaneIndex& at);
  void StoreScalar(const LaneIndex& at, llvm::Value* value) {
    Tag(b_.CreateAlignedStore(value, Pointer(at), Alignment(at)));
  }
  void StoreIf(llvm::Value* condition, const LaneIndex& at, llvm::Value* value);
  // Stores the first `count` lanes by stores of their exact sizes. A processor takes a masked store for one of the
  // whole vector: where the next row of the same array is loaded behind it, the load would wait until it is in the
  // cache.
  void StoreFirst(const LaneIndex& at, llvm::Value* value, int64_t count);
  // Returns lane width - 1 of a descending run.
  LaneIndex RunStart(const LaneIndex& at) { return at.AddConstant(1 - width()); }
  llvm::Value* Reversed(llvm::Value* mask) { return mask == nullptr ? nullptr : b_.CreateVectorReverse(mask); }

  // Lanes at any positions.

  llvm::Value* Gather(const LaneIndex& at);
  // Gathers the aligned words of 32 bits that contain the elements, and shifts them. The last word may reach beyond the
  // array, but not beyond its page.
  llvm::Value* GatherNarrow(const LaneIndex& at);
  // Selects the elements at positions among `count` of the array from `begin` on, if they fit in up to four
  // registers, by permutations, which take a tenth of the time of a gather: JAX's gammaln of 50,000 elements, 14 tables
  // of 16 coefficients, 370 -> 187 us. Returns null for more elements.
  llvm::Value* LoadFromRegisters(const LaneIndex& at, const LaneIndex& begin, int64_t count);
  // The instructions that permute the elements of one and of two registers.
  struct Permutations {
    llvm::Intrinsic::ID of_one, of_two;
  };
  // Returns those of AVX-512 for registers of `bits`; nullopt if there are none.
  std::optional<Permutations> PermutationsOf(int64_t bits) const;
  // Loads `count` elements, at most as many as there are lanes, to the first lanes of a register, whichever lanes are
  // active.
  llvm::Value* LoadElements(const LaneIndex& first, int64_t count);
  llvm::Value* LoadEach(llvm::Value* positions);

  // Lanes a stride apart, or in a pattern.

  llvm::Value* LoadLanes(const LaneIndex& at);
  // Loads whole vectors, as they are stored, of a padded array of few of them, and permutes them: arrays on the stack
  // then become registers, whatever is read of them. Null if the positions or the mask are not constants.
  llvm::Value* LoadWhole(const LaneIndex& at);
  // Loads the runs from the first to the last element that the active lanes of a pattern need, and permutes them. Null
  // if the elements are far apart, or if the mask is not a constant and not all lanes are one run.
  llvm::Value* LoadPattern(const LaneIndex& at);
  // Loads the run that a pattern is in all lanes that may be active under a mask, as in the columns that a
  // concatenation puts side by side. Null if it is none.
  llvm::Value* LoadPartOfRun(const LaneIndex& at);
  // Returns true if the lanes are in one column of a table, whose row length is the lanes' stride: whole rows may then
  // be loaded.
  bool IsTable(const LaneIndex& at);
  // Loads runs from the first element needed to the last; for a table from the first row to the last, so that other
  // columns share the same loads.
  llvm::Value* LoadShuffled(LaneIndex at);
  // Loads rows, of which there are as many as lanes, as integers, and returns the elements of one column: for rows of
  // 32 and 64 bits of narrower elements, which processors cut out of integers faster than LLVM finds shuffles that do.
  // Null for others.
  llvm::Value* LoadPartsOfRows(const LaneIndex& at, int64_t elements, int64_t column);
  // Returns the mask of the run that begins `start` elements after the first row; null if all lanes are active.
  llvm::Value* RowMask(int64_t start, int64_t stride);

  EmitterContext& context_;
  llvm::IRBuilder<>& b_;
  const IrArray& array_;
  llvm::Type* type_;
  int64_t bytes_;
};

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_ELEMENTS_ARRAY_ACCESS_H_
