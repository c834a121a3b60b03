// Threads for the tasks that handlers schedule.
#ifndef HILO_RUNTIME_FFI_TASK_THREADS_H_
#define HILO_RUNTIME_FFI_TASK_THREADS_H_

#include <functional>

namespace hilo::ffi {

// Runs `task` on one of at most `threads` threads of the process, which start on demand; immediately if no thread
// can be started. A task may wait for others only if fewer than `threads` do.
void ScheduleTask(std::function<void()> task, int threads);

}  // namespace hilo::ffi

#endif  // HILO_RUNTIME_FFI_TASK_THREADS_H_
