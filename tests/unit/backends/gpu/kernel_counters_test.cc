// How kernels use memory, counted by the emulated device with every access checked: sectors of global memory against
// the fewest that hold the bytes, passes over the banks of shared memory, and the bytes that are read at all. The CPU
// says what the results are.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <map>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "backends/cpu/compile/cpu_compiler.h"
#include "backends/gpu/compile/gpu_compiler.h"
#include "backends/gpu/emulated/emulated_driver.h"
#include "backends/gpu/runtime/gpu_devices.h"
#include "backends/gpu/runtime/gpu_platform.h"
#include "hilo/client.h"
#include "hilo/literal.h"
#include "hilo/status_macros.h"
#include "hlo/text/hlo_parser.h"
#include "runtime/runtime_access.h"

namespace hilo::gpu {
namespace {

constexpr char kAdd[] = "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }\n";
constexpr char kMax[] = "max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] maximum(a, b) }\n";

struct Counted {
  const char* name;
  std::string text;
  size_t kernels;       // that touch memory
  double global = 1.1;  // sectors, times the fewest, of each kind of access
  double shared = 2;    // passes
  int64_t width = 0;    // bytes of the widest load of the first kernel that loads; 0: not asked
};

std::string Softmax(int64_t rows, int64_t columns) {
  return absl::StrReplaceAll(
      absl::StrCat("HloModule m\n", kAdd, kMax, R"(
ENTRY main {
  x = f32[R,C] parameter(0)
  low = f32[] constant(-inf)
  zero = f32[] constant(0)
  m = f32[R] reduce(x, low), dimensions={1}, to_apply=max
  mb = f32[R,C] broadcast(m), dimensions={0}
  d = f32[R,C] subtract(x, mb)
  e = f32[R,C] exponential(d)
  s = f32[R] reduce(e, zero), dimensions={1}, to_apply=add
  sb = f32[R,C] broadcast(s), dimensions={0}
  ROOT r = f32[R,C] divide(e, sb)
}
)"),
      {{"R,", absl::StrCat(rows, ",")}, {"R]", absl::StrCat(rows, "]")}, {"C]", absl::StrCat(columns, "]")}});
}

// The gradient of a layer norm: one reading of the rows for its results of rows and of columns.
std::string LayerNormGradient(int64_t rows, int64_t columns) {
  return absl::StrReplaceAll(
      absl::StrCat("HloModule m\n", kAdd, R"(
ENTRY main {
  x = f32[R,C] parameter(0)
  g = f32[R,C] parameter(1)
  gamma = f32[C] parameter(2)
  zero = f32[] constant(0)
  part = f32[] constant(0.01)
  parts = f32[R] broadcast(part), dimensions={}
  s = f32[R] reduce(x, zero), dimensions={1}, to_apply=add
  mean = f32[R] multiply(s, parts)
  means = f32[R,C] broadcast(mean), dimensions={0}
  y = f32[R,C] subtract(x, means)
  gammas = f32[R,C] broadcast(gamma), dimensions={1}
  h = f32[R,C] multiply(g, gammas)
  hy = f32[R,C] multiply(h, y)
  t = f32[R] reduce(hy, zero), dimensions={1}, to_apply=add
  t_mean = f32[R] multiply(t, parts)
  ts = f32[R,C] broadcast(t_mean), dimensions={0}
  yt = f32[R,C] multiply(y, ts)
  dx = f32[R,C] subtract(h, yt)
  gy = f32[R,C] multiply(g, y)
  dgamma = f32[C] reduce(gy, zero), dimensions={0}, to_apply=add
  dbeta = f32[C] reduce(g, zero), dimensions={0}, to_apply=add
  ROOT all = (f32[R,C], f32[C], f32[C]) tuple(dx, dgamma, dbeta)
}
)"),
      {{"R,", absl::StrCat(rows, ",")}, {"R]", absl::StrCat(rows, "]")}, {"C]", absl::StrCat(columns, "]")}});
}

// All digits of f32 count, so threads multiply.
std::string Attention() {
  return absl::StrCat("HloModule m\n", kAdd, kMax, R"(
ENTRY main {
  q = f32[2,64,32] parameter(0)
  k = f32[2,64,32] parameter(1)
  v = f32[2,64,48] parameter(2)
  x = f32[2,64,64] dot(q, k), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}, operand_precision={highest,highest}
  low = f32[] constant(-inf)
  zero = f32[] constant(0)
  m = f32[2,64] reduce(x, low), dimensions={2}, to_apply=max
  mb = f32[2,64,64] broadcast(m), dimensions={0,1}
  d = f32[2,64,64] subtract(x, mb)
  e = f32[2,64,64] exponential(d)
  s = f32[2,64] reduce(e, zero), dimensions={2}, to_apply=add
  sb = f32[2,64,64] broadcast(s), dimensions={0,1}
  p = f32[2,64,64] divide(e, sb)
  ROOT r = f32[2,64,48] dot(p, v), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}, operand_precision={highest,highest}
}
)");
}

