#include "backends/cpu/kernels/reduction.h"

#include "backends/cpu/kernels/fused_loop.h"
#include "backends/llvm/elements/scalar_computation.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::cpu {

using codegen::Carried;
using codegen::ElementValue;

Reduction ReductionOf(const HloInstruction* instruction) {
  const HloInstruction* reduce = HeroOf(instruction);
  Reduction r{.instruction = instruction, .reduce = reduce, .count = reduce->operand_count() / 2};
  r.input = reduce->operand(0)->shape();
  r.computation = reduce->called_computation();
  std::vector<bool> is_reduced(r.input.rank(), false);
  for (int64_t dimension : reduce->attrs<ReduceAttrs>().dimensions) is_reduced[dimension] = true;
  for (int64_t d = 0; d < r.input.rank(); ++d) {
    (is_reduced[d] ? r.reduced : r.kept).push_back(d);
    (is_reduced[d] ? r.reduced_sizes : r.kept_sizes).push_back(r.input.dimensions(d));
  }
  return r;
}

absl::StatusOr<Elements> InitsOf(FunctionEmitter& f, const HloInstruction* reduce) {
  Elements inits;
  for (int64_t i = reduce->operand_count() / 2; i < reduce->operand_count(); ++i) {
    HILO_ASSIGN_OR_RETURN(inits.emplace_back(), f.elements().Generate(reduce->operand(i), codegen::Index()));
  }
  return inits;
}

absl::StatusOr<Elements> ElementsOf(FunctionEmitter& f, const HloInstruction* reduce, const codegen::Index& index) {
  Elements elements;
  for (int64_t i = 0; i < reduce->operand_count() / 2; ++i) {
    HILO_ASSIGN_OR_RETURN(elements.emplace_back(), f.elements().Generate(reduce->operand(i), index));
  }
  return elements;
}

absl::StatusOr<Elements> Combine(FunctionEmitter& f, const HloComputation& computation, Elements running,
                                 const Elements& elements) {
  running.insert(running.end(), elements.begin(), elements.end());
  return codegen::EmitComputation(f.context(), computation, running);
}

Carried PackLanes(FunctionEmitter& f, const Elements& values) {
  Carried carried;
  for (const ElementValue& value : values) {
    carried.push_back(f.context().Splat(value.re));
    if (value.im != nullptr) carried.push_back(f.context().Splat(value.im));
  }
  return carried;
}

Elements UnpackLanes(const Carried& carried, const Elements& like) {
  Elements values;
  size_t next = 0;
  for (const ElementValue& value : like) {
    ElementValue& out = values.emplace_back();
    out.re = carried[next++];
    if (value.im != nullptr) out.im = carried[next++];
  }
  return values;
}

Elements Lanes(FunctionEmitter& f, const Elements& values, int first, int count) {
  std::vector<int> lanes;
  for (int lane = 0; lane < count; ++lane) lanes.push_back(first + lane);
  Elements result = values;
  for (ElementValue& value : result) {
    for (llvm::Value** part : {&value.re, &value.im}) {
      if (*part == nullptr) continue;
      *part = count == 1 ? f.b().CreateExtractElement(*part, static_cast<uint64_t>(first))
                         : f.b().CreateShuffleVector(*part, lanes);
    }
  }
  return result;
}

int64_t Product(absl::Span<const int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes) product *= size;
  return product;
}

}  // namespace hilo::cpu
