// Kernels for the tests of the GPU backend's device side, as LLVM IR, with faults that can be planted.
#ifndef HILO_TESTS_UNIT_BACKENDS_GPU_TEST_KERNELS_H_
#define HILO_TESTS_UNIT_BACKENDS_GPU_TEST_KERNELS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "backends/gpu/ptx/ptx.h"
#include "tests/support/ir_text.h"

namespace hilo::gpu {

// A module with kernel `name`: what is before it, its parameters, its body.
inline std::string KernelText(absl::string_view name, absl::string_view parameters, absl::string_view body,
                              absl::string_view globals = "") {
  return absl::StrCat(R"(
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
declare void @llvm.nvvm.barrier0()
declare void @llvm.nvvm.bar.warp.sync(i32)
declare float @llvm.nvvm.shfl.sync.down.f32(i32, float, i32, i32)
declare i32 @llvm.nvvm.shfl.sync.up.i32(i32, i32, i32, i32)
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)
declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32)
declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)
declare i32 @llvm.nvvm.redux.sync.add(i32, i32)
declare i32 @llvm.nvvm.match.any.sync.i32(i32, i32)
declare void @llvm.nvvm.nanosleep(i32)
declare double @hilo_math_sin(double)
)",
                      globals, "\ndefine ptx_kernel void @", name, "(", parameters, R"() "nvvm.maxntid"="256" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %first = mul nsw i32 %block, 256
  %i = add nsw i32 %first, %t
)",
                      body, R"(
}
!nvvm.annotations = !{!0, !1}
!0 = !{ptr @)",
                      name, ", !\"kernel\", i32 1}\n!1 = !{ptr @", name, ", !\"maxntidx\", i32 256}\n");
}

// c[i] = a[i] * b[i] for i < n, one element a thread of 256; `compare` is slt, or sle to go one too far.
inline std::string MultiplyKernel(absl::string_view compare = "slt") {
  return KernelText(
      "multiply",
      "ptr noalias readonly align 256 %a, ptr noalias readonly align 256 %b, ptr noalias align 256 %c, i32 %n",
      absl::StrCat("  %in = icmp ", compare, R"( i32 %i, %n
  br i1 %in, label %then, label %end
then:
  %index = zext nneg i32 %i to i64
  %pa = getelementptr inbounds float, ptr %a, i64 %index
  %pb = getelementptr inbounds float, ptr %b, i64 %index
  %pc = getelementptr inbounds float, ptr %c, i64 %index
  %x = load float, ptr %pa
  %y = load float, ptr %pb
  %z = fmul float %x, %y
  store float %z, ptr %pc
  br label %end
end:
  ret void)"));
}

// b[i] = a[i] + a[i], four elements a thread in one 16-byte access; n a multiple of 4.
inline std::string DoubleFourKernel() {
  return KernelText("double_four", "ptr noalias readonly align 256 %a, ptr noalias align 256 %b, i32 %n", R"(
  %four = mul nsw i32 %i, 4
  %in = icmp slt i32 %four, %n
  br i1 %in, label %then, label %end
then:
  %index = zext nneg i32 %four to i64
  %pa = getelementptr inbounds float, ptr %a, i64 %index
  %pb = getelementptr inbounds float, ptr %b, i64 %index
  %x = load <4 x float>, ptr %pa, align 16
  %z = fadd <4 x float> %x, %x
  store <4 x float> %z, ptr %pb, align 16
  br label %end
end:
  ret void)");
}

// out[block] = the sum of 256 floats: shuffles in the warp, shared memory between warps. Where the barrier stands: 'n'
// nowhere, 'b' in a branch, else where it must.
inline std::string BlockSumKernel(char barrier = 'y') {
  const std::string wait = "  call void @llvm.nvvm.barrier0()\n";
  std::string shuffles, second;
  std::string value = "%x";
  for (int distance = 16; distance > 0; distance /= 2) {
    absl::StrAppend(&shuffles, "  %s", distance, " = call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float ", value,
                    ", i32 ", distance, ", i32 31)\n  %v", distance, " = fadd float ", value, ", %s", distance, "\n");
    value = absl::StrCat("%v", distance);
  }
  value = "%own";
  for (int distance = 4; distance > 0; distance /= 2) {
    absl::StrAppend(&second, "  %q", distance, " = call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float ", value,
                    ", i32 ", distance, ", i32 31)\n  %w", distance, " = fadd float ", value, ", %q", distance, "\n");
    value = absl::StrCat("%w", distance);
  }
  return KernelText(
      "block_sum", "ptr noalias readonly align 256 %a, ptr noalias align 256 %out",
      absl::StrCat(R"(
  %index = zext nneg i32 %i to i64
  %pa = getelementptr inbounds float, ptr %a, i64 %index
  %x = load float, ptr %pa
)",
                   shuffles, R"(  %lane = and i32 %t, 31
  %warp = lshr i32 %t, 5
  %leader = icmp eq i32 %lane, 0
  br i1 %leader, label %store, label %stored
store:
  %cell = getelementptr inbounds [8 x float], ptr addrspace(3) @warps, i32 0, i32 %warp
  store float %v1, ptr addrspace(3) %cell
)",
                   barrier == 'b' ? wait : "", "  br label %stored\nstored:\n", barrier == 'y' ? wait : "", R"(
  %is_first = icmp ult i32 %t, 32
  br i1 %is_first, label %combine, label %end
combine:
  %has = icmp ult i32 %t, 8
  %which = select i1 %has, i32 %t, i32 0
  %from = getelementptr inbounds [8 x float], ptr addrspace(3) @warps, i32 0, i32 %which
  %loaded = load float, ptr addrspace(3) %from
  %own = select i1 %has, float %loaded, float 0.0
)",
                   second, R"(  %is_zero = icmp eq i32 %t, 0
  br i1 %is_zero, label %write, label %end
write:
  %block_index = zext nneg i32 %block to i64
  %po = getelementptr inbounds float, ptr %out, i64 %block_index
  store float %w1, ptr %po
  br label %end
end:
  ret void)"),
      "@warps = internal addrspace(3) global [8 x float] poison, align 16");
}

