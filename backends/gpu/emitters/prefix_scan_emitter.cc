// Running reductions (cumulative sums, products, maxima: reduce-windows that cover all elements up to their position,
// or all from it on). The arrays are viewed as [outer, size, inner].
//
// One associative and commutative operation is computed in parallel. *Lines* (inner is 1): adjacent threads have
// 16-byte groups of a line; a thread scans its group, warps combine the groups by shuffles, a block its warps through
// shared memory, and the block carries the total to the next iteration. *Columns*: a thread has a group of adjacent
// columns and iterates along them. If that is too little work for a device, lines and columns are split into parts: one
// launch reduces each part but the last, a second starts with the combination of the parts before its own. No block
// waits for another, and the order of operations depends on the shape alone.
//
// Any other computation runs from the front, with one thread per line, which is bit-identical to the windows one by
// one. From the back, where the windows' order differs from that of the scan, it stays a loop over windows.
#include <algorithm>
#include <tuple>

#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/emitters/nest_emitter.h"
#include "backends/llvm/elements/predication.h"
#include "backends/llvm/elements/terms.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/prefix_scan.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::Index;
using codegen::LaneIndex;

class ScanKernel {
 public:
  ScanKernel(KernelEmitter& k, const PrefixScan& s) : k_(k), b_(k.b()), s_(s), group_(s.instruction->kernel()->width) {}

