// A dot that is assigned to the library becomes a fusion with the element-wise instructions that the library
// fuses:
//
//   d = f32[m,n] dot(x, y)
//   a = f32[m,n] add(d, broadcast(v))                  f = f32[m,n] fusion(x, y, v), kind=kCustom
//   ROOT r = f32[m,n] maximum(a, 0)             =>
//
// So does a transpose of the result that BLAS writes as it is, with the strides of rows and of matrices.
//
// This comes before loop fusion, which does not change fusions. Operands in orders of dimensions that BLAS has no flags
// for are transposed first: to batch, free and contracting dimensions on the left; to batch, contracting and free ones
// on the right (for 8-bit types contracting last, as their kernels require it). Where contracting dimensions are apart,
// as those of the batch and of the pixels in the gradient of a product along channels, there may be fewer bytes to a
// product for each index of one of them, and the sum of these:
//
//   d = f32[c,f] dot(x[n,c,p], y[n,f,p])        =>     d = f32[c,f] reduce(f32[n,c,f] dot(x, y)), dimensions={0}
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "absl/algorithm/container.h"
#include "backends/gpu/match/epilogue_match.h"
#include "backends/gpu/match/gemm_match.h"
#include "hilo/status_macros.h"
#include "hlo/ops/reduction/sum_type.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/make_instruction.h"

namespace hilo::gpu {
namespace {

std::vector<int64_t> Free(const Shape& shape, const std::vector<int64_t>& batch,
                          const std::vector<int64_t>& contracting) {
  std::vector<int64_t> free;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (!absl::c_linear_search(batch, d) && !absl::c_linear_search(contracting, d)) free.push_back(d);
  }
  return free;
}

std::vector<int64_t> Joined(std::vector<int64_t> a, const std::vector<int64_t>& b, const std::vector<int64_t>& c) {
  a.insert(a.end(), b.begin(), b.end());
  a.insert(a.end(), c.begin(), c.end());
  return a;
}

std::vector<int64_t> Count(size_t first, size_t count) {
  std::vector<int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), static_cast<int64_t>(first));
  return numbers;
}

absl::StatusOr<HloInstruction*> TransposedFactor(HloInstruction* operand, std::vector<int64_t> dimensions) {
  if (absl::c_is_sorted(dimensions)) return operand;
  auto attrs = std::make_unique<TransposeAttrs>();
  attrs->dimensions = std::move(dimensions);
  return operand->parent()->AddOp(HloOpcode::kTranspose, {operand}, std::move(attrs));
}

// Clones the dot in an order that BLAS supports.
absl::StatusOr<HloInstruction*> InOrder(HloInstruction* dot) {
  const DotAttrs& attrs = dot->attrs<DotAttrs>();
  HloInstruction *lhs = dot->operand(0), *rhs = dot->operand(1);
  const std::vector<int64_t> lhs_free = Free(lhs->shape(), attrs.lhs_batch_dims, attrs.lhs_contracting_dims);
  const std::vector<int64_t> rhs_free = Free(rhs->shape(), attrs.rhs_batch_dims, attrs.rhs_contracting_dims);
  const size_t batch = attrs.lhs_batch_dims.size(), contracting = attrs.lhs_contracting_dims.size();
  const bool contracts_last = WantsTransposedA(rhs->shape().element_type());
  auto ordered = std::make_unique<DotAttrs>(attrs);
  ordered->lhs_batch_dims = ordered->rhs_batch_dims = Count(0, batch);
  ordered->lhs_contracting_dims = Count(batch + lhs_free.size(), contracting);
  ordered->rhs_contracting_dims = Count(contracts_last ? batch + rhs_free.size() : batch, contracting);
  HILO_ASSIGN_OR_RETURN(HloInstruction * left,
                        TransposedFactor(lhs, Joined(attrs.lhs_batch_dims, lhs_free, attrs.lhs_contracting_dims)));
  HILO_ASSIGN_OR_RETURN(
      HloInstruction * right,
      TransposedFactor(rhs, contracts_last ? Joined(attrs.rhs_batch_dims, rhs_free, attrs.rhs_contracting_dims)
                                           : Joined(attrs.rhs_batch_dims, attrs.rhs_contracting_dims, rhs_free)));
  return dot->parent()->AddOp(HloOpcode::kDot, {left, right}, std::move(ordered), {}, &dot->shape());
}

