// The pretty forms of operations.
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/import/stablehlo/mlir_text_reader.h"

namespace hilo::stablehlo {

absl::Status MlirTextReader::ReadPretty(Operation* operation, std::vector<ResultNames> results) {
  const absl::string_view name = operation->name;
  if (name == "builtin.module") return ReadModule(operation);
  if (name == "func.func") return ReadFunction(operation);
  if (name == "func.call") return ReadCall(operation, "callee", results);
  if (name == "stablehlo.custom_call") return ReadCall(operation, "call_target_name", results);
  if (name == "stablehlo.while") return ReadWhile(operation, std::move(results));
  if (name == "stablehlo.reduce") return ReadReduce(operation, std::move(results));
  if (name == "chlo.scan") return ReadScan(operation, std::move(results));
  if (name == "sdy.mesh") return ReadMesh(operation);
  if (name == "sdy.manual_computation" || name == "sdy.named_computation")
    return ReadShardedRegion(operation, std::move(results));
  if (name == "stablehlo.constant") return ReadConstant(operation, results);
  if (name == "stablehlo.composite") return ReadComposite(operation, std::move(results));
  if (absl::StartsWith(name, "check.")) return ReadCheck(operation);
  if (name == "builtin.unrealized_conversion_cast") return ReadCast(operation, results);
  if (name == "stablehlo.compare") {
    Add(operation, "comparison_direction", values_.Enum(cursor_.Word()));
    HILO_RETURN_IF_ERROR(cursor_.Expect(","));
  }
  if (absl::StartsWith(name, "sdy.") && (cursor_.Peek() == '[' || cursor_.Peek() == '{')) {
    HILO_ASSIGN_OR_RETURN(const Attribute* axes, values_.ReadCollectiveAxes());
    Add(operation, "axes", axes);
  }
  HILO_RETURN_IF_ERROR(ReadOperandsAndWords(operation));
  HILO_RETURN_IF_ERROR(words_.ReadBehindOperands(operation));
  HILO_RETURN_IF_ERROR(values_.ReadOptionalDictionary(&operation->attributes));
  return FinishTyped(operation, results);
}

absl::Status MlirTextReader::ReadOperandsAndWords(Operation* operation) {
  const bool in_parentheses = cursor_.Take("(");
  bool first = true;
  while (first || cursor_.Take(",")) {
    const char next = cursor_.Peek();
    if (next == '%') {
      HILO_ASSIGN_OR_RETURN(operation->operands.emplace_back(), ReadOperand());
    } else if (operation->name == "stablehlo.compare" && !first) {
      Add(operation, "compare_type", values_.Enum(cursor_.Word()));
    } else if (!first || (absl::ascii_isalpha(next) && !cursor_.At("loc("))) {
      HILO_RETURN_IF_ERROR(words_.ReadWord(operation));
    }
    first = false;
  }
  return in_parentheses ? cursor_.Expect(")") : absl::OkStatus();
}

absl::Status MlirTextReader::ReadModule(Operation* operation) {
  if (cursor_.Peek() == '@') {
    HILO_ASSIGN_OR_RETURN(std::string name, cursor_.Sigil('@'));
    Add(operation, "sym_name", values_.String(std::move(name)));
  }
  if (cursor_.TakeWord("attributes")) HILO_RETURN_IF_ERROR(values_.ReadOptionalDictionary(&operation->attributes));
  HILO_RETURN_IF_ERROR(cursor_.Expect("{"));
  Push(operation, Form::kPlain, {});
  StartRegion({});
  return absl::OkStatus();
}

absl::Status MlirTextReader::ReadFunction(Operation* operation) {
  for (absl::string_view visibility : {"public", "private", "nested"}) {
    if (cursor_.TakeWord(visibility)) Add(operation, "sym_visibility", values_.String(std::string(visibility)));
  }
  HILO_ASSIGN_OR_RETURN(std::string name, cursor_.Sigil('@'));
  Add(operation, "sym_name", values_.String(std::move(name)));
  Attribute* argument_attributes = module_.AddAttribute();
  Attribute* result_attributes = module_.AddAttribute();
  argument_attributes->kind = result_attributes->kind = Attribute::Kind::kArray;
  HILO_RETURN_IF_ERROR(cursor_.Expect("("));
  HILO_ASSIGN_OR_RETURN(const std::vector<Argument> arguments, ReadArguments(&argument_attributes->elements));
  Type* type = module_.AddType();
  type->kind = Type::Kind::kFunction;
  for (const Argument& argument : arguments) type->inputs.push_back(argument.type);
  if (cursor_.Take("->")) {
    const bool is_list = cursor_.Take("(");
    while (!is_list || !cursor_.Take(")")) {
      HILO_ASSIGN_OR_RETURN(type->results.emplace_back(), values_.ReadType());
      if (!is_list) break;
      HILO_RETURN_IF_ERROR(ReadDictionary(&result_attributes->elements));
      if (!cursor_.Take(",") && !cursor_.At(")")) return cursor_.Expected("',' or ')'");
    }
  }
  Attribute* function_type = module_.AddAttribute();
  function_type->kind = Attribute::Kind::kType;
  function_type->type = type;
  Add(operation, "function_type", function_type);
  Add(operation, "arg_attrs", argument_attributes);
  Add(operation, "res_attrs", result_attributes);
  if (cursor_.TakeWord("attributes")) HILO_RETURN_IF_ERROR(values_.ReadOptionalDictionary(&operation->attributes));
  HILO_RETURN_IF_ERROR(cursor_.Expect("{"));
  Push(operation, Form::kPlain, {});
  StartRegion(arguments);
  return absl::OkStatus();
}

absl::Status MlirTextReader::ReadCall(Operation* operation, absl::string_view attribute,
                                      const std::vector<ResultNames>& results) {
  HILO_ASSIGN_OR_RETURN(std::string name, cursor_.Sigil('@'));
  Add(operation, attribute, values_.String(std::move(name)));
  HILO_RETURN_IF_ERROR(cursor_.Expect("("));
  if (!cursor_.At(")")) HILO_RETURN_IF_ERROR(ReadOperands(operation));
  HILO_RETURN_IF_ERROR(cursor_.Expect(")"));
  HILO_RETURN_IF_ERROR(values_.ReadOptionalDictionary(&operation->attributes));
  return FinishTyped(operation, results);
}

absl::Status MlirTextReader::ReadWhile(Operation* operation, std::vector<ResultNames> results) {
  std::vector<Argument> arguments;
  HILO_RETURN_IF_ERROR(cursor_.Expect("("));
  while (!cursor_.Take(")")) {
    HILO_ASSIGN_OR_RETURN(arguments.emplace_back().name, cursor_.Sigil('%'));
    HILO_RETURN_IF_ERROR(cursor_.Expect("="));
    HILO_ASSIGN_OR_RETURN(operation->operands.emplace_back(), ReadOperand());
    if (!cursor_.Take(",") && !cursor_.At(")")) return cursor_.Expected("',' or ')'");
  }
  if (cursor_.Take(":")) {
    for (Argument& argument : arguments) {
      HILO_ASSIGN_OR_RETURN(argument.type, values_.ReadType());
      AddResult(operation, argument.type);
      if (!SameType(*argument.type, *operation->operands[operation->results.size() - 1]->type))
        return cursor_.Error(absl::StrCat("%", argument.name, " is ", TypeText(*argument.type), ", but starts as ",
                                          TypeText(*operation->operands[operation->results.size() - 1]->type)));
      if (&argument != &arguments.back()) HILO_RETURN_IF_ERROR(cursor_.Expect(","));
    }
  }
  if (operation->results.size() != arguments.size()) return cursor_.Expected("the types of the loop's values");
  if (cursor_.TakeWord("attributes")) HILO_RETURN_IF_ERROR(values_.ReadOptionalDictionary(&operation->attributes));
  HILO_RETURN_IF_ERROR(cursor_.Expect("cond"));
  HILO_RETURN_IF_ERROR(cursor_.Expect("{"));
  Push(operation, Form::kWhile, std::move(results));
  frames_.back().arguments = arguments;
  StartRegion(arguments);
  return absl::OkStatus();
}

absl::Status MlirTextReader::ReadReduce(Operation* operation, std::vector<ResultNames> results) {
  std::vector<Value*> starts;
  do {
    HILO_RETURN_IF_ERROR(cursor_.Expect("("));
    HILO_ASSIGN_OR_RETURN(operation->operands.emplace_back(), ReadOperand());
    HILO_RETURN_IF_ERROR(cursor_.Expect("init"));
    HILO_RETURN_IF_ERROR(cursor_.Expect(":"));
    HILO_ASSIGN_OR_RETURN(starts.emplace_back(), ReadOperand());
    HILO_RETURN_IF_ERROR(cursor_.Expect(")"));
  } while (cursor_.Take(","));
  operation->operands.insert(operation->operands.end(), starts.begin(), starts.end());
  absl::string_view applied;
  if (cursor_.TakeWord("applies")) applied = cursor_.Word();
  HILO_RETURN_IF_ERROR(cursor_.Expect("across"));
  HILO_RETURN_IF_ERROR(cursor_.Expect("dimensions"));
  HILO_RETURN_IF_ERROR(cursor_.Expect("="));
  HILO_ASSIGN_OR_RETURN(const Attribute* dimensions, values_.ReadList());
  Add(operation, "dimensions", dimensions);
  HILO_RETURN_IF_ERROR(values_.ReadOptionalDictionary(&operation->attributes));
  if (!cursor_.Take(":")) return cursor_.Expected("':'");
  HILO_ASSIGN_OR_RETURN(const MlirValueReader::Signature signature, values_.ReadSignature());
  HILO_RETURN_IF_ERROR(CheckOperandTypes(*operation, signature.operands));
  for (const Type* type : signature.results) AddResult(operation, type);
  if (!applied.empty()) {
    AddAppliedBody(operation, applied, starts[0]->type);
    return FinishUntyped(operation, results);
  }
  HILO_RETURN_IF_ERROR(cursor_.Expect("reducer"));
  std::vector<Argument> left, right;
  while (cursor_.Take("(")) {
    HILO_ASSIGN_OR_RETURN(std::vector<Argument> pair, ReadArguments(nullptr));
    if (pair.size() != 2) return cursor_.Error("expected two arguments of a reducer");
    left.push_back(std::move(pair[0]));
    right.push_back(std::move(pair[1]));
  }
  HILO_RETURN_IF_ERROR(cursor_.Expect("{"));
  left.insert(left.end(), right.begin(), right.end());
  Push(operation, Form::kPlain, std::move(results));
  StartRegion(left);
  return absl::OkStatus();
}

absl::Status MlirTextReader::ReadScan(Operation* operation, std::vector<ResultNames> results) {
  Attribute* segments = module_.AddAttribute();
  segments->kind = Attribute::Kind::kIntegers;
  for (absl::string_view part : {"", "inits"}) {
    if (!part.empty()) HILO_RETURN_IF_ERROR(cursor_.Expect(part));
    HILO_RETURN_IF_ERROR(cursor_.Expect("("));
    const size_t before = operation->operands.size();
    if (!cursor_.At(")")) HILO_RETURN_IF_ERROR(ReadOperands(operation));
    HILO_RETURN_IF_ERROR(cursor_.Expect(")"));
    segments->integers.push_back(static_cast<int64_t>(operation->operands.size() - before));
  }
  Add(operation, "operandSegmentSizes", segments);
  HILO_RETURN_IF_ERROR(cursor_.Expect("dimension"));
  HILO_RETURN_IF_ERROR(cursor_.Expect("="));
  HILO_ASSIGN_OR_RETURN(const int64_t dimension, cursor_.Integer());
  Add(operation, "dimension", values_.Integer(dimension));
  if (cursor_.TakeWord("attributes")) HILO_RETURN_IF_ERROR(values_.ReadOptionalDictionary(&operation->attributes));
  HILO_RETURN_IF_ERROR(cursor_.Expect("{"));
  Push(operation, Form::kTyped, std::move(results));
  StartRegion({});
  return absl::OkStatus();
}

void MlirTextReader::AddAppliedBody(Operation* operation, absl::string_view applied, const Type* type) {
  Region* region = module_.AddRegion();
  region->parent = operation;
  operation->regions.push_back(region);
  Block& block = region->blocks.emplace_back();
  Operation* body = module_.AddOperation();
  Operation* end = module_.AddOperation();
  for (int i = 0; i < 2; ++i) {
    Value* argument = module_.AddValue();
    argument->type = type;
    argument->region = region;
    argument->result_number = i;
    block.arguments.push_back(argument);
  }
  body->name = applied;
  body->operands = block.arguments;
  end->name = "stablehlo.return";
  body->region = end->region = region;
  body->line = end->line = operation->line;
  body->offset = end->offset = operation->offset;
  AddResult(body, type);
  end->operands = body->results;
  block.operations = {body, end};
}

absl::Status MlirTextReader::ReadConstant(Operation* operation, const std::vector<ResultNames>& results) {
  // "() {value = dense<1> : tensor<i8>} : () -> T", where T may be a quantized type.
  if (cursor_.Take("(")) {
    HILO_RETURN_IF_ERROR(cursor_.Expect(")"));
    if (cursor_.Take("<{")) {
      HILO_RETURN_IF_ERROR(values_.ReadEntries("}", &operation->attributes));
      HILO_RETURN_IF_ERROR(cursor_.Expect(">"));
    }
    HILO_RETURN_IF_ERROR(values_.ReadOptionalDictionary(&operation->attributes));
    return FinishTyped(operation, results);
  }
  HILO_RETURN_IF_ERROR(values_.ReadOptionalDictionary(&operation->attributes));
  HILO_ASSIGN_OR_RETURN(const Attribute* value, values_.ReadAttribute());
  if (value->kind != Attribute::Kind::kDense) return cursor_.Error("expected dense<...>");
  Add(operation, "value", value);
  AddResult(operation, value->type);
  return FinishUntyped(operation, results);
}

// "\"a.b\" %x, %y ({ ... }, { ... }) {...} : (T, T) -> T", where the regions may be missing.
absl::Status MlirTextReader::ReadComposite(Operation* operation, std::vector<ResultNames> results) {
  HILO_ASSIGN_OR_RETURN(std::string name, cursor_.String());
  Add(operation, "name", values_.String(std::move(name)));
  if (cursor_.Peek() == '%') HILO_RETURN_IF_ERROR(ReadOperands(operation));
  if (cursor_.Take("(")) {
    HILO_RETURN_IF_ERROR(cursor_.Expect("{"));
    Push(operation, Form::kGeneric, std::move(results));
    StartRegion({});
    return absl::OkStatus();
  }
  HILO_RETURN_IF_ERROR(values_.ReadOptionalDictionary(&operation->attributes));
  return FinishTyped(operation, results);
}

// "check.expect_eq_const %a, dense<1> : tensor<i32>", "check.expect_close %a, %b, max_ulp_difference = 3 : tensor<f32>,
// tensor<f32>". A number may have its type too: "tolerance = 0.1 : f64".
absl::Status MlirTextReader::ReadCheck(Operation* operation) {
  bool at_types = false;
  do {
    if (cursor_.Peek() == '%') {
      HILO_ASSIGN_OR_RETURN(operation->operands.emplace_back(), ReadOperand());
    } else if (cursor_.At("dense")) {
      HILO_ASSIGN_OR_RETURN(const Attribute* value, values_.ReadAttribute());
      Add(operation, "value", value);
    } else {
      const absl::string_view name = cursor_.Word();
      HILO_RETURN_IF_ERROR(cursor_.Expect("="));
      if (cursor_.Peek() == '"') {
        HILO_ASSIGN_OR_RETURN(std::string text, cursor_.String());
        Add(operation, name, values_.String(std::move(text)));
        at_types = cursor_.Take(":");
        continue;
      }
      Attribute* value = module_.AddAttribute();
      const absl::string_view number = cursor_.Number();
      if (absl::SimpleAtoi(number, &value->integer)) {
        value->kind = Attribute::Kind::kInteger;
      } else if (absl::SimpleAtod(number, &value->number)) {
        value->kind = Attribute::Kind::kFloat;
      } else {
        return cursor_.Expected("a number");
      }
      Add(operation, name, value);
      at_types = cursor_.Take(":") && !cursor_.TakeWord("f64") && !cursor_.TakeWord("ui64");
    }
  } while (!at_types && cursor_.Take(","));
  if (!at_types) {
    HILO_RETURN_IF_ERROR(values_.ReadOptionalDictionary(&operation->attributes));
    at_types = cursor_.Take(":");
  }
  if (at_types) HILO_RETURN_IF_ERROR(values_.ReadSignature().status());
  return FinishUntyped(operation, {});
}

absl::Status MlirTextReader::ReadCast(Operation* operation, const std::vector<ResultNames>& results) {
  std::vector<const Type*> types;
  if (cursor_.Peek() == '%') {
    HILO_RETURN_IF_ERROR(ReadOperands(operation));
    HILO_RETURN_IF_ERROR(cursor_.Expect(":"));
    do {
      HILO_ASSIGN_OR_RETURN(types.emplace_back(), values_.ReadType());
    } while (cursor_.Take(","));
  }
  HILO_RETURN_IF_ERROR(CheckOperandTypes(*operation, types));
  HILO_RETURN_IF_ERROR(cursor_.Expect("to"));
  do {
    HILO_ASSIGN_OR_RETURN(const Type* type, values_.ReadType());
    AddResult(operation, type);
  } while (cursor_.Take(","));
  HILO_RETURN_IF_ERROR(values_.ReadOptionalDictionary(&operation->attributes));
  return FinishUntyped(operation, results);
}

absl::Status MlirTextReader::ReadMesh(Operation* operation) {
  HILO_ASSIGN_OR_RETURN(std::string name, cursor_.Sigil('@'));
  Add(operation, "sym_name", values_.String(std::move(name)));
  HILO_RETURN_IF_ERROR(cursor_.Expect("="));
  HILO_ASSIGN_OR_RETURN(const Attribute* mesh, values_.ReadMesh());
  Add(operation, "mesh", mesh);
  HILO_RETURN_IF_ERROR(values_.ReadOptionalDictionary(&operation->attributes));
  return FinishUntyped(operation, {});
}

// "(%x) in_shardings=[...] out_shardings=[...] manual_axes={"a"} (%y: T) { ... } : (T) -> T"; behind its name and
// perhaps without shardings that of a named computation.
absl::Status MlirTextReader::ReadShardedRegion(Operation* operation, std::vector<ResultNames> results) {
  const bool is_named = operation->name == "sdy.named_computation";
  if (is_named) {
    HILO_RETURN_IF_ERROR(cursor_.Expect("<"));
    HILO_ASSIGN_OR_RETURN(std::string name, cursor_.String());
    Add(operation, "name", values_.String(std::move(name)));
    HILO_RETURN_IF_ERROR(cursor_.Expect(">"));
  }
  HILO_RETURN_IF_ERROR(cursor_.Expect("("));
  if (!cursor_.At(")")) HILO_RETURN_IF_ERROR(ReadOperands(operation));
  HILO_RETURN_IF_ERROR(cursor_.Expect(")"));
  for (absl::string_view name : {"in_shardings", "out_shardings", "manual_axes"}) {
    if (is_named && !cursor_.At(name)) continue;
    HILO_RETURN_IF_ERROR(cursor_.Expect(name));
    HILO_RETURN_IF_ERROR(cursor_.Expect("="));
    HILO_ASSIGN_OR_RETURN(const Attribute* value,
                          name == "manual_axes" ? values_.ReadManualAxes() : values_.ReadShardings());
    Add(operation, name, value);
  }
  HILO_RETURN_IF_ERROR(cursor_.Expect("("));
  HILO_ASSIGN_OR_RETURN(const std::vector<Argument> arguments, ReadArguments(nullptr));
  HILO_RETURN_IF_ERROR(cursor_.Expect("{"));
  Push(operation, Form::kTyped, std::move(results));
  StartRegion(arguments);
  return absl::OkStatus();
}

}  // namespace hilo::stablehlo
