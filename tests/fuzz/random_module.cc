#include "tests/fuzz/random_module.h"

#include "absl/strings/str_cat.h"
#include "tests/fuzz/random_grower.h"

namespace hilo::fuzz {
namespace {

constexpr uint64_t kFamilies = 16, kInPlace = 7, kReplicated = 15;

// The root shows the values that nothing uses, up to eight of them; what is left over stays as dead code.
void SetRoot(Grower& g, Scope& scope) {
  std::vector<HloInstruction*> ends;
  for (auto it = scope.values.rbegin(); it != scope.values.rend() && ends.size() < 8; ++it) {
    if (it->instruction->users().empty() && !it->instruction->IsParameter() && !it->shape().IsToken())
      ends.push_back(it->instruction);
  }
  if (ends.empty()) ends.push_back(scope.values.front().instruction);
  HloInstruction* root = ends[0];
  if (ends.size() > 1 || g.random.Chance(10)) root = *scope.computation->AddOp(HloOpcode::kTuple, ends);
  (void)scope.computation->set_root_instruction(root, true);
  (void)g.module->RemoveUnusedComputations();
}

// Any order of the dimensions.
void SetLayout(Grower& g, Shape* shape) {
  for (int64_t i = 0; i < shape->tuple_shapes_size(); ++i) SetLayout(g, shape->mutable_tuple_shapes(i));
  if (shape->IsArray()) *shape->mutable_layout() = Layout(g.Permutation(shape->rank()));
}

}  // namespace

bool IsExactFamily(uint64_t seed) { return seed % kFamilies == kReplicated || seed % kFamilies == kInPlace; }

RandomProgram MakeRandomProgram(uint64_t seed, const RandomOptions& options) {
  if (seed % kFamilies == kReplicated) return MakeReplicatedProgram(seed);
  if (seed % kFamilies == kInPlace) return MakeInPlaceProgram(seed);
  Grower g{
      .random = Random(seed), .options = options, .module = std::make_unique<HloModule>(absl::StrCat("random_", seed))};
  RandomProgram program;
  Scope scope{.computation = g.module->AddComputation("main"), .arguments = &program.arguments};
  g.module->set_entry_computation(scope.computation);
  for (int64_t i = g.random.Below(3) + 1; i > 0; --i) g.Leaf(scope, g.RandomDims(), g.RandomType());
  g.Grow(scope, options.min_instructions +
                    static_cast<int>(g.random.Below(options.max_instructions - options.min_instructions + 1)));
  SetRoot(g, scope);
  if (g.random.Chance(20)) {
    ProgramShape layouts = g.module->EntryProgramShape();
    for (Shape& parameter : layouts.parameters) SetLayout(g, &parameter);
    SetLayout(g, &layouts.result);
    g.module->set_entry_computation_layout(std::move(layouts));
  }
  program.module = std::move(g.module);
  return program;
}

}  // namespace hilo::fuzz
