// Multiplications of warp groups on the emulated device: every layout of shared memory that a descriptor can state, and
// each way to use them wrongly.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/gpu/emulated/emulated_driver.h"
#include "backends/gpu/emulated/group_multiply.h"
#include "backends/gpu/ptx/assembler.h"
#include "hilo/primitive_type.h"
#include "tests/unit/backends/gpu/test_kernels.h"

namespace hilo::gpu {
namespace {

constexpr int kBytes = 16384, kRhs = 8192, kGroupRows = 64, kGroupColumns = 16, kThreadSums = kGroupColumns / 2;

// A kernel that copies `image` into shared memory and multiplies what the descriptors, relative to that memory, state;
// sums begin at 1.
struct GroupKernel {
  std::string shape = "m64n16k16.f32.bf16.bf16", order = ", 0, 0", before, descriptors;
  std::string proxy_fence = "call void asm sideeffect \"fence.proxy.async.shared::cta;\", \"\"()";
  std::string barrier = "call void @llvm.nvvm.barrier0()";
  std::string fence = "call void asm sideeffect \"wgmma.fence.sync.aligned;\", \"\"()";
  std::string commit = "call void asm sideeffect \"wgmma.commit_group.sync.aligned;\", \"\"()";
  std::string between;
  int pending = 0;     // after the wait; -1: there is none
  bool stores = true;  // the sums

