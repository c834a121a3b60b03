// A single pass over the text builds the module. Two things are known only later and are
// noted until then: called computations that are defined further on (resolved at the end of the
// text) and control predecessors (at the end of their computation). The verifier then checks what
// the semantics, and its errors get the position of the instruction at fault.
#include "hlo/text/hlo_parser.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "hilo/status_macros.h"
#include "hlo/ir/start_scalars.h"
#include "hlo/ops/semantics.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/text/called_roles.h"
#include "hlo/text/header_attributes.h"
#include "hlo/text/inferred_shapes.h"
#include "hlo/text/kernel_config_text.h"
#include "hlo/text/op_metadata_text.h"
#include "hlo/text/raw_attributes.h"
#include "hlo/text/signature.h"
#include "hlo/text/text_cursor.h"

namespace hilo {
namespace {

// Operands and computations that are written in line are read by recursion.
constexpr int64_t kMaxNesting = 100;

// "{...}": the printer left the elements out.
bool IsElided(absl::string_view constant) {
  absl::string_view text = absl::StripAsciiWhitespace(constant);
  for (const char* token : {"{", "...", "}"}) {
    if (!absl::ConsumePrefix(&text, token)) return false;
    text = absl::StripLeadingAsciiWhitespace(text);
  }
  return text.empty();
}

// A called computation, by its name or, if it is written in line, by its text in braces.
struct Call {
  HloInstruction* caller;
  int64_t index;  // in called_computations()
  absl::string_view callee;
};

struct ControlEdge {
  absl::string_view predecessor;
  HloInstruction* successor;
};

// A computation while it is read.
struct Body {
  HloComputation* computation;
  absl::flat_hash_map<absl::string_view, HloInstruction*> names;
  std::vector<ControlEdge> control_edges;
  HloInstruction* root = nullptr;
  HloInstruction* last = nullptr;
  size_t offset = 0;  // of its name
};

class HloParser {
 public:
  HloParser(absl::string_view text, const ParseOptions& options)
      : options_(options), source_{text, options.file_name}, cursor_(source_) {}

  absl::StatusOr<std::unique_ptr<HloModule>> Parse() {
    HILO_RETURN_IF_ERROR(ParseHeader());
    while (!cursor_.AtEnd()) HILO_RETURN_IF_ERROR(ParseTopLevel());
    HILO_RETURN_IF_ERROR(ResolveCalls());
    HILO_RETURN_IF_ERROR(ChooseEntry());
    if (options_.verify) HILO_RETURN_IF_ERROR(Verify());
    return std::move(module_);
  }

 private:
  absl::Status ParseHeader();
  absl::Status ParseTopLevel();
  // Reads `computation` from the cursor, which is at its signature; `offset` is where it begins.
  absl::Status ParseComputation(HloComputation* computation, size_t offset);
  absl::StatusOr<HloComputation*> ParseInlineComputation(absl::string_view text);
  // Null if the text has no such computation, so far.
  HloComputation* FindComputation(absl::string_view callee) const;
  absl::Status FinishComputation(Body& body);
  absl::Status ParseInstruction(Body& body);
  // What follows "name = ": "f32[2] add(a, b), attributes". An instruction without a name is an operand written in
  // line, and has no attributes.
  absl::StatusOr<HloInstruction*> ParseDefinition(Body& body, absl::string_view name, int64_t line);
  // `wrapped` is set for the start of an asynchronous op that is written by the op's own name.
  absl::StatusOr<HloOpcode> ParseOpcode(std::optional<HloOpcode>* wrapped);
  absl::StatusOr<HloComputation*> WrapInstruction(HloOpcode opcode, const Shape& start, size_t opcode_offset);
  absl::Status ParseParameterNumber(const Body& body, ParameterAttrs& attributes);
  absl::Status ParseConstant(const Shape& shape, ConstantAttrs& attributes);
  absl::Status ParseOperands(Body& body, int64_t line);
  absl::StatusOr<HloInstruction*> ParseOperand(Body& body, int64_t line);
  absl::Status EnterNested(absl::string_view text);
  absl::Status ReadCallees(HloOpcode opcode, size_t opcode_offset);
  absl::Status InferShapeOf(HloInstruction* instruction, size_t opcode_offset);
  void NoteCalls(HloInstruction* caller);
  absl::Status ApplyAttributes(HloOpcode opcode, OpAttributes* attributes, HloInstruction* instruction, Body* body,
                               size_t opcode_offset);
  absl::Status ResolveCalls();
  absl::Status ChooseEntry();
  absl::Status Verify();

