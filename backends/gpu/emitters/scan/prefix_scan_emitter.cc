// Running reductions (cumulative sums, products, maxima: reduce-windows that cover all elements up to their position,
// or all from it on). The arrays are viewed as [outer, size, inner].
//
// One associative and commutative operation is computed in parallel. *Lines* (inner is 1): adjacent threads have
// 16-byte groups of a line; a thread scans its group, warps combine the groups by shuffles, a block its warps through
// shared memory, and the block carries the total to the next iteration. *Columns*: a thread has a group of adjacent
// columns and iterates along them.
//
// If that is too little work for a device, both are split into parts, a block each (of columns: a block for some
// adjacent ones). Parts are in registers, and are read once: a block stores the totals of its part, the last block of
// each 32 parts those of all of them, and then a block combines the totals of the groups before its own and of the
// parts before its own in the group (look_back.h). The order of operations depends on the shape alone.
//
// Any other computation runs from the front, with one thread per line, which is bit-identical to the windows one by
// one. From the back, where the windows' order differs from that of the scan, it stays a loop over windows.
#include <algorithm>
#include <tuple>

#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/emitters/nest_emitter.h"
#include "backends/gpu/emitters/scan/look_back.h"
#include "backends/gpu/emitters/scan/scan_kernel.h"
#include "backends/llvm/elements/predication.h"
#include "base/math.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::Index;
using codegen::LaneIndex;

class LineScan : public ScanKernel {
 public:
  using ScanKernel::ScanKernel;

