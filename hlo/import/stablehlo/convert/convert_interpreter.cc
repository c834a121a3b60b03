// The dialect interpreter: what programs that test themselves have for StableHLO's reference interpreter.
//
//   %r:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@f, @f]]}     runs a grid of processes, rows of which are
//                                                                         replicas and columns partitions
//   %y = interpreter.probe %x, probe_id = "a" : T                         %x, kept under a name ...
//   "check.expect_serialized_eq"(%z) {probe_id = "a"} : (T) -> ()         ... with which %z is compared
//   %y = interpreter.print %x : T                                         %x, written to the standard output;
//                                                                         the result may be left out
//
// For run_parallel the module becomes one for as many replicas and partitions. Each device takes the inputs of its
// process, calls the process's program, and gathers the results of all, which so are the same on all devices.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/import/stablehlo/op_conversion.h"
#include "hlo/import/stablehlo/op_movement.h"
#include "hlo/ops/collective/collective_attributes.h"
#include "hlo/ops/structure/custom_call_attributes.h"

namespace hilo::stablehlo {
namespace {

// Processes by their number, replica * partitions + partition.
struct Grid {
  int64_t replicas = 0, partitions = 0;
  std::vector<HloComputation*> programs;
  std::vector<std::vector<HloInstruction*>> inputs;
  std::vector<std::vector<Shape>> results;

