// A loop over elements of several types has the lanes that the widest of them fills a register with. A function of a
// narrower type then leaves half of its registers empty, at ten times the price of the arithmetic beside it; so its
// type determines the lanes, and LLVM divides vectors of the wider types.
//
// A function is also a chain of some 15 operations of 3 to 5 cycles each, and a processor's schedulers hold some 60
// operations that wait for operands, shared with another thread of its core: those of the next vectors begin late. If
// the operations of two vectors alternate, more of them can begin.
#include "backends/cpu/kernels/function_lanes.h"

#include <algorithm>

#include "hlo/analysis/cost_model.h"
#include "hlo/ir/hlo_computation.h"

namespace hilo::cpu {
namespace {

// Vectors whose operations alternate, and the code (CostFacts) of the largest loop and the elements of the smallest
// arrays for which this pays the time to compile it. Not of registers of 512 bits: few operations fill their units.
// Measured on a Zen 3, 400,000 elements with 1 and 2, us: on one thread beside a busy neighbor exponentials of f32 282
// and 196, logarithms 422 and 327, of f64 874 and 730, sines of f64 621 and 548; on two threads 88 and 101, 196 and
// 165, 446 and 369, 314 and 294; ms to compile 13 and 15. 25 exponentials an element gain nothing.
constexpr int64_t kAlternating = 2, kMaxAlternatingCode = 120, kMinElements = 1024;
// Vectors of the shortest rows: more elements of shorter ones would be computed twice or masked.
constexpr int64_t kMinWideVectors = 4;

bool IsFunction(const HloInstruction& instruction) {
  const OpCost cost = OpcodeInfo(instruction.opcode()).cost;
  return cost >= OpCost::kExponential && cost <= OpCost::kPower && instruction.shape().IsArray() &&
         IsFloatingPointType(instruction.shape().element_type());
}

}  // namespace

int64_t VectorsOfFunctions(const HloInstruction& instruction, int64_t row, int64_t width,
                           const codegen::TargetTraits& target) {
  if (width < 2) return 1;
  int64_t bits = 0, code = 0, elements = 0;  // of the widest function, of all, of the largest function
  const auto add = [&](const HloInstruction& member) {
    code += CostFacts(member.opcode()).code_size;
    if (!IsFunction(member)) return;
    bits = std::max<int64_t>(bits, member.shape().element_type() == F64 ? 64 : 32);
    elements = std::max(elements, ShapeUtil::ElementsIn(member.shape()));
  };
  if (instruction.opcode() == HloOpcode::kFusion) {
    for (const HloInstruction* member : instruction.called_computation()->instructions()) add(*member);
  } else {
    add(instruction);
  }
  if (elements < kMinElements) return 1;
  int64_t lanes = target.vector_bits / bits;
  if (!target.has_avx512 && code <= kMaxAlternatingCode) lanes *= kAlternating;
  while (lanes > width && row < kMinWideVectors * lanes) lanes /= 2;
  return std::max<int64_t>(1, lanes / width);
}

}  // namespace hilo::cpu
