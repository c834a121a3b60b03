// Values with their sizes, and emission of instructions on them. Private to the expansion of dynamic shapes.
#ifndef HILO_HLO_PASSES_DYNAMIC_SIZED_VALUE_H_
#define HILO_HLO_PASSES_DYNAMIC_SIZED_VALUE_H_

#include <map>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/dynamic/dynamic_interface.h"

namespace hilo {

// A value at its bounds, and the s32[] sizes of its dynamic dimensions.
struct SizedValue {
  HloInstruction* data = nullptr;
  std::map<DynamicDimension, HloInstruction*> sizes;

  // Returns the size of a dimension of an array; null if the dimension is static.
  HloInstruction* size(int64_t dimension) const {
    auto it = sizes.find({0, dimension});
    return it == sizes.end() ? nullptr : it->second;
  }
  bool is_dynamic() const { return !sizes.empty(); }
};

// Adds instructions to a computation and stores the first error, after which it adds constants only.
class GraphWriter {
 public:
  explicit GraphWriter(HloComputation* computation) : computation_(computation) {}
  HloComputation* computation() const { return computation_; }
  const absl::Status& status() const { return status_; }
  void Fail(absl::Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  HloInstruction* Op(HloOpcode opcode, absl::Span<HloInstruction* const> operands,
                     std::unique_ptr<OpAttributes> attributes = nullptr, absl::Span<HloComputation* const> called = {},
                     const Shape* stated = nullptr);
  // Adds a copy of `instruction` with other operands, and a result without dynamic dimensions.
  HloInstruction* Copy(const HloInstruction& instruction, absl::Span<HloInstruction* const> operands);

  HloInstruction* S32(int64_t value);
  HloInstruction* Zero(PrimitiveType type);
  HloInstruction* Iota(absl::Span<const int64_t> dimensions, int64_t dimension);  // s32
  HloInstruction* Broadcast(HloInstruction* scalar, absl::Span<const int64_t> dimensions);
  HloInstruction* Compare(HloInstruction* a, HloInstruction* b, ComparisonDirection direction);
  HloInstruction* Reshape(HloInstruction* array, absl::Span<const int64_t> dimensions);
  HloInstruction* DynamicSlice(HloInstruction* array, absl::Span<HloInstruction* const> starts,
                               absl::Span<const int64_t> sizes);
  HloInstruction* Tuple(HloInstruction* first, absl::Span<HloInstruction* const> others);
  HloInstruction* Element(HloInstruction* tuple, int64_t index);
  // Element-wise: both operands are scalars, or arrays of equal shapes.
  HloInstruction* Add(HloInstruction* a, HloInstruction* b) { return Op(HloOpcode::kAdd, {a, b}); }
  HloInstruction* Subtract(HloInstruction* a, HloInstruction* b) { return Op(HloOpcode::kSubtract, {a, b}); }
  HloInstruction* Multiply(HloInstruction* a, HloInstruction* b) { return Op(HloOpcode::kMultiply, {a, b}); }
  HloInstruction* Divide(HloInstruction* a, HloInstruction* b) { return Op(HloOpcode::kDivide, {a, b}); }
  HloInstruction* Maximum(HloInstruction* a, HloInstruction* b) { return Op(HloOpcode::kMaximum, {a, b}); }
  HloInstruction* Minimum(HloInstruction* a, HloInstruction* b) { return Op(HloOpcode::kMinimum, {a, b}); }

  // Returns the size of dimension `d`, clamped to [0, bound]; a constant if it is static.
  HloInstruction* SizeWithinBound(const SizedValue& value, int64_t d);
  // Returns a pred array of `dimensions`: true where the index along dimension `d` is below `size`.
  HloInstruction* IsBelow(absl::Span<const int64_t> dimensions, int64_t d, HloInstruction* size);
  // Returns the array with the scalar `filler` in the padding along the dimensions listed (those that are dynamic).
  HloInstruction* Mask(const SizedValue& value, absl::Span<const int64_t> dimensions, HloInstruction* filler);
  // Returns the valid elements, in row-major order, as those of an array at bounds `bounds` and sizes `sizes`.
  HloInstruction* Repack(const SizedValue& value, absl::Span<const int64_t> bounds,
                         absl::Span<HloInstruction* const> sizes);

 private:
  HloComputation* computation_;
  absl::Status status_;
};

// Emits `instruction` on `operands`, which replace its operands. Not for parameters, tuples and calls. Errors:
// Unimplemented naming it; the writer stores others.
absl::StatusOr<SizedValue> WriteStatic(const HloInstruction& instruction, absl::Span<const SizedValue* const> operands,
                                       GraphWriter* writer);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_DYNAMIC_SIZED_VALUE_H_
