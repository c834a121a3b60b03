// Argmax and argmin (hlo/analysis/arg_reduction.h): f is the computation, g(x, y) is f with the pair of the lower
// index as its first operand. A row can then be reduced in lanes, each in order, the lanes by g, and the initial pair
// at the end: this selects the same element as the sequential loop. (For a maximum that occurs as 0 and as -0 it may
// return the other one, so strict numerics use the loop.)
#include <utility>
#include <vector>

#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/sums.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/hero.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::cpu {

using codegen::Carried;
using codegen::Index;
using codegen::LaneIndex;

absl::Status EmitArgReduction(FunctionEmitter& f, const KernelParts& kernel) {
  const HloInstruction *instruction = kernel.instruction, *reduce = HeroOf(instruction);
  const int width = static_cast<int>(kernel.config.width);
  const int64_t accumulators = kernel.config.tile[0], group = accumulators * width;
  auto sizes = reduce->operand(0)->shape().dimensions();
  const int64_t row = sizes.back();
  sizes.remove_suffix(1);
  HILO_RETURN_IF_ERROR(f.LoadScalarOperands(instruction));
  llvm::IRBuilder<>& b = f.b();
  const HloComputation& choose = *reduce->called_computation();
  const PrimitiveType position = reduce->operand(1)->shape().element_type();
  // g of the comment above.
  auto merge = [&](const Elements& x, const Elements& y) {
    llvm::Value* swap =
        codegen::EmitCompare(f.context(), ComparisonDirection::kLt, ComparisonType::kDefault, position, y[1], x[1]).re;
    Elements first, second;
    for (int i : {0, 1}) {
      first.push_back(codegen::EmitSelect(f.context(), swap, y[i], x[i]));
      second.push_back(codegen::EmitSelect(f.context(), swap, x[i], y[i]));
    }
    return codegen::Combine(f.context(), choose, first, second);
  };
  return ForEach(f, "results", kernel.begin, kernel.end, [&](llvm::Value* unit) -> absl::Status {
    const std::vector<LaneIndex> position = f.Delinearize(unit, sizes);
    Elements best;
    {
      codegen::RegionScope region(f.context());
      f.context().lanes = {.width = width};
      auto vector = [&](llvm::Value* base, int64_t multiple) {
        std::vector<LaneIndex> index = position;
        index.push_back(LaneIndex::Strided(base, 1, multiple, row));
        return codegen::ElementsOf(f.elements(), *reduce, Index(std::move(index)));
      };
      Carried start;
      Elements like;
      for (int64_t a = 0; a < accumulators; ++a) {
        HILO_ASSIGN_OR_RETURN(like, vector(b.getInt64(a * width), width));
        for (llvm::Value* value : PackLanes(f, like)) start.push_back(value);
      }
      auto accumulator = [&](const Carried& carried, int64_t a) {
        return UnpackLanes(Carried(carried.begin() + 2 * a, carried.begin() + 2 * a + 2), like);
      };
      const int64_t grouped = row / group * group;
      HILO_ASSIGN_OR_RETURN(
          Carried running,
          codegen::EmitLoop(f.context(), "row", b.getInt64(group), b.getInt64(grouped), group, start,
                            [&](llvm::Value* i, const Carried& now) -> absl::StatusOr<Carried> {
                              Carried next;
                              for (int64_t a = 0; a < accumulators; ++a) {
                                HILO_ASSIGN_OR_RETURN(Elements elements,
                                                      vector(b.CreateNSWAdd(i, b.getInt64(a * width)), width));
                                HILO_ASSIGN_OR_RETURN(Elements chosen, codegen::Combine(f.context(), choose,
                                                                                        accumulator(now, a), elements));
                                for (llvm::Value* value : PackLanes(f, chosen)) next.push_back(value);
                              }
                              return next;
                            }));
      // The remainder: full vectors follow those of an accumulator each; the last vector may contain elements for the
      // second time, which changes nothing.
      std::vector<Elements> candidates;
      for (int64_t a = 0; a < accumulators; ++a) {
        Elements& candidate = candidates.emplace_back(accumulator(running, a));
        const int64_t i = grouped + a * width;
        if (i + width > row) continue;
        HILO_ASSIGN_OR_RETURN(const Elements elements, vector(b.getInt64(i), width));
        HILO_ASSIGN_OR_RETURN(candidate, codegen::Combine(f.context(), choose, candidate, elements));
      }
      if (row % width != 0) {
        HILO_ASSIGN_OR_RETURN(candidates.emplace_back(), vector(b.getInt64(row - width), 1));
      }
      // In pairs, so that few wait for each other.
      while (candidates.size() > 1) {
        std::vector<Elements> next;
        for (size_t i = 0; i + 1 < candidates.size(); i += 2) {
          HILO_ASSIGN_OR_RETURN(next.emplace_back(), merge(candidates[i], candidates[i + 1]));
        }
        if (candidates.size() % 2 != 0) next.push_back(candidates.back());
        candidates = std::move(next);
      }
      best = UnpackLanes(PackLanes(f, candidates[0]), candidates[0]);
    }
    for (int half = width / 2; half >= 1; half /= 2) {
      codegen::RegionScope region(f.context());
      f.context().lanes = {.width = half};
      HILO_ASSIGN_OR_RETURN(best, merge(Lanes(f, best, 0, half), Lanes(f, best, half, half)));
      if (half > 1) best = UnpackLanes(PackLanes(f, best), best);
    }
    HILO_ASSIGN_OR_RETURN(Elements inits, codegen::InitsOf(f.elements(), *reduce));
    HILO_ASSIGN_OR_RETURN(best, codegen::Combine(f.context(), choose, inits, best));
    for (int i : {0, 1}) f.ArrayOf(instruction, i).Store(f.context(), Index(position), best[i]);
    return absl::OkStatus();
  });
}

}  // namespace hilo::cpu
