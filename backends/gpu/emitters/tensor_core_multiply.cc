// Tensor cores: mma.sync multiplies 16 x k by k x 8 elements of 32 bytes along the depth (k is 16 for numbers of 16
// bits and 32 for those of 8), whose fragments ldmatrix reads from shared memory. A warp has own_rows x own_columns
// results, in fragments of 16 x 8: lane l has columns 2 (l % 4) and the next of rows l / 4 and l / 4 + 8.
//
// ldmatrix reads blocks of eight lines of 16 bytes; lane l has the address of line l % 8 of block l / 8. Elements of 16
// bits may lie along the depth or along the positions, as in memory: blocks of the latter are transposed as they are
// read. Those of 8 bits lie along the depth. The gap between lines puts the lines of a block into different banks.
#include "backends/gpu/emitters/tile_multiply.h"
#include "backends/llvm/elements/element_convert.h"
#include "hilo/status_macros.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::ElementValue;

constexpr int64_t kLineBytes = 16;
constexpr int64_t kRows = 16, kColumns = 8;  // of a fragment of results
constexpr int64_t kOwn = 4;                  // results of a lane in it

llvm::Intrinsic::ID MultiplyOf(PrimitiveType type) {
  switch (type) {
    case BF16: return llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_bf16;
    case F16: return llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_f32_f32;
    case U8: return llvm::Intrinsic::nvvm_mma_m16n8k32_row_col_u8;
    default: return llvm::Intrinsic::nvvm_mma_m16n8k32_row_col_s8;
  }
}

class TensorCoreMultiplier : public TileMultiplier {
 public:
  TensorCoreMultiplier(KernelEmitter& k, const ProductTile& tile, PrimitiveType type)
      : k_(k), b_(k.b()), tile_(tile), type_(type), line_(kLineBytes / PrimitiveTypeByteSize(type)) {
    llvm::Value *thread = k.Thread(), *warp = b_.CreateUDiv(thread, Int(kWarp));
    lane_ = b_.CreateURem(thread, Int(kWarp), "lane");
    const int64_t warps = tile.columns / tile.own_columns;
    row_ = b_.CreateMul(b_.CreateUDiv(warp, Int(warps)), Int(tile.own_rows), "", true, true);
    column_ = b_.CreateMul(b_.CreateURem(warp, Int(warps)), Int(tile.own_columns), "", true, true);
  }

  StripLayout LayoutOf(PrimitiveType, int64_t positions, bool depth_is_minor) override {
    const bool along_depth = depth_is_minor || line_ > 8;
    return {.cell = codegen::MemoryType(b_.getContext(), type_),
            .lines_are_positions = along_depth,
            .pitch = (along_depth ? tile_.strip : positions) + line_};
  }

  Carried ToCells(PrimitiveType, const ElementValue& element) override {
    return {codegen::ToMemory(k_.context(), type_, element.re)};
  }

  Carried Zeros() override {
    llvm::Type* sum = line_ > 8 ? b_.getInt32Ty() : b_.getFloatTy();
    return Carried(fragment_rows() * fragment_columns() * kOwn, llvm::Constant::getNullValue(sum));
  }

  absl::StatusOr<Carried> Multiply(const Strip& lhs, const Strip& rhs, const Carried& sums) override {
    Carried own = sums;
    for (int64_t depth = 0; depth < tile_.strip; depth += tile_.step) {
      std::vector<Carried> x, y;
      for (int64_t i = 0; i < fragment_rows(); ++i)
        x.push_back(Load(lhs, row_, i * kRows, depth, /*depth_first=*/false));
      // A load has the fragments of two blocks of columns.
      for (int64_t j = 0; j < fragment_columns(); j += 2) {
        const Carried both = Load(rhs, column_, j * kColumns, depth, /*depth_first=*/true);
        y.push_back({both[0], both[1]});
        y.push_back({both[2], both[3]});
      }
      for (int64_t i = 0; i < fragment_rows(); ++i) {
        for (int64_t j = 0; j < fragment_columns(); ++j)
          MultiplyFragments(x[i], y[j], &own[(i * fragment_columns() + j) * kOwn]);
      }
    }
    return own;
  }

