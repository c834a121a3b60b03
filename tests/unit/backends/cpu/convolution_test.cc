// Random convolutions: strict code gives the interpreter's bits, other code its values up to roundings.
#include <algorithm>
#include <limits>
#include <numeric>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "backends/cpu/compile/cpu_compiler.h"
#include "backends/cpu/convolution/convolution_loops.h"
#include "backends/cpu/kernels/convolution_plan.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hilo/client.h"
#include "hilo/status_macros.h"
#include "hlo/ops/linalg/convolution_attributes.h"
#include "hlo/ops/semantics.h"
#include "hlo/text/hlo_parser.h"
#include "tests/fuzz/random_numbers.h"
#include "tests/support/platform_client.h"

namespace hilo {
namespace {

using cpu::convolution::RunState;
using fuzz::Random;

struct Case {
  Shape lhs, rhs;
  ConvolutionAttrs attrs;
  PrimitiveType type = F32;
};

// Puts sizes into the dimensions that `order` gives the roles.
Shape Ordered(PrimitiveType type, const std::vector<int64_t>& sizes, const std::vector<int64_t>& order) {
  std::vector<int64_t> dimensions(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) dimensions[order[i]] = sizes[i];
  return Shape(type, dimensions);
}

std::vector<int64_t> RandomOrder(Random& random, int64_t rank) {
  std::vector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  if (random.Chance(30)) return order;  // batch or feature first
  if (random.Chance(40)) {              // features last
    order[1] = rank - 1;
    for (int64_t i = 2; i < rank; ++i) order[i] = i - 1;
    return order;
  }
  for (int64_t i = rank - 1; i > 0; --i) std::swap(order[i], order[random.Below(i + 1)]);
  return order;
}

Case RandomCase(Random& random) {
  static constexpr PrimitiveType kTypes[] = {F32, F32, F32, F64, C64, S32, BF16, S8};
  Case c;
  c.type = random.Of(kTypes);
  const int64_t spatial = random.Below(4);
  const int64_t widest = spatial <= 1 ? 40 : spatial == 2 ? 17 : 6;
  const bool wide_features = random.Chance(40);
  const auto features = [&] { return 1 + random.Below(wide_features ? 37 : 4); };
  int64_t groups = random.Chance(30) ? 1 + random.Below(5) : 1;
  const bool of_batch = random.Chance(40);
  if (!of_batch && random.Chance(30)) groups = features();  // depthwise, often
  const int64_t in = random.Chance(30) ? 1 : features();
  const int64_t out = groups * (random.Chance(40) ? 1 : features());
  std::vector<int64_t> lhs_sizes = {(1 + random.Below(3)) * (of_batch ? groups : 1), in * (of_batch ? 1 : groups)};
  std::vector<int64_t> rhs_sizes = {out, in};
  (of_batch ? c.attrs.batch_group_count : c.attrs.feature_group_count) = groups;
  for (int64_t s = 0; s < spatial; ++s) {
    Window::Dimension window;
    window.size = 1 + random.Below(random.Chance(20) ? 11 : 3);
    if (random.Chance(40)) window.stride = 1 + random.Below(3);
    if (random.Chance(30)) window.base_dilation = 1 + random.Below(4);
    if (random.Chance(30)) window.window_dilation = 1 + random.Below(3);
    window.window_reversal = random.Chance(20);
    if (random.Chance(60)) {
      window.padding_low = random.Below(6) - 2;
      window.padding_high = random.Below(6) - 2;
    }
    c.attrs.window.dimensions.push_back(window);
    lhs_sizes.push_back(random.Below(20) == 0 ? random.Below(2) : 1 + random.Below(widest));
    rhs_sizes.push_back(window.size);
  }
  const std::vector<int64_t> lhs = RandomOrder(random, spatial + 2), rhs = RandomOrder(random, spatial + 2),
                             result = RandomOrder(random, spatial + 2);
  ConvolutionDimensionNumbers& numbers = c.attrs.dim_labels;
  numbers.set_input_batch_dimension(lhs[0]);
  numbers.set_input_feature_dimension(lhs[1]);
  numbers.set_kernel_output_feature_dimension(rhs[0]);
  numbers.set_kernel_input_feature_dimension(rhs[1]);
  numbers.set_output_batch_dimension(result[0]);
  numbers.set_output_feature_dimension(result[1]);
  for (int64_t s = 0; s < spatial; ++s) {
    numbers.add_input_spatial_dimensions(lhs[s + 2]);
    numbers.add_kernel_spatial_dimensions(rhs[s + 2]);
    numbers.add_output_spatial_dimensions(result[s + 2]);
  }
  c.lhs = Ordered(c.type, lhs_sizes, lhs);
  c.rhs = Ordered(c.type, rhs_sizes, rhs);
  return c;
}

Literal RandomLiteral(Random& random, const Shape& shape) {
  Literal wide = *Literal::Create(Shape(F64, shape.dimensions()));
  for (double& value : wide.data<double>())
    value = IsIntegralType(shape.element_type()) ? static_cast<double>(random.Below(200) - 100) : random.Uniform(-1, 1);
  return *wide.Convert(shape.element_type());
}

absl::StatusOr<std::string> TextOf(const Case& c) {
  const Shape* shapes[] = {&c.lhs, &c.rhs};
  HILO_ASSIGN_OR_RETURN(const Shape result,
                        InferShape({.opcode = HloOpcode::kConvolution, .operands = shapes, .attributes = &c.attrs}));
  std::string attributes;
  for (const auto& [name, value] : c.attrs.ToText()) absl::StrAppend(&attributes, ", ", name, "=", value);
  return absl::StrCat("HloModule random\nENTRY main { x = ", c.lhs.ToString(), " parameter(0)  k = ", c.rhs.ToString(),
                      " parameter(1)  ROOT y = ", result.ToString(), " convolution(x, k)", attributes, " }");
}

Literal RunOn(Client* client, const std::string& text, bool strict, absl::Span<const Literal* const> arguments,
              const std::string& cpu = "") {
  CompileOptions options;
  options.strict = strict;
  options.cpu = cpu;
  auto executable = client->CompileHloText(text, options);
  EXPECT_TRUE(executable.ok()) << executable.status() << "\n" << text;
  if (!executable.ok()) return Literal();
  auto result = (*executable)->ExecuteLiterals(arguments);
  EXPECT_TRUE(result.ok()) << result.status() << "\n" << text;
  return result.ok() ? *std::move(result) : Literal();
}

// Returns true if the processor runs code for x86-64-v3.
bool HasV3() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

TEST(ConvolutionTest, RandomPrograms_GiveTheInterpretersResults) {
  const std::unique_ptr<Client> interpreter = ClientOf("interpreter"), cpu = ClientOf("cpu");
  for (int seed = 0; seed < 150; ++seed) {
    Random random(seed);
    const Case c = RandomCase(random);
    const absl::StatusOr<std::string> text = TextOf(c);
    ASSERT_TRUE(text.ok()) << text.status();
    const Literal lhs = RandomLiteral(random, c.lhs), rhs = RandomLiteral(random, c.rhs);
    const Literal* arguments[] = {&lhs, &rhs};
    const Literal expected = RunOn(interpreter.get(), *text, true, arguments);
    const Literal strict = RunOn(cpu.get(), *text, true, arguments);
    const absl::Status same = CompareLiterals(expected, strict, {});
    EXPECT_TRUE(same.ok()) << same << "\nseed " << seed << ", strict\n" << *text;
    const Literal fast = RunOn(cpu.get(), *text, false, arguments);
    const double tolerance = c.type == BF16 ? 2e-2 : c.type == F64 ? 1e-12 : 1e-4;
    const absl::Status near = CompareLiterals(
        expected, fast,
        {.absolute = IsIntegralType(c.type) ? 0 : tolerance, .relative = IsIntegralType(c.type) ? 0 : tolerance});
    EXPECT_TRUE(near.ok()) << near << "\nseed " << seed << "\n" << *text;
    if (::testing::Test::HasFailure()) return;
  }
}

// Features last, often enough of them for full tiles of the library, in groups or not; integers, whose sums are exact
// in any order.
Case LibraryCase(Random& random) {
  Case c;
  c.type = random.Chance(70) ? F32 : F64;
  const int64_t spatial = 1 + random.Below(3), last = spatial + 1;
  // Few products of pairs of features, many of all with all.
  static constexpr int64_t kGroups[] = {0, 0, 0, 1, 2, 4, 8};
  const int64_t group = random.Of(kGroups);
  // Often fewer than a tile has lanes, so that its last vector is partial.
  const int64_t least = random.Chance(60) ? 1 : 32;
  const int64_t out = group == 0 ? least + random.Below(32) : group * (32 / group + random.Below(20));
  const int64_t in = group == 0 ? 30 + random.Below(100) : group;
  if (group > 0) c.attrs.feature_group_count = out / group;
  ConvolutionDimensionNumbers& numbers = c.attrs.dim_labels;
  std::vector<int64_t> lhs = {1 + random.Below(9)}, rhs;
  for (int64_t s = 0; s < spatial; ++s) {
    Window::Dimension window;
    window.size = 2 + random.Below(spatial == 3 ? 2 : 4);
    window.stride = 1 + random.Below(2);
    window.base_dilation = random.Chance(30) ? 2 : 1;
    window.window_dilation = 1 + random.Below(3);
    window.window_reversal = random.Chance(20);
    window.padding_low = random.Below(5) - 1;
    window.padding_high = random.Below(5) - 1;
    c.attrs.window.dimensions.push_back(window);
    lhs.push_back(spatial == 3 ? 3 + random.Below(5) : 8 + random.Below(spatial == 1 ? 60 : 8));
    rhs.push_back(window.size);
    numbers.add_input_spatial_dimensions(s + 1);
    numbers.add_kernel_spatial_dimensions(s);
    numbers.add_output_spatial_dimensions(s + 1);
  }
  lhs.push_back(group == 0 ? in : out);
  rhs.insert(rhs.end(), {in, out});
  numbers.set_input_batch_dimension(0);
  numbers.set_input_feature_dimension(last);
  numbers.set_kernel_input_feature_dimension(spatial);
  numbers.set_kernel_output_feature_dimension(last);
  numbers.set_output_batch_dimension(0);
  numbers.set_output_feature_dimension(last);
  c.lhs = Shape(c.type, lhs);
  c.rhs = Shape(c.type, rhs);
  return c;
}

// Returns the program as it is emitted for a processor.
std::string EmittedFor(const std::string& cpu, const std::string& text) {
  auto module = ParseHloModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return "";
  const auto compiled = cpu::CreateCpuCompiler()->Emit(*std::move(module), {.cpu = cpu}, "hlo");
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  return compiled.value_or("");
}

// Returns the lanes of a row of a tile of the library, by `tile={axis of the lanes, axis of the tile, width, vectors`.
int64_t LanesOfTile(absl::string_view emitted) {
  constexpr absl::string_view kBefore = "kind=library-convolution";
  emitted.remove_prefix(emitted.find(kBefore));
  emitted.remove_prefix(emitted.find("tile={") + 6);
  const std::vector<std::string> numbers = absl::StrSplit(emitted.substr(0, emitted.find('}')), ',');
  int64_t width = 0, vectors = 0;
  const bool are_numbers =
      numbers.size() > 3 && absl::SimpleAtoi(numbers[2], &width) && absl::SimpleAtoi(numbers[3], &vectors);
  EXPECT_TRUE(are_numbers) << emitted;
  return width * vectors;
}

TEST(ConvolutionTest, TilesOfTheLibrary_GiveTheInterpretersResults) {
  const std::unique_ptr<Client> interpreter = ClientOf("interpreter"), cpu = ClientOf("cpu");
  const bool has_v3 = HasV3();
  int in_library = 0, in_groups = 0, in_volumes = 0, partial = 0;
  for (int seed = 0; seed < 100; ++seed) {
    Random random(1000 + seed);
    const Case c = LibraryCase(random);
    const absl::StatusOr<std::string> text = TextOf(c);
    if (!text.ok()) continue;  // the window is larger than the input
    const std::string emitted = EmittedFor("x86-64-v3", *text);
    if (absl::StrContains(emitted, "kind=library-convolution")) {
      ++in_library;
      if (LanesOfTile(emitted) > c.rhs.dimensions().back()) ++partial;
      if (c.attrs.feature_group_count > 1) ++in_groups;
      if (c.attrs.window.dimensions.size() == 3) ++in_volumes;
    }
    const auto integers = [&](const Shape& shape) {
      Literal wide = *Literal::Create(Shape(F64, shape.dimensions()));
      for (double& value : wide.data<double>()) value = static_cast<double>(random.Below(9) - 4);
      return *wide.Convert(shape.element_type());
    };
    const Literal lhs = integers(c.lhs), rhs = integers(c.rhs);
    const Literal* arguments[] = {&lhs, &rhs};
    const Literal expected = RunOn(interpreter.get(), *text, false, arguments);
    for (const auto& [processor, strict] : {std::pair("", false), std::pair("", true), std::pair("x86-64-v3", false)}) {
      if (*processor != 0 && !has_v3) continue;
      const absl::Status same = CompareLiterals(expected, RunOn(cpu.get(), *text, strict, arguments, processor), {});
      EXPECT_TRUE(same.ok()) << same << "\nseed " << seed << " " << processor << " " << strict << "\n" << *text;
    }
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GE(in_library - in_groups, 30);
  EXPECT_GE(in_groups, 8);
  EXPECT_GE(in_volumes, 5);
  EXPECT_GE(partial, 8);
}

// Few features, so that lanes are positions: borders, where an infinite factor must not meet what is outside the input,
// strides, dilations, reversed windows, and inputs and results in which lanes are adjacent or apart.
TEST(ConvolutionTest, TilesOfPositions_GiveTheInterpretersResults) {
  const std::unique_ptr<Client> interpreter = ClientOf("interpreter"), cpu = ClientOf("cpu");
  const bool has_v3 = HasV3();
  int of_positions = 0;
  for (int seed = 0; seed < 400; ++seed) {
    Random random(5000 + seed);
    const Case c = RandomCase(random);
    if (c.type != F32) continue;
    const absl::StatusOr<std::string> text = TextOf(c);
    ASSERT_TRUE(text.ok()) << text.status();
    if (!absl::StrContains(EmittedFor("x86-64-v3", *text), "lanes are positions")) continue;
    ++of_positions;
    Literal values[] = {*Literal::Create(c.lhs), *Literal::Create(c.rhs)};
    for (Literal& value : values) {
      for (float& element : value.data<float>()) element = static_cast<float>(random.Below(9) - 4);
    }
    if (seed % 3 == 0) values[1].data<float>()[0] = std::numeric_limits<float>::infinity();
    const Literal* arguments[] = {&values[0], &values[1]};
    const Literal expected = RunOn(interpreter.get(), *text, false, arguments);
    for (const char* processor : {"", "x86-64-v3"}) {
      if (*processor != 0 && !has_v3) continue;
      const absl::Status same = CompareLiterals(expected, RunOn(cpu.get(), *text, false, arguments, processor), {});
      EXPECT_TRUE(same.ok()) << same << "\nseed " << seed << " " << processor << "\n" << *text;
    }
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GE(of_positions, 40);
}

// In the body of a loop a convolution is generated, however short: compilation is a small part.
TEST(ConvolutionTest, TilesOfPositions_AreForThoseThatRunOnce) {
  const std::string convolution = "convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f";
  const std::string once = absl::StrCat(
      "HloModule m\nENTRY main { x = f32[1,16,16,1] parameter(0)  k = f32[3,3,1,1] parameter(1)  ROOT y = "
      "f32[1,16,16,1] ",
      convolution, " }");
  EXPECT_THAT(EmittedFor("x86-64-v3", once), ::testing::HasSubstr("lanes are positions"));
  const std::string often = absl::StrCat(
      "HloModule m\nbody { s = (s32[], f32[1,16,16,1], f32[3,3,1,1]) parameter(0)  i = s32[] get-tuple-element(s), "
      "index=0  x = f32[1,16,16,1] get-tuple-element(s), index=1  k = f32[3,3,1,1] get-tuple-element(s), index=2  o = "
      "s32[] constant(1)  j = s32[] add(i, o)  y = f32[1,16,16,1] ",
      convolution,
      "  ROOT t = (s32[], f32[1,16,16,1], f32[3,3,1,1]) tuple(j, y, k) }\ncondition { s = (s32[], f32[1,16,16,1], "
      "f32[3,3,1,1]) parameter(0)  i = s32[] get-tuple-element(s), index=0  n = s32[] constant(9)  ROOT c = pred[] "
      "compare(i, n), direction=LT }\nENTRY main { s = (s32[], f32[1,16,16,1], f32[3,3,1,1]) parameter(0)  ROOT w = "
      "(s32[], f32[1,16,16,1], f32[3,3,1,1]) while(s), condition=condition, body=body }");
  EXPECT_THAT(EmittedFor("x86-64-v3", often), ::testing::HasSubstr("kind=convolution"));
}

// Features that fill vectors of 32 bytes are lanes as they are, though lanes of positions, for which the input is
// transposed, would be faster; not where there is no window.
TEST(ConvolutionTest, TilesOfTheLibrary_AreForShortConvolutionsOfFewFeatures) {
  const auto emitted = [](int64_t size, int64_t features) {
    const std::string arrays = absl::StrCat("f32[1,32,32,", features, "]");
    return EmittedFor("x86-64-v4",
                      absl::StrCat("HloModule m\nENTRY main { x = ", arrays, " parameter(0)  k = f32[", size, ",", size,
                                   ",", features, ",", features, "] parameter(1)  ROOT y = ", arrays,
                                   " convolution(x, k), window={size=", size, "x", size, " pad=", size / 2, "_",
                                   size / 2, "x", size / 2, "_", size / 2, "}, dim_labels=b01f_01io->b01f }"));
  };
  EXPECT_THAT(emitted(3, 8), ::testing::AllOf(::testing::HasSubstr("kind=library-convolution"),
                                              ::testing::Not(::testing::HasSubstr("transpose("))));
  EXPECT_THAT(emitted(1, 12), ::testing::Not(::testing::HasSubstr("kind=library-convolution")));
}

// Kernels whose blocks of lanes are packed, as more than 16 KB of each are read by several tiles: with borders,
// reversed windows, groups, a last block that overlaps, a batch as the rows of tiles, and strides.
TEST(ConvolutionTest, TilesOfTheLibrary_ReadPackedKernels) {
  const auto client = [](const char* platform, int threads) {
    ClientOptions options;
    options.platform = platform;
    options.num_threads = threads;
    return *Client::Create(options);
  };
  const std::unique_ptr<Client> interpreter = client("interpreter", 1);
  const std::unique_ptr<Client> clients[] = {client("cpu", 1), client("cpu", 3)};
  const struct {
    const char *lhs, *rhs, *out, *attributes;
  } kCases[] = {
      {"[1,7,9,64]", "[3,3,64,72]", "[1,7,9,72]", "window={size=3x3 pad=1_1x1_1}"},
      {"[1,9,9,64]", "[3,3,64,72]", "[1,5,5,72]", "window={size=3x3 pad=1_1x1_1 stride=2x2 rhs_reversal=1x1}"},
      {"[8,4,4,64]", "[3,3,64,40]", "[8,4,4,40]", "window={size=3x3 pad=1_1x1_1}"},
      {"[2,6,6,128]", "[3,3,64,128]", "[2,6,6,128]", "window={size=3x3 pad=1_1x1_1}, feature_group_count=2"},
      {"[1,30,1,200]", "[1,1,200,96]", "[1,30,1,96]", "window={size=1x1}"},
  };
  for (const char* type : {"f32", "f64"}) {
    for (const auto& c : kCases) {
      const std::string text =
          absl::StrCat("HloModule m\nENTRY main {\n x = ", type, c.lhs, " parameter(0)\n w = ", type, c.rhs,
                       " parameter(1)\n ROOT y = ", type, c.out, " convolution(x, w), ", c.attributes,
                       ", dim_labels=b01f_01io->b01f\n}\n");
      SCOPED_TRACE(text);
      auto module = ParseHloModule(text);
      ASSERT_TRUE(module.ok()) << module.status();
      Random random(7);
      std::vector<Literal> values;
      for (const HloInstruction* parameter : (*module)->entry_computation()->parameter_instructions()) {
        const Shape& shape = parameter->shape();
        Literal wide = *Literal::Create(Shape(F64, shape.dimensions()));
        for (double& value : wide.data<double>()) value = static_cast<double>(random.Below(9) - 4);
        values.push_back(*wide.Convert(shape.element_type()));
      }
      const Literal* arguments[] = {&values[0], &values[1]};
      const Literal expected = RunOn(interpreter.get(), text, false, arguments);
      for (const auto& cpu : clients) {
        const absl::Status same = CompareLiterals(expected, RunOn(cpu.get(), text, false, arguments), {});
        EXPECT_TRUE(same.ok()) << same;
      }
    }
  }
}

// Positions in sections: of a batch, of rows of an image, and of merged positions, in tiles of the library and emitted.
TEST(ConvolutionTest, SectionsOfPositions_GiveTheInterpretersResults) {
  ClientOptions options;
  options.platform = "interpreter";
  const std::unique_ptr<Client> interpreter = *Client::Create(options);
  options.platform = "cpu";
  options.num_threads = 3;
  const std::unique_ptr<Client> client = *Client::Create(options);
  const struct {
    const char *lhs, *rhs, *out, *attributes;
    bool has_sections = true;
    const char* labels = "b01f_01io->b01f";
  } kCases[] = {
      {"[6,15,16,8]", "[3,3,8,160]", "[6,15,16,160]", "window={size=3x3 pad=1_1x1_1}"},
      {"[1,30,31,16]", "[3,3,16,150]", "[1,30,31,150]", "window={size=3x3 pad=1_1x1_1}"},
      {"[1,48,30,32]", "[1,1,32,192]", "[1,48,30,192]", "window={size=1x1}"},
      {"[1,72,6,40]", "[3,3,6,3]", "[1,72,40,3]", "window={size=3x3 pad=1_1x1_1}", true, "b0f1_01io->b01f"},
      {"[2,20,20,160]", "[3,3,1,160]", "[2,20,20,160]", "window={size=3x3 pad=1_1x1_1}, feature_group_count=160"},
      {"[1,7,7,64]", "[3,3,64,160]", "[1,7,7,160]", "window={size=3x3 pad=1_1x1_1}", /*has_sections=*/false},
  };
  for (const auto& c : kCases) {
    const std::string text = absl::StrCat("HloModule m\nENTRY main {\n x = f32", c.lhs, " parameter(0)\n w = f32",
                                          c.rhs, " parameter(1)\n ROOT y = f32", c.out, " convolution(x, w), ",
                                          c.attributes, ", dim_labels=", c.labels, "\n}\n");
    SCOPED_TRACE(text);
    auto module = ParseHloModule(text);
    ASSERT_TRUE(module.ok()) << module.status();
    const HloInstruction* convolution = (*module)->entry_computation()->root_instruction();
    const auto phases = cpu::PhasesOf(*convolution, /*in_order=*/false, /*vector_bits=*/256);
    ASSERT_TRUE(phases.has_value());
    const cpu::ConvolutionPlan plan = cpu::PlanOf((*phases)[0], F32, {.vector_bits = 256, .registers = 16});
    const cpu::ConvolutionUnits units = cpu::UnitsOf((*phases)[0], plan);
    EXPECT_EQ(units.sizes[0] > 1, c.has_sections) << units.sizes[0] << " sections of " << units.sizes[1] << " blocks";
    Random random(7);
    std::vector<Literal> values;
    for (int i = 0; i < 2; ++i) {
      Literal wide = *Literal::Create(Shape(F64, convolution->operand(i)->shape().dimensions()));
      for (double& value : wide.data<double>()) value = static_cast<double>(random.Below(9) - 4);
      values.push_back(*wide.Convert(F32));
    }
    const Literal* arguments[] = {&values[0], &values[1]};
    const absl::Status same = CompareLiterals(RunOn(interpreter.get(), text, false, arguments),
                                              RunOn(client.get(), text, false, arguments), {});
    EXPECT_TRUE(same.ok()) << same;
  }
}

TEST(ConvolutionTest, TilesOfTheLibrary_PollCancellation) {
#if defined(__x86_64__)
  if (!HasV3()) GTEST_SKIP() << "no vectors of 32 bytes";
  // Two features of six positions times a matrix of 2 x 8, in one unit of three tiles.
  cpu::convolution::Loops loops{.width = 8,
                                .vectors = 1,
                                .rows = 2,
                                .positions = 6,
                                .last_inside = 6,
                                .tiles = 3,
                                .tiles_per_unit = 3,
                                .lanes = 8,
                                .tile = {.count = 6, .lhs = 2, .out = 8}};
  loops.taps[3] = {.count = 2, .lhs = 1, .rhs = 8};
  const std::vector<float> lhs(12, 1), rhs(16, 2);
  std::vector<float> out(48, 7);
  int32_t cancelled = 1;
  EXPECT_EQ(cpu::convolution::Run(loops, lhs.data(), rhs.data(), out.data(), 0, 1, &cancelled), RunState::kStopped);
  EXPECT_EQ(out, std::vector<float>(48, 7));
  cancelled = 0;
  EXPECT_EQ(cpu::convolution::Run(loops, lhs.data(), rhs.data(), out.data(), 0, 1, &cancelled), RunState::kDone);
  EXPECT_EQ(out, std::vector<float>(48, 4));
  // The same product with the positions as lanes and the features as rows.
  loops.lane = loops.tile;
  loops.tile = {.count = 8, .rhs = 1, .out = 1};
  loops.lanes = 6;
  loops.positions = 8;
  loops.tiles = loops.tiles_per_unit = 4;
  std::fill(out.begin(), out.end(), 7);
  cancelled = 1;
  EXPECT_EQ(cpu::convolution::Run(loops, lhs.data(), rhs.data(), out.data(), 0, 1, &cancelled), RunState::kStopped);
  EXPECT_EQ(out, std::vector<float>(48, 7));
  cancelled = 0;
  EXPECT_EQ(cpu::convolution::Run(loops, lhs.data(), rhs.data(), out.data(), 0, 1, &cancelled), RunState::kDone);
  EXPECT_EQ(out, std::vector<float>(48, 4));
#else
  GTEST_SKIP() << "no vectors of 32 bytes";
#endif
}

}  // namespace
}  // namespace hilo
