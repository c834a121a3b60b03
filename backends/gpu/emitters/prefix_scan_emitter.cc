// Running reductions (cumulative sums, products, maxima: reduce-windows that cover all elements up to their position,
// or all from it on). The arrays are viewed as [outer, size, inner].
//
// One associative and commutative operation is computed in parallel. *Lines* (inner is 1): adjacent threads have
// 16-byte groups of a line; a thread scans its group, warps combine the groups by shuffles, a block its warps through
// shared memory, and the block carries the total to the next iteration. *Columns*: a thread has a group of adjacent
// columns and iterates along them.
//
// If that is too little work for a device, both are split into parts. Those of columns take two launches: one reduces
// each part but the last, the other starts with the combination of the parts before its own. Parts of lines are in
// registers, and are read once: a block stores the total of its part, the last block of each 32 parts that of all of
// them, and then a block combines the totals of the groups before its own and of the parts before its own in the group
// (look_back.h). The order of operations depends on the shape alone.
//
// Any other computation runs from the front, with one thread per line, which is bit-identical to the windows one by
// one. From the back, where the windows' order differs from that of the scan, it stays a loop over windows.
#include <algorithm>
#include <tuple>

#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/emitters/look_back.h"
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

  // The bytes of what blocks of lines in parts share: a counter, and words for the totals of parts and of groups.
  static int64_t SharedBytes(const PrefixScan& s, int64_t parts) {
    return kCounterBytes + s.outer * (parts + CeilDiv(parts, kGroupParts)) * WordsOf(s) * kWordBytes;
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
  // A word has 32 bits of a value below its state, which is 0 or 1.
  static constexpr int64_t kWordBytes = 8, kWordBits = 32, kCounterBytes = 256, kGroupParts = kWarp;

  static int64_t WordsOf(const PrefixScan& s) {
    int64_t words = 0;
    for (PrimitiveType type : s.types) words += std::max<int64_t>(1, 8 * PrimitiveTypeByteSize(type) / kWordBits);
    return words;
  }
  llvm::Value* WordAt(llvm::Value* number, int64_t word) {
    llvm::Value* at = b_.CreateAdd(b_.CreateMul(number, Int(WordsOf(s_))), Int(kCounterBytes / kWordBytes + word));
    return b_.CreateInBoundsGEP(b_.getInt64Ty(), k_.extra(0), at);
  }
  void StoreTotal(llvm::Value* number, const Elements& total) {
    int64_t word = 0;
    for (llvm::Value* part : codegen::Pack(total)) {
      const auto bits = static_cast<unsigned>(part->getType()->getPrimitiveSizeInBits());
      llvm::Value* whole = b_.CreateZExt(b_.CreateBitCast(part, b_.getIntNTy(bits)), b_.getInt64Ty());
      for (unsigned low = 0; low < bits; low += kWordBits) {
        llvm::Value* piece = b_.CreateAnd(b_.CreateLShr(whole, low), b_.getInt64(~uint32_t{0}));
        StoreWord(k_, b_.CreateOr(piece, b_.getInt64(uint64_t{1} << kWordBits)), WordAt(number, word++));
      }
    }
  }
  Elements AwaitTotal(llvm::Value* number, const Carried& like) {
    int64_t word = 0;
    Carried total;
    for (llvm::Value* part : like) {
      const auto bits = static_cast<unsigned>(part->getType()->getPrimitiveSizeInBits());
      llvm::Value* whole = b_.getInt64(0);
      for (unsigned low = 0; low < bits; low += kWordBits) {
        llvm::Value* loaded = AwaitWord(k_, b_.getInt64Ty(), WordAt(number, word++), [&](llvm::Value* at) {
          return b_.CreateICmpNE(b_.CreateLShr(at, kWordBits), Int(0));
        });
        whole = b_.CreateOr(whole, b_.CreateShl(b_.CreateAnd(loaded, b_.getInt64(~uint32_t{0})), low));
      }
      total.push_back(b_.CreateBitCast(b_.CreateTrunc(whole, b_.getIntNTy(bits)), part->getType()));
    }
    return codegen::Unpack(total, s_.types);
  }

  // Stores the total of part `tile` of a line, and that of the group which it ends, and returns the combination of the
  // initial values and all parts before it. A warp's.
  absl::StatusOr<Elements> LookBack(llvm::Value* line, llvm::Value* tile, llvm::Value* lane, int64_t parts,
                                    const Elements& total) {
    const Carried like = codegen::Pack(total);
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
    HILO_ASSIGN_OR_RETURN(const Elements earlier_parts, CombineTotals(first_in_group, in_group, lane, like));
    HILO_ASSIGN_OR_RETURN(const Elements of_group, Combine(earlier_parts, total));
    llvm::Value* ends_group = b_.CreateICmpEQ(in_group, Int(kGroupParts - 1));
    HILO_RETURN_IF_ERROR(k_.If("group", b_.CreateAnd(is_first_lane, ends_group), [&] {
      StoreTotal(b_.CreateAdd(first_group, group), of_group);
      return absl::OkStatus();
    }));
    HILO_ASSIGN_OR_RETURN(const Elements earlier_groups, CombineTotals(first_group, group, lane, like));
    HILO_ASSIGN_OR_RETURN(const Elements inits, Inits());
    HILO_ASSIGN_OR_RETURN(const Elements with_groups, Combine(inits, earlier_groups));
    Elements prefix = Select(b_.CreateICmpEQ(group, Int(0)), inits, with_groups);
    HILO_ASSIGN_OR_RETURN(const Elements with_parts, Combine(prefix, earlier_parts));
    return Select(b_.CreateICmpEQ(in_group, Int(0)), prefix, with_parts);
  }

  // Returns the combination of `count` totals from `first` on, if there are any. A warp's.
  absl::StatusOr<Elements> CombineTotals(llvm::Value* first, llvm::Value* count, llvm::Value* lane,
                                         const Carried& like) {
    const auto some = [&]() -> absl::StatusOr<Carried> {
      auto add = [&](llvm::Value* i, const Carried& sum) -> absl::StatusOr<Carried> {
        const Elements more = AwaitTotal(b_.CreateAdd(first, i), like);
        HILO_ASSIGN_OR_RETURN(const Elements combined, Combine(codegen::Unpack(sum, s_.types), more));
        return codegen::Pack(combined);
      };
      const Carried own = codegen::Pack(AwaitTotal(b_.CreateAdd(first, lane), like));
      return codegen::EmitLoop(k_.context(), "totals", b_.CreateAdd(lane, Int(kWarp)), count, kWarp, own, add);
    };
    const auto none = [&]() -> absl::StatusOr<Carried> {
      Carried zeros;
      for (llvm::Value* part : like) zeros.push_back(llvm::Constant::getNullValue(part->getType()));
      return zeros;
    };
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

  Elements LoadCellsAt(const Carried& cells, llvm::Value* at, const Carried& like) {
    Carried loaded;
    for (size_t i = 0; i < cells.size(); ++i) loaded.push_back(k_.LoadCell(cells[i], at, like[i]->getType()));
    return codegen::Unpack(loaded, s_.types);
  }
  void StoreCellsAt(const Carried& cells, llvm::Value* at, const Elements& values) {
    const Carried packed = codegen::Pack(values);
    for (size_t i = 0; i < packed.size(); ++i) k_.StoreCell(cells[i], at, packed[i]);
  }
  // The same of totals of parts of columns, in the kernel's arguments after the instruction's own.
  Carried TotalCells(size_t count) {
    Carried cells;
    for (size_t i = 0; i < count; ++i) cells.push_back(k_.extra(static_cast<int64_t>(i)));
    return cells;
  }
  Elements LoadCells(llvm::Value* at, const Elements& like) {
    const Carried packed = codegen::Pack(like);
    return LoadCellsAt(TotalCells(packed.size()), at, packed);
  }
  void StoreCells(llvm::Value* at, const Elements& values) {
    StoreCellsAt(TotalCells(codegen::Pack(values).size()), at, values);
  }

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  const PrefixScan& s_;
  const int64_t group_;  // adjacent elements in memory that a thread processes together
};

}  // namespace

