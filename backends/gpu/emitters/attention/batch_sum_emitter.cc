// A sum over the batch of a grid of scores, whose arrays of the size of the scores are never in memory.
//
// A block has a tile of the result: some lines of one side, sixteen for each warp, and a strip of the other. It goes
// through the batches that are added up: tensor cores multiply the lines by the strip, for the scores of each, and the
// lane that has an element's scores adds the element to its sum. Where there are fewer tiles than the device has room
// for, parts of the batches have blocks of their own, and another launch adds up their sums in ascending order.
#include "backends/gpu/emitters/attention/batch_sum_emitter.h"

#include <algorithm>
#include <deque>
#include <vector>

#include "absl/algorithm/container.h"
#include "backends/gpu/emitters/attention/score_grid_kernel.h"
#include "backends/gpu/emitters/nest_emitter.h"
#include "backends/gpu/emitters/program_emitter.h"
#include "backends/llvm/elements/predication.h"
#include "backends/llvm/nest/loop_elements.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::Index;
using codegen::LaneIndex;

constexpr int64_t kSumBytes = 4;

class BatchSumKernel : ScoreGridKernel {
 public:
  // `partial`: memory of the parts' sums, one after the other; null: there is one part.
  BatchSumKernel(KernelEmitter& k, const HloInstruction* instruction, const ScoreGrid& grid, llvm::Value* partial)
      : ScoreGridKernel(k, instruction, grid, GridSide::kLeft),
        sum_(*grid.batch_sums[0]),
        summed_axes_(grid.SummedAxes(&sum_)),
        partial_(partial) {
    for (size_t i = 0; i < grid.axes.size(); ++i) {
      const auto axis = static_cast<int64_t>(i);
      if (grid.axes[i].side == GridSide::kBatch && !absl::c_linear_search(summed_axes_, axis))
        kept_axes_.push_back(axis);
    }
  }

  int64_t blocks() const {
    return tile_.parts * Product(SizesOf(kept_axes_)) * CeilDiv(lines_, tile_.lines) * CeilDiv(others_, tile_.strip);
  }

  absl::Status Emit() {
    ComputeIndices();
    const int64_t strips = tile_.copies_strips ? 2 : 1;
    AddStrips(strips);
    for (const HloInstruction* score : grid_.scores) {
      const GridOperand operand = ScoreOperand(grid_, score, own_);
      const GridMatrix& matrix = AddMatrix(operand, /*lines_are_depth=*/false);
      own_lines_.push_back({operand, LinesLoader(operand, matrix, strips), nullptr});
    }
    const auto add = [&](llvm::Value* batch, llvm::Value* number, const Carried& sums) {
      return AddBatch(batch, number, sums);
    };
    const auto load = [&](llvm::Value* batch, const Carried& sums) -> absl::StatusOr<Carried> {
      SetBatch(batch);
      std::vector<Carried> loaded;
      HILO_RETURN_IF_ERROR(
          ForEachOperand([&](LoadedStrip& strip, llvm::Value* position, llvm::Value* depth) -> absl::Status {
            HILO_ASSIGN_OR_RETURN(loaded.emplace_back(), strip.loader.Load(strip.batch, position, depth));
            return absl::OkStatus();
          }));
      k_.Barrier();
      size_t next = 0;
      HILO_RETURN_IF_ERROR(ForEachOperand([&](LoadedStrip& strip, auto*, auto*) {
        strip.loader.Store(loaded[next++], Int(0));
        return absl::OkStatus();
      }));
      k_.Barrier();
      return add(batch, Int(0), sums);
    };
    const auto copy = [&](llvm::Value* batch, llvm::Value* number) {
      SetBatch(batch);
      return ForEachOperand([&](LoadedStrip& strip, llvm::Value* position, llvm::Value* depth) {
        return strip.loader.StartCopies(strip.batch, position, depth, number);
      });
    };
    const Carried zeros(tile_.strip / kPiece * kElements, Float(0));
    absl::StatusOr<Carried> sums =
        tile_.copies_strips ? ForEachCopied(first_batch_, end_batch_, 1, zeros, copy, add)
                            : codegen::EmitLoop(k_.context(), "batches", first_batch_, end_batch_, 1, zeros, load);
    HILO_RETURN_IF_ERROR(sums.status());
    return StoreSums(*sums);
  }

