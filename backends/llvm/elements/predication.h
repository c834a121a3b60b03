// Choice between two sources of an element.
#ifndef HILO_BACKENDS_LLVM_ELEMENTS_PREDICATION_H_
#define HILO_BACKENDS_LLVM_ELEMENTS_PREDICATION_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/llvm/lanes/emitter_context.h"
#include "backends/llvm/lanes/lane_index.h"

namespace hilo::codegen {

using ElementValues = std::vector<ElementValue>;

// The conditions under which an element comes from one operand and not another: some uniform over the lanes, some not.
class Guard {
 public:
  // Null conditions always hold.
  void Add(EmitterContext& context, llvm::Value* condition);
  bool Always() const { return uniform_ == nullptr && lanes_ == nullptr; }
  // Where the conditions hold for no lane, the index may be this many bytes outside of the array that is read.
  void SetDistance(int64_t bytes);

  // Emits `on_true` where the conditions hold, else `on_false`: a branch for uniform conditions, narrowed masks and a
  // select for the others. With `may_skip`, sides that no lane takes are branched around. `uniform`: the values are
  // scalars; otherwise they are splatted to vectors. `types`: element types of the values.
  absl::StatusOr<ElementValues> Choose(EmitterContext& context, absl::string_view name, bool uniform,
                                       absl::Span<const PrimitiveType> types,
                                       absl::FunctionRef<absl::StatusOr<ElementValues>()> on_true,
                                       absl::FunctionRef<absl::StatusOr<ElementValues>()> on_false,
                                       bool may_skip = false) const;

 private:
  absl::StatusOr<ElementValues> ChooseLanes(EmitterContext& context, absl::Span<const PrimitiveType> types,
                                            absl::FunctionRef<absl::StatusOr<ElementValues>()> on_true,
                                            absl::FunctionRef<absl::StatusOr<ElementValues>()> on_false,
                                            bool may_skip) const;

  llvm::Value* uniform_ = nullptr;
  llvm::Value* lanes_ = nullptr;
  bool may_be_far_ = false;
};

// Convert element values to and from loop-carried LLVM values; `types` states which have imaginary parts.
Carried Pack(const ElementValues& values);
ElementValues Unpack(absl::Span<llvm::Value* const> carried, absl::Span<const PrimitiveType> types);

// Clamps an index computed by the program to [0, high].
LaneIndex ClampedIndex(EmitterContext& context, PrimitiveType type, ElementValue value, int64_t high);

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_ELEMENTS_PREDICATION_H_
