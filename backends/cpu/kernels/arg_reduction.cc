// Argmax and argmin (hlo/analysis/arg_reduction.h): the first value of a row in an order of values, and the lowest (or
// highest) position that has it. Each lane keeps the first value of those that it has seen and the vector that it was
// in, which is one number for all lanes of a vector: a load, two comparisons and two masked moves. At the end of a row
// the first value of all lanes is found, and then the lowest of the positions of the lanes that have it, so no step
// compares pairs. The initial pair comes last; this selects the same element as the sequential loop. (For a maximum
// that occurs as 0 and as -0 it may return the other one, so strict numerics use the loop.)
#include "hlo/analysis/arg_reduction.h"

#include <optional>
#include <utility>
#include <vector>

#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/sums.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/hero.h"

namespace hilo::cpu {
namespace {

using codegen::Carried;
using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

class RowChooser {
 public:
  RowChooser(FunctionEmitter& f, const HloInstruction& reduce, ArgOrder order, int width, int64_t accumulators)
      : f_(f),
        b_(f.b()),
        values_(reduce.operand(0)),
        type_(values_->shape().element_type()),
        order_(order),
        width_(width),
        accumulators_(accumulators),
        row_(values_->shape().dimensions().back()),
        position_type_(b_.getIntNTy(PrimitiveTypeBitWidth(reduce.operand(1)->shape().element_type()))) {}

  // Returns the chosen value and its position in the row at `prefix`: scalars.
  absl::StatusOr<Elements> Choose(const std::vector<LaneIndex>& prefix) {
    Elements best;
    llvm::Value* position = nullptr;
    {
      codegen::RegionScope region(f_.context());
      f_.context().lanes = {.width = width_};
      HILO_RETURN_IF_ERROR(FindCandidates(prefix));
      best = {{FirstValue()}};
    }
    for (int half = width_ / 2; half >= 1; half /= 2) {
      codegen::RegionScope region(f_.context());
      f_.context().lanes = {.width = half};
      best = {{Earlier(Lanes(f_, best, 0, half)[0].re, Lanes(f_, best, half, half)[0].re)}};
    }
    {
      codegen::RegionScope region(f_.context());
      f_.context().lanes = {.width = width_};
      position = PositionOf(f_.context().Splat(best[0].re));
    }
    return Elements{best[0], {position}};
  }

 private:
  // A vector of values, and their positions.
  struct Candidate {
    llvm::Value *values, *positions;
  };

  llvm::Value* Compare(ComparisonDirection direction, llvm::Value* x, llvm::Value* y) {
    return codegen::EmitCompare(f_.context(), direction, ComparisonType::kDefault, type_, {x}, {y}).re;
  }

  // Returns the lanes in which x comes before y.
  llvm::Value* Precedes(llvm::Value* x, llvm::Value* y) {
    if (!IsFloatingPointType(type_))
      return Compare(order_.largest ? ComparisonDirection::kGt : ComparisonDirection::kLt, x, y);
    // Also true of NaN; so that which comes last must be none.
    llvm::Value* not_after =
        b_.CreateNot(Compare(order_.largest ? ComparisonDirection::kLe : ComparisonDirection::kGe, x, y));
    llvm::Value* last = order_.nan_first ? y : x;
    return b_.CreateAnd(not_after, Compare(ComparisonDirection::kEq, last, last));
  }
  // Any one of equal values.
  llvm::Value* Earlier(llvm::Value* x, llvm::Value* y) { return b_.CreateSelect(Precedes(y, x), y, x); }

  absl::StatusOr<llvm::Value*> Values(const std::vector<LaneIndex>& prefix, llvm::Value* first, int64_t multiple) {
    std::vector<LaneIndex> index = prefix;
    index.push_back(LaneIndex::Strided(first, 1, multiple, row_));
    HILO_ASSIGN_OR_RETURN(const ElementValue value, f_.elements().Generate(values_, Index(std::move(index))));
    return f_.context().Splat(value.re);
  }

  llvm::Value* SplatPosition(llvm::Value* position) {
    return f_.context().Splat(b_.CreateTrunc(position, position_type_));
  }
  // `first` + a constant, and the next positions.
  llvm::Value* Positions(llvm::Value* first, int64_t constant) {
    std::vector<llvm::Constant*> lanes;
    for (int lane = 0; lane < width_; ++lane) lanes.push_back(llvm::ConstantInt::get(position_type_, constant + lane));
    return b_.CreateAdd(first, llvm::ConstantVector::get(lanes));
  }

  // `at`: where the first accumulator's vector of `later` begins. Lanes keep that, as one number serves all
  // accumulators.
  void Update(Candidate* kept, llvm::Value* later, llvm::Value* at) {
    llvm::Value* replaced = order_.last ? b_.CreateNot(Precedes(kept->values, later)) : Precedes(later, kept->values);
    *kept = {b_.CreateSelect(replaced, later, kept->values), b_.CreateSelect(replaced, at, kept->positions)};
  }

