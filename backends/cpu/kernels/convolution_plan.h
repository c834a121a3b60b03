// A convolution as loops: the index arithmetic of its three arrays, and which loops become lanes and tiles. Independent
// of LLVM.
#ifndef HILO_BACKENDS_CPU_KERNELS_CONVOLUTION_PLAN_H_
#define HILO_BACKENDS_CPU_KERNELS_CONVOLUTION_PLAN_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "hlo/ir/hlo_instruction.h"
#include "hlo/ops/linalg/convolution_attributes.h"

namespace hilo::cpu {

// A loop over results. `lhs`, `rhs` and `out` are the strides of each array, in elements. A loop over the positions of
// a window is bounded together with the tap of the same `window` number; other loops have -1.
//
// Groups of `group` features, each with its own results, may be one loop, which is that of the lanes: iteration i of
// the last tap reads the i-th feature of the group, `i - result % group` elements beyond the result's.
struct ConvolutionAxis {
  int64_t count = 1;
  int64_t lhs = 0, rhs = 0, out = 0;
  int window = -1;
  int64_t group = 1;

  // Returns true if each lane reads elements of its own from both arrays, which are adjacent.
  bool IsPairwise() const { return lhs == 1 && rhs == 1; }

  friend bool operator==(const ConvolutionAxis&, const ConvolutionAxis&) = default;
};
// A loop over the products of a sum.
struct ConvolutionTap {
  int64_t count = 1;
  int64_t lhs = 0, rhs = 0;
  int window = -1;

  friend bool operator==(const ConvolutionTap&, const ConvolutionTap&) = default;
};
// Window position j and tap t read the input at j * stride + t * dilation + offset, if that is in [0, size).
struct ConvolutionReach {
  int64_t stride = 1, dilation = 1, offset = 0, size = 0;

  // Taps in [first, last) of `taps` read inside the input at all positions in [first_position, last_position) of
  // `positions`.
  struct Range {
    int64_t first, last;
  };
  Range TapsAt(int64_t position, int64_t taps) const;
  Range PositionsInside(int64_t positions, int64_t taps) const;
};

// Results that are computed alike. In a dilated input, different window positions read different taps: each residue of
// the position modulo the dilation is a phase with an undilated convolution of its own, so holes cost nothing.
struct ConvolutionPhase {
  std::vector<ConvolutionAxis> axes;
  std::vector<ConvolutionTap> taps;
  std::vector<ConvolutionReach> reaches;  // by window number
  int64_t lhs = 0, rhs = 0, out = 0;      // the elements of the first position and tap
};

// Omits loops of one iteration, and merges loops that are contiguous in memory, and groups of features that fit in
// vectors. Taps are in the evaluator's order if `in_order`, else in the order that suits the memory. Returns nullopt if
// there are too many phases to emit profitably.
std::optional<std::vector<ConvolutionPhase>> PhasesOf(const HloInstruction& convolution, bool in_order,
                                                      int vector_bits);

struct ConvolutionMachine {
  int vector_bits = 512;
  int registers = 32;
  bool in_library = false;      // plans that the tiles of convolution/ have, as far as lanes, rows and vectors go
  bool may_be_partial = false;  // those of the library whose lanes do not fill the last vector, too
};

// A tile of `rows` positions of one axis times `vectors` vectors of `width` positions of another is kept in registers
// during the loop over the taps; the remaining axes are outer loops. -1: no such axis.
struct ConvolutionPlan {
  int lanes = -1, tile = -1;
  int width = 1, vectors = 1, rows = 1;
  bool placed = false;  // tiles that reach outside the input are specialized for their position
  int64_t tiles_per_unit = 1;
  double cost = 0;  // in vector operations per tap

  // Returns true if the loop over the taps is not unrolled for a tile with `rows` rows.
  bool KeepsTapsRolled(int rows) const;

