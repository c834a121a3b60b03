// A program with dynamic dimensions is written again, computation by computation, from the entry down.
//
//   ENTRY e (x: f32[<=8]) -> f32[]          ENTRY e (x: f32[8], n: s32[]) -> f32[]
//     ROOT s = reduce(x, 0)           =>       i = s32[8] iota()   m = compare(i, broadcast(n)), direction=LT
//                                              ROOT s = reduce(select(m, x, 0), 0)
//
// A computation is written once for each combination of dynamic dimensions that its callers give it: which dimensions
// are dynamic follows from the values, not from the shapes stated, because HLO lets a shape stay f32[8] after a
// set-dimension-size. A call hands the sizes on as more arguments; a loop or a branch, which has one argument, gets a
// tuple of it and the sizes. What a loop carries is dynamic if it is so at first or after an iteration, which is found
// by trying.
#include "hlo/passes/dynamic/expand_dynamic.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/dynamic_dimensions.h"
#include "hlo/ir/call_depth.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/passes/dynamic/sized_value.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

using Dimensions = std::vector<DynamicDimension>;  // sorted

int64_t LeafCountOf(const Shape& shape) { return static_cast<int64_t>(ShapeUtil::Leaves(shape).size()); }

// Those that the shape calls dynamic.
Dimensions StatedDimensions(const Shape& shape) {
  Dimensions dimensions;
  const std::vector<ShapeUtil::Leaf> leaves = ShapeUtil::Leaves(shape);
  for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    for (int64_t d = 0; d < leaves[leaf].shape->rank(); ++d) {
      if (leaves[leaf].shape->is_dynamic_dimension(d)) dimensions.push_back({static_cast<int64_t>(leaf), d});
    }
  }
  return dimensions;
}

Dimensions DimensionsOf(const SizedValue& value) {
  Dimensions dimensions;
  for (const auto& [dimension, size] : value.sizes) dimensions.push_back(dimension);
  return dimensions;
}

Dimensions UnionOf(const Dimensions& a, const Dimensions& b) {
  Dimensions all;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  return all;
}

// How a computation is to be written.
struct Variant {
  const HloComputation* computation;
  std::vector<Dimensions> parameters;
  bool packed;  // the one parameter is a tuple of the value and its sizes, if it has any
  bool forced;  // the sizes returned are those of `results`; else those that there are
  Dimensions results;
  bool operator<(const Variant& other) const {
    return std::tie(computation, parameters, packed, forced, results) <
           std::tie(other.computation, other.parameters, other.packed, other.forced, other.results);
  }
};
struct Written {
  HloComputation* computation = nullptr;
  Dimensions results;  // with any, the result is a tuple of the value and these
};

class Expander {
 public:
  explicit Expander(HloModule* module) : module_(module) {}

  absl::StatusOr<Written> Write(const Variant& variant);

 private:
  using Values = absl::flat_hash_map<const HloInstruction*, SizedValue>;

  absl::StatusOr<SizedValue> WriteInstruction(const HloInstruction& instruction, Values& values, GraphWriter* writer);
  absl::StatusOr<SizedValue> WriteCall(const HloInstruction& call, absl::Span<const SizedValue* const> operands,
                                       GraphWriter* writer);
  absl::StatusOr<SizedValue> WriteWhile(const HloInstruction& loop, const SizedValue& init, GraphWriter* writer);
  absl::StatusOr<SizedValue> WriteConditional(const HloInstruction& conditional,
                                              absl::Span<const SizedValue* const> operands, GraphWriter* writer);

  HloModule* module_;
  std::map<Variant, Written> written_;
  int depth_ = 0;
};

// The value and those of its sizes that are listed, as one tuple; the value alone if none are.
HloInstruction* Pack(const SizedValue& value, const Dimensions& dimensions, GraphWriter* writer) {
  if (dimensions.empty()) return value.data;
  const std::vector<ShapeUtil::Leaf> leaves = ShapeUtil::Leaves(value.data->shape());
  std::vector<HloInstruction*> sizes;
  for (const DynamicDimension& dimension : dimensions) {
    auto it = value.sizes.find(dimension);
    sizes.push_back(it != value.sizes.end()
                        ? it->second
                        : writer->S32(leaves[dimension.leaf].shape->dimensions(dimension.dimension)));
  }
  return writer->Tuple(value.data, sizes);
}

