// The custom syntax of single operations between their operands and their attributes: words with values,
// ranges, windows.
#ifndef HILO_HLO_IMPORT_STABLEHLO_MLIR_TEXT_WORDS_H_
#define HILO_HLO_IMPORT_STABLEHLO_MLIR_TEXT_WORDS_H_

#include "absl/status/status.h"
#include "hlo/import/stablehlo/mlir_cursor.h"
#include "hlo/import/stablehlo/mlir_module.h"
#include "hlo/import/stablehlo/mlir_text_values.h"

namespace hilo::stablehlo {

struct PrettyWord;

// The parsed values become attributes of the operation. Errors: InvalidArgument with the position.
class MlirWordReader {
 public:
  // All outlive this.
  MlirWordReader(MlirCursor* cursor, MlirModule* module, MlirValueReader* values)
      : cursor_(cursor), module_(module), values_(values) {}

  // "word = value", by the table of words (mlir_text_forms.def).
  absl::Status ReadWord(Operation* operation);
  // The syntax that some operations have between operands and attributes.
  absl::Status ReadBehindOperands(Operation* operation);

 private:
  absl::Status ReadWordValue(Operation* operation, const PrettyWord& pretty);
  absl::Status ReadSliceRanges(Operation* operation);
  absl::Status ReadConvolution(Operation* operation);
  Attribute* NewIntegers();

  MlirCursor* cursor_;
  MlirModule* module_;
  MlirValueReader* values_;
};

}  // namespace hilo::stablehlo

#endif  // HILO_HLO_IMPORT_STABLEHLO_MLIR_TEXT_WORDS_H_
