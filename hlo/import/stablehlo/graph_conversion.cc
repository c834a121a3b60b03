// Converts functions and regions to computations.
//
// MLIR's regions see the values around them; HLO's computations see their parameters. So captured values are
// passed as parameters:
//
//   %r = while(%i = %init) { use of %x }      =>   w = (s32[], f32[8]) while((init, x)); the body returns x unchanged
//   %r = case(%k) ({ use of %x }, { ... })    =>   c = conditional(k, x, ...)
//   %r = sdy.manual_computation(%a) { ... }   =>   a call, between custom calls that cut arrays and join them
//
// A function whose signature leaves sizes open has those of each call: its operations are converted in the caller's
// computation, where sizes that are passed as numbers are known too. Regions of reductions, sorts and the like capture
// constants only. The walk keeps an explicit stack: a frame is a computation under construction; at an operation with
// regions, or a call of a function not yet converted, it waits for another frame on top of it.
#include "hlo/import/stablehlo/graph_conversion.h"

#include <optional>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/import/stablehlo/attribute_text.h"
#include "hlo/import/stablehlo/captures.h"
#include "hlo/import/stablehlo/entry_conversion.h"
#include "hlo/import/stablehlo/op_conversion.h"
#include "hlo/import/stablehlo/operation_form.h"
#include "hlo/import/stablehlo/quantization.h"
#include "hlo/import/stablehlo/shardings.h"
#include "hlo/ops/structure/custom_call_attributes.h"

namespace hilo::stablehlo {
namespace {

bool IsTerminator(const Operation& op) {
  return op.name == "stablehlo.return" || op.name == "func.return" || op.name == "sdy.return";
}

// How a region's values come into its computation.
enum class RegionForm {
  kLoop,      // one parameter: the loop's values, then its captures, as a tuple if they are several
  kBranch,    // one parameter: its captures, likewise
  kFunction,  // a parameter for each argument, then for each captured value
};
RegionForm FormOf(const Operation& op) {
  if (op.name == "stablehlo.while") return RegionForm::kLoop;
  if (op.name == "stablehlo.case" || op.name == "stablehlo.if") return RegionForm::kBranch;
  return RegionForm::kFunction;
}
// Whether captured values can be passed to a region of `op`.
bool MayCapture(const Operation& op) {
  return FormOf(op) != RegionForm::kFunction || op.name == "sdy.manual_computation" ||
         op.name == "sdy.named_computation" || op.name == "stablehlo.async_start";
}

// Whether an argument or a result of a function is a tensor of unknown sizes.
bool LeavesSizesOpen(const Operation& function) {
  const auto is_open = [](const Value* value) { return !value->type->IsStatic(); };
  for (const Region* region : function.regions) {
    for (const Block& block : region->blocks) {
      if (absl::c_any_of(block.arguments, is_open)) return true;
      if (!block.operations.empty() && absl::c_any_of(block.operations.back()->operands, is_open)) return true;
    }
  }
  return false;
}

// The attribute that names the functions whose computations the conversion of `op` gets as its regions; empty: none.
absl::string_view PassesFunctions(const Operation& op) {
  return op.name == "stablehlo.custom_call"      ? "called_computations"
         : op.name == "interpreter.run_parallel" ? "programs"
                                                 : "";
}

// A name as HLO text can have it.
std::string NameText(absl::string_view name) {
  std::string valid(name.empty() ? "main" : name);
  for (char& c : valid) {
    if (!absl::ascii_isalnum(c) && c != '_' && c != '.' && c != '-') c = '_';
  }
  if (!absl::ascii_isalpha(valid[0]) && valid[0] != '_') valid.insert(0, 1, '_');
  return valid;
}

// "; in stablehlo.add (jit(f)/add) at model.py:12".
std::string OperationContext(const Operation& op) {
  std::string text = absl::StrCat("; in ", op.name);
  const OpMetadata metadata = MetadataOf(op.location);
  if (!metadata.op_name.empty()) absl::StrAppend(&text, " (", metadata.op_name, ")");
  if (!metadata.source_file.empty()) absl::StrAppend(&text, " at ", metadata.source_file, ":", metadata.source_line);
  return text;
}

class GraphConversion {
 public:
  GraphConversion(const MlirModule& program, const StablehloOptions& options) : program_(program), options_(options) {}

