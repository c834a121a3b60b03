// Programs with dynamic dimensions, on backends that know arrays of one size only.
//
// An array with dynamic dimensions is one buffer: its elements at the bounds, and behind them the sizes of all its
// dimensions as s32 (ShapeUtil::DynamicSizesOffset). The program itself takes and returns the sizes as scalars of their
// own; this is where the two meet.
#ifndef HILO_RUNTIME_DYNAMIC_PROGRAM_H_
#define HILO_RUNTIME_DYNAMIC_PROGRAM_H_

#include <memory>

#include "absl/status/statusor.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/passes/hlo_pass.h"
#include "runtime/compiler.h"

namespace hilo {

// As Compiler::Compile; a module with dynamic dimensions is expanded first unless the compiler takes it as it is.
absl::StatusOr<std::unique_ptr<CompiledProgram>> CompileProgram(Compiler* compiler, std::unique_ptr<HloModule> module,
                                                                const CompileOptions& options, ThreadPool* pool);

// As Compiler::Load, for what CompileProgram's programs have serialised.
absl::StatusOr<std::unique_ptr<CompiledProgram>> LoadProgram(Compiler* compiler, const Artifact& artifact,
                                                             const CompileOptions& options);

// What Client::Compile would hand to the compiler, for those that show it: one partition of a sharded module.
absl::StatusOr<std::unique_ptr<HloModule>> PrepareModule(const Compiler& compiler, std::unique_ptr<HloModule> module,
                                                         const CompileOptions& options);

}  // namespace hilo

#endif  // HILO_RUNTIME_DYNAMIC_PROGRAM_H_
