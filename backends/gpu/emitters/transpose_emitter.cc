// Transposes that exchange the minor-most dimension: through tiles in shared memory, so that both reads and writes are
// along lines. Any producer may be fused into the operand. The result's dimensions are viewed as three groups:
// [before..., row, ...between, column], where `row` is the result dimension that is minor-most in the operand.
//
// A thread reads and writes 16 adjacent bytes at once if the sides allow it, else a word: 4 or 2 adjacent elements of
// types of 8 and 16 bits. A line of the tile is one element longer than its side (of 16 bits: one word, so that
// adjacent elements are stored as words), so that the words of a line and those across the lines are in different
// banks, or at most two in one.
//
// The tile holds elements in memory form. Narrow floats that are only moved are never decoded.
#include <algorithm>

#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/emitters/nest_emitter.h"
#include "backends/gpu/match/operands.h"
#include "backends/gpu/match/product_match.h"
#include "backends/llvm/elements/predication.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/hero.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

// Returns the type as which elements of `type` are moved: unsigned integers instead of narrow floats.
PrimitiveType MovedType(PrimitiveType type) {
  if (!IsFloatingPointType(type) || PrimitiveTypeByteSize(type) >= 4) return type;
  return PrimitiveTypeByteSize(type) == 1 ? U8 : U16;
}

codegen::IrArray WithType(codegen::IrArray array, PrimitiveType type) {
  array.shape = ShapeUtil::ChangeElementType(array.shape, type);
  return array;
}

}  // namespace

