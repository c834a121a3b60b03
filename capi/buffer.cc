// Buffers.
#include <cstring>
#include <optional>

#include "capi/handles.h"
#include "hilo/status_macros.h"

namespace hilo::capi {
namespace {

static_assert(static_cast<int>(HILO_TYPE_PRED) == PRED && static_cast<int>(HILO_TYPE_F32) == F32 &&
              static_cast<int>(HILO_TYPE_C128) == C128 && static_cast<int>(HILO_TYPE_F8E8M0FNU) == F8E8M0FNU);

constexpr size_t kMaxRank = 1 << 10;

// Row-major. Errors: InvalidArgument for what is no array.
absl::StatusOr<Shape> ShapeFrom(HiloElementType type, const int64_t* dimensions, size_t rank) {
  const auto element_type = static_cast<PrimitiveType>(type);
  if (static_cast<int>(type) < 0 || static_cast<int>(type) >= kPrimitiveTypeCount || !IsArrayType(element_type))
    return InvalidArgument("no array has elements of type ", static_cast<int>(type));
  if (rank > kMaxRank) return InvalidArgument("an array of ", rank, " dimensions; at most ", kMaxRank, " are possible");
  if (rank > 0) HILO_RETURN_IF_ERROR(CheckNotNull(dimensions, "dimensions"));
  Shape shape(element_type, absl::MakeConstSpan(dimensions, rank));
  HILO_RETURN_IF_ERROR(ShapeUtil::Validate(shape));
  shape.mutable_layout();
  return shape;
}

int64_t DenseBytes(const Shape& shape) {
  return shape.IsArray() ? ShapeUtil::ElementsIn(shape) * PrimitiveTypeByteSize(shape.element_type()) : 0;
}

// A shape with the memory at `data`, checked.
absl::StatusOr<Shape> HostShape(const HiloClient* client, HiloElementType type, const int64_t* dimensions, size_t rank,
                                const void* data, size_t size, HiloBuffer** buffer) {
  HILO_RETURN_IF_ERROR(CheckNotNull(client, "client"));
  HILO_RETURN_IF_ERROR(CheckNotNull(buffer, "buffer"));
  HILO_ASSIGN_OR_RETURN(Shape shape, ShapeFrom(type, dimensions, rank));
  if (static_cast<size_t>(DenseBytes(shape)) != size)
    return InvalidArgument("expected the ", DenseBytes(shape), " bytes of ", shape.ToString(), ", got ", size);
  if (size > 0) HILO_RETURN_IF_ERROR(CheckNotNull(data, "data"));
  return shape;
}

HiloBuffer* MakeBuffer(std::unique_ptr<Buffer> buffer) {
  auto shape = std::make_shared<const ArrayShape>(buffer->shape());
  return new HiloBuffer{.buffer = std::move(buffer), .shape = std::move(shape)};
}

absl::Status FromHost(HiloClient* client, int32_t device, HiloElementType type, const int64_t* dimensions, size_t rank,
                      const void* data, size_t size, HiloRelease* release, void* user_data, HiloBuffer** buffer) {
  HILO_ASSIGN_OR_RETURN(const Shape shape, HostShape(client, type, dimensions, rank, data, size, buffer));
  std::function<void()> released;
  if (release != nullptr) released = [release, user_data] { release(user_data); };
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<Buffer> made,
                        client->client->BufferFromHostMemory(data, shape, device, std::move(released)));
  *buffer = MakeBuffer(std::move(made));
  return absl::OkStatus();
}

absl::Status FromHostDynamic(HiloClient* client, int32_t device, HiloElementType type, const int64_t* dimensions,
                             const int64_t* bounds, size_t rank, const void* data, size_t size, HiloBuffer** buffer) {
  HILO_ASSIGN_OR_RETURN(const Shape shape, HostShape(client, type, dimensions, rank, data, size, buffer));
  if (rank > 0) HILO_RETURN_IF_ERROR(CheckNotNull(bounds, "bounds"));
  HILO_ASSIGN_OR_RETURN(Shape bounded, ShapeFrom(type, bounds, rank));
  for (size_t d = 0; d < rank; ++d) bounded.set_dynamic_dimension(static_cast<int64_t>(d), true);
  HILO_ASSIGN_OR_RETURN(Literal literal, Literal::Create(shape));
  if (size > 0) std::memcpy(literal.untyped_data().data(), data, size);
  HILO_ASSIGN_OR_RETURN(literal, literal.ToBoundedDynamic(bounded));
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<Buffer> made, client->client->BufferFromLiteral(literal, device));
  *buffer = MakeBuffer(std::move(made));
  return absl::OkStatus();
}

