#include "hlo/import/stablehlo/bytecode_cursor.h"

#include <algorithm>
#include <bit>

#include "base/errors.h"

namespace hilo::stablehlo {

void BytecodeCursor::Fail(absl::string_view message) {
  if (status_.ok()) status_ = InvalidArgument("MLIR bytecode: ", message, "; at byte ", position_);
}

absl::Status BytecodeCursor::ExpectEnd(absl::string_view what) {
  if (ok() && position_ != end_) Fail(absl::StrCat(end_ - position_, " bytes are left behind ", what));
  return status_;
}

uint8_t BytecodeCursor::Byte() {
  if (position_ >= end_) Fail("it ends too early");
  if (!ok()) return 0;
  return static_cast<uint8_t>(bytes_[position_++]);
}

absl::string_view BytecodeCursor::Bytes(uint64_t count) {
  if (ok() && count > end_ - position_)
    Fail(absl::StrCat("expected ", count, " bytes, but ", end_ - position_, " are left"));
  if (!ok()) return {};
  const absl::string_view taken = bytes_.substr(position_, count);
  position_ += count;
  return taken;
}

uint64_t BytecodeCursor::Varint() {
  const uint8_t first = Byte();
  if (first & 1) return first >> 1;
  const int following = first == 0 ? 8 : std::countr_zero(first);
  uint64_t value = first;
  const absl::string_view rest = Bytes(ok() ? following : 0);
  if (!ok()) return 0;
  if (first == 0) {
    for (int i = 0; i < 8; ++i) value |= uint64_t{static_cast<uint8_t>(rest[i])} << (8 * i);
    return value;
  }
  for (int i = 0; i < following; ++i) value |= uint64_t{static_cast<uint8_t>(rest[i])} << (8 * (i + 1));
  return value >> (following + 1);
}

int64_t BytecodeCursor::SignedVarint() {
  const uint64_t value = Varint();
  return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

std::pair<uint64_t, bool> BytecodeCursor::FlaggedVarint() {
  const uint64_t value = Varint();
  return {value >> 1, (value & 1) != 0};
}

std::vector<int64_t> BytecodeCursor::SparseList() {
  constexpr uint64_t kMaxIndex = 256;  // lists that are longer are not written in the sparse form
  const auto [written, is_sparse] = FlaggedVarint();
  std::vector<int64_t> list;
  const uint64_t count = CheckCount(written);
  if (!is_sparse) {
    for (uint64_t i = 0; i < count && ok(); ++i) list.push_back(static_cast<int64_t>(Varint()));
    return list;
  }
  const uint64_t index_bits = count == 0 ? 0 : Varint();
  for (uint64_t i = 0; i < count && ok(); ++i) {
    const uint64_t both = Varint();
    const uint64_t index = index_bits < 64 ? both & ((uint64_t{1} << index_bits) - 1) : kMaxIndex + 1;
    if (index > kMaxIndex) {
      Fail(absl::StrCat("a sparse list has an element ", index));
      break;
    }
    list.resize(std::max<size_t>(list.size(), index + 1));
    list[index] = static_cast<int64_t>(both >> index_bits);
  }
  return list;
}

uint64_t BytecodeCursor::CheckCount(uint64_t count) {
  if (ok() && count > end_ - position_)
    Fail(absl::StrCat("a list of ", count, " elements, but ", end_ - position_, " bytes are left"));
  return ok() ? count : 0;
}

std::vector<int64_t> BytecodeCursor::SignedVarints() {
  std::vector<int64_t> values(Count());
  for (int64_t& value : values) value = SignedVarint();
  return values;
}

uint64_t BytecodeCursor::Integer(int bits) {
  if (bits <= 8) return Byte();
  if (bits <= 64) return static_cast<uint64_t>(SignedVarint());
  const std::vector<int64_t> words = SignedVarints();
  return words.empty() ? 0 : static_cast<uint64_t>(words[0]);
}

absl::string_view BytecodeCursor::NulTerminated() {
  const size_t nul = ok() ? bytes_.substr(0, end_).find('\0', position_) : absl::string_view::npos;
  if (nul == absl::string_view::npos) Fail("a string without end");
  if (!ok()) return {};
  const absl::string_view text = Bytes(nul - position_);
  ++position_;
  return text;
}

BytecodeCursor::Section BytecodeCursor::ReadSection() {
  const uint8_t id = Byte();
  const uint64_t length = Varint();
  if (id & 0x80) {
    const uint64_t alignment = Varint();
    if (alignment == 0 || (alignment & (alignment - 1)) != 0)
      Fail(absl::StrCat("an alignment of ", alignment, ", not a power of two"));
    while (ok() && position_ % alignment != 0) {
      if (Byte() != 0xCB) Fail("expected padding (CB)");
    }
  }
  Section section{.id = static_cast<uint8_t>(id & 0x7f), .begin = position_};
  Bytes(length);
  section.end = position_;
  return section;
}

}  // namespace hilo::stablehlo
