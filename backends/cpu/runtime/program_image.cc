#include "backends/cpu/runtime/program_image.h"

#include <cmath>

#include "base/byte_stream.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/memory/buffer_assignment.h"
#include "runtime/shape_bytes.h"

namespace hilo::cpu {
namespace {

constexpr absl::string_view kFacts = "facts", kCode = "code", kConstants = "constants", kRuntimeCalls = "runtime calls",
                            kRuntimeCallText = "runtime call text", kSteps = "steps";

template <typename Texts>
std::string TextList(const Texts& texts) {
  ByteWriter out;
  out.U64(texts.size());
  for (const auto& text : texts) out.Text(text);
  return out.Take();
}

absl::StatusOr<std::vector<absl::string_view>> ReadTextList(const Artifact& artifact, absl::string_view section) {
  HILO_ASSIGN_OR_RETURN(const absl::string_view bytes, artifact.Find(section));
  ByteReader in(bytes, section);
  std::vector<absl::string_view> texts;
  for (uint64_t count = in.Count(8); count > 0 && in.ok(); --count) texts.push_back(in.Text());
  HILO_RETURN_IF_ERROR(in.Finish());
  return texts;
}

std::string FactsBytes(const ProgramFacts& facts) {
  ByteWriter out;
  WriteProgramShape(facts.shape, &out);
  out.U64(facts.donations.size());
  for (const auto& [output, parameter] : facts.donations) {
    out.I64(output);
    out.I64(parameter);
  }
  out.I64(facts.frame_bytes);
  out.F64(facts.estimated_nanoseconds);
  out.Bool(facts.flush_denormals);
  return out.Take();
}

absl::StatusOr<ProgramFacts> ReadFacts(const Artifact& artifact) {
  HILO_ASSIGN_OR_RETURN(const absl::string_view bytes, artifact.Find(kFacts));
  ByteReader in(bytes, kFacts);
  ProgramFacts facts;
  facts.shape = ReadProgramShape(&in);
  HILO_RETURN_IF_ERROR(in.status());
  facts.parameter_leaves = ParameterLeafCount(facts.shape);
  facts.output_leaves = LeafCount(facts.shape.result);
  const auto leaf = [&](int64_t count) {
    const int64_t number = in.I64();
    if (number < 0 || number >= count) in.Fail(absl::StrCat("the number of one of ", count, " leaves"));
    return number;
  };
  for (uint64_t count = in.Count(16); count > 0 && in.ok(); --count) {
    const int64_t output = leaf(facts.output_leaves);
    facts.donations.emplace_back(output, leaf(facts.parameter_leaves));
  }
  facts.frame_bytes = in.I64();
  if (facts.frame_bytes < 0) in.Fail("a number of bytes");
  facts.estimated_nanoseconds = in.F64();
  // Within the range of its users, which convert it to an integer.
  if (!(facts.estimated_nanoseconds >= 0 && facts.estimated_nanoseconds < 9e18)) in.Fail("a time");
  facts.flush_denormals = in.Bool();
  HILO_RETURN_IF_ERROR(in.Finish());
  return facts;
}

std::string RuntimeCallBytes(absl::Span<const RuntimeCallFacts> runtime_calls) {
  ByteWriter out;
  out.U64(runtime_calls.size());
  for (const RuntimeCallFacts& op : runtime_calls) {
    out.Text(op.name);
    out.Text(op.context);
    out.I64(op.operand_leaves);
    out.I64(op.result_leaves);
    out.I64(op.computations);
  }
  return out.Take();
}

absl::StatusOr<std::vector<RuntimeCallFacts>> ReadRuntimeCalls(const Artifact& artifact) {
  HILO_ASSIGN_OR_RETURN(const absl::string_view bytes, artifact.Find(kRuntimeCalls));
  ByteReader in(bytes, kRuntimeCalls);
  std::vector<RuntimeCallFacts> runtime_calls;
  const auto number = [&] {
    const int64_t value = in.I64();
    if (value < 0) in.Fail("a number of pointers");
    return value;
  };
  for (uint64_t count = in.Count(40); count > 0 && in.ok(); --count) {
    RuntimeCallFacts& op = runtime_calls.emplace_back();
    op.name = std::string(in.Text());
    op.context = std::string(in.Text());
    op.operand_leaves = number();
    op.result_leaves = number();
    op.computations = number();
  }
  HILO_RETURN_IF_ERROR(in.Finish());
  return runtime_calls;
}

std::string StepBytes(const profile::StepTable& table) {
  ByteWriter out;
  out.Text(table.program);
  out.U64(table.steps.size());
  for (const profile::Step& step : table.steps) {
    for (const std::string* text : {&step.name, &step.category, &step.text, &step.op_name, &step.source_file})
      out.Text(*text);
    out.I64(step.source_line);
    out.I64(step.instruction_count);
    out.F64(step.flops);
    out.F64(step.bytes);
  }
  return out.Take();
}

absl::StatusOr<std::shared_ptr<const profile::StepTable>> ReadSteps(const Artifact& artifact) {
  HILO_ASSIGN_OR_RETURN(const absl::string_view bytes, artifact.Find(kSteps));
  ByteReader in(bytes, kSteps);
  auto table = std::make_shared<profile::StepTable>();
  table->program = std::string(in.Text());
  for (uint64_t count = in.Count(72); count > 0 && in.ok(); --count) {
    profile::Step& step = table->steps.emplace_back();
    for (std::string* text : {&step.name, &step.category, &step.text, &step.op_name, &step.source_file})
      *text = std::string(in.Text());
    step.source_line = in.I64();
    step.instruction_count = in.I64();
    step.flops = in.F64();
    step.bytes = in.F64();
    if (std::isnan(step.flops) || std::isnan(step.bytes)) in.Fail("a count");
  }
  HILO_RETURN_IF_ERROR(in.Finish());
  return table;
}

}  // namespace

void EncodeProgram(const ProgramImage& image, absl::Span<const absl::string_view> constants, Artifact* artifact) {
  artifact->target = image.target;
  const auto add = [&](absl::string_view name, std::string bytes) {
    artifact->sections.push_back({std::string(name), std::move(bytes)});
  };
  add(kFacts, FactsBytes(image.facts));
  add(kCode, TextList(image.objects));
  add(kConstants, TextList(constants));
  add(kRuntimeCalls, RuntimeCallBytes(image.runtime_calls));
  add(kRuntimeCallText, image.runtime_call_text);
  add(kSteps, StepBytes(*image.steps));
}

absl::StatusOr<DecodedProgram> DecodeProgram(const Artifact& artifact) {
  DecodedProgram program;
  program.image.target = artifact.target;
  HILO_ASSIGN_OR_RETURN(program.image.facts, ReadFacts(artifact));
  HILO_ASSIGN_OR_RETURN(const std::vector<absl::string_view> objects, ReadTextList(artifact, kCode));
  for (const absl::string_view object : objects) program.image.objects.emplace_back(object);
  HILO_ASSIGN_OR_RETURN(program.constants, ReadTextList(artifact, kConstants));
  HILO_ASSIGN_OR_RETURN(program.image.runtime_calls, ReadRuntimeCalls(artifact));
  HILO_ASSIGN_OR_RETURN(const absl::string_view text, artifact.Find(kRuntimeCallText));
  program.image.runtime_call_text = std::string(text);
  HILO_ASSIGN_OR_RETURN(program.image.steps, ReadSteps(artifact));
  return program;
}

}  // namespace hilo::cpu
