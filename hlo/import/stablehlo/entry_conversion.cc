#include "hlo/import/stablehlo/entry_conversion.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/import/stablehlo/attribute_text.h"
#include "hlo/ir/tile_assignment.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::stablehlo {
namespace {

using Kind = Attribute::Kind;

// The dictionary of argument or result `i`; null if there is none.
const Attribute* EntryOf(const Attribute* list, size_t i) {
  if (list == nullptr || i >= list->elements.size() || list->elements[i]->kind != Kind::kDictionary) return nullptr;
  return list->elements[i];
}

const Attribute* Find(const Attribute* dictionary, absl::string_view name) {
  if (dictionary == nullptr) return nullptr;
  for (const NamedAttribute& entry : dictionary->entries) {
    if (entry.name == name) return entry.value;
  }
  return nullptr;
}

std::string StringIn(const Attribute* dictionary, absl::string_view name) {
  const Attribute* value = Find(dictionary, name);
  return value == nullptr ? "" : std::string(value->text);
}

// A result without a stated sharding has the one that the program gives to the value itself; null if there is none.
const Attribute* ShardingOfValue(const Value* value) {
  const Operation* op = value->defined_by;
  for (; op != nullptr && op->name == "builtin.unrealized_conversion_cast" && op->operands.size() == 1;
       op = value->defined_by) {
    value = op->operands[0];
  }
  if (op == nullptr) return nullptr;
  if (op->name == "sdy.sharding_constraint") return op->Find("sharding");
  const Attribute* out = op->name == "sdy.manual_computation" ? op->Find("out_shardings") : nullptr;
  const auto number = static_cast<size_t>(value->result_number);
  if (out == nullptr || out->kind != Kind::kPerValue || number >= out->elements.size()) return nullptr;
  return out->elements[number];
}

bool HasOpenDimension(const Attribute& sharding) {
  return absl::c_any_of(sharding.elements, [](const Attribute* element) {
    return element->kind == Kind::kDimSharding && element->integer == 0;
  });
}

absl::Status SetSharding(const Attribute& sharding, const Shardings& shardings, StablehloValueInfo* info) {
  HILO_ASSIGN_OR_RETURN(info->sharding, shardings.HloText(sharding));
  HILO_ASSIGN_OR_RETURN(info->axes, shardings.Text(sharding));
  return absl::OkStatus();
}

absl::Status ReadInfo(const Attribute* dictionary, const Type& type, const Shardings& shardings,
                      StablehloValueInfo* info) {
  info->memory_kind = StringIn(dictionary, "mhlo.memory_kind");
  info->layout_mode = StringIn(dictionary, "mhlo.layout_mode");
  info->sharding = StringIn(dictionary, "mhlo.sharding");
  if (const Attribute* sharding = Find(dictionary, "sdy.sharding"); sharding != nullptr) {
    HILO_RETURN_IF_ERROR(SetSharding(*sharding, shardings, info));
  }
  info->is_token = type.kind == Type::Kind::kToken || Find(dictionary, "jax.token") != nullptr;
  return absl::OkStatus();
}

bool Divides(const std::string& sharding, const Shape& shape) {
  const auto tiles = TileAssignmentsFromHlo(sharding, 1);
  if (!tiles.ok() || (*tiles)[0].IsWhole()) return true;
  const std::vector<int64_t>& counts = (*tiles)[0].counts;
  for (size_t d = 0; d < counts.size() && static_cast<int64_t>(d) < shape.rank(); ++d) {
    if (shape.dimensions(static_cast<int64_t>(d)) % counts[d] != 0) return false;
  }
  return true;
}

// Layout "{0,1}": dimensions, minor first. Other modes leave the layout as it is.
absl::Status SetLayout(const std::string& mode, Shape* shape) {
  if (mode.empty() || mode[0] != '{' || !shape->IsArray()) return absl::OkStatus();
  Shape with_layout = *shape;
  with_layout.clear_layout();
  HILO_ASSIGN_OR_RETURN(with_layout, ParseShape(absl::StrCat(with_layout.ToString(), mode)));
  *shape = std::move(with_layout);
  return absl::OkStatus();
}

// The dimensions of `value`, minor first, in the order in which it is computed without moving elements: row-major
// except behind transposes, whose results then lie as their operands do.
std::vector<int64_t> NaturalOrder(const HloInstruction* value) {
  constexpr int kMaxSteps = 64;
  const int64_t rank = value->shape().rank();
  std::vector<int64_t> of(rank);  // of[d]: the dimension of the whole value that dimension d of `value` is by now
  absl::c_iota(of, 0);
  for (int step = 0; step < kMaxSteps; ++step) {
    if (value->opcode() == HloOpcode::kGetTupleElement && value->operand(0)->opcode() == HloOpcode::kTuple) {
      value = value->operand(0)->operand(value->tuple_index());
    } else if (value->opcode() == HloOpcode::kTranspose) {
      const std::vector<int64_t> results = std::exchange(of, std::vector<int64_t>(rank));
      for (int64_t d = 0; d < rank; ++d) of[value->attrs<TransposeAttrs>().dimensions[d]] = results[d];
      value = value->operand(0);
    } else if (IsElementwise(value->opcode()) && value->operand_count() > 0) {
      // What is the same everywhere, or made in place, has no order of its own.
      const absl::Span<HloInstruction* const> operands = value->operands();
      const auto operand = absl::c_find_if(operands, [&](const HloInstruction* operand) {
        return operand->shape().IsArray() && operand->shape().rank() == rank &&
               operand->opcode() != HloOpcode::kBroadcast && operand->opcode() != HloOpcode::kConstant;
      });
      if (operand == operands.end()) break;
      value = *operand;
    } else {
      break;
    }
  }
  std::reverse(of.begin(), of.end());
  return of;
}

// Callers see default layouts except where the program requests others, whatever the root's computation prefers, or
// leaves them to the compiler ("auto").
absl::Status SetEntryLayout(StablehloProgram* program) {
  ProgramShape shape = program->module->EntryProgramShape();
  for (Shape& parameter : shape.parameters) ShapeUtil::SetToDefaultLayout(&parameter);
  ShapeUtil::SetToDefaultLayout(&shape.result);
  for (size_t i = 0; i < program->arguments.size(); ++i) {
    HILO_RETURN_IF_ERROR(SetLayout(program->arguments[i].layout_mode, &shape.parameters[i]));
  }
  for (size_t i = 0; i < program->results.size(); ++i) {
    Shape* result =
        program->results.size() == 1 ? &shape.result : shape.result.mutable_tuple_shapes(static_cast<int64_t>(i));
    HILO_RETURN_IF_ERROR(SetLayout(program->results[i].layout_mode, result));
    if (program->results[i].layout_mode != "auto" || !result->IsArray()) continue;
    // A result in the memory of an argument lies as the argument does.
    if (absl::c_any_of(program->arguments, [&](const StablehloArgumentInfo& argument) {
          return argument.aliasing_output == static_cast<int64_t>(i);
        }))
      continue;
    const HloInstruction* root = program->module->entry_computation()->root_instruction();
    if (program->results.size() > 1 && root->opcode() != HloOpcode::kTuple) continue;
    const HloInstruction* value = program->results.size() == 1 ? root : root->operand(static_cast<int64_t>(i));
    result->mutable_layout()->minor_to_major = NaturalOrder(value);
  }
  program->module->set_entry_computation_layout(std::move(shape));
  return absl::OkStatus();
}

absl::Status SetDonation(StablehloProgram* program) {
  for (size_t i = 0; i < program->arguments.size(); ++i) {
    const StablehloArgumentInfo& argument = program->arguments[i];
    const auto number = static_cast<int64_t>(i);
    if (argument.buffer_donor) program->module->buffer_donors().push_back({.parameter_number = number});
    if (!argument.aliasing_output.has_value()) continue;
    const int64_t output = *argument.aliasing_output;
    if (output < 0 || output >= static_cast<int64_t>(program->results.size())) {
      return InvalidArgument("argument ", i, " of main: there is no result ", output, " for tf.aliasing_output");
    }
    const ShapeIndex index = program->results.size() == 1 ? ShapeIndex{} : ShapeIndex{output};
    program->module->input_output_aliases().push_back(
        {.output_index = index, .parameter_number = number, .must_alias = true});
  }
  return absl::OkStatus();
}

// HLO's own notation has no words for priorities: with these, the text in Shardy's is kept too.
void AddAxes(absl::Span<const std::string> axes, HloInstruction* instruction) {
  if (!absl::c_any_of(axes, [](const std::string& text) { return absl::StrContains(text, "}p"); })) return;
  instruction->add_extra_attribute("frontend_attributes", Shardings::FrontendText(axes));
}

// The root carries the shardings of all results. A result that is a parameter, or is returned twice, is first copied
// to a separate name.
absl::Status SetShardings(StablehloProgram* program) {
  HloComputation* entry = program->module->entry_computation();
  for (size_t i = 0; i < program->arguments.size(); ++i) {
    const StablehloValueInfo& argument = program->arguments[i];
    if (argument.sharding.empty()) continue;
    HloInstruction* parameter = entry->parameter_instruction(static_cast<int64_t>(i));
    parameter->add_extra_attribute("sharding", argument.sharding);
    AddAxes({argument.axes}, parameter);
  }
  const bool any = std::any_of(program->results.begin(), program->results.end(),
                               [](const auto& result) { return !result.sharding.empty(); });
  if (!any) return absl::OkStatus();
  HloInstruction* root = entry->root_instruction();
  std::vector<std::string> texts, axes;
  for (const StablehloValueInfo& result : program->results) {
    texts.push_back(result.sharding.empty() ? "{unknown}" : result.sharding);
    axes.push_back(result.axes.empty() ? "<mesh<[]>, []>" : result.axes);
  }
  if (texts.size() == 1) {
    HILO_ASSIGN_OR_RETURN(HloInstruction * tuple, entry->AddOp(HloOpcode::kTuple, {root}));
    HILO_ASSIGN_OR_RETURN(root,
                          entry->AddOp(HloOpcode::kGetTupleElement, {tuple}, std::make_unique<GetTupleElementAttrs>()));
    HILO_RETURN_IF_ERROR(entry->set_root_instruction(root));
    root->add_extra_attribute("sharding", texts[0]);
  } else {
    root->add_extra_attribute("sharding", absl::StrCat("{", absl::StrJoin(texts, ", "), "}"));
  }
  AddAxes(axes, root);
  return absl::OkStatus();
}

absl::Status SetDevices(const Operation& module, HloModule* hlo) {
  struct Count {
    absl::string_view name;
    void (HloModule::*set)(int64_t);
  };
  for (const Count& count : {Count{"mhlo.num_replicas", &HloModule::set_replica_count},
                             Count{"mhlo.num_partitions", &HloModule::set_num_partitions}}) {
    const Attribute* value = module.Find(count.name);
    if (value == nullptr) continue;
    if (value->kind != Kind::kInteger || value->integer < 1)
      return InvalidArgument("expected a positive integer as ", count.name);
    (hlo->*count.set)(value->integer);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status DescribeEntry(const Operation& module, const Operation& main, const Shardings& shardings,
                           StablehloProgram* program) {
  HILO_RETURN_IF_ERROR(SetDevices(module, program->module.get()));
  // Meshes are operations, or attributes of a program that went through HLO's notation of shardings.
  const Attribute* frontend = module.Find("mhlo.frontend_attributes");
  if (!shardings.meshes_text().empty()) {
    program->module->extra_attributes().emplace_back("frontend_attributes",
                                                     absl::StrCat("{xla.sdy.meshes=", shardings.meshes_text(), "}"));
  } else if (frontend != nullptr && !frontend->entries.empty()) {
    program->module->extra_attributes().emplace_back("frontend_attributes", FrontendAttributesText(*frontend));
  }
  const Block& body = main.regions[0]->blocks[0];
  for (size_t i = 0; i < body.arguments.size(); ++i) {
    const Attribute* dictionary = EntryOf(main.Find("arg_attrs"), i);
    StablehloArgumentInfo& info = program->arguments.emplace_back();
    HILO_RETURN_IF_ERROR(AddContext(ReadInfo(dictionary, *body.arguments[i]->type, shardings, &info),
                                    absl::StrCat("; argument ", i, " of main")));
    if (const Attribute* output = Find(dictionary, "tf.aliasing_output"); output != nullptr)
      info.aliasing_output = output->integer;
    const Attribute* donor = Find(dictionary, "jax.buffer_donor");
    info.buffer_donor = donor != nullptr && (donor->kind == Kind::kUnit || donor->integer != 0);
  }
  const std::vector<Value*>& returned = body.operations.back()->operands;
  for (size_t i = 0; i < returned.size(); ++i) {
    StablehloValueInfo& info = program->results.emplace_back();
    HILO_RETURN_IF_ERROR(AddContext(ReadInfo(EntryOf(main.Find("res_attrs"), i), *returned[i]->type, shardings, &info),
                                    absl::StrCat("; result ", i, " of main")));
    const Attribute* of_value = info.sharding.empty() ? ShardingOfValue(returned[i]) : nullptr;
    if (of_value != nullptr) {
      HILO_RETURN_IF_ERROR(SetSharding(*of_value, shardings, &info));
      info.is_open = HasOpenDimension(*of_value);
      if (!Divides(info.sharding, returned[i]->type->shape)) info.sharding.clear();  // a wish, not a demand
    }
  }
  HILO_RETURN_IF_ERROR(SetDonation(program));
  HILO_RETURN_IF_ERROR(SetShardings(program));
  return SetEntryLayout(program);
}

}  // namespace hilo::stablehlo
