#include "backends/llvm/elements/elementwise_function.h"

#include <algorithm>

#include "backends/llvm/elements/ir_array.h"
#include "backends/llvm/elements/scalar_computation.h"
#include "backends/llvm/llvm_compat.h"
#include "hilo/status_macros.h"

namespace hilo::codegen {
namespace {

constexpr int64_t kManyElements = int64_t{1} << 40;

// Array `number` of `table`.
IrArray ArrayOf(llvm::IRBuilder<>& b, llvm::Value* table, int64_t number, PrimitiveType type) {
  llvm::Value* base = b.CreateLoad(b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.getPtrTy(), table, number));
  return {.pointer = base, .shape = Shape(type, {kManyElements})};
}

// As many lanes as the computation's widest value allows in a register.
int WidthOf(const HloComputation& computation, const TargetTraits& target) {
  if (target.vector_bits == 0 || !CanEmitComputation(computation)) return 1;
  int bits = 8;
  for (const HloInstruction* instruction : computation.instructions()) {
    for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(instruction->shape())) {
      const PrimitiveType type = ComplexComponentType(leaf.shape->element_type());
      const int in_memory = 8 * PrimitiveTypeByteSize(type);
      bits = std::max(bits, IsFloatingPointType(type) ? std::max(in_memory, 32) : in_memory);
    }
  }
  return target.vector_bits / bits;
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

absl::StatusOr<llvm::Function*> EmitElementFunction(llvm::Module* module, absl::string_view name,
                                                    const TargetTraits& target, const NumericOptions& numerics,
                                                    const HloComputation& computation) {
  llvm::Type* ptr = llvm::PointerType::getUnqual(module->getContext());
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(module->getContext()),
                                       {ptr, ptr, llvm::Type::getInt64Ty(module->getContext())}, false);
  llvm::Function* function =
      llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, ToStringRef(name), module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr("prefer-vector-width", std::to_string(target.vector_bits));
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(module->getContext(), "entry", function));
  EmitterContext context(&b, target, numerics);
  std::vector<IrArray> operands, arrays;
  for (int64_t number = 0; number < computation.num_parameters(); ++number) {
    operands.push_back(
        ArrayOf(b, function->getArg(0), number, computation.parameter_instruction(number)->shape().element_type()));
  }
  for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(computation.root_instruction()->shape())) {
    arrays.push_back(ArrayOf(b, function->getArg(1), static_cast<int64_t>(arrays.size()), leaf.shape->element_type()));
  }
  auto body = [&](llvm::Value* i, const Carried&) -> absl::StatusOr<Carried> {
    const Index at({LaneIndex::Strided(i, 1, 1, kManyElements)});
    std::vector<ElementValue> arguments;
    for (const IrArray& operand : operands) arguments.push_back(operand.Load(context, at));
    HILO_ASSIGN_OR_RETURN(const std::vector<ElementValue> results, EmitComputation(context, computation, arguments));
    for (size_t number = 0; number < arrays.size(); ++number)
      arrays[number].Store(context, at, context.Splat(results[number]));
    return Carried();
  };
  // Full vectors, then the remainder one by one.
  llvm::Value* const count = function->getArg(2);
  llvm::Value* done = b.getInt64(0);
  if (const int width = WidthOf(computation, target); width > 1) {
    llvm::Value* const whole = b.CreateAnd(count, b.getInt64(-int64_t{width}));
    RegionScope region(context);
    context.lanes = {.width = width};
    HILO_RETURN_IF_ERROR(EmitLoop(context, "vectors", done, whole, width, {}, body).status());
    done = whole;
  }
  HILO_RETURN_IF_ERROR(EmitLoop(context, "elements", done, count, 1, {}, body).status());
  b.CreateRetVoid();
  return function;
}

}  // namespace hilo::codegen
