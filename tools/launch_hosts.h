// The hosts of `hilo launch --hosts`, and how ssh starts a program on one of them.
#ifndef HILO_TOOLS_LAUNCH_HOSTS_H_
#define HILO_TOOLS_LAUNCH_HOSTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tools/launch_job.h"

namespace hilo::tools {

struct LaunchHost {
  std::string name;  // as ssh takes it: HOST or USER@HOST
  int64_t processes = 1;
};

// "a,user@b:2,[fe80::1]:4". Errors: InvalidArgument, naming the item.
absl::StatusOr<std::vector<LaunchHost>> ParseHosts(absl::string_view list);
// A file of lines HOST, HOST:N or "HOST slots=N" (as Open MPI's); # begins a comment. Errors: InvalidArgument, naming
// the line; NotFound if the file cannot be read.
absl::StatusOr<std::vector<LaunchHost>> ReadHostFile(const std::string& path);

// The address of the first host at which the others can reach it, as this machine resolves names: a loopback address
// only if all hosts have one. The name itself if this machine cannot resolve it, as ssh's configuration may have it.
absl::StatusOr<std::string> CoordinatorHost(absl::Span<const LaunchHost> hosts);

// Returns the program, to be started on `host` in `folder` through `ssh`, a command to which the host and a command for
// the shell there are appended. Only the program's own variables are set on the host, beside those of a login.
// Arguments and variables go through the standard input, so that other users of either machine do not see them.
LaunchJob::Program OnHost(LaunchJob::Program program, const std::string& host, const std::string& folder,
                          const std::vector<std::string>& ssh);

}  // namespace hilo::tools

#endif  // HILO_TOOLS_LAUNCH_HOSTS_H_
