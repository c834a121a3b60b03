// Random programs with a region that is manual along some axes of a mesh.
#ifndef HILO_TESTS_FUZZ_RANDOM_MANUAL_REGIONS_H_
#define HILO_TESTS_FUZZ_RANDOM_MANUAL_REGIONS_H_

#include "tests/fuzz/random_module.h"

namespace hilo::fuzz {

// A random program over the local arrays of the region, from some of whose results the devices then exchange elements
// along manual axes. The parameters, values in the region and the results are cut along other axes, too. The arguments
// are whole arrays. `on_one_device` calls the same random program once for each coordinate along the manual axes.
RandomProgram MakeManualProgram(uint64_t seed);

}  // namespace hilo::fuzz

#endif  // HILO_TESTS_FUZZ_RANDOM_MANUAL_REGIONS_H_
