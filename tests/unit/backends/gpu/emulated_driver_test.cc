// The emulated device: kernels that are right compute what they should in every order of threads and say nothing; each
// planted fault is found.
#include "backends/gpu/emulated/emulated_driver.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "tests/unit/backends/gpu/test_kernels.h"

namespace hilo::gpu {
namespace {

uint64_t AddressBits(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

// A device with one stream and one kernel.
struct Bench {
  std::unique_ptr<EmulatedDriver> driver;
  std::unique_ptr<GpuModule> module;
  std::unique_ptr<GpuStream> stream;
  GpuKernel* kernel = nullptr;

  Bench(const std::string& text, const std::string& name, const EmulatedOptions& options,
        GpuOptLevel level = GpuOptLevel::kThorough) {
    auto made = CreateEmulatedDriver(options);
    EXPECT_TRUE(made.ok()) << made.status();
    driver = *std::move(made);
    const auto code = CompileText(text, {.opt_level = level, .bitcode = true});
    EXPECT_TRUE(code.ok()) << code.status();
    if (!code.ok()) return;
    auto loaded = driver->LoadModule(code->bitcode);
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    if (!loaded.ok()) return;
    module = *std::move(loaded);
    kernel = *module->GetKernel(name);
    stream = *driver->CreateStream();
  }
  template <typename T>
  T* Make(int64_t count, const std::vector<T>& values = {}) {
    T* memory = static_cast<T*>(*driver->Allocate(count * static_cast<int64_t>(sizeof(T))));
    if (!values.empty()) std::memcpy(memory, values.data(), values.size() * sizeof(T));
    return memory;
  }
  // The kinds of reports, once each.
  std::string Kinds() {
    std::string kinds;
    for (const EmulatedReport& report : driver->TakeReports()) {
      if (kinds.find(report.kind) == std::string::npos) absl::StrAppend(&kinds, kinds.empty() ? "" : " ", report.kind);
    }
    return kinds;
  }
};

std::vector<float> CountingNumbers(int64_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

template <typename T>
GpuSlice R(const T* p, int64_t count) {
  return GpuSlice::Read(p, count * static_cast<int64_t>(sizeof(T)));
}
template <typename T>
GpuSlice W(const T* p, int64_t count) {
  return GpuSlice::Write(p, count * static_cast<int64_t>(sizeof(T)));
}

// Forward, backward, random, several threads of the host, checked.
std::vector<EmulatedOptions> Ways() {
  return {{.seed = 0},
          {.seed = 1},
          {.seed = 7},
          {.seed = 3, .host_threads = 2},
          {.check_accesses = true, .seed = 0},
          {.check_accesses = true, .seed = 5}};
}

std::string RunMultiply(const EmulatedOptions& options, const std::string& text, int64_t n, float* last = nullptr) {
  Bench bench(text, "multiply", options);
  if (bench.kernel == nullptr) return "not loaded";
  const std::vector<float> values = CountingNumbers(n);
  float *a = bench.Make(n, values), *b = bench.Make(n, values), *c = bench.Make<float>(n);
  const uint32_t blocks = static_cast<uint32_t>(n / 256 + 1);
  EXPECT_TRUE(bench.stream
                  ->Launch(bench.kernel, {{blocks}, {256}},
                           {AddressBits(a), AddressBits(b), AddressBits(c), static_cast<uint64_t>(n)},
                           {R(a, n), R(b, n), W(c, n)})
                  .ok());
  const absl::Status status = bench.stream->Synchronize();
  const std::string kinds = bench.Kinds();
  EXPECT_EQ(status.ok(), kinds.empty()) << status;
  if (last != nullptr) *last = c[n - 1];
  return kinds;
}

TEST(EmulatedDriverTest, Multiply) {
  for (const EmulatedOptions& options : Ways()) {
    float last = 0;
    EXPECT_EQ(RunMultiply(options, MultiplyKernel(), 1000, &last), "");
    EXPECT_EQ(last, 1000.0f * 1000.0f);
  }
}

TEST(EmulatedDriverTest, OneElementOutOfBounds) {
  EXPECT_EQ(RunMultiply({.check_accesses = true}, MultiplyKernel("sle"), 1000), "global-out-of-bounds");
  // At the end of a page, where the access itself must not happen.
  EXPECT_EQ(RunMultiply({.check_accesses = true}, MultiplyKernel("sle"), 1024), "global-out-of-bounds");
}

std::string RunDoubleFour(int64_t n, int64_t shift) {
  Bench bench(DoubleFourKernel(), "double_four", {.check_accesses = true});
  float *a = bench.Make(n + shift, CountingNumbers(n + shift)), *b = bench.Make<float>(n);
  EXPECT_TRUE(bench.stream
                  ->Launch(bench.kernel, {{4}, {256}},
                           {AddressBits(a + shift), AddressBits(b), static_cast<uint64_t>(n)},
                           {R(a, n + shift), W(b, n)})
                  .ok());
  EXPECT_EQ(bench.stream->Synchronize().ok(), shift == 0 && n % 4 == 0);
  return bench.Kinds();
}

TEST(EmulatedDriverTest, WideAccesses) {
  EXPECT_EQ(RunDoubleFour(1000, 0), "");
  EXPECT_EQ(RunDoubleFour(1001, 0), "global-out-of-bounds");
  EXPECT_EQ(RunDoubleFour(1000, 1), "misaligned");
}

std::string RunBlockSum(const EmulatedOptions& options, const std::string& text, float* sum = nullptr) {
  Bench bench(text, "block_sum", options);
  const int64_t n = 1024;
  float *a = bench.Make(n, CountingNumbers(n)), *out = bench.Make<float>(4);
  EXPECT_TRUE(
      bench.stream->Launch(bench.kernel, {{4}, {256}}, {AddressBits(a), AddressBits(out)}, {R(a, n), W(out, 4)}).ok());
  bench.stream->Synchronize().IgnoreError();
  if (sum != nullptr) *sum = out[0] + out[1] + out[2] + out[3];
  return bench.Kinds();
}

TEST(EmulatedDriverTest, BlockSum) {
  for (const EmulatedOptions& options : Ways()) {
    float sum = 0;
    EXPECT_EQ(RunBlockSum(options, BlockSumKernel(), &sum), "");
    EXPECT_EQ(sum, 1024.0f * 1025.0f / 2);
  }
}

TEST(EmulatedDriverTest, MissingBarrier) {
  const std::string found = RunBlockSum({.check_accesses = true, .seed = 0}, BlockSumKernel('n'));
  EXPECT_TRUE(found.find("race-shared") != std::string::npos) << found;
}

TEST(EmulatedDriverTest, BarrierInABranch) {
  for (bool check : {false, true}) {
    const std::string found = RunBlockSum({.check_accesses = check, .seed = 0}, BlockSumKernel('b'));
    EXPECT_TRUE(found.find("barrier") != std::string::npos || found.find("deadlock") != std::string::npos) << found;
  }
}

// Returns the kinds of reports, and the sums in `sums`.
std::string RunChain(const EmulatedOptions& options, char how, std::vector<uint32_t>* sums) {
  Bench bench(ChainKernel(how), "chain", options);
  const int64_t blocks = 40;
  auto *out = bench.Make(blocks, std::vector<uint32_t>(blocks)), *ticket = bench.Make(1, std::vector<uint32_t>(1));
  EXPECT_TRUE(bench.stream
                  ->Launch(bench.kernel, {{blocks}, {256}}, {AddressBits(out), AddressBits(ticket)},
                           {W(out, blocks), W(ticket, 1)})
                  .ok());
  bench.stream->Synchronize().IgnoreError();
  sums->assign(out, out + blocks);
  return bench.Kinds();
}

// Blocks wait for those that have started before, in any order of starts.
TEST(EmulatedDriverTest, BlocksThatWait) {
  std::vector<uint32_t> sums;
  for (const EmulatedOptions& options : Ways()) {
    EXPECT_EQ(RunChain(options, 't', &sums), "");
    for (uint32_t n = 0; n < sums.size(); ++n) EXPECT_EQ(sums[n], 1 + n * (n + 1) / 2);
  }
}

// Which block a device starts first is its own affair: the last ones would wait for ever.
TEST(EmulatedDriverTest, BlocksThatWaitForOthersToStart) {
  std::vector<uint32_t> sums;
  EXPECT_EQ(RunChain({.seed = 0}, 'i', &sums), "");
  for (const bool check : {false, true})
    EXPECT_EQ(RunChain({.check_accesses = check, .seed = 1}, 'i', &sums), "deadlock");
}

TEST(EmulatedDriverTest, PlainAccessesBetweenBlocks) {
  std::vector<uint32_t> sums;
  EXPECT_EQ(RunChain({.check_accesses = true, .seed = 0}, 'p', &sums), "race-global");
}

TEST(EmulatedDriverTest, MatchingLanes) {
  for (const EmulatedOptions& options : Ways()) {
    Bench bench(MatchKernel(), "match", options);
    uint32_t* out = bench.Make<uint32_t>(256);
    EXPECT_TRUE(bench.stream->Launch(bench.kernel, {{1}, {256}}, {AddressBits(out)}, {W(out, 256)}).ok());
    EXPECT_TRUE(bench.stream->Synchronize().ok());
    EXPECT_EQ(bench.Kinds(), "");
    for (uint32_t t = 0; t < 256; ++t) {
      uint32_t equal = 0;
      for (uint32_t lane = 0; lane < 32; ++lane) equal |= uint32_t{(t / 32 * 32 + lane) % 5 == t % 5} << lane;
      EXPECT_EQ(out[t], equal) << t;
    }
  }
}

// Several threads of a warp read a byte; a warp barrier orders what one of them writes next.
TEST(EmulatedDriverTest, ReadersOfAWarp) {
  for (const bool wait : {false, true}) {
    for (const uint32_t seed : {0u, 1u, 9u}) {
      Bench bench(SharedPairKernel(wait), "pair", {.check_accesses = true, .seed = seed});
      uint32_t* out = bench.Make<uint32_t>(256);
      EXPECT_TRUE(bench.stream->Launch(bench.kernel, {{1}, {256}}, {AddressBits(out)}, {W(out, 256)}).ok());
      bench.stream->Synchronize().IgnoreError();
      EXPECT_EQ(bench.Kinds(), wait ? "" : "race-shared") << seed;
    }
  }
}

std::string RunReverse(const EmulatedOptions& options, bool second, float* first = nullptr) {
  Bench bench(ReverseKernel(second), "reverse", options);
  const int64_t turns = 4, n = 256 * turns;
  float *a = bench.Make(n, CountingNumbers(n)), *out = bench.Make<float>(256);
  EXPECT_TRUE(
      bench.stream
          ->Launch(bench.kernel, {{1}, {256}}, {AddressBits(a), AddressBits(out), turns}, {R(a, n), W(out, 256)})
          .ok());
  bench.stream->Synchronize().IgnoreError();
  if (first != nullptr) *first = out[0];
  return bench.Kinds();
}

TEST(EmulatedDriverTest, BarriersInALoop) {
  for (const EmulatedOptions& options : Ways()) {
    float first = 0;
    EXPECT_EQ(RunReverse(options, true, &first), "");
    EXPECT_EQ(first, 256.0f + 512 + 768 + 1024);
  }
  EXPECT_EQ(RunReverse({.check_accesses = true}, false), "race-shared");
}

std::string RunNeighbour(bool barrier) {
  Bench bench(NeighbourKernel(barrier), "neighbour", {.check_accesses = true, .seed = 0});
  float *a = bench.Make(256, CountingNumbers(256)), *out = bench.Make<float>(256);
  EXPECT_TRUE(
      bench.stream->Launch(bench.kernel, {{1}, {256}}, {AddressBits(a), AddressBits(out)}, {R(a, 256), W(out, 256)})
          .ok());
  bench.stream->Synchronize().IgnoreError();
  if (barrier) {
    EXPECT_EQ(out[0], 2.0f);
  }
  return bench.Kinds();
}

// Returns the kinds of reports, and in `right` whether the results are those of finished copies.
std::string RunCopies(const EmulatedOptions& options, const std::string& text, bool* right) {
  Bench bench(text, "copy", options);
  if (bench.kernel == nullptr) return "not loaded";
  const std::vector<float> values = CountingNumbers(1024);
  float *a = bench.Make(1024, values), *out = bench.Make<float>(256);
  EXPECT_TRUE(
      bench.stream->Launch(bench.kernel, {{1}, {256}}, {AddressBits(a), AddressBits(out)}, {R(a, 1024), W(out, 256)})
          .ok());
  bench.stream->Synchronize().IgnoreError();
  *right = true;
  for (int t = 0; t < 256; ++t) *right &= out[t] == values[1023 - 4 * t];
  return bench.Kinds();
}

TEST(EmulatedDriverTest, AsynchronousCopies) {
  bool right = false;
  for (const EmulatedOptions& options : Ways()) {
    EXPECT_EQ(RunCopies(options, CopyKernel(), &right), "");
    EXPECT_TRUE(right);
    EXPECT_EQ(RunCopies(options, CopyKernel("call void @llvm.nvvm.cp.async.wait.all()"), &right), "");
    EXPECT_TRUE(right);
  }
}

TEST(EmulatedDriverTest, MissingWaitsForCopies) {
  bool right = true;
  for (const EmulatedOptions& options : Ways()) {
    const absl::string_view found = options.check_accesses ? "copy-pending copy-unfinished" : "copy-unfinished";
    EXPECT_EQ(RunCopies(options, CopyKernel(""), &right), found);
    EXPECT_FALSE(right);
    // The newest group may still be under way.
    EXPECT_EQ(RunCopies(options, CopyKernel("call void @llvm.nvvm.cp.async.wait.group(i32 1)"), &right), found);
    EXPECT_FALSE(right);
  }
}

TEST(EmulatedDriverTest, FaultsOfCopies) {
  bool right = true;
  const EmulatedOptions checked{.check_accesses = true, .seed = 0};
  EXPECT_EQ(RunCopies(checked, CopyKernel("call void @llvm.nvvm.cp.async.wait.all()", 8), &right),
            "misaligned uninitialized-shared");
  // Half of the threads copy to behind the array.
  EXPECT_EQ(RunCopies(checked, CopyKernel("call void @llvm.nvvm.cp.async.wait.all()", 6144), &right),
            "race-shared shared-out-of-bounds uninitialized-shared");
}

TEST(EmulatedDriverTest, WarpBarrier) {
  EXPECT_EQ(RunNeighbour(true), "");
  const std::string found = RunNeighbour(false);
  EXPECT_TRUE(found.find("race-shared") != std::string::npos) << found;
}

std::string RunHistogram(const EmulatedOptions& options, bool atomic, int32_t* bin = nullptr) {
  Bench bench(HistogramKernel(atomic), "histogram", options);
  const int64_t n = 4096;
  std::vector<uint8_t> bytes(n);
  for (int64_t i = 0; i < n; ++i) bytes[i] = static_cast<uint8_t>(i * 7 / 3);
  uint8_t* a = bench.Make(n, bytes);
  int32_t* out = bench.Make<int32_t>(256, std::vector<int32_t>(256, 0));
  EXPECT_TRUE(
      bench.stream->Launch(bench.kernel, {{3}, {256}}, {AddressBits(a), AddressBits(out), n}, {R(a, n), W(out, 256)})
          .ok());
  bench.stream->Synchronize().IgnoreError();
  if (bin != nullptr) *bin = out[5] - static_cast<int32_t>(std::count(bytes.begin(), bytes.end(), 5));
  return bench.Kinds();
}

TEST(EmulatedDriverTest, Atomics) {
  for (const EmulatedOptions& options : Ways()) {
    int32_t wrong = 1;
    EXPECT_EQ(RunHistogram(options, true, &wrong), "");
    EXPECT_EQ(wrong, 0);
  }
  const std::string found = RunHistogram({.check_accesses = true}, false);
  EXPECT_TRUE(found.find("race-shared") != std::string::npos) << found;
}

std::string RunTranspose(const EmulatedOptions& options, int pad, bool barrier, double* passes = nullptr) {
  Bench bench(TransposeKernel(pad, barrier), "transpose", options);
  const int64_t n = 64 * 64;
  float *a = bench.Make(n, CountingNumbers(n)), *out = bench.Make<float>(n);
  EXPECT_TRUE(
      bench.stream->Launch(bench.kernel, {{2, 2}, {32, 8}}, {AddressBits(a), AddressBits(out)}, {R(a, n), W(out, n)})
          .ok());
  const absl::Status status = bench.stream->Synchronize();
  if (status.ok()) {
    EXPECT_EQ(out[64 * 3 + 5], a[64 * 5 + 3]);
  }
  if (passes != nullptr) {
    *passes = 0;
    for (const AccessCount& count : bench.driver->TakeAccessCounts()) {
      if (count.shared)
        *passes = std::max(*passes, static_cast<double>(count.units) / static_cast<double>(count.ideal));
      if (!count.shared) {
        EXPECT_EQ(count.units, count.ideal);
      }
    }
  }
  return bench.Kinds();
}

TEST(EmulatedDriverTest, Transpose) {
  for (const EmulatedOptions& options : Ways()) EXPECT_EQ(RunTranspose(options, 33, true), "");
  const std::string found = RunTranspose({.check_accesses = true}, 33, false);
  EXPECT_TRUE(found.find("race-shared") != std::string::npos && found.find("uninitialized-shared") != std::string::npos)
      << found;
}

TEST(EmulatedDriverTest, BankPasses) {
  double passes = 0;
  EXPECT_EQ(RunTranspose({.check_accesses = true, .count_accesses = true}, 33, true, &passes), "");
  EXPECT_EQ(passes, 1.0);
  EXPECT_EQ(RunTranspose({.check_accesses = true, .count_accesses = true}, 32, true, &passes), "");
  EXPECT_EQ(passes, 32.0);
}

TEST(EmulatedDriverTest, BlocksThatWriteTheSameAddress) {
  Bench bench(OverwriteKernel(), "overwrite", {.check_accesses = true});
  auto* out = bench.Make<int32_t>(256);
  EXPECT_TRUE(bench.stream->Launch(bench.kernel, {{1}, {256}}, {AddressBits(out)}, {W(out, 256)}).ok());
  EXPECT_TRUE(bench.stream->Synchronize().ok());
  EXPECT_TRUE(bench.stream->Launch(bench.kernel, {{2}, {256}}, {AddressBits(out)}, {W(out, 256)}).ok());
  EXPECT_FALSE(bench.stream->Synchronize().ok());
  EXPECT_EQ(bench.Kinds(), "race-global");
}

TEST(EmulatedDriverTest, AccessesThatNoSliceDeclares) {
  Bench bench(OverwriteKernel(), "overwrite", {.check_accesses = true});
  auto* out = bench.Make<int32_t>(256);
  EXPECT_TRUE(bench.stream->Launch(bench.kernel, {{1}, {256}}, {AddressBits(out)}, {W(out, 255)}).ok());
  EXPECT_FALSE(bench.stream->Synchronize().ok());
  EXPECT_EQ(bench.Kinds(), "undeclared-access");
}

// What each lane of a warp gets of one operation on its own number, with 32 threads.
std::vector<int32_t> WarpValues(const std::string& operation, std::string* kinds = nullptr, uint32_t threads = 32) {
  Bench bench(KernelText("warp", "ptr noalias align 256 %out", operation + R"(
  %index = zext nneg i32 %t to i64
  %po = getelementptr inbounds i32, ptr %out, i64 %index
  store i32 %y, ptr %po
  ret void)"),
              "warp", {.check_accesses = true});
  auto* out = bench.Make<int32_t>(32);
  EXPECT_TRUE(bench.stream->Launch(bench.kernel, {{1}, {threads}}, {AddressBits(out)}, {W(out, 32)}).ok());
  bench.stream->Synchronize().IgnoreError();
  std::vector<int32_t> values(out, out + 32);
  if (kinds != nullptr) *kinds = bench.Kinds();
  return values;
}

TEST(EmulatedDriverTest, WarpOperations) {
  EXPECT_EQ(WarpValues("%y = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %t, i32 3, i32 0)")[10], 7);
  EXPECT_EQ(WarpValues("%y = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %t, i32 3, i32 0)")[2], 2);
  EXPECT_EQ(WarpValues("%y = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %t, i32 5, i32 31)")[8], 13);
  EXPECT_EQ(WarpValues("%y = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %t, i32 9, i32 31)")[30], 9);
  // Segments of 8 lanes: 24 in the clamp's upper bits.
  EXPECT_EQ(WarpValues("%y = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %t, i32 3, i32 6175)")[21], 19);
  EXPECT_EQ(WarpValues("%odd = trunc i32 %t to i1\n%y = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %odd)")[0],
            static_cast<int32_t>(0xaaaaaaaa));
  EXPECT_EQ(WarpValues("%y = call i32 @llvm.nvvm.redux.sync.add(i32 %t, i32 -1)")[7], 31 * 32 / 2);
  // Half a warp, in a block that has no more threads.
  EXPECT_EQ(WarpValues("%y = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 65535, i32 %t, i32 1, i32 31)", nullptr, 16)[4],
            5);
}

// Lane l has elements 4 (l % 4) to 4 (l % 4) + 3 of row l / 4: here l + 1 in the first of them and 0 elsewhere, and of
// the column l / 4 of the other side a 1 in the first. So the sums of row r are those of its four lanes.
constexpr char kMultiply[] = R"(
  %x = add i32 %t, 1
  %all = call { i32, i32, i32, i32 } @llvm.nvvm.mma.m16n8k32.row.col.s8(i32 %x, i32 0, i32 0, i32 0, i32 1, i32 0, i32 7, i32 7, i32 7, i32 7)
  %y = extractvalue { i32, i32, i32, i32 } %all, )";

TEST(EmulatedDriverTest, MatrixOperations) {
  const std::vector<int32_t> first = WarpValues(absl::StrCat(kMultiply, 0)),
                             lower = WarpValues(absl::StrCat(kMultiply, 2));
  for (int lane = 0; lane < 32; ++lane) {
    const int row = lane / 4;
    EXPECT_EQ(first[lane], 7 + 4 * (4 * row) + 1 + 2 + 3 + 4) << lane;
    EXPECT_EQ(lower[lane], 7) << lane;
  }
  std::string kinds;
  WarpValues(absl::StrCat(kMultiply, 0), &kinds, 16);
  EXPECT_EQ(kinds, "matrix-lanes");
}

TEST(EmulatedDriverTest, ShuffleFaults) {
  std::string kinds;
  WarpValues("%y = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 1, i32 %t, i32 0, i32 31)", &kinds);
  EXPECT_EQ(kinds, "shuffle-mask");
  WarpValues("%y = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 65535, i32 %t, i32 16, i32 31)", &kinds, 16);
  EXPECT_EQ(kinds, "shuffle-lane");
  WarpValues(R"(
  %in = icmp ult i32 %t, 16
  br i1 %in, label %then, label %end
end:
  ret void
then:
  %y = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %t, i32 1, i32 31))",
             &kinds);
  EXPECT_EQ(kinds, "shuffle-exited");
}

TEST(EmulatedDriverTest, SharedBounds) {
  Bench bench(KernelText("far", "ptr noalias align 256 %out", R"(
  %far = add nsw i32 %t, 1
  %mine = getelementptr [256 x i32], ptr addrspace(3) @tile, i32 0, i32 %t
  %theirs = getelementptr [256 x i32], ptr addrspace(3) @tile, i32 0, i32 %far
  store i32 %t, ptr addrspace(3) %mine
  call void @llvm.nvvm.barrier0()
  %y = load i32, ptr addrspace(3) %theirs
  %index = zext nneg i32 %t to i64
  %po = getelementptr inbounds i32, ptr %out, i64 %index
  store i32 %y, ptr %po
  ret void)",
                         "@tile = internal addrspace(3) global [256 x i32] poison, align 16"),
              "far", {.check_accesses = true});
  auto* out = bench.Make<int32_t>(256);
  EXPECT_TRUE(bench.stream->Launch(bench.kernel, {{1}, {256}}, {AddressBits(out)}, {W(out, 256)}).ok());
  EXPECT_FALSE(bench.stream->Synchronize().ok());
  EXPECT_EQ(out[254], 255);
  EXPECT_EQ(bench.Kinds(), "shared-out-of-bounds");
}

