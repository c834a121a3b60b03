// Code is only ever emitted for row-major arrays. A parameter or result that callers see in another layout is the
// row-major array of permuted dimensions, so
//
//   entry layout (f32[4,3]{0,1}) -> ...   =>   p = f32[3,4] parameter(0)
//                                              t = f32[4,3] transpose(p), dimensions={1,0}
//
// and the transpose fuses like any other. Layouts on other instructions do not affect the values and are
// dropped, except under bitcast, which refers to memory: it becomes transpose, reshape, transpose. A custom call refers
// to memory too. Its function requires certain layouts, so the call gets the row-major arrays that are the same memory,
// and stores the shapes that the function must see:
//
//   r = f32[4,3]{0,1} custom-call(x), operand_layout_constraints={f32[4,3]{0,1}}
//   =>
//   t = f32[3,4] transpose(x), dimensions={1,0}
//   c = f32[3,4] custom-call(t), signature={(f32[4,3]{0,1})->f32[4,3]{0,1}}
//   r = f32[4,3] transpose(c), dimensions={1,0}
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/ops/movement/physical_shape.h"
#include "hlo/ops/structure/custom_call.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/make_instruction.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

// From the physical (permuted) array to the logical one, and back.
absl::StatusOr<HloInstruction*> ToLogical(HloInstruction* physical, const Layout& layout) {
  const std::vector<int64_t> order = MajorToMinor(layout);
  std::vector<int64_t> inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) inverse[order[i]] = static_cast<int64_t>(i);
  return MakeTranspose(physical, inverse);
}
absl::StatusOr<HloInstruction*> ToPhysical(HloInstruction* logical, const Layout& layout) {
  return MakeTranspose(logical, MajorToMinor(layout));
}

absl::Status CheckUnpadded(const Shape& shape) {
  if (shape.IsTuple()) {
    for (const Shape& element : shape.tuple_shapes()) HILO_RETURN_IF_ERROR(CheckUnpadded(element));
    return absl::OkStatus();
  }
  if (shape.IsArray() && shape.has_layout() && !shape.layout().padded_dimensions.empty()) {
    return Unimplemented("padded layouts of the entry's parameters and results: ", shape.ToString(true));
  }
  return absl::OkStatus();
}

class LayoutNormalization : public HloPass {
 public:
  absl::string_view name() const override { return "normalize-layout"; }
  bool optional() const override { return false; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    bool changed = false;
    const ProgramShape entry = module->EntryProgramShape();  // before a new root shows another layout
    // What bitcasts read keeps its layout here: the operands that are rewritten below have none.
    absl::flat_hash_map<const HloInstruction*, Shape> operands;
    for (const HloComputation* computation : module->computations()) {
      for (const HloInstruction* instruction : computation->instructions()) {
        if (instruction->opcode() == HloOpcode::kBitcast) operands[instruction] = instruction->operand(0)->shape();
      }
    }
    for (HloComputation* computation : module->computations()) {
      // Operands first, so that what dies with an instruction has been passed.
      for (HloInstruction* instruction : computation->MakePostOrder()) {
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        if (instruction->opcode() == HloOpcode::kBitcast) {
          HILO_RETURN_IF_ERROR(RewriteBitcast(instruction, operands.at(instruction)));
          changed = true;
        } else if (instruction->opcode() == HloOpcode::kCustomCall) {
          HILO_ASSIGN_OR_RETURN(const bool here, RewriteCustomCall(instruction));
          changed |= here;
        }
      }
    }
    for (HloComputation* computation : module->computations()) {
      for (HloInstruction* instruction : computation->instructions()) {
        Shape before = instruction->shape();
        ShapeUtil::SetToDefaultLayout(instruction->mutable_shape());
        changed |= !(before == instruction->shape());
      }
    }
    HloComputation* computation = module->entry_computation();
    for (int64_t i = 0; i < computation->num_parameters(); ++i) {
      HILO_RETURN_IF_ERROR(CheckUnpadded(entry.parameters[i]));
      HILO_ASSIGN_OR_RETURN(bool here, Parameter(computation->parameter_instruction(i), entry.parameters[i]));
      changed |= here;
    }
    HILO_RETURN_IF_ERROR(CheckUnpadded(entry.result));
    HILO_ASSIGN_OR_RETURN(HloInstruction * root, Result(computation->root_instruction(), entry.result));
    if (root != computation->root_instruction()) {
      HILO_RETURN_IF_ERROR(computation->set_root_instruction(root, /*allow_shape_change=*/true));
      changed = true;
    }
    // The layouts that callers see have been queried before this; the module itself is row-major now.
    module->set_entry_computation_layout(std::nullopt);
    return changed;
  }

