#include "backends/llvm/elements/scalar_computation.h"

#include "absl/container/flat_hash_map.h"
#include "backends/llvm/elements/predication.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ir/call_depth.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo::codegen {
namespace {

void AppendLeafTypes(const Shape& shape, std::vector<PrimitiveType>* types) {
  if (!shape.IsTuple()) return types->push_back(shape.element_type());
  for (const Shape& element : shape.tuple_shapes()) AppendLeafTypes(element, types);
}
std::vector<PrimitiveType> LeafTypes(const Shape& shape) {
  std::vector<PrimitiveType> types;
  AppendLeafTypes(shape, &types);
  return types;
}
int64_t ValuesBefore(const Shape& tuple, int64_t element) {
  std::vector<PrimitiveType> types;
  for (int64_t i = 0; i < element; ++i) AppendLeafTypes(tuple.tuple_shapes(i), &types);
  return static_cast<int64_t>(types.size());
}

bool HoldsScalars(const Shape& shape) {
  if (shape.IsTuple()) {
    for (const Shape& element : shape.tuple_shapes()) {
      if (!HoldsScalars(element)) return false;
    }
    return true;
  }
  return shape.IsArray() && ShapeUtil::ElementsIn(shape) == 1;
}

class ComputationEmitter {
 public:
  explicit ComputationEmitter(EmitterContext& context) : context_(context) {}

  absl::StatusOr<ElementValues> Emit(const HloComputation& computation, absl::Span<const ElementValue> arguments) {
    if (++depth_ > kMaxEmittedDepth) {
      return ResourceExhausted("computations called from ", computation.name(), " are nested more than ",
                               kMaxEmittedDepth, " deep");
    }
    absl::flat_hash_map<const HloInstruction*, ElementValues> values;
    size_t next_argument = 0;
    for (const HloInstruction* parameter : computation.parameter_instructions()) {
      const size_t leaves = LeafTypes(parameter->shape()).size();
      HILO_RET_CHECK(next_argument + leaves <= arguments.size()) << computation.name();
      values[parameter] = ElementValues(arguments.begin() + next_argument, arguments.begin() + next_argument + leaves);
      next_argument += leaves;
    }
    for (const HloInstruction* instruction : computation.MakePostOrder()) {
      if (instruction->IsParameter()) continue;
      ElementValues operands;
      for (const HloInstruction* operand : instruction->operands()) {
        const ElementValues& leaves = values[operand];
        operands.insert(operands.end(), leaves.begin(), leaves.end());
      }
      auto result = EmitInstruction(*instruction, operands);
      if (!result.ok()) return result.status();
      values[instruction] = *std::move(result);
    }
    --depth_;
    return values[computation.root_instruction()];
  }

 private:
  absl::StatusOr<ElementValues> EmitInstruction(const HloInstruction& instruction, const ElementValues& operands) {
    if (!HoldsScalars(instruction.shape())) {
      return Unimplemented("embedded computations hold scalars only", InstructionContext(instruction));
    }
    switch (instruction.opcode()) {
      case HloOpcode::kConstant: return ElementValues{EmitLiteral(context_, instruction.literal())};
      case HloOpcode::kIota: return ElementValues{EmitZero(context_, instruction.shape().element_type())};
      case HloOpcode::kTuple:
      case HloOpcode::kOptimizationBarrier:
      case HloOpcode::kCopy:
      case HloOpcode::kReshape:
      case HloOpcode::kBroadcast:
      case HloOpcode::kTranspose: return operands;
      case HloOpcode::kBitcast:
      case HloOpcode::kBitcastConvert:
        return ElementValues{EmitBitcast(context_, instruction.operand(0)->shape().element_type(),
                                         instruction.shape().element_type(), operands[0])};
      case HloOpcode::kGetTupleElement: {
        const auto first = operands.begin() + ValuesBefore(instruction.operand(0)->shape(), instruction.tuple_index());
        return ElementValues(first, first + LeafTypes(instruction.shape()).size());
      }
      case HloOpcode::kCall:
      case HloOpcode::kFusion:
      case HloOpcode::kMap: return Emit(*instruction.called_computation(), operands);
      case HloOpcode::kWhile: return EmitWhile(instruction, operands);
      case HloOpcode::kConditional: return EmitConditional(instruction, operands);
      default: break;
    }
    if (!IsElementwise(instruction.opcode())) {
      return Unimplemented(HloOpcodeString(instruction.opcode()), " is not supported in an embedded computation",
                           InstructionContext(instruction));
    }
    auto value = EmitElementwise(context_, &instruction, operands);
    if (!value.ok()) return AddContext(value.status(), InstructionContext(instruction));
    return ElementValues{*value};
  }

