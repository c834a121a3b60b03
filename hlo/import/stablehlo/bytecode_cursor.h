// Reads the elements of MLIR bytecode from untrusted bytes.
#ifndef HILO_HLO_IMPORT_STABLEHLO_BYTECODE_CURSOR_H_
#define HILO_HLO_IMPORT_STABLEHLO_BYTECODE_CURSOR_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace hilo::stablehlo {

// A position in the bytes of a program, and an end. The first error is stored, as in a stream: later reads return zeros
// and empty lists, so loops end, and the caller checks status() where it matters.
class BytecodeCursor {
 public:
  BytecodeCursor() = default;
  // Reads [begin, end) of `bytes`; positions in errors are those in `bytes`.
  BytecodeCursor(absl::string_view bytes, size_t begin, size_t end) : bytes_(bytes), position_(begin), end_(end) {}

  bool AtEnd() const { return position_ >= end_ || !status_.ok(); }
  size_t position() const { return position_; }
  const absl::Status& status() const { return status_; }
  bool ok() const { return status_.ok(); }
  // Stores InvalidArgument "message; at byte N" unless there is an error already.
  void Fail(absl::string_view message);
  // OK if everything was read, without error.
  absl::Status ExpectEnd(absl::string_view what);

  uint8_t Byte();
  absl::string_view Bytes(uint64_t count);
  // The number of trailing zero bits of the first byte is the number of bytes that follow; the value is the bits above
  // them.
  uint64_t Varint();
  // Zigzag: 0, -1, 1, -2 ...
  int64_t SignedVarint();
  // The value above, and the lowest bit.
  std::pair<uint64_t, bool> FlaggedVarint();
  // Numbers in the form for lists that are mostly zeros; trailing zeros may be missing.
  std::vector<int64_t> SparseList();
  // The length of a list whose elements take at least one byte each: at most the number of remaining bytes.
  uint64_t Count() { return CheckCount(Varint()); }
  uint64_t CheckCount(uint64_t count);
  std::vector<int64_t> SignedVarints();
  // An integer of `bits`, at most 64, as its low bits; wider ones are skipped.
  uint64_t Integer(int bits);
  absl::string_view NulTerminated();

  struct Section {
    uint8_t id = 0;
    size_t begin = 0, end = 0;
  };
  Section ReadSection();
  BytecodeCursor Inside(const Section& section) const { return {bytes_, section.begin, section.end}; }

 private:
  absl::string_view bytes_;
  size_t position_ = 0, end_ = 0;
  absl::Status status_;
};

}  // namespace hilo::stablehlo

#endif  // HILO_HLO_IMPORT_STABLEHLO_BYTECODE_CURSOR_H_
