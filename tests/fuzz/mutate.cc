// hilo_mutate: HLO texts with small damages, through everything that reads HLO text.
//
//   hilo_mutate --count=20000 [--first=0] [--workers=2] --out=DIR [FOLDER or FILE ...]
//
// Each mutant is parsed and verified; what is accepted is printed and parsed again, compiled, and,
// if it is small, run, with a deadline. Mutants run in child processes, a batch in each: one that
// crashes, or takes more than ten seconds, is written to DIR, and its batch goes on behind it.
// Exit code 1 if there was any.
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/file.h"
#include "hlo/ops/table/hlo_opcode.h"
#include "hlo/text/hlo_parser.h"
#include "tests/fuzz/child_process.h"
#include "tests/fuzz/digest.h"
#include "tests/fuzz/flags.h"
#include "tests/fuzz/random_numbers.h"
#include "tests/fuzz/short_forms.h"

namespace hilo::fuzz {
namespace {

constexpr int kSecondsPerMutant = 10;
constexpr int kBatch = 50;

// --- texts ---

struct Corpus {
  std::vector<std::string> texts;
  std::vector<std::string> words;  // of all texts
};

constexpr absl::string_view kExtremes[] = {"0",
                                           "1",
                                           "-1",
                                           "2",
                                           "3",
                                           "64",
                                           "65",
                                           "1000",
                                           "65536",
                                           "-0",
                                           "1e9",
                                           "nan",
                                           "-inf",
                                           "2147483647",
                                           "2147483648",
                                           "-2147483648",
                                           "4294967295",
                                           "4294967296",
                                           "4611686018427387904",
                                           "9223372036854775807",
                                           "-9223372036854775808",
                                           "9223372036854775808",
                                           "18446744073709551615",
                                           "99999999999999999999999999",
                                           "1e400",
                                           "0x1p3",
                                           "inf"};
constexpr absl::string_view kTypeNames[] = {"pred",     "s8",    "u8",     "s32",   "u64",     "f16",
                                            "bf16",     "f32",   "f64",    "c64",   "c128",    "s4",
                                            "f8e4m3fn", "token", "opaque", "tuple", "f4e2m1fn"};

class Mutator {
 public:
  Mutator(const Corpus& corpus, uint64_t seed) : corpus_(corpus), random_(seed) {}

  std::string Make() {
    std::vector<std::string> tokens = Tokens(random_.Of(corpus_.texts));
    // Some texts are short, damaged or not.
    if (random_.Chance(40)) {
      for (int64_t edits = 1 + random_.Below(6); edits > 0; --edits) Shorten(tokens, random_);
      if (random_.Chance(30)) return Joined(tokens);
    }
    for (int64_t edits = 1 + random_.Below(3); edits > 0 && !tokens.empty(); --edits) Edit(tokens);
    return Joined(tokens);
  }

 private:
  static std::string Joined(const std::vector<std::string>& tokens) {
    std::string text;
    for (const std::string& token : tokens) text += token;
    return text;
  }
  void Edit(std::vector<std::string>& tokens) {
    const int64_t count = static_cast<int64_t>(tokens.size()), at = random_.Below(count);
    switch (random_.Below(14)) {
      case 0: tokens.erase(tokens.begin() + at); break;
      case 1: tokens.insert(tokens.begin() + at, std::string(tokens[at])); break;
      case 2: std::swap(tokens[at], tokens[random_.Below(count)]); break;
      case 3:
      case 4:
      case 5:
        Replace(
            tokens, [](absl::string_view w) { return absl::ascii_isdigit(w[0]) || w[0] == '-'; },
            std::string(random_.Of(kExtremes)));
        break;
      case 6:
        Replace(
            tokens, [](absl::string_view w) { return absl::ascii_isdigit(w[0]); }, std::to_string(random_.Below(20)));
        break;
      case 7:
      case 8:
        Replace(tokens, [](absl::string_view w) { return absl::ascii_isalpha(w[0]); }, random_.Of(corpus_.words));
        break;
      case 9:
        Replace(
            tokens, [](absl::string_view w) { return HloOpcodeFromString(w).has_value(); },
            std::string(HloOpcodeString(static_cast<HloOpcode>(random_.Below(kHloOpcodeCount)))));
        break;
      case 10:
        Replace(
            tokens, [](absl::string_view w) { return PrimitiveTypeFromName(w).ok(); },
            std::string(random_.Of(kTypeNames)));
        break;
      case 11:  // a run of tokens from another place
        Splice(tokens, tokens);
        break;
      case 12: Splice(tokens, Tokens(random_.Of(corpus_.texts))); break;
      case 13:
        if (random_.Chance(30)) {
          tokens.resize(at);
        } else if (!tokens[at].empty()) {
          tokens[at][random_.Below(tokens[at].size())] = static_cast<char>(random_.Below(256));
        }
        break;
    }
  }
  // One of the tokens that `fits` gets another word; white space stays.
  template <typename Predicate>
  void Replace(std::vector<std::string>& tokens, Predicate fits, const std::string& word) {
    for (int tries = 0; tries < 20; ++tries) {
      std::string& token = tokens[random_.Below(tokens.size())];
      const absl::string_view bare = absl::StripLeadingAsciiWhitespace(token);
      if (bare.empty() || !fits(bare)) continue;
      token = absl::StrCat(token.substr(0, token.size() - bare.size()), word);
      return;
    }
  }
  void Splice(std::vector<std::string>& tokens, std::vector<std::string> source) {
    if (source.empty()) return;
    const int64_t from = random_.Below(source.size());
    const int64_t length = std::min<int64_t>(1 + random_.Below(12), source.size() - from);
    const int64_t at = random_.Below(tokens.size());
    const int64_t replaced = std::min<int64_t>(random_.Below(12), tokens.size() - at);
    tokens.erase(tokens.begin() + at, tokens.begin() + at + replaced);
    tokens.insert(tokens.begin() + at, source.begin() + from, source.begin() + from + length);
  }

