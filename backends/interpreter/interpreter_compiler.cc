// A compiled program is the module itself. A run reads the parameters' bytes into literals,
// evaluates, and writes the result's bytes: entry layouts have no effect in between. (Layout
// normalization, for assigned buffers, converts layouts to dimensions: the same bytes with other
// shapes.)
#include "backends/interpreter/interpreter_compiler.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "backends/interpreter/custom_call_table.h"
#include "backends/interpreter/device_environment.h"
#include "backends/interpreter/finite_check.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/trip_count.h"
#include "hlo/evaluator/hlo_evaluator.h"
#include "hlo/memory/assigned_evaluator.h"
#include "hlo/passes/standard_pipeline.h"
#include "hlo/text/hlo_parser.h"
#include "hlo/text/hlo_printer.h"
#include "runtime/artifact.h"
#include "runtime/compile_driver.h"

namespace hilo {
namespace {

constexpr char kModuleSection[] = "module";  // its text

// Evaluates anything; fuses element-wise instructions, so that assigned buffers are also tested on fusions.
class InterpreterTarget : public Target {
 public:
  Emission EmissionOf(const HloInstruction& instruction) const override {
    return InterpreterEmission(instruction.opcode()).usual;
  }
};

absl::StatusOr<Literal> ReadLeaves(const Shape& shape, absl::Span<const void* const> leaves, int64_t* next) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (const Shape& element : shape.tuple_shapes()) {
      HILO_ASSIGN_OR_RETURN(Literal literal, ReadLeaves(element, leaves, next));
      elements.push_back(std::move(literal));
    }
    return Literal::MakeTuple(std::move(elements));
  }
  const void* bytes = leaves[(*next)++];
  if (!shape.IsArray() || bytes == nullptr) return Literal::Create(shape);
  return LiteralFromBytes(static_cast<const uint8_t*>(bytes), shape);
}

void WriteLeaves(const Literal& literal, const Shape& shape, absl::Span<void* const> leaves, int64_t* next) {
  if (shape.IsTuple()) {
    for (int64_t i = 0; i < shape.tuple_shapes_size(); ++i) {
      WriteLeaves(literal.element(i), shape.tuple_shapes(i), leaves, next);
    }
    return;
  }
  void* bytes = leaves[(*next)++];
  if (shape.IsArray() && bytes != nullptr) LiteralToBytes(literal, shape, static_cast<uint8_t*>(bytes));
}

// Parameters and result of a computation, row-major.
ProgramShape OwnShape(const HloComputation& computation) {
  ProgramShape shape;
  for (int64_t i = 0; i < computation.num_parameters(); ++i) {
    shape.parameters.push_back(computation.parameter_instruction(i)->shape());
    ShapeUtil::SetToDefaultLayout(&shape.parameters.back());
  }
  shape.result = computation.root_instruction()->shape();
  ShapeUtil::SetToDefaultLayout(&shape.result);
  return shape;
}

class InterpreterProgram : public CompiledProgram {
 public:
  InterpreterProgram(std::unique_ptr<HloModule> module, ProgramShape shape, CustomCallTable custom_calls,
                     std::optional<BufferAssignment> assignment, std::string source, bool check_finite)
      : module_(std::move(module)),
        source_(std::move(source)),
        custom_calls_(std::move(custom_calls)),
        shape_(std::move(shape)),
        inner_(assignment.has_value() ? OwnShape(*module_->entry_computation()) : shape_),
        assignment_(std::move(assignment)),
        check_finite_(check_finite) {
    for (const Shape& parameter : shape_.parameters) parameter_leaves_ += LeafCount(parameter);
    output_leaves_ = LeafCount(shape_.result);
    has_open_end_ = HasOpenEnd(*module_);
  }

  absl::Status Run(const RunContext& context, absl::Span<const void* const> parameters,
                   absl::Span<void* const> outputs) const override {
    if (static_cast<int64_t>(parameters.size()) != parameter_leaves_ ||
        static_cast<int64_t>(outputs.size()) != output_leaves_) {
      return InvalidArgument("the program takes ", parameter_leaves_, " parameter and ", output_leaves_,
                             " output leaves, but got ", parameters.size(), " and ", outputs.size());
    }
    std::vector<Literal> arguments;
    int64_t next = 0;
    for (const Shape& shape : inner_.parameters) {
      HILO_ASSIGN_OR_RETURN(Literal argument, ReadLeaves(shape, parameters, &next));
      arguments.push_back(std::move(argument));
    }
    std::vector<const Literal*> pointers;
    for (const Literal& argument : arguments) pointers.push_back(&argument);
    HILO_ASSIGN_OR_RETURN(Literal result, Evaluate(context, pointers));
    next = 0;
    WriteLeaves(result, inner_.result, outputs, &next);
    return absl::OkStatus();
  }

  absl::Status Serialize(Artifact* artifact) const override {
    artifact->sections.push_back({kModuleSection, assignment_.has_value() ? source_ : PrintHloModule(*module_)});
    return absl::OkStatus();
  }

