// Loops over the elements of a result: element-wise operations, data movement, and fusions of them, one result or
// several.
//
// If every array is read at the index that is written, the loop is flat: one index over all elements, split into
// blocks. Otherwise the rows of the result (its minor-most dimension) are the parts, and the lanes are along a row. A
// row is split where a concatenation or a padding along it changes its source: masked accesses are slow, especially
// those whose inactive lanes are outside memory. Rows of two to four elements, as of points in space, would leave most
// lanes empty: there the lanes are rows, and each column has a vector. Tiny arrays are fully unrolled, and LLVM keeps
// them in registers.
#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/row_segments.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::cpu {
namespace {

using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

// Arrays of at most this many elements are emitted one by one.
constexpr int64_t kUnrolled = 16;
// Fewer elements are faster as scalars.
constexpr int64_t kFewElements = 5;
// Elements of one part of a flat loop; a multiple of every vector width.
constexpr int64_t kBlock = 2048;
// Rows of one part of a table of few columns.
constexpr int64_t kTableRows = 1024;
// Fewer rows than this are split, so that all threads have work.
constexpr int64_t kFewRows = 16;

// The computation of the loop, and its destination.
struct Loop {
  const HloInstruction* instruction;
  std::vector<const HloInstruction*> roots;  // one per output leaf; a single one with a tuple shape yields them all
  Shape shape;                               // whose dimensions the loop runs over
  std::vector<Shape> leaf_shapes;
};

absl::StatusOr<Loop> LoopOf(const HloInstruction* instruction) {
  Loop loop{.instruction = instruction};
  const HloInstruction* root = instruction;
  while (root->opcode() == HloOpcode::kFusion) root = root->called_computation()->root_instruction();
  if (root->opcode() == HloOpcode::kTuple) {
    loop.roots.assign(root->operands().begin(), root->operands().end());
  } else {
    loop.roots = {root};
  }
  const std::vector<ShapeUtil::Leaf> leaves = ShapeUtil::Leaves(root->shape());
  if (leaves.empty()) return Unimplemented("a fusion without results");
  loop.shape = *leaves[0].shape;
  for (const ShapeUtil::Leaf& leaf : leaves) {
    if (!leaf.shape->IsArray() || ShapeUtil::ElementsIn(*leaf.shape) != ShapeUtil::ElementsIn(loop.shape)) {
      return Unimplemented("a fusion whose results differ in their number of elements");
    }
    loop.leaf_shapes.push_back(*leaf.shape);
  }
  return loop;
}

// Converts `index` of the loop to an index among the elements of `shape`.
Index IndexIn(FunctionEmitter& f, const Loop& loop, const Shape& shape, const Index& index) {
  if (ShapeUtil::SameDimensions(shape, loop.shape)) return index;
  return index.Reshape(f.context(), loop.shape.dimensions(), shape.dimensions());
}

// The elements of all leaves at `index`.
absl::StatusOr<std::vector<ElementValue>> Values(FunctionEmitter& f, const Loop& loop, const Index& index) {
  if (loop.roots.size() == 1) return f.elements().GenerateLeaves(loop.roots[0], index);
  std::vector<ElementValue> values;
  for (const HloInstruction* root : loop.roots) {
    HILO_ASSIGN_OR_RETURN(ElementValue value, f.elements().Generate(root, IndexIn(f, loop, root->shape(), index)));
    values.push_back(value);
  }
  return values;
}

absl::Status EmitAt(FunctionEmitter& f, const Loop& loop, const Index& index) {
  HILO_ASSIGN_OR_RETURN(std::vector<ElementValue> values, Values(f, loop, index));
  // All reads come before all writes: a result may share the memory of an operand.
  for (size_t i = 0; i < values.size(); ++i) {
    f.ArrayOf(loop.instruction, static_cast<int64_t>(i))
        .Store(f.context(), IndexIn(f, loop, loop.leaf_shapes[i], index), values[i]);
  }
  return absl::OkStatus();
}

absl::Status EmitUnrolled(FunctionEmitter& f, const Loop& loop) {
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

Kernel FlatKernel(const Loop& loop, int width) {
  const int64_t count = ShapeUtil::ElementsIn(loop.shape);
  const int64_t block = count <= kBlock ? count : kBlock;
  Kernel kernel;
  kernel.units = (count + block - 1) / block;
  kernel.emit = [loop, width, count, block](FunctionEmitter& f, llvm::Value* begin, llvm::Value* end) -> absl::Status {
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
  };
  return kernel;
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

// Rows, each split into segments that read from one operand; long segments are several parts.
Kernel SegmentedKernel(const Loop& loop, int width, const std::vector<int64_t>& segments) {
  const int64_t row = segments.back();
  const int64_t parts = row < 2 * kBlock ? 1 : (row + kBlock - 1) / kBlock;
  Kernel kernel;
  kernel.units = ShapeUtil::ElementsIn(loop.shape) / row * parts;
  kernel.emit = [loop, width, segments, row, parts](FunctionEmitter& f, llvm::Value* begin,
                                                    llvm::Value* end) -> absl::Status {
    HILO_RETURN_IF_ERROR(f.LoadScalarOperands(loop.instruction));
    auto outer = loop.shape.dimensions();
    outer.remove_suffix(1);
    llvm::IRBuilder<>& b = f.b();
    return ForEach(f, "rows", begin, end, [&](llvm::Value* unit) -> absl::Status {
      const std::vector<LaneIndex> prefix = Delinearize(f, b.CreateUDiv(unit, b.getInt64(parts)), outer);
      llvm::Value* from = b.CreateNSWMul(b.CreateURem(unit, b.getInt64(parts)), b.getInt64(kBlock));
      llvm::Value* to = parts == 1 ? b.getInt64(row) : b.CreateNSWAdd(from, b.getInt64(kBlock));
      for (size_t i = 0; i + 1 < segments.size(); ++i) {
        llvm::Value* first = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, from, b.getInt64(segments[i]));
        llvm::Value* last = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, to, b.getInt64(segments[i + 1]));
        last = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, first, last);
        codegen::RegionScope region(f.context());
        HILO_RETURN_IF_ERROR(EmitPart(f, width, first, last, segments[i], segments[i + 1],
                                      std::min(segments[i + 1] - segments[i], parts == 1 ? row : kBlock),
                                      [&](const LaneIndex& lanes) {
                                        std::vector<LaneIndex> index = prefix;
                                        index.push_back(lanes);
                                        return EmitAt(f, loop, Index(std::move(index)));
                                      }));
      }
      return absl::OkStatus();
    });
  };
  return kernel;
}