  // Lines: `threads` of a warp, or a block, per line.
  absl::Status Lines(int64_t threads) {
    const int64_t rows = s_.outer, block_rows = std::max<int64_t>(1, kBlockSize / threads);
    llvm::Value* thread = k_.Thread();
    llvm::Value* lane = b_.CreateAnd(thread, Int(threads - 1));
    llvm::Value* line = b_.CreateAdd(b_.CreateMul(k_.Block(), Int(block_rows), "", true, true),
                                     b_.CreateUDiv(thread, Int(threads)), "", true, true);
    // All lanes shuffle, so threads without a line of their own use the last one, and discard the result.
    llvm::Value* has_line = rows % block_rows == 0 ? nullptr : b_.CreateICmpULT(line, Int(rows));
    if (has_line != nullptr) line = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, line, Int(rows - 1));
    HILO_ASSIGN_OR_RETURN(const Elements carry, Inits());
    const bool whole_block = threads > kWarp;
    const Carried like = codegen::Pack(carry);
    std::vector<llvm::Value*> shared;
    for (llvm::Value* value : like) {
      if (whole_block) shared.push_back(k_.Shared(value->getType(), kBlockSize / kWarp, "warps"));
    }
    const int64_t chunk = threads * group_;
    auto body = [&](llvm::Value* at, const Carried& carried) -> absl::StatusOr<Carried> {
      const Elements before = codegen::Unpack(carried, s_.types);
      llvm::Value* first = b_.CreateAdd(at, b_.CreateMul(lane, Int(group_), "", true, true), "", true, true);
      llvm::Value* has = b_.CreateICmpULT(first, Int(s_.size));
      // Elements beyond the end are combined last of all, and their results are discarded.
      llvm::Value* own = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, first, Int(s_.size - group_));
      const std::vector<Index> indices = LineIndices(line, own);
      std::vector<Elements> sums;
      for (const Index& index : indices) {
        HILO_ASSIGN_OR_RETURN(sums.emplace_back(), Input(index));
      }
      for (size_t j = 1; j < sums.size(); ++j) {
        HILO_ASSIGN_OR_RETURN(sums[j], Combine(sums[j - 1], sums[j]));
      }
      HILO_ASSIGN_OR_RETURN(const Elements total, ScanLanes(sums.back(), lane, std::min<int64_t>(threads, kWarp)));
      Elements prefix = before, next;
      if (whole_block) {
        HILO_ASSIGN_OR_RETURN(std::tie(prefix, next), CombineWarps(shared, thread, before, total));
      } else {
        next = LastLane(total, threads);
      }
      HILO_ASSIGN_OR_RETURN(next, Combine(before, next));
      if (threads > 1) {
        HILO_ASSIGN_OR_RETURN(const Elements with_lanes, Combine(prefix, Shuffled(total, 1)));
        prefix = Select(b_.CreateICmpEQ(LaneInWarp(lane), Int(0)), prefix, with_lanes);
      }
      for (Elements& sum : sums) {
        HILO_ASSIGN_OR_RETURN(sum, Combine(prefix, sum));
      }
      llvm::Value* writes = has_line == nullptr ? has : b_.CreateAnd(has, has_line);
      HILO_RETURN_IF_ERROR(k_.If("writes", writes, [&] {
        for (size_t j = 0; j < sums.size(); ++j) Output(indices[j], sums[j]);
        return absl::OkStatus();
      }));
      return codegen::Pack(next);
    };
    return codegen::EmitLoop(k_.context(), "chunks", Int(0), Int(s_.size), chunk, codegen::Pack(carry), body).status();
  }

  // Lines in parts of `part` elements, a block each: a multiple of what the block's threads have in an iteration.
  absl::Status LinesInParts(int64_t part) {
    const int64_t chunk = kBlockSize * group_, chunks = part / chunk, parts = CeilDiv(s_.size, part),
                  warps = kBlockSize / kWarp;
    llvm::Value* thread = k_.Thread();
    llvm::Value *warp = b_.CreateLShr(thread, 5), *lane = LaneInWarp(thread);
    HILO_ASSIGN_OR_RETURN(llvm::Value * number, TakeNumber(k_, k_.extra(0)));
    llvm::Value *line = b_.CreateUDiv(number, Int(parts)), *tile = b_.CreateURem(number, Int(parts));
    std::vector<llvm::Value*> first;
    std::vector<std::vector<Index>> indices;
    std::vector<std::vector<Elements>> sums(chunks);
    for (int64_t c = 0; c < chunks; ++c) {
      llvm::Value* at = b_.CreateAdd(Int(c * chunk), b_.CreateMul(thread, Int(group_), "", true, true), "", true, true);
      first.push_back(b_.CreateAdd(b_.CreateMul(tile, Int(part), "", true, true), at, "", true, true));
      // Elements beyond the end are combined last of all, and their results are discarded.
      indices.push_back(
          LineIndices(line, b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, first[c], Int(s_.size - group_))));
      for (const Index& index : indices[c]) {
        HILO_ASSIGN_OR_RETURN(sums[c].emplace_back(), Input(index));
      }
    }
    const Carried like = codegen::Pack(sums[0][0]);
    Carried totals, prefixes;  // of a warp in a chunk, and of what precedes them
    for (llvm::Value* value : like) {
      totals.push_back(k_.Shared(value->getType(), chunks * warps, "totals"));
      prefixes.push_back(k_.Shared(value->getType(), chunks * warps, "prefixes"));
    }
    for (int64_t c = 0; c < chunks; ++c) {
      for (int64_t j = 1; j < group_; ++j) {
        HILO_ASSIGN_OR_RETURN(sums[c][j], Combine(sums[c][j - 1], sums[c][j]));
      }
      HILO_ASSIGN_OR_RETURN(const Elements total, ScanLanes(sums[c].back(), lane));
      HILO_RETURN_IF_ERROR(k_.If("last_lane", b_.CreateICmpEQ(lane, Int(kWarp - 1)), [&] {
        StoreCellsAt(totals, b_.CreateAdd(Int(c * warps), warp), total);
        return absl::OkStatus();
      }));
      const Elements before = Shuffled(total, 1);
      for (Elements& sum : sums[c]) {
        HILO_ASSIGN_OR_RETURN(const Elements with_lanes, Combine(before, sum));
        sum = Select(b_.CreateICmpEQ(lane, Int(0)), sum, with_lanes);
      }
    }
    k_.Barrier();
    HILO_RETURN_IF_ERROR(k_.If("first_warp", b_.CreateICmpEQ(warp, Int(0)), [&]() -> absl::Status {
      const int64_t own = chunks * warps / kWarp;  // totals of a lane
      std::vector<Elements> all;
      for (int64_t i = 0; i < own; ++i)
        all.push_back(LoadCellsAt(totals, b_.CreateAdd(b_.CreateMul(lane, Int(own)), Int(i)), like));
      Elements of_lane = all[0];
      for (int64_t i = 1; i < own; ++i) {
        HILO_ASSIGN_OR_RETURN(of_lane, Combine(of_lane, all[i]));
      }
      HILO_ASSIGN_OR_RETURN(const Elements with_lanes, ScanLanes(of_lane, lane));
      HILO_ASSIGN_OR_RETURN(Elements prefix, LookBack(line, tile, lane, parts, LastLane(with_lanes, kWarp)));
      HILO_ASSIGN_OR_RETURN(const Elements with_earlier, Combine(prefix, Shuffled(with_lanes, 1)));
      prefix = Select(b_.CreateICmpEQ(lane, Int(0)), prefix, with_earlier);
      for (int64_t i = 0; i < own; ++i) {
        StoreCellsAt(prefixes, b_.CreateAdd(b_.CreateMul(lane, Int(own)), Int(i)), prefix);
        HILO_ASSIGN_OR_RETURN(prefix, Combine(prefix, all[i]));
      }
      return absl::OkStatus();
    }));
    k_.Barrier();
    for (int64_t c = 0; c < chunks; ++c) {
      const Elements prefix = LoadCellsAt(prefixes, b_.CreateAdd(Int(c * warps), warp), like);
      for (Elements& sum : sums[c]) {
        HILO_ASSIGN_OR_RETURN(sum, Combine(prefix, sum));
      }
      HILO_RETURN_IF_ERROR(k_.If("writes", b_.CreateICmpULT(first[c], Int(s_.size)), [&] {
        for (int64_t j = 0; j < group_; ++j) Output(indices[c][j], sums[c][j]);
        return absl::OkStatus();
      }));
    }
    return absl::OkStatus();
  }

  // From the front, with one thread per line of [size] elements.
  absl::Status InOrder() {
    const codegen::NestDim nest = PerThread({s_.outer, s_.inner}, kBlockSize);
    return EmitNest(k_, nest, [&](absl::Span<const Index> indices) -> absl::Status {
      const std::vector<LaneIndex> at = indices[0].Dims(k_.context());
      HILO_ASSIGN_OR_RETURN(const Elements inits, Inits());
      auto body = [&](llvm::Value* step, const Carried& carried) -> absl::StatusOr<Carried> {
        const Index index = Index({at[0], LaneIndex::Uniform(step, 1, s_.size), at[1]})
                                .Reshape(k_.context(), {s_.outer, s_.size, s_.inner}, s_.dimensions);
        HILO_ASSIGN_OR_RETURN(const Elements elements, Input(index));
        HILO_ASSIGN_OR_RETURN(const Elements sum, Combine(codegen::Unpack(carried, s_.types), elements));
        Output(index, sum);
        return codegen::Pack(sum);
      };
      return codegen::EmitLoop(k_.context(), "run", Int(0), Int(s_.size), 1, codegen::Pack(inits), body).status();
    });
  }

 private:
  // Stores the total of part `tile` of a line, and that of the group which it ends, and returns the combination of the
  // initial values and all parts before it. A warp's.
  absl::StatusOr<Elements> LookBack(llvm::Value* line, llvm::Value* tile, llvm::Value* lane, int64_t parts,
                                    const Elements& total) {
    const int64_t groups = CeilDiv(parts, kGroupParts);
    llvm::Value *first_part = b_.CreateMul(line, Int(parts)),
                *first_group = b_.CreateAdd(b_.CreateMul(line, Int(groups)), Int(s_.outer * parts));
    llvm::Value *group = b_.CreateLShr(tile, 5), *in_group = b_.CreateAnd(tile, Int(kGroupParts - 1));
    llvm::Value* is_first_lane = b_.CreateICmpEQ(lane, Int(0));
    HILO_RETURN_IF_ERROR(k_.If("total", is_first_lane, [&] {
      StoreTotal(b_.CreateAdd(first_part, tile), total);
      return absl::OkStatus();
    }));
    llvm::Value* first_in_group = b_.CreateAdd(first_part, b_.CreateSub(tile, in_group));
    HILO_ASSIGN_OR_RETURN(const Elements earlier_parts, CombineTotals(first_in_group, in_group, lane, total));
    HILO_ASSIGN_OR_RETURN(const Elements of_group, Combine(earlier_parts, total));
    llvm::Value* ends_group = b_.CreateICmpEQ(in_group, Int(kGroupParts - 1));
    HILO_RETURN_IF_ERROR(k_.If("group", b_.CreateAnd(is_first_lane, ends_group), [&] {
      StoreTotal(b_.CreateAdd(first_group, group), of_group);
      return absl::OkStatus();
    }));
    HILO_ASSIGN_OR_RETURN(const Elements earlier_groups, CombineTotals(first_group, group, lane, total));
    HILO_ASSIGN_OR_RETURN(const Elements inits, Inits());
    HILO_ASSIGN_OR_RETURN(const Elements with_groups, Combine(inits, earlier_groups));
    Elements prefix = Select(b_.CreateICmpEQ(group, Int(0)), inits, with_groups);
    HILO_ASSIGN_OR_RETURN(const Elements with_parts, Combine(prefix, earlier_parts));
    return Select(b_.CreateICmpEQ(in_group, Int(0)), prefix, with_parts);
  }

  // Returns the combination of `count` totals from `first` on, if there are any. A warp's.
  absl::StatusOr<Elements> CombineTotals(llvm::Value* first, llvm::Value* count, llvm::Value* lane,
                                         const Elements& like) {
    const auto some = [&]() -> absl::StatusOr<Carried> {
      auto add = [&](llvm::Value* i, const Carried& sum) -> absl::StatusOr<Carried> {
        const Elements more = AwaitTotals({b_.CreateAdd(first, i)}, like)[0];
        HILO_ASSIGN_OR_RETURN(const Elements combined, Combine(codegen::Unpack(sum, s_.types), more));
        return codegen::Pack(combined);
      };
      const Carried own = codegen::Pack(AwaitTotals({b_.CreateAdd(first, lane)}, like)[0]);
      return codegen::EmitLoop(k_.context(), "totals", b_.CreateAdd(lane, Int(kWarp)), count, kWarp, own, add);
    };
    const auto none = [&]() -> absl::StatusOr<Carried> { return Zeros(codegen::Pack(like)); };
    HILO_ASSIGN_OR_RETURN(const Carried own,
                          codegen::EmitBranches(k_.context(), "has_totals", b_.CreateICmpULT(lane, count), some, none));
    Elements sum = codegen::Unpack(own, s_.types);
    llvm::Value* lanes = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, count, Int(kWarp));
    for (int distance = 1; distance < kWarp; distance *= 2) {
      Carried others;
      for (llvm::Value* value : codegen::Pack(sum)) others.push_back(k_.ShuffleDown(value, distance));
      HILO_ASSIGN_OR_RETURN(const Elements more, Combine(sum, codegen::Unpack(others, s_.types)));
      sum = Select(b_.CreateICmpULT(b_.CreateAdd(lane, Int(distance)), lanes), more, sum);
    }
    Carried of_first;
    for (llvm::Value* value : codegen::Pack(sum)) of_first.push_back(k_.ShuffleFrom(value, b_.getInt32(0)));
    return codegen::Unpack(of_first, s_.types);
  }

  // Returns the combination of the values of all lanes up to this one.
  absl::StatusOr<Elements> ScanLanes(Elements values, llvm::Value* lane, int64_t lanes = kWarp) {
    for (int distance = 1; distance < lanes; distance *= 2) {
      HILO_ASSIGN_OR_RETURN(const Elements more, Combine(Shuffled(values, distance), values));
      values = Select(b_.CreateICmpUGE(LaneInWarp(lane), Int(distance)), more, values);
    }
    return values;
  }

  llvm::Value* LaneInWarp(llvm::Value* lane) { return b_.CreateAnd(lane, Int(kWarp - 1)); }

  // The indices of the group of steps that begins with `first`, in the order of the steps.
  std::vector<Index> LineIndices(llvm::Value* line, llvm::Value* first) {
    llvm::Value* lowest = s_.from_back ? b_.CreateSub(Int(s_.size - group_), first, "", true, true) : first;
    std::vector<Index> indices;
    for (int64_t j = 0; j < group_; ++j) {
      const LaneIndex position = LaneIndex::Uniform(lowest, group_, s_.size)
                                     .AddConstant(s_.from_back ? group_ - 1 - j : j)
                                     .WithRange({0, s_.size - 1});
      indices.push_back(Index({LaneIndex::Uniform(line, 1, s_.outer), position})
                            .Reshape(k_.context(), {s_.outer, s_.size}, s_.dimensions));
    }
    return indices;
  }

  Elements Shuffled(const Elements& values, int distance) {
    Carried shuffled;
    for (llvm::Value* value : codegen::Pack(values)) shuffled.push_back(k_.ShuffleUp(value, distance));
    return codegen::Unpack(shuffled, s_.types);
  }
  // Returns the values of the last of each `threads` lanes.
  Elements LastLane(const Elements& values, int64_t threads) {
    Carried last;
    for (llvm::Value* value : codegen::Pack(values)) last.push_back(k_.ShuffleLast(value, static_cast<int>(threads)));
    return codegen::Unpack(last, s_.types);
  }
  // From each warp's total (in its last lane): the total of what precedes the thread's warp, and that of all warps.
  absl::StatusOr<std::tuple<Elements, Elements>> CombineWarps(absl::Span<llvm::Value* const> shared,
                                                              llvm::Value* thread, const Elements& before,
                                                              const Elements& total) {
    llvm::Value* warp = b_.CreateLShr(thread, 5);
    const Carried mine = codegen::Pack(total);
    HILO_RETURN_IF_ERROR(k_.If("last_lane", b_.CreateICmpEQ(b_.CreateAnd(thread, Int(kWarp - 1)), Int(kWarp - 1)), [&] {
      for (size_t i = 0; i < mine.size(); ++i) k_.StoreCell(shared[i], warp, mine[i]);
      return absl::OkStatus();
    }));
    k_.Barrier();
    Elements prefix = before, running;
    for (int64_t w = 0; w < kBlockSize / kWarp; ++w) {
      Carried of_warp;
      for (size_t i = 0; i < mine.size(); ++i) of_warp.push_back(k_.LoadCell(shared[i], Int(w), mine[i]->getType()));
      const Elements here = codegen::Unpack(of_warp, s_.types);
      if (w > 0) {
        HILO_ASSIGN_OR_RETURN(const Elements with_earlier, Combine(before, running));
        prefix = Select(b_.CreateICmpEQ(warp, Int(w)), with_earlier, prefix);
        HILO_ASSIGN_OR_RETURN(running, Combine(running, here));
      } else {
        running = here;
      }
    }
    k_.Barrier();  // the cells are written again in the next iteration
    return std::make_tuple(prefix, running);
  }
};

}  // namespace