  int64_t size() const { return replicas * partitions; }
  bool IsUniform() const {
    return std::all_of(programs.begin(), programs.end(), [&](HloComputation* one) { return one == programs[0]; });
  }
};

std::vector<Shape> ResultsOf(const HloComputation& program) {
  const Shape& result = program.root_instruction()->shape();
  return result.IsTuple() ? result.tuple_shapes() : std::vector<Shape>{result};
}

absl::StatusOr<Grid> GridOf(const OpConversion& c) {
  Grid grid;
  const Attribute* infeed = c.op.Find("infeed");
  if (infeed != nullptr && !infeed->elements.empty()) return Unimplemented("infeed queues of processes");
  const Attribute* programs = c.op.Find("programs");
  grid.replicas = programs == nullptr ? 0 : static_cast<int64_t>(programs->elements.size());
  grid.programs = c.regions;
  for (int64_t r = 0; r < grid.replicas; ++r) {
    const auto columns = static_cast<int64_t>(programs->elements[static_cast<size_t>(r)]->elements.size());
    if (r == 0) grid.partitions = columns;
    if (columns != grid.partitions) return InvalidArgument("rows of programs of different lengths");
  }
  if (grid.size() == 0 || grid.size() != static_cast<int64_t>(grid.programs.size()))
    return InvalidArgument("expected a grid of functions as programs");
  size_t inputs = 0, results = 0;
  for (const HloComputation* program : grid.programs) {
    const auto taken = static_cast<size_t>(program->num_parameters());
    if (taken > c.operands.size() - inputs) break;
    const auto first = c.operands.begin() + static_cast<ptrdiff_t>(inputs);
    grid.inputs.emplace_back(first, first + static_cast<ptrdiff_t>(taken));
    inputs += taken;
    results += grid.results.emplace_back(ResultsOf(*program)).size();
  }
  if (grid.inputs.size() != grid.programs.size() || inputs != c.operands.size() || results != c.op.results.size())
    return InvalidArgument("the programs do not take ", c.operands.size(), " inputs and return ", c.op.results.size(),
                           " results together");
  return grid;
}

// The module's processes are those of the grid, each of which has arrays of its own.
absl::Status SetProcesses(const Grid& grid, HloModule* module) {
  AttributeText& attributes = module->extra_attributes();
  const auto mark = std::pair<std::string, std::string>("is_spmd_partitioned", "true");
  const bool is_marked = absl::c_linear_search(attributes, mark);
  if (is_marked && (module->replica_count() != grid.replicas || module->num_partitions() != grid.partitions))
    return InvalidArgument("grids of different sizes in one program");
  module->set_replica_count(grid.replicas);
  module->set_num_partitions(grid.partitions);
  if (!is_marked) attributes.push_back(mark);
  return absl::OkStatus();
}

// s32[]: the process of a device.
absl::StatusOr<HloInstruction*> ProcessNumber(OpConversion& c, const Grid& grid) {
  const Shape number = ShapeUtil::MakeShape(S32, {});
  HILO_ASSIGN_OR_RETURN(HloInstruction * replica, c.Add(HloOpcode::kReplicaId, {}));
  HILO_ASSIGN_OR_RETURN(HloInstruction * partition, c.Add(HloOpcode::kPartitionId, {}));
  HILO_ASSIGN_OR_RETURN(replica, c.Add(HloOpcode::kConvert, {replica}, nullptr, {}, &number));
  HILO_ASSIGN_OR_RETURN(partition, c.Add(HloOpcode::kConvert, {partition}, nullptr, {}, &number));
  HloInstruction* columns = c.AddConstant(
      std::make_shared<const Literal>(LiteralUtil::CreateR0<int32_t>(static_cast<int32_t>(grid.partitions))));
  HILO_ASSIGN_OR_RETURN(replica, c.Add(HloOpcode::kMultiply, {replica, columns}));
  return c.Add(HloOpcode::kAdd, {replica, partition});
}

std::vector<int64_t> WithRow(const Shape& shape) {
  std::vector<int64_t> dimensions = {1};
  dimensions.insert(dimensions.end(), shape.dimensions().begin(), shape.dimensions().end());
  return dimensions;
}

// The one of `values`, of equal shapes, that has a process's number.
absl::StatusOr<HloInstruction*> Select(OpConversion& c, HloInstruction* process, std::vector<HloInstruction*> values) {
  const Shape shape = values[0]->shape();
  if (!shape.IsArray() || values.size() == 1) return values[0];
  for (HloInstruction*& value : values) {
    HILO_ASSIGN_OR_RETURN(value, c.Reshape(value, WithRow(shape)));
  }
  auto one_behind_another = std::make_unique<ConcatenateAttrs>();
  one_behind_another->dimensions = {0};
  HILO_ASSIGN_OR_RETURN(HloInstruction * rows, c.Add(HloOpcode::kConcatenate, values, std::move(one_behind_another)));
  HloInstruction* zero = c.AddConstant(std::make_shared<const Literal>(LiteralUtil::CreateR0<int32_t>(0)));
  std::vector<HloInstruction*> operands(static_cast<size_t>(shape.rank()) + 2, zero);
  operands[0] = rows;
  operands[1] = process;
  auto attributes = std::make_unique<DynamicSliceAttrs>();
  attributes->dynamic_slice_sizes = WithRow(shape);
  HILO_ASSIGN_OR_RETURN(HloInstruction * row, c.Add(HloOpcode::kDynamicSlice, operands, std::move(attributes)));
  return c.Reshape(row, {shape.dimensions().begin(), shape.dimensions().end()});
}

// A value of every process: [processes, dimensions]. Null for tokens, which stay where they are.
absl::StatusOr<HloInstruction*> Gathered(OpConversion& c, const Grid& grid, HloInstruction* value) {
  if (!value->shape().IsArray()) return nullptr;
  HILO_ASSIGN_OR_RETURN(HloInstruction * row, c.Reshape(value, WithRow(value->shape())));
  auto attributes = std::make_unique<AllGatherAttrs>();
  std::vector<int64_t>& group = attributes->replica_groups.groups.emplace_back();
  for (int64_t process = 0; process < grid.size(); ++process) group.push_back(process);
  attributes->channel_id = c.state.module->NextUniqueId();
  attributes->use_global_device_ids = true;
  attributes->dimensions = {0};
  return c.Add(HloOpcode::kAllGather, {row}, std::move(attributes));
}

absl::StatusOr<HloInstruction*> OfProcess(OpConversion& c, HloInstruction* value, HloInstruction* gathered,
                                          int64_t process) {
  if (gathered == nullptr) return value;
  std::vector<int64_t> starts(static_cast<size_t>(gathered->shape().rank()), 0);
  std::vector<int64_t> limits(gathered->shape().dimensions().begin(), gathered->shape().dimensions().end());
  const std::vector<int64_t> ones(starts.size(), 1);
  starts[0] = process;
  limits[0] = process + 1;
  HILO_ASSIGN_OR_RETURN(HloInstruction * row, Slice(c, gathered, starts, limits, ones));
  return c.Reshape(row, {value->shape().dimensions().begin(), value->shape().dimensions().end()});
}

// All processes run one program: they call it.
absl::StatusOr<Results> RunOne(OpConversion& c, const Grid& grid, HloInstruction* process) {
  std::vector<HloInstruction*> inputs;
  for (size_t i = 0; i < grid.inputs[0].size(); ++i) {
    std::vector<HloInstruction*> values;
    for (const std::vector<HloInstruction*>& of_process : grid.inputs) {
      values.push_back(of_process[i]);
      if (!ShapeUtil::Compatible(values.back()->shape(), values[0]->shape()))
        return InvalidArgument("input ", i, " of @", grid.programs[0]->name(), " is ", values[0]->shape().ToString(),
                               " and ", values.back()->shape().ToString());
    }
    HILO_ASSIGN_OR_RETURN(inputs.emplace_back(), Select(c, process, std::move(values)));
  }
  HILO_ASSIGN_OR_RETURN(HloInstruction * call, c.Add(HloOpcode::kCall, inputs, nullptr, {grid.programs[0]}));
  const size_t count = grid.results[0].size();
  Results results(c.op.results.size());
  for (size_t i = 0; i < count; ++i) {
    HloInstruction* value = call;
    if (call->shape().IsTuple()) {
      HILO_ASSIGN_OR_RETURN(value, c.Element(call, static_cast<int64_t>(i)));
    }
    HILO_ASSIGN_OR_RETURN(HloInstruction * gathered, Gathered(c, grid, value));
    for (int64_t d = 0; d < grid.size(); ++d) {
      HILO_ASSIGN_OR_RETURN(results[static_cast<size_t>(d) * count + i], OfProcess(c, value, gathered, d));
    }
  }
  return results;
}

// A computation that takes the inputs of a process as a tuple, and returns the results of all, zeros for those of the
// others.
absl::StatusOr<HloComputation*> Branch(OpConversion& c, const Grid& grid, size_t process, const Shape& inputs) {
  HloComputation* branch = c.state.module->AddComputation(absl::StrCat("process.", process));
  HloInstruction* parameter = branch->AddInstruction(HloInstruction::CreateParameter(0, inputs, "inputs"));
  OpConversion within(c.op, branch, {}, {}, &c.state);
  std::vector<HloInstruction*> operands;
  for (int64_t i = 0; i < inputs.tuple_shapes_size(); ++i) {
    HILO_ASSIGN_OR_RETURN(operands.emplace_back(), within.Element(parameter, i));
  }
  HILO_ASSIGN_OR_RETURN(HloInstruction * call,
                        within.Add(HloOpcode::kCall, operands, nullptr, {grid.programs[process]}));
  std::vector<HloInstruction*> results;
  for (size_t d = 0; d < grid.results.size(); ++d) {
    for (size_t i = 0; i < grid.results[d].size(); ++i) {
      const Shape& shape = grid.results[d][i];
      HloInstruction*& result = results.emplace_back(call);
      if (d == process && call->shape().IsTuple()) {
        HILO_ASSIGN_OR_RETURN(result, within.Element(call, static_cast<int64_t>(i)));
      } else if (d != process && shape.IsToken()) {
        HILO_ASSIGN_OR_RETURN(result, within.Add(HloOpcode::kAfterAll, {}));
      } else if (d != process) {
        result = within.AddConstant(std::make_shared<const Literal>(LiteralUtil::Zero(shape.element_type())));
        HILO_ASSIGN_OR_RETURN(result, BroadcastInDim(within, result, shape, {}));
      }
    }
  }
  HILO_ASSIGN_OR_RETURN(HloInstruction * root, within.Add(HloOpcode::kTuple, results));
  HILO_RETURN_IF_ERROR(branch->set_root_instruction(root));
  return branch;
}

absl::StatusOr<Results> RunSeveral(OpConversion& c, const Grid& grid, HloInstruction* process) {
  std::vector<HloInstruction*> operands = {process};
  std::vector<HloComputation*> branches;
  for (size_t d = 0; d < grid.inputs.size(); ++d) {
    HILO_ASSIGN_OR_RETURN(operands.emplace_back(), c.Add(HloOpcode::kTuple, grid.inputs[d]));
    HILO_ASSIGN_OR_RETURN(branches.emplace_back(), Branch(c, grid, d, operands.back()->shape()));
  }
  HILO_ASSIGN_OR_RETURN(HloInstruction * all, c.Add(HloOpcode::kConditional, operands, nullptr, branches));
  Results results;
  for (size_t d = 0; d < grid.results.size(); ++d) {
    for (size_t i = 0; i < grid.results[d].size(); ++i) {
      HILO_ASSIGN_OR_RETURN(HloInstruction * value, c.Element(all, static_cast<int64_t>(results.size())));
      HILO_ASSIGN_OR_RETURN(HloInstruction * gathered, Gathered(c, grid, value));
      HILO_ASSIGN_OR_RETURN(results.emplace_back(), OfProcess(c, value, gathered, static_cast<int64_t>(d)));
    }
  }
  return results;
}

absl::StatusOr<Results> RunParallel(OpConversion& c) {
  HILO_ASSIGN_OR_RETURN(const Grid grid, GridOf(c));
  HILO_RETURN_IF_ERROR(SetProcesses(grid, c.state.module));
  HILO_ASSIGN_OR_RETURN(HloInstruction * process, ProcessNumber(c, grid));
  return grid.IsUniform() ? RunOne(c, grid, process) : RunSeveral(c, grid, process);
}

// Adds a custom call without a result, which stays for what it does.
absl::Status AddCall(OpConversion& c, absl::string_view target, absl::Span<HloInstruction* const> operands) {
  auto attributes = std::make_unique<CustomCallAttrs>();
  attributes->custom_call_target = std::string(target);
  attributes->custom_call_has_side_effect = true;
  const Shape none = ShapeUtil::MakeTupleShape({});
  return c.Add(HloOpcode::kCustomCall, operands, std::move(attributes), {}, &none).status();
}

absl::StatusOr<Results> Probe(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(1));
  const absl::string_view id = c.Text("probe_id");
  if (!c.state.probes.emplace(id, std::pair(c.computation, c.operands[0])).second)
    return InvalidArgument("there are two probes \"", id, "\"");
  return Results(c.operands);
}

absl::StatusOr<Results> ExpectSerializedEqual(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(1));
  HILO_RETURN_IF_ERROR(c.ExpectResults(0));
  const absl::string_view id = c.Text("probe_id");
  const auto probe = c.state.probes.find(id);
  if (probe == c.state.probes.end()) return InvalidArgument("no probe \"", id, "\" comes before");
  HILO_ASSIGN_OR_RETURN(const int64_t iteration, c.IntegerOr("iteration", 1));
  if (probe->second.first != c.computation || iteration != 1)
    return Unimplemented("probes of loops, branches and other functions");
  HILO_RETURN_IF_ERROR(AddCall(c, "check.expect_eq", {c.operands[0], probe->second.second}));
  return Results();
}

absl::StatusOr<Results> Print(OpConversion& c) {
  HILO_RETURN_IF_ERROR(c.ExpectOperands(1));
  HILO_RETURN_IF_ERROR(AddCall(c, "interpreter.print", c.operands));
  return c.op.results.empty() ? Results() : Results(c.operands);
}

constexpr ConversionRule kInterpreterRules[] = {
    {"check.expect_serialized_eq", ExpectSerializedEqual},
    {"interpreter.print", Print},
    {"interpreter.probe", Probe},
    {"interpreter.run_parallel", RunParallel},
};

}  // namespace

absl::Span<const ConversionRule> InterpreterRules() { return kInterpreterRules; }

}  // namespace hilo::stablehlo
