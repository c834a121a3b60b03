// Barriers in shared memory and copies of tensors on the emulated device: boxes with every swizzle and across the
// tensor's edges, a pipeline of stages, and each way to use them wrongly.
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/gpu/driver/tensor_map.h"
#include "backends/gpu/emulated/emulated_driver.h"
#include "backends/gpu/ptx/assembler.h"
#include "tests/unit/backends/gpu/test_kernels.h"

namespace hilo::gpu {
namespace {

constexpr int kRows = 40, kColumns = 72, kBoxRows = 8;  // of a matrix of 16-bit numbers, and of a box
constexpr int kThreads = 64;

std::string Asm(const std::string& text, const std::string& constraints, const std::string& arguments) {
  return absl::StrCat("call void asm sideeffect \"", text, "\", \"", constraints, "\"(", arguments, ")");
}
std::string Init(const std::string& at, int threads) {
  return Asm("mbarrier.init.shared::cta.b64 [$0], $1;", "r,r", absl::StrCat("i32 ", at, ", i32 ", threads));
}
std::string Expect(const std::string& at, int bytes) {
  return Asm("mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r",
             absl::StrCat("i32 ", at, ", i32 ", bytes));
}
std::string Wait(const std::string& at, const std::string& parity) {
  return Asm(
      "{\\0A.reg .pred ended;\\0Aagain: mbarrier.try_wait.parity.shared::cta.b64 ended, [$0], $1;\\0A@!ended bra "
      "again;\\0A}",
      "r,r", absl::StrCat("i32 ", at, ", i32 ", parity));
}
std::string Copy(const std::string& to, const std::string& x, const std::string& y, const std::string& barrier) {
  return Asm("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1, {$2, $3}], [$4];",
             "r,l,r,r,r", absl::StrCat("i32 ", to, ", ptr %map, i32 ", x, ", i32 ", y, ", i32 ", barrier));
}

// Thread 0 copies the box at (%x, %y) to shared memory, and each thread stores 16 bytes of it.
struct CopyText {
  int bytes = 0;  // of the box, announced
  std::string init = Init("%full", 1), fence = "call void asm sideeffect \"fence.proxy.async.shared::cta;\", \"\"()";
  std::string before, copy = Copy("%tile", "%x", "%y", "%full"), wait = Wait("%full", "0");

  std::string Text() const {
    return KernelText("copy", "ptr %map, ptr noalias align 256 %out, i32 %x, i32 %y",
                      absl::StrCat(R"(
  %tile64 = ptrtoint ptr addrspace(3) @tile to i64
  %tile = trunc i64 %tile64 to i32
  %full64 = ptrtoint ptr addrspace(3) @full to i64
  %full = trunc i64 %full64 to i32
  %is_first = icmp eq i32 %t, 0
  br i1 %is_first, label %prepare, label %begin
prepare:
  )",
                                   init, "\n  ", fence, R"(
  br label %begin
begin:
  call void @llvm.nvvm.barrier0()
  )",
                                   before, R"(
  br i1 %is_first, label %start, label %all
start:
  )",
                                   Expect("%full", bytes), "\n  ", copy, R"(
  br label %all
all:
  )",
                                   wait, R"(
  %byte = mul nuw nsw i32 %t, 16
  %from = getelementptr i8, ptr addrspace(3) @tile, i32 %byte
  %v = load <4 x i32>, ptr addrspace(3) %from, align 16
  %byte64 = zext i32 %byte to i64
  %to = getelementptr i8, ptr %out, i64 %byte64
  store <4 x i32> %v, ptr %to, align 16
  ret void)"),
                      R"(
@tile = internal addrspace(3) global [2048 x i8] poison, align 1024
@full = internal addrspace(3) global [16 x i8] poison, align 16
)");
  }
};

struct Outcome {
  std::string kinds;  // of reports, once each
  std::vector<uint16_t> cells;
};

Outcome RunCopy(const CopyText& kernel, const TensorMap& shape, int x, int y,
                const EmulatedOptions& options = {.check_accesses = true, .seed = 5}) {
  Outcome outcome;
  auto driver = CreateEmulatedDriver(options);
  EXPECT_TRUE(driver.ok()) << driver.status();
  const auto code = CompileText(kernel.Text(), {.arch = "sm_90a", .bitcode = true});
  EXPECT_TRUE(code.ok()) << code.status();
  if (!code.ok()) return outcome;
  auto module = (*driver)->LoadModule(code->bitcode);
  if (!module.ok()) return {.kinds = std::string(module.status().message())};
  auto stream = *(*driver)->CreateStream();
  auto* matrix = static_cast<uint16_t*>(*(*driver)->Allocate(kRows * kColumns * 2));
  for (int i = 0; i < kRows * kColumns; ++i) matrix[i] = static_cast<uint16_t>(i + 1);
  auto* out = static_cast<uint16_t*>(*(*driver)->Allocate(kThreads * 16));
  TensorMap map = shape;
  map.address = matrix;
  const uint64_t arguments[] = {reinterpret_cast<uint64_t>(&map), reinterpret_cast<uint64_t>(out),
                                static_cast<uint32_t>(x), static_cast<uint32_t>(y)};
  EXPECT_TRUE(stream
                  ->Launch(*(*module)->GetKernel("copy"), {{1}, {kThreads}}, arguments,
                           {GpuSlice::Read(matrix, kRows * kColumns * 2), GpuSlice::Write(out, kThreads * 16)})
                  .ok());
  stream->Synchronize().IgnoreError();
  outcome.cells.assign(out, out + kThreads * 8);
  std::set<std::string> kinds;
  for (const EmulatedReport& report : (*driver)->TakeReports()) kinds.insert(report.kind);
  outcome.kinds = absl::StrJoin(kinds, " ");
  return outcome;
}

