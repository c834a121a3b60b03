// Running reductions along columns (prefix_scan_emitter.cc).
#include <vector>

#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/emitters/nest_emitter.h"
#include "backends/gpu/emitters/scan/look_back.h"
#include "backends/gpu/emitters/scan/scan_kernel.h"
#include "base/math.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::Index;
using codegen::LaneIndex;

class ColumnScan : public ScanKernel {
 public:
  using ScanKernel::ScanKernel;

  // Columns: a thread has a group of them.
  absl::Status Columns() {
    const codegen::NestDim nest = PerThread({s_.outer, s_.inner}, kBlockSize, group_);
    return EmitNest(k_, nest, [&](absl::Span<const Index> indices) -> absl::Status {
      const std::vector<LaneIndex> at = indices[0].Dims(k_.context());
      std::vector<Elements> running;
      for (int64_t j = 0; j < group_; ++j) {
        HILO_ASSIGN_OR_RETURN(running.emplace_back(), Inits());
      }
      auto body = [&](llvm::Value* step, const Carried& carried) -> absl::StatusOr<Carried> {
        const std::vector<Index> of_step = ColumnIndices(at[0], step, at[1]);
        std::vector<Elements> elements;
        for (const Index& index : of_step) {
          HILO_ASSIGN_OR_RETURN(elements.emplace_back(), Input(index));
        }
        HILO_ASSIGN_OR_RETURN(const std::vector<Elements> now, CombineGroups(Unpack(carried), elements));
        for (int64_t j = 0; j < group_; ++j) Output(of_step[j], now[j]);
        return Pack(now);
      };
      return codegen::EmitLoop(k_.context(), "run", Int(0), Int(s_.size), 1, Pack(running), body).status();
    });
  }

