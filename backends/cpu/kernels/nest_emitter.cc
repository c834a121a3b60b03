#include "backends/cpu/kernels/nest_emitter.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/numeric/bits.h"
#include "backends/cpu/functions/program_emitter.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo::cpu {
namespace {

using codegen::Carried;
using codegen::Index;
using codegen::LaneIndex;
using codegen::LoopNest;
using codegen::NestDim;
using codegen::Position;

// Vectors of a nest of which some may overlap: a load of fewer, right after the stores, waits for both of them. A scan
// with products of 20 numbers takes 33.0 us rather than 31.1 if its vectors of 16 overlap.
constexpr int64_t kMinOverlappedVectors = 3;

// Indices [from, to) of a dimension.
struct Range {
  llvm::Value *from, *to;
  int64_t most;  // an upper bound of to - from
};

absl::StatusOr<Carried> NoValues() { return Carried(); }

class NestEmitter {
 public:
  NestEmitter(FunctionEmitter& f, const LoopNest& nest,
              absl::FunctionRef<absl::Status(absl::Span<const Position>)> body)
      : f_(f), b_(f.b()), nest_(nest), body_(body), ranges_(nest.size()) {}

  absl::Status Emit(llvm::Value* begin, llvm::Value* end) {
    std::vector<int64_t> parts;
    for (const NestDim& dim : nest_) parts.push_back(dim.parts());
    for (size_t d = 0; d < nest_.size(); ++d) {
      ranges_[d] = {Int(0), Int(nest_[d].size()), nest_[d].size()};
      size_ *= nest_[d].size();
    }
    const bool first_only = std::all_of(parts.begin() + 1, parts.end(), [](int64_t count) { return count == 1; });
    if (first_only && nest_[0].cuts.empty()) {
      // The parts are adjacent: one loop.
      const NestDim& dim = nest_[0];
      if (parts[0] > 1) ranges_[0] = {Times(begin, dim.part), AtMost(dim, Times(end, dim.part)), dim.size()};
      return Walk(0, {Position()});
    }
    return ForEach(f_, "parts", begin, end, [&](llvm::Value* unit) -> absl::Status {
      const std::vector<LaneIndex> number = f_.Delinearize(unit, parts);
      for (size_t d = 0; d < nest_.size(); ++d) {
        const NestDim& dim = nest_[d];
        if (parts[d] == 1) continue;
        llvm::Value* from = Times(number[d].Base(f_.context()), dim.part);
        ranges_[d] = {from, AtMost(dim, b_.CreateNSWAdd(from, Int(dim.part))), dim.part};
      }
      return Walk(0, {Position()});
    });
  }

 private:
  llvm::Value* Int(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }

  llvm::Value* Times(llvm::Value* value, int64_t factor) {
    return factor == 1 ? value : b_.CreateNSWMul(value, Int(factor));
  }
  // Returns the end of a part, which may be a short one.
  llvm::Value* AtMost(const NestDim& dim, llvm::Value* end) {
    return dim.size() % dim.part == 0 ? end
                                      : codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::smin, end, Int(dim.size()));
  }

  // Returns the index of a dimension whose lane 0 is at `base` + `offset`, of which `base` is a multiple of `multiple`.
  Index IndexAt(const NestDim& dim, llvm::Value* base, int64_t multiple, int64_t offset = 0) {
    const LaneIndex first = LaneIndex::Strided(base, dim.lanes > 1 ? 1 : 0, multiple, dim.size());
    return Index::FromLinear(first.AddConstant(offset).WithRange({0, dim.size() - 1}), dim.sizes);
  }

  // Walks dimensions [d, ...) for all of `outer`, the positions in the dimensions before.
  absl::Status Walk(size_t d, const std::vector<Position>& outer) {
    if (d == nest_.size()) return body_(outer);
    const NestDim& dim = nest_[d];
    if (dim.lanes == 1 && dim.unroll >= dim.size() && dim.part >= dim.size()) return Unrolled(d, outer);
    if (dim.block > 0) return Blocks(d, outer);
    if (ranges_[d].most == 1) return Next(d, outer, {IndexAt(dim, ranges_[d].from, 1)});
    if (dim.cuts.empty()) return EndsFull(dim) ? Full(d, outer) : Aligned(d, outer);
    for (size_t i = 0; i + 1 < dim.cuts.size(); ++i)
      HILO_RETURN_IF_ERROR(Segment(d, outer, dim.cuts[i], dim.cuts[i + 1]));
    return absl::OkStatus();
  }

