// A ragged dot has as much work as its plain dot, but only at run time is it known which rows use which matrix. The
// common form, rows in groups with one matrix each, is a product for each block of rows of a group, parallelized over
// threads. The others, and strict programs, are evaluated as specified: row by row, skipping what is in no group.
#include "backends/cpu/runtime_calls/ragged_dot_op.h"

#include <algorithm>

#include "backends/cpu/gemm/gemm.h"
#include "backends/cpu/runtime/parallel_parts.h"
#include "hilo/status_macros.h"
#include "hlo/ops/linalg/linalg_attributes.h"
#include "hlo/ops/semantics.h"

namespace hilo::cpu {
namespace {

class RaggedDotOp : public RuntimeCall {
 public:
  explicit RaggedDotOp(const HloInstruction& instruction)
      : attributes_(instruction.attributes()->Clone()), shape_(instruction.shape()) {
    for (const HloInstruction* operand : instruction.operands()) operand_shapes_.push_back(operand->shape());
  }

  absl::Status Run(const RunContext& run, const RuntimeCallArrays& arrays) const override {
    std::vector<Literal> literals;
    std::vector<const Literal*> operands;
    std::vector<const Shape*> shapes;
    for (size_t i = 0; i < operand_shapes_.size(); ++i) {
      HILO_ASSIGN_OR_RETURN(literals.emplace_back(), LiteralFromBytes(arrays.operands[i], operand_shapes_[i]));
      shapes.push_back(&operand_shapes_[i]);
    }
    for (const Literal& literal : literals) operands.push_back(&literal);
    WorkBudget budget(run.cancellation);
    const OpView op{
        .opcode = HloOpcode::kRaggedDot, .operands = shapes, .attributes = attributes_.get(), .budget = &budget};
    HILO_ASSIGN_OR_RETURN(const Literal result, EvaluateOp(op, shape_, operands));
    LiteralToBytes(result, shape_, arrays.results[0]);
    return absl::OkStatus();
  }

 private:
  std::unique_ptr<OpAttributes> attributes_;
  Shape shape_;
  std::vector<Shape> operand_shapes_;
};

// lhs [m, k] or [k, m], rhs [groups, k, n] in any order of dimensions.
bool IsGroupedRows(const HloInstruction& instruction) {
  const auto& attrs = instruction.attrs<RaggedDotAttrs>();
  const Shape &lhs = instruction.operand(0)->shape(), &rhs = instruction.operand(1)->shape(),
              &sizes = instruction.operand(2)->shape();
  return lhs.rank() == 2 && rhs.rank() == 3 && sizes.rank() == 1 &&
         (sizes.element_type() == S32 || sizes.element_type() == S64) && attrs.lhs_batch_dims.empty() &&
         attrs.lhs_contracting_dims.size() == 1 && attrs.rhs_group_dims.size() == 1 &&
         attrs.lhs_ragged_dims[0] != attrs.lhs_contracting_dims[0] && ShapeUtil::SameElementType(lhs, rhs) &&
         ShapeUtil::SameElementType(lhs, instruction.shape()) && !ShapeUtil::IsZeroElementArray(lhs) &&
         !ShapeUtil::IsZeroElementArray(rhs);
}

template <typename T>
class GroupedRowsOp : public RuntimeCall {
 public:
  explicit GroupedRowsOp(const HloInstruction& instruction) : general_(instruction) {
    const auto& attrs = instruction.attrs<RaggedDotAttrs>();
    const Shape &lhs = instruction.operand(0)->shape(), &rhs = instruction.operand(1)->shape();
    const auto lhs_strides = ShapeUtil::RowMajorStrides(lhs.dimensions()),
               rhs_strides = ShapeUtil::RowMajorStrides(rhs.dimensions());
    const int64_t group = attrs.rhs_group_dims[0], inner = attrs.rhs_contracting_dims[0], column = 3 - group - inner;
    m_ = lhs.dimensions(attrs.lhs_ragged_dims[0]);
    k_ = rhs.dimensions(inner);
    n_ = rhs.dimensions(column);
    groups_ = rhs.dimensions(group);
    lhs_strides_ = {lhs_strides[attrs.lhs_ragged_dims[0]], lhs_strides[attrs.lhs_contracting_dims[0]]};
    rhs_strides_ = {rhs_strides[inner], rhs_strides[column]};
    group_stride_ = rhs_strides[group];
    wide_sizes_ = instruction.operand(2)->shape().element_type() == S64;
  }

  absl::Status Run(const RunContext& run, const RuntimeCallArrays& arrays) const override {
    const T* lhs = reinterpret_cast<const T*>(arrays.operands[0]);
    const T* rhs = reinterpret_cast<const T*>(arrays.operands[1]);
    T* result = reinterpret_cast<T*>(arrays.results[0]);
    std::vector<Block> blocks;
    int64_t row = 0, end_of_group = 0;
    for (int64_t g = 0; g < groups_; ++g) {
      const int64_t size = wide_sizes_ ? reinterpret_cast<const int64_t*>(arrays.operands[2])[g]
                                       : reinterpret_cast<const int32_t*>(arrays.operands[2])[g];
      // Groups that overlap, or whose end is no number.
      if (size < 0 || __builtin_add_overflow(end_of_group, size, &end_of_group)) return general_.Run(run, arrays);
      const int64_t end = std::min(end_of_group, m_);
      for (; row < end; row += blocks.back().rows) blocks.push_back({g, row, std::min(kRows, end - row)});
    }
    std::fill(result + row * n_, result + m_ * n_, T(0));
    const double work =
        100 + 0.05 * static_cast<double>(std::min(kRows, m_)) * static_cast<double>(n_) * static_cast<double>(k_);
    return ForParts({run.thread_pool, run.cancellation}, static_cast<int64_t>(blocks.size()), work,
                    [&](int64_t begin, int64_t end) -> absl::Status {
                      for (int64_t i = begin; i < end; ++i) {
                        const Block& block = blocks[i];
                        HILO_RETURN_IF_ERROR(gemm::Multiply(block.rows, n_, k_, lhs + block.row * lhs_strides_.row,
                                                            lhs_strides_, rhs + block.group * group_stride_,
                                                            rhs_strides_, result + block.row * n_, n_));
                      }
                      return absl::OkStatus();
                    });
  }

 private:
  static constexpr int64_t kRows = 128;
  struct Block {
    int64_t group, row, rows;
  };

  RaggedDotOp general_;
  int64_t m_, k_, n_, groups_, group_stride_;
  gemm::Strides lhs_strides_, rhs_strides_;
  bool wide_sizes_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RuntimeCall>> MakeRaggedDotOp(const HloInstruction& instruction,
                                                             const CompileOptions& options) {
  if (!options.strict && IsGroupedRows(instruction)) {
    switch (instruction.shape().element_type()) {
      case F32: return std::make_unique<GroupedRowsOp<float>>(instruction);
      case F64: return std::make_unique<GroupedRowsOp<double>>(instruction);
      case S32:
      case U32: return std::make_unique<GroupedRowsOp<uint32_t>>(instruction);
      default: break;
    }
  }
  return std::make_unique<RaggedDotOp>(instruction);
}

}  // namespace hilo::cpu
