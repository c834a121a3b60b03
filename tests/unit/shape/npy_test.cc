// NumPy's files. The fixed bytes below are what numpy.save wrote for the arrays named beside them.
#include "hilo/npy.h"

#include <zlib.h>

#include <cstdlib>
#include <optional>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "gtest/gtest.h"

namespace hilo {
namespace {

std::string TempFile(const std::string& name) { return testing::TempDir() + "/hilo_npy_test_" + name; }

// A version 1 file with this header and these elements.
std::string File(const std::string& header, const std::string& data, char version = 1) {
  std::string text = header + "\n";
  std::string file = std::string("\x93NUMPY") + version + '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) file.push_back(static_cast<char>(text.size() >> (8 * i)));
  return file + text + data;
}

std::string Header(const std::string& descr, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
}

std::string Parsed(const std::string& file, PrimitiveType hint = PRIMITIVE_TYPE_INVALID) {
  const absl::StatusOr<Literal> literal = ParseNpy(file, hint);
  return literal.ok() ? literal->ToString() : absl::StrCat("error ", literal.status().message());
}

bool IsError(const std::string& file) { return ParseNpy(file).status().code() == absl::StatusCode::kInvalidArgument; }

TEST(Npy, ReadsOrdersEndiansAndVersions) {
  const std::string bytes = {1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0};
  EXPECT_EQ(Parsed(File(Header("<i2", "(2, 3)"), bytes)), "s16[2,3] { { 1, 2, 3 }, { 4, 5, 6 } }");
  EXPECT_EQ(Parsed(File(Header("<i2", "(2, 3)", "True"), bytes)), "s16[2,3] { { 1, 3, 5 }, { 2, 4, 6 } }");
  EXPECT_EQ(Parsed(File(Header(">i2", "(2,)"), bytes)), "s16[2] {256, 512}");
  EXPECT_EQ(Parsed(File(Header("<u2", "()"), bytes)), "u16[] 1");
  EXPECT_EQ(Parsed(File(Header("|b1", "(2L,)"), bytes, 2)), "pred[2] {1, 0}");
  EXPECT_EQ(Parsed(File(Header("|i1", "(0, 5)"), "", 3)), "s8[0,5] {}");
  EXPECT_EQ(Parsed(File("{'shape': (1,), 'fortran_order': False, 'descr': \"<i4\"}", bytes)), "s32[1] {131073}");
  EXPECT_EQ(Parsed(File(Header(">c8", "()"), std::string("\x3f\x80\0\0\x40\0\0\0", 8))), "c64[] (1, 2)");
}

TEST(Npy, RawElementsNeedAHint) {
  EXPECT_EQ(Parsed(File(Header("<V2", "(1,)"), std::string("\x80\x3f", 2)), BF16), "bf16[1] {1}");
  EXPECT_EQ(Parsed(File(Header("|V1", "(2,)"), "\x0f\x07"), S4), "s4[2] {-1, 7}");
  EXPECT_EQ(Parsed(File(Header("<f1", "(1,)"), "\x3c")), "f8e5m2[1] {1}");
  EXPECT_TRUE(IsError(File(Header("<V2", "(1,)"), "ab")));
  EXPECT_EQ(ParseNpy(File(Header("<V2", "(1,)"), "ab"), S4).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Npy, DamagedFilesAreErrors) {
  const std::string good = File(Header("<i2", "(2,)"), "abcd");
  EXPECT_FALSE(IsError(good));
  for (size_t size = 0; size < good.size(); ++size) EXPECT_TRUE(IsError(good.substr(0, size))) << size;
  for (const std::string shape : {"(3,)", "(-1,)", "(9223372036854775807, 2)", "(1000000000000,)", "(2", "2", "(a,)"}) {
    EXPECT_TRUE(IsError(File(Header("<i2", shape), "abcd"))) << shape;
  }
  for (const std::string descr : {"<i3", "O", "<U4", "", "<V4", "<f16"}) {
    EXPECT_TRUE(IsError(File(Header(descr, "(1,)"), std::string(64, 'a')))) << descr;
  }
  EXPECT_TRUE(IsError(File("{'descr': [('a', '<i2')], 'fortran_order': False, 'shape': (1,)}", "abcd")));
  EXPECT_TRUE(IsError(File("{'descr': '<i2', 'shape': (1,)}", "abcd")));
  EXPECT_TRUE(IsError(File(Header("<i2", "(1,)"), "abcd", 4)));
  EXPECT_EQ(ReadNpy("/nonexistent/file.npy").status().code(), absl::StatusCode::kNotFound);
}

TEST(Npy, BadHeaders_SayWhatWasExpected) {
  const struct {
    const char *header, *message;
  } cases[] = {
      {"'descr': '<i2'}", "expected '{'"},
      {"{descr: '<i2'}", "expected '\"'"},
      {"{'descr: <i2}", "expected a closing quote"},
      {"{'descr' '<i2'}", "expected ':'"},
      {"{'descr': <i2}", "expected '\"'"},
      {"{'fortran_order': maybe}", "expected True or False"},
      {"{'shape': 3}", "expected '('"},
      {"{'shape': (x)}", "expected an integer"},
      {"{'shape': (3 4)}", "expected ')'"},
      {"{'size': 3}", "expected descr, fortran_order or shape as key"},
      {"{'descr': '<i2', 'shape': (1,)}", "expected the keys descr, fortran_order and shape"},
  };
  for (const auto& c : cases) {
    const auto literal = ParseNpy(File(c.header, "ab"));
    ASSERT_FALSE(literal.ok()) << c.header;
    EXPECT_NE(literal.status().message().find(c.message), std::string::npos) << c.header << ": " << literal.status();
  }
}

TEST(Npy, EveryTypeRoundTrips) {
  for (int i = 1; i < kPrimitiveTypeCount; ++i) {
    const PrimitiveType type = static_cast<PrimitiveType>(i);
    if (!IsArrayType(type)) continue;
    const Literal literal = *LiteralUtil::CreateR2<int32_t>({{1, 0, -1}, {0, 1, 1}}).Convert(type);
    const std::string path = TempFile("round_trip.npy");
    ASSERT_TRUE(WriteNpy(path, literal).ok());
    EXPECT_EQ(*ReadNpy(path, type), literal) << PrimitiveTypeName(type);
  }
  EXPECT_EQ(*ParseNpy(*SerializeNpy(LiteralUtil::CreateR0(2.5))), LiteralUtil::CreateR0(2.5));
  EXPECT_FALSE(SerializeNpy(Literal::MakeTuple({})).ok());
  EXPECT_FALSE(WriteNpy("/nonexistent/file.npy", LiteralUtil::CreateR0(1)).ok());
}

TEST(Npy, NumPysNarrowIntegersHaveNoHighBits) {
  const std::string bytes = *SerializeNpy(LiteralUtil::CreateR1<s4>({s4(-1), s4(7)}));
  EXPECT_EQ(bytes.substr(bytes.size() - 2), "\x0f\x07");
  EXPECT_EQ((bytes.size() - 2) % 64, 0u);
}

std::string WriteSample(const std::string& path) {
  std::vector<NamedLiteral> arrays;
  arrays.push_back({"arg0", LiteralUtil::CreateR1<float>({1, 2})});
  arrays.push_back({"arg1", LiteralUtil::CreateR1<bfloat16>({bfloat16(3), bfloat16(4)})});
  EXPECT_TRUE(WriteNpz(path, arrays).ok());
  return *ReadFile(path);
}

PrimitiveType HintBf16(absl::string_view name) { return name == "arg1" ? BF16 : PRIMITIVE_TYPE_INVALID; }

TEST(Npz, RoundTripsInOrder) {
  const std::string path = TempFile("sample.npz");
  WriteSample(path);
  const std::vector<NamedLiteral> arrays = *ReadNpz(path, HintBf16);
  ASSERT_EQ(arrays.size(), 2u);
  EXPECT_EQ(arrays[0].name, "arg0");
  EXPECT_EQ(arrays[0].literal.ToString(), "f32[2] {1, 2}");
  EXPECT_EQ(arrays[1].literal.ToString(), "bf16[2] {3, 4}");
  ASSERT_TRUE(WriteNpz(path, {}).ok());
  EXPECT_TRUE(ReadNpz(path)->empty());
}

TEST(Npz, MembersThatAreNotWantedAreNotRead) {
  const std::string path = TempFile("unwanted.npz");
  WriteSample(path);
  EXPECT_FALSE(ReadNpz(path).ok());  // the raw arg1 has no type
  const auto wanted = [](absl::string_view name) -> std::optional<PrimitiveType> {
    if (name != "arg0") return std::nullopt;
    return F32;
  };
  const absl::StatusOr<std::vector<NamedLiteral>> arrays = ReadNpz(path, wanted);
  ASSERT_TRUE(arrays.ok()) << arrays.status();
  ASSERT_EQ(arrays->size(), 1u);
  EXPECT_EQ((*arrays)[0].name, "arg0");
}

void Append(std::string* out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

// An archive of one deflated member "x.npy" whose directory claims `size`.
std::string Deflated(const std::string& data, uint64_t size) {
  std::string packed(compressBound(data.size()) + 64, '\0');
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  const uint32_t crc = crc32(0, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size()));
  const auto common = [&](std::string* out) {
    for (const uint64_t field : {20, 0, Z_DEFLATED, 0, 0x21}) Append(out, field, 2);
    Append(out, crc, 4);
    Append(out, packed.size(), 4);
    Append(out, size, 4);
    Append(out, 5, 2);
    Append(out, 0, 2);
  };
  std::string file("PK\3\4", 4);
  common(&file);
  file += "x.npy" + packed;
  const size_t directory = file.size();
  file += std::string("PK\1\2\x14\0", 6);
  common(&file);
  file += std::string(14, '\0') + "x.npy";
  const size_t directory_size = file.size() - directory;
  file += std::string("PK\5\6\0\0\0\0\1\0\1\0", 12);
  Append(&file, directory_size, 4);
  Append(&file, directory, 4);
  return file + std::string(2, '\0');
}

TEST(Npz, ReadsDeflatedMembersAndChecksTheirSize) {
  const std::string npy = *SerializeNpy(*Literal::Create(ShapeUtil::MakeShape(S32, {1000})));
  const auto arrays = ParseNpz(Deflated(npy, npy.size()));
  ASSERT_TRUE(arrays.ok()) << arrays.status();
  EXPECT_EQ((*arrays)[0].literal.element_count(), 1000);
  EXPECT_FALSE(ParseNpz(Deflated(npy, npy.size() - 1)).ok());
  EXPECT_FALSE(ParseNpz(Deflated(npy, npy.size() + 1)).ok());
  EXPECT_FALSE(ParseNpz(Deflated(npy, 0xfffffff0)).ok());
}

TEST(Npz, Damage_IsDetected) {
  const std::string good = WriteSample(TempFile("damage.npz"));
  for (size_t size = 0; size < good.size(); ++size) EXPECT_FALSE(ParseNpz(good.substr(0, size)).ok()) << size;
  std::string flipped = good;
  flipped[good.find("NUMPY") + 125] ^= 1;  // in the elements of arg0
  EXPECT_NE(ParseNpz(flipped).status().message().find("checksum"), std::string::npos);
  // No change of a few bytes may do worse than an error.
  std::mt19937 random(3);
  for (int i = 0; i < 20000; ++i) {
    std::string mutant = good;
    for (int k = 0; k < 4; ++k) mutant[random() % mutant.size()] = static_cast<char>(random());
    ParseNpz(mutant, HintBf16).status().IgnoreError();
  }
}

}  // namespace
}  // namespace hilo
