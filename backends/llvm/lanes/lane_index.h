// Indices of the lanes of a vector.
//
// A LaneIndex is one i64 per lane, in the most regular known form: uniform (one scalar), strided (scalar base + lane *
// constant), patterned (scalar base + a constant per lane), or arbitrary (a vector). Regular forms are preserved by
// addition and multiplication, and by division by a constant when the position of the base among its multiples is
// known, or the lanes are known not to cross one; as a result, a reshape or a broadcast in a fused loop becomes vector
// loads rather than gathers.
#ifndef HILO_BACKENDS_LLVM_LANES_LANE_INDEX_H_
#define HILO_BACKENDS_LLVM_LANES_LANE_INDEX_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "backends/llvm/lanes/emitter_context.h"

namespace hilo::codegen {

class LaneIndex {
 public:
  // Inclusive bounds that hold in active lanes.
  struct Range {
    int64_t low = std::numeric_limits<int64_t>::min();
    int64_t high = std::numeric_limits<int64_t>::max();
    bool Known() const {
      return low != std::numeric_limits<int64_t>::min() && high != std::numeric_limits<int64_t>::max();
    }
  };

  LaneIndex() = default;  // the constant 0
  static LaneIndex Constant(int64_t value);
  // base + lane * stride. `base` is an i64, a multiple of `multiple_of`, and the index is within [0, limit) in active
  // lanes if limit >= 0.
  static LaneIndex Strided(llvm::Value* base, int64_t stride, int64_t multiple_of = 1, int64_t limit = -1);
  static LaneIndex Uniform(llvm::Value* base, int64_t multiple_of = 1, int64_t limit = -1) {
    return Strided(base, 0, multiple_of, limit);
  }
  // A vector of i64 (or a scalar when width is 1).
  static LaneIndex Arbitrary(llvm::Value* values, int64_t limit = -1);

  bool IsConstant() const { return value_ == nullptr && IsUniform(); }
  bool IsArbitrary() const { return arbitrary_; }
  bool IsPatterned() const { return steps_ != nullptr; }
  bool IsUniform() const { return !arbitrary_ && !IsPatterned() && stride_ == 0; }
  // The value of a constant index.
  int64_t constant() const { return offset_; }
  // The stride from lane to lane, for indices that are neither patterned nor arbitrary.
  int64_t stride() const { return stride_; }
  // What each lane of a patterned index adds to Base(): neither all equal nor evenly apart, and 0 for lane 0.
  absl::Span<const int64_t> steps() const { return *steps_; }
  const Range& range() const { return range_; }
  LaneIndex WithRange(Range range) const;

  // Returns the index of lane 0 (of an index that is not arbitrary).
  llvm::Value* Base(EmitterContext& context) const;
  // The summands of Base(): a value, null for 0, and a constant. Indices that are constants apart share the value.
  llvm::Value* BaseVariable() const { return value_; }
  int64_t BaseConstant() const { return offset_; }
  // Returns a constant that divides Base().
  int64_t BaseMultiple() const;
  // Returns Base() modulo `divisor`, if that is known.
  std::optional<int64_t> BaseModulo(int64_t divisor) const;
  // Returns the indices of all lanes: a scalar for uniform indices, else a vector.
  llvm::Value* Value(EmitterContext& context) const;

  // The same as i32, for indices whose range is known to fit; vectors of i32 are cheaper to compare and to convert.
  // Null if it is not known to fit.
  llvm::Value* Value32(EmitterContext& context) const;

  LaneIndex Add(EmitterContext& context, const LaneIndex& other) const;
  LaneIndex AddConstant(int64_t constant) const;
  LaneIndex MulConstant(EmitterContext& context, int64_t factor) const;
  // Quotient and remainder for indices that are not negative in active lanes; divisor > 0.
  LaneIndex DivConstant(EmitterContext& context, int64_t divisor) const;
  LaneIndex RemConstant(EmitterContext& context, int64_t divisor) const;
  // Clamps to [low, high].
  LaneIndex Clamp(EmitterContext& context, int64_t low, int64_t high) const;
  // Emits low <= index < high, as i1 (uniform) or a vector of i1; null when it is known to hold.
  llvm::Value* InRange(EmitterContext& context, int64_t low, int64_t high) const;

  // Equal keys imply equal indices.
  void AppendKey(std::vector<uint64_t>* key) const;

 private:
  bool LanesStayWithin(EmitterContext& context, int64_t block) const;
  // What `lane` adds to Base(), of an index that is not arbitrary.
  int64_t Step(int lane) const { return IsPatterned() ? (*steps_)[lane] : lane * stride_; }
  // The same base with offset_ + steps[lane] for the offset of each lane, in the most regular form.
  LaneIndex WithSteps(std::vector<int64_t> steps) const;
  // Emits the steps as <width x type>.
  llvm::Constant* Steps(EmitterContext& context, llvm::IntegerType* type) const;
  // InRange for consecutive lanes, by the numbers of the first and the last lane that hold.
  llvm::Value* LanesInRange(EmitterContext& context, int64_t low, int64_t high) const;
  // Value() modulo 2^32.
  llvm::Value* Lanes32(EmitterContext& context) const;

  llvm::Value* value_ = nullptr;  // i64, or <width x i64> if arbitrary_; null is 0
  bool arbitrary_ = false;
  int64_t offset_ = 0;  // added to value_
  int64_t stride_ = 0;
  std::shared_ptr<const std::vector<int64_t>> steps_;  // of a patterned index, whose stride_ is 0
  int64_t multiple_of_ = 0;                            // divides value_; 0 when value_ is null
  Range range_;
};

// A position in an array of known dimensions, row-major: one index per dimension, or one linear index from which they
// are derived on demand. Cheap to copy.
class Index {
 public:
  Index() = default;  // of a scalar
  explicit Index(std::vector<LaneIndex> dims) : dims_(std::move(dims)) {}
  static Index FromLinear(LaneIndex linear, absl::Span<const int64_t> dimensions);

  bool IsLinear() const { return is_linear_; }
  int64_t rank() const { return static_cast<int64_t>(is_linear_ ? bounds_.size() : dims_.size()); }
  // One index per dimension.
  std::vector<LaneIndex> Dims(EmitterContext& context) const;
  // Returns the row-major index in an array of `dimensions` (with as many elements as the index was made for).
  LaneIndex Linear(EmitterContext& context, absl::Span<const int64_t> dimensions) const;
  // Returns the index of the same element in an array that has been reshaped between these dimensions.
  Index Reshape(EmitterContext& context, absl::Span<const int64_t> from, absl::Span<const int64_t> to) const;
  bool IsUniform() const;
  void AppendKey(std::vector<uint64_t>* key) const;

 private:
  std::vector<LaneIndex> dims_;
  bool is_linear_ = false;  // dims_ is then the one linear index
  std::vector<int64_t> bounds_;
};

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_LANES_LANE_INDEX_H_
