#include "backends/gpu/collectives/overlap_scheduler.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "hilo/shape.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/table/hlo_opcode.h"

namespace hilo::gpu {
namespace {

using Order = std::vector<HloInstruction*>;

bool IsCollective(const HloInstruction& instruction) { return HasTrait(instruction.opcode(), kCollective); }

// Instructions that are not moved: they write in place, or run other computations, and readers of their operands should
// not come after them.
bool IsFence(const HloInstruction& instruction) {
  const HloOpcode opcode = instruction.opcode() == HloOpcode::kFusion
                               ? instruction.called_computation()->root_instruction()->opcode()
                               : instruction.opcode();
  return opcode == HloOpcode::kDynamicUpdateSlice || opcode == HloOpcode::kScatter || HasTrait(opcode, kControlFlow);
}

int64_t BytesOf(const Shape& shape) {
  int64_t bytes = 0;
  for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(shape)) {
    if (leaf.shape->IsArray()) bytes += ShapeUtil::ByteSizeOf(*leaf.shape);
  }
  return bytes;
}

// Moves collectives directly after the last instruction that they need, in their original order.
Order Hoisted(const Order& order) {
  absl::flat_hash_map<const HloInstruction*, size_t> position;
  for (size_t i = 0; i < order.size(); ++i) position[order[i]] = i;
  std::vector<std::vector<HloInstruction*>> after(order.size());    // collectives by the position that they follow
  absl::flat_hash_map<const HloInstruction*, size_t> new_position;  // of collectives: the position that they follow
  size_t earliest = 0;
  Order rest;
  for (HloInstruction* instruction : order) {
    if (!IsCollective(*instruction)) continue;
    auto at = [&](const HloInstruction* needed) {
      const auto moved = new_position.find(needed);
      return moved != new_position.end() ? moved->second : position[needed];
    };
    for (const HloInstruction* operand : instruction->operands()) earliest = std::max(earliest, at(operand));
    for (const HloInstruction* before : instruction->control_predecessors()) earliest = std::max(earliest, at(before));
    new_position[instruction] = earliest;
    after[earliest].push_back(instruction);
  }
  Order hoisted;
  for (size_t i = 0; i < order.size(); ++i) {
    if (!IsCollective(*order[i])) hoisted.push_back(order[i]);
    hoisted.insert(hoisted.end(), after[i].begin(), after[i].end());
  }
  return hoisted;
}

class Deferral {
 public:
  explicit Deferral(const OverlapOptions& options) : options_(options) {}

  Order Apply(const Order& order) {
    for (HloInstruction* instruction : order) {
      if (IsFence(*instruction)) FlushAll();
      if (MustWait(*instruction)) {
        Defer(instruction);
        if (static_cast<int64_t>(deferred_.size()) > options_.max_deferred) FlushAll();
      } else {
        Emit(instruction);
      }
    }
    FlushAll();
    return std::move(result_);
  }

 private:
  bool MustWait(const HloInstruction& instruction) const {
    auto waits = [&](const HloInstruction* needed) {
      return in_flight_.contains(needed) || is_deferred_.contains(needed);
    };
    return std::any_of(instruction.operands().begin(), instruction.operands().end(), waits) ||
           std::any_of(instruction.control_predecessors().begin(), instruction.control_predecessors().end(), waits);
  }
  void Defer(HloInstruction* instruction) {
    deferred_.push_back(instruction);
    is_deferred_.insert(instruction);
  }
  void Emit(HloInstruction* instruction) {
    result_.push_back(instruction);
    if (IsCollective(*instruction)) {
      in_flight_[instruction] =
          static_cast<double>(std::max(options_.min_bytes, options_.bytes_per_byte * BytesOf(instruction->shape())));
      return;
    }
    if (in_flight_.empty()) return;
    const double cost = WorkOf(*instruction).bytes();
    if (cost == 0) return;  // it only forwards values
    bool any_done = false;
    for (auto it = in_flight_.begin(); it != in_flight_.end();) {
      it->second -= cost;
      const auto here = it++;
      if (here->second > 0) continue;
      in_flight_.erase(here);
      any_done = true;
    }
    if (any_done) Flush();
  }
  void FlushAll() {
    do {
      in_flight_.clear();
      Flush();
    } while (!deferred_.empty());
    in_flight_.clear();
  }
  // Emits what need not wait any longer.
  void Flush() {
    if (is_flushing_) return;
    is_flushing_ = true;
    const Order waiting = std::exchange(deferred_, {});
    is_deferred_.clear();
    for (HloInstruction* instruction : waiting) {
      if (MustWait(*instruction)) {
        Defer(instruction);
      } else {
        Emit(instruction);
      }
    }
    is_flushing_ = false;
  }

  const OverlapOptions options_;
  Order result_, deferred_;
  absl::flat_hash_set<const HloInstruction*> is_deferred_;
  absl::flat_hash_map<const HloInstruction*, double> in_flight_;  // the bytes still needed to hide them
  bool is_flushing_ = false;
};

}  // namespace

void OverlapCollectives(HloModule* module, const OverlapOptions& options) {
  for (auto& [computation, order] : module->schedule()) {
    if (std::none_of(order.begin(), order.end(),
                     [](const HloInstruction* instruction) { return IsCollective(*instruction); }))
      continue;
    order = Deferral(options).Apply(Hoisted(order));
  }
}

}  // namespace hilo::gpu
