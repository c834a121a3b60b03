// What Hilo's own code does with the public classes of the runtime beyond their interface.
#ifndef HILO_RUNTIME_RUNTIME_ACCESS_H_
#define HILO_RUNTIME_RUNTIME_ACCESS_H_

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "hilo/client.h"
#include "hilo/executable.h"
#include "hlo/ir/hlo_module.h"
#include "runtime/buffer_value.h"
#include "runtime/compiler.h"
#include "runtime/loaded_program.h"

namespace hilo {

struct RuntimeAccess {
  // --- clients ---
  // With a custom backend; options.platform is ignored.
  static absl::StatusOr<std::unique_ptr<Client>> CreateClient(const ClientOptions& options,
                                                              std::unique_ptr<Compiler> compiler);
  static Compiler* CompilerOf(const Client& client);
  static absl::StatusOr<std::unique_ptr<Executable>> Compile(Client* client, std::unique_ptr<HloModule> module,
                                                             const CompileOptions& options = {});
  // Memory for an array in the layout of `shape`, to be filled by the caller (BufferValue::memory) before it is
  // shared. Errors: InvalidArgument if `shape` is no array; ResourceExhausted.
  static absl::StatusOr<std::unique_ptr<Buffer>> UninitializedBuffer(Client* client, const Shape& shape,
                                                                     int device = 0);
  // Waits for the work that another library has queued on a stream of the platform (DeviceMemory::AwaitStream).
  // Errors: InvalidArgument if there is no such device; Unimplemented if the platform has no streams.
  static absl::Status AwaitStream(Client* client, int device, void* stream);

  // --- executables ---
  static std::unique_ptr<Executable> MakeExecutable(std::shared_ptr<ClientCore> core,
                                                    std::shared_ptr<const LoadedProgram> program) {
    return std::unique_ptr<Executable>(new Executable(std::move(core), std::move(program)));
  }
  static const LoadedProgram& ProgramOf(const Executable& executable) { return *executable.program_; }

  // --- buffers ---
  // `shape` is an array with layout, or a token.
  static std::unique_ptr<Buffer> MakeBuffer(std::shared_ptr<const Shape> shape, int device,
                                            std::shared_ptr<BufferValue> value) {
    return std::unique_ptr<Buffer>(new Buffer(std::move(shape), device, std::move(value)));
  }
  static const std::shared_ptr<const Shape>& SharedShape(const Buffer& buffer) { return buffer.shape_; }
  // Returns the value; Donate also ends this buffer's ownership. Errors: FailedPrecondition if deleted or donated.
  static absl::StatusOr<std::shared_ptr<BufferValue>> Share(const Buffer& buffer) { return buffer.Share(); }
  static absl::StatusOr<std::shared_ptr<BufferValue>> Donate(Buffer* buffer) { return buffer->Donate(); }
};

}  // namespace hilo

#endif  // HILO_RUNTIME_RUNTIME_ACCESS_H_
