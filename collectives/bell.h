// Bell: where threads wait for events of other threads, of this process or of one that shares the memory. Private to
// collectives.
#ifndef HILO_COLLECTIVES_BELL_H_
#define HILO_COLLECTIVES_BELL_H_

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"

namespace hilo {

// A waiting thread reads rings(), looks for the event, and if there is none waits with what it has read: an event that
// is followed by Ring() is never missed. All zeros is a valid state, so that a bell may lie in memory that is shared
// between processes; whatever another process writes there, a wait ends in time. Thread-safe.
class Bell {
 public:
  uint32_t rings() const { return rings_.load(std::memory_order_acquire); }
  void Ring();
  // Both return when the bell has been rung since rings() was `seen`. SpinWhile returns whether it has been, within
  // `spins` polls; Sleep also returns after `most`, and now and then without reason.
  bool SpinWhile(uint32_t seen, int spins) const;
  void Sleep(uint32_t seen, absl::Duration most);

 private:
  std::atomic<uint32_t> rings_{0}, sleepers_{0};
};
static_assert(std::atomic<uint32_t>::is_always_lock_free);

}  // namespace hilo

#endif  // HILO_COLLECTIVES_BELL_H_
