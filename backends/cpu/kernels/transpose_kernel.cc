// Loops over elements that read some operands along another dimension than they write (TransposedReads), in square
// tiles: vectors of the transposes' operands, which are columns of a tile, are transposed in registers and stored on
// the stack as the tile's rows; then the rows are computed as those of any loop.
//
//   for tile:    row[0, W) = transpose(operand[column 0], ... operand[column W - 1])
//                for r in rows of the tile:  result[r, lanes] = f(row[r], other operands[r, lanes])
//
// If the loop over the rows is unrolled, LLVM keeps the rows in registers. Where the rows or columns are no multiple of
// a tile, the last tile begins earlier and computes some elements again, in the same code, unless the result shares the
// memory of an operand, or there are fewer than a tile's. Then a strip of tiles with fewer rows than the others is code
// of its own, so that the number of rows and the mask of the operands' lanes are constants.
#include <numeric>

#include "absl/algorithm/container.h"
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/nest_emitter.h"
#include "backends/cpu/kernels/transposed_reads.h"
#include "backends/llvm/nest/loop_elements.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"
#include "llvm/IR/Constants.h"
#include "llvm/TargetParser/Triple.h"

namespace hilo::cpu {
namespace {

using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

// Returns the vector as one that the code generator does not look into: x86's combiner of shuffles otherwise tries
// every network of shuffles as one, which is a third of the time of a tile's compilation, of bytes nearly all of it,
// and finds nothing.
llvm::Value* Fenced(llvm::IRBuilder<>& b, llvm::Value* vector) {
  llvm::Type* type = vector->getType();
  const llvm::Triple target(b.GetInsertBlock()->getModule()->getTargetTriple());
  const unsigned bits = type->getPrimitiveSizeInBits();
  if (!target.isX86() || bits % 64 != 0) return vector;
  llvm::Type* number = type->getScalarSizeInBits() == 64 ? b.getDoubleTy() : b.getFloatTy();
  llvm::Type* numbers = llvm::FixedVectorType::get(number, bits / number->getPrimitiveSizeInBits());
  return b.CreateBitCast(b.CreateArithmeticFence(b.CreateBitCast(vector, numbers), numbers), type);
}

// Returns the rows of a square matrix of which `vectors`, as many as each has lanes, are the columns. Each step swaps a
// bit of the lane's number with the same bit of the vector's: shuffles of two vectors that processors have as one
// instruction, and that LLVM selects in a sixth of the time that it takes for other networks.
std::vector<llvm::Value*> Transposed(llvm::IRBuilder<>& b, std::vector<llvm::Value*> vectors) {
  const int width = static_cast<int>(vectors.size());
  const bool is_narrow = vectors[0]->getType()->getScalarSizeInBits() < 32;
  for (int bit = 1; bit < width; bit *= 2) {
    // A fence before the last step of eight vectors of bytes would make its shuffles those of floats: slower.
    if (is_narrow ? bit == 2 || (bit >= 4 && width > 8) : bit >= 4) {
      for (llvm::Value*& vector : vectors) vector = Fenced(b, vector);
    }
    std::vector<int> low, high;
    for (int lane = 0; lane < width; ++lane) {
      low.push_back((lane & bit) == 0 ? lane : width + (lane ^ bit));
      high.push_back((lane & bit) == 0 ? lane ^ bit : width + lane);
    }
    for (int i = 0; i < width; ++i) {
      if ((i & bit) != 0) continue;
      llvm::Value *first = vectors[i], *second = vectors[i | bit];
      vectors[i] = b.CreateShuffleVector(first, second, low);
      vectors[i | bit] = b.CreateShuffleVector(first, second, high);
    }
  }
  return vectors;
}

class TransposeEmitter {
 public:
  TransposeEmitter(FunctionEmitter& f, const KernelParts& kernel)
      : f_(f),
        b_(f.b()),
        loop_(LoopResultsOf(*kernel.instruction)),
        reads_(*TransposedReadsOf(loop_)),
        width_(kernel.config.width),
        block_(kernel.config.tile[0]),
        unrolls_rows_(kernel.config.tile[1] == 1),
        rank_(loop_.shape().rank()),
        columns_(loop_.shape().dimensions(rank_ - 1)) {
    for (int64_t dim : reads_.dims) row_sizes_.push_back(loop_.shape().dimensions(dim));
    for (int64_t size : row_sizes_) rows_ *= size;
    const bool may_repeat = MayRepeat(f_, *kernel.instruction);
    overlaps_rows_ = may_repeat && unrolls_rows_ && rows_ >= width_ && rows_ % width_ != 0;
    overlaps_columns_ = may_repeat && columns_ >= width_ && columns_ % width_ != 0;
  }

