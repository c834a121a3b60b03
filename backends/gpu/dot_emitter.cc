// Dots that are large enough: tiles of the result, a block each. The block brings a strip of either operand into shared memory, 16 deep, and each thread multiplies what its 4 x 4
// results need; then the next strip. Operands are element generators like any other, so whatever is fused into them, their types and the order of their dimensions cost nothing
// extra. Elements beyond the edges are 0 on both sides, which adds nothing.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "backends/gpu/emitters.h"
#include "backends/llvm/element_movement.h"
#include "backends/llvm/element_ops.h"
#include "base/status_macros.h"
#include "hlo/ops/op_attributes.h"
#include "hlo/ops/sum_type.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

constexpr int64_t kTile = 64, kDepth = 16;
constexpr int64_t kOwn = 4;  // results of a thread in each direction
constexpr int64_t kThreads = (kTile / kOwn) * (kTile / kOwn);
static_assert(kThreads == kBlockSize);
// Smaller products are loops.
constexpr int64_t kMinSide = 32, kMinDepth = 8;


std::vector<int64_t> FreeDimensions(const Shape& shape, const std::vector<int64_t>& batch, const std::vector<int64_t>& contracting) {
  std::vector<int64_t> free;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (!absl::c_linear_search(batch, d) && !absl::c_linear_search(contracting, d)) free.push_back(d);
  }
  return free;
}

std::vector<int64_t> SizesOf(const Shape& shape, const std::vector<int64_t>& dimensions) {
  std::vector<int64_t> sizes;
  for (int64_t d : dimensions) sizes.push_back(shape.dimensions(d));
  return sizes;
}

// One operand: which of its dimensions are batch, free and contracting ones.
struct Side {
  const HloInstruction* operand;
  std::vector<int64_t> batch, free, contracting;
  std::vector<int64_t> batch_sizes, free_sizes, contracting_sizes;

  static Side Of(const HloInstruction* operand, const std::vector<int64_t>& batch, const std::vector<int64_t>& contracting) {
    const Shape& shape = operand->shape();
    Side side{.operand = operand, .batch = batch, .free = FreeDimensions(shape, batch, contracting), .contracting = contracting};
    side.batch_sizes = SizesOf(shape, batch);
    side.free_sizes = SizesOf(shape, side.free);
    side.contracting_sizes = SizesOf(shape, contracting);
    return side;
  }
  int64_t free_count() const { return hilo::gpu::Product(free_sizes); }
  // Whether neighbours in the strip's depth are neighbours in memory.
  bool DepthIsMinor() const { return !contracting.empty() && contracting.back() == operand->shape().rank() - 1; }
};

class DotKernel {
 public:
  DotKernel(KernelEmitter& k, const HloInstruction* instruction)
      : k_(k), b_(k.b()), instruction_(instruction), dot_(HeroOf(instruction)), attrs_(dot_->attrs<DotAttrs>()) {
    lhs_ = Side::Of(dot_->operand(0), attrs_.lhs_batch_dims, attrs_.lhs_contracting_dims);
    rhs_ = Side::Of(dot_->operand(1), attrs_.rhs_batch_dims, attrs_.rhs_contracting_dims);
    depth_ = hilo::gpu::Product(lhs_.contracting_sizes);
    const PrimitiveType type = dot_->shape().element_type();
    type_ = IsFloatingPointType(type) && type != F64 ? F32 : type;
  }

  int64_t Blocks() const {
    return hilo::gpu::Product(lhs_.batch_sizes) * CeilDiv(lhs_.free_count(), kTile) * CeilDiv(rhs_.free_count(), kTile);
  }

