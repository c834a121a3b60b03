// hilo_differential: random programs on the CPU backend, some of them on emulated GPUs too, against the evaluator.
//
//   hilo_differential --count=2000 [--first=0] [--stride=1] [--workers=2] --out=DIR [--coverage]
//   hilo_differential --count=300 --first=7 --stride=16 --out=DIR    only programs that rewrite arrays in place
//   hilo_differential --count=300 --partitioned --out=DIR            programs on several devices against one
//   hilo_differential --count=300 --large --out=DIR                  short programs on large arrays
//   hilo_differential --first=7 --print           shows a program
//   hilo_differential FOLDER                      repeats the cases in a folder
//   hilo_differential --file=case.hlo [--dump=DIR]       repeats a case that an earlier run wrote
//
// Every program runs in a process of its own, so that one that crashes or hangs is a finding like another. A program
// that fails is made small and written to DIR. With --coverage, the programs must have held every opcode but those that
// are left out on purpose. Exit code 1 if anything failed.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/file.h"
#include "hlo/ir/hlo_verifier.h"
#include "tests/fuzz/child_process.h"
#include "tests/fuzz/flags.h"
#include "tests/fuzz/program_check.h"
#include "tests/fuzz/program_file.h"
#include "tests/fuzz/program_shrinker.h"
#include "tests/fuzz/random_module.h"
#include "tests/fuzz/random_shardings.h"

