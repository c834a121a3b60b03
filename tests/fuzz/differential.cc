// hilo_differential: random programs on the CPU backend against the evaluator.
//
//   hilo_differential --count=2000 [--first=0] [--workers=2] [--out=DIR]
//   hilo_differential FOLDER                      repeats the cases in a folder
//   hilo_differential --file=case.hlo [--dump=DIR]       repeats a case that an earlier run wrote
//
// Each program is compiled with the default options, strictly, and with one of the optional passes
// left out (the seed chooses which). Every program runs in a process of its own, so that one that
// crashes or hangs is a finding like another. A program that fails is made small: fewer
// instructions, cut off from what computes their operands. Exit code 1 if anything failed.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "backends/cpu/cpu_compiler.h"
#include "base/aligned_buffer.h"
#include "base/status_macros.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/ops/op_attributes.h"
#include "hlo/passes/standard_passes.h"
#include "hlo/text/hlo_parser.h"
#include "hlo/text/hlo_printer.h"
#include "tests/fuzz/random_module.h"
#include "tests/fuzz/tracked_evaluator.h"

namespace hilo::fuzz {
namespace {

constexpr int kSecondsPerProgram = 30;

// One way to compile a program.
struct Configuration {
  bool strict = false;
  std::string disabled_pass;
  std::string name() const {
    return disabled_pass.empty() ? (strict ? "strict" : "default")
                                 : absl::StrCat("without-", disabled_pass);
  }
  static Configuration FromName(absl::string_view name) {
    Configuration c{.strict = name == "strict"};
    if (absl::ConsumePrefix(&name, "without-")) c.disabled_pass = std::string(name);
    return c;
  }
};

std::vector<std::string> OptionalPasses() {
  const CompileOptions options;
  const auto target = cpu::CreateCpuTarget(options);
  const PassPipeline pipeline = cpu::CpuPipeline(target.get(), options);
  std::vector<std::string> names;
  for (const auto& stage : pipeline.stages()) {
    for (const auto& pass : stage.passes) {
      const std::string name(pass->name());
      if (pass->optional() && std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(name);
    }
  }
  return names;
}

std::vector<Configuration> ConfigurationsOf(uint64_t seed) {
  static const std::vector<std::string> passes = OptionalPasses();
  std::vector<Configuration> all = {{}, {.strict = true}};
  if (!passes.empty()) all.push_back({.disabled_pass = passes[seed % passes.size()]});
  return all;
}

// Memory for leaves, with a margin on both sides that must stay as it was.
class GuardedLeaves {
 public:
  static constexpr int64_t kMargin = 64;
  absl::StatusOr<uint8_t*> Add(const Literal& like) {
    const int64_t size = static_cast<int64_t>(like.untyped_data().size());
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

 private:
  std::vector<AlignedBuffer> buffers_;
  std::vector<int64_t> sizes_;
};

// Unimplemented if the backend refuses the program; any other error is a finding.
absl::Status Check(const RandomProgram& program, const Configuration& configuration,
                   const std::string& dump = "") {
  const HloComputation& entry = *program.module->entry_computation();
  std::vector<TrackedLeaves> arguments;
  for (const Literal& argument : program.arguments)
    arguments.push_back(ExactLeaves(argument.Clone()));
  HILO_ASSIGN_OR_RETURN(TrackedLeaves expected,
                        TrackedEvaluator(configuration.strict).Run(entry, arguments));

  CompileOptions options{
      .strict = configuration.strict, .dump_dir = dump, .verify_each_pass = true};
  if (!configuration.disabled_pass.empty()) options.disabled_passes = {configuration.disabled_pass};
  HILO_ASSIGN_OR_RETURN(auto pool, CreateThreadPool(2));
  HILO_ASSIGN_OR_RETURN(auto compiled, cpu::CreateCpuCompiler()->Compile(program.module->Clone(),
                                                                         options, pool.get()));

  GuardedLeaves inputs, outputs;
  std::vector<const void*> parameters;
  for (const TrackedLeaves& leaves : arguments) {
    for (const Tracked& leaf : leaves) {
      HILO_ASSIGN_OR_RETURN(uint8_t * data, inputs.Add(*leaf.value));
      std::memcpy(data, leaf.value->untyped_data().data(), leaf.value->untyped_data().size());
      parameters.push_back(data);
    }
  }
  std::vector<void*> results;
  for (const Tracked& leaf : expected) {
    HILO_ASSIGN_OR_RETURN(uint8_t * data, outputs.Add(*leaf.value));
    results.push_back(data);
  }
  const RunContext context{.thread_pool = pool.get()};
  HILO_RETURN_IF_ERROR(compiled->Run(context, parameters, results));
  HILO_RETURN_IF_ERROR(inputs.CheckMargins("argument"));
  HILO_RETURN_IF_ERROR(outputs.CheckMargins("result"));
  size_t next = 0;
  for (const TrackedLeaves& leaves : arguments) {
    for (const Tracked& leaf : leaves) {
      if (std::memcmp(parameters[next++], leaf.value->untyped_data().data(),
                      leaf.value->untyped_data().size()) != 0)
        return absl::InternalError("an argument was overwritten");
    }
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    HILO_ASSIGN_OR_RETURN(Literal actual, Literal::Create(expected[i].value->shape()));
    if (!actual.untyped_data().empty())
      std::memcpy(actual.untyped_data().data(), results[i], actual.untyped_data().size());
    const absl::Status same =
        CompareTracked(expected[i], actual, /*zeros_are_equal=*/!configuration.strict);
    if (!same.ok())
      return absl::InternalError(
          absl::StrCat("result ", i, " (error bound ", expected[i].error, "): ", same.message()));
  }
  return absl::OkStatus();
}

// --- processes ---

// What `work` writes, run in a process of its own. A crash or a hang is a last line "CRASH ...".
std::string InChild(const std::function<std::string()>& work) {
  int ends[2];
  if (pipe(ends) != 0) return "CRASH no pipe";
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    alarm(kSecondsPerProgram);
    const std::string text = work();
    for (size_t done = 0; done < text.size();) {
      const ssize_t n = write(ends[1], text.data() + done, text.size() - done);
      if (n <= 0) break;
      done += n;
    }
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, n);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) absl::StrAppend(&text, "CRASH ", strsignal(WTERMSIG(status)));
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
    absl::StrAppend(&text, "CRASH exit code ", WEXITSTATUS(status));
  return text;
}

std::string OneLine(absl::string_view text) { return absl::StrReplaceAll(text, {{"\n", " "}}); }

// Empty if the program passes or is refused.
std::string FailureOf(const RandomProgram& program, const Configuration& configuration) {
  return InChild([&]() -> std::string {
    const absl::Status status = Check(program, configuration);
    if (status.ok() || absl::IsUnimplemented(status) || absl::IsFailedPrecondition(status))
      return "";
    return std::string(status.message());
  });
}

// --- making failures small ---

class Shrinker {
 public:
  Shrinker(RandomProgram program, Configuration configuration, std::string failure)
      : program_(std::move(program)),
        configuration_(std::move(configuration)),
        failure_(std::move(failure)) {}