  // Emits all of a kernel that adds up the parts, one thread for each result, and launches it.
  absl::Status EmitCombination() {
    const std::vector<int64_t> sizes(sum_.shape().dimensions().begin(), sum_.shape().dimensions().end());
    const int64_t results = ShapeUtil::ElementsIn(sum_.shape());
    return EmitThreads(k_, &instruction_, results, kBlockSize, [&](llvm::Value* i) -> absl::Status {
      const auto add = [&](llvm::Value* part, const Carried& sum) -> absl::StatusOr<Carried> {
        llvm::Value* cell = Plus(Times(part, results), i);
        return Carried{b_.CreateFAdd(sum[0], k_.LoadCell(partial_, cell, b_.getFloatTy()))};
      };
      HILO_ASSIGN_OR_RETURN(const Carried sum,
                            codegen::EmitLoop(k_.context(), "parts", Int(0), Int(tile_.parts), 1, {Float(0)}, add));
      return StoreResult(Index(k_.Delinearize(i, sizes)), sum[0]);
    });
  }

 private:
  static constexpr int64_t kElements = 2 * kOwn;  // of a lane in a piece

  std::vector<int64_t> SizesOf(const std::vector<int64_t>& axes) const {
    std::vector<int64_t> sizes;
    for (int64_t axis : axes) sizes.push_back(grid_.axes[axis].size);
    return sizes;
  }
  // Sets the indices along some axes from their row-major number.
  void SetAxes(const std::vector<int64_t>& axes, llvm::Value* number) {
    const std::vector<LaneIndex> indices = k_.Delinearize(number, SizesOf(axes));
    for (std::vector<LaneIndex>& at : at_) {
      for (size_t i = 0; i < axes.size(); ++i) at[axes[i]] = indices[i];
    }
  }