  absl::Status Emit() {
    const int64_t tiles_m = CeilDiv(lhs_.free_count(), kTile), tiles_n = CeilDiv(rhs_.free_count(), kTile);
    thread_ = k_.Thread();
    llvm::Value* block = k_.Block();
    llvm::Value* batch = b_.CreateUDiv(block, Int(tiles_m * tiles_n));
    llvm::Value* tile = b_.CreateURem(block, Int(tiles_m * tiles_n));
    batch_ = k_.Delinearize(batch, lhs_.batch_sizes);
    const Strip lhs = MakeStrip(lhs_, b_.CreateMul(b_.CreateUDiv(tile, Int(tiles_n)), Int(kTile), "", true, true), "lhs");
    const Strip rhs = MakeStrip(rhs_, b_.CreateMul(b_.CreateURem(tile, Int(tiles_n)), Int(kTile), "", true, true), "rhs");
    // Thread (i, j) has results i + 16 a, j + 16 c: neighbouring threads read neighbouring cells.
    llvm::Value *own_m = b_.CreateUDiv(thread_, Int(kTile / kOwn)), *own_n = b_.CreateURem(thread_, Int(kTile / kOwn));
    Carried zeros;
    for (int64_t i = 0; i < kOwn * kOwn; ++i) {
      for (llvm::Value* part : codegen::Pack({codegen::EmitZero(k_.context(), type_)})) zeros.push_back(part);
    }
    auto strip = [&](llvm::Value* first, const Carried& carried) -> absl::StatusOr<Carried> {
      HILO_RETURN_IF_ERROR(Fill(lhs, first));
      HILO_RETURN_IF_ERROR(Fill(rhs, first));
      k_.Barrier();
      auto step = [&](llvm::Value* depth, const Carried& sums) { return Multiply(lhs, rhs, depth, own_m, own_n, sums); };
      HILO_ASSIGN_OR_RETURN(Carried next, codegen::EmitLoop(k_.context(), "depth", Int(0), Int(kDepth), 1, carried, step));
      k_.Barrier();
      return next;
    };
    HILO_ASSIGN_OR_RETURN(Carried sums, codegen::EmitLoop(k_.context(), "strips", Int(0), Int(depth_), kDepth, zeros, strip));
    return Store(lhs, rhs, own_m, own_n, sums);
  }

 private:
  // kTile rows or columns of an operand from `first` on, in shared memory as [depth][position].
  struct Strip {
    const Side* side;
    llvm::Value* first;
    std::vector<llvm::Value*> cells;  // one array a component
  };

  llvm::Value* Int(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }

  Strip MakeStrip(const Side& side, llvm::Value* first, absl::string_view name) {
    Strip strip{.side = &side, .first = first};
    llvm::Type* part = codegen::RegisterType(b_.getContext(), type_);
    for (int i = 0; i < (IsComplexType(type_) ? 2 : 1); ++i) strip.cells.push_back(k_.Shared(part, kDepth * kPitch, name));
    return strip;
  }

