#include "backends/gpu/emulated/group_multiply.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "backends/gpu/emulated/tf32.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

constexpr int kWarpRows = 16, kMaxColumns = 256, kColumnStep = 8;
constexpr int64_t kChunk = 16;  // bytes that swizzling moves together
constexpr int64_t kLines = 8;   // of a pattern
constexpr char kInstruction[] = "wgmma.mma_async.sync.aligned.m64n";

struct TypeName {
  absl::string_view name, sums;
  PrimitiveType type;
};
constexpr TypeName kTypes[] = {
    {"bf16", "f32", BF16},   {"f16", "f32", F16}, {"tf32", "f32", F32}, {"e4m3", "f32", F8E4M3FN},
    {"e5m2", "f32", F8E5M2}, {"s8", "s32", S8},   {"u8", "s32", U8},
};

template <typename T, typename Factor, typename Sum>
void Multiply(const GroupMultiplication& m, const uint8_t* shared, absl::Span<uint32_t* const> threads) {
  constexpr int kDepth = 32 / sizeof(T);
  const auto load = [&](uint64_t descriptor, int positions, bool transposed) {
    const SharedMatrix matrix = SharedMatrix::Decode(descriptor);
    std::vector<Sum> elements(static_cast<size_t>(positions) * kDepth);
    for (int p = 0; p < positions; ++p) {
      for (int d = 0; d < kDepth; ++d) {
        T element;
        std::memcpy(&element, shared + matrix.OffsetOf(p, d, transposed, sizeof(T)), sizeof(T));
        elements[static_cast<size_t>(p) * kDepth + d] = static_cast<Sum>(static_cast<Factor>(element));
      }
    }
    return elements;
  };
  uint64_t descriptors[2];
  std::memcpy(descriptors, threads[0], sizeof(descriptors));
  const std::vector<Sum> lhs = load(descriptors[0], kGroupRows, m.lhs_transposed),
                         rhs = load(descriptors[1], m.columns, m.rhs_transposed);
  for (int thread = 0; thread < kGroupThreads; ++thread) {
    const int lane = thread % 32;
    for (int i = 0; i < m.sums(); ++i) {
      const int row = thread / 32 * kWarpRows + lane / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + 2 * (lane % 4) + i % 2;
      uint32_t* const word = threads[thread] + kDescriptorWords + i;
      auto sum = std::bit_cast<Sum>(*word);
      for (int d = 0; d < kDepth; ++d) sum += lhs[row * kDepth + d] * rhs[column * kDepth + d];
      *word = std::bit_cast<uint32_t>(sum);
    }
  }
}

}  // namespace

absl::StatusOr<GroupMultiplication> GroupMultiplication::Parse(absl::string_view assembly) {
  const auto unknown = [&] { return Unimplemented("the emulated device has no assembly \"", assembly, "\""); };
  GroupMultiplication result;
  absl::string_view text = assembly;
  if (!absl::ConsumePrefix(&text, kInstruction)) return unknown();
  // As in "128k16.f32.bf16.bf16 {sums}, lhs, rhs, 1, 1, 1, 0, 0;".
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(text, absl::MaxSplits(' ', 1));
  const std::vector<absl::string_view> names = absl::StrSplit(parts.first, '.');
  const std::pair<absl::string_view, absl::string_view> shape = absl::StrSplit(names[0], absl::MaxSplits('k', 1));
  if (names.size() != 4 || names[2] != names[3] || !absl::SimpleAtoi(shape.first, &result.columns)) return unknown();
  bool found = false;
  for (const TypeName& type : kTypes) {
    if (names[2] != type.name || names[1] != type.sums) continue;
    result.type = type.type;
    found = true;
  }
  if (!found || result.columns < kColumnStep || result.columns > kMaxColumns || result.columns % kColumnStep != 0 ||
      shape.second != absl::StrCat(result.depth()))
    return unknown();
  const std::pair<absl::string_view, absl::string_view> rest = absl::StrSplit(parts.second, absl::MaxSplits("}, ", 1));
  const std::vector<absl::string_view> operands = absl::StrSplit(absl::StripSuffix(rest.second, ";"), ", ");
  // After the descriptors: whether to add, then, of floats, signs of the factors, then the order of 16-bit ones.
  const bool is_integer = result.type == S8 || result.type == U8, has_order = PrimitiveTypeByteSize(result.type) == 2;
  if (operands.size() != (is_integer ? 3 : has_order ? 7 : 5)) return unknown();
  for (size_t i = 2; i < std::min<size_t>(operands.size(), 5); ++i) {
    if (operands[i] != "1") return unknown();
  }
  if (has_order) {
    result.lhs_transposed = operands[5] == "1";
    result.rhs_transposed = operands[6] == "1";
  }
  return result;
}

