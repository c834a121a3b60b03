#include "hlo/analysis/program_cost.h"

#include <algorithm>
#include <cmath>

#include "absl/container/flat_hash_map.h"
#include "base/status_macros.h"
#include "hlo/ops/convolution_attributes.h"
#include "hlo/ops/op_attributes.h"

namespace hilo {
namespace {

using Costs = absl::flat_hash_map<const HloComputation*, ProgramCost>;

// Elements of all leaves of a shape.
double Elements(const Shape& shape) {
  double count = 0;
  for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(shape)) {
    if (leaf.shape->IsArray()) count += static_cast<double>(ShapeUtil::ElementsIn(*leaf.shape));
  }
  return count;
}

double Elements(const HloInstruction& instruction, int64_t operand) { return Elements(instruction.operand(operand)->shape()); }

bool IsTranscendental(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kAcos: case HloOpcode::kAcosh: case HloOpcode::kAsin: case HloOpcode::kAsinh: case HloOpcode::kAtan2: case HloOpcode::kAtanh:
    case HloOpcode::kCbrt: case HloOpcode::kCos: case HloOpcode::kCosh: case HloOpcode::kErf: case HloOpcode::kExp: case HloOpcode::kExpm1:
    case HloOpcode::kLog: case HloOpcode::kLog1p: case HloOpcode::kLogistic: case HloOpcode::kPower: case HloOpcode::kRsqrt: case HloOpcode::kSin:
    case HloOpcode::kSinh: case HloOpcode::kSqrt: case HloOpcode::kTan: case HloOpcode::kTanh:
      return true;
    default:
      return false;
  }
}

// `times` runs of each computation that the instruction calls.
void AddCalled(const HloInstruction& instruction, const Costs& costs, double times, ProgramCost* cost) {
  for (const HloComputation* called : instruction.called_computations()) {
    cost->flops += times * costs.at(called).flops;
    cost->transcendentals += times * costs.at(called).transcendentals;
  }
}

double DotFlops(const HloInstruction& dot) {
  double contracted = 1;
  for (const int64_t d : dot.attrs<DotAttrs>().lhs_contracting_dims) contracted *= static_cast<double>(dot.operand(0)->shape().dimensions(d));
  return 2 * Elements(dot.shape()) * contracted;
}

double ConvolutionFlops(const HloInstruction& convolution) {
  const int64_t features = convolution.operand(1)->shape().dimensions(convolution.attrs<ConvolutionAttrs>().dim_labels.kernel_output_feature_dimension());
  return features == 0 ? 0 : 2 * Elements(convolution.shape()) * Elements(convolution, 1) / static_cast<double>(features);
}

double WindowElements(const Window& window) {
  double count = 1;
  for (const Window::Dimension& dimension : window.dimensions) count *= static_cast<double>(dimension.size);
  return count;
}

double SortDepth(const HloInstruction& sort) {
  const int64_t rank = sort.operand(0)->shape().rank();
  int64_t length = 1;
  for (int64_t d = 0; d < rank; ++d) length = std::max(length, sort.operand(0)->shape().dimensions(d));
  return std::log2(static_cast<double>(std::max<int64_t>(length, 2)));
}

void AddOperations(const HloInstruction& instruction, const Costs& costs, ProgramCost* cost) {
  const double elements = Elements(instruction.shape());
  switch (instruction.opcode()) {
    case HloOpcode::kDot: cost->flops += DotFlops(instruction); return;
    case HloOpcode::kConvolution: cost->flops += ConvolutionFlops(instruction); return;
    case HloOpcode::kReduce: AddCalled(instruction, costs, Elements(instruction, 0), cost); return;
    case HloOpcode::kReduceWindow: AddCalled(instruction, costs, elements * WindowElements(instruction.attrs<ReduceWindowAttrs>().window), cost); return;
    case HloOpcode::kSelectAndScatter: AddCalled(instruction, costs, Elements(instruction, 0), cost); return;
    case HloOpcode::kMap: AddCalled(instruction, costs, elements, cost); return;
    case HloOpcode::kScatter: AddCalled(instruction, costs, Elements(instruction, instruction.operand_count() - 1), cost); return;
    case HloOpcode::kSort: AddCalled(instruction, costs, Elements(instruction, 0) * SortDepth(instruction), cost); return;
    default: break;
  }
  if (IsTranscendental(instruction.opcode())) {
    cost->transcendentals += elements;
  } else if (HasTrait(instruction.opcode(), kElementwise) && !HasTrait(instruction.opcode(), kMovement)) {
    cost->flops += elements;
  }
}

ProgramCost CostOf(const HloInstruction& instruction, const Costs& costs) {
  ProgramCost cost;
  if (HasTrait(instruction.opcode(), kForwarding) || instruction.opcode() == HloOpcode::kParameter || instruction.opcode() == HloOpcode::kConstant) {
    return cost;
  }
  if (HasTrait(instruction.opcode(), kControlFlow) || instruction.opcode() == HloOpcode::kFusion) {
    ProgramCost dearest;
    for (const HloComputation* called : instruction.called_computations()) {
      const ProgramCost& one = costs.at(called);
      if (instruction.opcode() != HloOpcode::kConditional) {
        dearest.flops += one.flops;
        dearest.transcendentals += one.transcendentals;
        dearest.bytes_accessed += one.bytes_accessed;
      } else if (one.flops + one.transcendentals + one.bytes_accessed > dearest.flops + dearest.transcendentals + dearest.bytes_accessed) {
        dearest = one;
      }
    }
    return dearest;
  }
  AddOperations(instruction, costs, &cost);
  cost.bytes_accessed = static_cast<double>(ShapeUtil::ByteSizeOf(instruction.shape()));
  for (int64_t i = 0; i < instruction.operand_count(); ++i) cost.bytes_accessed += static_cast<double>(ShapeUtil::ByteSizeOf(instruction.operand(i)->shape()));
  return cost;
}

}  // namespace

absl::StatusOr<ProgramCost> CostOfProgram(const HloModule& module) {
  HILO_ASSIGN_OR_RETURN(const std::vector<HloComputation*> order, module.MakeComputationPostOrder());
  Costs costs;
  for (const HloComputation* computation : order) {
    ProgramCost total;
    for (const HloInstruction* instruction : computation->instructions()) {
      const ProgramCost one = CostOf(*instruction, costs);
      total.flops += one.flops;
      total.transcendentals += one.transcendentals;
      total.bytes_accessed += one.bytes_accessed;
    }
    costs[computation] = total;
  }
  return costs.at(module.entry_computation());
}

}  // namespace hilo
