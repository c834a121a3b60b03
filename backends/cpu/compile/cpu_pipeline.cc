#include "backends/cpu/compile/cpu_compiler.h"
#include "backends/cpu/kernels/kernel_choice.h"
#include "hlo/passes/standard_pipeline.h"

namespace hilo::cpu {

PassPipeline CpuPipeline(const Target* target, const CompileOptions& options) {
  return StandardPipeline(target, {.strict = options.strict, .constant_folding_limit = options.constant_folding_limit},
                          {.after_fusion = MakePassList(MakeKernelChoice(options))});
}

}  // namespace hilo::cpu