absl::Status CopyToHost(const HiloBuffer* buffer, void* data, size_t size) {
  HILO_RETURN_IF_ERROR(CheckNotNull(buffer, "buffer"));
  const Shape& shape = buffer->buffer->shape();
  if (shape.is_static() && (!shape.has_layout() || LayoutUtil::IsDefault(shape.layout()))) {
    const size_t expected = DenseBytes(shape);
    if (size != expected)
      return InvalidArgument("expected room for the ", expected, " bytes of ", shape.ToString(), ", got ", size);
    if (size == 0) return buffer->buffer->Await();
    HILO_RETURN_IF_ERROR(CheckNotNull(data, "data"));
    HILO_ASSIGN_OR_RETURN(const std::shared_ptr<const uint8_t> bytes, buffer->buffer->Bytes());
    std::memcpy(data, bytes.get(), size);
    return absl::OkStatus();
  }
  HILO_ASSIGN_OR_RETURN(Literal literal, buffer->buffer->ToLiteral());
  HILO_ASSIGN_OR_RETURN(literal, literal.ToStatic());
  const absl::Span<const uint8_t> bytes = literal.untyped_data();
  if (size != bytes.size()) {
    return InvalidArgument("expected room for the ", bytes.size(), " bytes of ", literal.shape().ToString(), ", got ",
                           size);
  }
  if (size > 0) HILO_RETURN_IF_ERROR(CheckNotNull(data, "data"));
  if (size > 0) std::memcpy(data, bytes.data(), size);
  return absl::OkStatus();
}

absl::Status GetDimensions(const HiloBuffer* buffer, int64_t* dimensions, size_t rank) {
  HILO_RETURN_IF_ERROR(CheckNotNull(buffer, "buffer"));
  const Shape& shape = buffer->buffer->shape();
  if (static_cast<int64_t>(rank) != shape.rank())
    return InvalidArgument("expected the ", shape.rank(), " dimensions of ", shape.ToString(), ", got ", rank);
  if (rank > 0) HILO_RETURN_IF_ERROR(CheckNotNull(dimensions, "dimensions"));
  std::vector<int64_t> sizes(shape.dimensions().begin(), shape.dimensions().end());
  if (shape.is_static()) {
    HILO_RETURN_IF_ERROR(buffer->buffer->Await());
  } else {
    HILO_ASSIGN_OR_RETURN(const Literal literal, buffer->buffer->ToLiteral());
    sizes = literal.ActualDimensions();
  }
  std::copy(sizes.begin(), sizes.end(), dimensions);
  return absl::OkStatus();
}

absl::Status GetData(HiloBuffer* buffer, const void** data) {
  HILO_RETURN_IF_ERROR(CheckNotNull(buffer, "buffer"));
  HILO_RETURN_IF_ERROR(CheckNotNull(data, "data"));
  const std::lock_guard<std::mutex> lock(buffer->mutex);
  if (buffer->data == nullptr) {
    HILO_ASSIGN_OR_RETURN(buffer->data, buffer->buffer->Bytes());
  }
  *data = buffer->data.get();
  return absl::OkStatus();
}

}  // namespace

ArrayShape::ArrayShape(const Shape& described) : shape(described) {
  // The lists of a scalar are empty, but not null.
  dimensions.reserve(1);
  byte_strides.reserve(1);
  if (!shape.IsArray()) return;
  dimensions.assign(shape.dimensions().begin(), shape.dimensions().end());
  const Layout layout = shape.has_layout() ? shape.layout() : LayoutUtil::MakeDescendingLayout(shape.rank());
  byte_strides.resize(dimensions.size());
  int64_t stride = PrimitiveTypeByteSize(shape.element_type());
  for (const int64_t d : layout.minor_to_major) {
    byte_strides[d] = stride;
    stride *= layout.padded_dimensions.empty() ? dimensions[d] : layout.padded_dimensions[d];
  }
}