  // As part of KernelConfig::tile, without the cost: {lanes, tile, width, vectors, rows, placed, tiles_per_unit}.
  static constexpr size_t kNumbers = 7;
  std::vector<int64_t> ToTile() const;
  static ConvolutionPlan FromTile(absl::Span<const int64_t> numbers);
};
// Returns the tap of a window.
const ConvolutionTap& TapOf(const ConvolutionPhase& phase, int window);

// Returns the positions of the axis that tiles cover. The others are computed one at a time.
ConvolutionReach::Range TiledPositions(const ConvolutionPhase& phase, const ConvolutionAxis& tile, bool placed);

// The units of a phase, which threads share: sections of positions, times blocks of lanes, times positions of the outer
// axes, times groups of tiles. Sections are of the first outer axis, or of the groups if there is none: a thread that
// has some of them reads and writes a part of the arrays, as threads do in the loops before and after.
struct ConvolutionUnits {
  std::vector<ConvolutionAxis> outer;
  std::vector<int64_t> sizes;  // sections, blocks, positions of the outer axes and groups, the first of these a section
  int64_t tiles = 0;           // of all groups
  int64_t count = 1;
};
ConvolutionUnits UnitsOf(const ConvolutionPhase& phase, const ConvolutionPlan& plan);

// Returns how many tiles a unit has if threads share the units of a phase.
int64_t TilesPerUnit(const ConvolutionPhase& phase, const ConvolutionPlan& plan);

// Returns true if two phases of the same plan differ only in numbers that the code of a unit can take as values: the
// elements that they begin with, and the offsets of windows whose bounds are computed at run time.
bool AreAlike(const ConvolutionPhase& a, const ConvolutionPhase& b, const ConvolutionPlan& plan);

// Returns the cheapest plan for elements of `type`; one without lanes if the library has none.
ConvolutionPlan PlanOf(const ConvolutionPhase& phase, PrimitiveType type, const ConvolutionMachine& machine);

// Vector operations that tiles of the library may take more than generated ones, if the convolution is in no loop: some
// 20 us of a thread, so that hundreds of runs lose what one compilation saves. Measured (Zen 5, two threads), us of a
// run from Python and ms to compile, generated and by the library: lanes of features, 3x3 from 8 to 8 on 32 x 32 7.9
// and 12.3, 13.1 and 2.8; from 1 to 16 on 8 of 28 x 28 9.0 and 17.8, 6.4 and 2.7; 25 taps from 1 to 16 on 2 of 512 6.4
// and 8.2, 19 and 2.7. Lanes of positions: 3x3 from 1 to 8 on 28 x 28 5.0 and 8.4, 11.7 and 2.7; 3x3 of one feature on
// 128 x 128 6.4 and 14.1, 9.1 and 3.0; from 4 to 4 on 4 of 32 x 32 23 and 30, 7.4 and 3.0; 3 taps from 4 to 8 on 8 of
// 128 6.5 and 13.2, 20 and 2.9; depthwise 5x5 of 3 on 4 of 32 x 32 11 and 22, 7.3 and 4.5.
// Features that do not fill the last vector (Zen 4, us called from JAX): 3x3 from 17 to 17 on 32 x 32 38 and 45, 23 and
// 3.6; from 33 to 9 40 and 59, 20 and 3.5; 5x5 from 8 to 9 25 and 47, 21 and 3.3; the most that is lost, 5x5 from 1 to
// 6 on 32 of 28 x 28, 72 and 120, 11 and 3.5.
inline constexpr double kShortConvolution = 1 << 17;

// Returns true if this may be worth it: the convolution is in no loop, of whose runs compilation is a small part, and
// has a window, as other libraries compute one without as a product.
bool MayBeShort(const HloInstruction& convolution);

// Returns true if the kernel emits the convolution as it is: all elements have the accumulation type, and the
// convolution would not be much faster with the kernel's output features, or the input's last spatial dimension, in the
// minor-most dimension. Unless strict, short convolutions may take longer in a form whose lanes the library has.
bool IsKernelConvolution(const HloInstruction& convolution, bool strict);

}  // namespace hilo::cpu

#endif  // HILO_BACKENDS_CPU_KERNELS_CONVOLUTION_PLAN_H_
