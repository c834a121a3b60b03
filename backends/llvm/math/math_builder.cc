#include "backends/llvm/math/math_builder.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "backends/llvm/llvm_compat.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"

namespace hilo::codegen {

using llvm::Value;

namespace {

constexpr int kCurrentRounding = 4;  // of AVX-512's instructions on whole registers

}  // namespace

MathBuilder::MathBuilder(llvm::IRBuilderBase& b, llvm::Type* type, const MathTarget& target)
    : b_(b), guard_(b), target_(target), type_(type) {
  b_.setFastMathFlags(llvm::FastMathFlags());
  b_.setDefaultFPMathTag(nullptr);
  f64_ = type->getScalarType()->isDoubleTy();
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  lanes_ = vector == nullptr ? 1 : vector->getNumElements();
  bits_type_ = WithElement(b.getIntNTy(f64_ ? 64 : 32));
}

llvm::Type* MathBuilder::WithElement(llvm::Type* element) const {
  return type_->isVectorTy() ? llvm::FixedVectorType::get(element, lanes_) : element;
}

Value* MathBuilder::AllLanes() const {
  return llvm::Constant::getAllOnesValue(b_.getIntNTy(std::max<unsigned>(lanes_, 8)));
}

Value* MathBuilder::F(double value) { return llvm::ConstantFP::get(type_, value); }
Value* MathBuilder::Inf() { return llvm::ConstantFP::getInfinity(type_); }
Value* MathBuilder::NaN() { return llvm::ConstantFP::getQNaN(type_); }
Value* MathBuilder::I(int64_t bits) { return llvm::ConstantInt::get(bits_type_, static_cast<uint64_t>(bits)); }

Value* MathBuilder::Fma(Value* a, Value* b, Value* c) {
  if (!target_.has_fma) return Add(Mul(a, b), c);
  return b_.CreateIntrinsic(llvm::Intrinsic::fma, {type_}, {a, b, c});
}
Value* MathBuilder::Abs(Value* a) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a); }
Value* MathBuilder::Sqrt(Value* a) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, a); }
Value* MathBuilder::Trunc(Value* a) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, a); }
Value* MathBuilder::CopySign(Value* magnitude, Value* sign) {
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, magnitude, sign);
}

Value* MathBuilder::Coefficient(double value) {
  auto* constant = llvm::ConstantFP::get(type_, value);
  const int bits = static_cast<int>(lanes_ * type_->getScalarSizeInBits());
  if (bits != target_.splat_bits) return constant;
  llvm::Module& module = *b_.GetInsertBlock()->getModule();
  const std::string name =
      absl::StrCat("hilo_splat_", f64_ ? "f64_" : "f32_", absl::Hex(std::bit_cast<uint64_t>(value)));
  const llvm::Align alignment(bits / 8);
  llvm::GlobalVariable* splat = module.getNamedGlobal(name);
  if (splat == nullptr) {
    // "Externally initialized" keeps LLVM from reading the value back into the code.
    splat = new llvm::GlobalVariable(module, type_, /*isConstant=*/true, llvm::GlobalValue::InternalLinkage, constant,
                                     name, /*InsertBefore=*/nullptr, llvm::GlobalValue::NotThreadLocal,
                                     /*AddressSpace=*/0, /*isExternallyInitialized=*/true);
    splat->setAlignment(alignment);
  }
  llvm::LoadInst* load = b_.CreateAlignedLoad(type_, splat, alignment);
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b_.getContext(), {}));
  return load;
}

Value* MathBuilder::Poly(Value* x, absl::Span<const double> c) {
  const auto horner = [&](Value* at, size_t first, size_t step) {
    size_t i = first + (c.size() - 1 - first) / step * step;
    Value* sum = Coefficient(c[i]);
    while (i >= first + step) {
      i -= step;
      sum = Fma(sum, at, Coefficient(c[i]));
    }
    return sum;
  };
  if (c.size() < 5) return horner(x, 0, 1);
  Value* square = Mul(x, x);
  const auto pair = [&](Value* at, size_t first, size_t step) {
    Value* even = horner(at, first, step);
    return Fma(horner(at, first + 1, step), x, even);
  };
  if (c.size() < 16) return pair(square, 0, 2);
  Value* fourth = Mul(square, square);
  Value* low = pair(fourth, 0, 4);
  return Fma(pair(fourth, 2, 4), square, low);
}

