// A program found in the cache equals the result of compilation, also with custom calls: their functions are
// not part of it, but looked up when it is loaded, and their attributes, including pointers of this process, are
// part of the key. So nothing has to be excluded; an entry with pointers that no later process has is never requested,
// and is removed when it is old.
#include "runtime/saved_program.h"

#include <mutex>
#include <string>
#include <utility>

#include "base/byte_stream.h"
#include "base/errors.h"
#include "base/log_sink.h"
#include "base/sha256.h"
#include "hilo/executable.h"
#include "hilo/status_macros.h"
#include "hilo/version.h"
#include "hlo/text/module_digest.h"
#include "runtime/dynamic_program.h"
#include "runtime/guarded.h"
#include "runtime/shape_bytes.h"

namespace hilo {
namespace {

constexpr char kRunSection[] = "run";
constexpr char kKeySection[] = "cache key";

// Logs that a program is not cached, once for programs that follow each other with the same reason: a folder that
// cannot be written to concerns all.
void WarnNotCached(absl::string_view reason) {
  static std::mutex mutex;
  static std::string* const last = new std::string;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (*last == reason) return;
    *last = std::string(reason);
  }
  LogWarning("the compiled program is not cached: ", reason);
}

}  // namespace

absl::StatusOr<Artifact> MakeArtifact(const ClientCore& core, const LoadedProgram& program) {
  Artifact artifact{.platform = core.compiler->platform()};
  ByteWriter out;
  out.I64(program.assignment.replica_count());
  out.I64(program.assignment.partition_count());
  for (const int device : program.assignment.devices()) out.U32(static_cast<uint32_t>(device));
  out.Bool(program.effects.any);
  out.Bool(program.effects.transfers);
  out.U64(program.effects.infeeds.size());
  for (const Shape& infeed : program.effects.infeeds) WriteShape(infeed, &out);
  out.Bool(program.effects.custom_calls);
  out.U64(program.effects.lapack_calls.size());
  for (const std::string& name : program.effects.lapack_calls) out.Text(name);
  out.I64(program.effects.collectives);
  artifact.sections.push_back({kRunSection, out.Take()});
  HILO_RETURN_IF_ERROR(program.compiled->Serialize(&artifact));
  return artifact;
}

absl::StatusOr<RunFacts> ReadRunFacts(const Artifact& artifact) {
  HILO_ASSIGN_OR_RETURN(const absl::string_view bytes, artifact.Find(kRunSection));
  ByteReader in(bytes, kRunSection);
  RunFacts facts;
  const int64_t replicas = in.I64();
  const int64_t partitions = in.I64();
  std::vector<int> devices;
  const auto most = static_cast<int64_t>(in.left() / 4);
  if (replicas < 1 || partitions < 1 || partitions > most || replicas > most / partitions)
    in.Fail("as many partitions as there are devices behind");
  while (in.ok() && static_cast<int64_t>(devices.size()) < replicas * partitions)
    devices.push_back(static_cast<int>(in.U32()));
  facts.effects.any = in.Bool();
  facts.effects.transfers = in.Bool();
  for (uint64_t count = in.Count(8); count > 0 && in.ok(); --count) facts.effects.infeeds.push_back(ReadShape(&in));
  facts.effects.custom_calls = in.Bool();
  for (uint64_t count = in.Count(8); count > 0 && in.ok(); --count) facts.effects.lapack_calls.emplace_back(in.Text());
  facts.effects.collectives = in.I64();
  HILO_RETURN_IF_ERROR(in.Finish());
  HILO_ASSIGN_OR_RETURN(facts.assignment, DeviceAssignment::Create(replicas, partitions, devices));
  return facts;
}

absl::StatusOr<std::shared_ptr<const LoadedProgram>> LoadArtifact(const ClientCore& core, const Artifact& artifact,
                                                                  const CompileOptions& options) {
  if (artifact.platform != core.compiler->platform()) {
    return FailedPrecondition("the serialized executable was made for platform ", artifact.platform,
                              "; this client's is ", core.compiler->platform());
  }
  HILO_ASSIGN_OR_RETURN(RunFacts facts, ReadRunFacts(artifact));
  const DeviceAssignment& saved = facts.assignment;
  HILO_ASSIGN_OR_RETURN(
      DeviceAssignment assignment,
      AssignDevices(core, saved.replica_count(), saved.partition_count(),
                    options.devices.empty() ? saved.devices() : absl::MakeConstSpan(options.devices)));
  CompileOptions as_saved = options;
  as_saved.replica_count = saved.replica_count();
  as_saved.num_partitions = saved.partition_count();
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<CompiledProgram> program, LoadProgram(core.compiler.get(), artifact, as_saved));
  FindReplacedCalls(*options.custom_calls, core.compiler->platform(), &facts.effects);
  return std::make_shared<const LoadedProgram>(std::move(program), std::move(assignment), std::move(facts.effects));
}

