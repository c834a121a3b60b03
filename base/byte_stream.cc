#include "base/byte_stream.h"

#include <algorithm>
#include <cstring>

#include "base/errors.h"

namespace hilo {

void ByteWriter::Number(uint64_t value, int size) {
  for (int i = 0; i < size; ++i) bytes_.push_back(static_cast<char>(value >> (8 * i)));
}

void ByteWriter::F64(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  U64(bits);
}

void ByteWriter::Text(absl::string_view text) {
  U64(text.size());
  Raw(text);
}

absl::string_view ByteReader::Raw(uint64_t size) {
  last_ = position_;
  if (ok() && size > left()) {
    status_ =
        InvalidArgument(what_, ": expected ", size, " bytes at byte ", position_, ", but only ", left(), " are left");
  }
  if (!ok()) return {};
  const absl::string_view bytes = bytes_.substr(position_, size);
  position_ += size;
  return bytes;
}

uint64_t ByteReader::Number(int size) {
  const absl::string_view bytes = Raw(static_cast<uint64_t>(size));
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i) value |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
  return value;
}

double ByteReader::F64() {
  const uint64_t bits = U64();
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

bool ByteReader::Bool() {
  const uint64_t value = Number(1);
  if (value > 1) Fail("0 or 1");
  return value == 1;
}

absl::string_view ByteReader::Text() { return Raw(U64()); }

uint64_t ByteReader::Count(uint64_t min_bytes) {
  const uint64_t count = U64();
  if (count <= left() / min_bytes) return count;
  Fail(absl::StrCat("no more than ", left() / min_bytes, " things, which is what the bytes behind can hold"));
  return 0;
}

void ByteReader::Fail(absl::string_view expectation) {
  if (!ok()) return;
  const absl::string_view got = bytes_.substr(last_, std::min<size_t>(position_ - last_, 8));
  std::string text;
  for (const char byte : got)
    absl::StrAppend(&text, text.empty() ? "" : " ", absl::Hex(static_cast<uint8_t>(byte), absl::kZeroPad2));
  status_ = InvalidArgument(what_, ": expected ", expectation, " at byte ", last_, ", got the bytes ", text);
}

absl::Status ByteReader::Finish() {
  if (ok() && left() > 0)
    status_ = InvalidArgument(what_, ": expected the end at byte ", position_, ", but ", left(), " bytes are left");
  return status_;
}

}  // namespace hilo
