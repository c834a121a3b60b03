// Fourier transforms by passes of one radix each (Stockham's form, which needs no reordering). A pass over a dimension
// of n elements, with l = n / (radix * m):
//
//   y[k + (radix j + t) m] = sum over q < radix of w^(t (j + q l) m) x[k + (j + q l) m],   w the n-th root of unity
//
// for all j < l, k < m, t < radix; m begins at 1 and is multiplied by the radix. A thread computes one element of y,
// with the roots from a table. Large prime factors are passes of their own: correct, but slow. Transforms of real data
// are complex ones whose spectrum is truncated, or extended with its conjugates.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/emitters/nest_emitter.h"
#include "backends/llvm/elements/predication.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "base/math.h"
#include "hilo/literal.h"
#include "hilo/status_macros.h"
#include "hlo/ops/linalg/linalg_attributes.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

std::vector<int64_t> RadicesOf(int64_t n) {
  std::vector<int64_t> radices;
  for (int64_t radix : {8, 4, 2}) {
    for (; n % radix == 0; n /= radix) radices.push_back(radix);
  }
  for (int64_t factor = 3; factor * factor <= n; factor += 2) {
    for (; n % factor == 0; n /= factor) radices.push_back(factor);
  }
  if (n > 1) radices.push_back(n);
  return radices;
}

template <typename T>
std::shared_ptr<const Literal> RootsOf(int64_t n, PrimitiveType type, bool inverse) {
  auto literal = Literal::Create(ShapeUtil::MakeShape(type, {n}));
  if (!literal.ok()) return nullptr;
  const absl::Span<std::complex<T>> roots = literal->template data<std::complex<T>>();
  for (int64_t i = 0; i < n; ++i) {
    const long double angle =
        2 * std::numbers::pi_v<long double> * static_cast<long double>(i) / static_cast<long double>(n);
    roots[i] = {static_cast<T>(std::cos(angle)), static_cast<T>(inverse ? std::sin(angle) : -std::sin(angle))};
  }
  return std::make_shared<const Literal>(*std::move(literal));
}

class Transform {
 public:
  Transform(ProgramEmitter& program, const HloInstruction* instruction)
      : program_(program), instruction_(instruction), attrs_(instruction->attrs<FftAttrs>()) {
    const Shape& operand = instruction->operand(0)->shape();
    type_ = IsComplexType(operand.element_type()) ? operand.element_type() : ComplexTypeOf(operand.element_type());
    inverse_ = attrs_.fft_type == FftType::kIfft || attrs_.fft_type == FftType::kIrfft;
    sizes_.assign(operand.dimensions().begin(), operand.dimensions().end());
  }

  absl::Status Emit() {
    HILO_ASSIGN_OR_RETURN(const BufferSlice operand, program_.SliceOf(instruction_->operand(0)));
    const Shape& shape = instruction_->operand(0)->shape();
    now_ = KernelArgument::Slice(operand, false);
    now_is_real_ = !IsComplexType(shape.element_type());
    const int64_t largest = std::max(ShapeUtil::ElementsIn(shape), ShapeUtil::ElementsIn(instruction_->shape())) *
                            PrimitiveTypeByteSize(type_) * 2;
    for (KernelArgument& buffer : scratch_)
      buffer = KernelArgument::Scratch(program_.AllocateScratch(largest), largest, true);

    const size_t rank = sizes_.size(), count = attrs_.fft_length.size();
    // The minor-most dimension first; for IRFFT it is last.
    if (attrs_.fft_type != FftType::kIrfft) HILO_RETURN_IF_ERROR(Dimension(rank - 1));
    if (attrs_.fft_type == FftType::kRfft)
      HILO_RETURN_IF_ERROR(Resize(instruction_->shape().dimensions(static_cast<int64_t>(rank) - 1)));
    for (size_t d = rank - 1; d-- > rank - count;) HILO_RETURN_IF_ERROR(Dimension(d));
    if (attrs_.fft_type == FftType::kIrfft) {
      HILO_RETURN_IF_ERROR(Resize(attrs_.fft_length.back()));
      HILO_RETURN_IF_ERROR(Dimension(rank - 1));
    }
    return Deliver();
  }

