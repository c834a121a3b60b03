#include "backends/cpu/kernels/sums.h"

#include <functional>
#include <utility>

#include "backends/cpu/kernels/kernels.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "base/math.h"
#include "hilo/host.h"
#include "hilo/status_macros.h"

namespace hilo::cpu {
namespace {

using codegen::Carried;
using codegen::ElementValue;
using codegen::LaneIndex;
using codegen::Terms;

// Several running values as one list of loop-carried values.
class RunningValues {
 public:
  // `like`: one of them.
  RunningValues(FunctionEmitter& f, Elements like) : f_(f), like_(std::move(like)) {
    for (const ElementValue& value : like_) stride_ += value.im == nullptr ? 1 : 2;
  }

  // Returns `count` times the same.
  Carried All(size_t count, const Elements& values) const {
    Carried all;
    for (size_t i = 0; i < count; ++i) Append(values, &all);
    return all;
  }
  Elements Get(const Carried& all, size_t i) const {
    return UnpackLanes(Carried(all.begin() + i * stride_, all.begin() + (i + 1) * stride_), like_);
  }
  void Set(Carried* all, size_t i, const Elements& values) const {
    const Carried packed = PackLanes(f_, values);
    std::copy(packed.begin(), packed.end(), all->begin() + i * stride_);
  }
  void Append(const Elements& values, Carried* all) const {
    for (llvm::Value* value : PackLanes(f_, values)) all->push_back(value);
  }

 private:
  FunctionEmitter& f_;
  const Elements like_;
  size_t stride_ = 0;
};

// Loops keep extremes of floats (Terms::IsFloatExtreme) as two values: that of the numbers, and which lanes have had a
// NaN, as the signs of integers. Then a step is as short as the processor's instruction, where a step that passes on
// NaN waits for the one before, compares, and selects.
class ExtremeScope {
 public:
  // Until the end of the scope maxima and minima leave out what NaN need, if `is_extreme`.
  ExtremeScope(llvm::IRBuilder<>& b, bool is_extreme) : guard_(b) {
    llvm::FastMathFlags flags = b.getFastMathFlags();
    if (is_extreme) flags.setNoNaNs();
    b.setFastMathFlags(flags);
  }

  static llvm::Value* NoNan(FunctionEmitter& f, llvm::Value* number) {
    llvm::Type* bits = f.b().getIntNTy(number->getType()->getScalarSizeInBits());
    return f.context().Splat(llvm::ConstantInt::get(bits, 0));
  }
  // Adds the lanes in which x or y is NaN.
  static llvm::Value* AddNan(llvm::IRBuilder<>& b, llvm::Value* nan, llvm::Value* x, llvm::Value* y) {
    return b.CreateOr(nan, b.CreateSExt(b.CreateFCmpUNO(x, y), nan->getType()));
  }

 private:
  llvm::IRBuilderBase::FastMathFlagGuard guard_;
};

// Makes NaN of the one value where `nan` is true.
void SetNan(FunctionEmitter& f, llvm::Value* nan, Elements* values) {
  llvm::Value*& value = values->front().re;
  value = f.b().CreateSelect(nan, llvm::ConstantFP::getNaN(value->getType()), value);
}

class OrderedSum {
 public:
  OrderedSum(FunctionEmitter& f, Terms& terms, absl::Span<const int64_t> partial_sums,
             absl::Span<const std::vector<LaneIndex>> kept, Elements start)
      : f_(f),
        b_(f.b()),
        terms_(terms),
        units_(partial_sums),
        kept_(kept),
        start_(std::move(start)),
        values_(f, start_),
        count_(Product(terms.reduced())),
        row_(terms.reduced().empty() ? 1 : terms.reduced().back()),
        by_rows_(!units_.empty() && units_[0] == row_),
        is_extreme_(terms.IsFloatExtreme() && f.context().lanes.width > 1 && IsNumber(start_[0].re)) {}

