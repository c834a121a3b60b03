// Values of a scope, their lives, and what SharingSets lets share.
#include "hlo/memory/value_liveness.h"

#include "gtest/gtest.h"
#include "hlo/memory/scheduler.h"
#include "hlo/text/hlo_parser.h"

namespace hilo {
namespace {

class Liveness : public ::testing::Test {
 protected:
  void Read(absl::string_view text) {
    auto module = ParseHloModule(text);
    ASSERT_TRUE(module.ok()) << module.status();
    module_ = *std::move(module);
    ASSERT_TRUE(ScheduleModule(module_.get()).ok());
    auto values = ScopeValues::Create(*module_, *module_->entry_computation());
    ASSERT_TRUE(values.ok()) << values.status();
    values_ = std::make_unique<ScopeValues>(*std::move(values));
  }
  const HloInstruction* Find(absl::string_view name) {
    for (const HloComputation* computation : module_->computations()) {
      for (const HloInstruction* instruction : computation->instructions()) {
        if (instruction->name() == name) return instruction;
      }
    }
    ADD_FAILURE() << "no instruction " << name;
    return nullptr;
  }
  int64_t Value(absl::string_view name, int64_t leaf = 0) { return values_->ValuesOf(Find(name))[leaf]; }
  bool MayShare(absl::string_view a, absl::string_view b) {
    SharingSets sets(values_->values());
    return sets.Merge(Value(a), Value(b));
  }