SizedValue Unpack(HloInstruction* packed, const Dimensions& dimensions, GraphWriter* writer) {
  if (dimensions.empty()) return {.data = packed};
  SizedValue value{.data = writer->Element(packed, 0)};
  for (size_t i = 0; i < dimensions.size(); ++i)
    value.sizes[dimensions[i]] = writer->Element(packed, static_cast<int64_t>(i) + 1);
  return value;
}

Shape PackedShape(const Shape& shape, const Dimensions& dimensions) {
  if (dimensions.empty()) return shape;
  std::vector<Shape> elements = {shape};
  elements.resize(1 + dimensions.size(), ShapeUtil::MakeShape(S32, {}));
  return Shape(std::move(elements));
}

// The parameters of a computation followed by one for each of their sizes.
absl::flat_hash_map<const HloInstruction*, SizedValue> AddParameters(const Variant& variant, GraphWriter* writer) {
  absl::flat_hash_map<const HloInstruction*, SizedValue> values;
  HloComputation* computation = writer->computation();
  int64_t next = variant.computation->num_parameters();
  const auto add = [&](int64_t number, Shape shape, const std::string& name) {
    return computation->AddInstruction(HloInstruction::CreateParameter(number, std::move(shape), name), name);
  };
  for (const HloInstruction* parameter : variant.computation->parameter_instructions()) {
    const Dimensions& dimensions = variant.parameters[parameter->parameter_number()];
    const Shape shape = ShapeUtil::MakeStaticShape(parameter->shape());
    if (variant.packed) {
      values[parameter] = Unpack(add(0, PackedShape(shape, dimensions), parameter->name()), dimensions, writer);
    } else {
      values[parameter].data = add(parameter->parameter_number(), shape, parameter->name());
    }
  }
  if (variant.packed) return values;
  for (const HloInstruction* parameter : variant.computation->parameter_instructions()) {
    for (const DynamicDimension& dimension : variant.parameters[parameter->parameter_number()]) {
      values[parameter].sizes[dimension] = add(next++, ShapeUtil::MakeShape(S32, {}), parameter->name() + ".size");
    }
  }
  return values;
}

absl::StatusOr<Written> Expander::Write(const Variant& variant) {
  if (auto it = written_.find(variant); it != written_.end()) return it->second;
  if (depth_ >= kMaxExpandedDepth) {
    return ResourceExhausted("computation ", variant.computation->name(), " is nested more than ", kMaxExpandedDepth,
                             " deep, which a program with dynamic dimensions may not be");
  }
  ++depth_;
  HloComputation* computation = module_->AddComputation(variant.computation->name());
  GraphWriter writer(computation);
  Values values = AddParameters(variant, &writer);
  for (const HloInstruction* instruction : module_->OrderOf(*variant.computation)) {
    if (instruction->IsParameter()) continue;
    HILO_ASSIGN_OR_RETURN(values[instruction], WriteInstruction(*instruction, values, &writer));
    if (!writer.status().ok()) return AddContext(writer.status(), InstructionContext(*instruction));
  }
  const SizedValue& root = values[variant.computation->root_instruction()];
  Written result{.computation = computation, .results = variant.forced ? variant.results : DimensionsOf(root)};
  HILO_RETURN_IF_ERROR(computation->set_root_instruction(Pack(root, result.results, &writer)));
  HILO_RETURN_IF_ERROR(writer.status());
  --depth_;
  return written_[variant] = std::move(result);
}

