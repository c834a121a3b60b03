// Kernels of rows that do not fit into registers: a block goes through its row once for each level of reductions and
// once for the results, and computes again what it needs of an element. Only the first pass reads from memory: the rows
// of all blocks fit into the second cache (choice/kernel_reductions.cc).
//
// What depends on reductions and has one value a row is computed between the passes.
#include "absl/algorithm/container.h"
#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/emitters/rows/row_threads.h"
#include "backends/gpu/match/row_plan.h"
#include "backends/llvm/elements/predication.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::ElementValue;
using codegen::LaneIndex;

class StreamedRows {
 public:
  StreamedRows(KernelEmitter& k, const HloInstruction* instruction, const RowPlan& plan)
      : k_(k), instruction_(instruction), plan_(plan), thread_(k.Thread()), row_(k.Block()) {
    for (const HloInstruction* member : plan.members) {
      if (member->opcode() == HloOpcode::kReduce ||
          absl::c_any_of(member->operands(), [&](const HloInstruction* operand) { return depends_.contains(operand); }))
        depends_.insert(member);
    }
  }

  absl::Status Emit() {
    for (size_t level = 0; level < plan_.levels.size(); ++level) {
      HILO_RETURN_IF_ERROR(Reduce(plan_.levels[level]));
      HILO_RETURN_IF_ERROR(ComputeRowValues());
    }
    return Store();
  }

 private:
  llvm::Value* Int(int64_t value) { return k_.b().getInt64(static_cast<uint64_t>(value)); }
  int64_t AllGroups() const { return plan_.space.columns / plan_.group; }

  absl::StatusOr<ElementValue> Value(const HloInstruction* full, const LaneIndex& group, int64_t j) {
    return k_.elements().Generate(full, FullIndexOf(k_, plan_.space, full->shape().dimensions(), row_, group, j));
  }

  // Returns the values of `wanted` at each column of group `i`: loads first, so that adjacent ones become one access.
  absl::StatusOr<std::vector<Elements>> Group(absl::Span<const HloInstruction* const> wanted, llvm::Value* i) {
    const LaneIndex first = LaneIndex::Uniform(k_.b().CreateMul(i, Int(plan_.group), "column", true, true), plan_.group,
                                               plan_.space.columns);
    absl::flat_hash_set<const HloInstruction*> visited;
    for (const HloInstruction* array : FullArraysOf(instruction_, plan_.space, wanted, &visited)) {
      for (int64_t j = 0; j < plan_.group; ++j) HILO_RETURN_IF_ERROR(Value(array, first, j).status());
    }
    std::vector<Elements> values;
    for (const HloInstruction* instruction : wanted) {
      Elements& mine = values.emplace_back();
      for (int64_t j = 0; j < plan_.group; ++j) {
        HILO_ASSIGN_OR_RETURN(mine.emplace_back(), Value(instruction, first, j));
      }
    }
    return values;
  }

  // Computes all reductions of a level: a thread has a running value for each position in its groups.
  absl::Status Reduce(const std::vector<const HloInstruction*>& level) {
    std::vector<const HloInstruction*> terms;
    std::vector<PrimitiveType> types;
    for (const HloInstruction* reduce : level) {
      terms.push_back(reduce->operand(0));
      types.insert(types.end(), static_cast<size_t>(plan_.group), reduce->operand(0)->shape().element_type());
    }
    const auto flat = [](const std::vector<Elements>& values) {
      Elements all;
      for (const Elements& some : values) all.insert(all.end(), some.begin(), some.end());
      return codegen::Pack(all);
    };
    HILO_ASSIGN_OR_RETURN(const std::vector<Elements> first, Group(terms, thread_));
    const auto body = [&](llvm::Value* i, const Carried& carried) -> absl::StatusOr<Carried> {
      HILO_ASSIGN_OR_RETURN(std::vector<Elements> next, Group(terms, i));
      const Elements running = codegen::Unpack(carried, types);
      size_t at = 0;
      for (size_t r = 0; r < level.size(); ++r) {
        for (ElementValue& value : next[r]) {
          HILO_ASSIGN_OR_RETURN(value, CombineTerms(k_, level[r], running[at], value));
          ++at;
        }
      }
      return flat(next);
    };
    HILO_ASSIGN_OR_RETURN(
        const Carried done,
        codegen::EmitLoop(k_.context(), "terms", k_.b().CreateAdd(thread_, Int(plan_.threads), "", true, true),
                          Int(AllGroups()), plan_.threads, flat(first), body));
    const Elements running = codegen::Unpack(done, types);
    Elements own;
    size_t at = 0;
    for (const HloInstruction* reduce : level) {
      ElementValue sum = running[at++];
      for (int64_t j = 1; j < plan_.group; ++j) {
        HILO_ASSIGN_OR_RETURN(sum, CombineTerms(k_, reduce, sum, running[at++]));
      }
      own.push_back(sum);
    }
    known_.insert(level.begin(), level.end());
    return CombineThreads(k_, {plan_.threads, /*block_rows=*/1, thread_, Int(0)}, level, std::move(own));
  }

