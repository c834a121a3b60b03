#include "base/sha256.h"

#include <string>

#include "gtest/gtest.h"

namespace hilo {
namespace {

std::string HexOf(Sha256 hash, const std::string& text, size_t step) {
  for (size_t i = 0; i < text.size(); i += step) hash.Update(absl::string_view(text).substr(i, step));
  return DigestToHex(hash.Finish());
}

// The examples of FIPS 180.
TEST(Sha256Test, Examples) {
  const std::pair<std::string, const char*> examples[] = {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {std::string(1000000, 'a'), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
  };
  for (const auto& [text, hex] : examples) {
    EXPECT_EQ(DigestToHex(Sha256::Of(text)), hex);
    for (const size_t step : {7u, 64u, 1000u}) {
      EXPECT_EQ(HexOf(Sha256(), text, step), hex);
      EXPECT_EQ(HexOf(Sha256::Plain(), text, step), hex);
    }
  }
}

// Around the places where padding needs another block, both ways agree, and no two lengths have one digest.
TEST(Sha256Test, BothAlgorithms_AgreeOnEveryLength) {
  std::string text, before;
  for (int length = 0; length < 300; ++length) {
    const std::string hex = HexOf(Sha256(), text, 300);
    EXPECT_EQ(hex, HexOf(Sha256::Plain(), text, 11)) << length;
    EXPECT_NE(hex, before);
    before = hex;
    text.push_back(static_cast<char>(length * 37 + 11));
  }
}

}  // namespace
}  // namespace hilo