absl::StatusOr<SizedValue> Expander::WriteInstruction(const HloInstruction& instruction, Values& values,
                                                      GraphWriter* writer) {
  std::vector<const SizedValue*> operands;
  for (const HloInstruction* operand : instruction.operands()) operands.push_back(&values[operand]);
  const int64_t before = writer->computation()->instruction_count();
  SizedValue result;
  switch (instruction.opcode()) {
    case HloOpcode::kTuple: {
      std::vector<HloInstruction*> elements;
      int64_t first = 0;
      for (const SizedValue* operand : operands) {
        elements.push_back(operand->data);
        for (const auto& [dimension, size] : operand->sizes)
          result.sizes[{first + dimension.leaf, dimension.dimension}] = size;
        first += LeafCountOf(operand->data->shape());
      }
      result.data = writer->Copy(instruction, elements);
      break;
    }
    case HloOpcode::kGetTupleElement: {
      const Shape& tuple = operands[0]->data->shape();
      int64_t first = 0;
      for (int64_t i = 0; i < instruction.tuple_index(); ++i) first += LeafCountOf(tuple.tuple_shapes(i));
      const int64_t end = first + LeafCountOf(instruction.shape());
      for (const auto& [dimension, size] : operands[0]->sizes) {
        if (dimension.leaf >= first && dimension.leaf < end)
          result.sizes[{dimension.leaf - first, dimension.dimension}] = size;
      }
      result.data = writer->Copy(instruction, {operands[0]->data});
      break;
    }
    case HloOpcode::kOptimizationBarrier:
    case HloOpcode::kAddDependency:
    case HloOpcode::kDomain: {
      std::vector<HloInstruction*> data;
      for (const SizedValue* operand : operands) data.push_back(operand->data);
      result = {.data = writer->Copy(instruction, data), .sizes = operands[0]->sizes};
      break;
    }
    case HloOpcode::kCall:
    case HloOpcode::kFusion: {
      HILO_ASSIGN_OR_RETURN(result, WriteCall(instruction, operands, writer));
      break;
    }
    case HloOpcode::kWhile: {
      HILO_ASSIGN_OR_RETURN(result, WriteWhile(instruction, *operands[0], writer));
      break;
    }
    case HloOpcode::kConditional: {
      HILO_ASSIGN_OR_RETURN(result, WriteConditional(instruction, operands, writer));
      break;
    }
    default: {
      HILO_ASSIGN_OR_RETURN(result, WriteStatic(instruction, operands, writer));
    }
  }
  if (writer->computation()->instruction_count() > before) {
    for (const HloInstruction* predecessor : instruction.control_predecessors()) {
      HloInstruction* earlier = values[predecessor].data;
      if (earlier != result.data) earlier->AddControlDependencyTo(result.data);
    }
  }
  return result;
}

absl::StatusOr<SizedValue> Expander::WriteCall(const HloInstruction& call, absl::Span<const SizedValue* const> operands,
                                               GraphWriter* writer) {
  Variant variant{.computation = call.called_computation(), .packed = false, .forced = false};
  std::vector<HloInstruction*> arguments, sizes;
  for (const SizedValue* operand : operands) {
    arguments.push_back(operand->data);
    variant.parameters.push_back(DimensionsOf(*operand));
    for (const auto& [dimension, size] : operand->sizes) sizes.push_back(size);
  }
  arguments.insert(arguments.end(), sizes.begin(), sizes.end());
  HILO_ASSIGN_OR_RETURN(const Written callee, Write(variant));
  HloComputation* const called[] = {callee.computation};
  HloInstruction* result = writer->Op(HloOpcode::kCall, arguments, nullptr, called);
  result->CopyOriginFrom(call);
  return Unpack(result, callee.results, writer);
}

absl::StatusOr<SizedValue> Expander::WriteWhile(const HloInstruction& loop, const SizedValue& init,
                                                GraphWriter* writer) {
  Dimensions carried = DimensionsOf(init);
  while (true) {
    HILO_ASSIGN_OR_RETURN(const Written once, Write({.computation = loop.called_computation(1),
                                                     .parameters = {carried},
                                                     .packed = true,
                                                     .forced = false,
                                                     .results = {}}));
    Dimensions all = UnionOf(carried, once.results);
    if (all == carried) break;
    carried = std::move(all);
  }
  HILO_ASSIGN_OR_RETURN(const Written condition, Write({.computation = loop.called_computation(0),
                                                        .parameters = {carried},
                                                        .packed = true,
                                                        .forced = true,
                                                        .results = {}}));
  HILO_ASSIGN_OR_RETURN(const Written body, Write({.computation = loop.called_computation(1),
                                                   .parameters = {carried},
                                                   .packed = true,
                                                   .forced = true,
                                                   .results = carried}));
  HloComputation* const called[] = {condition.computation, body.computation};
  HloInstruction* result = writer->Op(HloOpcode::kWhile, {Pack(init, carried, writer)}, nullptr, called);
  result->CopyOriginFrom(loop);
  return Unpack(result, carried, writer);
}