  void Run() {
    for (bool smaller = true; smaller && tries_ < 400;)
      smaller = Prefix() || Enter() || CutOperands() || RemoveDead();
    DropParameters();
  }
  const RandomProgram& program() const { return program_; }
  const std::string& failure() const { return failure_; }

 private:
  RandomProgram Copy() const {
    RandomProgram copy{.module = program_.module->Clone()};
    copy.module->set_entry_computation_layout(std::nullopt);
    for (const Literal& argument : program_.arguments) copy.arguments.push_back(argument.Clone());
    return copy;
  }
  static HloInstruction* Find(const RandomProgram& program, absl::string_view name) {
    for (HloInstruction* instruction : program.module->entry_computation()->instructions()) {
      if (instruction->name() == name) return instruction;
    }
    return nullptr;
  }
  // Takes `candidate` if it is valid and still fails.
  bool Try(RandomProgram candidate) {
    // Where dead code is what fails, it stays, and goes instruction by instruction (RemoveDead).
    if (configuration_.disabled_pass != "dce") (void)MakeDce()->Run(candidate.module.get());
    (void)candidate.module->RemoveUnusedComputations();
    ++tries_;
    if (!VerifyHloModule(*candidate.module, HloStage::kInput).ok()) return false;
    std::string failure = FailureOf(candidate, configuration_);
    if (failure.empty()) return false;
    program_ = std::move(candidate);
    failure_ = std::move(failure);
    return true;
  }
  // The first instruction that is wrong becomes the root.
  bool Prefix() {
    for (HloInstruction* instruction : program_.module->entry_computation()->MakePostOrder()) {
      if (instruction->IsRoot() || instruction->IsParameter()) continue;
      RandomProgram candidate = Copy();
      HloComputation* entry = candidate.module->entry_computation();
      if (!entry->set_root_instruction(Find(candidate, instruction->name()), true).ok()) continue;
      if (Try(std::move(candidate))) return true;
    }
    return false;
  }
  absl::StatusOr<TrackedLeaves> ValueOf(const std::string& name) const {
    RandomProgram copy = Copy();
    HloInstruction* instruction = Find(copy, name);
    HILO_RETURN_IF_ERROR(copy.module->entry_computation()->set_root_instruction(instruction, true));
    std::vector<TrackedLeaves> arguments;
    for (const Literal& argument : copy.arguments)
      arguments.push_back(ExactLeaves(argument.Clone()));
    return TrackedEvaluator(configuration_.strict)
        .Run(*copy.module->entry_computation(), arguments);
  }
  // A parameter that holds its value takes the place of an operand.
  bool CutOperands() {
    for (HloInstruction* instruction : program_.module->entry_computation()->MakePostOrder()) {
      if (instruction->IsRoot() || instruction->IsParameter()) continue;
      auto value = ValueOf(instruction->name());
      if (!value.ok()) continue;
      RandomProgram candidate = Copy();
      HloComputation* entry = candidate.module->entry_computation();
      const int64_t number = entry->num_parameters();
      HloInstruction* parameter = entry->AddInstruction(
          HloInstruction::CreateParameter(number, instruction->shape(), "cut"),
          absl::StrCat("cut", number));
      if (!entry->ReplaceAllUsesWith(Find(candidate, instruction->name()), parameter).ok())
        continue;
      candidate.arguments.push_back(Assemble(instruction->shape(), *value));
      if (Try(std::move(candidate))) return true;
    }
    return false;
  }
  // A called computation becomes the entry, on the operands that it is first called with.
  bool Enter() {
    const HloInstruction* root = program_.module->entry_computation()->root_instruction();
    if (!HasTrait(root->opcode(), kControlFlow)) return false;
    for (size_t i = 0; i < root->called_computations().size(); ++i) {
      RandomProgram candidate = Copy();
      const HloInstruction* call = candidate.module->entry_computation()->root_instruction();
      HloComputation* callee = call->called_computation(i);
      std::vector<Literal> arguments;
      for (int64_t p = 0; p < callee->num_parameters(); ++p) {
        const int64_t operand = call->opcode() == HloOpcode::kConditional ? i + 1 : p;
        auto value = ValueOf(call->operand(operand)->name());
        if (!value.ok()) return false;
        arguments.push_back(Assemble(call->operand(operand)->shape(), *value));
      }
      candidate.module->set_entry_computation(callee);
      candidate.arguments = std::move(arguments);
      (void)candidate.module->RemoveUnusedComputations();
      if (Try(std::move(candidate))) return true;
    }
    return false;
  }
  // An instruction without users goes.
  bool RemoveDead() {
    for (const HloComputation* computation : program_.module->computations()) {
      for (const HloInstruction* dead : computation->instructions()) {
        if (!dead->IsDead() || dead->IsParameter()) continue;
        RandomProgram candidate = Copy();
        HloComputation* copy = candidate.module->GetComputation(computation->name());
        for (HloInstruction* instruction : copy->instructions()) {
          if (instruction->name() == dead->name()) (void)copy->RemoveInstruction(instruction);
        }
        if (Try(std::move(candidate))) return true;
      }
    }
    return false;
  }
  void DropParameters() {
    for (int64_t p = program_.module->entry_computation()->num_parameters() - 1; p >= 0; --p) {
      RandomProgram candidate = Copy();
      HloComputation* entry = candidate.module->entry_computation();
      if (!entry->parameter_instruction(p)->users().empty() ||
          entry->parameter_instruction(p)->IsRoot())
        continue;
      if (!entry->RemoveParameter(p).ok()) continue;
      candidate.arguments.erase(candidate.arguments.begin() + p);
      Try(std::move(candidate));
    }
  }

