// The sums of reductions and products: what they start from, their terms, and how terms are combined. Loops over the
// terms, in whatever order and in however many accumulators, are written over this interface.
#ifndef HILO_BACKENDS_LLVM_ELEMENTS_TERMS_H_
#define HILO_BACKENDS_LLVM_ELEMENTS_TERMS_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/llvm/elements/elemental_emitter.h"
#include "backends/llvm/elements/predication.h"
#include "hlo/analysis/dot_sides.h"
#include "hlo/analysis/reduction.h"

namespace hilo::codegen {

// Of a reduce or reduce-window: its initial values, and the elements of its arrays at `index`.
absl::StatusOr<ElementValues> InitsOf(ElementEmitter& emitter, const HloInstruction& reduce);
absl::StatusOr<ElementValues> ElementsOf(ElementEmitter& emitter, const HloInstruction& reduce, const Index& index);
// Emits computation(earlier, later).
absl::StatusOr<ElementValues> Combine(EmitterContext& context, const HloComputation& computation,
                                      const ElementValues& earlier, const ElementValues& later);

// Each result, at an index of the kept dimensions, combines a term for each index of the reduced ones.
class Terms {
 public:
  virtual ~Terms() = default;

  // Sizes of the dimensions that results differ in, and of those that their terms differ in.
  const std::vector<int64_t>& kept() const { return kept_; }
  const std::vector<int64_t>& reduced() const { return reduced_; }
  // Element types of a running value.
  const std::vector<PrimitiveType>& types() const { return types_; }

  // Returns the running values before the first term: scalars.
  virtual absl::StatusOr<ElementValues> Start() = 0;
  // Returns a running value that changes nothing: scalars. Errors: Internal if none is known.
  virtual absl::StatusOr<ElementValues> Identity() = 0;
  // Returns the term at `reduced` of the result at `kept`, as a running value.
  virtual absl::StatusOr<ElementValues> Term(absl::Span<const LaneIndex> kept, absl::Span<const LaneIndex> reduced) = 0;
  // Combines two running values, that of earlier terms first.
  virtual absl::StatusOr<ElementValues> Merge(const ElementValues& earlier, const ElementValues& later) = 0;
  // Returns `running` combined with the term at `reduced` of the result at `kept`.
  absl::StatusOr<ElementValues> Add(const ElementValues& running, absl::Span<const LaneIndex> kept,
                                    absl::Span<const LaneIndex> reduced);
  // Returns true if the result is the maximum or minimum of numbers of F32 or F64, or NaN if a term is.
  virtual bool IsFloatExtreme() const { return false; }
  // Returns the result for a running value with all terms, one value per leaf.
  virtual ElementValues Finish(const ElementValues& running) { return running; }

 protected:
  Terms(ElementEmitter& emitter, std::vector<int64_t> kept, std::vector<int64_t> reduced,
        std::vector<PrimitiveType> types)
      : emitter_(emitter), kept_(std::move(kept)), reduced_(std::move(reduced)), types_(std::move(types)) {}

  EmitterContext& context() { return emitter_.context(); }
  ElementEmitter& emitter_;

 private:
  std::vector<int64_t> kept_, reduced_;
  std::vector<PrimitiveType> types_;
};

// Those of a reduce.
class ReduceTerms : public Terms {
 public:
  ReduceTerms(ElementEmitter& emitter, Reduction reduction);
  absl::StatusOr<ElementValues> Start() override;
  absl::StatusOr<ElementValues> Identity() override;
  absl::StatusOr<ElementValues> Term(absl::Span<const LaneIndex> kept, absl::Span<const LaneIndex> reduced) override;
  absl::StatusOr<ElementValues> Merge(const ElementValues& earlier, const ElementValues& later) override;

  bool IsFloatExtreme() const override;

  // Returns true if terms are the moments of single elements (hlo/analysis/one_pass_reduction.h), for AddRun.
  bool AreMoments() const;
  // Returns `running` combined with the moments of these terms, at least one, which are computed from their mean.
  absl::StatusOr<ElementValues> AddRun(const ElementValues& running, absl::Span<const ElementValues> terms);

  // Returns the index of a term in the operands.
  Index IndexOf(absl::Span<const LaneIndex> kept, absl::Span<const LaneIndex> reduced) const;

 private:
  const Reduction reduction_;
};

// Those of a dot, in its sum type.
class DotTerms : public Terms {
 public:
  DotTerms(ElementEmitter& emitter, const HloInstruction& dot);
  absl::StatusOr<ElementValues> Start() override { return Identity(); }
  absl::StatusOr<ElementValues> Identity() override;
  absl::StatusOr<ElementValues> Term(absl::Span<const LaneIndex> kept, absl::Span<const LaneIndex> reduced) override;
  absl::StatusOr<ElementValues> Merge(const ElementValues& earlier, const ElementValues& later) override;
  ElementValues Finish(const ElementValues& running) override;

 private:
  absl::StatusOr<ElementValue> Factor(const DotSide& side, absl::Span<const LaneIndex> batch,
                                      absl::Span<const LaneIndex> free, absl::Span<const LaneIndex> reduced);

  const HloInstruction& dot_;
  const DotSide lhs_, rhs_;
};

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_ELEMENTS_TERMS_H_