absl::StatusOr<std::string> CacheKey(const ClientCore& core, const HloModule& module,
                                     const DeviceAssignment& assignment, const CompileOptions& options) {
  const bool watched = !options.dump_dir.empty() || options.verify_each_pass || options.perf_jitdump;
  if (core.cache == nullptr || watched || BuildId().empty()) return "";
  HILO_ASSIGN_OR_RETURN(const std::string target, core.compiler->TargetOf(options));
  if (target.empty()) return "";
  ByteWriter out;
  for (const absl::string_view text : {Version(), absl::string_view(BuildId())}) out.Text(text);
  for (const std::string& text : {core.compiler->platform(), target, assignment.ToString()}) out.Text(text);
  out.Bool(options.partitioned);
  out.Bool(options.strict);
  out.Bool(options.flush_denormals);
  out.U64(options.disabled_passes.size());
  for (const std::string& pass : options.disabled_passes) out.Text(pass);
  out.I64(options.constant_folding_limit);
  out.Raw(DigestBytes(ModuleDigest(module)));
  return DigestToHex(Sha256::Of(out.bytes()));
}

std::shared_ptr<const LoadedProgram> FindInCache(ClientCore* core, const std::string& key,
                                                 const CompileOptions& options) {
  if (key.empty()) return nullptr;
  const std::optional<std::string> bytes = core->cache->Read(key);
  if (!bytes.has_value()) return nullptr;
  auto program = Guarded([&]() -> absl::StatusOr<std::shared_ptr<const LoadedProgram>> {
    HILO_ASSIGN_OR_RETURN(const Artifact artifact, DecodeArtifact(*bytes));
    HILO_ASSIGN_OR_RETURN(const absl::string_view saved_key, artifact.Find(kKeySection));
    if (saved_key != key) return InvalidArgument("it is the program of another module");
    return LoadArtifact(*core, artifact, options);
  });
  if (program.ok()) return *std::move(program);
  core->cache->CountRejected();
  LogWarning("recompiling the damaged cache entry ", core->cache->PathOf(key), ": ", program.status().message());
  return nullptr;
}

void PutIntoCache(ClientCore* core, const std::string& key, const LoadedProgram& program) {
  if (key.empty()) return;
  absl::Status written = Guarded([&]() -> absl::Status {
    HILO_ASSIGN_OR_RETURN(Artifact artifact, MakeArtifact(*core, program));
    artifact.sections.push_back({kKeySection, key});
    return core->cache->Write(key, EncodeArtifact(artifact));
  });
  if (!written.ok()) WarnNotCached(written.message());
}

bool LooksLikeExecutable(absl::string_view bytes) { return LooksLikeArtifact(bytes); }

absl::StatusOr<ExecutableInfo> ReadExecutableInfo(absl::string_view bytes) {
  return Guarded([&]() -> absl::StatusOr<ExecutableInfo> {
    HILO_ASSIGN_OR_RETURN(const Artifact artifact, DecodeArtifact(bytes, /*check_sections=*/false));
    HILO_ASSIGN_OR_RETURN(const RunFacts facts, ReadRunFacts(artifact));
    return ExecutableInfo{.platform = artifact.platform,
                          .target = artifact.target,
                          .replica_count = facts.assignment.replica_count(),
                          .partition_count = facts.assignment.partition_count()};
  });
}

absl::StatusOr<std::string> Executable::Serialize() const {
  return Guarded([&]() -> absl::StatusOr<std::string> {
    HILO_ASSIGN_OR_RETURN(const Artifact artifact, MakeArtifact(*core_, *program_));
    return EncodeArtifact(artifact);
  });
}

absl::StatusOr<std::string> Executable::fingerprint() const {
  HILO_ASSIGN_OR_RETURN(const std::string bytes, Serialize());
  return ArtifactFingerprint(bytes);
}

}  // namespace hilo
