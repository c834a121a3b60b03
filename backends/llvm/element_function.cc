#include "backends/llvm/element_function.h"

#include "backends/llvm/ir_array.h"
#include "backends/llvm/llvm_compat.h"
#include "backends/llvm/scalar_computation.h"
#include "base/status_macros.h"

namespace hilo::codegen {
namespace {

// Element `i` of array `number` of `table`.
IrArray ElementOf(llvm::IRBuilder<>& b, llvm::Value* table, int64_t number, PrimitiveType type, llvm::Value* i) {
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

absl::StatusOr<llvm::Function*> EmitElementFunction(llvm::Module* module, absl::string_view name, const TargetTraits& target, const NumericOptions& numerics,
                                                    const HloComputation& computation) {
  llvm::Type* ptr = llvm::PointerType::getUnqual(module->getContext());
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(module->getContext()), {ptr, ptr, llvm::Type::getInt64Ty(module->getContext())}, false);
  llvm::Function* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, ToStringRef(name), module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(module->getContext(), "entry", function));
  EmitterContext context(&b, target, numerics);
  auto body = [&](llvm::Value* i, const Carried&) -> absl::StatusOr<Carried> {
    std::vector<ElementValue> arguments;
    for (int64_t number = 0; number < computation.num_parameters(); ++number) {
      const PrimitiveType type = computation.parameter_instruction(number)->shape().element_type();
      arguments.push_back(ElementOf(b, function->getArg(0), number, type, i).Load(context, Index()));
    }
    HILO_ASSIGN_OR_RETURN(std::vector<ElementValue> results, EmitComputation(context, computation, arguments));
    const auto leaves = ShapeUtil::Leaves(computation.root_instruction()->shape());
    for (size_t number = 0; number < leaves.size(); ++number) {
      ElementOf(b, function->getArg(1), number, leaves[number].shape->element_type(), i)
          .Store(context, Index(), results[number]);
    }
    return Carried();
  };
  HILO_RETURN_IF_ERROR(
      EmitLoop(context, "element", b.getInt64(0), function->getArg(2), 1, {}, body).status());
  b.CreateRetVoid();
  return function;
}

}  // namespace hilo::codegen