std::string Sum(const char* shape, const char* dimensions, const char* result, const char* type = "f32") {
  return absl::StrReplaceAll(
      absl::StrCat("HloModule m\n", kAdd, "ENTRY main { x = T[", shape, "] parameter(0)  c = f32[", shape,
                   "] convert(x)  zero = f32[] constant(0)  ROOT r = f32[", result, "] reduce(c, zero), dimensions={",
                   dimensions, "}, to_apply=add }\n"),
      {{"T[", absl::StrCat(type, "[")}});
}

std::string Transpose(const char* type, const char* from, const char* to, const char* permutation) {
  return absl::StrCat("HloModule m\nENTRY main { x = ", type, "[", from, "] parameter(0)  ROOT t = ", type, "[", to,
                      "] transpose(x), dimensions={", permutation, "} }\n");
}

std::string RunningSum(const char* shape, const char* window, const char* type = "s32") {
  return absl::StrReplaceAll(absl::StrCat(R"(HloModule m
add { a = T[] parameter(0)  b = T[] parameter(1)  ROOT s = T[] add(a, b) }
ENTRY main { x = T[)",
                                          shape, "] parameter(0)  three = T[] constant(3)  ROOT r = T[", shape,
                                          "] reduce-window(x, three), window={", window, "}, to_apply=add }\n"),
                             {{"T[", absl::StrCat(type, "[")}});
}

std::string Dot(const char* type, const char* lhs, const char* rhs, const char* result) {
  return absl::StrCat("HloModule m\nENTRY main { x = ", type, "[", lhs, "] parameter(0)  y = ", type, "[", rhs,
                      "] parameter(1)  ROOT d = ", result,
                      " dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} }\n");
}

std::vector<Counted> Cases() {
  return {
      {"softmax", Softmax(4, 512), 1},
      {"softmax_of_long_rows", Softmax(2, 4096), 1},
      {"softmax_of_uneven_rows", Softmax(5, 1000), 1},
      // Rows of an odd length do not begin at sectors.
      {"softmax_of_odd_rows", Softmax(9, 333), 1, 1.4},
      {"layer_norm_of_a_sum", absl::StrCat("HloModule m\n", kAdd, R"(
ENTRY main {
  x = f32[8,1,256] parameter(0)
  y = f32[8,1,256] parameter(1)
  gamma = f32[256] parameter(2)
  h = f32[8,1,256] add(x, y)
  zero = f32[] constant(0)
  scale = f32[] constant(0.00390625)
  scales = f32[8,1] broadcast(scale), dimensions={}
  sum = f32[8,1] reduce(h, zero), dimensions={2}, to_apply=add
  mean = f32[8,1] multiply(sum, scales)
  squares = f32[8,1,256] multiply(h, h)
  sum2 = f32[8,1] reduce(squares, zero), dimensions={2}, to_apply=add
  mean2 = f32[8,1] multiply(sum2, scales)
  square = f32[8,1] multiply(mean, mean)
  variance = f32[8,1] subtract(mean2, square)
  small = f32[] constant(1e-5)
  smalls = f32[8,1] broadcast(small), dimensions={}
  more = f32[8,1] add(variance, smalls)
  rsqrt = f32[8,1] rsqrt(more)
  means = f32[8,1,256] broadcast(mean), dimensions={0,1}
  factors = f32[8,1,256] broadcast(rsqrt), dimensions={0,1}
  g = f32[8,1,256] broadcast(gamma), dimensions={2}
  centred = f32[8,1,256] subtract(h, means)
  normal = f32[8,1,256] multiply(centred, factors)
  result = f32[8,1,256] multiply(normal, g)
  ROOT all = (f32[8,1,256], f32[8,1,256], f32[8,1]) tuple(h, result, rsqrt)
}
)"),
       1},
      {"log_sum_exp", absl::StrCat("HloModule m\n", kAdd, kMax, R"(
ENTRY main {
  x = f32[16,512] parameter(0)
  low = f32[] constant(-inf)
  zero = f32[] constant(0)
  m = f32[16] reduce(x, low), dimensions={1}, to_apply=max
  mb = f32[16,512] broadcast(m), dimensions={0}
  d = f32[16,512] subtract(x, mb)
  e = f32[16,512] exponential(d)
  s = f32[16] reduce(e, zero), dimensions={1}, to_apply=add
  l = f32[16] log(s)
  ROOT r = f32[16] add(l, m)
}
)"),
       1, 1.1, 2, 16},
      {"layer_norm_gradient", LayerNormGradient(150, 512), 2, 1.1, 2, 16},
      {"layer_norm_gradient_of_short_rows", LayerNormGradient(600, 32), 2, 1.1, 2, 16},
      {"layer_norm_gradient_of_uneven_rows", LayerNormGradient(333, 1000), 2, 1.1, 2, 16},
      {"transpose", Transpose("f32", "96,160", "160,96", "1,0"), 1, 1.1, 2, 16},
      {"transpose_of_short_sides", Transpose("f32", "2,48,160", "2,160,48", "0,2,1"), 1, 1.1, 2, 4},
      {"transpose_of_16_bits", Transpose("bf16", "3,96,160", "3,160,96", "0,2,1"), 1, 1.1, 2, 16},
      {"transpose_of_64_bits", Transpose("f64", "96,160", "160,96", "1,0"), 1, 1.1, 2, 16},
      {"transpose_of_8_bits", Transpose("s8", "160,2,192", "192,2,160", "2,1,0"), 1, 1.1, 2, 4},
      {"transpose_of_8_bits_of_uneven_sides", Transpose("s8", "132,2,196", "196,2,132", "2,1,0"), 1, 1.4, 2, 4},
      {"transpose_of_8_bit_floats", Transpose("f8e4m3fn", "160,192", "192,160", "1,0"), 1, 1.1, 2, 4},
      {"rows", Sum("64,1024", "1", "64"), 1, 1.1, 2, 16},
      {"rows_of_bf16", Sum("64,1024", "1", "64", "bf16"), 1, 1.1, 2, 16},
      {"short_rows", Sum("512,24", "1", "512"), 1, 1.1, 2, 16},
      {"long_rows", Sum("2,40000", "1", "2"), 2, 1.1, 2, 16},
      {"mixed", Sum("4,24,256", "0,2", "24"), 1, 1.1, 2, 16},
      {"columns", Sum("300,256", "0", "256"), 2, 1.1, 2, 16},
      {"columns_of_bf16", Sum("64,1024", "0", "1024", "bf16"), 2, 1.1, 2, 16},
      {"middle", Sum("6,16,128", "1", "6,128"), 1, 1.1, 2, 16},
      {"few_columns", Sum("2000,8", "0", "8"), 2, 1.1, 2, 16},
      {"running_sums", RunningSum("3,3000", "size=1x3000 pad=0_0x2999_0"), 1, 1.1, 2, 16},
      {"running_sums_of_long_lines", RunningSum("40000", "size=40000 pad=39999_0"), 2, 1.1, 2, 16},
      {"running_sums_from_the_back", RunningSum("2,20000", "size=1x20000 pad=0_0x0_19999"), 2, 1.2, 2, 16},
      {"running_sums_of_short_lines", RunningSum("300,20", "size=1x20 pad=0_0x19_0"), 1, 1.1, 2, 16},
      {"running_sums_of_odd_lines", RunningSum("5,1501", "size=1x1501 pad=0_0x1500_0"), 1, 1.4, 2, 4},
      {"running_sums_of_columns", RunningSum("200,64", "size=200x1 pad=199_0x0_0"), 2, 1.1, 2, 16},
      {"running_sums_in_the_middle", RunningSum("3,70,5", "size=1x70x1 pad=0_0x0_69x0_0"), 1, 4, 2, 4},
      {"running_sums_of_floats", RunningSum("4,1000", "size=1x1000 pad=0_0x999_0", "f32"), 1, 1.1, 2, 16},
      {"gathered_rows", R"(
HloModule m
ENTRY main {
  table = f32[1009,128] parameter(0)
  at = s32[300] parameter(1)
  ROOT r = f32[300,128] gather(table, at), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,128}
}
)",
       1, 1.1, 2, 16},
      {"dot", Dot("f32", "96,64", "64,128", "f32[96,128]"), 1, 1.1, 2, 16},
      {"dot_on_tensor_cores", Dot("bf16", "128,64", "64,120", "f32[128,120]"), 1, 1.1, 2, 16},
      {"dot_of_few_rows", Dot("bf16", "16,128", "128,256", "f32[16,256]"), 1, 1.1, 2, 16},
      {"attention_by_threads", Attention(), 1},
      {"odd_columns", Sum("100,37", "0", "37"), 2, 2.1, 2, 4},
  };
}

