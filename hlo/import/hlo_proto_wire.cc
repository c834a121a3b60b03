#include "hlo/import/hlo_proto_wire.h"

#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo {
namespace {

constexpr int kMaxFieldNumber = (1 << 29) - 1;

// Takes a varint of at most ten bytes from the front of *rest; bits beyond the 64th are dropped.
std::optional<uint64_t> TakeVarint(absl::string_view* rest) {
  uint64_t value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (rest->empty()) return std::nullopt;
    const uint8_t byte = static_cast<uint8_t>(rest->front());
    rest->remove_prefix(1);
    if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

template <typename T>
std::optional<uint64_t> TakeFixed(absl::string_view* rest) {
  static_assert(std::endian::native == std::endian::little);
  T value;
  if (rest->size() < sizeof(T)) return std::nullopt;
  std::memcpy(&value, rest->data(), sizeof(T));
  rest->remove_prefix(sizeof(T));
  return value;
}

std::optional<absl::string_view> TakeBytes(absl::string_view* rest) {
  const std::optional<uint64_t> size = TakeVarint(rest);
  if (!size.has_value() || *size > rest->size()) return std::nullopt;
  const absl::string_view bytes = rest->substr(0, *size);
  rest->remove_prefix(*size);
  return bytes;
}

}  // namespace

absl::Status WireMessage::Append(absl::string_view bytes) {
  absl::string_view rest = bytes;
  std::vector<int> groups;  // open ones; what they hold is skipped, as no message of XLA's has any
  while (!rest.empty()) {
    const size_t offset = bytes.size() - rest.size();
    const auto bad = [&](absl::string_view what) {
      return InvalidArgument("expected ", what, " at byte ", offset, " of a message of ", bytes.size(), " bytes");
    };
    const std::optional<uint64_t> tag = TakeVarint(&rest);
    if (!tag.has_value() || *tag >> 3 == 0 || *tag >> 3 > kMaxFieldNumber) return bad("the tag of a field");
    Field field = {
        .number = static_cast<int>(*tag >> 3), .type = static_cast<WireType>(*tag & 7), .value = 0, .bytes = {}};
    std::optional<uint64_t> value = 0;
    switch (field.type) {
      case WireType::kVarint: value = TakeVarint(&rest); break;
      case WireType::kFixed64: value = TakeFixed<uint64_t>(&rest); break;
      case WireType::kFixed32: value = TakeFixed<uint32_t>(&rest); break;
      case WireType::kBytes: {
        const std::optional<absl::string_view> taken = TakeBytes(&rest);
        if (!taken.has_value()) return bad("a length that the message holds");
        field.bytes = *taken;
        break;
      }
      case WireType::kStartGroup: groups.push_back(field.number); continue;
      case WireType::kEndGroup:
        if (groups.empty() || groups.back() != field.number) return bad("the end of the group that is open");
        groups.pop_back();
        continue;
      default: return bad("a wire type from 0 to 5");
    }
    if (!value.has_value()) return bad("a whole number");
    field.value = *value;
    if (groups.empty()) fields_.push_back(field);
  }
  if (!groups.empty()) return InvalidArgument("a group is not closed at the end of a message");
  return absl::OkStatus();
}

absl::StatusOr<WireMessage> WireMessage::Parse(absl::string_view bytes) {
  WireMessage message;
  HILO_RETURN_IF_ERROR(message.Append(bytes));
  return message;
}

const WireMessage::Field* WireMessage::Last(int number) const {
  for (auto field = fields_.rbegin(); field != fields_.rend(); ++field) {
    if (field->number == number) return &*field;
  }
  return nullptr;
}

int64_t WireMessage::Int(int number) const {
  const Field* field = Last(number);
  return field == nullptr || field->type != WireType::kVarint ? 0 : static_cast<int64_t>(field->value);
}

float WireMessage::Float(int number) const {
  const Field* field = Last(number);
  if (field == nullptr || field->type != WireType::kFixed32) return 0;
  return std::bit_cast<float>(static_cast<uint32_t>(field->value));
}

double WireMessage::Double(int number) const {
  const Field* field = Last(number);
  return field == nullptr || field->type != WireType::kFixed64 ? 0 : std::bit_cast<double>(field->value);
}

absl::string_view WireMessage::Bytes(int number) const {
  const Field* field = Last(number);
  return field == nullptr ? absl::string_view() : field->bytes;
}

std::vector<absl::string_view> WireMessage::AllBytes(int number) const {
  std::vector<absl::string_view> all;
  for (const Field& field : fields_) {
    if (field.number == number && field.type == WireType::kBytes) all.push_back(field.bytes);
  }
  return all;
}

absl::StatusOr<std::vector<int64_t>> WireMessage::Ints(int number) const {
  std::vector<int64_t> values;
  for (const Field& field : fields_) {
    if (field.number != number) continue;
    if (field.type == WireType::kVarint) values.push_back(static_cast<int64_t>(field.value));
    for (absl::string_view rest = field.bytes; !rest.empty();) {
      const std::optional<uint64_t> value = TakeVarint(&rest);
      if (!value.has_value()) return InvalidArgument("expected a list of numbers in field ", number);
      values.push_back(static_cast<int64_t>(*value));
    }
  }
  return values;
}

std::string WireMessage::PackedFixed(int number, WireType type) const {
  std::string packed;
  const size_t width = type == WireType::kFixed32 ? sizeof(uint32_t) : sizeof(uint64_t);
  for (const Field& field : fields_) {
    if (field.number != number) continue;
    if (field.type == type) packed.append(reinterpret_cast<const char*>(&field.value), width);
    packed.append(field.bytes.data(), field.bytes.size());
  }
  return packed;
}

absl::StatusOr<WireMessage> WireMessage::Message(int number) const {
  WireMessage merged;
  for (const absl::string_view bytes : AllBytes(number)) HILO_RETURN_IF_ERROR(merged.Append(bytes));
  return merged;
}

absl::StatusOr<std::vector<WireMessage>> WireMessage::Messages(int number) const {
  std::vector<WireMessage> messages;
  for (const absl::string_view bytes : AllBytes(number)) {
    HILO_ASSIGN_OR_RETURN(messages.emplace_back(), Parse(bytes));
  }
  return messages;
}

void WireWriter::Varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
  bytes_.push_back(static_cast<char>(value));
}

void WireWriter::Tag(int number, WireType type) {
  Varint(static_cast<uint64_t>(number) << 3 | static_cast<uint64_t>(type));
}

void WireWriter::Int(int number, int64_t value) {
  if (value != 0) PutInt(number, value);
}

void WireWriter::PutInt(int number, int64_t value) {
  Tag(number, WireType::kVarint);
  Varint(static_cast<uint64_t>(value));
}

void WireWriter::Float(int number, float value) {
  if (std::bit_cast<uint32_t>(value) == 0) return;
  Tag(number, WireType::kFixed32);
  bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void WireWriter::Double(int number, double value) {
  if (std::bit_cast<uint64_t>(value) == 0) return;
  Tag(number, WireType::kFixed64);
  bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void WireWriter::Bytes(int number, absl::string_view value) {
  if (!value.empty()) PutBytes(number, value);
}

void WireWriter::PutBytes(int number, absl::string_view value) {
  Tag(number, WireType::kBytes);
  Varint(value.size());
  bytes_.append(value.data(), value.size());
}

void WireWriter::Ints(int number, absl::Span<const int64_t> values) {
  if (values.empty()) return;
  WireWriter packed;
  for (const int64_t value : values) packed.Varint(static_cast<uint64_t>(value));
  PutBytes(number, packed.bytes_);
}

}  // namespace hilo
