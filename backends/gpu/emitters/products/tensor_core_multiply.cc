// A warp has own_rows x own_columns results, in fragments of tensor cores (tensor_core.h).
#include "backends/gpu/emitters/products/tensor_core.h"
#include "backends/gpu/emitters/products/tile_multiply.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::ElementValue;

constexpr int64_t kCoreRows = TensorCore::kRows, kCoreColumns = TensorCore::kColumns, kCoreOwn = TensorCore::kOwn;

class TensorCoreMultiplier : public TileMultiplier {
 public:
  TensorCoreMultiplier(KernelEmitter& k, const ProductTile& tile, PrimitiveType type)
      : core_(k, type, /*rounds_as_read=*/tile.copied_strips > 0),
        b_(k.b()),
        tile_(tile),
        is_integer_(type == S8 || type == U8) {
    llvm::Value* warp = b_.CreateUDiv(k.Thread(), Int(kWarp));
    const int64_t warps = tile.columns / tile.own_columns;
    row_ = b_.CreateMul(b_.CreateUDiv(warp, Int(warps)), Int(tile.own_rows), "", true, true);
    column_ = b_.CreateMul(b_.CreateURem(warp, Int(warps)), Int(tile.own_columns), "", true, true);
  }

  StripLayout LayoutOf(PrimitiveType, int64_t positions, bool depth_is_minor) override {
    return core_.LayoutOf(positions, tile_.strip, depth_is_minor);
  }

  Carried ToCells(PrimitiveType, const ElementValue& element) override { return core_.ToCells(element); }

  Carried Zeros() override {
    llvm::Type* sum = is_integer_ ? b_.getInt32Ty() : b_.getFloatTy();
    return Carried(fragment_rows() * fragment_columns() * kCoreOwn, llvm::Constant::getNullValue(sum));
  }

  absl::StatusOr<Carried> Multiply(const Strip& lhs, const Strip& rhs, const Carried& sums) override {
    Carried own = sums;
    for (int64_t depth = 0; depth < tile_.strip; depth += tile_.step) {
      std::vector<Carried> x, y;
      for (int64_t i = 0; i < fragment_rows(); ++i)
        x.push_back(core_.Load(lhs, row_, i * kCoreRows, depth, /*depth_first=*/false));
      // A load has the fragments of two blocks of columns.
      for (int64_t j = 0; j < fragment_columns(); j += 2) {
        const Carried both = core_.Load(rhs, column_, j * kCoreColumns, depth, /*depth_first=*/true);
        y.push_back({both[0], both[1]});
        y.push_back({both[2], both[3]});
      }
      for (int64_t i = 0; i < fragment_rows(); ++i) {
        for (int64_t j = 0; j < fragment_columns(); ++j)
          core_.Multiply(x[i], y[j], &own[(i * fragment_columns() + j) * kCoreOwn]);
      }
    }
    return own;
  }

  absl::Status ForEachResult(const Carried& sums, ResultBody body) override {
    llvm::Value *own_row = b_.CreateAdd(row_, core_.row(), "", true, true),
                *own_column = b_.CreateAdd(column_, core_.column(), "", true, true);
    for (int64_t i = 0; i < fragment_rows(); ++i) {
      for (int64_t half = 0; half < 2; ++half) {
        llvm::Value* row = b_.CreateAdd(own_row, Int(i * kCoreRows + half * kCoreRows / 2), "", true, true);
        for (int64_t j = 0; j < fragment_columns(); ++j) {
          const auto first = sums.begin() + (i * fragment_columns() + j) * kCoreOwn + 2 * half;
          const ElementValue pair[] = {{*first}, {*(first + 1)}};
          HILO_RETURN_IF_ERROR(body(row, b_.CreateAdd(own_column, Int(j * kCoreColumns), "", true, true), pair));
        }
      }
    }
    return absl::OkStatus();
  }

 private:
  llvm::Value* Int(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }
  int64_t fragment_rows() const { return tile_.own_rows / kCoreRows; }
  int64_t fragment_columns() const { return tile_.own_columns / kCoreColumns; }

  TensorCore core_;
  llvm::IRBuilder<>& b_;
  const ProductTile tile_;
  const bool is_integer_;
  llvm::Value *row_, *column_;
};

}  // namespace

std::unique_ptr<TileMultiplier> MakeTensorCoreMultiplier(KernelEmitter& k, const ProductTile& tile,
                                                         PrimitiveType type) {
  return std::make_unique<TensorCoreMultiplier>(k, tile, type);
}

}  // namespace hilo::gpu