  absl::StatusOr<StablehloProgram> Run() {
    if (program_.root == nullptr || program_.root->name != "builtin.module")
      return InvalidArgument("expected a builtin.module");
    const Attribute* name = program_.root->Find("sym_name");
    StablehloProgram result{.module = std::make_unique<HloModule>(NameText(name == nullptr ? "" : name->text))};
    state_.module = result.module.get();
    HILO_ASSIGN_OR_RETURN(captures_, Captures::Of(program_));
    HILO_ASSIGN_OR_RETURN(shardings_, Shardings::Of(*program_.root));
    state_.shardings = &shardings_;
    HILO_ASSIGN_OR_RETURN(const Operation* main, FindFunctions());
    HILO_ASSIGN_OR_RETURN(HloComputation * entry, ConvertMain(*main));
    state_.module->set_entry_computation(entry);
    HILO_RETURN_IF_ERROR(At(*main, DescribeEntry(*program_.root, *main, shardings_, &result)));
    if (options_.verify) HILO_RETURN_IF_ERROR(VerifyHloModule(*result.module, HloStage::kInput, options_.limits));
    return result;
  }

 private:
  struct Frame {
    const Operation* owner;  // of the region: a function or an operation of the frame below
    const Region* region;
    HloComputation* computation;
    absl::flat_hash_map<const Value*, HloInstruction*> values;
    std::vector<HloInstruction*> passed;   // of a loop: captured values, to be passed on
    size_t next = 0;                       // operation
    bool is_inline = false;                // the computation is that of the frame below, at a call
    std::vector<HloComputation*> regions;  // converted, of the operation `next`
  };

  // An error with the position of `op` in the text, and with the operation itself.
  absl::Status At(const Operation& op, const absl::Status& status) const {
    if (status.ok() || program_.source.text.empty()) return status;
    return program_.source.Error(op.offset, status.message(), status.code());
  }
  absl::Status InOperation(const Operation& op, const absl::Status& status) const {
    return status.ok() ? status : At(op, AddContext(status, OperationContext(op)));
  }

  // The functions by name; the one to start with: @main, or the only one that is not private and that no operation
  // names.
  absl::StatusOr<const Operation*> FindFunctions() {
    for (const Region* region : program_.root->regions) {
      for (const Block& block : region->blocks) {
        for (const Operation* op : block.operations) {
          if (op->name != "func.func") continue;
          const Attribute* name = op->Find("sym_name");
          if (name == nullptr || name->text.empty()) return At(*op, InvalidArgument("a function without sym_name"));
          if (!functions_.emplace(name->text, op).second)
            return At(*op, InvalidArgument("there are two functions @", name->text));
          HILO_RETURN_IF_ERROR(At(*op, AddContext(CheckFunctionType(*op), absl::StrCat("; in @", name->text))));
        }
      }
    }
    const auto main = functions_.find("main");
    if (main != functions_.end()) return main->second;
    const absl::flat_hash_set<absl::string_view> named = NamedFunctions();
    const Operation* only = nullptr;
    int64_t count = 0;
    for (const auto& [name, function] : functions_) {
      const Attribute* visibility = function->Find("sym_visibility");
      if (named.contains(name) || (visibility != nullptr && visibility->text == "private" && functions_.size() > 1))
        continue;
      only = function;
      ++count;
    }
    if (count == 1) return only;
    return InvalidArgument("expected a function @main; the program has ", functions_.size(), " functions, of which ",
                           count, " are public and not called");
  }