  absl::StatusOr<std::vector<Elements>> Emit() {
    Carried start = values_.All(kept_.size(), start_);
    if (is_extreme_) start.resize(2 * kept_.size(), ExtremeScope::NoNan(f_, start_[0].re));
    HILO_ASSIGN_OR_RETURN(const Carried sums, Sum(units_.size(), Int(0), Int(count_), start));
    std::vector<Elements> results;
    for (size_t p = 0; p < kept_.size(); ++p) {
      results.push_back(values_.Get(sums, p));
      if (is_extreme_) SetNan(f_, b_.CreateIsNeg(sums[kept_.size() + p]), &results.back());
    }
    return results;
  }

 private:
  static bool IsNumber(llvm::Value* value) {
    const auto* constant = llvm::dyn_cast<llvm::ConstantFP>(value);
    return constant != nullptr && !constant->isNaN();
  }
  llvm::Value* Int(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }

  // Adds the terms [first, first + count), in loops of as many levels.
  absl::StatusOr<Carried> Sum(size_t level, llvm::Value* first, llvm::Value* count, const Carried& from) {
    if (level == 0) return SumTerms(first, count, from);
    llvm::Value* unit = Int(units_[level - 1]);
    const int64_t most = (level == units_.size() ? count_ : units_[level]) / units_[level - 1];
    auto body = [&](llvm::Value* i, const Carried& totals) -> absl::StatusOr<Carried> {
      llvm::Value* size = level == 1 && by_rows_ ? unit
                                                 : codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::smin,
                                                                                b_.CreateNSWSub(count, i), unit);
      HILO_ASSIGN_OR_RETURN(const Elements zero, terms_.Identity());
      HILO_ASSIGN_OR_RETURN(const Carried part,
                            Sum(level - 1, b_.CreateNUWAdd(first, i), size, values_.All(kept_.size(), zero)));
      Carried next;
      for (size_t p = 0; p < kept_.size(); ++p) {
        HILO_ASSIGN_OR_RETURN(const Elements sum, terms_.Merge(values_.Get(totals, p), values_.Get(part, p)));
        values_.Append(sum, &next);
      }
      return next;
    };
    return codegen::EmitLoop(f_.context(), "sums", Int(0), count, units_[level - 1], from, body,
                             /*at_least_once=*/false, most);
  }

  absl::StatusOr<Carried> SumTerms(llvm::Value* first, llvm::Value* count, const Carried& from) {
    const absl::Span<const int64_t> sizes = terms_.reduced();
    std::vector<LaneIndex> row;
    if (by_rows_) row = f_.Delinearize(b_.CreateUDiv(first, Int(row_)), sizes.first(sizes.size() - 1));
    auto body = [&](llvm::Value* i, const Carried& running) -> absl::StatusOr<Carried> {
      std::vector<LaneIndex> at = row;
      if (by_rows_) {
        at.push_back(LaneIndex::Uniform(i, 1, row_));
      } else {
        at = f_.Delinearize(b_.CreateNUWAdd(first, i), sizes);
      }
      Carried next, nan;
      for (size_t p = 0; p < kept_.size(); ++p) {
        HILO_ASSIGN_OR_RETURN(const Elements term, terms_.Term(kept_[p], at));
        if (is_extreme_) {
          llvm::Value* number = f_.context().Splat(term[0].re);
          nan.push_back(ExtremeScope::AddNan(b_, running[kept_.size() + p], number, number));
        }
        const ExtremeScope scope(b_, is_extreme_);
        HILO_ASSIGN_OR_RETURN(const Elements sum, terms_.Merge(values_.Get(running, p), term));
        values_.Append(sum, &next);
      }
      next.insert(next.end(), nan.begin(), nan.end());
      return next;
    };
    return codegen::EmitLoop(f_.context(), "reduce", Int(0), count, 1, from, body, /*at_least_once=*/false,
                             units_.empty() ? count_ : units_[0]);
  }

