#include "hlo/ir/hlo_instruction.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/ir/kernel_config.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {
namespace {

// With more users than this, positions are kept in a map so that removing one stays cheap.
constexpr size_t kManyUsers = 16;

template <typename T>
bool Contains(const std::vector<T*>& list, const T* item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

template <typename T>
void Erase(std::vector<T*>& list, const T* item) {
  list.erase(std::remove(list.begin(), list.end(), item), list.end());
}

}  // namespace

HloInstruction::HloInstruction(HloOpcode opcode, Shape shape) : opcode_(opcode), shape_(std::move(shape)) {}
HloInstruction::~HloInstruction() = default;

std::unique_ptr<HloInstruction> HloInstruction::Create(HloOpcode opcode, Shape shape,
                                                       absl::Span<HloInstruction* const> operands,
                                                       std::unique_ptr<OpAttributes> attributes,
                                                       absl::Span<HloComputation* const> called) {
  auto instruction = std::unique_ptr<HloInstruction>(new HloInstruction(opcode, std::move(shape)));
  instruction->operands_.assign(operands.begin(), operands.end());
  instruction->attributes_ = std::move(attributes);
  instruction->called_computations_.assign(called.begin(), called.end());
  return instruction;
}

std::unique_ptr<HloInstruction> HloInstruction::CreateParameter(int64_t number, Shape shape, std::string name) {
  auto attributes = std::make_unique<ParameterAttrs>();
  attributes->number = number;
  auto instruction = Create(HloOpcode::kParameter, std::move(shape), {}, std::move(attributes));
  instruction->name_ = std::move(name);
  return instruction;
}

std::unique_ptr<HloInstruction> HloInstruction::CreateConstant(std::shared_ptr<const Literal> literal) {
  auto attributes = std::make_unique<ConstantAttrs>();
  attributes->literal.value = std::move(literal);
  Shape shape = attributes->literal.value->shape();
  return Create(HloOpcode::kConstant, std::move(shape), {}, std::move(attributes));
}

HloModule* HloInstruction::module() const { return parent_ == nullptr ? nullptr : parent_->parent(); }

bool HloInstruction::IsRoot() const { return parent_ != nullptr && parent_->root_instruction() == this; }

void HloInstruction::AddUser(HloInstruction* user) {
  if (user_positions_.empty() ? Contains(users_, user) : user_positions_.contains(user)) return;
  users_.push_back(user);
  if (!user_positions_.empty()) {
    user_positions_[user] = users_.size() - 1;
  } else if (users_.size() > kManyUsers) {
    for (size_t i = 0; i < users_.size(); ++i) user_positions_[users_[i]] = i;
  }
}

void HloInstruction::RemoveUser(HloInstruction* user) {
  if (user_positions_.empty()) {
    Erase(users_, user);
    return;
  }
  auto it = user_positions_.find(user);
  if (it == user_positions_.end()) return;
  const int64_t hole = it->second;
  user_positions_.erase(it);
  users_[hole] = users_.back();
  users_.pop_back();
  if (hole < static_cast<int64_t>(users_.size())) user_positions_[users_[hole]] = hole;
}

void HloInstruction::AddControlDependencyTo(HloInstruction* successor) {
  if (Contains(control_successors_, successor)) return;
  control_successors_.push_back(successor);
  successor->control_predecessors_.push_back(this);
}

void HloInstruction::DropControlDependencies() {
  for (HloInstruction* predecessor : control_predecessors_) Erase(predecessor->control_successors_, this);
  for (HloInstruction* successor : control_successors_) Erase(successor->control_predecessors_, this);
  control_predecessors_.clear();
  control_successors_.clear();
}

void HloInstruction::set_kernel(KernelConfig config) {
  kernel_ = std::make_unique<const KernelConfig>(std::move(config));
}

void HloInstruction::CopyOriginFrom(const HloInstruction& other) {
  if (metadata_.empty()) metadata_ = other.metadata_;
  if (extra_attributes_.empty()) extra_attributes_ = other.extra_attributes_;
  if (source_text_line_ == 0) source_text_line_ = other.source_text_line_;
}

int64_t HloInstruction::parameter_number() const { return attrs<ParameterAttrs>().number; }
const Literal& HloInstruction::literal() const { return *attrs<ConstantAttrs>().literal.value; }
std::shared_ptr<const Literal> HloInstruction::shared_literal() const { return attrs<ConstantAttrs>().literal.value; }
int64_t HloInstruction::tuple_index() const { return attrs<GetTupleElementAttrs>().index; }

std::unique_ptr<HloInstruction> HloInstruction::CloneWithNewOperands(Shape shape,
                                                                     absl::Span<HloInstruction* const> operands) const {
  auto clone = Create(opcode_, std::move(shape), operands, attributes_ == nullptr ? nullptr : attributes_->Clone(),
                      called_computations_);
  clone->name_ = name_;
  clone->CopyOriginFrom(*this);
  return clone;
}

std::string HloInstruction::ToString() const {
  std::string text =
      absl::StrCat("%", name_, " = ", shape_.ToString(/*print_layout=*/false), " ", HloOpcodeString(opcode_), "(");
  for (size_t i = 0; i < operands_.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", operands_[i]->shape().ToString(false), " %", operands_[i]->name());
  }
  if (IsParameter()) absl::StrAppend(&text, parameter_number());
  if (IsConstant()) absl::StrAppend(&text, literal().ToString(/*with_shape=*/false, /*max_elements=*/16));
  absl::StrAppend(&text, ")");
  if (attributes_ != nullptr && !IsParameter() && !IsConstant()) {
    for (const auto& [name, value] : attributes_->ToText()) absl::StrAppend(&text, ", ", name, "=", value);
  }
  for (const HloComputation* called : called_computations_) absl::StrAppend(&text, ", calls %", called->name());
  return text;
}

}  // namespace hilo