  absl::flat_hash_set<absl::string_view> NamedFunctions() const {
    absl::flat_hash_set<absl::string_view> named;
    for (const Operation& op : program_.operations()) {
      for (absl::string_view attribute : {"callee", "decomposition", "called_computations", "programs"}) {
        for (const absl::string_view name : NamesIn(op.Find(attribute))) named.insert(name);
      }
    }
    return named;
  }

  absl::StatusOr<HloComputation*> ConvertMain(const Operation& main) {
    HILO_RETURN_IF_ERROR(At(main, PushFunction(main)));
    HloComputation* done = nullptr;
    while (!frames_.empty()) {
      if (state_.module->NextUniqueId() > options_.limits.max_instructions) {
        return ResourceExhausted("more than ", options_.limits.max_instructions, " instructions");
      }
      Frame& frame = frames_.back();
      const std::vector<Operation*>& operations = frame.region->blocks[0].operations;
      if (frame.next == operations.size()) return InOperation(*frame.owner, InvalidArgument("a region without return"));
      const Operation& op = *operations[frame.next];
      if (IsTerminator(op)) {
        if (frame.next + 1 != operations.size()) return InOperation(op, InvalidArgument("operations behind a return"));
        HILO_RETURN_IF_ERROR(InOperation(op, Return(frame, op)));
        done = frame.computation;
        const Operation* owner = frame.owner;
        const bool is_inline = frame.is_inline;
        frames_.pop_back();
        if (is_inline) {
          const Operation& call = *frames_.back().region->blocks[0].operations[frames_.back().next++];
          HILO_RETURN_IF_ERROR(InOperation(call, Define(frames_.back(), call, inlined_results_)));
        } else if (owner->name == "func.func") {
          converted_[owner] = done;
        } else {
          frames_.back().regions.push_back(done);
        }
        continue;
      }
      HILO_RETURN_IF_ERROR(InOperation(op, Step(op).status()));
    }
    return done;
  }

  // Converts `op`, or pushes a frame that must come first and returns false. Frames move when one is pushed.
  absl::StatusOr<bool> Step(const Operation& op) {
    if (op.name == "func.func") return InvalidArgument("a function within a function");
    if (op.name == "func.call" || op.name == "stablehlo.composite") {
      HILO_ASSIGN_OR_RETURN(const Operation* callee, Callee(op));
      if (callee != nullptr && LeavesSizesOpen(*callee)) {
        HILO_RETURN_IF_ERROR(PushInline(*callee, op));
        return false;
      }
      if (callee != nullptr && !converted_.contains(callee)) {
        HILO_RETURN_IF_ERROR(PushFunction(*callee));
        return false;
      }
    } else if (!PassesFunctions(op).empty()) {
      HILO_ASSIGN_OR_RETURN(const std::vector<const Operation*> callees, CalledBy(op));
      for (const Operation* callee : callees) {
        if (converted_.contains(callee)) continue;
        HILO_RETURN_IF_ERROR(PushFunction(*callee));
        return false;
      }
      for (const Operation* callee : callees) frames_.back().regions.push_back(converted_.at(callee));
    } else if (frames_.back().regions.size() < op.regions.size()) {
      HILO_RETURN_IF_ERROR(PushRegion(op, *op.regions[frames_.back().regions.size()]));
      return false;
    }
    HILO_RETURN_IF_ERROR(ConvertOperation(op));
    frames_.back().regions.clear();
    ++frames_.back().next;
    return true;
  }

  // The function that a call or composite runs; null for a composite that is an opcode.
  absl::StatusOr<const Operation*> Callee(const Operation& op) const {
    const bool is_call = op.name == "func.call";
    const Attribute* native = is_call ? nullptr : op.Find("name");
    if (native != nullptr && FindCompositeConverter(native->text) != nullptr) return nullptr;
    const Attribute* name = op.Find(is_call ? "callee" : "decomposition");
    const auto callee = functions_.find(name == nullptr ? "" : name->text);
    if (callee != functions_.end()) return callee->second;
    return InvalidArgument("there is no function @", name == nullptr ? "" : name->text);
  }

