// Code generators of other architectures than the host's. They are part of the program `hilo` and not of the libraries,
// which run what they compile.
#ifndef HILO_BACKENDS_LLVM_CROSS_CROSS_TARGETS_H_
#define HILO_BACKENDS_LLVM_CROSS_CROSS_TARGETS_H_

namespace hilo::codegen {

// Makes FeaturesOf (backends/llvm/jit/host_features.h) know AArch64 and WebAssembly. Thread-safe; may be called again.
void RegisterCrossTargets();

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_CROSS_CROSS_TARGETS_H_
