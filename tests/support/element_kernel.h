// The root of a computation as a plain loop over arrays, for tests and benchmarks of the element generators.
#ifndef HILO_TESTS_SUPPORT_ELEMENT_KERNEL_H_
#define HILO_TESTS_SUPPORT_ELEMENT_KERNEL_H_

#include "absl/status/statusor.h"
#include "backends/llvm/jit/host_jit.h"
#include "hlo/ir/hlo_computation.h"

namespace hilo::codegen {

// One pointer per parameter, and one per leaf of the root.
using ElementKernel = void(const void* const* arguments, void* const* results);

struct ElementKernelSpec {
  int width = 1;      // lanes
  bool flat = false;  // one loop over the linear index instead of rows and columns
  bool strict = false;
};

// Builds the module "element_kernel" with one function of that name. The root is an array, or a tuple of arrays of one
// size; the computation must outlive the code, which points to its constants.
absl::StatusOr<HostModule> BuildElementKernel(HostJit& jit, const HloComputation& computation,
                                              const ElementKernelSpec& spec);

}  // namespace hilo::codegen

#endif  // HILO_TESTS_SUPPORT_ELEMENT_KERNEL_H_
