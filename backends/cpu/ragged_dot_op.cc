// A ragged dot has as much work as its plain dot, but only a run knows which rows meet which matrix. It is evaluated as the specification is:
// row by row, skipping what is in no group.
#include "backends/cpu/ragged_dot_op.h"

#include "base/status_macros.h"
#include "hlo/ops/op.h"

namespace hilo::cpu {
namespace {

class RaggedDotOp : public HostOp {
 public:
  explicit RaggedDotOp(const HloInstruction& instruction)
      : attributes_(instruction.attributes()->Clone()), shape_(instruction.shape()) {
    for (const HloInstruction* operand : instruction.operands()) operand_shapes_.push_back(operand->shape());
  }

  absl::Status Run(const RunContext&, const HostOpArrays& arrays) const override {
    std::vector<Literal> literals;
    std::vector<const Literal*> operands;
    std::vector<const Shape*> shapes;
    for (size_t i = 0; i < operand_shapes_.size(); ++i) {
      HILO_ASSIGN_OR_RETURN(literals.emplace_back(), LiteralFromBytes(arrays.operands[i], operand_shapes_[i]));
      shapes.push_back(&operand_shapes_[i]);
    }
    for (const Literal& literal : literals) operands.push_back(&literal);
    const OpView op{.opcode = HloOpcode::kRaggedDot, .operands = shapes, .attributes = attributes_.get()};
    HILO_ASSIGN_OR_RETURN(const Literal result, EvaluateOp(op, shape_, operands));
    LiteralToBytes(result, shape_, arrays.results[0]);
    return absl::OkStatus();
  }

 private:
  std::unique_ptr<OpAttributes> attributes_;
  Shape shape_;
  std::vector<Shape> operand_shapes_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<HostOp>> MakeRaggedDotOp(const HloInstruction& instruction, const CompileOptions&) {
  return std::make_unique<RaggedDotOp>(instruction);
}

}  // namespace hilo::cpu