  RandomProgram program_;
  Configuration configuration_;
  std::string failure_;
  int tries_ = 0;
};

// --- cases as files ---

std::string CaseText(const RandomProgram& program, const Configuration& configuration,
                     absl::string_view failure, absl::string_view origin) {
  std::string text = absl::StrCat("// ", origin, "\n// configuration: ", configuration.name(),
                                  "\n// failure: ", OneLine(failure), "\n");
  for (const Literal& argument : program.arguments)
    absl::StrAppend(&text, "// argument: ",
                    OneLine(argument.ToString(/*with_shape=*/!argument.shape().IsTuple())), "\n");
  return absl::StrCat(text, PrintHloModule(*program.module, {.layouts = false}));
}

int RunFile(const std::string& path, const std::string& dump) {
  std::ifstream in(path);
  std::stringstream content;
  content << in.rdbuf();
  const std::string text = content.str();
  auto module = ParseHloModule(text, {.file_name = path});
  if (!module.ok()) return std::fprintf(stderr, "%s\n", module.status().ToString().c_str()), 2;
  RandomProgram program{.module = *std::move(module)};
  Configuration configuration;
  int64_t next = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::ConsumePrefix(&line, "// configuration: "))
      configuration = Configuration::FromName(line);
    if (!absl::ConsumePrefix(&line, "// argument: ")) continue;
    const HloComputation& entry = *program.module->entry_computation();
    if (next == entry.num_parameters())
      return std::fprintf(stderr, "%s: too many arguments\n", path.c_str()), 2;
    const Shape& shape = entry.parameter_instruction(next++)->shape();
    auto literal = shape.IsTuple() ? ParseLiteral(line, shape) : ParseLiteral(line);
    if (!literal.ok()) return std::fprintf(stderr, "%s\n", literal.status().ToString().c_str()), 2;
    program.arguments.push_back(*std::move(literal));
  }
  const absl::Status status = Check(program, configuration, dump);
  std::fprintf(stderr, "%s: %s\n", configuration.name().c_str(), status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

int RunFolder(const std::string& folder) {
  std::error_code error;
  int files = 0, worst = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".hlo") continue;
    ++files;
    std::fprintf(stderr, "%s ", entry.path().c_str());
    worst = std::max(worst, RunFile(entry.path(), ""));
  }
  if (files == 0) return std::fprintf(stderr, "%s: no .hlo files\n", folder.c_str()), 2;
  return worst;
}