  // Columns in tiles, a block each: `lanes` adjacent groups of columns, and a part of their steps, of which a thread
  // has `steps` in registers. Threads of the same columns are strips.
  absl::Status ColumnsInTiles(int64_t lanes, int64_t steps, int64_t parts) {
    const int64_t strips = kBlockSize / lanes, groups = s_.inner / group_, blocks = CeilDiv(groups, lanes);
    llvm::Value* thread = k_.Thread();
    llvm::Value *lane = b_.CreateURem(thread, Int(lanes)), *strip = b_.CreateUDiv(thread, Int(lanes));
    llvm::Value* number = k_.Block();
    if (parts > 1) {
      HILO_ASSIGN_OR_RETURN(number, TakeNumber(k_, k_.extra(0)));
    }
    llvm::Value *line_part = b_.CreateUDiv(number, Int(blocks)), *block = b_.CreateURem(number, Int(blocks));
    llvm::Value *line = b_.CreateUDiv(line_part, Int(parts)), *part = b_.CreateURem(line_part, Int(parts));
    // Threads without columns of their own have the last ones, and discard the result.
    llvm::Value* own_group = b_.CreateAdd(b_.CreateMul(block, Int(lanes), "", true, true), lane, "", true, true);
    llvm::Value* has_columns = b_.CreateICmpULT(own_group, Int(groups));
    own_group = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, own_group, Int(groups - 1));
    llvm::Value* column = b_.CreateMul(own_group, Int(group_), "", true, true);
    llvm::Value* begin =
        b_.CreateMul(b_.CreateAdd(b_.CreateMul(part, Int(strips), "", true, true), strip, "", true, true), Int(steps),
                     "", true, true);
    std::vector<std::vector<Index>> indices;
    std::vector<std::vector<Elements>> sums(steps);
    for (int64_t i = 0; i < steps; ++i) {
      // Elements beyond the end are combined last of all, and their results are discarded.
      llvm::Value* step = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b_.CreateAdd(begin, Int(i), "", true, true),
                                                   Int(s_.size - 1));
      indices.push_back(
          ColumnIndices(LaneIndex::Uniform(line, 1, s_.outer), step, LaneIndex::Uniform(column, group_, s_.inner)));
      for (const Index& index : indices[i]) {
        HILO_ASSIGN_OR_RETURN(sums[i].emplace_back(), Input(index));
      }
    }
    for (int64_t i = 1; i < steps; ++i) {
      HILO_ASSIGN_OR_RETURN(sums[i], CombineGroups(sums[i - 1], sums[i]));
    }
    std::vector<Elements> prefix;
    for (int64_t j = 0; j < group_; ++j) {
      HILO_ASSIGN_OR_RETURN(prefix.emplace_back(), Inits());
    }
    const Strips at = {.lane = lane, .strip = strip, .lanes = lanes, .strips = strips};
    HILO_ASSIGN_OR_RETURN(const std::vector<Elements> strips_before, CombineStrips(at, strip, sums.back()));
    if (parts > 1) {
      const TileIndex tile = {.line = line,
                              .part = part,
                              .first_total = b_.CreateAdd(b_.CreateMul(block, Int(lanes * group_)), lane),
                              .width = blocks * lanes * group_};
      HILO_ASSIGN_OR_RETURN(const std::vector<Elements> total, CombineGroups(strips_before, sums.back()));
      HILO_ASSIGN_OR_RETURN(prefix, LookBackFromTile(at, tile, parts, total, prefix));
    }
    HILO_ASSIGN_OR_RETURN(const std::vector<Elements> with_strips, CombineGroups(prefix, strips_before));
    prefix = SelectGroups(b_.CreateICmpEQ(strip, Int(0)), prefix, with_strips);
    for (int64_t i = 0; i < steps; ++i) {
      HILO_ASSIGN_OR_RETURN(sums[i], CombineGroups(prefix, sums[i]));
      llvm::Value* inside = b_.CreateICmpULT(b_.CreateAdd(begin, Int(i)), Int(s_.size));
      HILO_RETURN_IF_ERROR(k_.If("writes", b_.CreateAnd(has_columns, inside), [&] {
        for (int64_t j = 0; j < group_; ++j) Output(indices[i][j], sums[i][j]);
        return absl::OkStatus();
      }));
    }
    return absl::OkStatus();
  }

 private:
  // The threads of a tile of columns.
  struct Strips {
    llvm::Value *lane, *strip;
    int64_t lanes, strips;
  };
  struct TileIndex {
    llvm::Value *line, *part;
    // A part has `width` totals; those of the thread's columns begin with the first one, and are as far apart as lanes,
    // so that lanes have adjacent ones.
    llvm::Value* first_total;
    int64_t width;
  };

  // Returns the combination of `own` of the first `count` strips, if there are any, for the columns of the thread. Has
  // a barrier.
  absl::StatusOr<std::vector<Elements>> CombineStrips(const Strips& at, llvm::Value* count,
                                                      const std::vector<Elements>& own) {
    const Carried like = codegen::Pack(own[0]);
    Carried cells;
    for (llvm::Value* value : like) cells.push_back(k_.Shared(value->getType(), kBlockSize * group_, "strips"));
    const auto cell = [&](llvm::Value* strip, int64_t j) {
      return b_.CreateAdd(b_.CreateAdd(b_.CreateMul(strip, Int(at.lanes)), at.lane), Int(j * kBlockSize));
    };
    for (int64_t j = 0; j < group_; ++j) StoreCellsAt(cells, cell(at.strip, j), own[j]);
    k_.Barrier();
    const auto load = [&](llvm::Value* strip) {
      std::vector<Elements> loaded;
      for (int64_t j = 0; j < group_; ++j) loaded.push_back(LoadCellsAt(cells, cell(strip, j), like));
      return loaded;
    };
    auto add = [&](llvm::Value* strip, const Carried& sum) -> absl::StatusOr<Carried> {
      HILO_ASSIGN_OR_RETURN(const std::vector<Elements> more, CombineGroups(Unpack(sum), load(strip)));
      return Pack(more);
    };
    HILO_ASSIGN_OR_RETURN(const Carried sum,
                          codegen::EmitLoop(k_.context(), "strips", Int(1), count, 1, Pack(load(Int(0))), add));
    return Unpack(sum);
  }

  // The numbers of the totals of part (or group of parts) `index`, for the columns of the thread.
  std::vector<llvm::Value*> TotalsOf(const Strips& at, const TileIndex& tile, llvm::Value* index) {
    llvm::Value* first = b_.CreateAdd(b_.CreateMul(index, Int(tile.width)), tile.first_total);
    std::vector<llvm::Value*> numbers;
    for (int64_t j = 0; j < group_; ++j) numbers.push_back(b_.CreateAdd(first, Int(j * at.lanes)));
    return numbers;
  }

  // Returns the combination of the totals of `count` parts (or groups of parts) from `first` on, for the columns of the
  // thread, if there are any. The strips share them. Has a barrier.
  absl::StatusOr<std::vector<Elements>> CombineTileTotals(const Strips& at, const TileIndex& tile, llvm::Value* first,
                                                          llvm::Value* count, const std::vector<Elements>& like) {
    const auto await = [&](llvm::Value* i) { return AwaitTotals(TotalsOf(at, tile, b_.CreateAdd(first, i)), like[0]); };
    auto add = [&](llvm::Value* i, const Carried& sum) -> absl::StatusOr<Carried> {
      HILO_ASSIGN_OR_RETURN(const std::vector<Elements> more, CombineGroups(Unpack(sum), await(i)));
      return Pack(more);
    };
    const auto some = [&]() -> absl::StatusOr<Carried> {
      return codegen::EmitLoop(k_.context(), "totals", b_.CreateAdd(at.strip, Int(at.strips)), count, at.strips,
                               Pack(await(at.strip)), add);
    };
    const auto none = [&]() -> absl::StatusOr<Carried> { return Zeros(Pack(like)); };
    HILO_ASSIGN_OR_RETURN(const Carried own, codegen::EmitBranches(k_.context(), "has_totals",
                                                                   b_.CreateICmpULT(at.strip, count), some, none));
    llvm::Value* used = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, count, Int(at.strips));
    return CombineStrips(at, used, Unpack(own));
  }

  // As LookBack, for a tile of columns: `total` is the tile's in the threads of the last strip.
  absl::StatusOr<std::vector<Elements>> LookBackFromTile(const Strips& at, const TileIndex& tile, int64_t parts,
                                                         const std::vector<Elements>& total,
                                                         std::vector<Elements> prefix) {
    const int64_t groups = CeilDiv(parts, kGroupParts);
    llvm::Value *first_part = b_.CreateMul(tile.line, Int(parts)),
                *first_group = b_.CreateAdd(b_.CreateMul(tile.line, Int(groups)), Int(s_.outer * parts));
    llvm::Value* in_group = b_.CreateAnd(tile.part, Int(kGroupParts - 1));
    llvm::Value* stores = b_.CreateICmpEQ(at.strip, Int(at.strips - 1));
    const auto store = [&](llvm::Value* index, const std::vector<Elements>& totals) {
      const std::vector<llvm::Value*> numbers = TotalsOf(at, tile, index);
      for (int64_t j = 0; j < group_; ++j) StoreTotal(numbers[j], totals[j]);
      return absl::OkStatus();
    };
    HILO_RETURN_IF_ERROR(k_.If("total", stores, [&] { return store(b_.CreateAdd(first_part, tile.part), total); }));
    llvm::Value* first_in_group = b_.CreateAdd(first_part, b_.CreateSub(tile.part, in_group));
    HILO_ASSIGN_OR_RETURN(const std::vector<Elements> earlier_parts,
                          CombineTileTotals(at, tile, first_in_group, in_group, total));
    if (groups > 1) {
      llvm::Value* group = b_.CreateUDiv(tile.part, Int(kGroupParts));
      HILO_ASSIGN_OR_RETURN(const std::vector<Elements> of_group, CombineGroups(earlier_parts, total));
      llvm::Value* ends_group = b_.CreateICmpEQ(in_group, Int(kGroupParts - 1));
      HILO_RETURN_IF_ERROR(k_.If("group", b_.CreateAnd(stores, ends_group),
                                 [&] { return store(b_.CreateAdd(first_group, group), of_group); }));
      HILO_ASSIGN_OR_RETURN(const std::vector<Elements> earlier_groups,
                            CombineTileTotals(at, tile, first_group, group, total));
      HILO_ASSIGN_OR_RETURN(const std::vector<Elements> with_groups, CombineGroups(prefix, earlier_groups));
      prefix = SelectGroups(b_.CreateICmpEQ(group, Int(0)), prefix, with_groups);
    }
    HILO_ASSIGN_OR_RETURN(const std::vector<Elements> with_parts, CombineGroups(prefix, earlier_parts));
    return SelectGroups(b_.CreateICmpEQ(in_group, Int(0)), prefix, with_parts);
  }

  // The indices of a group of columns.
  std::vector<Index> ColumnIndices(const LaneIndex& line, llvm::Value* step, const LaneIndex& column) {
    std::vector<Index> indices;
    for (int64_t j = 0; j < group_; ++j) {
      indices.push_back(Index({line, Position(LaneIndex::Uniform(step, 1, s_.size)),
                               column.AddConstant(j).WithRange({0, s_.inner - 1})})
                            .Reshape(k_.context(), {s_.outer, s_.size, s_.inner}, s_.dimensions));
    }
    return indices;
  }

  absl::StatusOr<std::vector<Elements>> CombineGroups(const std::vector<Elements>& a, const std::vector<Elements>& b) {
    std::vector<Elements> combined;
    for (size_t j = 0; j < a.size(); ++j) {
      HILO_ASSIGN_OR_RETURN(combined.emplace_back(), Combine(a[j], b[j]));
    }
    return combined;
  }

  std::vector<Elements> SelectGroups(llvm::Value* condition, const std::vector<Elements>& a,
                                     const std::vector<Elements>& b) {
    std::vector<Elements> chosen;
    for (size_t j = 0; j < a.size(); ++j) chosen.push_back(Select(condition, a[j], b[j]));
    return chosen;
  }

  Carried Pack(const std::vector<Elements>& all) {
    Carried packed;
    for (const Elements& one : all) {
      for (llvm::Value* value : codegen::Pack(one)) packed.push_back(value);
    }
    return packed;
  }

  std::vector<Elements> Unpack(const Carried& packed) {
    const size_t width = packed.size() / static_cast<size_t>(group_);
    std::vector<Elements> all;
    for (size_t at = 0; at < packed.size(); at += width)
      all.push_back(codegen::Unpack(absl::MakeConstSpan(packed).subspan(at, width), s_.types));
    return all;
  }
};

}  // namespace