TEST(EmulatedDriverTest, DynamicSharedMemory) {
  Bench bench(KernelText("dynamic", "ptr noalias align 256 %out", R"(
  %back = sub nsw i32 255, %t
  %mine = getelementptr inbounds i32, ptr addrspace(3) @rest, i32 %t
  %theirs = getelementptr inbounds i32, ptr addrspace(3) @rest, i32 %back
  store i32 %t, ptr addrspace(3) %mine
  call void @llvm.nvvm.barrier0()
  %y = load i32, ptr addrspace(3) %theirs
  %index = zext nneg i32 %t to i64
  %po = getelementptr inbounds i32, ptr %out, i64 %index
  store i32 %y, ptr %po
  ret void)",
                         "@rest = external addrspace(3) global [0 x i32], align 16"),
              "dynamic", {.check_accesses = true});
  auto* out = bench.Make<int32_t>(256);
  LaunchDimensions dimensions{{1}, {256}, 1024};
  EXPECT_TRUE(bench.stream->Launch(bench.kernel, dimensions, {AddressBits(out)}, {W(out, 256)}).ok());
  EXPECT_TRUE(bench.stream->Synchronize().ok());
  EXPECT_EQ(out[3], 252);
  EXPECT_EQ(bench.Kinds(), "");
  dimensions.dynamic_shared_bytes = 1020;
  EXPECT_TRUE(bench.stream->Launch(bench.kernel, dimensions, {AddressBits(out)}, {W(out, 256)}).ok());
  EXPECT_FALSE(bench.stream->Synchronize().ok());
  EXPECT_NE(bench.Kinds().find("shared-out-of-bounds"), std::string::npos);
}

