// The CPU backend: HLO to native code.
#ifndef HILO_BACKENDS_CPU_COMPILE_CPU_COMPILER_H_
#define HILO_BACKENDS_CPU_COMPILE_CPU_COMPILER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "hlo/passes/hlo_pass.h"
#include "runtime/compiler.h"

namespace hilo::cpu {

struct CpuCompilerOptions {
  // Whether sorts, Fourier transforms, factors and triangular systems are computed by the runtime's libraries;
  // otherwise they are expanded, as they are in C functions.
  bool libraries = true;
  // The folder that caches objects of programs, and the bytes that it may hold; nullopt: the folder in HILO_CACHE_DIR.
  // Empty: no cache.
  std::optional<std::string> cache_dir;
  int64_t cache_limit = int64_t{1} << 30;
};
std::unique_ptr<Compiler> CreateCpuCompiler(const CpuCompilerOptions& options = {});

// The passes from kInput to kFused, in order. `target` must outlive the pipeline.
PassPipeline CpuPipeline(const Target* target, const CompileOptions& options);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_COMPILE_CPU_COMPILER_H_
