// Regions, results and names of operations, and the generic form.
#include "hlo/import/stablehlo/mlir_text_reader.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo::stablehlo {

absl::Status MlirTextReader::Read() {
  module_.source = cursor_.source();
  HILO_RETURN_IF_ERROR(ReadAliases());
  // Functions may appear without the module around them.
  const bool bare =
      cursor_.At("func.func") || cursor_.At("\"func.func\"") || cursor_.At("sdy.mesh") || cursor_.At("\"sdy.mesh\"");
  if (bare) {
    OpenModule();
  } else {
    HILO_RETURN_IF_ERROR(ReadOperation(nullptr));
  }
  while (!frames_.empty()) {
    Frame& frame = frames_.back();
    const bool outermost = bare && frames_.size() == 1;
    if (outermost && (cursor_.AtEnd() || cursor_.Peek() == '#' || cursor_.At("{-#"))) {
      HILO_RETURN_IF_ERROR(EndRegion());
    } else if (!outermost && cursor_.Take("}")) {
      HILO_RETURN_IF_ERROR(EndRegion());
    } else if (cursor_.Peek() == '^') {
      HILO_RETURN_IF_ERROR(ReadBlockLabel(frame));
    } else {
      HILO_RETURN_IF_ERROR(ReadOperation(&frame));
    }
  }
  HILO_RETURN_IF_ERROR(ReadAliases());
  HILO_RETURN_IF_ERROR(values_.ReadResources());
  return cursor_.AtEnd() ? absl::OkStatus() : cursor_.Expected("the end of the text");
}

absl::Status MlirTextReader::ReadAliases() {
  while (cursor_.Peek() == '#' || cursor_.Peek() == '!') {
    if (cursor_.Take("!")) {
      const std::string name(cursor_.Word());
      if (name.empty()) return cursor_.Expected("the name of a type");
      HILO_RETURN_IF_ERROR(cursor_.Expect("="));
      HILO_ASSIGN_OR_RETURN(const Type* type, values_.ReadType());
      values_.AddTypeAlias(name, type);
      continue;
    }
    HILO_ASSIGN_OR_RETURN(std::string name, cursor_.Sigil('#'));
    HILO_RETURN_IF_ERROR(cursor_.Expect("="));
    HILO_ASSIGN_OR_RETURN(const Attribute* value, values_.ReadAttribute());
    if (value->kind == Attribute::Kind::kLocation) values_.AddLocationAlias(name, *value);
    values_.AddAlias(std::move(name), value);
  }
  return absl::OkStatus();
}

void MlirTextReader::OpenModule() {
  Operation* operation = module_.AddOperation();
  operation->name = "builtin.module";
  module_.root = operation;
  Push(operation, Form::kPlain, {});
  StartRegion({});
}

void MlirTextReader::StartRegion(const std::vector<Argument>& arguments) {
  Frame& frame = frames_.back();
  frame.region = module_.AddRegion();
  frame.region->parent = frame.operation;
  frame.operation->regions.push_back(frame.region);
  Block& block = frame.region->blocks.emplace_back();
  for (const Argument& argument : arguments) AddArgument(frame, block, argument);
}

void MlirTextReader::AddArgument(Frame& frame, Block& block, const Argument& argument) {
  Value* value = module_.AddValue();
  value->type = argument.type;
  value->region = frame.region;
  value->result_number = static_cast<int64_t>(block.arguments.size());
  block.arguments.push_back(value);
  Define(frame, argument.name, value);
}

void MlirTextReader::Define(Frame& frame, const std::string& name, Value* value) {
  Value*& entry = names_[name];
  frame.hidden.emplace_back(name, entry);
  entry = value;
}

absl::Status MlirTextReader::ReadBlockLabel(Frame& frame) {
  HILO_RETURN_IF_ERROR(cursor_.Sigil('^').status());
  const bool is_first = frame.region->blocks.size() == 1 && frame.region->blocks[0].operations.empty() &&
                        frame.region->blocks[0].arguments.empty();
  Block& block = is_first ? frame.region->blocks[0] : frame.region->blocks.emplace_back();
  if (cursor_.Take("(")) {
    HILO_ASSIGN_OR_RETURN(const std::vector<Argument> arguments, ReadArguments(nullptr));
    for (const Argument& argument : arguments) AddArgument(frame, block, argument);
  }
  return cursor_.Expect(":");
}