  FunctionEmitter& f_;
  llvm::IRBuilder<>& b_;
  Terms& terms_;
  const absl::Span<const int64_t> units_;
  const absl::Span<const std::vector<LaneIndex>> kept_;
  const Elements start_;
  const RunningValues values_;
  const int64_t count_, row_;  // terms in all, and of a row
  const bool by_rows_;         // the shortest sums are rows
  const bool is_extreme_;
};

// Combines the lanes by halving.
absl::StatusOr<Elements> CombineLanes(FunctionEmitter& f, Terms& terms, int width, Elements values) {
  codegen::RegionScope region(f.context());
  // The last two lanes of an extreme stay in a vector, for which processors have an instruction.
  const int least = terms.IsFloatExtreme() && width > 1 ? 2 : 1;
  for (int half = width / 2; half >= least; half /= 2) {
    const Elements low = Lanes(f, values, 0, half), high = Lanes(f, values, half, half);
    f.context().lanes = {.width = half};
    HILO_ASSIGN_OR_RETURN(values, terms.Merge(low, high));
  }
  if (least == 1) return values;
  const Elements exchanged = ShuffleLanes(f, values, values, {1, 0});
  f.context().lanes = {.width = 2};
  HILO_ASSIGN_OR_RETURN(values, terms.Merge(values, exchanged));
  return Lanes(f, values, 0, 1);
}

// Returns `values` in the lanes of the current mask, `others` elsewhere.
Elements Selected(FunctionEmitter& f, Elements values, const Elements& others) {
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = codegen::EmitSelect(f.context(), f.context().MaskValue(), values[i], others[i]);
  return values;
}

// The running value of a row; of an extreme of floats that of the numbers.
struct LaneTotal {
  Elements value;
  llvm::Value* nan = nullptr;  // lanes that have had a NaN; null: no extreme of floats
};

class LaneSum {
 public:
  LaneSum(FunctionEmitter& f, Terms& terms, int width, int64_t accumulators, int64_t section,
          const std::vector<LaneIndex>& kept, Elements neutral)
      : f_(f),
        b_(f.b()),
        terms_(terms),
        width_(width),
        group_(width * accumulators),
        accumulators_(static_cast<size_t>(accumulators)),
        section_(terms.IsFloatExtreme() ? 0 : section),  // partial sums round less, extremes do not round
        kept_(kept),
        neutral_(std::move(neutral)),
        values_(f, neutral_),
        is_extreme_(terms.IsFloatExtreme()),
        start_(Start()),
        row_(terms.reduced().back()),
        outer_(terms.reduced().begin(), terms.reduced().end() - 1) {}

  // Returns the sum of each lane.
  absl::StatusOr<LaneTotal> Emit() {
    Carried sums;
    if (Product(outer_) == 1) {
      HILO_ASSIGN_OR_RETURN(sums, AlongRow(std::vector<LaneIndex>(outer_.size(), LaneIndex::Constant(0)), start_));
    } else {
      auto row = [&](llvm::Value* i, const Carried& running) { return AlongRow(f_.Delinearize(i, outer_), running); };
      HILO_ASSIGN_OR_RETURN(sums,
                            codegen::EmitLoop(f_.context(), "reduce", Int(0), Int(Product(outer_)), 1, start_, row));
    }
    LaneTotal total = {.value = values_.Get(sums, 0)};
    const ExtremeScope scope(b_, is_extreme_);
    for (size_t a = 1; a < accumulators_; ++a) {
      HILO_ASSIGN_OR_RETURN(total.value, terms_.Merge(total.value, values_.Get(sums, a)));
    }
    if (is_extreme_) total.nan = b_.CreateIsNeg(sums.back());
    return total;
  }

 private:
  llvm::Value* Int(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }

  // Returns what a row starts from: the accumulators, and of an extreme of floats the lanes that have had a NaN.
  Carried Start() {
    Carried start = values_.All(accumulators_, neutral_);
    if (is_extreme_) start.push_back(ExtremeScope::NoNan(f_, neutral_[0].re));
    return start;
  }

