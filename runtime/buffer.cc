#include <utility>

#include "base/errors.h"
#include "hilo/executable.h"
#include "hilo/status_macros.h"
#include "runtime/buffer_value.h"
#include "runtime/guarded.h"
#include "runtime/wait_habit.h"

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
  WaitHabit::Waits();
  HILO_ASSIGN_OR_RETURN(std::shared_ptr<BufferValue> value, Share());
  return value->Await();
}

bool Buffer::IsReady() const {
  const auto value = Share();
  return !value.ok() || (*value)->defined();
}

void Buffer::OnReady(std::function<void(const absl::Status&)> callback) const {
  WaitHabit::Waits();
  const auto value = Share();
  if (value.ok() && (*value)->definition != nullptr) return (*value)->definition->OnDone(std::move(callback));
  callback(value.status());
}

absl::StatusOr<std::shared_ptr<const uint8_t>> Buffer::Bytes() const {
  WaitHabit::Waits();
  HILO_ASSIGN_OR_RETURN(std::shared_ptr<BufferValue> value, Share());
  HILO_RETURN_IF_ERROR(value->Await());
  std::shared_ptr<MemoryBlock> block = value->memory;
  if (block != nullptr && !block->on_host()) {
    static const auto* const host = new std::shared_ptr<HostMemory>(std::make_shared<HostMemory>(nullptr, 0));
    HILO_ASSIGN_OR_RETURN(block, (*host)->Allocate(value->memory->size()));
    HILO_RETURN_IF_ERROR(value->memory->CopyToHost(block->data()));
  }
  const uint8_t* const bytes = block == nullptr ? nullptr : block->data();
  return std::shared_ptr<const uint8_t>(std::move(block), bytes);
}

absl::StatusOr<Literal> Buffer::ToLiteral() const {
  return Guarded([&]() -> absl::StatusOr<Literal> {
    HILO_ASSIGN_OR_RETURN(const std::shared_ptr<const uint8_t> bytes, Bytes());
    if (!shape_->IsArray() || ShapeUtil::ByteSizeOf(*shape_) == 0) return Literal::Create(*shape_);
    return LiteralFromBytes(bytes.get(), *shape_);
  });
}

}  // namespace hilo