Literal Numbers(const Shape& shape) {
  Literal literal = *Literal::Create(shape);
  const absl::Span<uint8_t> bytes = literal.untyped_data();
  for (int64_t i = 0; i < ShapeUtil::ElementsIn(shape); ++i) {
    const float value = static_cast<float>((i * 7919 + 13) % 1009) / 256.0f - 2.0f;
    if (shape.element_type() == F32) reinterpret_cast<float*>(bytes.data())[i] = value;
    if (shape.element_type() == S32)
      reinterpret_cast<int32_t*>(bytes.data())[i] = static_cast<int32_t>((i * 7919 + 13) % 1009);
    if (PrimitiveTypeByteSize(shape.element_type()) == 1) bytes[i] = static_cast<uint8_t>(i * 7919 % 251);
    if (shape.element_type() == BF16)
      reinterpret_cast<uint16_t*>(bytes.data())[i] = static_cast<uint16_t>(0x3f80 + i % 128);
  }
  return literal;
}

absl::StatusOr<Literal> RunOn(std::unique_ptr<Compiler> compiler, const std::string& text) {
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<HloModule> module, ParseHloModule(text));
  std::vector<Literal> arguments;
  for (const Shape& parameter : module->EntryProgramShape().parameters) arguments.push_back(Numbers(parameter));
  std::vector<const Literal*> pointers;
  for (const Literal& argument : arguments) pointers.push_back(&argument);
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<Client> client,
                        RuntimeAccess::CreateClient({.device_count = 1}, std::move(compiler)));
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<Executable> executable,
                        RuntimeAccess::Compile(client.get(), std::move(module)));
  return executable->ExecuteLiterals(pointers);
}

