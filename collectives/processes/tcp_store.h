// A key-value store that one process serves to the others by TCP. Private to collectives and its
// tests; others use OpenStore.
#ifndef HILO_COLLECTIVES_PROCESSES_TCP_STORE_H_
#define HILO_COLLECTIVES_PROCESSES_TCP_STORE_H_

#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "collectives/processes/sockets.h"
#include "hilo/collectives.h"

namespace hilo {

// Serves from its own thread until it is destroyed. A connection carries one request. What is no request, or too large,
// closes it; a request without the token, or a malformed one, gets an error.
class TcpStoreServer {
 public:
  // Port 0: any free port. Errors: Unavailable, naming the endpoint.
  static absl::StatusOr<std::shared_ptr<TcpStoreServer>> Start(const Endpoint& endpoint, std::string token);
  ~TcpStoreServer();
  int port() const { return port_; }

 private:
  TcpStoreServer() = default;

  int port_ = 0;
  FileDescriptor stop_;  // writing to it ends the thread
  std::thread thread_;
};

// A client of the server. Keeps `server` (may be null) alive. Waits up to `patience` for the server to
// start.
std::shared_ptr<KeyValueStore> MakeTcpStore(Endpoint endpoint, std::string token,
                                            std::shared_ptr<TcpStoreServer> server = nullptr,
                                            absl::Duration patience = absl::Seconds(30));

}  // namespace hilo

#endif  // HILO_COLLECTIVES_PROCESSES_TCP_STORE_H_