  // Computes what has one value a row and depends on reductions, all of which are known.
  absl::Status ComputeRowValues() {
    for (const HloInstruction* member : plan_.members) {
      if (member->opcode() == HloOpcode::kReduce || known_.contains(member) || !plan_.space.IsRow(member->shape()) ||
          !DependsOnKnownReductions(member))
        continue;
      HILO_ASSIGN_OR_RETURN(const ElementValue value,
                            k_.elements().Generate(member, RowIndexOf(k_, member->shape(), row_)));
      k_.SetValue(member, value);
      known_.insert(member);
    }
    return absl::OkStatus();
  }

  // Returns true if an operand is known, and all others are, or depend on no reduction.
  bool DependsOnKnownReductions(const HloInstruction* member) {
    bool some = false;
    for (const HloInstruction* operand : member->operands()) {
      const bool is_known = known_.contains(operand);
      some |= is_known;
      if (!is_known && depends_.contains(operand)) return false;
    }
    return some;
  }

  absl::Status Store() {
    std::vector<const HloInstruction*> full;
    std::vector<int64_t> leaves;
    for (size_t leaf = 0; leaf < plan_.roots.size(); ++leaf) {
      if (!plan_.space.IsFull(plan_.roots[leaf]->shape())) continue;
      full.push_back(plan_.roots[leaf]);
      leaves.push_back(static_cast<int64_t>(leaf));
    }
    // A thread writes elements that no other one reads (InPlacePairs), but for those of rows.
    if (!full.empty()) {
      HILO_RETURN_IF_ERROR(
          k_.ForEach("results", thread_, Int(AllGroups()), plan_.threads, [&](llvm::Value* i) -> absl::Status {
            HILO_ASSIGN_OR_RETURN(const std::vector<Elements> values, Group(full, i));
            const LaneIndex first = LaneIndex::Uniform(k_.b().CreateMul(i, Int(plan_.group), "column", true, true),
                                                       plan_.group, plan_.space.columns);
            for (size_t r = 0; r < full.size(); ++r) {
              for (int64_t j = 0; j < plan_.group; ++j)
                k_.ArrayOf(instruction_, leaves[r])
                    .Store(k_.context(), FullIndexOf(k_, plan_.space, full[r]->shape().dimensions(), row_, first, j),
                           values[r][j]);
            }
            return absl::OkStatus();
          }));
    }
    if (full.size() == plan_.roots.size()) return absl::OkStatus();
    std::vector<std::pair<int64_t, ElementValue>> of_row;
    for (size_t leaf = 0; leaf < plan_.roots.size(); ++leaf) {
      const HloInstruction* root = plan_.roots[leaf];
      if (plan_.space.IsFull(root->shape())) continue;
      HILO_ASSIGN_OR_RETURN(const ElementValue value,
                            k_.elements().Generate(root, RowIndexOf(k_, root->shape(), row_)));
      of_row.emplace_back(leaf, value);
    }
    // Other threads read the element of a row that one thread writes.
    if (SharesMemory(k_, instruction_)) k_.Barrier();
    return k_.If("stores", k_.b().CreateICmpEQ(thread_, Int(0)), [&] {
      for (const auto& [leaf, value] : of_row)
        k_.ArrayOf(instruction_, leaf).Store(k_.context(), RowIndexOf(k_, plan_.roots[leaf]->shape(), row_), value);
      return absl::OkStatus();
    });
  }

  KernelEmitter& k_;
  const HloInstruction* instruction_;
  const RowPlan& plan_;
  llvm::Value *thread_, *row_;
  absl::flat_hash_set<const HloInstruction*> known_;    // reductions, and what depends on them, with a value a row
  absl::flat_hash_set<const HloInstruction*> depends_;  // on reductions
};

}  // namespace

absl::Status EmitStreamedRows(ProgramEmitter& program, const HloInstruction* instruction, const RowPlan& plan) {
  KernelEmitter k(&program, instruction);
  HILO_RETURN_IF_ERROR(StreamedRows(k, instruction, plan).Emit());
  return k.FinishAndLaunch(instruction, plan.space.rows, static_cast<int>(plan.threads));
}

}  // namespace hilo::gpu