Value* MathBuilder::Lookup(absl::Span<const double> table, Value* index) {
  const unsigned width = target_.has_avx512 && lanes_ % (2 * kTable) == 0 ? 2 * kTable : kTable;  // of a register
  const llvm::Intrinsic::ID id =
      width == kTable ? llvm::Intrinsic::x86_avx2_permps : llvm::Intrinsic::x86_avx512_permvar_sf_512;
  llvm::SmallVector<float, 2 * kTable> elements;
  for (unsigned lane = 0; lane < width; ++lane) elements.push_back(static_cast<float>(table[lane % kTable]));
  llvm::Constant* elements_of_register = llvm::ConstantDataVector::get(b_.getContext(), elements);
  llvm::SmallVector<Value*, 4> parts;
  for (unsigned first = 0; first < lanes_; first += width) {
    Value* part = width == lanes_ ? index : b_.CreateShuffleVector(index, llvm::createSequentialMask(first, width, 0));
    parts.push_back(b_.CreateIntrinsic(id, {}, {elements_of_register, part}));
  }
  return llvm::concatenateVectors(b_, parts);
}

Value* MathBuilder::RsqrtEstimate(Value* a) {
  if (!f64_ || !target_.has_avx512) return nullptr;
  constexpr unsigned kMaxLanes = 8;
  const unsigned width = std::clamp(std::bit_ceil(lanes_), 2u, kMaxLanes);  // of a register
  llvm::Type* vector = llvm::FixedVectorType::get(b_.getDoubleTy(), width);
  if (lanes_ == 1) a = b_.CreateInsertElement(llvm::PoisonValue::get(vector), a, uint64_t{0});
  const llvm::Intrinsic::ID id = width == 8   ? llvm::Intrinsic::x86_avx512_rsqrt14_pd_512
                                 : width == 4 ? llvm::Intrinsic::x86_avx512_rsqrt14_pd_256
                                              : llvm::Intrinsic::x86_avx512_rsqrt14_pd_128;
  const auto estimate = [&](Value* part) {
    return b_.CreateIntrinsic(id, {}, {part, llvm::PoisonValue::get(vector), b_.getInt8(0xff)});
  };
  if (lanes_ == width) return estimate(a);
  if (lanes_ == 1) return b_.CreateExtractElement(estimate(a), uint64_t{0});
  llvm::SmallVector<Value*, 4> parts;
  for (unsigned first = 0; first < lanes_; first += width) {
    llvm::SmallVector<int, kMaxLanes> lanes(width, llvm::PoisonMaskElem);
    for (unsigned i = 0; i < width && first + i < lanes_; ++i) lanes[i] = static_cast<int>(first + i);
    parts.push_back(estimate(b_.CreateShuffleVector(a, lanes)));
  }
  Value* all = llvm::concatenateVectors(b_, parts);
  return b_.CreateShuffleVector(all, llvm::createSequentialMask(0, lanes_, 0));
}

bool MathBuilder::HasRegisterType() const {
  const unsigned bits = lanes_ * (f64_ ? 64 : 32);
  return target_.has_avx512 && lanes_ > 1 && (bits == 512 || bits == 256 || bits == 128);
}

Value* MathBuilder::ScaleDirectly(Value* a, Value* n) {
  if (!HasRegisterType()) return nullptr;
  namespace intrinsic = llvm::Intrinsic;
  const unsigned bits = lanes_ * (f64_ ? 64 : 32);
  const intrinsic::ID id =
      bits == 512   ? (f64_ ? intrinsic::x86_avx512_mask_scalef_pd_512 : intrinsic::x86_avx512_mask_scalef_ps_512)
      : bits == 256 ? (f64_ ? intrinsic::x86_avx512_mask_scalef_pd_256 : intrinsic::x86_avx512_mask_scalef_ps_256)
                    : (f64_ ? intrinsic::x86_avx512_mask_scalef_pd_128 : intrinsic::x86_avx512_mask_scalef_ps_128);
  std::vector<Value*> operands = {a, n, llvm::PoisonValue::get(type_), AllLanes()};
  if (bits == 512) operands.push_back(b_.getInt32(kCurrentRounding));
  return b_.CreateIntrinsic(id, {}, operands);
}

