// Transfers between devices: send, recv and their dones.
//
// A send copies its data. The copy in flight waits for nothing, and only the receiver waits for it; programs may
// therefore send and receive in any order, as on other platforms. Every channel between two ranks has a communicator
// and a stream of its own. A rank without a sender receives zeros.
#ifndef HILO_BACKENDS_GPU_THUNKS_TRANSFER_THUNK_H_
#define HILO_BACKENDS_GPU_THUNKS_TRANSFER_THUNK_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "backends/gpu/thunks/thunk.h"
#include "hlo/ir/hlo_instruction.h"

namespace hilo::gpu {

// Returns true for send, recv and their dones, unless they are transfers with the host.
bool IsDeviceTransfer(const HloInstruction& instruction);

class TransferThunk : public Thunk {
 public:
  // `leaves` are those of the data that is sent or received.
  TransferThunk(std::string name, std::string context, int64_t spec, int64_t channel, bool sends,
                std::vector<BufferSlice> leaves)
      : name_(std::move(name)),
        context_(std::move(context)),
        spec_(spec),
        channel_(channel),
        sends_(sends),
        leaves_(std::move(leaves)) {}
  static std::unique_ptr<Thunk> Read(ThunkReader& in);
  ThunkKind kind() const override { return ThunkKind::kTransfer; }
  void Write(ThunkWriter& out) const override;
  absl::Status Run(GpuRun& run) const override;
  std::string ToString(const std::string& indent) const override;

 private:
  TransferThunk() = default;
  template <typename Stream, typename Self>
  static void Fields(Stream& stream, Self& self);
  // Both ends return the same text.
  std::string Op() const;
  absl::Status Send(GpuRun& run) const;
  absl::Status Receive(GpuRun& run) const;
  absl::Status TakeMail(GpuRun& run, const BufferSlice& leaf) const;

  std::string name_, context_;
  int64_t spec_ = 0, channel_ = 0;
  bool sends_ = false;
  std::vector<BufferSlice> leaves_;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_THUNKS_TRANSFER_THUNK_H_
