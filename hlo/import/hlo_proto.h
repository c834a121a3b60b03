// HloModule from and to the bytes of XLA's HloModuleProto (hlo_module.proto in this folder lists the fields).
#ifndef HILO_HLO_IMPORT_HLO_PROTO_H_
#define HILO_HLO_IMPORT_HLO_PROTO_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/ir/hlo_verifier.h"

namespace hilo {

struct HloProtoOptions {
  bool verify = true;  // VerifyHloModule(kInput) after reading
  HloLimits limits = {};
};

// Reads a serialized HloModuleProto, or an HloProto, as dumps have it, with the module in its field 1.
//
// - Instructions follow their operands, as XLA writes them; computations may come in any order.
// - Names are made unique, as in text; characters that no name in text can hold become '_'.
// - Fields that neither HLO text nor Hilo has (profiles, original values, host shapes ...) are ignored.
//
// Errors: InvalidArgument, or what the verifier returns, naming the instruction; ResourceExhausted beyond the limits.
// Any bytes may be given. Takes time and memory linear in them.
absl::StatusOr<std::unique_ptr<HloModule>> HloModuleFromProto(absl::string_view bytes,
                                                              const HloProtoOptions& options = {});

// A serialized HloModuleProto that HloModuleFromProto and XLA read: all that the module's text holds, except what the
// message cannot represent: header attributes about the propagation of shardings, original values and kernels are left
// out; layouts with padding and attributes that XLA does not define are errors. Arrays without layout get the default
// one. More than one replica or partition is written as a device assignment, replica r of partition p on device p + r *
// partitions. Errors: Unimplemented naming what the message cannot represent.
absl::StatusOr<std::string> HloModuleToProto(const HloModule& module);

// The same in field 1 of an HloProto, as XLA's dumps have it.
absl::StatusOr<std::string> HloModuleToHloProto(const HloModule& module);

// True if `bytes` look like an HloModuleProto or HloProto rather than text: they begin with the tag of field 1, a
// length within the bytes, and, after it, the tag of another length-delimited field.
bool LooksLikeHloProto(absl::string_view bytes);

}  // namespace hilo

#endif  // HILO_HLO_IMPORT_HLO_PROTO_H_
