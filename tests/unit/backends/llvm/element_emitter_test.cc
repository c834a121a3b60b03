// Generators against the evaluator: every module below runs at several widths, by rows and flat, on random and special
// values. Arguments and results lie against unreadable pages, after them and before them, so that an access outside of
// an array ends the test.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "backends/llvm/lanes/lane_plan.h"
#include "hlo/evaluator/hlo_evaluator.h"
#include "hlo/text/hlo_parser.h"
#include "tests/support/element_kernel.h"

namespace hilo::codegen {
namespace {

// Memory of `size` bytes that ends (or begins) where a page begins (or ends) without access.
class Fenced {
 public:
  Fenced(size_t size, bool fence_after) : size_(size) {
    const size_t page = sysconf(_SC_PAGESIZE);
    total_ = (size + page - 1) / page * page + 2 * page;
    base_ = static_cast<uint8_t*>(mmap(nullptr, total_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (size > 0) mprotect(base_ + page, total_ - 2 * page, PROT_READ | PROT_WRITE);
    data_ = fence_after ? base_ + total_ - page - size : base_ + page;
  }
  ~Fenced() { munmap(base_, total_); }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;
  uint8_t* data() { return data_; }
  size_t size() const { return size_; }

 private:
  uint8_t* base_;
  uint8_t* data_;
  size_t size_, total_;
};

enum class Values {
  kAll,
  kFinite,
  kSmall
};  // with infinities and NaN; without; integers in [-12, 12] and reals near 1

template <typename R>
R RandomReal(std::mt19937& random, Values values) {
  constexpr R inf = std::numeric_limits<R>::infinity();
  const R specials[] = {
      0, -R(0), 1, -1, R(0.5), R(-2.5), inf, -inf, std::numeric_limits<R>::quiet_NaN(), R(1e30), R(-1e-30), R(65519)};
  if (values == Values::kAll && random() % 3 == 0) return specials[random() % std::size(specials)];
  if (values == Values::kFinite && random() % 6 == 0) return specials[random() % 6];
  const R unit = std::uniform_real_distribution<R>(-3, 3)(random);
  return values == Values::kAll && random() % 4 == 0 ? unit * 100 : unit;
}

template <typename T>
T RandomElement(std::mt19937& random, Values values) {
  if constexpr (std::is_same_v<T, bool>) {
    return random() % 2 == 0;
  } else if constexpr (is_complex<T>) {
    using R = typename T::value_type;
    return T(RandomReal<R>(random, values), RandomReal<R>(random, values));
  } else if constexpr (is_small_float<T>) {
    return T(RandomReal<float>(random, values));
  } else if constexpr (std::is_floating_point_v<T>) {
    return RandomReal<T>(random, values);
  } else if constexpr (is_small_int<T>) {
    return T(static_cast<int>(random() % 16));
  } else {
    if (values == Values::kSmall) return static_cast<T>(static_cast<int>(random() % 25) - 12);
    const T specials[] = {0, 1,  T(-1), 2, T(-2), std::numeric_limits<T>::min(), std::numeric_limits<T>::max(),
                          7, 31, 33};
    if (random() % 2 == 0) return specials[random() % std::size(specials)];
    return static_cast<T>((uint64_t{random()} << 32) | random());
  }
}

Literal RandomLiteral(const Shape& shape, std::mt19937& random, Values values) {
  Literal literal = *Literal::Create(shape);
  ArrayTypeSwitch(shape.element_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (T& element : literal.data<T>()) element = RandomElement<T>(random, values);
    return 0;
  });
  return literal;
}

// Whether two elements agree to a relative error; equal bits or two NaNs when it is 0.
template <typename R>
bool Near(R a, R b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return tolerance > 0 || std::signbit(a) == std::signbit(b);
  return std::abs(a - b) <= tolerance * std::max<double>(std::abs(b), std::numeric_limits<R>::min());
}

void ExpectEqual(const Literal& actual, const Literal& expected, double tolerance, const std::string& where) {
  ASSERT_EQ(actual.element_count(), expected.element_count());
  ArrayTypeSwitch(expected.shape().element_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    int64_t wrong = 0;
    for (int64_t i = 0; i < expected.element_count(); ++i) {
      const T a = actual.data<T>()[i], e = expected.data<T>()[i];
      bool ok = false;
      if constexpr (is_complex<T>) {
        ok = tolerance > 0 ? std::abs(a - e) <= tolerance * std::abs(e)
                           : Near(a.real(), e.real(), 0) && Near(a.imag(), e.imag(), 0);
      } else if constexpr (is_small_float<T>) {
        ok = Near(static_cast<float>(a), static_cast<float>(e),
                  tolerance > 0 ? std::max(tolerance, std::ldexp(2.0, -T::format.mantissa_bits)) : 0);
      } else if constexpr (std::is_floating_point_v<T>) {
        ok = Near(a, e, tolerance);
      } else {
        ok = std::memcmp(&a, &e, sizeof a) == 0;
      }
      if (!ok && ++wrong <= 3) {
        ADD_FAILURE() << where << ": element " << i << " of " << expected.shape().ToString() << " is "
                      << LiteralUtil::CreateR0<T>(a).ToString(false) << ", expected "
                      << LiteralUtil::CreateR0<T>(e).ToString(false);
      }
    }
    return 0;
  });
}

class Runner {
 public:
  static HostJit& Jit() {
    static HostJit* jit = HostJit::Create().value().release();
    return *jit;
  }

