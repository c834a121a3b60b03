/* What the code in a wheel asks of glibc after 2.28: tools/wheel links these definitions, so that it runs with an older
 * one. Each does what the function of that name in glibc does. */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/random.h>
#include <time.h>

/* 2.32. Not zero promises that the process has one thread, which then needs no atomic operations. */
char __libc_single_threaded = 0;

/* 2.36. */
uint32_t arc4random(void) {
  uint32_t value;
  while (getrandom(&value, sizeof value, 0) != sizeof value) {
  }
  return value;
}

/* 2.33. The numbers of the older function wrap around at 4 GB. */
struct mallinfo2 mallinfo2(void) {
  const struct mallinfo narrow = mallinfo();
  return (struct mallinfo2){.arena = (unsigned)narrow.arena,
                            .ordblks = (unsigned)narrow.ordblks,
                            .smblks = (unsigned)narrow.smblks,
                            .hblks = (unsigned)narrow.hblks,
                            .hblkhd = (unsigned)narrow.hblkhd,
                            .usmblks = (unsigned)narrow.usmblks,
                            .fsmblks = (unsigned)narrow.fsmblks,
                            .uordblks = (unsigned)narrow.uordblks,
                            .fordblks = (unsigned)narrow.fordblks,
                            .keepcost = (unsigned)narrow.keepcost};
}

/* 2.30. Waits by the clock of `condition`, which is the real-time one of every condition that C++'s library makes. A
 * clock that is set meanwhile can end the wait early, as a spurious wake-up does; callers compare their own clock. */
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* deadline) {
  struct timespec now, until;
  if (clock == CLOCK_REALTIME) return pthread_cond_timedwait(condition, mutex, deadline);
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += deadline->tv_sec - now.tv_sec;
  until.tv_nsec += deadline->tv_nsec - now.tv_nsec;
  if (until.tv_nsec < 0) {
    until.tv_nsec += 1000000000;
    --until.tv_sec;
  } else if (until.tv_nsec >= 1000000000) {
    until.tv_nsec -= 1000000000;
    ++until.tv_sec;
  }
  return pthread_cond_timedwait(condition, mutex, &until);
}