  // The functions that PassesFunctions names.
  absl::StatusOr<std::vector<const Operation*>> CalledBy(const Operation& op) const {
    std::vector<const Operation*> callees;
    for (const absl::string_view name : NamesIn(op.Find(PassesFunctions(op)))) {
      const auto callee = functions_.find(name);
      if (callee == functions_.end()) return InvalidArgument("there is no function @", name);
      callees.push_back(callee->second);
    }
    return callees;
  }

  absl::Status CheckOneBlock(const Region& region) const {
    if (region.blocks.size() == 1) return absl::OkStatus();
    if (region.blocks.empty()) return InvalidArgument("a region or function without a body");
    return Unimplemented("control flow between ", region.blocks.size(), " blocks of a region");
  }

  // The region of a function that may be called from here.
  absl::StatusOr<const Region*> BodyOf(const Operation& function) const {
    const absl::string_view name = function.Find("sym_name")->text;
    for (const Frame& frame : frames_) {
      if (frame.owner == &function) return InvalidArgument("function @", name, " calls itself");
    }
    if (static_cast<int64_t>(frames_.size()) > options_.limits.max_call_depth) {
      return ResourceExhausted("calls and regions nested more than ", options_.limits.max_call_depth, " deep");
    }
    if (function.regions.size() != 1)
      return InvalidArgument("function @", name, " has ", function.regions.size(), " regions");
    const Region& region = *function.regions[0];
    HILO_RETURN_IF_ERROR(CheckOneBlock(region));
    if (!captures_[&region].empty()) return InvalidArgument("function @", name, " uses values from outside of it");
    return &region;
  }

  absl::Status PushFunction(const Operation& function) {
    HILO_ASSIGN_OR_RETURN(const Region* region, BodyOf(function));
    Frame& frame = frames_.emplace_back();
    frame.owner = &function;
    frame.region = region;
    frame.computation = state_.module->AddComputation(NameText(function.Find("sym_name")->text));
    return AddParameters(frame, region->blocks[0].arguments, {});
  }

  absl::Status PushInline(const Operation& function, const Operation& call) {
    HILO_ASSIGN_OR_RETURN(const Region* region, BodyOf(function));
    const std::vector<Value*>& arguments = region->blocks[0].arguments;
    if (arguments.size() != call.operands.size())
      return InvalidArgument("a call with ", call.operands.size(), " operands of a function of ", arguments.size(),
                             " arguments");
    Frame frame{.owner = &function, .region = region, .computation = frames_.back().computation, .is_inline = true};
    for (size_t i = 0; i < arguments.size(); ++i) {
      HILO_ASSIGN_OR_RETURN(HloInstruction * operand, ValueIn(frames_.back(), *call.operands[i]));
      const Type& type = *arguments[i]->type;
      if (type.IsStatic()) {
        HILO_ASSIGN_OR_RETURN(const Shape shape, ShapeOf(type));
        if (!ShapeUtil::Compatible(shape, operand->shape()))
          return InvalidArgument("argument ", i, " is ", shape.ToString(), ", but it is called with ",
                                 operand->shape().ToString());
      }
      frame.values[arguments[i]] = operand;
    }
    frames_.push_back(std::move(frame));
    return absl::OkStatus();
  }

  static absl::StatusOr<Shape> ShapeOf(const Type& type) {
    if (type.kind == Type::Kind::kForeign) return Unimplemented("a value of ", type.name);
    if (!type.IsValue()) return InvalidArgument("a value of type ", TypeText(type));
    if (!type.IsStatic()) return Unimplemented("an argument of type ", TypeText(type), ", whose sizes nothing gives");
    return type.shape;
  }

  HloInstruction* AddParameter(HloComputation* computation, Shape shape) {
    ShapeUtil::AddMissingLayouts(&shape);
    const int64_t number = computation->num_parameters();
    return computation->AddInstruction(
        HloInstruction::CreateParameter(number, std::move(shape), absl::StrCat("arg", number)));
  }

