// A convolution as loops: which elements of the three arrays meet, and which loops become lanes and tiles. Free of
// LLVM.
#ifndef HILO_BACKENDS_CPU_KERNELS_CONVOLUTION_PLAN_H_
#define HILO_BACKENDS_CPU_KERNELS_CONVOLUTION_PLAN_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "hlo/ir/hlo_instruction.h"
#include "hlo/ops/linalg/convolution_attributes.h"

namespace hilo::cpu {

// A loop over results. `lhs`, `rhs` and `out` are elements from one position to the next in each array. A loop over the
// places of a window is bounded along with the tap of the same `window` number; other loops have -1.
struct ConvolutionAxis {
  int64_t count = 1;
  int64_t lhs = 0, rhs = 0, out = 0;
  int window = -1;
};
// A loop over the products of a sum.
struct ConvolutionTap {
  int64_t count = 1;
  int64_t lhs = 0, rhs = 0;
  int window = -1;
};
// Place j of the window and tap t meet the input at j * stride + t * dilation + offset, if that is in [0, size).
struct ConvolutionReach {
  int64_t stride = 1, dilation = 1, offset = 0, size = 0;

  // Taps in [first, last) of `taps` meet the input from all places in [first_place, last_place) of `places`.
  struct Range {
    int64_t first, last;
  };
  Range TapsAt(int64_t place, int64_t taps) const;
  Range PlacesInside(int64_t places, int64_t taps) const;
};

// Results that are computed alike. A dilated input is met by other taps at other places: each residue of the place
// modulo the dilation is a phase with an undilated convolution of its own, so holes cost nothing.
struct ConvolutionPhase {
  std::vector<ConvolutionAxis> axes;
  std::vector<ConvolutionTap> taps;
  std::vector<ConvolutionReach> reaches;  // by window number
  int64_t lhs = 0, rhs = 0, out = 0;      // the elements of the first place and tap
};

// Loops of one position are left out, and loops that are one in memory are merged. Taps are in the evaluator's order if
// `in_order`, else in the order that suits the memory. Nullopt if there are more phases than it pays to emit.
std::optional<std::vector<ConvolutionPhase>> PhasesOf(const ConvolutionAttrs& attrs, const Shape& lhs, const Shape& rhs,
                                                      const Shape& out, bool in_order);

struct ConvolutionMachine {
  int vector_bits = 512;
  int registers = 32;
};

// A tile of `rows` positions of one axis times `vectors` vectors of `width` positions of another is kept in registers
// while the taps go by; the remaining axes are loops around that. -1: no such axis.
struct ConvolutionPlan {
  int lanes = -1, tile = -1;
  int width = 1, vectors = 1, rows = 1;
  double cost = 0;  // in vector operations a tap
};
// The tap of a window.
const ConvolutionTap& TapOf(const ConvolutionPhase& phase, int window);

// Whether tiles of the axis that reach outside of the input are emitted for their very place: the axis is short, and
// its window has few taps.
bool IsPlaced(const ConvolutionPhase& phase, const ConvolutionAxis& tile);
// The positions of the axis that tiles cover. The others go one by one.
ConvolutionReach::Range TiledPlaces(const ConvolutionPhase& phase, const ConvolutionAxis& tile);

// The cheapest plan for elements of `type`.
ConvolutionPlan PlanOf(const ConvolutionPhase& phase, PrimitiveType type, const ConvolutionMachine& machine);

// Whether the kernel emits the convolution as it is: all elements are of the type that sums are kept in, and it would
// not be much faster with the kernel's output features, or the input's last spatial dimension, in the minor-most
// dimension.
bool IsKernelConvolution(const HloInstruction& convolution);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_CONVOLUTION_PLAN_H_
