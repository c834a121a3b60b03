#include "backends/gpu/emitters/tiled_product.h"

#include "backends/gpu/emitters/program_emitter.h"
#include "backends/llvm/elements/predication.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "base/math.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::ElementValue;

class TileKernel {
 public:
  TileKernel(KernelEmitter& k, const TiledProduct& product)
      : k_(k),
        b_(k.b()),
        product_(product),
        side_(product.side),
        depth_(product.strip),
        pitch_(product.side + 1),
        own_(product.own),
        type_(product.sum_type) {}

  absl::Status Emit() {
    const int64_t tiles_m = CeilDiv(product_.lhs.positions, side_), tiles_n = CeilDiv(product_.rhs.positions, side_);
    thread_ = k_.Thread();
    llvm::Value* block = k_.Block();
    batch_ = b_.CreateUDiv(block, Int(tiles_m * tiles_n));
    llvm::Value* tile = b_.CreateURem(block, Int(tiles_m * tiles_n));
    const Strip lhs =
        MakeStrip(product_.lhs, b_.CreateMul(b_.CreateUDiv(tile, Int(tiles_n)), Int(side_), "", true, true), "lhs");
    const Strip rhs =
        MakeStrip(product_.rhs, b_.CreateMul(b_.CreateURem(tile, Int(tiles_n)), Int(side_), "", true, true), "rhs");
    // Thread (i, j) has results i + 16 a, j + 16 c: adjacent threads read adjacent cells.
    llvm::Value *own_m = b_.CreateUDiv(thread_, Int(side_ / own_)), *own_n = b_.CreateURem(thread_, Int(side_ / own_));
    Carried zeros;
    for (int64_t i = 0; i < own_ * own_; ++i) {
      for (llvm::Value* part : codegen::Pack({codegen::EmitZero(k_.context(), type_)})) zeros.push_back(part);
    }
    auto strip = [&](llvm::Value* first, const Carried& carried) -> absl::StatusOr<Carried> {
      HILO_RETURN_IF_ERROR(Fill(lhs, first));
      HILO_RETURN_IF_ERROR(Fill(rhs, first));
      k_.Barrier();
      auto step = [&](llvm::Value* depth, const Carried& sums) {
        return Multiply(lhs, rhs, depth, own_m, own_n, sums);
      };
      HILO_ASSIGN_OR_RETURN(Carried next,
                            codegen::EmitLoop(k_.context(), "depth", Int(0), Int(depth_), 1, carried, step));
      k_.Barrier();
      return next;
    };
    HILO_ASSIGN_OR_RETURN(Carried sums,
                          codegen::EmitLoop(k_.context(), "strips", Int(0), Int(product_.depth), depth_, zeros, strip));
    return Store(lhs, rhs, own_m, own_n, sums);
  }

 private:
  // side_ rows or columns of an operand from `first` on, in shared memory as [depth][position].
  struct Strip {
    const ProductSide* side;
    llvm::Value* first;
    std::vector<llvm::Value*> cells;  // one array per component
  };

  llvm::Value* Int(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }

  Strip MakeStrip(const ProductSide& side, llvm::Value* first, absl::string_view name) {
    Strip strip{.side = &side, .first = first};
    llvm::Type* part = codegen::RegisterType(b_.getContext(), type_);
    for (int i = 0; i < (IsComplexType(type_) ? 2 : 1); ++i)
      strip.cells.push_back(k_.Shared(part, depth_ * pitch_, name));
    return strip;
  }

