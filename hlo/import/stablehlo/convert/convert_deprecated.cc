// Operations that StableHLO has deprecated, in terms of those that stay.
#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "base/errors.h"
#include "hilo/literal.h"
#include "hilo/status_macros.h"
#include "hlo/import/stablehlo/op_conversion.h"
#include "hlo/ops/linalg/linalg_attributes.h"

namespace hilo::stablehlo {
namespace {

// A value with a letter for each dimension.
struct Labeled {
  HloInstruction* value;
  std::string labels;
};

absl::Status CheckLabels(const Labeled& one) {
  if (!one.value->shape().IsArray() || one.value->shape().rank() != static_cast<int64_t>(one.labels.size())) {
    return InvalidArgument("einsum_config: '", one.labels, "' does not name the dimensions of ",
                           one.value->shape().ToString());
  }
  for (size_t i = 0; i < one.labels.size(); ++i) {
    if (!absl::ascii_isalpha(one.labels[i])) return Unimplemented("einsum_config with '", one.labels, "'");
    if (one.labels.find(one.labels[i]) != i)
      return Unimplemented("einsum_config with a label twice in '", one.labels, "'");
  }
  return absl::OkStatus();
}

// Labels of both that the result has are batch dimensions; those that it lacks are summed over.
absl::StatusOr<Labeled> Product(OpConversion& c, const Labeled& lhs, const Labeled& rhs, absl::string_view result) {
  auto attributes = std::make_unique<DotAttrs>();
  std::string batch, lhs_free, rhs_free;
  for (size_t i = 0; i < lhs.labels.size(); ++i) {
    const char label = lhs.labels[i];
    const size_t other = rhs.labels.find(label);
    if (other == std::string::npos) {
      lhs_free += label;
      continue;
    }
    const bool is_batch = absl::StrContains(result, absl::string_view(&label, 1));
    if (is_batch) batch += label;
    (is_batch ? attributes->lhs_batch_dims : attributes->lhs_contracting_dims).push_back(static_cast<int64_t>(i));
    (is_batch ? attributes->rhs_batch_dims : attributes->rhs_contracting_dims).push_back(static_cast<int64_t>(other));
  }
  for (const char label : rhs.labels) {
    if (!absl::StrContains(lhs.labels, absl::string_view(&label, 1))) rhs_free += label;
  }
  HILO_ASSIGN_OR_RETURN(HloInstruction * product,
                        c.Add(HloOpcode::kDot, {lhs.value, rhs.value}, std::move(attributes)));
  return Labeled{product, batch + lhs_free + rhs_free};
}

// Sums over the dimensions that neither `other` nor the result has: a product with ones.
absl::StatusOr<Labeled> SumOverAlone(OpConversion& c, Labeled one, absl::string_view other, absl::string_view result) {
  const std::string labels = one.labels;
  for (const char label : labels) {
    if (absl::StrContains(other, absl::string_view(&label, 1)) ||
        absl::StrContains(result, absl::string_view(&label, 1)))
      continue;
    const Shape& shape = one.value->shape();
    HloInstruction* unit =
        c.AddConstant(std::make_shared<const Literal>(LiteralUtil::FromDouble(shape.element_type(), 1)));
    const Shape vector(shape.element_type(), {shape.dimensions(static_cast<int64_t>(one.labels.find(label)))});
    HILO_ASSIGN_OR_RETURN(HloInstruction * ones,
                          c.Add(HloOpcode::kBroadcast, {unit}, std::make_unique<BroadcastAttrs>(), {}, &vector));
    HILO_ASSIGN_OR_RETURN(one, Product(c, one, {ones, std::string(1, label)}, result));
  }
  return one;
}

// "ij,jk->ik".
absl::StatusOr<Results> Einsum(OpConversion& c) {
  const std::string config(c.Text("einsum_config"));
  const std::vector<std::string> sides = absl::StrSplit(config, absl::string_view("->"));
  const std::vector<std::string> operands = absl::StrSplit(sides[0], ',');
  if (sides.size() != 2 || operands.size() != c.operands.size() || operands.size() > 2) {
    return InvalidArgument("expected the labels of ", c.operands.size(),
                           " operands and of the result as einsum_config, got '", config, "'");
  }
  const std::string& result = sides[1];
  Labeled value{c.operands[0], operands[0]};
  HILO_RETURN_IF_ERROR(CheckLabels(value));
  HILO_ASSIGN_OR_RETURN(value, SumOverAlone(c, value, operands.size() == 2 ? operands[1] : "", result));
  if (operands.size() == 2) {
    Labeled rhs{c.operands[1], operands[1]};
    HILO_RETURN_IF_ERROR(CheckLabels(rhs));
    HILO_ASSIGN_OR_RETURN(rhs, SumOverAlone(c, rhs, operands[0], result));
    HILO_ASSIGN_OR_RETURN(value, Product(c, value, rhs, result));
  }
  std::vector<int64_t> permutation;
  for (const char label : result) {
    const size_t position = value.labels.find(label);
    if (position == std::string::npos)
      return InvalidArgument("einsum_config: no operand has the label '", std::string(1, label), "' of the result");
    permutation.push_back(static_cast<int64_t>(position));
  }
  if (std::is_sorted(permutation.begin(), permutation.end()) && permutation.size() == value.labels.size())
    return c.Split(value.value);
  return c.Split(c.Transpose(value.value, std::move(permutation)));
}

// Slices of dimension `dim` by an array of their numbers; the first `batch_dims` dimensions are of both.
absl::StatusOr<Results> TorchIndexSelect(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(2));
  HILO_ASSIGN_OR_RETURN(const int64_t dim, c.Integer("dim"));
  HILO_ASSIGN_OR_RETURN(const int64_t batch, c.Integer("batch_dims"));
  const Shape& operand = c.operands[0]->shape();
  const Shape& index = c.operands[1]->shape();
  if (!operand.IsArray() || !index.IsArray() || batch < 0 || batch > index.rank() || dim < batch ||
      dim >= operand.rank()) {
    return InvalidArgument("expected batch_dims from 0 to ", index.IsArray() ? index.rank() : 0,
                           " and dim from there on, a dimension of ", operand.ToString(), "; got ", batch, " and ",
                           dim);
  }
  auto attributes = std::make_unique<GatherAttrs>();
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const bool is_whole = d >= batch && d != dim;
    attributes->slice_sizes.push_back(is_whole ? operand.dimensions(d) : 1);
    if (is_whole) attributes->offset_dims.push_back(d < dim ? d : d + index.rank() - batch - 1);
  }
  for (int64_t d = 0; d < batch; ++d) {
    attributes->operand_batching_dims.push_back(d);
    attributes->start_indices_batching_dims.push_back(d);
  }
  attributes->collapsed_slice_dims = {dim};
  attributes->start_index_map = {dim};
  attributes->index_vector_dim = index.rank();
  return c.Split(c.Add(HloOpcode::kGather, c.operands, std::move(attributes)));
}

constexpr ConversionRule kDeprecatedRules[] = {
    {"stablehlo.einsum", Einsum},
    {"stablehlo.torch_index_select", TorchIndexSelect},
    {"stablehlo.unary_einsum", Einsum},
};

}  // namespace

absl::Span<const ConversionRule> DeprecatedRules() { return kDeprecatedRules; }

}  // namespace hilo::stablehlo
