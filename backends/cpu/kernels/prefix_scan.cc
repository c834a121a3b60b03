// A window of n positions, stride 1, with n - 1 of padding in front covers at position i the elements up to i: the
// reduce-window is a running reduction (such as jnp.cumsum), one pass where separate windows would take quadratic time.
// Since windows combine their elements from front to back, the running value is bit-identical to theirs. With the
// padding at the back, windows cover the elements from i on; running from the back relies on associativity.
// Which loops, and why: scan_choice.cc.
#include "hlo/analysis/prefix_scan.h"

#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/sums.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "hilo/host.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::cpu {
namespace {

using codegen::Carried;
using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

// Element (outer, i, inner) of the arrays; `step` counts from the end that the reduction starts from.
Index At(FunctionEmitter& f, const PrefixScan& r, const LaneIndex& outer, const LaneIndex& step,
         const LaneIndex& inner) {
  codegen::EmitterContext& context = f.context();
  LaneIndex i = step;
  if (r.from_back) i = step.MulConstant(context, -1).AddConstant(r.size - 1).WithRange({0, r.size - 1});
  return Index({outer, i, inner}).Reshape(context, {r.outer, r.size, r.inner}, r.dimensions);
}

// The running values and the values stored for them. From the back with an unknown computation, the initial value is
// kept out of the running values, as it must come first.
class Step {
 public:
  Step(FunctionEmitter& f, const PrefixScan& r, Elements inits) : f_(f), r_(r), inits_(std::move(inits)) {}

  bool init_comes_last() const { return r_.from_back && !r_.opcode.has_value(); }
  const Elements& inits() const { return inits_; }

  absl::StatusOr<Elements> First(const Elements& elements) {
    if (init_comes_last()) return elements;
    return codegen::Combine(f_.context(), r_.computation(), inits_, elements);
  }
  absl::StatusOr<Elements> Next(const Elements& running, const Elements& elements) {
    if (init_comes_last()) return codegen::Combine(f_.context(), r_.computation(), elements, running);
    return codegen::Combine(f_.context(), r_.computation(), running, elements);
  }
  absl::Status Store(const Index& index, Elements running) {
    if (init_comes_last()) {
      HILO_ASSIGN_OR_RETURN(running, codegen::Combine(f_.context(), r_.computation(), inits_, running));
    }
    for (int64_t i = 0; i < r_.count; ++i)
      f_.ArrayOf(r_.instruction, i).Store(f_.context(), index, f_.context().Splat(running[i]));
    return absl::OkStatus();
  }