// The rows of a table of few columns.
Kernel TableKernel(const Loop& loop, int width) {
  const int64_t rank = loop.shape.rank(), rows = loop.shape.dimensions(rank - 2);
  const int64_t parts = (rows + kTableRows - 1) / kTableRows;
  Kernel kernel;
  kernel.units = parts;
  for (int64_t d = 0; d < rank - 2; ++d) kernel.units *= loop.shape.dimensions(d);
  kernel.emit = [=](FunctionEmitter& f, llvm::Value* begin, llvm::Value* end) -> absl::Status {
    HILO_RETURN_IF_ERROR(f.LoadScalarOperands(loop.instruction));
    auto outer = loop.shape.dimensions();
    outer.remove_suffix(2);
    llvm::IRBuilder<>& b = f.b();
    return ForEach(f, "parts", begin, end, [&](llvm::Value* unit) -> absl::Status {
      const std::vector<LaneIndex> prefix = Delinearize(f, b.CreateUDiv(unit, b.getInt64(parts)), outer);
      llvm::Value* from = b.CreateNSWMul(b.CreateURem(unit, b.getInt64(parts)), b.getInt64(kTableRows));
      llvm::Value* to = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateNSWAdd(from, b.getInt64(kTableRows)),
                                                b.getInt64(rows));
      return EmitPart(
          f, width, from, to, 0, rows, std::min(rows, kTableRows), [&](const LaneIndex& lanes) -> absl::Status {
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
  };
  return kernel;
}

// Whole rows.
Kernel RowKernel(const Loop& loop, int width) {
  const auto dimensions = loop.shape.dimensions();
  const int64_t row = dimensions.empty() ? 1 : dimensions.back();
  const int64_t rows = ShapeUtil::ElementsIn(loop.shape) / row;
  const std::vector<int64_t> segments = RowSegments(loop.roots, row);
  // Short rows would be mostly tails; few rows leave threads without work.
  if ((segments.size() > 2 && row >= 4 * width) || (rows < kFewRows && row >= 4 * kBlock))
    return SegmentedKernel(loop, width, segments);
  Kernel kernel;
  kernel.units = rows;
  kernel.emit = [loop, width, row](FunctionEmitter& f, llvm::Value* begin, llvm::Value* end) -> absl::Status {
    HILO_RETURN_IF_ERROR(f.LoadScalarOperands(loop.instruction));
    auto outer = loop.shape.dimensions();
    outer.remove_suffix(1);
    return ForEach(f, "rows", begin, end, [&](llvm::Value* r) -> absl::Status {
      const std::vector<LaneIndex> prefix = Delinearize(f, r, outer);
      return ForEachVector(f, "row", row, width, [&](const LaneIndex& i) {
        std::vector<LaneIndex> index = prefix;
        index.push_back(i);
        return EmitAt(f, loop, Index(std::move(index)));
      });
    });
  };
  return kernel;
}

// Returns true for a tiny loop that is one vector, of arrays that are in memory anyway (LLVM would eventually
// merge loads and stores of single elements, at ten times the compile time) or of locals that were written as
// vectors.
bool IsVector(FunctionEmitter& f, const Loop& loop, int width) {
  const int64_t count = ShapeUtil::ElementsIn(loop.shape);
  if (count < kFewElements || width < count || (width > count && !f.context().target().has_avx512)) return false;
  bool has_vectors = false;
  for (const HloInstruction* operand : loop.instruction->operands()) {
    if (operand->shape().IsScalar() || !f.IsLocal(operand)) continue;
    if (!f.HoldsVectors(operand)) return false;
    has_vectors = true;
  }
  return has_vectors || !f.IsLocal(loop.instruction);
}

// Returns true for a tiny loop of sums long enough to be loops themselves: lanes compute them all at once.
bool HasLongSums(const Loop& loop) {
  std::vector<const HloInstruction*> work(loop.roots.begin(), loop.roots.end());
  absl::flat_hash_set<const HloInstruction*> seen;
  while (!work.empty()) {
    const HloInstruction* instruction = work.back();
    work.pop_back();
    if (!seen.insert(instruction).second || !instruction->shape().IsArray()) continue;
    if (instruction->opcode() == HloOpcode::kFusion)
      work.push_back(instruction->called_computation()->root_instruction());
    int64_t terms = 1;
    const auto multiply = [&](int64_t size) {
      terms = std::min(terms, codegen::kUnrolledTerms + 1) * std::min(size, codegen::kUnrolledTerms + 1);
    };
    if (instruction->opcode() == HloOpcode::kDot) {
      for (int64_t d : instruction->attrs<DotAttrs>().lhs_contracting_dims)
        multiply(instruction->operand(0)->shape().dimensions(d));
    } else if (instruction->opcode() == HloOpcode::kReduce) {
      for (int64_t d : instruction->attrs<ReduceAttrs>().dimensions)
        multiply(instruction->operand(0)->shape().dimensions(d));
    }
    if (terms > codegen::kUnrolledTerms) return true;
    if (instruction->parent()->IsFusion())
      work.insert(work.end(), instruction->operands().begin(), instruction->operands().end());
  }
  return false;
}

}  // namespace

int NarrowArrayWidth(absl::Span<const HloInstruction* const> roots, const Shape& shape,
                     const codegen::TargetTraits& target) {
  const int64_t rank = shape.rank();
  if (rank < 2 || shape.dimensions(rank - 1) > codegen::kLargestShuffledStride) return 1;
  int width = 1 << 20;
  for (const HloInstruction* root : roots) {
    if (!root->shape().IsArray() || !ShapeUtil::SameDimensions(root->shape(), shape)) return 1;
    width = std::min(width, codegen::PreferredWidth(root, target, /*flat=*/false, /*behind=*/1));
  }
  return 2 * shape.dimensions(rank - 2) <= width ? 1 : width;
}

absl::StatusOr<Kernel> LoopKernel(FunctionEmitter& f, const HloInstruction* instruction) {
  HILO_ASSIGN_OR_RETURN(Loop loop, LoopOf(instruction));
  const int64_t count = ShapeUtil::ElementsIn(loop.shape);
  bool flat = true;
  for (const HloInstruction* root : loop.roots) flat = flat && codegen::IsFlat(root);
  int width = 1 << 20;
  for (const HloInstruction* root : loop.roots) {
    width = std::min(width, codegen::PreferredWidth(root, f.context().target(), flat));
  }
  if (count <= kUnrolled && !(flat && IsVector(f, loop, width)) && (width < kFewElements - 1 || !HasLongSums(loop))) {
    Kernel kernel;
    kernel.emit = [loop](FunctionEmitter& f, llvm::Value*, llvm::Value*) { return EmitUnrolled(f, loop); };
    return kernel;
  }
  if (width >= kFewElements - 1) f.SetHoldsVectors(instruction);
  if (flat) return FlatKernel(loop, width);
  const int table = NarrowArrayWidth(loop.roots, loop.shape, f.context().target());
  return table > 1 ? TableKernel(loop, table) : RowKernel(loop, width);
}

absl::StatusOr<Kernel> CopyKernel(FunctionEmitter& f, const HloInstruction* instruction) {
  const int64_t bytes = ShapeUtil::ByteSizeOf(instruction->shape());
  if (ShapeUtil::ElementsIn(instruction->shape()) <= kUnrolled) return LoopKernel(f, instruction);
  Kernel kernel;
  constexpr int64_t kBytes = 1 << 16;
  kernel.units = (bytes + kBytes - 1) / kBytes;
  kernel.emit = [instruction, bytes](FunctionEmitter& f, llvm::Value* begin, llvm::Value* end) -> absl::Status {
    llvm::IRBuilder<>& b = f.b();
    llvm::Value* from = b.CreateNSWMul(begin, b.getInt64(kBytes));
    llvm::Value* to =
        b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateNSWMul(end, b.getInt64(kBytes)), b.getInt64(bytes));
    llvm::Value* source = f.PointerTo(instruction->operand(0));
    llvm::Value* target = f.PointerTo(instruction);
    if (source == target) return absl::OkStatus();
    // Small values are locals, which have less alignment than buffers.
    b.CreateMemCpy(b.CreateInBoundsGEP(b.getInt8Ty(), target, from), llvm::Align(f.ArrayOf(instruction).alignment),
                   b.CreateInBoundsGEP(b.getInt8Ty(), source, from),
                   llvm::Align(f.ArrayOf(instruction->operand(0)).alignment), b.CreateNSWSub(to, from));
    return absl::OkStatus();
  };
  return kernel;
}

}  // namespace hilo::cpu
