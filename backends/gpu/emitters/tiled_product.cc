#include "backends/gpu/emitters/tiled_product.h"

#include <algorithm>

#include "backends/gpu/emitters/program_emitter.h"
#include "backends/gpu/emitters/tile_multiply.h"
#include "backends/llvm/elements/predication.h"
#include "base/math.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::ElementValue;

constexpr int64_t kMaxStoreBytes = 16;

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

class TileKernel {
 public:
  TileKernel(KernelEmitter& k, const TiledProduct& product, const ProductTile& tile)
      : k_(k), b_(k.b()), product_(product), tile_(tile) {
    multiplier_ = tile.uses_tensor_cores() ? MakeTensorCoreMultiplier(k, tile, product.lhs.type)
                                           : MakeThreadMultiplier(k, tile, product.sum_type);
  }

  absl::Status Emit() {
    const int64_t tiles_m = CeilDiv(product_.lhs.positions, tile_.rows),
                  tiles_n = CeilDiv(product_.rhs.positions, tile_.columns);
    thread_ = k_.Thread();
    llvm::Value* block = k_.Block();
    batch_ = b_.CreateUDiv(block, Int(tiles_m * tiles_n));
    llvm::Value* tile = b_.CreateURem(block, Int(tiles_m * tiles_n));
    lhs_ = MakeOperand(product_.lhs, tile_.rows, tile_.lhs_group, Times(b_.CreateUDiv(tile, Int(tiles_n)), tile_.rows),
                       "lhs");
    rhs_ = MakeOperand(product_.rhs, tile_.columns, tile_.rhs_group,
                       Times(b_.CreateURem(tile, Int(tiles_n)), tile_.columns), "rhs");
    HILO_ASSIGN_OR_RETURN(Carried loaded, Load(Int(0)));
    Store(loaded, Int(0));
    k_.Barrier();
    const int64_t strips = CeilDiv(product_.depth, tile_.strip);
    llvm::Value* number = nullptr;
    auto next = [&](llvm::Value* strip, const Carried& sums) -> absl::StatusOr<Carried> {
      number = strip;
      HILO_ASSIGN_OR_RETURN(const Carried elements, Load(Times(strip, tile_.strip)));
      llvm::Value* parity = b_.CreateURem(strip, Int(2));
      HILO_ASSIGN_OR_RETURN(Carried more, Multiply(b_.CreateXor(parity, Int(1)), sums));
      Store(elements, parity);
      k_.Barrier();
      return more;
    };
    HILO_ASSIGN_OR_RETURN(
        Carried sums, codegen::EmitLoop(k_.context(), "strips", Int(1), Int(strips), 1, multiplier_->Zeros(), next));
    if (number != nullptr) KeepRolled(number);
    HILO_ASSIGN_OR_RETURN(sums, Multiply(Int((strips - 1) % 2), sums));
    return StoreResults(sums);
  }

 private:
  struct Operand {
    const ProductSide* side;
    int64_t positions, group;  // of the tile; adjacent elements that a thread loads together
    llvm::Value* first;        // position of the tile
    StripLayout layout;
    std::vector<llvm::Value*> cells;  // of two strips
    int64_t components() const { return static_cast<int64_t>(cells.size()); }
    int64_t strip_cells(int64_t strip) const { return layout.pitch * (layout.lines_are_positions ? positions : strip); }
  };
  // A group that the thread loads: where it is in the strip.
  struct Group {
    llvm::Value *position, *depth;
    llvm::Value* exists;  // null: always
  };

  llvm::Value* Int(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }
  llvm::Value* Times(llvm::Value* value, int64_t factor) { return b_.CreateMul(value, Int(factor), "", true, true); }
  llvm::Value* Plus(llvm::Value* x, llvm::Value* y) { return b_.CreateAdd(x, y, "", true, true); }

  Operand MakeOperand(const ProductSide& side, int64_t positions, int64_t group, llvm::Value* first,
                      absl::string_view name) {
    Operand operand{.side = &side,
                    .positions = positions,
                    .group = group,
                    .first = first,
                    .layout = multiplier_->LayoutOf(side.type, positions, side.depth_is_minor)};
    const int components = !tile_.uses_tensor_cores() && IsComplexType(product_.sum_type) ? 2 : 1;
    for (int i = 0; i < components; ++i)
      operand.cells.push_back(k_.Shared(operand.layout.cell, 2 * operand.strip_cells(tile_.strip), name));
    return operand;
  }

