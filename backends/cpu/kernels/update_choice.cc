// Chooses the lanes of kernels that write parts of an array, and how lists are sorted.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "backends/cpu/kernels/choice_families.h"
#include "backends/cpu/kernels/code_size.h"
#include "backends/cpu/kernels/select_and_scatter.h"
#include "backends/cpu/kernels/sort_key.h"
#include "backends/llvm/elements/scalar_computation.h"
#include "base/math.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/analysis/hero.h"
#include "hlo/ops/reduction/search_attributes.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::cpu {
namespace {

using codegen::TargetTraits;

// The rank of the loops over `update`: without trailing dimensions of size 1 that correspond to such of the array,
// where lanes would have no row.
int64_t LoopRank(const Shape& update, const Shape& array) {
  int64_t rank = update.rank();
  while (rank > 1 && update.dimensions(rank - 1) == 1 && array.dimensions(rank - 1) == 1) --rank;
  return rank;
}

// The lanes for the last dimension of the window, in which no two updates conflict: 1 unless it is the minor-most of
// the operand.
std::pair<int, absl::string_view> ScatterLanes(const HloInstruction& scatter, const TargetTraits& target) {
  const ScatterAttrs& attrs = scatter.attrs<ScatterAttrs>();
  const int64_t count = scatter.operand_count() / 2, minor = scatter.operand(0)->shape().rank() - 1;
  if (attrs.update_window_dims.empty() ||
      std::count(attrs.inserted_window_dims.begin(), attrs.inserted_window_dims.end(), minor) > 0 ||
      std::count(attrs.input_batching_dims.begin(), attrs.input_batching_dims.end(), minor) > 0)
    return {1, "windows have no row of the operand"};
  if (!codegen::CanEmitComputation(*scatter.called_computation())) return {1, "the computation has no lanes"};
  std::vector<PrimitiveType> types;
  for (int64_t i = 0; i < count; ++i) types.push_back(scatter.operand(i)->shape().element_type());
  int width = FullWidth(target, types);
  const int64_t row = scatter.operand(count + 1)->shape().dimensions(attrs.update_window_dims.back());
  while (width > 1 && width > row) width /= 2;
  return {width, width > 1 ? "lanes along rows of the windows" : "rows of the windows are short"};
}

// The vectors of a window that stay in registers from one index to the next if that is the same, as of indices that are
// sorted; 0 if the window is no row of a few full vectors, or the computation ignores what is there.
int64_t VectorsOfRuns(const HloInstruction& scatter, int width) {
  constexpr int64_t kMaxVectors = 8;
  const ScatterAttrs& attrs = scatter.attrs<ScatterAttrs>();
  const int64_t count = scatter.operand_count() / 2;
  const Shape& updates = scatter.operand(count + 1)->shape();
  if (!attrs.indices_are_sorted || attrs.unique_indices) return 0;
  int64_t elements = 1;
  for (int64_t dimension : attrs.update_window_dims) elements *= updates.dimensions(dimension);
  const int64_t row = attrs.update_window_dims.empty() ? 1 : updates.dimensions(attrs.update_window_dims.back());
  if (elements != row || row % width != 0 || row / width * count > kMaxVectors) return 0;
  for (int64_t i = 0; i < count; ++i) {
    if (IsComplexType(scatter.operand(i)->shape().element_type()) ||
        scatter.called_computation()->parameter_instruction(i)->users().empty())
      return 0;
  }
  return row / width;
}

// Bytes of the windows of an index that pay for each part's looking at all indices, parts at most, and the least rows
// of a part. Measured on two threads of a Zen 4, in one part and in these, in us: 20,000 rows of f32[32] into 5000 74
// and 43, of f32[64] 143 and 85 (without a common cache 220 and 81), 8192 of f32[128] 132 and 68, 2048 of f32[256] into
// 50 35 and 21, 4000 of f64[64] into 300 42 and 27.
constexpr int64_t kPartBytes = 64, kMaxParts = 4, kMinPartRows = 8;

// The indices whose updates are computed in one iteration: four if each is one element and little code. Half of what a
// loop over single elements executes is the loop's own.
int64_t IndicesTogether(const HloInstruction& instruction, const HloInstruction& scatter) {
  constexpr int64_t kTogether = 4, kMaxCode = 200;
  const Shape& updates = scatter.operand(scatter.operand_count() / 2 + 1)->shape();
  int64_t elements = 1;
  for (int64_t dimension : scatter.attrs<ScatterAttrs>().update_window_dims) elements *= updates.dimensions(dimension);
  const bool is_short = elements == 1 && ShapeUtil::ElementsIn(updates) >= 2 * kTogether;
  return is_short && CodeSize(instruction, /*by_elements=*/true) <= kMaxCode ? kTogether : 1;
}

// Elements of lists that are sorted in registers, and the values that may trade their places for one list: pairs of
// neighbors times arrays and keys. Their number is the code's.
constexpr int64_t kLongestLaneList = 16, kMaxTrades = 512;

// Lists that are sorted in registers, if they are short and fill the lanes.
std::optional<KernelConfig> ChooseLaneSort(const HloInstruction& sort, const std::vector<SortKey>& keys,
                                           const TargetTraits& target) {
  const Shape& shape = sort.operand(0)->shape();
  const int64_t dimension = sort.attrs<SortAttrs>().dimensions[0], length = shape.dimensions(dimension);
  if (keys.empty() || length < 2 || length > kLongestLaneList || ShapeUtil::IsZeroElementArray(shape))
    return std::nullopt;
  const int64_t inner = Product(shape.dimensions().subspan(dimension + 1));
  const int64_t outer = Product(shape.dimensions().first(dimension)), lists = inner > 1 ? inner : outer;
  std::vector<PrimitiveType> types;
  for (const HloInstruction* operand : sort.operands()) {
    // Numbers of 16 bits and fewer change on their way through a register: NaNs become quiet.
    const PrimitiveType type = operand->shape().element_type();
    if (type != PRED && !IsIntegralType(type) && type != F32 && type != F64) return std::nullopt;
    // Lanes that are less than 32 bits and lie apart are loaded one by one: the code of 16 lists of 16 bytes takes half
    // a second to compile.
    if (inner == 1 && PrimitiveTypeBitWidth(type) < 32) return std::nullopt;
    types.push_back(type);
  }
  for (const SortKey& key : keys) {
    if (key.type == PRED) return std::nullopt;
    types.push_back(key.type);
  }
  if (length * (length - 1) / 2 * static_cast<int64_t>(types.size()) > kMaxTrades) return std::nullopt;
  const int width = FullWidth(target, types);
  if (width == 1 || lists < width) return std::nullopt;
  return KernelConfig{.kind = KernelKind::kLaneSort,
                      .width = width,
                      .parts = (inner > 1 ? outer : 1) * CeilDiv(lists, width),
                      .why = "short lists, a list a lane"};
}

}  // namespace

