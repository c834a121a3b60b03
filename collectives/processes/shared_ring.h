// A ring of records in shared memory, written by one process and read by another. Private to collectives.
#ifndef HILO_COLLECTIVES_PROCESSES_SHARED_RING_H_
#define HILO_COLLECTIVES_PROCESSES_SHARED_RING_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "collectives/processes/transport.h"

namespace hilo {

// A record is a frame, or a part of one.
struct RecordHeader {
  FrameHeader frame;
  int64_t frame_bytes = 0;  // of the whole frame
  int64_t begin = 0;        // of the record, in the frame
  int64_t bytes = 0;        // of the record
};

// What the two processes share ahead of the records. All zeros is an empty ring.
struct alignas(64) RingControl {
  alignas(64) std::atomic<uint64_t> published;  // records that the writer has ever finished
  alignas(64) std::atomic<uint32_t> starved;    // not 0: the writer waits for space
};
// A record in memory: this, and the bytes, in multiples of kFrameAlignment.
struct alignas(kFrameAlignment) SharedRecord;

// Neither side relies on what the other may write: the writer keeps the positions of its records to itself, and the
// reader its position; the reader checks headers, and uses copies of them.
class RingWriter {
 public:
  // `control` is followed, at `ring`, by `bytes` bytes; a multiple of kFrameAlignment.
  RingWriter(RingControl* control, uint8_t* ring, int64_t bytes) : control_(control), ring_(ring), size_(bytes) {}

  // The most bytes in a record: two records of that size fit.
  int64_t most() const { return size_ / 2 - kFrameAlignment; }
  // Where to write a record of `bytes` bytes, at most most(); null if there is no space now.
  uint8_t* Reserve(int64_t bytes);
  // Makes the reserved record visible to the reader.
  void Publish(const RecordHeader& header);
  // While starved, the reader signals when it returns records.
  void SetStarved(bool starved) { control_->starved.store(starved ? 1 : 0); }

 private:
  SharedRecord* At(int64_t offset) const;
  void Append(const RecordHeader& header, int64_t end);

  RingControl* control_;
  uint8_t* ring_;
  int64_t size_, head_ = 0;
  uint64_t published_ = 0;
  std::deque<int64_t> outstanding_;  // where the records begin that the reader has not returned
};

class RingReader {
 public:
  RingReader(RingControl* control, const uint8_t* ring, int64_t bytes)
      : control_(control), ring_(const_cast<uint8_t*>(ring)), size_(bytes) {}

  struct Record {
    RecordHeader header;
    const uint8_t* data;
  };
  // Thread-safe.
  bool HasNext() const {
    return control_->published.load(std::memory_order_acquire) != taken_.load(std::memory_order_relaxed);
  }
  // The next record, if one has been published. It stays until it is returned. Errors: InvalidArgument if what is there
  // is no record.
  absl::StatusOr<std::optional<Record>> Next();
  // Gives the space of the record at `data` back; thread-safe. Returns whether the writer waits for it.
  bool Return(const uint8_t* data) const;

 private:
  RingControl* control_;
  uint8_t* ring_;
  int64_t size_, at_ = 0;
  std::atomic<uint64_t> taken_{0};
};

}  // namespace hilo

#endif  // HILO_COLLECTIVES_PROCESSES_SHARED_RING_H_