absl::Status EmitTranspose(ProgramEmitter& program, const HloInstruction* instruction) {
  const HloInstruction* transpose = HeroOf(instruction);
  const auto& permutation = transpose->attrs<TransposeAttrs>().dimensions;
  const Shape& shape = transpose->shape();
  const int64_t row_dimension = TransposedRowDimension(*transpose), column_dimension = shape.rank() - 1;
  const int64_t rows = shape.dimensions(row_dimension), columns = shape.dimensions(column_dimension);
  std::vector<int64_t> others, other_sizes;
  for (int64_t d = 0; d < column_dimension; ++d) {
    if (d == row_dimension) continue;
    others.push_back(d);
    other_sizes.push_back(shape.dimensions(d));
  }
  const KernelConfig& config = *instruction->kernel();
  const int64_t group = config.width, block_size = config.tile[0], side = config.tile[1], pitch = config.tile[2];
  const int64_t lanes = side / group;  // threads of a line
  const codegen::LoopNest nest = {
      {.sizes = other_sizes}, {.sizes = {rows}, .part = side}, {.sizes = {columns}, .part = side}};

  KernelEmitter k(&program, instruction);
  llvm::IRBuilder<>& b = k.b();
  auto integer = [&](int64_t value) { return b.getInt64(static_cast<uint64_t>(value)); };
  llvm::Value* thread = k.Thread();
  llvm::Value *x = b.CreateMul(b.CreateURem(thread, integer(lanes)), integer(group), "", true, true),
              *y = b.CreateUDiv(thread, integer(lanes));
  const std::vector<llvm::Value*> begins = PartBegins(k, nest);
  const std::vector<LaneIndex> other = k.Delinearize(begins[0], other_sizes);
  llvm::Value *first_row = begins[1], *first_column = begins[2];
  const PrimitiveType type = shape.element_type(), moved = MovedType(type);
  llvm::Type* part = codegen::MemoryType(b.getContext(), moved);
  std::vector<llvm::Value*> cells;
  for (int i = 0; i < (IsComplexType(type) ? 2 : 1); ++i) cells.push_back(k.Shared(part, side * pitch, "tile"));

  auto result_index = [&](llvm::Value* row, llvm::Value* column) {
    std::vector<LaneIndex> at(shape.rank());
    for (size_t i = 0; i < others.size(); ++i) at[others[i]] = other[i];
    at[row_dimension] = LaneIndex::Uniform(row, 1, rows);
    at[column_dimension] = LaneIndex::Uniform(column, 1, columns);
    return at;
  };
  // Lines y, y + lines_at_once ... of the tile; the group's first element inside means all of it, as sides are
  // multiples of groups.
  using Body = absl::FunctionRef<absl::Status(llvm::Value * row, llvm::Value * column, llvm::Value * cell)>;
  const int64_t lines_at_once = block_size / lanes;
  auto lines = [&](bool along_rows, Body body) {
    const auto line = [&](llvm::Value* i) {
      llvm::Value *row_part = along_rows ? x : i, *column_part = along_rows ? i : x;
      llvm::Value *row = b.CreateAdd(first_row, row_part, "", true, true),
                  *column = b.CreateAdd(first_column, column_part, "", true, true);
      llvm::Value* inside = b.CreateAnd(b.CreateICmpULT(row, integer(rows)), b.CreateICmpULT(column, integer(columns)));
      return k.If("inside", inside, [&]() -> absl::Status {
        for (int64_t j = 0; j < group; ++j) {
          const auto next = [&](llvm::Value* value, bool moves) {
            return moves && j > 0 ? b.CreateAdd(value, integer(j), "", true, true) : value;
          };
          llvm::Value *r = next(row_part, along_rows), *c = next(column_part, !along_rows);
          llvm::Value* cell = b.CreateAdd(b.CreateMul(c, integer(pitch), "", true, true), r, "", true, true);
          HILO_RETURN_IF_ERROR(body(next(row, along_rows), next(column, !along_rows), cell));
        }
        return absl::OkStatus();
      });
    };
    if (group > 1) return k.ForEach("lines", y, integer(side), lines_at_once, line);
    absl::Status status;
    for (int64_t i = 0; i < side && status.ok(); i += lines_at_once)
      status = line(b.CreateAdd(y, integer(i), "", true, true));
    return status;
  };
  HILO_ASSIGN_OR_RETURN(const std::optional<codegen::Materialized> source,
                        k.Find(FusedOperand(transpose->operand(0), instruction), 0));
  const bool is_moved = moved != type && source.has_value() && source->array.has_value();
  const codegen::IrArray array = is_moved ? WithType(*source->array, moved) : codegen::IrArray();
  HILO_RETURN_IF_ERROR(
      lines(/*along_rows=*/true, [&](llvm::Value* row, llvm::Value* column, llvm::Value* cell) -> absl::Status {
        const std::vector<LaneIndex> at = result_index(row, column);
        std::vector<LaneIndex> from(at.size());
        for (size_t d = 0; d < at.size(); ++d) from[permutation[d]] = at[d];
        ElementValue value;
        if (is_moved) {
          value = array.Load(k.context(), Index(std::move(from)));
        } else {
          HILO_ASSIGN_OR_RETURN(value, k.elements().Generate(transpose->operand(0), Index(std::move(from))));
        }
        const Carried parts = codegen::Pack({value});
        for (size_t p = 0; p < parts.size(); ++p)
          k.StoreCell(cells[p], cell, codegen::ToMemory(k.context(), is_moved ? moved : type, parts[p]));
        return absl::OkStatus();
      }));
  k.Barrier();
  HILO_RETURN_IF_ERROR(
      lines(/*along_rows=*/false, [&](llvm::Value* row, llvm::Value* column, llvm::Value* cell) -> absl::Status {
        Carried parts;
        for (llvm::Value* tile_cells : cells)
          parts.push_back(codegen::FromMemory(k.context(), moved, k.LoadCell(tile_cells, cell, part)));
        WithType(k.ArrayOf(instruction), moved)
            .Store(k.context(), Index(result_index(row, column)), codegen::Unpack(parts, {&moved, 1})[0]);
        return absl::OkStatus();
      }));
  return k.FinishAndLaunch(instruction, PartsOf(nest), static_cast<int>(block_size));
}

}  // namespace hilo::gpu