  absl::Status Next(size_t d, const std::vector<Position>& outer, absl::Span<const Index> here) {
    std::vector<Position> positions;
    for (const Position& position : outer) {
      for (const Index& index : here) {
        positions.push_back(position);
        positions.back().push_back(index);
      }
    }
    return Walk(d + 1, positions);
  }

  absl::Status Unrolled(size_t d, const std::vector<Position>& outer) {
    const NestDim& dim = nest_[d];
    std::vector<Index> here;
    for (int64_t i = 0; i < dim.size(); ++i) here.push_back(Index::FromLinear(LaneIndex::Constant(i), dim.sizes));
    return Next(d, outer, here);
  }

  // Returns true if every iteration is as many whole vectors, of which the last begin early enough. What is computed
  // twice must be little, and must belong to one part: parts may run at the same time.
  bool EndsFull(const NestDim& dim) const {
    const int64_t size = dim.size();
    if (!dim.repeats || size < dim.lanes || IsShort(dim)) return false;
    const int64_t group = GroupOf(dim), computed = CeilDiv(size, group) * (group / dim.lanes);
    return size % group != 0 && codegen::RepeatsFew(computed, CeilDiv(size, dim.lanes)) &&
           (dim.part >= size || size % dim.part == 0 || size % dim.part >= group);
  }

  // Returns true if the nest has so few vectors that none should overlap.
  bool IsShort(const NestDim& dim) const { return size_ < kMinOverlappedVectors * dim.lanes; }

  // Returns the indices of an iteration: those of the unrolled vectors, or of all vectors if they are fewer.
  static int64_t GroupOf(const NestDim& dim) {
    return std::min(dim.unroll, CeilDiv(dim.size(), dim.lanes)) * dim.lanes;
  }

  // Returns a constant that divides the first index of an iteration, which is a multiple of `group` after the first
  // index of a part.
  static int64_t MultipleOf(const NestDim& dim, int64_t group) {
    return dim.parts() == 1 ? group : std::gcd(dim.part, group);
  }

