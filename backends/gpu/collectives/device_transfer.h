// Transfers between devices: send, recv and their dones.
//
// A send copies its data. The copy in flight waits for nothing, and only the receiver waits for it; programs may
// therefore send and receive in any order, as on other platforms. Every channel between two ranks has a communicator
// and a stream of its own. A rank without a sender receives zeros.
#ifndef HILO_BACKENDS_GPU_COLLECTIVES_DEVICE_TRANSFER_H_
#define HILO_BACKENDS_GPU_COLLECTIVES_DEVICE_TRANSFER_H_

#include "backends/gpu/compile/program_emitter.h"

namespace hilo::gpu {

bool IsDeviceTransfer(const HloInstruction& instruction);
// Adds the thunk of such an instruction; recv and send-done have none. Errors: Unimplemented for transfers that do not
// specify their source-target pairs.
absl::Status EmitDeviceTransfer(ProgramEmitter& program, const HloInstruction* instruction);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COLLECTIVES_DEVICE_TRANSFER_H_