// out[t] = a[255 - t] of each of `turns` tiles added up, through shared memory. `second`: the barrier before the tile
// is overwritten.
inline std::string ReverseKernel(bool second = true) {
  return KernelText("reverse", "ptr noalias readonly align 256 %a, ptr noalias align 256 %out, i32 %turns",
                    absl::StrCat(R"(
  %mine = getelementptr inbounds [256 x float], ptr addrspace(3) @tile, i32 0, i32 %t
  %back = sub nsw i32 255, %t
  %theirs = getelementptr inbounds [256 x float], ptr addrspace(3) @tile, i32 0, i32 %back
  br label %loop
loop:
  %turn = phi i32 [ 0, %0 ], [ %next, %loop ]
  %sum = phi float [ 0.0, %0 ], [ %more, %loop ]
  %base = mul nsw i32 %turn, 256
  %at = add nsw i32 %base, %t
  %index = zext nneg i32 %at to i64
  %pa = getelementptr inbounds float, ptr %a, i64 %index
  %x = load float, ptr %pa
  store float %x, ptr addrspace(3) %mine
  call void @llvm.nvvm.barrier0()
  %y = load float, ptr addrspace(3) %theirs
)",
                                 second ? "  call void @llvm.nvvm.barrier0()\n" : "", R"(
  %more = fadd float %sum, %y
  %next = add nsw i32 %turn, 1
  %go = icmp slt i32 %next, %turns
  br i1 %go, label %loop, label %end
end:
  %t64 = zext nneg i32 %t to i64
  %po = getelementptr inbounds float, ptr %out, i64 %t64
  store float %more, ptr %po
  ret void)"),
                    "@tile = internal addrspace(3) global [256 x float] poison, align 16");
}

