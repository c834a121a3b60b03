// Where instructions come from: OpMetadata, and the tables of source places that it points into.
#ifndef HILO_HLO_IMPORT_HLO_PROTO_METADATA_H_
#define HILO_HLO_IMPORT_HLO_PROTO_METADATA_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/import/hlo_proto_wire.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo {

// Parts that one of the two forms does not know are left out: metadata has no meaning to a program.
OpMetadata OpMetadataFromProto(const WireMessage& proto);
WireWriter OpMetadataToProto(const OpMetadata& metadata);

// The module's tables (FileNames, FunctionNames, FileLocations, StackFrames), rows as hlo/text keeps them, and
// StackFrameIndexProto. Errors: InvalidArgument for rows that are none.
absl::StatusOr<AttributeText> FrameTablesFromProto(const WireMessage& proto);
absl::Status AddFrameTable(absl::string_view name, absl::string_view rows, WireWriter* index);

}  // namespace hilo

#endif  // HILO_HLO_IMPORT_HLO_PROTO_METADATA_H_
