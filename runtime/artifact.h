// The container that serialised executables are kept in.
//
//   8   magic: 89 48 49 4c 4f 0d 0a 1a
//   4   format version, u32
//   4   size of the header, digest included, u32
//   8   size of the whole, u64
//       texts: version of Hilo, platform, target
//       number of sections, u64; of each: name (a text), size (u64), SHA-256 of its bytes
//   32  SHA-256 of all of the header up to here
//       the sections' bytes, one behind the other
//
// Numbers and texts are those of base/byte_stream.h. There is no byte that nothing checks. What is in the sections is
// the affair of the runtime
// ("run", "dynamic") and of the platform (all others).
#ifndef HILO_RUNTIME_ARTIFACT_H_
#define HILO_RUNTIME_ARTIFACT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hilo {

struct Artifact {
  struct Section {
    std::string name;
    std::string bytes;
  };
  // Errors: InvalidArgument if there is none of that name.
  absl::StatusOr<absl::string_view> Find(absl::string_view name) const;

  std::string platform;
  std::string target;  // what machine it is for, in the platform's words; empty: any
  std::vector<Section> sections;
};

constexpr uint32_t kArtifactFormat = 1;

// True if `bytes` begin as a serialised executable does.
bool LooksLikeArtifact(absl::string_view bytes);

std::string EncodeArtifact(const Artifact& artifact);

// Takes any bytes. Errors: InvalidArgument for what is no artifact, or a damaged one, with the place;
// FailedPrecondition for one of another format or version of Hilo. `check_sections` false leaves the sections' digests
// unread, so that a test can damage what is behind them.
absl::StatusOr<Artifact> DecodeArtifact(absl::string_view bytes, bool check_sections = true);

// SHA-256, in hexadecimal digits, over all that EncodeArtifact's result says.
std::string ArtifactFingerprint(absl::string_view encoded);

}  // namespace hilo

#endif  // HILO_RUNTIME_ARTIFACT_H_