  // Runs the entry computation at `spec` on `arguments`.
  static void Check(const HloComputation& computation, const std::vector<Literal>& arguments, const Literal& expected,
                    const ElementKernelSpec& spec, double tolerance, const std::string& where) {
    auto module = BuildElementKernel(Jit(), computation, spec);
    ASSERT_TRUE(module.ok()) << where << ": " << module.status();
    std::vector<HostModule> modules;
    modules.push_back(*std::move(module));
    auto code = Jit().CompileModules(std::move(modules));
    ASSERT_TRUE(code.ok()) << where << ": " << code.status();
    auto* kernel = (*code)->LookupFunction<ElementKernel>("element_kernel");
    ASSERT_NE(kernel, nullptr);
    for (bool fence_after : {true, false}) {
      std::vector<std::unique_ptr<Fenced>> memory;
      std::vector<const void*> inputs;
      std::vector<void*> outputs;
      for (const Literal& argument : arguments) {
        const auto bytes = argument.untyped_data();
        memory.push_back(std::make_unique<Fenced>(bytes.size(), fence_after));
        if (!bytes.empty()) std::memcpy(memory.back()->data(), bytes.data(), bytes.size());
        inputs.push_back(memory.back()->data());
      }
      const bool is_tuple = expected.shape().IsTuple();
      const int64_t leaves = is_tuple ? expected.tuple_size() : 1;
      for (int64_t i = 0; i < leaves; ++i) {
        memory.push_back(
            std::make_unique<Fenced>((is_tuple ? expected.element(i) : expected).untyped_data().size(), fence_after));
        outputs.push_back(memory.back()->data());
      }
      kernel(inputs.data(), outputs.data());
      for (int64_t i = 0; i < leaves; ++i) {
        const Literal& want = is_tuple ? expected.element(i) : expected;
        Literal got = *Literal::Create(want.shape());
        if (want.element_count() > 0) std::memcpy(got.untyped_data().data(), outputs[i], got.untyped_data().size());
        const HloInstruction* root = computation.root_instruction();
        ExpectEqual(got, want, tolerance,
                    absl::StrCat(where, " ",
                                 is_tuple ? root->operand(i % root->operand_count())->ToString() : root->ToString()));
        if (testing::Test::HasFailure()) return;
      }
    }
  }
};

struct Options {
  Values values = Values::kAll;
  double tolerance = 0;
  bool strict = true;
  bool flat = true;  // also with one flat loop
};

void CheckModule(const std::string& text, const Options& options = {}) {
  auto module = ParseHloModule(text);
  ASSERT_TRUE(module.ok()) << module.status();
  const HloComputation& entry = *(*module)->entry_computation();
  std::mt19937 random(7);
  std::vector<Literal> arguments;
  std::vector<const Literal*> pointers;
  for (const HloInstruction* parameter : entry.parameter_instructions())
    arguments.push_back(RandomLiteral(parameter->shape(), random, options.values));
  for (const Literal& argument : arguments) pointers.push_back(&argument);
  auto expected = HloEvaluator().Evaluate(**module, pointers);
  ASSERT_TRUE(expected.ok()) << expected.status() << "\n" << text;
  for (int width : {1, 4, 8, 16}) {
    for (bool flat : {false, true}) {
      if (flat && (!options.flat || width == 4)) continue;
      const std::string where = absl::StrCat((*module)->name(), " width ", width, flat ? " flat" : "");
      Runner::Check(entry, arguments, *expected, {.width = width, .flat = flat, .strict = options.strict},
                    options.tolerance, where);
      if (testing::Test::HasFailure()) return;
    }
  }
}

// A module of `lines` over parameters, whose results are all in a tuple.
std::string Tuple(const std::string& name, const std::string& parameters, const std::vector<std::string>& lines) {
  std::string text = absl::StrCat("HloModule ", name, "\nENTRY main {\n", parameters);
  std::string names, shapes;
  for (size_t i = 0; i < lines.size(); ++i) {
    const char* comma = i == 0 ? "" : ", ";
    absl::StrAppend(&text, "  r", i, " = ", lines[i], "\n");
    absl::StrAppend(&names, comma, "r", i);
    absl::StrAppend(&shapes, comma, lines[i].substr(0, lines[i].find(' ')));
  }
  return absl::StrCat(text, "  ROOT t = (", shapes, ") tuple(", names, ")\n}\n");
}

constexpr char kShape[] = "[5,21]";

std::string Unary(const std::string& type, const std::vector<std::string>& ops, const std::string& result = "") {
  std::vector<std::string> lines;
  for (const std::string& op : ops)
    lines.push_back(absl::StrCat(result.empty() ? type : result, kShape, " ", op, "(x)"));
  return Tuple(absl::StrCat("unary_", type), absl::StrCat("  x = ", type, kShape, " parameter(0)\n"), lines);
}
std::string Binary(const std::string& type, const std::vector<std::string>& ops) {
  std::vector<std::string> lines;
  for (const std::string& op : ops) lines.push_back(absl::StrCat(type, kShape, " ", op, "(x, y)"));
  return Tuple(absl::StrCat("binary_", type),
               absl::StrCat("  x = ", type, kShape, " parameter(0)\n  y = ", type, kShape, " parameter(1)\n"), lines);
}

TEST(ElementEmitterTest, Integers) {
  for (const char* type : {"s4", "s8", "s16", "s32", "s64", "u4", "u8", "u16", "u32", "u64"}) {
    CheckModule(Binary(type, {"add", "and", "divide", "maximum", "minimum", "multiply", "or", "power", "remainder",
                              "shift-left", "shift-right-arithmetic", "shift-right-logical", "subtract", "xor"}));
    CheckModule(Unary(type, {"count-leading-zeros", "not", "popcnt", "negate"}));
    if (type[0] == 's') CheckModule(Unary(type, {"abs", "sign"}));
  }
  CheckModule(Binary("s32", {"mulhi"}));
  CheckModule(Binary("u64", {"mulhi"}));
  CheckModule(Binary("pred", {"add", "and", "maximum", "minimum", "multiply", "or", "xor"}));
  CheckModule(Unary("pred", {"not"}));
}

TEST(ElementEmitterTest, FloatsExact) {
  for (const char* type : {"f32", "f64", "f16", "bf16", "f8e5m2", "f8e4m3fn", "f4e2m1fn"}) {
    CheckModule(Unary(type, {"abs", "ceil", "floor", "negate", "round-nearest-afz", "round-nearest-even", "sign"}));
    CheckModule(Unary(type, {"is-finite"}, "pred"));
    CheckModule(Binary(type, {"add", "subtract", "multiply", "divide", "maximum", "minimum", "remainder"}));
  }
}

TEST(ElementEmitterTest, FloatsTranscendental) {
  const std::vector<std::string> ops = {"acos",
                                        "acosh",
                                        "asin",
                                        "asinh",
                                        "atanh",
                                        "cbrt",
                                        "cosine",
                                        "cosh",
                                        "erf",
                                        "exponential",
                                        "exponential-minus-one",
                                        "log",
                                        "log-plus-one",
                                        "logistic",
                                        "rsqrt",
                                        "sine",
                                        "sinh",
                                        "sqrt",
                                        "tan",
                                        "tanh"};
  CheckModule(Unary("f32", ops), {.tolerance = 1e-6});
  CheckModule(Unary("f64", ops), {.tolerance = 2e-15});
  CheckModule(Unary("bf16", {"exponential", "log", "tanh"}), {.tolerance = 1e-2});
  CheckModule(Binary("f32", {"atan2", "power"}), {.tolerance = 1e-6});
  CheckModule(Binary("f64", {"atan2", "power"}), {.tolerance = 2e-15});
}

TEST(ElementEmitterTest, Complex) {
  const std::vector<std::string> ops = {"acos", "acosh",        "asin",     "asinh",       "atanh",
                                        "cbrt", "cosine",       "cosh",     "exponential", "exponential-minus-one",
                                        "log",  "log-plus-one", "logistic", "negate",      "rsqrt",
                                        "sign", "sine",         "sinh",     "sqrt",        "tan",
                                        "tanh"};
  for (const char* type : {"c64", "c128"}) {
    const double tolerance = type[1] == '6' ? 4e-6 : 1e-14;
    CheckModule(Unary(type, ops), {.values = Values::kSmall, .tolerance = tolerance});
    CheckModule(Unary(type, {"abs", "real", "imag"}, type[1] == '6' ? "f32" : "f64"),
                {.values = Values::kFinite, .tolerance = tolerance});
    CheckModule(Binary(type, {"add", "subtract", "multiply", "divide", "power", "atan2"}),
                {.values = Values::kSmall, .tolerance = 10 * tolerance});
    CheckModule(Binary(type, {"maximum", "minimum"}), {.values = Values::kFinite});
  }
}

TEST(ElementEmitterTest, Convert) {
  const std::vector<std::string> types = {"pred", "s4",  "s8",       "s32",      "s64",    "u4",        "u8",
                                          "u32",  "u64", "f4e2m1fn", "f8e4m3fn", "f8e5m2", "f8e8m0fnu", "bf16",
                                          "f16",  "f32", "f64",      "c64",      "c128"};
  for (const std::string& from : types) {
    std::vector<std::string> lines;
    for (const std::string& to : types) lines.push_back(absl::StrCat(to, kShape, " convert(x)"));
    CheckModule(Tuple(absl::StrCat("convert_", from), absl::StrCat("  x = ", from, kShape, " parameter(0)\n"), lines));
  }
}

TEST(ElementEmitterTest, Compare) {
  for (const char* type : {"pred", "s8", "u8", "s32", "u32", "s64", "f32", "f64", "bf16", "c64"}) {
    std::vector<std::string> lines;
    for (const char* direction : {"EQ", "NE", "GE", "GT", "LE", "LT"}) {
      if (type[0] == 'c' && direction[0] != 'E' && direction[0] != 'N') continue;
      lines.push_back(absl::StrCat("pred", kShape, " compare(x, y), direction=", direction));
      if (type[0] == 'f') lines.push_back(absl::StrCat(lines.back(), ", type=TOTALORDER"));
    }
    CheckModule(Tuple(absl::StrCat("compare_", type),
                      absl::StrCat("  x = ", type, kShape, " parameter(0)\n  y = ", type, kShape, " parameter(1)\n"),
                      lines));
  }
}

TEST(ElementEmitterTest, SelectClampMap) {
  CheckModule(R"(HloModule select_clamp
twice { p = f32[] parameter(0)  q = f32[] parameter(1)  s = f32[] add(p, q)  ROOT m = f32[] multiply(s, p) }
ENTRY main {
  x = f32[3,19] parameter(0)  y = f32[3,19] parameter(1)  c = pred[3,19] parameter(2)  d = pred[] parameter(3)
  lo = f32[] constant(-1)  hi = f32[] constant(2)  z = c64[3,19] parameter(4)
  a = f32[3,19] select(c, x, y)  b = f32[3,19] select(d, x, y)  e = f32[3,19] clamp(lo, x, hi)  f = f32[3,19] clamp(y, x, x)
  g = f32[3,19] map(x, y), dimensions={0,1}, to_apply=twice
  ROOT t = (f32[3,19], f32[3,19], f32[3,19], f32[3,19], f32[3,19]) tuple(a, b, e, f, g)
})");
}

TEST(ElementEmitterTest, ReducePrecision) {
  for (const char* type : {"f32", "f64", "bf16", "f16"}) {
    std::vector<std::string> lines;
    for (const auto& [e, m] : {std::pair{5, 10}, {8, 7}, {4, 3}, {1, 2}, {8, 23}, {11, 52}, {5, 0}, {3, 30}}) {
      lines.push_back(absl::StrCat(type, kShape, " reduce-precision(x), exponent_bits=", e, ", mantissa_bits=", m));
    }
    CheckModule(
        Tuple(absl::StrCat("reduce_precision_", type), absl::StrCat("  x = ", type, kShape, " parameter(0)\n"), lines));
  }
}

TEST(ElementEmitterTest, BitcastConvert) {
  CheckModule(
      Tuple("bitcast", "  x = f32[4,20] parameter(0)\n  y = c64[4,20] parameter(1)\n  z = u16[4,20] parameter(2)\n",
            {"s32[4,20] bitcast-convert(x)", "c64[4,20] bitcast-convert(y)", "bf16[4,20] bitcast-convert(z)",
             "f16[4,20] bitcast-convert(z)"}),
      {.values = Values::kFinite});
  CheckModule("HloModule narrower\nENTRY main { x = s32[7,9] parameter(0)  ROOT y = u8[7,9,4] bitcast-convert(x) }");
  CheckModule("HloModule wider\nENTRY main { x = u16[7,19,4] parameter(0)  ROOT y = s64[7,19] bitcast-convert(x) }");
  CheckModule("HloModule nibbles\nENTRY main { x = u8[7,19] parameter(0)  ROOT y = s4[7,19,2] bitcast-convert(x) }");
}

TEST(ElementEmitterTest, Movement) {
  const Options any{.values = Values::kSmall};
  for (const std::string type : {"f32", "c64", "pred", "u8", "f64", "bf16"}) {
    auto run = [&](const std::string& body) {
      CheckModule(absl::StrReplaceAll("HloModule movement\nENTRY main {" + body + "}", {{"T[", type + "["}}), any);
    };
    run("x = T[7] parameter(0) ROOT y = T[5,7] broadcast(x), dimensions={1}");
    run("x = T[5] parameter(0) ROOT y = T[5,19] broadcast(x), dimensions={0}");
    run("x = T[] parameter(0) ROOT y = T[5,19] broadcast(x), dimensions={}");
    run("x = T[6,20] parameter(0) ROOT y = T[5,24] reshape(x)");
    run("x = T[3,4,5,16] parameter(0) ROOT y = T[12,5,2,8] reshape(x)");
    run("x = T[120] parameter(0) ROOT y = T[2,3,1,20] reshape(x)");
    run("x = T[6,20] parameter(0) ROOT y = T[20,6] transpose(x), dimensions={1,0}");
    run("x = T[2,3,17] parameter(0) ROOT y = T[3,2,17] transpose(x), dimensions={1,0,2}");
    run("x = T[9,40] parameter(0) ROOT y = T[4,19] slice(x), slice={[1:9:2], [2:40:2]}");
    run("x = T[9,40] parameter(0) ROOT y = T[9,13] slice(x), slice={[0:9], [1:40:3]}");
    run("x = T[2,100] parameter(0) ROOT y = T[2,15] slice(x), slice={[0:2], [1:100:7]}");
    run("x = T[9,40] parameter(0) ROOT y = T[9,38] slice(x), slice={[0:9], [2:40]}");
    run("x = T[5,19] parameter(0) ROOT y = T[5,19] reverse(x), dimensions={1}");
    run("x = T[5,19] parameter(0) ROOT y = T[5,19] reverse(x), dimensions={0}");
    run("x = T[5,48] parameter(0) s = T[5,16] slice(x), slice={[0:5], [1:48:3]} ROOT y = T[5,16] reverse(s), "
        "dimensions={0,1}");
    run("x = T[5,19] parameter(0) v = T[] parameter(1) ROOT y = T[9,25] pad(x, v), padding=1_3x2_4");
    run("x = T[5,19] parameter(0) v = T[] parameter(1) ROOT y = T[3,14] pad(x, v), padding=-1_-1x-2_-3");
    run("x = T[3,9] parameter(0) v = T[] parameter(1) ROOT y = T[8,27] pad(x, v), padding=1_2_1x1_1_2");
    run("x = T[4,3] parameter(0) y = T[4,18] parameter(1) z = T[4,9] parameter(2) ROOT c = T[4,30] concatenate(x, y, "
        "z), dimensions={1}");
    run("x = T[2,18] parameter(0) y = T[3,18] parameter(1) ROOT c = T[5,18] concatenate(x, y), dimensions={0}");
    run("x = T[4,18] parameter(0) y = T[4,0] parameter(1) a = T[4,5] slice(x), slice={[0:4], [13:18]} b = T[4,13] "
        "slice(x), slice={[0:4], [0:13]}"
        " ROOT c = T[4,18] concatenate(a, y, b), dimensions={1}");
    run("x = T[9,40] parameter(0) i = s32[] parameter(1) j = s32[] parameter(2) ROOT y = T[5,19] dynamic-slice(x, i, "
        "j), dynamic_slice_sizes={5,19}");
    run("x = T[9,40] parameter(0) u = T[5,13] parameter(1) i = u64[] parameter(2) j = u64[] parameter(3) ROOT y = "
        "T[9,40] dynamic-update-slice(x, u, i, j)");
    run("x = T[0,5] parameter(0) ROOT y = T[5,0] transpose(x), dimensions={1,0}");
  }
  CheckModule(Tuple(
      "iota", "",
      {"f32[5,19] iota(), iota_dimension=1", "s8[5,19] iota(), iota_dimension=0", "u64[5,19] iota(), iota_dimension=1",
       "c64[5,19] iota(), iota_dimension=1", "bf16[5,19] iota(), iota_dimension=1"}));
  CheckModule("HloModule wrap\nENTRY main { ROOT x = u8[300] iota(), iota_dimension=0 }");
  CheckModule(
      "HloModule constants\nENTRY main { a = f32[2,3] constant({{1,2,3},{4,5,6}}) b = s32[] constant(7) c = s32[2,3] "
      "broadcast(b), dimensions={}"
      " ROOT t = (f32[2,3], s32[2,3]) tuple(a, c) }");
  CheckModule(
      "HloModule scalar\nENTRY main { a = f32[] parameter(0) b = f32[] constant(7) ROOT c = f32[] multiply(a, b) }",
      {.flat = false});
}

TEST(ElementEmitterTest, Gather) {
  const Options any{.values = Values::kSmall};
  CheckModule(R"(HloModule rows
ENTRY main { x = f32[10,19] parameter(0) i = s32[7] parameter(1)
  ROOT g = f32[7,19] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,19} })",
              any);
  CheckModule(R"(HloModule elements
ENTRY main { x = f32[10,19] parameter(0) i = s32[2,21] parameter(1)
  ROOT g = f32[21] gather(x, i), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=0, slice_sizes={1,1} })",
              any);
  CheckModule(R"(HloModule windows
ENTRY main { x = c64[10,9] parameter(0) i = s64[5,2] parameter(1)
  ROOT g = c64[3,5,4] gather(x, i), offset_dims={0,2}, collapsed_slice_dims={}, start_index_map={1,0}, index_vector_dim=1, slice_sizes={3,4} })",
              any);
  CheckModule(R"(HloModule batched
ENTRY main { x = f32[4,10] parameter(0) i = u8[17,4,1] parameter(1)
  ROOT g = f32[17,4] gather(x, i), offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0},
    start_indices_batching_dims={1}, index_vector_dim=2, slice_sizes={1,1} })",
              any);
}