// out[t] = a[1023 - 4 t] + 0 through shared memory, which asynchronous copies fill in two groups: four elements of a
// thread, the newer one, and two elements followed by zeros, of which one is added. `wait` is between a thread's copies
// and the barrier; its elements are at byte 16 t + `at`.
inline std::string CopyKernel(absl::string_view wait = "call void @llvm.nvvm.cp.async.wait.group(i32 0)",
                              int64_t at = 0) {
  return KernelText("copy", "ptr noalias readonly align 256 %a, ptr noalias align 256 %out",
                    absl::StrCat(R"(
  %four = mul nuw nsw i32 %t, 4
  %index = zext nneg i32 %four to i64
  %pa = getelementptr inbounds float, ptr %a, i64 %index
  %global = addrspacecast ptr %pa to ptr addrspace(1)
  %byte = mul nuw nsw i32 %t, 16
  %own = add nuw nsw i32 %byte, )",
                                 at, R"(
  %other = add nuw nsw i32 %byte, 4096
  %mine = getelementptr inbounds i8, ptr addrspace(3) @tile, i32 %own
  %second = getelementptr inbounds i8, ptr addrspace(3) @tile, i32 %other
  call void @llvm.nvvm.cp.async.cg.shared.global.16.s(ptr addrspace(3) %second, ptr addrspace(1) %global, i32 8)
  call void @llvm.nvvm.cp.async.commit.group()
  call void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3) %mine, ptr addrspace(1) %global)
  call void @llvm.nvvm.cp.async.commit.group()
  )",
                                 wait, R"(
  call void @llvm.nvvm.barrier0()
  %back = sub nuw nsw i32 1023, %four
  %theirs = getelementptr inbounds float, ptr addrspace(3) @tile, i32 %back
  %x = load float, ptr addrspace(3) %theirs
  %zero = getelementptr inbounds i8, ptr addrspace(3) %second, i32 8
  %y = load float, ptr addrspace(3) %zero
  %z = fadd float %x, %y
  %t64 = zext nneg i32 %t to i64
  %po = getelementptr inbounds float, ptr %out, i64 %t64
  store float %z, ptr %po
  ret void)"),
                    R"(
@tile = internal addrspace(3) global [8192 x i8] poison, align 16
declare void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3), ptr addrspace(1))
declare void @llvm.nvvm.cp.async.cg.shared.global.16.s(ptr addrspace(3), ptr addrspace(1), i32)
declare void @llvm.nvvm.cp.async.commit.group()
declare void @llvm.nvvm.cp.async.wait.group(i32)
declare void @llvm.nvvm.cp.async.wait.all()
)");
}

// out[t] = a[t ^ 1] through shared memory; lanes of one warp need a warp barrier for it.
inline std::string NeighbourKernel(bool barrier = true) {
  return KernelText("neighbour", "ptr noalias readonly align 256 %a, ptr noalias align 256 %out",
                    absl::StrCat(R"(
  %index = zext nneg i32 %t to i64
  %pa = getelementptr inbounds float, ptr %a, i64 %index
  %x = load float, ptr %pa
  %mine = getelementptr inbounds [256 x float], ptr addrspace(3) @tile, i32 0, i32 %t
  store float %x, ptr addrspace(3) %mine
)",
                                 barrier ? "  call void @llvm.nvvm.bar.warp.sync(i32 -1)\n" : "", R"(
  %other = xor i32 %t, 1
  %theirs = getelementptr inbounds [256 x float], ptr addrspace(3) @tile, i32 0, i32 %other
  %y = load float, ptr addrspace(3) %theirs
  %po = getelementptr inbounds float, ptr %out, i64 %index
  store float %y, ptr %po
  ret void)"),
                    "@tile = internal addrspace(3) global [256 x float] poison, align 16");
}