KernelConfig ChooseUpdate(const HloInstruction& instruction, const TargetTraits& target) {
  const HloInstruction *root = HeroOf(&instruction), *update = root->operand(1);
  const Shape &array = root->shape(), &shape = update->shape();
  const int64_t rank = LoopRank(shape, array);
  const auto dimensions = shape.dimensions().first(rank);
  // Rows of few elements are processed by columns, if they are whole rows of the array.
  const bool has_whole_rows = rank == array.rank() && rank > 1 && dimensions.back() == array.dimensions(rank - 1);
  int width = has_whole_rows ? NarrowArrayWidth({update}, shape, target) : 1;
  const bool is_narrow = width > 1;
  if (!is_narrow)
    width = codegen::PreferredWidth(update, target, /*flat=*/rank < array.rank() && codegen::IsFlat(update));
  const int64_t columns = is_narrow ? dimensions.back() : 1, loops = rank - (is_narrow ? 1 : 0);
  const int64_t row = loops == 0 ? 1 : dimensions[loops - 1];
  while (width > 1 && width > 2 * row) width /= 2;
  return {.kind = KernelKind::kUpdate,
          .width = width,
          .tile = {rank, columns, codegen::PreferredWidth(root->operand(0), target)},
          .why = is_narrow ? "rows are shorter than a vector: the lanes are rows" : "lanes along rows of the update"};
}