 private:
  FunctionEmitter& f_;
  const PrefixScan& r_;
  Elements inits_;
};

// Runs several positions interleaved, running values in registers. `index_at` returns the index of position p at a
// step.
absl::Status RunInRegisters(FunctionEmitter& f, const PrefixScan& r, size_t positions,
                            absl::FunctionRef<Index(size_t p, const LaneIndex& step)> index_at) {
  HILO_ASSIGN_OR_RETURN(Elements inits, codegen::InitsOf(f.elements(), *r.hero));
  Step step(f, r, inits);
  Carried running;
  for (size_t p = 0; p < positions; ++p) {
    const Index index = index_at(p, LaneIndex::Constant(0));
    HILO_ASSIGN_OR_RETURN(Elements elements, codegen::ElementsOf(f.elements(), *r.hero, index));
    HILO_ASSIGN_OR_RETURN(Elements first, step.First(elements));
    HILO_RETURN_IF_ERROR(step.Store(index, first));
    for (llvm::Value* value : PackLanes(f, first)) running.push_back(value);
  }
  const size_t stride = running.size() / positions;
  llvm::IRBuilder<>& b = f.b();
  return codegen::EmitLoop(f.context(), "run", b.getInt64(1), b.getInt64(r.size), 1, running,
                           [&](llvm::Value* i, const Carried& now) -> absl::StatusOr<Carried> {
                             Carried next;
                             std::vector<Index> indices;
                             std::vector<Elements> elements;
                             for (size_t p = 0; p < positions; ++p) {
                               indices.push_back(index_at(p, LaneIndex::Uniform(i, 1, r.size)));
                               HILO_ASSIGN_OR_RETURN(elements.emplace_back(),
                                                     codegen::ElementsOf(f.elements(), *r.hero, indices.back()));
                             }
                             for (size_t p = 0; p < positions; ++p) {
                               const Carried mine(now.begin() + p * stride, now.begin() + (p + 1) * stride);
                               HILO_ASSIGN_OR_RETURN(Elements stepped,
                                                     step.Next(UnpackLanes(mine, inits), elements[p]));
                               HILO_RETURN_IF_ERROR(step.Store(indices[p], stepped));
                               for (llvm::Value* value : PackLanes(f, stepped)) next.push_back(value);
                             }
                             return next;
                           })
      .status();
}

// The type in which running values of `type` are kept in memory: one that preserves the register's value.
PrimitiveType WaitingType(FunctionEmitter& f, PrimitiveType type) {
  return IsFloatingPointType(type) && type != F64 && !f.context().numerics().strict ? F32 : type;
}

// Emits body(column) for columns [first, limit), where `first` is a multiple of the width and so is `limit`, unless it
// is the number of columns; at most `block` of them.
absl::Status ForEachColumn(FunctionEmitter& f, const PrefixScan& r, int width, int64_t block, llvm::Value* first,
                           llvm::Value* limit, absl::FunctionRef<absl::Status(const LaneIndex&)> body) {
  llvm::IRBuilder<>& b = f.b();
  const int64_t whole = r.inner / width * width;
  {
    codegen::RegionScope region(f.context());
    f.context().lanes = {.width = width};
    llvm::Value* to = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, limit, b.getInt64(whole));
    HILO_RETURN_IF_ERROR(ForEach(
        f, "columns", first, to, [&](llvm::Value* i) { return body(LaneIndex::Strided(i, 1, width, r.inner)); }, width,
        block / width));
  }
  if (whole == r.inner) return absl::OkStatus();
  auto tail = [&]() -> absl::StatusOr<Carried> {
    std::vector<llvm::Constant*> active;
    for (int lane = 0; lane < width; ++lane) active.push_back(b.getInt1(lane < r.inner - whole));
    f.context().lanes = {.width = width, .mask = llvm::ConstantVector::get(active)};
    HILO_RETURN_IF_ERROR(body(LaneIndex::Strided(b.getInt64(whole), 1, width, r.inner)));
    return Carried();
  };
  return codegen::EmitBranches(f.context(), "tail", b.CreateICmpEQ(limit, b.getInt64(r.inner)), tail,
                               []() -> absl::StatusOr<Carried> { return Carried(); })
      .status();
}

// Emits columns [first, limit) of one outer index, at most `block`, with the running values of a row on the stack.
absl::Status RunBlock(FunctionEmitter& f, const PrefixScan& r, int width, int64_t block, const LaneIndex& outer,
                      llvm::Value* first, llvm::Value* limit) {
  llvm::IRBuilder<>& b = f.b();
  HILO_ASSIGN_OR_RETURN(Elements inits, codegen::InitsOf(f.elements(), *r.hero));
  Step step(f, r, std::move(inits));
  std::vector<codegen::IrArray> waiting;
  for (int64_t i = 0; i < r.count; ++i) {
    codegen::IrArray& array = waiting.emplace_back();
    array.shape = Shape(WaitingType(f, r.types[i]), {block});
    array.alignment = kBufferAlignment;
    array.pointer =
        f.context().EntryAlloca(b.getInt8Ty(), ShapeUtil::ByteSizeOf(array.shape), array.alignment, "running");
  }
  auto row = [&](const LaneIndex& i, bool is_first) {
    return ForEachColumn(f, r, width, block, first, limit, [&](const LaneIndex& column) -> absl::Status {
      const Index index = At(f, r, outer, i, column);
      const Index wait({LaneIndex::Strided(b.CreateNSWSub(column.Base(f.context()), first), 1, width, block)});
      HILO_ASSIGN_OR_RETURN(Elements elements, codegen::ElementsOf(f.elements(), *r.hero, index));
      Elements running;
      if (is_first) {
        HILO_ASSIGN_OR_RETURN(running, step.First(elements));
      } else {
        for (const codegen::IrArray& array : waiting) running.push_back(array.Load(f.context(), wait));
        HILO_ASSIGN_OR_RETURN(running, step.Next(running, elements));
      }
      for (int64_t k = 0; k < r.count; ++k) waiting[k].Store(f.context(), wait, f.context().Splat(running[k]));
      return step.Store(index, running);
    });
  };
  HILO_RETURN_IF_ERROR(row(LaneIndex::Constant(0), true));
  return ForEach(f, "rows", b.getInt64(1), b.getInt64(r.size),
                 [&](llvm::Value* i) { return row(LaneIndex::Uniform(i, 1, r.size), false); });
}