  // Neighbouring threads read what lies side by side in memory.
  absl::Status Fill(const Strip& strip, llvm::Value* first_depth) {
    for (int64_t i = 0; i < kTile * kDepth; i += kThreads) {
      llvm::Value* cell = b_.CreateAdd(thread_, Int(i), "", true, true);
      const bool minor = strip.side->DepthIsMinor();
      llvm::Value* depth = minor ? b_.CreateURem(cell, Int(kDepth)) : b_.CreateUDiv(cell, Int(kTile));
      llvm::Value* position = minor ? b_.CreateUDiv(cell, Int(kDepth)) : b_.CreateURem(cell, Int(kTile));
      HILO_ASSIGN_OR_RETURN(Carried value, Element(strip, b_.CreateAdd(strip.first, position, "", true, true), b_.CreateAdd(first_depth, depth, "", true, true)));
      llvm::Value* at = b_.CreateAdd(b_.CreateMul(depth, Int(kPitch), "", true, true), position, "", true, true);
      for (size_t part = 0; part < value.size(); ++part) k_.StoreCell(strip.cells[part], at, value[part]);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Carried> Element(const Strip& strip, llvm::Value* position, llvm::Value* depth) {
    const Side& side = *strip.side;
    llvm::Value* inside = b_.CreateAnd(b_.CreateICmpULT(position, Int(side.free_count())), b_.CreateICmpULT(depth, Int(depth_)));
    auto load = [&]() -> absl::StatusOr<Carried> {
      std::vector<LaneIndex> at(side.operand->shape().rank());
      const std::vector<LaneIndex> free = k_.Delinearize(position, side.free_sizes), contracting = k_.Delinearize(depth, side.contracting_sizes);
      for (size_t i = 0; i < batch_.size(); ++i) at[side.batch[i]] = batch_[i];
      for (size_t i = 0; i < free.size(); ++i) at[side.free[i]] = free[i];
      for (size_t i = 0; i < contracting.size(); ++i) at[side.contracting[i]] = contracting[i];
      HILO_ASSIGN_OR_RETURN(ElementValue value, k_.elements().Generate(side.operand, Index(std::move(at))));
      return codegen::Pack({codegen::EmitConvert(k_.context(), side.operand->shape().element_type(), type_, value)});
    };
    auto zero = [&]() -> absl::StatusOr<Carried> { return codegen::Pack({codegen::EmitZero(k_.context(), type_)}); };
    return codegen::EmitBranches(k_.context(), "element", inside, load, zero);
  }

  ElementValue Cell(const Strip& strip, llvm::Value* depth, llvm::Value* position) {
    llvm::Value* at = b_.CreateAdd(b_.CreateMul(depth, Int(kPitch), "", true, true), position, "", true, true);
    Carried value;
    for (llvm::Value* cells : strip.cells) value.push_back(k_.LoadCell(cells, at, codegen::RegisterType(b_.getContext(), type_)));
    return codegen::Unpack(value, {&type_, 1})[0];
  }

  absl::StatusOr<Carried> Multiply(const Strip& lhs, const Strip& rhs, llvm::Value* depth, llvm::Value* own_m, llvm::Value* own_n, const Carried& sums) {
    const std::vector<PrimitiveType> types(kOwn * kOwn, type_);
    Elements own = codegen::Unpack(sums, types), x, y;
    for (int64_t i = 0; i < kOwn; ++i) {
      x.push_back(Cell(lhs, depth, b_.CreateAdd(own_m, Int(i * (kTile / kOwn)), "", true, true)));
      y.push_back(Cell(rhs, depth, b_.CreateAdd(own_n, Int(i * (kTile / kOwn)), "", true, true)));
    }
    for (int64_t i = 0; i < kOwn; ++i) {
      for (int64_t j = 0; j < kOwn; ++j) {
        ElementValue& sum = own[i * kOwn + j];
        HILO_ASSIGN_OR_RETURN(ElementValue product, codegen::EmitBinaryOp(k_.context(), HloOpcode::kMultiply, type_, x[i], y[j]));
        HILO_ASSIGN_OR_RETURN(sum, codegen::EmitBinaryOp(k_.context(), HloOpcode::kAdd, type_, sum, product));
      }
    }
    return codegen::Pack(own);
  }

  absl::Status Store(const Strip& lhs, const Strip& rhs, llvm::Value* own_m, llvm::Value* own_n, const Carried& sums) {
    const std::vector<PrimitiveType> types(kOwn * kOwn, type_);
    const Elements own = codegen::Unpack(sums, types);
    const codegen::IrArray array = k_.ArrayOf(instruction_);
    for (int64_t i = 0; i < kOwn; ++i) {
      for (int64_t j = 0; j < kOwn; ++j) {
        llvm::Value* m = b_.CreateAdd(lhs.first, b_.CreateAdd(own_m, Int(i * (kTile / kOwn))), "", true, true);
        llvm::Value* n = b_.CreateAdd(rhs.first, b_.CreateAdd(own_n, Int(j * (kTile / kOwn))), "", true, true);
        llvm::Value* inside = b_.CreateAnd(b_.CreateICmpULT(m, Int(lhs_.free_count())), b_.CreateICmpULT(n, Int(rhs_.free_count())));
        HILO_RETURN_IF_ERROR(k_.If("store", inside, [&] {
          std::vector<LaneIndex> at = batch_;
          for (LaneIndex& index : k_.Delinearize(m, lhs_.free_sizes)) at.push_back(index);
          for (LaneIndex& index : k_.Delinearize(n, rhs_.free_sizes)) at.push_back(index);
          const ElementValue value = codegen::EmitConvert(k_.context(), type_, dot_->shape().element_type(), own[i * kOwn + j]);
          array.Store(k_.context(), Index(std::move(at)), value);
          return absl::OkStatus();
        }));
      }
    }
    return absl::OkStatus();
  }

  static constexpr int64_t kPitch = kTile + 1;

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  const HloInstruction *instruction_, *dot_;
  const DotAttrs& attrs_;
  Side lhs_, rhs_;
  int64_t depth_ = 0;
  PrimitiveType type_;
  llvm::Value* thread_ = nullptr;
  std::vector<LaneIndex> batch_;
};

}  // namespace

bool IsTiledDot(const HloInstruction& dot) {
  const DotAttrs& attrs = dot.attrs<DotAttrs>();
  const Side lhs = Side::Of(dot.operand(0), attrs.lhs_batch_dims, attrs.lhs_contracting_dims);
  const Side rhs = Side::Of(dot.operand(1), attrs.rhs_batch_dims, attrs.rhs_contracting_dims);
  return lhs.free_count() >= kMinSide && rhs.free_count() >= kMinSide && Product(lhs.contracting_sizes) >= kMinDepth;
}

absl::Status EmitDot(ProgramEmitter& program, const HloInstruction* instruction) {
  KernelEmitter k(&program, instruction);
  DotKernel kernel(k, instruction);
  HILO_RETURN_IF_ERROR(kernel.Emit());
  return program.FinishAndLaunch(instruction, k, kernel.Blocks(), kThreads);
}

}  // namespace hilo::gpu
