#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "base/aligned_buffer.h"
#include "base/math.h"
#include "gtest/gtest.h"

namespace hilo {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

TEST(MathTest, Checked) {
  EXPECT_EQ(CheckedAdd(2, 3), 5);
  EXPECT_EQ(CheckedAdd(kMax, 1), std::nullopt);
  EXPECT_EQ(CheckedAdd(kMin, -1), std::nullopt);
  EXPECT_EQ(CheckedMul(kMax, 1), kMax);
  EXPECT_EQ(CheckedMul(int64_t{1} << 32, int64_t{1} << 31), std::nullopt);
  EXPECT_EQ(CheckedMul(kMin, -1), std::nullopt);
}

TEST(MathTest, Rounding) {
  EXPECT_EQ(CeilDiv(0, 8), 0);
  EXPECT_EQ(CeilDiv(9, 8), 2);
  EXPECT_EQ(CeilDiv(kMax, 1), kMax);
  EXPECT_EQ(RoundUp(9, 8), 16);
  EXPECT_EQ(RoundUp(16, 8), 16);
  EXPECT_EQ(RoundUp(kMax, 64), std::nullopt);
}

TEST(AlignedBufferTest, IsAlignedAndWritable) {
  for (const int64_t size : {int64_t{0}, int64_t{1}, int64_t{100}, int64_t{3} << 20}) {
    absl::StatusOr<AlignedBuffer> buffer = AlignedBuffer::Create(size);
    ASSERT_TRUE(buffer.ok()) << buffer.status();
    EXPECT_EQ(buffer->size(), size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % 64, 0u);
    for (int64_t i = 0; i < size; i += 64) buffer->data()[i] = 1;
  }
}

TEST(AlignedBufferTest, ZeroedIsZeroAlsoIfTheMemoryWasUsed) {
  for (const int64_t size : {int64_t{1}, int64_t{100}, int64_t{3} << 20}) {
    for (int i = 0; i < 3; ++i) {
      absl::StatusOr<AlignedBuffer> buffer = AlignedBuffer::CreateZeroed(size);
      ASSERT_TRUE(buffer.ok()) << buffer.status();
      EXPECT_EQ(std::count(buffer->data(), buffer->data() + size, 0), size);
      std::fill(buffer->data(), buffer->data() + size, 7);
    }
  }
}

TEST(AlignedBufferTest, ImpossibleSizesAreErrors) {
  EXPECT_EQ(AlignedBuffer::Create(kMax).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(AlignedBuffer::Create(int64_t{1} << 60).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(AlignedBuffer::Create(-1).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(AlignedBufferTest, Moves) {
  AlignedBuffer first = *AlignedBuffer::Create(10);
  uint8_t* const data = first.data();
  AlignedBuffer second = std::move(first);
  EXPECT_EQ(second.data(), data);
  first = std::move(second);
  EXPECT_EQ(first.data(), data);
  EXPECT_EQ(first.size(), 10);
}

}  // namespace
}  // namespace hilo
