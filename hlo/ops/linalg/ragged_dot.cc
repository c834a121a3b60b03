// Ragged dot: a dot of which one dimension of the lhs is cut into consecutive groups of sizes known at run time. Group
// g covers [sizes[0] + ... + sizes[g-1], ... + sizes[g]) of the ragged dimension. The kind of that dimension
// determines the result:
//
//   neither (rows)   lhs [b,m,k], rhs [g,b,k,n] -> [b,m,n]     rows of group g use the matrix rhs[g]; rows in no group
//                                                              are 0
//   contracting      lhs [b,m,k], rhs [b,k,n]   -> [g,b,m,n]   each group is summed up on its own
//   batch            lhs [b,m,k], rhs [b,k,n]   -> [b,m,n]     groups change nothing
//
// group_sizes is one list, or a list for each index of the dimensions that come before the ragged one: the batch
// dimensions, then the free (or contracting) ones in front of it; of a ragged batch dimension, the batch dimensions in
// front of it.
#include "hlo/ops/linalg/contraction.h"
#include "hlo/ops/linalg/linalg_attributes.h"
#include "hlo/ops/table/op_checks.h"

namespace hilo {
namespace {

enum class Ragged { kRows, kContracting, kBatch };

Ragged ModeOf(const RaggedDotAttrs& attrs) {
  const int64_t ragged = attrs.lhs_ragged_dims[0];
  if (Contains(attrs.lhs_batch_dims, ragged)) return Ragged::kBatch;
  return Contains(attrs.lhs_contracting_dims, ragged) ? Ragged::kContracting : Ragged::kRows;
}

// The dimensions of the lhs among which the ragged one is, in order, batch dimensions first unless it is one itself.
std::vector<int64_t> RaggedOrder(const RaggedDotAttrs& attrs, const Shape& lhs) {
  std::vector<int64_t> order = attrs.lhs_batch_dims;
  const Ragged mode = ModeOf(attrs);
  if (mode == Ragged::kBatch) return order;
  const std::vector<int64_t> others =
      mode == Ragged::kContracting ? attrs.lhs_contracting_dims
                                   : FreeDimensions(lhs.rank(), attrs.lhs_batch_dims, attrs.lhs_contracting_dims);
  order.insert(order.end(), others.begin(), others.end());
  return order;
}

// Free dimensions of the rhs, excluding its group dimensions.
std::vector<int64_t> RhsFree(const RaggedDotAttrs& attrs, const Shape& rhs) {
  std::vector<int64_t> taken = attrs.rhs_contracting_dims;
  taken.insert(taken.end(), attrs.rhs_group_dims.begin(), attrs.rhs_group_dims.end());
  return FreeDimensions(rhs.rank(), attrs.rhs_batch_dims, taken);
}

absl::Status CheckGroupDimensions(const OpView& op, const RaggedDotAttrs& attrs) {
  if (attrs.lhs_ragged_dims.size() != 1) {
    return InvalidOp(op, "lhs_ragged_dims = ", ListText(attrs.lhs_ragged_dims), " must name exactly one dimension");
  }
  HILO_RETURN_IF_ERROR(CheckDimensions(op, "lhs_ragged_dims", attrs.lhs_ragged_dims, op.operand(0).rank(), "lhs"));
  HILO_RETURN_IF_ERROR(CheckDimensions(op, "rhs_group_dims", attrs.rhs_group_dims, op.operand(1).rank(), "rhs"));
  const size_t expected = ModeOf(attrs) == Ragged::kRows ? 1 : 0;
  if (attrs.rhs_group_dims.size() != expected) {
    return InvalidOp(op, "rhs_group_dims = ", ListText(attrs.rhs_group_dims), " must name ", expected,
                     " dimensions when the ragged one is a ", expected == 1 ? "free" : "batch or contracting",
                     " dimension");
  }
  for (int64_t d : attrs.rhs_group_dims) {
    if (Contains(attrs.rhs_batch_dims, d) || Contains(attrs.rhs_contracting_dims, d)) {
      return InvalidOp(op, "the group dimension ", d, " is also a batch or contracting dimension");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckGroupSizes(const OpView& op, const RaggedDotAttrs& attrs) {
  HILO_RETURN_IF_ERROR(CheckArray(op, 2, "group_sizes"));
  const Shape& lhs = op.operand(0);
  const Shape& sizes = op.operand(2);
  if (!IsIntegralType(sizes.element_type())) {
    return InvalidOp(op, "group_sizes must be integers; got ", sizes.ToString());
  }
  std::vector<int64_t> prefix;
  for (int64_t d : RaggedOrder(attrs, lhs)) {
    if (d == attrs.lhs_ragged_dims[0]) break;
    prefix.push_back(lhs.dimensions(d));
  }
  const auto in_front = sizes.dimensions().subspan(0, std::max<int64_t>(sizes.rank() - 1, 0));
  if (sizes.rank() != 1 && (sizes.rank() == 0 || in_front != absl::MakeConstSpan(prefix))) {
    return InvalidOp(op, "group_sizes must be one list, or a list for each position of ", ListText(prefix), "; got ",
                     sizes.ToString());
  }
  for (int64_t d : attrs.rhs_group_dims) {
    if (op.operand(1).dimensions(d) != sizes.dimensions().back()) {
      return InvalidOp(op, "group_sizes has ", sizes.dimensions().back(),
                       " groups, but the group dimension of the rhs has size ", op.operand(1).dimensions(d));
    }
  }
  return absl::OkStatus();
}

// Which groups hold a position of the ragged order.
class Groups {
 public:
  Groups(const RaggedDotAttrs& attrs, const Shape& lhs, const Literal& sizes)
      : count_(sizes.shape().dimensions().back()), shared_(sizes.shape().rank() == 1) {
    bool behind = false;
    for (int64_t d : RaggedOrder(attrs, lhs)) {
      if (behind) inner_ *= lhs.dimensions(d);
      behind = behind || d == attrs.lhs_ragged_dims[0];
    }
    ragged_ = lhs.dimensions(attrs.lhs_ragged_dims[0]);
    for (int64_t i = 0; i < sizes.element_count(); ++i) {
      const uint64_t before = i % count_ == 0 ? 0 : static_cast<uint64_t>(ends_.back());
      ends_.push_back(static_cast<int64_t>(before + static_cast<uint64_t>(sizes.GetAsInt64(i))));
    }
  }

  int64_t count() const { return count_; }
  // Calls f(group) for each that holds the row-major `position` among the ragged order's dimensions.
  template <typename F>
  void ForEachOf(int64_t position, F f) const {
    const int64_t at = position / inner_ % ragged_;
    const int64_t* ends = ends_.data() + (shared_ ? 0 : position / inner_ / ragged_ * count_);
    for (int64_t g = 0; g < count_; ++g) {
      if (at >= (g == 0 ? 0 : ends[g - 1]) && at < ends[g]) f(g);
    }
  }

 private:
  int64_t count_, ragged_ = 1, inner_ = 1;
  bool shared_;
  std::vector<int64_t> ends_;
};

template <typename Sum>
absl::Status RaggedDotAs(const OpView& op, Operands operands, Literal* result) {
  const RaggedDotAttrs& attrs = op.attrs<RaggedDotAttrs>();
  const Shape& lhs_shape = operands[0]->shape();
  const Shape& rhs_shape = operands[1]->shape();
  const std::vector<int64_t> lhs_free =
      FreeDimensions(lhs_shape.rank(), attrs.lhs_batch_dims, attrs.lhs_contracting_dims);
  const std::vector<int64_t> rhs_free = RhsFree(attrs, rhs_shape);
  const auto joined = [](std::vector<int64_t> list, const std::vector<int64_t>& more) {
    list.insert(list.end(), more.begin(), more.end());
    return list;
  };
  const std::vector<Sum> lhs =
      Gathered<Sum>(*operands[0], joined(joined(attrs.lhs_batch_dims, lhs_free), attrs.lhs_contracting_dims));
  const std::vector<Sum> rhs = Gathered<Sum>(
      *operands[1],
      joined(joined(joined(attrs.rhs_group_dims, attrs.rhs_batch_dims), attrs.rhs_contracting_dims), rhs_free));
  const int64_t batch = Volume(lhs_shape, attrs.lhs_batch_dims);
  const int64_t m = Volume(lhs_shape, lhs_free);
  const int64_t k = Volume(lhs_shape, attrs.lhs_contracting_dims);
  const int64_t n = Volume(rhs_shape, rhs_free);
  const Groups groups(attrs, lhs_shape, *operands[2]);
  const Ragged mode = ModeOf(attrs);

  std::vector<Sum> sums(result->element_count(), Sum(0));
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t i = 0; i < m; ++i) {
      const Sum* x = lhs.data() + (b * m + i) * k;
      // The products of one row of the lhs, with the matrix `from`, of contracting position c.
      absl::Status stopped;
      const auto add = [&](int64_t from, int64_t c, int64_t to) {
        stopped.Update(op.Spend(n));
        if (!stopped.ok()) return;
        MultiplyAdd(x[c], rhs.data() + ((from * batch + b) * k + c) * n, sums.data() + ((to * batch + b) * m + i) * n,
                    n);
      };
      const auto add_row = [&](int64_t from) {
        for (int64_t c = 0; c < k; ++c) add(from, c, 0);
      };
      HILO_RETURN_IF_ERROR(op.Spend(groups.count() * (mode == Ragged::kContracting ? k : 1)));
      if (mode == Ragged::kBatch) add_row(0);
      if (mode == Ragged::kRows) groups.ForEachOf(b * m + i, add_row);
      for (int64_t c = 0; c < k && mode == Ragged::kContracting; ++c) {
        groups.ForEachOf(b * k + c, [&](int64_t g) { add(0, c, g); });
      }
      HILO_RETURN_IF_ERROR(stopped);
    }
  }
  ArrayTypeSwitch(result->shape().element_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* out = result->data<T>().data();
    for (size_t i = 0; i < sums.size(); ++i) out[i] = FromSum<T>(sums[i]);
  });
  return absl::OkStatus();
}

}  // namespace

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kRaggedDot>(const OpView& op) {
  const RaggedDotAttrs& attrs = op.attrs<RaggedDotAttrs>();
  HILO_RETURN_IF_ERROR(CheckContraction(op, attrs.lhs_batch_dims, attrs.lhs_contracting_dims, attrs.rhs_batch_dims,
                                        attrs.rhs_contracting_dims));
  HILO_RETURN_IF_ERROR(CheckGroupDimensions(op, attrs));
  HILO_RETURN_IF_ERROR(CheckGroupSizes(op, attrs));
  HILO_RETURN_IF_ERROR(CheckPrecision(op, attrs.operand_precision));
  HILO_ASSIGN_OR_RETURN(const PrimitiveType type, ProductType(op));
  const Shape& lhs = op.operand(0);
  const Shape& rhs = op.operand(1);
  std::vector<int64_t> sizes;
  if (ModeOf(attrs) == Ragged::kContracting) sizes.push_back(op.operand(2).dimensions().back());
  for (int64_t d : attrs.lhs_batch_dims) sizes.push_back(lhs.dimensions(d));
  for (int64_t d : FreeDimensions(lhs.rank(), attrs.lhs_batch_dims, attrs.lhs_contracting_dims)) {
    sizes.push_back(lhs.dimensions(d));
  }
  for (int64_t d : RhsFree(attrs, rhs)) sizes.push_back(rhs.dimensions(d));
  return Shape(type, sizes);
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kRaggedDot>(const OpView& op, const Shape& shape, Operands operands) {
  HILO_ASSIGN_OR_RETURN(Literal result, Literal::Create(shape));
  if (ShapeUtil::IsZeroElementArray(shape)) return result;
  HILO_RETURN_IF_ERROR(SumTypeSwitch(operands, shape.element_type(), [&](auto tag) {
    return RaggedDotAs<typename decltype(tag)::type>(op, operands, &result);
  }));
  return result;
}

}  // namespace hilo
