// A compiled program and all that frameworks query about it.
#ifndef HILO_PJRT_PROGRAM_H_
#define HILO_PJRT_PROGRAM_H_

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hilo/executable.h"
#include "pjrt/client.h"
#include "pjrt/compile_options.h"

// A layout of the layouts extension, in the form in which it is serialized.
struct PJRT_Layouts_MemoryLayout {
  std::string text;
};

namespace hilo::pjrt {

// The framework's input, in its original form.
struct ProgramSource {
  std::string format;  // "mlir", "hlo" (HloModuleProto), "hlo_text"
  std::string code;
  std::string options;  // CompileOptionsProto
};

// Parameters or results, one entry for each leaf, as the lists that the framework reads.
struct ProgramValues {
  std::vector<Shape> shapes;  // the shapes on one device
  std::vector<PJRT_Buffer_Type> types;
  std::vector<int64_t> dimensions;  // of all shapes, concatenated
  std::vector<size_t> ranks;
  std::vector<int> memory_kinds;
  std::vector<const char*> memory_kind_names;
  std::vector<size_t> memory_kind_sizes;
  std::vector<std::string> shardings;  // OpSharding; empty: unknown
  std::vector<const char*> sharding_data;
  std::vector<size_t> sharding_sizes;
  std::vector<PJRT_Layouts_MemoryLayout> layouts;
  std::vector<PJRT_Layouts_MemoryLayout*> layout_list;
};

struct Program {
  std::shared_ptr<PJRT_Client> client;
  ProgramSource source;
  std::unique_ptr<Executable> executable;
  std::string name, fingerprint;
  bool portable = false;
  bool calls_python = false;          // functions of the caller's Python, as JAX's callbacks are
  std::vector<PJRT_Device*> devices;  // of this process, in the order of the lists of arguments
  std::vector<PJRT_LogicalDeviceIds> logical_ids;
  std::string device_assignment;
  ProgramValues parameters, results;
  std::vector<PJRT_NamedValue> costs;
  std::deque<std::string> cost_names;  // of those that are made for this program; none moves
  std::vector<int64_t> donated;        // parameters that are donated by a run
  std::vector<int64_t> tokens;         // parameters that are tokens
};

}  // namespace hilo::pjrt

// Two handles on the same program, which are destroyed in any order.
struct PJRT_Executable {
  explicit PJRT_Executable(std::shared_ptr<const hilo::pjrt::Program> program) : program(std::move(program)) {}
  const std::shared_ptr<const hilo::pjrt::Program> program;
  std::once_flag optimized_once;
  std::string optimized, optimized_format;  // the program after optimization, filled on the first query
};
struct PJRT_LoadedExecutable {
  const std::shared_ptr<const hilo::pjrt::Program> program;
  std::atomic<bool> deleted = false;
};

#endif  // HILO_PJRT_PROGRAM_H_
