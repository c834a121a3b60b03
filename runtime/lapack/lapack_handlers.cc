// Converts call frames of typed FFI to Call, and lists the targets. Large batches are split along
// their first dimension, one part per thread at a time; each matrix is factored in the same way
// wherever the batch is split.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

#include "absl/container/inlined_vector.h"
#include "base/errors.h"
#include "base/math.h"
#include "runtime/compiler.h"
#include "runtime/ffi/ffi_api.h"
#include "runtime/ffi/xla_ffi_abi.h"
#include "runtime/guarded.h"
#include "runtime/lapack/batch_call.h"
#include "runtime/lapack/lane_matrices.h"

namespace hilo::lapack {
namespace {

template <typename N>
int64_t As(const void* value) {
  N number;
  std::memcpy(&number, value, sizeof(N));
  return static_cast<int64_t>(number);
}

// Errors: InvalidArgument for non-integers.
absl::StatusOr<int64_t> NumberOf(XLA_FFI_AttrType kind, const void* attribute) {
  if (kind != XLA_FFI_AttrType_SCALAR) return InvalidArgument("expected an integer");
  const auto& scalar = *static_cast<const XLA_FFI_Scalar*>(attribute);
  switch (scalar.dtype) {
    case PRED:
    case U8: return As<uint8_t>(scalar.value);
    case S8: return As<int8_t>(scalar.value);
    case S16: return As<int16_t>(scalar.value);
    case U16: return As<uint16_t>(scalar.value);
    case S32: return As<int32_t>(scalar.value);
    case U32: return As<uint32_t>(scalar.value);
    case S64:
    case U64: return As<int64_t>(scalar.value);
    default: return InvalidArgument("expected an integer");
  }
}

// Arrays with modifiable dimensions, so that parts of a batch can be extracted.
struct OwnedArray {
  PrimitiveType type;
  absl::InlinedVector<int64_t, 6> dimensions;
  uint8_t* data;
};
using OwnedArrays = absl::InlinedVector<OwnedArray, 8>;

OwnedArrays ArraysOf(void* const* buffers, int64_t count) {
  OwnedArrays arrays;
  for (int64_t i = 0; i < count; ++i) {
    const auto& buffer = *static_cast<const XLA_FFI_Buffer*>(buffers[i]);
    arrays.push_back({static_cast<PrimitiveType>(buffer.dtype),
                      {buffer.dims, buffer.dims + buffer.rank},
                      static_cast<uint8_t*>(buffer.data)});
  }
  return arrays;
}

// Elements [begin, end) of the first dimension.
OwnedArrays Part(OwnedArrays arrays, int64_t begin, int64_t end) {
  for (OwnedArray& array : arrays) {
    int64_t bytes = PrimitiveTypeByteSize(array.type);
    for (size_t d = 1; d < array.dimensions.size(); ++d) bytes *= array.dimensions[d];
    array.dimensions[0] = end - begin;
    array.data += begin * bytes;
  }
  return arrays;
}

using Attributes = absl::InlinedVector<std::pair<absl::string_view, int64_t>, 8>;

absl::Status CallOn(Function function, const OwnedArrays& operands, const OwnedArrays& results,
                    const Attributes& attributes, int64_t batch, ThreadPool* pool) {
  const auto views = [](const OwnedArrays& arrays) {
    absl::InlinedVector<Array, 8> list;
    for (const OwnedArray& array : arrays) list.push_back({array.type, array.dimensions, array.data});
    return list;
  };
  const auto in = views(operands), out = views(results);
  return function({.operands = in, .results = out, .attributes = attributes, .batch = batch, .thread_pool = pool});
}

// True if all have the first dimension `size`, as a batch has.
bool AllBegin(const OwnedArrays& arrays, int64_t size) {
  return std::all_of(arrays.begin(), arrays.end(),
                     [&](const OwnedArray& a) { return !a.dimensions.empty() && a.dimensions[0] == size; });
}

absl::Status CallInParts(Function function, int rank, const OwnedArrays& operands, const OwnedArrays& results,
                         const Attributes& attributes, ThreadPool* pool) {
  constexpr double kWorthSharing = 50000;  // multiply-adds
  const bool batched = !operands.empty() && static_cast<int>(operands[0].dimensions.size()) > rank;
  const int64_t size = batched ? operands[0].dimensions[0] : 0;
  int64_t batch = 1;
  double elements = 1;
  for (size_t d = 0; batched && d < operands[0].dimensions.size(); ++d) {
    if (d > 0) elements *= static_cast<double>(operands[0].dimensions[d]);
    if (d + rank < operands[0].dimensions.size()) batch *= operands[0].dimensions[d];
  }
  const double work = std::pow(elements, 1.5);
  if (pool == nullptr || pool->num_threads() == 1 || size < 2 || work * static_cast<double>(size) < kWorthSharing ||
      !AllBegin(operands, size) || !AllBegin(results, size)) {
    return CallOn(function, operands, results, attributes, batch, pool);
  }
  int64_t step =
      std::max<int64_t>(1, std::min(size / 2, static_cast<int64_t>(kWorthSharing / 2 / std::max(work, 1.0))));
  // Parts that fill the lanes of vectors.
  if (IsFasterInLanes(batch, static_cast<int64_t>(elements))) step = CeilDiv(step, kMaxLanes) * kMaxLanes;
  std::mutex mutex;
  absl::Status first;
  pool->ParallelFor((size + step - 1) / step, [&](int64_t part) {
    const int64_t begin = part * step, end = std::min(size, begin + step);
    const absl::Status status = Guarded([&] {
      return CallOn(function, Part(operands, begin, end), Part(results, begin, end), attributes, batch,
                    /*pool=*/nullptr);
    });
    if (status.ok()) return;
    std::lock_guard<std::mutex> lock(mutex);
    if (first.ok()) first = status;
  });
  return first;
}

absl::InlinedVector<Array, 8> ViewsOf(void* const* buffers, int64_t count) {
  absl::InlinedVector<Array, 8> views;
  for (int64_t i = 0; i < count; ++i) {
    const auto& buffer = *static_cast<const XLA_FFI_Buffer*>(buffers[i]);
    views.push_back({static_cast<PrimitiveType>(buffer.dtype),
                     absl::MakeConstSpan(buffer.dims, static_cast<size_t>(buffer.rank)),
                     static_cast<uint8_t*>(buffer.data)});
  }
  return views;
}

absl::Status CallFrom(Function function, int rank, const XLA_FFI_CallFrame& frame) {
  Attributes attributes;
  for (int64_t i = 0; i < frame.attrs.size; ++i) {
    const absl::string_view name(frame.attrs.names[i]->ptr, frame.attrs.names[i]->len);
    const absl::StatusOr<int64_t> number = NumberOf(frame.attrs.types[i], frame.attrs.attrs[i]);
    if (!number.ok()) return InvalidArgument("attribute ", name, ": ", number.status().message());
    attributes.emplace_back(name, *number);
  }
  ThreadPool* pool = frame.ctx->run == nullptr ? nullptr : frame.ctx->run->thread_pool;
  if (frame.args.size == 0 || static_cast<const XLA_FFI_Buffer*>(frame.args.args[0])->rank <= rank) {  // no batch
    const auto operands = ViewsOf(frame.args.args, frame.args.size),
               results = ViewsOf(frame.rets.rets, frame.rets.size);
    return function({.operands = operands, .results = results, .attributes = attributes, .thread_pool = pool});
  }
  return CallInParts(function, rank, ArraysOf(frame.args.args, frame.args.size),
                     ArraysOf(frame.rets.rets, frame.rets.size), attributes, pool);
}

}  // namespace

XLA_FFI_Error* HandleCall(Function function, int rank, XLA_FFI_CallFrame* frame) {
  return ffi::AnswersMetadata(*frame) ? nullptr : ffi::MakeError(CallFrom(function, rank, *frame));
}

void RegisterTargets(CustomCallRegistry* registry) {
  for (const Target& target : Targets()) registry->RegisterFfi(target.name, target.handler).IgnoreError();
}

const std::vector<Target>& Targets() {
  static const std::vector<Target>* const targets = [] {
    auto* list = new std::vector<Target>;
    AddSolverTargets(list);
    AddEigenTargets(list);
    AddTridiagonalTarget(list);
    return list;
  }();
  return *targets;
}

XLA_FFI_Handler* HandlerOf(absl::string_view name) {
  const auto target = std::find_if(Targets().begin(), Targets().end(), [&](const Target& t) { return t.name == name; });
  return target == Targets().end() ? nullptr : target->handler;
}

}  // namespace hilo::lapack
