// Loops over the elements of a result: element-wise operations, data movement, and fusions of them, one result or
// several. Which of them: loop_choice.cc.
#include <algorithm>

#include "backends/cpu/kernels/fused_loop.h"
#include "backends/cpu/kernels/kernels.h"
#include "hilo/status_macros.h"

namespace hilo::cpu {
namespace {

using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

// Converts `index` of the loop to an index among the elements of `shape`.
Index IndexIn(FunctionEmitter& f, const FusedLoop& loop, const Shape& shape, const Index& index) {
  if (ShapeUtil::SameDimensions(shape, loop.shape)) return index;
  return index.Reshape(f.context(), loop.shape.dimensions(), shape.dimensions());
}

// The elements of all leaves at `index`.
absl::StatusOr<std::vector<ElementValue>> Values(FunctionEmitter& f, const FusedLoop& loop, const Index& index) {
  if (loop.roots.size() == 1) return f.elements().GenerateLeaves(loop.roots[0], index);
  std::vector<ElementValue> values;
  for (const HloInstruction* root : loop.roots) {
    HILO_ASSIGN_OR_RETURN(ElementValue value, f.elements().Generate(root, IndexIn(f, loop, root->shape(), index)));
    values.push_back(value);
  }
  return values;
}

absl::Status EmitAt(FunctionEmitter& f, const FusedLoop& loop, const Index& index) {
  HILO_ASSIGN_OR_RETURN(std::vector<ElementValue> values, Values(f, loop, index));
  // All reads come before all writes: a result may share the memory of an operand.
  for (size_t i = 0; i < values.size(); ++i) {
    f.ArrayOf(loop.instruction, static_cast<int64_t>(i))
        .Store(f.context(), IndexIn(f, loop, loop.leaf_shapes[i], index), values[i]);
  }
  return absl::OkStatus();
}

absl::Status EmitEach(FunctionEmitter& f, const FusedLoop& loop) {
  const int64_t count = ShapeUtil::ElementsIn(loop.shape);
  HILO_RETURN_IF_ERROR(f.LoadScalarOperands(loop.instruction));
  // All values before all stores, as a result may share the memory of an operand that later elements read.
  std::vector<Index> indices;
  std::vector<std::vector<ElementValue>> values;
  for (int64_t linear = 0; linear < count; ++linear) {
    indices.push_back(Index::FromLinear(LaneIndex::Constant(linear), loop.shape.dimensions()));
    HILO_ASSIGN_OR_RETURN(std::vector<ElementValue> here, Values(f, loop, indices.back()));
    values.push_back(std::move(here));
  }
  for (size_t i = 0; i < loop.leaf_shapes.size(); ++i) {
    const codegen::IrArray array = f.ArrayOf(loop.instruction, static_cast<int64_t>(i));
    for (int64_t linear = 0; linear < count; ++linear) {
      array.Store(f.context(), IndexIn(f, loop, loop.leaf_shapes[i], indices[linear]), values[linear][i]);
    }
  }
  return absl::OkStatus();
}

// A flat loop in blocks of `block` elements.
absl::Status EmitFlat(FunctionEmitter& f, const FusedLoop& loop, int width, int64_t block, llvm::Value* begin,
                      llvm::Value* end) {
  const int64_t count = ShapeUtil::ElementsIn(loop.shape);
  HILO_RETURN_IF_ERROR(f.LoadScalarOperands(loop.instruction));
  llvm::IRBuilder<>& b = f.b();
  const int64_t whole = count / width * width;
  // Full vectors of parts [begin, end); the last part may be short.
  llvm::Value* from = b.CreateNSWMul(begin, b.getInt64(block));
  llvm::Value* to = b.CreateNSWMul(end, b.getInt64(block));
  to = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, to, b.getInt64(whole));
  auto body = [&](llvm::Value* i) {
    return EmitAt(f, loop, Index::FromLinear(LaneIndex::Strided(i, 1, width, count), loop.shape.dimensions()));
  };
  {
    codegen::RegionScope region(f.context());
    f.context().lanes = {.width = width};
    if (whole > 0) HILO_RETURN_IF_ERROR(ForEach(f, "elements", from, to, body, width));
  }
  if (whole == count) return absl::OkStatus();
  // The tail belongs to the last part.
  auto tail = [&]() -> absl::StatusOr<codegen::Carried> {
    std::vector<llvm::Constant*> active;
    for (int lane = 0; lane < width; ++lane) active.push_back(b.getInt1(lane < count - whole));
    f.context().lanes = {.width = width, .mask = llvm::ConstantVector::get(active)};
    HILO_RETURN_IF_ERROR(body(b.getInt64(whole)));
    return codegen::Carried();
  };
  llvm::Value* last = b.CreateICmpEQ(end, b.getInt64((count + block - 1) / block));
  if (llvm::isa<llvm::Constant>(last)) {
    codegen::RegionScope region(f.context());
    return tail().status();
  }
  return codegen::EmitBranches(f.context(), "tail", last, tail,
                               []() -> absl::StatusOr<codegen::Carried> { return codegen::Carried(); })
      .status();
}

// Emits body over the lanes of [from, to), which is within [low, high) and has at most `most` elements: full vectors,
// then a masked tail.
absl::Status EmitPart(FunctionEmitter& f, int width, llvm::Value* from, llvm::Value* to, int64_t low, int64_t high,
                      int64_t most, absl::FunctionRef<absl::Status(const LaneIndex&)> at) {
  llvm::IRBuilder<>& b = f.b();
  auto body = [&](llvm::Value* i) { return at(LaneIndex::Strided(i, 1).WithRange({low, high - 1})); };
  llvm::Value* whole = b.CreateNSWAdd(
      from, b.CreateNSWMul(b.CreateSDiv(b.CreateNSWSub(to, from), b.getInt64(width)), b.getInt64(width)));
  {
    codegen::RegionScope region(f.context());
    f.context().lanes = {.width = width};
    HILO_RETURN_IF_ERROR(ForEach(f, "part", from, whole, body, width, most / width));
  }
  auto tail = [&]() -> absl::StatusOr<codegen::Carried> {
    std::vector<llvm::Constant*> ramp;
    for (int lane = 0; lane < width; ++lane) ramp.push_back(b.getInt64(lane));
    llvm::Value* left = b.CreateVectorSplat(width, b.CreateNSWSub(to, whole));
    f.context().lanes = {.width = width,
                         .mask = width == 1 ? nullptr : b.CreateICmpSLT(llvm::ConstantVector::get(ramp), left)};
    HILO_RETURN_IF_ERROR(body(whole));
    return codegen::Carried();
  };
  if (width == 1) return absl::OkStatus();
  return codegen::EmitBranches(f.context(), "tail", b.CreateICmpSLT(whole, to), tail,
                               []() -> absl::StatusOr<codegen::Carried> { return codegen::Carried(); })
      .status();
}

// Returns true if the arrays of a tiny loop are in memory anyway or are locals that were written as vectors: then it is
// one vector.
bool UsesVector(FunctionEmitter& f, const FusedLoop& loop) {
  bool has_vectors = false;
  for (const HloInstruction* operand : loop.instruction->operands()) {
    if (operand->shape().IsScalar() || !f.IsLocal(operand)) continue;
    if (!f.HoldsVectors(operand)) return false;
    has_vectors = true;
  }
  return has_vectors || !f.IsLocal(loop.instruction);
}

// The loop of a kernel, whose results it writes as vectors.
absl::StatusOr<FusedLoop> BeginLoop(FunctionEmitter& f, const KernelParts& kernel) {
  if (kernel.config.width > 1) f.SetHoldsVectors(kernel.instruction);
  return FusedLoopOf(kernel.instruction);
}

}  // namespace