absl::StatusOr<std::vector<MlirTextReader::Argument>> MlirTextReader::ReadArguments(
    std::vector<const Attribute*>* dictionaries) {
  std::vector<Argument> arguments;
  while (!cursor_.Take(")")) {
    Argument& argument = arguments.emplace_back();
    HILO_ASSIGN_OR_RETURN(argument.name, cursor_.Sigil('%'));
    HILO_RETURN_IF_ERROR(cursor_.Expect(":"));
    HILO_ASSIGN_OR_RETURN(argument.type, values_.ReadType());
    if (dictionaries != nullptr) HILO_RETURN_IF_ERROR(ReadDictionary(dictionaries));
    HILO_RETURN_IF_ERROR(values_.ReadOptionalLocation().status());
    if (!cursor_.Take(",") && !cursor_.At(")")) return cursor_.Expected("',' or ')'");
  }
  return arguments;
}

absl::Status MlirTextReader::ReadDictionary(std::vector<const Attribute*>* dictionaries) {
  Attribute* dictionary = module_.AddAttribute();
  dictionary->kind = Attribute::Kind::kDictionary;
  dictionaries->push_back(dictionary);
  return values_.ReadOptionalDictionary(&dictionary->entries);
}

absl::Status MlirTextReader::EndRegion() {
  Frame& frame = frames_.back();
  for (auto it = frame.hidden.rbegin(); it != frame.hidden.rend(); ++it) names_[it->first] = it->second;
  frame.hidden.clear();
  switch (frame.form) {
    case Form::kGeneric:
      if (cursor_.Take(",")) {
        HILO_RETURN_IF_ERROR(cursor_.Expect("{"));
        StartRegion({});
        return absl::OkStatus();
      }
      HILO_RETURN_IF_ERROR(cursor_.Expect(")"));
      return FinishFrame(/*typed=*/true);
    case Form::kWhile:
      if (frame.operation->regions.size() == 1) {
        HILO_RETURN_IF_ERROR(cursor_.Expect("do"));
        HILO_RETURN_IF_ERROR(cursor_.Expect("{"));
        StartRegion(frame.arguments);
        return absl::OkStatus();
      }
      return FinishFrame(/*typed=*/false);
    case Form::kTyped: return FinishFrame(/*typed=*/true);
    case Form::kPlain: return FinishFrame(/*typed=*/false);
  }
  return absl::OkStatus();
}

absl::Status MlirTextReader::FinishFrame(bool typed) {
  Frame frame = std::move(frames_.back());
  frames_.pop_back();
  if (!typed) return FinishUntyped(frame.operation, frame.results);
  HILO_RETURN_IF_ERROR(values_.ReadOptionalDictionary(&frame.operation->attributes));
  return FinishTyped(frame.operation, frame.results);
}

absl::Status MlirTextReader::ReadOperation(Frame* frame) {
  if (cursor_.AtEnd()) return cursor_.Expected("an operation");
  std::vector<ResultNames> results;
  if (cursor_.Peek() == '%') {
    do {
      ResultNames& names = results.emplace_back();
      HILO_ASSIGN_OR_RETURN(names.name, cursor_.Sigil('%'));
      names.count = 1;
      if (cursor_.Take(":")) {
        HILO_ASSIGN_OR_RETURN(names.count, cursor_.Integer());
      }
      if (names.count < 1 || names.count > 1 << 20)
        return cursor_.Error(absl::StrCat(names.count, " results of one operation"));
    } while (cursor_.Take(","));
    HILO_RETURN_IF_ERROR(cursor_.Expect("="));
  }
  Operation* operation = module_.AddOperation();
  operation->line = cursor_.line();
  operation->offset = cursor_.offset();
  operation->region = frame == nullptr ? nullptr : frame->region;
  if (cursor_.Peek() == '"') {
    HILO_ASSIGN_OR_RETURN(std::string name, cursor_.String());
    operation->name = NormalName(module_.AddString(std::move(name)));
    HILO_RETURN_IF_ERROR(Attach(frame, operation));
    return ReadGeneric(operation, std::move(results));
  }
  operation->name = NormalName(cursor_.Word());
  if (operation->name.empty()) return cursor_.Expected("an operation");
  HILO_RETURN_IF_ERROR(Attach(frame, operation));
  return ReadPretty(operation, std::move(results));
}

absl::string_view MlirTextReader::NormalName(absl::string_view name) {
  if (name == "return" || name == "func.return") return "func.return";
  if (name == "call") return "func.call";
  if (name == "module") return "builtin.module";
  if (name == "chlo.constant" || name == "arith.constant" || name == "sdy.constant") return "stablehlo.constant";
  return name;
}

absl::Status MlirTextReader::Attach(Frame* frame, Operation* operation) {
  if (frame != nullptr) {
    frame->region->blocks.back().operations.push_back(operation);
  } else if (operation->name == "builtin.module") {
    module_.root = operation;
  } else {
    return cursor_.Error("expected a module");
  }
  return absl::OkStatus();
}