namespace hilo::fuzz {
namespace {

// Opcodes that no program has.
constexpr HloOpcode kLeftOut[] = {
    HloOpcode::kInfeed,     HloOpcode::kOutfeed,
    HloOpcode::kSend,       HloOpcode::kSendDone,
    HloOpcode::kRecv,       HloOpcode::kRecvDone,              // the host's part
    HloOpcode::kCustomCall,                                    // a function of the application
    HloOpcode::kRng,        HloOpcode::kRngGetAndUpdateState,  // other numbers in every run
};

std::string InOneLine(absl::string_view text) { return absl::StrReplaceAll(text, {{"\n", " "}}); }

int RunFile(const std::string& path, const std::string& dump) {
  const auto file = ReadProgram(path);
  if (!file.ok()) return std::fprintf(stderr, "%s\n", file.status().ToString().c_str()), 2;
  const absl::Status status = Check(file->program, file->configuration, dump);
  std::fprintf(stderr, "%s: %s\n", file->configuration.name().c_str(), status.ToString().c_str());
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

struct Options {
  uint64_t first = 0, count = 100, stride = 1;
  int workers = 2;
  bool partitioned = false, large = false, no_shrink = false, coverage = false, print = false;
  std::string out, file, dump;
  std::vector<std::string> folders;
};

// Short programs on arrays that kernels divide into blocks and parts, and of which products are library calls.
RandomProgram MakeLargeProgram(uint64_t seed) {
  static constexpr int64_t kSizes[] = {1, 2, 3, 5, 8, 16, 17, 33, 64, 100, 128, 257, 512, 600, 1000, 1025, 4096, 20000};
  return MakeRandomProgram(
      seed, {.min_instructions = 2, .max_instructions = 8, .max_elements = int64_t{1} << 16, .sizes = kSizes});
}

RandomProgram MakeProgram(uint64_t seed, const Options& options) {
  if (options.partitioned) return MakePartitionedProgram(seed);
  return options.large ? MakeLargeProgram(seed) : MakeRandomProgram(seed);
}

// Shared between the processes.
struct Tally {
  std::atomic<int64_t> next, programs, instructions, runs, refused, failures;
  std::atomic<int64_t> opcodes[kHloOpcodeCount];
};

// Lines: "REFUSED message" or "FAIL configuration message".
std::string CheckSeed(uint64_t seed, const Options& options, Tally* tally) {
  const RandomProgram program = MakeProgram(seed, options);
  tally->instructions += program.module->instruction_count();
  for (const HloComputation* computation : program.module->computations()) {
    for (const HloInstruction* instruction : computation->instructions())
      ++tally->opcodes[static_cast<int>(instruction->opcode())];
  }
  if (const absl::Status valid = VerifyHloModule(*program.module, HloStage::kInput); !valid.ok())
    return absl::StrCat("FAIL default generated an invalid module: ", InOneLine(valid.message()), "\n");
  std::string lines;
  for (const Configuration& configuration : ConfigurationsOf(seed, options.partitioned)) {
    absl::StrAppend(&lines, "TRY ", configuration.name(), "\n");
    const absl::Status status = Check(program, configuration);
    ++tally->runs;
    if (absl::IsUnimplemented(status) || absl::IsFailedPrecondition(status)) {
      ++tally->refused;
      absl::StrAppend(&lines, "REFUSED ", InOneLine(status.message()), "\n");
    } else if (!status.ok()) {
      absl::StrAppend(&lines, "FAIL ", configuration.name(), " ", InOneLine(status.message()), "\n");
      break;
    }
  }
  return lines;
}

void Record(uint64_t seed, const std::string& lines, const Options& options, Tally* tally) {
  for (absl::string_view line : absl::StrSplit(lines, '\n')) {
    const bool crashed = absl::StartsWith(line, "CRASH ");
    if (absl::ConsumePrefix(&line, "REFUSED "))
      std::fprintf(stderr, "seed %lu refused: %s\n", seed, std::string(line).c_str());
    if (!crashed && !absl::ConsumePrefix(&line, "FAIL ")) continue;
    ++tally->failures;
    // A crashed process has said nothing of the configuration: find it again.
    RandomProgram program;
    const std::string made =
        InChild(kSecondsPerProgram, [&] { return std::to_string(MakeProgram(seed, options).arguments.size()); });
    if (absl::StrContains(made, "CRASH")) {
      std::fprintf(stderr, "seed %lu: the generator itself: %s\n", seed, made.c_str());
      return;
    }
    program = MakeProgram(seed, options);
    Configuration configuration = Configuration::FromName(line.substr(0, line.find(' ')));
    std::string failure(line);
    if (crashed) {
      for (const Configuration& candidate : ConfigurationsOf(seed, options.partitioned)) {
        failure = FailureOf(program, configuration = candidate);
        if (!failure.empty()) break;
      }
    }
    const bool repeats = !failure.empty();
    if (!repeats) failure = absl::StrCat(line, " (did not repeat)");
    std::string text = ProgramText(program, configuration, failure, absl::StrCat("seed ", seed));
    // What takes too long takes as long in every step of making it small.
    if (!options.no_shrink && repeats && !IsTimeout(failure) && program.on_one_device == nullptr &&
        !absl::StrContains(failure, "invalid module")) {
      Shrinker shrinker(std::move(program), configuration, failure);
      shrinker.Run();
      failure = shrinker.failure();
      text = ProgramText(shrinker.program(), configuration, failure, absl::StrCat("seed ", seed));
    }
    const std::string path = absl::StrCat(options.out, "/", seed, ".", configuration.name(), ".hlo");
    (void)WriteFile(path, text);
    std::fprintf(stderr, "seed %lu, %s: %s\n  repeat: hilo_differential --file=%s\n", seed,
                 configuration.name().c_str(), failure.c_str(), path.c_str());
    return;
  }
}

void Work(const Options& options, Tally* tally) {
  while (true) {
    const uint64_t index = tally->next++;
    if (index >= options.count) return;
    const uint64_t seed = options.first + index * options.stride;
    Record(seed, InChild(kSecondsPerProgram, [&] { return CheckSeed(seed, options, tally); }), options, tally);
    const int64_t done = ++tally->programs;
    if (done % 200 == 0) std::fprintf(stderr, "%ld programs, %ld failures\n", done, tally->failures.load());
  }
}

// Says which opcodes are missing, or here although they are left out.
bool CheckCoverage(const Tally& tally) {
  bool good = true;
  for (int i = 0; i < kHloOpcodeCount; ++i) {
    const auto opcode = static_cast<HloOpcode>(i);
    const bool left_out = std::find(std::begin(kLeftOut), std::end(kLeftOut), opcode) != std::end(kLeftOut);
    if ((tally.opcodes[i] == 0) == left_out) continue;
    good = false;
    std::fprintf(stderr, "%s %s\n", left_out ? "not expected in any program:" : "in no program:",
                 std::string(HloOpcodeString(opcode)).c_str());
  }
  return good;
}

int Main(int argc, char** argv) {
  Options options;
  Flags flags(
      "hilo_differential [--first=N] [--count=N] [--stride=N] [--workers=N] --out=DIR [--partitioned] [--large] "
      "[--no-shrink] "
      "[--coverage] | "
      "--first=N --print | FOLDER | --file=F [--dump=DIR]");
  flags.Number("--first", &options.first);
  flags.Number("--count", &options.count);
  flags.Number("--stride", &options.stride);
  flags.Number("--workers", &options.workers);
  flags.Text("--out", &options.out);
  flags.Text("--file", &options.file);
  flags.Text("--dump", &options.dump);
  flags.Switch("--partitioned", &options.partitioned);
  flags.Switch("--large", &options.large);
  flags.Switch("--no-shrink", &options.no_shrink);
  flags.Switch("--coverage", &options.coverage);
  flags.Switch("--print", &options.print);
  flags.Words(&options.folders);
  if (!flags.Parse(argc, argv)) return 2;
  if (!options.file.empty()) return RunFile(options.file, options.dump);
  if (!options.folders.empty()) return RunFolder(options.folders[0]);
  if (options.print) {
    std::printf("%s",
                ProgramText(MakeProgram(options.first, options), {}, "", absl::StrCat("seed ", options.first)).c_str());
    return 0;
  }
  if (options.out.empty()) return std::fprintf(stderr, "--out: expected the folder for programs that fail\n"), 2;
  std::filesystem::create_directories(options.out);
  void* shared = mmap(nullptr, sizeof(Tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return std::perror("mmap"), 2;
  auto* tally = new (shared) Tally{};
  // What a compiler does once in a process is done before the processes part.
  (void)InChild(kSecondsPerProgram, [] { return std::string(); });
  const auto begin = std::chrono::steady_clock::now();
  std::vector<pid_t> workers;
  for (int w = 0; w < options.workers; ++w) {
    const pid_t worker = fork();
    if (worker == 0) {
      Work(options, tally);
      _exit(0);
    }
    workers.push_back(worker);
  }
  for (pid_t worker : workers) waitpid(worker, nullptr, 0);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::fprintf(stderr, "%ld programs of %.1f instructions, %ld runs (%ld refused) in %.0f s: %ld failures\n",
               tally->programs.load(), static_cast<double>(tally->instructions) / std::max<int64_t>(1, tally->programs),
               tally->runs.load(), tally->refused.load(), seconds, tally->failures.load());
  if (options.coverage && !CheckCoverage(*tally)) return 1;
  return tally->failures == 0 && tally->programs == static_cast<int64_t>(options.count) ? 0 : 1;
}

}  // namespace
}  // namespace hilo::fuzz

int main(int argc, char** argv) { return hilo::fuzz::Main(argc, argv); }