 private:
  // `operand` is the shape of what the bitcast reads, with its layout.
  static absl::Status RewriteBitcast(HloInstruction* bitcast, const Shape& operand) {
    HloInstruction* value = bitcast->mutable_operand(0);
    HloComputation* computation = bitcast->parent();
    const PrimitiveType type = bitcast->shape().element_type(), from = operand.element_type();
    if (!IsRowMajor(operand)) {
      HILO_ASSIGN_OR_RETURN(value, ToPhysical(value, operand.layout()));
    }
    const Shape target = PhysicalShape(bitcast->shape());
    if (from != type && !(FillsItsBytes(from) && FillsItsBytes(type))) {
      value = computation->AddInstruction(HloInstruction::Create(HloOpcode::kBitcast, target, {&value, 1}));
    } else {
      if (from != type) {
        HILO_ASSIGN_OR_RETURN(value, ReadAs(value, type));
      }
      HILO_ASSIGN_OR_RETURN(value, computation->AddOp(HloOpcode::kReshape, {value}, nullptr, {}, &target));
    }
    if (!IsRowMajor(bitcast->shape())) {
      HILO_ASSIGN_OR_RETURN(value, ToLogical(value, bitcast->shape().layout()));
    }
    return computation->ReplaceInstruction(bitcast, value);
  }

  // Returns true for numbers whose bits are all those of their bytes, which bitcast-convert reads as others.
  static bool FillsItsBytes(PrimitiveType type) {
    return !IsComplexType(type) && PrimitiveTypeBitWidth(type) == 8 * PrimitiveTypeByteSize(type);
  }

  // The bytes of a row-major array as elements of another type; where these are of another size, in one row.
  static absl::StatusOr<HloInstruction*> ReadAs(HloInstruction* value, PrimitiveType type) {
    HloComputation* computation = value->parent();
    const int from = PrimitiveTypeByteSize(value->shape().element_type()), to = PrimitiveTypeByteSize(type);
    std::vector<int64_t> dimensions(value->shape().dimensions().begin(), value->shape().dimensions().end());
    if (from != to) {
      dimensions = {ShapeUtil::ElementsIn(value->shape())};
      if (from < to) dimensions = {dimensions[0] / (to / from), to / from};
      const Shape row = ShapeUtil::MakeShape(value->shape().element_type(), dimensions);
      HILO_ASSIGN_OR_RETURN(value, computation->AddOp(HloOpcode::kReshape, {value}, nullptr, {}, &row));
      if (from < to) dimensions.pop_back();
      if (from > to) dimensions.push_back(from / to);
    }
    const Shape converted = ShapeUtil::MakeShape(type, dimensions);
    auto result = computation->AddOp(HloOpcode::kBitcastConvert, {value}, nullptr, {}, &converted);
    if (!result.ok()) return AddContext(result.status(), "; reading the bytes of a bitcast's operand");
    return result;
  }

