// Makes one dimension of the two minor-most ones of all arrays of a loop that moves short rows whole:
//
//   pad(u8[90,80,3] x), padding=2_2x1_1x0_0
//     =>  bitcast(u8[94,246] pad(u8[90,240] bitcast(x)), padding=2_2x3_3)
//
// The bitcasts forward their operands' memory. Rows of three elements are two vectors of two, or shuffles of columns;
// those of a whole line of an image are full vectors.
#include "hlo/passes/row_merge.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {
namespace {

// Elements of the longest rows that are merged: longer ones are whole vectors already.
constexpr int64_t kLongestRow = 16;
// Smaller arrays may be in registers.
constexpr int64_t kLeastElements = 128;
// Operands of concatenations, and paddings: a kernel has a loop for each part of a row that has a source of its own,
// up to some number of them.
constexpr int64_t kMostSources = 8;

// What a kernel's root reads, if all rows of it can be merged.
struct MergedLoop {
  // Arrays of short rows, the root among them; the others of the kernel have neither of the two dimensions.
  absl::flat_hash_set<const HloInstruction*> merged;
  bool moves = false;  // other than by elementwise operations, whose loops have one index anyway
  int64_t sources = 0;
};

Shape WithMergedRows(const Shape& shape) {
  std::vector<int64_t> dimensions(shape.dimensions().begin(), shape.dimensions().end());
  const int64_t row = dimensions.back();
  dimensions.pop_back();
  dimensions.back() *= row;
  return ShapeUtil::MakeShape(shape.element_type(), dimensions);
}

// Returns which operands of `x` have its rows, if it moves these whole: 1 for each that does, 0 for those that have
// neither of the two dimensions.
std::optional<std::vector<bool>> OperandsWithRows(const HloInstruction& x) {
  const int64_t minor = x.shape().rank() - 1, major = minor - 1;
  std::vector<bool> all(x.operand_count());
  for (int64_t i = 0; i < x.operand_count(); ++i) all[i] = x.operand(i)->shape().rank() > 0;
  const auto all_if = [&](bool legal) { return legal ? std::optional(all) : std::nullopt; };
  if (IsElementwise(x.opcode())) {
    for (const HloInstruction* operand : x.operands())
      if (operand->shape().rank() > 0 && !ShapeUtil::SameDimensions(operand->shape(), x.shape())) return std::nullopt;
    return all;
  }
  switch (x.opcode()) {
    case HloOpcode::kIota: return all_if(x.attrs<IotaAttrs>().iota_dimension < major);
    case HloOpcode::kConcatenate: return all_if(x.attrs<ConcatenateAttrs>().dimensions[0] != minor);
    case HloOpcode::kPad: {
      const auto& padding = x.attrs<PadAttrs>().padding.dimensions;
      const auto& row = padding[minor];
      return all_if(row.edge_padding_low == 0 && row.edge_padding_high == 0 && row.interior_padding == 0 &&
                    padding[major].interior_padding == 0);
    }
    case HloOpcode::kReverse: {
      const auto& dims = x.attrs<ReverseAttrs>().dimensions;
      return all_if(absl::c_linear_search(dims, minor) == absl::c_linear_search(dims, major));
    }
    case HloOpcode::kSlice: {
      const auto& slice = x.attrs<SliceAttrs>().slice;
      return all_if(x.shape().dimensions(minor) == x.operand(0)->shape().dimensions(minor) && slice[major].stride == 1);
    }
    case HloOpcode::kTranspose: {
      const auto& permutation = x.attrs<TransposeAttrs>().dimensions;
      return all_if(permutation[minor] == minor && permutation[major] == major);
    }
    case HloOpcode::kBroadcast: {
      const auto& dims = x.attrs<BroadcastAttrs>().dimensions;
      const auto is_row = [&](int64_t d) { return d >= major; };
      if (absl::c_none_of(dims, is_row)) return std::vector<bool>{false};
      const auto count = std::ssize(dims);
      return all_if(count >= 2 && dims[count - 2] == major && dims[count - 1] == minor &&
                    std::none_of(dims.begin(), dims.end() - 2, is_row));
    }
    default: return std::nullopt;
  }
}

// Changes the attributes of an instruction whose rows of `row` elements have been merged with the dimension `major`.
void MergeAttributes(HloInstruction* x, int64_t major, int64_t row) {
  const int64_t minor = major + 1;
  switch (x->opcode()) {
    case HloOpcode::kPad: {
      auto& padding = x->mutable_attrs<PadAttrs>().padding.dimensions;
      padding.pop_back();
      padding.back().edge_padding_low *= row;
      padding.back().edge_padding_high *= row;
      return;
    }
    case HloOpcode::kReverse: {
      auto& dims = x->mutable_attrs<ReverseAttrs>().dimensions;
      dims.erase(std::remove(dims.begin(), dims.end(), minor), dims.end());
      return;
    }
    case HloOpcode::kSlice: {
      auto& slice = x->mutable_attrs<SliceAttrs>().slice;
      slice.pop_back();
      slice.back().start *= row;
      slice.back().limit *= row;
      return;
    }
    case HloOpcode::kTranspose: x->mutable_attrs<TransposeAttrs>().dimensions.pop_back(); return;
    case HloOpcode::kMap: x->mutable_attrs<MapAttrs>().dimensions.clear(); return;  // which means all
    case HloOpcode::kBroadcast: {
      auto& dims = x->mutable_attrs<BroadcastAttrs>().dimensions;
      dims.erase(std::remove(dims.begin(), dims.end(), minor), dims.end());
      return;
    }
    default: return;
  }
}

bool IsShortRow(const Shape& shape, int64_t row) { return shape.rank() >= 2 && shape.dimensions().back() == row; }

// Returns what the loop of `kernel`, an instruction outside of fusions, merges; nullopt if it cannot or need not.
std::optional<MergedLoop> MergedLoopOf(const HloInstruction& kernel) {
  const bool is_fusion = kernel.opcode() == HloOpcode::kFusion;
  if (is_fusion && kernel.attrs<FusionAttrs>().kind != FusionKind::kLoop) return std::nullopt;
  if (!kernel.shape().IsArray() || kernel.shape().rank() < 2 || ShapeUtil::ElementsIn(kernel.shape()) < kLeastElements)
    return std::nullopt;
  const int64_t row = kernel.shape().dimensions().back();
  if (row < 2 || row > kLongestRow) return std::nullopt;
  const HloInstruction* root = is_fusion ? kernel.called_computation()->root_instruction() : &kernel;
  MergedLoop loop;
  std::vector<const HloInstruction*> work = {root};
  absl::flat_hash_set<const HloInstruction*> without_rows;
  while (!work.empty()) {
    const HloInstruction* x = work.back();
    work.pop_back();
    if (!loop.merged.insert(x).second) continue;
    if (!x->shape().IsArray() || !IsShortRow(x->shape(), row)) return std::nullopt;
    if (x->IsParameter() || (!is_fusion && x != root)) continue;
    const std::optional<std::vector<bool>> has_rows = OperandsWithRows(*x);
    if (!has_rows) return std::nullopt;
    loop.moves |= !IsElementwise(x->opcode()) && x->opcode() != HloOpcode::kBroadcast;
    if (x->opcode() == HloOpcode::kConcatenate) loop.sources += x->operand_count();
    if (x->opcode() == HloOpcode::kPad) loop.sources += 2;
    for (int64_t i = 0; i < x->operand_count(); ++i) {
      if ((*has_rows)[i]) {
        work.push_back(x->operand(i));
      } else {
        without_rows.insert(x->operand(i));
      }
    }
  }
  // What has the rows in one expression may be a table of values in another.
  std::vector<const HloInstruction*> behind(without_rows.begin(), without_rows.end());
  while (!behind.empty()) {
    const HloInstruction* x = behind.back();
    behind.pop_back();
    if (loop.merged.contains(x)) return std::nullopt;
    if (!is_fusion) continue;
    for (const HloInstruction* operand : x->operands())
      if (without_rows.insert(operand).second) behind.push_back(operand);
  }
  if (!loop.moves || loop.sources > kMostSources) return std::nullopt;
  return loop;
}

absl::Status MergeRowsOf(HloInstruction* kernel, const MergedLoop& loop) {
  HloComputation* const computation = kernel->parent();
  const bool is_fusion = kernel->opcode() == HloOpcode::kFusion;
  const Shape shape = kernel->shape();
  const int64_t row = shape.dimensions().back();
  for (int64_t i = 0; i < kernel->operand_count(); ++i) {
    HloInstruction* const operand = kernel->mutable_operand(i);
    if (!loop.merged.contains(is_fusion ? kernel->called_computation()->parameter_instruction(i) : operand)) continue;
    computation->ReplaceOperand(kernel, i,
                                computation->AddInstruction(HloInstruction::Create(
                                    HloOpcode::kBitcast, WithMergedRows(operand->shape()), {&operand, 1})));
  }
  if (is_fusion) {
    for (HloInstruction* member : kernel->called_computation()->MakePostOrder()) {
      if (!loop.merged.contains(member)) continue;
      MergeAttributes(member, member->shape().rank() - 2, row);
      *member->mutable_shape() = WithMergedRows(member->shape());
    }
  } else {
    MergeAttributes(kernel, shape.rank() - 2, row);
  }
  HloInstruction* const result = computation->AddInstruction(
      HloInstruction::Create(HloOpcode::kBitcast, shape, std::vector<HloInstruction*>{kernel}));
  HILO_RETURN_IF_ERROR(computation->ReplaceAllUsesWith(kernel, result));
  computation->ReplaceOperand(result, 0, kernel);
  *kernel->mutable_shape() = WithMergedRows(shape);
  return absl::OkStatus();
}

class RowMerge : public HloPass {
 public:
  absl::string_view name() const override { return "merge-rows"; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    bool changed = false;
    for (HloComputation* computation : module->computations()) {
      if (computation->IsFusion()) continue;
      for (HloInstruction* instruction : computation->MakePostOrder()) {
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        if (instruction->HasControlDependencies()) continue;
        const std::optional<MergedLoop> loop = MergedLoopOf(*instruction);
        if (!loop) continue;
        HILO_RETURN_IF_ERROR(MergeRowsOf(instruction, *loop));
        changed = true;
      }
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<HloPass> MakeRowMerge() { return std::make_unique<RowMerge>(); }

}  // namespace hilo
