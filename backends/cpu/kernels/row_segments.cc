#include "backends/cpu/kernels/row_segments.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "backends/llvm/lanes/lane_plan.h"
#include "base/math.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::cpu {
namespace {

// Of the row: 0, and the ends of its segments.
constexpr size_t kMaxCuts = kMaxRowSegments + 1;

class Cuts {
 public:
  Cuts(int64_t row, int64_t behind) : row_(row), behind_(behind), cuts_{0, row} {}

  void Follow(const HloInstruction* root) {
    work_.push_back({root, 0, 1, 0, row_});
    while (!work_.empty() && cuts_.size() <= kMaxCuts) {
      const Reader reader = work_.back();
      work_.pop_back();
      const HloInstruction* instruction = reader.instruction;
      // What an instruction outside of a fusion reads is in memory.
      if (instruction != root && !instruction->parent()->IsFusion()) continue;
      if (seen_.insert({instruction, reader.offset, reader.stride}).second && instruction->shape().rank() > behind_)
        Visit(reader);
    }
  }

  // Whether padding alternates with elements along the row.
  bool has_pattern() const { return has_pattern_; }

  std::vector<int64_t> Take() const {
    if (cuts_.size() > kMaxCuts) return {0, row_};
    return {cuts_.begin(), cuts_.end()};
  }

 private:
  // `instruction` is read at position * stride + offset of the dimension `behind` before its minor-most one, for
  // positions within [low, high).
  struct Reader {
    const HloInstruction* instruction;
    int64_t offset, stride, low, high;

    // Returns the first position at which `index` or an element behind it is read.
    int64_t PositionOf(int64_t index) const {
      return index <= offset ? low : std::max(low, CeilDiv(index - offset, stride));
    }
    Reader Of(const HloInstruction* operand) const { return {operand, offset, stride, low, high}; }
  };

  void Cut(const Reader& reader, int64_t index) {
    const int64_t position = reader.PositionOf(index);
    if (position > reader.low && position < reader.high) cuts_.insert(position);
  }
  // The part of the reader that is in [first, last) of its instruction reads `operand`, whose element 0 is at `first`
  // there.
  void Part(const Reader& reader, const HloInstruction* operand, int64_t first, int64_t last) {
    const Reader part{operand, reader.offset - first, reader.stride, reader.PositionOf(first),
                      std::min(reader.high, reader.PositionOf(last))};
    if (part.low < part.high) work_.push_back(part);
  }

  // Returns true if a reshape keeps the dimension and those behind it.
  bool HasSameRows(const Shape& to, const Shape& from) const {
    return from.rank() > behind_ && to.dimensions().last(behind_ + 1) == from.dimensions().last(behind_ + 1);
  }

  void Visit(const Reader& reader) {
    const HloInstruction& instruction = *reader.instruction;
    const int64_t dim = instruction.shape().rank() - 1 - behind_;
    auto pass = [&](int64_t operand) { work_.push_back(reader.Of(instruction.operand(operand))); };
    switch (instruction.opcode()) {
      case HloOpcode::kFusion:
        if (instruction.shape().IsArray())
          work_.push_back(reader.Of(instruction.called_computation()->root_instruction()));
        return;
      case HloOpcode::kConcatenate: {
        int64_t start = 0;
        const bool along = instruction.attrs<ConcatenateAttrs>().dimensions[0] == dim;
        for (const HloInstruction* operand : instruction.operands()) {
          if (!along) {
            work_.push_back(reader.Of(operand));
            continue;
          }
          const int64_t end = start + operand->shape().dimensions(dim);
          Cut(reader, end);
          Part(reader, operand, start, end);
          start = end;
        }
        return;
      }
      case HloOpcode::kPad: {
        const auto& padding = instruction.attrs<PadAttrs>().padding.dimensions[dim];
        if (!codegen::HasPaddedPattern(padding) || (padding.interior_padding != 0 && reader.stride != 1)) return;
        const int64_t size = instruction.operand(0)->shape().dimensions(dim), start = padding.edge_padding_low,
                      end = start + (size == 0 ? 0 : (size - 1) * (padding.interior_padding + 1) + 1);
        Cut(reader, start);
        Cut(reader, end);
        if (padding.interior_padding != 0) {
          has_pattern_ = true;
          return;
        }
        return Part(reader, instruction.operand(0), start, end);
      }
      case HloOpcode::kReduceWindow: {
        // Windows within the operand need no masks.
        const auto& window = instruction.attrs<ReduceWindowAttrs>().window.dimensions[dim];
        const int64_t last = instruction.operand(0)->shape().dimensions(dim) - 1 + window.padding_low -
                             (window.size - 1) * window.window_dilation;
        if (window.base_dilation != 1 || last < window.padding_low) return;
        Cut(reader, CeilDiv(window.padding_low, window.stride));
        Cut(reader, last / window.stride + 1);
        return;
      }
      case HloOpcode::kSlice: {
        const SliceRange& range = instruction.attrs<SliceAttrs>().slice[dim];
        work_.push_back({instruction.operand(0), reader.offset * range.stride + range.start,
                         reader.stride * range.stride, reader.low, reader.high});
        return;
      }
      case HloOpcode::kBroadcast: {
        const auto& dimensions = instruction.attrs<BroadcastAttrs>().dimensions;
        const int64_t from = static_cast<int64_t>(dimensions.size()) - 1 - behind_;
        if (from >= 0 && dimensions[from] == dim) pass(0);
        return;
      }
      case HloOpcode::kBitcast:
      case HloOpcode::kReshape:
        if (HasSameRows(instruction.shape(), instruction.operand(0)->shape())) pass(0);
        return;
      default:
        if (!IsElementwise(instruction.opcode()) || instruction.IsParameter()) return;
        for (int64_t i = 0; i < instruction.operand_count(); ++i) pass(i);
    }
  }

  int64_t row_, behind_;
  bool has_pattern_ = false;
  std::set<int64_t> cuts_;
  std::set<std::tuple<const HloInstruction*, int64_t, int64_t>> seen_;
  std::vector<Reader> work_;
};

}  // namespace

std::vector<int64_t> RowSegments(absl::Span<const HloInstruction* const> roots, int64_t row, int64_t behind) {
  Cuts cuts(row, behind);
  for (const HloInstruction* root : roots) cuts.Follow(root);
  return cuts.Take();
}

bool HasPaddedPattern(absl::Span<const HloInstruction* const> roots, int64_t row) {
  Cuts cuts(row, /*behind=*/0);
  for (const HloInstruction* root : roots) cuts.Follow(root);
  return cuts.has_pattern();
}

}  // namespace hilo::cpu