  absl::Status Emit(llvm::Value* begin, llvm::Value* end) {
    std::vector<int64_t> sizes;
    for (int64_t d = 0; d + 1 < rank_; ++d) {
      if (!absl::c_linear_search(reads_.dims, d)) sizes.push_back(loop_.shape().dimensions(d));
    }
    sizes.push_back(CeilDiv(columns_, block_));
    sizes.push_back(CeilDiv(rows_, width_));
    return ForEach(f_, "tiles", begin, end, [&](llvm::Value* unit) -> absl::Status {
      const std::vector<LaneIndex> position = f_.Delinearize(unit, sizes);
      dims_.assign(position.begin(), position.end() - 2);
      const auto first = [&](const LaneIndex& number, int64_t size) {
        return b_.CreateNSWMul(number.Base(f_.context()), b_.getInt64(static_cast<uint64_t>(size)));
      };
      llvm::Value* begin_column = first(position.end()[-2], block_);
      first_row_ = first(position.back(), width_);
      if (overlaps_rows_) first_row_ = NoLaterThan(first_row_, rows_ - width_);
      const int64_t whole = rows_ / width_ * width_, rest = rows_ - whole;
      strip_rows_ = whole == 0 ? rest : width_;
      if (!unrolls_rows_ || whole == 0 || rest == 0 || overlaps_rows_) return EmitStrip(begin_column);
      llvm::Value* last = b_.getInt64(static_cast<uint64_t>(whole));
      const auto emit = [&]() -> absl::StatusOr<codegen::Carried> {
        HILO_RETURN_IF_ERROR(EmitStrip(begin_column));
        return codegen::Carried();
      };
      const auto emit_last = [&]() -> absl::StatusOr<codegen::Carried> {
        first_row_ = last;
        strip_rows_ = rest;
        return emit();
      };
      return codegen::EmitBranches(f_.context(), "strip", b_.CreateICmpSLT(first_row_, last), emit, emit_last).status();
    });
  }

 private:
  llvm::Value* NoLaterThan(llvm::Value* first, int64_t last) {
    return codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::smin, first, b_.getInt64(static_cast<uint64_t>(last)));
  }

  // Returns the index of the results with these indices in the dimensions of the tile's rows and in the minor-most one.
  Index At(absl::Span<const LaneIndex> row, const LaneIndex& column) const {
    std::vector<LaneIndex> dims;
    auto other = dims_.begin();
    for (int64_t d = 0; d + 1 < rank_; ++d) {
      const auto it = absl::c_find(reads_.dims, d);
      dims.push_back(it == reads_.dims.end() ? *other++ : row[it - reads_.dims.begin()]);
    }
    dims.push_back(column);
    return Index(std::move(dims));
  }

  // Returns the index of the operand of `transpose` whose lanes are the rows of the tile from `first_row_` on, in this
  // column.
  Index OperandIndex(const HloInstruction* transpose, const LaneIndex& column) {
    const std::vector<int64_t>& permutation = transpose->attrs<TransposeAttrs>().dimensions;
    const bool is_linear = reads_.dims.size() > 1;
    const LaneIndex row = is_linear ? LaneIndex::Constant(0) : LaneIndex::Strided(first_row_, 1, RowMultiple(), rows_);
    const std::vector<LaneIndex> dims = At(std::vector<LaneIndex>(reads_.dims.size(), row), column).Dims(f_.context());
    std::vector<LaneIndex> from(permutation.size());
    for (size_t d = 0; d < permutation.size(); ++d) from[permutation[d]] = dims[d];
    Index index(std::move(from));
    if (!is_linear) return index;
    const absl::Span<const int64_t> sizes = transpose->operand(0)->shape().dimensions();
    llvm::Value* begin = index.Linear(f_.context(), sizes).Base(f_.context());
    return Index::FromLinear(LaneIndex::Strided(b_.CreateNSWAdd(begin, first_row_), 1, rows_ % width_ == 0 ? width_ : 1,
                                                ShapeUtil::ElementsIn(transpose->operand(0)->shape())),
                             sizes);
  }

