#include "tests/support/math_kernel.h"

#include "absl/functional/function_ref.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace hilo::codegen {
namespace {

using llvm::Value;
using Body = absl::FunctionRef<Value*(llvm::IRBuilderBase& b, Value* x, Value* y)>;

// for (i = 0; i < n; i += width) out[i] = body(x[i], y[i]); y is loaded where `binary`.
absl::StatusOr<HostModule> BuildLoop(HostJit& jit, llvm::Type::TypeID float_element, int int_bits, int width,
                                     bool binary, Body body) {
  HostModule made("math_kernel");
  if (absl::Status s = jit.PrepareModule(made.module.get()); !s.ok()) return s;
  llvm::LLVMContext& context = *made.context;
  llvm::IRBuilder<> b(context);
  llvm::Type* element = int_bits > 0 ? b.getIntNTy(static_cast<unsigned>(int_bits))
                                     : llvm::Type::getPrimitiveType(context, float_element);
  llvm::Type* type = width == 1 ? element : llvm::FixedVectorType::get(element, static_cast<unsigned>(width));
  llvm::Type* pointer = b.getPtrTy();
  auto* function =
      llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), {pointer, pointer, pointer, b.getInt64Ty()}, false),
                             llvm::Function::ExternalLinkage, "math_kernel", made.module.get());
  auto* entry = llvm::BasicBlock::Create(context, "entry", function);
  auto* head = llvm::BasicBlock::Create(context, "head", function);
  auto* step = llvm::BasicBlock::Create(context, "step", function);
  auto* done = llvm::BasicBlock::Create(context, "done", function);
  b.SetInsertPoint(entry);
  b.CreateBr(head);
  b.SetInsertPoint(head);
  llvm::PHINode* i = b.CreatePHI(b.getInt64Ty(), 2);
  i->addIncoming(b.getInt64(0), entry);
  b.CreateCondBr(b.CreateICmpSLT(i, function->getArg(3)), step, done);
  b.SetInsertPoint(step);
  const auto load = [&](unsigned argument) {
    return b.CreateAlignedLoad(type, b.CreateGEP(element, function->getArg(argument), i), llvm::Align(1));
  };
  Value* result = body(b, load(0), binary ? load(1) : nullptr);
  b.CreateAlignedStore(result, b.CreateGEP(result->getType()->getScalarType(), function->getArg(2), i), llvm::Align(1));
  i->addIncoming(b.CreateAdd(i, b.getInt64(width)), b.GetInsertBlock());
  b.CreateBr(head);
  b.SetInsertPoint(done);
  b.CreateRetVoid();
  return made;
}

}  // namespace

absl::StatusOr<HostModule> BuildMathKernel(HostJit& jit, const MathKernelSpec& spec) {
  const MathTarget target = MathTarget::Of(jit.cpu());
  const bool binary = OpcodeInfo(spec.function).arity == 2;
  return BuildLoop(jit, spec.f64 ? llvm::Type::DoubleTyID : llvm::Type::FloatTyID, 0, spec.width, binary,
                   [&](llvm::IRBuilderBase& b, Value* x, Value* y) {
                     return binary ? EmitBinary(spec.function, b, x, y, target)
                                   : EmitUnary(spec.function, b, x, target);
                   });
}

absl::StatusOr<HostModule> BuildConversionKernel(HostJit& jit, const FloatFormat& format, bool to_f32, int width) {
  const int bits = format.exponent_bits + format.mantissa_bits > 8 ? 16 : 8;
  return BuildLoop(jit, llvm::Type::FloatTyID, to_f32 ? bits : 0, width, /*binary=*/false,
                   [&](llvm::IRBuilderBase& b, Value* x, Value*) {
                     return to_f32 ? EmitSmallToFloat(b, x, format) : EmitFloatToSmall(b, x, format);
                   });
}

}  // namespace hilo::codegen
