// send, recv and their dones between devices.
//
// A send copies its data, and what is then on its way waits for nobody and is waited for by nobody but the receiver; so
// programs may send and receive in any order, as on other platforms. Every channel between two ranks has a communicator
// and a stream of its own. A rank that nobody sends to receives zeros.
#ifndef HILO_BACKENDS_GPU_COLLECTIVES_DEVICE_TRANSFER_H_
#define HILO_BACKENDS_GPU_COLLECTIVES_DEVICE_TRANSFER_H_

#include "backends/gpu/compile/program_emitter.h"

namespace hilo::gpu {

bool IsDeviceTransfer(const HloInstruction& instruction);
// Adds the thunk of such an instruction; recv and send-done have none. Errors: Unimplemented for transfers that do not
// say who sends to whom.
absl::Status EmitDeviceTransfer(ProgramEmitter& program, const HloInstruction* instruction);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COLLECTIVES_DEVICE_TRANSFER_H_