  absl::StatusOr<ElementValues> EmitWhile(const HloInstruction& loop, const ElementValues& initial) {
    llvm::IRBuilder<>& b = context_.b();
    const std::vector<PrimitiveType> types = LeafTypes(loop.shape());
    llvm::BasicBlock* before = b.GetInsertBlock();
    llvm::BasicBlock* test =
        llvm::BasicBlock::Create(context_.llvm_context(), loop.name() + ".test", context_.function());
    llvm::BasicBlock* body =
        llvm::BasicBlock::Create(context_.llvm_context(), loop.name() + ".body", context_.function());
    llvm::BasicBlock* exit =
        llvm::BasicBlock::Create(context_.llvm_context(), loop.name() + ".exit", context_.function());
    b.CreateBr(test);
    b.SetInsertPoint(test);
    Carried phis;
    for (llvm::Value* value : Pack(initial)) {
      llvm::PHINode* phi = b.CreatePHI(value->getType(), 2);
      phi->addIncoming(value, before);
      phis.push_back(phi);
    }
    const ElementValues state = Unpack(phis, types);
    RegionScope region(context_);
    HILO_ASSIGN_OR_RETURN(ElementValues more, Emit(*loop.called_computation(0), state));
    if (!more[0].IsUniform())
      return Unimplemented("a while whose condition differs between lanes", InstructionContext(loop));
    b.CreateCondBr(more[0].re, body, exit);
    b.SetInsertPoint(body);
    if (context_.poll) context_.poll();
    HILO_ASSIGN_OR_RETURN(ElementValues next, Emit(*loop.called_computation(1), state));
    const Carried packed = Pack(next);
    for (size_t i = 0; i < phis.size(); ++i) {
      if (packed[i]->getType() != phis[i]->getType()) {
        return Unimplemented("a while whose state starts equal in all lanes and does not stay so",
                             InstructionContext(loop));
      }
      llvm::cast<llvm::PHINode>(phis[i])->addIncoming(packed[i], b.GetInsertBlock());
    }
    b.CreateBr(test);
    b.SetInsertPoint(exit);
    return state;
  }

  absl::StatusOr<ElementValues> EmitConditional(const HloInstruction& conditional, const ElementValues& operands) {
    llvm::IRBuilder<>& b = context_.b();
    const int64_t count = static_cast<int64_t>(conditional.called_computations().size());
    if (!operands[0].IsUniform())
      return Unimplemented("a conditional whose selector differs between lanes", InstructionContext(conditional));
    llvm::Value* branch = nullptr;
    if (conditional.operand(0)->shape().element_type() == PRED) {
      branch = b.CreateSelect(operands[0].re, b.getInt32(0), b.getInt32(1));
    } else {  // out of range: the last one
      branch =
          b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, operands[0].re, b.getInt32(static_cast<uint32_t>(count - 1)));
    }
    bool uniform = true;
    for (const ElementValue& operand : operands) uniform = uniform && operand.IsUniform();
    HILO_ASSIGN_OR_RETURN(Carried chosen, EmitCases(conditional, branch, operands, uniform, 0, count));
    return Unpack(chosen, LeafTypes(conditional.shape()));
  }

  // Branches [first, last), by bisection.
  absl::StatusOr<Carried> EmitCases(const HloInstruction& conditional, llvm::Value* branch,
                                    const ElementValues& operands, bool uniform, int64_t first, int64_t last) {
    if (last - first == 1) {
      size_t start = 1;
      for (int64_t i = 0; i < first; ++i) start += LeafTypes(conditional.operand(i + 1)->shape()).size();
      const size_t leaves = LeafTypes(conditional.operand(first + 1)->shape()).size();
      HILO_ASSIGN_OR_RETURN(ElementValues values, Emit(*conditional.called_computation(first),
                                                       absl::MakeConstSpan(operands).subspan(start, leaves)));
      if (!uniform) {
        for (ElementValue& value : values) value = context_.Splat(value);
      }
      return Pack(values);
    }
    const int64_t middle = (first + last) / 2;
    llvm::Value* below = context_.b().CreateICmpULT(branch, context_.b().getInt32(static_cast<uint32_t>(middle)));
    return EmitBranches(
        context_, conditional.name(), below,
        [&] { return EmitCases(conditional, branch, operands, uniform, first, middle); },
        [&] { return EmitCases(conditional, branch, operands, uniform, middle, last); });
  }

  EmitterContext& context_;
  int depth_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<ElementValue>> EmitComputation(EmitterContext& context, const HloComputation& computation,
                                                          absl::Span<const ElementValue> arguments) {
  return ComputationEmitter(context).Emit(computation, arguments);
}

bool CanEmitComputation(const HloComputation& computation, bool scalar) {
  // What moves elements is no code where there is one.
  static constexpr OpcodeSet kOfOneElement = {HloOpcode::kBitcast,
                                              HloOpcode::kBitcastConvert,
                                              HloOpcode::kBroadcast,
                                              HloOpcode::kConstant,
                                              HloOpcode::kGetTupleElement,
                                              HloOpcode::kIota,
                                              HloOpcode::kOptimizationBarrier,
                                              HloOpcode::kParameter,
                                              HloOpcode::kReshape,
                                              HloOpcode::kTranspose,
                                              HloOpcode::kTuple};
  static constexpr OpcodeSet kCalls = {HloOpcode::kCall, HloOpcode::kFusion, HloOpcode::kMap};
  static constexpr OpcodeSet kControl = {HloOpcode::kConditional, HloOpcode::kWhile};
  std::vector<const HloComputation*> work{&computation};
  int64_t visited = 0;
  while (!work.empty()) {
    const HloComputation* current = work.back();
    work.pop_back();
    if (++visited > kMaxEmittedDepth) return false;
    for (const HloInstruction* instruction : current->instructions()) {
      if (!HoldsScalars(instruction->shape())) return false;
      const HloOpcode opcode = instruction->opcode();
      const bool calls = kCalls.contains(opcode), loops = kControl.contains(opcode);
      if (loops && !scalar) return false;
      if (calls || loops) {
        for (const HloComputation* called : instruction->called_computations()) work.push_back(called);
      } else if (!kOfOneElement.contains(opcode) && !IsElementwise(opcode)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace hilo::codegen