// The assembler takes 48 KiB of declared shared memory, whatever a launch may add.
TEST(EmulatedDriverTest, RefusesMuchStaticSharedMemory) {
  auto driver = CreateEmulatedDriver();
  ASSERT_TRUE(driver.ok()) << driver.status();
  const auto load = [&](int bytes) {
    const auto code = CompileText(
        KernelText("large", "ptr %out", R"(
  %index = zext nneg i32 %t to i64
  %p = getelementptr inbounds i8, ptr addrspace(3) @cells, i64 %index
  store i8 1, ptr addrspace(3) %p
  call void @llvm.nvvm.barrier0()
  %x = load i8, ptr addrspace(3) @cells
  store i8 %x, ptr %out
  ret void)",
                   absl::StrCat("@cells = internal addrspace(3) global [", bytes, " x i8] poison, align 16")),
        {.bitcode = true});
    EXPECT_TRUE(code.ok()) << code.status();
    return code.ok() ? (*driver)->LoadModule(code->bitcode).status() : code.status();
  };
  EXPECT_TRUE(load(48 << 10).ok());
  const absl::Status refused = load((48 << 10) + 1);
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(refused.message().find("declares 49153 bytes of shared memory, expected at most 49152"),
            absl::string_view::npos)
      << refused;
}

