#include "backends/llvm/jit/host_jit.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <thread>

#include "backends/llvm/jit/code_generator.h"
#include "tests/support/ir_text.h"

namespace hilo::codegen {
namespace {

std::unique_ptr<HostJit> MakeJit(JitOptions options = {}) {
  absl::StatusOr<std::unique_ptr<HostJit>> jit = HostJit::Create(std::move(options));
  EXPECT_TRUE(jit.ok()) << jit.status();
  return jit.ok() ? *std::move(jit) : nullptr;
}

std::vector<HostModule> Parse(std::initializer_list<const char*> texts) {
  std::vector<HostModule> modules;
  for (const char* text : texts) {
    absl::StatusOr<HostModule> module = ParseIr(text);
    EXPECT_TRUE(module.ok()) << module.status();
    if (module.ok()) modules.push_back(*std::move(module));
  }
  return modules;
}

constexpr char kTwice[] = "define i64 @twice(i64 %x) { %y = shl i64 %x, 1  ret i64 %y }";
constexpr char kCaller[] =
    "declare i64 @twice(i64) \n declare i64 @host(i64) \n define i64 @call(i64 %x) { \n"
    "%a = call i64 @twice(i64 %x) %b = call i64 @host(i64 %a) ret i64 %b }";

TEST(HostJitTest, ModulesCallEachOtherAndTheHost) {
  auto jit = MakeJit();
  static int64_t (*const host)(int64_t) = [](int64_t x) { return x + 1; };
  auto code = jit->CompileModules(Parse({kCaller, kTwice}), {{"host", reinterpret_cast<void*>(host)}});
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_EQ((*code)->LookupFunction<int64_t(int64_t)>("call")(20), 41);
  EXPECT_EQ((*code)->Lookup("nothing"), nullptr);
  EXPECT_GT((*code)->code_bytes(), 0u);
}

TEST(HostJitTest, HiddenFunctionsOfOtherModulesAreFound) {
  auto jit = MakeJit();
  auto code = jit->CompileModules(
      Parse({"declare hidden i64 @piece() define i64 @main_() { %r = call i64 @piece() ret i64 %r }",
             "define hidden i64 @piece() { ret i64 7 }"}));
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_EQ((*code)->LookupFunction<int64_t()>("main_")(), 7);
}

TEST(HostJitTest, ObjectsLinkInAnotherJit) {
  auto objects = MakeJit()->CompileToObjects(Parse({kTwice}));
  ASSERT_TRUE(objects.ok()) << objects.status();
  auto code = MakeJit()->LinkObjects(*objects);
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_EQ((*code)->LookupFunction<int64_t(int64_t)>("twice")(4), 8);
}

TEST(HostJitTest, ManyModulesInParallelGiveTheSameObjects) {
  const auto modules = [] {
    std::vector<HostModule> made;
    for (int i = 0; i < 20; ++i) {
      made.push_back(*ParseIr("define i64 @f" + std::to_string(i) + "() { ret i64 " + std::to_string(i) + " }"));
    }
    return made;
  };
  auto jit = MakeJit();
  const ParallelRunner two_threads = [](size_t count, const std::function<void(size_t)>& body) {
    std::thread odd([&] {
      for (size_t i = 1; i < count; i += 2) body(i);
    });
    for (size_t i = 0; i < count; i += 2) body(i);
    odd.join();
  };
  auto parallel = jit->CompileToObjects(modules(), two_threads);
  auto serial = jit->CompileToObjects(modules());
  ASSERT_TRUE(parallel.ok() && serial.ok());
  EXPECT_EQ(*parallel, *serial);
  auto code = jit->LinkObjects(*parallel);
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_EQ((*code)->LookupFunction<int64_t()>("f13")(), 13);
}

TEST(HostJitTest, ObjectsDoNotDependOnTheModulesBefore) {
  auto jit = MakeJit();
  constexpr char kFloats[] =
      "@table = constant [2 x float] [float 1.0, float 2.0] \n define void @floats(ptr %p) { \n"
      "%v = load <16 x float>, ptr %p  %w = fmul <16 x float> %v, %v  store <16 x float> %w, ptr %p \n"
      "store float 3.0, ptr @table  ret void }";
  auto first = jit->CompileToObjects(Parse({kTwice}));
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_TRUE(jit->CompileToObjects(Parse({kFloats, kCaller})).ok());
  EXPECT_FALSE(
      jit->CompileToObjects(Parse({"define void @bad() { call void asm \"nonsense\", \"\"()  ret void }"})).ok());
  auto again = jit->CompileToObjects(Parse({kTwice}));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*first, *again);
}

TEST(HostJitTest, NothingIsWritableAndExecutable) {
  auto jit = MakeJit();
  auto code =
      jit->CompileModules(Parse({"@c = constant [8 x float] zeroinitializer, align 32 \n @v = global i32 3 \n"
                                 "define ptr @f() { ret ptr @c }"}));
  ASSERT_TRUE(code.ok()) << code.status();
  const auto protection = [](const void* address) -> std::string {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      unsigned long begin, end;
      char bits[5];
      if (sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, bits) == 3 &&
          reinterpret_cast<unsigned long>(address) - begin < end - begin) {
        return std::string(bits, 3);
      }
    }
    return "none";
  };
  EXPECT_EQ(protection((*code)->Lookup("f")), "r-x");
  EXPECT_EQ(protection((*code)->Lookup("c")), "r--");
  EXPECT_EQ(protection((*code)->Lookup("v")), "rw-");
  const void* where = (*code)->Lookup("f");
  EXPECT_EQ((*code)->LookupFunction<void*()>("f")(), (*code)->Lookup("c"));
  code->reset();
  EXPECT_EQ(protection(where), "none");
}