absl::Status EmitPrefixScanLines(ProgramEmitter& program, const HloInstruction* instruction) {
  const std::optional<PrefixScan> s = PrefixScanOf(*instruction);
  HILO_RET_CHECK(s.has_value());
  const int64_t threads = instruction->kernel()->tile[1], parts = instruction->kernel()->parts;
  if (parts > 1) {
    HILO_ASSIGN_OR_RETURN(const KernelArgument shared,
                          EmitClearedScratch(program, instruction, ScanKernel::SharedBytes(*s, parts)));
    KernelEmitter k(&program, instruction, {shared});
    HILO_RETURN_IF_ERROR(ScanKernel(k, *s).LinesInParts(instruction->kernel()->tile[2]));
    return k.FinishAndLaunch(instruction, s->outer * parts, kBlockSize);
  }
  KernelEmitter k(&program, instruction);
  HILO_RETURN_IF_ERROR(ScanKernel(k, *s).Lines(threads));
  return k.FinishAndLaunch(instruction, CeilDiv(s->outer, std::max<int64_t>(1, kBlockSize / threads)), kBlockSize);
}

// One launch, or two: the totals of all parts but the last, then everything.
absl::Status EmitPrefixScanColumns(ProgramEmitter& program, const HloInstruction* instruction) {
  const std::optional<PrefixScan> scan = PrefixScanOf(*instruction);
  HILO_RET_CHECK(scan.has_value());
  const PrefixScan& s = *scan;
  const KernelConfig& config = *instruction->kernel();
  const int64_t part = config.tile.back(), parts = config.parts;
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
    HILO_RETURN_IF_ERROR(ScanKernel(k, s).Columns(part, mine, totals.empty() ? nullptr : totals.data(), only_totals));
    HILO_RETURN_IF_ERROR(
        k.FinishAndLaunch(s.instruction, CeilDiv(s.outer * mine * s.inner, kBlockSize * config.width), kBlockSize));
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
