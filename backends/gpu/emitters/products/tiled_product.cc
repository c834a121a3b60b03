#include "backends/gpu/emitters/products/tiled_product.h"

#include "backends/gpu/emitters/products/tile_multiply.h"
#include "backends/gpu/emitters/program_emitter.h"
#include "backends/llvm/elements/element_convert.h"
#include "backends/llvm/elements/predication.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "base/math.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::ElementValue;

// Results of a thread that combines partial sums: 16 bytes of these.
constexpr int64_t kCombined = 4;

// Several strips in registers at a time would leave fewer blocks to a multiprocessor.
void KeepRolled(llvm::Value* loop_index) {
  auto* phi = llvm::dyn_cast<llvm::PHINode>(loop_index);
  if (phi == nullptr) return;
  llvm::LLVMContext& context = phi->getContext();
  llvm::Metadata* disable = llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.loop.unroll.disable"));
  llvm::MDNode* loop = llvm::MDNode::getDistinct(context, {nullptr, disable});
  loop->replaceOperandWith(0, loop);
  for (llvm::BasicBlock* from : phi->blocks()) {
    llvm::Instruction* branch = from->getTerminator();
    if (phi->getIncomingValueForBlock(from) != phi->getIncomingValue(0))
      branch->setMetadata(llvm::LLVMContext::MD_loop, loop);
  }
}

// Returns the index of a partial sum.
llvm::Value* PartialCell(KernelEmitter& k, const TiledProduct& product, llvm::Value* part, llvm::Value* batch,
                         llvm::Value* m, llvm::Value* n) {
  llvm::IRBuilder<>& b = k.b();
  const auto in = [&](llvm::Value* outer, int64_t size, llvm::Value* inner) {
    return b.CreateAdd(b.CreateMul(outer, b.getInt64(static_cast<uint64_t>(size)), "", true, true), inner, "", true,
                       true);
  };
  return in(in(in(part, product.batch, batch), product.lhs.positions, m), product.rhs.positions, n);
}

class TileKernel {
 public:
  TileKernel(KernelEmitter& k, const TiledProduct& product, const ProductTile& tile, int64_t parts)
      : k_(k), b_(k.b()), product_(product), tile_(tile), parts_(parts) {
    multiplier_ = tile.by_warp_groups        ? MakeWarpGroupMultiplier(k, tile, product.lhs.type)
                  : tile.uses_tensor_cores() ? MakeTensorCoreMultiplier(k, tile, product.lhs.type)
                                             : MakeThreadMultiplier(k, tile, product.sum_type);
  }