Value* MathBuilder::FixUpByClass(Value* value, Value* x, const FixUps& changes) {
  if (!HasRegisterType()) return nullptr;
  namespace intrinsic = llvm::Intrinsic;
  const unsigned bits = lanes_ * (f64_ ? 64 : 32);
  const intrinsic::ID id =
      bits == 512   ? (f64_ ? intrinsic::x86_avx512_mask_fixupimm_pd_512 : intrinsic::x86_avx512_mask_fixupimm_ps_512)
      : bits == 256 ? (f64_ ? intrinsic::x86_avx512_mask_fixupimm_pd_256 : intrinsic::x86_avx512_mask_fixupimm_ps_256)
                    : (f64_ ? intrinsic::x86_avx512_mask_fixupimm_pd_128 : intrinsic::x86_avx512_mask_fixupimm_ps_128);
  // Four bits a class: quiet NaN, signaling NaN, zero, one, -inf, inf, negative, positive.
  uint32_t table = 0;
  int shift = 0;
  for (const FixUp change : {changes.nan, changes.nan, changes.zero, changes.one, changes.minus_infinity,
                             changes.infinity, changes.negative, changes.positive}) {
    table |= static_cast<uint32_t>(change) << shift;
    shift += 4;
  }
  std::vector<Value*> operands = {value, x, I(table), b_.getInt32(0), AllLanes()};
  if (bits == 512) operands.push_back(b_.getInt32(kCurrentRounding));
  return b_.CreateIntrinsic(id, {}, operands);
}

Value* MathBuilder::ScaleByPowerOfTwo(Value* a, Value* n, Value* rounded) {
  if (Value* scaled = ScaleDirectly(a, n); scaled != nullptr) return scaled;
  // Two factors, because one would overflow where the product does not, or round twice where the result is subnormal.
  // The magic number's own bits are shifted out at the top.
  Value* half = Shl(Lshr(Bits(rounded), 1), mantissa_bits());
  Value* rest = ISub(Shl(Bits(rounded), mantissa_bits()), half);
  Value* first = FromBits(IAdd(half, I(one_bits())));
  Value* second = FromBits(IAdd(rest, I(one_bits())));
  return Mul(Mul(a, first), second);
}

Value* MathBuilder::CallScalar(llvm::IRBuilderBase& b, absl::string_view symbol, absl::Span<Value* const> operands,
                               bool symbol_has_own_type) {
  llvm::Type* element = type_->getScalarType();
  llvm::Type* called = symbol_has_own_type ? element : b.getDoubleTy();
  const std::vector<llvm::Type*> parameters(operands.size(), called);
  llvm::Module* module = b.GetInsertBlock()->getModule();
  llvm::FunctionCallee callee =
      module->getOrInsertFunction(ToStringRef(symbol), llvm::FunctionType::get(called, parameters, false));
  absl::InlinedVector<Value*, 2> widened;
  for (Value* operand : operands) widened.push_back(called == element ? operand : b.CreateFPExt(operand, called));
  llvm::CallInst* result = b.CreateCall(callee, llvm::ArrayRef<Value*>(widened.data(), widened.size()));
  result->setDoesNotThrow();
  result->setDoesNotAccessMemory();
  return called == element ? static_cast<Value*>(result) : b.CreateFPTrunc(result, element);
}

