// What a run costs beside its arithmetic: a scalar addition through the C++ API, with buffers on
// the device. At most 1 us is allowed.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "hilo/client.h"
#include "hilo/xla_builder.h"

namespace {

constexpr int kRounds = 20;
constexpr int kRunsARound = 20000;
constexpr double kMaxNanoseconds = 1000;

absl::StatusOr<double> NanosecondsARun(const hilo::Executable& add, hilo::Buffer* x, hilo::Buffer* y) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kRunsARound; ++i) {
    const auto result = add.Execute({x, y});
    if (!result.ok()) return result.status();
  }
  const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
  return time.count() / kRunsARound;
}

absl::StatusOr<double> Measure() {
  hilo::XlaBuilder builder("add");
  const hilo::Shape scalar = hilo::ShapeUtil::MakeScalarShape(hilo::F32);
  const hilo::XlaOp sum = hilo::Parameter(&builder, 0, scalar, "x") + hilo::Parameter(&builder, 1, scalar, "y");
  auto computation = builder.Build(sum);
  if (!computation.ok()) return computation.status();
  auto client = hilo::Client::Create({.platform = "cpu"});
  if (!client.ok()) return client.status();
  auto add = (*client)->Compile(*computation);
  if (!add.ok()) return add.status();
  auto x = (*client)->BufferFromLiteral(hilo::LiteralUtil::CreateR0<float>(1));
  auto y = (*client)->BufferFromLiteral(hilo::LiteralUtil::CreateR0<float>(2));
  if (!x.ok() || !y.ok()) return x.ok() ? y.status() : x.status();
  double best = HUGE_VAL;
  for (int round = 0; round < kRounds; ++round) {
    auto time = NanosecondsARun(**add, x->get(), y->get());
    if (!time.ok()) return time.status();
    best = std::min(best, *time);
  }
  return best;
}

}  // namespace

int main() {
  const absl::StatusOr<double> best = Measure();
  if (!best.ok()) {
    std::fprintf(stderr, "%s\n", best.status().ToString().c_str());
    return 2;
  }
  std::printf("scalar add: %.0f ns a run (at most %.0f)\n", *best, kMaxNanoseconds);
  return *best <= kMaxNanoseconds ? 0 : 1;
}
