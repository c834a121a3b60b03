// The processor that code is compiled for: this machine's, or the one named by --cpu=, which may be of another
// architecture if the program has its code generator (backends/llvm/cross).
#ifndef HILO_BACKENDS_LLVM_JIT_HOST_FEATURES_H_
#define HILO_BACKENDS_LLVM_JIT_HOST_FEATURES_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hilo::codegen {

struct CpuFeatures {
  std::string triple;    // "x86_64-pc-linux-gnu"
  std::string cpu;       // LLVM's name: "znver4", "x86-64-v3"
  std::string features;  // LLVM's list, "+avx2,+fma,-sse4a"; empty for a named cpu, whose name implies them
  bool has_fma = false;
  bool has_f16c = false;
  bool has_sse41 = false;
  bool has_avx512 = false;         // the F, BW, DQ and VL parts together
  bool has_vnni = false;           // AVX-512's sums of products of bytes, in 32 bits
  bool has_ieee_extremes = false;  // minima and maxima that propagate NaN and order zeros
  int vector_bits = 128;           // the widest profitable registers: 512, 256 or 128

  // "x86_64-pc-linux-gnu znver4 +avx2,+fma,-sse4a": everything that determines code generation.
  std::string ToText() const;
};

// The processor this process runs on. Detected once.
const CpuFeatures& HostFeatures();

// "" and "native" are the host; "x86-64", "x86-64-v3" and any other name that LLVM has for the host's architecture
// denote that processor, on any host. "aarch64" and the names of its processors ("neoverse-n1"), and "wasm32", which
// is WebAssembly with 128-bit vectors, denote other architectures. Errors: InvalidArgument for an unknown name, and for
// an architecture whose code generator the program lacks; the message lists some known ones.
absl::StatusOr<CpuFeatures> FeaturesOf(absl::string_view cpu);

// Returns OK if code made for `target` can run on this machine. Errors: FailedPrecondition, naming what is missing.
absl::Status CheckRunsOnHost(const CpuFeatures& target);
// The same for text written by ToText. Errors: also InvalidArgument for other text.
absl::Status CheckTextRunsOnHost(absl::string_view target);

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_JIT_HOST_FEATURES_H_
