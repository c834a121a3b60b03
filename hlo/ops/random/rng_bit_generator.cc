// Random bits as a function of a state. The numbering of the words is XLA's (specification, RngBitGenerator): a stream
// of 32-bit words, two of a Threefry or four of a Philox block, of which elements of 64 bits take two words and others
// the low bits of one.
#include "hlo/ops/random/random_attributes.h"
#include "hlo/ops/random/random_bits.h"
#include "hlo/ops/table/op_checks.h"

namespace hilo {
namespace {

uint32_t Low(uint64_t x) { return static_cast<uint32_t>(x); }
uint32_t High(uint64_t x) { return static_cast<uint32_t>(x >> 32); }
uint64_t Join(uint32_t low, uint32_t high) { return low | uint64_t{high} << 32; }

struct Bits {
  std::vector<uint64_t> elements;  // row-major; 32-bit words where elements are no wider
  std::vector<uint64_t> state;
};

// Threefry pairs the elements of one dimension: the first of even size, or else the largest.
int64_t PairedDimension(const Shape& shape) {
  int64_t largest = 0;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (shape.dimensions(d) % 2 == 0) return d;
    if (shape.dimensions(d) > shape.dimensions(largest)) largest = d;
  }
  return largest;
}

Bits ThreeFryBits(absl::Span<const uint64_t> state, const Shape& shape) {
  auto block = [&](uint64_t number) {
    const uint64_t counter = state[1] + number;
    return ThreeFry2x32({Low(counter), High(counter)}, {Low(state[0]), High(state[0])});
  };
  const int64_t count = ShapeUtil::ElementsIn(shape);
  Bits bits{.elements = std::vector<uint64_t>(count), .state = {state[0], state[1]}};
  if (PrimitiveTypeBitWidth(shape.element_type()) == 64) {
    for (int64_t i = 0; i < count; ++i) {
      const auto words = block(i);
      bits.elements[i] = Join(words[0], words[1]);
    }
    bits.state[1] += count;
    return bits;
  }
  const int64_t paired = PairedDimension(shape);
  const int64_t size = shape.rank() == 0 ? 1 : shape.dimensions(paired);
  const int64_t inner = shape.rank() == 0 ? 1 : ShapeUtil::RowMajorStrides(shape.dimensions())[paired];
  const int64_t half = (size + 1) / 2;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t position = i / inner % size, outer = i / inner / size;
    bits.elements[i] = block((outer * half + position / 2) * inner + i % inner)[position % 2];
  }
  if (count > 0) bits.state[1] += count / size * half;
  return bits;
}

Bits PhiloxBits(absl::Span<const uint64_t> state, const Shape& shape) {
  // {key, low, high}, or {key, low} with the key for the high word too.
  const uint64_t key = state[0], low = state[1], high = state.size() == 3 ? state[2] : state[0];
  const bool wide = PrimitiveTypeBitWidth(shape.element_type()) == 64;
  const int64_t count = ShapeUtil::ElementsIn(shape);
  auto word = [&](int64_t number) {
    const uint64_t counter = low + number / 4, carried = high + (counter < low ? 1 : 0);
    return Philox4x32({Low(counter), High(counter), Low(carried), High(carried)}, {Low(key), High(key)})[number % 4];
  };
  Bits bits{.elements = std::vector<uint64_t>(count), .state = std::vector<uint64_t>(state.begin(), state.end())};
  for (int64_t i = 0; i < count; ++i) bits.elements[i] = wide ? Join(word(2 * i), word(2 * i + 1)) : word(i);
  const uint64_t blocks = ((wide ? 2 : 1) * count + 3) / 4;
  bits.state[1] = low + blocks;
  if (state.size() == 3) bits.state[2] = high + (bits.state[1] < low ? 1 : 0);
  return bits;
}

// The low bits of `word` as an element of type T.
template <typename T>
T ElementOf(uint64_t word) {
  if constexpr (is_small_float<T>) {
    return T::FromBits(
        static_cast<decltype(T::bits)>(word & ((1u << PrimitiveTypeBitWidth(NativeToPrimitiveType<T>())) - 1)));
  } else if constexpr (is_small_int<T>) {
    return T(word);
  } else if constexpr (is_complex<T>) {
    return T();  // refused by inference
  } else {
    T element;
    std::memcpy(&element, &word, sizeof(T));
    return element;
  }
}

}  // namespace

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kRngBitGenerator>(const OpView& op) {
  const bool three_fry = op.attrs<RngBitGeneratorAttrs>().algorithm == RandomAlgorithm::kThreeFry;
  const Shape& state = op.operand(0);
  const bool valid = state.IsArray() && state.element_type() == U64 && state.rank() == 1 &&
                     (state.dimensions(0) == 2 || (state.dimensions(0) == 3 && !three_fry));
  if (!valid) {
    return InvalidOp(op, "the state must be u64[2]", three_fry ? "" : " or u64[3]", ", but is ", state.ToString());
  }
  if (op.stated == nullptr || !op.stated->IsTuple() || op.stated->tuple_shapes_size() != 2) {
    return InvalidOp(op, "the result must be a tuple of the new state and the data",
                     op.stated == nullptr ? "" : absl::StrCat(", but is ", op.stated->ToString()));
  }
  if (!ShapeUtil::Compatible(op.stated->tuple_shapes(0), state)) {
    return InvalidOp(op, "the new state must be ", state.ToString(), " as the state is, but is ",
                     op.stated->tuple_shapes(0).ToString());
  }
  const Shape& data = op.stated->tuple_shapes(1);
  if (!data.IsArray() || !InTypeClass(data.element_type(), kInt | kFloat) || !data.is_static()) {
    return InvalidOp(op, "the data must be an array of integers or floats of static size, but is ", data.ToString());
  }
  return WithoutLayouts(*op.stated);
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kRngBitGenerator>(const OpView& op, const Shape& shape, Operands operands) {
  const Shape& data = shape.tuple_shapes(1);
  const absl::Span<const uint64_t> state = operands[0]->data<uint64_t>();
  const bool three_fry =
      op.attrs<RngBitGeneratorAttrs>().algorithm == RandomAlgorithm::kThreeFry;  // the default is Philox
  const Bits bits = three_fry ? ThreeFryBits(state, data) : PhiloxBits(state, data);
  std::vector<Literal> results(2);
  HILO_ASSIGN_OR_RETURN(results[0], Literal::Create(shape.tuple_shapes(0)));
  HILO_ASSIGN_OR_RETURN(results[1], Literal::Create(data));
  std::copy(bits.state.begin(), bits.state.end(), results[0].data<uint64_t>().begin());
  ArrayTypeSwitch(data.element_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const absl::Span<T> out = results[1].data<T>();
    for (size_t i = 0; i < out.size(); ++i) out[i] = ElementOf<T>(bits.elements[i]);
  });
  return Literal::MakeTuple(std::move(results));
}

}  // namespace hilo
