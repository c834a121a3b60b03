// Other programs that `hilo` runs, and a folder for their files.
#ifndef HILO_TOOLS_CHILD_PROCESS_H_
#define HILO_TOOLS_CHILD_PROCESS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace hilo::tools {

// A new folder, which is removed with all that is in it at the end.
class TemporaryFolder {
 public:
  // In the folder for temporary files (TMPDIR). Errors: Unavailable if it cannot be made.
  static absl::StatusOr<TemporaryFolder> Make();
  ~TemporaryFolder();
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;

  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

// The path of the first of these programs that a folder of the variable PATH has; empty if none has any.
std::string FindProgram(const std::vector<std::string>& names);

struct Ended {
  bool in_time = true;
  int status = 0;  // of waitpid
};

// Runs the program at the path arguments[0] without input, in a process group of its own, which is killed after
// `seconds`. What it prints goes to the file `output`. Errors: Unavailable if it cannot be started.
absl::StatusOr<Ended> RunProgram(const std::vector<std::string>& arguments, const std::string& output, double seconds);

}  // namespace hilo::tools

#endif  // HILO_TOOLS_CHILD_PROCESS_H_