  // Adds the vectors of terms at `positions` of a row, the first to the first accumulator.
  absl::Status Add(const std::vector<LaneIndex>& prefix, absl::Span<const LaneIndex> positions, Carried* running) {
    Carried terms;
    for (size_t a = 0; a < positions.size(); ++a) {
      std::vector<LaneIndex> at = prefix;
      at.push_back(positions[a]);
      const Elements before = values_.Get(*running, a);
      HILO_ASSIGN_OR_RETURN(Elements term, terms_.Term(kept_, at));
      const bool is_masked = f_.context().lanes.mask != nullptr;
      if (is_extreme_) {
        if (is_masked) term = Selected(f_, term, UnpackLanes(PackLanes(f_, neutral_), neutral_));
        terms.push_back(f_.context().Splat(term[0].re));
      }
      const ExtremeScope scope(b_, is_extreme_);
      HILO_ASSIGN_OR_RETURN(Elements sum, terms_.Merge(before, term));
      if (!is_extreme_ && is_masked) sum = Selected(f_, sum, before);
      values_.Set(running, a, sum);
    }
    for (size_t a = 0; a < terms.size(); a += 2) {
      running->back() = ExtremeScope::AddNan(b_, running->back(), terms[a], terms[std::min(a + 1, terms.size() - 1)]);
    }
    return absl::OkStatus();
  }

  // [from, to) of a row, which is not empty, in iterations of `count` vectors.
  absl::StatusOr<Carried> Loop(const std::vector<LaneIndex>& prefix, llvm::Value* from, llvm::Value* to, size_t count,
                               const Carried& first) {
    auto body = [&](llvm::Value* i, const Carried& now) -> absl::StatusOr<Carried> {
      Carried next = now;
      std::vector<LaneIndex> positions;
      for (size_t a = 0; a < count; ++a) {
        const LaneIndex first = LaneIndex::Strided(i, 1, width_, row_);
        positions.push_back(first.AddConstant(static_cast<int64_t>(a) * width_).WithRange({0, row_ - 1}));
      }
      HILO_RETURN_IF_ERROR(Add(prefix, positions, &next));
      return next;
    };
    return codegen::EmitLoop(f_.context(), "row", from, to, static_cast<int64_t>(count) * width_, first, body,
                             /*at_least_once=*/true, section_ / group_);
  }

  absl::StatusOr<Carried> AlongRow(const std::vector<LaneIndex>& prefix, Carried running) {
    const int64_t grouped = accumulators_ > 1 ? row_ / group_ * group_ : 0, whole = row_ / width_ * width_;
    const int64_t sections = section_ > 0 ? grouped / section_ * section_ : 0;
    if (sections > 0) {
      auto part = [&](llvm::Value* i, const Carried& totals) -> absl::StatusOr<Carried> {
        HILO_ASSIGN_OR_RETURN(const Carried sums,
                              Loop(prefix, i, b_.CreateNSWAdd(i, Int(section_)), accumulators_, start_));
        Carried next;
        for (size_t a = 0; a < accumulators_; ++a) {
          HILO_ASSIGN_OR_RETURN(const Elements sum, terms_.Merge(values_.Get(totals, a), values_.Get(sums, a)));
          values_.Append(sum, &next);
        }
        return next;
      };
      HILO_ASSIGN_OR_RETURN(
          running, codegen::EmitLoop(f_.context(), "sections", Int(0), Int(sections), section_, running, part));
    }
    if (sections < grouped) {
      HILO_ASSIGN_OR_RETURN(running, Loop(prefix, Int(sections), Int(grouped), accumulators_, running));
    }
    if (grouped < whole) {
      HILO_ASSIGN_OR_RETURN(running, Loop(prefix, Int(grouped), Int(whole), 1, running));
    }
    if (whole < row_) {
      codegen::RegionScope tail(f_.context());
      f_.context().lanes = {.width = width_, .mask = FirstLanes(f_, row_ - whole, width_)};
      HILO_RETURN_IF_ERROR(Add(prefix, {LaneIndex::Strided(Int(whole), 1, width_, row_)}, &running));
    }
    return running;
  }

  FunctionEmitter& f_;
  llvm::IRBuilder<>& b_;
  Terms& terms_;
  const int width_;
  const int64_t group_;
  const size_t accumulators_;
  const int64_t section_;
  const std::vector<LaneIndex>& kept_;
  const Elements neutral_;
  const RunningValues values_;
  const bool is_extreme_;
  const Carried start_;
  const int64_t row_;                 // its terms
  const std::vector<int64_t> outer_;  // the other reduced dimensions
};

}  // namespace

