#include "backends/gpu/emulated/matrix_operations.h"

#include <cstring>

#include "backends/gpu/emulated/tf32.h"
#include "hilo/primitive_type.h"

namespace hilo::gpu {
namespace {

constexpr int kRows = 16, kColumns = 8;
constexpr int kLanes = 32;

using Lanes = std::array<uint32_t*, kLanes>;

template <typename T>
T Bits(uint32_t word, int index) {
  T value;
  std::memcpy(&value, reinterpret_cast<const char*>(&word) + index * sizeof(T), sizeof(T));
  return value;
}

// Four blocks of eight lines of 16 bytes; lane l has the address of line l % 8 of block l / 8.
void LoadMatrix(const Lanes& lanes, bool transposed) {
  uint16_t elements[4][8][8];
  for (int lane = 0; lane < kLanes; ++lane) {
    uint64_t address;
    std::memcpy(&address, lanes[lane], sizeof(address));
    std::memcpy(elements[lane / 8][lane % 8], reinterpret_cast<const void*>(address), sizeof(elements[0][0]));
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    const int row = lane / 4, column = 2 * (lane % 4);
    for (int block = 0; block < 4; ++block) {
      const auto at = [&](int c) -> uint32_t { return transposed ? elements[block][c][row] : elements[block][row][c]; };
      lanes[lane][block] = at(column) | at(column + 1) << 16;
    }
  }
}

// Of an operand whose lines have `depth` elements along it: the words of a line are spread over four lanes.
template <typename T>
T ElementOf(const Lanes& lanes, int first_word, int line, int depth, int halves) {
  constexpr int kInWord = 4 / sizeof(T), kHalf = 4 * kInWord;  // elements of a word, and of half the depth
  const int lane = line % 8 * 4 + depth % kHalf / kInWord;
  const int word = first_word + depth / kHalf * halves + line / 8;
  return Bits<T>(lanes[lane][word], depth % kInWord);
}

// Words of a lane: four of the left side, two of the right one, four sums.
template <typename T, typename Factor, typename Sum>
void Multiply(const Lanes& lanes) {
  constexpr int kDepth = 32 / sizeof(T);
  Sum left[kRows][kDepth], right[kColumns][kDepth];
  for (int d = 0; d < kDepth; ++d) {
    for (int m = 0; m < kRows; ++m)
      left[m][d] = static_cast<Sum>(static_cast<Factor>(ElementOf<T>(lanes, 0, m, d, /*halves=*/2)));
    for (int n = 0; n < kColumns; ++n)
      right[n][d] = static_cast<Sum>(static_cast<Factor>(ElementOf<T>(lanes, 4, n, d, /*halves=*/1)));
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const int m = lane / 4 + i / 2 * 8, n = 2 * (lane % 4) + i % 2;
      Sum sum;
      std::memcpy(&sum, &lanes[lane][6 + i], sizeof(sum));
      for (int d = 0; d < kDepth; ++d) sum += left[m][d] * right[n][d];
      std::memcpy(&lanes[lane][i], &sum, sizeof(sum));
    }
  }
}

}  // namespace

void RunMatrixOperation(WarpOperation operation, const Lanes& lanes) {
  switch (operation) {
    case WarpOperation::kLoadMatrix: return LoadMatrix(lanes, /*transposed=*/false);
    case WarpOperation::kLoadMatrixTransposed: return LoadMatrix(lanes, /*transposed=*/true);
    case WarpOperation::kMultiplyBf16: return Multiply<bfloat16, float, float>(lanes);
    case WarpOperation::kMultiplyF16: return Multiply<half, float, float>(lanes);
    // Unsigned sums wrap.
    case WarpOperation::kMultiplyS8: return Multiply<int8_t, int32_t, uint32_t>(lanes);
    case WarpOperation::kMultiplyU8: return Multiply<uint8_t, uint32_t, uint32_t>(lanes);
    case WarpOperation::kMultiplyTf32: return Multiply<Tf32, float, float>(lanes);
    default: return;
  }
}

}  // namespace hilo::gpu
