// Transport: carries frames of bytes between the processes of a group. The collectives, and what is promised of them
// (deadlines, errors that name ranks, runs that fail as one), are written once, above it. Private to collectives.
#ifndef HILO_COLLECTIVES_PROCESSES_TRANSPORT_H_
#define HILO_COLLECTIVES_PROCESSES_TRANSPORT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/aligned_buffer.h"
#include "collectives/processes/bell.h"

namespace hilo {

enum class FrameKind : uint32_t {
  kCollective = 1,  // contributions of ranks of a group to a collective
  kResult = 2,      // its second half
  kMessage = 3,     // from rank to rank
  kFinish = 4,      // a rank has ended its run
  kFail = 5,        // the run has failed
  kBegin = 6,       // the process begins the run
  kLeave = 7,       // the process leaves; for transports only
  kAttend = 8,      // the process waits for space in shared memory; for transports only
};

struct FrameHeader {
  FrameKind kind = FrameKind::kLeave;
  uint64_t program = 0, run = 0;  // which run of which set of devices
  uint64_t group = 0;             // of a collective
};

// The bytes of a frame begin at a multiple of this.
constexpr int64_t kFrameAlignment = 64;

// A frame that has arrived. Its bytes are its own, or lie in memory that it returns to a lender when it is destroyed.
// They come from another process, which may be changing those that are lent: check what is used as a size or an offset
// in a copy.
class Frame {
 public:
  class Lender {
   public:
    virtual void Return(const uint8_t* data) = 0;  // thread-safe, does not block

   protected:
    ~Lender() = default;
  };

  Frame() = default;
  Frame(const FrameHeader& header, AlignedBuffer bytes)
      : header_(header), bytes_(std::move(bytes)), data_(bytes_.data()), size_(bytes_.size()) {}
  Frame(const FrameHeader& header, absl::Span<const uint8_t> lent, Lender* lender)
      : header_(header), data_(lent.data()), size_(static_cast<int64_t>(lent.size())), lender_(lender) {}
  Frame(Frame&& other) noexcept { *this = std::move(other); }
  Frame& operator=(Frame&& other) noexcept {
    std::swap(header_, other.header_);
    std::swap(bytes_, other.bytes_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(lender_, other.lender_);
    return *this;
  }
  ~Frame() {
    if (lender_ != nullptr) lender_->Return(data_);
  }

  const FrameHeader& header() const { return header_; }
  const uint8_t* data() const { return data_; }
  int64_t size() const { return size_; }
  // Copies lent bytes and returns them: while a frame borrows, the sender may have to wait. Errors: ResourceExhausted.
  absl::Status Own();

 private:
  FrameHeader header_;
  AlignedBuffer bytes_;
  const uint8_t* data_ = nullptr;
  int64_t size_ = 0;
  Lender* lender_ = nullptr;
};

// Receives events, on a thread of the transport or one in Poll; must not block. The events of one process come one
// after the other.
class FrameListener {
 public:
  virtual ~FrameListener() = default;
  virtual void OnFrame(int64_t process, Frame frame) = 0;
  // The last event of a process: it has left (the other side's transport has been destroyed), or it has died or become
  // unreachable.
  virtual void OnGone(int64_t process, const absl::Status& why, bool has_left) = 0;
};

// Frames from one process to another arrive whole, in the order in which they were sent, except that a posted one may
// be late. Thread-safe.
class Transport {
 public:
  // Notifies the other processes that this one leaves.
  virtual ~Transport() = default;
  // For messages: "TCP".
  virtual std::string name() const = 0;
  // Nothing is received before. Errors: ResourceExhausted without threads.
  virtual absl::Status Start(FrameListener* listener) = 0;

  // Sends the frame made of the pieces in order. Blocks while the other side takes nothing, until `give_up` (called
  // every few milliseconds) returns an error; the process receives the frame whole or not at all. Errors: that;
  // Unavailable if the process is gone, in which case the listener has received all that came from it.
  virtual absl::Status Send(int64_t process, const FrameHeader& header, absl::Span<const absl::string_view> pieces,
                            const std::function<absl::Status()>& give_up) = 0;
  // Sends without blocking; data that cannot be sent now is sent later. Does nothing if the process is gone.
  virtual void Post(int64_t process, const FrameHeader& header, absl::string_view bytes) = 0;

  // Hands a frame of the process, if one waits to be taken by a thread of this process, to the listener. Returns
  // whether one did.
  virtual bool Poll(int64_t process) = 0;
  // Whether frames of the process come that way, and small ones within a few microseconds.
  virtual bool IsPolled(int64_t process) const = 0;
  // Rung when frames have arrived that Poll takes. A listener for which threads wait at the bell rings it, too.
  virtual Bell& bell() = 0;
  // How to watch the bell before sleeping.
  virtual Watch watch() const = 0;
  // A thread that has read bell().rings(), and then taken all frames, waits for more, or for another ring: shortly,
  // returning whether there may be some, and then for at most so long.
  virtual bool WatchForFrames(uint32_t seen) { return bell().WatchWhile(seen, watch()); }
  virtual void SleepForFrames(uint32_t seen, absl::Duration most) { bell().Sleep(seen, most); }
  // About how many bytes of a large transfer a frame should hold; the same in all processes of the group.
  virtual int64_t section_bytes() const = 0;
};

}  // namespace hilo

#endif  // HILO_COLLECTIVES_PROCESSES_TRANSPORT_H_