// Counts bytes: bins in shared memory, then added to out's. n bytes, a grid of any size.
inline std::string HistogramKernel(bool atomic = true) {
  return KernelText("histogram", "ptr noalias readonly align 256 %a, ptr noalias align 256 %out, i32 %n",
                    absl::StrCat(R"(
  %bin = getelementptr inbounds [256 x i32], ptr addrspace(3) @bins, i32 0, i32 %t
  store i32 0, ptr addrspace(3) %bin
  call void @llvm.nvvm.barrier0()
  %blocks = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %stride = mul nsw i32 %blocks, 256
  br label %head
head:
  %at = phi i32 [ %i, %0 ], [ %next, %body ]
  %go = icmp slt i32 %at, %n
  br i1 %go, label %body, label %end
body:
  %index = zext nneg i32 %at to i64
  %pa = getelementptr inbounds i8, ptr %a, i64 %index
  %byte = load i8, ptr %pa
  %which = zext i8 %byte to i32
  %p = getelementptr inbounds [256 x i32], ptr addrspace(3) @bins, i32 0, i32 %which
)",
                                 atomic ? "  %old = atomicrmw add ptr addrspace(3) %p, i32 1 monotonic\n"
                                        : "  %old = load i32, ptr addrspace(3) %p\n  %new = add i32 %old, 1\n  store "
                                          "i32 %new, ptr addrspace(3) %p\n",
                                 R"(
  %next = add nsw i32 %at, %stride
  br label %head
end:
  call void @llvm.nvvm.barrier0()
  %count = load i32, ptr addrspace(3) %bin
  %t64 = zext nneg i32 %t to i64
  %po = getelementptr inbounds i32, ptr %out, i64 %t64
  %before = atomicrmw add ptr %po, i32 %count monotonic
  ret void)"),
                    "@bins = internal addrspace(3) global [256 x i32] poison, align 16");
}

// out[c][r] = in[r][c] of 64 x 64 floats in tiles of 32 x 32, blocks of 32 x 8 threads; rows of the tile are `pad`
// words apart.
inline std::string TransposeKernel(int pad = 33, bool barrier = true) {
  std::string loads, stores;
  const std::string tile = absl::StrCat("[32 x [", pad, " x float]]");
  for (int j = 0; j < 32; j += 8) {
    absl::StrAppend(&loads, "  %ly", j, " = add nsw i32 %ty, ", j, "\n  %lr", j, " = add nsw i32 %r0, %ly", j,
                    "\n  %lm", j, " = mul nsw i32 %lr", j, ", 64\n  %lc", j, " = add nsw i32 %c0, %t\n  %li", j,
                    " = add nsw i32 %lm", j, ", %lc", j, "\n  %lx", j, " = zext nneg i32 %li", j, " to i64\n  %lp", j,
                    " = getelementptr inbounds float, ptr %a, i64 %lx", j, "\n  %lv", j, " = load float, ptr %lp", j,
                    "\n  %ls", j, " = getelementptr inbounds ", tile, ", ptr addrspace(3) @tile, i32 0, i32 %ly", j,
                    ", i32 %t\n  store float %lv", j, ", ptr addrspace(3) %ls", j, "\n");
    absl::StrAppend(&stores, "  %sy", j, " = add nsw i32 %ty, ", j, "\n  %sr", j, " = add nsw i32 %c0, %sy", j,
                    "\n  %sm", j, " = mul nsw i32 %sr", j, ", 64\n  %sc", j, " = add nsw i32 %r0, %t\n  %si", j,
                    " = add nsw i32 %sm", j, ", %sc", j, "\n  %sx", j, " = zext nneg i32 %si", j, " to i64\n  %sp", j,
                    " = getelementptr inbounds float, ptr %out, i64 %sx", j, "\n  %ss", j, " = getelementptr inbounds ",
                    tile, ", ptr addrspace(3) @tile, i32 0, i32 %t, i32 %sy", j, "\n  %sv", j,
                    " = load float, ptr addrspace(3) %ss", j, "\n  store float %sv", j, ", ptr %sp", j, "\n");
  }
  return KernelText("transpose", "ptr noalias readonly align 256 %a, ptr noalias align 256 %out",
                    absl::StrCat(R"(
  %ty = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %by = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %c0 = shl nsw i32 %block, 5
  %r0 = shl nsw i32 %by, 5
)",
                                 loads, barrier ? "  call void @llvm.nvvm.barrier0()\n" : "", stores, "  ret void"),
                    absl::StrCat("@tile = internal addrspace(3) global ", tile, " poison, align 16"));
}

