// Options of a compilation, the same for every backend.
#ifndef HILO_RUNTIME_COMPILE_OPTIONS_H_
#define HILO_RUNTIME_COMPILE_OPTIONS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/cancellation.h"

namespace hilo {

class CustomCallRegistry;

struct CompileOptions {
  // Devices that run the program together; 0: as the module states. `devices` are the client's numbers for them, that
  // of replica r and partition p at r * num_partitions + p; empty: 0, 1, 2 ...
  int64_t replica_count = 0, num_partitions = 0;
  std::vector<int> devices;
  // The module is the program of one partition already, as XLA writes it after partitioning: its shapes are those of
  // tiles, and its shardings only describe their origin. So is one with is_spmd_partitioned=true in its header, and
  // an HloModuleProto with spmd_output_sharding.
  bool partitioned = false;
  // Results follow each element type exactly: no contraction of multiply and add, f16 and bf16 rounded after every
  // operation.
  bool strict = false;
  // Denormal inputs and results count as zero, as in XLA on CPUs; otherwise they are kept. (docs/numerics.md)
  bool flush_denormals = false;
  // Target processor by LLVM's name or x86-64, x86-64-v3, x86-64-v4; empty: this machine's.
  std::string cpu;
  // Names of passes to leave out (hilo opt --list-passes); passes that correctness needs cannot be left out.
  std::vector<std::string> disabled_passes;
  // Folder for numbered dumps of every stage; empty: none. Made if missing.
  std::string dump_dir;
  // Checks the module between all passes, not only between stages.
  bool verify_each_pass = false;
  // A compilation that takes longer fails with DeadlineExceeded. The clock starts with the call.
  absl::Duration deadline = absl::InfiniteDuration();
  // Ends the compilation from outside. A deadline expires this token too, so use one per compilation. It is
  // polled between and within passes and between functions.
  std::shared_ptr<CancellationToken> cancellation;
  // Writes a jitdump for perf.
  bool perf_jitdump = false;
  // Arrays larger than this many elements are not computed at compile time.
  int64_t constant_folding_limit = 1 << 16;
  // The registry of custom calls; must last until the compilation ends. Null: the client's.
  const CustomCallRegistry* custom_calls = nullptr;
};

}  // namespace hilo

#endif  // HILO_RUNTIME_COMPILE_OPTIONS_H_
