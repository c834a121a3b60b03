// Programs on several emulated devices whose communicators are recorded.
#ifndef HILO_TESTS_UNIT_BACKENDS_GPU_COLLECTIVES_DEVICES_H_
#define HILO_TESTS_UNIT_BACKENDS_GPU_COLLECTIVES_DEVICES_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "backends/gpu/collectives/emulated_communicator.h"
#include "backends/gpu/compile/gpu_compiler.h"
#include "backends/gpu/runtime/gpu_platform.h"
#include "hilo/client.h"
#include "runtime/runtime_access.h"
#include "tests/support/recording_communicator.h"

namespace hilo::gpu {

class Devices {
 public:
  explicit Devices(int count, const EmulatedCommunicatorOptions& options = {}, GpuCompilerOptions compiler_options = {})
      : log_(std::make_shared<CommunicatorLog>()) {
    compiler_options.communicators = CreateRecordingLibrary(CreateEmulatedCommunicatorLibrary(options), log_);
    auto client =
        RuntimeAccess::CreateClient({.device_count = count}, CreateGpuCompiler(kEmulatedPlatform, compiler_options));
    EXPECT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
  }

  void Compile(absl::string_view text) {
    auto executable = client_->CompileHloText(text, {});
    EXPECT_TRUE(executable.ok()) << executable.status();
    if (executable.ok()) executable_ = *std::move(executable);
  }

  // Runs what was compiled last; `arguments` are the same for all devices. Results by device.
  absl::StatusOr<std::vector<Literal>> Run(const std::vector<Literal>& arguments = {},
                                           absl::Duration deadline = absl::Seconds(60)) {
    std::vector<std::unique_ptr<Buffer>> buffers;
    std::vector<std::vector<Buffer*>> pointers;
    for (int device : executable_->assignment().devices()) {
      pointers.emplace_back();
      for (const Literal& argument : arguments) {
        buffers.push_back(*client_->BufferFromLiteral(argument, device));
        pointers.back().push_back(buffers.back().get());
      }
    }
    auto outputs = executable_->ExecuteReplicated(pointers, {.deadline = deadline, .synchronous = true});
    if (!outputs.ok()) return outputs.status();
    std::vector<Literal> results;
    for (const auto& output : *outputs) {
      if (output.empty()) continue;
      auto literal = output[0]->ToLiteral();
      if (!literal.ok()) return literal.status();
      results.push_back(*std::move(literal));
    }
    return results;
  }

  Client& client() { return *client_; }
  Executable& executable() { return *executable_; }
  CommunicatorLog& log() { return *log_; }
  // The calls of a device, without those that make and break communicators.
  std::vector<std::string> Calls(int device) {
    std::vector<std::string> calls;
    for (std::string& line : log_->Take(device)) {
      const bool is_call = line.rfind("Create", 0) != 0 && line.rfind("Split", 0) != 0 && line != "Abort";
      if (is_call) calls.push_back(std::move(line));
    }
    return calls;
  }

 private:
  std::shared_ptr<CommunicatorLog> log_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<Executable> executable_;
};

}  // namespace hilo::gpu

#endif  // HILO_TESTS_UNIT_BACKENDS_GPU_COLLECTIVES_DEVICES_H_