double BytesOf(const HloInstruction& array) { return static_cast<double>(ShapeUtil::ByteSizeOf(array.shape())); }

// Returns the bytes that the transposes of factors that InOrder adds read and write. A loop that computes a factor for
// this alone stores it in that order.
double TransposedBytes(const HloInstruction& dot, const HloInstruction& ordered) {
  double bytes = 0;
  for (int64_t i = 0; i < 2; ++i) {
    const HloInstruction& factor = *dot.operand(i);
    // The transpose is a user, too.
    const bool is_stored_so = IsElementwise(factor.opcode()) && factor.user_count() <= 2 && !factor.IsRoot();
    if (ordered.operand(i) != &factor && !is_stored_so) bytes += 2 * BytesOf(factor);
  }
  return bytes;
}

// Adds a product for each index of contracting dimension number `number`. Sums are of the type in which products add
// up.
absl::StatusOr<HloInstruction*> InParts(HloInstruction* dot, size_t number) {
  auto attrs = std::make_unique<DotAttrs>(dot->attrs<DotAttrs>());
  const auto move = [&](std::vector<int64_t>& contracting, std::vector<int64_t>& batch) {
    const auto dimension = contracting.begin() + static_cast<std::ptrdiff_t>(number);
    batch.push_back(*dimension);
    contracting.erase(dimension);
  };
  move(attrs->lhs_contracting_dims, attrs->lhs_batch_dims);
  move(attrs->rhs_contracting_dims, attrs->rhs_batch_dims);
  const Shape &x = dot->operand(0)->shape(), &y = dot->operand(1)->shape(), &result = dot->shape();
  const auto first = static_cast<int64_t>(attrs->lhs_batch_dims.size()) - 1;
  std::vector<int64_t> dimensions(result.dimensions().begin(), result.dimensions().end());
  dimensions.insert(dimensions.begin() + first, x.dimensions(attrs->lhs_batch_dims.back()));
  const Shape shape =
      ShapeUtil::MakeShape(SumType(x.element_type(), y.element_type(), result.element_type()), dimensions);
  return dot->parent()->AddOp(HloOpcode::kDot, {dot->operand(0), dot->operand(1)}, std::move(attrs), {}, &shape);
}

// Adds what an InParts product is a part of.
absl::StatusOr<HloInstruction*> SumOfParts(HloInstruction* parts, PrimitiveType type) {
  HloComputation* const computation = parts->parent();
  const PrimitiveType sum_type = parts->shape().element_type();
  HloInstruction* const zero = computation->AddConstant(LiteralUtil::FromDouble(sum_type, 0));
  const auto dimension = static_cast<int64_t>(parts->attrs<DotAttrs>().lhs_batch_dims.size()) - 1;
  HILO_ASSIGN_OR_RETURN(
      HloInstruction * sum,
      MakeReduce(parts, zero, {dimension}, MakeScalarComputation(computation->parent(), HloOpcode::kAdd, sum_type)));
  return MakeConvert(sum, type);
}

class GemmFusion : public HloPass {
 public:
  GemmFusion(Libraries* libraries, std::function<bool(const HloInstruction&)> is_ours)
      : libraries_(*libraries), is_ours_(std::move(is_ours)) {}
  absl::string_view name() const override { return "fuse-gemm"; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    bool changed = false;
    for (HloComputation* computation : module->computations()) {
      if (computation->IsFusion()) continue;
      std::vector<HloInstruction*> dots;
      for (HloInstruction* instruction : computation->instructions()) {
        if (instruction->opcode() == HloOpcode::kDot && IsLarge(*instruction) && !is_ours_(*instruction))
          dots.push_back(instruction);
      }
      for (HloInstruction* dot : dots) {
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        // A dead one may have been removed together with another.
        const auto left = computation->instructions();
        if (std::find(left.begin(), left.end(), dot) == left.end()) continue;
        HILO_ASSIGN_OR_RETURN(const bool fused, Fuse(dot));
        changed |= fused;
      }
    }
    return changed;
  }