  const Corpus& corpus_;
  Random random_;
};

Corpus ReadCorpus(const std::vector<std::string>& paths) {
  Corpus corpus;
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
      if (entry.path().extension() == ".hlo" && entry.file_size() < 100'000) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    const std::string text = ReadFile(file).value_or("");
    // Files of cases hold several modules.
    for (size_t begin = 0; begin < text.size();) {
      size_t end = text.find("// ----", begin);
      if (end == std::string::npos) end = text.size();
      corpus.texts.push_back(text.substr(begin, end - begin));
      begin = end + 7;
    }
  }
  for (const std::string& text : corpus.texts) {
    for (const std::string& token : Tokens(text)) {
      const absl::string_view word = absl::StripLeadingAsciiWhitespace(token);
      if (!word.empty() && absl::ascii_isalpha(word[0])) corpus.words.emplace_back(word);
    }
  }
  return corpus;
}

// What the processes share.
struct MutantTally {
  std::atomic<int64_t> next, mutants, parsed, compiled, failures;
};

// --- the run ---

struct MutateOptions {
  uint64_t first = 0, count = 1000;
  int workers = 2;
  std::string out, file;
  std::vector<std::string> paths;
};

void RunBatch(const Corpus& corpus, const MutateOptions& options, uint64_t begin, MutantTally* tally,
              std::atomic<uint64_t>* current) {
  const uint64_t end = std::min(begin + kBatch, options.count);
  for (uint64_t i = begin; i < end;) {
    *current = i;
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      for (; i < end; ++i) {
        *current = i;
        LimitTime(kSecondsPerMutant);
        const Digested how_far = Digest(Mutator(corpus, options.first + i).Make());
        ++tally->mutants;
        tally->parsed += how_far != Digested::kRefused;
        tally->compiled += how_far == Digested::kCompiled;
      }
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    ++tally->failures;
    const uint64_t seed = options.first + *current;
    const std::string path = absl::StrCat(options.out, "/", seed, ".hlo");
    std::ofstream(path) << Mutator(corpus, seed).Make();
    std::fprintf(stderr, "mutant %lu: %s\n  repeat: hilo_mutate --file=%s\n", seed,
                 WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "exit", path.c_str());
    i = *current + 1;
  }
}

int MutateMain(int argc, char** argv) {
  MutateOptions options;
  Flags flags("hilo_mutate [--first=N] [--count=N] [--workers=N] --out=DIR FOLDER or FILE ... | --file=F");
  flags.Number("--first", &options.first);
  flags.Number("--count", &options.count);
  flags.Number("--workers", &options.workers);
  flags.Text("--out", &options.out);
  flags.Text("--file", &options.file);
  flags.Words(&options.paths);
  if (!flags.Parse(argc, argv)) return 2;
  if (!options.file.empty()) {
    const auto text = ReadFile(options.file);
    if (!text.ok()) return std::fprintf(stderr, "%s\n", text.status().ToString().c_str()), 2;
    Digest(*text);
    std::fprintf(stderr, "%s\n", ParseHloModule(*text).status().ToString().c_str());
    return 0;
  }
  if (options.out.empty()) return std::fprintf(stderr, "--out: expected the folder for mutants that fail\n"), 2;
  void* shared = mmap(nullptr, sizeof(MutantTally) + 64 * sizeof(std::atomic<uint64_t>), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return std::perror("mmap"), 2;
  auto* tally = new (shared) MutantTally{};
  auto* current = reinterpret_cast<std::atomic<uint64_t>*>(tally + 1);
  const Corpus corpus = ReadCorpus(options.paths);
  if (corpus.texts.empty() || options.workers > 64) return std::fprintf(stderr, "hilo_mutate: no .hlo files\n"), 2;
  std::filesystem::create_directories(options.out);
  const auto begin = std::chrono::steady_clock::now();
  std::vector<pid_t> workers;
  for (int w = 0; w < options.workers; ++w) {
    const pid_t worker = fork();
    if (worker == 0) {
      while (true) {
        const uint64_t batch = static_cast<uint64_t>(tally->next++) * kBatch;
        if (batch >= options.count) _exit(0);
        RunBatch(corpus, options, batch, tally, current + w);
      }
    }
    workers.push_back(worker);
  }
  for (pid_t worker : workers) waitpid(worker, nullptr, 0);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::fprintf(stderr, "%ld mutants of %zu texts in %.0f s: %ld accepted, %ld compiled; %ld crashes or hangs\n",
               tally->mutants.load(), corpus.texts.size(), seconds, tally->parsed.load(), tally->compiled.load(),
               tally->failures.load());
  return tally->failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace hilo::fuzz

int main(int argc, char** argv) { return hilo::fuzz::MutateMain(argc, argv); }