TEST(ElementEmitterTest, ReductionsAsProducers) {
  const std::string add = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n";
  const Options near{.values = Values::kSmall, .tolerance = 1e-4};
  CheckModule("HloModule rows\n" + add +
                  "ENTRY main { x = f32[19,7] parameter(0) z = f32[] constant(1) ROOT r = f32[19] reduce(x, z), "
                  "dimensions={1}, to_apply=add }",
              near);
  CheckModule("HloModule columns\n" + add +
                  "ENTRY main { x = f32[7,19] parameter(0) z = f32[] constant(1) ROOT r = f32[19] reduce(x, z), "
                  "dimensions={0}, to_apply=add }",
              near);
  CheckModule("HloModule both\n" + add +
                  "ENTRY main { x = f32[3,19,4] parameter(0) z = f32[] parameter(1) ROOT r = f32[19] reduce(x, z), "
                  "dimensions={0,2}, to_apply=add }",
              near);
  CheckModule("HloModule empty\n" + add +
                  "ENTRY main { x = f32[19,0] parameter(0) z = f32[] parameter(1) ROOT r = f32[19] reduce(x, z), "
                  "dimensions={1}, to_apply=add }",
              near);
  CheckModule(R"(HloModule argmax
pick { v = f32[] parameter(0) i = s32[] parameter(1) w = f32[] parameter(2) j = s32[] parameter(3)
  c = pred[] compare(v, w), direction=GE  m = f32[] select(c, v, w)  k = s32[] select(c, i, j) ROOT t = (f32[], s32[]) tuple(m, k) }
ENTRY main { x = f32[6,19] parameter(0) n = s32[6,19] iota(), iota_dimension=0 a = f32[] constant(-inf) b = s32[] constant(0)
  ROOT r = (f32[19], s32[19]) reduce(x, n, a, b), dimensions={0}, to_apply=pick })",
              {.values = Values::kFinite});
  CheckModule("HloModule pool\n" + add + R"(ENTRY main { x = f32[9,21] parameter(0) z = f32[] constant(0)
  ROOT r = f32[5,21] reduce-window(x, z), window={size=3x3 stride=2x1 pad=1_1x1_1}, to_apply=add })",
              near);
  CheckModule("HloModule dilated\n" + add + R"(ENTRY main { x = f32[9,11] parameter(0) z = f32[] constant(0)
  ROOT r = f32[7,20] reduce-window(x, z), window={size=2x3 rhs_dilate=2x1 pad=0_0x0_1 lhs_dilate=1x2}, to_apply=add })",
              near);
  CheckModule(
      "HloModule dot\nENTRY main { x = f32[5,7] parameter(0) y = f32[7,19] parameter(1) ROOT d = f32[5,19] dot(x, y), "
      "lhs_contracting_dims={1}, rhs_contracting_dims={0} }",
      near);
  CheckModule(
      "HloModule batch_dot\nENTRY main { x = c64[3,5,7] parameter(0) y = c64[3,18,7] parameter(1)"
      " ROOT d = c64[3,5,18] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
      "rhs_contracting_dims={2} }",
      near);
}

