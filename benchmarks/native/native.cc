// The programs of native_programs.py by hand. Usage: native PROGRAM INPUTS RESULTS SECONDS: reads the arguments as
// bytes, one array after the other, writes the results in the same way, and prints the least time of a call in
// microseconds.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace {

// Vector code for -O3, accurate to 2 units in the last place: the compiler calls libm's functions one by one.
inline float Exp(float x) {
  x = std::min(std::max(x, -87.0f), 88.0f);
  const float n = std::nearbyintf(x * 1.44269504088896341f);
  const float r = std::fmaf(n, 2.12194440e-4f, std::fmaf(n, -0.693359375f, x));
  float p = 1.9875691500e-4f;
  p = std::fmaf(p, r, 1.3981999507e-3f);
  p = std::fmaf(p, r, 8.3334519073e-3f);
  p = std::fmaf(p, r, 4.1665795894e-2f);
  p = std::fmaf(p, r, 1.6666665459e-1f);
  p = std::fmaf(p, r, 5.0000001201e-1f);
  p = std::fmaf(p, r * r, r) + 1.0f;
  const int32_t bits = (static_cast<int32_t>(n) + 127) << 23;
  float scale;
  std::memcpy(&scale, &bits, sizeof(scale));
  return p * scale;
}
inline float Sigmoid(float x) { return 1.0f / (1.0f + Exp(-x)); }
// A quotient of polynomials within 3 units in the last place; 1 from 7.9 on.
inline float Tanh(float x) {
  x = std::min(std::max(x, -7.90531110763549805f), 7.90531110763549805f);
  const float s = x * x;
  float p = -2.76076847742355e-16f;
  p = std::fmaf(p, s, 2.00018790482477e-13f);
  p = std::fmaf(p, s, -8.60467152213735e-11f);
  p = std::fmaf(p, s, 5.12229709037114e-08f);
  p = std::fmaf(p, s, 1.48572235717979e-05f);
  p = std::fmaf(p, s, 6.37261928875436e-04f);
  p = std::fmaf(p, s, 4.89352455891786e-03f);
  float q = 1.19825839466702e-06f;
  q = std::fmaf(q, s, 1.18534705686654e-04f);
  q = std::fmaf(q, s, 2.26843463243900e-03f);
  q = std::fmaf(q, s, 4.89352518554385e-03f);
  return x * p / q;
}

class Arguments {
 public:
  explicit Arguments(const std::vector<char>& bytes) : bytes_(bytes) {}
  template <typename T>
  const T* Next(size_t count) {
    const char* at = bytes_.data() + offset_;
    offset_ += count * sizeof(T);
    if (offset_ > bytes_.size()) std::abort();
    return reinterpret_cast<const T*>(at);
  }

 private:
  const std::vector<char>& bytes_;
  size_t offset_ = 0;
};

class Results {
 public:
  template <typename T>
  T* Next(size_t count) {
    bytes_.emplace_back(count * sizeof(T));
    return reinterpret_cast<T*>(bytes_.back().data());
  }
  void Write(std::ostream& out) const {
    for (const std::vector<char>& part : bytes_) out.write(part.data(), static_cast<std::streamsize>(part.size()));
  }

 private:
  std::vector<std::vector<char>> bytes_;
};

using Call = std::function<void()>;

Call LstmSteps(Arguments in, Results& out) {
  const float *inputs = in.Next<float>(3200), *weights = in.Next<float>(32 * 128),
              *recurrent = in.Next<float>(32 * 128), *bias = in.Next<float>(128);
  float *h_out = out.Next<float>(32), *c_out = out.Next<float>(32);
  return [=] {
    float h[32] = {}, c[32] = {};
    for (int t = 0; t < 100; ++t) {
      float gates[128];
      std::copy_n(bias, 128, gates);
      for (int k = 0; k < 32; ++k) {
        const float x = inputs[t * 32 + k], y = h[k];
        for (int j = 0; j < 128; ++j) gates[j] += x * weights[k * 128 + j] + y * recurrent[k * 128 + j];
      }
      for (int j = 0; j < 32; ++j) {
        c[j] = Sigmoid(gates[32 + j]) * c[j] + Sigmoid(gates[j]) * Tanh(gates[64 + j]);
        h[j] = Sigmoid(gates[96 + j]) * Tanh(c[j]);
      }
    }
    std::copy_n(h, 32, h_out);
    std::copy_n(c, 32, c_out);
  };
}