  std::string Text() const {
    const bool is_integer = shape.find(".s32.") != std::string::npos;
    const std::string type = is_integer ? "i32" : "float", constraint = is_integer ? "=r" : "=f";
    std::vector<std::string> types, outputs, registers, tied, waited;
    std::string copies, firsts, sums, results, stored;
    for (int j = 0; j < kBytes / 2048; ++j) {
      absl::StrAppend(&copies, "  %o", j, " = add i64 %mine, ", 2048 * j, "\n  %g", j,
                      " = getelementptr i8, ptr %image, i64 %o", j, "\n  %s", j,
                      " = getelementptr i8, ptr addrspace(3) @tile, i64 %o", j, "\n  %v", j,
                      " = load <4 x i32>, ptr %g", j, ", align 16\n  store <4 x i32> %v", j, ", ptr addrspace(3) %s", j,
                      ", align 16\n");
    }
    for (int i = 0; i < kThreadSums; ++i) {
      types.push_back(type);
      outputs.push_back(constraint);
      registers.push_back(absl::StrCat("$", i));
      tied.push_back(absl::StrCat(i));
      absl::StrAppend(&firsts, ", ", type, is_integer ? " 1" : " 1.0");
      waited.push_back(absl::StrCat(type, " %m", i));
      absl::StrAppend(&sums, "  %m", i, " = extractvalue %sums %m, ", i, "\n");
      absl::StrAppend(&results, "  %w", i, " = extractvalue %sums %w, ", i, "\n");
      absl::StrAppend(&stored, "  %p", i, " = getelementptr ", type, ", ptr %cell, i64 ", i, "\n  store ", type, " %",
                      pending < 0 ? "m" : "w", i, ", ptr %p", i, "\n");
    }
    const std::string all = absl::StrJoin(outputs, ","), ties = absl::StrJoin(tied, ",");
    const bool has_signs = !is_integer;
    return KernelText(
        "group", "ptr noalias readonly align 256 %image, ptr noalias align 256 %out, i64 %lhs, i64 %rhs",
        absl::StrCat(before, "  %t64 = zext nneg i32 %t to i64\n  %mine = mul i64 %t64, 16\n", copies, "  ",
                     proxy_fence, "\n  ", barrier, R"(
  %base = ptrtoint ptr addrspace(3) @tile to i64
  %start = lshr i64 %base, 4
  %x = add i64 %lhs, %start
  %y = add i64 %rhs, %start
)",
                     descriptors.empty() ? "  %dx = add i64 %x, 0\n" : descriptors, "  ", fence,
                     "\n  %m = call %sums asm sideeffect \"wgmma.mma_async.sync.aligned.", shape, " {",
                     absl::StrJoin(registers, ", "), "}, $", kThreadSums, ", $", kThreadSums + 1, ", 1",
                     has_signs ? ", 1, 1" : "", order, ";\", \"", all, ",l,l,", ties, "\"(i64 %dx, i64 %y", firsts,
                     ")\n", sums, "  ", commit, "\n", between,
                     pending < 0
                         ? ""
                         : absl::StrCat("  %w = call %sums asm sideeffect \"wgmma.wait_group.sync.aligned ", pending,
                                        ";\", \"", all, ",", ties, "\"(", absl::StrJoin(waited, ", "), ")\n", results),
                     "  %cell = getelementptr [", kThreadSums, " x i32], ptr %out, i64 %t64\n", stores ? stored : "",
                     "  ret void"),
        absl::StrCat("%sums = type { ", absl::StrJoin(types, ", "), " }\n@tile = internal addrspace(3) global [",
                     kBytes, " x i8] poison, align 1024\n"));
  }
};

struct GroupOutcome {
  std::string kinds;           // of reports, or why the kernel was not loaded
  std::vector<uint32_t> sums;  // of each thread
};

GroupOutcome Run(const GroupKernel& kernel, const std::vector<uint8_t>& image, uint64_t lhs, uint64_t rhs,
                 uint32_t threads = 128, const EmulatedOptions& options = {.check_accesses = true, .seed = 5}) {
  GroupOutcome outcome;
  auto driver = CreateEmulatedDriver(options);
  EXPECT_TRUE(driver.ok()) << driver.status();
  const auto code = CompileText(kernel.Text(), {.arch = "sm_90a", .bitcode = true});
  EXPECT_TRUE(code.ok()) << code.status();
  if (!code.ok()) return outcome;
  auto module = (*driver)->LoadModule(code->bitcode);
  if (!module.ok()) return {.kinds = std::string(module.status().message())};
  auto stream = *(*driver)->CreateStream();
  auto* shared = static_cast<uint8_t*>(*(*driver)->Allocate(kBytes));
  std::memcpy(shared, image.data(), kBytes);
  constexpr int64_t kOut = 256 * kThreadSums;
  auto* out = static_cast<uint32_t*>(*(*driver)->Allocate(kOut * 4));
  const uint64_t arguments[] = {reinterpret_cast<uint64_t>(shared), reinterpret_cast<uint64_t>(out), lhs, rhs};
  EXPECT_TRUE(stream
                  ->Launch(*(*module)->GetKernel("group"), {{1}, {threads}}, arguments,
                           {GpuSlice::Read(shared, kBytes), GpuSlice::Write(out, kOut * 4)})
                  .ok());
  stream->Synchronize().IgnoreError();
  outcome.sums.assign(out, out + kOut);
  for (const EmulatedReport& report : (*driver)->TakeReports()) {
    if (outcome.kinds.find(report.kind) == std::string::npos)
      absl::StrAppend(&outcome.kinds, outcome.kinds.empty() ? "" : " ", report.kind);
  }
  return outcome;
}

// How a side lies in shared memory.
struct Layout {
  int swizzle = 128;  // bytes; 0: none
  bool transposed = false;
};

// The distances between patterns: eight lines, and the parts of a line that is longer than the pattern's.
struct Distances {
  int64_t leading = 16, stride = 0;
};
Distances DistancesOf(const Layout& layout, int positions, int depth, int bytes) {
  const int lines = layout.transposed ? depth : positions;
  if (layout.swizzle != 0) return {.leading = lines * layout.swizzle, .stride = 8 * layout.swizzle};
  // Core matrices of eight lines of 16 bytes, those of other lines next to each other.
  const int64_t next_lines = 128, next_part = lines * 16;
  (void)bytes;
  return layout.transposed ? Distances{next_lines, next_part} : Distances{next_part, next_lines};
}

int64_t Place(const Layout& layout, int position, int depth, int positions, int depths, int bytes) {
  const int line = layout.transposed ? depth : position, lines = layout.transposed ? depths : positions;
  const int byte = (layout.transposed ? position : depth) * bytes, width = layout.swizzle == 0 ? 16 : layout.swizzle;
  const int chunk = byte % width / 16, mixed = layout.swizzle == 128  ? line % 8
                                               : layout.swizzle == 64 ? line % 8 / 2
                                               : layout.swizzle == 32 ? line % 8 / 4
                                                                      : 0;
  return int64_t{byte} / width * lines * width + int64_t{line} * width + (chunk ^ mixed) * 16 + byte % 16;
}

uint64_t Descriptor(int64_t start, const Layout& layout, const Distances& distances) {
  const uint64_t mode = layout.swizzle == 128 ? 1 : layout.swizzle == 64 ? 2 : layout.swizzle == 32 ? 3 : 0;
  return static_cast<uint64_t>(start / 16) | static_cast<uint64_t>(distances.leading / 16) << 16 |
         static_cast<uint64_t>(distances.stride / 16) << 32 | mode << 62;
}

// Small numbers that are exact in every type.
int Factor(int side, int position, int depth) { return (position * (side == 0 ? 5 : 3) + depth * 7 + side) % 11 % 4; }

template <typename T>
void Put(std::vector<uint8_t>* image, int64_t at, int number) {
  const T value = static_cast<T>(static_cast<float>(number));
  std::memcpy(image->data() + at, &value, sizeof(T));
}

template <typename T>
std::string Multiply(const std::string& shape, const Layout& lhs, const Layout& rhs, bool is_integer = false) {
  constexpr int kDepth = 32 / sizeof(T);
  std::vector<uint8_t> image(kBytes, 0x7F);
  for (int d = 0; d < kDepth; ++d) {
    for (int m = 0; m < kGroupRows; ++m)
      Put<T>(&image, Place(lhs, m, d, kGroupRows, kDepth, sizeof(T)), Factor(0, m, d));
    for (int n = 0; n < kGroupColumns; ++n)
      Put<T>(&image, kRhs + Place(rhs, n, d, kGroupColumns, kDepth, sizeof(T)), Factor(1, n, d));
  }
  GroupKernel kernel;
  kernel.shape = shape;
  kernel.order = sizeof(T) == 2 ? absl::StrCat(", ", lhs.transposed ? 1 : 0, ", ", rhs.transposed ? 1 : 0) : "";
  const GroupOutcome outcome = Run(kernel, image, Descriptor(0, lhs, DistancesOf(lhs, kGroupRows, kDepth, sizeof(T))),
                                   Descriptor(kRhs, rhs, DistancesOf(rhs, kGroupColumns, kDepth, sizeof(T))));
  if (!outcome.kinds.empty()) return outcome.kinds;
  for (int thread = 0; thread < 128; ++thread) {
    for (int i = 0; i < kThreadSums; ++i) {
      const int lane = thread % 32, m = thread / 32 * 16 + lane / 4 + i / 2 % 2 * 8,
                n = i / 4 * 8 + lane % 4 * 2 + i % 2;
      int expected = 1;
      for (int d = 0; d < kDepth; ++d) expected += Factor(0, m, d) * Factor(1, n, d);
      const uint32_t bits = outcome.sums[thread * kThreadSums + i];
      float number;
      std::memcpy(&number, &bits, sizeof(number));
      if ((is_integer ? static_cast<int>(bits) : static_cast<int>(number)) != expected)
        return absl::StrCat("row ", m, " column ", n, ": expected ", expected);
    }
  }
  return "";
}

TEST(WarpGroupTest, LayoutsOfSharedMemory) {
  for (const int x : {0, 32, 64, 128}) {
    for (const bool x_transposed : {false, true}) {
      for (const int y : {32, 128}) {
        for (const bool y_transposed : {false, true}) {
          EXPECT_EQ(Multiply<bfloat16>("m64n16k16.f32.bf16.bf16", {x, x_transposed}, {y, y_transposed}), "")
              << x << x_transposed << y << y_transposed;
        }
      }
    }
  }
}

TEST(WarpGroupTest, Types) {
  EXPECT_EQ(Multiply<half>("m64n16k16.f32.f16.f16", {128}, {64, true}), "");
  EXPECT_EQ(Multiply<float>("m64n16k8.f32.tf32.tf32", {128}, {128}), "");
  EXPECT_EQ(Multiply<f8e4m3fn>("m64n16k32.f32.e4m3.e4m3", {128}, {32}), "");
  EXPECT_EQ(Multiply<f8e5m2>("m64n16k32.f32.e5m2.e5m2", {64}, {128}), "");
  EXPECT_EQ(Multiply<int8_t>("m64n16k32.s32.s8.s8", {128}, {128}, true), "");
  EXPECT_EQ(Multiply<uint8_t>("m64n16k32.s32.u8.u8", {0}, {0}, true), "");
}

// Both sides along the depth with swizzles of 128 bytes.
uint64_t Lhs(int64_t start = 0) { return Descriptor(start, {}, {16, 1024}); }
uint64_t Rhs() { return Descriptor(kRhs, {}, {16, 1024}); }
std::string Faults(const GroupKernel& kernel, uint64_t lhs = Lhs(), uint32_t threads = 128) {
  const std::string found = Run(kernel, std::vector<uint8_t>(kBytes), lhs, Rhs(), threads).kinds;
  // What the sums are does not matter in any order of threads.
  EXPECT_EQ(Run(kernel, std::vector<uint8_t>(kBytes), lhs, Rhs(), threads, {.check_accesses = true, .seed = 0}).kinds,
            found);
  return found;
}

TEST(WarpGroupTest, StepsWithinLines) {
  EXPECT_EQ(Faults({}, Lhs(32)), "");
  EXPECT_EQ(Faults({}, Lhs(96)), "");
}

TEST(WarpGroupTest, MissingFencesAndBarriers) {
  GroupKernel kernel;
  kernel.proxy_fence = "";
  EXPECT_EQ(Faults(kernel), "proxy-fence");
  kernel = {};
  kernel.barrier = "";
  EXPECT_EQ(Faults(kernel), "proxy-fence race-shared");
  kernel = {};
  kernel.fence = "";
  EXPECT_EQ(Faults(kernel), "multiply-unfenced");
  kernel = {};
  std::swap(kernel.proxy_fence, kernel.barrier);  // another thread may read before the fence
  EXPECT_EQ(Faults(kernel), "proxy-fence");
}

TEST(WarpGroupTest, MissingWaits) {
  GroupKernel kernel;
  kernel.commit = "";
  EXPECT_EQ(Faults(kernel), "multiply-uncommitted multiply-unfinished");
  constexpr char kEarly[] = "kernel group uses the sums of wgmma.mma_async before wgmma.wait_group";
  kernel = {};
  kernel.pending = -1;
  EXPECT_EQ(Faults(kernel), kEarly);
  kernel.stores = false;
  EXPECT_EQ(Faults(kernel), "multiply-unfinished");
  kernel = {};
  kernel.pending = 1;
  EXPECT_EQ(Faults(kernel), kEarly);
  // Thread 0 overwrites what it may still multiply.
  kernel = {};
  kernel.between = R"(
  %is_first = icmp eq i32 %t, 0
  br i1 %is_first, label %then, label %wait
then:
  store i32 0, ptr addrspace(3) @tile
  br label %wait
wait:
)";
  EXPECT_EQ(Faults(kernel), "multiply-pending");
}

