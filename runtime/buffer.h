// Buffer: one array on a device, possibly not computed yet.
#ifndef HILO_RUNTIME_BUFFER_H_
#define HILO_RUNTIME_BUFFER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "absl/status/statusor.h"
#include "runtime/event.h"
#include "runtime/host_memory.h"
#include "shape/literal.h"

namespace hilo {

// The value of a buffer, shared by its handle and by the runs that use it: it lives until the
// last of them releases it.
struct BufferValue {
  std::shared_ptr<Event> definition;    // null: defined from the start
  std::shared_ptr<MemoryBlock> memory;  // once the definition is done and OK; null for tokens

  bool defined() const { return definition == nullptr || definition->done(); }
  absl::Status Await() const { return definition == nullptr ? absl::OkStatus() : definition->Await(); }
};

// A handle. Thread-safe. Destroying it is safe at any time: runs that use the value keep it.
class Buffer {
 public:
  // For the runtime; `shape` is an array with layout, or a token.
  Buffer(std::shared_ptr<const Shape> shape, int device, std::shared_ptr<BufferValue> value)
      : shape_(std::move(shape)), device_(device), value_(std::move(value)) {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  const Shape& shape() const { return *shape_; }
  const std::shared_ptr<const Shape>& shared_shape() const { return shape_; }
  int device() const { return device_; }

  // Waits until the value is computed. Errors: those of the run that should have computed it;
  // FailedPrecondition if deleted or donated.
  absl::Status Await() const;
  bool IsReady() const;
  // Calls `callback` with the result of Await once that would not block, on any thread.
  void OnReady(std::function<void(const absl::Status&)> callback) const;

  // Waits. Errors: as Await; ResourceExhausted.
  absl::StatusOr<Literal> ToLiteral() const;
  // Waits; the bytes in the layout of shape() on the host, for as long as the result lives: those of the buffer, or a
  // copy if it is not on the host. Errors: as ToLiteral.
  absl::StatusOr<std::shared_ptr<const MemoryBlock>> Bytes() const;

  // Releases the value; its memory is freed when the last run that uses it is done.
  void Delete();
  bool IsDeleted() const;

  // For the runtime: returns the value; Donate also ends this buffer's ownership. Errors: FailedPrecondition if
  // deleted or donated.
  absl::StatusOr<std::shared_ptr<BufferValue>> Share() const;
  absl::StatusOr<std::shared_ptr<BufferValue>> Donate();

 private:
  const std::shared_ptr<const Shape> shape_;
  const int device_;
  mutable std::mutex mutex_;
  std::shared_ptr<BufferValue> value_;  // null: deleted or donated
  bool donated_ = false;
};

}  // namespace hilo

#endif  // HILO_RUNTIME_BUFFER_H_
