// Threads do not survive a fork, so what needs them must know of it.
#ifndef HILO_RUNTIME_FORK_GUARD_H_
#define HILO_RUNTIME_FORK_GUARD_H_

namespace hilo {

// How many forks lie between the process that asked first and this one. Asking costs one load.
int ForkGeneration();

}  // namespace hilo

#endif  // HILO_RUNTIME_FORK_GUARD_H_