TensorMap MatrixMap(int64_t swizzle, int64_t columns) {
  return {.element_bytes = 2,
          .dimensions = 2,
          .sizes = {kColumns, kRows, 1, 1, 1},
          .strides = {0, kColumns * 2},
          .box = {columns, kBoxRows, 1, 1, 1},
          .swizzle = swizzle};
}

TEST(TensorCopyTest, BoxesAndSwizzles) {
  for (const int swizzle : {0, 32, 64, 128}) {
    const int columns = swizzle == 0 ? 64 : swizzle / 2, chunks = columns / 8;
    const TensorMap map = MatrixMap(swizzle, columns);
    CopyText kernel;
    kernel.bytes = static_cast<int>(map.BoxBytes());
    // Inside, and across each edge.
    for (const auto& [x, y] : std::vector<std::pair<int, int>>{{3, 5}, {50, 36}, {-7, -2}}) {
      SCOPED_TRACE(absl::StrCat(swizzle, " ", x, " ", y));
      const Outcome outcome = RunCopy(kernel, map, x, y);
      // The rest of the tile is not copied, and threads read it.
      EXPECT_EQ(outcome.kinds, columns == 64 ? "" : "uninitialized-shared");
      for (int row = 0; row < kBoxRows; ++row) {
        for (int column = 0; column < columns; ++column) {
          const int line = row * columns * 2 / 128, moved = swizzle == 0 ? 0 : line % chunks;
          const int cell = row * columns + ((column / 8) ^ moved) * 8 + column % 8;
          const int r = y + row, c = x + column;
          const bool inside = r >= 0 && r < kRows && c >= 0 && c < kColumns;
          ASSERT_EQ(outcome.cells[cell], inside ? r * kColumns + c + 1 : 0) << row << " " << column;
        }
      }
    }
  }
}

std::string Faults(const CopyText& kernel, TensorMap map = MatrixMap(128, 64)) {
  return RunCopy(kernel, map, 3, 5).kinds;
}

TEST(TensorCopyTest, Misuse) {
  CopyText right;
  right.bytes = 1024;
  EXPECT_EQ(Faults(right), "");
  CopyText kernel = right;
  kernel.wait = "";
  EXPECT_EQ(Faults(kernel), "copy-pending copy-unfinished uninitialized-shared");
  kernel = right;
  kernel.init = "";
  EXPECT_NE(Faults(kernel).find("shared-barrier"), std::string::npos);
  kernel = right;
  kernel.bytes = 512;  // fewer than are copied: the phase does not end
  EXPECT_EQ(Faults(kernel), "deadlock");
  kernel = right;
  kernel.copy = "";
  EXPECT_EQ(Faults(kernel), "deadlock");
  kernel = right;
  kernel.wait = Wait("%full", "1");  // of the phase before, which has ended
  EXPECT_EQ(Faults(kernel), "copy-pending copy-unfinished uninitialized-shared");
  kernel = right;
  kernel.copy = Copy("%tile", "%x", "%y", "%full") + "\n  " + Copy("%tile", "%x", "%y", "%full");
  EXPECT_EQ(Faults(kernel), "copy-pending");
  kernel = right;
  kernel.before = "  store i32 0, ptr addrspace(3) @tile, align 16\n  call void @llvm.nvvm.barrier0()";
  EXPECT_NE(Faults(kernel).find("proxy-fence"), std::string::npos);
  kernel = right;
  kernel.copy = "  %far = add i32 %tile, 64\n  " + Copy("%far", "%x", "%y", "%full");
  EXPECT_EQ(Faults(kernel), "deadlock misaligned");
  kernel.copy = "  %far = add i32 %tile, 1152\n  " + Copy("%far", "%x", "%y", "%full");
  EXPECT_EQ(Faults(kernel), "deadlock shared-out-of-bounds");
}

TEST(TensorCopyTest, FaultsOfMaps) {
  const auto fault = [](auto change) {
    TensorMap map = MatrixMap(128, 64);
    map.address = reinterpret_cast<const void*>(1024);
    change(map);
    return map.Fault();
  };
  EXPECT_EQ(fault([](TensorMap&) {}), "");
  EXPECT_EQ(fault([](TensorMap& m) { m.address = reinterpret_cast<const void*>(1032); }),
            "an address that is not a multiple of 16");
  EXPECT_EQ(fault([](TensorMap& m) { m.strides[1] = 146; }),
            "a stride of 146 bytes of dimension 1, expected a multiple of 16 below 2^40");
  EXPECT_EQ(fault([](TensorMap& m) { m.box[0] = 72; }),
            "a box with lines of 144 bytes, expected a multiple of 16 of at most 128");
  EXPECT_EQ(fault([](TensorMap& m) { m.box[1] = 257; }), "a box of 257 elements of dimension 1, expected 1 to 256");
  EXPECT_EQ(fault([](TensorMap& m) { m.dimensions = 6; }), "6 dimensions, expected 1 to 5");
}

TEST(TensorCopyTest, IsAssembled) {
  if (!CheckAssembler().ok()) GTEST_SKIP() << CheckAssembler();
  CopyText kernel;
  kernel.bytes = 1024;
  const auto code = CompileText(kernel.Text(), {.arch = "sm_90a", .ptx = true, .cubin = true});
  ASSERT_TRUE(code.ok()) << code.status();
}

}  // namespace
}  // namespace hilo::gpu
