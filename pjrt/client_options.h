// The options of a PJRT client.
#ifndef HILO_PJRT_CLIENT_OPTIONS_H_
#define HILO_PJRT_CLIENT_OPTIONS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hilo/client.h"
#include "pjrt/abi.h"

namespace hilo::pjrt {

struct PluginOptions {
  // Returned by PJRT_Client_PlatformName: JAX chooses its lowering rules by it.
  std::string platform_name = "hilo";
  ClientOptions client;
  int64_t process_count = 1, process_id = 0;
  std::string coordinator;  // HOST:PORT; empty: the processes are on this machine
};

// Options of PJRT_Client_Create, and the environment variables that provide their defaults:
//
//   platform_name  string                         HILO_PLATFORM_NAME
//   backend        string, a platform of Hilo's   HILO_BACKEND
//   num_devices    int                            HILO_NUM_DEVICES, XLA_FLAGS=--xla_force_host_platform_device_count=N
//   num_threads    int, 0: all processors         HILO_NUM_THREADS
//   memory_limit   int, bytes                     HILO_MEMORY_LIMIT
//   cache_dir      string, ClientOptions'         HILO_CACHE_DIR
//   num_nodes      int, processes whose devices run together
//   node_id        int, the index of this process, from 0
//   coordinator    string, HOST:PORT of the framework's coordination service: others reach this process at the address
//                  that the machine has towards it, unless HILO_HOST is set
//
// Errors: InvalidArgument naming an option that does not exist, or whose value is of another type.
absl::StatusOr<PluginOptions> ReadClientOptions(absl::Span<const PJRT_NamedValue> options);

}  // namespace hilo::pjrt

#endif  // HILO_PJRT_CLIENT_OPTIONS_H_
