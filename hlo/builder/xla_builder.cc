#include "hilo/xla_builder.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/builder/add_op.h"
#include "hlo/ir/hlo_module.h"
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

struct XlaBuilder::Impl {
  explicit Impl(XlaBuilder* builder, const std::string& computation_name)
      : builder(builder),
        name(TextName(computation_name, "computation")),
        module(std::make_unique<HloModule>(name)),
        entry(module->AddComputation(name)) {
    module->set_entry_computation(entry);
  }

  absl::Status CheckNotBuilt() const;
  absl::Status CheckUsable(XlaOp op) const;
  absl::StatusOr<XlaOp> AddOp(HloOpcode opcode, absl::Span<const XlaOp> operands,
                              std::unique_ptr<OpAttributes> attributes, absl::Span<const XlaComputation* const> called,
                              const Shape* stated);
  void AddExtraAttribute(XlaOp op, std::string name, std::string text);
  absl::StatusOr<XlaOp> Parameter(int64_t number, const Shape& shape, const std::string& name);
  absl::StatusOr<XlaOp> Constant(const Literal& literal);
  absl::StatusOr<HloComputation*> Embed(const XlaComputation* computation);
  XlaOp Added(HloInstruction* instruction);
  absl::StatusOr<XlaComputation> BuildFrom(HloInstruction* root);

  XlaBuilder* const builder;
  const std::string name;
  std::unique_ptr<HloModule> module;  // null once built
  HloComputation* const entry;
  HloInstruction* last = nullptr;
  absl::Status first_error;
  OpMetadata metadata;
  // Computations that have been copied into the module; the key is kept alive by the value.
  struct Embedded {
    std::shared_ptr<const HloModule> source;
    HloComputation* copy;
  };
  absl::flat_hash_map<const HloModule*, Embedded> embedded;
};

struct XlaBuilderAccess {
  static XlaBuilder::Impl& ImplOf(XlaBuilder* builder) { return *builder->impl_; }
};

XlaBuilder::XlaBuilder(const std::string& computation_name) : impl_(std::make_unique<Impl>(this, computation_name)) {}

XlaBuilder::~XlaBuilder() = default;

const std::string& XlaBuilder::name() const { return impl_->name; }
const absl::Status& XlaBuilder::first_error() const { return impl_->first_error; }
void XlaBuilder::SetOpMetadata(OpMetadata metadata) { impl_->metadata = std::move(metadata); }
void XlaBuilder::ClearOpMetadata() { impl_->metadata = OpMetadata(); }

XlaOp XlaBuilder::ReportError(const absl::Status& error) {
  if (impl_->first_error.ok()) impl_->first_error = error;
  return XlaOp(this, nullptr);
}

XlaOp XlaBuilder::ReportErrorOrReturn(const absl::StatusOr<XlaOp>& op) {
  return op.ok() ? *op : ReportError(op.status());
}

// The first error, or that the builder has been used up.
absl::Status XlaBuilder::Impl::CheckNotBuilt() const {
  if (!first_error.ok()) return first_error;
  if (module == nullptr) return FailedPrecondition("builder ", name, " has been used up by Build()");
  return absl::OkStatus();
}

absl::Status XlaBuilder::Impl::CheckUsable(XlaOp op) const {
  HILO_RETURN_IF_ERROR(CheckNotBuilt());
  if (op.builder_ != builder) {
    return op.builder_ == nullptr
               ? InvalidArgument("an operand in builder ", name, " is an empty XlaOp")
               : InvalidArgument("an operand in builder ", name, " is of another builder, ", op.builder_->name());
  }
  if (op.instruction_ == nullptr) return InvalidArgument("an operand in builder ", name, " is an invalid XlaOp");
  return absl::OkStatus();
}

absl::StatusOr<Shape> XlaBuilder::GetShape(XlaOp op) const {
  HILO_RETURN_IF_ERROR(impl_->CheckUsable(op));
  return op.instruction_->shape();
}

XlaOp XlaBuilder::Impl::Added(HloInstruction* instruction) {
  if (!metadata.empty()) instruction->set_metadata(metadata);
  last = instruction;
  return XlaOp(builder, instruction);
}

XlaOp AddOp(XlaBuilder* builder, HloOpcode opcode, absl::Span<const XlaOp> operands,
            std::unique_ptr<OpAttributes> attributes, absl::Span<const XlaComputation* const> called,
            const Shape* stated) {
  return builder->ReportErrorOrReturn(
      XlaBuilderAccess::ImplOf(builder).AddOp(opcode, operands, std::move(attributes), called, stated));
}