  // `captured`: values and their replacements outside.
  absl::Status AddParameters(Frame& frame, absl::Span<Value* const> arguments, absl::Span<Value* const> captured) {
    for (Value* argument : arguments) {
      HILO_ASSIGN_OR_RETURN(Shape shape, ShapeOf(*argument->type));
      frame.values[argument] = AddParameter(frame.computation, std::move(shape));
    }
    for (Value* value : captured) {
      HILO_ASSIGN_OR_RETURN(const HloInstruction* outside, ValueIn(frames_[frames_.size() - 2], *value));
      frame.values[value] = AddParameter(frame.computation, outside->shape());
    }
    return absl::OkStatus();
  }

  absl::Status PushRegion(const Operation& op, const Region& region) {
    HILO_RETURN_IF_ERROR(CheckOneBlock(region));
    if (static_cast<int64_t>(frames_.size()) > options_.limits.max_call_depth) {
      return ResourceExhausted("calls and regions nested more than ", options_.limits.max_call_depth, " deep");
    }
    if (!MayCapture(op) && !captures_[&region].empty())
      return Unimplemented("a computation that uses values from outside of it");
    const RegionForm form = FormOf(op);
    const std::vector<Value*>& arguments = region.blocks[0].arguments;
    Frame& frame = frames_.emplace_back();
    frame.owner = &op;
    frame.region = &region;
    frame.computation = state_.module->AddComputation(absl::StrCat("region_", next_region_++));
    if (form == RegionForm::kFunction) return AddParameters(frame, arguments, captures_[&region]);

    const std::vector<Value*> captured =
        form == RegionForm::kLoop ? captures_.OfAll(op)
                                  : std::vector<Value*>(captures_[&region].begin(), captures_[&region].end());
    const Frame& outside = frames_[frames_.size() - 2];
    std::vector<const Value*> values(arguments.begin(), arguments.end());
    if (form == RegionForm::kBranch && !arguments.empty()) return InvalidArgument("a branch with arguments");
    if (form == RegionForm::kLoop && arguments.size() != op.operands.size()) {
      return InvalidArgument("a loop over ", op.operands.size(), " values has a region of ", arguments.size(),
                             " arguments");
    }
    // Loops of no stated sizes have those of their first values.
    std::vector<Shape> shapes;
    for (size_t i = 0; i < arguments.size(); ++i) {
      HILO_ASSIGN_OR_RETURN(const HloInstruction* first, ValueIn(outside, *op.operands[i]));
      const Type& type = *arguments[i]->type;
      if (type.IsStatic() && !ShapeUtil::Compatible(type.shape, first->shape()))
        return InvalidArgument("a loop over ", first->shape().ToString(), " has a region of ", TypeText(type));
      shapes.push_back(first->shape());
    }
    for (const Value* value : captured) {
      HILO_ASSIGN_OR_RETURN(const HloInstruction* instruction, ValueIn(outside, *value));
      shapes.push_back(instruction->shape());
      values.push_back(value);
    }
    if (values.size() == 1) {
      frame.values[values[0]] = AddParameter(frame.computation, shapes[0]);
    } else {
      HloInstruction* parameter = AddParameter(frame.computation, Shape(std::move(shapes)));
      for (size_t i = 0; i < values.size(); ++i) {
        auto attributes = std::make_unique<GetTupleElementAttrs>();
        attributes->index = static_cast<int64_t>(i);
        HILO_ASSIGN_OR_RETURN(frame.values[values[i]], frame.computation->AddOp(HloOpcode::kGetTupleElement,
                                                                                {parameter}, std::move(attributes)));
      }
    }
    for (const Value* value : captured) frame.passed.push_back(frame.values[value]);
    return absl::OkStatus();
  }