  // Columns: parts of `part` steps, of which this kernel computes the first `parts`. `totals` (from the first launch;
  // may be null) are the totals of earlier parts; `only_totals`: this is that launch.
  absl::Status Columns(int64_t part, int64_t parts, const KernelArgument* totals, bool only_totals) {
    const int64_t all_parts = CeilDiv(s_.size, part);
    const codegen::NestDim nest = PerThread({s_.outer, parts, s_.inner}, kBlockSize, group_);
    return EmitNest(k_, nest, [&](absl::Span<const Index> indices) -> absl::Status {
      const std::vector<LaneIndex> at = indices[0].Dims(k_.context());
      llvm::Value* number = at[1].Base(k_.context());
      llvm::Value* begin = b_.CreateMul(number, Int(part), "", true, true);
      llvm::Value* end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b_.CreateAdd(begin, Int(part)), Int(s_.size));
      llvm::Value* first = at[2].Base(k_.context());
      auto index = [&](llvm::Value* step, int64_t j) {
        const LaneIndex column = at[2].AddConstant(j).WithRange({0, s_.inner - 1});
        return Index({at[0], Position(LaneIndex::Uniform(step, 1, s_.size)), column})
            .Reshape(k_.context(), {s_.outer, s_.size, s_.inner}, s_.dimensions);
      };
      auto cell = [&](llvm::Value* p, int64_t j) {
        llvm::Value* line =
            b_.CreateAdd(b_.CreateMul(at[0].Base(k_.context()), Int(all_parts), "", true, true), p, "", true, true);
        return b_.CreateAdd(b_.CreateAdd(b_.CreateMul(line, Int(s_.inner), "", true, true), first, "", true, true),
                            Int(j), "", true, true);
      };
      std::vector<Elements> running;
      for (int64_t j = 0; j < group_; ++j) {
        if (only_totals) {
          HILO_ASSIGN_OR_RETURN(running.emplace_back(), Input(index(begin, j)));
        } else {
          HILO_ASSIGN_OR_RETURN(running.emplace_back(), Inits());
        }
      }
      if (totals != nullptr && !only_totals) {
        const Carried like = Pack(running);
        auto add = [&](llvm::Value* p, const Carried& carried) -> absl::StatusOr<Carried> {
          std::vector<Elements> now = Unpack(carried);
          for (int64_t j = 0; j < group_; ++j) {
            HILO_ASSIGN_OR_RETURN(now[j], Combine(now[j], LoadCells(cell(p, j), now[j])));
          }
          return Pack(now);
        };
        HILO_ASSIGN_OR_RETURN(const Carried before,
                              codegen::EmitLoop(k_.context(), "before", Int(0), number, 1, like, add));
        running = Unpack(before);
      }
      auto body = [&](llvm::Value* step, const Carried& carried) -> absl::StatusOr<Carried> {
        std::vector<Elements> now = Unpack(carried), elements;
        for (int64_t j = 0; j < group_; ++j) {
          HILO_ASSIGN_OR_RETURN(elements.emplace_back(), Input(index(step, j)));
        }
        for (int64_t j = 0; j < group_; ++j) {
          HILO_ASSIGN_OR_RETURN(now[j], Combine(now[j], elements[j]));
        }
        for (int64_t j = 0; !only_totals && j < group_; ++j) Output(index(step, j), now[j]);
        return Pack(now);
      };
      llvm::Value* from = only_totals ? b_.CreateAdd(begin, Int(1), "", true, true) : begin;
      HILO_ASSIGN_OR_RETURN(const Carried done,
                            codegen::EmitLoop(k_.context(), "run", from, end, 1, Pack(running), body));
      running = Unpack(done);
      for (int64_t j = 0; only_totals && j < group_; ++j) StoreCells(cell(number, j), running[j]);
      return absl::OkStatus();
    });
  }

  // Lines: `threads` of a warp, or a block, per part. Arguments as above; a part is a multiple of what the threads
  // process in an iteration.
  absl::Status Lines(int64_t threads, int64_t part, int64_t parts, const KernelArgument* totals, bool only_totals) {
    const int64_t all_parts = CeilDiv(s_.size, part), rows = s_.outer * parts,
                  block_rows = std::max<int64_t>(1, kBlockSize / threads);
    llvm::Value* thread = k_.Thread();
    llvm::Value* lane = b_.CreateAnd(thread, Int(threads - 1));
    llvm::Value* i = b_.CreateAdd(b_.CreateMul(k_.Block(), Int(block_rows), "", true, true),
                                  b_.CreateUDiv(thread, Int(threads)), "", true, true);
    // All lanes shuffle, so threads without a line of their own use the last one, and discard the result.
    llvm::Value* has_line = rows % block_rows == 0 ? nullptr : b_.CreateICmpULT(i, Int(rows));
    if (has_line != nullptr) i = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, i, Int(rows - 1));
    llvm::Value *line = b_.CreateUDiv(i, Int(parts)), *number = b_.CreateURem(i, Int(parts));
    llvm::Value* begin = b_.CreateMul(number, Int(part), "", true, true);
    llvm::Value* end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b_.CreateAdd(begin, Int(part)), Int(s_.size));
    auto cell = [&](llvm::Value* p) {
      return b_.CreateAdd(b_.CreateMul(line, Int(all_parts), "", true, true), p, "", true, true);
    };

    HILO_ASSIGN_OR_RETURN(Elements carry, Inits());
    if (totals != nullptr && !only_totals) {
      auto add = [&](llvm::Value* p, const Carried& carried) -> absl::StatusOr<Carried> {
        const Elements now = codegen::Unpack(carried, s_.types);
        HILO_ASSIGN_OR_RETURN(const Elements sum, Combine(now, LoadCells(cell(p), now)));
        return codegen::Pack(sum);
      };
      HILO_ASSIGN_OR_RETURN(const Carried before,
                            codegen::EmitLoop(k_.context(), "before", Int(0), number, 1, codegen::Pack(carry), add));
      carry = codegen::Unpack(before, s_.types);
    }
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
      llvm::Value* has = b_.CreateICmpULT(first, end);
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
      // Inclusive scan over the lanes.
      Elements total = sums.back();
      for (int distance = 1; distance < std::min<int64_t>(threads, kWarp); distance *= 2) {
        HILO_ASSIGN_OR_RETURN(const Elements more, Combine(Shuffled(total, distance), total));
        total = Select(b_.CreateICmpUGE(LaneInWarp(lane), Int(distance)), more, total);
      }
      Elements prefix = before, next;
      if (whole_block) {
        HILO_ASSIGN_OR_RETURN(std::tie(prefix, next), CombineWarps(shared, thread, before, total));
      } else {
        next = LastLane(total, threads);
      }
      HILO_ASSIGN_OR_RETURN(const Elements with_earlier, Combine(before, next));
      // The total of a part is that of its elements alone.
      next = only_totals ? Select(b_.CreateICmpEQ(at, begin), next, with_earlier) : with_earlier;
      if (!only_totals && threads > 1) {
        HILO_ASSIGN_OR_RETURN(const Elements with_lanes, Combine(prefix, Shuffled(total, 1)));
        prefix = Select(b_.CreateICmpEQ(LaneInWarp(lane), Int(0)), prefix, with_lanes);
      }
      if (!only_totals) {
        for (Elements& sum : sums) {
          HILO_ASSIGN_OR_RETURN(sum, Combine(prefix, sum));
        }
        llvm::Value* writes = has_line == nullptr ? has : b_.CreateAnd(has, has_line);
        HILO_RETURN_IF_ERROR(k_.If("writes", writes, [&] {
          for (size_t j = 0; j < sums.size(); ++j) Output(indices[j], sums[j]);
          return absl::OkStatus();
        }));
      }
      return codegen::Pack(next);
    };
    HILO_ASSIGN_OR_RETURN(const Carried done,
                          codegen::EmitLoop(k_.context(), "chunks", begin, end, chunk, codegen::Pack(carry), body));
    if (!only_totals) return absl::OkStatus();
    llvm::Value* writes = b_.CreateICmpEQ(lane, Int(0));
    if (has_line != nullptr) writes = b_.CreateAnd(writes, has_line);
    return k_.If("writes", writes, [&] {
      StoreCells(cell(number), codegen::Unpack(done, s_.types));
      return absl::OkStatus();
    });
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
  llvm::Value* Int(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }
  llvm::Value* LaneInWarp(llvm::Value* lane) { return b_.CreateAnd(lane, Int(kWarp - 1)); }

  // Maps a step to a position in the array.
  LaneIndex Position(const LaneIndex& step) {
    return s_.from_back ? step.MulConstant(k_.context(), -1).AddConstant(s_.size - 1).WithRange({0, s_.size - 1})
                        : step;
  }

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

  absl::StatusOr<Elements> Input(const Index& index) { return codegen::ElementsOf(k_.elements(), *s_.hero, index); }
  absl::StatusOr<Elements> Inits() { return codegen::InitsOf(k_.elements(), *s_.hero); }
  void Output(const Index& index, const Elements& values) {
    for (int64_t i = 0; i < s_.count; ++i) k_.ArrayOf(s_.instruction, i).Store(k_.context(), index, values[i]);
  }
  absl::StatusOr<Elements> Combine(const Elements& a, const Elements& b) {
    return codegen::Combine(k_.context(), s_.computation(), a, b);
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
  Elements Select(llvm::Value* condition, const Elements& a, const Elements& c) {
    const Carried x = codegen::Pack(a), y = codegen::Pack(c);
    Carried chosen;
    for (size_t i = 0; i < x.size(); ++i) chosen.push_back(b_.CreateSelect(condition, x[i], y[i]));
    return codegen::Unpack(chosen, s_.types);
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

  // Loads totals of parts, from the kernel's arguments after the instruction's own.
  Elements LoadCells(llvm::Value* at, const Elements& like) {
    Carried loaded;
    for (llvm::Value* value : codegen::Pack(like))
      loaded.push_back(k_.LoadCell(k_.extra(static_cast<int64_t>(loaded.size())), at, value->getType()));
    return codegen::Unpack(loaded, s_.types);
  }
  void StoreCells(llvm::Value* at, const Elements& values) {
    const Carried packed = codegen::Pack(values);
    for (size_t i = 0; i < packed.size(); ++i) k_.StoreCell(k_.extra(static_cast<int64_t>(i)), at, packed[i]);
  }

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  const PrefixScan& s_;
  const int64_t group_;  // adjacent elements in memory that a thread processes together
};

}  // namespace

