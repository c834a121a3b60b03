// KernelConfig in text: {kind=loop width=16 tile={4,2} parts=8 parallel=true why="..."}.
#ifndef HILO_HLO_TEXT_KERNEL_CONFIG_TEXT_H_
#define HILO_HLO_TEXT_KERNEL_CONFIG_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "hlo/ir/kernel_config.h"
#include "hlo/text/text_cursor.h"

namespace hilo {

// Errors: InvalidArgument with the position.
absl::StatusOr<KernelConfig> ParseKernelConfig(TextCursor& cursor);
std::string PrintKernelConfig(const KernelConfig& config);

}  // namespace hilo

#endif  // HILO_HLO_TEXT_KERNEL_CONFIG_TEXT_H_
