// Makes one dimension of the two minor-most ones of all arrays of a loop that moves short rows whole:
//
//   pad(u8[90,80,3] x), padding=2_2x1_1x0_0
//     =>  bitcast(u8[94,246] pad(u8[90,240] bitcast(x)), padding=2_2x3_3)
//
// The bitcasts forward their operands' memory. Rows of three elements are two vectors of two, or shuffles of columns;
// those of a whole line of an image are full vectors.
#include "hlo/passes/dimensions/row_merge.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/opcode_map.h"
#include "hlo/passes/change_shape.h"

namespace hilo {
namespace {

// Elements of the longest rows that are merged: longer ones are whole vectors already.
constexpr int64_t kLongestRow = 16;
// Smaller arrays may be in registers.
constexpr int64_t kMinMergedElements = 128;
// Operands of concatenations, and paddings: a kernel has a loop for each part of a row that has a source of its own,
// up to some number of them.
constexpr int64_t kMaxSources = 8;

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

// --- the ops that may move rows whole: dimension `major` has the rows, the next one their elements ---

// Returns whether the op does so. Those of several operands have rows in all that are arrays.
using MovesRows = bool (*)(const HloInstruction& x, int64_t major);
// Changes the attributes of an op whose rows of `row` elements have become one with the dimension `major`.
using Merge = void (*)(HloInstruction* x, int64_t major, int64_t row);

struct RowRule {
  MovesRows moves_rows = nullptr;  // null: elementwise, or not an op that may
  Merge merge = nullptr;           // null: no attribute changes
};

bool IotaMovesRows(const HloInstruction& x, int64_t major) { return x.attrs<IotaAttrs>().iota_dimension < major; }

bool ConcatenateMovesRows(const HloInstruction& x, int64_t major) {
  return x.attrs<ConcatenateAttrs>().dimensions[0] <= major;
}

// Returns true if `padding` rows of `row` elements are at most 2^60 elements, as much as a padding may have.
bool IsInReach(int64_t padding, int64_t row) {
  const int64_t most = (int64_t{1} << 60) / std::max<int64_t>(row, 1);
  return padding <= most && padding >= -most;
}

bool PadMovesRows(const HloInstruction& x, int64_t major) {
  const auto& padding = x.attrs<PadAttrs>().padding.dimensions;
  const auto& row = padding[major + 1];
  const int64_t size = x.shape().dimensions(major + 1);
  return row.edge_padding_low == 0 && row.edge_padding_high == 0 && row.interior_padding == 0 &&
         padding[major].interior_padding == 0 && IsInReach(padding[major].edge_padding_low, size) &&
         IsInReach(padding[major].edge_padding_high, size);
}

void MergePad(HloInstruction* x, int64_t, int64_t row) {
  auto& padding = x->mutable_attrs<PadAttrs>().padding.dimensions;
  padding.pop_back();
  padding.back().edge_padding_low *= row;
  padding.back().edge_padding_high *= row;
}

bool ReverseMovesRows(const HloInstruction& x, int64_t major) {
  const auto& dims = x.attrs<ReverseAttrs>().dimensions;
  return absl::c_linear_search(dims, major + 1) == absl::c_linear_search(dims, major);
}

void MergeReverse(HloInstruction* x, int64_t major, int64_t) {
  std::erase(x->mutable_attrs<ReverseAttrs>().dimensions, major + 1);
}

bool SliceMovesRows(const HloInstruction& x, int64_t major) {
  return x.shape().dimensions(major + 1) == x.operand(0)->shape().dimensions(major + 1) &&
         x.attrs<SliceAttrs>().slice[major].stride == 1;
}

void MergeSlice(HloInstruction* x, int64_t, int64_t row) {
  auto& slice = x->mutable_attrs<SliceAttrs>().slice;
  slice.pop_back();
  slice.back().start *= row;
  slice.back().limit *= row;
}

bool TransposeMovesRows(const HloInstruction& x, int64_t major) {
  const auto& permutation = x.attrs<TransposeAttrs>().dimensions;
  return permutation[major] == major && permutation[major + 1] == major + 1;
}

void MergeTranspose(HloInstruction* x, int64_t, int64_t) { x->mutable_attrs<TransposeAttrs>().dimensions.pop_back(); }

// Returns true if a broadcast repeats its operand in each element of the rows.
bool HasNoRows(const HloInstruction& broadcast, int64_t major) {
  return absl::c_none_of(broadcast.attrs<BroadcastAttrs>().dimensions, [&](int64_t d) { return d >= major; });
}

bool BroadcastMovesRows(const HloInstruction& x, int64_t major) {
  const auto& dims = x.attrs<BroadcastAttrs>().dimensions;
  const auto count = std::ssize(dims);
  return HasNoRows(x, major) || (count >= 2 && dims[count - 2] == major && dims[count - 1] == major + 1 &&
                                 std::none_of(dims.begin(), dims.end() - 2, [&](int64_t d) { return d >= major; }));
}

void MergeBroadcast(HloInstruction* x, int64_t major, int64_t) {
  std::erase(x->mutable_attrs<BroadcastAttrs>().dimensions, major + 1);
}

// No dimensions are all of them.
void MergeMap(HloInstruction* x, int64_t, int64_t) { x->mutable_attrs<MapAttrs>().dimensions.clear(); }

constexpr OpcodeMap<RowRule> kRowRules = {
    {HloOpcode::kBroadcast, {BroadcastMovesRows, MergeBroadcast}},
    {HloOpcode::kConcatenate, {ConcatenateMovesRows}},
    {HloOpcode::kIota, {IotaMovesRows}},
    {HloOpcode::kMap, {nullptr, MergeMap}},
    {HloOpcode::kPad, {PadMovesRows, MergePad}},
    {HloOpcode::kReverse, {ReverseMovesRows, MergeReverse}},
    {HloOpcode::kSlice, {SliceMovesRows, MergeSlice}},
    {HloOpcode::kTranspose, {TransposeMovesRows, MergeTranspose}},
};

// Returns which operands of `x` have its rows, if it moves these whole: true for each that does, false for those that
// have neither of the two dimensions.
std::optional<std::vector<bool>> OperandsWithRows(const HloInstruction& x) {
  const int64_t major = x.shape().rank() - 2;
  std::vector<bool> has_rows;
  for (const HloInstruction* operand : x.operands()) {
    has_rows.push_back(operand->shape().rank() > 0);
    if (IsElementwise(x.opcode()) && has_rows.back() && !ShapeUtil::SameDimensions(operand->shape(), x.shape()))
      return std::nullopt;
  }
  if (IsElementwise(x.opcode())) return has_rows;
  const MovesRows moves_rows = kRowRules[x.opcode()].moves_rows;
  if (moves_rows == nullptr || !moves_rows(x, major)) return std::nullopt;
  if (x.opcode() == HloOpcode::kBroadcast && HasNoRows(x, major)) return std::vector<bool>{false};
  return has_rows;
}

void MergeAttributes(HloInstruction* x, int64_t major, int64_t row) {
  if (const Merge merge = kRowRules[x->opcode()].merge; merge != nullptr) merge(x, major, row);
}

bool IsShortRow(const Shape& shape, int64_t row) { return shape.rank() >= 2 && shape.dimensions().back() == row; }

// Returns what the loop of `kernel`, an instruction outside of fusions, merges; nullopt if it cannot or need not.
std::optional<MergedLoop> MergedLoopOf(const HloInstruction& kernel) {
  const bool is_fusion = kernel.opcode() == HloOpcode::kFusion;
  if (is_fusion && kernel.attrs<FusionAttrs>().kind != FusionKind::kLoop) return std::nullopt;
  if (!kernel.shape().IsArray() || kernel.shape().rank() < 2 ||
      ShapeUtil::ElementsIn(kernel.shape()) < kMinMergedElements)
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
  if (!loop.moves || loop.sources > kMaxSources) return std::nullopt;
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
  return ChangeShape(kernel, WithMergedRows(shape));
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
