#include "backends/llvm/jit/object_cache.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "backends/llvm/jit/host_jit.h"
#include "tests/support/ir_text.h"

namespace hilo::codegen {
namespace {

constexpr char kAddOne[] = "define i64 @f(i64 %x) { %y = add i64 %x, 1  ret i64 %y }";
constexpr char kAddTwo[] = "define i64 @f(i64 %x) { %y = add i64 %x, 2  ret i64 %y }";

std::string KeyOf(const HostModule& module, const char* cpu = "x86-64-v3", OptLevel level = OptLevel::kFast) {
  absl::StatusOr<CpuFeatures> features = FeaturesOf(cpu);
  EXPECT_TRUE(features.ok()) << features.status();
  return features.ok() ? ObjectCache::KeyOf(*module.module, *features, level) : "";
}

TEST(ObjectCacheTest, KeysAreOfContentProcessorAndLevel) {
  absl::StatusOr<HostModule> one = ParseIr(kAddOne), same = ParseIr(kAddOne), two = ParseIr(kAddTwo);
  ASSERT_TRUE(one.ok() && same.ok() && two.ok());
  const std::string key = KeyOf(*one);
  EXPECT_EQ(key, KeyOf(*same));
  EXPECT_NE(key, KeyOf(*two));
  EXPECT_NE(key, KeyOf(*one, "x86-64-v4"));
  EXPECT_NE(key, KeyOf(*one, "x86-64-v3", OptLevel::kThorough));
  EXPECT_EQ(KeyOf(HostModule("hilo.0")), KeyOf(HostModule("hilo.7")));
}

TEST(ObjectCacheTest, KeepsWhatWasUsedLast) {
  ObjectCache cache(100);
  cache.Insert("a", std::string(30, 'A'));
  cache.Insert("b", std::string(30, 'B'));
  cache.Insert("c", std::string(30, 'C'));
  EXPECT_EQ(cache.bytes(), 93u);
  EXPECT_TRUE(cache.Find("a").has_value());
  cache.Insert("d", std::string(30, 'D'));
  EXPECT_EQ(cache.bytes(), 93u);
  EXPECT_FALSE(cache.Find("b").has_value());
  EXPECT_EQ(cache.Find("a"), std::string(30, 'A'));
  cache.Insert("large", std::string(100, 'L'));
  EXPECT_FALSE(cache.Find("large").has_value());
  EXPECT_EQ(cache.bytes(), 93u);
  EXPECT_FALSE(ObjectCache(0).enabled());
}

TEST(ObjectCacheTest, ThreadsShareIt) {
  ObjectCache cache(1000);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&cache, thread] {
      for (int i = 0; i < 2000; ++i) {
        const std::string key = std::to_string((i * (thread + 1)) % 50);
        const std::optional<std::string> found = cache.Find(key);
        if (found.has_value()) {
          EXPECT_EQ(*found, "object " + key);
        }
        cache.Insert(key, "object " + key);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(cache.bytes(), 1000u);
  EXPECT_GT(cache.bytes(), 0u);
}

TEST(ObjectCacheTest, EqualModulesAreCompiledOnce) {
  ObjectCache& cache = ObjectCache::OfProcess();
  if (!cache.enabled()) GTEST_SKIP() << "HILO_CODE_CACHE_MB is 0";
  constexpr char kFirst[] = "define i64 @only_here(i64 %x) { %y = add i64 %x, 41  ret i64 %y }";
  constexpr char kOther[] = "define i64 @only_here(i64 %x) { %y = add i64 %x, 42  ret i64 %y }";
  absl::StatusOr<std::unique_ptr<HostJit>> jit = HostJit::Create();
  ASSERT_TRUE(jit.ok()) << jit.status();
  // Returns whether the object of a module was new to the cache.
  const auto compile = [&](const char* text, int64_t expected) {
    absl::StatusOr<HostModule> module = ParseIr(text);
    EXPECT_TRUE(module.ok()) << module.status();
    std::vector<HostModule> modules;
    modules.push_back(*std::move(module));
    const size_t before = cache.bytes();
    auto code = (*jit)->CompileModules(std::move(modules));
    EXPECT_TRUE(code.ok()) << code.status();
    EXPECT_EQ((*code)->LookupFunction<int64_t(int64_t)>("only_here")(1), expected);
    return cache.bytes() > before;
  };
  EXPECT_TRUE(compile(kFirst, 42));
  EXPECT_FALSE(compile(kFirst, 42));
  EXPECT_TRUE(compile(kOther, 43));
}

}  // namespace
}  // namespace hilo::codegen
