// Buffers of the PJRT C API: a runtime buffer handle, and the external references to its memory.
#ifndef HILO_PJRT_BUFFER_H_
#define HILO_PJRT_BUFFER_H_

#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/statusor.h"
#include "hilo/executable.h"
#include "pjrt/client.h"
#include "pjrt/element_type.h"
#include "runtime/host_memory.h"

// A token looks like an empty array of booleans.
struct PJRT_Buffer {
  PJRT_Buffer(std::shared_ptr<PJRT_Client> client, PJRT_Memory* memory, std::unique_ptr<hilo::Buffer> value)
      : client(std::move(client)), memory(memory), value(std::move(value)) {}

  const std::shared_ptr<PJRT_Client> client;
  PJRT_Memory* const memory;
  const std::unique_ptr<hilo::Buffer> value;

  std::mutex mutex;
  int64_t external_references = 0;
  std::shared_ptr<const hilo::MemoryBlock> held;  // while there are external references
  std::vector<size_t> dynamic_dimensions;         // filled on the first query

  absl::Span<const int64_t> dimensions() const;
  PJRT_Buffer_Type element_type() const;
};

namespace hilo::pjrt {

// A buffer's memory is `memory` or, if that is null, the default one of `device`. Errors: InvalidArgument if both
// are null.
absl::StatusOr<PJRT_Memory*> MemoryFor(PJRT_Memory* memory, PJRT_Device* device);

// A number of dimensions from a caller. Errors: InvalidArgument if no array has so many.
absl::Status CheckDimensions(size_t num_dims);
// The array of these dimensions in the default layout. Errors: InvalidArgument.
absl::StatusOr<Shape> ShapeFromDims(PJRT_Buffer_Type type, const int64_t* dims, size_t num_dims);

// Waits. The memory of a buffer, which is unchanged as long as the result lives; null for tokens. Errors: as
// hilo::Buffer::Await.
absl::StatusOr<std::shared_ptr<const MemoryBlock>> MemoryOf(PJRT_Buffer* buffer);

}  // namespace hilo::pjrt

#endif  // HILO_PJRT_BUFFER_H_