absl::Status EmitPrefixScanLines(ProgramEmitter& program, const HloInstruction* instruction) {
  const std::optional<PrefixScan> s = PrefixScanOf(*instruction);
  HILO_RET_CHECK(s.has_value());
  const int64_t threads = instruction->kernel()->tile[1], parts = instruction->kernel()->parts;
  if (parts > 1) {
    HILO_ASSIGN_OR_RETURN(const KernelArgument shared,
                          EmitClearedScratch(program, instruction, ScanKernel::SharedBytes(*s, s->outer, parts)));
    KernelEmitter k(&program, instruction, {shared});
    HILO_RETURN_IF_ERROR(LineScan(k, *s).LinesInParts(instruction->kernel()->tile[2]));
    return k.FinishAndLaunch(instruction, s->outer * parts, kBlockSize);
  }
  KernelEmitter k(&program, instruction);
  HILO_RETURN_IF_ERROR(LineScan(k, *s).Lines(threads));
  return k.FinishAndLaunch(instruction, CeilDiv(s->outer, std::max<int64_t>(1, kBlockSize / threads)), kBlockSize);
}

absl::Status EmitPrefixScanInOrder(ProgramEmitter& program, const HloInstruction* instruction) {
  const std::optional<PrefixScan> s = PrefixScanOf(*instruction);
  HILO_RET_CHECK(s.has_value());
  KernelEmitter k(&program, instruction);
  HILO_RETURN_IF_ERROR(LineScan(k, *s).InOrder());
  return k.FinishAndLaunch(instruction, CeilDiv(s->outer * s->inner, kBlockSize), kBlockSize);
}

}  // namespace hilo::gpu
