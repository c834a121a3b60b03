#include "backends/gpu/choice/roofline.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/analysis/hero.h"
#include "hlo/ir/kernel_config.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::gpu {
namespace {

constexpr GpuMachine kMachine;
constexpr double kLibraryPart = 0.7, kOwnPart = 0.35, kThreadPart = 0.5;

// Of the data sheet, in flops per nanosecond; a complex multiplication is four.
double TensorCorePeak(PrimitiveType type) {
  if (IsComplexType(type)) return TensorCorePeak(ComplexComponentType(type)) / 4;
  if (type == F64) return 67e3;
  const int bytes = PrimitiveTypeByteSize(type);
  return bytes == 1 ? 1979e3 : bytes == 2 ? 989e3 : 495e3;
}

// The dot or convolution of an instruction; null: none.
const HloInstruction* ProductOf(const HloInstruction& instruction) {
  if (const HloInstruction* dot = DotOf(instruction)) return dot;
  if (instruction.opcode() != HloOpcode::kFusion)
    return instruction.opcode() == HloOpcode::kConvolution ? &instruction : nullptr;
  for (const HloInstruction* member : instruction.called_computation()->instructions()) {
    if (member->opcode() == HloOpcode::kDot || member->opcode() == HloOpcode::kConvolution) return member;
  }
  return nullptr;
}

ProductUnit UnitOf(const KernelConfig& config) {
  if (config.kind == KernelKind::kLibraryDot || config.kind == KernelKind::kLibraryConvolution)
    return ProductUnit::kLibrary;
  const bool tiled = config.kind == KernelKind::kTiledDot || config.kind == KernelKind::kTiledConvolution;
  return tiled && config.width > 1 ? ProductUnit::kOwnTensorCores : ProductUnit::kThreads;
}

}  // namespace

double ProductFlopsPerNs(PrimitiveType type, ProductUnit unit) {
  if (unit == ProductUnit::kThreads) {
    const double peak = 2 * kMachine.instructions_per_ns * kThreadPart;
    return ComplexComponentType(type) == F64 ? peak / 2 : peak;
  }
  return TensorCorePeak(type) * (unit == ProductUnit::kLibrary ? kLibraryPart : kOwnPart);
}

double Roofline::ns() const { return launch_ns + std::max(memory_ns, arithmetic_ns); }

const char* Roofline::bound() const {
  if (launch_ns > std::max(memory_ns, arithmetic_ns)) return "launch";
  return memory_ns >= arithmetic_ns ? "memory" : "arithmetic";
}

Roofline RooflineOf(const HloInstruction& instruction) {
  const Work work = WorkOf(instruction);
  Roofline roofline{.bytes = work.bytes(),
                    .flops = work.flops,
                    .memory_ns = work.bytes() / kMachine.bytes_per_ns,
                    .launch_ns = kMachine.launch_ns};
  const HloInstruction* product = ProductOf(instruction);
  double instructions = work.instructions;  // of threads, without products
  if (product != nullptr) {
    instructions = 0;
    if (product != &instruction) {
      for (const HloInstruction* member : instruction.called_computation()->instructions())
        instructions += member == product ? 0 : WorkOf(*member).instructions;
    }
  }
  roofline.arithmetic_ns = instructions / kMachine.instructions_per_ns;
  if (product != nullptr) {
    const double flops = product->opcode() == HloOpcode::kDot ? DotFlops(*product) : ConvolutionFlops(*product);
    roofline.arithmetic_ns +=
        flops / ProductFlopsPerNs(product->operand(0)->shape().element_type(), UnitOf(*instruction.kernel()));
  }
  return roofline;
}

std::string RooflineText(const HloModule& module) {
  std::string text;
  for (const HloComputation* computation : module.computations()) {
    if (computation->IsFusion()) continue;
    std::string lines;
    for (const HloInstruction* instruction : module.OrderOf(*computation)) {
      if (instruction->kernel() == nullptr || HasTrait(instruction->opcode(), kControlFlow)) continue;
      const Roofline roofline = RooflineOf(*instruction);
      absl::StrAppendFormat(&lines, "  %s: kind=%s bytes=%.0f flops=%.0f bound=%s time=%.2fus\n", instruction->name(),
                            KernelKindString(instruction->kernel()->kind), roofline.bytes, roofline.flops,
                            roofline.bound(), roofline.ns() / 1e3);
    }
    if (!lines.empty()) absl::StrAppend(&text, computation->name(), ":\n", lines);
  }
  return text;
}

}  // namespace hilo::gpu
