#include "tests/fuzz/program_check.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "backends/cpu/compile/cpu_compiler.h"
#include "backends/cpu/kernels/cpu_target.h"
#include "base/aligned_buffer.h"
#include "base/errors.h"
#include "hilo/client.h"
#include "hilo/status_macros.h"
#include "runtime/dynamic_program.h"
#include "runtime/runtime_access.h"
#include "tests/file_tests/run_on_devices.h"
#include "tests/fuzz/child_process.h"
#include "tests/fuzz/random_shardings.h"
#include "tests/fuzz/tracked_evaluator.h"

namespace hilo::fuzz {
namespace {

std::vector<std::string> OptionalPasses() {
  const CompileOptions options;
  const auto target = cpu::CreateCpuTarget(options);
  const PassPipeline pipeline = cpu::CpuPipeline(target.get(), options);
  std::vector<std::string> names;
  for (const auto& stage : pipeline.stages()) {
    for (const auto& pass : stage.passes) {
      const std::string name(pass->name());
      if (pass->optional() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

// Memory for leaves, with a margin on both sides that must stay as it was.
class GuardedLeaves {
 public:
  static constexpr int64_t kMargin = 64;
  absl::StatusOr<uint8_t*> Add(const Shape& shape) {
    const int64_t size = ShapeUtil::ByteSizeOf(shape);
    HILO_ASSIGN_OR_RETURN(AlignedBuffer buffer, AlignedBuffer::Create(size + 2 * kMargin));
    std::memset(buffer.data(), 0xA5, buffer.size());
    buffers_.push_back(std::move(buffer));
    sizes_.push_back(size);
    return buffers_.back().data() + kMargin;
  }
  absl::Status CheckMargins(absl::string_view what) const {
    for (size_t i = 0; i < buffers_.size(); ++i) {
      for (int64_t k = 0; k < kMargin; ++k) {
        if (buffers_[i].data()[k] != 0xA5 || buffers_[i].data()[kMargin + sizes_[i] + k] != 0xA5)
          return absl::InternalError(absl::StrCat("wrote outside of ", what, " ", i));
      }
    }
    return absl::OkStatus();
  }
  std::vector<std::vector<uint8_t>> Contents() const {
    std::vector<std::vector<uint8_t>> contents;
    for (size_t i = 0; i < buffers_.size(); ++i)
      contents.emplace_back(buffers_[i].data() + kMargin, buffers_[i].data() + kMargin + sizes_[i]);
    return contents;
  }

 private:
  std::vector<AlignedBuffer> buffers_;
  std::vector<int64_t> sizes_;
};

CompileOptions OptionsOf(const Configuration& configuration, const std::string& dump = "") {
  CompileOptions options{.strict = configuration.strict, .dump_dir = dump, .verify_each_pass = true};
  if (!configuration.disabled_pass.empty()) options.disabled_passes = {configuration.disabled_pass};
  return options;
}

std::string PlatformOf(const Configuration& configuration) {
  return configuration.interpreted ? "interpreter" : configuration.emulated ? "cuda-emulated" : "cpu";
}

// What `platform` computes, one literal per replica. Aliased parameters are donated.
absl::StatusOr<std::vector<Literal>> RunReplicas(const RandomProgram& program, const std::string& platform,
                                                 const CompileOptions& options) {
  const auto replicas = static_cast<size_t>(program.module->replica_count());
  HILO_ASSIGN_OR_RETURN(const auto client,
                        Client::Create({.platform = platform, .device_count = static_cast<int>(replicas)}));
  HILO_ASSIGN_OR_RETURN(const auto executable, RuntimeAccess::Compile(client.get(), program.module->Clone(), options));
  std::vector<std::vector<const Literal*>> arguments(replicas);
  for (size_t i = 0; i < program.arguments.size(); ++i)
    arguments[i * replicas / program.arguments.size()].push_back(&program.arguments[i]);
  if (replicas > 1) return testing::RunOnDevices(*client, *executable, arguments);
  std::vector<int64_t> donated;
  for (const InputOutputAlias& alias : program.module->input_output_aliases())
    donated.push_back(alias.parameter_number);
  std::vector<Literal> results;
  HILO_ASSIGN_OR_RETURN(results.emplace_back(), executable->ExecuteLiterals(arguments[0], {.donate = donated}));
  return results;
}

// All values of such programs are exact.
absl::Status CheckReplicated(const RandomProgram& program, const Configuration& configuration) {
  HILO_ASSIGN_OR_RETURN(const std::vector<Literal> expected, RunReplicas(program, "interpreter", {}));
  HILO_ASSIGN_OR_RETURN(const std::vector<Literal> actual,
                        RunReplicas(program, PlatformOf(configuration), OptionsOf(configuration)));
  HILO_RET_CHECK(expected.size() == actual.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const absl::Status same = CompareLiterals(expected[i], actual[i], {});
    if (!same.ok()) return absl::InternalError(absl::StrCat("replica ", i, ": ", same.message()));
  }
  return absl::OkStatus();
}

absl::Status CompareLeaf(size_t number, const Tracked& expected, const Literal& actual, bool strict) {
  const absl::Status same = CompareTracked(expected, actual, /*zeros_are_equal=*/!strict);
  if (same.ok()) return same;
  return absl::InternalError(absl::StrCat("result ", number, " (error bound ", expected.error, "): ", same.message()));
}

// By way of a client, which donates arguments and has GPUs.
absl::Status CheckOnClient(const RandomProgram& program, const Configuration& configuration,
                           const TrackedLeaves& expected, const std::string& dump) {
  HILO_ASSIGN_OR_RETURN(std::vector<Literal> results,
                        RunReplicas(program, PlatformOf(configuration), OptionsOf(configuration, dump)));
  const TrackedLeaves actual = ExactLeaves(std::move(results[0]));
  HILO_RET_CHECK(actual.size() == expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    HILO_RETURN_IF_ERROR(CompareLeaf(i, expected[i], *actual[i].value, configuration.strict));
  return absl::OkStatus();
}

// The tiles of the results on every device against those of what one device computes.
absl::Status CheckPartitioned(const RandomProgram& program, const Configuration& configuration,
                              const std::string& dump) {
  std::unique_ptr<HloModule> whole;
  if (program.on_one_device != nullptr) {
    whole = program.on_one_device->Clone();
  } else {
    HILO_ASSIGN_OR_RETURN(whole, WithoutShardings(*program.module));
  }
  std::vector<TrackedLeaves> arguments;
  for (const Literal& argument : program.arguments) arguments.push_back(ExactLeaves(argument.Clone()));
  HILO_ASSIGN_OR_RETURN(const TrackedLeaves expected,
                        TrackedEvaluator(/*strict=*/false).Run(*whole->entry_computation(), arguments));

  const HloComputation& entry = *program.module->entry_computation();
  const auto partitions = static_cast<size_t>(program.module->num_partitions());
  std::vector<std::vector<Literal>> tiles(partitions);
  std::vector<std::vector<const Literal*>> given(partitions);
  for (int64_t i = 0; i < entry.num_parameters(); ++i) {
    HILO_ASSIGN_OR_RETURN(const auto stated, StatedTiles(*entry.parameter_instruction(i)));
    for (size_t p = 0; p < partitions; ++p) {
      const Literal& argument = program.arguments[i];
      tiles[p].push_back(argument.shape().IsArray() ? TileOf(argument, stated[0], static_cast<int64_t>(p))
                                                    : argument.Clone());
    }
  }
  for (size_t p = 0; p < partitions; ++p) {
    for (const Literal& tile : tiles[p]) given[p].push_back(&tile);
  }
  HILO_ASSIGN_OR_RETURN(const auto client, Client::Create({.platform = PlatformOf(configuration),
                                                           .device_count = static_cast<int>(partitions)}));
  HILO_ASSIGN_OR_RETURN(const auto executable,
                        RuntimeAccess::Compile(client.get(), program.module->Clone(), OptionsOf(configuration, dump)));
  HILO_ASSIGN_OR_RETURN(std::vector<Literal> results, testing::RunOnDevices(*client, *executable, given));
  HILO_ASSIGN_OR_RETURN(const auto stated, StatedTiles(*entry.root_instruction()));
  for (size_t p = 0; p < partitions; ++p) {
    const TrackedLeaves actual = ExactLeaves(std::move(results[p]));
    HILO_RET_CHECK(actual.size() == expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      const auto tile = std::make_shared<Literal>(TileOf(*expected[i].value, stated[i], static_cast<int64_t>(p)));
      const absl::Status same = CompareLeaf(i, {tile, expected[i].error}, *actual[i].value, configuration.strict);
      if (!same.ok()) return absl::InternalError(absl::StrCat("device ", p, ": ", same.message()));
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::string Configuration::name() const {
  if (emulated) return "cuda-emulated";
  if (interpreted) return "interpreter";
  return disabled_pass.empty() ? (strict ? "strict" : "default") : absl::StrCat("without-", disabled_pass);
}

Configuration Configuration::FromName(absl::string_view name) {
  Configuration c{
      .strict = name == "strict", .emulated = name == "cuda-emulated", .interpreted = name == "interpreter"};
  if (absl::ConsumePrefix(&name, "without-")) c.disabled_pass = std::string(name);
  return c;
}

std::vector<Configuration> ConfigurationsOf(uint64_t seed, bool is_partitioned) {
  if (is_partitioned) {
    std::vector<Configuration> all = {{.interpreted = true}};
    if (seed % 8 == 0) all.push_back({});
    return all;
  }
  static const std::vector<std::string> passes = OptionalPasses();
  std::vector<Configuration> all = {{}, {.strict = true}};
  if (!passes.empty()) all.push_back({.disabled_pass = passes[seed % passes.size()]});
  if (IsExactFamily(seed)) all.push_back({.emulated = true});
  return all;
}

absl::Status Check(const RandomProgram& program, const Configuration& configuration, const std::string& dump) {
  if (program.module->replica_count() > 1) return CheckReplicated(program, configuration);
  if (program.module->num_partitions() > 1) return CheckPartitioned(program, configuration, dump);
  const HloComputation& entry = *program.module->entry_computation();
  std::vector<TrackedLeaves> arguments;
  for (const Literal& argument : program.arguments) arguments.push_back(ExactLeaves(argument.Clone()));
  HILO_ASSIGN_OR_RETURN(TrackedLeaves expected, TrackedEvaluator(configuration.strict).Run(entry, arguments));

  if (configuration.emulated || !program.module->input_output_aliases().empty())
    return CheckOnClient(program, configuration, expected, dump);

  const CompileOptions options = OptionsOf(configuration, dump);
  HILO_ASSIGN_OR_RETURN(auto pool, CreateThreadPool(2));
  const auto compiler = cpu::CreateCpuCompiler();
  HILO_ASSIGN_OR_RETURN(auto compiled, CompileProgram(compiler.get(), program.module->Clone(), options, pool.get()));

  GuardedLeaves inputs, outputs;
  std::vector<const void*> parameters;
  size_t argument = 0;
  for (const Shape& parameter : compiled->program_shape().parameters) {
    size_t leaf = 0;
    for (const ShapeUtil::Leaf& place : ShapeUtil::Leaves(parameter)) {
      HILO_ASSIGN_OR_RETURN(uint8_t* data, inputs.Add(*place.shape));
      LiteralToBytes(*arguments[argument][leaf++].value, *place.shape, data);
      parameters.push_back(data);
    }
    ++argument;
  }
  std::vector<void*> results;
  std::vector<const Shape*> result_shapes;
  for (const ShapeUtil::Leaf& place : ShapeUtil::Leaves(compiled->program_shape().result)) {
    HILO_ASSIGN_OR_RETURN(uint8_t* data, outputs.Add(*place.shape));
    results.push_back(data);
    result_shapes.push_back(place.shape);
  }
  const std::vector<std::vector<uint8_t>> before = inputs.Contents();
  const RunContext context{.thread_pool = pool.get()};
  HILO_RETURN_IF_ERROR(compiled->Run(context, parameters, results));
  HILO_RETURN_IF_ERROR(inputs.CheckMargins("argument"));
  HILO_RETURN_IF_ERROR(outputs.CheckMargins("result"));
  if (inputs.Contents() != before) return absl::InternalError("an argument was overwritten");
  HILO_RET_CHECK(result_shapes.size() == expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    HILO_ASSIGN_OR_RETURN(const Literal actual,
                          LiteralFromBytes(static_cast<const uint8_t*>(results[i]), *result_shapes[i]));
    HILO_RETURN_IF_ERROR(CompareLeaf(i, expected[i], actual, configuration.strict));
  }
  return absl::OkStatus();
}

std::string FailureOf(const RandomProgram& program, const Configuration& configuration) {
  return InChild(kSecondsPerProgram, [&]() -> std::string {
    const absl::Status status = Check(program, configuration);
    if (status.ok() || absl::IsUnimplemented(status) || absl::IsFailedPrecondition(status)) return "";
    return std::string(status.message());
  });
}

}  // namespace hilo::fuzz