  // Adjacent threads load adjacent groups.
  std::vector<Group> GroupsOf(const Operand& operand) {
    const int64_t lines = operand.side->depth_is_minor ? operand.positions : tile_.strip,
                  in_line = (operand.side->depth_is_minor ? tile_.strip : operand.positions) / operand.group;
    std::vector<Group> groups;
    for (int64_t i = 0; i < lines * in_line; i += tile_.threads) {
      llvm::Value* number = Plus(thread_, Int(i));
      Group group{.exists =
                      i + tile_.threads <= lines * in_line ? nullptr : b_.CreateICmpULT(number, Int(lines * in_line))};
      llvm::Value *line = b_.CreateUDiv(number, Int(in_line)),
                  *in_it = Times(b_.CreateURem(number, Int(in_line)), operand.group);
      group.position = operand.side->depth_is_minor ? line : in_it;
      group.depth = operand.side->depth_is_minor ? in_it : line;
      groups.push_back(group);
    }
    return groups;
  }

  llvm::Value* AtMost(llvm::Value* index, int64_t limit) {
    return codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::umin, index, Int(limit));
  }

  // Loads the thread's elements of both operands, as cells, from `depth` on.
  absl::StatusOr<Carried> Load(llvm::Value* depth) {
    Carried all;
    for (const Operand* operand : {&lhs_, &rhs_}) {
      const ProductSide& side = *operand->side;
      for (const Group& group : GroupsOf(*operand)) {
        llvm::Value *position = Plus(operand->first, group.position), *at = Plus(depth, group.depth);
        llvm::Value* inside = nullptr;
        if (side.positions % operand->positions != 0 || group.exists != nullptr)
          position = AtMost(position, side.positions - (side.depth_is_minor ? 1 : operand->group));
        if (product_.depth % tile_.strip != 0) {
          inside = b_.CreateICmpULT(at, Int(product_.depth));
          at = AtMost(at, product_.depth - (side.depth_is_minor ? operand->group : 1));
        }
        HILO_ASSIGN_OR_RETURN(const Elements elements, side.elements(batch_, position, at, operand->group));
        for (llvm::Value* cells : TogetherOf(*operand, elements)) {
          llvm::Value* zero = llvm::Constant::getNullValue(cells->getType());
          all.push_back(inside == nullptr ? cells : b_.CreateSelect(inside, cells, zero));
        }
      }
    }
    return all;
  }

  // The number of a group's elements that are stored together, as the cells of a line are adjacent.
  int64_t Together(const Operand& operand) const {
    const bool along_line = operand.side->depth_is_minor == operand.layout.lines_are_positions;
    if (!along_line || operand.layout.cell->isIntegerTy(1)) return 1;
    return std::min(operand.group, kMaxStoreBytes / KernelEmitter::CellBytes(operand.layout.cell));
  }

  // The cells of a group: a vector, or a scalar, for those of one component that are stored together.
  Carried TogetherOf(const Operand& operand, const Elements& elements) {
    const int64_t together = Together(operand), components = operand.components();
    Carried cells, all;
    for (const ElementValue& element : elements) {
      for (llvm::Value* cell : multiplier_->ToCells(operand.side->type, element)) cells.push_back(cell);
    }
    for (int64_t i = 0; i < operand.group; i += together) {
      for (int64_t c = 0; c < components; ++c) {
        if (together == 1) {
          all.push_back(cells[i * components + c]);
          continue;
        }
        llvm::Value* vector =
            llvm::PoisonValue::get(llvm::FixedVectorType::get(cells[c]->getType(), static_cast<unsigned>(together)));
        for (int64_t j = 0; j < together; ++j)
          vector = b_.CreateInsertElement(vector, cells[(i + j) * components + c], static_cast<uint64_t>(j));
        all.push_back(vector);
      }
    }
    return all;
  }

  Strip StripOf(const Operand& operand, llvm::Value* parity) {
    return {.layout = operand.layout, .cells = operand.cells, .first = Times(parity, operand.strip_cells(tile_.strip))};
  }

  // Stores what Load returned to the strips of a parity.
  void Store(const Carried& loaded, llvm::Value* parity) {
    const auto* next = loaded.data();
    for (const Operand* operand : {&lhs_, &rhs_}) {
      const Strip strip = StripOf(*operand, parity);
      for (const Group& group : GroupsOf(*operand)) {
        const absl::Span<llvm::Value* const> cells(next, operand->group / Together(*operand) * operand->components());
        next += cells.size();
        const auto store = [&]() -> absl::Status {
          StoreGroup(*operand, strip, group, cells);
          return absl::OkStatus();
        };
        if (group.exists == nullptr) {
          StoreGroup(*operand, strip, group, cells);
        } else {
          k_.If("group", group.exists, store).IgnoreError();  // `store` does not fail
        }
      }
    }
  }

  void StoreGroup(const Operand& operand, const Strip& strip, const Group& group,
                  absl::Span<llvm::Value* const> cells) {
    const int64_t together = Together(operand), components = operand.components();
    const bool deep = operand.side->depth_is_minor;
    for (size_t i = 0; i < cells.size(); ++i) {
      llvm::Value *array = strip.cells[i % components], *offset = Int(static_cast<int64_t>(i) / components * together);
      llvm::Value* at = strip.Cell(b_, deep ? group.position : Plus(group.position, offset),
                                   deep ? Plus(group.depth, offset) : group.depth);
      if (together == 1) {
        k_.StoreCell(array, at, cells[i]);
      } else {
        b_.CreateAlignedStore(cells[i], b_.CreateInBoundsGEP(strip.layout.cell, array, at),
                              llvm::Align(together * KernelEmitter::CellBytes(strip.layout.cell)));
      }
    }
  }

  absl::StatusOr<Carried> Multiply(llvm::Value* parity, const Carried& sums) {
    return multiplier_->Multiply(StripOf(lhs_, parity), StripOf(rhs_, parity), sums);
  }

  absl::Status StoreResults(const Carried& sums) {
    const bool whole = product_.lhs.positions % tile_.rows == 0 && product_.rhs.positions % tile_.columns == 0;
    return multiplier_->ForEachResult(
        sums, [&](llvm::Value* row, llvm::Value* column, absl::Span<const ElementValue> results) -> absl::Status {
          llvm::Value *m = Plus(lhs_.first, row), *n = Plus(rhs_.first, column);
          const auto store = [&](size_t first, size_t count) -> absl::Status {
            llvm::Value* at = Plus(n, Int(static_cast<int64_t>(first)));
            const auto body = [&] { return product_.store(batch_, m, at, results.subspan(first, count)); };
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
  std::unique_ptr<TileMultiplier> multiplier_;
  Operand lhs_, rhs_;
  llvm::Value* thread_ = nullptr;
  llvm::Value* batch_ = nullptr;
};

}  // namespace

llvm::Value* Strip::Cell(llvm::IRBuilder<>& b, llvm::Value* position, llvm::Value* depth) const {
  llvm::Value *line = layout.lines_are_positions ? position : depth,
              *in_line = layout.lines_are_positions ? depth : position;
  llvm::Value* from_line = b.CreateMul(line, b.getInt64(static_cast<uint64_t>(layout.pitch)), "", true, true);
  return b.CreateAdd(first, b.CreateAdd(from_line, in_line, "", true, true), "", true, true);
}

absl::Status TiledProduct::EmitAndLaunch(const HloInstruction* instruction, KernelEmitter& k) const {
  const ProductTile tile = ProductTile::Of(*instruction->kernel());
  HILO_RETURN_IF_ERROR(TileKernel(k, *this, tile).Emit());
  const int64_t blocks = batch * CeilDiv(lhs.positions, tile.rows) * CeilDiv(rhs.positions, tile.columns);
  return k.FinishAndLaunch(instruction, blocks, static_cast<int>(tile.threads));
}

}  // namespace hilo::gpu