  static absl::StatusOr<bool> RewriteCustomCall(HloInstruction* call) {
    auto& attributes = call->mutable_attrs<CustomCallAttrs>();
    if (attributes.signature.present) return false;
    std::vector<const Shape*> operands;
    for (const HloInstruction* operand : call->operands()) operands.push_back(&operand->shape());
    CallSignature signature = SignatureOf(attributes, operands, call->shape());
    attributes.operand_layout_constraints = {};
    const auto row_major = [](const Shape& shape) { return IsRowMajor(shape); };
    if (row_major(signature.result) && std::all_of(signature.operands.begin(), signature.operands.end(), row_major))
      return false;
    HloComputation* computation = call->parent();
    for (int64_t i = 0; i < call->operand_count(); ++i) {
      HILO_ASSIGN_OR_RETURN(HloInstruction * physical, Result(call->mutable_operand(i), signature.operands[i]));
      computation->ReplaceOperand(call, i, physical);
    }
    const std::vector<HloInstruction*> users(call->users().begin(), call->users().end());
    const bool was_root = call->IsRoot();
    *call->mutable_shape() = PhysicalShape(signature.result);
    HILO_ASSIGN_OR_RETURN(HloInstruction * logical, Unpack(call, signature.result));
    ReplaceIn(users, call, logical);
    if (was_root) HILO_RETURN_IF_ERROR(computation->set_root_instruction(logical, /*allow_shape_change=*/true));
    attributes.signature = std::move(signature);
    return true;
  }

  static void ReplaceIn(absl::Span<HloInstruction* const> users, HloInstruction* value, HloInstruction* with) {
    if (value == with) return;
    for (HloInstruction* user : users) {
      for (int64_t i = 0; i < user->operand_count(); ++i) {
        if (user->operand(i) == value) user->parent()->ReplaceOperand(user, i, with);
      }
    }
  }

  // Gives the parameter its physical shape; users see the logical one.
  absl::StatusOr<bool> Parameter(HloInstruction* parameter, const Shape& wanted) {
    if (IsRowMajor(wanted)) return false;
    const std::vector<HloInstruction*> users(parameter->users().begin(), parameter->users().end());
    HloComputation* computation = parameter->parent();
    const bool was_root = parameter->IsRoot();
    *parameter->mutable_shape() = PhysicalShape(wanted);
    HILO_ASSIGN_OR_RETURN(HloInstruction * logical, Unpack(parameter, wanted));
    ReplaceIn(users, parameter, logical);
    if (was_root) HILO_RETURN_IF_ERROR(computation->set_root_instruction(logical, true));
    return true;
  }

  static absl::StatusOr<HloInstruction*> Unpack(HloInstruction* value, const Shape& wanted) {
    if (IsRowMajor(wanted)) return value;
    if (!wanted.IsTuple()) return ToLogical(value, wanted.layout());
    std::vector<HloInstruction*> elements;
    for (int64_t i = 0; i < wanted.tuple_shapes_size(); ++i) {
      HILO_ASSIGN_OR_RETURN(HloInstruction * element, MakeTupleElement(value, i));
      HILO_ASSIGN_OR_RETURN(element, Unpack(element, wanted.tuple_shapes(i)));
      elements.push_back(element);
    }
    return value->parent()->AddOp(HloOpcode::kTuple, elements);
  }

  static absl::StatusOr<HloInstruction*> Result(HloInstruction* value, const Shape& wanted) {
    if (IsRowMajor(wanted)) return value;
    if (!wanted.IsTuple()) return ToPhysical(value, wanted.layout());
    std::vector<HloInstruction*> elements;
    for (int64_t i = 0; i < wanted.tuple_shapes_size(); ++i) {
      HILO_ASSIGN_OR_RETURN(HloInstruction * element, MakeTupleElement(value, i));
      HILO_ASSIGN_OR_RETURN(element, Result(element, wanted.tuple_shapes(i)));
      elements.push_back(element);
    }
    return value->parent()->AddOp(HloOpcode::kTuple, elements);
  }
};

}  // namespace

std::unique_ptr<HloPass> MakeLayoutNormalization() { return std::make_unique<LayoutNormalization>(); }

}  // namespace hilo
