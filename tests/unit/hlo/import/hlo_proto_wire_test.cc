#include "hlo/import/hlo_proto_wire.h"

#include <limits>

#include "gtest/gtest.h"

namespace hilo {
namespace {

using std::string_literals::operator""s;

WireMessage ParsedMessage(const std::string& bytes) {
  auto message = WireMessage::Parse(bytes);
  EXPECT_TRUE(message.ok()) << message.status();
  return message.ok() ? *std::move(message) : WireMessage();
}

TEST(WireTest, WritesWhatItReads) {
  WireWriter inner, writer;
  inner.Int(1, -3);
  writer.Int(1, std::numeric_limits<int64_t>::min());
  writer.Float(2, -1.5f);
  writer.Double(3, 1e300);
  writer.Bytes(4, "a\0b"s);
  writer.Ints(5, {0, 1, -1, 300});
  writer.Message(6, inner);
  writer.PutInt(7, 0);
  const std::string bytes = writer.bytes();
  const WireMessage message = ParsedMessage(bytes);
  EXPECT_EQ(message.Int(1), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(message.Float(2), -1.5f);
  EXPECT_EQ(message.Double(3), 1e300);
  EXPECT_EQ(message.Bytes(4), "a\0b"s);
  EXPECT_EQ(*message.Ints(5), (std::vector<int64_t>{0, 1, -1, 300}));
  EXPECT_EQ(message.Message(6)->Int(1), -3);
  EXPECT_TRUE(message.Has(7));
  EXPECT_FALSE(message.Has(8));
}

TEST(WireTest, LeavesZerosOut) {
  WireWriter writer;
  writer.Int(1, 0);
  writer.Bool(2, false);
  writer.Float(3, 0);
  writer.Bytes(4, "");
  writer.Ints(5, {});
  EXPECT_EQ(writer.bytes(), "");
}

// Bytes as the encoding's documentation gives them.
TEST(WireTest, KnownBytes) {
  WireWriter writer;
  writer.Int(1, 150);
  EXPECT_EQ(writer.bytes(), "\x08\x96\x01");
  EXPECT_EQ(ParsedMessage("\x12\x07testing").Bytes(2), "testing");
  EXPECT_EQ(*ParsedMessage("\x32\x06\x03\x8e\x02\x9e\xa7\x05").Ints(6), (std::vector<int64_t>{3, 270, 86942}));
}

TEST(WireTest, ListsPackedAndNot) {
  EXPECT_EQ(*ParsedMessage("\x08\x01\x0a\x02\x02\x03\x08\x04").Ints(1), (std::vector<int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(ParsedMessage("\x0d\x01\x02\x03\x04\x0a\x04\x05\x06\x07\x08"s).PackedFixed(1, WireType::kFixed32),
            "\x01\x02\x03\x04\x05\x06\x07\x08");
}

TEST(WireTest, LastCountsAndMessagesMerge) {
  EXPECT_EQ(ParsedMessage("\x08\x01\x08\x02").Int(1), 2);
  const WireMessage merged = *ParsedMessage("\x0a\x02\x08\x01\x0a\x02\x10\x02").Message(1);
  EXPECT_EQ(merged.Int(1), 1);
  EXPECT_EQ(merged.Int(2), 2);
}

TEST(WireTest, OtherWireTypesAreOtherFields) {
  EXPECT_EQ(ParsedMessage("\x0a\x01x").Int(1), 0);
  EXPECT_EQ(ParsedMessage("\x08\x01").Bytes(1), "");
}

TEST(WireTest, GroupsAreSkipped) {
  EXPECT_EQ(ParsedMessage("\x0b\x13\x08\x05\x14\x0c\x10\x07").Int(2), 7);
  EXPECT_FALSE(ParsedMessage("\x0b\x08\x05\x0c").Has(1));
}

TEST(WireTest, BadBytes) {
  for (const std::string& bytes : {
           "\x08"s,                                              // no value
           "\x08\xff"s,                                          // a varint without end
           "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s,  // one too long
           "\x0a\x05xyz"s,                                       // a length past the end
           "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s,      // a length of 2^64 - 1
           "\x0d\x01\x02"s,                                      // three quarters of a fixed32
           "\x09\x01"s,                                          // an eighth of a fixed64
           "\x00\x01"s,                                          // field 0
           "\x0e"s, "\x0f"s,                                     // wire types 6 and 7
           "\x0b"s, "\x0c"s, "\x0b\x14"s,                        // groups that do not match
       }) {
    EXPECT_EQ(WireMessage::Parse(bytes).status().code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_FALSE(ParsedMessage("\x0a\x01\xff").Ints(1).ok());
  EXPECT_FALSE(ParsedMessage("\x0a\x01\xff").Message(1).ok());
}

}  // namespace
}  // namespace hilo
