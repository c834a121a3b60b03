#include "tools/verify_instructions.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/precision.h"
#include "hlo/evaluator/hlo_evaluator.h"
#include "hlo/text/hlo_printer.h"
#include "tools/progress_line.h"

namespace hilo::tools {
namespace {

constexpr size_t kMaxRows = 10;

using Values = absl::flat_hash_map<const HloInstruction*, Literal>;

// Whether the value of an instruction of the entry is compared.
bool IsCompared(const HloInstruction& instruction) {
  return instruction.shape().IsArray() && !instruction.IsParameter() && instruction.opcode() != HloOpcode::kConstant &&
         instruction.opcode() != HloOpcode::kGetTupleElement;
}

// Whether it can be evaluated by itself.
bool StandsAlone(const HloInstruction& instruction) {
  if (!instruction.shape().IsArray() || HasTrait(instruction.opcode(), kControlFlow) ||
      HasTrait(instruction.opcode(), kPerDevice) || ReachesOutside(instruction.opcode()))
    return false;
  return std::all_of(instruction.operands().begin(), instruction.operands().end(),
                     [](const HloInstruction* operand) { return operand->shape().IsArray(); });
}

// Makes the values of `wanted` the results of the module's entry.
absl::Status ReturnAll(HloModule* module, const std::vector<HloInstruction*>& wanted) {
  HloComputation* entry = module->entry_computation();
  HILO_ASSIGN_OR_RETURN(HloInstruction* const all, entry->AddOp(HloOpcode::kTuple, wanted));
  HILO_RETURN_IF_ERROR(entry->set_root_instruction(all, /*allow_shape_change=*/true));
  module->set_entry_computation_layout(std::nullopt);
  module->input_output_aliases().clear();
  module->buffer_donors().clear();
  return absl::OkStatus();
}

struct DifferenceRow {
  const HloInstruction* instruction;
  LiteralDifference difference;
};

void PrintRow(const DifferenceRow& row) {
  PrintOptions options = PrintOptions::Short();
  options.operand_types = true;
  std::printf("  %s\n    %s\n", PrintHloInstruction(*row.instruction, options).c_str(),
              DifferenceText(row.difference, row.difference.within_rounding).c_str());
}

// The instruction on the platform's operands; nullopt if an operand is not known.
absl::StatusOr<std::optional<Literal>> Alone(const HloInstruction& instruction, const Values& values) {
  std::vector<const Literal*> operands;
  for (const HloInstruction* operand : instruction.operands()) {
    const auto found = values.find(operand);
    if (found == values.end()) return std::optional<Literal>();
    operands.push_back(&found->second);
  }
  HloEvaluator evaluator;
  HILO_ASSIGN_OR_RETURN(Literal result, evaluator.EvaluateInstruction(instruction, operands));
  HILO_ASSIGN_OR_RETURN(result, result.ToStatic());
  return std::optional<Literal>(std::move(result));
}

}  // namespace

std::string DifferenceText(const LiteralDifference& difference, bool accepted) {
  if (difference.differing == 0) return "equal";
  const std::string ulps =
      difference.max_ulps == std::numeric_limits<int64_t>::max() ? "" : absl::StrCat(difference.max_ulps, " ulps, ");
  return absl::StrFormat("%s%s%.2g relative, %d of %d elements; worst %s", accepted ? "" : "DIFFERS: ", ulps,
                         difference.max_relative, difference.differing, difference.elements, difference.worst);
}

absl::Status VerifyInstructions(const Program& program, const std::string& platform, const Flags& flags) {
  Program all{.module = program.module->Clone(), .name = program.name, .platform = program.platform};
  HloComputation* entry = all.module->entry_computation();
  std::vector<HloInstruction*> wanted;
  for (HloInstruction* instruction : entry->MakePostOrder()) {
    const bool is_element = instruction->opcode() == HloOpcode::kGetTupleElement && instruction->shape().IsArray();
    if (IsCompared(*instruction) || is_element || instruction->opcode() == HloOpcode::kConstant)
      wanted.push_back(instruction);
  }
  std::vector<HloInstruction*> parameters;
  for (HloInstruction* parameter : entry->parameter_instructions()) {
    if (parameter->shape().IsArray()) wanted.push_back(parameter);
  }
  HILO_RETURN_IF_ERROR(ReturnAll(all.module.get(), wanted));
  const bool given = flags.Has("input") || flags.Has("inputs");
  HILO_ASSIGN_OR_RETURN(const Session session,
                        OpenSession(all, platform, flags, given ? ArgumentSource::kFlags : ArgumentSource::kRandom));
  if (session.executable->assignment().device_count() > 1)
    return Unimplemented("--instructions compares programs of one device only");
  std::optional<ProgressLine> progress(absl::StrCat("comparing the instructions on ", platform));
  HILO_ASSIGN_OR_RETURN(const Executable::ReplicatedResults results, session.Run());
  Values values;
  for (size_t i = 0; i < wanted.size(); ++i) {
    HILO_ASSIGN_OR_RETURN(Literal literal, results[0][i]->ToLiteral());
    HILO_ASSIGN_OR_RETURN(literal, literal.ToStatic());
    values[wanted[i]] = std::move(literal);
  }
  std::vector<DifferenceRow> rows;
  int64_t alone = 0, compared = 0;
  for (const HloInstruction* instruction : wanted) {
    if (!IsCompared(*instruction)) continue;
    ++compared;
    if (!StandsAlone(*instruction)) continue;
    HILO_ASSIGN_OR_RETURN(const std::optional<Literal> expected, Alone(*instruction, values));
    if (!expected.has_value()) continue;
    ++alone;
    DifferenceRow row{.instruction = instruction,
                      .difference = DifferenceOf(*expected, values[instruction], SignificantDigits(*instruction))};
    if (row.difference.within_rounding) {
      if (row.difference.differing > 0) rows.push_back(std::move(row));
      continue;
    }
    progress.reset();
    std::printf("the first instruction that is wrong on %s, given its operands:\n", platform.c_str());
    PrintRow(row);
    return absl::OkStatus();
  }
  progress.reset();
  std::printf("%s: %lld of %lld instructions of the entry evaluated by themselves, none is wrong%s\n", platform.c_str(),
              static_cast<long long>(alone), static_cast<long long>(compared),
              rows.empty() ? "" : "; the largest errors:");
  std::stable_sort(rows.begin(), rows.end(), [](const DifferenceRow& a, const DifferenceRow& b) {
    return a.difference.max_relative > b.difference.max_relative;
  });
  for (size_t i = 0; i < rows.size() && i < kMaxRows; ++i) PrintRow(rows[i]);
  return absl::OkStatus();
}

}  // namespace hilo::tools
