// A warp group has 64 rows and all columns of a tile (warp_group.h).
#include "backends/gpu/emitters/products/tile_multiply.h"
#include "backends/gpu/emitters/products/warp_group.h"
#include "backends/llvm/elements/element_convert.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::ElementValue;

constexpr int64_t kGroupColumns = 8, kGroupOwn = 4;  // of results that lie together: two of each of a lane's rows
constexpr int64_t kWarpRows = 16;

class WarpGroupMultiplier : public TileMultiplier {
 public:
  WarpGroupMultiplier(KernelEmitter& k, const ProductTile& tile, PrimitiveType type)
      : k_(k), b_(k.b()), tile_(tile), type_(type), group_(k, type, tile.columns) {
    k.NeedExactArchitecture();
    first_row_ = Times(group_.group(), WarpGroup::kRows);
  }

  StripLayout LayoutOf(PrimitiveType, int64_t positions, bool depth_is_minor) override {
    return WarpGroup::LayoutOf(b_.getContext(), type_, positions, tile_.strip, depth_is_minor);
  }

  Carried ToCells(PrimitiveType, const ElementValue& element) override {
    return {codegen::ToMemory(k_.context(), type_, element.re)};
  }

  Carried Zeros() override {
    return Carried(static_cast<size_t>(group_.sums()), llvm::Constant::getNullValue(b_.getFloatTy()));
  }

  bool is_asynchronous() const override { return true; }

  absl::StatusOr<Carried> Multiply(const Strip& lhs, const Strip& rhs, const Carried& sums) override {
    const Carried more = group_.Multiply(lhs, first_row_, rhs, tile_.strip, group_.Fence(sums));
    group_.Commit();
    return more;
  }

  Carried Wait(const Carried& sums, int64_t pending) override { return group_.Wait(sums, pending); }

  absl::Status ForEachResult(const Carried& sums, ResultBody body) override {
    llvm::Value *warp = b_.CreateURem(b_.CreateUDiv(k_.Thread(), Int(kWarp)), Int(WarpGroup::kThreads / kWarp)),
                *lane = b_.CreateURem(k_.Thread(), Int(kWarp));
    llvm::Value* row = Plus(Plus(first_row_, Times(warp, kWarpRows)), b_.CreateUDiv(lane, Int(4)));
    llvm::Value* column = Times(b_.CreateURem(lane, Int(4)), 2);
    for (int64_t half = 0; half < 2; ++half) {
      for (int64_t j = 0; j < tile_.columns / kGroupColumns; ++j) {
        const auto first = sums.begin() + j * kGroupOwn + 2 * half;
        const ElementValue pair[] = {{*first}, {*(first + 1)}};
        HILO_RETURN_IF_ERROR(body(Plus(row, Int(half * kWarpRows / 2)), Plus(column, Int(j * kGroupColumns)), pair));
      }
    }
    return absl::OkStatus();
  }

 private:
  llvm::Value* Int(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }
  llvm::Value* Times(llvm::Value* value, int64_t factor) { return b_.CreateMul(value, Int(factor), "", true, true); }
  llvm::Value* Plus(llvm::Value* x, llvm::Value* y) { return b_.CreateAdd(x, y, "", true, true); }

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  const ProductTile tile_;
  const PrimitiveType type_;
  WarpGroup group_;
  llvm::Value* first_row_;
};

}  // namespace

std::unique_ptr<TileMultiplier> MakeWarpGroupMultiplier(KernelEmitter& k, const ProductTile& tile, PrimitiveType type) {
  return std::make_unique<WarpGroupMultiplier>(k, tile, type);
}

}  // namespace hilo::gpu