  const ParseOptions& options_;
  const SourceText source_;
  TextCursor cursor_;
  std::unique_ptr<HloModule> module_;
  absl::flat_hash_map<absl::string_view, HloComputation*> computations_;   // by name
  absl::flat_hash_map<const char*, HloComputation*> inline_computations_;  // by the position of the text in braces
  absl::flat_hash_map<absl::string_view, HloComputation*> shared_computations_;  // by that text
  absl::flat_hash_map<const HloInstruction*, absl::string_view> source_names_;   // position of an instruction's name
  std::vector<Call> calls_;
  absl::flat_hash_set<const HloComputation*> nameless_;  // computations that have no name in the text
  InferredShapes inferred_shapes_;
  int64_t nesting_ = 0;  // definitions and computations in line that are being read
  // Of the instruction at hand.
  struct Scratch {
    std::vector<HloInstruction*> operands;
    std::vector<RawAttribute> raw_attributes;
    std::vector<absl::string_view> callees;
  } scratch_;
};

absl::Status HloParser::ParseHeader() {
  const size_t begin = cursor_.offset();
  if (!cursor_.ConsumeWord("HloModule")) {
    // A module without a header: its computations only.
    const bool entry = cursor_.ConsumeWord("ENTRY");
    const bool computation = entry || (cursor_.Name("").ok() && (cursor_.Peek() == '{' || cursor_.Peek() == '('));
    cursor_.set_offset(begin);
    if (!computation) return cursor_.Expected("'HloModule' at the beginning of a module");
    module_ = std::make_unique<HloModule>("module");
    return absl::OkStatus();
  }
  HILO_ASSIGN_OR_RETURN(const absl::string_view name, cursor_.Name("the module's name"));
  module_ = std::make_unique<HloModule>(std::string(name));
  absl::flat_hash_set<absl::string_view> seen;
  while (cursor_.Consume(",")) {
    HILO_ASSIGN_OR_RETURN(const absl::string_view attribute, cursor_.Name("an attribute of the module"));
    if (!seen.insert(attribute).second) {
      return source_.Error(source_.OffsetOf(attribute), absl::StrCat("attribute ", attribute, " is given twice"));
    }
    HILO_RETURN_IF_ERROR(cursor_.Expect("=", "after the name of an attribute"));
    HILO_RETURN_IF_ERROR(ParseHeaderAttribute(attribute, cursor_, module_.get()));
  }
  return absl::OkStatus();
}

absl::Status HloParser::ParseTopLevel() {
  const bool entry = cursor_.ConsumeWord("ENTRY");
  cursor_.SkipSpace();
  const size_t begin = cursor_.offset();
  HILO_ASSIGN_OR_RETURN(const absl::string_view name, cursor_.Name("a computation"));
  if (!entry && IsHeaderTable(name) && cursor_.Peek() != '{' && cursor_.Peek() != '(') {
    return ParseHeaderTable(name, cursor_, module_.get());
  }
  if (entry && module_->entry_computation() != nullptr) {
    return source_.Error(begin, "expected one ENTRY computation; this is the second");
  }
  if (name == "HloModule" && cursor_.Peek() != '{' && cursor_.Peek() != '(') {
    return source_.Error(begin, "expected one module in a text; this is the second");
  }
  const size_t offset = source_.OffsetOf(name);
  if (computations_.contains(name)) {
    return source_.Error(offset, absl::StrCat("computation ", name, " is defined twice"));
  }
  HloComputation* const computation = computations_[name] = module_->AddComputation(name);
  HILO_RETURN_IF_ERROR(ParseComputation(computation, offset));
  if (entry) module_->set_entry_computation(computation);
  return absl::OkStatus();
}

HloComputation* HloParser::FindComputation(absl::string_view callee) const {
  if (absl::StartsWith(callee, "{")) {
    const auto it = inline_computations_.find(callee.data());
    return it == inline_computations_.end() ? nullptr : it->second;
  }
  const auto it = computations_.find(callee);
  return it == computations_.end() ? nullptr : it->second;
}

absl::Status HloParser::ParseComputation(HloComputation* computation, size_t offset) {
  Body body{.computation = computation, .offset = offset};
  Signature signature;
  const bool has_signature = cursor_.Peek() == '(';
  if (has_signature) {
    HILO_ASSIGN_OR_RETURN(signature, ParseSignature(cursor_));
  }
  HILO_RETURN_IF_ERROR(cursor_.Expect("{", "before a computation's instructions"));
  while (!cursor_.Consume("}")) HILO_RETURN_IF_ERROR(ParseInstruction(body));
  HILO_RETURN_IF_ERROR(FinishComputation(body));
  if (has_signature) HILO_RETURN_IF_ERROR(CheckSignature(source_, signature, *body.computation));
  // The thread that runs an asynchronous computation: a note for schedulers, without a meaning
  // here.
  if (nesting_ == 0 && cursor_.Consume(",")) {
    if (!cursor_.ConsumeWord("execution_thread")) return cursor_.Expected("execution_thread");
    HILO_RETURN_IF_ERROR(cursor_.Expect("=", "after execution_thread"));
    HILO_RETURN_IF_ERROR(cursor_.String("a thread's name in quotes").status());
  }
  return absl::OkStatus();
}

absl::Status HloParser::FinishComputation(Body& body) {
  if (body.last == nullptr) {
    return source_.Error(body.offset, "expected at least one instruction in this computation; got none");
  }
  for (int64_t i = 0; i < body.computation->num_parameters(); ++i) {
    if (body.computation->parameter_instruction(i) == nullptr) {
      return source_.Error(body.offset,
                           absl::StrCat("expected parameters 0 to ", body.computation->num_parameters() - 1,
                                        " in this computation; parameter ", i, " is missing"));
    }
  }
  for (const ControlEdge& edge : body.control_edges) {
    auto it = body.names.find(edge.predecessor);
    if (it == body.names.end()) {
      return source_.Expected(source_.OffsetOf(edge.predecessor), "an instruction of this computation");
    }
    it->second->AddControlDependencyTo(edge.successor);
  }
  return body.computation->set_root_instruction(body.root != nullptr ? body.root : body.last);
}

absl::Status HloParser::ParseInstruction(Body& body) {
  cursor_.SkipSpace();
  const size_t begin = cursor_.offset();
  const int64_t line = cursor_.Line();
  HILO_ASSIGN_OR_RETURN(absl::string_view name, cursor_.Name("an instruction or '}'"));
  const bool root = name == "ROOT" && cursor_.Peek() != '=';
  if (root) {
    if (body.root != nullptr) return source_.Error(begin, "expected one ROOT in a computation; this is the second");
    HILO_ASSIGN_OR_RETURN(name, cursor_.Name("the root instruction"));
  }
  if (body.names.contains(name)) {
    return source_.Error(source_.OffsetOf(name), absl::StrCat("instruction ", name, " is defined twice"));
  }
  HILO_RETURN_IF_ERROR(cursor_.Expect("=", "after an instruction's name"));
  HILO_ASSIGN_OR_RETURN(HloInstruction* const instruction, ParseDefinition(body, name, line));
  body.names[name] = instruction;
  body.last = instruction;
  if (root) body.root = instruction;
  return absl::OkStatus();
}

absl::StatusOr<HloInstruction*> HloParser::ParseDefinition(Body& body, absl::string_view name, int64_t line) {
  cursor_.SkipSpace();
  if (static_cast<int64_t>(source_names_.size()) >= options_.limits.max_instructions) {
    return source_.Error(
        cursor_.offset(),
        absl::StrCat("expected at most ", options_.limits.max_instructions, " instructions in a module"),
        absl::StatusCode::kResourceExhausted);
  }
  std::optional<Shape> shape;
  if (cursor_.AtShape()) {
    HILO_ASSIGN_OR_RETURN(shape, cursor_.ReadShape());
    cursor_.SkipSpace();
  }
  const size_t opcode_offset = cursor_.offset();
  std::optional<HloOpcode> wrapped;
  HILO_ASSIGN_OR_RETURN(const HloOpcode opcode, ParseOpcode(&wrapped));
  const bool states_shape = opcode == HloOpcode::kParameter || opcode == HloOpcode::kConstant || wrapped.has_value();
  if (states_shape && !shape.has_value()) return source_.Expected(opcode_offset, "a shape");
  std::unique_ptr<OpAttributes> attributes = MakeAttributes(opcode);
  HILO_RETURN_IF_ERROR(cursor_.Expect("(", "before the operands"));
  scratch_.operands.clear();
  if (opcode == HloOpcode::kParameter) {
    HILO_RETURN_IF_ERROR(ParseParameterNumber(body, static_cast<ParameterAttrs&>(*attributes)));
  } else if (opcode == HloOpcode::kConstant) {
    HILO_RETURN_IF_ERROR(ParseConstant(*shape, static_cast<ConstantAttrs&>(*attributes)));
  } else {
    HILO_RETURN_IF_ERROR(ParseOperands(body, line));
    HILO_ASSIGN_OR_RETURN(scratch_.operands, WithStartScalars(opcode, std::move(scratch_.operands), body.computation));
  }
  scratch_.raw_attributes.clear();
  if (!name.empty()) HILO_RETURN_IF_ERROR(ParseRawAttributes(source_, cursor_, &scratch_.raw_attributes));

  std::vector<HloComputation*> called;
  if (wrapped.has_value()) {
    HILO_ASSIGN_OR_RETURN(called.emplace_back(), WrapInstruction(*wrapped, *shape, opcode_offset));
  } else {
    HILO_RETURN_IF_ERROR(ReadCallees(opcode, opcode_offset));
    called.resize(scratch_.callees.size(), nullptr);
  }
  OpAttributes* known = attributes.get();
  HloInstruction* instruction;
  if (opcode == HloOpcode::kConstant && shape->IsTuple()) {
    instruction = body.computation->AddConstant(static_cast<ConstantAttrs&>(*attributes).literal.value->Clone(), name);
  } else {
    instruction = body.computation->AddInstruction(
        HloInstruction::Create(opcode, shape.value_or(Shape()), scratch_.operands, std::move(attributes), called),
        name);
  }
  if (!wrapped.has_value()) NoteCalls(instruction);
  instruction->set_source_text_line(line);
  source_names_[instruction] = name.empty() ? source_.text.substr(opcode_offset, 1) : name;
  HILO_RETURN_IF_ERROR(ApplyAttributes(opcode, known, instruction, &body, opcode_offset));
  if (!shape.has_value()) HILO_RETURN_IF_ERROR(InferShapeOf(instruction, opcode_offset));
  return instruction;
}

absl::Status HloParser::InferShapeOf(HloInstruction* instruction, size_t opcode_offset) {
  std::vector<const HloComputation*> called;
  for (const absl::string_view callee : scratch_.callees) {
    const HloComputation* const computation = FindComputation(callee);
    if (computation == nullptr || computation->root_instruction() == nullptr) {
      return source_.Error(opcode_offset, absl::StrCat("expected a shape; it can be left out only if the computation ",
                                                       callee, " comes before this instruction"));
    }
    called.push_back(computation);
  }
  absl::StatusOr<Shape> shape = inferred_shapes_.Infer(*instruction, called);
  if (!shape.ok()) {
    return source_.Error(opcode_offset, absl::StrCat("the shape is left out: ", shape.status().message()),
                         shape.status().code());
  }
  *instruction->mutable_shape() = *std::move(shape);
  return absl::OkStatus();
}

absl::Status HloParser::ReadCallees(HloOpcode opcode, size_t opcode_offset) {
  const CalledRoles roles(opcode);
  scratch_.callees.assign(roles.is_list ? 0 : roles.names.size(), {});
  for (const RawAttribute& attribute : scratch_.raw_attributes) {
    HILO_RETURN_IF_ERROR(ParseCalledRole(source_, roles, attribute, &scratch_.callees).status());
  }
  for (const absl::string_view callee : std::vector<absl::string_view>(scratch_.callees)) {
    if (!absl::StartsWith(callee, "{")) continue;
    // Callers share equal ones, but a fusion has its own.
    HloComputation* computation = nullptr;
    if (opcode != HloOpcode::kFusion) computation = shared_computations_[callee];
    if (computation == nullptr) {
      HILO_ASSIGN_OR_RETURN(computation, ParseInlineComputation(callee));
      if (opcode != HloOpcode::kFusion) shared_computations_[callee] = computation;
    }
    inline_computations_[callee.data()] = computation;
  }
  return CheckRoles(source_, opcode, roles, scratch_.callees, opcode_offset);
}

// "to_apply={ ... }"
absl::StatusOr<HloComputation*> HloParser::ParseInlineComputation(absl::string_view text) {
  HILO_RETURN_IF_ERROR(EnterNested(text));
  const size_t after = cursor_.offset();
  Scratch outer = std::exchange(scratch_, {});
  cursor_.set_offset(source_.OffsetOf(text));
  HloComputation* const computation = module_->AddComputation("inline");
  nameless_.insert(computation);
  HILO_RETURN_IF_ERROR(ParseComputation(computation, source_.OffsetOf(text)));
  cursor_.set_offset(after);
  scratch_ = std::move(outer);
  --nesting_;
  return computation;
}

absl::Status HloParser::EnterNested(absl::string_view text) {
  if (++nesting_ <= kMaxNesting) return absl::OkStatus();
  return source_.Error(source_.OffsetOf(text), absl::StrCat("expected operands and computations that are written in "
                                                            "line at most ",
                                                            kMaxNesting, " deep"));
}

void HloParser::NoteCalls(HloInstruction* caller) {
  for (size_t i = 0; i < scratch_.callees.size(); ++i) {
    calls_.push_back({caller, static_cast<int64_t>(i), scratch_.callees[i]});
  }
}

// "all-to-all-start(x), <attributes of all-to-all>" is shorthand for an async-start of a computation that
// is the all-to-all; the attributes of the start itself are left in scratch_.raw_attributes.
absl::StatusOr<HloComputation*> HloParser::WrapInstruction(HloOpcode opcode, const Shape& start, size_t opcode_offset) {
  if (!start.IsTuple() || start.tuple_shapes_size() < 2) {
    return source_.Error(opcode_offset,
                         absl::StrCat("expected the shape (operands, result, ...) of a start; got ", start.ToString()));
  }
  std::vector<RawAttribute> of_start;
  auto is_of_start = [](const RawAttribute& attribute) {
    return attribute.name == "async_execution_thread" || attribute.name == "metadata" ||
           attribute.name == "control-predecessors";
  };
  std::copy_if(scratch_.raw_attributes.begin(), scratch_.raw_attributes.end(), std::back_inserter(of_start),
               is_of_start);
  scratch_.raw_attributes.erase(
      std::remove_if(scratch_.raw_attributes.begin(), scratch_.raw_attributes.end(), is_of_start),
      scratch_.raw_attributes.end());
  HloComputation* computation = module_->AddComputation("async_wrapped");
  nameless_.insert(computation);
  std::vector<HloInstruction*> parameters;
  for (size_t i = 0; i < scratch_.operands.size(); ++i) {
    const std::string name = absl::StrCat("wrapped_parameter.", i);
    parameters.push_back(
        computation->AddInstruction(HloInstruction::CreateParameter(i, scratch_.operands[i]->shape(), name), name));
  }
  HILO_RETURN_IF_ERROR(ReadCallees(opcode, opcode_offset));
  std::unique_ptr<OpAttributes> attributes = MakeAttributes(opcode);
  OpAttributes* known = attributes.get();
  HloInstruction* instruction = computation->AddInstruction(
      HloInstruction::Create(opcode, start.tuple_shapes(1), parameters, std::move(attributes),
                             std::vector<HloComputation*>(scratch_.callees.size(), nullptr)));
  NoteCalls(instruction);
  HILO_RETURN_IF_ERROR(ApplyAttributes(opcode, known, instruction, nullptr, opcode_offset));
  HILO_RETURN_IF_ERROR(computation->set_root_instruction(instruction));
  scratch_.raw_attributes = std::move(of_start);
  return computation;
}

absl::StatusOr<HloOpcode> HloParser::ParseOpcode(std::optional<HloOpcode>* wrapped) {
  const size_t begin = cursor_.offset();
  absl::string_view word = cursor_.Word();
  const std::optional<HloOpcode> opcode = HloOpcodeFromString(word);
  if (opcode.has_value()) return *opcode;
  for (auto [suffix, asynchronous] :
       {std::pair("-start", HloOpcode::kAsyncStart), std::pair("-update", HloOpcode::kAsyncUpdate),
        std::pair("-done", HloOpcode::kAsyncDone)}) {
    if (!absl::ConsumeSuffix(&word, suffix)) continue;
    const std::optional<HloOpcode> inner = HloOpcodeFromString(word);
    const bool may_be_wrapped = inner.has_value() && *inner != HloOpcode::kParameter && *inner != HloOpcode::kConstant;
    if (!may_be_wrapped) break;
    if (asynchronous == HloOpcode::kAsyncStart) *wrapped = inner;
    return asynchronous;
  }
  return source_.Expected(begin, "an opcode");
}

absl::Status HloParser::ParseParameterNumber(const Body& body, ParameterAttrs& attributes) {
  cursor_.SkipSpace();
  const size_t begin = cursor_.offset();
  HILO_ASSIGN_OR_RETURN(const int64_t number, cursor_.Integer("a parameter number"));
  if (number < 0 || number >= options_.limits.max_parameters) {
    return source_.Error(begin, absl::StrCat("expected a parameter number from 0 to ",
                                             options_.limits.max_parameters - 1, "; got ", number));
  }
  if (number < body.computation->num_parameters() && body.computation->parameter_instruction(number) != nullptr) {
    return source_.Error(begin, absl::StrCat("parameter ", number, " is defined twice"));
  }
  attributes.number = number;
  return cursor_.Expect(")", "after the parameter number");
}

absl::Status HloParser::ParseConstant(const Shape& shape, ConstantAttrs& attributes) {
  cursor_.set_offset(cursor_.offset() - 1);  // back to the '('
  HILO_ASSIGN_OR_RETURN(const absl::string_view text, cursor_.Enclosed());
  const bool elided = options_.elided_constant != nullptr && shape.IsArray() && IsElided(text);
  absl::StatusOr<Literal> literal = elided ? options_.elided_constant(shape) : ParseLiteral(text, shape);
  if (!literal.ok()) return source_.InnerError(source_.OffsetOf(text), literal.status());
  attributes.literal.value = std::make_shared<const Literal>(*std::move(literal));
  return absl::OkStatus();
}

absl::Status HloParser::ParseOperands(Body& body, int64_t line) {
  if (cursor_.Consume(")")) return absl::OkStatus();
  do {
    HILO_ASSIGN_OR_RETURN(HloInstruction * operand, ParseOperand(body, line));
    scratch_.operands.push_back(operand);
  } while (cursor_.Consume(","));
  return cursor_.Expect(")", "after the operands");
}

// "%x", "f32[2] %x", or the definition of an instruction that has no name, "f32[2] negate(%x)".
absl::StatusOr<HloInstruction*> HloParser::ParseOperand(Body& body, int64_t line) {
  std::optional<Shape> type;
  cursor_.SkipSpace();
  const size_t type_offset = cursor_.offset();
  if (cursor_.AtShape()) {
    HILO_ASSIGN_OR_RETURN(type, cursor_.ReadShape());
  }
  HILO_ASSIGN_OR_RETURN(const absl::string_view name, cursor_.Name("an operand"));
  if (cursor_.Peek() == '(') {
    HILO_RETURN_IF_ERROR(EnterNested(name));
    cursor_.set_offset(type_offset);
    Scratch outer = std::exchange(scratch_, {});
    HILO_ASSIGN_OR_RETURN(HloInstruction* const operand, ParseDefinition(body, /*name=*/"", line));
    scratch_ = std::move(outer);
    --nesting_;
    return operand;
  }
  auto it = body.names.find(name);
  if (it == body.names.end()) {
    return source_.Error(source_.OffsetOf(name), absl::StrCat("operand ", name, " is not defined before its use"));
  }
  if (type.has_value() && !ShapeUtil::Compatible(*type, it->second->shape())) {
    return source_.Error(type_offset, absl::StrCat("expected the shape of ", name, ", ", it->second->shape().ToString(),
                                                   "; got ", type->ToString()));
  }
  return it->second;
}

absl::Status HloParser::ApplyAttributes(HloOpcode opcode, OpAttributes* attributes, HloInstruction* instruction,
                                        Body* body, size_t opcode_offset) {
  const bool in_parentheses = opcode == HloOpcode::kParameter || opcode == HloOpcode::kConstant;
  const CalledRoles roles(opcode);
  for (const RawAttribute& attribute : scratch_.raw_attributes) {
    const size_t offset = source_.OffsetOf(attribute.value);
    TextCursor cursor(source_, offset);
    if (attribute.name == "metadata") {
      HILO_ASSIGN_OR_RETURN(OpMetadata metadata, ParseOpMetadata(cursor));
      instruction->set_metadata(std::move(metadata));
      continue;
    }
    if (attribute.name == "kernel") {
      HILO_ASSIGN_OR_RETURN(KernelConfig kernel, ParseKernelConfig(cursor));
      instruction->set_kernel(std::move(kernel));
      continue;
    }
    if (attribute.name == "control-predecessors") {
      HILO_ASSIGN_OR_RETURN(const std::vector<absl::string_view> names,
                            ParseNameList(source_, attribute.value, "instruction"));
      for (absl::string_view name : names) body->control_edges.push_back({name, instruction});
      continue;
    }
    HILO_ASSIGN_OR_RETURN(const bool is_role, ParseCalledRole(source_, roles, attribute, &scratch_.callees));
    if (is_role) continue;
    if (attributes != nullptr) {
      if (in_parentheses && (attribute.name == "number" || attribute.name == "literal")) {
        return source_.Error(source_.OffsetOf(attribute.name),
                             absl::StrCat("the ", attribute.name, " of a ", HloOpcodeString(opcode),
                                          " is written in its parentheses, not as an attribute"));
      }
      absl::StatusOr<bool> found = attributes->ParseField(attribute.name, attribute.value);
      if (!found.ok()) {
        return source_.Error(offset, absl::StrCat(attribute.name, ": ", found.status().message()));
      }
      if (*found) continue;
    }
    instruction->add_extra_attribute(std::string(attribute.name), std::string(attribute.value));
  }
  if (attributes == nullptr || in_parentheses) return absl::OkStatus();
  for (absl::string_view required : attributes->RequiredFields()) {
    const bool given = std::any_of(scratch_.raw_attributes.begin(), scratch_.raw_attributes.end(),
                                   [&](const RawAttribute& attribute) { return attribute.name == required; });
    if (!given) {
      return source_.Error(opcode_offset, absl::StrCat("expected the attribute ", required, " of ",
                                                       HloOpcodeString(opcode), "; it is missing"));
    }
  }
  return absl::OkStatus();
}

absl::Status HloParser::ResolveCalls() {
  for (const Call& call : calls_) {
    HloComputation* const computation = FindComputation(call.callee);
    if (computation == nullptr) {
      return source_.Error(source_.OffsetOf(call.callee),
                           absl::StrCat("expected the name of a computation; there is no ", call.callee));
    }
    call.caller->set_called_computation(call.index, computation);
    if (call.caller->opcode() == HloOpcode::kFusion) computation->set_fusion_instruction(call.caller);
  }
  return absl::OkStatus();
}

absl::Status HloParser::ChooseEntry() {
  if (module_->entry_computation() != nullptr) return absl::OkStatus();
  absl::flat_hash_set<const HloComputation*> called;
  for (const Call& call : calls_) called.insert(call.caller->called_computation(call.index));
  HloComputation* entry = nullptr;
  for (HloComputation* computation : module_->computations()) {
    if (called.contains(computation) || nameless_.contains(computation)) continue;
    if (entry != nullptr) {
      return cursor_.Error(absl::StrCat("expected an ENTRY computation; both ", entry->name(), " and ",
                                        computation->name(), " could be meant"));
    }
    entry = computation;
  }
  if (entry == nullptr) return cursor_.Error("expected an ENTRY computation; got none");
  module_->set_entry_computation(entry);
  return absl::OkStatus();
}

absl::Status HloParser::Verify() {
  const HloInstruction* culprit = nullptr;
  const absl::Status status = VerifyHloModule(*module_, HloStage::kInput, options_.limits, &culprit);
  if (status.ok()) return status;
  auto it = source_names_.find(culprit);
  const size_t offset = it == source_names_.end() ? 0 : source_.OffsetOf(it->second);
  return source_.Error(offset, status.message(), status.code());
}

}  // namespace

absl::StatusOr<std::unique_ptr<HloModule>> ParseHloModule(absl::string_view text, const ParseOptions& options) {
  return HloParser(text, options).Parse();
}

}  // namespace hilo