uint32_t GroupMultiplication::Encode() const {
  return static_cast<uint32_t>(type) << 16 | static_cast<uint32_t>(columns) << 2 |
         static_cast<uint32_t>(lhs_transposed) << 1 | static_cast<uint32_t>(rhs_transposed);
}

GroupMultiplication GroupMultiplication::Decode(uint32_t code) {
  return {.type = static_cast<PrimitiveType>(code >> 16),
          .columns = static_cast<int>(code >> 2 & 0x3FFF),
          .lhs_transposed = (code >> 1 & 1) != 0,
          .rhs_transposed = (code & 1) != 0};
}

SharedMatrix SharedMatrix::Decode(uint64_t descriptor) {
  const auto bytes = [&](int first) { return static_cast<int64_t>(descriptor >> first & 0x3FFF) * kChunk; };
  constexpr int64_t kSwizzles[] = {0, 128, 64, 32};
  return {.start = bytes(0),
          .leading = bytes(16),
          .stride = bytes(32),
          .swizzle = kSwizzles[descriptor >> 62],
          .base_offset = static_cast<int>(descriptor >> 49 & 7)};
}

std::string SharedMatrix::Fault(bool transposed, PrimitiveType type) const {
  if (base_offset != 0) return absl::StrCat("a base offset of ", base_offset, ", expected 0");
  if (swizzle != 0 && start % (kLines * swizzle) >= swizzle) {
    return absl::StrCat("a start of ", start, ", expected the first line of a pattern of ", kLines * swizzle,
                        " bytes for a swizzle of ", swizzle);
  }
  if (swizzle != 0 && transposed && start % swizzle != 0) {
    return absl::StrCat("a start of ", start, ", expected a multiple of ", swizzle,
                        " where positions are adjacent in memory");
  }
  const int64_t in_line = start % std::max<int64_t>(swizzle, 1), depth_bytes = 32;
  if (swizzle != 0 && !transposed && in_line + depth_bytes > swizzle) {
    return absl::StrCat("a start at byte ", in_line, " of a line of ", swizzle, " bytes, of which ", depth_bytes,
                        " of ", PrimitiveTypeName(type), " are read");
  }
  return "";
}

int64_t SharedMatrix::OffsetOf(int64_t position, int64_t depth, bool transposed, int64_t element_bytes) const {
  const int64_t line = transposed ? depth : position,  // of a pattern or a core matrix
      byte = (transposed ? position : depth) * element_bytes;
  const int64_t width = swizzle == 0 ? kChunk : swizzle, part = byte / width;
  int64_t offset = start + line % kLines * width + byte % width;
  // Without swizzling the names of the two distances change places where positions are adjacent.
  const bool changed = transposed && swizzle == 0;
  offset += line / kLines * (changed ? leading : stride) + part * (changed ? stride : leading);
  const int64_t chunks = width / kChunk;
  return offset ^ (offset / 128 % chunks * kChunk);
}

void ForEachRead(const GroupMultiplication& m, uint64_t lhs, uint64_t rhs,
                 absl::FunctionRef<void(int64_t offset, int64_t bytes)> read) {
  const int64_t bytes = PrimitiveTypeByteSize(m.type), chunk = kChunk / bytes;
  const auto side = [&](uint64_t descriptor, int64_t positions, bool transposed) {
    const SharedMatrix matrix = SharedMatrix::Decode(descriptor);
    const int64_t position_step = transposed ? chunk : 1, depth_step = transposed ? 1 : chunk;
    for (int64_t p = 0; p < positions; p += position_step) {
      for (int64_t d = 0; d < m.depth(); d += depth_step) read(matrix.OffsetOf(p, d, transposed, bytes), kChunk);
    }
  };
  side(lhs, kGroupRows, m.lhs_transposed);
  side(rhs, m.columns, m.rhs_transposed);
}

void MultiplyByGroup(const GroupMultiplication& m, const uint8_t* shared, absl::Span<uint32_t* const> threads) {
  switch (m.type) {
    case BF16: return Multiply<bfloat16, float, float>(m, shared, threads);
    case F16: return Multiply<half, float, float>(m, shared, threads);
    case F32: return Multiply<Tf32, float, float>(m, shared, threads);
    case F8E4M3FN: return Multiply<f8e4m3fn, float, float>(m, shared, threads);
    case F8E5M2: return Multiply<f8e5m2, float, float>(m, shared, threads);
    // Unsigned sums wrap.
    case S8: return Multiply<int8_t, int32_t, uint32_t>(m, shared, threads);
    case U8: return Multiply<uint8_t, uint32_t, uint32_t>(m, shared, threads);
    default: return;
  }
}

}  // namespace hilo::gpu
