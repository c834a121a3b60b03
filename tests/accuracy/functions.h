// The functions whose errors are measured, what they are exactly, and the arguments that try them hardest.
#ifndef HILO_TESTS_ACCURACY_FUNCTIONS_H_
#define HILO_TESTS_ACCURACY_FUNCTIONS_H_

#include <complex>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "hilo/primitive_type.h"

namespace hilo::accuracy {

using Wide = long double;
using WideComplex = std::complex<Wide>;

// A function of one or two operands. `exact` is its value in long double, of arguments that are exact there; null for a
// function that complex numbers, or real ones, lack.
struct Function {
  const char* name;  // the opcode's text
  int arity;
  Wide (*exact)(Wide x, Wide y);
  WideComplex (*exact_complex)(WideComplex x, WideComplex y);
};
absl::Span<const Function> Functions();

// How a type rounds: bits of the significand, and the exponents e of the smallest and largest normal numbers m * 2^e, 1
// <= m < 2.
struct Precision {
  int digits, min_exponent, max_exponent;
};
Precision PrecisionOf(PrimitiveType type);

// |got - exact| in units of the last place of the exact value; infinite where NaN, infinities or the signs of zeros
// differ. An infinity stands for the power of two after the largest number, unless the exact value lies beyond it.
double UlpError(const Precision& precision, Wide got, Wide exact);
// The distance in the plane in units of the last place of the exact value's magnitude. 0 unless the exact value is
// finite and in the normal range: edges are not its subject.
double UlpError(const Precision& precision, WideComplex got, WideComplex exact);

// `count` arguments of F32 or F64, the same in every run: special values, the edges of overflow, places around zeros
// and poles, then numbers over all exponents and over the ranges where functions bend. The first ones are the hard
// ones; of `second`, such as make functions of two operands interesting.
template <typename T>
std::vector<T> Arguments(int64_t count);
template <typename T>
std::vector<T> SecondArguments(const std::vector<T>& first);
// Complex numbers with parts of magnitudes up to 64, some on the axes.
template <typename T>
std::vector<std::complex<T>> ComplexArguments(int64_t count, int64_t seed);

}  // namespace hilo::accuracy

#endif  // HILO_TESTS_ACCURACY_FUNCTIONS_H_