absl::StatusOr<XlaOp> XlaBuilder::Impl::AddOp(HloOpcode opcode, absl::Span<const XlaOp> operands,
                                              std::unique_ptr<OpAttributes> attributes,
                                              absl::Span<const XlaComputation* const> called, const Shape* stated) {
  HILO_RETURN_IF_ERROR(CheckNotBuilt());
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
                        entry->AddOp(opcode, instructions, std::move(attributes), computations, stated));
  return Added(instruction);
}

absl::StatusOr<HloComputation*> XlaBuilder::Impl::Embed(const XlaComputation* computation) {
  if (computation == nullptr || computation->IsNull()) {
    return InvalidArgument("a called computation in builder ", name, " is empty");
  }
  const std::shared_ptr<const HloModule>& source = computation->module();
  auto [it, is_new] = embedded.try_emplace(source.get(), Embedded{source, nullptr});
  if (is_new) it->second.copy = module->CloneComputation(*source->entry_computation(), /*suffix=*/"");
  return it->second.copy;
}

XlaBuilder* BuilderOf(absl::Span<const XlaOp> operands) {
  for (XlaOp operand : operands) {
    if (operand.builder() != nullptr) return operand.builder();
  }
  return nullptr;
}

void AddExtraAttribute(XlaBuilder* builder, XlaOp op, std::string name, std::string text) {
  XlaBuilderAccess::ImplOf(builder).AddExtraAttribute(op, std::move(name), std::move(text));
}

void XlaBuilder::Impl::AddExtraAttribute(XlaOp op, std::string name, std::string text) {
  if (absl::Status usable = CheckUsable(op); !usable.ok()) {
    builder->ReportError(usable);
  } else {
    op.instruction_->add_extra_attribute(std::move(name), std::move(text));
  }
}

XlaOp XlaBuilder::Parameter(int64_t number, const Shape& shape, const std::string& name) {
  return ReportErrorOrReturn(impl_->Parameter(number, shape, name));
}

absl::StatusOr<XlaOp> XlaBuilder::Impl::Parameter(int64_t number, const Shape& shape, const std::string& name) {
  HILO_RETURN_IF_ERROR(CheckNotBuilt());
  const int64_t limit = HloLimits().max_parameters;
  if (number < 0 || number >= limit) {
    return InvalidArgument("expected a parameter number from 0 to ", limit - 1, "; got ", number);
  }
  if (number < entry->num_parameters() && entry->parameter_instruction(number) != nullptr) {
    return InvalidArgument("parameter ", number, " of builder ", this->name, " is defined twice");
  }
  HILO_RETURN_IF_ERROR(ShapeUtil::Validate(shape));
  Shape with_layout = shape;
  ShapeUtil::AddMissingLayouts(&with_layout);
  const std::string text_name = TextName(name, absl::StrCat("parameter.", number));
  return Added(
      entry->AddInstruction(HloInstruction::CreateParameter(number, std::move(with_layout), text_name), text_name));
}

XlaOp XlaBuilder::ConstantLiteral(const Literal& literal) { return ReportErrorOrReturn(impl_->Constant(literal)); }

absl::StatusOr<XlaOp> XlaBuilder::Impl::Constant(const Literal& literal) {
  HILO_RETURN_IF_ERROR(CheckNotBuilt());
  HILO_RETURN_IF_ERROR(ShapeUtil::Validate(literal.shape()));
  return Added(entry->AddConstant(literal.Clone()));
}

XlaOp XlaBuilder::Max(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions) {
  return hilo::Max(lhs, rhs, broadcast_dimensions);
}

absl::StatusOr<XlaComputation> XlaBuilder::Build() { return impl_->BuildFrom(impl_->last); }

absl::StatusOr<XlaComputation> XlaBuilder::Build(XlaOp root) {
  HILO_RETURN_IF_ERROR(impl_->CheckUsable(root));
  return impl_->BuildFrom(root.instruction_);
}

absl::StatusOr<XlaComputation> XlaBuilder::Impl::BuildFrom(HloInstruction* root) {
  HILO_RETURN_IF_ERROR(CheckNotBuilt());
  if (root == nullptr) return InvalidArgument("builder ", name, " has no op to be the result");
  HILO_RETURN_IF_ERROR(entry->set_root_instruction(root, /*allow_shape_change=*/true));
  HILO_RETURN_IF_ERROR(VerifyHloModule(*module, HloStage::kInput));
  embedded.clear();
  return XlaComputation(std::shared_ptr<const HloModule>(std::move(module)));
}

}  // namespace hilo