// --- the run ---

// Shared between the processes.
struct Tally {
  std::atomic<int64_t> next, programs, instructions, runs, refused, failures;
};

// Lines: "REFUSED message" or "FAIL configuration message".
std::string CheckSeed(uint64_t seed, Tally* tally) {
  const RandomProgram program = MakeRandomProgram(seed);
  tally->instructions += program.module->instruction_count();
  if (const absl::Status valid = VerifyHloModule(*program.module, HloStage::kInput); !valid.ok())
    return absl::StrCat("FAIL default generated an invalid module: ", OneLine(valid.message()),
                        "\n");
  std::string lines;
  for (const Configuration& configuration : ConfigurationsOf(seed)) {
    absl::StrAppend(&lines, "TRY ", configuration.name(), "\n");
    const absl::Status status = Check(program, configuration);
    ++tally->runs;
    if (absl::IsUnimplemented(status) || absl::IsFailedPrecondition(status)) {
      ++tally->refused;
      absl::StrAppend(&lines, "REFUSED ", OneLine(status.message()), "\n");
    } else if (!status.ok()) {
      absl::StrAppend(&lines, "FAIL ", configuration.name(), " ", OneLine(status.message()), "\n");
      break;
    }
  }
  return lines;
}

struct Flags {
  uint64_t first = 0, count = 100;
  int workers = 2;
  bool shrink = true;
  std::string out = "differential_failures", file, dump, folder;
};