void ExpectError(const absl::Status& status, const char* text) {
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << status;
  EXPECT_NE(status.message().find(text), absl::string_view::npos) << status;
}

TEST(HostJitTest, UnresolvedSymbolsAreNamed) {
  auto jit = MakeJit();
  ExpectError(jit->CompileModules(Parse({kCaller})).status(), "host, twice");
  // The process has getpid, but compiled code is not told so.
  ExpectError(
      jit->CompileModules(Parse({"declare i32 @getpid() define i32 @f() { %r = call i32 @getpid() ret i32 %r }"}))
          .status(),
      "getpid");
}

TEST(HostJitTest, DuplicateDefinitionsAreAnError) {
  ExpectError(MakeJit()->CompileModules(Parse({kTwice, kTwice})).status(), "twice");
}

TEST(HostJitTest, BrokenObjectsAreAnError) {
  auto jit = MakeJit();
  EXPECT_FALSE(jit->LinkObjects({"not an object"}).ok());
  auto objects = jit->CompileToObjects(Parse({kTwice}));
  ASSERT_TRUE(objects.ok());
  EXPECT_FALSE(jit->LinkObjects({objects->front().substr(0, objects->front().size() / 2)}).ok());
}

TEST(HostJitTest, InvalidModulesAreAnError) {
  HostModule module = MakeInvalidModule();
  std::vector<HostModule> modules;
  modules.push_back(std::move(module));
  ExpectError(MakeJit()->CompileModules(std::move(modules)).status(), "is not valid");
  EXPECT_EQ(MakeJit()->EmitAssembly(HostModule()).status().code(), absl::StatusCode::kInvalidArgument);
}

// LLVM 19 makes an extension of these shuffles that it cannot select for Zen 4 and 5.
constexpr char kUnselected[] = R"(
define void @f(ptr %x, ptr %y) {
  %v = load <16 x float>, ptr %x
  %a = shufflevector <16 x float> %v, <16 x float> zeroinitializer, <16 x i32> <i32 poison, i32 poison, i32 9,
    i32 poison, i32 poison, i32 poison, i32 11, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison,
    i32 poison, i32 poison, i32 poison>
  %b = shufflevector <16 x float> zeroinitializer, <16 x float> %a, <16 x i32> <i32 poison, i32 poison, i32 18, i32 3,
    i32 poison, i32 poison, i32 22, i32 7, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison,
    i32 poison, i32 poison>
  %c = shufflevector <16 x float> <float 1.0, float 1.0, float 1.0, float 1.0, float 1.0, float 1.0, float 1.0,
    float 1.0, float 1.0, float 1.0, float 1.0, float 1.0, float 1.0, float 1.0, float 1.0, float 1.0>,
    <16 x float> %b, <16 x i32> <i32 0, i32 1, i32 18, i32 19, i32 4, i32 5, i32 22, i32 23, i32 poison, i32 poison,
    i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison>
  store <16 x float> %c, ptr %y, align 64
  ret void
})";

TEST(HostJitTest, WhatLlvmCannotSelectIsTunedOtherwise) {
  auto assembly = MakeJit({.cpu = "znver5"})->EmitAssembly(*ParseIr(kUnselected));
  ASSERT_TRUE(assembly.ok()) << assembly.status();
  EXPECT_NE(assembly->find("f:"), std::string::npos);
  auto objects = MakeJit({.cpu = "znver5"})->CompileToObjects(Parse({kUnselected, kTwice}));
  ASSERT_TRUE(objects.ok()) << objects.status();
  EXPECT_EQ(objects->size(), 2u);
}

TEST(HostJitTest, FatalErrorsOfLlvmAreErrors) {
  constexpr char kOtherProcessor[] =
      "declare <16 x float> @llvm.x86.avx512.mask.scalef.ps.512(<16 x float>, <16 x float>, <16 x float>, i16, i32)\n"
      "define void @f(ptr %x) { %a = load <16 x float>, ptr %x\n"
      "%b = call <16 x float> @llvm.x86.avx512.mask.scalef.ps.512(<16 x float> %a, <16 x float> %a, <16 x float> %a, "
      "i16 -1, i32 4)\n store <16 x float> %b, ptr %x ret void }";
  auto jit = MakeJit({.cpu = "x86-64"});
  for (int i = 0; i < 2; ++i) {
    ExpectError(jit->EmitAssembly(*ParseIr(kOtherProcessor)).status(), "LLVM: ");
    ExpectError(jit->CompileToObjects(Parse({kOtherProcessor})).status(), "LLVM: ");
    EXPECT_TRUE(jit->CompileToObjects(Parse({kTwice})).ok());
  }
}

