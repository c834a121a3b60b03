// An imported StableHLO program.
#ifndef HILO_HLO_IMPORT_STABLEHLO_STABLEHLO_PROGRAM_H_
#define HILO_HLO_IMPORT_STABLEHLO_STABLEHLO_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hlo/ir/hlo_module.h"
#include "hlo/ir/hlo_verifier.h"

namespace hilo {

struct StablehloOptions {
  bool verify = true;  // VerifyHloModule(kInput) after conversion
  HloLimits limits = {};
  absl::string_view file_name = "MLIR text";  // in messages about text
};

// Attributes of main for an argument or result, besides its shape.
struct StablehloValueInfo {
  std::string memory_kind;  // mhlo.memory_kind: "device", "pinned_host"; empty: unspecified
  std::string layout_mode;  // mhlo.layout_mode: "default", "auto", "{0,1}"; empty: unspecified
  std::string sharding;     // as text of HLO's attribute `sharding`; empty: unspecified, the compiler's choice
  std::string axes;         // the same in Shardy's notation, "<@mesh, [{"a"}]>"; empty if the program has it in HLO's
  bool is_open = false;     // `sharding` may be cut more: that of a value with open dimensions
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

}  // namespace hilo

#endif  // HILO_HLO_IMPORT_STABLEHLO_STABLEHLO_PROGRAM_H_
