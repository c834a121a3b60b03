// Rows with single elements behind a long part, which are reduced along the row, as in attention whose scores have a
// sink: a logit of each row that takes its part of the softmax, and has no value. What is computed of the single
// elements is computed apart, so that the long part is used where it is:
//
//   x = f32[8,2049] concatenate(a, b)                       m = f32[8] maximum(reduce-max(a), c), c = reshape(b)
//   m = f32[8] reduce-max(x)
//   e = f32[8,2049] exponential(x - broadcast(m))      =>   e = f32[8,2048] exponential(a - broadcast(m))
//   s = f32[8] reduce-add(e)                                s = f32[8] add(reduce-add(e), exponential(c - m))
//   p = f32[8,2048] slice(e / broadcast(s))                 p = f32[8,2048] e / broadcast(s)
//
// The sums are in another order.
#include "hlo/passes/dimensions/concatenation_separation.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/opcode_map.h"
#include "hlo/passes/make_instruction.h"

namespace hilo {
namespace {

// A part of so many elements is long. More single elements than that would better be rows of their own.
constexpr int64_t kMinLong = 32;
constexpr int64_t kMaxSingles = 4;
constexpr size_t kMaxRowMembers = 64;

using Positions = absl::flat_hash_map<const HloInstruction*, size_t>;

// A concatenation of a long part and single elements, and what depends on it element by element.
class SeparatedRows {
 public:
  explicit SeparatedRows(HloInstruction* concatenate)
      : whole_(*concatenate), dimension_(concatenate->attrs<ConcatenateAttrs>().dimensions[0]), order_{concatenate} {
    members_.emplace(concatenate, Parts(concatenate->operands().begin(), concatenate->operands().end()));
  }

  // Returns true if rows are reduced, and nothing needs a row in one array. `positions`: of the instructions, in an
  // order of computation; what is not there, as it is new, is left alone.
  bool Collect(const Positions& positions) {
    if (!HasOneLongPart()) return false;
    bool is_reduced = false;
    for (size_t i = 0; i < order_.size(); ++i) {
      if (order_.size() > kMaxRowMembers) return false;
      HloInstruction* member = order_[i];
      if (member->IsRoot() || !member->control_successors().empty() || !member->control_predecessors().empty())
        return false;
      for (HloInstruction* user : member->users()) {
        if (!positions.contains(user)) return false;
        if (IsMember(*user)) {
          if (members_.emplace(user, Parts()).second) order_.push_back(user);
          continue;
        }
        is_reduced |= IsReduction(*user);
        if (!IsReduction(*user) && !IsSliceOfPart(*user)) return false;
        if (!absl::c_linear_search(results_, user)) results_.push_back(user);
      }
    }
    return is_reduced && absl::c_all_of(order_, [&](const HloInstruction* member) { return HasParts(*member); });
  }

  // Replaces what is computed of the rows.
  absl::Status Replace(const Positions& positions) {
    for (HloInstruction*& part : members_.at(&whole_)) {
      if (IsLong(*part)) continue;
      HILO_ASSIGN_OR_RETURN(part, RowOf(part));
    }
    std::vector<HloInstruction*> work(order_.begin() + 1, order_.end());
    work.insert(work.end(), results_.begin(), results_.end());
    absl::c_sort(work,
                 [&](const HloInstruction* x, const HloInstruction* y) { return positions.at(x) < positions.at(y); });
    for (HloInstruction* instruction : work) {
      if (members_.contains(instruction)) {
        HILO_RETURN_IF_ERROR(MakeParts(instruction));
        continue;
      }
      HILO_ASSIGN_OR_RETURN(HloInstruction * replacement,
                            instruction->opcode() == HloOpcode::kReduce ? Reduced(*instruction) : Cut(*instruction));
      HILO_RETURN_IF_ERROR(instruction->parent()->ReplaceAllUsesWith(instruction, replacement));
    }
    return absl::OkStatus();
  }

  // What is replaced: reductions, and slices of parts.
  absl::Span<HloInstruction* const> results() const { return results_; }

 private:
  // In the order of the concatenation's operands; single elements without the dimension of the row.
  using Parts = std::vector<HloInstruction*>;

  bool IsLong(const HloInstruction& part) const { return part.shape().dimensions(dimension_) != 1; }

  bool HasOneLongPart() const {
    const auto is_long = [&](const HloInstruction* part) { return IsLong(*part); };
    return whole_.operand_count() > 1 && whole_.operand_count() <= kMaxSingles + 1 &&
           absl::c_count_if(whole_.operands(), is_long) == 1 && whole_.shape().dimensions(dimension_) > kMinLong;
  }