absl::StatusOr<std::vector<Elements>> SumInOrder(FunctionEmitter& f, Terms& terms,
                                                 absl::Span<const int64_t> partial_sums,
                                                 absl::Span<const std::vector<LaneIndex>> kept) {
  HILO_ASSIGN_OR_RETURN(Elements start, terms.Start());
  return OrderedSum(f, terms, partial_sums, kept, std::move(start)).Emit();
}

absl::StatusOr<std::vector<Elements>> SumUnrolled(Terms& terms, absl::Span<const std::vector<LaneIndex>> kept) {
  HILO_ASSIGN_OR_RETURN(const Elements start, terms.Start());
  std::vector<Elements> sums(kept.size(), start);
  std::vector<int64_t> term(terms.reduced().size(), 0);
  if (Product(terms.reduced()) == 0) return sums;
  do {
    std::vector<LaneIndex> at;
    for (const int64_t i : term) at.push_back(LaneIndex::Constant(i));
    for (size_t p = 0; p < kept.size(); ++p) {
      HILO_ASSIGN_OR_RETURN(sums[p], terms.Add(sums[p], kept[p], at));
    }
  } while (IndexUtil::BumpIndices(terms.reduced(), absl::MakeSpan(term)));
  return sums;
}

absl::StatusOr<std::vector<Elements>> SumBlock(FunctionEmitter& f, Terms& terms, llvm::Value* first, int64_t count,
                                               absl::Span<const std::vector<LaneIndex>> kept) {
  llvm::IRBuilder<>& b = f.b();
  HILO_ASSIGN_OR_RETURN(const Elements zero, terms.Identity());
  const RunningValues values(f, zero);
  const int64_t size = Product(terms.reduced());
  llvm::Value* here = b.getInt64(static_cast<uint64_t>(count));
  if (size % count != 0) {
    llvm::Value* left = b.CreateNSWSub(b.getInt64(static_cast<uint64_t>(size)), first);
    here = codegen::EmitBinaryIntrinsic(b, llvm::Intrinsic::smin, left, here);
  }
  auto body = [&](llvm::Value* i, const Carried& running) -> absl::StatusOr<Carried> {
    const std::vector<LaneIndex> at = f.Delinearize(b.CreateNUWAdd(first, i), terms.reduced());
    Carried next;
    for (size_t p = 0; p < kept.size(); ++p) {
      HILO_ASSIGN_OR_RETURN(const Elements sum, terms.Add(values.Get(running, p), kept[p], at));
      values.Append(sum, &next);
    }
    return next;
  };
  Carried sums = values.All(kept.size(), zero);
  if (size % count == 0) {
    for (int64_t i = 0; i < count; ++i) {
      HILO_ASSIGN_OR_RETURN(sums, body(b.getInt64(static_cast<uint64_t>(i)), sums));
    }
  } else {
    HILO_ASSIGN_OR_RETURN(sums, codegen::EmitLoop(f.context(), "block", b.getInt64(0), here, 1, sums, body,
                                                  /*at_least_once=*/true, count));
  }
  std::vector<Elements> results;
  for (size_t p = 0; p < kept.size(); ++p) results.push_back(values.Get(sums, p));
  return results;
}

absl::StatusOr<Elements> SumInLanes(FunctionEmitter& f, Terms& terms, int width, int64_t accumulators, int64_t section,
                                    const std::vector<LaneIndex>& kept) {
  Elements total;
  {
    codegen::RegionScope region(f.context());
    f.context().lanes = {.width = width};
    HILO_ASSIGN_OR_RETURN(Elements neutral, terms.Identity());
    HILO_ASSIGN_OR_RETURN(LaneTotal lanes,
                          LaneSum(f, terms, width, accumulators, section, kept, std::move(neutral)).Emit());
    {
      const ExtremeScope scope(f.b(), lanes.nan != nullptr);
      HILO_ASSIGN_OR_RETURN(total, CombineLanes(f, terms, width, std::move(lanes.value)));
    }
    if (lanes.nan != nullptr) SetNan(f, f.b().CreateOrReduce(lanes.nan), &total);
  }
  HILO_ASSIGN_OR_RETURN(const Elements start, terms.Start());
  if (terms.IsFloatExtreme()) {
    HILO_ASSIGN_OR_RETURN(const Elements neutral, terms.Identity());
    if (start[0].re == neutral[0].re) return total;
  }
  return terms.Merge(start, total);
}

