#include "runtime/buffer.h"

#include <utility>

#include "base/errors.h"
#include "base/status_macros.h"
#include "runtime/guarded.h"

namespace hilo {

absl::StatusOr<std::shared_ptr<BufferValue>> Buffer::Share() const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (value_ != nullptr) return value_;
  return FailedPrecondition("the buffer of ", shape_->ToString(), " has been ", donated_ ? "donated" : "deleted");
}

absl::StatusOr<std::shared_ptr<BufferValue>> Buffer::Donate() {
  HILO_ASSIGN_OR_RETURN(std::shared_ptr<BufferValue> value, Share());
  std::lock_guard<std::mutex> lock(mutex_);
  value_ = nullptr;
  donated_ = true;
  return value;
}

void Buffer::Delete() {
  std::shared_ptr<BufferValue> value;  // destroyed after the lock
  std::lock_guard<std::mutex> lock(mutex_);
  value.swap(value_);
}

bool Buffer::IsDeleted() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return value_ == nullptr;
}

absl::Status Buffer::Await() const {
  HILO_ASSIGN_OR_RETURN(std::shared_ptr<BufferValue> value, Share());
  return value->Await();
}

bool Buffer::IsReady() const {
  const auto value = Share();
  return !value.ok() || (*value)->defined();
}

void Buffer::OnReady(std::function<void(const absl::Status&)> callback) const {
  const auto value = Share();
  if (value.ok() && (*value)->definition != nullptr) return (*value)->definition->OnDone(std::move(callback));
  callback(value.status());
}

absl::StatusOr<std::shared_ptr<const MemoryBlock>> Buffer::Bytes() const {
  HILO_ASSIGN_OR_RETURN(std::shared_ptr<BufferValue> value, Share());
  HILO_RETURN_IF_ERROR(value->Await());
  if (value->memory == nullptr || value->memory->on_host()) return std::shared_ptr<const MemoryBlock>(value->memory);
  static const auto* const host = new std::shared_ptr<HostMemory>(std::make_shared<HostMemory>(nullptr, 0));
  HILO_ASSIGN_OR_RETURN(std::shared_ptr<MemoryBlock> copy, (*host)->Allocate(value->memory->size()));
  HILO_RETURN_IF_ERROR(value->memory->CopyToHost(copy->data()));
  return std::shared_ptr<const MemoryBlock>(std::move(copy));
}

absl::StatusOr<Literal> Buffer::ToLiteral() const {
  return Guarded([&]() -> absl::StatusOr<Literal> {
    HILO_ASSIGN_OR_RETURN(std::shared_ptr<const MemoryBlock> memory, Bytes());
    if (!shape_->IsArray() || memory->size() == 0) return Literal::Create(*shape_);
    return LiteralFromBytes(memory->data(), *shape_);
  });
}

}  // namespace hilo
