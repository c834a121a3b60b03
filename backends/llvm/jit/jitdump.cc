#include "backends/llvm/jit/jitdump.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "base/file_size_signal.h"

namespace hilo::codegen {
namespace {

// tools/perf/Documentation/jitdump-specification.txt in Linux describes these records.
struct FileHeader {
  uint32_t magic = 0x4A695444;
  uint32_t version = 1;
  uint32_t total_size = sizeof(FileHeader);
  uint32_t elf_machine = EM_X86_64;
  uint32_t padding = 0;
  uint32_t pid = 0;
  uint64_t timestamp = 0;
  uint64_t flags = 0;
};
static_assert(sizeof(FileHeader) == 40);

struct CodeLoadRecord {  // followed by the name with its zero, then the code
  uint32_t id = 0;
  uint32_t total_size = 0;
  uint64_t timestamp = 0;
  uint32_t pid = 0;
  uint32_t tid = 0;
  uint64_t vma = 0;
  uint64_t code_address = 0;
  uint64_t code_size = 0;
  uint64_t code_index = 0;
};
static_assert(sizeof(CodeLoadRecord) == 56);

uint64_t Now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

bool WriteAll(int fd, const std::string& bytes) {
  const FileSizeSignalHeld held;
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

template <typename T>
void AppendBytes(const T& value, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), sizeof value);
}

// perf finds the file by the executable mapping of its first page, which stays for the life of the process.
int OpenDump(const std::string& path) {
  const int fd = open(path.c_str(), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) return -1;
  FileHeader header;
  header.pid = static_cast<uint32_t>(getpid());
  header.timestamp = Now();
  std::string bytes;
  AppendBytes(header, &bytes);
  if (WriteAll(fd, bytes) && mmap(nullptr, static_cast<size_t>(sysconf(_SC_PAGESIZE)), PROT_READ | PROT_EXEC,
                                  MAP_PRIVATE, fd, 0) != MAP_FAILED)
    return fd;
  close(fd);
  return -1;
}

}  // namespace

absl::Status AppendToJitdump(absl::Span<const JitdumpFunction> functions) {
  static std::mutex mutex;
  static int fd = -1;
  static uint64_t code_index = 0;
  std::lock_guard<std::mutex> lock(mutex);
  const char* directory = getenv("HILO_JITDUMP_DIR");
  const std::string path = absl::StrCat(directory != nullptr ? directory : "/tmp", "/jit-", getpid(), ".dump");
  if (fd < 0 && (fd = OpenDump(path)) < 0) {
    return absl::UnavailableError(absl::StrCat("cannot write ", path, ": ", strerror(errno)));
  }
  std::string bytes;
  for (const JitdumpFunction& function : functions) {
    CodeLoadRecord record;
    record.total_size = static_cast<uint32_t>(sizeof record + function.name.size() + 1 + function.bytes);
    record.timestamp = Now();
    record.pid = static_cast<uint32_t>(getpid());
    record.tid = static_cast<uint32_t>(syscall(SYS_gettid));
    record.vma = record.code_address = reinterpret_cast<uintptr_t>(function.address);
    record.code_size = function.bytes;
    record.code_index = code_index++;
    AppendBytes(record, &bytes);
    bytes.append(function.name.c_str(), function.name.size() + 1);
    bytes.append(static_cast<const char*>(function.address), function.bytes);
  }
  if (!WriteAll(fd, bytes)) return absl::UnavailableError(absl::StrCat("cannot write ", path, ": ", strerror(errno)));
  return absl::OkStatus();
}

}  // namespace hilo::codegen
