// The memory of compiled code.
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

// One address range with a section for each protection. It has two phases: until Seal(), all of it is writable and
// nothing is executable; then text is executable and readable, read-only data is readable, and only data is writable.
// No page is ever writable and executable. Three mappings for any number of functions. Not thread-safe until sealed.
class CodeMemory {
 public:
  // Reserves address space: `bytes[section]` for each section. Untouched pages use no memory. Errors: ResourceExhausted
  // if the range is not available or is not below 2 GiB (the reach of a relative call).
  static absl::StatusOr<std::unique_ptr<CodeMemory>> Reserve(std::array<size_t, 3> bytes);
  ~CodeMemory();
  CodeMemory(const CodeMemory&) = delete;
  CodeMemory& operator=(const CodeMemory&) = delete;

  // `alignment` is a power of two, at most a page. Errors: ResourceExhausted when the section is full.
  absl::StatusOr<uint8_t*> Allocate(CodeSection section, size_t bytes, size_t alignment);

  // Ends the writing phase and frees unused memory. Errors: Internal if the system rejects a protection.
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
