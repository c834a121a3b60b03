// Transposes that exchange the minor-most dimension: through tiles of 32 x 32 in shared memory, so that both reading and writing go along lines. The operand may be anything
// fused. The result's dimensions are seen as three groups: [before..., row, ...between, column], where `row` is the result dimension that is minor-most in the operand.
#include "backends/gpu/emitters.h"
#include "backends/llvm/element_movement.h"
#include "base/status_macros.h"
#include "hlo/ops/op_attributes.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

constexpr int64_t kTile = 32, kRowsAtOnce = kBlockSize / kTile;
// Shorter sides are loops.
constexpr int64_t kMinSide = 16;

// The result dimension that is the operand's minor-most.
int64_t RowDimension(const HloInstruction& transpose) {
  const auto& permutation = transpose.attrs<TransposeAttrs>().dimensions;
  const int64_t minor = transpose.shape().rank() - 1;
  for (int64_t d = 0; d < minor; ++d) {
    if (permutation[d] == minor) return d;
  }
  return -1;
}

}  // namespace

bool IsTiledTranspose(const HloInstruction& transpose) {
  const int64_t row = transpose.shape().rank() < 2 ? -1 : RowDimension(transpose);
  return row >= 0 && transpose.shape().dimensions(row) >= kMinSide && transpose.shape().dimensions().back() >= kMinSide;
}

absl::Status EmitTranspose(ProgramEmitter& program, const HloInstruction* instruction) {
  const HloInstruction* transpose = HeroOf(instruction);
  const auto& permutation = transpose->attrs<TransposeAttrs>().dimensions;
  const Shape& shape = transpose->shape();
  const int64_t row_dimension = RowDimension(*transpose), column_dimension = shape.rank() - 1;
  const int64_t rows = shape.dimensions(row_dimension), columns = shape.dimensions(column_dimension);
  std::vector<int64_t> others, other_sizes;
  for (int64_t d = 0; d < column_dimension; ++d) {
    if (d == row_dimension) continue;
    others.push_back(d);
    other_sizes.push_back(shape.dimensions(d));
  }
  const int64_t tile_rows = CeilDiv(rows, kTile), tile_columns = CeilDiv(columns, kTile);

  KernelEmitter k(&program, instruction);
  llvm::IRBuilder<>& b = k.b();
  auto integer = [&](int64_t value) { return b.getInt64(static_cast<uint64_t>(value)); };
  llvm::Value *thread = k.Thread(), *block = k.Block();
  llvm::Value *x = b.CreateURem(thread, integer(kTile)), *y = b.CreateUDiv(thread, integer(kTile));
  llvm::Value* tile = b.CreateURem(block, integer(tile_rows * tile_columns));
  const std::vector<LaneIndex> other = k.Delinearize(b.CreateUDiv(block, integer(tile_rows * tile_columns)), other_sizes);
  llvm::Value* first_row = b.CreateMul(b.CreateUDiv(tile, integer(tile_columns)), integer(kTile), "", true, true);
  llvm::Value* first_column = b.CreateMul(b.CreateURem(tile, integer(tile_columns)), integer(kTile), "", true, true);
  const PrimitiveType type = shape.element_type();
  llvm::Type* part = codegen::RegisterType(b.getContext(), type);
  std::vector<llvm::Value*> cells;
  for (int i = 0; i < (IsComplexType(type) ? 2 : 1); ++i) cells.push_back(k.Shared(part, kTile * (kTile + 1), "tile"));

  auto result_index = [&](llvm::Value* row, llvm::Value* column) {
    std::vector<LaneIndex> at(shape.rank());
    for (size_t i = 0; i < others.size(); ++i) at[others[i]] = other[i];
    at[row_dimension] = LaneIndex::Uniform(row, 1, rows);
    at[column_dimension] = LaneIndex::Uniform(column, 1, columns);
    return at;
  };
  // Thread (y, x) brings row x of column y, and writes column x of row y.
  auto each = [&](llvm::Value* row_part, llvm::Value* column_part, absl::FunctionRef<absl::Status(llvm::Value* row, llvm::Value* column, llvm::Value* cell)> body) {
    llvm::Value *row = b.CreateAdd(first_row, row_part, "", true, true), *column = b.CreateAdd(first_column, column_part, "", true, true);
    llvm::Value* inside = b.CreateAnd(b.CreateICmpULT(row, integer(rows)), b.CreateICmpULT(column, integer(columns)));
    llvm::Value* cell = b.CreateAdd(b.CreateMul(column_part, integer(kTile + 1), "", true, true), row_part, "", true, true);
    return k.If("inside", inside, [&] { return body(row, column, cell); });
  };
  for (int64_t i = 0; i < kTile; i += kRowsAtOnce) {
    HILO_RETURN_IF_ERROR(each(x, b.CreateAdd(y, integer(i), "", true, true), [&](llvm::Value* row, llvm::Value* column, llvm::Value* cell) -> absl::Status {
      const std::vector<LaneIndex> at = result_index(row, column);
      std::vector<LaneIndex> from(at.size());
      for (size_t d = 0; d < at.size(); ++d) from[permutation[d]] = at[d];
      HILO_ASSIGN_OR_RETURN(ElementValue value, k.elements().Generate(transpose->operand(0), Index(std::move(from))));
      const Carried parts = codegen::Pack({value});
      for (size_t p = 0; p < parts.size(); ++p) k.StoreCell(cells[p], cell, parts[p]);
      return absl::OkStatus();
    }));
  }
  k.Barrier();
  for (int64_t i = 0; i < kTile; i += kRowsAtOnce) {
    HILO_RETURN_IF_ERROR(each(b.CreateAdd(y, integer(i), "", true, true), x, [&](llvm::Value* row, llvm::Value* column, llvm::Value* cell) -> absl::Status {
      Carried parts;
      for (llvm::Value* array : cells) parts.push_back(k.LoadCell(array, cell, part));
      k.ArrayOf(instruction).Store(k.context(), Index(result_index(row, column)), codegen::Unpack(parts, {&type, 1})[0]);
      return absl::OkStatus();
    }));
  }
  return program.FinishAndLaunch(instruction, k, Product(other_sizes) * tile_rows * tile_columns, kBlockSize);
}

}  // namespace hilo::gpu
