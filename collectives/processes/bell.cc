#include "collectives/processes/bell.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

#include "base/spin.h"

namespace hilo {

void Bell::Ring() {
  // Either this thread sees the sleeper, or the sleeper sees the ring: both orders are sequentially consistent.
  rings_.fetch_add(1);
  if (sleepers_.load() != 0) syscall(SYS_futex, &rings_, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

bool Bell::WatchWhile(uint32_t seen, const Watch& watch) const {
  if (!watch.yields) return SpinUntil([&] { return rings() != seen; }, watch.polls);
  for (int poll = 0; poll < watch.polls && rings() == seen; ++poll) sched_yield();
  return rings() != seen;
}

void Bell::Sleep(uint32_t seen, absl::Duration most) {
  const timespec timeout = absl::ToTimespec(most);
  sleepers_.fetch_add(1);
  if (rings_.load() == seen) syscall(SYS_futex, &rings_, FUTEX_WAIT, seen, &timeout, nullptr, 0);
  sleepers_.fetch_sub(1);
}

}  // namespace hilo
