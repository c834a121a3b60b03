// hilo graph: a picture of a module.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "backends/cpu/kernels/kernel_choice.h"
#include "base/errors.h"
#include "base/file.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/text/hlo_parser.h"
#include "hlo/text/hlo_printer.h"
#include "runtime/dynamic_program.h"
#include "runtime/watchdog.h"
#include "tools/command.h"
#include "tools/graph_layout.h"
#include "tools/graph_page.h"
#include "tools/session.h"

namespace hilo::tools {
namespace {

constexpr size_t kMaxFusedLines = 12;
constexpr double kLetter = 6.7, kLine = 15, kPadding = 8, kTitle = 34;
constexpr int64_t kMaxConstantElements = 4;

// A box: an instruction that is not written into those that read it.
struct Node {
  const HloInstruction* instruction = nullptr;
  std::vector<std::string> lines;
  std::string details;  // its line of HLO, and the estimate of the cost model
  double nanoseconds = 0;
  std::vector<int> inputs;
};

struct Graph {
  std::string title;
  std::vector<Node> nodes;
};

std::string TimeText(double nanoseconds) {
  if (nanoseconds >= 1e6) return absl::StrFormat("%.3g ms", nanoseconds * 1e-6);
  if (nanoseconds >= 1e3) return absl::StrFormat("%.3g us", nanoseconds * 1e-3);
  return absl::StrFormat("%.3g ns", nanoseconds);
}

std::string BytesText(double bytes) {
  if (bytes >= 1 << 20) return absl::StrFormat("%.3g MiB", bytes / (1 << 20));
  if (bytes >= 1 << 10) return absl::StrFormat("%.3g KiB", bytes / (1 << 10));
  return absl::StrFormat("%.0f B", bytes);
}

bool IsWrittenInto(const HloInstruction& instruction) {
  return instruction.IsConstant() && ShapeUtil::ElementsIn(instruction.shape()) <= kMaxConstantElements;
}

std::string ValueText(const HloInstruction& constant) {
  return constant.shape().IsArray() ? constant.literal().ToString(false, kMaxConstantElements) : constant.name();
}

// The instructions that a fusion computes, a line each.
void AddFusedLines(const HloInstruction& fusion, std::vector<std::string>* lines) {
  std::vector<std::string> inside;
  for (const HloInstruction* instruction : fusion.called_computation()->MakePostOrder()) {
    if (instruction->IsParameter() || instruction->IsConstant()) continue;
    inside.push_back(absl::StrCat("  ", HloOpcodeString(instruction->opcode()), " ", instruction->shape().ToString()));
  }
  const size_t shown = std::min(inside.size(), inside.size() > kMaxFusedLines ? kMaxFusedLines - 1 : kMaxFusedLines);
  lines->insert(lines->end(), inside.end() - shown, inside.end());
  if (shown < inside.size()) lines->push_back(absl::StrCat("  and ", inside.size() - shown, " before"));
}

Node Describe(const HloInstruction& instruction, const MachineFacts& machine) {
  Node node{.instruction = &instruction};
  const Work work = WorkOf(instruction);
  const bool computes = !instruction.IsParameter() && !instruction.IsConstant() &&
                        !HasTrait(instruction.opcode(), kForwarding) && !HasTrait(instruction.opcode(), kControlFlow);
  if (computes) node.nanoseconds = Nanoseconds(work, machine);
  node.lines.push_back(instruction.name());
  std::string shape = instruction.shape().ToString();
  if (shape.size() > 40) shape = absl::StrCat(shape.substr(0, 37), "...");
  node.lines.push_back(absl::StrCat(HloOpcodeString(instruction.opcode()), " ", shape));
  if (instruction.opcode() == HloOpcode::kFusion) AddFusedLines(instruction, &node.lines);
  for (const HloInstruction* operand : instruction.operands()) {
    if (IsWrittenInto(*operand)) node.lines.push_back(absl::StrCat("  ", operand->name(), " = ", ValueText(*operand)));
  }
  std::vector<std::string> called;
  if (instruction.opcode() != HloOpcode::kFusion) {
    for (const HloComputation* computation : instruction.called_computations()) called.push_back(computation->name());
  }
  if (!called.empty()) node.lines.push_back(absl::StrCat("calls ", absl::StrJoin(called, ", ")));
  if (computes) node.lines.push_back(absl::StrCat(TimeText(node.nanoseconds), ", ", BytesText(work.bytes())));
  PrintOptions options = PrintOptions::Full();
  options.max_constant_elements = 16;
  node.details = absl::StrCat(PrintHloInstruction(instruction, options), "\n");
  if (instruction.opcode() == HloOpcode::kFusion)
    absl::StrAppend(&node.details, "\n", PrintHloComputation(*instruction.called_computation(), PrintOptions::Short()));
  if (computes) {
    absl::StrAppendFormat(&node.details,
                          "\nestimated: %s on one thread; %.4g flops, %.4g transcendentals, %s read, %s written\n",
                          TimeText(node.nanoseconds), work.flops, work.transcendentals, BytesText(work.bytes_read),
                          BytesText(work.bytes_written));
  }
  return node;
}

// The entry, and what its control flow calls; fused and applied computations are in the boxes that use them.
std::vector<const HloComputation*> DrawnComputations(const HloModule& module) {
  std::vector<const HloComputation*> drawn = {module.entry_computation()};
  for (size_t i = 0; i < drawn.size(); ++i) {
    for (const HloInstruction* instruction : drawn[i]->MakePostOrder()) {
      if (!HasTrait(instruction->opcode(), kControlFlow)) continue;
      for (const HloComputation* called : instruction->called_computations()) {
        if (std::find(drawn.begin(), drawn.end(), called) == drawn.end()) drawn.push_back(called);
      }
    }
  }
  return drawn;
}

Graph GraphOf(const HloComputation& computation, const MachineFacts& machine) {
  Graph graph{.title = computation.name()};
  absl::flat_hash_map<const HloInstruction*, int> numbers;
  for (const HloInstruction* instruction : computation.MakePostOrder()) {
    if (IsWrittenInto(*instruction) && !instruction->IsRoot()) continue;
    Node node = Describe(*instruction, machine);
    for (const HloInstruction* operand : instruction->operands()) {
      const auto found = numbers.find(operand);
      if (found != numbers.end()) node.inputs.push_back(found->second);
    }
    numbers[instruction] = static_cast<int>(graph.nodes.size());
    graph.nodes.push_back(std::move(node));
  }
  return graph;
}

std::string DotQuoted(const std::string& text) {
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\"", "\\\""}}), "\"");
}