  // Adjacent threads read adjacent memory.
  absl::Status Fill(const Strip& strip, llvm::Value* first_depth) {
    for (int64_t i = 0; i < side_ * depth_; i += product_.threads) {
      llvm::Value* cell = b_.CreateAdd(thread_, Int(i), "", true, true);
      const bool minor = strip.side->depth_is_minor;
      llvm::Value* depth = minor ? b_.CreateURem(cell, Int(depth_)) : b_.CreateUDiv(cell, Int(side_));
      llvm::Value* position = minor ? b_.CreateUDiv(cell, Int(depth_)) : b_.CreateURem(cell, Int(side_));
      HILO_ASSIGN_OR_RETURN(Carried value, Element(strip, b_.CreateAdd(strip.first, position, "", true, true),
                                                   b_.CreateAdd(first_depth, depth, "", true, true)));
      llvm::Value* at = b_.CreateAdd(b_.CreateMul(depth, Int(pitch_), "", true, true), position, "", true, true);
      for (size_t part = 0; part < value.size(); ++part) k_.StoreCell(strip.cells[part], at, value[part]);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Carried> Element(const Strip& strip, llvm::Value* position, llvm::Value* depth) {
    llvm::Value* inside = b_.CreateAnd(b_.CreateICmpULT(position, Int(strip.side->positions)),
                                       b_.CreateICmpULT(depth, Int(product_.depth)));
    auto load = [&]() -> absl::StatusOr<Carried> {
      HILO_ASSIGN_OR_RETURN(ElementValue value, strip.side->element(batch_, position, depth));
      return codegen::Pack({value});
    };
    auto zero = [&]() -> absl::StatusOr<Carried> { return codegen::Pack({codegen::EmitZero(k_.context(), type_)}); };
    return codegen::EmitBranches(k_.context(), "element", inside, load, zero);
  }

  ElementValue Cell(const Strip& strip, llvm::Value* depth, llvm::Value* position) {
    llvm::Value* at = b_.CreateAdd(b_.CreateMul(depth, Int(pitch_), "", true, true), position, "", true, true);
    Carried value;
    for (llvm::Value* cells : strip.cells)
      value.push_back(k_.LoadCell(cells, at, codegen::RegisterType(b_.getContext(), type_)));
    return codegen::Unpack(value, {&type_, 1})[0];
  }

  absl::StatusOr<Carried> Multiply(const Strip& lhs, const Strip& rhs, llvm::Value* depth, llvm::Value* own_m,
                                   llvm::Value* own_n, const Carried& sums) {
    const std::vector<PrimitiveType> types(own_ * own_, type_);
    Elements own = codegen::Unpack(sums, types), x, y;
    for (int64_t i = 0; i < own_; ++i) {
      x.push_back(Cell(lhs, depth, b_.CreateAdd(own_m, Int(i * (side_ / own_)), "", true, true)));
      y.push_back(Cell(rhs, depth, b_.CreateAdd(own_n, Int(i * (side_ / own_)), "", true, true)));
    }
    for (int64_t i = 0; i < own_; ++i) {
      for (int64_t j = 0; j < own_; ++j) {
        ElementValue& sum = own[i * own_ + j];
        HILO_ASSIGN_OR_RETURN(ElementValue product,
                              codegen::EmitBinaryOp(k_.context(), HloOpcode::kMultiply, type_, x[i], y[j]));
        HILO_ASSIGN_OR_RETURN(sum, codegen::EmitBinaryOp(k_.context(), HloOpcode::kAdd, type_, sum, product));
      }
    }
    return codegen::Pack(own);
  }

  absl::Status Store(const Strip& lhs, const Strip& rhs, llvm::Value* own_m, llvm::Value* own_n, const Carried& sums) {
    const std::vector<PrimitiveType> types(own_ * own_, type_);
    const Elements own = codegen::Unpack(sums, types);
    for (int64_t i = 0; i < own_; ++i) {
      for (int64_t j = 0; j < own_; ++j) {
        llvm::Value* m = b_.CreateAdd(lhs.first, b_.CreateAdd(own_m, Int(i * (side_ / own_))), "", true, true);
        llvm::Value* n = b_.CreateAdd(rhs.first, b_.CreateAdd(own_n, Int(j * (side_ / own_))), "", true, true);
        llvm::Value* inside = b_.CreateAnd(b_.CreateICmpULT(m, Int(product_.lhs.positions)),
                                           b_.CreateICmpULT(n, Int(product_.rhs.positions)));
        HILO_RETURN_IF_ERROR(k_.If("store", inside, [&] { return product_.store(batch_, m, n, own[i * own_ + j]); }));
      }
    }
    return absl::OkStatus();
  }

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  const TiledProduct& product_;
  const int64_t side_, depth_, pitch_, own_;  // of a tile, a strip, a line of a strip, a thread
  PrimitiveType type_;
  llvm::Value* thread_ = nullptr;
  llvm::Value* batch_ = nullptr;
};

}  // namespace

absl::Status TiledProduct::EmitAndLaunch(const HloInstruction* instruction, KernelEmitter& k) const {
  HILO_RETURN_IF_ERROR(TileKernel(k, *this).Emit());
  const int64_t blocks = batch * CeilDiv(lhs.positions, side) * CeilDiv(rhs.positions, side);
  return k.FinishAndLaunch(instruction, blocks, static_cast<int>(threads));
}

}  // namespace hilo::gpu
