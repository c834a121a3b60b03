#include "hlo/text/hlo_printer.h"

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/text/called_roles.h"
#include "hlo/text/header_attributes.h"
#include "hlo/text/kernel_config_text.h"
#include "hlo/text/op_metadata_text.h"

namespace hilo {
namespace {

// True if operands precede their users.
bool IsTopological(absl::Span<HloInstruction* const> order) {
  absl::flat_hash_set<const HloInstruction*> seen;
  seen.reserve(order.size());
  for (const HloInstruction* instruction : order) {
    for (const HloInstruction* operand : instruction->operands()) {
      if (!seen.contains(operand)) return false;
    }
    seen.insert(instruction);
  }
  return true;
}

// Appends to one string, to avoid copies of a module's text.
class Printer {
 public:
  Printer(const PrintOptions& options, std::string* out) : options_(options), out_(*out) {}

  void Computation(const HloComputation& computation);
  void Instruction(const HloInstruction& instruction);

 private:
  template <typename Named>
  void Name(const Named& named) {
    out_ += options_.percent ? "%" : "";
    if (options_.numbered_names) {
      absl::StrAppend(&out_, numbers_.try_emplace(&named, numbers_.size()).first->second);
    } else {
      out_ += named.name();
    }
  }
  void Type(const Shape& shape) { out_ += shape.ToString(options_.layouts); }
  void Attribute(absl::string_view name, absl::string_view value) { absl::StrAppend(&out_, ", ", name, "=", value); }
  void Parentheses(const HloInstruction& instruction);
  void CalledComputations(const HloInstruction& instruction);
  template <typename List>
  void NameList(absl::string_view attribute, const List& list);

  const PrintOptions& options_;
  std::string& out_;
  absl::flat_hash_map<const void*, size_t> numbers_;  // of instructions and computations
};

template <typename List>
void Printer::NameList(absl::string_view attribute, const List& list) {
  absl::StrAppend(&out_, ", ", attribute, "={");
  absl::string_view separator = "";
  for (const auto* item : list) {
    out_.append(separator.data(), separator.size());
    Name(*item);
    separator = ", ";
  }
  out_ += "}";
}

void Printer::Computation(const HloComputation& computation) {
  if (computation.IsEntry()) {
    out_ += "ENTRY ";
  } else if (computation.name() == "ENTRY" && !options_.percent) {
    out_ += '%';  // the bare word would announce the entry computation
  }
  Name(computation);
  if (options_.percent && computation.root_instruction() != nullptr) {
    out_ += " (";
    absl::string_view separator = "";
    for (const HloInstruction* parameter : computation.parameter_instructions()) {
      absl::StrAppend(&out_, separator, parameter->name(), ": ");
      Type(parameter->shape());
      separator = ", ";
    }
    out_ += ") -> ";
    Type(computation.root_instruction()->shape());
  }
  out_ += " {\n";
  for (const HloInstruction* instruction : TextOrder(computation)) {
    out_ += instruction->IsRoot() ? "  ROOT " : "  ";
    Instruction(*instruction);
    out_ += "\n";
  }
  out_ += "}\n";
}

void Printer::Instruction(const HloInstruction& instruction) {
  Name(instruction);
  out_ += " = ";
  Type(instruction.shape());
  absl::StrAppend(&out_, " ", HloOpcodeString(instruction.opcode()), "(");
  Parentheses(instruction);
  out_ += ")";
  if (instruction.attributes() != nullptr) {
    for (const auto& [name, value] : instruction.attributes()->ToText()) {
      const bool in_parentheses =
          (instruction.IsParameter() && name == "number") || (instruction.IsConstant() && name == "literal");
      if (!in_parentheses) Attribute(name, value);
    }
  }
  CalledComputations(instruction);
  for (const auto& [name, value] : instruction.extra_attributes()) Attribute(name, value);
  if (instruction.kernel() != nullptr) Attribute("kernel", PrintKernelConfig(*instruction.kernel()));
  if (!instruction.control_predecessors().empty()) {
    NameList("control-predecessors", instruction.control_predecessors());
  }
  if (options_.metadata && !instruction.metadata().empty()) {
    Attribute("metadata", PrintOpMetadata(instruction.metadata()));
  }
}

void Printer::Parentheses(const HloInstruction& instruction) {
  if (instruction.IsParameter()) {
    absl::StrAppend(&out_, instruction.parameter_number());
    return;
  }
  if (instruction.IsConstant()) {
    const auto& literal = instruction.attrs<ConstantAttrs>().literal.value;
    out_ += literal == nullptr ? "{...}" : literal->ToString(/*with_shape=*/false, options_.max_constant_elements);
    return;
  }
  absl::string_view separator = "";
  for (const HloInstruction* operand : instruction.operands()) {
    out_.append(separator.data(), separator.size());
    if (options_.operand_types) {
      Type(operand->shape());
      out_ += " ";
    }
    Name(*operand);
    separator = ", ";
  }
}

void Printer::CalledComputations(const HloInstruction& instruction) {
  const auto called = instruction.called_computations();
  if (called.empty()) return;
  CalledRoles roles(instruction.opcode());
  // Branches selected by a PRED have special names.
  if (instruction.opcode() == HloOpcode::kConditional && called.size() == 2 && instruction.operand_count() > 0 &&
      instruction.operand(0)->shape().element_type() == PRED) {
    roles.names = {"true_computation", "false_computation"};
    roles.is_list = false;
  }
  if (roles.is_list) {
    NameList(roles.names[0], called);
    return;
  }
  for (size_t i = 0; i < roles.names.size() && i < called.size(); ++i) {
    absl::StrAppend(&out_, ", ", roles.names[i], "=");
    Name(*called[i]);
  }
}

}  // namespace

std::vector<HloInstruction*> TextOrder(const HloComputation& computation) {
  const HloModule& module = *computation.parent();
  if (module.is_scheduled() && !module.schedule().contains(&computation)) {
    std::vector<HloInstruction*> order = computation.instructions();
    if (IsTopological(order)) return order;
  }
  return module.OrderOf(computation);
}

std::string PrintHloModule(const HloModule& module, const PrintOptions& options) {
  std::string text = PrintHeader(module, options.numbered_names ? "" : module.name(), options.metadata);
  Printer printer(options, &text);
  // A module whose computations call each other in a cycle cannot run, but can be printed.
  auto order = module.MakeComputationPostOrder();
  for (const HloComputation* computation : order.ok() ? *std::move(order) : module.computations()) {
    text += "\n";
    printer.Computation(*computation);
  }
  return text;
}

std::string PrintHloComputation(const HloComputation& computation, const PrintOptions& options) {
  std::string text;
  Printer(options, &text).Computation(computation);
  return text;
}

std::string PrintHloInstruction(const HloInstruction& instruction, const PrintOptions& options) {
  std::string text;
  Printer(options, &text).Instruction(instruction);
  return text;
}

}  // namespace hilo