// Returns the indices of the operands' first dimension that a part has, all if there is one part: each part looks at
// all updates and applies those that it has, in order. Windows are rows at one such index, so long that the looking is
// little.
int64_t RowsOfPart(const HloInstruction& scatter, int width) {
  const ScatterAttrs& attrs = scatter.attrs<ScatterAttrs>();
  const int64_t count = scatter.operand_count() / 2;
  const Shape &operand = scatter.operand(0)->shape(), &updates = scatter.operand(count + 1)->shape();
  const int64_t all = operand.rank() > 0 ? std::max<int64_t>(1, operand.dimensions(0)) : 1;
  const bool has_one =
      absl::c_linear_search(attrs.inserted_window_dims, 0) || absl::c_linear_search(attrs.input_batching_dims, 0);
  int64_t bytes = 0, elements = 1;
  for (int64_t dimension : attrs.update_window_dims) elements *= updates.dimensions(dimension);
  for (int64_t i = 0; i < count; ++i)
    bytes += elements * PrimitiveTypeByteSize(scatter.operand(i)->shape().element_type());
  if (!has_one || width == 1 || IsExpensiveToRepeat(*scatter.operand(count))) return all;
  const int64_t parts = std::min(bytes / kPartBytes, kMaxParts);
  return parts > 1 && all >= kMinPartRows * parts ? CeilDiv(all, parts) : all;
}

KernelConfig ChooseScatter(const HloInstruction& instruction, const TargetTraits& target) {
  const HloInstruction& scatter = *HeroOf(&instruction);
  const auto [width, why] = ScatterLanes(scatter, target);
  KernelConfig config{.kind = KernelKind::kScatter, .width = width, .why = std::string(why)};
  for (int64_t i = 0; i < scatter.operand_count() / 2; ++i)
    config.tile.push_back(codegen::PreferredWidth(scatter.operand(i), target));
  const int64_t vectors = VectorsOfRuns(scatter, width);
  if (vectors > 0) config.why += "; equal indices follow each other";
  config.tile.push_back(vectors);
  config.tile.push_back(vectors > 0 ? 1 : IndicesTogether(instruction, scatter));
  const int64_t rows = RowsOfPart(scatter, width);
  config.tile.push_back(rows);
  if (scatter.operand(0)->shape().rank() > 0) config.parts = CeilDiv(scatter.operand(0)->shape().dimensions(0), rows);
  return config;
}

KernelConfig ChooseSelectAndScatter(const HloInstruction& instruction, const TargetTraits& target) {
  const Shape& operand = instruction.operand(0)->shape();
  const std::vector<Window::Dimension>& window = instruction.attrs<SelectAndScatterAttrs>().window.dimensions;
  const int64_t last = operand.rank() - 1;
  KernelConfig config{.kind = KernelKind::kSelectAndScatter, .why = "windows overlap in the minor dimension"};
  if (last >= 0 && IsTrivial(window[last]) && codegen::CanEmitComputation(*instruction.called_computation(0)) &&
      codegen::CanEmitComputation(*instruction.called_computation(1))) {
    config.width = FullWidth(target, std::vector<PrimitiveType>{operand.element_type()});
    while (config.width > 1 && config.width > operand.dimensions(last)) config.width /= 2;
    config.why = "windows do not overlap in the minor dimension, which has the lanes";
  }
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (IsTrivial(window[d]) && (config.width == 1 || d != last)) config.parts *= operand.dimensions(d);
  }
  return config;
}

KernelConfig ChooseSort(const HloInstruction& sort, const TargetTraits& target) {
  const std::vector<SortKey> keys = SortKeysOf(*sort.called_computation());
  const Shape& shape = sort.operand(0)->shape();
  if (std::optional<KernelConfig> lanes = ChooseLaneSort(sort, keys, target)) return *std::move(lanes);
  return {.kind = keys.empty() ? KernelKind::kSort : KernelKind::kKeySort,
          .parts = ShapeUtil::ElementsIn(shape) / shape.dimensions(sort.attrs<SortAttrs>().dimensions[0]),
          .why = keys.empty() ? "an order of its own" : "the comparison orders by keys"};
}

// Elements in all that pay for transposes. Measured (Zen 4, two threads, called from JAX), us along columns and along
// rows with transposes: f32[333,45] 78 and 49, f32[100,20] 35 and 9, f32[40,40] 15 and 10, f32[20,3000] 231 and 104,
// f32[100000,4] 3770 and 1093, f32[333,45] with positions 266 and 92.
constexpr int64_t kMinTransposedSort = 1024;

bool IsFasterAlongRows(const HloInstruction& sort, const TargetTraits& target, bool) {
  const Shape& shape = sort.operand(0)->shape();
  const int64_t dimension = sort.attrs<SortAttrs>().dimensions[0];
  return Product(shape.dimensions().subspan(dimension + 1)) > 1 && ShapeUtil::ElementsIn(shape) >= kMinTransposedSort &&
         shape.dimensions(dimension) > kLongestLaneList && ChooseSort(sort, target).kind != KernelKind::kLaneSort;
}

}  // namespace hilo::cpu
