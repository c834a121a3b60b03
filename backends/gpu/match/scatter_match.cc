#include "backends/gpu/match/scatter_match.h"

#include <algorithm>
#include <cmath>

#include "absl/algorithm/container.h"
#include "hlo/analysis/hero.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo::gpu {
namespace {

// Up to here all whole numbers are F32; and are integers of 32 bits, with a bit to spare.
constexpr double kMaxFloat = 1 << 24, kMaxNumber = 1 << 30;
// Arrays of whole numbers have few sources.
constexpr size_t kMaxSources = 32;
// Whose results have the elements of their operand.
constexpr OpcodeSet kMoves = {HloOpcode::kBroadcast, HloOpcode::kCopy, HloOpcode::kReshape, HloOpcode::kSlice,
                              HloOpcode::kTranspose};

std::vector<int64_t> SizesOf(const Shape& shape, absl::Span<const int64_t> dimensions) {
  std::vector<int64_t> sizes;
  for (int64_t d : dimensions) sizes.push_back(shape.dimensions(d));
  return sizes;
}

// Returns the largest magnitude of whole numbers that are constants or converted; nullopt for others.
std::optional<double> LargestWholeNumber(const HloInstruction& source) {
  if (source.opcode() == HloOpcode::kConvert) {
    const PrimitiveType type = source.operand(0)->shape().element_type();
    if (type == PRED) return 1;
    if (!IsIntegralType(type) || PrimitiveTypeBitWidth(type) > 8) return std::nullopt;
    return std::ldexp(1.0, PrimitiveTypeBitWidth(type));
  }
  if (!source.IsConstant() || ShapeUtil::ElementsIn(source.shape()) != 1) return std::nullopt;
  const double value = source.literal().GetAsDouble(0);
  if (std::trunc(value) != value) return std::nullopt;  // NaN, too
  return std::abs(value);
}

// Returns the largest magnitude of an array's elements; nullopt if they may be others than whole numbers. `kernel`: the
// instruction that reads the array.
std::optional<double> LargestWholeNumber(const HloInstruction* array, const HloInstruction* kernel) {
  std::vector<const HloInstruction*> arrays = {array};
  double largest = 0;
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (arrays.size() > kMaxSources) return std::nullopt;
    const HloInstruction* source = FusedOperand(arrays[i], kernel);
    int64_t leaf = 0;
    if (source->opcode() == HloOpcode::kGetTupleElement) {
      leaf = source->attrs<GetTupleElementAttrs>().index;
      source = source->operand(0);
    }
    if (source->opcode() == HloOpcode::kFusion) {
      source = source->called_computation()->root_instruction();
      if (source->opcode() == HloOpcode::kTuple) source = source->operand(leaf);
      arrays.push_back(source);
      continue;
    }
    if (kMoves.contains(source->opcode())) {
      arrays.push_back(source->operand(0));
      continue;
    }
    if (source->opcode() == HloOpcode::kSelect) {
      arrays.push_back(source->operand(1));
      arrays.push_back(source->operand(2));
      continue;
    }
    const std::optional<double> most = LargestWholeNumber(*source);
    if (!most.has_value()) return std::nullopt;
    largest = std::max(largest, *most);
  }
  return largest;
}

}  // namespace

std::vector<int64_t> Scatter::BatchSizes() const { return SizesOf(updates, index_dims); }
std::vector<int64_t> Scatter::WindowSizes() const { return SizesOf(updates, attrs->update_window_dims); }

int64_t Scatter::WindowSize(int64_t operand_dimension) const {
  for (size_t i = 0; i < window_dims.size(); ++i) {
    if (window_dims[i] == operand_dimension) return updates.dimensions(attrs->update_window_dims[i]);
  }
  return 1;
}

int64_t Scatter::BatchPosition(size_t j) const {
  const int64_t dimension = attrs->scatter_indices_batching_dims[j];
  return dimension > attrs->index_vector_dim ? dimension - 1 : dimension;
}

Scatter ScatterOf(const HloInstruction& instruction) {
  const HloInstruction* scatter = HeroOf(&instruction);
  Scatter s{.instruction = &instruction,
            .scatter = scatter,
            .attrs = &scatter->attrs<ScatterAttrs>(),
            .count = scatter->operand_count() / 2};
  s.operand = scatter->operand(0)->shape();
  s.updates = scatter->operand(s.count + 1)->shape();
  for (int64_t d = 0; d < s.operand.rank(); ++d) {
    if (!absl::c_linear_search(s.attrs->inserted_window_dims, d) &&
        !absl::c_linear_search(s.attrs->input_batching_dims, d))
      s.window_dims.push_back(d);
  }
  for (int64_t d = 0; d < s.updates.rank(); ++d) {
    if (!absl::c_linear_search(s.attrs->update_window_dims, d)) s.index_dims.push_back(d);
  }
  return s;
}

