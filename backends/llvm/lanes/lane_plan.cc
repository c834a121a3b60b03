// Selects the number of lanes of a loop. The minor-most dimension of the root carries the lanes; following it through
// the fusion classifies the accesses to every array in memory: contiguous, uniform over the lanes, strided, or
// arbitrary. Arithmetic gains from lanes, scattered accesses lose.
#include "backends/llvm/lanes/lane_plan.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/numeric/bits.h"
#include "backends/llvm/jit/host_features.h"
#include "hlo/analysis/affine_index.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::codegen {
namespace {

// Costs in operations of one vector.
constexpr int64_t kScatteredCost = 6, kGatherArithmetic = 3;

// The dimension of an instruction's index that changes from lane to lane.
struct LaneDim {
  int64_t dim;       // kNone: none, all lanes have one index; kAnywhere
  int64_t step = 1;  // from lane to lane
  static constexpr int64_t kNone = -1, kAnywhere = -2;
};

int RegisterBits(PrimitiveType type) {
  type = ComplexComponentType(type);
  if (IsFloatingPointType(type)) return type == F64 ? 64 : 32;
  return 8 * std::max(PrimitiveTypeByteSize(type), 1);
}

class LanePlan {
 public:
  explicit LanePlan(absl::Span<const HloInstruction* const> vectors) : vectors_(vectors) {}

  void Visit(const HloInstruction* root, int64_t behind) {
    work_.push_back({root, {root->shape().rank() == 0 ? LaneDim::kNone : root->shape().rank() - 1 - behind}});
    root_ = root;
    while (!work_.empty()) {
      auto [instruction, lanes] = work_.back();
      work_.pop_back();
      // Once per instruction; a second use at another index usually has the same cost as the first.
      if (!seen_.emplace(instruction, true).second) continue;
      if (instruction->shape().IsArray() && lanes.dim != LaneDim::kNone) {
        widest_ = std::max(widest_, RegisterBits(instruction->shape().element_type()));
      }
      if (absl::c_linear_search(vectors_, instruction)) {
        ++runs_;
        continue;
      }
      Follow(instruction, lanes);
    }
  }

  int widest_bits() const { return widest_; }
  bool Pays() const { return kScatteredCost * scattered_ <= 2 * arithmetic_ + runs_; }

 private:
  // In memory, for all that a fusion contains.
  bool IsLeaf(const HloInstruction* instruction) const {
    if (instruction == root_) return false;
    if (root_->opcode() != HloOpcode::kFusion && !root_->parent()->IsFusion()) return true;
    return instruction->IsParameter() || instruction->IsConstant();
  }

  // Strides beyond those of shuffled loads all cost the same.
  static int64_t Bounded(int64_t stride) { return std::min(stride, kLargestShuffledStride + 1); }

  void Access(const HloInstruction* instruction, LaneDim lanes) {
    if (lanes.dim == LaneDim::kNone || ShapeUtil::ElementsIn(instruction->shape()) == 1) return;
    int64_t stride = lanes.dim >= 0 ? lanes.step : kLargestShuffledStride + 1;
    for (int64_t d = lanes.dim + 1; d < instruction->shape().rank() && stride <= kLargestShuffledStride; ++d)
      stride *= Bounded(instruction->shape().dimensions(d));
    ++(stride <= kLargestShuffledStride ? runs_ : scattered_);
  }

  void Operand(const HloInstruction* instruction, int64_t operand, LaneDim lanes) {
    work_.push_back({instruction->operand(operand), lanes});
  }

