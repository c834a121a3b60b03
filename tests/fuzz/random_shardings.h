// Random programs that are divided among devices.
#ifndef HILO_TESTS_FUZZ_RANDOM_SHARDINGS_H_
#define HILO_TESTS_FUZZ_RANDOM_SHARDINGS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "hlo/ir/tile_assignment.h"
#include "tests/fuzz/random_module.h"

namespace hilo::fuzz {

// A random program with shardings on some parameters and results, and marks with shardings on some other values. Some
// of these do not divide their arrays, or are open along some dimensions; some parameters are unreduced. One of four is
// of MakeManualProgram. The arguments are whole arrays.
RandomProgram MakePartitionedProgram(uint64_t seed);

// The same program for one device, without shardings.
absl::StatusOr<std::unique_ptr<HloModule>> WithoutShardings(const HloModule& module);

// By leaf: the sharding that a parameter or the root states; whole arrays if it states none.
absl::StatusOr<std::vector<TileAssignment>> StatedTiles(const HloInstruction& instruction);

// The device's tile of an array, or its part of that: the parts other than the first of a sum add nothing.
Literal TileOf(const Literal& whole, const TileAssignment& tiles, int64_t device);

}  // namespace hilo::fuzz

#endif  // HILO_TESTS_FUZZ_RANDOM_SHARDINGS_H_
