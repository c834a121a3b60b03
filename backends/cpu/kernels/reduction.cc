#include "backends/cpu/kernels/reduction.h"

#include "backends/llvm/elements/scalar_computation.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::cpu {

using codegen::Carried;
using codegen::ElementValue;

namespace {

// Elements of one result, if they are in a row and lanes read them by shuffles, and if the lanes are in the row.
constexpr int64_t kShortRow = 4, kShortColumn = 8;
// Adjacent results; fewer would leave lanes empty.
constexpr int64_t kFewResults = 4;

}  // namespace

bool IsShortReduction(const HloInstruction& reduce) {
  if (!reduce.shape().IsArray() || reduce.shape().rank() == 0 ||
      reduce.shape().dimensions(reduce.shape().rank() - 1) < kFewResults)
    return false;
  if (!codegen::CanEmitComputation(*reduce.called_computation())) return false;
  const Shape& input = reduce.operand(0)->shape();
  int64_t elements = 1;
  bool is_row = false;
  for (int64_t dimension : reduce.attrs<ReduceAttrs>().dimensions) {
    elements = std::min(elements * input.dimensions(dimension), kShortColumn + 1);
    is_row = is_row || dimension == input.rank() - 1;
  }
  return elements > 0 && elements <= (is_row ? kShortRow : kShortColumn);
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