  void Follow(const HloInstruction* instruction, LaneDim lanes) {
    if (instruction->opcode() == HloOpcode::kFusion)
      return work_.push_back({instruction->called_computation()->root_instruction(), lanes});
    if (instruction->shape().IsArray() && IsLeaf(instruction)) return Access(instruction, lanes);
    const LaneDim none{LaneDim::kNone}, anywhere{LaneDim::kAnywhere};
    auto mapped = [&](const std::vector<int64_t>& dims) {  // result dimension of each operand dimension
      if (lanes.dim < 0) return lanes;
      const auto it = absl::c_find(dims, lanes.dim);
      return it == dims.end() ? none : LaneDim{it - dims.begin(), lanes.step};
    };
    switch (instruction->opcode()) {
      case HloOpcode::kBroadcast:
        return Operand(instruction, 0, mapped(instruction->attrs<BroadcastAttrs>().dimensions));
      case HloOpcode::kTranspose: {
        const auto& permutation = instruction->attrs<TransposeAttrs>().dimensions;
        return Operand(instruction, 0, lanes.dim < 0 ? lanes : LaneDim{permutation[lanes.dim], lanes.step});
      }
      case HloOpcode::kBitcast:
      case HloOpcode::kReshape:
        // Of an array in memory it is the same elements under other indices.
        if (IsLeaf(instruction->operand(0))) return Access(instruction, lanes);
        return Operand(instruction, 0, Reshaped(instruction, lanes));
      case HloOpcode::kSlice:
        if (lanes.dim >= 0)
          lanes.step = Bounded(lanes.step) * Bounded(instruction->attrs<SliceAttrs>().slice[lanes.dim].stride);
        return Operand(instruction, 0, lanes);
      case HloOpcode::kPad:
        if (lanes.dim >= 0 && !HasPaddedPattern(instruction->attrs<PadAttrs>().padding.dimensions[lanes.dim]))
          lanes = anywhere;
        return Operand(instruction, 0, lanes);
      case HloOpcode::kGather: {
        if (lanes.dim == LaneDim::kNone) return Operand(instruction, 0, none);
        const LaneDim gathered = GatherLanes(instruction, lanes);
        // The lanes read, clamp and scale their indices together, and more loads are in flight at once: 1e6 of four
        // bytes in 0.44 ms rather than 1.27.
        if (gathered.dim == LaneDim::kAnywhere) arithmetic_ += kGatherArithmetic;
        return Operand(instruction, 0, gathered);
      }
      case HloOpcode::kReduce: {
        std::vector<int64_t> kept;
        const int64_t rank = instruction->operand(0)->shape().rank();
        for (int64_t d = 0; d < rank; ++d) {
          if (!absl::c_linear_search(instruction->attrs<ReduceAttrs>().dimensions, d)) kept.push_back(d);
        }
        if (lanes.dim >= 0) lanes.dim = kept[std::min<size_t>(lanes.dim, kept.size() - 1)];
        ++arithmetic_;
        for (int64_t i = 0; i < instruction->operand_count() / 2; ++i) Operand(instruction, i, lanes);
        return;
      }
      case HloOpcode::kDot: {
        ++arithmetic_;
        const auto& attrs = instruction->attrs<DotAttrs>();
        const std::vector<int64_t> lhs = ResultDims(instruction->operand(0)->shape(), attrs.lhs_batch_dims,
                                                    attrs.lhs_contracting_dims, attrs.lhs_batch_dims.size());
        Operand(instruction, 0, mapped(lhs));
        return Operand(
            instruction, 1,
            mapped(ResultDims(instruction->operand(1)->shape(), attrs.rhs_batch_dims, attrs.rhs_contracting_dims,
                              instruction->operand(0)->shape().rank() - attrs.lhs_contracting_dims.size())));
      }
      default: break;
    }
    if (IsElementwise(instruction->opcode()) && instruction->opcode() != HloOpcode::kCopy)
      arithmetic_ += static_cast<int64_t>(CostFacts(instruction->opcode()).operations);
    for (int64_t i = 0; i < instruction->operand_count(); ++i) {
      const Shape& shape = instruction->operand(i)->shape();
      if (shape.IsArray() && shape.rank() == 0) continue;
      Operand(instruction, i, lanes);
    }
  }

  LaneDim Reshaped(const HloInstruction* reshape, LaneDim lanes) {
    const Shape &to = reshape->shape(), &from = reshape->operand(0)->shape();
    if (lanes.dim < 0) return lanes;
    // Dimensions after the lanes' one must match for the access to stay strided; a minor-most run stays a run.
    int64_t behind_to = 1, behind_from = 1;
    for (int64_t d = lanes.dim + 1; d < to.rank(); ++d) behind_to *= to.dimensions(d);
    for (int64_t d = from.rank(); d-- > 0; behind_from *= from.dimensions(d)) {
      if (behind_from == behind_to && from.dimensions(d) != 1) {
        // Long enough dimensions on both sides: few vectors cross.
        const bool stays = from.dimensions(d) % 8 == 0 || to.dimensions(lanes.dim) == from.dimensions(d);
        return stays ? LaneDim{d, lanes.step} : LaneDim{LaneDim::kAnywhere};
      }
    }
    return {LaneDim::kAnywhere};
  }