  bool IsReduction(const HloInstruction& user) const {
    static constexpr OpcodeSet kOps = {HloOpcode::kAdd, HloOpcode::kMaximum, HloOpcode::kMinimum, HloOpcode::kMultiply};
    if (user.opcode() != HloOpcode::kReduce || user.operand_count() != 2 || user.IsRoot() ||
        user.attrs<ReduceAttrs>().dimensions != std::vector<int64_t>{dimension_})
      return false;
    const std::optional<HloOpcode> op = ReductionOp(*user.called_computation());
    return op.has_value() && kOps.contains(*op);
  }

  bool IsMember(const HloInstruction& user) const {
    return IsElementwise(user.opcode()) && user.opcode() != HloOpcode::kMap && user.shape().IsArray() &&
           ShapeUtil::SameDimensions(user.shape(), whole_.shape());
  }

  // The part in which the range of a slice lies, and where it begins there.
  struct Location {
    size_t part;
    int64_t begin;
  };
  std::optional<Location> LocationOf(const SliceRange& range) const {
    int64_t begin = 0;
    for (size_t i = 0; i < static_cast<size_t>(whole_.operand_count()); ++i) {
      const int64_t end = begin + whole_.operand(static_cast<int64_t>(i))->shape().dimensions(dimension_);
      if (range.start >= begin && range.limit <= end && range.limit > range.start) return Location{i, begin};
      begin = end;
    }
    return std::nullopt;
  }
  bool IsSliceOfPart(const HloInstruction& user) const {
    return user.opcode() == HloOpcode::kSlice && !user.IsRoot() &&
           LocationOf(user.attrs<SliceAttrs>().slice[dimension_]).has_value();
  }

  // Returns true if all elements of a row are the same.
  bool IsUniform(const HloInstruction& operand) const {
    return operand.shape().IsScalar() ||
           (operand.opcode() == HloOpcode::kBroadcast &&
            !absl::c_linear_search(operand.attrs<BroadcastAttrs>().dimensions, dimension_));
  }
  bool HasParts(const HloInstruction& member) const {
    return &member == &whole_ || absl::c_all_of(member.operands(), [&](const HloInstruction* operand) {
      return members_.contains(operand) || IsUniform(*operand);
    });
  }

  // The shapes of the rows' single elements, and of `length` elements of each.
  Shape RowShape(PrimitiveType type) const {
    std::vector<int64_t> sizes(whole_.shape().dimensions().begin(), whole_.shape().dimensions().end());
    sizes.erase(sizes.begin() + dimension_);
    return ShapeUtil::MakeShape(type, sizes);
  }
  Shape LongShape(PrimitiveType type, int64_t length) const {
    std::vector<int64_t> sizes(whole_.shape().dimensions().begin(), whole_.shape().dimensions().end());
    sizes[dimension_] = length;
    return ShapeUtil::MakeShape(type, sizes);
  }

  // Returns the single elements of a part, without the dimension of the row.
  absl::StatusOr<HloInstruction*> RowOf(HloInstruction* part) {
    const Shape shape = RowShape(part->shape().element_type());
    if (part->opcode() != HloOpcode::kBroadcast) return MakeReshape(part, shape);
    HloInstruction* repeated = part->operand(0);
    std::vector<int64_t> dimensions = part->attrs<BroadcastAttrs>().dimensions, sizes;
    const auto own = absl::c_find(dimensions, dimension_);
    if (own != dimensions.end()) {
      for (int64_t d = 0; d < repeated->shape().rank(); ++d) {
        if (d != own - dimensions.begin()) sizes.push_back(repeated->shape().dimensions(d));
      }
      dimensions.erase(own);
      HILO_ASSIGN_OR_RETURN(repeated, MakeReshape(repeated, ShapeUtil::MakeShape(shape.element_type(), sizes)));
    }
    return RepeatedInRows(repeated, dimensions);
  }

  // Returns `repeated` in the shape of single elements; `dimensions` are those of rows.
  absl::StatusOr<HloInstruction*> RepeatedInRows(HloInstruction* repeated, std::vector<int64_t> dimensions) {
    for (int64_t& d : dimensions) d -= d > dimension_ ? 1 : 0;
    const Shape shape = RowShape(repeated->shape().element_type());
    if (ShapeUtil::SameDimensions(repeated->shape(), shape) && absl::c_is_sorted(dimensions)) return repeated;
    return MakeBroadcast(repeated, shape, std::move(dimensions));
  }

