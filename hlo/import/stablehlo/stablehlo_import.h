// Imports StableHLO programs as HloModule: portable artifacts (MLIR bytecode with VHLO, as PJRT plugins get them from
// JAX and as jax.export serialises them) and MLIR text.
#ifndef HILO_HLO_IMPORT_STABLEHLO_STABLEHLO_IMPORT_H_
#define HILO_HLO_IMPORT_STABLEHLO_STABLEHLO_IMPORT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/ir/hlo_verifier.h"

namespace hilo {

struct StablehloOptions {
  bool verify = true;  // VerifyHloModule(kInput) after conversion
  HloLimits limits = {};
};

// Attributes of main for an argument or result, besides its shape.
struct StablehloValueInfo {
  std::string memory_kind;  // mhlo.memory_kind: "device", "pinned_host"; empty: unspecified
  std::string layout_mode;  // mhlo.layout_mode: "default", "auto", "{0,1}"; empty: unspecified
  std::string sharding;     // as text of HLO's attribute `sharding`; empty: unspecified, the compiler's choice
  bool is_token = false;    // a token, or the empty array that represents one (jax.token)
};
struct StablehloArgumentInfo : StablehloValueInfo {
  std::optional<int64_t> aliasing_output;  // tf.aliasing_output: must share the memory of this result
  bool buffer_donor = false;               // jax.buffer_donor: may share the memory of any
};

// The entry has one parameter per argument of main. Its result is main's if there is one, else a tuple of them. The
// module's aliases, donors, entry layout and counts of replicas and partitions are set; parameters and the result carry
// their shardings (shapes are those of whole arrays, as before partitioning).
struct StablehloProgram {
  std::unique_ptr<HloModule> module;
  std::vector<StablehloArgumentInfo> arguments;
  std::vector<StablehloValueInfo> results;
};

// Reads bytecode or text, detected by content.
//
// - Functions become computations and calls of them; regions become computations. Values that the regions of while, if
// and case capture are
//   passed as tuple elements; constants are copied in.
// - Composites become calls of their decomposition, except those that are an HLO opcode.
// - Shapes that depend on sizes computed in the program must be computable from constants.
//
// Errors: InvalidArgument for a malformed program, with the position (byte, line, operation); Unimplemented naming the
// operation, type or attribute that HLO or Hilo lacks; the verifier's; ResourceExhausted beyond the limits. Any bytes
// may be given.
absl::StatusOr<StablehloProgram> ImportStablehlo(absl::string_view bytes, const StablehloOptions& options = {});

// True for bytes that begin like MLIR bytecode, and for text that begins like an MLIR module.
bool LooksLikeMlirBytecode(absl::string_view bytes);
bool LooksLikeMlirText(absl::string_view bytes);

}  // namespace hilo

#endif  // HILO_HLO_IMPORT_STABLEHLO_STABLEHLO_IMPORT_H_
