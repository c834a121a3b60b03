#include "hlo/ir/kernel_config.h"

#include <iterator>

namespace hilo {
namespace {

constexpr absl::string_view kKinds[] = {
#define HILO_KERNEL_KIND(kind, text) text,
#include "hlo/ir/kernel_config.def"
#undef HILO_KERNEL_KIND
};

}  // namespace

absl::string_view KernelKindString(KernelKind kind) { return kKinds[static_cast<size_t>(kind)]; }

std::optional<KernelKind> ParseKernelKind(absl::string_view text) {
  for (size_t i = 0; i < std::size(kKinds); ++i) {
    if (kKinds[i] == text) return static_cast<KernelKind>(i);
  }
  return std::nullopt;
}

}  // namespace hilo