  // The value in the frame's computation. A constant from outside is made there.
  absl::StatusOr<HloInstruction*> ValueIn(Frame& frame, const Value& value) {
    const auto found = frame.values.find(&value);
    if (found != frame.values.end()) return found->second;
    const Operation* constant = ConstantOf(value);
    if (constant == nullptr) return InvalidArgument("a value is used that is not defined here");
    OpConversion conversion(*constant, frame.computation, {}, {}, &state_);
    HILO_ASSIGN_OR_RETURN(const Results results, FindConverter("stablehlo.constant")(conversion));
    return frame.values[&value] = results[0];
  }
  absl::StatusOr<HloInstruction*> ValueIn(const Frame& frame, const Value& value) {
    return ValueIn(const_cast<Frame&>(frame), value);
  }

  absl::StatusOr<std::vector<HloInstruction*>> ValuesIn(Frame& frame, absl::Span<Value* const> values) {
    std::vector<HloInstruction*> instructions;
    for (const Value* value : values) {
      HILO_ASSIGN_OR_RETURN(instructions.emplace_back(), ValueIn(frame, *value));
    }
    return instructions;
  }

  absl::Status Return(Frame& frame, const Operation& op) {
    HILO_ASSIGN_OR_RETURN(std::vector<HloInstruction*> values, ValuesIn(frame, op.operands));
    const bool is_body = frame.owner->name == "stablehlo.while" && frame.owner->regions.size() > 1 &&
                         frame.region == frame.owner->regions[1];
    if (is_body) values.insert(values.end(), frame.passed.begin(), frame.passed.end());
    if (frame.is_inline) {
      inlined_results_ = std::move(values);
      return absl::OkStatus();
    }
    OpConversion conversion(op, frame.computation, values, {}, &state_);
    HILO_ASSIGN_OR_RETURN(HloInstruction * root, conversion.Joined(values));
    return frame.computation->set_root_instruction(root);
  }

  absl::Status ConvertOperation(const Operation& op) {
    HILO_RETURN_IF_ERROR(CheckForm(op));
    Frame& frame = frames_.back();
    HILO_ASSIGN_OR_RETURN(std::vector<HloInstruction*> operands, ValuesIn(frame, op.operands));
    OpConversion conversion(op, frame.computation, std::move(operands), frame.regions, &state_);
    HILO_ASSIGN_OR_RETURN(const Results results, Convert(frame, conversion));
    return Define(frame, op, results);
  }