  absl::Status Emit() {
    const int64_t tiles_m = product_.TilesOfRows(tile_), tiles_n = CeilDiv(product_.rhs.positions, tile_.columns);
    llvm::Value* block = k_.Block();
    const int64_t strips = CeilDiv(product_.depth, tile_.strip);
    if (parts_ > 1) {
      const int64_t tiles = product_.batch * tiles_m * tiles_n, of_part = CeilDiv(strips, parts_);
      part_ = b_.CreateUDiv(block, Int(tiles));
      block = b_.CreateURem(block, Int(tiles));
      first_strip_ = Times(part_, of_part);
      strips_ = codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::umin, Int(of_part),
                                             b_.CreateSub(Int(strips), first_strip_, "", true, true));
    } else {
      first_strip_ = Int(0);
      strips_ = Int(strips);
    }
    batch_ = b_.CreateUDiv(block, Int(tiles_m * tiles_n));
    llvm::Value* tile = b_.CreateURem(block, Int(tiles_m * tiles_n));
    first_m_ = Times(b_.CreateUDiv(tile, Int(tiles_n)), tile_.rows);
    first_n_ = Times(b_.CreateURem(tile, Int(tiles_n)), tile_.columns);
    if (product_.depth_range != nullptr) {
      HILO_ASSIGN_OR_RETURN(const TiledProduct::DepthRange range, product_.depth_range(batch_));
      depth_begin_ = range.begin;
      depth_end_ = range.end;
      llvm::Value* strips_of_range = b_.CreateUDiv(
          Plus(b_.CreateSub(range.end, range.begin, "", true, true), Int(tile_.strip - 1)), Int(tile_.strip));
      strips_ = codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::umax, strips_of_range, Int(1));
    }
    if (!product_.row_tiles.has_value()) return EmitTile();
    HILO_ASSIGN_OR_RETURN(const TiledProduct::RowTile rows,
                          product_.row_tiles->tile(b_.CreateUDiv(tile, Int(tiles_n))));
    batch_ = rows.batch;
    first_m_ = rows.first;
    return k_.If("tile", rows.exists, [&] { return EmitTile(); });
  }

 private:
  // What a thread has loaded of a strip of each operand.
  struct Strips {
    Carried lhs, rhs;
  };

  absl::Status EmitTile() {
    StripLoader lhs = LoaderOf(product_.lhs, tile_.rows, tile_.lhs_group, "lhs"),
                rhs = LoaderOf(product_.rhs, tile_.columns, tile_.rhs_group, "rhs");
    HILO_ASSIGN_OR_RETURN(const Carried sums,
                          tile_.copied_strips > 0 ? MultiplyCopied(lhs, rhs) : MultiplyLoaded(lhs, rhs));
    return StoreResults(sums);
  }

  // What threads have stored of strips is there for multiplications, in all of the block.
  void EndStores() {
    if (multiplier_->is_asynchronous()) k_.ProxyFence();
    k_.Barrier();
  }

  // Strips that come through registers: one is multiplied while the next one is loaded.
  absl::StatusOr<Carried> MultiplyLoaded(StripLoader& lhs, StripLoader& rhs) {
    HILO_ASSIGN_OR_RETURN(const Strips loaded, Load(lhs, rhs, DepthOf(Int(0))));
    Store(lhs, rhs, loaded, Int(0));
    EndStores();
    llvm::Value* number = nullptr;
    const auto multiply = [&](llvm::Value* parity, const Carried& sums) {
      return multiplier_->Multiply(lhs.StripOf(parity), rhs.StripOf(parity), sums);
    };
    auto next = [&](llvm::Value* strip, const Carried& sums) -> absl::StatusOr<Carried> {
      number = strip;
      HILO_ASSIGN_OR_RETURN(const Strips elements, Load(lhs, rhs, DepthOf(strip)));
      llvm::Value* parity = b_.CreateURem(strip, Int(2));
      HILO_ASSIGN_OR_RETURN(Carried more, multiply(b_.CreateXor(parity, Int(1)), sums));
      Store(lhs, rhs, elements, parity);
      more = multiplier_->Wait(more, 0);
      EndStores();
      return more;
    };
    HILO_ASSIGN_OR_RETURN(Carried sums,
                          codegen::EmitLoop(k_.context(), "strips", Int(1), strips_, 1, multiplier_->Zeros(), next));
    if (number != nullptr) KeepRolled(number);
    HILO_ASSIGN_OR_RETURN(sums, multiply(b_.CreateURem(b_.CreateSub(strips_, Int(1), "", true, true), Int(2)), sums));
    return multiplier_->Wait(sums, 0);
  }

  // Strips that asynchronous copies fill: all but one are under way while that one is multiplied. A group of copies
  // belongs to each strip, the ones beyond the last strip are empty. After the barrier all threads' copies of the strip
  // have landed, and all threads have multiplied the strip before, which the next copies replace. Where multiplication
  // is asynchronous, that of the strip before goes on, and the next copies replace the one before it.
  absl::StatusOr<Carried> MultiplyCopied(StripLoader& lhs, StripLoader& rhs) {
    const int64_t multiplied = multiplier_->is_asynchronous() ? 2 : 1, ahead = tile_.copied_strips - multiplied;
    const auto start = [&](llvm::Value* strip, llvm::Value* place) -> absl::Status {
      const auto copies = [&]() -> absl::Status {
        llvm::Value* depth = DepthOf(strip);
        HILO_RETURN_IF_ERROR(lhs.StartCopies(batch_, first_m_, depth, place));
        return rhs.StartCopies(batch_, first_n_, depth, place);
      };
      HILO_RETURN_IF_ERROR(k_.If("strip", b_.CreateICmpULT(strip, strips_), copies));
      k_.CommitCopies();
      return absl::OkStatus();
    };
    for (int64_t i = 0; i < ahead; ++i) HILO_RETURN_IF_ERROR(start(Int(i), Int(i)));
    llvm::Value* number = nullptr;
    const auto next_place = [&](llvm::Value* place) {
      llvm::Value* after = Plus(place, Int(1));
      return b_.CreateSelect(b_.CreateICmpEQ(after, Int(tile_.copied_strips)), Int(0), after);
    };
    // Carries the sums, and the places of the strip that is multiplied and of the one whose copies start.
    const auto next = [&](llvm::Value* strip, const Carried& carried) -> absl::StatusOr<Carried> {
      number = strip;
      llvm::Value *place = carried[carried.size() - 2], *free = carried.back();
      k_.WaitForCopies(ahead - 1);
      EndStores();
      Carried sums(carried.begin(), carried.end() - 2);
      const auto multiply = [&]() -> absl::Status {
        HILO_ASSIGN_OR_RETURN(sums, multiplier_->Multiply(lhs.StripOf(place), rhs.StripOf(place), sums));
        return absl::OkStatus();
      };
      const auto copy = [&] { return start(Plus(strip, Int(ahead)), free); };
      // What is asynchronous comes first.
      HILO_RETURN_IF_ERROR(multiplier_->is_asynchronous() ? multiply() : copy());
      HILO_RETURN_IF_ERROR(multiplier_->is_asynchronous() ? copy() : multiply());
      Carried more = multiplier_->Wait(sums, 1);
      more.push_back(next_place(place));
      more.push_back(next_place(free));
      return more;
    };
    Carried first = multiplier_->Zeros();
    first.push_back(Int(0));
    first.push_back(Int(ahead));
    HILO_ASSIGN_OR_RETURN(Carried last, codegen::EmitLoop(k_.context(), "strips", Int(0), strips_, 1, first, next));
    if (number != nullptr) KeepRolled(number);
    last.resize(last.size() - 2);
    return multiplier_->Wait(last, 0);
  }

  llvm::Value* Int(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }
  llvm::Value* Times(llvm::Value* value, int64_t factor) { return b_.CreateMul(value, Int(factor), "", true, true); }
  llvm::Value* Plus(llvm::Value* x, llvm::Value* y) { return b_.CreateAdd(x, y, "", true, true); }

  // Of strip `strip` of the part.
  llvm::Value* DepthOf(llvm::Value* strip) {
    llvm::Value* depth = Times(Plus(first_strip_, strip), tile_.strip);
    return depth_begin_ == nullptr ? depth : Plus(depth_begin_, depth);
  }

  StripLoader LoaderOf(const ProductSide& side, int64_t positions, int64_t group, absl::string_view name) {
    const bool is_complex = !tile_.uses_tensor_cores() && IsComplexType(product_.sum_type);
    return {k_,
            side,
            multiplier_->LayoutOf(side.type, positions, side.depth_is_minor),
            [this, &side](const ElementValue& element) { return multiplier_->ToCells(side.type, element); },
            {.threads = tile_.threads,
             .positions = positions,
             .strip = tile_.strip,
             .depth = product_.depth,
             .group = group,
             .strips = std::max<int64_t>(tile_.copied_strips, 2),
             .components = is_complex ? 2 : 1,
             .begins_anywhere = &side == &product_.lhs && product_.row_tiles.has_value(),
             .depth_end = depth_end_},
            name};
  }

  absl::StatusOr<Strips> Load(StripLoader& lhs, StripLoader& rhs, llvm::Value* depth) {
    Strips strips;
    HILO_ASSIGN_OR_RETURN(strips.lhs, lhs.Load(batch_, first_m_, depth));
    HILO_ASSIGN_OR_RETURN(strips.rhs, rhs.Load(batch_, first_n_, depth));
    return strips;
  }

  static void Store(StripLoader& lhs, StripLoader& rhs, const Strips& strips, llvm::Value* parity) {
    lhs.Store(strips.lhs, parity);
    rhs.Store(strips.rhs, parity);
  }

  absl::Status StoreResults(const Carried& sums) {
    const bool whole = (product_.row_tiles.has_value() || product_.lhs.positions % tile_.rows == 0) &&
                       product_.rhs.positions % tile_.columns == 0;
    return multiplier_->ForEachResult(
        sums, [&](llvm::Value* row, llvm::Value* column, absl::Span<const ElementValue> results) -> absl::Status {
          llvm::Value *m = Plus(first_m_, row), *n = Plus(first_n_, column);
          const auto store = [&](size_t first, size_t count) -> absl::Status {
            llvm::Value* at = Plus(n, Int(static_cast<int64_t>(first)));
            const auto body = [&]() -> absl::Status {
              if (part_ == nullptr) return product_.store(batch_, m, at, results.subspan(first, count));
              llvm::Value* cell = PartialCell(k_, product_, part_, batch_, m, at);
              for (size_t i = 0; i < count; ++i)
                k_.StoreCell(product_.partial_sums, Plus(cell, Int(static_cast<int64_t>(i))), results[first + i].re);
              return absl::OkStatus();
            };
            if (whole) return body();
            llvm::Value* inside = b_.CreateAnd(b_.CreateICmpULT(m, Int(product_.lhs.positions)),
                                               b_.CreateICmpULT(at, Int(product_.rhs.positions)));
            return k_.If("store", inside, body);
          };
          if (product_.rhs.positions % static_cast<int64_t>(results.size()) == 0) return store(0, results.size());
          for (size_t i = 0; i < results.size(); ++i) HILO_RETURN_IF_ERROR(store(i, 1));
          return absl::OkStatus();
        });
  }

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  const TiledProduct& product_;
  const ProductTile tile_;
  const int64_t parts_;
  std::unique_ptr<TileMultiplier> multiplier_;
  llvm::Value *batch_ = nullptr, *first_m_ = nullptr, *first_n_ = nullptr;    // of the tile
  llvm::Value *part_ = nullptr, *first_strip_ = nullptr, *strips_ = nullptr;  // null part: there is one
  llvm::Value *depth_begin_ = nullptr, *depth_end_ = nullptr;                 // of the batch; null: all of the depth
};

}  // namespace

