// .npz is a zip archive of .npy files. Only what such archives hold is read: the directory at the
// end (with its 64-bit form), stored and deflated members. Offsets and sizes of the directory are
// checked against the file before use, and members may not claim more compressed bytes together
// than the file has, so overlapping ones cannot multiply it.
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/file.h"
#include "hilo/npy.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

constexpr uint32_t kLocalMagic = 0x04034b50;
constexpr uint32_t kCentralMagic = 0x02014b50;
constexpr uint32_t kEndMagic = 0x06054b50;
constexpr uint32_t kEnd64Magic = 0x06064b50;
constexpr uint32_t kLocator64Magic = 0x07064b50;
constexpr size_t kLocalSize = 30;
constexpr size_t kCentralSize = 46;
constexpr size_t kEndSize = 22;
constexpr size_t kEnd64Size = 56;
constexpr size_t kLocator64Size = 20;
constexpr uint32_t kSee64 = 0xffffffff;  // the number is in the 64-bit form
constexpr uint16_t kExtra64 = 1;         // id of the extra field with 64-bit numbers
constexpr uint64_t kMaxDeflateRatio = 1032;

absl::Status Bad(absl::string_view what) { return absl::InvalidArgumentError(absl::StrCat("npz: ", what)); }

bool Has(absl::string_view bytes, uint64_t at, uint64_t size) {
  return at <= bytes.size() && size <= bytes.size() - at;
}

// The little-endian number at `at`, which must be inside.
template <typename T>
T Number(absl::string_view bytes, uint64_t at) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<T>(value | static_cast<T>(static_cast<uint8_t>(bytes[at + i])) << (8 * i));
  }
  return value;
}

struct Directory {
  uint64_t entries = 0;
  uint64_t offset = 0;
};

struct Member {
  std::string name;
  uint16_t flags = 0;
  uint16_t method = 0;
  uint32_t crc = 0;
  uint64_t compressed = 0;
  uint64_t size = 0;
  uint64_t offset = 0;  // of the local header
};

absl::StatusOr<Directory> FindDirectory(absl::string_view bytes) {
  constexpr size_t kMaxComment = 0xffff;
  if (bytes.size() < kEndSize) return Bad("expected a zip archive");
  const size_t last = bytes.size() - kEndSize;
  size_t end = last;
  while (Number<uint32_t>(bytes, end) != kEndMagic) {
    if (end == 0 || last - end == kMaxComment) return Bad("expected a zip archive");
    --end;
  }
  Directory directory{Number<uint16_t>(bytes, end + 10), Number<uint32_t>(bytes, end + 16)};
  const bool see64 = directory.entries == 0xffff || directory.offset == kSee64;
  if (see64 && end >= kLocator64Size && Number<uint32_t>(bytes, end - kLocator64Size) == kLocator64Magic) {
    const uint64_t end64 = Number<uint64_t>(bytes, end - kLocator64Size + 8);
    if (!Has(bytes, end64, kEnd64Size) || Number<uint32_t>(bytes, end64) != kEnd64Magic) {
      return Bad("the 64-bit directory record is not where the archive says");
    }
    directory = {Number<uint64_t>(bytes, end64 + 32), Number<uint64_t>(bytes, end64 + 48)};
  }
  return directory;
}

