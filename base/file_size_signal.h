// Writes past the limit on file sizes (RLIMIT_FSIZE) as errors rather than a signal.
#ifndef HILO_BASE_FILE_SIZE_SIGNAL_H_
#define HILO_BASE_FILE_SIZE_SIGNAL_H_

#include <pthread.h>
#include <signal.h>

#include <ctime>

namespace hilo {

// While this lives, a write of the calling thread past the limit fails with EFBIG: the SIGXFSZ that comes with it,
// which would end the process, is taken back. Handlers of the process are not touched.
class FileSizeSignalHeld {
 public:
  FileSizeSignalHeld() {
    sigset_t pending;
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  FileSizeSignalHeld(const FileSizeSignalHeld&) = delete;
  FileSizeSignalHeld& operator=(const FileSizeSignalHeld&) = delete;
  ~FileSizeSignalHeld() {
    const timespec at_once = {};
    if (!was_pending_) sigtimedwait(&signal_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t signal_, before_;
  bool was_pending_;
};

}  // namespace hilo

#endif  // HILO_BASE_FILE_SIZE_SIGNAL_H_
