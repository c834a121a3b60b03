// Records lie one behind the other, and in order: the writer appends at its head, the reader takes at its position, and
// returns records in any order by a mark in their headers, at which the writer looks when it needs space. A record is
// never split: where the rest of the ring is too short, a marker sends the reader back to the start.
#include "collectives/processes/shared_ring.h"

#include <cstring>

#include "base/errors.h"

namespace hilo {

struct alignas(kFrameAlignment) SharedRecord {
  std::atomic<uint32_t> returned;
  uint32_t kind;  // FrameKind, or kRestart
  uint64_t program, run, group;
  int64_t frame_bytes, begin, bytes;
};

namespace {

static_assert(sizeof(SharedRecord) == kFrameAlignment && std::atomic<uint64_t>::is_always_lock_free);
constexpr uint32_t kRestart = 0;  // no FrameKind
constexpr int64_t kHeader = sizeof(SharedRecord);

int64_t Extent(int64_t bytes) { return kHeader + (bytes + kFrameAlignment - 1) / kFrameAlignment * kFrameAlignment; }

}  // namespace

SharedRecord* RingWriter::At(int64_t offset) const { return reinterpret_cast<SharedRecord*>(ring_ + offset); }

uint8_t* RingWriter::Reserve(int64_t bytes) {
  while (!outstanding_.empty() && At(outstanding_.front())->returned.load() != 0) outstanding_.pop_front();
  const int64_t extent = Extent(bytes);
  const int64_t tail = outstanding_.empty() ? head_ : outstanding_.front();
  const bool wrapped = !outstanding_.empty() && head_ <= tail;
  if (wrapped) return extent <= tail - head_ ? ring_ + head_ + kHeader : nullptr;
  if (extent <= size_ - head_) return ring_ + head_ + kHeader;
  // The record that restarts is still to be passed when the ring is empty otherwise.
  if (extent > (outstanding_.empty() ? head_ : tail)) return nullptr;
  if (head_ < size_) Append({.frame = {.kind = FrameKind{kRestart}}}, size_);
  head_ = 0;
  return ring_ + kHeader;
}

void RingWriter::Publish(const RecordHeader& header) { Append(header, head_ + Extent(header.bytes)); }

void RingWriter::Append(const RecordHeader& header, int64_t end) {
  SharedRecord& record = *At(head_);
  record.returned.store(0, std::memory_order_relaxed);
  record.kind = static_cast<uint32_t>(header.frame.kind);
  record.program = header.frame.program;
  record.run = header.frame.run;
  record.group = header.frame.group;
  record.frame_bytes = header.frame_bytes;
  record.begin = header.begin;
  record.bytes = header.bytes;
  outstanding_.push_back(head_);
  head_ = end;
  control_->published.store(++published_, std::memory_order_release);
}

absl::StatusOr<std::optional<RingReader::Record>> RingReader::Next() {
  while (HasNext()) {
    if (at_ == size_) at_ = 0;
    auto& shared = *reinterpret_cast<SharedRecord*>(ring_ + at_);
    struct {
      uint32_t returned, kind;
      uint64_t program, run, group;
      int64_t frame_bytes, begin, bytes;
    } record;
    static_assert(sizeof(record) <= sizeof(shared));
    std::memcpy(&record, static_cast<const void*>(&shared), sizeof(record));
    if (record.kind == kRestart && at_ > 0) {
      shared.returned.store(1, std::memory_order_release);
      at_ = 0;
      ++taken_;
      continue;
    }
    const int64_t space = size_ - at_ - kHeader;
    if (record.kind == kRestart || record.bytes < 0 || record.bytes > space || record.begin < 0 ||
        record.frame_bytes < record.bytes || record.begin > record.frame_bytes - record.bytes)
      return InvalidArgument("expected a record of at most ", space, " bytes, got one of ", record.bytes, " at ",
                             record.begin, " of ", record.frame_bytes, ", of kind ", record.kind);
    const Record next = {
        .header = {.frame = {static_cast<FrameKind>(record.kind), record.program, record.run, record.group},
                   .frame_bytes = record.frame_bytes,
                   .begin = record.begin,
                   .bytes = record.bytes},
        .data = ring_ + at_ + kHeader};
    at_ += Extent(record.bytes);
    ++taken_;
    return next;
  }
  return std::nullopt;
}

bool RingReader::Return(const uint8_t* data) const {
  // Either the writer sees the space, or this thread sees that it starves: both orders are sequentially consistent.
  reinterpret_cast<SharedRecord*>(const_cast<uint8_t*>(data) - kHeader)->returned.store(1);
  return control_->starved.load() != 0;
}

}  // namespace hilo
