// Serialization of numbers and texts to bytes and back, as used by Hilo's own binary formats. Numbers are
// little-endian; a text is its length as u64, followed by its bytes.
#ifndef HILO_BASE_BYTE_STREAM_H_
#define HILO_BASE_BYTE_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace hilo {

class ByteWriter {
 public:
  void U32(uint32_t value) { Number(value, 4); }
  void U64(uint64_t value) { Number(value, 8); }
  void I64(int64_t value) { Number(static_cast<uint64_t>(value), 8); }
  void F64(double value);
  void Bool(bool value) { Number(value ? 1 : 0, 1); }
  void Text(absl::string_view text);
  void Raw(absl::string_view bytes) { bytes_.append(bytes.data(), bytes.size()); }

  const std::string& bytes() const { return bytes_; }
  std::string Take() { return std::move(bytes_); }

 private:
  void Number(uint64_t value, int size);
  std::string bytes_;
};

// Reads untrusted bytes safely. The first error is stored in the reader; every later read then returns zero or an
// empty text, so callers check for errors once, at the end (Finish), and before they use what they have read.
class ByteReader {
 public:
  // `what` the bytes are, for messages. They must outlive the reader and the texts that it returns.
  ByteReader(absl::string_view bytes, absl::string_view what) : bytes_(bytes), what_(what) {}

  uint32_t U32() { return static_cast<uint32_t>(Number(4)); }
  uint64_t U64() { return Number(8); }
  int64_t I64() { return static_cast<int64_t>(Number(8)); }
  double F64();
  bool Bool();  // 0 or 1, nothing else
  absl::string_view Text();
  absl::string_view Raw(uint64_t size);
  // An element count, where each element takes at least `min_bytes`: never more than fit into the remaining bytes.
  uint64_t Count(uint64_t min_bytes);

  // Stores the error that the value just read violates `expectation`, unless the reader already has an error.
  void Fail(absl::string_view expectation);
  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }
  // Errors: InvalidArgument with the reader's error, or if bytes remain.
  absl::Status Finish();

  size_t position() const { return position_; }
  size_t left() const { return bytes_.size() - position_; }

 private:
  uint64_t Number(int size);

  absl::string_view bytes_;
  std::string what_;
  size_t position_ = 0;
  size_t last_ = 0;  // where the value read last begins
  absl::Status status_;
};

}  // namespace hilo

#endif  // HILO_BASE_BYTE_STREAM_H_
