// hilo ops: lists the operations, and how each platform emits them.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "backends/registry.h"
#include "hlo/ops/semantics.h"
#include "tools/command.h"

namespace hilo::tools {
namespace {

// The platforms whose tables differ: an emulated device has the code of the real one.
constexpr absl::string_view kColumns[] = {"interpreter", "cpu", "cuda"};

std::string Quoted(absl::string_view text) { return absl::StrCat("\"", text, "\""); }

// "kernel", "kernel (element: of few terms)".
std::string TextOf(const EmissionRow& row) {
  const absl::string_view usual = EmissionName(row.usual);
  if (row.is_other == nullptr) return std::string(usual);
  return absl::StrCat(usual, " (", EmissionName(row.other), ": ", row.when, ")");
}

std::vector<absl::string_view> AttributeNames(HloOpcode opcode) {
  const std::unique_ptr<OpAttributes> attributes = MakeAttributes(opcode);
  return attributes == nullptr ? std::vector<absl::string_view>() : attributes->FieldNames();
}

std::string JsonOf(HloOpcode opcode) {
  const HloOpcodeInfo& info = OpcodeInfo(opcode);
  const std::string attributes =
      absl::StrJoin(AttributeNames(opcode), ", ",
                    [](std::string* out, absl::string_view name) { absl::StrAppend(out, Quoted(name)); });
  const std::string emission = absl::StrJoin(kColumns, ", ", [&](std::string* out, absl::string_view platform) {
    absl::StrAppend(out, Quoted(platform), ": ", Quoted(TextOf(EmissionOn(platform, opcode))));
  });
  const std::string arity = info.arity == kVariadic ? "null" : absl::StrCat(info.arity);
  return absl::StrFormat(
      "  {\"opcode\": %s, \"operands\": %s, \"from_table\": %s, \"attributes\": [%s], \"emission\": {%s}}",
      Quoted(info.text), arity, info.family == HloFamily::kOwn ? "false" : "true", attributes, emission);
}

absl::Status Ops(const Flags& flags) {
  std::vector<HloOpcode> opcodes;
  for (int i = 0; i < kHloOpcodeCount; ++i) opcodes.push_back(static_cast<HloOpcode>(i));
  std::sort(opcodes.begin(), opcodes.end(),
            [](HloOpcode a, HloOpcode b) { return HloOpcodeString(a) < HloOpcodeString(b); });
  if (flags.Has("json")) {
    std::vector<std::string> rows;
    for (const HloOpcode opcode : opcodes) rows.push_back(JsonOf(opcode));
    std::printf("[\n%s\n]\n", absl::StrJoin(rows, ",\n").c_str());
    return absl::OkStatus();
  }
  const auto print = [](absl::string_view text, absl::Span<const std::string> columns) {
    std::printf("%-28s%-14s%-28s%s\n", std::string(text).c_str(), columns[0].c_str(), columns[1].c_str(),
                columns[2].c_str());
  };
  print("operation", {std::string(kColumns[0]), std::string(kColumns[1]), std::string(kColumns[2])});
  for (const HloOpcode opcode : opcodes) {
    std::vector<std::string> columns;
    for (const absl::string_view platform : kColumns) {
      const EmissionRow row = EmissionOn(platform, opcode);
      columns.push_back(absl::StrCat(EmissionName(row.usual),
                                     row.is_other == nullptr ? "" : absl::StrCat(" or ", EmissionName(row.other))));
    }
    print(HloOpcodeString(opcode), columns);
  }
  return absl::OkStatus();
}

}  // namespace

Command OpsCommand() {
  return {.name = "ops",
          .arguments = "",
          .summary = "list the operations, and how each platform emits them",
          .details =
              "element: computed element by element, in any part of a fusion; kernel: a kernel of its own; expanded: "
              "written in\nother operations first. docs/ops.md has the same table with attributes and conditions.\n"
              "\n"
              "Examples:\n"
              "  hilo ops\n"
              "  hilo ops --json\n",
          .flags = {{"json", "", "a JSON array, an object per operation"}},
          .run = &Ops};
}

}  // namespace hilo::tools
