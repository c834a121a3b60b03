#include "backends/gpu/emitters/attention/strip_range.h"

#include <limits>
#include <utility>

#include "backends/llvm/elements/element_convert.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

// A NaN stays.
llvm::Value* Least(llvm::IRBuilder<>& b, llvm::Value* x, llvm::Value* y) {
  return codegen::EmitBinaryIntrinsic(b, llvm::Intrinsic::minimum, x, y);
}

class StripRangeEmitter {
 public:
  StripRangeEmitter(KernelEmitter& k, const GridBlock& block, const GridMask& mask)
      : k_(k), b_(k.b()), block_(block), grid_(block.grid), mask_(mask), others_(grid_.SizeOf(OtherSide(block.own))) {}

  absl::StatusOr<StripRange> Emit() {
    const int64_t inner = grid_.SizeOf(mask_.rows) / grid_.axes[mask_.row_axis].size;
    if (block_.own == mask_.rows) {
      // The keys that the block's last row sees.
      llvm::Value* last = Binary(llvm::Intrinsic::umin, Plus(block_.first_line, block_.tile.lines - 1),
                                 Int(grid_.SizeOf(mask_.rows) - 1));
      llvm::Value* keys = VisibleEnd(k_, mask_.mask, last, inner, block_.tile.strip, others_);
      llvm::Value* least = Infinity();
      for (size_t line = 0; line < block_.at.size(); ++line) {
        block_.begin_line(static_cast<int64_t>(line));
        HILO_ASSIGN_OR_RETURN(llvm::Value * maximum, MaximumAt(block_.at[line]));
        least = Least(least, maximum);
      }
      HILO_ASSIGN_OR_RETURN(llvm::Value * hidden, AreHidden(least));
      if (!mask_.mask.first.has_value()) return StripRange{Int(0), b_.CreateSelect(hidden, keys, Int(others_))};
      llvm::Value* begin = VisibleBegin(k_, mask_.mask, block_.first_line, inner, block_.tile.strip, keys);
      return StripRange{b_.CreateSelect(hidden, begin, Int(0)), b_.CreateSelect(hidden, keys, Int(others_))};
    }
    // The rows before the first one that sees the block's first key, and those from `end` on, whose window begins after
    // its last key.
    llvm::Value* rows = Binary(llvm::Intrinsic::smax, Plus(block_.first_line, -mask_.mask.offset), Int(0));
    rows = Binary(llvm::Intrinsic::smin, b_.CreateMul(rows, Int(inner), "", true, true), Int(others_));
    rows = b_.CreateMul(b_.CreateUDiv(rows, Int(block_.tile.strip)), Int(block_.tile.strip), "", true, true);
    const auto row = [&](llvm::Value* number, const Carried& least) -> absl::StatusOr<Carried> {
      std::vector<LaneIndex> at = block_.at[0];
      std::vector<int64_t> axes, sizes;
      for (size_t i = 0; i < grid_.axes.size(); ++i) {
        if (grid_.axes[i].side != mask_.rows) continue;
        axes.push_back(static_cast<int64_t>(i));
        sizes.push_back(grid_.axes[i].size);
      }
      const std::vector<LaneIndex> indices = k_.Delinearize(number, sizes);
      for (size_t i = 0; i < axes.size(); ++i) at[axes[i]] = indices[i];
      HILO_ASSIGN_OR_RETURN(llvm::Value * maximum, MaximumAt(at));
      return Carried{Least(least[0], maximum)};
    };
    const auto least_of = [&](llvm::Value* begin, llvm::Value* end, Carried least) {
      return codegen::EmitLoop(k_.context(), "hidden", b_.CreateAdd(begin, k_.Thread(), "", true, true), end,
                               block_.tile.threads, std::move(least), row);
    };
    HILO_ASSIGN_OR_RETURN(Carried least, least_of(Int(0), rows, {Infinity()}));
    llvm::Value* end = Int(others_);
    if (mask_.mask.first.has_value()) {
      end = Plus(block_.first_line, block_.tile.lines - *mask_.mask.first);
      end = Binary(llvm::Intrinsic::smax, end, Int(0));
      end = Binary(llvm::Intrinsic::smin, b_.CreateMul(end, Int(inner), "", true, true), Int(others_));
      end = b_.CreateUDiv(Plus(end, block_.tile.strip - 1), Int(block_.tile.strip));
      end = Binary(llvm::Intrinsic::umin, b_.CreateMul(end, Int(block_.tile.strip), "", true, true), Int(others_));
      end = Binary(llvm::Intrinsic::umax, end, rows);
      HILO_ASSIGN_OR_RETURN(least, least_of(end, Int(others_), std::move(least)));
    }
    HILO_ASSIGN_OR_RETURN(llvm::Value * hidden, AreHidden(least[0]));
    return StripRange{b_.CreateSelect(hidden, rows, Int(0)), b_.CreateSelect(hidden, end, Int(others_))};
  }