  // The result dimension of each dimension of a dot's operand, whose free ones begin at `next`; kAnywhere for the
  // contracted ones.
  static std::vector<int64_t> ResultDims(const Shape& operand, const std::vector<int64_t>& batch,
                                         const std::vector<int64_t>& contracting, int64_t next) {
    std::vector<int64_t> dims(operand.rank(), LaneDim::kAnywhere);
    for (size_t i = 0; i < batch.size(); ++i) dims[batch[i]] = static_cast<int64_t>(i);
    for (int64_t d = 0; d < operand.rank(); ++d) {
      if (dims[d] == LaneDim::kAnywhere && !absl::c_linear_search(contracting, d)) dims[d] = next++;
    }
    return dims;
  }

  LaneDim GatherLanes(const HloInstruction* gather, LaneDim lanes) {
    const auto& attrs = gather->attrs<GatherAttrs>();
    const auto it = absl::c_find(attrs.offset_dims, lanes.dim);
    if (it == attrs.offset_dims.end()) return AffineLanes(gather, lanes);
    int64_t offset = it - attrs.offset_dims.begin();
    for (int64_t d = 0; d < gather->operand(0)->shape().rank(); ++d) {
      if (absl::c_linear_search(attrs.collapsed_slice_dims, d) || absl::c_linear_search(attrs.operand_batching_dims, d))
        continue;
      if (offset-- == 0) return {d, lanes.step};
    }
    return {LaneDim::kAnywhere};
  }

  // Of a gather whose starts differ from lane to lane.
  static LaneDim AffineLanes(const HloInstruction* gather, LaneDim lanes) {
    if (lanes.dim < 0) return lanes;
    const auto& attrs = gather->attrs<GatherAttrs>();
    const auto starts = AffineStartsOf(*gather);
    if (!starts.has_value()) return {LaneDim::kAnywhere};
    const int64_t batch_dim = lanes.dim - absl::c_count_if(attrs.offset_dims, [&](int64_t d) { return d < lanes.dim; });
    if (absl::c_linear_search(attrs.start_indices_batching_dims, batch_dim + (batch_dim >= attrs.index_vector_dim)))
      return {LaneDim::kAnywhere};
    LaneDim gathered{LaneDim::kNone};
    for (size_t k = 0; k < starts->size(); ++k) {
      const int64_t step = (*starts)[k].coefficients[batch_dim];
      if (step == 0) continue;
      if (step < 0 || gathered.dim != LaneDim::kNone) return {LaneDim::kAnywhere};
      gathered = {attrs.start_index_map[k], Bounded(lanes.step) * Bounded(step)};
    }
    return gathered;
  }

  const absl::Span<const HloInstruction* const> vectors_;
  const HloInstruction* root_ = nullptr;
  std::vector<std::pair<const HloInstruction*, LaneDim>> work_;
  absl::flat_hash_map<const HloInstruction*, bool> seen_;
  int widest_ = 8;
  int64_t runs_ = 0, scattered_ = 0, arithmetic_ = 0;
};

// Returns true if each row of the array is 0, 1, 2 ...
bool CountsAlongRows(const HloInstruction& instruction) {
  const int64_t minor = instruction.shape().rank() - 1;
  if (instruction.opcode() == HloOpcode::kIota) return instruction.attrs<IotaAttrs>().iota_dimension == minor;
  return instruction.opcode() == HloOpcode::kBroadcast && instruction.operand(0)->opcode() == HloOpcode::kIota &&
         instruction.attrs<BroadcastAttrs>().dimensions == std::vector<int64_t>{minor};
}

}  // namespace

TargetTraits TargetTraits::FromCpu(const CpuFeatures& features) {
  return {.vector_bits = features.vector_bits,
          .vector_registers = features.has_avx512 ? 32 : 16,
          .has_fma = features.has_fma,
          .has_avx512 = features.has_avx512,
          .has_f16c = features.has_f16c,
          .has_ieee_extremes = features.has_ieee_extremes};
}