// Replaces numbers that are kSee64 by those of the extra field.
absl::Status ReadExtra64(absl::string_view extra, Member* member) {
  while (extra.size() >= 4) {
    const uint16_t id = Number<uint16_t>(extra, 0);
    const uint16_t size = Number<uint16_t>(extra, 2);
    if (!Has(extra, 4, size)) return Bad("an extra field is cut off");
    absl::string_view field = extra.substr(4, size);
    extra.remove_prefix(4 + size);
    if (id != kExtra64) continue;
    for (uint64_t* number : {&member->size, &member->compressed, &member->offset}) {
      if (*number != kSee64) continue;
      if (field.size() < 8) return Bad("a 64-bit size is cut off");
      *number = Number<uint64_t>(field, 0);
      field.remove_prefix(8);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Member>> ReadDirectory(absl::string_view bytes) {
  HILO_ASSIGN_OR_RETURN(const Directory directory, FindDirectory(bytes));
  std::vector<Member> members;
  uint64_t at = directory.offset;
  uint64_t compressed = 0;
  for (uint64_t i = 0; i < directory.entries; ++i) {
    if (!Has(bytes, at, kCentralSize) || Number<uint32_t>(bytes, at) != kCentralMagic) {
      return Bad(absl::StrCat("expected ", directory.entries, " directory entries, got ", i));
    }
    const uint16_t name_size = Number<uint16_t>(bytes, at + 28);
    const uint16_t extra_size = Number<uint16_t>(bytes, at + 30);
    const uint16_t comment_size = Number<uint16_t>(bytes, at + 32);
    if (!Has(bytes, at + kCentralSize, uint64_t{name_size} + extra_size + comment_size)) {
      return Bad("a directory entry is cut off");
    }
    Member member{std::string(bytes.substr(at + kCentralSize, name_size)),
                  Number<uint16_t>(bytes, at + 8),
                  Number<uint16_t>(bytes, at + 10),
                  Number<uint32_t>(bytes, at + 16),
                  Number<uint32_t>(bytes, at + 20),
                  Number<uint32_t>(bytes, at + 24),
                  Number<uint32_t>(bytes, at + 42)};
    HILO_RETURN_IF_ERROR(ReadExtra64(bytes.substr(at + kCentralSize + name_size, extra_size), &member));
    if (member.compressed > bytes.size() - compressed) {
      return Bad("the members are larger than the file");
    }
    compressed += member.compressed;
    at += kCentralSize + name_size + extra_size + comment_size;
    members.push_back(std::move(member));
  }
  return members;
}

absl::StatusOr<absl::string_view> CompressedBytes(absl::string_view bytes, const Member& member) {
  if (!Has(bytes, member.offset, kLocalSize) || Number<uint32_t>(bytes, member.offset) != kLocalMagic) {
    return Bad(absl::StrCat("member ", member.name, " is not where the directory says"));
  }
  const uint64_t begin = member.offset + kLocalSize + Number<uint16_t>(bytes, member.offset + 26) +
                         Number<uint16_t>(bytes, member.offset + 28);
  if (!Has(bytes, begin, member.compressed)) {
    return Bad(absl::StrCat("member ", member.name, " is cut off"));
  }
  return bytes.substr(begin, member.compressed);
}

// zlib counts in 32 bits: longer data is passed in pieces.
template <typename F>
void InPieces(absl::string_view bytes, const F& f) {
  constexpr size_t kPiece = size_t{1} << 30;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(kPiece, bytes.size()))) {
    f(bytes.substr(0, kPiece));
  }
}

uint32_t Crc(absl::string_view bytes) {
  uLong crc = crc32(0, nullptr, 0);
  InPieces(bytes, [&](absl::string_view piece) {
    crc = crc32(crc, reinterpret_cast<const Bytef*>(piece.data()), static_cast<uInt>(piece.size()));
  });
  return static_cast<uint32_t>(crc);
}

// Inflates `compressed` to exactly out->size() bytes; false if it is damaged or of another size.
bool Inflate(absl::string_view compressed, std::string* out) {
  constexpr size_t kPiece = size_t{1} << 30;
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return false;
  size_t in = 0;
  size_t done = 0;
  int result = Z_OK;
  while (result == Z_OK) {
    const size_t in_piece = std::min(kPiece, compressed.size() - in);
    const size_t out_piece = std::min(kPiece, out->size() - done);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data() + in));
    stream.avail_in = static_cast<uInt>(in_piece);
    stream.next_out = reinterpret_cast<Bytef*>(out->data() + done);
    stream.avail_out = static_cast<uInt>(out_piece);
    result = inflate(&stream, Z_NO_FLUSH);
    in += in_piece - stream.avail_in;
    done += out_piece - stream.avail_out;
    // Neither consumed nor produced: Z_BUF_ERROR, which ends the loop.
  }
  inflateEnd(&stream);
  return result == Z_STREAM_END && done == out->size();
}

// The member's bytes; `storage` keeps them if they had to be inflated.
absl::StatusOr<absl::string_view> Extract(absl::string_view bytes, const Member& member, std::string* storage) {
  HILO_ASSIGN_OR_RETURN(absl::string_view data, CompressedBytes(bytes, member));
  if ((member.flags & 1) != 0) return Bad(absl::StrCat("member ", member.name, " is encrypted"));
  if (member.method == Z_DEFLATED) {
    if (member.size / kMaxDeflateRatio > member.compressed) {
      return Bad(absl::StrCat("member ", member.name, " claims an impossible size of ", member.size));
    }
    try {
      storage->resize(member.size);
    } catch (const std::bad_alloc&) {
      return absl::ResourceExhaustedError(
          absl::StrCat("npz: no memory for ", member.size, " bytes of member ", member.name));
    }
    if (!Inflate(data, storage)) return Bad(absl::StrCat("member ", member.name, " is damaged"));
    data = *storage;
  } else if (member.method != 0) {
    return Bad(absl::StrCat("member ", member.name, ": expected it stored or deflated, got method ", member.method));
  }
  if (Crc(data) != member.crc) {
    return Bad(absl::StrCat("member ", member.name, " does not match its checksum"));
  }
  return data;
}

void Append(std::string* out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out->push_back(static_cast<char>(value >> (8 * i) & 0xff));
}

// The fields that a local header and a directory entry share: from "version needed" to the sizes of
// name and extra.
void AppendCommonFields(const Member& member, size_t extra_size, std::string* out) {
  const uint64_t size = std::min<uint64_t>(member.size, kSee64);
  Append(out, extra_size > 0 ? 45 : 20, 2);  // version needed
  Append(out, 0, 2);                         // flags
  Append(out, 0, 2);                         // stored
  Append(out, 0, 2);                         // midnight,
  Append(out, 0x21, 2);                      // 1 January 1980
  Append(out, member.crc, 4);
  Append(out, size, 4);
  Append(out, size, 4);
  Append(out, member.name.size(), 2);
  Append(out, extra_size, 2);
}