void ExpectNear(const Literal& got, const Literal& wanted) {
  if (wanted.shape().IsTuple()) {
    for (int64_t i = 0; i < wanted.tuple_size(); ++i) ExpectNear(got.element(i), wanted.element(i));
    return;
  }
  ASSERT_EQ(got.untyped_data().size(), wanted.untyped_data().size());
  if (wanted.shape().element_type() != F32) {
    EXPECT_TRUE(got.untyped_data() == wanted.untyped_data());
    return;
  }
  const auto *a = reinterpret_cast<const float*>(got.untyped_data().data()),
             *b = reinterpret_cast<const float*>(wanted.untyped_data().data());
  for (int64_t i = 0; i < ShapeUtil::ElementsIn(wanted.shape()); ++i)
    ASSERT_NEAR(a[i], b[i], 3e-5 * std::max(1.0f, std::abs(b[i]))) << i;
}

class KernelCounters : public ::testing::TestWithParam<int> {};

TEST_P(KernelCounters, AccessesAreWide) {
  const Counted counted = Cases()[GetParam()];
  setenv("HILO_EMULATED", "count", 1);
  auto devices = std::make_shared<GpuDevices>(kEmulatedPlatform);
  const auto opened = devices->Get(0);
  unsetenv("HILO_EMULATED");
  ASSERT_TRUE(opened.ok()) << opened.status();
  const auto result =
      RunOn(CreateGpuCompiler(kEmulatedPlatform, {.optimize_for_emulation = true, .devices = devices}), counted.text);
  ASSERT_TRUE(result.ok()) << result.status();
  const auto wanted = RunOn(cpu::CreateCpuCompiler(), counted.text);
  ASSERT_TRUE(wanted.ok()) << wanted.status();
  ExpectNear(*result, *wanted);

  auto& driver = static_cast<EmulatedDriver&>(**opened);
  EXPECT_TRUE(driver.TakeReports().empty());
  std::map<std::string, std::array<int64_t, 3>>
      widths;  // of the widest load from global memory, and the numbers of loads and stores
  for (const AccessCount& count : driver.TakeAccessCounts()) {
    const double ratio = static_cast<double>(count.units) / static_cast<double>(count.ideal);
    EXPECT_LE(ratio, count.shared ? counted.shared : counted.global)
        << count.kernel << " site " << count.site << (count.shared ? " shared " : " global ") << count.bytes
        << " bytes, kind " << static_cast<int>(count.kind) << ": " << count.units << " of " << count.ideal;
    auto& [widest, loads, stores] = widths[count.kernel];
    if (count.shared) continue;
    if (count.kind == AccessCount::Kind::kLoad) {
      widest = std::max(widest, count.bytes);
      ++loads;
    } else {
      ++stores;
    }
  }
  EXPECT_EQ(widths.size(), counted.kernels);
  if (counted.width > 0) {
    const auto first = absl::c_find_if(widths, [](const auto& kernel) { return kernel.second[0] > 0; });
    ASSERT_TRUE(first != widths.end());
    EXPECT_EQ(first->second[0], counted.width);
  }
}

