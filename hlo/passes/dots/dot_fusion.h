// Fuses dots with the element-wise instructions around them.
#ifndef HILO_HLO_PASSES_DOTS_DOT_FUSION_H_
#define HILO_HLO_PASSES_DOTS_DOT_FUSION_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "hlo/passes/hlo_pass.h"

namespace hilo {

// What the kernels of a backend compute besides the product. The pass queries it only for instructions that can be
// fused: element-wise ones, and for producers also broadcast, concatenate, iota, reshape, slice and dynamic-slice.
struct DotFusionOptions {
  // Returns true if a kernel of the backend computes `dot`, as opposed to a library.
  std::function<bool(const HloInstruction& dot)> takes_dot;
  // Returns true if that kernel computes `producer`, on which operand number `operand` depends, each time that it reads
  // an element of the operand.
  std::function<bool(const HloInstruction& dot, int64_t operand, const HloInstruction& producer)> takes_producer;
  // Returns true if that kernel computes `consumer`, which depends on the dot and has its dimensions, before it stores
  // results. What else such consumers read is fused with them where it would be fused into a loop.
  std::function<bool(const HloInstruction& dot, const HloInstruction& consumer)> takes_consumer;
};

// "fuse-dots": makes fusions of kind kOutput, with one or several results, whose hero is the dot (DotOf in
// hlo/analysis/hero.h).
std::unique_ptr<HloPass> MakeDotFusion(const Target* target, DotFusionOptions options);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_DOTS_DOT_FUSION_H_
