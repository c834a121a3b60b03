// cholesky and triangular-solve by substitution: simple kernels, correct for all types. A block factors a matrix,
// column by column; a thread solves for one right-hand side.
#include <cmath>
#include <limits>

#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/emitters/nest_emitter.h"
#include "backends/llvm/elements/predication.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "hilo/status_macros.h"
#include "hlo/ops/linalg/linalg_attributes.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

// Arithmetic on elements of one type in the thread's registers.
class Numbers {
 public:
  Numbers(KernelEmitter& k, PrimitiveType type) : k_(k), b_(k.b()), type_(type) {}

  absl::StatusOr<ElementValue> Op(HloOpcode opcode, ElementValue x, ElementValue y) {
    return codegen::EmitBinaryOp(k_.context(), opcode, type_, x, y);
  }
  ElementValue Conjugate(ElementValue x) { return x.im == nullptr ? x : ElementValue{x.re, b_.CreateFNeg(x.im)}; }
  ElementValue Real(llvm::Value* x) {
    return IsComplexType(type_) ? ElementValue{x, llvm::Constant::getNullValue(x->getType())} : ElementValue{x};
  }

  // start - sum over j in [begin, end) of term(j).
  absl::StatusOr<ElementValue> Minus(ElementValue start, llvm::Value* begin, llvm::Value* end,
                                     absl::FunctionRef<absl::StatusOr<ElementValue>(llvm::Value* j)> term) {
    auto body = [&](llvm::Value* j, const Carried& carried) -> absl::StatusOr<Carried> {
      HILO_ASSIGN_OR_RETURN(ElementValue product, term(j));
      HILO_ASSIGN_OR_RETURN(ElementValue next,
                            Op(HloOpcode::kSubtract, codegen::Unpack(carried, {&type_, 1})[0], product));
      return codegen::Pack({next});
    };
    HILO_ASSIGN_OR_RETURN(Carried sum,
                          codegen::EmitLoop(k_.context(), "sum", begin, end, 1, codegen::Pack({start}), body));
    return codegen::Unpack(sum, {&type_, 1})[0];
  }

 private:
  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  PrimitiveType type_;
};

// Arrays as batches of matrices: element (i, j) of matrix m.
class Matrices {
 public:
  Matrices(KernelEmitter& k, codegen::IrArray array) : k_(k), array_(std::move(array)) {
    const int64_t rank = array_.shape.rank();
    rows_ = array_.shape.dimensions(rank - 2);
    columns_ = array_.shape.dimensions(rank - 1);
    array_.shape = ShapeUtil::MakeShape(array_.shape.element_type(), {ShapeUtil::ElementsIn(array_.shape)});
  }
  ElementValue Load(llvm::Value* m, llvm::Value* i, llvm::Value* j) { return array_.Load(k_.context(), At(m, i, j)); }
  void Store(llvm::Value* m, llvm::Value* i, llvm::Value* j, ElementValue value) {
    array_.Store(k_.context(), At(m, i, j), value);
  }

 private:
  Index At(llvm::Value* m, llvm::Value* i, llvm::Value* j) {
    llvm::IRBuilder<>& b = k_.b();
    llvm::Value* row =
        b.CreateAdd(b.CreateMul(m, b.getInt64(static_cast<uint64_t>(rows_)), "", true, true), i, "", true, true);
    llvm::Value* at =
        b.CreateAdd(b.CreateMul(row, b.getInt64(static_cast<uint64_t>(columns_)), "", true, true), j, "", true, true);
    return Index({LaneIndex::Uniform(at, 1, array_.shape.dimensions(0))});
  }

  KernelEmitter& k_;
  codegen::IrArray array_;
  int64_t rows_ = 0, columns_ = 0;
};

// Column j of the factor: a(i, j) - sum over k < j of l(i, k) conj(l(j, k)), divided by the root of its own element (j,
// j). Barriers separate the steps in which threads read what others have written. What is not positive becomes NaN, and
// so does everything after it.
absl::Status EmitFactor(KernelEmitter& k, const HloInstruction* instruction, int64_t n, bool lower, int block) {
  llvm::IRBuilder<>& b = k.b();
  const PrimitiveType type = instruction->shape().element_type();
  Numbers numbers(k, type);
  Matrices a(k, k.ArrayOf(instruction->operand(0))), l(k, k.ArrayOf(instruction));
  llvm::Value *m = k.Block(), *thread = k.Thread();
  auto integer = [&](int64_t value) { return b.getInt64(static_cast<uint64_t>(value)); };
  // u of the upper triangle is the conjugate transpose of l of the mirrored matrix.
  auto load = [&](Matrices& from, llvm::Value* i, llvm::Value* j) {
    return lower ? from.Load(m, i, j) : numbers.Conjugate(from.Load(m, j, i));
  };
  auto store = [&](llvm::Value* i, llvm::Value* j, ElementValue value) {
    if (lower) return l.Store(m, i, j, value);
    l.Store(m, j, i, numbers.Conjugate(value));
  };
  HILO_RETURN_IF_ERROR(k.ForEach("column", integer(0), integer(n), 1, [&](llvm::Value* j) -> absl::Status {
    llvm::Value* first = b.CreateAdd(j, thread);
    HILO_RETURN_IF_ERROR(k.ForEach("row", first, integer(n), block, [&](llvm::Value* i) -> absl::Status {
      auto term = [&](llvm::Value* c) {
        return numbers.Op(HloOpcode::kMultiply, load(l, i, c), numbers.Conjugate(load(l, j, c)));
      };
      HILO_ASSIGN_OR_RETURN(ElementValue sum, numbers.Minus(load(a, i, j), integer(0), j, term));
      store(i, j, sum);
      return absl::OkStatus();
    }));
    k.Barrier();
    llvm::Value* pivot = load(l, j, j).re;
    llvm::Value* positive = b.CreateFCmpOGT(pivot, llvm::Constant::getNullValue(pivot->getType()));
    pivot = b.CreateSelect(positive, pivot, llvm::ConstantFP::getNaN(pivot->getType()));
    llvm::Value* root = b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, pivot);
    k.Barrier();
    HILO_RETURN_IF_ERROR(k.ForEach("scale", first, integer(n), block, [&](llvm::Value* i) -> absl::Status {
      HILO_ASSIGN_OR_RETURN(ElementValue scaled, numbers.Op(HloOpcode::kDivide, load(l, i, j), numbers.Real(root)));
      llvm::Value* diagonal = b.CreateICmpEQ(i, j);
      const ElementValue own = numbers.Real(root);
      store(i, j, codegen::EmitSelect(k.context(), diagonal, own, scaled));
      return absl::OkStatus();
    }));
    k.Barrier();
    return absl::OkStatus();
  }));
  // The last diagonal element is NaN if there is no factor. The other triangle is 0.
  llvm::Value* last = load(l, integer(n - 1), integer(n - 1)).re;
  llvm::Value* failed = b.CreateFCmpUNO(last, last);
  k.Barrier();
  const ElementValue nan = numbers.Real(llvm::ConstantFP::getNaN(last->getType()));
  return k.ForEach("rest", thread, integer(n * n), block, [&](llvm::Value* at) -> absl::Status {
    llvm::Value *i = b.CreateUDiv(at, integer(n)), *j = b.CreateURem(at, integer(n));
    llvm::Value* other = b.CreateICmpUGT(j, i);
    return k.If("written", b.CreateOr(failed, other), [&] {
      store(i, j, codegen::EmitSelect(k.context(), failed, nan, codegen::EmitZero(k.context(), type)));
      return absl::OkStatus();
    });
  });
}

