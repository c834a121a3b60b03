// Many threads that compile, run, cancel and give up different programs of one client at the same time, for a while:
// every result is what one thread alone gets, and nothing hangs. HILO_SOAK_SECONDS makes it longer.
#include <atomic>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "hilo/client.h"

namespace hilo {
namespace {

constexpr int kPrograms = 12;
constexpr int kThreads = 16;

// Programs that differ in shapes, ops and constants; the last ones never end.
constexpr int kFirstEndless = kPrograms - 2;
std::string ConcurrentProgram(int i) {
  const char* const unary[] = {"negate", "exponential", "tanh", "abs", "sine"};
  const std::string rows = absl::StrCat(3 + i * 5), columns = absl::StrCat(5 + i * 37),
                    shape = absl::StrCat("f32[", rows, ",", columns, "]");
  if (i >= kFirstEndless) {
    return absl::StrCat("HloModule endless\nagain { p = ", shape,
                        " parameter(0)  ROOT t = pred[] constant(true) }\nmore { p = ", shape,
                        " parameter(0)  ROOT q = ", shape, " cosine(p) }\nENTRY main { x = ", shape,
                        " parameter(0)  ROOT w = ", shape, " while(x), condition=again, body=more }\n");
  }
  return absl::StrCat(
      "HloModule m\nsum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }\nENTRY main {\n  "
      "x = ",
      shape, " parameter(0)\n  k = f32[] constant(", i, ")\n  b = ", shape,
      " broadcast(k), dimensions={}\n  y = ", shape, " ", unary[i % 5], "(x)\n  z = ", shape, " add(y, b)\n  t = f32[",
      columns, ",", rows, "] transpose(z), dimensions={1,0}\n  d = f32[", rows, ",", rows,
      "] dot(z, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n  zero = f32[] constant(0)\n  s = f32[", rows,
      "] reduce(d, zero), dimensions={1}, to_apply=sum\n  ROOT r = (f32[", rows, ",", rows, "], f32[", rows,
      "]) tuple(d, s)\n}\n");
}

Literal Numbers(const Shape& shape) {
  Literal literal = *Literal::Create(shape);
  float* const values = reinterpret_cast<float*>(literal.untyped_data().data());
  for (int64_t i = 0; i < ShapeUtil::ElementsIn(shape); ++i)
    values[i] = static_cast<float>((i * 7919 + 13) % 1009) / 512.0f - 1.0f;
  return literal;
}

class ConcurrentSoak : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto client = Client::Create({.platform = GetParam(), .num_threads = 3});
    ASSERT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
    for (int i = 0; i < kPrograms; ++i) {
      auto executable = client_->CompileHloText(ConcurrentProgram(i));
      ASSERT_TRUE(executable.ok()) << executable.status();
      arguments_.push_back(Numbers((*executable)->program_shape().parameters[0]));
      if (i < kFirstEndless) {
        auto result = (*executable)->ExecuteLiterals({&arguments_[i]});
        ASSERT_TRUE(result.ok()) << result.status();
        expected_.push_back(*std::move(result));
      }
      kept_.push_back(*std::move(executable));
    }
  }

  // One thing that a user may do; what is wrong with what came of it.
  std::string DoSomething(std::mt19937& random) {
    const int i = static_cast<int>(random() % kPrograms);
    std::unique_ptr<Executable> own;
    if (random() % 4 == 0) {
      auto compiled = client_->CompileHloText(ConcurrentProgram(i));
      if (!compiled.ok()) return compiled.status().ToString();
      own = *std::move(compiled);
    }
    if (random() % 16 == 0 && client_->CompileHloText(absl::StrCat(ConcurrentProgram(i), "}")).ok())
      return "a program with a brace too many is compiled";
    const Executable& executable = own != nullptr ? *own : *kept_[i];
    return i < kFirstEndless ? RunToItsEnd(executable, i) : RunForAWhile(executable, i, random);
  }

  std::string RunToItsEnd(const Executable& executable, int i) {
    const auto result = executable.ExecuteLiterals({&arguments_[i]});
    if (!result.ok()) return result.status().ToString();
    return *result == expected_[i] ? "" : absl::StrCat("another result of program ", i);
  }

  // Ended by a deadline, from outside, or given up.
  std::string RunForAWhile(const Executable& executable, int i, std::mt19937& random) {
    auto argument = client_->BufferFromLiteral(arguments_[i], 0);
    if (!argument.ok()) return argument.status().ToString();
    const auto token = std::make_shared<CancellationToken>();
    const bool by_deadline = random() % 2 == 0;
    ExecuteOptions options{.cancellation = token};
    if (by_deadline) options.deadline = absl::Milliseconds(3);
    auto results = executable.Execute({argument->get()}, options);
    if (!results.ok()) return absl::IsDeadlineExceeded(results.status()) ? "" : results.status().ToString();
    if (!by_deadline) {
      absl::SleepFor(absl::Microseconds(random() % 2000));
      token->Cancel();
    }
    const absl::Status ended = (*results)[0]->Await();
    const bool as_told = by_deadline ? absl::IsDeadlineExceeded(ended) : absl::IsCancelled(ended);
    return as_told ? "" : absl::StrCat("an endless run ended with ", ended.ToString());
  }

  std::unique_ptr<Client> client_;
  std::vector<std::unique_ptr<Executable>> kept_;
  std::vector<Literal> arguments_, expected_;
};

TEST_P(ConcurrentSoak, ResultsAreThoseOfOneThread) {
  const char* const seconds = std::getenv("HILO_SOAK_SECONDS");
  const absl::Time end = absl::Now() + absl::Seconds(seconds != nullptr ? std::atof(seconds) : 1.5);
  std::atomic<int64_t> done{0};
  std::vector<std::string> wrong(kThreads);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      std::mt19937 random(thread + 1);
      do {
        wrong[thread] = DoSomething(random);
        ++done;
      } while (wrong[thread].empty() && absl::Now() < end);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& one : wrong) EXPECT_EQ(one, "");
  EXPECT_GE(done, kThreads);
  std::printf("%lld things done by %d threads\n", static_cast<long long>(done.load()), kThreads);
  kept_.clear();
  EXPECT_EQ(client_->memory_stats().bytes_in_use, 0);
}

INSTANTIATE_TEST_SUITE_P(Platforms, ConcurrentSoak, testing::Values("cpu", "cuda-emulated", "interpreter"),
                         [](const auto& info) {
                           return std::string(info.param == absl::string_view("cuda-emulated") ? "emulated"
                                                                                               : info.param);
                         });

}  // namespace
}  // namespace hilo
