// Makes two dimensions of the minor-most one of all arrays of a loop that computes rows and then takes them as one:
//
//   f32[3000] add(x, reshape(f32[60,50] pad(y)))
//     =>  bitcast(f32[60,50] add(bitcast(x), pad(y)))
//
// A loop over the flat array divides the index of each lane by the length of a row, and gathers what it reads there;
// one over rows reads vectors. The bitcasts forward their operands' memory.
#include "hlo/passes/dimensions/row_split.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/numeric/bits.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/opcode_map.h"
#include "hlo/passes/change_shape.h"

namespace hilo {
namespace {

// Elements of the shortest rows: lanes of shorter ones are not adjacent in either loop.
constexpr int64_t kShortestRow = 8;

// Bytes of rows whose sums are as fast flat, and of those of a power of two elements. Sums of rolled rows of one thread
// (Zen 4), in rows and flat, in us: f32 of 8 13.8 and 7.8, of 32 8.5 and 5.8, of 64 6.5 and 5.4; u8 of 128 3.4 and 2.0;
// bf16 of 64 7.7 and 5.9; f64 of 8 4.6 and 2.6; with AVX2 bf16 of 17 58 and 21.5, of 31 34 and 22, s16 of 50 24 and 17.
constexpr int64_t kMaxFlatBytes = 128, kMaxFlatBytesOfPowers = 256;

// What a fusion computes in rows.
struct SplitLoop {
  int64_t row = 0;  // elements
  // Instructions of the fusion whose minor-most dimension becomes two.
  absl::flat_hash_set<const HloInstruction*> split;
};

Shape WithRows(const Shape& shape, int64_t row) {
  std::vector<int64_t> dimensions(shape.dimensions().begin(), shape.dimensions().end());
  dimensions.back() /= row;
  dimensions.push_back(row);
  return ShapeUtil::MakeShape(shape.element_type(), dimensions);
}

// Returns the different arrays that a fusion computes.
std::vector<HloInstruction*> ResultsOf(const HloInstruction& fusion) {
  HloInstruction* const root = fusion.called_computation()->root_instruction();
  if (root->opcode() != HloOpcode::kTuple) return {root};
  std::vector<HloInstruction*> results;
  for (HloInstruction* result : root->operands()) {
    if (!absl::c_linear_search(results, result)) results.push_back(result);
  }
  return results;
}

// Returns true for a reshape of computed rows of at least kShortestRow elements to longer ones.
bool CollapsesRows(const HloInstruction& x) {
  if (x.opcode() != HloOpcode::kReshape || x.shape().rank() == 0) return false;
  const HloInstruction& rows = *x.operand(0);
  if (rows.shape().rank() < 2 || !(IsElementwise(rows.opcode()) || HasTrait(rows.opcode(), kMovement))) return false;
  const int64_t row = rows.shape().dimensions().back();
  return row >= kShortestRow && row < x.shape().dimensions().back() && x.shape().dimensions().back() % row == 0;
}

// --- the ops whose minor-most dimension may become two ---

using Operands = std::optional<std::vector<const HloInstruction*>>;

// Returns the operands that are split with `x`, into rows of `row` elements; nullopt if it cannot be.
using OperandsToSplit = Operands (*)(const HloInstruction& x, int64_t row);
// Changes the attributes of `x`, which has its former shape.
using SplitAttributes = void (*)(HloInstruction* x, int64_t row);

struct SplitRule {
  OperandsToSplit operands = nullptr;    // null: elementwise, or not an op that may
  SplitAttributes attributes = nullptr;  // null: no attribute changes
};

int64_t MinorOf(const HloInstruction& x) { return x.shape().rank() - 1; }

Operands AllArrays(const HloInstruction& x, int64_t) {
  std::vector<const HloInstruction*> operands;
  for (const HloInstruction* operand : x.operands()) {
    if (operand->shape().rank() > 0) operands.push_back(operand);
  }
  return operands;
}

Operands NoOperands(const HloInstruction&, int64_t) { return std::vector<const HloInstruction*>(); }

Operands OfReshape(const HloInstruction& x, int64_t row) {
  const Shape& from = x.operand(0)->shape();
  if (from.rank() == 0) return std::nullopt;
  if (from.dimensions().back() == x.shape().dimensions().back()) return AllArrays(x, row);
  // Of other computed rows it would divide indices as before.
  if (CollapsesRows(x) && from.dimensions().back() != row) return std::nullopt;
  return NoOperands(x, row);
}

Operands OfBroadcast(const HloInstruction& x, int64_t row) {
  const std::vector<int64_t>& dimensions = x.attrs<BroadcastAttrs>().dimensions;
  if (!absl::c_linear_search(dimensions, MinorOf(x))) return NoOperands(x, row);
  if (dimensions.back() != MinorOf(x)) return std::nullopt;  // it is not the operand's minor-most dimension
  return AllArrays(x, row);
}

void SplitBroadcast(HloInstruction* x, int64_t) {
  std::vector<int64_t>& dimensions = x->mutable_attrs<BroadcastAttrs>().dimensions;
  if (!dimensions.empty() && dimensions.back() == MinorOf(*x)) dimensions.push_back(MinorOf(*x) + 1);
}

Operands OfSlice(const HloInstruction& x, int64_t row) {
  const SliceRange& range = x.attrs<SliceAttrs>().slice[MinorOf(x)];
  if (range.stride != 1 || range.start % row != 0) return std::nullopt;
  return AllArrays(x, row);
}

void SplitSlice(HloInstruction* x, int64_t row) {
  std::vector<SliceRange>& slice = x->mutable_attrs<SliceAttrs>().slice;
  slice.back().start /= row;
  slice.back().limit /= row;
  slice.push_back({.start = 0, .limit = row, .stride = 1});
}

// Of whole rows: starts that are clamped to 0.
Operands OfDynamicSlice(const HloInstruction& x, int64_t) {
  const HloInstruction* array = x.operand(0);
  if (x.shape().dimensions(MinorOf(x)) != array->shape().dimensions(MinorOf(x))) return std::nullopt;
  return std::vector<const HloInstruction*>{array};
}

void SplitDynamicSlice(HloInstruction* x, int64_t row) {
  std::vector<int64_t>& sizes = x->mutable_attrs<DynamicSliceAttrs>().dynamic_slice_sizes;
  sizes.back() /= row;
  sizes.push_back(row);
}

Operands OfDynamicUpdateSlice(const HloInstruction& x, int64_t) {
  const HloInstruction* update = x.operand(1);
  if (update->shape().dimensions(MinorOf(x)) != x.shape().dimensions(MinorOf(x))) return std::nullopt;
  return std::vector<const HloInstruction*>{x.operand(0), update};
}

// Returns true for a sum of one array along rows, which has no dimension that is split.
bool SumsRows(const HloInstruction& x) {
  return x.opcode() == HloOpcode::kReduce && x.operand_count() == 2 &&
         absl::c_linear_search(x.attrs<ReduceAttrs>().dimensions, MinorOf(*x.operand(0)));
}

Operands OfReduce(const HloInstruction& x, int64_t) {
  if (x.operand_count() != 2 || SumsRows(x)) return std::nullopt;
  return std::vector<const HloInstruction*>{x.operand(0)};
}

// No dimensions are all of them.
void SplitMap(HloInstruction* x, int64_t) { x->mutable_attrs<MapAttrs>().dimensions.clear(); }

constexpr OpcodeMap<SplitRule> kSplitRules = {
    {HloOpcode::kBroadcast, {OfBroadcast, SplitBroadcast}},
    {HloOpcode::kConcatenate, {AllArrays}},  // of pieces of whole rows, as each is split
    {HloOpcode::kDynamicSlice, {OfDynamicSlice, SplitDynamicSlice}},
    {HloOpcode::kDynamicUpdateSlice, {OfDynamicUpdateSlice}},
    {HloOpcode::kMap, {AllArrays, SplitMap}},
    {HloOpcode::kParameter, {NoOperands}},
    {HloOpcode::kReduce, {OfReduce}},
    {HloOpcode::kReshape, {OfReshape}},
    {HloOpcode::kSlice, {OfSlice, SplitSlice}},
};

Operands SplitOperands(const HloInstruction& x, int64_t row) {
  if (const OperandsToSplit operands = kSplitRules[x.opcode()].operands; operands != nullptr) return operands(x, row);
  // A bitcast-convert to another width has other dimensions.
  const bool has_same_dimensions = absl::c_all_of(x.operands(), [&](const HloInstruction* operand) {
    return operand->shape().rank() == 0 || ShapeUtil::SameDimensions(operand->shape(), x.shape());
  });
  return IsElementwise(x.opcode()) && has_same_dimensions ? AllArrays(x, row) : std::nullopt;
}

// Returns how the loop of `fusion` is split into rows of `row` elements; nullopt if it cannot be.
std::optional<SplitLoop> SplitOf(const HloInstruction& fusion, int64_t row) {
  SplitLoop loop{.row = row};
  std::vector<const HloInstruction*> work;
  const std::vector<HloInstruction*> results = ResultsOf(fusion);
  for (const HloInstruction* result : results) work.push_back(SumsRows(*result) ? result->operand(0) : result);
  while (!work.empty()) {
    const HloInstruction* x = work.back();
    work.pop_back();
    if (!x->shape().IsArray() || x->shape().rank() == 0 || x->shape().dimensions().back() % row != 0)
      return std::nullopt;
    if (!loop.split.insert(x).second) continue;
    const Operands operands = SplitOperands(*x, row);
    if (!operands.has_value()) return std::nullopt;
    work.insert(work.end(), operands->begin(), operands->end());
    // What reads a split array is split, too, but for reshapes, which read it in any shape, and the sums of rows.
    for (const HloInstruction* user : x->users()) {
      const bool is_result = user->opcode() == HloOpcode::kTuple || absl::c_linear_search(results, user);
      if (user->opcode() != HloOpcode::kReshape && !is_result) work.push_back(user);
    }
  }
  // A split array that is repeated along the rows of a broadcast has them in neither of its dimensions.
  const bool repeats_along_rows = absl::c_any_of(loop.split, [&](const HloInstruction* x) {
    return x->opcode() == HloOpcode::kBroadcast && loop.split.contains(x->operand(0)) &&
           !absl::c_linear_search(x->attrs<BroadcastAttrs>().dimensions, MinorOf(*x));
  });
  return repeats_along_rows ? std::nullopt : std::optional(std::move(loop));
}

// Returns how the loop of `kernel`, an instruction outside of fusions, is split; nullopt if it cannot or need not be.
std::optional<SplitLoop> SplitLoopOf(const HloInstruction& kernel) {
  if (kernel.opcode() != HloOpcode::kFusion) return std::nullopt;
  const FusionKind kind = kernel.attrs<FusionAttrs>().kind;
  if (kind != FusionKind::kLoop && kind != FusionKind::kInput) return std::nullopt;
  if (kernel.shape().IsTuple() && (kernel.IsRoot() || absl::c_any_of(kernel.users(), [](const HloInstruction* user) {
                                     return user->opcode() != HloOpcode::kGetTupleElement;
                                   })))
    return std::nullopt;
  for (const HloInstruction* x : kernel.called_computation()->instructions()) {
    if (!CollapsesRows(*x)) continue;
    const int64_t row = x->operand(0)->shape().dimensions().back();
    if (kind == FusionKind::kInput && SumsFlatRows(row, x->shape().element_type())) return std::nullopt;
    return SplitOf(kernel, row);
  }
  return std::nullopt;
}

// Splits the arrays within the fusion `kernel`, and its operands.
absl::Status SplitWithin(HloInstruction* kernel, const SplitLoop& loop) {
  HloComputation* const computation = kernel->parent();
  HloComputation* const fused = kernel->called_computation();
  for (const HloInstruction* result : ResultsOf(*kernel)) {
    if (loop.split.contains(result)) continue;
    // A sum of rows.
    auto& dimensions = const_cast<HloInstruction*>(result)->mutable_attrs<ReduceAttrs>().dimensions;
    dimensions.push_back(result->operand(0)->shape().rank());
  }
  for (HloInstruction* x : fused->MakePostOrder()) {
    if (loop.split.contains(x)) {
      if (const SplitAttributes split = kSplitRules[x->opcode()].attributes; split != nullptr) split(x, loop.row);
      *x->mutable_shape() = WithRows(x->shape(), loop.row);
    }
    if (x->IsParameter() && loop.split.contains(x)) {
      HloInstruction* operand = kernel->operand(x->parameter_number());
      computation->ReplaceOperand(
          kernel, x->parameter_number(),
          computation->AddInstruction(HloInstruction::Create(HloOpcode::kBitcast, x->shape(), {&operand, 1})));
    }
    const bool has_starts = x->opcode() == HloOpcode::kDynamicSlice || x->opcode() == HloOpcode::kDynamicUpdateSlice;
    if (has_starts && loop.split.contains(x)) {
      std::vector<HloInstruction*> operands(x->operands().begin(), x->operands().end());
      operands.push_back(operands.back());  // clamped to 0 as well
      HILO_RETURN_IF_ERROR(
          fused->ReplaceInstruction(x, fused->AddInstruction(x->CloneWithNewOperands(x->shape(), operands))));
      continue;
    }
    if (x->opcode() == HloOpcode::kReshape && ShapeUtil::SameDimensions(x->shape(), x->operand(0)->shape()))
      HILO_RETURN_IF_ERROR(fused->ReplaceInstruction(x, x->operand(0)));
  }
  return absl::OkStatus();
}

absl::Status SplitRowsOf(HloInstruction* kernel, const SplitLoop& loop) {
  HILO_RETURN_IF_ERROR(SplitWithin(kernel, loop));
  HloInstruction* const root = kernel->called_computation()->root_instruction();
  if (!kernel->shape().IsTuple()) {
    return ShapeUtil::SameDimensions(kernel->shape(), root->shape()) ? absl::OkStatus()
                                                                     : ChangeShape(kernel, root->shape());
  }
  Shape* const shape = root->mutable_shape();
  for (int64_t i = 0; i < root->operand_count(); ++i) *shape->mutable_tuple_shapes(i) = root->operand(i)->shape();
  *kernel->mutable_shape() = *shape;
  const std::vector<HloInstruction*> elements(kernel->users().begin(), kernel->users().end());
  for (HloInstruction* element : elements) {
    const Shape& to = shape->tuple_shapes(element->tuple_index());
    if (!ShapeUtil::SameDimensions(element->shape(), to)) HILO_RETURN_IF_ERROR(ChangeShape(element, to));
  }
  return absl::OkStatus();
}

class RowSplit : public HloPass {
 public:
  absl::string_view name() const override { return "split-rows"; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    bool changed = false;
    for (HloComputation* computation : module->computations()) {
      if (computation->IsFusion()) continue;
      for (HloInstruction* instruction : computation->MakePostOrder()) {
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        if (instruction->HasControlDependencies()) continue;
        const std::optional<SplitLoop> loop = SplitLoopOf(*instruction);
        if (!loop.has_value()) continue;
        HILO_RETURN_IF_ERROR(SplitRowsOf(instruction, *loop));
        changed = true;
      }
    }
    return changed;
  }
};

}  // namespace

bool SumsFlatRows(int64_t row, PrimitiveType type) {
  const bool is_power = absl::has_single_bit(static_cast<uint64_t>(row));
  return row * PrimitiveTypeByteSize(type) <= (is_power ? kMaxFlatBytesOfPowers : kMaxFlatBytes);
}

std::unique_ptr<HloPass> MakeRowSplit() { return std::make_unique<RowSplit>(); }

}  // namespace hilo