absl::Status EmitUnrolled(FunctionEmitter& f, const KernelParts& kernel) {
  HILO_ASSIGN_OR_RETURN(const FusedLoop loop, FusedLoopOf(kernel.instruction));
  const int64_t width = kernel.config.width;
  if (width == 1 || !UsesVector(f, loop)) return EmitEach(f, loop);
  f.SetHoldsVectors(kernel.instruction);
  return EmitFlat(f, loop, static_cast<int>(width), ShapeUtil::ElementsIn(loop.shape), kernel.begin, kernel.end);
}

absl::Status EmitFlatLoop(FunctionEmitter& f, const KernelParts& kernel) {
  HILO_ASSIGN_OR_RETURN(const FusedLoop loop, BeginLoop(f, kernel));
  return EmitFlat(f, loop, static_cast<int>(kernel.config.width), kernel.config.tile[0], kernel.begin, kernel.end);
}

// Rows, each split into segments that read from one operand; long rows are several parts.
absl::Status EmitRowSegments(FunctionEmitter& f, const KernelParts& kernel) {
  HILO_ASSIGN_OR_RETURN(const FusedLoop loop, BeginLoop(f, kernel));
  const int width = static_cast<int>(kernel.config.width);
  const int64_t block = kernel.config.tile[0];
  const absl::Span<const int64_t> segments = absl::MakeConstSpan(kernel.config.tile).subspan(1);
  const int64_t row = segments.back(), parts = (row + block - 1) / block;
  HILO_RETURN_IF_ERROR(f.LoadScalarOperands(loop.instruction));
  auto outer = loop.shape.dimensions();
  outer.remove_suffix(1);
  llvm::IRBuilder<>& b = f.b();
  return ForEach(f, "rows", kernel.begin, kernel.end, [&](llvm::Value* unit) -> absl::Status {
    const std::vector<LaneIndex> prefix = Delinearize(f, b.CreateUDiv(unit, b.getInt64(parts)), outer);
    llvm::Value* from = b.CreateNSWMul(b.CreateURem(unit, b.getInt64(parts)), b.getInt64(block));
    llvm::Value* to = parts == 1 ? b.getInt64(row) : b.CreateNSWAdd(from, b.getInt64(block));
    for (size_t i = 0; i + 1 < segments.size(); ++i) {
      llvm::Value* first = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, from, b.getInt64(segments[i]));
      llvm::Value* last = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, to, b.getInt64(segments[i + 1]));
      last = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, first, last);
      codegen::RegionScope region(f.context());
      HILO_RETURN_IF_ERROR(EmitPart(f, width, first, last, segments[i], segments[i + 1],
                                    std::min(segments[i + 1] - segments[i], parts == 1 ? row : block),
                                    [&](const LaneIndex& lanes) {
                                      std::vector<LaneIndex> index = prefix;
                                      index.push_back(lanes);
                                      return EmitAt(f, loop, Index(std::move(index)));
                                    }));
    }
    return absl::OkStatus();
  });
}