// The 64-bit numbers that do not fit their 32-bit fields; empty if all do.
std::string Extra64(const Member& member, bool with_offset) {
  std::string numbers;
  if (member.size >= kSee64) {
    Append(&numbers, member.size, 8);
    Append(&numbers, member.size, 8);
  }
  if (with_offset && member.offset >= kSee64) Append(&numbers, member.offset, 8);
  if (numbers.empty()) return numbers;
  std::string extra;
  Append(&extra, kExtra64, 2);
  Append(&extra, numbers.size(), 2);
  return extra + numbers;
}

std::string LocalHeader(const Member& member) {
  const std::string extra = Extra64(member, /*with_offset=*/false);
  std::string out;
  Append(&out, kLocalMagic, 4);
  AppendCommonFields(member, extra.size(), &out);
  return out + member.name + extra;
}

std::string CentralEntry(const Member& member) {
  const std::string extra = Extra64(member, /*with_offset=*/true);
  std::string out;
  Append(&out, kCentralMagic, 4);
  Append(&out, 45, 2);  // version made by
  AppendCommonFields(member, extra.size(), &out);
  Append(&out, 0, 2 + 2 + 2);  // comment size, disk, internal attributes
  Append(&out, 0, 4);          // external attributes
  Append(&out, std::min<uint64_t>(member.offset, kSee64), 4);
  return out + member.name + extra;
}

std::string EndRecords(uint64_t entries, uint64_t directory_size, uint64_t offset) {
  std::string out;
  const bool big = entries >= 0xffff || directory_size >= kSee64 || offset >= kSee64;
  if (big) {
    Append(&out, kEnd64Magic, 4);
    Append(&out, kEnd64Size - 12, 8);
    Append(&out, 45, 2);
    Append(&out, 45, 2);
    Append(&out, 0, 4 + 4);  // disks
    Append(&out, entries, 8);
    Append(&out, entries, 8);
    Append(&out, directory_size, 8);
    Append(&out, offset, 8);
    Append(&out, kLocator64Magic, 4);
    Append(&out, 0, 4);
    Append(&out, offset + directory_size, 8);
    Append(&out, 1, 4);
  }
  Append(&out, kEndMagic, 4);
  Append(&out, 0, 2 + 2);  // disks
  Append(&out, std::min<uint64_t>(entries, 0xffff), 2);
  Append(&out, std::min<uint64_t>(entries, 0xffff), 2);
  Append(&out, std::min<uint64_t>(directory_size, kSee64), 4);
  Append(&out, std::min<uint64_t>(offset, kSee64), 4);
  Append(&out, 0, 2);  // comment size
  return out;
}

}  // namespace

absl::StatusOr<std::vector<NamedLiteral>> ParseNpz(absl::string_view bytes, const NpyTypeHint& hint) {
  HILO_ASSIGN_OR_RETURN(const std::vector<Member> members, ReadDirectory(bytes));
  std::vector<NamedLiteral> arrays;
  for (const Member& member : members) {
    absl::string_view name = member.name;
    if (!absl::ConsumeSuffix(&name, ".npy")) {
      return Bad(absl::StrCat("expected members called *.npy, got ", name));
    }
    const std::optional<PrimitiveType> raw_type = hint ? hint(name) : PRIMITIVE_TYPE_INVALID;
    if (!raw_type) continue;
    std::string storage;
    HILO_ASSIGN_OR_RETURN(const absl::string_view data, Extract(bytes, member, &storage));
    absl::StatusOr<Literal> literal = ParseNpy(data, *raw_type);
    if (!literal.ok()) {
      return absl::Status(literal.status().code(), absl::StrCat(name, ": ", literal.status().message()));
    }
    arrays.push_back({std::string(name), *std::move(literal)});
  }
  return arrays;
}

absl::StatusOr<std::vector<NamedLiteral>> ReadNpz(const std::string& path, const NpyTypeHint& hint) {
  HILO_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  absl::StatusOr<std::vector<NamedLiteral>> arrays = ParseNpz(bytes, hint);
  if (arrays.ok()) return arrays;
  return absl::Status(arrays.status().code(), absl::StrCat(path, ": ", arrays.status().message()));
}

absl::Status WriteNpz(const std::string& path, absl::Span<const NamedLiteral> arrays) {
  FileWriter file(path);
  std::string directory;
  uint64_t offset = 0;
  for (const NamedLiteral& array : arrays) {
    if (array.name.size() > 0xff00) return Bad("a name is longer than zip archives hold");
    HILO_ASSIGN_OR_RETURN(const std::string bytes, SerializeNpy(array.literal));
    const Member member{.name = array.name + ".npy",
                        .crc = Crc(bytes),
                        .compressed = bytes.size(),
                        .size = bytes.size(),
                        .offset = offset};
    const std::string header = LocalHeader(member);
    file.Write(header);
    file.Write(bytes);
    offset += header.size() + bytes.size();
    directory += CentralEntry(member);
  }
  file.Write(directory);
  file.Write(EndRecords(arrays.size(), directory.size(), offset));
  return file.Close();
}

}  // namespace hilo