absl::Status EmitSolve(KernelEmitter& k, const HloInstruction* instruction, llvm::Value* number, int64_t n,
                       int64_t count) {
  llvm::IRBuilder<>& b = k.b();
  const TriangularSolveAttrs& attrs = instruction->attrs<TriangularSolveAttrs>();
  Numbers numbers(k, instruction->shape().element_type());
  Matrices a(k, k.ArrayOf(instruction->operand(0))), right(k, k.ArrayOf(instruction->operand(1))),
      x(k, k.ArrayOf(instruction));
  auto integer = [&](int64_t value) { return b.getInt64(static_cast<uint64_t>(value)); };
  llvm::Value *m = b.CreateUDiv(number, integer(count)), *c = b.CreateURem(number, integer(count));
  // x op(a) = b is op(a)^T x^T = b^T.
  const bool reads_transposed = (attrs.transpose_a != TransposeKind::kNoTranspose) == attrs.left_side;
  const bool lower = attrs.lower != reads_transposed;
  auto triangle = [&](llvm::Value* i, llvm::Value* j) {
    const ElementValue value = reads_transposed ? a.Load(m, j, i) : a.Load(m, i, j);
    return attrs.transpose_a == TransposeKind::kAdjoint ? numbers.Conjugate(value) : value;
  };
  auto at = [&](Matrices& matrices, llvm::Value* i) {
    return attrs.left_side ? matrices.Load(m, i, c) : matrices.Load(m, c, i);
  };
  return k.ForEach("substitute", integer(0), integer(n), 1, [&](llvm::Value* step) -> absl::Status {
    llvm::Value* i = lower ? step : b.CreateSub(integer(n - 1), step);
    auto term = [&](llvm::Value* j) { return numbers.Op(HloOpcode::kMultiply, triangle(i, j), at(x, j)); };
    llvm::Value* begin = lower ? static_cast<llvm::Value*>(integer(0)) : b.CreateAdd(i, integer(1));
    HILO_ASSIGN_OR_RETURN(ElementValue value,
                          numbers.Minus(at(right, i), begin, lower ? i : static_cast<llvm::Value*>(integer(n)), term));
    if (!attrs.unit_diagonal) {
      HILO_ASSIGN_OR_RETURN(value, numbers.Op(HloOpcode::kDivide, value, triangle(i, i)));
    }
    attrs.left_side ? x.Store(m, i, c, value) : x.Store(m, c, i, value);
    return absl::OkStatus();
  });
}

}  // namespace

absl::Status EmitCholesky(ProgramEmitter& program, const HloInstruction* instruction) {
  const Shape& shape = instruction->shape();
  const int64_t n = shape.dimensions(shape.rank() - 1), batch = ShapeUtil::ElementsIn(shape) / (n * n);
  const int block = static_cast<int>(instruction->kernel()->tile[0]);
  KernelEmitter k(&program, instruction);
  HILO_RETURN_IF_ERROR(EmitFactor(k, instruction, n, instruction->attrs<CholeskyAttrs>().lower, block));
  return k.FinishAndLaunch(instruction, batch, block);
}

absl::Status EmitTriangularSolve(ProgramEmitter& program, const HloInstruction* instruction) {
  const Shape& shape = instruction->shape();
  const Shape& a = instruction->operand(0)->shape();
  const int64_t n = a.dimensions(a.rank() - 1);
  const int64_t count = shape.dimensions(shape.rank() - (instruction->attrs<TriangularSolveAttrs>().left_side ? 1 : 2));
  const int64_t threads = ShapeUtil::ElementsIn(shape) / n;
  KernelEmitter k(&program, instruction);
  return EmitThreads(k, instruction, threads, instruction->kernel()->tile[0],
                     [&](llvm::Value* i) { return EmitSolve(k, instruction, i, n, count); });
}

}  // namespace hilo::gpu
