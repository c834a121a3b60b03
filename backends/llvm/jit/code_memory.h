// The memory that compiled code lives in.
#ifndef HILO_BACKENDS_LLVM_JIT_CODE_MEMORY_H_
#define HILO_BACKENDS_LLVM_JIT_CODE_MEMORY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hilo::codegen {

enum class CodeSection { kText, kReadOnly, kData };

// One address range with a section for each protection. Its life has two phases: until Seal() all of it can be written
// and nothing executed; from then on text is executed and read, read-only data is read, and only data is written. No
// page is ever writable and executable. Three mappings, however many functions. Not thread-safe until sealed.
class CodeMemory {
 public:
  // Reserves address space: `bytes[section]` for each section. Pages that are not touched cost no memory.
  // Errors: ResourceExhausted when the range cannot be had or is not below 2 GiB (the reach of a relative call).
  static absl::StatusOr<std::unique_ptr<CodeMemory>> Reserve(std::array<size_t, 3> bytes);
  ~CodeMemory();
  CodeMemory(const CodeMemory&) = delete;
  CodeMemory& operator=(const CodeMemory&) = delete;

  // `alignment` is a power of two, at most a page. Errors: ResourceExhausted when the section is full.
  absl::StatusOr<uint8_t*> Allocate(CodeSection section, size_t bytes, size_t alignment);

  // Ends the writing phase and gives back what was not used. Errors: Internal when the system refuses a protection.
  absl::Status Seal();

  // Bytes allocated in all sections.
  size_t used_bytes() const;

 private:
  struct Section {
    uint8_t* begin = nullptr;
    size_t capacity = 0;
    size_t used = 0;
  };
  CodeMemory() = default;

  std::array<Section, 3> sections_;
  uint8_t* base_ = nullptr;
  size_t reserved_ = 0;
};

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_JIT_CODE_MEMORY_H_
