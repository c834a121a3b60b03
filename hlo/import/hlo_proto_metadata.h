// Source locations of instructions: OpMetadata, and the tables of source locations that it points into.
#ifndef HILO_HLO_IMPORT_HLO_PROTO_METADATA_H_
#define HILO_HLO_IMPORT_HLO_PROTO_METADATA_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/import/hlo_proto_wire.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo {

// Parts that exist in only one of the two forms are dropped: metadata has no effect on a program.
OpMetadata OpMetadataFromProto(const WireMessage& proto);
WireWriter OpMetadataToProto(const OpMetadata& metadata);

// The module's tables (FileNames, FunctionNames, FileLocations, StackFrames), rows as hlo/text keeps them, and
// StackFrameIndexProto. Errors: InvalidArgument for malformed rows.
absl::StatusOr<AttributeText> FrameTablesFromProto(const WireMessage& proto);
absl::Status AddFrameTable(absl::string_view name, absl::string_view rows, WireWriter* index);

}  // namespace hilo

#endif  // HILO_HLO_IMPORT_HLO_PROTO_METADATA_H_