  // Emits the tiles of the part's columns, from `begin_column` on, and of the rows from `first_row_` on.
  absl::Status EmitStrip(llvm::Value* begin_column) {
    const int64_t whole = overlaps_columns_ ? columns_ : columns_ / width_ * width_;
    llvm::Value *end_column = b_.getInt64(static_cast<uint64_t>(whole)), *is_last = b_.getTrue();
    if (block_ < columns_) {
      llvm::Value* next = b_.CreateNSWAdd(begin_column, b_.getInt64(static_cast<uint64_t>(block_)));
      is_last = b_.CreateICmpSGE(next, b_.getInt64(static_cast<uint64_t>(columns_)));
      end_column = codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::smin, end_column, next);
    }
    HILO_RETURN_IF_ERROR(ForEach(
        f_, "columns", begin_column, end_column,
        [&](llvm::Value* column) {
          return EmitTile(overlaps_columns_ ? NoLaterThan(column, columns_ - width_) : column, width_);
        },
        width_, CeilDiv(std::min(block_, columns_), width_)));
    if (whole == columns_) return absl::OkStatus();
    const auto rest = [&]() -> absl::StatusOr<codegen::Carried> {
      HILO_RETURN_IF_ERROR(EmitTile(b_.getInt64(static_cast<uint64_t>(whole)), columns_ - whole));
      return codegen::Carried();
    };
    if (block_ == columns_) return rest().status();
    return codegen::EmitBranches(f_.context(), "rest", is_last, rest,
                                 []() -> absl::StatusOr<codegen::Carried> { return codegen::Carried(); })
        .status();
  }