bool GathersInOrder(const HloInstruction& gather) {
  const auto& attrs = gather.attrs<GatherAttrs>();
  return attrs.offset_dims.empty() && attrs.operand_batching_dims.empty() && attrs.start_index_map.size() == 1 &&
         ShapeUtil::ElementsIn(gather.operand(1)->shape()) == ShapeUtil::ElementsIn(gather.shape()) &&
         !ShapeUtil::IsZeroElementArray(gather.operand(0)->shape()) && !AffineStartsOf(gather).has_value();
}

bool IsFlat(const HloInstruction* root, bool with_gathers) {
  if (!root->shape().IsArray()) return false;
  const int64_t count = ShapeUtil::ElementsIn(root->shape());
  const bool fused = root->parent()->IsFusion();
  absl::flat_hash_map<const HloInstruction*, bool> seen;
  std::vector<const HloInstruction*> work{root};
  while (!work.empty()) {
    const HloInstruction* instruction = work.back();
    work.pop_back();
    if (!seen.emplace(instruction, true).second || instruction->shape().rank() == 0) continue;
    if (instruction->opcode() == HloOpcode::kFusion) {
      if (!instruction->shape().IsArray()) return false;
      work.push_back(instruction->called_computation()->root_instruction());
      continue;
    }
    if (!instruction->shape().IsArray() || ShapeUtil::ElementsIn(instruction->shape()) != count) return false;
    if (instruction->IsParameter() || instruction->IsConstant()) continue;
    if (with_gathers && fused && instruction->opcode() == HloOpcode::kGather && GathersInOrder(*instruction)) {
      if (!instruction->operand(0)->IsParameter()) return false;
      work.push_back(instruction->operand(1));
      continue;
    }
    if (with_gathers && CountsAlongRows(*instruction)) continue;
    const bool scalar_broadcast =
        instruction->opcode() == HloOpcode::kBroadcast && ShapeUtil::ElementsIn(instruction->operand(0)->shape()) == 1;
    const bool reshape = instruction->opcode() == HloOpcode::kReshape || instruction->opcode() == HloOpcode::kBitcast ||
                         instruction->opcode() == HloOpcode::kOptimizationBarrier;
    const bool flat_iota = instruction->opcode() == HloOpcode::kIota && instruction->shape().rank() == 1;
    if (!IsElementwise(instruction->opcode()) && !scalar_broadcast && !reshape && !flat_iota) return false;
    if (scalar_broadcast || !(fused || instruction->parent()->IsFusion())) continue;
    for (const HloInstruction* operand : instruction->operands()) work.push_back(operand);
  }
  return true;
}

bool HasPaddedPattern(const PaddingConfig::Dimension& padding) {
  const int64_t step = padding.interior_padding + 1;
  return step <= kLargestShuffledStride && (step & (step - 1)) == 0;
}

int FullVectorWidth(const HloInstruction* root, const TargetTraits& target) {
  LanePlan plan({});
  plan.Visit(root, /*behind=*/0);
  return std::max(1, target.vector_bits / plan.widest_bits());
}

int PreferredWidth(const HloInstruction* root, const TargetTraits& target, bool flat, int64_t behind,
                   absl::Span<const HloInstruction* const> vectors) {
  const Shape* shape = &root->shape();
  while (shape->IsTuple() && shape->tuple_shapes_size() > 0) shape = &shape->tuple_shapes(0);
  if (target.vector_bits == 0 || !shape->IsArray() || shape->rank() <= behind) return 1;
  const int64_t row = flat ? ShapeUtil::ElementsIn(*shape) : shape->dimensions(shape->rank() - 1 - behind);
  if (row < 2) return 1;
  LanePlan plan(vectors);
  plan.Visit(root, behind);
  if (!plan.Pays()) return 1;
  const int64_t widest = std::max(1, target.vector_bits / plan.widest_bits());
  // A masked vector is as good as a full one where masks are cheap.
  const int64_t fitting =
      target.has_avx512 ? static_cast<int64_t>(absl::bit_ceil(static_cast<uint64_t>(std::min<int64_t>(row, 64))))
                        : static_cast<int64_t>(absl::bit_floor(static_cast<uint64_t>(std::min<int64_t>(row, 64))));
  return static_cast<int>(std::min(widest, fitting));
}

}  // namespace hilo::codegen
