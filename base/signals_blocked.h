// Threads that take no signals.
#ifndef HILO_BASE_SIGNALS_BLOCKED_H_
#define HILO_BASE_SIGNALS_BLOCKED_H_

#include <pthread.h>
#include <signal.h>

namespace hilo {

// While this lives, signals do not reach the calling thread; a thread that starts meanwhile never
// gets any.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace hilo

#endif  // HILO_BASE_SIGNALS_BLOCKED_H_
