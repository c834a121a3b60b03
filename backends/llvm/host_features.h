// Which processor code is made for: this machine's, or one that is named by --cpu=.
#ifndef HILO_BACKENDS_LLVM_HOST_FEATURES_H_
#define HILO_BACKENDS_LLVM_HOST_FEATURES_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hilo::codegen {

struct CpuFeatures {
  std::string triple;          // "x86_64-pc-linux-gnu"
  std::string cpu;             // LLVM's name: "znver4", "x86-64-v3"
  std::string features;        // LLVM's list, "+avx2,+fma,-sse4a"; empty for a named cpu, whose name implies them
  bool has_fma = false;
  bool has_f16c = false;
  bool has_sse41 = false;
  bool has_avx512 = false;     // the F, BW, DQ and VL parts together
  int vector_bits = 128;       // the widest registers that it pays to use: 512, 256 or 128
  uint64_t isa_hash = 0;       // of triple, cpu and features: part of the key under which code is cached
};

// The processor this process runs on. Detected once.
const CpuFeatures& HostFeatures();

// "" and "native" are the host; "x86-64", "x86-64-v3" and any other name that LLVM knows for the host's architecture
// stand for that processor, whatever the host is.
// Errors: InvalidArgument for an unknown name; the message lists some that are known.
absl::StatusOr<CpuFeatures> FeaturesOf(absl::string_view cpu);

// OK when code made for `target` can run on this machine. Errors: FailedPrecondition, naming the first missing feature.
absl::Status CheckRunsOnHost(const CpuFeatures& target);

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_HOST_FEATURES_H_
