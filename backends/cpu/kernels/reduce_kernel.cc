// Reductions, with the producers fused into their operands. Which loops, and why: reduce_choice.cc.
#include <memory>
#include <numeric>

#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/nest_emitter.h"
#include "backends/cpu/kernels/sums.h"
#include "base/errors.h"
#include "base/math.h"
#include "hilo/status_macros.h"

namespace hilo::cpu {
namespace {

using codegen::Index;
using codegen::LaneIndex;
using codegen::Position;
using codegen::ReduceTerms;

void Store(FunctionEmitter& f, const HloInstruction* instruction, const std::vector<LaneIndex>& index,
           const Elements& values) {
  for (size_t i = 0; i < values.size(); ++i)
    f.ArrayOf(instruction, static_cast<int64_t>(i)).Store(f.context(), Index(index), values[i]);
}

// Emits the sums of all positions, each as long as `sum` states.
absl::Status EmitResults(
    FunctionEmitter& f, const KernelParts& kernel, const codegen::LoopNest& nest,
    absl::FunctionRef<absl::StatusOr<std::vector<Elements>>(absl::Span<const std::vector<LaneIndex>> kept)> sum) {
  return EmitNest(f, kernel, nest, [&](absl::Span<const Position> positions) -> absl::Status {
    std::vector<std::vector<LaneIndex>> kept;
    for (const Position& position : positions) kept.push_back(Joined(f.context(), position).Dims(f.context()));
    HILO_ASSIGN_OR_RETURN(const std::vector<Elements> results, sum(kept));
    for (size_t p = 0; p < kept.size(); ++p) Store(f, kernel.instruction, kept[p], results[p]);
    return absl::OkStatus();
  });
}

}  // namespace

absl::Status EmitReduceUnrolled(FunctionEmitter& f, const KernelParts& kernel) {
  f.SetHoldsVectors(kernel.instruction, false);
  ReduceTerms terms(f.elements(), ReductionOf(*kernel.instruction));
  std::vector<int64_t> kept(terms.kept().size(), 0);
  do {
    std::vector<LaneIndex> at;
    for (int64_t i : kept) at.push_back(LaneIndex::Constant(i));
    HILO_ASSIGN_OR_RETURN(Elements running, terms.Start());
    std::vector<int64_t> reduced(terms.reduced().size(), 0);
    if (Product(terms.reduced()) > 0) {
      do {
        std::vector<LaneIndex> term;
        for (int64_t i : reduced) term.push_back(LaneIndex::Constant(i));
        HILO_ASSIGN_OR_RETURN(running, terms.Add(running, at, term));
      } while (IndexUtil::BumpIndices(terms.reduced(), absl::MakeSpan(reduced)));
    }
    Store(f, kernel.instruction, at, running);
  } while (IndexUtil::BumpIndices(terms.kept(), absl::MakeSpan(kept)));
  return absl::OkStatus();
}

// Computes rows of results of a few vectors, the last not full, in one iteration: that vector begins earlier, and only
// the rest of it is stored. With a mask it would be a loop of its own, which waits for its own results.
absl::Status EmitShortColumns(FunctionEmitter& f, const KernelParts& kernel, ReduceTerms& terms) {
  llvm::IRBuilder<>& b = f.b();
  const int64_t row = terms.kept().back(), width = kernel.config.width, rest = row % width;
  const codegen::LoopNest nest = {{.sizes = {terms.kept().begin(), terms.kept().end() - 1}}};
  return EmitNest(f, kernel, nest, [&](absl::Span<const Position> positions) -> absl::Status {
    codegen::RegionScope region(f.context());
    f.context().lanes = {.width = static_cast<int>(width)};
    const auto at = [&](int64_t column) {
      std::vector<LaneIndex> index = positions[0][0].Dims(f.context());
      index.push_back(LaneIndex::Strided(b.getInt64(static_cast<uint64_t>(column)), 1, std::gcd(column, width), row));
      return index;
    };
    std::vector<std::vector<LaneIndex>> kept;
    for (int64_t column = 0; column + width <= row; column += width) kept.push_back(at(column));
    kept.push_back(at(row - width));
    HILO_ASSIGN_OR_RETURN(std::vector<Elements> results,
                          SumInOrder(f, terms, absl::MakeConstSpan(kernel.config.tile).subspan(2), kept));
    for (size_t p = 0; p + 1 < kept.size(); ++p) Store(f, kernel.instruction, kept[p], results[p]);
    std::vector<int> last(width, llvm::PoisonMaskElem);
    std::iota(last.begin(), last.begin() + rest, static_cast<int>(width - rest));
    f.context().lanes.mask = FirstLanes(f, rest, static_cast<int>(width));
    Store(f, kernel.instruction, at(row - rest), ShuffleLanes(f, results.back(), results.back(), last));
    return absl::OkStatus();
  });
}

// Computes results along rows of them; a few long rows are several parts each.
absl::Status EmitReduceColumns(FunctionEmitter& f, const KernelParts& kernel) {
  f.SetHoldsVectors(kernel.instruction, true);
  ReduceTerms terms(f.elements(), ReductionOf(*kernel.instruction));
  const std::vector<int64_t>& tile = kernel.config.tile;
  const int64_t row = terms.kept().back(), width = kernel.config.width;
  if (row > width && row % width != 0 && tile[1] * width >= row) return EmitShortColumns(f, kernel, terms);
  const std::vector<int64_t> outer(terms.kept().begin(), terms.kept().end() - 1);
  return EmitResults(f, kernel,
                     {{.sizes = outer},
                      {.sizes = {row},
                       .part = tile[0],
                       .unroll = tile[1],
                       .lanes = width,
                       .repeats = MayRepeat(f, *kernel.instruction)}},
                     [&](auto kept) { return SumInOrder(f, terms, absl::MakeConstSpan(tile).subspan(2), kept); });
}

// Adds up a block of rows for all results of a part, and then the next block. The totals are in the result meanwhile.
absl::Status EmitReduceStreams(FunctionEmitter& f, const KernelParts& kernel) {
  f.SetHoldsVectors(kernel.instruction, true);
  ReduceTerms terms(f.elements(), ReductionOf(*kernel.instruction));
  const int64_t part = kernel.config.tile[0], vectors = kernel.config.tile[1], block = kernel.config.tile[2];
  const int64_t row = terms.kept()[0], rows = terms.reduced()[0], blocks = CeilDiv(rows, block);
  HILO_RET_CHECK(row % part == 0) << "parts of different sizes";
  const auto nest = codegen::LoopNest{{.sizes = {row / part}},
                                      {.sizes = {blocks}, .part = blocks},
                                      {.sizes = {part}, .part = part, .unroll = vectors, .lanes = kernel.config.width}};
  llvm::IRBuilder<>& b = f.b();
  return EmitNest(f, kernel, nest, [&](absl::Span<const Position> positions) -> absl::Status {
    const auto base = [&](int64_t dim, size_t p) { return positions[p][dim].Dims(f.context())[0].Base(f.context()); };
    llvm::Value* first_column = b.CreateNSWMul(base(0, 0), b.getInt64(static_cast<uint64_t>(part)));
    llvm::Value* first_row = b.CreateNSWMul(base(1, 0), b.getInt64(static_cast<uint64_t>(block)));
    std::vector<std::vector<LaneIndex>> kept;
    for (size_t p = 0; p < positions.size(); ++p)
      kept.push_back({LaneIndex::Strided(b.CreateNSWAdd(first_column, base(2, p)), 1, kernel.config.width, row)});
    HILO_ASSIGN_OR_RETURN(const std::vector<Elements> sums, SumBlock(f, terms, first_row, block, kept));
    HILO_ASSIGN_OR_RETURN(const Elements start, terms.Start());
    // One condition for each lane: LLVM would branch over a load whose value a single one may not want, and move all
    // loads of elements before the first of these branches.
    llvm::Value* is_first =
        b.CreateVectorSplat(static_cast<unsigned>(kernel.config.width), b.CreateICmpEQ(first_row, b.getInt64(0)));
    for (size_t p = 0; p < kept.size(); ++p) {
      Elements total = {f.ArrayOf(kernel.instruction, 0).Load(f.context(), Index(kept[p]))};
      total[0].re = b.CreateSelect(is_first, f.context().Splat(start[0].re), total[0].re);
      HILO_ASSIGN_OR_RETURN(total, terms.Merge(total, sums[p]));
      Store(f, kernel.instruction, kept[p], total);
    }
    return absl::OkStatus();
  });
}

absl::Status EmitReduceEach(FunctionEmitter& f, const KernelParts& kernel) {
  ReduceTerms terms(f.elements(), ReductionOf(*kernel.instruction));
  return EmitResults(f, kernel, {{.sizes = terms.kept()}},
                     [&](auto kept) { return SumInOrder(f, terms, kernel.config.tile, kept); });
}

// Of a reduce, or of a dot whose two rows of factors are contiguous.
absl::Status EmitReduceRows(FunctionEmitter& f, const KernelParts& kernel) {
  const HloInstruction& sum = *kernel.instruction;
  std::unique_ptr<codegen::Terms> terms;
  if (sum.opcode() == HloOpcode::kDot) {
    terms = std::make_unique<codegen::DotTerms>(f.elements(), sum);
  } else {
    terms = std::make_unique<ReduceTerms>(f.elements(), ReductionOf(sum));
  }
  return EmitResults(f, kernel, {{.sizes = terms->kept()}}, [&](auto kept) -> absl::StatusOr<std::vector<Elements>> {
    HILO_ASSIGN_OR_RETURN(const Elements total, SumInLanes(f, *terms, static_cast<int>(kernel.config.width),
                                                           kernel.config.tile[0], kernel.config.tile[1], kept[0]));
    return std::vector<Elements>{terms->Finish(total)};
  });
}

}  // namespace hilo::cpu
