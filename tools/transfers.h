// The host's end of infeed and outfeed while `hilo run` runs a program.
#ifndef HILO_TOOLS_TRANSFERS_H_
#define HILO_TOOLS_TRANSFERS_H_

#include <memory>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/session.h"

namespace hilo::tools {

// The items in the files of --infeed, one file after the other, in the order of their numbers: inI is an array; inI_J
// is element J of a tuple.
absl::StatusOr<std::vector<Literal>> LoadInfeed(const Flags& flags, const std::vector<Shape>& shapes);

// Feeds `items` to every device and collects the outfeed of every device, on separate threads, until Finish.
class Transfers {
 public:
  Transfers(Client* client, int64_t device_count, std::vector<Literal> items);
  Transfers(const Transfers&) = delete;
  Transfers& operator=(const Transfers&) = delete;
  ~Transfers();
  // The outfeed items of each device, after the run.
  std::vector<std::vector<Literal>> Finish();

 private:
  void Stop();

  Client* client_;
  std::vector<Literal> items_;
  std::shared_ptr<CancellationToken> over_ = std::make_shared<CancellationToken>();
  std::vector<std::vector<Literal>> outfeed_;  // of each device
  std::vector<std::thread> threads_;
};

}  // namespace hilo::tools

#endif  // HILO_TOOLS_TRANSFERS_H_
