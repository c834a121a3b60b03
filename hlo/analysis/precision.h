// How exactly a program computes, as its types and attributes say: what rounding alone makes two backends differ by.
#ifndef HILO_HLO_ANALYSIS_PRECISION_H_
#define HILO_HLO_ANALYSIS_PRECISION_H_

#include "hlo/ir/hlo_instruction.h"
#include "hlo/ops/linalg/convolution_attributes.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {

// Returns true if factors of f32 may be rounded to tf32: the attributes do not ask for more.
bool AllowsTf32(const DotAttrs& attrs);
bool AllowsTf32(const ConvolutionAttrs& attrs);

// The fewest significant digits, in bits, of the floating-point numbers that an instruction reads and writes; 11 for
// products of f32 whose factors may be rounded to tf32. 8-bit floats and smaller ones do not count: what is stored so
// is rounded by the program, from numbers that have the digits of other types. 53 if there are no floating-point
// numbers.
int SignificantDigits(const HloInstruction& instruction);

// The fewest significant digits of all that `result` depends on, called computations included.
int SignificantDigitsBehind(const HloInstruction& result);

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_PRECISION_H_
