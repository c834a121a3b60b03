// Any bytes through everything that reads serialised executables.
//
// The bytes are taken for a whole file, which the checksums refuse before any code is linked. Then, behind the
// checksums, all but the first byte is taken for the content of one section of a whole executable (the first byte says
// which). Of a CPU executable everything is read but nothing linked, for code must be believed; one of the interpreter
// is loaded.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "backends/cpu/runtime/program_image.h"
#include "backends/cpu/runtime_calls/runtime_call_text.h"
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

std::unique_ptr<hilo::Client> Made(absl::StatusOr<std::unique_ptr<hilo::Client>> client) {
  if (!client.ok()) std::abort();
  return *std::move(client);
}

hilo::Artifact ArtifactOf(hilo::Client& client) {
  const auto executable = client.CompileHloText(kModule);
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
  const hilo::Artifact cpu_artifact = ArtifactOf(*cpu), interpreter_artifact = ArtifactOf(*interpreter);
};

hilo::Artifact WithSection(hilo::Artifact artifact, uint8_t number, absl::string_view bytes) {
  artifact.sections[number % artifact.sections.size()].bytes = std::string(bytes);
  return artifact;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Subjects* const subjects = new Subjects();
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
  return 0;
}