absl::Status EmitNarrowRows(FunctionEmitter& f, const KernelParts& kernel) {
  HILO_ASSIGN_OR_RETURN(const FusedLoop loop, BeginLoop(f, kernel));
  const int width = static_cast<int>(kernel.config.width);
  const int64_t rank = loop.shape.rank(), rows = loop.shape.dimensions(rank - 2), block = kernel.config.tile[0];
  const int64_t parts = (rows + block - 1) / block;
  HILO_RETURN_IF_ERROR(f.LoadScalarOperands(loop.instruction));
  auto outer = loop.shape.dimensions();
  outer.remove_suffix(2);
  llvm::IRBuilder<>& b = f.b();
  return ForEach(f, "parts", kernel.begin, kernel.end, [&](llvm::Value* unit) -> absl::Status {
    const std::vector<LaneIndex> prefix = Delinearize(f, b.CreateUDiv(unit, b.getInt64(parts)), outer);
    llvm::Value* from = b.CreateNSWMul(b.CreateURem(unit, b.getInt64(parts)), b.getInt64(block));
    llvm::Value* to =
        b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateNSWAdd(from, b.getInt64(block)), b.getInt64(rows));
    return EmitPart(f, width, from, to, 0, rows, std::min(rows, block), [&](const LaneIndex& lanes) -> absl::Status {
      std::vector<LaneIndex> place = prefix;
      place.insert(place.end(), {lanes, LaneIndex::Constant(0)});
      std::vector<std::vector<ElementValue>> leaves(loop.leaf_shapes.size());
      for (int64_t column = 0; column < loop.shape.dimensions(rank - 1); ++column) {
        place.back() = LaneIndex::Constant(column);
        HILO_ASSIGN_OR_RETURN(std::vector<ElementValue> values, Values(f, loop, Index(place)));
        for (size_t i = 0; i < leaves.size(); ++i) leaves[i].push_back(values[i]);
      }
      place.back() = LaneIndex::Constant(0);
      for (size_t i = 0; i < leaves.size(); ++i) {
        const Index first = IndexIn(f, loop, loop.leaf_shapes[i], Index(place));
        f.ArrayOf(loop.instruction, static_cast<int64_t>(i)).StoreColumns(f.context(), first, leaves[i]);
      }
      return absl::OkStatus();
    });
  });
}

absl::Status EmitRows(FunctionEmitter& f, const KernelParts& kernel) {
  HILO_ASSIGN_OR_RETURN(const FusedLoop loop, BeginLoop(f, kernel));
  const int width = static_cast<int>(kernel.config.width);
  const int64_t row = loop.shape.dimensions(loop.shape.rank() - 1);
  HILO_RETURN_IF_ERROR(f.LoadScalarOperands(loop.instruction));
  auto outer = loop.shape.dimensions();
  outer.remove_suffix(1);
  return ForEach(f, "rows", kernel.begin, kernel.end, [&](llvm::Value* r) -> absl::Status {
    const std::vector<LaneIndex> prefix = Delinearize(f, r, outer);
    return ForEachVector(f, "row", row, width, [&](const LaneIndex& i) {
      std::vector<LaneIndex> index = prefix;
      index.push_back(i);
      return EmitAt(f, loop, Index(std::move(index)));
    });
  });
}

absl::Status EmitCopy(FunctionEmitter& f, const KernelParts& kernel) {
  const HloInstruction* instruction = kernel.instruction;
  const int64_t bytes = ShapeUtil::ByteSizeOf(instruction->shape()), bytes_per_part = kernel.config.tile[0];
  llvm::IRBuilder<>& b = f.b();
  llvm::Value* from = b.CreateNSWMul(kernel.begin, b.getInt64(bytes_per_part));
  llvm::Value* to = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin,
                                            b.CreateNSWMul(kernel.end, b.getInt64(bytes_per_part)), b.getInt64(bytes));
  llvm::Value* source = f.PointerTo(instruction->operand(0));
  llvm::Value* target = f.PointerTo(instruction);
  if (source == target) return absl::OkStatus();
  // Small values are locals, which have less alignment than buffers.
  b.CreateMemCpy(b.CreateInBoundsGEP(b.getInt8Ty(), target, from), llvm::Align(f.ArrayOf(instruction).alignment),
                 b.CreateInBoundsGEP(b.getInt8Ty(), source, from),
                 llvm::Align(f.ArrayOf(instruction->operand(0)).alignment), b.CreateNSWSub(to, from));
  return absl::OkStatus();
}

}  // namespace hilo::cpu
