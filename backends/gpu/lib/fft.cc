#include "backends/gpu/lib/fft.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/gpu/lib/cuda_libraries.h"
#include "base/errors.h"
#include "hilo/literal.h"
#include "hilo/status_macros.h"
#include "hlo/ops/semantics.h"

namespace hilo::gpu {
namespace {

constexpr const char* kNames[] = {"fft", "ifft", "rfft", "irfft"};

PrimitiveType ComplexOf(PrimitiveType part) { return part == F32 ? C64 : C128; }

Shape ArrayShape(const FftDescriptor& fft, bool is_real, bool is_spectrum) {
  std::vector<int64_t> dimensions = {fft.batch};
  dimensions.insert(dimensions.end(), fft.lengths.begin(), fft.lengths.end());
  if (is_spectrum) dimensions.back() = dimensions.back() / 2 + 1;
  return ShapeUtil::MakeShape(is_real ? fft.part : ComplexOf(fft.part), dimensions);
}
Shape InputShape(const FftDescriptor& fft) {
  return ArrayShape(fft, fft.type == FftType::kRfft, fft.type == FftType::kIrfft);
}
Shape OutputShape(const FftDescriptor& fft) {
  return ArrayShape(fft, fft.type == FftType::kIrfft, fft.type == FftType::kRfft);
}

template <typename T>
void Scale(void* data, int64_t bytes, int64_t factor) {
  auto* const numbers = static_cast<T*>(data);
  for (int64_t i = 0; i < bytes / static_cast<int64_t>(sizeof(T)); ++i) numbers[i] *= static_cast<T>(factor);
}

// The amount that a real library needs for lengths that are not powers of two.
int64_t EmulatedWorkspace(const FftDescriptor& fft) { return std::max(fft.InputBytes(), fft.OutputBytes()); }

absl::Status FftOnHost(const FftDescriptor& fft, void* in, void* out, void* workspace) {
  std::memset(workspace, 0xA5, EmulatedWorkspace(fft));
  const Shape input = InputShape(fft), output = OutputShape(fft);
  HILO_ASSIGN_OR_RETURN(Literal operand, Literal::Create(input));
  std::memcpy(operand.untyped_data().data(), in, operand.untyped_data().size());
  FftAttrs attrs;
  attrs.fft_type = fft.type;
  attrs.fft_length = fft.lengths;
  const Shape* const shapes[] = {&input};
  const Literal* const operands[] = {&operand};
  HILO_ASSIGN_OR_RETURN(
      const Literal result,
      EvaluateOp({.opcode = HloOpcode::kFft, .operands = shapes, .attributes = &attrs}, output, operands));
  const int64_t bytes = fft.OutputBytes();
  std::memcpy(out, result.untyped_data().data(), bytes);
  if (fft.IsInverse())
    fft.part == F32 ? Scale<float>(out, bytes, fft.Points()) : Scale<double>(out, bytes, fft.Points());
  if (fft.type == FftType::kIrfft) std::memset(in, 0xA5, fft.InputBytes());
  return absl::OkStatus();
}

}  // namespace

int64_t FftDescriptor::Points() const {
  int64_t points = 1;
  for (int64_t length : lengths) points *= length;
  return points;
}
int64_t FftDescriptor::InputBytes() const { return ShapeUtil::ByteSizeOf(InputShape(*this)); }
int64_t FftDescriptor::OutputBytes() const { return ShapeUtil::ByteSizeOf(OutputShape(*this)); }

std::string FftDescriptor::ToString() const {
  return absl::StrCat(kNames[static_cast<int>(type)], " ", PrimitiveTypeName(part), " ", absl::StrJoin(lengths, "x"),
                      " batch ", batch);
}

absl::Status CheckFft(const FftDescriptor& fft, const void* in, const void* out) {
  if (fft.part != F32 && fft.part != F64)
    return Unimplemented("the library transforms f32 and f64, not ", PrimitiveTypeName(fft.part));
  if (fft.lengths.empty() || fft.lengths.size() > 3)
    return Unimplemented("the library transforms 1 to 3 dimensions, not ", fft.lengths.size());
  int64_t count = fft.batch;
  for (int64_t length : fft.lengths) {
    if (length < 1 || __builtin_mul_overflow(count, length, &count))
      return InvalidArgument(fft.ToString(), ": expected lengths of at least 1, and a size that can be counted");
  }
  if (fft.batch < 1 || count > INT64_MAX / 32)
    return InvalidArgument(fft.ToString(), ": expected a batch of at least 1, and a size that can be counted");
  const auto alignment = 2 * static_cast<uintptr_t>(PrimitiveTypeByteSize(fft.part));
  for (const void* pointer : {in, out}) {
    if (pointer == nullptr) return InvalidArgument(fft.ToString(), ": an array is null");
    if (reinterpret_cast<uintptr_t>(pointer) % alignment != 0)
      return InvalidArgument(fft.ToString(), ": expected arrays at multiples of ", alignment, " bytes");
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> FftWorkspaceBytes(const LibraryDevice& device, const FftDescriptor& fft) {
  const void* aligned = reinterpret_cast<const void*>(kDeviceAlignment);
  HILO_RETURN_IF_ERROR(CheckFft(fft, aligned, aligned));
  if (device.is_emulated) return EmulatedWorkspace(fft);
  if (device.driver != nullptr) return CufftWorkspaceBytes(fft);
  HILO_RETURN_IF_ERROR(CheckCufft());
  return std::max(fft.InputBytes(), fft.OutputBytes());
}

absl::Status RunFft(GpuStream* stream, const FftDescriptor& fft, void* in, void* out, void* workspace,
                    int64_t workspace_bytes) {
  HILO_RETURN_IF_ERROR(CheckFft(fft, in, out));
  const bool destroys = fft.type == FftType::kIrfft;
  const GpuSlice slices[] = {{in, fft.InputBytes(), destroys},
                             GpuSlice::Write(out, fft.OutputBytes()),
                             GpuSlice::Write(workspace, workspace_bytes)};
  auto call = [=](void* native) -> absl::Status {
    if (native == nullptr) {
      if (workspace_bytes < EmulatedWorkspace(fft))
        return InvalidArgument(fft.ToString(), ": the workspace is too small");
      return FftOnHost(fft, in, out, workspace);
    }
    return FftByCufft(native, fft, in, out, workspace, workspace_bytes);
  };
  return stream->Call(std::move(call), slices);
}

}  // namespace hilo::gpu
