// Random bits in 32-bit element-wise integer ops, one loop over 64-bit elements without any exchange between them:
//
//   Threefry gives two words per block: element b is the pair of block b.
//   Philox gives four: element e is one of the two pairs of block e / 2. The two share all rounds but the half of the
//   last that is theirs.
//
// Arrays of narrower elements are the same memory seen as 32-bit words, cut and converted. The streams are XLA's
// (specification, RngBitGenerator).
#include <algorithm>

#include "base/math.h"
#include "hlo/ops/random/random_attributes.h"
#include "hlo/passes/expand/expansions.h"

namespace hilo {
namespace {

// A number of 64 bits as two words.
struct Words {
  XlaOp low, high;
};

XlaOp U32Constant(XlaOp like, uint32_t value) { return ConstantR0<uint32_t>(like.builder(), value); }
XlaOp U64Constant(XlaOp like, uint64_t value) { return ConstantR0<uint64_t>(like.builder(), value); }
Words Split(XlaOp u64) {
  return {ConvertElementType(u64, U32), ConvertElementType(ShiftRightLogical(u64, U64Constant(u64, 32)), U32)};
}
XlaOp Join(XlaOp low, XlaOp high) {
  return ConvertElementType(low, U64) | ShiftLeft(ConvertElementType(high, U64), U64Constant(low, 32));
}
XlaOp StateWord(XlaOp state, int64_t i) { return Reshape(SliceInDim(state, i, i + 1, 1, 0), {}); }

// The pairs of the blocks with these counters.
XlaOp ThreeFry(Words counter, Words key) {
  static constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const XlaOp keys[3] = {key.low, key.high, key.low ^ key.high ^ U32Constant(key.low, 0x1BD11BDA)};
  XlaOp x = counter.low + keys[0], y = counter.high + keys[1];
  for (int group = 0; group < 5; ++group) {  // of four rounds
    for (int rotation : kRotations[group % 2]) {
      x = x + y;
      y = (ShiftLeft(y, U32Constant(y, rotation)) | ShiftRightLogical(y, U32Constant(y, 32 - rotation))) ^ x;
    }
    x = x + keys[(group + 1) % 3];
    y = y + (keys[(group + 2) % 3] + U32Constant(y, group + 1));
  }
  return Join(x, y);
}

// Of the block with each counter the first pair, or the second where `second` holds.
XlaOp Philox(Words low, Words high, Words key, XlaOp second) {
  static constexpr uint64_t kMultiplierA = 0xD2511F53, kMultiplierB = 0xCD9E8D57;
  static constexpr int kRounds = 10;
  XlaOp x0 = low.low, x1 = low.high, x2 = high.low, x3 = high.high;
  XlaOp k0 = key.low, k1 = key.high;
  for (int round = 0; round + 1 < kRounds; ++round) {
    const Words a = Split(ConvertElementType(x0, U64) * U64Constant(x0, kMultiplierA));
    const Words b = Split(ConvertElementType(x2, U64) * U64Constant(x2, kMultiplierB));
    x0 = b.high ^ x1 ^ k0;
    x1 = b.low;
    x2 = a.high ^ x3 ^ k1;
    x3 = a.low;
    k0 = k0 + U32Constant(k0, 0x9E3779B9);
    k1 = k1 + U32Constant(k1, 0xBB67AE85);
  }
  const XlaOp factor = ConvertElementType(Select(second, x0, x2), U64);
  const XlaOp multiplier =
      U64Constant(x0, kMultiplierB) + ConvertElementType(second, U64) * U64Constant(x0, kMultiplierA - kMultiplierB);
  const Words product = Split(factor * multiplier);
  return Join(product.high ^ Select(second, x3 ^ k1, x1 ^ k0), product.low);
}

struct Bits {
  XlaOp elements;  // u64[count]
  XlaOp state;
};

Bits ThreeFryBits(XlaBuilder* builder, XlaOp state, int64_t count) {
  const XlaOp key = StateWord(state, 0), counter = StateWord(state, 1);
  const XlaOp counters = counter + Iota(builder, U64, count);
  return {ThreeFry(Split(counters), Split(key)),
          state + ConstantR1<uint64_t>(builder, {0, static_cast<uint64_t>(count)})};
}

Bits PhiloxBits(XlaBuilder* builder, XlaOp state, bool has_high, int64_t count) {
  const XlaOp key = StateWord(state, 0), low = StateWord(state, 1), high = has_high ? StateWord(state, 2) : key;
  const XlaOp element = Iota(builder, U64, count), one = U64Constant(element, 1);
  auto carried = [&](XlaOp sum) { return high + ConvertElementType(Lt(sum, low), U64); };
  const XlaOp counter = low + ShiftRightLogical(element, one);
  const XlaOp second = Ne(element & one, U64Constant(element, 0));
  Bits bits{.elements = Philox(Split(counter), Split(carried(counter)), Split(key), second)};
  const XlaOp next = low + U64Constant(low, static_cast<uint64_t>(CeilDiv(count, 2)));
  std::vector<XlaOp> words = {key, next};
  if (has_high) words.push_back(carried(next));
  for (XlaOp& word : words) word = Reshape(word, {1});
  bits.state = ConcatInDim(builder, words, 0);
  return bits;
}

// u64[count] as twice as many words.
XlaOp AsWords(XlaOp elements, int64_t count) { return Reshape(BitcastConvertType(elements, U32), {2 * count}); }

// 32-bit words of Threefry: pairs lie along the first dimension of even size, or else the largest.
Bits ThreeFryWords(XlaBuilder* builder, XlaOp state, absl::Span<const int64_t> sizes) {
  if (sizes.empty()) {
    Bits bits = ThreeFryBits(builder, state, 1);
    bits.elements = Reshape(SliceInDim(AsWords(bits.elements, 1), 0, 1, 1, 0), {});
    return bits;
  }
  auto paired = std::find_if(sizes.begin(), sizes.end(), [](int64_t size) { return size % 2 == 0; });
  if (paired == sizes.end()) paired = std::max_element(sizes.begin(), sizes.end());
  const size_t dimension = paired - sizes.begin();
  const int64_t outer = Product(sizes.subspan(0, dimension)), inner = Product(sizes.subspan(dimension + 1));
  const int64_t half = CeilDiv(*paired, 2);
  Bits bits = ThreeFryBits(builder, state, outer * half * inner);
  XlaOp words = Reshape(BitcastConvertType(bits.elements, U32), {outer, half, inner, 2});
  if (inner != 1) words = Transpose(words, {0, 1, 3, 2});
  words = SliceInDim(Reshape(words, {outer, 2 * half, inner}), 0, *paired, 1, 1);
  bits.elements = Reshape(words, sizes);
  return bits;
}

Bits PhiloxWords(XlaBuilder* builder, XlaOp state, bool has_high, absl::Span<const int64_t> sizes) {
  const int64_t count = Product(sizes), pairs = CeilDiv(count, 2);
  Bits bits = PhiloxBits(builder, state, has_high, pairs);
  bits.elements = Reshape(SliceInDim(AsWords(bits.elements, pairs), 0, count, 1, 0), sizes);
  return bits;
}

PrimitiveType UnsignedTypeOf(int bits) {
  switch (bits) {
    case 1: return U1;
    case 2: return U2;
    case 4: return U4;
    case 8: return U8;
    case 16: return U16;
    case 32: return U32;
    default: return U64;
  }
}

}  // namespace

absl::StatusOr<XlaOp> ExpandRngBitGenerator(const HloInstruction& instruction, XlaBuilder* builder,
                                            absl::Span<const XlaOp> operands) {
  const bool three_fry =
      instruction.attrs<RngBitGeneratorAttrs>().algorithm == RandomAlgorithm::kThreeFry;  // the default is Philox
  const bool has_high = instruction.operand(0)->shape().dimensions(0) == 3;
  const Shape& data = instruction.shape().tuple_shapes(1);
  const PrimitiveType type = data.element_type();
  const XlaOp state = operands[0];
  Bits bits;
  if (PrimitiveTypeBitWidth(type) == 64) {
    const int64_t count = ShapeUtil::ElementsIn(data);
    bits = three_fry ? ThreeFryBits(builder, state, count) : PhiloxBits(builder, state, has_high, count);
    bits.elements = Reshape(bits.elements, data.dimensions());
  } else {
    bits = three_fry ? ThreeFryWords(builder, state, data.dimensions())
                     : PhiloxWords(builder, state, has_high, data.dimensions());
  }
  const XlaOp narrow = ConvertElementType(bits.elements, UnsignedTypeOf(PrimitiveTypeBitWidth(type)));
  return Tuple(builder, {bits.state, BitcastConvertType(narrow, type)});
}

}  // namespace hilo
