// Protos that are wrong, damaged or nested too deeply give a status.
#include <algorithm>
#include <filesystem>
#include <functional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file.h"
#include "gtest/gtest.h"
#include "hilo/module.h"
#include "hlo/import/hlo_proto.h"
#include "hlo/import/hlo_proto_wire.h"
#include "hlo/text/hlo_parser.h"
#include "hlo/text/hlo_printer.h"
#include "tests/fuzz/random_numbers.h"

namespace hilo {
namespace {

std::unique_ptr<HloModule> MustParse(absl::string_view text) {
  auto module = ParseHloModule(text, {.verify = false});
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : nullptr;
}

struct Piece {
  WireWriter instruction;
  Piece(absl::string_view name, absl::string_view opcode, int64_t id) {
    instruction.Bytes(1, name);
    instruction.Bytes(2, opcode);
    WireWriter shape;
    shape.Int(2, F32);
    instruction.Message(3, shape);
    instruction.Int(35, id);
  }
};

std::string ModuleOf(const std::vector<Piece>& pieces, int64_t root, int64_t entry = 0) {
  WireWriter computation, module;
  computation.Bytes(1, "main");
  for (const Piece& piece : pieces) computation.Message(2, piece.instruction);
  computation.Int(6, root);
  module.Bytes(1, "m");
  module.Bytes(2, "main");
  module.Message(3, computation);
  module.Int(6, entry);
  return std::move(module).Take();
}

void ExpectRefused(const std::string& bytes, absl::string_view message) {
  const auto module = HloModuleFromProto(bytes);
  EXPECT_FALSE(module.ok()) << message;
  EXPECT_TRUE(absl::StrContains(module.status().message(), message)) << module.status();
}

TEST(HloProtoRefusalsTest, WrongProtos) {
  const Piece parameter("x", "parameter", 1);
  EXPECT_TRUE(HloModuleFromProto(ModuleOf({parameter}, 1)).ok());
  ExpectRefused("", "holds no computation");
  ExpectRefused(ModuleOf({parameter}, 2), "expected a root instruction of number 2");
  ExpectRefused(ModuleOf({parameter}, 1, 7), "expected an entry computation of number 7");
  ExpectRefused(ModuleOf({parameter, Piece("y", "nothing", 2)}, 1),
                "expected an opcode; got nothing; in instruction y; in computation main");
  ExpectRefused(ModuleOf({parameter, Piece("y", "parameter", 2)}, 1), "parameter 0 is defined twice");
  ExpectRefused(ModuleOf({parameter, Piece("y", "negate", 1)}, 1), "another instruction 1");
  ExpectRefused(ModuleOf({parameter, Piece("y", "constant", 2)}, 1), "the elements of a constant");
  ExpectRefused(ModuleOf({parameter, Piece("y", "while", 2)}, 1), "expected 2 called computations of while; got 0");
  ExpectRefused(ModuleOf({parameter, Piece("y", "compare", 2)}, 1), "expected the attribute direction");
  ExpectRefused(ModuleOf({parameter, Piece("y", "iota", 2)}, 1),
                "expected one number in field 14; got 0; in the attribute iota_dimension");
  Piece negate("n", "negate", 2);
  negate.instruction.Ints(36, {3});
  ExpectRefused(ModuleOf({parameter, negate}, 1), "operand 3 is not defined before");
  Piece shapeless("s", "parameter", 2);
  shapeless.instruction.Bytes(3, "\x10\x7f");
  ExpectRefused(ModuleOf({shapeless}, 2), "there is no element type of number 127");
  Piece huge("h", "parameter", 1);
  huge.instruction.Int(9, 1'000'000'000);
  ExpectRefused(ModuleOf({huge}, 1), "expected a parameter number from 0 to");
  Piece call("c", "call", 2);
  call.instruction.Ints(38, {9});
  ExpectRefused(ModuleOf({parameter, call}, 2), "there is no computation 9");
  Piece third("y", "parameter", 2);
  third.instruction.Int(9, 2);
  ExpectRefused(ModuleOf({parameter, third}, 1), "expected parameters 0 to 2; parameter 1 is missing");
  Piece controlled("n", "negate", 2);
  controlled.instruction.Ints(36, {1});
  controlled.instruction.Ints(37, {8});
  ExpectRefused(ModuleOf({parameter, controlled}, 2), "there is no control predecessor 8 of n");
  EXPECT_EQ(
      HloModuleFromProto(ModuleOf({parameter, Piece("y", "after-all", 2)}, 1), {.limits = {.max_instructions = 1}})
          .status()
          .code(),
      absl::StatusCode::kResourceExhausted);
  Piece payload("p", "negate", 2);
  payload.instruction.Ints(36, {1});
  payload.instruction.Message(99, [] {
    WireWriter id;
    id.Int(2, 3);
    return id;
  }());
  ExpectRefused(ModuleOf({parameter, payload}, 2), "no payload 3");
}

TEST(HloProtoRefusalsTest, NamesThatTextCannotHoldAreRefused) {
  WireWriter entry, map;
  entry.Bytes(1, "a}\"");
  map.Message(1, entry);
  Piece parameter("x", "parameter", 1);
  parameter.instruction.Message(68, map);
  ExpectRefused(ModuleOf({parameter}, 1), "expected a name of letters");
}

TEST(HloProtoRefusalsTest, LiteralElements_AreCounted) {
  WireWriter dimensions, literal;
  dimensions.Int(2, S32);
  dimensions.Ints(3, {int64_t{1} << 40});
  literal.Message(1, dimensions);
  literal.Ints(4, {1, 2});
  Piece constant("c", "constant", 1);
  constant.instruction.Message(3, dimensions);
  constant.instruction.Message(8, literal);
  ExpectRefused(ModuleOf({constant}, 1),
                "expected 4398046511104 bytes of elements in a literal of s32[1099511627776]; got 8");
}

TEST(HloProtoRefusalsTest, Literal_HasTheShapeOfItsConstant) {
  WireWriter shape, literal;
  shape.Int(2, F32);
  literal.Message(1, [] {
    WireWriter other;
    other.Int(2, S32);
    return other;
  }());
  literal.Ints(4, {7});
  Piece constant("c", "constant", 1);
  constant.instruction.Message(8, literal);
  ExpectRefused(ModuleOf({constant}, 1), "expected a literal of f32[]; got one of s32[]");
}

TEST(HloProtoRefusalsTest, WrongShapes) {
  const auto refused = [](const std::function<void(WireWriter&)>& fill, absl::string_view message) {
    WireWriter shape;
    fill(shape);
    Piece parameter("x", "parameter", 1);
    parameter.instruction.Message(3, shape);
    ExpectRefused(ModuleOf({parameter}, 1), message);
  };
  refused(
      [](WireWriter& s) {
        s.Int(2, F32);
        s.Ints(3, {2, 3});
        s.Ints(6, {1});
      },
      "expected 2 dynamic flags, one a dimension; got 1");
  refused(
      [](WireWriter& s) {
        s.Int(2, F32);
        s.Ints(3, {2});
        WireWriter layout;
        layout.Ints(1, {0});
        layout.Ints(9, {1});
        s.Message(5, layout);
      },
      "expected a dense layout; got dimension level type 1");
}

// A schedule holds each instruction of its computation once.
TEST(HloProtoRefusalsTest, WrongSchedules) {
  const auto with = [](const std::vector<int64_t>& order) {
    const Piece parameter("x", "parameter", 1);
    Piece negate("n", "negate", 2);
    negate.instruction.Ints(36, {1});
    std::string bytes = ModuleOf({parameter, negate}, 2);
    WireWriter sequence, instructions, entry, schedule, module;
    instructions.Ints(1, order);
    entry.Message(2, instructions);
    schedule.Message(1, entry);
    module.Message(7, schedule);
    return bytes + std::move(module).Take();
  };
  EXPECT_TRUE(HloModuleFromProto(with({1, 2})).ok()) << HloModuleFromProto(with({1, 2})).status();
  ExpectRefused(with({1, 1}), "the schedule names instruction 1 twice, or there is none");
  ExpectRefused(with({1, 9}), "the schedule names instruction 9 twice, or there is none");
  ExpectRefused(with({1}), "the schedule leaves out 1 instructions");
}

TEST(HloProtoRefusalsTest, ModulesWithACycleOfCallsAreNotWritten) {
  for (absl::string_view f :
       {"call(a), to_apply=g", "while(a), condition=c, body=g", "map(a), dimensions={}, to_apply=g"}) {
    const auto module =
        MustParse(absl::StrCat("HloModule m\nc { p = f32[] parameter(0)  ROOT r = pred[] constant(false) }\n"
                               "f { a = f32[] parameter(0)  ROOT b = f32[] ",
                               f, " }\n",
                               "g { a = f32[] parameter(0)  ROOT b = f32[] call(a), to_apply=f }\n"
                               "ENTRY main { x = f32[] parameter(0)  ROOT y = f32[] call(x), to_apply=f }"));
    const absl::Status status = HloModuleToProto(*module).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "calls itself, directly or through others")) << status;
  }
}

TEST(HloProtoRefusalsTest, ProtosWithACycleOfCallsAreRefused) {
  struct Computation {
    const char* name;
    int64_t id, callee;
  };
  WireWriter module;
  module.Bytes(1, "m");
  module.Bytes(2, "main");
  for (const Computation& c : {Computation{"main", 1, 2}, Computation{"f", 2, 3}, Computation{"g", 3, 2}}) {
    const Piece parameter(absl::StrCat("x", c.id), "parameter", 10 * c.id + 1);
    Piece call(absl::StrCat("y", c.id), "call", 10 * c.id + 2);
    call.instruction.Ints(36, {10 * c.id + 1});
    call.instruction.Ints(38, {c.callee});
    WireWriter computation;
    computation.Bytes(1, c.name);
    computation.Message(2, parameter.instruction);
    computation.Message(2, call.instruction);
    computation.Int(5, c.id);
    computation.Int(6, 10 * c.id + 2);
    module.Message(3, computation);
  }
  module.Int(6, 1);
  ExpectRefused(std::move(module).Take(), "calls itself, directly or through others");
}

TEST(HloProtoRefusalsTest, DeepNestingIsRefused) {
  std::string shape = "\x10\x0d";
  for (int i = 0; i < 10000; ++i) {
    WireWriter outer;
    outer.Int(2, TUPLE);
    outer.Bytes(4, shape);
    shape = outer.bytes();
  }
  Piece deep("d", "parameter", 1);
  deep.instruction.Bytes(3, shape);
  ExpectRefused(ModuleOf({deep}, 1), "nested deeper than 64 levels");
}

// What damaged bytes give does not matter, as long as it is an answer.
TEST(HloProtoRefusalsTest, DamagedProtos_GiveAStatus) {
  fuzz::Random random(7);
  int accepted = 0;
  for (const char* path : {"tests/programs/sorting.hlo", "tests/programs/lstm_scan.hlo", "tests/ops/constant.hlo"}) {
    const auto text = ReadFile(path);
    ASSERT_TRUE(text.ok());
    const absl::string_view first = std::vector<absl::string_view>(absl::StrSplit(*text, "\n// ----"))[0];
    const std::string bytes = *HloModuleToProto(*MustParse(first));
    for (int i = 0; i < 300; ++i) {
      std::string damaged = bytes;
      for (uint64_t flips = random.Below(4) + 1; flips > 0; --flips)
        damaged[random.Below(damaged.size())] = static_cast<char>(random.Below(256));
      if (random.Below(4) == 0) damaged.resize(random.Below(damaged.size()));
      const auto module = HloModuleFromProto(damaged);
      if (!module.ok()) continue;
      ++accepted;
      EXPECT_TRUE(HloModuleToProto(**module).status().code() != absl::StatusCode::kInternal);
    }
  }
  EXPECT_GT(accepted, 0);
}

}  // namespace
}  // namespace hilo