Call RungeKutta(Arguments in, Results& out) {
  const float* start = in.Next<float>(3);
  float* result = out.Next<float>(3);
  return [=] {
    float y[3] = {start[0], start[1], start[2]};
    const auto rate = [](const float* y, float* k) {
      k[0] = 10 * (y[1] - y[0]);
      k[1] = y[0] * (28 - y[2]) - y[1];
      k[2] = y[0] * y[1] - static_cast<float>(8.0 / 3) * y[2];
    };
    for (int t = 0; t < 1000; ++t) {
      float k1[3], k2[3], k3[3], k4[3], at[3];
      rate(y, k1);
      for (int i = 0; i < 3; ++i) at[i] = y[i] + 0.0005f * k1[i];
      rate(at, k2);
      for (int i = 0; i < 3; ++i) at[i] = y[i] + 0.0005f * k2[i];
      rate(at, k3);
      for (int i = 0; i < 3; ++i) at[i] = y[i] + 0.001f * k3[i];
      rate(at, k4);
      for (int i = 0; i < 3; ++i) y[i] += static_cast<float>(0.001 / 6) * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
    }
    std::copy_n(y, 3, result);
  };
}

template <int M, int K, int N>
inline void Multiply(const float (&a)[M][K], const float (&b)[K][N], float (&c)[M][N]) {
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < N; ++j) {
      float sum = 0;
      for (int k = 0; k < K; ++k) sum += a[i][k] * b[k][j];
      c[i][j] = sum;
    }
  }
}
template <int M, int N>
inline void Transpose(const float (&a)[M][N], float (&b)[N][M]) {
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < N; ++j) b[j][i] = a[i][j];
  }
}

