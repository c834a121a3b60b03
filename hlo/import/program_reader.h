// Reads a program of any format, detected by content.
#ifndef HILO_HLO_IMPORT_PROGRAM_READER_H_
#define HILO_HLO_IMPORT_PROGRAM_READER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/text/hlo_parser.h"

namespace hilo {

// HLO text, a serialized HloModuleProto or HloProto, or StableHLO as MLIR text or bytecode. Errors: those of the reader
// of that format, with `file_name`; Unimplemented naming what the bytes are if they are of another known kind.
// `options` are those of HLO text; its file name is `file_name`.
absl::StatusOr<std::unique_ptr<HloModule>> ReadProgram(absl::string_view bytes, absl::string_view file_name,
                                                       ParseOptions options = {});

}  // namespace hilo

#endif  // HILO_HLO_IMPORT_PROGRAM_READER_H_