void Record(uint64_t seed, const std::string& lines, const Flags& flags, Tally* tally) {
  for (absl::string_view line : absl::StrSplit(lines, '\n')) {
    const bool crashed = absl::StartsWith(line, "CRASH ");
    if (absl::ConsumePrefix(&line, "REFUSED "))
      std::fprintf(stderr, "seed %lu refused: %s\n", seed, std::string(line).c_str());
    if (!crashed && !absl::ConsumePrefix(&line, "FAIL ")) continue;
    ++tally->failures;
    // A crashed process has said nothing of the configuration: find it again.
    RandomProgram program;
    const std::string made =
        InChild([&] { return std::to_string(MakeRandomProgram(seed).arguments.size()); });
    if (absl::StrContains(made, "CRASH")) {
      std::fprintf(stderr, "seed %lu: the generator itself: %s\n", seed, made.c_str());
      return;
    }
    program = MakeRandomProgram(seed);
    Configuration configuration = Configuration::FromName(line.substr(0, line.find(' ')));
    std::string failure(line);
    if (crashed) {
      for (const Configuration& candidate : ConfigurationsOf(seed)) {
        failure = FailureOf(program, configuration = candidate);
        if (!failure.empty()) break;
      }
    }
    const bool repeats = !failure.empty();
    if (!repeats) failure = absl::StrCat(line, " (did not repeat)");
    std::string text = CaseText(program, configuration, failure, absl::StrCat("seed ", seed));
    if (flags.shrink && repeats) {
      Shrinker shrinker(std::move(program), configuration, failure);
      shrinker.Run();
      failure = shrinker.failure();
      text = CaseText(shrinker.program(), configuration, failure, absl::StrCat("seed ", seed));
    }
    const std::string path = absl::StrCat(flags.out, "/", seed, ".", configuration.name(), ".hlo");
    std::ofstream(path) << text;
    std::fprintf(stderr, "seed %lu, %s: %s\n  repeat: hilo_differential --file=%s\n", seed,
                 configuration.name().c_str(), failure.c_str(), path.c_str());
    return;
  }
}

void Work(const Flags& flags, Tally* tally) {
  while (true) {
    const uint64_t index = tally->next++;
    if (index >= flags.count) return;
    const uint64_t seed = flags.first + index;
    Record(seed, InChild([&] { return CheckSeed(seed, tally); }), flags, tally);
    const int64_t done = ++tally->programs;
    if (done % 200 == 0)
      std::fprintf(stderr, "%ld programs, %ld failures\n", done, tally->failures.load());
  }
}

int Main(int argc, char** argv) {
  Flags flags;
  for (int i = 1; i < argc; ++i) {
    absl::string_view word = argv[i];
    bool good = true;
    if (absl::ConsumePrefix(&word, "--first="))
      good = absl::SimpleAtoi(word, &flags.first);
    else if (absl::ConsumePrefix(&word, "--count="))
      good = absl::SimpleAtoi(word, &flags.count);
    else if (absl::ConsumePrefix(&word, "--workers="))
      good = absl::SimpleAtoi(word, &flags.workers);
    else if (absl::ConsumePrefix(&word, "--out="))
      flags.out = std::string(word);
    else if (absl::ConsumePrefix(&word, "--file="))
      flags.file = std::string(word);
    else if (absl::ConsumePrefix(&word, "--dump="))
      flags.dump = std::string(word);
    else if (word == "--no-shrink")
      flags.shrink = false;
    else if (!absl::StartsWith(word, "-"))
      flags.folder = std::string(word);
    else
      good = false;
    if (!good)
      return std::fprintf(stderr,
                          "usage: hilo_differential [--first=N] [--count=N] [--workers=N] "
                          "[--out=DIR] [--no-shrink] | --file=F [--dump=DIR]\n"),
             2;
  }
  if (!flags.file.empty()) return RunFile(flags.file, flags.dump);
  if (!flags.folder.empty()) return RunFolder(flags.folder);
  std::filesystem::create_directories(flags.out);
  void* shared =
      mmap(nullptr, sizeof(Tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return std::perror("mmap"), 2;
  auto* tally = new (shared) Tally{};
  // What a compiler does once in a process is done before the processes part.
  (void)InChild([] { return std::string(); });
  const auto begin = std::chrono::steady_clock::now();
  std::vector<pid_t> workers;
  for (int w = 0; w < flags.workers; ++w) {
    const pid_t worker = fork();
    if (worker == 0) {
      Work(flags, tally);
      _exit(0);
    }
    workers.push_back(worker);
  }
  for (pid_t worker : workers) waitpid(worker, nullptr, 0);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::fprintf(
      stderr, "%ld programs of %.1f instructions, %ld runs (%ld refused) in %.0f s: %ld failures\n",
      tally->programs.load(),
      static_cast<double>(tally->instructions) / std::max<int64_t>(1, tally->programs),
      tally->runs.load(), tally->refused.load(), seconds, tally->failures.load());
  return tally->failures == 0 && tally->programs == static_cast<int64_t>(flags.count) ? 0 : 1;
}

}  // namespace
}  // namespace hilo::fuzz

int main(int argc, char** argv) { return hilo::fuzz::Main(argc, argv); }
