// Shared by `run`, `bench` and `compile`: a module from a file, a client, arguments from
// flags.
#ifndef HILO_TOOLS_SESSION_H_
#define HILO_TOOLS_SESSION_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hilo/client.h"
#include "hilo/npy.h"
#include "hlo/ir/hlo_module.h"
#include "runtime/compiler.h"
#include "tools/flags.h"

namespace hilo::tools {

// Flags of every command that reads a module, of every command that compiles, and of every command that runs.
std::vector<FlagSpec> ModuleFlags();
struct PlatformHelp {
  std::string value = "NAME", help = "interpreter, cpu (default), cuda or cuda-emulated";
};
std::vector<FlagSpec> CompileFlags(const PlatformHelp& platform = {});
std::vector<FlagSpec> RunFlags();
std::vector<FlagSpec> Join(std::vector<FlagSpec> a, const std::vector<FlagSpec>& b);

// The module that the command line names, in a format detected by content ("-": standard input).
// Errors: NotFound; the parser's; Unimplemented for unsupported kinds of files.
absl::StatusOr<std::unique_ptr<HloModule>> LoadModule(const Flags& flags);

// The input of `run` and `bench`: a module, or an executable that `compile -o` wrote.
struct Program {
  std::unique_ptr<HloModule> module;  // null: an executable
  std::string executable;
  std::string name;
  std::string platform;  // the target platform; a module: "cpu"
};
// From a file ("-": standard input). Errors: as LoadModule; those of Client::Load; InvalidArgument for flags of
// compilation together with an executable.
absl::StatusOr<Program> LoadProgram(const std::string& path, const Flags& flags);
// The program that the command line names.
absl::StatusOr<Program> LoadProgram(const Flags& flags);

absl::StatusOr<CompileOptions> CompileOptionsFrom(const Flags& flags);
// Replicas times partitions. Errors: InvalidArgument for more than the limit.
absl::StatusOr<int64_t> DeviceCount(const CompileOptions& options);
// The compiler of a platform, without devices. Errors: InvalidArgument for other platforms.
absl::StatusOr<std::unique_ptr<Compiler>> CompilerFrom(const std::string& platform, const Flags& flags);
absl::StatusOr<std::unique_ptr<Client>> CreateClient(const std::string& platform, const Flags& flags,
                                                     int64_t device_count = 1);
// The client of this process in a job started by a launcher, whose processes have `device_count` devices together.
// Errors: InvalidArgument if they cannot be divided equally; those of DetectLaunch and ProcessGroup::Join.
absl::StatusOr<std::unique_ptr<Client>> CreateClientOfLaunch(const std::string& platform, const Flags& flags,
                                                             int64_t device_count);

// The arguments of one device, one per leaf of the parameters, depth first. Devices may share them.
using Arguments = std::vector<std::shared_ptr<const Literal>>;

// The arguments that --inputs or --input give to each of `device_count` devices. In an archive, argI_rD is for device
// D, argI for all. Errors: InvalidArgument listing the parameters if there are too few or too many, or naming the one
// that does not fit.
absl::StatusOr<std::vector<Arguments>> LoadArguments(const ProgramShape& shape, const Flags& flags,
                                                     int64_t device_count);

// A compiled module with its arguments on its devices.
struct Session {
  // One run on all devices; waits for it.
  absl::StatusOr<Executable::ReplicatedResults> Run() const;

  std::unique_ptr<Client> client;
  std::unique_ptr<Executable> executable;
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<std::vector<Buffer*>> arguments;  // of each device of this process
  std::vector<int64_t> places;                  // indices of these devices among all: replica * partitions + partition
  ExecuteOptions options;
  double compile_ms = 0;  // or the time to load
};
enum class ArgumentSource { kFlags, kRandom };
absl::StatusOr<Session> OpenSession(const Program& program, const std::string& platform, const Flags& flags,
                                    ArgumentSource source = ArgumentSource::kFlags);

double MillisecondsSince(int64_t start_nanoseconds);
int64_t NowNanoseconds();

}  // namespace hilo::tools

#endif  // HILO_TOOLS_SESSION_H_
