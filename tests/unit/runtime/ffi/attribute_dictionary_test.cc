#include "runtime/ffi/attribute_dictionary.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>

#include "absl/strings/match.h"

namespace hilo::ffi {
namespace {

std::vector<NamedAttribute> Parse(absl::string_view text) {
  auto parsed = ParseAttributeDictionary(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status() << " of " << text;
  return parsed.ok() ? *std::move(parsed) : std::vector<NamedAttribute>(1);
}

template <typename T>
void Expect(absl::string_view text, Attribute::Kind kind, PrimitiveType type, std::vector<T> values) {
  const std::vector<NamedAttribute> parsed = Parse(absl::StrCat("{a = ", text, "}"));
  const Attribute& attribute = parsed[0].value;
  EXPECT_EQ(attribute.kind, kind) << text;
  EXPECT_EQ(attribute.type, type) << text;
  ASSERT_EQ(attribute.bytes.size(), sizeof(T) * values.size()) << text;
  EXPECT_TRUE(values.empty() || std::memcmp(attribute.bytes.data(), values.data(), attribute.bytes.size()) == 0)
      << text;
}
template <typename T>
void ExpectScalar(absl::string_view text, PrimitiveType type, T value) {
  Expect<T>(text, Attribute::Kind::kScalar, type, {value});
}
template <typename T>
void ExpectArray(absl::string_view text, PrimitiveType type, std::vector<T> values) {
  Expect<T>(text, Attribute::Kind::kArray, type, std::move(values));
}

std::string Error(absl::string_view text) {
  auto parsed = ParseAttributeDictionary(text);
  EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument) << text;
  return std::string(parsed.status().message());
}

TEST(AttributeDictionaryTest, Scalars) {
  ExpectScalar<uint8_t>("76 : ui8", U8, 76);
  ExpectScalar<uint8_t>("true", PRED, 1);
  ExpectScalar<uint8_t>("false", PRED, 0);
  ExpectScalar<uint8_t>("1 : i1", PRED, 1);
  ExpectScalar<int8_t>("-128 : i8", S8, -128);
  ExpectScalar<int8_t>("255 : i8", S8, -1);
  ExpectScalar<int16_t>("-3 : si16", S16, -3);
  ExpectScalar<int32_t>("0x7fffffff : i32", S32, 0x7fffffff);
  ExpectScalar<int64_t>("-9223372036854775808 : i64", S64, INT64_MIN);
  ExpectScalar<uint64_t>("18446744073709551615 : ui64", U64, UINT64_MAX);
  ExpectScalar<int64_t>("5", S64, 5);
  ExpectScalar<int64_t>("5 : index", S64, 5);
  ExpectScalar<double>("1.5", F64, 1.5);
  ExpectScalar<float>("1.0 : f32", F32, 1.0f);
  ExpectScalar<float>("-1.500000e-01:f32", F32, -0.15f);
  ExpectScalar<float>("1.0E+3 : f32", F32, 1000.0f);
  ExpectScalar<uint32_t>("0x7F800000 : f32", F32, 0x7f800000);
  ExpectScalar<uint64_t>("0x7FF8000000000001 : f64", F64, 0x7ff8000000000001);
  ExpectScalar<uint16_t>("1.0 : f16", F16, 0x3c00);
  ExpectScalar<uint16_t>("1.0 : bf16", BF16, 0x3f80);
}

TEST(AttributeDictionaryTest, Strings) {
  const std::vector<NamedAttribute> parsed = Parse(R"({"key with space" = "a\"b\\c\n\41\00"})");
  EXPECT_EQ(parsed[0].name, "key with space");
  EXPECT_EQ(parsed[0].value.kind, Attribute::Kind::kString);
  EXPECT_EQ(std::string(parsed[0].value.bytes.begin(), parsed[0].value.bytes.end()), std::string("a\"b\\c\nA\0", 8));
}

TEST(AttributeDictionaryTest, Arrays) {
  ExpectArray<int64_t>("array<i64: 1, -2>", S64, {1, -2});
  ExpectArray<int64_t>("array<i64>", S64, {});
  ExpectArray<float>("array<f32: 1.5, 0x7F800000>", F32, {1.5f, std::numeric_limits<float>::infinity()});
  ExpectArray<uint8_t>("array<i1: true, false>", PRED, {1, 0});
  ExpectArray<int32_t>("dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>", S32, {1, 2, 3, 4});
  ExpectArray<float>("dense<2.5> : tensor<3xf32>", F32, {2.5f, 2.5f, 2.5f});
  ExpectArray<int64_t>("dense<7> : tensor<i64>", S64, {7});
  ExpectArray<int16_t>("dense<\"0x01000200\"> : tensor<2xi16>", S16, {1, 2});
  ExpectArray<int32_t>("dense<> : tensor<0xi32>", S32, {});
}

TEST(AttributeDictionaryTest, DictionariesAreSortedByName) {
  const std::vector<NamedAttribute> parsed = Parse(" { b = 1 : i32 , a = { d = {}, c = \"x\" }, Z.y_2 = true } ");
  ASSERT_EQ(parsed.size(), 3u);
  EXPECT_EQ(parsed[0].name, "Z.y_2");
  EXPECT_EQ(parsed[1].name, "a");
  EXPECT_EQ(parsed[2].name, "b");
  ASSERT_EQ(parsed[1].value.entries.size(), 2u);
  EXPECT_EQ(parsed[1].value.entries[0].name, "c");
  EXPECT_EQ(parsed[1].value.entries[1].value.kind, Attribute::Kind::kDictionary);
  EXPECT_TRUE(Parse("").empty());
  EXPECT_TRUE(Parse("{}").empty());
}

TEST(AttributeDictionaryTest, ErrorsSayWhatWasExpectedAndWhere) {
  EXPECT_EQ(Error("abc"), "attributes: expected { at offset 0, got abc");
  EXPECT_EQ(Error("{a = 1 : i32"), "attributes: expected } or a comma at offset 12, got the end");
  EXPECT_EQ(Error("{a = 1} x"), "attributes: expected the end of the dictionary at offset 8, got x");
  EXPECT_EQ(Error("{a = 1, a = 2}"), "attributes: a is given twice");
  EXPECT_EQ(Error("{a = 256 : ui8}"), "attributes: 256 is not a value of u8");
  EXPECT_EQ(Error("{a = -1 : ui8}"), "attributes: -1 is not a value of u8");
  EXPECT_EQ(Error("{a = 128 : si8}"), "attributes: 128 is not a value of s8");
  EXPECT_EQ(Error("{a = 1e400 : f64}"), "attributes: 1e400 is not a value of f64");
  EXPECT_TRUE(absl::StrContains(Error("{a = 1 : i33}"), "expected one of the types"));
  EXPECT_TRUE(absl::StrContains(Error("{a}"), "expected = at offset 2"));
  EXPECT_TRUE(absl::StrContains(Error("{a = [1, 2]}"), "expected a number, true, false, a string"));
  EXPECT_TRUE(absl::StrContains(Error("{a = dense<[1, 2]> : tensor<3xi32>}"), "a dense tensor of 3 elements has 2"));
  EXPECT_TRUE(absl::StrContains(Error("{a = dense<1> : tensor<9999999999xi32>}"), "more than"));
  EXPECT_TRUE(absl::StrContains(Error("{a = dense<1> : tensor<99999x99999xi32>}"), "more than"));
  EXPECT_TRUE(absl::StrContains(Error("{a = \"\\q\"}"), "hexadecimal"));
  for (const auto& [text, words] : std::vector<std::pair<const char*, const char*>>{
           {"{= 1}", "expected the name of an attribute at offset 1"},
           {"{\"a = 1}", "expected \""},
           {"{a = array<i64 1, 2>}", "expected : at offset 15"},
           {"{a = array<i64: 1, x>}", "x is not a value of s64"},
           {"{a = array<i64: 1, >}", "expected a number"},
           {"{a = array<i64: 1, 2}", "expected > at offset"},
           {"{a = dense<1]> : tensor<1xi32>}", "expected > at offset"},
           {"{a = dense<[1> : tensor<1xi32>}", "expected ] at offset 13"},
           {"{a = dense<;> : tensor<1xi32>}", "expected a number, [, ] or > at offset 11"},
           {"{a = dense<1> tensor<1xi32>}", "expected : at offset 14"},
           {"{a = dense<1> : vector<1xi32>}", "expected tensor< at offset 16"},
           {"{a = dense<1> : tensor<1i32>}", "expected x at offset 24"},
           {"{a = dense<1> : tensor<1xi32}", "expected > at offset"},
           {"{a = dense<q> : tensor<1xi32>}", "q is not a value of s32"},
           {"{a = dense<true> : tensor<1xi32>}", "true is of type i1 only"},
           {"{a = dense<\"0x01\"> : tensor<1xi16>}", "expected 0x and 4 hexadecimal digits"},
           {"{a = dense<\"0x01zz\"> : tensor<1xi16>}", "expected 0x and 4 hexadecimal digits"},
           {"{a = dense<\"0x> : tensor<1xi16>}", "expected \""}}) {
    EXPECT_TRUE(absl::StrContains(Error(text), words)) << text << ": " << Error(text);
  }
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "{a = ";
  EXPECT_TRUE(absl::StrContains(Error(deep), "nested more than 64 deep"));
}

// Whatever the text: a dictionary or an error.
TEST(AttributeDictionaryTest, DamagedTexts) {
  const std::string whole =
      R"({uplo = 76 : ui8, name = "x\0A", arr = array<i64: 1, 2>, nested = {a = true}, f = 1.0e+3 : f32, d = dense<[[1],[2]]> : tensor<2x1xi8>})";
  ASSERT_TRUE(ParseAttributeDictionary(whole).ok());
  for (size_t length = 1; length < whole.size(); ++length)
    EXPECT_FALSE(ParseAttributeDictionary(whole.substr(0, length)).ok()) << length;
  std::mt19937 random(1);
  int parsed = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = whole;
    for (int edits = 1 + static_cast<int>(random() % 3); edits > 0 && !text.empty(); --edits) {
      const size_t at = random() % text.size();
      switch (random() % 3) {
        case 0: text[at] = static_cast<char>(random()); break;
        case 1: text.erase(at, 1 + random() % 4); break;
        default: text.insert(at, whole.substr(random() % whole.size(), random() % 8));
      }
    }
    parsed += ParseAttributeDictionary(text).ok();
  }
  EXPECT_GT(parsed, 0);
}

}  // namespace
}  // namespace hilo::ffi
