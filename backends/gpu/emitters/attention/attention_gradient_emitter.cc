// Grids of scores (hlo/analysis/score_grid.h) in one kernel, whose arrays of the size of the scores are never in
// memory.
//
// A block has some lines of one side of the grid, sixteen for each warp, and goes through the lines of the other side a
// strip at a time: once for each reduction that needs another one's results, and once for the products. Each time
// tensor cores multiply the block's lines by the strip's, for the scores that are needed; of each element of the grid,
// the lane that has its scores computes what is reduced or multiplied, by whatever instructions lead there. Elements go
// from the fragments of results of the scores to those of the left side of the products without leaving the lane,
// rounded to the type of the operands. A line is spread over four lanes.
//
// A maximum, and sums of multiples of the exponentials less it, take one time: each lane has the maximum of its own
// elements so far, and scales what it has summed up when that grows. The lanes of a line agree in the end.
//
// Sums are in an order of their own, the same every time.
#include "backends/gpu/emitters/attention/attention_gradient_emitter.h"

#include <array>
#include <limits>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "backends/gpu/emitters/attention/batch_sum_emitter.h"
#include "backends/gpu/emitters/attention/score_grid_kernel.h"
#include "backends/gpu/emitters/attention/strip_range.h"
#include "backends/gpu/emitters/program_emitter.h"
#include "backends/gpu/match/grid_mask.h"
#include "backends/gpu/match/grid_tile.h"
#include "backends/llvm/elements/predication.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "backends/llvm/nest/loop_elements.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

class GridKernel : ScoreGridKernel {
 public:
  GridKernel(KernelEmitter& k, const HloInstruction* instruction, const ScoreGrid& grid)
      : ScoreGridKernel(k, instruction, grid,
                        OtherSide(grid.summed.at(grid.products.empty() ? grid.reductions[0] : grid.products[0]))) {}

  int64_t blocks() const { return grid_.SizeOf(GridSide::kBatch) * CeilDiv(lines_, tile_.lines); }

  absl::Status Emit() {
    ComputeIndices();
    HILO_RETURN_IF_ERROR(LoadBlock());
    AddStrips(tile_.copies_strips ? 2 : 1);
    for (const GridPass& pass : PassesOf(grid_)) HILO_RETURN_IF_ERROR(EmitPass(pass));
    return StoreReductions();
  }

 private:
  void ComputeIndices() {
    SetLines(k_.Block(), lines_, tile_.lines, /*last_first=*/false);
    for (int64_t i = 0; i < kOwnLines; ++i) {
      grid_lines_.SetAxes(GridSide::kBatch, batch_, &at_[i]);
      grid_lines_.SetAxes(own_, line_[i], &at_[i]);
    }
  }

  // Loads the block's lines of the operands of the scores into shared memory.
  absl::Status LoadBlock() {
    for (const HloInstruction* score : grid_.scores) {
      const GridOperand operand = ScoreOperand(grid_, score, own_);
      const GridMatrix& matrix = AddMatrix(operand, /*lines_are_depth=*/false);
      StripLoader loader = LinesLoader(operand, matrix, 1);
      HILO_ASSIGN_OR_RETURN(const Carried loaded, loader.Load(matrix.batch, first_line_, Int(0)));
      loader.Store(loaded, Int(0));
      block_.push_back(loader.StripOf(Int(0)));
    }
    return absl::OkStatus();
  }

