#include "runtime/artifact.h"

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "base/byte_stream.h"
#include "base/errors.h"
#include "base/sha256.h"
#include "hilo/status_macros.h"
#include "hilo/version.h"

namespace hilo {
namespace {

// No text, no other known format, and damaged by transfers that rewrite line ends.
constexpr absl::string_view kMagic("\x89HILO\r\n\x1a", 8);
constexpr size_t kDigest = sizeof(Sha256::Digest);
constexpr size_t kFixed = 24;  // magic, version and sizes
constexpr absl::string_view kWhat = "serialized executable";

absl::Status CheckDigest(absl::string_view what, absl::string_view bytes, size_t begin, absl::string_view expected) {
  const Sha256::Digest digest = Sha256::Of(bytes);
  if (DigestBytes(digest) == expected) return absl::OkStatus();
  return InvalidArgument(kWhat, ": ", what, ", bytes ", begin, " to ", begin + bytes.size(),
                         ", is damaged: expected the SHA-256 ", absl::BytesToHexString(expected), ", got ",
                         DigestToHex(digest));
}

// The header alone, checked.
absl::StatusOr<absl::string_view> Header(absl::string_view bytes) {
  if (!LooksLikeArtifact(bytes)) {
    return InvalidArgument(kWhat, ": expected it to begin with the bytes ", absl::BytesToHexString(kMagic), ", got ",
                           absl::BytesToHexString(bytes.substr(0, kMagic.size())));
  }
  ByteReader reader(bytes, kWhat);
  reader.Raw(kMagic.size());
  const uint32_t format = reader.U32();
  if (reader.ok() && format != kArtifactFormat) {
    return FailedPrecondition(kWhat, ": it is of format ", format, "; this Hilo (", Version(), ") reads format ",
                              kArtifactFormat);
  }
  const uint32_t header_size = reader.U32();
  const uint64_t total = reader.U64();
  HILO_RETURN_IF_ERROR(reader.status());
  if (total != bytes.size())
    return InvalidArgument(kWhat, ": expected ", total, " bytes, as it says at byte 16, got ", bytes.size());
  if (header_size < kFixed + kDigest || header_size > total) {
    return InvalidArgument(kWhat, ": expected a header of ", kFixed + kDigest, " to ", total, " bytes, got ",
                           header_size, " at byte 12");
  }
  const absl::string_view header = bytes.substr(0, header_size - kDigest);
  HILO_RETURN_IF_ERROR(CheckDigest("the header", header, 0, bytes.substr(header.size(), kDigest)));
  return header;
}

}  // namespace

absl::StatusOr<absl::string_view> Artifact::Find(absl::string_view name) const {
  for (const Section& section : sections) {
    if (section.name == name) return absl::string_view(section.bytes);
  }
  return InvalidArgument(kWhat, ": expected a section '", name, "', but it has none");
}

bool LooksLikeArtifact(absl::string_view bytes) { return absl::StartsWith(bytes, kMagic); }

std::string EncodeArtifact(const Artifact& artifact) {
  ByteWriter table;
  uint64_t content = 0;
  for (absl::string_view text : {Version(), absl::string_view(artifact.platform), absl::string_view(artifact.target)})
    table.Text(text);
  table.U64(artifact.sections.size());
  for (const Artifact::Section& section : artifact.sections) {
    table.Text(section.name);
    table.U64(section.bytes.size());
    table.Raw(DigestBytes(Sha256::Of(section.bytes)));
    content += section.bytes.size();
  }
  const size_t header_size = kFixed + table.bytes().size() + kDigest;
  ByteWriter out;
  out.Raw(kMagic);
  out.U32(kArtifactFormat);
  out.U32(static_cast<uint32_t>(header_size));
  out.U64(header_size + content);
  out.Raw(table.bytes());
  out.Raw(DigestBytes(Sha256::Of(out.bytes())));
  std::string bytes = out.Take();
  bytes.reserve(header_size + content);
  for (const Artifact::Section& section : artifact.sections) bytes += section.bytes;
  return bytes;
}

absl::StatusOr<Artifact> DecodeArtifact(absl::string_view bytes, bool check_sections) {
  HILO_ASSIGN_OR_RETURN(const absl::string_view header, Header(bytes));
  ByteReader reader(header, kWhat);
  reader.Raw(kFixed);
  const absl::string_view version = reader.Text();
  if (reader.ok() && version != Version()) {
    return FailedPrecondition(kWhat, ": it was made by Hilo ", version, "; this is Hilo ", Version());
  }
  Artifact artifact;
  artifact.platform = std::string(reader.Text());
  artifact.target = std::string(reader.Text());
  size_t begin = header.size() + kDigest;
  for (uint64_t count = reader.Count(16 + kDigest); count > 0 && reader.ok(); --count) {
    const absl::string_view name = reader.Text();
    const uint64_t size = reader.U64();
    if (size > bytes.size() - begin) reader.Fail(absl::StrCat("a section of at most ", bytes.size() - begin, " bytes"));
    const absl::string_view digest = reader.Raw(kDigest);
    if (!reader.ok()) break;
    const absl::string_view content = bytes.substr(begin, size);
    if (check_sections) HILO_RETURN_IF_ERROR(CheckDigest(absl::StrCat("section '", name, "'"), content, begin, digest));
    artifact.sections.push_back({std::string(name), std::string(content)});
    begin += size;
  }
  HILO_RETURN_IF_ERROR(reader.Finish());
  if (begin != bytes.size())
    return InvalidArgument(kWhat, ": expected its sections to end at byte ", bytes.size(), ", but they end at ", begin);
  return artifact;
}

std::string ArtifactFingerprint(absl::string_view encoded) {
  ByteReader reader(encoded, kWhat);
  reader.Raw(12);
  const uint32_t header_size = reader.U32();
  return absl::BytesToHexString(encoded.substr(header_size - kDigest, kDigest));
}

}  // namespace hilo