 private:
  codegen::IrArray Array(KernelEmitter& k, int64_t argument, PrimitiveType type, int64_t count) {
    return {.pointer = k.extra(argument), .shape = ShapeUtil::MakeShape(type, {count}), .alignment = kDeviceAlignment};
  }
  static Index At(llvm::Value* at, int64_t count) { return Index({LaneIndex::Uniform(at, 1, count)}); }
  llvm::Value* Int(KernelEmitter& k, int64_t value) { return k.b().getInt64(static_cast<uint64_t>(value)); }
  PrimitiveType NowType() const { return now_is_real_ ? ComplexComponentType(type_) : type_; }
  ElementValue LoadNow(KernelEmitter& k, llvm::Value* at, int64_t count) {
    ElementValue x = Array(k, 0, NowType(), count).Load(k.context(), At(at, count));
    if (now_is_real_) x.im = llvm::Constant::getNullValue(x.re->getType());
    return x;
  }

  // Emits a kernel with a thread for each of `count` elements, from the current array to the next scratch buffer, which
  // then becomes the current one.
  absl::Status Kernel(int64_t count, std::vector<KernelArgument> more, const KernelArgument& to,
                      absl::FunctionRef<absl::Status(KernelEmitter&, llvm::Value*)> body) {
    std::vector<KernelArgument> arguments{now_, to};
    arguments[0].written = false;
    arguments.insert(arguments.end(), more.begin(), more.end());
    KernelEmitter k(&program_, nullptr, std::move(arguments));
    return EmitThreads(k, instruction_, count, BlockFor(count), [&](llvm::Value* i) { return body(k, i); });
  }

  const KernelArgument& Next() { return scratch_[next_++ % 2]; }
  void Now(const KernelArgument& argument) {
    now_ = argument;
    now_is_real_ = false;
  }

  absl::Status Dimension(size_t d) {
    const int64_t n = sizes_[d], count = Product(sizes_);
    int64_t inner = 1;
    for (size_t i = d + 1; i < sizes_.size(); ++i) inner *= sizes_[i];
    const std::vector<int64_t> radices = RadicesOf(n);
    std::shared_ptr<const Literal> roots =
        type_ == C64 ? RootsOf<float>(n, type_, inverse_) : RootsOf<double>(n, type_, inverse_);
    HILO_RET_CHECK(roots != nullptr) << "the roots of unity of " << n;
    const BufferSlice table{.kind = StorageKind::kConstant,
                            .index = program_.ConstantIndex(roots),
                            .size = n * PrimitiveTypeByteSize(type_)};
    int64_t m = 1;
    for (size_t pass = 0; pass < radices.size(); ++pass) {
      const int64_t radix = radices[pass];
      const bool scales = inverse_ && pass + 1 == radices.size();
      const KernelArgument& to = Next();
      const std::vector<KernelArgument> more{KernelArgument::Slice(table, false), KernelArgument::Integer(radix),
                                             KernelArgument::Integer(m)};
      HILO_RETURN_IF_ERROR(Kernel(
          count, more, to, [&](KernelEmitter& k, llvm::Value* i) { return Pass(k, i, n, inner, count, scales); }));
      Now(to);
      m *= radix;
    }
    return absl::OkStatus();
  }