std::string Dot(const std::vector<Graph>& graphs) {
  std::string text = "digraph module {\n  node [shape=box, fontname=monospace, fontsize=10];\n";
  for (size_t g = 0; g < graphs.size(); ++g) {
    absl::StrAppend(&text, "  subgraph cluster_", g, " {\n    label=", DotQuoted(graphs[g].title), ";\n");
    for (size_t i = 0; i < graphs[g].nodes.size(); ++i) {
      std::string label;
      for (const std::string& line : graphs[g].nodes[i].lines) absl::StrAppend(&label, line, "\n");
      std::string quoted = absl::StrReplaceAll(DotQuoted(label), {{"\n", "\\l"}});
      absl::StrAppend(&text, "    n", g, "_", i, " [label=", quoted, "];\n");
      for (const int input : graphs[g].nodes[i].inputs)
        absl::StrAppend(&text, "    n", g, "_", input, " -> n", g, "_", i, ";\n");
    }
    absl::StrAppend(&text, "  }\n");
  }
  return absl::StrCat(text, "}\n");
}

// White, to orange for what takes the most time.
std::string Colour(const Node& node, double largest) {
  if (node.instruction->IsParameter()) return "#e3ecf7";
  if (node.instruction->IsConstant()) return "#eeeeee";
  const double heat = largest > 0 ? std::sqrt(node.nanoseconds / largest) : 0;
  return absl::StrFormat("#%02x%02x%02x", 255, static_cast<int>(255 - 80 * heat), static_cast<int>(255 - 165 * heat));
}

void AppendBox(const Node& node, const GraphBox& box, const std::string& colour, std::string* svg) {
  absl::StrAppendFormat(svg, "<g class=\"node\" transform=\"translate(%.1f,%.1f)\"><title>%s</title>", box.corner.x,
                        box.corner.y, EscapeXml(node.details));
  absl::StrAppendFormat(svg, "<rect width=\"%.1f\" height=\"%.1f\" rx=\"%d\" fill=\"%s\" stroke=\"%s\"/>", box.width,
                        box.height, node.instruction->opcode() == HloOpcode::kFusion ? 8 : 2, colour,
                        node.instruction->IsRoot() ? "#b00020" : "#667");
  for (size_t i = 0; i < node.lines.size(); ++i) {
    absl::StrAppendFormat(svg, "<text x=\"%.1f\" y=\"%.1f\"%s xml:space=\"preserve\">%s</text>", kPadding,
                          kPadding + kLine * (static_cast<double>(i) + 0.8), i == 0 ? " font-weight=\"bold\"" : "",
                          EscapeXml(node.lines[i]));
  }
  absl::StrAppend(svg, "</g>\n");
}

void AppendEdge(const GraphEdge& edge, std::string* svg) {
  const std::vector<Point>& points = edge.points;
  absl::StrAppendFormat(svg, "<path class=\"edge\" d=\"M%.1f,%.1f", points[0].x, points[0].y);
  for (size_t i = 1; i < points.size(); ++i) {
    const Point &a = points[i - 1], &b = points[i];
    const double bend = (b.y - a.y) / 2;
    absl::StrAppendFormat(svg, " C%.1f,%.1f %.1f,%.1f %.1f,%.1f", a.x, a.y + bend, b.x, b.y - bend, b.x, b.y);
  }
  absl::StrAppend(svg, "\" marker-end=\"url(#arrow)\"/>\n");
}