  llvm::Value* Combine(const HloInstruction* reduce, llvm::Value* x, llvm::Value* y) {
    const HloOpcode op = *ReductionOp(*reduce->called_computation());
    if (op == HloOpcode::kAdd) return b_.CreateFAdd(x, y);
    return codegen::EmitBinaryIntrinsic(
        b_, op == HloOpcode::kMaximum ? llvm::Intrinsic::maximum : llvm::Intrinsic::minimum, x, y);
  }
  llvm::Value* IdentityOf(const HloInstruction* reduce) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const HloOpcode op = *ReductionOp(*reduce->called_computation());
    return Float(op == HloOpcode::kAdd ? 0 : op == HloOpcode::kMaximum ? -kInfinity : kInfinity);
  }

  absl::Status EmitPass(const GridPass& pass) {
    Sums start;  // by reduction and by product
    for (const HloInstruction* reduce : pass.reductions) {
      llvm::Value* identity = IdentityOf(reduce);
      start.lines.push_back({identity, identity});
    }
    for (const HloInstruction* product : pass.products) {
      start.products.emplace_back(FeaturesOf(ProductOperand(grid_, product)) / kColumns, Zeros());
    }
    std::vector<LoadedStrip*> needed;
    const auto need = [&](const GridOperand& operand) {
      LoadedStrip* strip = &StripOf(operand);
      if (!absl::c_linear_search(needed, strip)) needed.push_back(strip);
    };
    for (const HloInstruction* score : pass.scores) need(ScoreOperand(grid_, score, other_));
    for (const HloInstruction* product : pass.products) need(ProductOperand(grid_, product));
    const auto add = [&](llvm::Value* first, llvm::Value* number, const Carried& carried) -> absl::StatusOr<Carried> {
      for (LoadedStrip* strip : needed) strip->number = number;
      Sums sums = start.Unpack(carried);
      for (int64_t piece = 0; piece < tile_.strip; piece += kPiece)
        HILO_RETURN_IF_ERROR(AddPiece(pass, first, piece, &sums));
      return sums.Pack();
    };
    const auto load = [&](llvm::Value* first, const Carried& carried) -> absl::StatusOr<Carried> {
      std::vector<Carried> loaded;
      for (LoadedStrip* strip : needed) {
        HILO_ASSIGN_OR_RETURN(loaded.emplace_back(), strip->loader.Load(strip->batch, Int(0), first));
      }
      k_.Barrier();
      for (size_t i = 0; i < needed.size(); ++i) needed[i]->loader.Store(loaded[i], Int(0));
      k_.Barrier();
      return add(first, Int(0), carried);
    };
    const auto copy = [&](llvm::Value* first, llvm::Value* number) -> absl::Status {
      for (LoadedStrip* strip : needed)
        HILO_RETURN_IF_ERROR(strip->loader.StartCopies(strip->batch, Int(0), first, number));
      return absl::OkStatus();
    };
    const auto strips = [&](const StripRange& range, const Carried& carried) -> absl::StatusOr<Carried> {
      // A pass before may still read what is filled here.
      if (!tile_.copies_strips)
        return codegen::EmitLoop(k_.context(), "strips", range.begin, range.end, tile_.strip, carried, load);
      k_.Barrier();
      return ForEachCopied(range.begin, range.end, tile_.strip, carried, copy, add);
    };
    const std::optional<GridMask> mask = MaskOf(grid_, pass);
    Carried sums;
    if (mask.has_value() && pass.maximum != nullptr) {
      HILO_ASSIGN_OR_RETURN(sums, ForVisible(pass, *mask, start, strips));
    } else {
      StripRange range{Int(0), Int(others_)};
      if (mask.has_value()) {
        const GridBlock block{.grid = grid_,
                              .tile = tile_,
                              .own = own_,
                              .first_line = first_line_,
                              .scratch = Scratch(),
                              .at = {at_[0], at_[1]},
                              .begin_line = [this](int64_t line) { SetReduced(line); }};
        HILO_ASSIGN_OR_RETURN(range, EmitStripRange(k_, block, *mask));
      }
      HILO_ASSIGN_OR_RETURN(sums, strips(range, start.Pack()));
    }
    const Sums end = start.Unpack(sums);
    HILO_RETURN_IF_ERROR(SetReductions(pass, end));
    for (size_t i = 0; i < pass.products.size(); ++i)
      HILO_RETURN_IF_ERROR(StoreProduct(pass.products[i], end.products[i]));
    return absl::OkStatus();
  }

  // Shared memory that nothing uses between passes, a float for each warp.
  llvm::Value* Scratch() { return strips_[0].loader.StripOf(Int(0)).cells[0]; }

  static size_t NumberOfMaximum(const GridPass& pass) {
    return static_cast<size_t>(absl::c_find(pass.reductions, pass.maximum) - pass.reductions.begin());
  }

  // Goes through the strips that a causal mask leaves, and then through the others, if they count: the pass knows its
  // maxima only then.
  absl::StatusOr<Carried> ForVisible(
      const GridPass& pass, const GridMask& mask, const Sums& start,
      absl::FunctionRef<absl::StatusOr<Carried>(const StripRange& range, const Carried& carried)> strips) {
    HILO_RET_CHECK(mask.rows == own_);
    llvm::Value* visible = VisibleEnd(k_, mask.mask, AtMost(Plus(first_line_, tile_.lines - 1), lines_ - 1),
                                      lines_ / grid_.axes[mask.row_axis].size, tile_.strip, others_);
    const bool has_window = mask.mask.first.has_value();
    llvm::Value* first = has_window ? VisibleBegin(k_, mask.mask, first_line_, lines_ / grid_.axes[mask.row_axis].size,
                                                   tile_.strip, visible)
                                    : Int(0);
    const auto part = [&](llvm::Value* number, const Carried& carried) -> absl::StatusOr<Carried> {
      llvm::Value* is_first = b_.CreateICmpEQ(number, Int(0));
      OwnLines maxima = start.Unpack(carried).lines[NumberOfMaximum(pass)];
      for (llvm::Value*& maximum : maxima)
        maximum = AcrossLine(maximum, [&](llvm::Value* x, llvm::Value* y) { return Combine(pass.maximum, x, y); });
      llvm::Value* least = codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::minimum, maxima[0], maxima[1]);
      k_.Barrier();  // after the last strip
      HILO_ASSIGN_OR_RETURN(llvm::Value * hidden, AreHidden(k_, mask.mask, least, Scratch(), tile_.threads));
      llvm::Value* rest = b_.CreateSelect(hidden, visible, Int(others_));
      StripRange range{b_.CreateSelect(is_first, first, visible), b_.CreateSelect(is_first, visible, rest)};
      if (has_window) {  // the last part are the strips before it
        llvm::Value* is_last = b_.CreateICmpEQ(number, Int(2));
        range.begin = b_.CreateSelect(is_last, Int(0), range.begin);
        range.end = b_.CreateSelect(is_last, b_.CreateSelect(hidden, Int(0), first), range.end);
      }
      return strips(range, carried);
    };
    return codegen::EmitLoop(k_.context(), "parts", Int(0), Int(has_window ? 3 : 2), 1, start.Pack(), part);
  }

  // Makes the scores those of an element, and rows what they are so far.
  absl::Status Begin(const GridPass& pass, absl::Span<const PieceOfScore> scores, const Element& element) {
    SetReduced(element.line());
    return SetScores(pass, scores, element);
  }

  // Returns what an element gives a reduction.
  absl::StatusOr<llvm::Value*> TermOf(const HloInstruction* reduce, const Element& element) {
    HILO_ASSIGN_OR_RETURN(llvm::Value * x, ElementOf(reduce->operand(0), element.at));
    return element.exists == nullptr ? x : b_.CreateSelect(element.exists, x, IdentityOf(reduce));
  }

  // Adds what the strip's lines from `piece` on give.
  absl::Status AddPiece(const GridPass& pass, llvm::Value* first, int64_t piece, Sums* sums) {
    std::vector<PieceOfScore> scores;
    for (const HloInstruction* score : pass.scores) scores.push_back(Scores(score, piece));
    for (const auto& [sum, factors] : pass.factors) {
      for (const LineFactor& factor : factors) k_.SetValue(factor.value, {Float(1)});
    }
    if (pass.maximum != nullptr) {
      HILO_RETURN_IF_ERROR(AddWithMaximum(pass, scores, first, piece, sums));
    } else {
      HILO_RETURN_IF_ERROR(AddElements(pass, scores, first, piece, sums));
    }
    for (const auto& [sum, factors] : pass.factors) {
      for (const LineFactor& factor : factors) k_.ClearValue(factor.value);
    }
    return absl::OkStatus();
  }

  absl::Status AddElements(const GridPass& pass, absl::Span<const PieceOfScore> scores, llvm::Value* first,
                           int64_t piece, Sums* sums) {
    std::vector<PieceOfScore> factors(pass.products.size());
    for (int64_t i = 0; i < 2 * kOwn; ++i) {
      const Element element = ElementAt(first, piece, i / kOwn, i % kOwn);
      HILO_RETURN_IF_ERROR(Begin(pass, scores, element));
      for (const HloInstruction* exponential : pass.exponentials)
        HILO_RETURN_IF_ERROR(SetExponential(exponential, element.at));
      for (size_t r = 0; r < pass.reductions.size(); ++r) {
        HILO_ASSIGN_OR_RETURN(llvm::Value * x, TermOf(pass.reductions[r], element));
        llvm::Value*& sum = sums->lines[r][element.line()];
        sum = Combine(pass.reductions[r], sum, x);
      }
      for (size_t p = 0; p < pass.products.size(); ++p) {
        const HloInstruction* product = pass.products[p];
        HILO_ASSIGN_OR_RETURN(llvm::Value * x,
                              ElementOf(product->operand(grid_.grid_operands.at(product)), element.at));
        factors[p][element.half][element.in_fragment] =
            element.exists == nullptr ? x : b_.CreateSelect(element.exists, x, Float(0));
      }
    }
    for (size_t p = 0; p < pass.products.size(); ++p)
      AddProduct(pass.products[p], piece, factors[p], &sums->products[p]);
    return absl::OkStatus();
  }

  // The same for a pass with a maximum, which has no products.
  absl::Status AddWithMaximum(const GridPass& pass, absl::Span<const PieceOfScore> scores, llvm::Value* first,
                              int64_t piece, Sums* sums) {
    const size_t number = NumberOfMaximum(pass);
    for (int64_t line = 0; line < kOwnLines; ++line) {
      std::vector<Element> elements;
      for (int64_t i = 0; i < 2 * kOwn; ++i) {
        if (i % kOwn / 2 == line) elements.push_back(ElementAt(first, piece, i / kOwn, i % kOwn));
      }
      llvm::Value *const before = sums->lines[number][line], *after = before;
      Carried logits;
      for (const Element& element : elements) {
        HILO_RETURN_IF_ERROR(Begin(pass, scores, element));
        HILO_ASSIGN_OR_RETURN(logits.emplace_back(), TermOf(pass.maximum, element));
        after = Combine(pass.maximum, after, logits.back());
      }
      sums->lines[number][line] = after;
      // While there are but infinities of the negative sign, exponentials are 0, rather than NaN.
      llvm::Value* is_least = b_.CreateFCmpOEQ(after, IdentityOf(pass.maximum));
      llvm::Value* subtracted = b_.CreateSelect(is_least, Float(0), after);
      llvm::Value* scale = Exponential(b_.CreateFSub(before, subtracted));
      for (size_t r = 0; r < pass.reductions.size(); ++r) {
        llvm::Value*& sum = sums->lines[r][line];
        if (absl::c_linear_search(pass.scaled, pass.reductions[r])) sum = b_.CreateFMul(sum, scale);
      }
      for (size_t i = 0; i < elements.size(); ++i) {
        const Element& element = elements[i];
        HILO_RETURN_IF_ERROR(Begin(pass, scores, element));
        k_.SetValue(pass.exponentials[0], {Exponential(b_.CreateFSub(logits[i], subtracted))});
        for (size_t r = 0; r < pass.reductions.size(); ++r) {
          if (r == number) continue;
          HILO_ASSIGN_OR_RETURN(llvm::Value * x, TermOf(pass.reductions[r], element));
          llvm::Value*& sum = sums->lines[r][line];
          sum = Combine(pass.reductions[r], sum, x);
        }
      }
    }
    return absl::OkStatus();
  }

  void AddProduct(const HloInstruction* product, int64_t piece, const std::array<Fragment, 2>& factors,
                  std::vector<Fragment>* sums) {
    std::vector<Carried> terms = {Rounded(factors)};
    if (FactorsOf(grid_, product) == GridFactors::kSplit) {
      std::array<Fragment, 2> rests = factors;
      for (Fragment& fragment : rests) {
        for (llvm::Value*& x : fragment) {
          llvm::Value* rest = b_.CreateFSub(x, AsF32(type_, As(type_, x)));
          x = b_.CreateSelect(b_.CreateFCmpORD(rest, rest), rest, Float(0));  // of an infinity: 0
        }
      }
      terms.push_back(Rounded(rests));
    }
    const Strip strip = StripOf(ProductOperand(grid_, product)).Current();
    for (size_t n = 0; n < sums->size(); n += 2)
      multiplier_.Multiply(terms, strip, static_cast<int64_t>(n) * kColumns, piece, &(*sums)[n]);
  }

  // Makes the reductions so far those of an own line.
  void SetReduced(int64_t line) {
    for (const auto& [reduce, values] : reduced_) k_.SetValue(reduce, values[line]);
  }

  // Sets the reductions of a pass from what the lanes of a line have.
  absl::Status SetReductions(const GridPass& pass, Sums sums) {
    if (pass.maximum != nullptr) {
      const size_t number = NumberOfMaximum(pass);
      SetReduction(pass.maximum, sums.lines[number]);
      for (int64_t i = 0; i < kOwnLines; ++i) {
        llvm::Value* maximum = reduced_.back().second[i].re;
        // NaN where all of the line are infinities of the negative sign, as their exponentials are.
        llvm::Value* scale = Exponential(b_.CreateFSub(sums.lines[number][i], maximum));
        for (size_t r = 0; r < pass.reductions.size(); ++r) {
          llvm::Value*& sum = sums.lines[r][i];
          if (absl::c_linear_search(pass.scaled, pass.reductions[r])) sum = b_.CreateFMul(sum, scale);
        }
      }
    }
    for (size_t r = 0; r < pass.reductions.size(); ++r) {
      const HloInstruction* reduce = pass.reductions[r];
      if (reduce == pass.maximum) continue;
      SetReduction(reduce, sums.lines[r]);
      const auto factors = pass.factors.find(reduce);
      if (factors != pass.factors.end()) HILO_RETURN_IF_ERROR(Multiply(factors->second, reduced_.size() - 1));
    }
    return absl::OkStatus();
  }

  // Combines what the lanes of a line have.
  void SetReduction(const HloInstruction* reduce, const OwnLines& lines) {
    auto& values = reduced_.emplace_back(reduce, std::array<ElementValue, kOwnLines>()).second;
    for (int64_t i = 0; i < kOwnLines; ++i) {
      const auto combine = [&](llvm::Value* x, llvm::Value* y) { return Combine(reduce, x, y); };
      values[i] = As(reduce->shape().element_type(), AcrossLine(lines[i], combine));
    }
  }

  // Multiplies a sum of F32, number `number` of what is reduced so far, with factors of its terms.
  absl::Status Multiply(absl::Span<const LineFactor> factors, size_t number) {
    for (int64_t line = 0; line < kOwnLines; ++line) {
      SetReduced(line);
      for (const LineFactor& factor : factors) {
        HILO_ASSIGN_OR_RETURN(llvm::Value * value, ElementOf(factor.value, at_[line]));
        llvm::Value*& sum = reduced_[number].second[line].re;
        sum = factor.divides ? b_.CreateFDiv(sum, value) : b_.CreateFMul(sum, value);
      }
    }
    return absl::OkStatus();
  }

  absl::Status StoreProduct(const HloInstruction* product, const std::vector<Fragment>& sums) {
    std::vector<const HloInstruction*> users;
    const std::optional<int64_t> leaf = LeafOf(product, &users);
    HILO_RET_CHECK(leaf.has_value());
    const int64_t factors = grid_.grid_operands.at(product);
    const DotSide lhs = LhsOf(*product), rhs = RhsOf(*product);
    const DotSide &own = factors == 0 ? lhs : rhs, &other = factors == 0 ? rhs : lhs;
    for (int64_t line = 0; line < kOwnLines; ++line) {
      const auto indices = [&](const std::vector<int64_t>& dimensions) {
        std::vector<LaneIndex> indices;
        for (int64_t d : dimensions) {
          const int64_t axis = grid_.dimensions.at(own.operand)[d];
          indices.push_back(axis < 0 ? LaneIndex() : at_[line][axis]);
        }
        return indices;
      };
      HILO_RETURN_IF_ERROR(IfLine(line, [&]() -> absl::Status {
        for (size_t n = 0; n < sums.size(); ++n) {
          for (int64_t i = 0; i < 2; ++i) {
            llvm::Value* feature = Plus(multiplier_.column(), static_cast<int64_t>(n) * kColumns + i);
            const std::vector<LaneIndex> features = k_.Delinearize(feature, other.free_sizes),
                                         lines = indices(own.free);
            std::vector<LaneIndex> at = indices(own.batch);
            for (const auto* part : {factors == 0 ? &lines : &features, factors == 0 ? &features : &lines})
              at.insert(at.end(), part->begin(), part->end());
            k_.SetValue(product, As(product->shape().element_type(), sums[n][2 * line + i]));
            const Index index = IndexAfter(Index(std::move(at)), users);
            HILO_RETURN_IF_ERROR(EmitElements(k_, results_.Only(*leaf), {&index, 1}));
          }
        }
        return absl::OkStatus();
      }));
    }
    return absl::OkStatus();
  }

  absl::Status StoreReductions() {
    llvm::Value* is_first = b_.CreateICmpEQ(b_.CreateURem(multiplier_.lane(), Int(kLineLanes)), Int(0));
    for (const auto& [reduce, values] : reduced_) {
      const auto root = absl::c_find(results_.roots, reduce);
      if (root == results_.roots.end()) continue;
      const LoopResults result = results_.Only(root - results_.roots.begin());
      for (int64_t line = 0; line < kOwnLines; ++line) {
        k_.SetValue(reduce, values[line]);
        const Index index = grid_lines_.IndexOf(reduce, at_[line]);
        HILO_RETURN_IF_ERROR(IfLine(
            line, [&] { return k_.If("first", is_first, [&] { return EmitElements(k_, result, {&index, 1}); }); }));
      }
    }
    return absl::OkStatus();
  }

  std::vector<std::pair<const HloInstruction*, std::array<ElementValue, kOwnLines>>> reduced_;  // so far
};

}  // namespace

absl::Status EmitScoreGrid(ProgramEmitter& program, const HloInstruction* instruction) {
  const std::optional<ScoreGrid> grid = ScoreGridOfFusion(*instruction);
  HILO_RET_CHECK(grid.has_value());
  if (!grid->batch_sums.empty()) return EmitBatchSum(program, instruction, *grid);
  KernelEmitter k(&program, instruction);
  GridKernel kernel(k, instruction, *grid);
  HILO_RETURN_IF_ERROR(kernel.Emit());
  return k.FinishAndLaunch(instruction, kernel.blocks(),
                           static_cast<int>(GridTile::Of(*instruction->kernel()).threads));
}

}  // namespace hilo::gpu
