// The wire format of protocol buffers, limited to what XLA's messages need.
//
// Hilo reads and writes its few messages itself: a library that runs in foreign processes must not bring a
// registry of message types that may clash with theirs, and bytes from a file must not be able to end the process.
#ifndef HILO_HLO_IMPORT_HLO_PROTO_WIRE_H_
#define HILO_HLO_IMPORT_HLO_PROTO_WIRE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace hilo {

enum class WireType { kVarint = 0, kFixed64 = 1, kBytes = 2, kStartGroup = 3, kEndGroup = 4, kFixed32 = 5 };

// One level of a message: its fields in the order of the wire. The bytes are owned by the caller and must outlive it.
// Accessors follow proto3: a field that is missing, or that has another wire type, is zero or empty, and of a
// field that is given twice the last counts (messages are merged).
class WireMessage {
 public:
  // Errors: InvalidArgument for bytes that are not a message, with the byte offset.
  static absl::StatusOr<WireMessage> Parse(absl::string_view bytes);

  bool Has(int number) const { return Last(number) != nullptr; }
  int64_t Int(int number) const;
  bool Bool(int number) const { return Int(number) != 0; }
  float Float(int number) const;
  double Double(int number) const;
  absl::string_view Bytes(int number) const;
  std::vector<absl::string_view> AllBytes(int number) const;
  // A repeated number, packed or not. Errors: InvalidArgument for packed bytes that are not a list of numbers.
  absl::StatusOr<std::vector<int64_t>> Ints(int number) const;
  // The raw bytes of a repeated fixed32 or fixed64 field, packed or not, in order.
  std::string PackedFixed(int number, WireType type) const;
  // The message in a field; empty if the field is missing. Errors: Parse's.
  absl::StatusOr<WireMessage> Message(int number) const;
  // Errors: Parse's.
  absl::StatusOr<std::vector<WireMessage>> Messages(int number) const;

 private:
  struct Field {
    int number;
    WireType type;
    uint64_t value;           // of numbers
    absl::string_view bytes;  // of kBytes
  };
  const Field* Last(int number) const;
  absl::Status Append(absl::string_view bytes);

  std::vector<Field> fields_;
};

// Builds a message's bytes. As in proto3, zeros and empty strings of single fields are left out; the Put functions
// write them too.
class WireWriter {
 public:
  void Int(int number, int64_t value);
  void PutInt(int number, int64_t value);
  void Bool(int number, bool value) { Int(number, value); }
  void Float(int number, float value);
  void Double(int number, double value);
  void Bytes(int number, absl::string_view value);
  void PutBytes(int number, absl::string_view value);
  // Packed; nothing for an empty list.
  void Ints(int number, absl::Span<const int64_t> values);
  void Message(int number, const WireWriter& message) { PutBytes(number, message.bytes_); }
  // Fields already in wire format.
  void Append(const WireWriter& fields) { bytes_ += fields.bytes_; }

  const std::string& bytes() const { return bytes_; }
  std::string Take() && { return std::move(bytes_); }

 private:
  void Tag(int number, WireType type);
  void Varint(uint64_t value);

  std::string bytes_;
};

}  // namespace hilo

#endif  // HILO_HLO_IMPORT_HLO_PROTO_WIRE_H_