ElementValue Shuffled(llvm::IRBuilder<>& b, ElementValue x, ElementValue y, absl::Span<const int> lanes) {
  const llvm::ArrayRef<int> shuffle(lanes.data(), lanes.size());
  x.re = b.CreateShuffleVector(x.re, y.re, shuffle);
  if (x.im != nullptr) x.im = b.CreateShuffleVector(x.im, y.im, shuffle);
  return x;
}

// Scans one vector of a line from lane 0 up, and combines it with the preceding total.
absl::StatusOr<ElementValue> ScanLanes(FunctionEmitter& f, HloOpcode opcode, PrimitiveType type, ElementValue value,
                                       ElementValue neutral, int width) {
  for (int distance = 1; distance < width; distance *= 2) {
    std::vector<int> lanes;
    for (int lane = 0; lane < width; ++lane) lanes.push_back(lane < distance ? width : lane - distance);
    const ElementValue shifted = Shuffled(f.b(), value, neutral, lanes);
    HILO_ASSIGN_OR_RETURN(value, codegen::EmitBinaryOp(f.context(), opcode, type, shifted, value));
  }
  return value;
}

}  // namespace

absl::Status EmitPrefixScanColumns(FunctionEmitter& f, const KernelParts& kernel) {
  const PrefixScan r = *PrefixScanOf(*kernel.instruction);
  const int width = static_cast<int>(kernel.config.width);
  const bool registers = kernel.config.tile.empty();
  const int64_t block = registers ? r.inner : kernel.config.tile[0], blocks = (r.inner + block - 1) / block;
  HILO_RETURN_IF_ERROR(f.LoadScalarOperands(r.instruction));
  llvm::IRBuilder<>& b = f.b();
  return ForEach(f, "parts", kernel.begin, kernel.end, [&](llvm::Value* unit) -> absl::Status {
    const std::vector<LaneIndex> at = f.Delinearize(unit, {r.outer, blocks});
    if (!registers) {
      llvm::Value* first = b.CreateNSWMul(at[1].Base(f.context()), b.getInt64(block));
      llvm::Value* limit =
          b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateNSWAdd(first, b.getInt64(block)), b.getInt64(r.inner));
      return RunBlock(f, r, width, block, at[0], first, limit);
    }
    // Whole vectors together, then the remainder.
    const size_t whole = r.inner / width;
    if (whole > 0) {
      codegen::RegionScope region(f.context());
      f.context().lanes = {.width = width};
      HILO_RETURN_IF_ERROR(RunInRegisters(f, r, whole, [&](size_t p, const LaneIndex& step) {
        return At(f, r, at[0], step, LaneIndex::Strided(b.getInt64(p * width), 1, width, r.inner));
      }));
    }
    return ForEachVector(f, "columns", r.inner - whole * width, width, [&](const LaneIndex& column) {
      const LaneIndex shifted = column.AddConstant(whole * width).WithRange({0, r.inner - 1});
      return RunInRegisters(f, r, 1, [&](size_t, const LaneIndex& step) { return At(f, r, at[0], step, shifted); });
    });
  });
}

// Each in scalars; the last part computes its last row more than once if there are too few.
absl::Status EmitPrefixScanRows(FunctionEmitter& f, const KernelParts& kernel) {
  const PrefixScan r = *PrefixScanOf(*kernel.instruction);
  const int64_t lines = kernel.config.tile[0];
  HILO_RETURN_IF_ERROR(f.LoadScalarOperands(r.instruction));
  llvm::IRBuilder<>& b = f.b();
  return ForEach(f, "parts", kernel.begin, kernel.end, [&](llvm::Value* unit) {
    std::vector<LaneIndex> line;
    for (int64_t p = 0; p < lines; ++p) {
      llvm::Value* l = b.CreateNSWAdd(b.CreateNSWMul(unit, b.getInt64(lines)), b.getInt64(p));
      if (r.outer % lines != 0) l = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, l, b.getInt64(r.outer - 1));
      line.push_back(LaneIndex::Uniform(l, 1, r.outer));
    }
    return RunInRegisters(
        f, r, lines, [&](size_t p, const LaneIndex& step) { return At(f, r, line[p], step, LaneIndex::Constant(0)); });
  });
}

