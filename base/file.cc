#include "base/file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>
#include <stdexcept>

#include "absl/strings/str_cat.h"
#include "base/file_size_signal.h"

namespace hilo {
namespace {

constexpr size_t kChunk = size_t{1} << 20;
// The limit for streams whose size is unknown in advance: a pipe, a device.
constexpr size_t kMaxOfAStream = size_t{1} << 30;

std::string Reason() { return std::strerror(errno); }

// The size if `file` is an ordinary file, else 0.
size_t ExpectedSize(std::FILE* file) {
  struct stat facts;
  const bool ordinary = fstat(fileno(file), &facts) == 0 && S_ISREG(facts.st_mode);
  return ordinary && facts.st_size > 0 ? static_cast<size_t>(facts.st_size) : 0;
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), std::fclose);
  if (file == nullptr) return absl::NotFoundError(absl::StrCat("cannot open ", path, ": ", Reason()));
  std::setvbuf(file.get(), nullptr, _IONBF, 0);
  std::string bytes;
  try {
    // One byte more than expected, to detect the end of the file in the first read.
    const size_t expected = ExpectedSize(file.get());
    bytes.resize(expected + 1);
    size_t size = 0;
    while (const size_t got = std::fread(bytes.data() + size, 1, bytes.size() - size, file.get())) {
      size += got;
      if (expected == 0 && size > kMaxOfAStream) {
        return absl::ResourceExhaustedError(
            absl::StrCat(path, " is no ordinary file and holds more than ", kMaxOfAStream, " bytes"));
      }
      if (size == bytes.size()) bytes.resize(size + std::max(size, kChunk));
    }
    bytes.resize(size);
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(absl::StrCat("no memory to read ", path));
  } catch (const std::length_error&) {
    return absl::ResourceExhaustedError(absl::StrCat("no memory to read ", path));
  }
  if (std::ferror(file.get()) != 0) {
    const absl::StatusCode code = errno == EISDIR ? absl::StatusCode::kNotFound : absl::StatusCode::kUnavailable;
    return absl::Status(code, absl::StrCat("cannot read ", path, ": ", Reason()));
  }
  return bytes;
}

FileWriter::FileWriter(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "wbe")) {
  if (file_ == nullptr) {
    status_ = absl::UnavailableError(absl::StrCat("cannot write ", path, ": ", Reason()));
  }
}

FileWriter::~FileWriter() { Close().IgnoreError(); }

void FileWriter::Write(absl::string_view bytes) {
  if (!status_.ok() || bytes.empty()) return;
  const FileSizeSignalHeld held;
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) {
    status_ = absl::UnavailableError(absl::StrCat("cannot write ", path_, ": ", Reason()));
  }
}

absl::Status FileWriter::Close() {
  const FileSizeSignalHeld held;
  if (file_ != nullptr && std::fclose(file_) != 0 && status_.ok()) {
    status_ = absl::UnavailableError(absl::StrCat("cannot write ", path_, ": ", Reason()));
  }
  file_ = nullptr;
  return status_;
}

absl::Status WriteFile(const std::string& path, absl::string_view bytes) {
  FileWriter writer(path);
  writer.Write(bytes);
  return writer.Close();
}

absl::Status CheckWritable(const std::string& path) {
  struct stat facts;
  bool writable = access(path.c_str(), W_OK) == 0;
  if (writable && stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode)) {
    writable = false;
    errno = EISDIR;
  } else if (!writable && errno == ENOENT) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    writable = access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) == 0;
  }
  if (writable) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("cannot write ", path, ": ", Reason()));
}

}  // namespace hilo