RowBlock::RowBlock(FunctionEmitter& f, llvm::Value* number, int64_t lanes, int64_t rows)
    : lanes(lanes), rows(rows), mask(nullptr) {
  llvm::IRBuilder<>& b = f.b();
  first = b.CreateNSWMul(number, b.getInt64(static_cast<uint64_t>(lanes)));
  count = b.getInt64(static_cast<uint64_t>(lanes));
  if (rows % lanes == 0) return;
  llvm::Value* left = b.CreateNSWSub(b.getInt64(static_cast<uint64_t>(rows)), first);
  count = codegen::EmitBinaryIntrinsic(b, llvm::Intrinsic::smin, left, count);
  std::vector<llvm::Constant*> ramp;
  for (int64_t lane = 0; lane < lanes; ++lane) ramp.push_back(b.getInt64(static_cast<uint64_t>(lane)));
  mask = b.CreateICmpSLT(llvm::ConstantVector::get(ramp), b.CreateVectorSplat(static_cast<unsigned>(lanes), count));
}

codegen::Index RowBlock::Lanes(absl::Span<const int64_t> dimensions) const {
  return codegen::Index::FromLinear(LaneIndex::Strided(first, 1, lanes, rows), dimensions);
}

absl::StatusOr<Elements> SumBlockInLanes(
    FunctionEmitter& f, Terms& terms, int width, int64_t accumulators, int64_t section, const RowBlock& block,
    absl::FunctionRef<absl::StatusOr<std::vector<LaneIndex>>(llvm::Value* i)> position) {
  llvm::IRBuilder<>& b = f.b();
  std::vector<llvm::AllocaInst*> memory;  // a vector for each row, of each component of a running value
  Elements like;
  const auto vector_at = [&](size_t component, llvm::Value* i) {
    return b.CreateGEP(memory[component]->getAllocatedType(), memory[component], i);
  };
  const auto load = [&](llvm::Value* i) {
    Carried vectors;
    for (size_t c = 0; c < memory.size(); ++c)
      vectors.push_back(b.CreateLoad(memory[c]->getAllocatedType(), vector_at(c, i)));
    return UnpackLanes(vectors, like);
  };
  const auto store = [&](const Elements& values, llvm::Value* i) {
    const Carried vectors = PackLanes(f, values);
    for (size_t c = 0; c < memory.size(); ++c) b.CreateStore(vectors[c], vector_at(c, i));
  };
  const auto row = [&](llvm::Value* i) -> absl::Status {
    HILO_ASSIGN_OR_RETURN(const std::vector<LaneIndex> kept, position(i));
    codegen::RegionScope region(f.context());
    f.context().lanes = {.width = width};
    HILO_ASSIGN_OR_RETURN(Elements neutral, terms.Identity());
    HILO_ASSIGN_OR_RETURN(LaneTotal lanes,
                          LaneSum(f, terms, width, accumulators, section, kept, std::move(neutral)).Emit());
    like = std::move(lanes.value);
    if (lanes.nan != nullptr) SetNan(f, lanes.nan, &like);
    for (llvm::Value* vector : PackLanes(f, like))
      memory.push_back(f.context().EntryAlloca(vector->getType(), block.lanes, kBufferAlignment, "sums"));
    store(like, i);
    return absl::OkStatus();
  };
  HILO_RETURN_IF_ERROR(ForEach(f, "rows", b.getInt64(0), block.count, row, 1, block.lanes));

  // Halves the lanes of each row: those of two vectors are one vector then, in loops, as shuffles compile slowly. Rows
  // beyond the last one stored nothing: their lanes have any values, which are never read.
  codegen::RegionScope region(f.context());
  f.context().lanes = {.width = width};
  int group = width;  // lanes of a row in a vector
  const auto halves = [&](const Elements& x, const Elements& y, int lanes) {
    std::vector<int> low, high;
    for (int lane = 0; lane < lanes; ++lane) (lane % group < group / 2 ? low : high).push_back(lane);
    return std::pair(ShuffleLanes(f, x, y, low), ShuffleLanes(f, x, y, high));
  };
  for (int64_t vectors = block.lanes / 2; vectors > 0; vectors /= 2, group /= 2) {
    const auto join = [&](llvm::Value* i) -> absl::Status {
      llvm::Value* first = b.CreateNUWMul(i, b.getInt64(2));
      const auto [low, high] = halves(load(first), load(b.CreateNUWAdd(first, b.getInt64(1))), 2 * width);
      HILO_ASSIGN_OR_RETURN(const Elements sums, terms.Merge(low, high));
      store(sums, i);
      return absl::OkStatus();
    };
    HILO_RETURN_IF_ERROR(ForEach(f, "join", b.getInt64(0), b.getInt64(static_cast<uint64_t>(vectors)), join));
  }
  Elements total = load(b.getInt64(0));
  for (; group > 1; group /= 2) {
    const int lanes = f.context().lanes.width;
    const auto [low, high] = halves(total, total, lanes);
    f.context().lanes = {.width = lanes / 2};
    HILO_ASSIGN_OR_RETURN(total, terms.Merge(low, high));
  }
  HILO_ASSIGN_OR_RETURN(const Elements start, terms.Start());
  return terms.Merge(start, total);
}

