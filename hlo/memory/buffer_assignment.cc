#include "hlo/memory/buffer_assignment.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/work_budget.h"
#include "hilo/status_macros.h"
#include "hlo/memory/frame_packing.h"
#include "hlo/memory/scheduler.h"
#include "hlo/memory/value_liveness.h"

namespace hilo {

// Assigns one module, scope by scope.
class BufferAssigner {
 public:
  BufferAssigner(const HloModule& module, const BufferAssignmentOptions& options)
      : module_(module), options_(options) {}

  absl::StatusOr<BufferAssignment> Run() {
    HILO_ASSIGN_OR_RETURN(const std::vector<HloComputation*> scopes, ScopesOf(module_));
    for (HloComputation* scope : scopes) HILO_RETURN_IF_ERROR(AssignScope(scope));
    return std::move(result_);
  }

 private:
  absl::StatusOr<SharingSets> Share(const ScopeValues& values) {
    SharingSets sets(values.values());
    for (const std::vector<int64_t>& together : values.required_sharing()) {
      for (size_t i = 1; i < together.size(); ++i) {
        HILO_RET_CHECK(sets.Merge(together[0], together[i], /*required=*/true))
            << "values that must share memory interfere, at "
            << values.values()[together[i]].definition.instruction->name();
      }
    }
    WorkBudget budget(options_.cancellation, "compilation");
    for (const ScopeValues::CoalescingCandidate& candidate : values.coalescing_candidates()) {
      constexpr int64_t kMerge = 64;
      HILO_RETURN_IF_ERROR(budget.Spend(kMerge));
      sets.Merge(candidate.from, candidate.to);
    }
    return sets;
  }

  absl::Status AssignScope(HloComputation* computation) {
    HILO_ASSIGN_OR_RETURN(ScopeValues values,
                          ScopeValues::Create(module_, *computation, options_.loop_local_bytes, options_.cancellation));
    HILO_ASSIGN_OR_RETURN(SharingSets sets, Share(values));
    BufferAssignment::Scope scope{.computation = computation};
    for (const HloInstruction* parameter : computation->parameter_instructions()) {
      scope.parameter_leaves += LeafCount(parameter->shape());
    }
    scope.output_leaves = LeafCount(computation->root_instruction()->shape());
    CheckedDonations(*computation, values, &scope);

    // Everything that a buffer is called by: the policy decides by all of its uses.
    absl::flat_hash_map<int64_t, std::vector<LeafRef>> positions;
    auto note = [&](const HloInstruction* instruction) {
      const auto& leaves = values.ValuesOf(instruction);
      for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
        positions[sets.Find(leaves[leaf])].push_back({instruction, static_cast<int64_t>(leaf)});
      }
    };
    std::vector<const HloInstruction*> all;
    CollectInstructions(computation, values, &all);
    for (const HloInstruction* instruction : all) note(instruction);

    const int64_t count = static_cast<int64_t>(values.values().size());
    std::vector<BufferSlice> slices(count);
    std::vector<FramePiece> frame;
    std::vector<int64_t> frame_owner;
    for (int64_t root = 0; root < count; ++root) {
      if (sets.Find(root) != root) continue;
      BufferSlice& slice = slices[root];
      const Shape& shape = *values.values()[root].shape;
      slice.size = shape.IsArray() ? ShapeUtil::ByteSizeOf(shape) : 0;
      slice.buffer = root;
      slice.index = sets.fixed_index(root);
      slice.kind = sets.fixed(root);
      if (slice.kind == StorageKind::kConstant) slice.index = ConstantIndex(values, sets.Members(root));
      if (slice.size == 0 && slice.kind != StorageKind::kParameter && slice.kind != StorageKind::kOutput) {
        slice.kind = StorageKind::kNone;
        continue;
      }
      if (slice.kind != StorageKind::kNone) continue;
      if (options_.use_stack && options_.use_stack({slice.size, positions[root]})) {
        slice.kind = StorageKind::kStack;
        slice.index = scope.stack_count++;
        scope.stack_sizes.push_back(slice.size);
        continue;
      }
      slice.kind = StorageKind::kFrame;
      FramePiece piece{.size = slice.size};
      for (int64_t member : sets.Members(root)) {
        for (const Lifetime& segment : values.values()[member].Segments()) piece.lifetimes.push_back(segment);
      }
      frame.push_back(std::move(piece));
      frame_owner.push_back(root);
    }
    // Frames of callees are temporaries of the moment of the call.
    std::vector<const HloInstruction*> calls;
    for (const HloInstruction* instruction : values.order()) {
      if (instruction->opcode() != HloOpcode::kCall) continue;
      const int64_t at = 2 * values.position(instruction);
      frame.push_back(
          {.size = result_.scope(instruction->called_computation()).frame_bytes, .lifetimes = {{at, at + 2}}});
      calls.push_back(instruction);
    }
    HILO_ASSIGN_OR_RETURN(scope.frame_bytes, PackFrame(options_.alignment, options_.max_frame_bytes, &frame));
    for (size_t i = 0; i < frame_owner.size(); ++i) slices[frame_owner[i]].offset = frame[i].offset;
    for (size_t i = 0; i < calls.size(); ++i) result_.call_frames_[calls[i]] = frame[frame_owner.size() + i].offset;