std::optional<HloOpcode> AtomicOperation(const Scatter& s) {
  if (IsSumOfWholeNumbers(s)) return HloOpcode::kAdd;
  const PrimitiveType type = s.operand.element_type();
  if (s.count != 1 || !IsIntegralType(type) || PrimitiveTypeByteSize(type) < 4) return std::nullopt;
  const std::optional<HloOpcode> operation = ReductionOp(s.computation());
  return operation == HloOpcode::kMultiply ? std::nullopt : operation;
}

bool IsExtremumOfFloats(const Scatter& s) {
  const PrimitiveType type = s.operand.element_type();
  if (s.count != 1 || (type != F32 && type != F64)) return false;
  const std::optional<HloOpcode> operation = ReductionOp(s.computation());
  return operation == HloOpcode::kMaximum || operation == HloOpcode::kMinimum;
}

bool IsSumOfWholeNumbers(const Scatter& s) {
  const PrimitiveType type = s.operand.element_type();
  if (s.count != 1 || (type != F32 && type != F64) || ReductionOp(s.computation()) != HloOpcode::kAdd) return false;
  const std::optional<double> first = LargestWholeNumber(s.scatter->operand(0), s.instruction),
                              most = LargestWholeNumber(s.scatter->operand(2), s.instruction);
  return first == 0.0 && most.has_value() &&
         *most * static_cast<double>(ShapeUtil::ElementsIn(s.updates)) <= (type == F32 ? kMaxFloat : kMaxNumber);
}

bool AreSameOrDisjoint(const Scatter& s) {
  return absl::c_all_of(s.window_dims,
                        [&](int64_t d) { return s.WindowSize(d) == 1 || s.WindowSize(d) == s.operand.dimensions(d); });
}

bool AreIndependent(const Scatter& s) { return s.attrs->unique_indices && AreSameOrDisjoint(s); }

bool AreSorted(const Scatter& s) {
  return s.attrs->indices_are_sorted && s.attrs->input_batching_dims.empty() && s.index_dims.size() == 1 &&
         AreSameOrDisjoint(s);
}

bool WritesWholeLines(const Scatter& s) {
  const int64_t minor = s.operand.rank() - 1;
  return !s.window_dims.empty() && s.window_dims.back() == minor &&
         s.attrs->update_window_dims.back() == s.updates.rank() - 1 &&
         s.WindowSize(minor) == s.operand.dimensions(minor) &&
         !absl::c_linear_search(s.attrs->scatter_dims_to_operand_dims, minor);
}

ScatterDivision DivisionOf(const Scatter& s) {
  ScatterDivision division{.is_batching = std::vector<bool>(s.index_dims.size(), false),
                           .fills = std::vector<bool>(s.window_dims.size(), false),
                           .shared = std::vector<bool>(s.operand.rank(), true)};
  auto& [is_batching, fills, shared, thread_sizes, iteration_sizes, shared_sizes, owner_position] = division;
  for (size_t j = 0; j < s.attrs->input_batching_dims.size(); ++j) {
    is_batching[s.BatchPosition(j)] = true;
    shared[s.attrs->input_batching_dims[j]] = false;
  }
  const std::vector<int64_t> batch_sizes = s.BatchSizes(), window_sizes = s.WindowSizes();
  for (size_t i = 0; i < batch_sizes.size(); ++i)
    (is_batching[i] ? thread_sizes : iteration_sizes).push_back(batch_sizes[i]);
  owner_position = thread_sizes.size();
  thread_sizes.push_back(1);
  for (size_t i = 0; i < window_sizes.size(); ++i) {
    fills[i] = window_sizes[i] == s.operand.dimensions(s.window_dims[i]);
    if (fills[i]) shared[s.window_dims[i]] = false;
    (fills[i] ? thread_sizes : iteration_sizes).push_back(window_sizes[i]);
  }
  for (int64_t d = 0; d < s.operand.rank(); ++d) {
    if (shared[d]) shared_sizes.push_back(s.operand.dimensions(d));
  }
  return division;
}

}  // namespace hilo::gpu
