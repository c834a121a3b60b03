// PTX and machine code of kernels; where there is no toolkit, what needs it says so.
#include "backends/gpu/ptx/ptx.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "backends/gpu/driver/cuda_library.h"
#include "backends/gpu/ptx/assembler.h"
#include "backends/gpu/runtime/gpu_platform.h"
#include "tests/unit/backends/gpu/test_kernels.h"

#ifdef HILO_HAVE_CUDA
#include "backends/gpu/cuda/graph_conditions.h"
#endif

namespace hilo::gpu {
namespace {

TEST(PtxTest, Kernel) {
  const auto code = CompileText(MultiplyKernel(), {.arch = "sm_80", .ptx = true});
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_TRUE(absl::StrContains(code->ptx, ".target sm_80"));
  EXPECT_TRUE(absl::StrContains(code->ptx, ".visible .entry multiply("));
  EXPECT_TRUE(absl::StrContains(code->ptx, ".maxntid 256"));
  EXPECT_TRUE(absl::StrContains(code->ptx, "ld.global.nc.f32")) << code->ptx;
  EXPECT_TRUE(code->bitcode.empty() && code->cubin.empty());
}

TEST(PtxTest, WideAccesses) {
  const auto code = CompileText(DoubleFourKernel(), {.ptx = true});
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_TRUE(absl::StrContains(code->ptx, "ld.global.nc.v4.f32")) << code->ptx;
  EXPECT_TRUE(absl::StrContains(code->ptx, "st.global.v4.f32")) << code->ptx;
}

// Neighbouring scalar loads and stores become wide ones.
TEST(PtxTest, ScalarAccessesAreMerged) {
  std::string body = "  %four = mul nuw nsw i32 %i, 4\n  %index = zext nneg i32 %four to i64\n";
  for (int j = 0; j < 4; ++j) {
    absl::StrAppend(&body, "  %i", j, " = add nuw nsw i64 %index, ", j, "\n  %p", j,
                    " = getelementptr inbounds float, ptr %a, i64 %i", j, "\n  %x", j, " = load float, ptr %p", j,
                    ", align 4\n");
  }
  for (int j = 0; j < 4; ++j) {
    absl::StrAppend(&body, "  %y", j, " = fmul float %x", j, ", %x", j, "\n  %q", j,
                    " = getelementptr inbounds float, ptr %b, i64 %i", j, "\n  store float %y", j, ", ptr %q", j,
                    ", align 4\n");
  }
  const auto code = CompileText(
      KernelText("square", "ptr noalias readonly align 256 %a, ptr noalias align 256 %b", body + "  ret void"),
      {.ptx = true});
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_TRUE(absl::StrContains(code->ptx, "ld.global.nc.v4.f32")) << code->ptx;
  EXPECT_TRUE(absl::StrContains(code->ptx, "st.global.v4.f32")) << code->ptx;
}

TEST(PtxTest, MathComesFromLibdevice) {
  const std::string text = KernelText("sine", "ptr noalias align 256 %out", R"(
  %x = load double, ptr %out
  %y = call double @hilo_math_sin(double %x)
  store double %y, ptr %out
  ret void)");
  const auto code = CompileText(text, {.ptx = true});
  if (!FindCudaFile("libdevice.10.bc").ok()) {
    EXPECT_EQ(code.status().code(), absl::StatusCode::kUnimplemented);
    EXPECT_TRUE(absl::StrContains(code.status().message(), "hilo_math_sin")) << code.status();
    return;
  }
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_FALSE(absl::StrContains(code->ptx, ".extern")) << code->ptx;
  EXPECT_TRUE(absl::StrContains(code->ptx, "fma.rn.f64")) << code->ptx;
}

TEST(PtxTest, RefusesWhatIsWrong) {
  EXPECT_EQ(CompileText(MultiplyKernel(), {.arch = "sm_banana", .ptx = true}).status().code(),
            absl::StatusCode::kInvalidArgument);
  codegen::HostModule invalid = codegen::MakeInvalidModule();
  EXPECT_EQ(CompileGpuModule(invalid.module.get(), {.ptx = true}).status().code(), absl::StatusCode::kInternal);
}

// PTX of the newest architecture that LLVM knows runs on all later ones, and is assembled for the device's own.
TEST(PtxTest, NewerArchitectures) {
  const auto known = [](absl::string_view arch) { return arch == "sm_70" || arch == "sm_90" || arch == "sm_90a"; };
  for (const auto& [arch, ptx] :
       {std::pair("sm_90", "sm_90"), std::pair("sm_90a", "sm_90a"), std::pair("sm_89", "sm_70"),
        std::pair("sm_100", "sm_90"), std::pair("sm_120a", "sm_90")}) {
    const auto found = PtxArchitecture(arch, known);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(*found, ptx) << arch;
  }
  for (const char* arch : {"sm_60", "sm_", "sm_9", "compute_90", "sm_90x", ""})
    EXPECT_EQ(PtxArchitecture(arch, known).status().code(), absl::StatusCode::kInvalidArgument) << arch;
  const bool assembles = CheckAssembler().ok();
  for (const char* arch : {"sm_100", "sm_103", "sm_120"}) {
    const auto code = CompileText(MultiplyKernel(), {.arch = arch, .ptx = true});
    ASSERT_TRUE(code.ok()) << code.status();
    EXPECT_TRUE(absl::StrContains(code->ptx, ".target sm_90\n")) << code->ptx;
    if (!assembles) continue;
    const auto machine = CompileText(MultiplyKernel(), {.arch = arch, .cubin = true});
    // An older toolkit says that it is too old.
    if (absl::IsInvalidArgument(machine.status())) {
      EXPECT_TRUE(absl::StrContains(machine.status().message(), arch)) << machine.status();
      continue;
    }
    ASSERT_TRUE(machine.ok()) << machine.status();
    EXPECT_EQ(machine->cubin.substr(1, 3), "ELF");
    EXPECT_NE(machine->cubin, CompileText(MultiplyKernel(), {.arch = "sm_90", .cubin = true})->cubin);
  }
  if (!assembles) return;
  const absl::Status refused = CompileText(MultiplyKernel(), {.arch = "sm_990", .cubin = true}).status();
  EXPECT_FALSE(refused.ok());
  EXPECT_TRUE(absl::StrContains(refused.message(), "sm_990")) << refused;
}

// By both assemblers; every kernel of these tests is accepted, spills nothing, and keeps its registers few.
TEST(PtxTest, MachineCode) {
  const std::vector<std::string> kernels = {MultiplyKernel(),  DoubleFourKernel(), BlockSumKernel(), ReverseKernel(),
                                            NeighbourKernel(), HistogramKernel(),  TransposeKernel()};
  for (const std::string& kernel : kernels) {
    const auto code = CompileText(kernel, {.ptx = true});
    ASSERT_TRUE(code.ok()) << code.status();
    for (const auto& assembled : {AssembleInProcess(code->ptx, "sm_90"), AssembleByPtxas(code->ptx, "sm_90")}) {
      if (absl::IsUnavailable(assembled.status())) {
        EXPECT_FALSE(assembled.status().message().empty());
        continue;
      }
      ASSERT_TRUE(assembled.ok()) << assembled.status();
      EXPECT_EQ(assembled->cubin.substr(1, 3), "ELF");
      ASSERT_EQ(assembled->resources.size(), 1u);
      const KernelResources& resources = assembled->resources[0];
      EXPECT_GT(resources.registers, 4);
      EXPECT_LE(resources.registers, 32) << resources.kernel;
      EXPECT_EQ(resources.spill_store_bytes + resources.spill_load_bytes + resources.stack_bytes, 0)
          << resources.kernel;
    }
  }
  EXPECT_EQ(CheckAssembler().ok(), CompileText(MultiplyKernel(), {.cubin = true}).ok());
}

TEST(PtxTest, AssemblerDiagnostics) {
  for (const auto& assembled : {AssembleInProcess(".version 8.3\n.target sm_90\n.nonsense", "sm_90"),
                                AssembleByPtxas(".version 8.3\n.target sm_90\n.nonsense", "sm_90")}) {
    if (absl::IsUnavailable(assembled.status())) continue;
    EXPECT_EQ(assembled.status().code(), absl::StatusCode::kInternal);
    EXPECT_TRUE(absl::StrContains(assembled.status().message(), "nonsense")) << assembled.status();
  }
}

TEST(PtxTest, ResourceLog) {
  const std::vector<KernelResources> kernels = ParseResourceLog(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'first' for 'sm_90'\n"
      "ptxas info    : Function properties for first\n"
      "    16 bytes stack frame, 24 bytes spill stores, 32 bytes spill loads\n"
      "ptxas info    : Used 21 registers, used 1 barriers, 16 bytes cumulative stack size, 1152 bytes smem, 384 bytes "
      "cmem[0]\n"
      "ptxas info    : Compiling entry function 'second' for 'sm_90'\n"
      "ptxas info    : Used 8 registers, 360 bytes cmem[0]\n");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].kernel, "first");
  EXPECT_EQ(kernels[0].registers, 21);
  EXPECT_EQ(kernels[0].stack_bytes, 16);
  EXPECT_EQ(kernels[0].spill_store_bytes, 24);
  EXPECT_EQ(kernels[0].spill_load_bytes, 32);
  EXPECT_EQ(kernels[0].shared_bytes, 1152);
  EXPECT_EQ(kernels[0].constant_bytes, 384);
  EXPECT_EQ(kernels[1].kernel, "second");
  EXPECT_EQ(kernels[1].registers, 8);
}

TEST(PtxTest, MissingItems) {
  const absl::Status library = LoadCudaLibrary({"libhilo_no_such_library.so.1"}).status();
  EXPECT_EQ(library.code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(absl::StrContains(library.message(), "libhilo_no_such_library.so.1")) << library;
  EXPECT_EQ(FindCudaFile("no.such.file").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(OpenGpuDriver("vulkan", 0).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(OpenGpuDriver(kCudaPlatform, -1).status().code(), absl::StatusCode::kInvalidArgument);
}

#ifdef HILO_HAVE_CUDA
// The kernel that sets conditions of graphs: the assembler takes it, and leaves the function that it calls to the
// driver.
TEST(PtxTest, ConditionKernels) {
  const auto code = Assemble(ConditionPtx(), "sm_90");
  if (absl::IsUnavailable(code.status())) GTEST_SKIP() << code.status();
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_TRUE(absl::StrContains(code->cubin, "cudaGraphSetConditional"));
}
#endif

}  // namespace
}  // namespace hilo::gpu
