// Detects forks: threads do not survive one, so code that needs them must check.
#ifndef HILO_RUNTIME_FORK_GUARD_H_
#define HILO_RUNTIME_FORK_GUARD_H_

namespace hilo {

// The number of forks between the first process to call this and the current one. A call costs one load.
int ForkGeneration();

}  // namespace hilo

#endif  // HILO_RUNTIME_FORK_GUARD_H_