TEST(EmulatedDriverTest, LaunchLimits) {
  Bench bench(OverwriteKernel(), "overwrite", {});
  auto* out = bench.Make<int32_t>(256);
  const auto code = [&](const LaunchDimensions& dimensions, absl::Span<const uint64_t> arguments) {
    return bench.stream->Launch(bench.kernel, dimensions, arguments, {}).code();
  };
  const auto invalid = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(code({{1}, {257}}, {AddressBits(out)}), invalid);
  EXPECT_EQ(code({{1}, {0}}, {AddressBits(out)}), invalid);
  EXPECT_EQ(code({{0}, {1}}, {AddressBits(out)}), invalid);
  EXPECT_EQ(code({{1, 65536}, {1}}, {AddressBits(out)}), invalid);
  EXPECT_EQ(code({{1}, {1}, 228 << 10}, {AddressBits(out)}), invalid);
  EXPECT_EQ(code({{1}, {1}}, {}), invalid);
  EXPECT_EQ(bench.module->GetKernel("missing").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(bench.driver->LoadModule("no bitcode").status().code(), invalid);
}

// Arguments far too large for polynomials go to libdevice, or to the host's function without it.
TEST(EmulatedDriverTest, MathOfTheDevice) {
  Bench bench(KernelText("sine", "ptr noalias align 256 %out", R"(
  %index = zext nneg i32 %t to i64
  %po = getelementptr inbounds double, ptr %out, i64 %index
  %x = load double, ptr %po
  %y = call double @hilo_math_sin(double %x)
  store double %y, ptr %po
  ret void)"),
              "sine", {});
  const std::vector<double> values = {0.5, -3.0, 1e10, 1e300};
  double* x = bench.Make(4, values);
  EXPECT_TRUE(bench.stream->Launch(bench.kernel, {{1}, {4}}, {AddressBits(x)}, {W(x, 4)}).ok());
  EXPECT_TRUE(bench.stream->Synchronize().ok());
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(x[i], std::sin(values[i]), 1e-15) << values[i];
}

TEST(EmulatedDriverTest, NamesProgramsItCannotRun) {
  const auto code = CompileText(KernelText("clock", "ptr %out", R"(
  %y = call i32 @llvm.nvvm.read.ptx.sreg.clock()
  store i32 %y, ptr %out
  ret void)",
                                           "declare i32 @llvm.nvvm.read.ptx.sreg.clock()"),
                                {.bitcode = true});
  ASSERT_TRUE(code.ok()) << code.status();
  auto driver = CreateEmulatedDriver();
  const absl::Status status = (*driver)->LoadModule(code->bitcode).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_NE(status.message().find("sreg.clock"), absl::string_view::npos) << status;
}

}  // namespace
}  // namespace hilo::gpu
