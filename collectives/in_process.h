// Communicators between threads of one process.
#ifndef HILO_COLLECTIVES_IN_PROCESS_H_
#define HILO_COLLECTIVES_IN_PROCESS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "collectives/communicator.h"

namespace hilo {

// The communicators of ranks 0 to size - 1 of one run; each is used by one thread at a time.
std::vector<std::unique_ptr<Communicator>> MakeInProcessCommunicators(int64_t size);

}  // namespace hilo

#endif  // HILO_COLLECTIVES_IN_PROCESS_H_