  const ProgramShape& program_shape() const override { return shape_; }
  absl::Span<const std::pair<int64_t, int64_t>> donations() const override { return {}; }
  int64_t temp_bytes() const override { return 0; }
  int64_t code_bytes() const override { return 0; }
  int64_t estimated_nanoseconds() const override {
    return has_open_end_ ? INT64_MAX : 1000 * module_->instruction_count();
  }

 private:
  absl::StatusOr<Literal> Evaluate(const RunContext& context, absl::Span<const Literal* const> arguments) const {
    DeviceEnvironment environment(context, custom_calls_);
    WorkBudget budget(context.cancellation);
    if (assignment_.has_value())
      return EvaluateInAssignedBuffers(*module_, *assignment_, arguments, &environment, &budget);
    HloEvaluator evaluator(&budget, &environment);
    if (check_finite_) evaluator.set_observer(CheckFinite);
    return evaluator.Evaluate(*module_, arguments);
  }

  std::unique_ptr<HloModule> module_;
  std::string source_;  // with assigned memory: the module as it came
  CustomCallTable custom_calls_;
  ProgramShape shape_;  // as callers see it
  ProgramShape inner_;  // as the evaluator does
  std::optional<BufferAssignment> assignment_;
  bool check_finite_;
  int64_t parameter_leaves_ = 0, output_leaves_ = 0;
  bool has_open_end_ = false;
};

class InterpreterCompiler : public Compiler {
 public:
  explicit InterpreterCompiler(const InterpreterOptions& options) : options_(options) {}
  std::string platform() const override { return "interpreter"; }
  bool TakesDynamicShapes() const override { return !options_.assigned_buffers; }

  absl::StatusOr<std::unique_ptr<CompiledProgram>> Compile(std::unique_ptr<HloModule> module,
                                                           const CompileOptions& options, ThreadPool*) override {
    ProgramShape shape = module->EntryProgramShape();
    std::optional<BufferAssignment> assignment;
    std::string source;
    if (options_.assigned_buffers) {
      source = PrintHloModule(*module);
      HILO_ASSIGN_OR_RETURN(LoweredModule lowered, Lower(std::move(module), options));
      module = std::move(lowered.module);
      assignment = std::move(lowered.assignment);
    }
    HILO_ASSIGN_OR_RETURN(CustomCallTable custom_calls, FindCustomCalls(*module, options));
    return std::make_unique<InterpreterProgram>(std::move(module), std::move(shape), std::move(custom_calls),
                                                std::move(assignment), std::move(source), options_.check_finite);
  }

  absl::StatusOr<std::unique_ptr<CompiledProgram>> Load(const Artifact& artifact,
                                                        const CompileOptions& options) override {
    HILO_ASSIGN_OR_RETURN(const absl::string_view text, artifact.Find(kModuleSection));
    HILO_ASSIGN_OR_RETURN(std::unique_ptr<HloModule> module,
                          ParseHloModule(text, {.file_name = "serialized executable"}));
    return Compile(std::move(module), options, nullptr);
  }

  absl::Span<const absl::string_view> EmitKinds() const override {
    static constexpr absl::string_view kKinds[] = {"hlo", "buffers"};
    return kKinds;
  }

  absl::StatusOr<std::string> Emit(std::unique_ptr<HloModule> module, const CompileOptions& options,
                                   absl::string_view kind) override {
    HILO_RETURN_IF_ERROR(CheckEmitKind(platform(), kind, EmitKinds()));
    if (!options_.assigned_buffers && kind == "hlo") return PrintHloModule(*module);
    HILO_ASSIGN_OR_RETURN(const LoweredModule lowered, Lower(std::move(module), options));
    return *lowered.Text(kind);
  }

 private:
  // By the minimum of passes that buffer assignment requires.
  static absl::StatusOr<LoweredModule> Lower(std::unique_ptr<HloModule> module, const CompileOptions& options) {
    HILO_ASSIGN_OR_RETURN(const CompileDriver driver, CompileDriver::Create(options));
    const InterpreterTarget target;
    PassPipeline pipeline;
    pipeline.AddStage(HloStage::kCore,
                      MakePassList(MakeAsyncToSync(), MakeFusionInliner(), MakeCallInliner(), MakeDce()));
    pipeline.AddStage(HloStage::kLaidOut, MakePassList(MakeLayoutNormalization()));
    pipeline.AddStage(HloStage::kFused, MakePassList(MakeFlattenCallGraph(), MakeFusion(&target), MakeDce()));
    return driver.Lower(std::move(module), {.pipeline = std::move(pipeline)});
  }

  InterpreterOptions options_;
};

}  // namespace

EmissionRow InterpreterEmission(HloOpcode opcode) {
  const bool fuses = IsElementwise(opcode) || opcode == HloOpcode::kBroadcast;
  return {opcode, fuses ? Emission::kElement : Emission::kEvaluated};
}

std::unique_ptr<Compiler> CreateInterpreterCompiler(const InterpreterOptions& options) {
  return std::make_unique<InterpreterCompiler>(options);
}

}  // namespace hilo
