#include "hlo/analysis/value_numbering.h"

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {
namespace {

// Constants beyond this many bytes are compared by identity only.
constexpr size_t kMaxConstantBytes = 1 << 16;

bool IsCollective(const HloInstruction& instruction) {
  return HasTrait(instruction.opcode(), kCollective) && instruction.attributes() != nullptr;
}

bool SameConstant(const HloInstruction& a, const HloInstruction& b) {
  if (&a.literal() == &b.literal()) return true;
  if (a.literal().shape().IsTuple() || a.literal().untyped_data().size() > kMaxConstantBytes) return false;
  return a.literal() == b.literal();
}

}  // namespace

Expression Expression::Of(const HloInstruction& instruction) {
  Expression expression{&instruction, {}, {}};
  if (!IsCollective(instruction)) return expression;
  for (const auto& [name, text] : instruction.attributes()->ToText())
    absl::StrAppend(&expression.collective, name, "=", name == "channel_id" ? "" : text, ";");
  return expression;
}

bool operator==(const Expression& x, const Expression& y) {
  const HloInstruction& a = *x.instruction;
  const HloInstruction& b = *y.instruction;
  if (a.opcode() != b.opcode() || !(a.shape() == b.shape())) return false;
  if (x.operands != y.operands || x.called != y.called) return false;
  if (a.IsConstant()) return SameConstant(a, b);
  if (!x.collective.empty()) return x.collective == y.collective;
  if ((a.attributes() == nullptr) != (b.attributes() == nullptr)) return false;
  return a.attributes() == nullptr || a.attributes()->Equals(*b.attributes());
}

size_t Expression::HashOfInstruction(const HloInstruction& instruction) {
  size_t content = 0;
  if (instruction.IsConstant()) {
    const Literal& literal = instruction.literal();
    const bool small = !literal.shape().IsTuple() && literal.untyped_data().size() <= kMaxConstantBytes;
    content = small ? literal.Hash() : reinterpret_cast<size_t>(&literal);
  } else if (instruction.attributes() != nullptr && !IsCollective(instruction)) {
    content = instruction.attributes()->Hash();
  }
  const Shape& shape = instruction.shape();
  return absl::HashOf(instruction.opcode(), shape.element_type(), content,
                      shape.IsArray() ? shape.dimensions() : absl::Span<const int64_t>());
}

const HloInstruction* ValueNumbering::FirstEqual(const HloInstruction* instruction) {
  if (const auto known = first_.find(instruction); known != first_.end()) return known->second;
  const HloInstruction*& first = first_[instruction];
  first = instruction;
  if (instruction->HasSideEffect()) return instruction;
  Expression expression = Expression::Of(*instruction);
  for (const HloComputation* called : instruction->called_computations()) {
    if (!HasNumber(called)) return instruction;
    expression.called.push_back(NumberOf(called));
  }
  for (const HloInstruction* operand : instruction->operands()) expression.operands.push_back(first_.at(operand));
  return first = expressions_.try_emplace(std::move(expression), instruction).first->second;
}

int64_t ValueNumbering::Number(const HloComputation& computation) {
  for (const HloInstruction* instruction : computation.MakePostOrder()) FirstEqual(instruction);
  return numbers_[&computation] =
             roots_.try_emplace(first_.at(computation.root_instruction()), roots_.size()).first->second;
}

}  // namespace hilo