  void ComputeIndices() {
    const int64_t tiles = CeilDiv(others_, tile_.strip), kept = Product(SizesOf(kept_axes_)),
                  batches = Product(SizesOf(summed_axes_)), of_part = CeilDiv(batches, tile_.parts);
    llvm::Value* block = k_.Block();
    first_other_ = Times(b_.CreateURem(block, Int(tiles)), tile_.strip);
    SetLines(b_.CreateUDiv(block, Int(tiles)), lines_, tile_.lines, /*last_first=*/false);
    part_ = b_.CreateUDiv(batch_, Int(kept));
    first_batch_ = Times(part_, of_part);
    end_batch_ = tile_.parts == 1 ? Int(batches)
                                  : codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::umin, Plus(first_batch_, of_part),
                                                                 Int(batches));
    SetAxes(kept_axes_, b_.CreateURem(batch_, Int(kept)));
    for (int64_t i = 0; i < kOwnLines; ++i) grid_lines_.SetAxes(own_, line_[i], &at_[i]);
  }

  // Calls `body` for each operand, with where its lines begin.
  absl::Status ForEachOperand(
      absl::FunctionRef<absl::Status(LoadedStrip& strip, llvm::Value* position, llvm::Value* depth)> body) {
    for (LoadedStrip& lines : own_lines_) HILO_RETURN_IF_ERROR(body(lines, first_line_, Int(0)));
    for (LoadedStrip& strip : strips_) HILO_RETURN_IF_ERROR(body(strip, Int(0), first_other_));
    return absl::OkStatus();
  }

  // Makes `batch` the one of those that are added up which indices and operands are of.
  void SetBatch(llvm::Value* batch) {
    SetAxes(summed_axes_, batch);
    for (std::deque<LoadedStrip>* operands : {&own_lines_, &strips_}) {
      for (LoadedStrip& strip : *operands) strip.batch = grid_lines_.NumberOf(strip.operand.batch_axes, at_[0]);
    }
  }

  // Adds the elements of a batch whose operands are number `number` in shared memory.
  absl::StatusOr<Carried> AddBatch(llvm::Value* batch, llvm::Value* number, const Carried& sums) {
    SetBatch(batch);
    block_.clear();
    for (LoadedStrip& lines : own_lines_) block_.push_back(lines.loader.StripOf(number));
    for (LoadedStrip& strip : strips_) strip.number = number;
    const GridPass pass = PassesOf(grid_).back();
    Carried more = sums;
    for (int64_t piece = 0; piece < tile_.strip; piece += kPiece) {
      std::vector<PieceOfScore> scores;
      for (const HloInstruction* score : pass.scores) scores.push_back(Scores(score, piece));
      for (int64_t i = 0; i < kElements; ++i) {
        const Element element = ElementAt(first_other_, piece, i / kOwn, i % kOwn);
        HILO_RETURN_IF_ERROR(SetScores(pass, scores, element));
        for (const HloInstruction* exponential : pass.exponentials)
          HILO_RETURN_IF_ERROR(SetExponential(exponential, element.at));
        HILO_ASSIGN_OR_RETURN(llvm::Value * x, ElementOf(sum_.operand(0), element.at));
        llvm::Value*& sum = more[piece / kPiece * kElements + i];
        sum = b_.CreateFAdd(sum, x);
      }
    }
    return more;
  }

  absl::Status StoreSums(const Carried& sums) {
    for (int64_t line = 0; line < kOwnLines; ++line) {
      HILO_RETURN_IF_ERROR(IfLine(line, [&]() -> absl::Status {
        for (size_t n = 0; n < sums.size(); ++n) {
          const int64_t i = static_cast<int64_t>(n) % kElements, piece = static_cast<int64_t>(n) / kElements * kPiece;
          const Element element = ElementAt(first_other_, piece, i / kOwn, i % kOwn);
          if (element.line() != line) continue;
          const auto store = [&] { return StoreSum(ResultIndex(element.at), sums[n]); };
          HILO_RETURN_IF_ERROR(element.exists == nullptr ? store() : k_.If("exists", element.exists, store));
        }
        return absl::OkStatus();
      }));
    }
    return absl::OkStatus();
  }

  // Returns the result's index of an element.
  std::vector<LaneIndex> ResultIndex(const std::vector<LaneIndex>& at) const {
    const std::vector<int64_t>& axes = grid_.dimensions.at(sum_.operand(0));
    std::vector<LaneIndex> index;
    for (size_t d = 0; d < axes.size(); ++d) {
      if (!absl::c_linear_search(sum_.attrs<ReduceAttrs>().dimensions, static_cast<int64_t>(d)))
        index.push_back(axes[d] < 0 ? LaneIndex() : at[axes[d]]);
    }
    return index;
  }

  absl::Status StoreSum(std::vector<LaneIndex> index, llvm::Value* sum) {
    if (partial_ == nullptr) return StoreResult(Index(std::move(index)), sum);
    llvm::Value* cell = part_;
    for (size_t d = 0; d < index.size(); ++d)
      cell = Plus(Times(cell, sum_.shape().dimensions(static_cast<int64_t>(d))), index[d].Value(k_.context()));
    k_.StoreCell(partial_, cell, sum);
    return absl::OkStatus();
  }

  absl::Status StoreResult(const Index& index, llvm::Value* sum) {
    std::vector<const HloInstruction*> users;
    const std::optional<int64_t> leaf = LeafOf(&sum_, &users);
    HILO_RET_CHECK(leaf.has_value());
    k_.SetValue(&sum_, As(sum_.shape().element_type(), sum));
    const Index stored = IndexAfter(index, users);
    return EmitElements(k_, results_.Only(*leaf), {&stored, 1});
  }

  const HloInstruction& sum_;
  const std::vector<int64_t> summed_axes_;
  std::vector<int64_t> kept_axes_;  // of the batch
  llvm::Value* const partial_;
  std::deque<LoadedStrip> own_lines_;  // by score
  // Of the block: its part, that part's batches, and the first line of its strip.
  llvm::Value *part_ = nullptr, *first_batch_ = nullptr, *end_batch_ = nullptr, *first_other_ = nullptr;
};

}  // namespace

absl::Status EmitBatchSum(ProgramEmitter& program, const HloInstruction* instruction, const ScoreGrid& grid) {
  HILO_RET_CHECK(grid.batch_sums.size() == 1 && grid.reductions.empty() && grid.products.empty());
  const GridTile tile = GridTile::Of(*instruction->kernel());
  std::vector<KernelArgument> partial;
  if (tile.parts > 1) {
    const int64_t bytes = tile.parts * ShapeUtil::ElementsIn(grid.batch_sums[0]->shape()) * kSumBytes;
    partial.push_back(KernelArgument::Scratch(program.AllocateScratch(bytes), bytes, true));
  }
  {
    KernelEmitter k(&program, instruction, partial);
    BatchSumKernel kernel(k, instruction, grid, tile.parts > 1 ? k.extra(0) : nullptr);
    HILO_RETURN_IF_ERROR(kernel.Emit());
    HILO_RETURN_IF_ERROR(k.FinishAndLaunch(instruction, kernel.blocks(), static_cast<int>(tile.threads)));
  }
  if (tile.parts == 1) return absl::OkStatus();
  partial[0].written = false;
  KernelEmitter k(&program, instruction, partial);
  return BatchSumKernel(k, instruction, grid, k.extra(0)).EmitCombination();
}

}  // namespace hilo::gpu