  std::unique_ptr<HloModule> module_;
  std::unique_ptr<ScopeValues> values_;
};

TEST_F(Liveness, ValuesThatLiveTogetherDoNotShare) {
  Read(R"(HloModule m
ENTRY main {
  x = f32[8] parameter(0)
  a = f32[8] negate(x)
  b = f32[8] exponential(a)
  c = f32[8] sort(b), dimensions={0}, to_apply=less
  d = f32[8] sort(c), dimensions={0}, to_apply=less
  e = f32[8] add(d, b)
  ROOT r = f32[8] reverse(e), dimensions={0}
}
less { a1 = f32[] parameter(0)  b1 = f32[] parameter(1)  ROOT c1 = pred[] compare(a1, b1), direction=LT }
)");
  EXPECT_TRUE(MayShare("a", "b"));   // in place
  EXPECT_TRUE(MayShare("a", "c"));   // one after the other
  EXPECT_FALSE(MayShare("b", "c"));  // b is read again
  EXPECT_FALSE(MayShare("c", "d"));  // a sort is not in place
  EXPECT_TRUE(MayShare("c", "e"));
  EXPECT_TRUE(MayShare("b", "e"));   // in place at the last use
  EXPECT_FALSE(MayShare("x", "a"));  // parameters are only read
  EXPECT_FALSE(MayShare("e", "r"));
}

TEST_F(Liveness, SetsInterfereAsWholes) {
  Read(R"(HloModule m
ENTRY main {
  x = f32[8] parameter(0)
  a = f32[8] negate(x)
  b = f32[8] reverse(a), dimensions={0}
  c = f32[8] reverse(b), dimensions={0}
  d = f32[8] add(c, b)
  ROOT r = f32[8] reverse(d), dimensions={0}
}
)");
  SharingSets sets(values_->values());
  EXPECT_TRUE(sets.Merge(Value("a"), Value("c")));
  EXPECT_FALSE(sets.Merge(Value("b"), Value("c")));
  EXPECT_FALSE(sets.Merge(Value("b"), Value("a")));  // by way of c
  EXPECT_TRUE(sets.Merge(Value("c"), Value("d")));
  EXPECT_EQ(sets.Find(Value("a")), sets.Find(Value("d")));
  EXPECT_EQ(3u, sets.Members(sets.Find(Value("a"))).size());
  EXPECT_TRUE(sets.Merge(Value("a"), Value("d")));  // they do already
}

TEST_F(Liveness, SizesMustAgree) {
  Read(R"(HloModule m
ENTRY main {
  x = f32[8] parameter(0)
  a = f32[8] negate(x)
  b = f32[4] slice(a), slice={[0:4]}
  c = s32[4] convert(b)
  d = f64[4] convert(c)
  ROOT r = f64[4] negate(d)
}
)");
  EXPECT_FALSE(MayShare("a", "b"));
  EXPECT_TRUE(MayShare("b", "c"));
  EXPECT_FALSE(MayShare("c", "d"));
}

TEST_F(Liveness, Copies_KeepTheirSourceAlive) {
  Read(R"(HloModule m
ENTRY main {
  x = f32[8] parameter(0)
  a = f32[8] negate(x)
  b = f32[8] copy(a)
  c = f32[8] add(a, b)
  ROOT r = (f32[8], f32[8]) tuple(c, a)
}
)");
  EXPECT_TRUE(MayShare("a", "b"));
  EXPECT_TRUE(MayShare("b", "c"));
  SharingSets sets(values_->values());
  EXPECT_TRUE(sets.Merge(Value("a"), Value("b")));
  EXPECT_FALSE(sets.Merge(Value("b"), Value("c")));  // a lives on
}

TEST_F(Liveness, LoopOperands_LiveToTheLoopsEnd) {
  Read(R"(HloModule m
more { s = (s32[], f32[8], f32[8]) parameter(0)  i = s32[] get-tuple-element(s), index=0  z = s32[] constant(0)  ROOT c = pred[] compare(i, z), direction=GT }
body {
  t = (s32[], f32[8], f32[8]) parameter(0)
  j = s32[] get-tuple-element(t), index=0
  table = f32[8] get-tuple-element(t), index=1
  sum = f32[8] get-tuple-element(t), index=2
  first = f32[8] reverse(table), dimensions={0}
  second = f32[8] reverse(first), dimensions={0}
  sum2 = f32[8] add(sum, second)
  one = s32[] constant(1)
  k = s32[] subtract(j, one)
  ROOT next = (s32[], f32[8], f32[8]) tuple(k, table, sum2)
}
ENTRY main {
  n = s32[] parameter(0)
  x = f32[8] parameter(1)
  a = f32[8] negate(x)
  b = f32[8] exponential(x)
  init = (s32[], f32[8], f32[8]) tuple(n, a, b)
  w = (s32[], f32[8], f32[8]) while(init), condition=more, body=body
  u = f32[8] get-tuple-element(w), index=2
  late = f32[8] reverse(u), dimensions={0}
  ROOT r = f32[8] negate(late)
}
)");
  EXPECT_EQ(Value("a"), Value("table"));  // passes through
  EXPECT_EQ(Value("a"), Value("w", 1));
  EXPECT_FALSE(MayShare("a", "second"));  // read again in the next iteration
  EXPECT_TRUE(MayShare("a", "late"));
  EXPECT_FALSE(MayShare("first", "sum"));  // carried: alive all the time
  EXPECT_TRUE(MayShare("sum", "sum2"));
  EXPECT_EQ(2u, values_->required_sharing().size());  // counter and sum
}

TEST_F(Liveness, OnlyOneBranchRuns) {
  constexpr absl::string_view kText = R"(HloModule m
t { a0 = f32[8] parameter(0)  first = f32[8] reverse(a0), dimensions={0}  second = f32[8] reverse(first), dimensions={0}  ROOT third = f32[8] reverse(second), dimensions={0} }
f { a1 = f32[8] parameter(0)  ROOT fourth = f32[8] reverse(a1), dimensions={0} }
ENTRY main {
  p = pred[] parameter(0)
  x = f32[8] parameter(1)
  a = f32[8] negate(x)
  c = f32[8] conditional(p, a, a), true_computation=t, false_computation=f
  ROOT r = f32[8] OP
}
)";
  std::string text(kText);
  Read(text.replace(text.find("OP"), 2, "negate(c)"));
  EXPECT_FALSE(MayShare("a", "first"));
  EXPECT_TRUE(MayShare("a", "second"));  // though the other branch, later on the line, reads a
  EXPECT_FALSE(MayShare("a", "fourth"));
  EXPECT_TRUE(MayShare("third", "fourth"));
  text = std::string(kText);
  Read(text.replace(text.find("OP"), 2, "add(c, a)"));
  EXPECT_FALSE(MayShare("a", "second"));
}

TEST_F(Liveness, EmptyArraysShareNothing) {
  Read(R"(HloModule m
more { s = (pred[], f32[0]) parameter(0)  ROOT p = pred[] get-tuple-element(s), index=0 }
body { t = (pred[], f32[0]) parameter(0)  e = f32[0] get-tuple-element(t), index=1  e2 = f32[0] negate(e)  no = pred[] constant(false)  ROOT next = (pred[], f32[0]) tuple(no, e2) }
ENTRY main {
  p0 = pred[] parameter(0)
  x = f32[0] parameter(1)
  init = (pred[], f32[0]) tuple(p0, x)
  ROOT w = (pred[], f32[0]) while(init), condition=more, body=body
}
)");
  EXPECT_EQ(1u, values_->required_sharing().size());
}

TEST_F(Liveness, ReadsByWayOfAViewForbidInPlace) {
  Read(R"(HloModule m
add { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT c = s32[] add(a, b) }
ENTRY main {
  x = s32[3] parameter(0)
  target = s32[3] negate(x)
  at = s32[3,1] reshape(target)
  s = s32[3] scatter(target, at, x), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
  ROOT r = s32[3] negate(s)
}
)");
  EXPECT_FALSE(MayShare("target", "s"));
}

}  // namespace
}  // namespace hilo