  absl::Status ForEachResult(const Carried& sums, ResultBody body) override {
    llvm::Value* own_row = b_.CreateAdd(row_, b_.CreateUDiv(lane_, Int(4)), "", true, true);
    llvm::Value* own_column =
        b_.CreateAdd(column_, b_.CreateMul(b_.CreateURem(lane_, Int(4)), Int(2), "", true, true), "", true, true);
    for (int64_t i = 0; i < fragment_rows(); ++i) {
      for (int64_t half = 0; half < 2; ++half) {
        llvm::Value* row = b_.CreateAdd(own_row, Int(i * kRows + half * kRows / 2), "", true, true);
        for (int64_t j = 0; j < fragment_columns(); ++j) {
          const auto first = sums.begin() + (i * fragment_columns() + j) * kOwn + 2 * half;
          const ElementValue pair[] = {{*first}, {*(first + 1)}};
          HILO_RETURN_IF_ERROR(body(row, b_.CreateAdd(own_column, Int(j * kColumns), "", true, true), pair));
        }
      }
    }
    return absl::OkStatus();
  }

 private:
  llvm::Value* Int(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }
  int64_t fragment_rows() const { return tile_.own_rows / kRows; }
  int64_t fragment_columns() const { return tile_.own_columns / kColumns; }

  // Reads 16 positions from `first` + `position` on by 32 bytes of the depth from `depth` on, as four blocks: the two
  // blocks of positions of one half of the depth and then of the other, or with `depth_first` of the depth first.
  Carried Load(const Strip& strip, llvm::Value* first, int64_t position, int64_t depth, bool depth_first) {
    llvm::Value *line = b_.CreateURem(lane_, Int(8)), *block = b_.CreateUDiv(lane_, Int(8));
    llvm::Value *even = b_.CreateURem(block, Int(2)), *upper = b_.CreateUDiv(block, Int(2));
    llvm::Value* in_positions = b_.CreateMul(depth_first ? upper : even, Int(8), "", true, true);
    llvm::Value* in_depth = b_.CreateMul(depth_first ? even : upper, Int(line_), "", true, true);
    const bool transposed = !strip.layout.lines_are_positions;
    (transposed ? in_depth : in_positions) = b_.CreateAdd(transposed ? in_depth : in_positions, line, "", true, true);
    llvm::Value* cell =
        strip.Cell(b_, b_.CreateAdd(b_.CreateAdd(first, in_positions, "", true, true), Int(position), "", true, true),
                   b_.CreateAdd(in_depth, Int(depth), "", true, true));
    llvm::Value* address = b_.CreateInBoundsGEP(strip.layout.cell, strip.cells[0], cell);
    llvm::CallInst* loaded =
        b_.CreateIntrinsic(transposed ? llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16
                                      : llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16,
                           {address->getType()}, {address});
    loaded->setConvergent();
    Carried blocks;
    for (unsigned i = 0; i < 4; ++i) blocks.push_back(b_.CreateExtractValue(loaded, i));
    return blocks;
  }

  void MultiplyFragments(const Carried& x, const Carried& y, llvm::Value** sums) {
    Carried arguments;
    llvm::Type* pair = type_ == F16 ? llvm::FixedVectorType::get(b_.getHalfTy(), 2) : nullptr;
    for (const Carried* fragment : {&x, &y}) {
      for (llvm::Value* word : *fragment) arguments.push_back(pair == nullptr ? word : b_.CreateBitCast(word, pair));
    }
    arguments.insert(arguments.end(), sums, sums + kOwn);
    llvm::CallInst* product = b_.CreateIntrinsic(MultiplyOf(type_), {}, arguments);
    product->setConvergent();  // moved into a branch, some lanes would not take part
    for (unsigned i = 0; i < kOwn; ++i) sums[i] = b_.CreateExtractValue(product, i);
  }

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  const ProductTile tile_;
  const PrimitiveType type_;
  const int64_t line_;  // elements of a line
  llvm::Value *lane_, *row_, *column_;
};

}  // namespace

std::unique_ptr<TileMultiplier> MakeTensorCoreMultiplier(KernelEmitter& k, const ProductTile& tile,
                                                         PrimitiveType type) {
  return std::make_unique<TensorCoreMultiplier>(k, tile, type);
}

}  // namespace hilo::gpu
