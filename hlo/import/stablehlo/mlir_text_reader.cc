// Operations of MLIR text. The generic form covers everything in one grammar; the pretty ones follow a few patterns:
// mostly operands, words with values, attributes in braces, and types. Regions are visited with an explicit stack, as
// they may be nested as deeply as the text is long.
#include "hlo/import/stablehlo/mlir_text_reader.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/import/stablehlo/mlir_cursor.h"
#include "hlo/import/stablehlo/mlir_text_values.h"
#include "hlo/import/stablehlo/mlir_text_words.h"

namespace hilo::stablehlo {
namespace {

struct Argument {
  std::string name;
  const Type* type;
};

class TextReader {
 public:
  TextReader(absl::string_view text, MlirModule* module)
      : cursor_(text), module_(*module), values_(&cursor_, module), words_(&cursor_, module, &values_) {}

  absl::Status Read() {
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
      if (outermost && (cursor_.AtEnd() || cursor_.Peek() == '#')) {
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
    return cursor_.AtEnd() ? absl::OkStatus() : cursor_.Expected("the end of the text");
  }

 private:
  // What follows the regions of an operation.
  enum class Form {
    kGeneric,  // more regions or ")", attributes, types
    kWhile,    // "do" and another region
    kTyped,    // attributes, types
    kPlain,    // nothing: the operation is complete except for its regions
  };
  struct ResultNames {
    std::string name;
    int64_t count;
  };
  // An operation whose regions are being read.
  struct Frame {
    Operation* operation;
    Form form;
    std::vector<ResultNames> results;
    Region* region = nullptr;
    std::vector<Argument> arguments;                     // of a loop: those of both regions
    std::vector<std::pair<std::string, Value*>> hidden;  // what its names stood for before
  };

  // "#name = attribute" between operations of the top level.
  absl::Status ReadAliases() {
    while (cursor_.Peek() == '#' || cursor_.Peek() == '!') {
      if (cursor_.Peek() == '!') return cursor_.Error("aliases of types are not known");
      HILO_ASSIGN_OR_RETURN(std::string name, cursor_.Sigil('#'));
      HILO_RETURN_IF_ERROR(cursor_.Expect("="));
      HILO_ASSIGN_OR_RETURN(const Attribute* value, values_.ReadAttribute());
      values_.AddAlias(std::move(name), value);
    }
    return absl::OkStatus();
  }

  void OpenModule() {
    Operation* operation = module_.AddOperation();
    operation->name = "builtin.module";
    module_.root = operation;
    Push(operation, Form::kPlain, {});
    StartRegion({});
  }

  // --- regions ---
  // Behind the opening brace.
  void StartRegion(const std::vector<Argument>& arguments) {
    Frame& frame = frames_.back();
    frame.region = module_.AddRegion();
    frame.region->parent = frame.operation;
    frame.operation->regions.push_back(frame.region);
    Block& block = frame.region->blocks.emplace_back();
    for (const Argument& argument : arguments) AddArgument(frame, block, argument);
  }

  void AddArgument(Frame& frame, Block& block, const Argument& argument) {
    Value* value = module_.AddValue();
    value->type = argument.type;
    value->region = frame.region;
    value->result_number = static_cast<int64_t>(block.arguments.size());
    block.arguments.push_back(value);
    Define(frame, argument.name, value);
  }

  void Define(Frame& frame, const std::string& name, Value* value) {
    Value*& entry = names_[name];
    frame.hidden.emplace_back(name, entry);
    entry = value;
  }

  // "^bb0(%a: type, ...):".
  absl::Status ReadBlockLabel(Frame& frame) {
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

  // "%a: type {attributes}, ...)": after the parenthesis. Attributes go to `dictionaries`.
  absl::StatusOr<std::vector<Argument>> ReadArguments(std::vector<const Attribute*>* dictionaries) {
    std::vector<Argument> arguments;
    while (!cursor_.Take(")")) {
      Argument& argument = arguments.emplace_back();
      HILO_ASSIGN_OR_RETURN(argument.name, cursor_.Sigil('%'));
      HILO_RETURN_IF_ERROR(cursor_.Expect(":"));
      HILO_ASSIGN_OR_RETURN(argument.type, values_.ReadType());
      if (dictionaries != nullptr) HILO_RETURN_IF_ERROR(ReadDictionary(dictionaries));
      HILO_RETURN_IF_ERROR(values_.SkipLocation());
      if (!cursor_.Take(",") && !cursor_.At(")")) return cursor_.Expected("',' or ')'");
    }
    return arguments;
  }

  // An empty dictionary if there is none.
  absl::Status ReadDictionary(std::vector<const Attribute*>* dictionaries) {
    Attribute* dictionary = module_.AddAttribute();
    dictionary->kind = Attribute::Kind::kDictionary;
    dictionaries->push_back(dictionary);
    return values_.ReadOptionalDictionary(&dictionary->entries);
  }

  absl::Status EndRegion() {
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

  absl::Status FinishFrame(bool typed) {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    if (!typed) return FinishUntyped(frame.operation, frame.results);
    HILO_RETURN_IF_ERROR(values_.ReadOptionalDictionary(&frame.operation->attributes));
    return FinishTyped(frame.operation, frame.results);
  }

  // --- operations ---
  absl::Status ReadOperation(Frame* frame) {
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

  // Words without a dialect are of func or builtin.
  static absl::string_view NormalName(absl::string_view name) {
    if (name == "return" || name == "func.return") return "func.return";
    if (name == "call") return "func.call";
    if (name == "module") return "builtin.module";
    if (name == "chlo.constant") return "stablehlo.constant";
    return name;
  }

  absl::Status Attach(Frame* frame, Operation* operation) {
    if (frame != nullptr) {
      frame->region->blocks.back().operations.push_back(operation);
    } else if (operation->name == "builtin.module") {
      module_.root = operation;
    } else {
      return cursor_.Error("expected a module");
    }
    return absl::OkStatus();
  }

  // "(%a, %b) <{properties}> ({ regions }) {attributes} : type": after the name.
  absl::Status ReadGeneric(Operation* operation, std::vector<ResultNames> results) {
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

  void Push(Operation* operation, Form form, std::vector<ResultNames> results) {
    frames_.push_back({.operation = operation, .form = form, .results = std::move(results)});
  }

  absl::StatusOr<Value*> ReadOperand() {
    HILO_ASSIGN_OR_RETURN(const std::string name, cursor_.Sigil('%'));
    const auto value = names_.find(name);
    if (value != names_.end() && value->second != nullptr) return value->second;
    return cursor_.Error(absl::StrCat("%", name, " is not defined"));
  }

  absl::Status ReadOperands(Operation* operation) {
    do {
      HILO_ASSIGN_OR_RETURN(operation->operands.emplace_back(), ReadOperand());
    } while (cursor_.Take(","));
    return absl::OkStatus();
  }

  // ": types", and the results of these types.
  absl::Status FinishTyped(Operation* operation, const std::vector<ResultNames>& results) {
    int64_t count = 0;
    for (const ResultNames& names : results) count += names.count;
    std::vector<const Type*> types;
    if (cursor_.Take(":")) {
      HILO_ASSIGN_OR_RETURN(MlirValueReader::Signature signature, values_.ReadSignature());
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

  void AddResult(Operation* operation, const Type* type) {
    Value* value = module_.AddValue();
    value->type = type;
    value->region = operation->region;
    value->defined_by = operation;
    value->result_number = static_cast<int64_t>(operation->results.size());
    operation->results.push_back(value);
  }

  // Names the results; a location may follow.
  absl::Status FinishUntyped(Operation* operation, const std::vector<ResultNames>& results) {
    HILO_RETURN_IF_ERROR(values_.SkipLocation());
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

  void Add(Operation* operation, absl::string_view name, const Attribute* value) {
    values_.AddEntry(name, value, &operation->attributes);
  }

  // --- pretty forms ---
  absl::Status ReadPretty(Operation* operation, std::vector<ResultNames> results) {
    const absl::string_view name = operation->name;
    if (name == "builtin.module") return ReadModule(operation);
    if (name == "func.func") return ReadFunction(operation);
    if (name == "func.call") return ReadCall(operation, "callee", results);
    if (name == "stablehlo.custom_call") return ReadCall(operation, "call_target_name", results);
    if (name == "stablehlo.while") return ReadWhile(operation, std::move(results));
    if (name == "stablehlo.reduce") return ReadReduce(operation, std::move(results));
    if (name == "chlo.scan") return ReadScan(operation, std::move(results));
    if (name == "sdy.mesh") return ReadMesh(operation);
    if (name == "sdy.manual_computation") return ReadManualComputation(operation, std::move(results));
    if (name == "stablehlo.constant") return ReadConstant(operation, results);
    if (name == "stablehlo.compare") {
      Add(operation, "comparison_direction", values_.Enum(cursor_.Word()));
      HILO_RETURN_IF_ERROR(cursor_.Expect(","));
    } else if (name == "stablehlo.composite") {
      HILO_ASSIGN_OR_RETURN(std::string composite, cursor_.String());
      Add(operation, "name", values_.String(std::move(composite)));
    }
    HILO_RETURN_IF_ERROR(ReadOperandsAndWords(operation));
    HILO_RETURN_IF_ERROR(words_.ReadBehindOperands(operation));
    HILO_RETURN_IF_ERROR(values_.ReadOptionalDictionary(&operation->attributes));
    return FinishTyped(operation, results);
  }

  // "%a, %b, word = value" or "(%a, %b, word = value)", in any order.
  absl::Status ReadOperandsAndWords(Operation* operation) {
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

  absl::Status ReadModule(Operation* operation) {
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

  // "public @main(%arg0: type {...}) -> (type {...}) attributes {...} { body }".
  absl::Status ReadFunction(Operation* operation) {
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
    if (cursor_.Take("->")) {
      const bool is_list = cursor_.Take("(");
      while (!is_list || !cursor_.Take(")")) {
        HILO_RETURN_IF_ERROR(values_.ReadType().status());
        if (!is_list) break;
        HILO_RETURN_IF_ERROR(ReadDictionary(&result_attributes->elements));
        if (!cursor_.Take(",") && !cursor_.At(")")) return cursor_.Expected("',' or ')'");
      }
    }
    Add(operation, "arg_attrs", argument_attributes);
    Add(operation, "res_attrs", result_attributes);
    if (cursor_.TakeWord("attributes")) HILO_RETURN_IF_ERROR(values_.ReadOptionalDictionary(&operation->attributes));
    HILO_RETURN_IF_ERROR(cursor_.Expect("{"));
    Push(operation, Form::kPlain, {});
    StartRegion(arguments);
    return absl::OkStatus();
  }

  // "@name(%a, %b) {attributes} : types".
  absl::Status ReadCall(Operation* operation, absl::string_view attribute, const std::vector<ResultNames>& results) {
    HILO_ASSIGN_OR_RETURN(std::string name, cursor_.Sigil('@'));
    Add(operation, attribute, values_.String(std::move(name)));
    HILO_RETURN_IF_ERROR(cursor_.Expect("("));
    if (!cursor_.At(")")) HILO_RETURN_IF_ERROR(ReadOperands(operation));
    HILO_RETURN_IF_ERROR(cursor_.Expect(")"));
    HILO_RETURN_IF_ERROR(values_.ReadOptionalDictionary(&operation->attributes));
    return FinishTyped(operation, results);
  }

  // "(%a = %first, ...) : types attributes {...} cond { } do { }".
  absl::Status ReadWhile(Operation* operation, std::vector<ResultNames> results) {
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

  // "(%a init: %c), (%b init: %d) applies stablehlo.add across dimensions = [0] : types", or, without "applies", at the
  // end "reducer(%l: type, %r: type) (%l2: type, %r2: type) { body }".
  absl::Status ReadReduce(Operation* operation, std::vector<ResultNames> results) {
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

  // "(%a, %b) inits (%c) dimension=0 attributes {...} { body } : types".
  absl::Status ReadScan(Operation* operation, std::vector<ResultNames> results) {
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

  // A region of one operation on two elements.
  void AddAppliedBody(Operation* operation, absl::string_view applied, const Type* type) {
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
    AddResult(body, type);
    end->operands = body->results;
    block.operations = {body, end};
  }

  // "dense<...> : type": the type is the value's own.
  absl::Status ReadConstant(Operation* operation, const std::vector<ResultNames>& results) {
    HILO_RETURN_IF_ERROR(values_.ReadOptionalDictionary(&operation->attributes));
    HILO_ASSIGN_OR_RETURN(const Attribute* value, values_.ReadAttribute());
    if (value->kind != Attribute::Kind::kDense) return cursor_.Error("expected dense<...>");
    Add(operation, "value", value);
    AddResult(operation, value->type);
    return FinishUntyped(operation, results);
  }

  absl::Status ReadMesh(Operation* operation) {
    HILO_ASSIGN_OR_RETURN(std::string name, cursor_.Sigil('@'));
    Add(operation, "sym_name", values_.String(std::move(name)));
    HILO_RETURN_IF_ERROR(cursor_.Expect("="));
    HILO_ASSIGN_OR_RETURN(const Attribute* mesh, values_.ReadMesh());
    Add(operation, "mesh", mesh);
    HILO_RETURN_IF_ERROR(values_.ReadOptionalDictionary(&operation->attributes));
    return FinishUntyped(operation, {});
  }

  // "(%a) in_shardings=[...] out_shardings=[...] manual_axes={...} (%b: type) { body } : types".
  absl::Status ReadManualComputation(Operation* operation, std::vector<ResultNames> results) {
    HILO_RETURN_IF_ERROR(cursor_.Expect("("));
    if (!cursor_.At(")")) HILO_RETURN_IF_ERROR(ReadOperands(operation));
    HILO_RETURN_IF_ERROR(cursor_.Expect(")"));
    for (absl::string_view name : {"in_shardings", "out_shardings", "manual_axes"}) {
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

  MlirCursor cursor_;
  MlirModule& module_;
  MlirValueReader values_;
  MlirWordReader words_;
  std::vector<Frame> frames_;
  absl::flat_hash_map<std::string, Value*> names_;  // null: out of scope
};

}  // namespace

absl::Status ReadMlirText(absl::string_view text, MlirModule* module) { return TextReader(text, module).Read(); }

}  // namespace hilo::stablehlo
