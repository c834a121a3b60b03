// MLIR text with the dialects builtin, func, stablehlo, chlo and sdy: as JAX prints it, and in the generic form.
//
// The generic form covers everything in one grammar; the pretty ones follow a few patterns: mostly operands, words with
// values, attributes in braces, and types. Regions are visited with an explicit stack, as they may be nested as deeply
// as the text is long.
#ifndef HILO_HLO_IMPORT_STABLEHLO_MLIR_TEXT_READER_H_
#define HILO_HLO_IMPORT_STABLEHLO_MLIR_TEXT_READER_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/import/stablehlo/mlir_cursor.h"
#include "hlo/import/stablehlo/mlir_module.h"
#include "hlo/import/stablehlo/mlir_text_values.h"
#include "hlo/import/stablehlo/mlir_text_words.h"

namespace hilo::stablehlo {

// Reads one text into a module.
class MlirTextReader {
 public:
  MlirTextReader(absl::string_view text, absl::string_view file_name, MlirModule* module)
      : cursor_(text, file_name), module_(*module), values_(&cursor_, module), words_(&cursor_, module, &values_) {}

  // Reads the text, of which the module keeps views.
  // Errors: InvalidArgument with the position and the line.
  absl::Status Read();

 private:
  struct Argument {
    std::string name;
    const Type* type;
  };
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
  absl::Status ReadAliases();
  void OpenModule();

  // --- regions ---
  // Behind the opening brace.
  void StartRegion(const std::vector<Argument>& arguments);
  void AddArgument(Frame& frame, Block& block, const Argument& argument);
  void Define(Frame& frame, const std::string& name, Value* value);
  // "^bb0(%a: type, ...):".
  absl::Status ReadBlockLabel(Frame& frame);
  // "%a: type {attributes}, ...)": after the parenthesis. Attributes go to `dictionaries`.
  absl::StatusOr<std::vector<Argument>> ReadArguments(std::vector<const Attribute*>* dictionaries);
  // An empty dictionary if there is none.
  absl::Status ReadDictionary(std::vector<const Attribute*>* dictionaries);
  absl::Status EndRegion();
  absl::Status FinishFrame(bool typed);

  // --- operations ---
  absl::Status ReadOperation(Frame* frame);
  // Words without a dialect are of func or builtin.
  static absl::string_view NormalName(absl::string_view name);
  absl::Status Attach(Frame* frame, Operation* operation);
  // "(%a, %b) <{properties}> ({ regions }) {attributes} : type": after the name.
  absl::Status ReadGeneric(Operation* operation, std::vector<ResultNames> results);
  void Push(Operation* operation, Form form, std::vector<ResultNames> results);
  absl::StatusOr<Value*> ReadOperand();
  absl::Status ReadOperands(Operation* operation);
  // ": types", and the results of these types.
  absl::Status FinishTyped(Operation* operation, const std::vector<ResultNames>& results);
  // Errors: InvalidArgument, unless the operands have these types.
  absl::Status CheckOperandTypes(const Operation& operation, const std::vector<const Type*>& types) const;
  void AddResult(Operation* operation, const Type* type);
  // Names the results; a location may follow.
  absl::Status FinishUntyped(Operation* operation, const std::vector<ResultNames>& results);
  void Add(Operation* operation, absl::string_view name, const Attribute* value);

  // --- pretty forms: mlir_text_pretty_forms.cc ---
  absl::Status ReadPretty(Operation* operation, std::vector<ResultNames> results);
  // "%a, %b, word = value" or "(%a, %b, word = value)", in any order.
  absl::Status ReadOperandsAndWords(Operation* operation);
  absl::Status ReadModule(Operation* operation);
  // "public @main(%arg0: type {...}) -> (type {...}) attributes {...} { body }".
  absl::Status ReadFunction(Operation* operation);
  // "@name(%a, %b) {attributes} : types".
  absl::Status ReadCall(Operation* operation, absl::string_view attribute, const std::vector<ResultNames>& results);
  // "(%a = %first, ...) : types attributes {...} cond { } do { }".
  absl::Status ReadWhile(Operation* operation, std::vector<ResultNames> results);
  // "(%a init: %c), (%b init: %d) applies stablehlo.add across dimensions = [0] : types", or, without "applies", at the
  // end "reducer(%l: type, %r: type) (%l2: type, %r2: type) { body }".
  absl::Status ReadReduce(Operation* operation, std::vector<ResultNames> results);
  // "(%a, %b) inits (%c) dimension=0 attributes {...} { body } : types".
  absl::Status ReadScan(Operation* operation, std::vector<ResultNames> results);
  // A region of one operation on two elements.
  void AddAppliedBody(Operation* operation, absl::string_view applied, const Type* type);
  // "dense<...> : type": the type is the value's own.
  absl::Status ReadConstant(Operation* operation, const std::vector<ResultNames>& results);
  absl::Status ReadComposite(Operation* operation, std::vector<ResultNames> results);
  absl::Status ReadCheck(Operation* operation);
  // "%a, %b : T, T to T, T" of a builtin.unrealized_conversion_cast.
  absl::Status ReadCast(Operation* operation, const std::vector<ResultNames>& results);
  absl::Status ReadMesh(Operation* operation);
  // "(%a) in_shardings=[...] out_shardings=[...] manual_axes={...} (%b: type) { body } : types".
  absl::Status ReadShardedRegion(Operation* operation, std::vector<ResultNames> results);

  MlirCursor cursor_;
  MlirModule& module_;
  MlirValueReader values_;
  MlirWordReader words_;
  std::vector<Frame> frames_;
  absl::flat_hash_map<std::string, Value*> names_;  // null: out of scope
};

}  // namespace hilo::stablehlo

#endif  // HILO_HLO_IMPORT_STABLEHLO_MLIR_TEXT_READER_H_
