// What the choice of a kernel depends on besides the instruction.
#ifndef HILO_BACKENDS_GPU_CHOICE_KERNEL_FACTS_H_
#define HILO_BACKENDS_GPU_CHOICE_KERNEL_FACTS_H_

#include "backends/gpu/choice/kernel_settings.h"

namespace hilo {
class CustomCallRegistry;
}  // namespace hilo

namespace hilo::gpu {

class Libraries;

struct KernelFacts {
  bool strict = false;
  KernelSettings settings;
  int architecture = 90;                             // as in sm_90
  Libraries* libraries = nullptr;                    // null: no library calls
  const CustomCallRegistry* custom_calls = nullptr;  // null: the default one
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_CHOICE_KERNEL_FACTS_H_
