// Passes that replace dots, each by an instruction of the same value.
#ifndef HILO_HLO_PASSES_DOTS_DOT_REWRITE_H_
#define HILO_HLO_PASSES_DOTS_DOT_REWRITE_H_

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo/passes/hlo_pass.h"

namespace hilo {

// Adds the instruction that replaces a dot to its computation, and returns it.
using MakeDotReplacement = std::function<absl::StatusOr<HloInstruction*>(HloInstruction* dot)>;

// The pass replaces the dots outside fusions for which `accepts` returns true. `name` must outlive it.
std::unique_ptr<HloPass> MakeDotRewrite(absl::string_view name, std::function<bool(const HloInstruction& dot)> accepts,
                                        MakeDotReplacement replacement);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_DOTS_DOT_REWRITE_H_
