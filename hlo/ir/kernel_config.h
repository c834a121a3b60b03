// How a backend computes one scheduled instruction.
//
// The last pass of the fused stage chooses a kernel for each instruction that has code of its own and writes the choice
// down here. Emitters obey it and decide nothing; dumps show it and why it was made.
#ifndef HILO_HLO_IR_KERNEL_CONFIG_H_
#define HILO_HLO_IR_KERNEL_CONFIG_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace hilo {

enum class KernelKind : uint8_t {
#define HILO_KERNEL_KIND(kind, text) kind,
#include "hlo/ir/kernel_config.def"
#undef HILO_KERNEL_KIND
};
inline constexpr size_t kKernelKindCount = 0
#define HILO_KERNEL_KIND(kind, text) +1
#include "hlo/ir/kernel_config.def"
#undef HILO_KERNEL_KIND
    ;
absl::string_view KernelKindString(KernelKind kind);
// Returns nullopt if no kind has this name.
std::optional<KernelKind> ParseKernelKind(absl::string_view text);

// Text: {kind=loop width=16 tile={4,2} parts=8 parallel=true why="..."}; fields that have their default are omitted.
struct KernelConfig {
  KernelKind kind = KernelKind::kLoop;
  int64_t width = 1;          // elements that one thread computes together: lanes of a vector on CPUs
  std::vector<int64_t> tile;  // sizes that the kind defines
  int64_t parts = 1;          // independent parts that threads may run
  bool parallel = false;      // true if the parts are spread over threads
  double nanoseconds = 0;     // estimated time on one thread, if the backend estimates it; `why` states it
  std::string why;            // the reason for this choice, for people

  bool operator==(const KernelConfig&) const = default;
};

}  // namespace hilo

#endif  // HILO_HLO_IR_KERNEL_CONFIG_H_
