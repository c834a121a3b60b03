// Whole files as bytes.
#ifndef HILO_BASE_FILE_H_
#define HILO_BASE_FILE_H_

#include <cstdio>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hilo {

// Reads all of the file at `path` (also a pipe). Errors: NotFound if it cannot be opened or is a folder; all name the
// path. ResourceExhausted if memory is short or a pipe or device holds more than 1 GiB; Unavailable if reading fails.
absl::StatusOr<std::string> ReadFile(const std::string& path);

// Writes a file piece by piece; the first failure is kept and returned by Close.
class FileWriter {
 public:
  // Makes the file, or empties it.
  explicit FileWriter(const std::string& path);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  void Write(absl::string_view bytes);
  // Errors: Unavailable, naming the path, if the file could not be made or written.
  absl::Status Close();

 private:
  std::string path_;
  std::FILE* file_;
  absl::Status status_;
};

// Writes `bytes` to the file at `path`.
absl::Status WriteFile(const std::string& path, absl::string_view bytes);

// Whether a file can be written at `path`, for callers that have long work to do first; changes nothing.
// Errors: Unavailable, naming the path, where WriteFile would fail to open it.
absl::Status CheckWritable(const std::string& path);

}  // namespace hilo

#endif  // HILO_BASE_FILE_H_
