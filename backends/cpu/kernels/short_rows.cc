// Reductions of short rows that lie one after the other. For W results of N terms each, N vectors of W terms are read
// in the order of memory. Vectors that are next to each other are combined: of two, the even lanes with the odd ones,
//
//     a0 a1 b0 b1   c0 c1 d0 d1   ->   a0+a1 b0+b1 c0+c1 d0+d1
//
// which leaves rows of N / 2 terms that again lie one after the other; of three, every third lane, and so on for each
// prime factor of N. So no lane is idle and no row is combined on its own.
#include <algorithm>
#include <numeric>

#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/nest_emitter.h"
#include "backends/cpu/kernels/reduce_choice.h"
#include "backends/cpu/kernels/sums.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/reduction_op.h"

namespace hilo::cpu {
namespace {

using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;
using codegen::Position;

// A block of W results, for each of which there is a lane.
class ShortRows {
 public:
  // The rows from `first`, an i64 that `multiple` divides, on; `active`: how many of them, W at most.
  ShortRows(FunctionEmitter& f, codegen::ReduceTerms& terms, const Reduction& reduction, llvm::Value* first,
            int64_t multiple, int64_t width, int64_t active)
      : f_(f),
        b_(f.b()),
        terms_(terms),
        reduction_(reduction),
        factors_(ShortRowFactors(Product(reduction.reduced_sizes))),
        width_(width),
        active_(active * Product(reduction.reduced_sizes)),
        first_(b_.CreateNSWMul(first, b_.getInt64(static_cast<uint64_t>(Product(reduction.reduced_sizes))))),
        multiple_(multiple * Product(reduction.reduced_sizes)),
        bytes_(reduction.types[0] == PRED) {}

  absl::StatusOr<Elements> Emit() {
    HILO_ASSIGN_OR_RETURN(Elements total, Combined(factors_.size(), 0));
    if (bytes_) total[0].re = b_.CreateIsNotNull(total[0].re);
    return total;
  }

 private:
  llvm::Type* Vector(llvm::Type* element) const {
    return llvm::FixedVectorType::get(element, static_cast<unsigned>(width_));
  }

  // Returns vector `number` of those that the first `levels` factors leave.
  absl::StatusOr<Elements> Combined(size_t levels, int64_t number) {
    if (levels == 0) return Terms(number);
    const int64_t factor = factors_[levels - 1];
    std::vector<Elements> vectors;
    for (int64_t i = 0; i < factor; ++i) {
      HILO_ASSIGN_OR_RETURN(vectors.emplace_back(), Combined(levels - 1, number * factor + i));
    }
    Elements total = EveryNth(vectors, 0);
    for (int64_t i = 1; i < factor; ++i) {
      HILO_ASSIGN_OR_RETURN(total, Merge(total, EveryNth(vectors, i)));
    }
    return total;
  }

  // Vector `number` of the terms. Predicates are bytes from here on: masks have no shuffles.
  absl::StatusOr<Elements> Terms(int64_t number) {
    codegen::RegionScope region(f_.context());
    f_.context().lanes = {.width = static_cast<int>(width_)};
    const int64_t count = std::clamp<int64_t>(active_ - number * width_, 0, width_);
    if (count < width_) f_.context().lanes.mask = FirstLanes(f_, count, static_cast<int>(width_));
    const absl::Span<const int64_t> dimensions = reduction_.input.dimensions();
    const LaneIndex at =
        LaneIndex::Strided(first_, 1, multiple_).AddConstant(number * width_).WithRange({0, Product(dimensions) - 1});
    HILO_ASSIGN_OR_RETURN(Elements terms,
                          ElementsOf(f_.elements(), *reduction_.reduce, Index::FromLinear(at, dimensions)));
    terms[0].re = f_.context().Splat(terms[0].re);
    if (bytes_) terms[0].re = b_.CreateZExt(terms[0].re, Vector(b_.getInt8Ty()));
    return terms;
  }

  absl::StatusOr<Elements> Merge(const Elements& earlier, const Elements& later) {
    if (!bytes_) return terms_.Merge(earlier, later);
    HILO_ASSIGN_OR_RETURN(
        const ElementValue value,
        codegen::EmitBinaryOp(f_.context(), *ReductionOp(reduction_.computation()), U8, earlier[0], later[0]));
    return Elements{value};
  }

  // Returns lanes `start`, start + N, start + 2 N ... of N vectors, one after the other. An odd N takes each lane of a
  // vector for one `start` only: the vectors are blended, and permuted once.
  Elements EveryNth(const std::vector<Elements>& vectors, int64_t start) {
    const int64_t count = static_cast<int64_t>(vectors.size());
    std::vector<int> lanes;
    for (int64_t i = 0; i < width_; ++i) lanes.push_back(static_cast<int>(i * count + start));
    if (count == 2) return ShuffleLanes(f_, vectors[0], vectors[1], lanes);
    Elements blended = vectors[0];
    std::vector<int> blend(width_), permutation;
    std::iota(blend.begin(), blend.end(), 0);
    for (int64_t v = 1; v < count; ++v) {
      std::iota(blend.begin(), blend.end(), 0);
      for (const int lane : lanes)
        if (lane / width_ == v) blend[lane % width_] = static_cast<int>(width_ + lane % width_);
      blended = ShuffleLanes(f_, blended, vectors[v], blend);
    }
    for (const int lane : lanes) permutation.push_back(static_cast<int>(lane % width_));
    return ShuffleLanes(f_, blended, blended, permutation);
  }

  FunctionEmitter& f_;
  llvm::IRBuilder<>& b_;
  codegen::ReduceTerms& terms_;
  const Reduction& reduction_;
  const std::vector<int64_t> factors_;
  const int64_t width_, active_;
  llvm::Value* first_;
  const int64_t multiple_;
  const bool bytes_;
};

}  // namespace

absl::Status EmitReduceShortRows(FunctionEmitter& f, const KernelParts& kernel) {
  f.SetHoldsVectors(kernel.instruction, true);
  const Reduction reduction = ReductionOf(*kernel.instruction);
  codegen::ReduceTerms terms(f.elements(), reduction);
  const int64_t width = kernel.config.width;
  const codegen::LoopNest nest = {{.sizes = terms.kept(),
                                   .part = kernel.config.tile[0],
                                   .lanes = width,
                                   .repeats = MayRepeat(f, *kernel.instruction)}};
  return EmitNest(f, kernel, nest, [&](absl::Span<const Position> positions) -> absl::Status {
    const Index kept = Joined(f.context(), positions[0]);
    const LaneIndex first = kept.Linear(f.context(), terms.kept());
    const bool is_rest = f.context().lanes.mask != nullptr;
    ShortRows rows(f, terms, reduction, first.Base(f.context()), first.BaseMultiple(), width,
                   is_rest ? Product(terms.kept()) % width : width);
    HILO_ASSIGN_OR_RETURN(Elements total, rows.Emit());
    HILO_ASSIGN_OR_RETURN(const Elements start, terms.Start());
    HILO_ASSIGN_OR_RETURN(total, terms.Merge(start, total));
    f.ArrayOf(kernel.instruction, 0).Store(f.context(), kept, total[0]);
    return absl::OkStatus();
  });
}

}  // namespace hilo::cpu
