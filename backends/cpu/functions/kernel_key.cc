#include "backends/cpu/functions/kernel_key.h"

#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/cpu/functions/program_emitter.h"
#include "hlo/analysis/affine_index.h"
#include "hlo/analysis/canonical_order.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/text/kernel_config_text.h"

namespace hilo::cpu {
namespace {

// Omits names and metadata; numbers the instructions of computations in canonical order.
class KeyWriter {
 public:
  // `number`: of a constant.
  explicit KeyWriter(absl::FunctionRef<int64_t(const std::shared_ptr<const Literal>&)> number) : number_(number) {}

  std::string Take() { return std::move(key_); }

  void Instruction(const HloInstruction& instruction) {
    absl::StrAppend(&key_, HloOpcodeString(instruction.opcode()), " ", instruction.shape().ToString());
    if (instruction.IsConstant()) {
      Constant(instruction);
    } else if (instruction.attributes() != nullptr) {
      for (const auto& [name, value] : instruction.attributes()->ToText())
        absl::StrAppend(&key_, ",", name, "=", value);
    }
    for (const HloComputation* called : instruction.called_computations()) Computation(*called);
  }

  void Constant(const HloInstruction& constant) {
    if (ShapeUtil::ElementsIn(constant.shape()) == 1) {
      absl::StrAppend(&key_, " ", constant.literal().ToString());
    } else {
      absl::StrAppend(&key_, " #", number_(constant.shared_literal()));
    }
  }

  void Computation(const HloComputation& computation) {
    absl::flat_hash_map<const HloInstruction*, int64_t> numbers;
    absl::StrAppend(&key_, "{");
    for (const HloInstruction* instruction : CanonicalOrder(computation)) {
      const int64_t number = static_cast<int64_t>(numbers.size());
      numbers[instruction] = number;
      Instruction(*instruction);
      for (const HloInstruction* operand : instruction->operands()) absl::StrAppend(&key_, " ", numbers.at(operand));
      absl::StrAppend(&key_, ";");
    }
    absl::StrAppend(&key_, "root ", numbers.at(computation.root_instruction()), "}");
  }

  // The indices of a gather that its code has as constants, from the instructions before it.
  void StatedIndices(const HloInstruction& kernel) {
    if (kernel.opcode() != HloOpcode::kGather) return;
    const std::optional<std::vector<AffineIndex>> starts = AffineStartsOf(kernel);
    if (!starts.has_value()) return;
    for (const AffineIndex& start : *starts)
      absl::StrAppend(&key_, " ", start.offset, "+", absl::StrJoin(start.coefficients, ","));
  }

  void Config(KernelConfig config) {
    config.why.clear();
    Text(PrintKernelConfig(config));
  }

  void Text(absl::string_view text) { absl::StrAppend(&key_, text); }

 private:
  absl::FunctionRef<int64_t(const std::shared_ptr<const Literal>&)> number_;
  std::string key_;
};

}  // namespace

bool IsScalarOperand(const HloInstruction& kernel, const HloInstruction& operand) {
  return kernel.opcode() == HloOpcode::kFusion && operand.IsConstant() && operand.shape().IsScalar();
}

KernelTable KernelTableOf(const BufferAssignment& assignment, const HloInstruction* instruction) {
  KernelTable table;
  auto note = [&](const HloInstruction* owner) {
    for (int64_t leaf = 0, leaves = LeafCount(owner->shape()); leaf < leaves; ++leaf) {
      const BufferSlice& slice = assignment.slice(owner, leaf);
      if (slice.kind == StorageKind::kNone) continue;
      if (slice.kind == StorageKind::kConstant && !IsScalarOperand(*instruction, *owner)) continue;
      if (table.positions.try_emplace(slice.buffer, table.slices.size()).second) table.slices.push_back(slice);
    }
  };
  note(instruction);
  for (const HloInstruction* operand : instruction->operands()) note(operand);
  return table;
}

uint64_t KernelFingerprint(const HloInstruction& instruction) {
  absl::flat_hash_map<const Literal*, int64_t> numbers;
  const auto number = [&](const std::shared_ptr<const Literal>& literal) {
    return numbers.try_emplace(literal.get(), numbers.size()).first->second;
  };
  KeyWriter writer(number);
  writer.Config(*instruction.kernel());
  writer.Instruction(instruction);
  writer.StatedIndices(instruction);
  for (const HloInstruction* operand : instruction.operands()) writer.Text(operand->shape().ToString());
  return absl::HashOf(writer.Take());
}

std::string KernelKey(ProgramEmitter& program, const KernelTable& table, const HloInstruction* instruction) {
  const auto number = [&](const std::shared_ptr<const Literal>& literal) { return program.ConstantIndex(literal); };
  KeyWriter writer(number);
  writer.Config(*instruction->kernel());
  writer.Instruction(*instruction);
  writer.StatedIndices(*instruction);
  auto memory = [&](const HloInstruction* owner) {
    writer.Text("|");
    if (owner->IsConstant() && !IsScalarOperand(*instruction, *owner)) return writer.Instruction(*owner);
    writer.Text(owner->shape().ToString());
    for (int64_t leaf = 0, leaves = LeafCount(owner->shape()); leaf < leaves; ++leaf) {
      const BufferSlice& slice = program.assignment().slice(owner, leaf);
      if (slice.kind == StorageKind::kConstant && !table.positions.contains(slice.buffer)) {
        writer.Text(absl::StrCat(" #", slice.index));
      } else if (slice.kind != StorageKind::kNone) {
        // Memory that is never written is read with different guarantees.
        const bool is_read_only = slice.kind == StorageKind::kParameter || slice.kind == StorageKind::kConstant;
        writer.Text(absl::StrCat(" ", table.positions.at(slice.buffer), is_read_only ? "r" : "w"));
      }
    }
  };
  memory(instruction);
  for (const HloInstruction* operand : instruction->operands()) memory(operand);
  return writer.Take();
}

}  // namespace hilo::cpu