absl::Status EmitPrefixScanColumns(ProgramEmitter& program, const HloInstruction* instruction) {
  const std::optional<PrefixScan> s = PrefixScanOf(*instruction);
  HILO_RET_CHECK(s.has_value());
  const KernelConfig& config = *instruction->kernel();
  if (config.tile.size() == 1) {
    KernelEmitter k(&program, instruction);
    HILO_RETURN_IF_ERROR(ColumnScan(k, *s).Columns());
    return k.FinishAndLaunch(instruction, CeilDiv(s->outer * s->inner, kBlockSize * config.width), kBlockSize);
  }
  const int64_t lanes = config.tile[1], steps = config.tile[2];
  const int64_t blocks = CeilDiv(s->inner, lanes * config.width);  // beside each other
  std::vector<KernelArgument> shared;
  if (config.parts > 1) {
    HILO_ASSIGN_OR_RETURN(
        shared.emplace_back(),
        EmitClearedScratch(program, instruction,
                           ScanKernel::SharedBytes(*s, s->outer * blocks * lanes * config.width, config.parts)));
  }
  KernelEmitter k(&program, instruction, shared);
  HILO_RETURN_IF_ERROR(ColumnScan(k, *s).ColumnsInTiles(lanes, steps, config.parts));
  return k.FinishAndLaunch(instruction, s->outer * config.parts * blocks, kBlockSize);
}

}  // namespace hilo::gpu
