#include "backends/cpu/element_function.h"

#include "absl/strings/str_cat.h"
#include "backends/cpu/kernels.h"
#include "backends/llvm/scalar_computation.h"
#include "base/status_macros.h"

namespace hilo::cpu {
namespace {

using codegen::ElementValue;

// Element `i` of array `number` of `table`.
codegen::IrArray ElementOf(llvm::IRBuilder<>& b, llvm::Value* table, int64_t number, PrimitiveType type, llvm::Value* i) {
  llvm::Value* base = b.CreateLoad(b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.getPtrTy(), table, number));
  llvm::Value* offset = b.CreateNSWMul(i, b.getInt64(PrimitiveTypeByteSize(type)));
  return {.pointer = b.CreateInBoundsGEP(b.getInt8Ty(), base, offset), .shape = ShapeUtil::MakeScalarShape(type)};
}

}  // namespace

bool MapsScalars(const HloComputation& computation) {
  for (int64_t i = 0; i < computation.num_parameters(); ++i) {
    if (!computation.parameter_instruction(i)->shape().IsScalar()) return false;
  }
  for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(computation.root_instruction()->shape())) {
    if (!leaf.shape->IsScalar()) return false;
  }
  return true;
}

absl::StatusOr<llvm::Function*> EmitElementFunction(FunctionEmitter& f, const HloComputation& computation) {
  llvm::Type* ptr = f.b().getPtrTy();
  auto* type = llvm::FunctionType::get(f.b().getVoidTy(), {ptr, ptr, f.b().getInt64Ty()}, false);
  llvm::Module* module = f.function()->getParent();
  llvm::Function* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage,
                                                    absl::StrCat(computation.name(), ".elements"), module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(module->getContext(), "entry", function));
  codegen::EmitterContext context(&b, f.context().target(), f.context().numerics());
  auto body = [&](llvm::Value* i, const codegen::Carried&) -> absl::StatusOr<codegen::Carried> {
    std::vector<ElementValue> arguments;
    for (int64_t number = 0; number < computation.num_parameters(); ++number) {
      const PrimitiveType type = computation.parameter_instruction(number)->shape().element_type();
      arguments.push_back(ElementOf(b, function->getArg(0), number, type, i).Load(context, codegen::Index()));
    }
    HILO_ASSIGN_OR_RETURN(std::vector<ElementValue> results, codegen::EmitComputation(context, computation, arguments));
    const auto leaves = ShapeUtil::Leaves(computation.root_instruction()->shape());
    for (size_t number = 0; number < leaves.size(); ++number) {
      ElementOf(b, function->getArg(1), number, leaves[number].shape->element_type(), i)
          .Store(context, codegen::Index(), results[number]);
    }
    return codegen::Carried();
  };
  HILO_RETURN_IF_ERROR(
      codegen::EmitLoop(context, "element", b.getInt64(0), function->getArg(2), 1, {}, body).status());
  b.CreateRetVoid();
  return function;
}

}  // namespace hilo::cpu
