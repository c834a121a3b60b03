// Kernels that functions of the runtime compute, which were compiled with Hilo. Such a function has the type of a
// function of chunks, which code calls or gives to HiloCpuContext::parallel_for: there is no code of its own to
// compile.
#ifndef HILO_BACKENDS_CPU_KERNELS_LIBRARY_CALL_H_
#define HILO_BACKENDS_CPU_KERNELS_LIBRARY_CALL_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/cpu/kernels/kernels.h"

namespace hilo::cpu {

// Returns true for the kinds whose emitters emit such a call.
bool IsLibraryKernel(KernelKind kind);

// Calls `symbol`, one of RuntimeSymbols(), for the parts of the kernel, on threads if it is parallel. Its buffers are
// `numbers`, which are a constant of the code, and then `arrays`.
void EmitLibraryCall(FunctionEmitter& f, const KernelParts& kernel, absl::string_view symbol,
                     absl::Span<const uint64_t> numbers, absl::Span<llvm::Value* const> arrays);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_LIBRARY_CALL_H_