TEST(ElementEmitterTest, Fusions) {
  CheckModule(R"(HloModule fused
inner { p = f32[5,19] parameter(0) q = f32[5,19] parameter(1) s = f32[5,19] add(p, q) d = f32[5,19] subtract(p, q) ROOT t = (f32[5,19], f32[5,19]) tuple(s, d) }
outer { p = f32[5,19] parameter(0) f = (f32[5,19], f32[5,19]) fusion(p, p), kind=kLoop, calls=inner
  a = f32[5,19] get-tuple-element(f), index=0 b = f32[5,19] get-tuple-element(f), index=1 ROOT m = f32[5,19] multiply(a, b) }
ENTRY main { x = f32[5,19] parameter(0) ROOT r = f32[5,19] fusion(x), kind=kLoop, calls=outer })",
              {.values = Values::kFinite});
  std::string doubled = "HloModule doubled\nENTRY main { x0 = s32[5,19] parameter(0)\n";
  for (int i = 0; i < 50; ++i) absl::StrAppend(&doubled, "x", i + 1, " = s32[5,19] add(x", i, ", x", i, ")\n");
  CheckModule(doubled + "}");
  std::string chain = "HloModule chain\nENTRY main { x0 = s32[19] parameter(0)\n";
  for (int i = 0; i < 3000; ++i) absl::StrAppend(&chain, "x", i + 1, " = s32[19] xor(x", i, ", x0)\n");
  auto module = ParseHloModule(chain + "}");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_TRUE(BuildElementKernel(Runner::Jit(), *(*module)->entry_computation(), {.width = 16}).ok());
}