  absl::Status Pass(KernelEmitter& k, llvm::Value* i, int64_t n, int64_t inner, int64_t count, bool scales) {
    llvm::IRBuilder<>& b = k.b();
    llvm::Value *radix = k.extra(3), *m = k.extra(4);
    llvm::Value* at = b.CreateURem(b.CreateUDiv(i, Int(k, inner)), Int(k, n));
    llvm::Value* origin = b.CreateSub(i, b.CreateMul(at, Int(k, inner)));
    llvm::Value *within = b.CreateURem(at, m), *block = b.CreateUDiv(at, m);
    llvm::Value *j = b.CreateUDiv(block, radix), *t = b.CreateURem(block, radix);
    llvm::Value* l = b.CreateUDiv(Int(k, n), b.CreateMul(radix, m));
    auto iteration = [&](llvm::Value* q, const Carried& carried) -> absl::StatusOr<Carried> {
      llvm::Value* position = b.CreateMul(b.CreateAdd(j, b.CreateMul(q, l)), m);
      llvm::Value* from = b.CreateAdd(origin, b.CreateMul(b.CreateAdd(within, position), Int(k, inner)));
      const ElementValue x = LoadNow(k, from, count);
      const ElementValue w =
          Array(k, 2, type_, n).Load(k.context(), At(b.CreateURem(b.CreateMul(t, position), Int(k, n)), n));
      HILO_ASSIGN_OR_RETURN(ElementValue product,
                            codegen::EmitBinaryOp(k.context(), HloOpcode::kMultiply, type_, x, w));
      return Carried{b.CreateFAdd(carried[0], product.re), b.CreateFAdd(carried[1], product.im)};
    };
    llvm::Value* zero = codegen::EmitZero(k.context(), ComplexComponentType(type_)).re;
    HILO_ASSIGN_OR_RETURN(Carried sum,
                          codegen::EmitLoop(k.context(), "radix", Int(k, 0), radix, 1, {zero, zero}, iteration));
    if (scales) {
      for (llvm::Value*& part : sum)
        part = b.CreateFDiv(part, llvm::ConstantFP::get(part->getType(), static_cast<double>(n)));
    }
    Array(k, 1, type_, count).Store(k.context(), At(i, count), {sum[0], sum[1]});
    return absl::OkStatus();
  }

  // Resizes the rows to length `to`: truncates them, or extends them with the values of a real signal's spectrum.
  absl::Status Resize(int64_t to) {
    const int64_t from = sizes_.back(), old_count = Product(sizes_);
    sizes_.back() = to;
    const int64_t count = Product(sizes_);
    const KernelArgument& target = Next();
    HILO_RETURN_IF_ERROR(Kernel(count, {}, target, [&](KernelEmitter& k, llvm::Value* i) {
      llvm::IRBuilder<>& b = k.b();
      llvm::Value *row = b.CreateUDiv(i, Int(k, to)), *at = b.CreateURem(i, Int(k, to));
      llvm::Value* mirrored = b.CreateICmpUGE(at, Int(k, from));
      llvm::Value* source = b.CreateSelect(mirrored, b.CreateSub(Int(k, to), at), at);
      ElementValue x = LoadNow(k, b.CreateAdd(b.CreateMul(row, Int(k, from)), source), old_count);
      x.im = b.CreateSelect(mirrored, b.CreateFNeg(x.im), x.im);
      if (to > from) {
        // The first number and the one at the Nyquist frequency are their own conjugates: real.
        llvm::Value* real = b.CreateICmpEQ(at, Int(k, 0));
        if (to % 2 == 0) real = b.CreateOr(real, b.CreateICmpEQ(at, Int(k, to / 2)));
        x.im = b.CreateSelect(real, llvm::Constant::getNullValue(x.im->getType()), x.im);
      }
      Array(k, 1, type_, count).Store(k.context(), At(i, count), x);
      return absl::OkStatus();
    }));
    Now(target);
    return absl::OkStatus();
  }

  // Stores to the result, converted to its type.
  absl::Status Deliver() {
    const int64_t count = Product(sizes_);
    const PrimitiveType type = instruction_->shape().element_type();
    const KernelArgument result = KernelArgument::Slice(program_.assignment().slice(instruction_), true);
    return Kernel(count, {}, result, [&](KernelEmitter& k, llvm::Value* i) {
      ElementValue x = LoadNow(k, i, count);
      if (!IsComplexType(type)) x.im = nullptr;
      Array(k, 1, type, count).Store(k.context(), At(i, count), x);
      return absl::OkStatus();
    });
  }

  ProgramEmitter& program_;
  const HloInstruction* instruction_;
  const FftAttrs& attrs_;
  PrimitiveType type_;
  bool inverse_;
  std::vector<int64_t> sizes_;  // of the current data
  KernelArgument now_, scratch_[2];
  bool now_is_real_ = false;
  int next_ = 0;
};

}  // namespace

absl::Status EmitFft(ProgramEmitter& program, const HloInstruction* instruction) {
  return Transform(program, instruction).Emit();
}

}  // namespace hilo::gpu