absl::Status EmitPrefixScanLanes(FunctionEmitter& f, const KernelParts& kernel) {
  const PrefixScan r = *PrefixScanOf(*kernel.instruction);
  const int width = static_cast<int>(kernel.config.width);
  const int64_t whole = r.outer / width;
  HILO_RETURN_IF_ERROR(f.LoadScalarOperands(r.instruction));
  llvm::IRBuilder<>& b = f.b();
  auto run = [&](llvm::Value* first) {
    const LaneIndex line = LaneIndex::Strided(first, 1, width, r.outer);
    return RunInRegisters(f, r, 1,
                          [&](size_t, const LaneIndex& step) { return At(f, r, line, step, LaneIndex::Constant(0)); });
  };
  {
    codegen::RegionScope region(f.context());
    f.context().lanes = {.width = width};
    llvm::Value* to = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, kernel.end, b.getInt64(whole));
    HILO_RETURN_IF_ERROR(ForEach(f, "parts", kernel.begin, to,
                                 [&](llvm::Value* unit) { return run(b.CreateNSWMul(unit, b.getInt64(width))); }));
  }
  if (whole * width == r.outer) return absl::OkStatus();
  auto tail = [&]() -> absl::StatusOr<Carried> {
    std::vector<llvm::Constant*> active;
    for (int lane = 0; lane < width; ++lane) active.push_back(b.getInt1(lane < r.outer - whole * width));
    f.context().lanes = {.width = width, .mask = llvm::ConstantVector::get(active)};
    HILO_RETURN_IF_ERROR(run(b.getInt64(whole * width)));
    return Carried();
  };
  return codegen::EmitBranches(f.context(), "tail", b.CreateICmpSGT(kernel.end, b.getInt64(whole)), tail,
                               []() -> absl::StatusOr<Carried> { return Carried(); })
      .status();
}

absl::Status EmitPrefixScanRow(FunctionEmitter& f, const KernelParts& kernel) {
  const PrefixScan r = *PrefixScanOf(*kernel.instruction);
  const int width = static_cast<int>(kernel.config.width);
  const Literal identity = *IdentityOf(*r.opcode, r.types[0]);
  HILO_RETURN_IF_ERROR(f.LoadScalarOperands(r.instruction));
  llvm::IRBuilder<>& b = f.b();
  const codegen::IrArray result = f.ArrayOf(r.instruction);
  return ForEach(f, "lines", kernel.begin, kernel.end, [&](llvm::Value* unit) -> absl::Status {
    const LaneIndex line = LaneIndex::Uniform(unit, 1, r.outer);
    codegen::RegionScope region(f.context());
    f.context().lanes = {.width = width};
    HILO_ASSIGN_OR_RETURN(Elements inits, codegen::InitsOf(f.elements(), *r.hero));
    const ElementValue neutral = f.context().Splat(codegen::EmitLiteral(f.context(), identity));
    auto vector = [&](const LaneIndex& i, const Carried& before) -> absl::StatusOr<Carried> {
      const Index index = At(f, r, line, i, LaneIndex::Constant(0));
      HILO_ASSIGN_OR_RETURN(Elements elements, codegen::ElementsOf(f.elements(), *r.hero, index));
      elements[0] = f.context().Splat(elements[0]);
      HILO_ASSIGN_OR_RETURN(ElementValue scanned, ScanLanes(f, *r.opcode, r.types[0], elements[0], neutral, width));
      const ElementValue carry = UnpackLanes(before, inits)[0];
      HILO_ASSIGN_OR_RETURN(ElementValue sum,
                            codegen::EmitBinaryOp(f.context(), *r.opcode, r.types[0], carry, scanned));
      result.Store(f.context(), index, sum);
      const std::vector<int> last(width, width - 1);
      HILO_ASSIGN_OR_RETURN(ElementValue next, codegen::EmitBinaryOp(f.context(), *r.opcode, r.types[0], carry,
                                                                     Shuffled(b, scanned, scanned, last)));
      return PackLanes(f, {next});
    };
    const int64_t whole = r.size / width * width;
    HILO_ASSIGN_OR_RETURN(Carried running,
                          codegen::EmitLoop(f.context(), "line", b.getInt64(0), b.getInt64(whole), width,
                                            PackLanes(f, inits), [&](llvm::Value* i, const Carried& now) {
                                              return vector(LaneIndex::Strided(i, 1, width, r.size), now);
                                            }));
    if (whole == r.size) return absl::OkStatus();
    std::vector<llvm::Constant*> active;
    for (int lane = 0; lane < width; ++lane) active.push_back(b.getInt1(lane < r.size - whole));
    f.context().lanes = {.width = width, .mask = llvm::ConstantVector::get(active)};
    return vector(LaneIndex::Strided(b.getInt64(whole), 1, width, r.size), running).status();
  });
}

}  // namespace hilo::cpu