 private:
  llvm::Value* Int(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }
  llvm::Value* Plus(llvm::Value* x, int64_t y) { return b_.CreateAdd(x, Int(y), "", false, true); }
  llvm::Value* Infinity() { return llvm::ConstantFP::getInfinity(b_.getFloatTy()); }
  llvm::Value* Binary(llvm::Intrinsic::ID id, llvm::Value* x, llvm::Value* y) {
    return codegen::EmitBinaryIntrinsic(b_, id, x, y);
  }
  llvm::Value* Least(llvm::Value* x, llvm::Value* y) { return gpu::Least(b_, x, y); }
  absl::StatusOr<llvm::Value*> AreHidden(llvm::Value* least) {
    k_.Barrier();  // after the last pass
    return gpu::AreHidden(k_, mask_.mask, least, block_.scratch, block_.tile.threads);
  }
  absl::StatusOr<llvm::Value*> MaximumAt(const std::vector<LaneIndex>& at) {
    std::vector<LaneIndex> index;
    for (int64_t axis : mask_.maximum_axes) index.push_back(axis < 0 ? LaneIndex() : at[axis]);
    HILO_ASSIGN_OR_RETURN(const ElementValue maximum, k_.elements().Generate(mask_.maximum, Index(std::move(index))));
    return codegen::EmitConvert(k_.context(), mask_.maximum->shape().element_type(), F32, maximum).re;
  }

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  const GridBlock& block_;
  const ScoreGrid& grid_;
  const GridMask& mask_;
  const int64_t others_;
};

}  // namespace

absl::StatusOr<StripRange> EmitStripRange(KernelEmitter& k, const GridBlock& block, const GridMask& mask) {
  return StripRangeEmitter(k, block, mask).Emit();
}

llvm::Value* VisibleEnd(KernelEmitter& k, const CausalMask& mask, llvm::Value* last_row, int64_t inner, int64_t strip,
                        int64_t keys) {
  llvm::IRBuilder<>& b = k.b();
  const auto constant = [&](int64_t value) { return b.getInt64(static_cast<uint64_t>(value)); };
  llvm::Value* end = b.CreateAdd(b.CreateUDiv(last_row, constant(inner)), constant(mask.offset + 1), "", false, true);
  end = codegen::EmitBinaryIntrinsic(b, llvm::Intrinsic::smax, end, constant(0));
  end = b.CreateUDiv(b.CreateAdd(end, constant(strip - 1), "", true, true), constant(strip));
  end = b.CreateMul(end, constant(strip), "", true, true);
  return codegen::EmitBinaryIntrinsic(b, llvm::Intrinsic::smin, end, constant(keys));
}

llvm::Value* VisibleBegin(KernelEmitter& k, const CausalMask& mask, llvm::Value* first_row, int64_t inner,
                          int64_t strip, llvm::Value* end) {
  llvm::IRBuilder<>& b = k.b();
  const auto constant = [&](int64_t value) { return b.getInt64(static_cast<uint64_t>(value)); };
  llvm::Value* begin = b.CreateAdd(b.CreateUDiv(first_row, constant(inner)), constant(*mask.first), "", false, true);
  begin = codegen::EmitBinaryIntrinsic(b, llvm::Intrinsic::smax, begin, constant(0));
  begin = b.CreateMul(b.CreateUDiv(begin, constant(strip)), constant(strip), "", true, true);
  return codegen::EmitBinaryIntrinsic(b, llvm::Intrinsic::umin, begin, end);
}

absl::StatusOr<llvm::Value*> AreHidden(KernelEmitter& k, const CausalMask& mask, llvm::Value* least,
                                       llvm::Value* scratch, int64_t threads) {
  llvm::IRBuilder<>& b = k.b();
  const auto constant = [&](int64_t value) { return b.getInt64(static_cast<uint64_t>(value)); };
  for (int lanes = 1; lanes < kWarp; lanes *= 2) least = Least(b, least, k.ShuffleAcross(least, lanes));
  llvm::Value* is_first = b.CreateICmpEQ(b.CreateURem(k.Thread(), constant(kWarp)), constant(0));
  HILO_RETURN_IF_ERROR(k.If("lane", is_first, [&]() -> absl::Status {
    k.StoreCell(scratch, b.CreateUDiv(k.Thread(), constant(kWarp)), least);
    return absl::OkStatus();
  }));
  k.Barrier();
  for (int64_t i = 0; i < threads / kWarp; ++i)
    least = Least(b, least, k.LoadCell(scratch, constant(i), b.getFloatTy()));
  k.Barrier();
  return b.CreateFCmpOGT(least, llvm::ConstantFP::get(b.getFloatTy(), mask.HiddenAbove()));
}

}  // namespace hilo::gpu
