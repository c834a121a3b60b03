// OpMetadata in text: {op_type="add" op_name="jit(f)/add" source_file="f.py" source_line=3 ...}.
#ifndef HILO_HLO_TEXT_OP_METADATA_TEXT_H_
#define HILO_HLO_TEXT_OP_METADATA_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "hlo/ir/hlo_instruction.h"
#include "hlo/text/text_cursor.h"

namespace hilo {

// Fields that Hilo does not read are kept as text. Errors: InvalidArgument with the position.
absl::StatusOr<OpMetadata> ParseOpMetadata(TextCursor& cursor);
std::string PrintOpMetadata(const OpMetadata& metadata);

}  // namespace hilo

#endif  // HILO_HLO_TEXT_OP_METADATA_TEXT_H_