TEST(HostJitTest, CancellationEndsTheCompilationOfAModule) {
  constexpr char kStored[] =
      "define i64 @stored(i64 %x) { %p = alloca i64  store i64 %x, ptr %p  %y = load i64, ptr %p  ret i64 %y }";
  const absl::StatusOr<CpuFeatures> cpu = FeaturesOf("");
  ASSERT_TRUE(cpu.ok()) << cpu.status();
  CancellationToken running, expired;
  expired.Expire();
  for (const CancellationToken* token : {&expired, &running}) {
    absl::StatusOr<std::unique_ptr<CodeGenerator>> generator = CodeGenerator::Take(*cpu, OptLevel::kFast);
    ASSERT_TRUE(generator.ok()) << generator.status();
    std::vector<HostModule> modules = Parse({kStored});
    (*generator)->Prepare(modules[0].module.get());
    (*generator)->Optimize(modules[0].module.get(), token);
    EXPECT_EQ(InstructionsOf(modules[0]), token == &expired ? 4 : 1);
    const absl::StatusOr<std::string> object = (*generator)->EmitObject(modules[0].module.get(), token);
    EXPECT_EQ(object.status().code(), token == &expired ? absl::StatusCode::kDeadlineExceeded : absl::StatusCode::kOk);
    CodeGenerator::Return(*std::move(generator));
  }
}

TEST(HostJitTest, CpuNames) {
  EXPECT_EQ(HostJit::Create({.cpu = "z80"}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(MakeJit({.cpu = "x86-64"})->cpu().has_fma);
  EXPECT_EQ(MakeJit({.cpu = "x86-64-v3"})->cpu().vector_bits, 256);
  EXPECT_TRUE(MakeJit({.cpu = "x86-64-v4"})->cpu().has_avx512);
  EXPECT_NE(MakeJit({.cpu = "x86-64-v3"})->cpu().ToText(), MakeJit({.cpu = "x86-64-v4"})->cpu().ToText());
}

TEST(HostJitTest, AssemblyAndIrAsText) {
  auto assembly = MakeJit()->EmitAssembly(*ParseIr(kTwice));
  ASSERT_TRUE(assembly.ok());
  EXPECT_NE(assembly->find("twice:"), std::string::npos);
  auto ir = MakeJit()->EmitOptimizedIr(
      *ParseIr("define i32 @f() { %p = alloca i32 store i32 5, ptr %p %v = load i32, ptr %p ret i32 %v }"));
  ASSERT_TRUE(ir.ok());
  EXPECT_NE(ir->find("ret i32 5"), std::string::npos);
}

TEST(HostJitTest, InstructionsAreCombinedWhereComparisonsAreValues) {
  auto plain = MakeJit()->EmitOptimizedIr(*ParseIr("define i64 @f(i64 %x) { %q = udiv i64 %x, 8 ret i64 %q }"));
  ASSERT_TRUE(plain.ok());
  EXPECT_NE(plain->find("udiv"), std::string::npos) << *plain;
  auto compared =
      MakeJit()->EmitOptimizedIr(*ParseIr("define i64 @f(i64 %x) { %q = udiv i64 %x, 8 %c = icmp ult i64 %x, 80 "
                                          "%s = select i1 %c, i64 %q, i64 7 ret i64 %s }"));
  ASSERT_TRUE(compared.ok());
  EXPECT_NE(compared->find("lshr"), std::string::npos) << *compared;
}

TEST(HostJitTest, IndicesWithinTheirBoundsAreNotCompared) {
  auto ir = MakeJit()->EmitOptimizedIr(*ParseIr(
      "define void @f(ptr %p) { entry: br label %loop loop: %i = phi i64 [ 0, %entry ], [ %n, %loop ] "
      "%c = icmp ult i64 %i, 100 %v = select i1 %c, float 1.0, float 2.0 %at = getelementptr float, ptr %p, i64 %i "
      "store float %v, ptr %at %n = add nsw i64 %i, 1 %e = icmp slt i64 %n, 100 br i1 %e, label %loop, label %exit "
      "exit: ret void }"));
  ASSERT_TRUE(ir.ok());
  EXPECT_EQ(ir->find("select"), std::string::npos) << *ir;
  EXPECT_NE(ir->find("icmp"), std::string::npos) << *ir;  // that of the loop's end
}

TEST(HostJitTest, JitdumpHoldsTheCode) {
  setenv("HILO_JITDUMP_DIR", testing::TempDir().c_str(), 1);
  auto jit = MakeJit({.perf_jitdump = true});
  auto code = jit->CompileModules(Parse({kTwice}));
  ASSERT_TRUE(code.ok()) << code.status();
  const std::string path = testing::TempDir() + "/jit-" + std::to_string(getpid()) + ".dump";
  std::ifstream file(path, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  EXPECT_EQ(bytes.str().substr(0, 4), "DTiJ");
  EXPECT_NE(bytes.str().find(std::string("twice\0", 6)), std::string::npos);
  unlink(path.c_str());
}

}  // namespace
}  // namespace hilo::codegen
