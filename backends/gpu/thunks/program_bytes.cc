#include "backends/gpu/thunks/program_bytes.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/gpu/driver/gpu_arch.h"
#include "backends/gpu/thunks/thunk_stream.h"
#include "base/byte_stream.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/memory/buffer_assignment.h"
#include "runtime/shape_bytes.h"

namespace hilo::gpu {
namespace {

constexpr absl::string_view kFacts = "facts", kConstants = "constants", kCode = "code", kThunks = "thunks";

template <typename Stream, typename Spec>
void CollectiveFields(Stream& stream, Spec& spec) {
  stream.Text(spec.name);
  stream.Enum(spec.form, CollectiveSpec::Form::kTransfer);
  stream.Enum(spec.mode, CollectiveOpGroupMode::kFlattenedID);
  stream.List(spec.groups.groups, [&](auto& group) { stream.Sizes(group); });
  stream.List(spec.pairs, [&](auto& pair) {
    stream.Size(pair.first);
    stream.Size(pair.second);
  });
  stream.Int(spec.channel);
}

std::string FactsBytes(const ProgramImage& image) {
  ByteWriter out;
  WriteProgramShape(image.shape, &out);
  out.U64(image.donations.size());
  for (const auto& [output, parameter] : image.donations) {
    out.I64(output);
    out.I64(parameter);
  }
  out.Text(image.arch);
  out.U32(static_cast<uint32_t>(image.format));
  out.Bool(image.overlap_collectives);
  out.I64(image.scratch_bytes);
  ThunkWriter stream(&out);
  stream.List(image.collectives, [&](const CollectiveSpec& spec) { CollectiveFields(stream, spec); });
  return out.Take();
}

absl::Status ReadFacts(const Artifact& artifact, const LoadEnvironment& environment, ProgramImage* image) {
  HILO_ASSIGN_OR_RETURN(const absl::string_view bytes, artifact.Find(kFacts));
  ByteReader in(bytes, kFacts);
  image->shape = ReadProgramShape(&in);
  HILO_RETURN_IF_ERROR(in.status());
  const auto leaf = [&](int64_t count) {
    const int64_t number = in.I64();
    if (number < 0 || number >= count) in.Fail(absl::StrCat("the number of one of ", count, " leaves"));
    return number;
  };
  for (uint64_t count = in.Count(16); count > 0 && in.ok(); --count) {
    const int64_t output = leaf(LeafCount(image->shape.result));
    image->donations.emplace_back(output, leaf(ParameterLeafCount(image->shape)));
  }
  image->arch = std::string(in.Text());
  const uint32_t format = in.U32();
  if (format > static_cast<uint32_t>(GpuImageFormat::kCubin)) in.Fail("a format of images");
  image->format = static_cast<GpuImageFormat>(format);
  image->overlap_collectives = in.Bool();
  image->scratch_bytes = in.I64();
  if (image->scratch_bytes < 0 || image->scratch_bytes > MaxFrameBytes()) in.Fail("a number of bytes");
  ThunkReader stream(&in, image, &environment);
  stream.List(image->collectives, [&](CollectiveSpec& spec) { CollectiveFields(stream, spec); });
  HILO_RETURN_IF_ERROR(in.Finish());
  image->replica_count = environment.replica_count;
  image->partition_count = environment.partition_count;
  absl::StatusOr<CollectivePlan> plan =
      CollectivePlan::Create(image->collectives, image->replica_count, image->partition_count);
  if (!plan.ok()) return AddContext(plan.status(), "; in the serialized executable");
  image->plan = *std::move(plan);
  return absl::OkStatus();
}

std::string CodeBytes(const ProgramImage& image) {
  ByteWriter out;
  out.U64(image.kernels.size());
  for (const ProgramKernel& kernel : image.kernels) {
    out.Text(kernel.name);
    out.I64(kernel.arguments);
  }
  out.U64(image.images.size());
  for (const KernelImage& one : image.images) {
    out.U64(one.kernels.size());
    for (const int64_t kernel : one.kernels) out.I64(kernel);
    out.Text(one.bytes);
    out.Text(one.ptx);
  }
  return out.Take();
}

absl::Status ReadCode(const Artifact& artifact, ProgramImage* image) {
  HILO_ASSIGN_OR_RETURN(const absl::string_view bytes, artifact.Find(kCode));
  ByteReader in(bytes, kCode);
  for (uint64_t count = in.Count(16); count > 0 && in.ok(); --count) {
    ProgramKernel& kernel = image->kernels.emplace_back();
    kernel.name = std::string(in.Text());
    kernel.arguments = in.I64();
  }
  std::vector<bool> found(image->kernels.size());
  for (uint64_t count = in.Count(24); count > 0 && in.ok(); --count) {
    KernelImage& one = image->images.emplace_back();
    for (uint64_t kernels = in.Count(8); kernels > 0 && in.ok(); --kernels) {
      const int64_t kernel = in.I64();
      if (kernel < 0 || static_cast<size_t>(kernel) >= found.size() || found[kernel]) {
        in.Fail("a kernel that is in no image yet");
        break;
      }
      found[kernel] = true;
      one.kernels.push_back(kernel);
    }
    one.bytes = std::string(in.Text());
    one.ptx = std::string(in.Text());
  }
  if (std::find(found.begin(), found.end(), false) != found.end()) in.Fail("an image for every kernel");
  return in.Finish();
}

std::string ConstantBytes(const ProgramImage& image) {
  ByteWriter out;
  out.U64(image.constants.size());
  for (const ProgramConstant& constant : image.constants)
    out.Text({reinterpret_cast<const char*>(constant.bytes.data()), constant.bytes.size()});
  return out.Take();
}

absl::Status ReadConstants(const Artifact& artifact, ProgramImage* image) {
  HILO_ASSIGN_OR_RETURN(const absl::string_view bytes, artifact.Find(kConstants));
  const auto copy = std::make_shared<const std::string>(bytes);
  ByteReader in(*copy, kConstants);
  for (uint64_t count = in.Count(8); count > 0 && in.ok(); --count) {
    const absl::string_view constant = in.Text();
    image->constants.push_back({copy, {reinterpret_cast<const uint8_t*>(constant.data()), constant.size()}});
  }
  return in.Finish();
}

std::string ThunkBytes(const ProgramImage& image) {
  ByteWriter out;
  out.U64(image.scopes.size());
  ThunkWriter stream(&out);
  for (const auto& scope : image.scopes) {
    stream.Size(scope->frame_bytes);
    stream.Sizes(scope->parameter_bytes);
    stream.Sizes(scope->output_bytes);
    stream.Thunks(scope->thunks);
  }
  return out.Take();
}

absl::Status ReadThunks(const Artifact& artifact, const LoadEnvironment& environment, ProgramImage* image) {
  HILO_ASSIGN_OR_RETURN(const absl::string_view bytes, artifact.Find(kThunks));
  ByteReader in(bytes, kThunks);
  ThunkReader stream(&in, image, &environment);
  for (uint64_t count = in.Count(32); count > 0 && stream.ok(); --count) stream.Scope();
  HILO_RETURN_IF_ERROR(stream.Finish());
  std::vector<int64_t> parameters, outputs;
  for (const Shape& parameter : image->shape.parameters) {
    for (const int64_t leaf : LeafBytes(parameter)) parameters.push_back(leaf);
  }
  outputs = LeafBytes(image->shape.result);
  if (image->scopes.empty() || image->entry().parameter_bytes != parameters || image->entry().output_bytes != outputs)
    return InvalidArgument(kThunks, ": expected an entry on arrays of ", image->shape.ToString(),
                           ", but there is none");
  return absl::OkStatus();
}

}  // namespace

void EncodeProgram(const ProgramImage& image, Artifact* artifact) {
  artifact->target = absl::StrCat(image.arch, " ", FormatName(image.format));
  const auto add = [&](absl::string_view name, std::string bytes) {
    artifact->sections.push_back({std::string(name), std::move(bytes)});
  };
  add(kFacts, FactsBytes(image));
  add(kConstants, ConstantBytes(image));
  add(kCode, CodeBytes(image));
  add(kThunks, ThunkBytes(image));
}

absl::StatusOr<ProgramImage> DecodeProgram(const Artifact& artifact, const LoadEnvironment& environment) {
  ProgramImage image;
  HILO_RETURN_IF_ERROR(ReadFacts(artifact, environment, &image));
  HILO_RETURN_IF_ERROR(ReadConstants(artifact, &image));
  HILO_RETURN_IF_ERROR(ReadCode(artifact, &image));
  HILO_RETURN_IF_ERROR(ReadThunks(artifact, environment, &image));
  return image;
}

}  // namespace hilo::gpu