HiloShape ArrayShape::View() const {
  return {.element_type = static_cast<HiloElementType>(shape.element_type()),
          .rank = static_cast<int32_t>(dimensions.size()),
          .dimensions = dimensions.data(),
          .byte_strides = byte_strides.data(),
          .dense_bytes = static_cast<size_t>(DenseBytes(shape)),
          .dynamic = !shape.is_static()};
}

}  // namespace hilo::capi

using hilo::capi::Call;
using hilo::capi::CheckNotNull;

HiloError* HiloBufferFromHost(HiloClient* client, int32_t device, HiloElementType type, const int64_t* dimensions,
                              size_t rank, const void* data, size_t size, HiloRelease* release, void* user_data,
                              HiloBuffer** buffer) {
  return Call([&] {
    return hilo::capi::FromHost(client, device, type, dimensions, rank, data, size, release, user_data, buffer);
  });
}

HiloError* HiloBufferFromHostDynamic(HiloClient* client, int32_t device, HiloElementType type,
                                     const int64_t* dimensions, const int64_t* bounds, size_t rank, const void* data,
                                     size_t size, HiloBuffer** buffer) {
  return Call(
      [&] { return hilo::capi::FromHostDynamic(client, device, type, dimensions, bounds, rank, data, size, buffer); });
}

HiloError* HiloBufferGetShape(const HiloBuffer* buffer, HiloShape* shape) {
  return Call([&]() -> absl::Status {
    HILO_RETURN_IF_ERROR(CheckNotNull(buffer, "buffer"));
    HILO_RETURN_IF_ERROR(CheckNotNull(shape, "shape"));
    *shape = buffer->shape->View();
    return absl::OkStatus();
  });
}

HiloError* HiloBufferGetDevice(const HiloBuffer* buffer, int32_t* device) {
  return Call([&]() -> absl::Status {
    HILO_RETURN_IF_ERROR(CheckNotNull(buffer, "buffer"));
    HILO_RETURN_IF_ERROR(CheckNotNull(device, "device"));
    *device = buffer->buffer->device();
    return absl::OkStatus();
  });
}

HiloError* HiloBufferGetDimensions(const HiloBuffer* buffer, int64_t* dimensions, size_t rank) {
  return Call([&] { return hilo::capi::GetDimensions(buffer, dimensions, rank); });
}

HiloError* HiloBufferCopyToHost(const HiloBuffer* buffer, void* data, size_t size) {
  return Call([&] { return hilo::capi::CopyToHost(buffer, data, size); });
}

HiloError* HiloBufferGetData(HiloBuffer* buffer, const void** data) {
  return Call([&] { return hilo::capi::GetData(buffer, data); });
}

HiloError* HiloBufferIsReady(const HiloBuffer* buffer, bool* ready) {
  return Call([&]() -> absl::Status {
    HILO_RETURN_IF_ERROR(CheckNotNull(buffer, "buffer"));
    HILO_RETURN_IF_ERROR(CheckNotNull(ready, "ready"));
    *ready = buffer->buffer->IsReady();
    return absl::OkStatus();
  });
}

HiloError* HiloBufferAwait(const HiloBuffer* buffer, double seconds) {
  return Call([&]() -> absl::Status {
    HILO_RETURN_IF_ERROR(CheckNotNull(buffer, "buffer"));
    if (buffer->buffer->IsReady() || seconds < 0) return buffer->buffer->Await();
    const auto ready = std::make_shared<hilo::Event>();
    buffer->buffer->OnReady([ready](const absl::Status& status) { ready->Set(status); });
    return hilo::capi::AwaitFor(ready.get(), seconds);
  });
}

void HiloBufferDestroy(HiloBuffer* buffer) { delete buffer; }
