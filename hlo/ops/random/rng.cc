// Random numbers that depend on no operand: they come from a state of the process, which each use advances.
#include <random>

#include "hlo/ops/random/random_attributes.h"
#include "hlo/ops/random/random_bits.h"
#include "hlo/ops/table/op_checks.h"

namespace hilo {
namespace {

// Calls next() for the elements of `literal` in order.
template <typename T, typename F>
void Fill(Literal* literal, F&& next) {
  for (T& element : literal->data<T>()) element = T(next());
}

// Uniform over [a, b); `a` if there is nothing between.
template <typename T>
void FillUniform(const Literal& low, const Literal& high, std::mt19937_64& engine, Literal* literal) {
  constexpr PrimitiveType type = NativeToPrimitiveType<T>();
  if constexpr (type == PRED || is_complex<T>) {
    Fill<T>(literal, [&] { return low.GetFirstElement<T>(); });  // [a, b) of two booleans is a alone
  } else if constexpr (std::is_floating_point_v<T> || is_small_float<T>) {
    const double a = low.GetAsDouble(0), b = high.GetAsDouble(0);
    std::uniform_real_distribution<double> unit(0, 1);
    Fill<T>(literal, [&] {
      const double u = unit(engine);
      const T x = T(a * (1 - u) + b * u);
      return static_cast<double>(x) < b ? x : T(a);  // it may have been rounded up
    });
  } else {
    const T a = low.GetFirstElement<T>(), b = high.GetFirstElement<T>();
    if constexpr (type == U64) {
      std::uniform_int_distribution<uint64_t> number(a, a < b ? b - 1 : a);
      Fill<T>(literal, [&] { return number(engine); });
    } else {
      const int64_t first = static_cast<int64_t>(a), last = static_cast<int64_t>(b);
      std::uniform_int_distribution<int64_t> number(first, first < last ? last - 1 : first);
      Fill<T>(literal, [&] { return number(engine); });
    }
  }
}

}  // namespace

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kRng>(const OpView& op) {
  HILO_RETURN_IF_ERROR(CheckStatedArray(op));
  const RandomDistribution distribution = op.attrs<RngAttrs>().distribution;
  if (distribution == RandomDistribution::kInvalid) {
    return InvalidOp(op, "the distribution must be rng_uniform or rng_normal, but is rng_invalid");
  }
  if (op.operands.size() != 2)
    return InvalidOp(op, "expected 2 parameters of the distribution, got ", op.operands.size());
  const bool normal = distribution == RandomDistribution::kNormal;
  for (int64_t i = 0; i < 2; ++i) {
    if (!op.operand(i).IsScalar() || op.operand(i).element_type() != op.stated->element_type()) {
      return InvalidOp(op, "parameters must be scalars of the result's element type, ",
                       PrimitiveTypeName(op.stated->element_type()), ", but operand ", i, " is ",
                       op.operand(i).ToString());
    }
    HILO_RETURN_IF_ERROR(CheckTypeClass(op, i, normal ? kFloat : kBool | kInt | kFloat));
  }
  return *op.stated;
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kRng>(const OpView& op, const Shape& shape, Operands operands) {
  HILO_ASSIGN_OR_RETURN(Literal result, Literal::Create(shape));
  std::mt19937_64 engine(AdvanceRandomState(1)[0]);
  ArrayTypeSwitch(shape.element_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (op.attrs<RngAttrs>().distribution == RandomDistribution::kUniform) {
      FillUniform<T>(*operands[0], *operands[1], engine, &result);
    } else if constexpr (std::is_floating_point_v<T> || is_small_float<T>) {
      std::normal_distribution<double> unit(0, 1);
      const double mean = operands[0]->GetAsDouble(0), deviation = operands[1]->GetAsDouble(0);
      Fill<T>(&result, [&] { return mean + deviation * unit(engine); });
    }
  });
  return result;
}

template <>
absl::StatusOr<Shape> Infer<HloOpcode::kRngGetAndUpdateState>(const OpView& op) {
  const int64_t delta = op.attrs<RngGetAndUpdateStateAttrs>().delta;
  if (delta < 0) return InvalidOp(op, "delta must not be negative, but is ", delta);
  return Shape(U64, {2});
}

template <>
absl::StatusOr<Literal> Evaluate<HloOpcode::kRngGetAndUpdateState>(const OpView& op, const Shape&, Operands) {
  const std::array<uint64_t, 2> state = AdvanceRandomState(op.attrs<RngGetAndUpdateStateAttrs>().delta);
  return LiteralUtil::CreateR1<uint64_t>({state[0], state[1]});
}

}  // namespace hilo
