#include "hlo/text/module_digest.h"

#include "gtest/gtest.h"
#include "hlo/text/hlo_parser.h"

namespace hilo {
namespace {

std::string DigestOf(absl::string_view text) {
  auto module = ParseHloModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? DigestToHex(ModuleDigest(**module)) : "";
}

constexpr char kModule[] = R"(HloModule a
add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT sum = f32[] add(x, y)
}
ENTRY main {
  p = f32[4] parameter(0)
  c = f32[20] constant({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
  zero = f32[] constant(0)
  r = f32[] reduce(p, zero), dimensions={0}, to_apply=add
  s = f32[] reduce(c, zero), dimensions={0}, to_apply=add
  ROOT t = f32[] multiply(r, s)
})";

std::string With(const std::string& from, const std::string& to) {
  std::string text = kModule;
  EXPECT_NE(text.find(from), std::string::npos) << from;
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

TEST(ModuleDigestTest, NamesAndMetadataDoNotCount) {
  const std::string digest = DigestOf(kModule);
  EXPECT_EQ(DigestOf(With("HloModule a", "HloModule b")), digest);
  EXPECT_EQ(DigestOf(With("sum", "plus")), digest);
  EXPECT_EQ(DigestOf(With("main", "entry")), digest);
  EXPECT_EQ(DigestOf(With("to_apply=add", "to_apply=add, metadata={op_name=\"total\" source_line=3}")), digest);
}

TEST(ModuleDigestTest, EverythingElseCounts) {
  const std::string digest = DigestOf(kModule);
  EXPECT_NE(DigestOf(With("ROOT sum = f32[] add", "ROOT sum = f32[] subtract")), digest);
  EXPECT_NE(DigestOf(With("constant(0)", "constant(1)")), digest);
  EXPECT_NE(DigestOf(With("18, 19, 20", "18, 19, 21")), digest);  // past what the text shows of long constants
  EXPECT_NE(DigestOf(With("multiply(r, s)", "multiply(s, r)")), digest);
  EXPECT_NE(DigestOf(With("f32[4]", "f32[5]")), digest);
  EXPECT_NE(DigestOf(With("HloModule a", "HloModule a, replica_count=2")), digest);
  // Callers see the names of parameters.
  EXPECT_NE(DigestOf("HloModule m\nENTRY e { ROOT p = f32[] parameter(0) }"),
            DigestOf("HloModule m\nENTRY e { ROOT q = f32[] parameter(0) }"));
}

}  // namespace
}  // namespace hilo
