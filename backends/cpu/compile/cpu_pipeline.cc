#include "backends/cpu/compile/cpu_compiler.h"
#include "hlo/passes/standard_pipeline.h"

namespace hilo::cpu {

PassPipeline CpuPipeline(const Target* target, const CompileOptions& options) {
  return StandardPipeline(target, {.strict = options.strict, .constant_folding_limit = options.constant_folding_limit});
}

}  // namespace hilo::cpu