// The generators stop where code would grow without bound.
TEST(ElementEmitterTest, Limits) {
  std::string reversed = "HloModule deep\nENTRY main { x0 = s32[19] parameter(0)\n";
  for (int i = 0; i < 2000; ++i)
    absl::StrAppend(&reversed, "x", i + 1, " = s32[19] reverse(x", i, "), dimensions={0}\n");
  auto deep = ParseHloModule(reversed + "}");
  ASSERT_TRUE(deep.ok()) << deep.status();
  EXPECT_EQ(BuildElementKernel(Runner::Jit(), *(*deep)->entry_computation(), {}).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(ElementEmitterTest, PlansLanes) {
  TargetTraits target{.vector_bits = 512, .has_fma = true, .has_avx512 = true};
  auto width = [&](const std::string& body) {
    auto module = ParseHloModule("HloModule m\nENTRY main {" + body + "}");
    EXPECT_TRUE(module.ok()) << module.status();
    return PreferredWidth((*module)->entry_computation()->root_instruction(), target);
  };
  EXPECT_EQ(width("x = f32[64,64] parameter(0) ROOT y = f32[64,64] negate(x)"), 16);
  EXPECT_EQ(width("x = f64[64,64] parameter(0) ROOT y = f64[64,64] negate(x)"), 8);
  EXPECT_EQ(width("x = pred[64,64] parameter(0) ROOT y = pred[64,64] not(x)"), 64);
  EXPECT_EQ(width("x = f32[64,3] parameter(0) ROOT y = f32[64,3] negate(x)"), 4);
  EXPECT_EQ(width("x = f32[64,64] parameter(0) ROOT y = f32[64,64] transpose(x), dimensions={1,0}"), 1);
  EXPECT_EQ(width("x = f32[64] parameter(0) ROOT y = f32[8,64] broadcast(x), dimensions={1}"), 16);
}

}  // namespace
}  // namespace hilo::codegen
