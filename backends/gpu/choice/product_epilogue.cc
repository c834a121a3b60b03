#include "backends/gpu/choice/product_epilogue.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "backends/gpu/match/gemm_match.h"
#include "backends/llvm/elements/generated_ops.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/ir/hlo_computation.h"

namespace hilo::gpu {
namespace {

// Instructions of an epilogue, and what is looked at before them.
constexpr size_t kMaxOfEpilogue = 32, kMaxAncestors = 64;

// Returns true if `instruction` waits for one of `members`, as far as its nearest producers show: what fuses checks it.
bool WaitsFor(const HloInstruction& instruction, const absl::flat_hash_set<const HloInstruction*>& members) {
  std::vector<const HloInstruction*> work = {&instruction};
  absl::flat_hash_set<const HloInstruction*> seen = {&instruction};
  for (size_t i = 0; i < work.size() && i < kMaxAncestors; ++i) {
    if (members.contains(work[i])) return true;
    for (const HloInstruction* operand : work[i]->operands()) {
      if (seen.insert(operand).second) work.push_back(operand);
    }
  }
  return false;
}

// Returns the last instruction that the library computes with the dot; null if what follows is in another order.
const HloInstruction* LastOfLibrary(const HloInstruction& dot, bool sums_integers) {
  if (sums_integers) return &dot;  // sums of integers are its results
  const std::optional<GemmMatch> match = MatchGemm(dot);
  if (!match.has_value()) return &dot;
  return ShapeUtil::SameDimensions(match->root->shape(), dot.shape()) &&
                 absl::c_none_of(match->members,
                                 [](const auto* member) { return member->opcode() == HloOpcode::kTranspose; })
             ? match->root
             : nullptr;
}

// Returns true if the kernel of `instruction` can compute its element-wise operands; those of products store them.
bool IsLoop(const HloInstruction& instruction) {
  if (instruction.opcode() == HloOpcode::kDot || instruction.opcode() == HloOpcode::kConvolution) return false;
  return instruction.opcode() == HloOpcode::kReduce || codegen::IsElementGenerated(instruction.opcode());
}

// Returns the bytes that an epilogue reads, but those of the largest array: a loop computes what it reads from few
// arrays, while the kernel of a product computes what nothing else reads.
double ReadTwice(absl::Span<const HloInstruction* const> members) {
  absl::flat_hash_set<const HloInstruction*> inside(members.begin(), members.end());
  std::vector<const HloInstruction*> work(members.begin(), members.end());
  double bytes = 0, largest = 0;
  for (size_t i = 0; i < work.size() && i < kMaxAncestors; ++i) {
    if (work[i] == members[0]) continue;
    for (const HloInstruction* operand : work[i]->operands()) {
      if (inside.contains(operand) || IsFreeToRepeat(*operand)) continue;
      const bool joins = (IsElementwise(operand->opcode()) || operand->opcode() == HloOpcode::kBroadcast) &&
                         absl::c_all_of(operand->users(), [&](const auto* user) { return inside.contains(user); });
      inside.insert(operand);
      if (joins) {
        work.push_back(operand);
        continue;
      }
      const auto of_operand = static_cast<double>(ShapeUtil::ByteSizeOf(operand->shape()));
      bytes += of_operand;
      largest = std::max(largest, of_operand);
    }
  }
  return bytes - largest;
}

// The first of `members` is the last instruction of the library. Returns nullopt if the kernels that read its results
// compute the others as well.
std::optional<Epilogue> EpilogueOf(absl::Span<const HloInstruction* const> members) {
  if (members.size() == 1) return std::nullopt;
  const absl::flat_hash_set<const HloInstruction*> inside(members.begin(), members.end());
  const auto is_inside = [&](const HloInstruction* user) { return inside.contains(user); };
  Epilogue epilogue{.left = static_cast<double>(ShapeUtil::ByteSizeOf(members[0]->shape())),
                    .read_twice = ReadTwice(members)};
  for (const HloInstruction* member : members) {
    if (member != members[0]) epilogue.instructions += WorkOf(*member).instructions;
    if (!member->IsRoot() && absl::c_all_of(member->users(), is_inside)) continue;
    const auto bytes = static_cast<double>(ShapeUtil::ByteSizeOf(member->shape()));
    epilogue.bytes += bytes;
    const bool is_stored = member->IsRoot() || absl::c_any_of(member->users(), [&](const HloInstruction* user) {
                             return !is_inside(user) && !IsLoop(*user);
                           });
    if (is_stored && member != members[0]) epilogue.of_loop += bytes;
  }
  if (epilogue.of_loop == 0 && epilogue.bytes >= epilogue.left) return std::nullopt;
  return epilogue;
}

}  // namespace

std::optional<Epilogue> EpilogueOf(const HloInstruction& dot, bool sums_integers) {
  const HloInstruction* const first = LastOfLibrary(dot, sums_integers);
  if (first == nullptr) return std::nullopt;
  std::vector<const HloInstruction*> members = {first};
  absl::flat_hash_set<const HloInstruction*> inside = {first};
  for (size_t i = 0; i < members.size(); ++i) {
    for (const HloInstruction* user : members[i]->users()) {
      if (inside.contains(user) || !IsElementwise(user->opcode()) || user->HasControlDependencies() ||
          !ShapeUtil::SameDimensions(user->shape(), dot.shape()))
        continue;
      if (members.size() == kMaxOfEpilogue) return std::nullopt;
      // Such as the deviations from a mean of the products.
      if (absl::c_any_of(user->operands(), [&](const HloInstruction* operand) {
            return !inside.contains(operand) && WaitsFor(*operand, inside);
          }))
        continue;
      inside.insert(user);
      members.push_back(user);
    }
  }
  if (const std::optional<Epilogue> all = EpilogueOf(members)) return all;
  for (size_t i = members.size(); --i > 0;) {
    const auto& users = members[i]->users();
    if (members[i]->IsRoot() ||
        absl::c_any_of(users, [&](const HloInstruction* user) { return inside.contains(user) || !IsLoop(*user); }))
      continue;
    inside.erase(members[i]);
    members.erase(members.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return EpilogueOf(members);
}

}  // namespace hilo::gpu
