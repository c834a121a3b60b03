#include "backends/cpu/fft/lane_plan.h"

#include <cmath>
#include <numbers>
#include <utility>

#include "backends/cpu/fft/unit_roots.h"

namespace hilo::cpu::fft {

std::optional<std::vector<int>> RadicesOf(int64_t n) {
  std::vector<int> radices;
  int twos = 0;
  while (n % 2 == 0) {
    n /= 2;
    ++twos;
  }
  // Radix 8, and radix 4 instead of a single 2.
  while (twos > 4 || twos == 3) {
    radices.push_back(8);
    twos -= 3;
  }
  for (; twos >= 2; twos -= 2) radices.push_back(4);
  if (twos == 1) radices.push_back(2);
  for (; n % 9 == 0; n /= 9) radices.push_back(9);
  for (int p = 3; p <= kMaxRadix && n > 1; p += 2) {
    while (n % p == 0) {
      radices.push_back(p);
      n /= p;
    }
  }
  if (n > 1) return std::nullopt;
  return radices;
}

double PassCost(const std::vector<int>& radices) {
  double cost = 1;  // load and store
  for (int radix : radices) cost += radix <= 5 ? 1 : radix <= 9 ? 1.4 : radix * 0.3;
  return cost;
}

double CacheCost(int64_t bytes) { return bytes <= (32 << 10) ? 1 : bytes <= (512 << 10) ? 1.25 : 2; }

template <typename T>
void LanePlan<T>::AddStage(int radix, int64_t stride, int64_t groups, int64_t rows, int64_t n) {
  Stage<T>& stage = fft.stages[fft.stage_count++];
  stage.radix = radix;
  stage.stride = stride;
  stage.groups = groups;
  auto twiddles = std::make_unique<T[]>(2 * rows * (radix - 1));
  const UnitRoots<T> roots(n);
  for (int64_t p = 0; p < rows; ++p) {
    for (int j = 1; j < radix; ++j) {
      T* at = twiddles.get() + 2 * (p * (radix - 1) + j - 1);
      roots.At(p * j, at, at + 1);
    }
  }
  stage.twiddles = twiddles.get();
  tables.push_back(std::move(twiddles));
}

template <typename T>
LanePlan<T> LanePlan<T>::Complex(int64_t length, const std::vector<int>& radices) {
  LanePlan plan;
  plan.pass_cost = PassCost(radices);
  plan.fft.length = length;
  int64_t stride = 1;
  for (int radix : radices) {
    const int64_t rest = length / stride;
    plan.AddStage(radix, stride, rest / radix, rest / radix, rest);
    stride *= radix;
    auto unit_roots = std::make_unique<T[]>(2 * radix);
    for (int k = 0; k < radix; ++k) {
      unit_roots[2 * k] = static_cast<T>(std::cos(2 * std::numbers::pi_v<long double> * k / radix));
      unit_roots[2 * k + 1] = static_cast<T>(std::sin(2 * std::numbers::pi_v<long double> * k / radix));
    }
    plan.fft.stages[plan.fft.stage_count - 1].roots = unit_roots.get();
    plan.tables.push_back(std::move(unit_roots));
  }
  return plan;
}

template <typename T>
std::optional<LanePlan<T>> LanePlan<T>::Real(int64_t length) {
  LanePlan plan;
  plan.fft.length = length;
  int64_t stride = 1;
  std::vector<int> radices;
  for (int radix : {9, 7, 5, 3}) {
    for (; length % (stride * radix) == 0; stride *= radix) {
      plan.AddStage(radix, stride, length / (stride * radix), stride / 2 + 1, stride * radix);
      radices.push_back(radix);
    }
  }
  if (stride != length) return std::nullopt;
  plan.pass_cost = PassCost(radices);
  return plan;
}

template struct LanePlan<float>;
template struct LanePlan<double>;

}  // namespace hilo::cpu::fft
