// The container format of serialized executables.
//
//   8   magic: 89 48 49 4c 4f 0d 0a 1a
//   4   format version, u32
//   4   size of the header, digest included, u32
//   8   size of the whole, u64
//       texts: version of Hilo, platform, target
//       number of sections, u64; of each: name (a text), size (u64), SHA-256 of its bytes
//   32  SHA-256 of all of the header up to here
//       the sections' bytes, concatenated
//
// Numbers and texts are those of base/byte_stream.h. Every byte is covered by a check. The contents of the sections are
// defined by the runtime
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
  // Errors: InvalidArgument if there is no section of that name.
  absl::StatusOr<absl::string_view> Find(absl::string_view name) const;

  std::string platform;
  std::string target;  // the machine it is for, in the platform's terms; empty: any
  std::vector<Section> sections;
};

constexpr uint32_t kArtifactFormat = 3;

// True if `bytes` begin like a serialized executable.
bool LooksLikeArtifact(absl::string_view bytes);

std::string EncodeArtifact(const Artifact& artifact);

// Takes any bytes. Errors: InvalidArgument for bytes that are not an artifact, or a damaged one, with the position;
// FailedPrecondition for one of another format or version of Hilo. `check_sections` false leaves the sections' digests
// unchecked, so that a test can damage their contents.
absl::StatusOr<Artifact> DecodeArtifact(absl::string_view bytes, bool check_sections = true);

// SHA-256, in hexadecimal digits, over the contents of EncodeArtifact's result.
std::string ArtifactFingerprint(absl::string_view encoded);

}  // namespace hilo

#endif  // HILO_RUNTIME_ARTIFACT_H_