absl::StatusOr<SizedValue> Expander::WriteConditional(const HloInstruction& conditional,
                                                      absl::Span<const SizedValue* const> operands,
                                                      GraphWriter* writer) {
  const size_t branches = conditional.called_computations().size();
  std::vector<Variant> variants;
  std::vector<HloInstruction*> arguments = {operands[0]->data};
  Dimensions results;
  for (size_t b = 0; b < branches; ++b) {
    variants.push_back({.computation = conditional.called_computation(static_cast<int64_t>(b)),
                        .parameters = {DimensionsOf(*operands[1 + b])},
                        .packed = true,
                        .forced = false,
                        .results = {}});
    arguments.push_back(Pack(*operands[1 + b], variants[b].parameters[0], writer));
    HILO_ASSIGN_OR_RETURN(const Written once, Write(variants[b]));
    results = UnionOf(results, once.results);
  }
  std::vector<HloComputation*> called;
  for (Variant& variant : variants) {
    variant.forced = true;
    variant.results = results;
    HILO_ASSIGN_OR_RETURN(const Written branch, Write(variant));
    called.push_back(branch.computation);
  }
  HloInstruction* result = writer->Op(HloOpcode::kConditional, arguments, nullptr, called);
  result->CopyOriginFrom(conditional);
  return Unpack(result, results, writer);
}

// Batch normalizations of dynamic arrays are reductions that count their elements at run time.
class DynamicBatchNormsAreExpanded : public Target {
 public:
  Emission EmissionOf(const HloInstruction& instruction) const override {
    const bool is_batch_norm = instruction.opcode() == HloOpcode::kBatchNormGrad ||
                               instruction.opcode() == HloOpcode::kBatchNormInference ||
                               instruction.opcode() == HloOpcode::kBatchNormTraining;
    return is_batch_norm && !instruction.operand(0)->shape().is_static() ? Emission::kExpanded : Emission::kKernel;
  }
};

// The header speaks of the entry as it was.
void AdaptHeader(const ProgramShape& before, const DynamicInterface& interface, HloModule* module) {
  const Shape size = ShapeUtil::MakeShape(S32, {});
  // Also where the module had no header: the instructions that are written have no layouts.
  ProgramShape layout = before;
  for (Shape& parameter : layout.parameters) parameter = ShapeUtil::MakeStaticShape(parameter);
  for (size_t i = 0; i < interface.parameters.size(); ++i) {
    layout.parameters.push_back(size);
    if (!layout.parameter_names.empty()) layout.parameter_names.push_back("size");
  }
  layout.result = PackedShape(ShapeUtil::MakeStaticShape(layout.result), interface.results);
  module->set_entry_computation_layout(std::move(layout));
  if (interface.results.empty()) return;
  for (InputOutputAlias& alias : module->input_output_aliases())
    alias.output_index.insert(alias.output_index.begin(), 0);
}

}  // namespace

absl::StatusOr<DynamicInterface> ExpandDynamicShapes(HloModule* module, const PassContext& context) {
  HILO_RETURN_IF_ERROR(
      MakeAsyncToSync()->Run(module, context).status());  // leaves no other calls than those that are handled here
  const DynamicBatchNormsAreExpanded target;
  HILO_RETURN_IF_ERROR(MakeExpander(&target)->Run(module, context).status());
  const ProgramShape before = module->EntryProgramShape();
  DynamicInterface interface;
  Variant entry{.computation = module->entry_computation(),
                .packed = false,
                .forced = true,
                .results = StatedDimensions(before.result)};
  int64_t first = 0;
  for (const Shape& parameter : before.parameters) {
    entry.parameters.push_back(StatedDimensions(parameter));
    for (const DynamicDimension& dimension : entry.parameters.back()) {
      interface.parameters.push_back({first + dimension.leaf, dimension.dimension});
    }
    first += LeafCountOf(parameter);
  }
  interface.results = entry.results;
  HILO_ASSIGN_OR_RETURN(const Written written, Expander(module).Write(entry));
  module->schedule().clear();
  module->set_is_scheduled(false);
  module->set_entry_computation(written.computation);
  AdaptHeader(before, interface, module);
  HILO_RETURN_IF_ERROR(module->RemoveUnusedComputations().status());
  return interface;
}

}  // namespace hilo