// One store by every thread: out[t] = block, whatever the block.
inline std::string OverwriteKernel() {
  return KernelText("overwrite", "ptr noalias align 256 %out", R"(
  %index = zext nneg i32 %t to i64
  %po = getelementptr inbounds i32, ptr %out, i64 %index
  store i32 %block, ptr %po
  ret void)");
}

inline absl::StatusOr<GpuCode> CompileText(absl::string_view text, GpuCompileOptions options) {
  absl::StatusOr<codegen::HostModule> module = codegen::ParseIr(text);
  if (!module.ok()) return module.status();
  return CompileGpuModule(module->module.get(), options);
}

// out[n] = 1 + ... + n: each block waits for the sum of the one before it, and stores its own with 1 added to tell it
// from 0. Blocks are numbered by a counter: 't'; by their index: 'i'. With 'p' the sum is stored and loaded plainly.
inline std::string ChainKernel(char how = 't') {
  const char* atomic = how == 'p' ? "" : "atomic ";
  const char* order = how == 'p' ? "" : " monotonic";
  return KernelText(
      "chain", "ptr noalias align 256 %out, ptr noalias align 256 %ticket",
      absl::StrCat(R"(
  %is_zero = icmp eq i32 %t, 0
  br i1 %is_zero, label %number, label %end
number:
)",
                   how == 'i' ? "  %n = add i32 %block, 0\n" : "  %n = atomicrmw add ptr %ticket, i32 1 monotonic\n",
                   R"(  %own = getelementptr inbounds i32, ptr %out, i32 %n
  %is_first = icmp eq i32 %n, 0
  br i1 %is_first, label %store, label %look
look:
  %before = getelementptr inbounds i32, ptr %own, i32 -1
  %x = load )",
                   atomic, "i32, ptr %before", order, R"(, align 4
  %there = icmp ne i32 %x, 0
  br i1 %there, label %store, label %wait
wait:
  call void @llvm.nvvm.nanosleep(i32 32)
  br label %look
store:
  %sum = phi i32 [ 1, %number ], [ %x, %look ]
  %next = add i32 %sum, %n
  store )",
                   atomic, "i32 %next, ptr %own", order, R"(, align 4
  br label %end
end:
  ret void)"));
}

// out[thread] = the lanes whose thread has the same remainder by 5, as bits.
inline std::string MatchKernel() {
  return KernelText("match", "ptr noalias align 256 %out", R"(
  %rest = urem i32 %t, 5
  %equal = call i32 @llvm.nvvm.match.any.sync.i32(i32 -1, i32 %rest)
  %cell = getelementptr inbounds i32, ptr %out, i32 %t
  store i32 %equal, ptr %cell
  ret void)");
}

// Both lanes of a pair read what the first one stored, and store again. `wait`: with a warp barrier between.
inline std::string SharedPairKernel(bool wait) {
  const char* barrier = "  call void @llvm.nvvm.bar.warp.sync(i32 -1)\n";
  return KernelText("pair", "ptr noalias align 256 %out",
                    absl::StrCat(R"(
  %own = getelementptr inbounds [256 x i32], ptr addrspace(3) @cells, i32 0, i32 %t
  store i32 %t, ptr addrspace(3) %own
)",
                                 barrier, R"(  %even = and i32 %t, -2
  %pair = getelementptr inbounds [256 x i32], ptr addrspace(3) @cells, i32 0, i32 %even
  %x = load i32, ptr addrspace(3) %pair
)",
                                 wait ? barrier : "", R"(  store i32 7, ptr addrspace(3) %own
  %cell = getelementptr inbounds i32, ptr %out, i32 %t
  store i32 %x, ptr %cell
  ret void)"),
                    "@cells = internal addrspace(3) global [256 x i32] poison, align 16");
}

}  // namespace hilo::gpu

#endif  // HILO_TESTS_UNIT_BACKENDS_GPU_TEST_KERNELS_H_
