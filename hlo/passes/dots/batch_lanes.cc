// Makes sums of products of dots whose batch dimensions are the minor-most ones of both factors: lanes are then
// products of the batch, where tiles of a product would gather their elements.
//
//   dot(f32[6,12,500] x, f32[12,8,500] y), batch dimensions 2 and 2, contracting dimensions 1 and 0
//     =>  f32[500,6,8] transpose(f32[6,8,500] reduce(f32[6,8,12,500] x[i,k,b] * y[k,j,b]))
//
// Before the rules, which compose the transpose with that of a result whose batch dimensions are minor-most again. The
// products of a sum keep their order.
#include "hlo/passes/dots/batch_lanes.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/dot_sides.h"
#include "hlo/ops/reduction/sum_type.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/dots/dot_rewrite.h"
#include "hlo/passes/make_instruction.h"

namespace hilo {
namespace {

using Result = absl::StatusOr<HloInstruction*>;

// Returns true if the batch dimensions are the last ones of the operand, in their order.
bool EndsInBatch(const DotSide& side) {
  const int64_t first = side.operand->shape().rank() - static_cast<int64_t>(side.batch.size());
  for (size_t i = 0; i < side.batch.size(); ++i) {
    if (side.batch[i] != first + static_cast<int64_t>(i)) return false;
  }
  return !side.batch.empty();
}

// The type in which products are added up.
PrimitiveType SumTypeOf(const HloInstruction& dot) {
  return SumType(dot.operand(0)->shape().element_type(), dot.operand(1)->shape().element_type(),
                 dot.shape().element_type());
}

// Returns the free dimensions of the result in the order in which a transpose that is its only user has them, if that
// has the batch dimensions last; else in their own order.
std::vector<int64_t> FreeOrder(const HloInstruction& dot, int64_t batches) {
  const int64_t rank = dot.shape().rank();
  std::vector<int64_t> order;
  for (int64_t d = batches; d < rank; ++d) order.push_back(d);
  if (dot.users().size() != 1 || dot.users()[0]->opcode() != HloOpcode::kTranspose) return order;
  const std::vector<int64_t>& permutation = dot.users()[0]->attrs<TransposeAttrs>().dimensions;
  for (int64_t i = 0; i < batches; ++i) {
    if (permutation[rank - batches + i] != i) return order;
  }
  return {permutation.begin(), permutation.end() - batches};
}

Result SumOfBatchLanes(HloInstruction* dot) {
  const DotSide lhs = LhsOf(*dot), rhs = RhsOf(*dot);
  const auto batches = static_cast<int64_t>(lhs.batch.size());
  const std::vector<int64_t> free = FreeOrder(*dot, batches);
  const Shape& shape = dot->shape();
  const PrimitiveType type = SumTypeOf(*dot);
  // Of the products: the free dimensions, those of the sums, the batch dimensions.
  std::vector<int64_t> sizes;
  for (const int64_t d : free) sizes.push_back(shape.dimensions(d));
  const auto first_sum = static_cast<int64_t>(sizes.size());
  sizes.insert(sizes.end(), lhs.contracting_sizes.begin(), lhs.contracting_sizes.end());
  const auto first_batch = static_cast<int64_t>(sizes.size());
  sizes.insert(sizes.end(), lhs.batch_sizes.begin(), lhs.batch_sizes.end());
  const Shape products = ShapeUtil::MakeShape(type, sizes);
  // `first_free`: of this side, in the result.
  const auto repeated = [&](const DotSide& side, HloInstruction* factor, int64_t first_free) -> Result {
    std::vector<int64_t> dimensions(factor->shape().rank());
    for (size_t i = 0; i < side.free.size(); ++i)
      dimensions[side.free[i]] = absl::c_find(free, first_free + static_cast<int64_t>(i)) - free.begin();
    for (size_t i = 0; i < side.contracting.size(); ++i)
      dimensions[side.contracting[i]] = first_sum + static_cast<int64_t>(i);
    for (size_t i = 0; i < side.batch.size(); ++i) dimensions[side.batch[i]] = first_batch + static_cast<int64_t>(i);
    HILO_ASSIGN_OR_RETURN(factor, MakeConvert(factor, type));
    return MakeBroadcast(factor, products, std::move(dimensions));
  };
  HILO_ASSIGN_OR_RETURN(HloInstruction * left, repeated(lhs, dot->operand(0), batches));
  HILO_ASSIGN_OR_RETURN(HloInstruction * right,
                        repeated(rhs, dot->operand(1), batches + static_cast<int64_t>(lhs.free.size())));
  HILO_ASSIGN_OR_RETURN(HloInstruction * product, MakeBinary(HloOpcode::kMultiply, left, right));
  std::vector<int64_t> sums;
  for (int64_t d = first_sum; d < first_batch; ++d) sums.push_back(d);
  HloComputation* const computation = dot->parent();
  HILO_ASSIGN_OR_RETURN(HloInstruction * sum,
                        MakeReduce(product, computation->AddConstant(LiteralUtil::Zero(type)), std::move(sums),
                                   MakeScalarComputation(computation->parent(), HloOpcode::kAdd, type)));
  HILO_ASSIGN_OR_RETURN(sum, MakeConvert(sum, shape.element_type()));
  std::vector<int64_t> order;
  for (int64_t i = 0; i < batches; ++i) order.push_back(static_cast<int64_t>(free.size()) + i);
  for (int64_t d = batches; d < shape.rank(); ++d) order.push_back(absl::c_find(free, d) - free.begin());
  return MakeTranspose(sum, std::move(order));
}

}  // namespace

std::unique_ptr<HloPass> MakeBatchLanes(std::function<bool(const HloInstruction& dot)> accepts) {
  return MakeDotRewrite(
      "batch-lanes",
      [accepts = std::move(accepts)](const HloInstruction& dot) {
        return EndsInBatch(LhsOf(dot)) && EndsInBatch(RhsOf(dot)) && !LhsOf(dot).contracting.empty() &&
               SumTypeOf(dot) != PRED && accepts(dot);
      },
      SumOfBatchLanes);
}

}  // namespace hilo