int64_t TiledProduct::TilesOfRows(const ProductTile& tile) const {
  return row_tiles.has_value() ? row_tiles->most : CeilDiv(lhs.positions, tile.rows);
}

absl::Status TiledProduct::EmitAndLaunch(const HloInstruction* instruction, KernelEmitter& k) const {
  const ProductTile tile = ProductTile::Of(*instruction->kernel());
  const int64_t parts = instruction->kernel()->parts;
  HILO_RET_CHECK((parts > 1) == (partial_sums != nullptr));
  HILO_RETURN_IF_ERROR(TileKernel(k, *this, tile, parts).Emit());
  const int64_t blocks = parts * batch * TilesOfRows(tile) * CeilDiv(rhs.positions, tile.columns);
  return k.FinishAndLaunch(instruction, blocks, static_cast<int>(tile.threads));
}

absl::Status TiledProduct::EmitCombination(const HloInstruction* instruction, KernelEmitter& k) const {
  llvm::IRBuilder<>& b = k.b();
  const int64_t parts = instruction->kernel()->parts;
  const int64_t group = rhs.positions % kCombined == 0 ? kCombined : 1;
  const int64_t groups = batch * lhs.positions * rhs.positions / group;
  llvm::Type* type = codegen::RegisterType(b.getContext(), sum_type);
  llvm::Value* number = k.GlobalThread(kBlockSize);
  const auto body = [&]() -> absl::Status {
    const auto constant = [&](int64_t value) { return b.getInt64(static_cast<uint64_t>(value)); };
    llvm::Value* first = b.CreateMul(number, constant(group), "", true, true);
    const auto add = [&](llvm::Value* part, const Carried& sums) -> absl::StatusOr<Carried> {
      llvm::Value* cell =
          b.CreateAdd(b.CreateMul(part, constant(groups * group), "", true, true), first, "", true, true);
      Carried more, cells;
      for (int64_t i = 0; i < group; ++i)
        cells.push_back(k.LoadCell(partial_sums, b.CreateAdd(cell, constant(i), "", true, true), type));
      for (int64_t i = 0; i < group; ++i) {
        HILO_ASSIGN_OR_RETURN(const ElementValue sum,
                              codegen::EmitBinaryOp(k.context(), HloOpcode::kAdd, sum_type, {sums[i]}, {cells[i]}));
        more.push_back(sum.re);
      }
      return more;
    };
    const Carried zeros(group, llvm::Constant::getNullValue(type));
    HILO_ASSIGN_OR_RETURN(const Carried sums,
                          codegen::EmitLoop(k.context(), "parts", constant(0), constant(parts), 1, zeros, add));
    llvm::Value* row = b.CreateUDiv(first, constant(rhs.positions));
    Elements results;
    for (llvm::Value* sum : sums) results.push_back({sum});
    return store(b.CreateUDiv(row, constant(lhs.positions)), b.CreateURem(row, constant(lhs.positions)),
                 b.CreateURem(first, constant(rhs.positions)), results);
  };
  HILO_RETURN_IF_ERROR(k.If("results", b.CreateICmpULT(number, b.getInt64(static_cast<uint64_t>(groups))), body));
  return k.FinishAndLaunch(instruction, CeilDiv(groups, kBlockSize), kBlockSize);
}

}  // namespace hilo::gpu