  // A range like that of Aligned(), in iterations that are all the same code.
  absl::Status Full(size_t d, const std::vector<Position>& outer) {
    const NestDim& dim = nest_[d];
    const int64_t size = dim.size(), group = GroupOf(dim), multiple = std::gcd(size, MultipleOf(dim, group));
    codegen::RegionScope region(f_.context());
    if (dim.lanes > 1) f_.context().lanes = {.width = static_cast<int>(dim.lanes)};
    return ForEach(
        f_, "nest", ranges_[d].from, ranges_[d].to,
        [&](llvm::Value* i) {
          if (size > group) i = codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::smin, i, Int(size - group));
          std::vector<Index> here;
          for (int64_t copy = 0; copy < group; copy += dim.lanes)
            here.push_back(IndexAt(dim, i, multiple, std::min(copy, size - dim.lanes)));
          return Next(d, outer, here);
        },
        group, CeilDiv(ranges_[d].most, group));
  }

  // A range that begins at a multiple of the unrolled vectors, and ends at one or at the dimension's end.
  absl::Status Aligned(size_t d, const std::vector<Position>& outer) {
    const NestDim& dim = nest_[d];
    const Range range = ranges_[d];
    const int64_t size = dim.size(), unroll = std::clamp<int64_t>(size / dim.lanes, 1, dim.unroll);
    const int64_t group = unroll * dim.lanes;
    const int64_t grouped = size / group * group, whole = size / dim.lanes * dim.lanes;
    auto groups = [&](llvm::Value* from, llvm::Value* to, int64_t vectors) -> absl::Status {
      const int64_t step = vectors * dim.lanes, multiple = MultipleOf(dim, step);
      codegen::RegionScope region(f_.context());
      if (dim.lanes > 1) f_.context().lanes = {.width = static_cast<int>(dim.lanes)};
      return ForEach(
          f_, "nest", from, to,
          [&](llvm::Value* i) {
            std::vector<Index> here;
            for (int64_t first = 0; first < step; first += dim.lanes) here.push_back(IndexAt(dim, i, multiple, first));
            return Next(d, outer, here);
          },
          step, range.most / step);
    };
    auto rest = [&]() -> absl::StatusOr<Carried> {
      if (grouped < whole) HILO_RETURN_IF_ERROR(groups(Int(grouped), Int(whole), 1));
      if (whole < size) {
        codegen::RegionScope region(f_.context());
        HILO_RETURN_IF_ERROR(Masked(d, outer, Int(whole), FirstLanes(size - whole, dim.lanes)));
      }
      return Carried();
    };
    llvm::Value* is_last = b_.CreateICmpEQ(range.to, Int(size));
    llvm::Value* to = range.to;
    if (grouped < size) to = codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::smin, to, Int(grouped));
    if (grouped > 0) HILO_RETURN_IF_ERROR(groups(range.from, to, unroll));
    if (grouped == size) return absl::OkStatus();
    if (llvm::isa<llvm::Constant>(is_last)) return rest().status();
    return codegen::EmitBranches(f_.context(), "rest", is_last, rest, NoValues).status();
  }

  // A range that begins at a multiple of the block, and ends at one or at the dimension's end. Where a vector begins in
  // its block is known at compile time.
  absl::Status Blocks(size_t d, const std::vector<Position>& outer) {
    const NestDim& dim = nest_[d];
    const int64_t size = dim.size(), whole = size / dim.block * dim.block;
    // The first `count` elements of the block at `start`.
    auto block = [&](const LaneIndex& start, int64_t count) -> absl::Status {
      for (int64_t i = 0; i < count; i += dim.lanes) {
        codegen::RegionScope region(f_.context());
        f_.context().lanes = {.width = static_cast<int>(dim.lanes)};
        if (count - i < dim.lanes) f_.context().lanes.mask = FirstLanes(count - i, dim.lanes);
        const LaneIndex here = start.AddConstant(i).WithRange({0, size - 1});
        HILO_RETURN_IF_ERROR(Next(d, outer, {Index::FromLinear(here, dim.sizes)}));
      }
      return absl::OkStatus();
    };
    const Range range = ranges_[d];
    auto blocks = [&](llvm::Value* to, int64_t most, int64_t multiple, bool ends_early) {
      return ForEach(
          f_, "blocks", range.from, to,
          [&](llvm::Value* first) {
            if (ends_early)
              first = codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::smin, first, Int(size - dim.block));
            return block(LaneIndex::Strided(first, 1, multiple), dim.block);
          },
          dim.block, most);
    };
    // The last block begins so early that it is whole: all have the same code, without masks.
    if (whole < size && whole > 0 && dim.repeats && (dim.part >= size || size % dim.part >= dim.block))
      return blocks(range.to, CeilDiv(range.most, dim.block), std::gcd(dim.block, size), /*ends_early=*/true);
    llvm::Value* to = codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::smin, range.to, Int(whole));
    HILO_RETURN_IF_ERROR(blocks(to, range.most / dim.block, dim.block, /*ends_early=*/false));
    if (whole == size) return absl::OkStatus();
    auto rest = [&]() -> absl::StatusOr<Carried> {
      HILO_RETURN_IF_ERROR(block(LaneIndex::Strided(Int(0), 1).AddConstant(whole), size - whole));
      return Carried();
    };
    llvm::Value* is_last = b_.CreateICmpEQ(range.to, Int(size));
    if (llvm::isa<llvm::Constant>(is_last)) return rest().status();
    return codegen::EmitBranches(f_.context(), "rest", is_last, rest, NoValues).status();
  }

  // The segment [low, high), by single vectors without masks: a short one by shorter vectors. The last one overlaps the
  // one before.
  absl::Status WholeSegment(size_t d, const std::vector<Position>& outer, int64_t low, int64_t high) {
    const auto most = static_cast<int64_t>(absl::bit_floor(static_cast<uint64_t>(high - low)));
    const int64_t lanes = std::min(nest_[d].lanes, most), whole = high - (high - low) % lanes;
    codegen::RegionScope region(f_.context());
    f_.context().lanes = {.width = static_cast<int>(lanes)};
    // Counted from the segment's first index, so that the position of a vector in a pattern is known.
    const auto at = [&](const LaneIndex& from_low) {
      return Next(d, outer, {Index({from_low.AddConstant(low).WithRange({low, high - 1})})});
    };
    HILO_RETURN_IF_ERROR(ForEach(
        f_, "segment", Int(0), Int(whole - low), [&](llvm::Value* i) { return at(LaneIndex::Strided(i, 1, lanes)); },
        lanes, (whole - low) / lanes));
    return whole == high ? absl::OkStatus() : at(LaneIndex::Strided(Int(0), 1).AddConstant(high - lanes - low));
  }

  // The part of the range in [low, high), by single vectors.
  absl::Status Segment(size_t d, const std::vector<Position>& outer, int64_t low, int64_t high) {
    const NestDim& dim = nest_[d];
    if (dim.repeats && dim.lanes > 1 && dim.part >= dim.size() && !IsShort(dim))
      return WholeSegment(d, outer, low, high);
    llvm::Value* from = codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::smax, ranges_[d].from, Int(low));
    llvm::Value* to = codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::smin, ranges_[d].to, Int(high));
    to = codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::smax, from, to);
    const int64_t most = std::min(high - low, ranges_[d].most);
    codegen::RegionScope region(f_.context());
    auto at = [&](llvm::Value* i) {
      return Next(d, outer, {Index({LaneIndex::Strided(i, 1).WithRange({low, high - 1})})});
    };
    llvm::Value* whole = b_.CreateNSWAdd(
        from, b_.CreateNSWMul(b_.CreateSDiv(b_.CreateNSWSub(to, from), Int(dim.lanes)), Int(dim.lanes)));
    {
      codegen::RegionScope vectors(f_.context());
      f_.context().lanes = {.width = static_cast<int>(dim.lanes)};
      HILO_RETURN_IF_ERROR(ForEach(f_, "part", from, whole, at, dim.lanes, most / dim.lanes));
    }
    if (dim.lanes == 1) return absl::OkStatus();
    auto tail = [&]() -> absl::StatusOr<Carried> {
      std::vector<llvm::Constant*> ramp;
      for (int64_t lane = 0; lane < dim.lanes; ++lane) ramp.push_back(b_.getInt64(static_cast<uint64_t>(lane)));
      llvm::Value* left = b_.CreateVectorSplat(static_cast<unsigned>(dim.lanes), b_.CreateNSWSub(to, whole));
      f_.context().lanes = {.width = static_cast<int>(dim.lanes),
                            .mask = b_.CreateICmpSLT(llvm::ConstantVector::get(ramp), left)};
      HILO_RETURN_IF_ERROR(at(whole));
      return Carried();
    };
    return codegen::EmitBranches(f_.context(), "tail", b_.CreateICmpSLT(whole, to), tail, NoValues).status();
  }

  absl::Status Masked(size_t d, const std::vector<Position>& outer, llvm::Value* base, llvm::Value* mask) {
    const NestDim& dim = nest_[d];
    f_.context().lanes = {.width = static_cast<int>(dim.lanes), .mask = mask};
    return Next(d, outer, {IndexAt(dim, base, dim.lanes)});
  }

  // A mask of the first `count` lanes.
  llvm::Value* FirstLanes(int64_t count, int64_t width) {
    std::vector<llvm::Constant*> active;
    for (int64_t lane = 0; lane < width; ++lane) active.push_back(b_.getInt1(lane < count));
    return llvm::ConstantVector::get(active);
  }

  FunctionEmitter& f_;
  llvm::IRBuilder<>& b_;
  const LoopNest& nest_;
  absl::FunctionRef<absl::Status(absl::Span<const Position>)> body_;
  std::vector<Range> ranges_;  // of the part being emitted, by dimension
  int64_t size_ = 1;           // of the nest
};

}  // namespace

bool MayRepeat(FunctionEmitter& f, const HloInstruction& instruction) {
  const BufferAssignment& assignment = f.program().assignment();
  for (int64_t result = 0, results = LeafCount(instruction.shape()); result < results; ++result) {
    for (const HloInstruction* operand : instruction.operands()) {
      for (int64_t leaf = 0, leaves = LeafCount(operand->shape()); leaf < leaves; ++leaf) {
        if (assignment.slice(operand, leaf).SameMemory(assignment.slice(&instruction, result))) return false;
      }
    }
  }
  return true;
}

absl::Status EmitNest(FunctionEmitter& f, const KernelParts& kernel, const LoopNest& nest,
                      absl::FunctionRef<absl::Status(absl::Span<const Position>)> body) {
  HILO_RET_CHECK(codegen::PartsOf(nest) == kernel.config.parts) << "a nest of another number of parts";
  HILO_RETURN_IF_ERROR(f.LoadScalarOperands(kernel.instruction));
  return NestEmitter(f, nest, body).Emit(kernel.begin, kernel.end);
}

}  // namespace hilo::cpu
