#include "backends/llvm/jit/math_symbols.h"

#include <cmath>
#include <vector>

#include "backends/llvm/jit/circular.h"

namespace hilo::codegen {
namespace {

template <typename Function>
MathSymbol Row(const char* name, Function* function) {
  return {name, reinterpret_cast<void*>(function)};
}
using F1 = float(float);
using D1 = double(double);
using F2 = float(float, float);
using D2 = double(double, double);
using F3 = float(float, float, float);
using D3 = double(double, double, double);
// The library's double functions lose bits of huge arguments that are close to a multiple of pi / 2.
double Circular(double x, double (*function)(double), long double (*wide)(long double)) {
  return std::fabs(x) < 0x1p30 ? function(x) : static_cast<double>(wide(x));
}

}  // namespace

absl::Span<const MathSymbol> MathSymbols() {
  static const auto* const symbols = new std::vector<MathSymbol>{
      Row<D1>("hilo_math_sin", [](double x) { return Circular(x, std::sin, std::sin); }),
      Row<D1>("hilo_math_cos", [](double x) { return Circular(x, std::cos, std::cos); }),
      Row<D1>("hilo_math_tan", [](double x) { return Circular(x, std::tan, std::tan); }),
      Row<F1>("hilo_math_sinf", Sin),
      Row<F1>("hilo_math_cosf", Cos),
      Row<F1>("hilo_math_tanf", Tan),
      Row<D2>("hilo_math_pow", std::pow),
      Row<F2>("hilo_math_fmodf", std::fmod),
      Row<D2>("hilo_math_fmod", std::fmod),
      // Functions that LLVM calls where the target has no instruction for an intrinsic.
      Row<F2>("fmodf", std::fmod),
      Row<D2>("fmod", std::fmod),
      Row<F3>("fmaf", std::fma),
      Row<D3>("fma", std::fma),
      Row<F1>("floorf", std::floor),
      Row<D1>("floor", std::floor),
      Row<F1>("ceilf", std::ceil),
      Row<D1>("ceil", std::ceil),
      Row<F1>("truncf", std::trunc),
      Row<D1>("trunc", std::trunc),
      Row<F1>("roundf", std::round),
      Row<D1>("round", std::round),
      Row<F1>("rintf", std::rint),
      Row<D1>("rint", std::rint),
      // The rounding mode is always to nearest even, in which these two are rint.
      Row<F1>("roundevenf", std::rint),
      Row<D1>("roundeven", std::rint),
  };
  return *symbols;
}

}  // namespace hilo::codegen
