// Reductions of rows that are shorter than some vectors, over leading dimensions, of several rows at a time:
//
//   reduce(f32[8000,3] x), to f32[3]  =>  reduce(f32[40,3] reduce(f32[200,120] x, dimensions={0}), dimensions={0})
//   reduce(f32[8000,3] x), to a scalar  =>  reduce(f32[24000] x, dimensions={0})
//
// Element-wise operations that compute x alone, or that each loop computes anew, are applied to the longer rows.
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/make_instruction.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

// Bytes of rows that are short, and of those that several of them become at most. Measured on one thread with 16 lanes
// of f32, in us: the maximum of 16384 rows of 10 34.4 -> 4.9, the product of as many rows of 5 11.7 -> 1.9, sums of
// 16384 rows of 2 6.9 -> 0.9, of 100000 rows of 30 75 -> 60.
constexpr int64_t kShortRowBytes = 128, kFoldedRowBytes = 512;
// Folded rows at least. So few that the reduction of them becomes a part of the next one pay only if rows are vectors.
constexpr int64_t kMinRows = 8, kMinUnalignedRows = 16;
// Rows of multiples of these bytes are vectors.
constexpr int64_t kVectorBytes = 32;
// Element-wise operations that are applied to other rows.
constexpr size_t kMaxOperations = 16;

// Arrays of `rows` x `columns` elements, and the same of `rows` / `group` x `group` * `columns`.
struct Fold {
  int64_t rows, columns, group;

  std::vector<int64_t> sizes() const {
    return columns == 1 ? std::vector<int64_t>{rows} : std::vector<int64_t>{rows / group, group * columns};
  }
};

// Returns how a reduction over all leading dimensions is folded, if it is.
std::optional<Fold> FoldOf(const HloInstruction& reduce) {
  const Shape& x = reduce.operand(0)->shape();
  const auto& dimensions = reduce.attrs<ReduceAttrs>().dimensions;
  const auto reduced = static_cast<int64_t>(dimensions.size());
  for (int64_t d = 0; d < reduced; ++d) {
    if (!absl::c_linear_search(dimensions, d)) return std::nullopt;
  }
  Fold fold{.rows = 1, .columns = ShapeUtil::ElementsIn(reduce.shape()), .group = 0};
  for (int64_t d = 0; d < reduced; ++d) fold.rows *= x.dimensions(d);
  const int64_t size = PrimitiveTypeByteSize(x.element_type()), minor = x.rank() == 0 ? 1 : x.dimensions().back();
  if (fold.columns == 1) {
    // Long rows are as fast as one, and as many parts for threads.
    if (reduced < 2 || fold.rows < kMinRows || minor * size > kShortRowBytes) return std::nullopt;
    return fold;
  }
  if (fold.columns < 1 || fold.columns * size > kShortRowBytes) return std::nullopt;
  const int64_t least = fold.columns * size % kVectorBytes == 0 ? kMinRows : kMinUnalignedRows;
  for (fold.group = kFoldedRowBytes / size / fold.columns; fold.group > 1; --fold.group) {
    if (fold.rows % fold.group == 0 && fold.rows / fold.group >= least) return fold;
  }
  return std::nullopt;
}

// Computes arrays with other rows.
class Folder {
 public:
  explicit Folder(const Fold& fold) : fold_(fold) {}

  // Returns null if too much or something else than element-wise operations would have to be computed.
  absl::StatusOr<HloInstruction*> Folded(HloInstruction* x) {
    std::vector<HloInstruction*> read;
    (IsFoldable(*x, x) && (x->users().size() == 1 || IsCopied(*x)) ? folded_ : read).push_back(x);
    absl::flat_hash_map<const HloInstruction*, size_t> folded_users;
    for (size_t i = 0; i < folded_.size(); ++i) {
      absl::flat_hash_set<const HloInstruction*> seen;
      for (HloInstruction* operand : folded_[i]->operands()) {
        if (!seen.insert(operand).second || absl::c_linear_search(folded_, operand)) continue;
        const size_t users = ++folded_users[operand];
        if (users == 1) read.push_back(operand);
        if ((users == operand->users().size() || IsCopied(*operand)) && IsFoldable(*operand, x)) {
          folded_.push_back(operand);
          std::erase(read, operand);
        }
      }
      if (folded_.size() + read.size() > kMaxOperations) return nullptr;
    }
    for (HloInstruction* leaf : read) {
      HILO_ASSIGN_OR_RETURN(made_[leaf], Leaf(leaf));
      if (made_[leaf] == nullptr) return nullptr;
    }
    return WithRows(x);
  }

 private:
  static bool IsFoldable(const HloInstruction& i, const HloInstruction* x) {
    // The dimensions of a map are attributes of it.
    return IsElementwise(i.opcode()) && i.opcode() != HloOpcode::kMap && i.operand_count() > 0 && i.shape().IsArray() &&
           ShapeUtil::SameDimensions(i.shape(), x->shape());
  }

  Shape ShapeOf(PrimitiveType type) const { return ShapeUtil::MakeShape(type, fold_.sizes()); }

