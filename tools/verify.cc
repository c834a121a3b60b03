// hilo verify: runs a module on several platforms with the same inputs, and compares the results.
#include <cstdio>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "backends/registry.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/precision.h"
#include "hlo/memory/buffer_slice.h"
#include "runtime/runtime_access.h"
#include "shape/literal_difference.h"
#include "tools/command.h"
#include "tools/progress_line.h"
#include "tools/session.h"
#include "tools/verify_instructions.h"

namespace hilo::tools {
namespace {

constexpr absl::string_view kInterpreter = "interpreter";

// The leaves of the results of all devices.
struct NamedResults {
  std::vector<std::string> names;  // "out0", "out1_r2"
  std::vector<Literal> arrays;
  std::vector<size_t> leaves;  // the number of each among the leaves of its device's result
};

absl::StatusOr<NamedResults> RunOn(const Program& program, const std::string& platform, const Flags& flags) {
  const bool given = flags.Has("input") || flags.Has("inputs");
  HILO_ASSIGN_OR_RETURN(const Session session, OpenSession(program, platform, flags,
                                                           given ? ArgumentSource::kFlags : ArgumentSource::kRandom));
  const ProgressLine progress(absl::StrCat("running on ", platform));
  HILO_ASSIGN_OR_RETURN(const Executable::ReplicatedResults buffers, session.Run());
  NamedResults results;
  for (size_t device = 0; device < buffers.size(); ++device) {
    for (size_t i = 0; i < buffers[device].size(); ++i) {
      HILO_ASSIGN_OR_RETURN(Literal literal, buffers[device][i]->ToLiteral());
      if (!literal.shape().IsArray()) continue;
      HILO_ASSIGN_OR_RETURN(literal, literal.ToStatic());
      results.names.push_back(absl::StrCat("out", i, buffers.size() > 1 ? absl::StrCat("_r", device) : ""));
      results.arrays.push_back(std::move(literal));
      results.leaves.push_back(i);
    }
  }
  return results;
}

// How far results may be apart.
struct Tolerance {
  int64_t ulps = -1;     // -1: not given
  double relative = -1;  // to the largest magnitude; -1: not given

