// Random programs: valid modules with arguments, the same for the same seed.
#ifndef HILO_TESTS_FUZZ_RANDOM_MODULE_H_
#define HILO_TESTS_FUZZ_RANDOM_MODULE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "hilo/literal.h"
#include "hlo/ir/hlo_module.h"

namespace hilo::fuzz {

struct RandomProgram {
  std::unique_ptr<HloModule> module;
  std::vector<Literal> arguments;  // one a parameter, of the first replica, then of the next
  // Of a partitioned program that is another one on one device, where its shardings cannot just be left out.
  std::unique_ptr<HloModule> on_one_device = nullptr;
};

struct RandomOptions {
  int min_instructions = 4;
  int max_instructions = 24;
  int64_t max_elements = 4096;           // of an array
  absl::Span<const int64_t> sizes = {};  // of dimensions; some of all kinds by default
};

// Every instruction is evaluated as it is added, so that its operands can be chosen by what they
// hold: values stay below 1e7 and rounding errors small against them, and what a rounding could
// decide (comparisons of inexact values ...) is left out again.
RandomProgram MakeRandomProgram(uint64_t seed, const RandomOptions& options = {});

// Some of the seeds of MakeRandomProgram are programs of two families, all of whose values are exact:
bool IsExactFamily(uint64_t seed);
// collectives between replicas,
RandomProgram MakeReplicatedProgram(uint64_t seed);
// and arrays that loops rewrite in place, some of them donated.
RandomProgram MakeInPlaceProgram(uint64_t seed);

}  // namespace hilo::fuzz

#endif  // HILO_TESTS_FUZZ_RANDOM_MODULE_H_