std::string Svg(const std::vector<Graph>& graphs) {
  double largest = 0, width = 0, y = 0;
  for (const Graph& graph : graphs) {
    for (const Node& node : graph.nodes) largest = std::max(largest, node.nanoseconds);
  }
  std::string body;
  for (const Graph& graph : graphs) {
    std::vector<GraphBox> boxes;
    for (const Node& node : graph.nodes) {
      size_t longest = 0;
      for (const std::string& line : node.lines) longest = std::max(longest, line.size());
      boxes.push_back({.width = kLetter * static_cast<double>(longest) + 2 * kPadding,
                       .height = kLine * static_cast<double>(node.lines.size()) + 2 * kPadding,
                       .inputs = node.inputs});
    }
    const GraphLayout layout = LayOut(std::move(boxes));
    absl::StrAppendFormat(&body,
                          "<g transform=\"translate(0,%.1f)\"><text class=\"title\" x=\"20\" y=\"26\">%s</text><g "
                          "transform=\"translate(0,%.1f)\">\n",
                          y, EscapeXml(graph.title), kTitle);
    for (const GraphEdge& edge : layout.edges) AppendEdge(edge, &body);
    for (size_t i = 0; i < graph.nodes.size(); ++i)
      AppendBox(graph.nodes[i], layout.boxes[i], Colour(graph.nodes[i], largest), &body);
    absl::StrAppend(&body, "</g></g>\n");
    width = std::max(width, layout.width);
    y += layout.height + kTitle;
  }
  return SvgDocument(width, y, body);
}

absl::StatusOr<std::unique_ptr<HloModule>> StagedModule(const Flags& flags) {
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<HloModule> module, LoadModule(flags));
  if (flags.Has("input")) return module;
  HILO_ASSIGN_OR_RETURN(CompileOptions options, CompileOptionsFrom(flags));
  HILO_ASSIGN_OR_RETURN(const std::unique_ptr<Compiler> compiler, CompilerFrom(flags.Get("platform", "cpu"), flags));
  const CompileDeadline deadline(&options);
  HILO_ASSIGN_OR_RETURN(module, PrepareModule(*compiler, std::move(module), options));
  HILO_ASSIGN_OR_RETURN(const std::string text, compiler->Emit(std::move(module), options, "hlo"));
  return ParseHloModule(text, {.file_name = "optimized module"});
}

absl::Status DrawGraph(const Flags& flags) {
  const std::string path = flags.Get("o");
  const bool dot = absl::EndsWith(path, ".dot"), svg = absl::EndsWith(path, ".svg"),
             html = absl::EndsWith(path, ".html");
  if (!dot && !svg && !html)
    return InvalidArgument("-o: expected a file that ends in .html, .svg or .dot, got ",
                           path.empty() ? "none" : absl::StrCat("'", path, "'"));
  HILO_ASSIGN_OR_RETURN(const std::unique_ptr<HloModule> module, StagedModule(flags));
  HILO_ASSIGN_OR_RETURN(const MachineFacts machine, cpu::MachineFactsOf(flags.Get("cpu")));
  std::vector<Graph> graphs;
  for (const HloComputation* computation : DrawnComputations(*module)) graphs.push_back(GraphOf(*computation, machine));
  return WriteFile(path, dot ? Dot(graphs) : svg ? Svg(graphs) : HtmlPage(module->name(), Svg(graphs)));
}

}  // namespace

Command GraphCommand() {
  return {
      .name = "graph",
      .arguments = "MODULE",
      .summary = "draw a module as HTML, SVG or DOT",
      .details =
          "Draws the optimized module, or with --input the module as it is. A box is an instruction, with what a "
          "fusion computes, the\n"
          "estimate of its time on one thread and the bytes that it reads and writes; the more orange, the more time. "
          "Loop bodies and\n"
          "branches are drawn below the entry. The page needs no network: drag and wheel move it, / searches, a click "
          "on a box shows\n"
          "its HLO.\n"
          "\n"
          "Examples:\n"
          "  hilo graph step.hlo -o step.html\n"
          "  hilo graph step.mlir --input -o step.svg\n"
          "  hilo graph step.hlo --platform=cuda-emulated -o step.dot\n",
      .flags =
          Join(ModuleFlags(), {{"o", "FILE", "the picture: .html, .svg or .dot", true},
                               {"input", "", "the module as it is, before all passes"},
                               {"platform", "NAME", "whose passes: cpu (default), interpreter, cuda or cuda-emulated"},
                               {"strict", "", "as of hilo compile"},
                               {"cpu", "NAME", "processor to compile for"},
                               {"arch", "NAME", "the same for platforms cuda and cuda-emulated"},
                               {"disable-passes", "A,B", "passes to leave out"},
                               {"deadline", "SECONDS", "end a compilation that takes longer"}}),
      .run = &DrawGraph};
}

}  // namespace hilo::tools