  bool Accepts(const LiteralDifference& difference) const {
    if (ulps < 0 && relative < 0) return difference.within_rounding;
    return difference.differing == 0 || (ulps >= 0 && difference.max_ulps <= ulps) ||
           (relative >= 0 && difference.max_relative <= relative);
  }
};

absl::StatusOr<Tolerance> ToleranceFrom(const Flags& flags) {
  Tolerance tolerance;
  HILO_ASSIGN_OR_RETURN(tolerance.ulps, flags.Integer("ulps", -1, 0));
  HILO_ASSIGN_OR_RETURN(tolerance.relative, flags.Number("relative", -1));
  return tolerance;
}

// The significant digits that each leaf of the module's result was computed with.
std::vector<int> DigitsOfResults(const HloModule& module) {
  std::vector<const HloInstruction*> pending = {module.entry_computation()->root_instruction()};
  std::vector<int> digits;
  while (!pending.empty()) {
    const HloInstruction* value = pending.back();
    pending.pop_back();
    if (value->opcode() == HloOpcode::kTuple) {
      pending.insert(pending.end(), value->operands().rbegin(), value->operands().rend());
    } else {
      digits.insert(digits.end(), LeafCount(value->shape()), SignificantDigitsBehind(*value));
    }
  }
  return digits;
}

// The number of results that differ by more than the tolerance. `digits`: of each result of a device.
int64_t Compare(const NamedResults& expected, const NamedResults& actual, const std::vector<int>& digits,
                const std::string& platform, const Tolerance& tolerance) {
  int64_t wrong = 0;
  for (size_t i = 0; i < expected.arrays.size(); ++i) {
    const Literal &e = expected.arrays[i], &a = actual.arrays[i];
    const std::string what = absl::StrCat(expected.names[i], " ", e.shape().ToString());
    if (e.shape().dimensions() != a.shape().dimensions()) {
      std::printf("%-24s %-14s sizes differ: %s\n", what.c_str(), platform.c_str(), a.shape().ToString().c_str());
      ++wrong;
      continue;
    }
    const LiteralDifference difference = DifferenceOf(e, a, digits[expected.leaves[i]]);
    const bool accepted = tolerance.Accepts(difference);
    wrong += accepted ? 0 : 1;
    std::printf("%-24s %-14s %s\n", what.c_str(), platform.c_str(), DifferenceText(difference, accepted).c_str());
  }
  return wrong;
}

// Every platform of this machine, the reference first.
std::vector<std::string> PlatformsOf(const Flags& flags) {
  std::vector<std::string> platforms = flags.List("platform");
  if (flags.Has("platform")) return platforms;
  platforms.emplace_back(kInterpreter);
  for (const std::string& name : PlatformNames()) {
    if (name != kInterpreter) platforms.push_back(name);
  }
  return platforms;
}

absl::Status Verify(const Flags& flags) {
  HILO_ASSIGN_OR_RETURN(const Tolerance tolerance, ToleranceFrom(flags));
  HILO_ASSIGN_OR_RETURN(const Program program, LoadProgram(flags));
  if (program.module == nullptr) return InvalidArgument("hilo verify compares modules, and this is an executable");
  const std::vector<std::string> platforms = PlatformsOf(flags);
  if (platforms.size() < 2)
    return InvalidArgument("--platform: expected two or more, separated by commas, got '", flags.Get("platform"), "'");
  HILO_ASSIGN_OR_RETURN(const NamedResults expected, RunOn(program, platforms[0], flags));
  const std::vector<int> digits = DigitsOfResults(*program.module);
  int64_t wrong = 0, compared = 0;
  for (size_t i = 1; i < platforms.size(); ++i) {
    const absl::StatusOr<NamedResults> actual = RunOn(program, platforms[i], flags);
    if (actual.status().code() == absl::StatusCode::kUnavailable && !flags.Has("platform")) continue;
    if (!actual.ok()) return AddContext(actual.status(), absl::StrCat("; on ", platforms[i]));
    ++compared;
    wrong += Compare(expected, *actual, digits, platforms[i], tolerance);
    if (flags.Has("instructions")) HILO_RETURN_IF_ERROR(VerifyInstructions(program, platforms[i], flags));
  }
  if (compared == 0) return Unavailable("there is no second platform on this machine");
  if (wrong == 0) return absl::OkStatus();
  return FailedPrecondition(
      wrong, " of ", compared * static_cast<int64_t>(expected.arrays.size()), " results differ from those of ",
      platforms[0], " by more than ",
      flags.Has("ulps") || flags.Has("relative") ? "the tolerance" : "half of the digits that they were computed with");
}

}  // namespace

Command VerifyCommand() {
  return {
      .name = "verify",
      .arguments = "MODULE",
      .summary = "run a module on several platforms, and compare the results",
      .details =
          "The first platform is the reference. Inputs are the same for all: those of --input or --inputs, else "
          "random ones.\n"
          "For each result it prints the largest distance in units in the last place and relative to the largest "
          "magnitude, and\n"
          "the worst element. Floats may differ by half of the digits of the narrowest type that they were computed "
          "with (bf16, f16,\n"
          "tf32 in products of f32 that allow it), relative to the largest magnitude, unless --ulps or --relative "
          "say otherwise;\n"
          "integers must be equal. The exit code is 0 if all results agree, 1 if not, 2 for a wrong module.\n"
          "--instructions finds the instruction that is wrong: it runs the module once more with all values of the "
          "entry as\n"
          "results, and evaluates each instruction by itself on the operands that the platform computed.\n"
          "\n"
          "Examples:\n"
          "  hilo verify step.hlo\n"
          "  hilo verify step.hlo --platform=interpreter,cpu --inputs=in.npz --ulps=4\n"
          "  hilo verify step.hlo --platform=interpreter,cuda-emulated --instructions\n",
      .flags = Join(Join({{"instructions", "", "compare every instruction, and name the first that is wrong"},
                          {"ulps", "N", "accept results that are N units in the last place apart"},
                          {"relative", "R", "accept results that are R times the largest magnitude apart"}},
                         RunFlags()),
                    CompileFlags({"A,B", "platforms, the reference first; default: interpreter and all others"})),
      .run = &Verify};
}

}  // namespace hilo::tools
