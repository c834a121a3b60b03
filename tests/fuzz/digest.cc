#include "tests/fuzz/digest.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "backends/cpu/compile/cpu_compiler.h"
#include "base/aligned_buffer.h"
#include "hlo/text/hlo_parser.h"
#include "hlo/text/hlo_printer.h"

namespace hilo::fuzz {
namespace {

constexpr int64_t kMaxRunBytes = 1 << 20;      // of parameters, results and temporaries
constexpr int64_t kMaxCompileBytes = 1 << 26;  // of constants and arrays that folding may make

int64_t LargestArray(const HloModule& module) {
  int64_t bytes = 0;
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions())
      bytes = std::max(bytes, ShapeUtil::ByteSizeOf(instruction->shape()));
  }
  return bytes;
}

// Ends a run 0.3 seconds after its begin.
class Deadline {
 public:
  Deadline() : watch_([this] { Watch(); }) {}
  ~Deadline() {
    done_ = true;
    watch_.join();
  }
  CancellationToken* token() { return &token_; }

 private:
  void Watch() {
    for (int i = 0; i < 300 && !done_; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    token_.Expire();
  }
  CancellationToken token_;
  std::atomic<bool> done_ = false;
  std::thread watch_;
};

void RunOnce(const CompiledProgram& program) {
  int64_t bytes = program.temp_bytes() + ShapeUtil::ByteSizeOf(program.program_shape().result);
  for (const Shape& shape : program.program_shape().parameters) bytes += ShapeUtil::ByteSizeOf(shape);
  if (bytes > kMaxRunBytes) return;
  std::vector<AlignedBuffer> buffers;
  std::vector<const void*> parameters;
  std::vector<void*> results;
  const auto add = [&](const Shape& shape, auto& list) {
    for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(shape)) {
      auto buffer = AlignedBuffer::Create(ShapeUtil::ByteSizeOf(*leaf.shape));
      if (!buffer.ok()) return;
      std::memset(buffer->data(), 1, buffer->size());
      list.push_back(buffer->data());
      buffers.push_back(*std::move(buffer));
    }
  };
  for (const Shape& shape : program.program_shape().parameters) add(shape, parameters);
  add(program.program_shape().result, results);
  for (const auto& [output, parameter] : program.donations())
    results[output] = const_cast<void*>(parameters[parameter]);
  Deadline deadline;
  (void)program.Run({.cancellation = deadline.token()}, parameters, results);
}

}  // namespace

Digested Digest(absl::string_view text) {
  const ParseOptions options{.limits = {.max_array_bytes = int64_t{1} << 40}};
  auto module = ParseHloModule(text, options);
  if (!module.ok()) return Digested::kRefused;
  (void)ParseHloModule(PrintHloModule(**module), options);
  if (LargestArray(**module) > kMaxCompileBytes) return Digested::kParsed;
  auto program = cpu::CreateCpuCompiler()->Compile(*std::move(module), {}, nullptr);
  if (!program.ok()) return Digested::kParsed;
  RunOnce(**program);
  return Digested::kCompiled;
}

}  // namespace hilo::fuzz