  // Emits the tile at `column`, of which `columns` exist.
  absl::Status EmitTile(llvm::Value* column, int64_t columns) {
    codegen::RegionScope region(f_.context());
    std::vector<llvm::AllocaInst*> tiles;  // the rows of each transpose, real parts before imaginary ones
    for (const HloInstruction* transpose : reads_.transposes) {
      HILO_ASSIGN_OR_RETURN(const std::vector<llvm::AllocaInst*> parts, StoreTransposed(transpose, column, columns));
      tiles.insert(tiles.end(), parts.begin(), parts.end());
    }
    f_.context().lanes = {.width = width_};
    if (columns < width_) f_.context().lanes.mask = FirstLanes(columns);
    const auto emit_row = [&](llvm::Value* row) {
      auto tile = tiles.begin();
      const auto load = [&]() -> llvm::Value* {
        llvm::Type* type = (*tile)->getAllocatedType();
        return b_.CreateAlignedLoad(type, b_.CreateInBoundsGEP(type, *tile++, row), RowAlignment(type));
      };
      const Index index = At(f_.Delinearize(b_.CreateNSWAdd(first_row_, row), row_sizes_),
                             LaneIndex::Strided(column, 1, ColumnMultiple(), columns_));
      for (const HloInstruction* transpose : reads_.transposes) {
        ElementValue value{.re = load()};
        if (IsComplexType(transpose->shape().element_type())) value.im = load();
        f_.elements().SetElement(transpose, index, value);
      }
      return codegen::EmitElements(f_, loop_, {index});
    };
    if (unrolls_rows_) {
      for (int64_t row = 0; row < strip_rows_; ++row)
        HILO_RETURN_IF_ERROR(emit_row(b_.getInt64(static_cast<uint64_t>(row))));
      return absl::OkStatus();
    }
    llvm::Value* count = b_.getInt64(static_cast<uint64_t>(width_));
    if (rows_ % width_ != 0) {
      count = codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::smin, count,
                                           b_.CreateNSWSub(b_.getInt64(static_cast<uint64_t>(rows_)), first_row_));
    }
    return ForEach(f_, "rows", b_.getInt64(0), count, emit_row, 1, width_);
  }

  // Stores the rows of a tile of `transpose` in local variables.
  absl::StatusOr<std::vector<llvm::AllocaInst*>> StoreTransposed(const HloInstruction* transpose, llvm::Value* column,
                                                                 int64_t columns) {
    codegen::RegionScope region(f_.context());
    f_.context().lanes = {.width = width_};
    if (unrolls_rows_ && strip_rows_ < width_) {
      f_.context().lanes.mask = FirstLanes(strip_rows_);
    } else if (!unrolls_rows_ && rows_ % width_ != 0) {
      f_.context().lanes.mask = LaneIndex::Strided(first_row_, 1).InRange(f_.context(), 0, rows_);
    }
    std::vector<llvm::Value*> re, im;
    for (int64_t c = 0; c < columns; ++c) {
      const LaneIndex here = LaneIndex::Uniform(column, 1, columns_).AddConstant(c).WithRange({0, columns_ - 1});
      HILO_ASSIGN_OR_RETURN(ElementValue value,
                            f_.elements().Generate(transpose->operand(0), OperandIndex(transpose, here)));
      value = f_.context().Splat(value);
      re.push_back(value.re);
      if (value.im != nullptr) im.push_back(value.im);
    }
    std::vector<llvm::AllocaInst*> tiles;
    for (std::vector<llvm::Value*>* part : {&re, &im}) {
      if (part->empty()) continue;
      llvm::Type* type = part->front()->getType();
      part->resize(static_cast<size_t>(width_), llvm::PoisonValue::get(type));
      const std::vector<llvm::Value*> rows = Transposed(b_, *part);
      tiles.push_back(f_.context().EntryAlloca(type, width_, kTileAlignment, "tile"));
      for (int r = 0; r < width_; ++r) {
        b_.CreateAlignedStore(rows[r], b_.CreateConstInBoundsGEP1_64(type, tiles.back(), static_cast<uint64_t>(r)),
                              RowAlignment(type));
      }
    }
    return tiles;
  }

  // Return what the numbers of a tile's first row and column are multiples of.
  int64_t RowMultiple() const { return overlaps_rows_ ? std::gcd(int64_t{width_}, rows_) : width_; }
  int64_t ColumnMultiple() const { return overlaps_columns_ ? std::gcd(int64_t{width_}, columns_) : width_; }

  // Returns the mask of the first `count` lanes.
  llvm::Value* FirstLanes(int64_t count) {
    std::vector<llvm::Constant*> active;
    for (int64_t lane = 0; lane < width_; ++lane) active.push_back(b_.getInt1(lane < count));
    return llvm::ConstantVector::get(active);
  }

  // Returns the alignment of a row of a tile, which is a vector of `type`: rows are adjacent.
  llvm::Align RowAlignment(llvm::Type* type) const {
    const auto bytes = static_cast<int64_t>(f_.function()->getParent()->getDataLayout().getTypeAllocSize(type));
    return llvm::Align(static_cast<uint64_t>(std::gcd(kTileAlignment, bytes)));
  }

  static constexpr int64_t kTileAlignment = 16;

  FunctionEmitter& f_;
  llvm::IRBuilder<>& b_;
  const LoopResults loop_;
  const TransposedReads reads_;
  const int width_;
  const int64_t block_;      // columns of a part
  const bool unrolls_rows_;  // rows of a tile
  const int64_t rank_, columns_;
  bool overlaps_rows_ = false, overlaps_columns_ = false;  // with those of the tile before
  std::vector<int64_t> row_sizes_;                         // of the dimensions of a tile's rows
  int64_t rows_ = 1;

  // State of the row of tiles that is being emitted.
  std::vector<LaneIndex> dims_;  // the indices in all dimensions but those of a tile
  llvm::Value* first_row_ = nullptr;
  int64_t strip_rows_ = 0;  // rows of a tile, if they are unrolled
};

}  // namespace

absl::Status EmitTiledTranspose(FunctionEmitter& f, const KernelParts& kernel) {
  return TransposeEmitter(f, kernel).Emit(kernel.begin, kernel.end);
}

}  // namespace hilo::cpu