absl::StatusOr<std::vector<Elements>> SumTileInLanes(FunctionEmitter& f, Terms& terms, int width, llvm::Value* first,
                                                     int64_t count, absl::Span<const std::vector<LaneIndex>> kept) {
  llvm::IRBuilder<>& b = f.b();
  const int64_t size = terms.reduced()[0], whole = size / width * width;
  const auto number = [&](int64_t value) { return b.getInt64(static_cast<uint64_t>(value)); };
  codegen::RegionScope region(f.context());
  f.context().lanes = {.width = width};
  HILO_ASSIGN_OR_RETURN(const Elements zero, terms.Identity());
  const RunningValues values(f, zero);
  const auto add = [&](llvm::Value* i, const Carried& running) -> absl::StatusOr<Carried> {
    const LaneIndex at = LaneIndex::Strided(i, 1, width, size);
    Carried next;
    for (size_t p = 0; p < kept.size(); ++p) {
      const Elements before = values.Get(running, p);
      HILO_ASSIGN_OR_RETURN(Elements sum, terms.Add(before, kept[p], {at}));
      if (f.context().lanes.mask != nullptr) sum = Selected(f, sum, before);
      values.Append(sum, &next);
    }
    return next;
  };
  llvm::Value* end = number(whole);
  if (count < size)
    end = codegen::EmitBinaryIntrinsic(b, llvm::Intrinsic::smin, b.CreateNSWAdd(first, number(count)), end);
  HILO_ASSIGN_OR_RETURN(Carried sums,
                        codegen::EmitLoop(f.context(), "lanes", first, end, width, values.All(kept.size(), zero), add));
  if (whole < size) {
    const auto rest = [&]() -> absl::StatusOr<Carried> {
      codegen::RegionScope tail(f.context());
      f.context().lanes = {.width = width, .mask = FirstLanes(f, size - whole, width)};
      return add(number(whole), sums);
    };
    const auto none = [&]() -> absl::StatusOr<Carried> { return sums; };
    HILO_ASSIGN_OR_RETURN(sums, count >= size ? rest()
                                              : codegen::EmitBranches(f.context(), "rest",
                                                                      b.CreateICmpEQ(end, number(whole)), rest, none));
  }
  std::vector<Elements> results;
  for (size_t p = 0; p < kept.size(); ++p) {
    HILO_ASSIGN_OR_RETURN(results.emplace_back(), CombineLanes(f, terms, width, values.Get(sums, p)));
  }
  return results;
}

}  // namespace hilo::cpu
