// Random choices that are the same on every machine.
#ifndef HILO_TESTS_FUZZ_RANDOM_NUMBERS_H_
#define HILO_TESTS_FUZZ_RANDOM_NUMBERS_H_

#include <cstdint>
#include <iterator>
#include <limits>

namespace hilo::fuzz {

// Steele, Lea and Flood's SplitMix64.
class Random {
 public:
  // Neighbouring seeds must not give the same numbers one step apart.
  explicit Random(uint64_t seed) : state_(seed) { state_ = Next() ^ (seed << 32); }

  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // From 0 to n - 1; 0 if n is not positive.
  int64_t Below(int64_t n) { return n <= 0 ? 0 : static_cast<int64_t>(Next() % static_cast<uint64_t>(n)); }
  bool Chance(int percent) { return Below(100) < percent; }
  double Uniform(double low, double high) { return low + (high - low) * (static_cast<double>(Next() >> 11) * 0x1p-53); }
  template <typename List>
  auto Of(const List& list) {
    return list[Below(static_cast<int64_t>(std::size(list)))];
  }
  double SpecialFloat() {
    static constexpr double kInfinity = std::numeric_limits<double>::infinity();
    static constexpr double kSpecials[] = {0.0,  -0.0, kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN(),
                                           1e-5, 0.5,  -0.5,      1.5,        2.5,
                                           100,  -1e3, 1e-40,     1e-310};
    return Of(kSpecials);
  }

 private:
  uint64_t state_;
};

}  // namespace hilo::fuzz

#endif  // HILO_TESTS_FUZZ_RANDOM_NUMBERS_H_