  // Calls itself for the operands: no deeper than there are folded operations.
  HloInstruction* WithRows(const HloInstruction* i) {
    if (const auto it = made_.find(i); it != made_.end()) return it->second;
    std::vector<HloInstruction*> operands;
    for (const HloInstruction* operand : i->operands()) operands.push_back(WithRows(operand));
    const Shape shape = ShapeOf(i->shape().element_type());
    return made_[i] = i->parent()->AddInstruction(i->CloneWithNewOperands(shape, operands));
  }

  absl::StatusOr<HloInstruction*> Leaf(HloInstruction* leaf) {
    const Shape shape = ShapeOf(leaf->shape().element_type());
    if (leaf->shape().rank() == 0) return leaf;  // of a select or clamp
    if (leaf->opcode() != HloOpcode::kBroadcast) return IsInMemory(*leaf) ? MakeReshape(leaf, shape) : nullptr;
    // A number, or a row that all rows repeat.
    HloInstruction* const value = leaf->operand(0);
    if (ShapeUtil::ElementsIn(value->shape()) == 1 && value->shape().rank() == 0)
      return MakeBroadcast(value, shape, {});
    const auto& dimensions = leaf->attrs<BroadcastAttrs>().dimensions;
    if (fold_.columns == 1 || dimensions != std::vector<int64_t>{leaf->shape().rank() - 1} ||
        value->shape().dimensions(0) != fold_.columns)
      return nullptr;
    HILO_ASSIGN_OR_RETURN(
        HloInstruction* const rows,
        MakeBroadcast(value, ShapeUtil::MakeShape(shape.element_type(), {fold_.group, fold_.columns}), {1}));
    HILO_ASSIGN_OR_RETURN(HloInstruction* const row,
                          MakeReshape(rows, ShapeUtil::MakeShape(shape.element_type(), {fold_.group * fold_.columns})));
    return MakeBroadcast(row, shape, {1});
  }

  // Whether fusion computes `i` in each loop that reads it. There it would be read behind a reshape, not in lanes.
  static bool IsCopied(const HloInstruction& i) {
    return i.users().size() > 1 && i.users().size() <= kMaxCopies && !IsExpensiveToRepeat(i);
  }

  // Whether the array is in memory before the reduction, whatever is fused.
  static bool IsInMemory(const HloInstruction& i) {
    if (i.opcode() == HloOpcode::kReshape && IsInMemory(*i.operand(0))) return true;
    return i.IsParameter() || i.opcode() == HloOpcode::kGetTupleElement || (i.users().size() > 1 && !IsCopied(i));
  }

  const Fold fold_;
  std::vector<HloInstruction*> folded_;
  absl::flat_hash_map<const HloInstruction*, HloInstruction*> made_;
};

// Returns the result of the folded reduction, or null.
absl::StatusOr<HloInstruction*> Folded(HloInstruction* reduce) {
  if (reduce->operand_count() != 2 || !MayReorder(*reduce, /*strict=*/false)) return nullptr;
  const PrimitiveType type = reduce->shape().element_type();
  const std::optional<HloOpcode> opcode = ReductionOp(*reduce->called_computation());
  if (!opcode.has_value() || PrimitiveTypeBitWidth(type) < 32) return nullptr;
  const std::optional<Literal> identity = IdentityOf(*opcode, type);
  const std::optional<Fold> fold = FoldOf(*reduce);
  if (!identity.has_value() || !fold.has_value()) return nullptr;
  HILO_ASSIGN_OR_RETURN(HloInstruction* const x, Folder(*fold).Folded(reduce->operand(0)));
  if (x == nullptr) return nullptr;
  HloComputation* const step = reduce->called_computation();
  if (fold->columns == 1) return MakeReduce(x, reduce->operand(1), {0}, step);
  HILO_ASSIGN_OR_RETURN(HloInstruction* const sums,
                        MakeReduce(x, reduce->parent()->AddConstant(identity->Clone()), {0}, step));
  HILO_ASSIGN_OR_RETURN(HloInstruction* const rows,
                        MakeReshape(sums, ShapeUtil::MakeShape(type, {fold->group, fold->columns})));
  return MakeReduce(rows, reduce->operand(1), {0}, step);
}

class ReductionFold : public HloPass {
 public:
  absl::string_view name() const override { return "fold-reductions"; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    bool changed = false;
    for (HloComputation* computation : module->computations()) {
      if (computation->IsFusion()) continue;
      for (HloInstruction* reduce : computation->MakePostOrder()) {
        if (reduce->opcode() != HloOpcode::kReduce) continue;
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        HILO_ASSIGN_OR_RETURN(HloInstruction * folded, Folded(reduce));
        if (folded == nullptr) continue;
        if (!ShapeUtil::Compatible(folded->shape(), reduce->shape())) {
          HILO_ASSIGN_OR_RETURN(folded, MakeReshape(folded, reduce->shape()));
        }
        HILO_RETURN_IF_ERROR(computation->ReplaceInstruction(reduce, folded));
        changed = true;
      }
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<HloPass> MakeReductionFold() { return std::make_unique<ReductionFold>(); }

}  // namespace hilo
