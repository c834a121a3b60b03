// Bell: where threads wait for events of other threads, of this process or of one that shares the memory. Private to
// collectives.
#ifndef HILO_COLLECTIVES_PROCESSES_BELL_H_
#define HILO_COLLECTIVES_PROCESSES_BELL_H_

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"

namespace hilo {

// How a thread polls before it sleeps.
struct Watch {
  int polls = 0;
  bool yields =
      false;  // in between, to other threads: there are fewer processors than threads that wait for each other
};

// A waiting thread reads rings(), looks for the event, and if there is none waits with what it has read: an event that
// is followed by Ring() is never missed. All zeros is a valid state, so that a bell may lie in memory that is shared
// between processes; whatever another process writes there, a wait ends in time. Thread-safe.
class Bell {
 public:
  uint32_t rings() const { return rings_.load(std::memory_order_acquire); }
  void Ring();
  // Both return when the bell has been rung since rings() was `seen`. WatchWhile returns whether it has been;
  // Sleep also returns after `most`, and now and then without reason.
  bool WatchWhile(uint32_t seen, const Watch& watch) const;
  void Sleep(uint32_t seen, absl::Duration most);

 private:
  std::atomic<uint32_t> rings_{0}, sleepers_{0};
};
static_assert(std::atomic<uint32_t>::is_always_lock_free);

}  // namespace hilo

#endif  // HILO_COLLECTIVES_PROCESSES_BELL_H_
