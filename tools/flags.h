// Command line flags: --name=value, --name value, --name for switches, and -o value.
#ifndef HILO_TOOLS_FLAGS_H_
#define HILO_TOOLS_FLAGS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace hilo::tools {

struct FlagSpec {
  std::string name;   // "platform"; "o" is written with one dash
  std::string value;  // the placeholder of the value in help: "SECONDS"; empty: a switch
  std::string help;
  // The value names a file that the command writes, behind an @ if the placeholder has one; "-": the standard output.
  bool is_output = false;
};

class Flags {
 public:
  // "--" ends the flags. Errors: InvalidArgument for unknown flags (with the nearest known one),
  // values that are missing, and values for switches.
  // `program_follows`: the first argument that is not a flag ends them too.
  static absl::StatusOr<Flags> Parse(absl::Span<const FlagSpec> specs, absl::Span<const std::string> arguments,
                                     bool program_follows = false);

  bool Has(const std::string& name) const { return values_.count(name) != 0; }
  // The last value.
  std::string Get(const std::string& name, const std::string& otherwise = "") const;
  const std::vector<std::string>& All(const std::string& name) const;
  // A list in one value: "a,b".
  std::vector<std::string> List(const std::string& name) const;
  // Errors: InvalidArgument unless the value is such a number.
  absl::StatusOr<int64_t> Integer(const std::string& name, int64_t otherwise, int64_t least) const;
  absl::StatusOr<double> Seconds(const std::string& name, double otherwise) const;
  // Not negative.
  absl::StatusOr<double> Number(const std::string& name, double otherwise) const;

  const std::vector<std::string>& positional() const { return positional_; }

 private:
  std::map<std::string, std::vector<std::string>> values_;
  std::vector<std::string> positional_;
};

// "; did you mean WORD?" with the known word nearest to `word`; empty if none is near, or `word` is known.
std::string DidYouMean(const std::string& word, absl::Span<const std::string> known);

}  // namespace hilo::tools

#endif  // HILO_TOOLS_FLAGS_H_
