// Any bytes through everything that reads serialized executables.
//
// The bytes are taken for a whole file, which the checksums refuse before any code is linked. Then, behind the
// checksums, all but the first byte is taken for the content of one section of a whole executable (the first byte says
// which). Of a CPU executable everything is read but nothing linked, for code must be believed; one of the interpreter
// is loaded. Of a GPU's everything but the kernels is read. There the bytes are taken a second time, as changes of the
// section: three at a time, a position and the byte that it gets.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "backends/cpu/runtime/program_image.h"
#include "backends/cpu/runtime_calls/runtime_call_text.h"
#include "backends/gpu/compile/gpu_compiler.h"
#include "backends/gpu/runtime/gpu_platform.h"
#include "backends/gpu/thunks/program_bytes.h"
#include "backends/interpreter/interpreter_compiler.h"
#include "hilo/client.h"
#include "runtime/runtime_access.h"
#include "runtime/saved_program.h"

namespace {

constexpr char kModule[] = R"(HloModule m
ENTRY main {
  x = f32[<=4] parameter(0)
  y = f32[2,2] parameter(1)
  t = c64[2,2] fft(y), fft_type=RFFT, fft_length={2}
  s = f32[<=4] add(x, x)
  ROOT r = (f32[<=4], c64[2,2]) tuple(s, t)
})";

// Thunks of many kinds.
constexpr char kGpuModule[] = R"(HloModule m, replica_count=2
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
c { s = (f32[], f32[4,4]) parameter(0)  n = f32[] get-tuple-element(s), index=0  e = f32[] constant(9)  ROOT t = pred[] compare(n, e), direction=LT }
b {
  s = (f32[], f32[4,4]) parameter(0)
  v = f32[4,4] get-tuple-element(s), index=1
  z = f32[] constant(0)
  m = f32[] reduce(v, z), dimensions={0,1}, to_apply=add
  w = f32[4,4] dot(v, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = (f32[], f32[4,4]) tuple(m, w)
}
f { v = f32[4,4] parameter(0)  ROOT l = f32[4,4] cholesky(v), lower=true }
g { v = f32[4,4] parameter(0)  ROOT t = f32[4,4] transpose(v), dimensions={1,0} }
ENTRY main {
  x = f32[4,4] parameter(0)
  i = s32[] parameter(1)
  img = f32[1,4,4,2] parameter(2)
  ker = f32[3,3,2,2] parameter(3)
  zero = f32[] constant(0)
  t = (f32[], f32[4,4]) tuple(zero, x)
  l = (f32[], f32[4,4]) while(t), condition=c, body=b
  v = f32[4,4] get-tuple-element(l), index=1
  w = f32[4,4] conditional(i, v, x), branch_computations={f, g}
  s = c64[4,3] fft(w), fft_type=RFFT, fft_length={4}
  q = f32[4,4] fft(s), fft_type=IRFFT, fft_length={4}
  all = f32[4,4] all-reduce(q), replica_groups={{0,1}}, to_apply=add
  id = u32[] replica-id()
  con = f32[1,4,4,2] convolution(img, ker), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
  ROOT r = (f32[4,4], u32[], f32[1,4,4,2]) tuple(all, id, con)
})";

std::unique_ptr<hilo::Client> Made(absl::StatusOr<std::unique_ptr<hilo::Client>> client) {
  if (!client.ok()) std::abort();
  return *std::move(client);
}

hilo::Artifact ArtifactOf(hilo::Client& client, const char* module = kModule) {
  const auto executable = client.CompileHloText(module);
  if (!executable.ok()) std::abort();
  const auto bytes = (*executable)->Serialize();
  if (!bytes.ok()) std::abort();
  auto artifact = hilo::DecodeArtifact(*bytes);
  if (!artifact.ok()) std::abort();
  return *std::move(artifact);
}

struct Subjects {
  std::unique_ptr<hilo::Client> cpu = Made(hilo::Client::Create({.num_threads = 1, .cache_dir = ""}));
  // With assigned memory dynamic dimensions are expanded, as on the CPU.
  std::unique_ptr<hilo::Client> interpreter = Made(hilo::RuntimeAccess::CreateClient(
      {.num_threads = 1, .cache_dir = ""}, hilo::CreateInterpreterCompiler({.assigned_buffers = true})));
  std::unique_ptr<hilo::Client> gpu = Made(hilo::RuntimeAccess::CreateClient(
      {.device_count = 2, .num_threads = 1, .cache_dir = ""},
      hilo::gpu::CreateGpuCompiler(
          hilo::gpu::kEmulatedPlatform,
          {.kernels = {.sequences = false, .library_thresholds = hilo::gpu::LibraryThresholds::Always()}})));
  const hilo::Artifact cpu_artifact = ArtifactOf(*cpu), interpreter_artifact = ArtifactOf(*interpreter),
                       gpu_artifact = ArtifactOf(*gpu, kGpuModule);
};

hilo::Artifact WithSection(hilo::Artifact artifact, uint8_t number, absl::string_view bytes) {
  artifact.sections[number % artifact.sections.size()].bytes = std::string(bytes);
  return artifact;
}

hilo::Artifact WithChanges(hilo::Artifact artifact, uint8_t number, absl::string_view changes) {
  std::string& bytes = artifact.sections[number % artifact.sections.size()].bytes;
  const auto at = [&](size_t i) { return static_cast<uint8_t>(changes[i]); };
  for (size_t i = 0; i + 2 < changes.size() && !bytes.empty(); i += 3)
    bytes[(at(i) + 256 * at(i + 1)) % bytes.size()] = changes[i + 2];
  return artifact;
}

bool DecodeForGpu(const hilo::Artifact& artifact) {
  hilo::gpu::AlgorithmSelector algorithms({.is_emulated = true}, "");
  const auto program = hilo::gpu::DecodeProgram(
      artifact, {.device = {.is_emulated = true}, .algorithms = &algorithms, .replica_count = 2});
  if (!program.ok()) return false;
  for (const auto& scope : program->scopes) hilo::gpu::ThunksToString(scope->thunks, "");
  hilo::Artifact again;
  hilo::gpu::EncodeProgram(*program, &again);
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Subjects* const subjects = new Subjects();
  static const bool whole = DecodeForGpu(subjects->gpu_artifact);
  if (!whole) std::abort();
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  hilo::ReadExecutableInfo(bytes).status().IgnoreError();
  subjects->cpu->Load(bytes).status().IgnoreError();
  if (size == 0) return 0;
  const hilo::Artifact cpu = WithSection(subjects->cpu_artifact, data[0], bytes.substr(1));
  hilo::ReadRunFacts(cpu).status().IgnoreError();
  if (const auto program = hilo::cpu::DecodeProgram(cpu); program.ok())
    hilo::cpu::MakeRuntimeCalls(program->image, {}).status().IgnoreError();
  subjects->interpreter
      ->Load(hilo::EncodeArtifact(WithSection(subjects->interpreter_artifact, data[0], bytes.substr(1))))
      .status()
      .IgnoreError();
  DecodeForGpu(WithSection(subjects->gpu_artifact, data[0], bytes.substr(1)));
  DecodeForGpu(WithChanges(subjects->gpu_artifact, data[0], bytes.substr(1)));
  return 0;
}