// One launch, or two: the totals of all parts but the last, then everything.
absl::Status EmitPrefixScan(ProgramEmitter& program, const HloInstruction* instruction) {
  const std::optional<PrefixScan> scan = PrefixScanOf(*instruction);
  HILO_RET_CHECK(scan.has_value());
  const PrefixScan& s = *scan;
  const KernelConfig& config = *instruction->kernel();
  const bool lines = config.kind == KernelKind::kPrefixScanLines;
  const int64_t threads = lines ? config.tile[1] : 1, part = config.tile.back(), parts = config.parts;
  std::vector<KernelArgument> totals;
  if (parts > 1) {
    const PrimitiveType type = s.types[0];
    for (int i = 0; i < (IsComplexType(type) ? 2 : 1); ++i) {
      const int64_t bytes =
          KernelEmitter::CellBytes(codegen::RegisterType(program.llvm_context(), type)) * s.outer * s.inner * parts;
      totals.push_back(KernelArgument::Scratch(program.AllocateScratch(bytes), bytes, true));
    }
  }
  for (const bool only_totals : {true, false}) {
    if (only_totals && parts == 1) continue;
    const int64_t mine = only_totals ? parts - 1 : parts;
    for (KernelArgument& argument : totals) argument.written = only_totals;
    KernelEmitter k(&program, s.instruction, totals);
    ScanKernel kernel(k, s);
    const KernelArgument* before = totals.empty() ? nullptr : totals.data();
    HILO_RETURN_IF_ERROR(lines ? kernel.Lines(threads, part, mine, before, only_totals)
                               : kernel.Columns(part, mine, before, only_totals));
    const int64_t in_block = lines ? std::max<int64_t>(1, kBlockSize / threads) : kBlockSize * config.width;
    HILO_RETURN_IF_ERROR(k.FinishAndLaunch(s.instruction, CeilDiv(s.outer * mine * s.inner, in_block), kBlockSize));
  }
  return absl::OkStatus();
}

absl::Status EmitPrefixScanInOrder(ProgramEmitter& program, const HloInstruction* instruction) {
  const std::optional<PrefixScan> s = PrefixScanOf(*instruction);
  HILO_RET_CHECK(s.has_value());
  KernelEmitter k(&program, instruction);
  HILO_RETURN_IF_ERROR(ScanKernel(k, *s).InOrder());
  return k.FinishAndLaunch(instruction, CeilDiv(s->outer * s->inner, kBlockSize), kBlockSize);
}

}  // namespace hilo::gpu