// One function per module for each symbol and vector type, so that a cold path costs its user one call and not one per
// lane.
llvm::Function* MathBuilder::LaneLoop(absl::string_view symbol, size_t arity, bool symbol_has_own_type) {
  llvm::Function* caller = b_.GetInsertBlock()->getParent();
  llvm::Module* module = caller->getParent();
  const std::string name = absl::StrCat(symbol, ".v", lanes_, f64_ ? "f64" : "f32");
  if (llvm::Function* made = module->getFunction(name)) return made;
  const std::vector<llvm::Type*> parameters(arity, type_);
  auto* loop = llvm::Function::Create(llvm::FunctionType::get(type_, parameters, false),
                                      llvm::Function::InternalLinkage, name, module);
  for (llvm::StringRef attribute : {"target-cpu", "target-features", "prefer-vector-width", "min-legal-vector-width"}) {
    if (caller->hasFnAttribute(attribute)) loop->addFnAttr(caller->getFnAttribute(attribute));
  }
  loop->addFnAttr(llvm::Attribute::NoInline);
  loop->addFnAttr(llvm::Attribute::Cold);
  loop->addFnAttr(llvm::Attribute::NoUnwind);

  llvm::LLVMContext& context = module->getContext();
  auto* entry = llvm::BasicBlock::Create(context, "entry", loop);
  auto* body = llvm::BasicBlock::Create(context, "lane", loop);
  auto* done = llvm::BasicBlock::Create(context, "done", loop);
  llvm::IRBuilder<> b(entry);
  llvm::Type* element = type_->getScalarType();
  const auto slot = [&](Value* initial) {
    llvm::AllocaInst* at = b.CreateAlloca(type_);
    if (initial != nullptr) b.CreateStore(initial, at);
    return at;
  };
  absl::InlinedVector<Value*, 2> slots, lane_operands;
  for (llvm::Argument& argument : loop->args()) slots.push_back(slot(&argument));
  Value* results = slot(nullptr);
  b.CreateBr(body);
  b.SetInsertPoint(body);
  llvm::PHINode* lane = b.CreatePHI(b.getInt64Ty(), 2);
  lane->addIncoming(b.getInt64(0), entry);
  for (Value* at : slots) lane_operands.push_back(b.CreateLoad(element, b.CreateGEP(element, at, lane)));
  b.CreateStore(CallScalar(b, symbol, lane_operands, symbol_has_own_type), b.CreateGEP(element, results, lane));
  Value* next = b.CreateAdd(lane, b.getInt64(1));
  lane->addIncoming(next, body);
  b.CreateCondBr(b.CreateICmpEQ(next, b.getInt64(lanes_)), done, body);
  b.SetInsertPoint(done);
  b.CreateRet(b.CreateLoad(type_, results));
  return loop;
}

Value* MathBuilder::CallPerLane(absl::string_view symbol, absl::Span<Value* const> operands, bool symbol_has_own_type) {
  if (!type_->isVectorTy()) return CallScalar(b_, symbol, operands, symbol_has_own_type);
  return b_.CreateCall(LaneLoop(symbol, operands.size(), symbol_has_own_type),
                       llvm::ArrayRef<Value*>(operands.data(), operands.size()));
}

Value* MathBuilder::OrCall(Value* fast, Value* slow, absl::string_view symbol, absl::Span<Value* const> operands,
                           bool symbol_has_own_type) {
  return OrRarely(b_, slow, {fast}, [&] {
    return std::vector<Value*>{Select(slow, CallPerLane(symbol, operands, symbol_has_own_type), fast)};
  })[0];
}

std::vector<Value*> OrRarely(llvm::IRBuilderBase& b, Value* rare, const std::vector<Value*>& common,
                             absl::FunctionRef<std::vector<Value*>()> emit) {
  Value* any = rare->getType()->isVectorTy() ? b.CreateOrReduce(rare) : rare;
  llvm::BasicBlock* head = b.GetInsertBlock();
  llvm::Function* function = head->getParent();
  llvm::LLVMContext& context = function->getContext();
  llvm::BasicBlock* done;
  if (b.GetInsertPoint() == head->end()) {
    done = llvm::BasicBlock::Create(context, "math.done", function, head->getNextNode());
  } else {
    done = head->splitBasicBlock(b.GetInsertPoint(), "math.done");
    head->getTerminator()->eraseFromParent();
  }
  auto* cold = llvm::BasicBlock::Create(context, "math.slow", function, done);
  b.SetInsertPoint(head);
  b.CreateCondBr(any, cold, done, llvm::MDBuilder(context).createUnlikelyBranchWeights());
  b.SetInsertPoint(cold);
  const std::vector<Value*> emitted = emit();
  llvm::BasicBlock* end = b.GetInsertBlock();
  b.CreateBr(done);
  b.SetInsertPoint(done, done->begin());
  std::vector<Value*> results;
  for (size_t i = 0; i < common.size(); ++i) {
    llvm::PHINode* result = b.CreatePHI(common[i]->getType(), 2);
    result->addIncoming(common[i], head);
    result->addIncoming(emitted[i], end);
    results.push_back(result);
  }
  return results;
}

}  // namespace hilo::codegen