TEST(WarpGroupTest, WrongDescriptors) {
  EXPECT_EQ(Faults({}, Lhs(128)), "matrix-descriptor");                   // the second line of the pattern
  EXPECT_EQ(Faults({}, Lhs(112)), "matrix-descriptor");                   // across the end of a line
  EXPECT_EQ(Faults({}, Lhs() | uint64_t{1} << 49), "matrix-descriptor");  // a base offset
  EXPECT_EQ(Faults({}, Lhs(kBytes - 1024)), "shared-out-of-bounds");
  GroupKernel kernel;
  kernel.descriptors =
      "  %odd = and i32 %t, 1\n  %two = shl i32 %odd, 1\n  %z = zext i32 %two to i64\n  %dx = add i64 %x, %z\n";
  EXPECT_EQ(Faults(kernel), "group-divergent");
}

TEST(WarpGroupTest, IncompleteGroups) {
  EXPECT_EQ(Faults({}, Lhs(), 96), "group-threads");
  GroupKernel kernel;
  kernel.before = R"(
  %is_fifth = icmp eq i32 %t, 5
  br i1 %is_fifth, label %leave, label %stay
leave:
  ret void
stay:
)";
  EXPECT_NE(Faults(kernel).find("group-exited"), std::string::npos);
}

TEST(WarpGroupTest, RefusesOtherInstructions) {
  GroupKernel kernel;
  kernel.shape = "m64n16k16.f32.bf16.f16";
  EXPECT_NE(Faults(kernel).find("the emulated device has no assembly \"wgmma.mma_async"), std::string::npos);
  kernel = {};
  kernel.fence = "call void asm sideeffect \"wgmma.fence.sync.unaligned;\", \"\"()";
  EXPECT_NE(Faults(kernel).find("the emulated device has no assembly \"wgmma.fence.sync.unaligned"), std::string::npos);
}

TEST(WarpGroupTest, IsAssembled) {
  if (!CheckAssembler().ok()) GTEST_SKIP() << CheckAssembler();
  const auto code = CompileText(GroupKernel().Text(), {.arch = "sm_90a", .ptx = true, .cubin = true});
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_NE(code->ptx.find("wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16"), std::string::npos);
}

}  // namespace
}  // namespace hilo::gpu