    for (const HloInstruction* instruction : all) {
      std::vector<BufferSlice>& out = result_.slices_[instruction];
      for (int64_t value : values.ValuesOf(instruction)) {
        out.push_back(slices[sets.Find(value)]);
        const Shape& shape = *values.values()[value].shape;
        if (!shape.IsArray() || ShapeUtil::IsZeroElementArray(shape)) out.back().kind = StorageKind::kNone;
      }
    }
    HILO_RETURN_IF_ERROR(CheckOutputs(*computation));
    result_.scope_numbers_[computation] = result_.scopes_.size();
    result_.scopes_.push_back(std::move(scope));
    return absl::OkStatus();
  }

  // Instructions of the scope, those of loops and branches included. A schedule holds the parameters of its
  // computation.
  void CollectInstructions(const HloComputation* computation, const ScopeValues& values,
                           std::vector<const HloInstruction*>* all) {
    std::vector<const HloComputation*> work = {computation};
    while (!work.empty()) {
      const HloComputation* next = work.back();
      work.pop_back();
      for (const HloInstruction* instruction : module_.OrderOf(*next)) {
        if (values.Contains(instruction)) all->push_back(instruction);
        if (instruction->opcode() == HloOpcode::kWhile || instruction->opcode() == HloOpcode::kConditional) {
          for (const HloComputation* called : instruction->called_computations()) work.push_back(called);
        }
      }
    }
  }

  int64_t ConstantIndex(const ScopeValues& values, const std::vector<int64_t>& members) {
    for (int64_t member : members) {
      const HloValue& value = values.values()[member];
      if (value.fixed != StorageKind::kConstant) continue;
      const auto literal = value.definition.instruction->shared_literal();
      auto [it, fresh] = constant_numbers_.try_emplace(literal.get(), result_.constants_.size());
      if (fresh) result_.constants_.push_back(literal);
      return it->second;
    }
    return -1;
  }

  void CheckedDonations(const HloComputation& computation, const ScopeValues& values, BufferAssignment::Scope* scope) {
    if (!computation.IsEntry()) return;
    int64_t leaf = 0;
    for (const HloInstruction* parameter : computation.parameter_instructions()) {
      for (int64_t value : values.ValuesOf(parameter)) {
        if (values.values()[value].writable_parameter) {
          scope->donations.push_back({values.values()[value].fixed_index, leaf});
        }
        ++leaf;
      }
    }
  }

  absl::Status CheckOutputs(const HloComputation& computation) {
    const std::vector<BufferSlice>& outputs = result_.slices_.at(computation.root_instruction());
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].kind == StorageKind::kNone) continue;
      HILO_RET_CHECK(outputs[i].kind == StorageKind::kOutput && outputs[i].index == static_cast<int64_t>(i))
          << "result leaf " << i << " of " << computation.name() << " is not in its output buffer";
    }
    return absl::OkStatus();
  }

  const HloModule& module_;
  const BufferAssignmentOptions& options_;
  BufferAssignment result_;
  absl::flat_hash_map<const Literal*, int64_t> constant_numbers_;
};

absl::StatusOr<BufferAssignment> BufferAssignment::Create(const HloModule& module,
                                                          const BufferAssignmentOptions& options) {
  return BufferAssigner(module, options).Run();
}

const BufferSlice& BufferAssignment::slice(const HloInstruction* instruction, int64_t leaf) const {
  return slices_.at(instruction)[leaf];
}

const BufferSlice& BufferAssignment::slice(const HloInstruction* instruction, const ShapeIndex& index) const {
  return slice(instruction, LeafNumber(instruction->shape(), index));
}

const BufferAssignment::Scope& BufferAssignment::scope(const HloComputation* computation) const {
  return scopes_[scope_numbers_.at(computation)];
}

std::string BufferAssignment::ToString() const {
  static constexpr absl::string_view kNames[] = {"none", "parameter", "output", "constant", "stack", "frame"};
  std::string text;
  for (const Scope& scope : scopes_) {
    absl::StrAppend(&text, "scope ", scope.computation->name(), ": frame ", scope.frame_bytes, " bytes, ",
                    scope.stack_count, " locals, ", scope.parameter_leaves, " parameter leaves, ", scope.output_leaves,
                    " output leaves\n");
  }
  std::vector<const HloInstruction*> order;
  for (const auto& [instruction, slices] : slices_) order.push_back(instruction);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->unique_id() < b->unique_id(); });
  for (const HloInstruction* instruction : order) {
    const auto& slices = slices_.at(instruction);
    for (size_t leaf = 0; leaf < slices.size(); ++leaf) {
      const BufferSlice& slice = slices[leaf];
      absl::StrAppend(&text, "  ", instruction->parent()->name(), " ", instruction->name(),
                      slices.size() > 1 ? absl::StrCat(" leaf ", leaf) : "", ": ",
                      kNames[static_cast<int>(slice.kind)]);
      if (slice.kind == StorageKind::kFrame) {
        absl::StrAppend(&text, " [", slice.offset, ", ", slice.offset + slice.size, ")");
      } else if (slice.kind != StorageKind::kNone) {
        absl::StrAppend(&text, " ", slice.index, ", ", slice.size, " bytes");
      }
      absl::StrAppend(&text, "\n");
    }
  }
  return text;
}

}  // namespace hilo