  absl::Status FindCandidates(const std::vector<LaneIndex>& prefix) {
    const int64_t group = accumulators_ * width_, grouped = row_ / group * group;
    Carried start;
    for (int64_t a = 0; a < accumulators_; ++a) {
      HILO_ASSIGN_OR_RETURN(start.emplace_back(), Values(prefix, b_.getInt64(a * width_), width_));
      start.push_back(SplatPosition(b_.getInt64(0)));
    }
    // Counted in a vector: to broadcast a number costs as much as the rest.
    start.push_back(SplatPosition(b_.getInt64(group)));
    const auto accumulator = [](const Carried& carried, int64_t a) {
      return Candidate{carried[2 * a], carried[2 * a + 1]};
    };
    const auto step = [&](llvm::Value* i, const Carried& now) -> absl::StatusOr<Carried> {
      llvm::Value* at = now.back();
      Carried next;
      for (int64_t a = 0; a < accumulators_; ++a) {
        HILO_ASSIGN_OR_RETURN(llvm::Value * values,
                              Values(prefix, b_.CreateNSWAdd(i, b_.getInt64(a * width_)), width_));
        Candidate kept = accumulator(now, a);
        Update(&kept, values, at);
        next.insert(next.end(), {kept.values, kept.positions});
      }
      next.push_back(b_.CreateAdd(at, SplatPosition(b_.getInt64(group))));
      return next;
    };
    HILO_ASSIGN_OR_RETURN(const Carried running, codegen::EmitLoop(f_.context(), "row", b_.getInt64(group),
                                                                   b_.getInt64(grouped), group, start, step));
    // The remainder: full vectors follow those of an accumulator each; the last vector may contain elements for the
    // second time, which changes nothing.
    llvm::Value* const last_group = SplatPosition(b_.getInt64(grouped));
    for (int64_t a = 0; a < accumulators_; ++a) {
      Candidate& kept = candidates_.emplace_back(accumulator(running, a));
      if (const int64_t i = grouped + a * width_; i + width_ <= row_) {
        HILO_ASSIGN_OR_RETURN(llvm::Value * values, Values(prefix, b_.getInt64(i), width_));
        Update(&kept, values, last_group);
      }
      kept.positions = Positions(kept.positions, a * width_);
    }
    if (row_ % width_ != 0) {
      HILO_ASSIGN_OR_RETURN(llvm::Value * values, Values(prefix, b_.getInt64(row_ - width_), 1));
      candidates_.push_back({values, Positions(SplatPosition(b_.getInt64(0)), row_ - width_)});
    }
    return absl::OkStatus();
  }

  // In pairs, so that few wait for each other.
  llvm::Value* FirstValue() {
    std::vector<llvm::Value*> values;
    for (const Candidate& candidate : candidates_) values.push_back(candidate.values);
    for (size_t distance = 1; distance < values.size(); distance *= 2) {
      for (size_t i = 0; i + distance < values.size(); i += 2 * distance)
        values[i] = Earlier(values[i], values[i + distance]);
    }
    return values[0];
  }

  // The position of the candidate that has the value `best`, which none precedes.
  llvm::Value* PositionOf(llvm::Value* best) {
    // Other lanes have the position that is chosen last.
    llvm::Value* none = SplatPosition(b_.getInt64(order_.last ? 0 : row_ - 1));
    const llvm::Intrinsic::ID choose = order_.last ? llvm::Intrinsic::umax : llvm::Intrinsic::umin;
    llvm::Value* chosen = none;
    for (const Candidate& candidate : candidates_) {
      llvm::Value* position = b_.CreateSelect(Precedes(best, candidate.values), none, candidate.positions);
      chosen = chosen == none ? position : b_.CreateBinaryIntrinsic(choose, chosen, position);
    }
    return order_.last ? b_.CreateIntMaxReduce(chosen) : b_.CreateIntMinReduce(chosen);
  }

  FunctionEmitter& f_;
  llvm::IRBuilder<>& b_;
  const HloInstruction* values_;
  const PrimitiveType type_;
  const ArgOrder order_;
  const int width_;
  const int64_t accumulators_, row_;
  llvm::Type* const position_type_;
  std::vector<Candidate> candidates_;
};

}  // namespace

absl::Status EmitArgReduction(FunctionEmitter& f, const KernelParts& kernel) {
  const HloInstruction *instruction = kernel.instruction, *reduce = HeroOf(instruction);
  const std::optional<ArgOrder> order = ArgOrderOf(*reduce);
  HILO_RET_CHECK(order.has_value()) << "chosen for what has no order: " << reduce->name();
  auto sizes = reduce->operand(0)->shape().dimensions();
  sizes.remove_suffix(1);
  HILO_RETURN_IF_ERROR(f.LoadScalarOperands(instruction));
  return ForEach(f, "results", kernel.begin, kernel.end, [&](llvm::Value* unit) -> absl::Status {
    const std::vector<LaneIndex> position = f.Delinearize(unit, sizes);
    RowChooser chooser(f, *reduce, *order, static_cast<int>(kernel.config.width), kernel.config.tile[0]);
    HILO_ASSIGN_OR_RETURN(Elements best, chooser.Choose(position));
    HILO_ASSIGN_OR_RETURN(Elements inits, codegen::InitsOf(f.elements(), *reduce));
    HILO_ASSIGN_OR_RETURN(best, codegen::Combine(f.context(), *reduce->called_computation(), inits, best));
    for (int i : {0, 1}) f.ArrayOf(instruction, i).Store(f.context(), Index(position), best[i]);
    return absl::OkStatus();
  });
}

}  // namespace hilo::cpu