absl::Status MlirTextReader::ReadGeneric(Operation* operation, std::vector<ResultNames> results) {
  HILO_RETURN_IF_ERROR(cursor_.Expect("("));
  if (!cursor_.At(")")) HILO_RETURN_IF_ERROR(ReadOperands(operation));
  HILO_RETURN_IF_ERROR(cursor_.Expect(")"));
  if (cursor_.Peek() == '[') return cursor_.Error("control flow between blocks is not known");
  if (cursor_.Take("<{")) {
    HILO_RETURN_IF_ERROR(values_.ReadEntries("}", &operation->attributes));
    HILO_RETURN_IF_ERROR(cursor_.Expect(">"));
  }
  if (cursor_.Take("(")) {
    HILO_RETURN_IF_ERROR(cursor_.Expect("{"));
    Push(operation, Form::kGeneric, std::move(results));
    StartRegion({});
    return absl::OkStatus();
  }
  HILO_RETURN_IF_ERROR(values_.ReadOptionalDictionary(&operation->attributes));
  return FinishTyped(operation, results);
}

void MlirTextReader::Push(Operation* operation, Form form, std::vector<ResultNames> results) {
  frames_.push_back({.operation = operation, .form = form, .results = std::move(results)});
}

absl::StatusOr<Value*> MlirTextReader::ReadOperand() {
  HILO_ASSIGN_OR_RETURN(const std::string name, cursor_.Sigil('%'));
  const auto value = names_.find(name);
  if (value != names_.end() && value->second != nullptr) return value->second;
  return cursor_.Error(absl::StrCat("%", name, " is not defined"));
}

absl::Status MlirTextReader::ReadOperands(Operation* operation) {
  do {
    HILO_ASSIGN_OR_RETURN(operation->operands.emplace_back(), ReadOperand());
  } while (cursor_.Take(","));
  return absl::OkStatus();
}

absl::Status MlirTextReader::FinishTyped(Operation* operation, const std::vector<ResultNames>& results) {
  int64_t count = 0;
  for (const ResultNames& names : results) count += names.count;
  std::vector<const Type*> types;
  if (cursor_.Take(":")) {
    HILO_ASSIGN_OR_RETURN(MlirValueReader::Signature signature, values_.ReadSignature());
    if (signature.has_arrow || absl::EndsWith(operation->name, ".return"))
      HILO_RETURN_IF_ERROR(CheckOperandTypes(*operation, signature.operands));
    types = signature.has_arrow ? std::move(signature.results) : std::move(signature.operands);
    // Without an arrow the types of operands may precede the result's.
    if (!signature.has_arrow && count == 1 && !types.empty()) types = {types.back()};
    if (!signature.has_arrow && count == 0) types.clear();
  }
  if (static_cast<int64_t>(types.size()) != count) {
    if (count != 0)
      return cursor_.Error(
          absl::StrCat(operation->name, " has ", types.size(), " results, but ", count, " names for them"));
  }
  for (const Type* type : types) AddResult(operation, type);
  return FinishUntyped(operation, results);
}

absl::Status MlirTextReader::CheckOperandTypes(const Operation& operation,
                                               const std::vector<const Type*>& types) const {
  if (types.size() != operation.operands.size())
    return cursor_.Error(
        absl::StrCat(operation.name, " has ", operation.operands.size(), " operands, but ", types.size(), " types"));
  for (size_t i = 0; i < types.size(); ++i) {
    const Type& type = *operation.operands[i]->type;
    if (!SameType(type, *types[i]))
      return cursor_.Error(
          absl::StrCat("operand ", i, " of ", operation.name, " is ", TypeText(type), ", not ", TypeText(*types[i])));
  }
  return absl::OkStatus();
}

void MlirTextReader::AddResult(Operation* operation, const Type* type) {
  Value* value = module_.AddValue();
  value->type = type;
  value->region = operation->region;
  value->defined_by = operation;
  value->result_number = static_cast<int64_t>(operation->results.size());
  operation->results.push_back(value);
}

absl::Status MlirTextReader::FinishUntyped(Operation* operation, const std::vector<ResultNames>& results) {
  HILO_ASSIGN_OR_RETURN(operation->location, values_.ReadOptionalLocation());
  size_t next = 0;
  for (const ResultNames& names : results) {
    if (next + names.count > operation->results.size())
      return cursor_.Error(absl::StrCat(operation->name, " has no result for %", names.name));
    if (frames_.empty()) return cursor_.Error("results outside of a function");
    Define(frames_.back(), names.name, operation->results[next]);
    for (int64_t i = 0; i < names.count; ++i)
      Define(frames_.back(), absl::StrCat(names.name, "#", i), operation->results[next + i]);
    next += names.count;
  }
  return absl::OkStatus();
}

void MlirTextReader::Add(Operation* operation, absl::string_view name, const Attribute* value) {
  values_.AddEntry(name, value, &operation->attributes);
}

}  // namespace hilo::stablehlo
