// Shared by the choice and the emission of select-and-scatter.
#ifndef HILO_BACKENDS_CPU_KERNELS_SELECT_AND_SCATTER_H_
#define HILO_BACKENDS_CPU_KERNELS_SELECT_AND_SCATTER_H_

#include "hlo/ops/table/op_attributes.h"

namespace hilo::cpu {

// Returns true if each window is one element of the dimension, and each element one window: windows never overlap.
inline bool IsTrivial(const Window::Dimension& d) {
  return d.size == 1 && d.stride == 1 && d.padding_low == 0 && d.padding_high == 0 && d.base_dilation == 1;
}

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_SELECT_AND_SCATTER_H_
