#include "hlo/builder/xla_builder.h"

#include "absl/strings/ascii.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "hlo/ir/hlo_verifier.h"

namespace hilo {
namespace {

// The characters that a name may have in HLO text; others become '_'.
std::string TextName(absl::string_view wanted, absl::string_view fallback) {
  std::string name(wanted.empty() ? fallback : wanted);
  for (char& c : name) {
    if (!absl::ascii_isalnum(c) && c != '_' && c != '.' && c != '-') c = '_';
  }
  return name;
}

}  // namespace

XlaBuilder::XlaBuilder(const std::string& computation_name)
    : name_(TextName(computation_name, "computation")),
      module_(std::make_unique<HloModule>(name_)),
      entry_(module_->AddComputation(name_)) {
  module_->set_entry_computation(entry_);
}

XlaOp XlaBuilder::ReportError(const absl::Status& error) {
  if (first_error_.ok()) first_error_ = error;
  return XlaOp(this, nullptr);
}

XlaOp XlaBuilder::ReportErrorOrReturn(const absl::StatusOr<XlaOp>& op) {
  return op.ok() ? *op : ReportError(op.status());
}

absl::Status XlaBuilder::CheckUsable(XlaOp op) const {
  if (!first_error_.ok()) return first_error_;
  if (module_ == nullptr) return FailedPrecondition("builder ", name_, " has been used up by Build()");
  if (op.builder_ != this) {
    return op.builder_ == nullptr
               ? InvalidArgument("an operand in builder ", name_, " is an empty XlaOp")
               : InvalidArgument("an operand in builder ", name_, " is of another builder, ", op.builder_->name());
  }
  if (op.instruction_ == nullptr) return InvalidArgument("an operand in builder ", name_, " is an invalid XlaOp");
  return absl::OkStatus();
}

absl::StatusOr<Shape> XlaBuilder::GetShape(XlaOp op) const {
  HILO_RETURN_IF_ERROR(CheckUsable(op));
  return op.instruction_->shape();
}

XlaOp XlaBuilder::Added(HloInstruction* instruction) {
  if (!metadata_.empty()) instruction->set_metadata(metadata_);
  last_ = instruction;
  return XlaOp(this, instruction);
}

XlaOp XlaBuilder::AddOp(HloOpcode opcode, absl::Span<const XlaOp> operands, std::unique_ptr<OpAttributes> attributes,
                        absl::Span<const XlaComputation* const> called, const Shape* stated) {
  return ReportErrorOrReturn(TryAddOp(opcode, operands, std::move(attributes), called, stated));
}

absl::StatusOr<XlaOp> XlaBuilder::TryAddOp(HloOpcode opcode, absl::Span<const XlaOp> operands,
                                           std::unique_ptr<OpAttributes> attributes,
                                           absl::Span<const XlaComputation* const> called, const Shape* stated) {
  if (!first_error_.ok()) return first_error_;
  if (module_ == nullptr) return FailedPrecondition("builder ", name_, " has been used up by Build()");
  std::vector<HloInstruction*> instructions;
  instructions.reserve(operands.size());
  for (XlaOp operand : operands) {
    HILO_RETURN_IF_ERROR(CheckUsable(operand));
    instructions.push_back(operand.instruction_);
  }
  std::vector<HloComputation*> computations;
  for (const XlaComputation* computation : called) {
    HILO_ASSIGN_OR_RETURN(computations.emplace_back(), Embed(computation));
  }
  HILO_ASSIGN_OR_RETURN(HloInstruction * instruction,
                        entry_->AddOp(opcode, instructions, std::move(attributes), computations, stated));
  return Added(instruction);
}

absl::StatusOr<HloComputation*> XlaBuilder::Embed(const XlaComputation* computation) {
  if (computation == nullptr || computation->IsNull()) {
    return InvalidArgument("a called computation in builder ", name_, " is empty");
  }
  const std::shared_ptr<const HloModule>& source = computation->module();
  auto [it, is_new] = embedded_.try_emplace(source.get(), Embedded{source, nullptr});
  if (is_new) it->second.copy = module_->CloneComputation(*source->entry_computation(), /*suffix=*/"");
  return it->second.copy;
}

void XlaBuilder::AddExtraAttribute(XlaOp op, std::string name, std::string text) {
  if (absl::Status usable = CheckUsable(op); !usable.ok()) {
    ReportError(usable);
  } else {
    op.instruction_->add_extra_attribute(std::move(name), std::move(text));
  }
}

XlaOp XlaBuilder::Parameter(int64_t number, const Shape& shape, const std::string& name) {
  if (!first_error_.ok()) return XlaOp(this, nullptr);
  if (module_ == nullptr) return ReportError(FailedPrecondition("builder ", name_, " has been used up by Build()"));
  const int64_t limit = HloLimits().max_parameters;
  if (number < 0 || number >= limit) {
    return ReportError(InvalidArgument("expected a parameter number from 0 to ", limit - 1, "; got ", number));
  }
  if (number < entry_->num_parameters() && entry_->parameter_instruction(number) != nullptr) {
    return ReportError(InvalidArgument("parameter ", number, " of builder ", name_, " is defined twice"));
  }
  if (absl::Status valid = ShapeUtil::Validate(shape); !valid.ok()) return ReportError(valid);
  Shape with_layout = shape;
  ShapeUtil::AddMissingLayouts(&with_layout);
  const std::string text_name = TextName(name, absl::StrCat("parameter.", number));
  return Added(
      entry_->AddInstruction(HloInstruction::CreateParameter(number, std::move(with_layout), text_name), text_name));
}

XlaOp XlaBuilder::ConstantLiteral(const Literal& literal) {
  if (!first_error_.ok()) return XlaOp(this, nullptr);
  if (module_ == nullptr) return ReportError(FailedPrecondition("builder ", name_, " has been used up by Build()"));
  if (absl::Status valid = ShapeUtil::Validate(literal.shape()); !valid.ok()) return ReportError(valid);
  return Added(entry_->AddConstant(literal.Clone()));
}

XlaOp XlaBuilder::Max(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions) {
  return hilo::Max(lhs, rhs, broadcast_dimensions);
}

absl::StatusOr<XlaComputation> XlaBuilder::Build() { return BuildFrom(last_); }

absl::StatusOr<XlaComputation> XlaBuilder::Build(XlaOp root) {
  HILO_RETURN_IF_ERROR(CheckUsable(root));
  return BuildFrom(root.instruction_);
}

absl::StatusOr<XlaComputation> XlaBuilder::BuildFrom(HloInstruction* root) {
  if (!first_error_.ok()) return first_error_;
  if (module_ == nullptr) return FailedPrecondition("builder ", name_, " has been used up by Build()");
  if (root == nullptr) return InvalidArgument("builder ", name_, " has no op to be the result");
  HILO_RETURN_IF_ERROR(entry_->set_root_instruction(root, /*allow_shape_change=*/true));
  HILO_RETURN_IF_ERROR(VerifyHloModule(*module_, HloStage::kInput));
  embedded_.clear();
  return XlaComputation(std::shared_ptr<const HloModule>(std::move(module_)));
}

}  // namespace hilo
