#include "base/byte_stream.h"

#include <limits>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "hilo/version.h"

namespace hilo {
namespace {

TEST(ByteStreamTest, WrittenEntries_AreRead) {
  ByteWriter out;
  out.U32(7);
  out.I64(-3);
  out.F64(-0.5);
  out.Bool(true);
  out.Text("text");
  out.U64(std::numeric_limits<uint64_t>::max());
  ByteReader in(out.bytes(), "bytes");
  EXPECT_EQ(in.U32(), 7u);
  EXPECT_EQ(in.I64(), -3);
  EXPECT_EQ(in.F64(), -0.5);
  EXPECT_TRUE(in.Bool());
  EXPECT_EQ(in.Text(), "text");
  EXPECT_EQ(in.U64(), std::numeric_limits<uint64_t>::max());
  EXPECT_TRUE(in.Finish().ok());
}

TEST(ByteStreamTest, FirstError_StaysWithItsPosition) {
  ByteWriter out;
  out.U64(1000);  // a text that is not there
  out.U32(1);
  ByteReader in(out.bytes(), "bytes");
  EXPECT_EQ(in.Text(), "");
  EXPECT_EQ(in.U32(), 0u);
  EXPECT_EQ(in.Count(1), 0u);
  EXPECT_EQ(in.Finish().message(), "bytes: expected 1000 bytes at byte 8, but only 4 are left");
}

TEST(ByteStreamTest, CountsAreBoundedByWhatIsLeft) {
  ByteWriter out;
  out.U64(3);
  out.U64(0);
  out.U64(0);
  ByteReader fits(out.bytes(), "bytes"), does_not(out.bytes(), "bytes");
  EXPECT_EQ(fits.Count(5), 3u);
  EXPECT_EQ(does_not.Count(6), 0u);
  EXPECT_TRUE(absl::StrContains(does_not.status().message(), "no more than 2 things")) << does_not.status();
}

TEST(ByteStreamTest, BooleansAndEndsAreStrict) {
  ByteReader in("\x02", "bytes"), longer("ab", "bytes");
  in.Bool();
  EXPECT_EQ(in.Finish().message(), "bytes: expected 0 or 1 at byte 0, got the bytes 02");
  longer.Raw(1);
  EXPECT_EQ(longer.Finish().message(), "bytes: expected the end at byte 1, but 1 bytes are left");
}

TEST(VersionTest, Library_HasTheIdOfItsBuild) {
  EXPECT_FALSE(Version().empty());
  EXPECT_GE(BuildId().size(), 16u);
  EXPECT_EQ(BuildId().find_first_not_of("0123456789abcdef"), std::string::npos);
}

}  // namespace
}  // namespace hilo