 private:
  bool IsLarge(const HloInstruction& dot) const {
    const DotAttrs& attrs = dot.attrs<DotAttrs>();
    double depth = 1, batch = 1;
    for (int64_t d : attrs.lhs_contracting_dims) depth *= static_cast<double>(dot.operand(0)->shape().dimensions(d));
    for (int64_t d : attrs.lhs_batch_dims) batch *= static_cast<double>(dot.operand(0)->shape().dimensions(d));
    const double products = depth * static_cast<double>(ShapeUtil::ElementsIn(dot.shape()));
    const LibraryThresholds& thresholds = libraries_.thresholds();
    return products >= static_cast<double>(thresholds.gemm_products) &&
           products >= batch * static_cast<double>(thresholds.gemm_matrix);
  }

  absl::StatusOr<bool> Fuse(HloInstruction* dot) {
    std::optional<GemmMatch> match = MatchDot(*dot);
    if (!match.has_value()) {
      HILO_ASSIGN_OR_RETURN(HloInstruction * ordered, InOrder(dot));
      match = MatchDot(*ordered);
      if (!match.has_value() || !libraries_.SelectGemm(match->gemm).has_value()) {
        HILO_RETURN_IF_ERROR(ordered->parent()->RemoveInstructionAndUnusedOperands(ordered));
        return false;
      }
      HILO_ASSIGN_OR_RETURN(HloInstruction * parts, FewerBytesInParts(dot, TransposedBytes(*dot, *ordered)));
      if (parts != nullptr) {
        HILO_RETURN_IF_ERROR(ordered->parent()->RemoveInstructionAndUnusedOperands(ordered));
        HILO_ASSIGN_OR_RETURN(ordered, SumOfParts(parts, dot->shape().element_type()));
      }
      HILO_RETURN_IF_ERROR(dot->parent()->ReplaceInstruction(dot, ordered));
      dot = parts != nullptr ? parts : ordered;
    } else if (!libraries_.SelectGemm(match->gemm).has_value()) {
      return false;
    }
    std::optional<GemmMatch> grown = MatchGemm(*dot);
    if (!grown.has_value() || !libraries_.SelectGemm(grown->gemm).has_value()) grown = MatchDot(*dot);
    HILO_RETURN_IF_ERROR(FuseForLibrary(grown->members, grown->root, "gemm"));
    return true;
  }

  // Returns the product in parts that writes and reads the fewest bytes, if they are less than `most` and the library
  // computes it as it is; else null.
  absl::StatusOr<HloInstruction*> FewerBytesInParts(HloInstruction* dot, double most) {
    HloInstruction* best = nullptr;
    for (size_t i = 0; i < dot->attrs<DotAttrs>().lhs_contracting_dims.size(); ++i) {
      HILO_ASSIGN_OR_RETURN(HloInstruction * parts, InParts(dot, i));
      const double bytes = 2 * BytesOf(*parts);
      std::optional<GemmMatch> match;
      if (bytes < most) match = MatchDot(*parts);
      if (match.has_value() && libraries_.SelectGemm(match->gemm).has_value()) {
        std::swap(best, parts);
        most = bytes;
      }
      if (parts != nullptr) HILO_RETURN_IF_ERROR(parts->parent()->RemoveInstructionAndUnusedOperands(parts));
    }
    return best;
  }

  Libraries& libraries_;
  const std::function<bool(const HloInstruction&)> is_ours_;
};

}  // namespace

std::unique_ptr<HloPass> MakeGemmFusion(Libraries* libraries, std::function<bool(const HloInstruction& dot)> is_ours) {
  return std::make_unique<GemmFusion>(libraries, std::move(is_ours));
}

}  // namespace hilo::gpu
