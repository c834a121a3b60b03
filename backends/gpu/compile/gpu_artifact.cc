#include "backends/gpu/compile/gpu_artifact.h"

#include "absl/strings/str_cat.h"
#include "backends/gpu/compile/gpu_arch.h"
#include "backends/gpu/compile/program_emitter.h"
#include "base/byte_stream.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/text/hlo_parser.h"
#include "hlo/text/hlo_printer.h"

namespace hilo::gpu {
namespace {

constexpr char kModuleSection[] = "gpu module";
constexpr char kOptionsSection[] = "gpu options";
constexpr char kKernelsSection[] = "gpu kernels";

}  // namespace

void EncodeGpuProgram(const ProgramSource& source, const EmittedProgram& program, absl::Span<const KernelImage> images,
                      Artifact* artifact) {
  artifact->target = absl::StrCat(source.arch, " ", FormatName(source.format));
  ByteWriter options;
  options.Text(source.arch);
  options.U32(static_cast<uint32_t>(source.format));
  options.Bool(source.options.strict);
  options.Bool(source.options.flush_denormals);
  options.I64(source.options.constant_folding_limit);
  options.U64(source.options.disabled_passes.size());
  for (const std::string& pass : source.options.disabled_passes) options.Text(pass);
  Encode(source.settings, &options);
  Encode(source.libraries, &options);
  ByteWriter kernels;
  kernels.U64(program.kernel_names.size());
  for (size_t i = 0; i < program.kernel_names.size(); ++i) {
    kernels.Text(program.kernel_names[i]);
    kernels.Text(program.kernel_digests[i]);
  }
  kernels.U64(images.size());
  for (const KernelImage& image : images) {
    kernels.U64(image.kernels.size());
    for (const int64_t kernel : image.kernels) kernels.I64(kernel);
    kernels.Text(image.bytes);
  }
  artifact->sections.push_back({kModuleSection, PrintHloModule(*source.module)});
  artifact->sections.push_back({kOptionsSection, options.Take()});
  artifact->sections.push_back({kKernelsSection, kernels.Take()});
}

absl::StatusOr<DecodedGpuProgram> DecodeGpuProgram(const Artifact& artifact) {
  DecodedGpuProgram program;
  HILO_ASSIGN_OR_RETURN(const absl::string_view option_bytes, artifact.Find(kOptionsSection));
  ByteReader options(option_bytes, kOptionsSection);
  program.source.arch = std::string(options.Text());
  const uint32_t format = options.U32();
  if (format > static_cast<uint32_t>(GpuImageFormat::kCubin)) options.Fail("a format of images");
  program.source.format = static_cast<GpuImageFormat>(format);
  program.source.options.strict = options.Bool();
  program.source.options.flush_denormals = options.Bool();
  program.source.options.constant_folding_limit = options.I64();
  for (uint64_t left = options.Count(8); left > 0 && options.ok(); --left)
    program.source.options.disabled_passes.emplace_back(options.Text());
  program.source.settings = DecodeKernelSettings(&options);
  program.source.libraries = DecodeLibraryDecisions(&options);
  HILO_RETURN_IF_ERROR(options.Finish());

  HILO_ASSIGN_OR_RETURN(const absl::string_view kernel_bytes, artifact.Find(kKernelsSection));
  ByteReader kernels(kernel_bytes, kKernelsSection);
  for (uint64_t left = kernels.Count(16); left > 0 && kernels.ok(); --left) {
    program.kernel_names.emplace_back(kernels.Text());
    program.kernel_digests.emplace_back(kernels.Text());
  }
  for (uint64_t left = kernels.Count(16); left > 0 && kernels.ok(); --left) {
    KernelImage& image = program.images.emplace_back();
    for (uint64_t count = kernels.Count(8); count > 0 && kernels.ok(); --count) image.kernels.push_back(kernels.I64());
    image.bytes = std::string(kernels.Text());
  }
  HILO_RETURN_IF_ERROR(kernels.Finish());

  HILO_ASSIGN_OR_RETURN(const absl::string_view text, artifact.Find(kModuleSection));
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<HloModule> module, ParseHloModule(text));
  HILO_RETURN_IF_ERROR(VerifyHloModule(*module, HloStage::kInput));
  program.source.module = std::move(module);
  return program;
}

}  // namespace hilo::gpu