  // Computes a member for each part.
  absl::Status MakeParts(HloInstruction* member) {
    Parts parts;
    for (size_t i = 0; i < static_cast<size_t>(whole_.operand_count()); ++i) {
      const HloInstruction& part = *whole_.operand(static_cast<int64_t>(i));
      const PrimitiveType type = member->shape().element_type();
      std::vector<HloInstruction*> operands;
      for (HloInstruction* operand : member->operands()) {
        if (const auto found = members_.find(operand); found != members_.end()) {
          operand = found->second[i];
        } else if (!operand->shape().IsScalar()) {
          const std::vector<int64_t>& dimensions = operand->attrs<BroadcastAttrs>().dimensions;
          const Shape shape = LongShape(operand->shape().element_type(), part.shape().dimensions(dimension_));
          HILO_ASSIGN_OR_RETURN(operand, IsLong(part) ? MakeBroadcast(operand->operand(0), shape, dimensions)
                                                      : RepeatedInRows(operand->operand(0), dimensions));
        }
        operands.push_back(operand);
      }
      const Shape shape = IsLong(part) ? LongShape(type, part.shape().dimensions(dimension_)) : RowShape(type);
      parts.push_back(member->parent()->AddInstruction(member->CloneWithNewOperands(shape, operands)));
      ShapeUtil::SetToDefaultLayout(parts.back()->mutable_shape());
    }
    members_.at(member) = std::move(parts);
    return absl::OkStatus();
  }

  absl::StatusOr<HloInstruction*> Reduced(const HloInstruction& reduce) {
    const Parts& parts = members_.at(reduce.operand(0));
    const HloOpcode op = *ReductionOp(*reduce.called_computation());
    HloInstruction* reduced = nullptr;
    for (int64_t i = 0; i < whole_.operand_count(); ++i) {
      if (!IsLong(*whole_.operand(i))) continue;
      HILO_ASSIGN_OR_RETURN(reduced, MakeReduce(parts[static_cast<size_t>(i)], reduce.operand(1), {dimension_},
                                                reduce.called_computation()));
    }
    for (int64_t i = 0; i < whole_.operand_count(); ++i) {
      if (IsLong(*whole_.operand(i))) continue;
      HILO_ASSIGN_OR_RETURN(reduced, MakeBinary(op, reduced, parts[static_cast<size_t>(i)]));
    }
    return reduced;
  }

  // Returns the slice of the part in which it lies.
  absl::StatusOr<HloInstruction*> Cut(const HloInstruction& slice) {
    std::vector<SliceRange> ranges = slice.attrs<SliceAttrs>().slice;
    const Location location = *LocationOf(ranges[dimension_]);
    ranges[dimension_].start -= location.begin;
    ranges[dimension_].limit -= location.begin;
    HloInstruction* part = members_.at(slice.operand(0))[location.part];
    if (part->shape().rank() != whole_.shape().rank()) {
      HILO_ASSIGN_OR_RETURN(part, MakeReshape(part, LongShape(part->shape().element_type(), 1)));
    }
    return ShapeUtil::SameDimensions(slice.shape(), part->shape()) ? absl::StatusOr<HloInstruction*>(part)
                                                                   : MakeSlice(part, std::move(ranges));
  }

  const HloInstruction& whole_;
  const int64_t dimension_;
  absl::flat_hash_map<const HloInstruction*, Parts> members_;
  std::vector<HloInstruction*> order_;  // the members, the concatenation first
  std::vector<HloInstruction*> results_;
};

class ConcatenationSeparation : public HloPass {
 public:
  absl::string_view name() const override { return "separate-concatenations"; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    bool changed = false;
    for (HloComputation* computation : module->computations()) {
      if (computation->IsFusion()) continue;
      const std::vector<HloInstruction*> order = computation->MakePostOrder();
      Positions positions;
      for (size_t i = 0; i < order.size(); ++i) positions.emplace(order[i], i);
      std::vector<HloInstruction*> unused;
      for (HloInstruction* instruction : order) {
        if (instruction->opcode() != HloOpcode::kConcatenate) continue;
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        SeparatedRows rows(instruction);
        if (!rows.Collect(positions)) continue;
        HILO_RETURN_IF_ERROR(rows.Replace(positions));
        unused.insert(unused.end(), rows.results().begin(), rows.results().end());
      }
      for (HloInstruction* result : unused)
        HILO_RETURN_IF_ERROR(computation->RemoveInstructionAndUnusedOperands(result));
      changed |= !unused.empty();
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<HloPass> MakeConcatenationSeparation() { return std::make_unique<ConcatenationSeparation>(); }

}  // namespace hilo
