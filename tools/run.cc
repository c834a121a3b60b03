// hilo run: compiles a module, runs it once, and shows or writes its results.
#include <cmath>
#include <cstdio>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "runtime/runtime_access.h"
#include "runtime/transfer_ops.h"
#include "tools/command.h"
#include "tools/progress_line.h"
#include "tools/session.h"
#include "tools/transfers.h"

namespace hilo::tools {
namespace {

// Results with more elements than this are elided on the terminal.
constexpr int64_t kMaxPrintedElements = 1024;

// The leaves of the result on each device.
using Results = std::vector<std::vector<Literal>>;

// "_r2" if there are several devices.
std::string DeviceSuffix(const Session& session, size_t device) {
  return session.executable->assignment().device_count() > 1 ? absl::StrCat("_r", session.places[device]) : "";
}

// OUT.npz, or what process 1 of several writes: OUT_p1.npz.
std::string PathOfProcess(const Session& session, const std::string& path) {
  if (session.client->process_count() == 1) return path;
  const size_t name = path.rfind('/') + 1, dot = path.rfind('.');
  const size_t end = dot == std::string::npos || dot <= name ? path.size() : dot;
  return absl::StrCat(path.substr(0, end), "_p", session.client->process_id(), path.substr(end));
}

void Print(const Session& session, const Results& results) {
  const Shape& shape = session.executable->program_shape().result;
  for (size_t device = 0; device < results.size(); ++device) {
    for (size_t i = 0; i < results[device].size(); ++i) {
      const std::string text = results[device][i].ToString(true, kMaxPrintedElements);
      const std::string suffix = DeviceSuffix(session, device);
      if (shape.IsTuple() || !suffix.empty()) std::printf("out%zu%s: ", i, suffix.c_str());
      std::printf("%s\n", text.c_str());
    }
  }
}

// --output takes the one array of one device.
absl::Status CheckOutput(const Session& session) {
  const size_t results = session.places.size() * ShapeUtil::Leaves(session.executable->program_shape().result).size();
  if (results == 1) return absl::OkStatus();
  return InvalidArgument("--output writes one array, but the result has ", results, "; use --outputs=OUT.npz");
}

absl::Status Write(const Flags& flags, const Session& session, Results results) {
  if (flags.Has("outputs")) {
    std::vector<NamedLiteral> arrays;
    for (size_t device = 0; device < results.size(); ++device) {
      int64_t number = 0;
      for (Literal& leaf : results[device]) {
        if (!leaf.shape().IsArray()) continue;
        HILO_ASSIGN_OR_RETURN(leaf, leaf.ToStatic());
        arrays.push_back({absl::StrCat("out", number++, DeviceSuffix(session, device)), std::move(leaf)});
      }
    }
    return WriteNpz(PathOfProcess(session, flags.Get("outputs")), arrays);
  }
  HILO_ASSIGN_OR_RETURN(const Literal array, results[0][0].ToStatic());
  return WriteNpy(flags.Get("output").substr(1), array);  // behind the @
}

// Prints item I of a device as outfeedI; a tuple, in a file, as outfeedI_J.
absl::Status ShowOutfeed(const Flags& flags, const Session& session, std::vector<std::vector<Literal>> outfeed) {
  std::vector<NamedLiteral> arrays;
  for (size_t device = 0; device < outfeed.size(); ++device) {
    for (size_t i = 0; i < outfeed[device].size(); ++i) {
      Literal& item = outfeed[device][i];
      const std::string name = absl::StrCat("outfeed", i);
      if (!flags.Has("outfeed")) {
        std::printf("%s%s: %s\n", name.c_str(), DeviceSuffix(session, device).c_str(),
                    item.ToString(true, kMaxPrintedElements).c_str());
      } else if (item.shape().IsTuple()) {
        for (int64_t j = 0; j < item.tuple_size(); ++j) {
          arrays.push_back({absl::StrCat(name, "_", j, DeviceSuffix(session, device)), std::move(item.element(j))});
        }
      } else {
        arrays.push_back({absl::StrCat(name, DeviceSuffix(session, device)), std::move(item)});
      }
    }
  }
  return flags.Has("outfeed") ? WriteNpz(PathOfProcess(session, flags.Get("outfeed")), arrays) : absl::OkStatus();
}

absl::Status Run(const Flags& flags) {
  if (const std::string path = flags.Get("output"); flags.Has("output") && (path.size() < 2 || path[0] != '@'))
    return InvalidArgument("--output: expected @FILE.npy, got '", path, "'");
  HILO_ASSIGN_OR_RETURN(const Program program, LoadProgram(flags));
  if (flags.Has("check-nans") && program.module == nullptr)
    return InvalidArgument("--check-nans needs a module, and ", program.name, " is compiled already");
  const std::string platform = flags.Has("check-nans") ? "interpreter" : program.platform;
  HILO_ASSIGN_OR_RETURN(Session session, OpenSession(program, flags.Get("platform", platform), flags));
  if (flags.Has("output")) HILO_RETURN_IF_ERROR(CheckOutput(session));
  const ProgramEffects& wanted = RuntimeAccess::ProgramOf(*session.executable).effects;
  HILO_ASSIGN_OR_RETURN(std::vector<Literal> items, LoadInfeed(flags, wanted.infeeds));
  std::optional<Transfers> transfers;
  if (wanted.transfers)
    transfers.emplace(session.client.get(), static_cast<int64_t>(session.arguments.size()), std::move(items));
  const int64_t start = NowNanoseconds();
  std::optional<ProgressLine> progress("running");
  HILO_ASSIGN_OR_RETURN(Executable::ReplicatedResults buffers, session.Run());
  progress.reset();
  const double run_ms = MillisecondsSince(start);
  std::fprintf(stderr, "%s %.1f ms, run %.*g ms\n", program.module == nullptr ? "load" : "compile", session.compile_ms,
               run_ms < 1000 ? 3 : 15, run_ms < 1000 ? run_ms : std::round(run_ms));
  Results results(buffers.size());
  for (size_t device = 0; device < buffers.size(); ++device) {
    for (const auto& buffer : buffers[device]) {
      HILO_ASSIGN_OR_RETURN(Literal literal, buffer->ToLiteral());
      results[device].push_back(std::move(literal));
    }
  }
  if (transfers.has_value()) HILO_RETURN_IF_ERROR(ShowOutfeed(flags, session, transfers->Finish()));
  if (flags.Has("outputs") || flags.Has("output")) return Write(flags, session, std::move(results));
  Print(session, results);
  return absl::OkStatus();
}

}  // namespace

Command RunCommand() {
  return {
      .name = "run",
      .arguments = "MODULE",
      .summary = "compile a module, or load a compiled one, and run it once",
      .details =
          "Results go to standard output as literals, or to the files that --outputs or --output "
          "name. On several devices, outI_rD is result I of device D = replica * partitions + partition.\n"
          "\nStarted by a launcher (hilo launch, mpirun, torchrun, srun; docs/distributed.md) it is one of several "
          "processes that share the devices\n"
          "equally; process P shows its own results, or writes them to OUT_pP.npz.\n"
          "\nMODULE may be an executable that hilo compile -o wrote: native code, to be trusted like a program.\n"
          "\nInfeeds take the arrays in0, in1 ... of the archive that --infeed names (given repeatedly: one archive\n"
          "after the other), tuples being inI_0, inI_1 ...; every device gets all of them. What programs put into the\n"
          "outfeed is printed as outfeed0, outfeed1 ..., or written to the archive that --outfeed names.\n"
          "\n"
          "Examples:\n"
          "  hilo run add.hlo --input='f32[2]{1, 2}' --input='{3, 4}'\n"
          "  hilo run step.hlo --inputs=in.npz --outputs=out.npz\n"
          "  hilo run step.hlo --inputs=in.npz --replicas=4\n"
          "  hilo compile step.hlo -o step.hilo && hilo run step.hilo --inputs=in.npz\n"
          "  hilo run step.hlo --input=random --input=@weights.npy --platform=interpreter\n",
      .flags =
          Join(Join(RunFlags(),
                    {{"outputs", "OUT.npz", "write the results out0, out1 ...", true},
                     {"output", "@FILE.npy", "write the only result", true},
                     {"check-nans", "",
                      "run on the interpreter, and end with an error at the first instruction that makes a NaN or "
                      "an infinity: which, where, of what, and its line in the source"},
                     {"infeed", "IN.npz", "what infeed instructions read: in0, in1 ..."},
                     {"outfeed", "OUT.npz", "write what outfeed instructions put out: outfeed0, outfeed1 ...", true}}),
               CompileFlags()),
      .run = &Run};
}

}  // namespace hilo::tools
