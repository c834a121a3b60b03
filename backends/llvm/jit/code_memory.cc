#include "backends/llvm/jit/code_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace hilo::codegen {
namespace {

constexpr size_t kMaxRange = size_t{1} << 31;

size_t PageSize() {
  static const size_t size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

size_t RoundUp(size_t value, size_t alignment) { return (value + alignment - 1) & ~(alignment - 1); }

int ProtectionOf(size_t section) {
  switch (static_cast<CodeSection>(section)) {
    case CodeSection::kText: return PROT_READ | PROT_EXEC;
    case CodeSection::kReadOnly: return PROT_READ;
    case CodeSection::kData: return PROT_READ | PROT_WRITE;
  }
  return PROT_NONE;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CodeMemory>> CodeMemory::Reserve(std::array<size_t, 3> bytes) {
  std::unique_ptr<CodeMemory> memory(new CodeMemory);
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] >= kMaxRange || (memory->reserved_ += RoundUp(bytes[i], PageSize())) >= kMaxRange) {
      return absl::ResourceExhaustedError(
          absl::StrCat("compiled code: expected less than ", kMaxRange, " bytes, came ", bytes[i], " in one section"));
    }
    memory->sections_[i].capacity = RoundUp(bytes[i], PageSize());
  }
  if (memory->reserved_ == 0) return memory;
  void* base =
      mmap(nullptr, memory->reserved_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        absl::StrCat("compiled code: cannot map ", memory->reserved_, " bytes: ", strerror(errno)));
  }
  memory->base_ = static_cast<uint8_t*>(base);
  uint8_t* next = memory->base_;
  for (Section& section : memory->sections_) {
    section.begin = next;
    next += section.capacity;
  }
  return memory;
}

CodeMemory::~CodeMemory() {
  if (base_ != nullptr) munmap(base_, reserved_);
}

absl::StatusOr<uint8_t*> CodeMemory::Allocate(CodeSection kind, size_t bytes, size_t alignment) {
  Section& section = sections_[static_cast<size_t>(kind)];
  const size_t start = RoundUp(section.used, alignment);
  if (start > section.capacity || bytes > section.capacity - start) {
    return absl::ResourceExhaustedError(absl::StrCat("compiled code: a section of ", section.capacity,
                                                     " bytes has no room for ", bytes, " more after ", section.used));
  }
  section.used = start + bytes;
  return section.begin + start;
}

absl::Status CodeMemory::Seal() {
  for (size_t i = 0; i < sections_.size(); ++i) {
    Section& section = sections_[i];
    const size_t kept = RoundUp(section.used, PageSize());
    if (kept > 0 && mprotect(section.begin, kept, ProtectionOf(i)) != 0) {
      return absl::InternalError(absl::StrCat("compiled code: mprotect of ", kept, " bytes: ", strerror(errno)));
    }
    // The tail becomes a hole in the range, so that the destructor can unmap everything in one call.
    if (kept < section.capacity) mprotect(section.begin + kept, section.capacity - kept, PROT_NONE);
  }
  return absl::OkStatus();
}

size_t CodeMemory::used_bytes() const {
  size_t total = 0;
  for (const Section& section : sections_) total += section.used;
  return total;
}

}  // namespace hilo::codegen
