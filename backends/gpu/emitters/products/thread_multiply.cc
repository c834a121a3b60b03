// Thread (i, j) of a block has results i + rows * a, j + columns * c of the tile, for the numbers of threads in its
// rows and columns: adjacent threads read adjacent cells, as lines are indices of the depth.
#include <algorithm>

#include "backends/gpu/emitters/products/tile_multiply.h"
#include "backends/llvm/elements/element_convert.h"
#include "backends/llvm/elements/predication.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::ElementValue;

class ThreadMultiplier : public TileMultiplier {
 public:
  ThreadMultiplier(KernelEmitter& k, const ProductTile& tile, PrimitiveType sum_type)
      : k_(k), b_(k.b()), tile_(tile), type_(sum_type) {
    llvm::Value* thread = k.Thread();
    row_ = b_.CreateUDiv(thread, Int(tile.columns / tile.own_columns));
    column_ = b_.CreateURem(thread, Int(tile.columns / tile.own_columns));
  }

  StripLayout LayoutOf(PrimitiveType, int64_t positions, bool) override {
    llvm::Type* cell = codegen::RegisterType(b_.getContext(), type_);
    return {
        .cell = cell, .lines_are_positions = false, .pitch = positions + kGapBytes / KernelEmitter::CellBytes(cell)};
  }

  Carried ToCells(PrimitiveType type, const ElementValue& element) override {
    return codegen::Pack({codegen::EmitConvert(k_.context(), type, type_, element)});
  }

  Carried Zeros() override {
    return codegen::Pack(Elements(tile_.own_rows * tile_.own_columns, codegen::EmitZero(k_.context(), type_)));
  }

  absl::StatusOr<Carried> Multiply(const Strip& lhs, const Strip& rhs, const Carried& sums) override {
    auto step = [&](llvm::Value* depth, const Carried& carried) -> absl::StatusOr<Carried> {
      Elements own = Sums(carried), x, y;
      for (int64_t i = 0; i < tile_.own_rows; ++i) x.push_back(Load(lhs, depth, Row(i)));
      for (int64_t j = 0; j < tile_.own_columns; ++j) y.push_back(Load(rhs, depth, Column(j)));
      for (int64_t i = 0; i < tile_.own_rows; ++i) {
        for (int64_t j = 0; j < tile_.own_columns; ++j) {
          ElementValue& sum = own[i * tile_.own_columns + j];
          HILO_ASSIGN_OR_RETURN(ElementValue product,
                                codegen::EmitBinaryOp(k_.context(), HloOpcode::kMultiply, type_, x[i], y[j]));
          HILO_ASSIGN_OR_RETURN(sum, codegen::EmitBinaryOp(k_.context(), HloOpcode::kAdd, type_, sum, product));
        }
      }
      return codegen::Pack(own);
    };
    return codegen::EmitLoop(k_.context(), "depth", Int(0), Int(tile_.strip), 1, sums, step);
  }

  absl::Status ForEachResult(const Carried& sums, ResultBody body) override {
    const Elements own = Sums(sums);
    for (int64_t i = 0; i < tile_.own_rows; ++i) {
      for (int64_t j = 0; j < tile_.own_columns; ++j)
        HILO_RETURN_IF_ERROR(body(Row(i), Column(j), {&own[i * tile_.own_columns + j], 1}));
    }
    return absl::OkStatus();
  }

 private:
  // Between lines, so that all begin at an address of 16 bytes and not all in one bank.
  static constexpr int64_t kGapBytes = 16;

  llvm::Value* Int(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }
  llvm::Value* Row(int64_t i) { return b_.CreateAdd(row_, Int(i * (tile_.rows / tile_.own_rows)), "", true, true); }
  llvm::Value* Column(int64_t j) {
    return b_.CreateAdd(column_, Int(j * (tile_.columns / tile_.own_columns)), "", true, true);
  }
  Elements Sums(const Carried& sums) {
    return codegen::Unpack(sums, std::vector<PrimitiveType>(tile_.own_rows * tile_.own_columns, type_));
  }

  ElementValue Load(const Strip& strip, llvm::Value* depth, llvm::Value* position) {
    llvm::Value* at = strip.Cell(b_, position, depth);
    Carried parts;
    for (llvm::Value* cells : strip.cells) parts.push_back(k_.LoadCell(cells, at, strip.layout.cell));
    return codegen::Unpack(parts, {&type_, 1})[0];
  }

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  const ProductTile tile_;
  const PrimitiveType type_;
  llvm::Value *row_, *column_;
};

}  // namespace

std::unique_ptr<TileMultiplier> MakeThreadMultiplier(KernelEmitter& k, const ProductTile& tile,
                                                     PrimitiveType sum_type) {
  return std::make_unique<ThreadMultiplier>(k, tile, sum_type);
}

}  // namespace hilo::gpu
