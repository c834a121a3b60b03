// Programs with dynamic dimensions, on backends that support static sizes only.
//
// An array with dynamic dimensions is one buffer: its elements at the bounds, followed by the sizes of all its
// dimensions as s32 (ShapeUtil::DynamicSizesOffset). The program itself takes and returns the sizes as separate
// scalars; this converts between the two forms.
#ifndef HILO_RUNTIME_DYNAMIC_PROGRAM_H_
#define HILO_RUNTIME_DYNAMIC_PROGRAM_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/passes/standard_passes.h"
#include "runtime/compiler.h"

namespace hilo {

// As Compiler::Compile; a module with dynamic dimensions is expanded first unless the compiler supports them.
absl::StatusOr<std::unique_ptr<CompiledProgram>> CompileProgram(Compiler* compiler, std::unique_ptr<HloModule> module,
                                                                const CompileOptions& options, ThreadPool* pool);

// As Compiler::Load, for programs that CompileProgram has compiled and serialized.
absl::StatusOr<std::unique_ptr<CompiledProgram>> LoadProgram(Compiler* compiler, const Artifact& artifact,
                                                             const CompileOptions& options);

// Makes the program of one partition of a sharded module (hlo/passes/standard_pipeline.h: InputPipeline) unless
// options.partitioned or the module states that it is partitioned already. Errors: those of the partitioner and of the
// verifier; Cancelled, DeadlineExceeded.
absl::Status PartitionModule(HloModule* module, const CompileOptions& options, OpenValues open = {},
                             std::vector<ShardingNote>* notes = nullptr);

// The module that Client::Compile would pass to the compiler, for tools: one partition of a sharded module.
absl::StatusOr<std::unique_ptr<HloModule>> PrepareModule(const Compiler& compiler, std::unique_ptr<HloModule> module,
                                                         const CompileOptions& options);

}  // namespace hilo

#endif  // HILO_RUNTIME_DYNAMIC_PROGRAM_H_