  // Errors: InvalidArgument if the results of `op` are not what the program says.
  static absl::Status Define(Frame& frame, const Operation& op, const Results& results) {
    if (results.size() != op.results.size())
      return InvalidArgument("expected ", op.results.size(), " results, got ", results.size());
    for (size_t i = 0; i < results.size(); ++i) {
      const Type& type = *op.results[i]->type;
      if (type.IsValue() && type.IsStatic() && !ShapeUtil::Compatible(type.shape, results[i]->shape())) {
        return InvalidArgument("the program says that result ", i, " is ", type.shape.ToString(), ", but it is ",
                               results[i]->shape().ToString());
      }
      if (type.kind == Type::Kind::kForeign) return Unimplemented("a result of ", type.name);
      frame.values[op.results[i]] = results[i];
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Results> Convert(Frame& frame, OpConversion& c) {
    const Operation& op = c.op;
    if (op.name == "func.call") return Call(c);
    if (op.name == "stablehlo.composite") {
      const Attribute* name = op.Find("name");
      Converter native = name == nullptr ? nullptr : FindCompositeConverter(name->text);
      return native == nullptr ? Call(c) : native(c);
    }
    if (op.name == "stablehlo.while") return While(frame, c);
    if (op.name == "stablehlo.case" || op.name == "stablehlo.if") return Conditional(frame, c);
    if (op.name == "sdy.manual_computation") return ManualComputation(frame, c);
    if (op.name == "sdy.named_computation") return CallRegion(frame, c, c.operands);
    if (op.name == "stablehlo.async_start") {  // whose region may use the operands themselves
      const bool takes_operands = op.regions.size() == 1 && !op.regions[0]->blocks[0].arguments.empty();
      return CallRegion(frame, c, takes_operands ? c.operands : std::vector<HloInstruction*>());
    }
    Converter convert = FindConverter(op.name);
    if (convert == nullptr) return Unimplemented("operation ", op.name);
    HILO_ASSIGN_OR_RETURN(Results results, ComputesOnQuantized(op) ? ConvertQuantized(c, convert) : convert(c));
    if (op.name == "stablehlo.custom_call") HILO_RETURN_IF_ERROR(ShardCustomCall(c, results));
    return results;
  }

  absl::StatusOr<Results> Call(OpConversion& c) {
    HILO_ASSIGN_OR_RETURN(const Operation* callee, Callee(c.op));
    HloComputation* computation = converted_.at(callee);
    const size_t results = callee->regions[0]->blocks[0].operations.back()->operands.size();
    HILO_RETURN_IF_ERROR(c.ExpectResults(results));
    return c.Split(c.Add(HloOpcode::kCall, c.operands, nullptr, {computation}));
  }

  absl::StatusOr<Results> While(Frame& frame, OpConversion& c) {
    if (c.regions.size() != 2) return InvalidArgument("expected a condition and a body");
    HILO_RETURN_IF_ERROR(c.ExpectResults(c.operands.size()));
    std::vector<HloInstruction*> values = c.operands;
    HILO_ASSIGN_OR_RETURN(const std::vector<HloInstruction*> captured, ValuesIn(frame, captures_.OfAll(c.op)));
    values.insert(values.end(), captured.begin(), captured.end());
    HILO_ASSIGN_OR_RETURN(HloInstruction * first, c.Joined(values));
    HILO_ASSIGN_OR_RETURN(HloInstruction * loop, c.Add(HloOpcode::kWhile, {first}, nullptr, c.regions));
    if (values.size() == 1) return c.op.results.empty() ? Results() : Results{loop};
    Results results;
    for (size_t i = 0; i < c.op.results.size(); ++i) {
      HILO_ASSIGN_OR_RETURN(results.emplace_back(), c.Element(loop, static_cast<int64_t>(i)));
    }
    return results;
  }

  absl::StatusOr<Results> Conditional(Frame& frame, OpConversion& c) {
    HILO_RETURN_IF_ERROR(c.ExpectOperands(1));
    std::vector<HloInstruction*> operands = c.operands;
    for (const Region* region : c.op.regions) {
      HILO_ASSIGN_OR_RETURN(const std::vector<HloInstruction*> captured, ValuesIn(frame, captures_[region]));
      HILO_ASSIGN_OR_RETURN(operands.emplace_back(), c.Joined(captured));
    }
    return c.Split(c.Add(HloOpcode::kConditional, operands, nullptr, c.regions));
  }

  // A region that is called in place.
  absl::StatusOr<Results> CallRegion(Frame& frame, OpConversion& c, std::vector<HloInstruction*> operands) {
    if (c.regions.size() != 1) return InvalidArgument("expected one region");
    HILO_ASSIGN_OR_RETURN(const std::vector<HloInstruction*> captured, ValuesIn(frame, captures_[c.op.regions[0]]));
    operands.insert(operands.end(), captured.begin(), captured.end());
    return c.Split(c.Add(HloOpcode::kCall, operands, nullptr, {c.regions[0]}));
  }

  // Split, call, join. The call only returns what Split would take apart again.
  absl::StatusOr<Results> ManualComputation(Frame& frame, OpConversion& c) {
    if (c.regions.size() != 1) return InvalidArgument("expected one region");
    const Attribute* axes = c.op.Find("manual_axes");
    const Attribute* in = c.op.Find("in_shardings");
    const Attribute* out = c.op.Find("out_shardings");
    if (axes == nullptr || in == nullptr || out == nullptr)
      return InvalidArgument("expected manual_axes, in_shardings and out_shardings");
    HILO_ASSIGN_OR_RETURN(const std::string manual, shardings_.ManualAxesText(*axes));
    std::vector<Shape> local;
    for (const Value* argument : c.op.regions[0]->blocks[0].arguments) {
      HILO_ASSIGN_OR_RETURN(local.emplace_back(), ShapeOf(*argument->type));
    }
    if (local.size() != c.operands.size())
      return InvalidArgument("a region of ", local.size(), " arguments for ", c.operands.size(), " operands");
    HILO_ASSIGN_OR_RETURN(const std::string in_text, shardings_.PerValueText(*in));
    HILO_ASSIGN_OR_RETURN(
        std::vector<HloInstruction*> values,
        CutOrJoin(c, "xla.sdy.GlobalToLocalShape", "xla.sdy.in_shardings", in_text, manual, c.operands, local));
    HILO_ASSIGN_OR_RETURN(const std::vector<HloInstruction*> captured, ValuesIn(frame, captures_[c.op.regions[0]]));
    values.insert(values.end(), captured.begin(), captured.end());
    HILO_ASSIGN_OR_RETURN(HloInstruction * call, c.Add(HloOpcode::kCall, values, nullptr, {c.regions[0]}));
    call->add_extra_attribute("frontend_attributes", "{inlineable=\"false\"}");
    HILO_ASSIGN_OR_RETURN(const Results parts, c.Split(call));
    std::vector<Shape> global;
    for (size_t i = 0; i < c.op.results.size(); ++i) {
      HILO_ASSIGN_OR_RETURN(global.emplace_back(), c.ResultShape(i));
    }
    HILO_ASSIGN_OR_RETURN(const std::string out_text, shardings_.PerValueText(*out));
    return CutOrJoin(c, "xla.sdy.LocalToGlobalShape", "xla.sdy.out_shardings", out_text, manual, parts, global);
  }

  absl::StatusOr<std::vector<HloInstruction*>> CutOrJoin(OpConversion& c, absl::string_view target,
                                                         absl::string_view key, const std::string& text,
                                                         const std::string& manual,
                                                         const std::vector<HloInstruction*>& values,
                                                         const std::vector<Shape>& shapes) {
    if (values.empty()) return values;
    auto attributes = std::make_unique<CustomCallAttrs>();
    attributes->custom_call_target = std::string(target);
    attributes->custom_call_has_side_effect = true;
    Shape shape = shapes.size() == 1 ? shapes[0] : Shape(shapes);
    HILO_ASSIGN_OR_RETURN(HloInstruction * call,
                          c.Add(HloOpcode::kCustomCall, values, std::move(attributes), {}, &shape));
    call->add_extra_attribute("frontend_attributes", absl::StrCat("{", key, "=", FieldToText(text),
                                                                  ",xla.sdy.manual_axes=", FieldToText(manual), "}"));
    if (shapes.size() == 1) return std::vector<HloInstruction*>{call};
    std::vector<HloInstruction*> elements;
    for (size_t i = 0; i < shapes.size(); ++i) {
      HILO_ASSIGN_OR_RETURN(elements.emplace_back(), c.Element(call, static_cast<int64_t>(i)));
    }
    return elements;
  }

  const MlirModule& program_;
  const StablehloOptions& options_;
  ConversionState state_;
  Captures captures_;
  Shardings shardings_;
  absl::flat_hash_map<absl::string_view, const Operation*> functions_;
  absl::flat_hash_map<const Operation*, HloComputation*> converted_;
  std::vector<Frame> frames_;
  Results inlined_results_;  // of the call whose frame was popped last
  int64_t next_region_ = 0;
};

}  // namespace

absl::StatusOr<StablehloProgram> ConvertProgram(const MlirModule& program, const StablehloOptions& options) {
  return GraphConversion(program, options).Run();
}

}  // namespace hilo::stablehlo