Call KalmanFilter(Arguments in, Results& out) {
  const float *measured = in.Next<float>(400), *a0 = in.Next<float>(16), *h0 = in.Next<float>(8),
              *q0 = in.Next<float>(16), *r0 = in.Next<float>(4);
  float *x_out = out.Next<float>(4), *p_out = out.Next<float>(16);
  return [=] {
    float a[4][4], h[2][4], q[4][4], r[2][2], at[4][4], ht[4][2];
    std::memcpy(a, a0, sizeof(a));
    std::memcpy(h, h0, sizeof(h));
    std::memcpy(q, q0, sizeof(q));
    std::memcpy(r, r0, sizeof(r));
    Transpose(a, at);
    Transpose(h, ht);
    float x[4][1] = {}, p[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    for (int t = 0; t < 200; ++t) {
      float next[4][1], ap[4][4], predicted[4][4], hp[2][4], s[2][2], pht[4][2], k[4][2], hx[2][1], kh[4][4], khp[4][4];
      Multiply(a, x, next);
      Multiply(a, p, ap);
      Multiply(ap, at, predicted);
      for (int i = 0; i < 16; ++i) predicted[i / 4][i % 4] += q[i / 4][i % 4];
      Multiply(h, predicted, hp);
      Multiply(hp, ht, s);
      for (int i = 0; i < 4; ++i) s[i / 2][i % 2] += r[i / 2][i % 2];
      const float det = s[0][0] * s[1][1] - s[0][1] * s[1][0];
      const float inverse[2][2] = {{s[1][1] / det, -s[0][1] / det}, {-s[1][0] / det, s[0][0] / det}};
      Multiply(predicted, ht, pht);
      Multiply(pht, inverse, k);
      Multiply(h, next, hx);
      float difference[2][1] = {{measured[2 * t] - hx[0][0]}, {measured[2 * t + 1] - hx[1][0]}}, change[4][1];
      Multiply(k, difference, change);
      for (int i = 0; i < 4; ++i) x[i][0] = next[i][0] + change[i][0];
      Multiply(k, h, kh);
      Multiply(kh, predicted, khp);
      for (int i = 0; i < 16; ++i) p[i / 4][i % 4] = predicted[i / 4][i % 4] - khp[i / 4][i % 4];
    }
    std::memcpy(x_out, x, sizeof(x));
    std::memcpy(p_out, p, sizeof(p));
  };
}

Call NBody(Arguments in, Results& out) {
  const float *position = in.Next<float>(192), *velocity = in.Next<float>(192), *mass = in.Next<float>(64);
  float *p = out.Next<float>(192), *v = out.Next<float>(192);
  return [=] {
    std::copy_n(position, 192, p);
    std::copy_n(velocity, 192, v);
    for (int t = 0; t < 10; ++t) {
      float acceleration[3][64] = {};
      for (int j = 0; j < 64; ++j) {  // vectors of bodies, on which body j acts
        for (int i = 0; i < 64; ++i) {
          const float dx = p[j] - p[i], dy = p[64 + j] - p[64 + i], dz = p[128 + j] - p[128 + i];
          const float squared = dx * dx + dy * dy + dz * dz + 0.01f;
          const float force = mass[j] / (squared * std::sqrt(squared));
          acceleration[0][i] += force * dx;
          acceleration[1][i] += force * dy;
          acceleration[2][i] += force * dz;
        }
      }
      for (int i = 0; i < 192; ++i) v[i] += 0.01f * acceleration[i / 64][i % 64];
      for (int i = 0; i < 192; ++i) p[i] += 0.01f * v[i];
    }
  };
}

Call EditDistance(Arguments in, Results& out) {
  const int32_t *a = in.Next<int32_t>(64), *b = in.Next<int32_t>(64);
  int32_t* result = out.Next<int32_t>(1);
  return [=] {
    int32_t row[65];
    for (int i = 0; i < 65; ++i) row[i] = i;
    for (int i = 0; i < 64; ++i) {
      int32_t above_left = row[0], left = i + 1;
      row[0] = left;
      for (int j = 0; j < 64; ++j) {
        const int32_t above = row[j + 1];
        left = std::min(std::min(left, above) + 1, above_left + (a[i] != b[j] ? 1 : 0));
        above_left = above;
        row[j + 1] = left;
      }
    }
    *result = row[64];
  };
}

Call ScalarGradient(Arguments in, Results& out) {
  const float *leaves = in.Next<float>(60), *start = in.Next<float>(8);
  float* gradient = out.Next<float>(60);
  return [=] {
    float x[21][8], squashed[20][8], back[8];
    std::copy_n(start, 8, x[0]);
    for (int l = 0; l < 20; ++l) {
      for (int i = 0; i < 8; ++i) {
        squashed[l][i] = Tanh(leaves[3 * l] * x[l][i] + leaves[3 * l + 1]);
        x[l + 1][i] = squashed[l][i] * leaves[3 * l + 2];
      }
    }
    std::fill_n(back, 8, 1.0f);
    for (int l = 19; l >= 0; --l) {
      float inner[8], sums[3] = {};
      for (int i = 0; i < 8; ++i) inner[i] = back[i] * leaves[3 * l + 2] * (1 - squashed[l][i] * squashed[l][i]);
      for (int i = 0; i < 8; ++i) sums[0] += inner[i] * x[l][i];
      for (int i = 0; i < 8; ++i) sums[1] += inner[i];
      for (int i = 0; i < 8; ++i) sums[2] += back[i] * squashed[l][i];
      for (int i = 0; i < 8; ++i) back[i] = inner[i] * leaves[3 * l];
      std::copy_n(sums, 3, gradient + 3 * l);
    }
  };
}

Call TableWalk(Arguments in, Results& out) {
  const int32_t *table = in.Next<int32_t>(1024), *start = in.Next<int32_t>(1);
  int32_t *at_out = out.Next<int32_t>(1), *count_out = out.Next<int32_t>(1), *total_out = out.Next<int32_t>(1);
  return [=] {
    int32_t at = *start, count = 0;
    uint32_t total = 0;
    while (table[at] % 4093 != 0 && count < 100000) {
      const int32_t value = table[at];
      at = (at + value) % 1024;
      total ^= static_cast<uint32_t>(value) * static_cast<uint32_t>(count);
      ++count;
    }
    *at_out = at;
    *count_out = count;
    *total_out = static_cast<int32_t>(total);
  };
}

Call Mandelbrot(Arguments in, Results& out) {
  const float *cr = in.Next<float>(4096), *ci = in.Next<float>(4096);
  int32_t* counts = out.Next<int32_t>(4096);
  return [=] {
    constexpr int kBlock = 64;  // points whose state stays in registers and the nearest cache
    for (int first = 0; first < 4096; first += kBlock) {
      float r[kBlock] = {}, i[kBlock] = {}, c_r[kBlock], c_i[kBlock];
      int32_t count[kBlock] = {};
      std::copy_n(cr + first, kBlock, c_r);
      std::copy_n(ci + first, kBlock, c_i);
      for (int t = 0; t < 50; ++t) {
        for (int k = 0; k < kBlock; ++k) {
          const float r2 = r[k] * r[k], i2 = i[k] * i[k];
          const bool inside = r2 + i2 <= 4;
          const float next_i = 2 * r[k] * i[k] + c_i[k], next_r = r2 - i2 + c_r[k];
          r[k] = inside ? next_r : r[k];
          i[k] = inside ? next_i : i[k];
          count[k] += inside ? 1 : 0;
        }
      }
      std::copy_n(count, kBlock, counts + first);
    }
  };
}

Call Metropolis(Arguments in, Results& out) {
  const uint32_t* seed_in = in.Next<uint32_t>(1);
  const float* x_in = in.Next<float>(1);
  uint32_t* seed_out = out.Next<uint32_t>(1);
  float *x_out = out.Next<float>(1), *at_out = out.Next<float>(1), *total_out = out.Next<float>(1);
  return [=] {
    const auto shuffled = [](uint32_t s) {
      s ^= s << 13;
      s ^= s >> 17;
      return s ^ (s << 5);
    };
    const auto uniform = [](uint32_t s) { return static_cast<float>(s >> 8) * 0x1p-24f; };
    const auto density = [](float x) { return Exp(-(x - 2) * (x - 2)) + Exp(-(x + 2) * (x + 2) * 0.5f); };
    uint32_t seed = *seed_in;
    float x = *x_in, at = density(x), total = 0;
    // Of 1,000 steps the processor would know all decisions by heart from one call to the next.
    for (int t = 0; t < 100'000; ++t) {
      const uint32_t first = shuffled(seed);
      seed = shuffled(first);
      const float proposal = x + (uniform(first) - 0.5f) * 3, there = density(proposal);
      const bool accepted = uniform(seed) * at < there;
      x = accepted ? proposal : x;
      at = accepted ? there : at;
      total += x;
    }
    *seed_out = seed;
    *x_out = x;
    *at_out = at;
    *total_out = total;
  };
}

Call ImplicitEuler(Arguments in, Results& out) {
  const float* start = in.Next<float>(3);
  float* results[3] = {out.Next<float>(1), out.Next<float>(1), out.Next<float>(1)};
  return [=] {
    const float h = 0.01f;
    float a = start[0], b = start[1], c = start[2];
    for (int t = 0; t < 100; ++t) {
      const float old[3] = {a, b, c};
      for (int i = 0; i < 3; ++i) {
        const float reaction = 0.04f * a, fast = 1e4f * b * c, slow = 3e7f * b * b;
        const float f0 = a - old[0] - h * (fast - reaction), f1 = b - old[1] - h * (reaction - fast - slow),
                    f2 = c - old[2] - h * slow;
        const float j00 = 1 + h * 0.04f, j01 = -h * 1e4f * c, j02 = -h * 1e4f * b;
        const float j10 = -h * 0.04f, j11 = 1 + h * (1e4f * c + 6e7f * b), j12 = h * 1e4f * b, j21 = -h * 6e7f * b;
        const float m00 = j11 - j12 * j21, m01 = j10, m02 = j10 * j21;
        const float det = j00 * m00 - j01 * m01 + j02 * m02;
        const float x0 = f0 * m00 - j01 * (f1 - j12 * f2) + j02 * (f1 * j21 - j11 * f2);
        const float x1 = j00 * (f1 - j12 * f2) - f0 * m01 + j02 * (j10 * f2);
        const float x2 = j00 * (j11 * f2 - f1 * j21) - j01 * (j10 * f2) + f0 * m02;
        a -= x0 / det;
        b -= x1 / det;
        c -= x2 / det;
      }
    }
    *results[0] = a;
    *results[1] = b;
    *results[2] = c;
  };
}

double Seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Calls in groups of at least 20 us, so that reading the clock costs nothing.
double LeastMicroseconds(const Call& call, double seconds) {
  double start = Seconds();
  call();
  const int group = static_cast<int>(std::clamp(20e-6 / std::max(Seconds() - start, 1e-9), 1.0, 1e5));
  double least = 1e9;
  for (const double end = Seconds() + seconds; Seconds() < end;) {
    start = Seconds();
    for (int i = 0; i < group; ++i) call();
    least = std::min(least, (Seconds() - start) / group);
  }
  return 1e6 * least;
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, Call (*)(Arguments, Results&)> programs = {
      {"lstm_steps", LstmSteps},       {"runge_kutta", RungeKutta},
      {"kalman_filter", KalmanFilter}, {"n_body", NBody},
      {"edit_distance", EditDistance}, {"scalar_gradient", ScalarGradient},
      {"table_walk", TableWalk},       {"mandelbrot", Mandelbrot},
      {"metropolis", Metropolis},      {"implicit_euler", ImplicitEuler}};
  const auto program = argc == 5 ? programs.find(argv[1]) : programs.end();
  if (program == programs.end()) {
    std::fprintf(stderr, "usage: %s PROGRAM INPUTS RESULTS SECONDS\n", argv[0]);
    return 2;
  }
  std::ifstream file(argv[2], std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  Results results;
  const Call call = program->second(Arguments(bytes), results);
  std::printf("%.6g\n", LeastMicroseconds(call, std::atof(argv[4])));
  std::ofstream written(argv[3], std::ios::binary);
  results.Write(written);
  return written.good() ? 0 : 1;
}