// A cache of 4096 keys of which the position 13 leaves one strip. The values beyond are NaN, so a result that is finite
// has read none of them: their weights are 0, which times NaN is NaN.
TEST(AttentionKernel, LeavesOutHiddenKeys) {
  const std::string text = absl::StrCat("HloModule m\n", kAdd, kMax, R"(
ENTRY main {
  q = f32[2,32] parameter(0)
  k = f32[4096,2,32] parameter(1)
  v0 = f32[4096,2,32] parameter(2)
  position = s32[] parameter(3)
  n = s32[4096,2,32] iota(), iota_dimension=0
  end = s32[] constant(64)
  ends = s32[4096,2,32] broadcast(end), dimensions={}
  is_near = pred[4096,2,32] compare(n, ends), direction=LT
  nan = f32[] constant(nan)
  nans = f32[4096,2,32] broadcast(nan), dimensions={}
  v = f32[4096,2,32] select(is_near, v0, nans)
  s = f32[2,4096] dot(q, k), lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={1}, rhs_contracting_dims={2}
  i = s32[4096] iota(), iota_dimension=0
  p = s32[4096] broadcast(position), dimensions={}
  seen = pred[4096] compare(i, p), direction=LE
  mask = pred[2,4096] broadcast(seen), dimensions={1}
  hidden = f32[] constant(-1e30)
  h = f32[2,4096] broadcast(hidden), dimensions={}
  x = f32[2,4096] select(mask, s, h)
  low = f32[] constant(-inf)
  zero = f32[] constant(0)
  m = f32[2] reduce(x, low), dimensions={1}, to_apply=max
  mb = f32[2,4096] broadcast(m), dimensions={0}
  d = f32[2,4096] subtract(x, mb)
  e = f32[2,4096] exponential(d)
  t = f32[2] reduce(e, zero), dimensions={1}, to_apply=add
  tb = f32[2,4096] broadcast(t), dimensions={0}
  w = f32[2,4096] divide(e, tb)
  ROOT r = f32[2,32] dot(w, v), lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)");
  const auto result = RunOn(CreateGpuCompiler(kEmulatedPlatform), text);
  ASSERT_TRUE(result.ok()) << result.status();
  for (int64_t i = 0; i < 2 * 32; ++i) EXPECT_TRUE(std::isfinite(result->GetAsDouble(i))) << i;
}

INSTANTIATE_TEST_SUITE_P(All, KernelCounters, ::testing::Range(0, static_cast<int>(Cases().size())),
                         [](const ::testing::TestParamInfo<int>& info) {
                           return std::string(Cases()[info.param].name);
                         });

}  // namespace
}  // namespace hilo::gpu
