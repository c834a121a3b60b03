// Loads of lanes that are not a run: by shuffles of runs, from tables in registers, and by gathers.
#include "absl/numeric/bits.h"
#include "backends/llvm/elements/array_access.h"
#include "backends/llvm/elements/known_lanes.h"
#include "backends/llvm/lanes/lane_plan.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace hilo::codegen {
namespace {

// Vectors of the largest arrays that are read as whole vectors.
constexpr int64_t kWholeVectors = 8;

}  // namespace

llvm::Value* ArrayAccess::LoadFromRow(const Index& index) {
  const Lanes& lanes = context_.lanes;
  if (width() == 1 || index.IsLinear() || index.rank() < 2 || index.rank() != array_.shape.rank()) return nullptr;
  if (lanes.mask != nullptr && !lanes.first_lane_active) return nullptr;  // the row may be outside of the array
  std::vector<LaneIndex> dims = index.Dims(context_);
  const LaneIndex position = std::exchange(dims.back(), LaneIndex::Constant(0));
  if (!position.IsArbitrary() ||
      !std::all_of(dims.begin(), dims.end(), [](const LaneIndex& dim) { return dim.IsUniform(); }))
    return nullptr;
  const LaneIndex first = Index(std::move(dims)).Linear(context_, array_.shape.dimensions());
  return LoadFromRegisters(position, first, array_.shape.dimensions(array_.shape.rank() - 1));
}

llvm::Value* ArrayAccess::Gather(const LaneIndex& at) {
  llvm::Type* type = llvm::FixedVectorType::get(type_, width());
  const int64_t count = ShapeUtil::ElementsIn(array_.shape);
  if (llvm::Value* element = LoadFromRegisters(at, LaneIndex::Constant(0), count)) return element;
  if (bytes_ < 4 && context_.target().has_avx512 && array_.alignment % 4 == 0) return GatherNarrow(at);
  // There are no gathers of less than 32 bits.
  if (bytes_ < 4 && context_.lanes.mask == nullptr) return LoadEach(at.Value(context_));
  return Tag(b_.CreateMaskedGather(type, Pointers(at), llvm::Align(ElementAlignment()), context_.MaskValue(),
                                   llvm::Constant::getNullValue(type)));
}

llvm::Value* ArrayAccess::GatherNarrow(const LaneIndex& at) {
  llvm::Value* positions = at.Value32(context_);
  if (positions == nullptr) positions = at.Value(context_);
  llvm::Type* index = positions->getType();
  llvm::Type* words = llvm::FixedVectorType::get(b_.getInt32Ty(), width());
  const auto per_word = static_cast<uint64_t>(4 / bytes_);
  const uint64_t bits_of_position = bytes_ == 1 ? 2 : 1;
  llvm::Value* pointers = b_.CreateGEP(b_.getInt32Ty(), array_.pointer,
                                       b_.CreateLShr(positions, llvm::ConstantInt::get(index, bits_of_position)));
  llvm::Value* word = Tag(b_.CreateMaskedGather(words, pointers, llvm::Align(4), context_.MaskValue(),
                                                llvm::Constant::getNullValue(words)));
  llvm::Value* within = b_.CreateAnd(positions, llvm::ConstantInt::get(index, per_word - 1));
  llvm::Value* shift = b_.CreateMul(b_.CreateZExtOrTrunc(within, words),
                                    llvm::ConstantInt::get(words, static_cast<uint64_t>(8 * bytes_)));
  llvm::Type* narrow = llvm::FixedVectorType::get(b_.getIntNTy(static_cast<unsigned>(8 * bytes_)), width());
  return b_.CreateBitCast(b_.CreateTrunc(b_.CreateLShr(word, shift), narrow),
                          llvm::FixedVectorType::get(type_, width()));
}

llvm::Value* ArrayAccess::LoadFromRegisters(const LaneIndex& at, const LaneIndex& begin, int64_t count) {
  const std::optional<Permutations> permutations = PermutationsOf(width() * bytes_ * 8);
  if (!permutations.has_value() || count > 4 * width() || IsComplexType(array_.shape.element_type())) return nullptr;
  llvm::Type* index = llvm::FixedVectorType::get(bytes_ == 4 ? b_.getInt32Ty() : b_.getInt64Ty(), width());
  llvm::Value* narrow = at.Value32(context_);
  llvm::Value* positions = b_.CreateSExtOrTrunc(narrow != nullptr ? narrow : at.Value(context_), index);
  llvm::Value* element = nullptr;
  for (int64_t first = 0; first < count; first += 2 * width()) {
    const int64_t rest = count - first - width();
    llvm::Value* low = LoadElements(begin.AddConstant(first), std::min<int64_t>(rest + width(), width()));
    // Indices count modulo the elements of the registers.
    llvm::Value* here =
        rest <= 0
            ? b_.CreateIntrinsic(permutations->of_one, {}, {low, positions})
            : b_.CreateIntrinsic(
                  permutations->of_two, {},
                  {low, positions, LoadElements(begin.AddConstant(first + width()), std::min<int64_t>(rest, width()))});
    if (element == nullptr) {
      element = here;
    } else {
      llvm::Value* is_here = b_.CreateICmpSGE(positions, llvm::ConstantInt::get(index, static_cast<uint64_t>(first)));
      element = b_.CreateSelect(is_here, here, element);
    }
  }
  if (context_.lanes.mask == nullptr) return element;
  return b_.CreateSelect(context_.lanes.mask, element, llvm::Constant::getNullValue(element->getType()));
}

std::optional<ArrayAccess::Permutations> ArrayAccess::PermutationsOf(int64_t bits) const {
  using namespace llvm;
  if (!context_.target().has_avx512) return std::nullopt;
  const bool is_float = type_->isFloatingPointTy();
  if (bits == 512 && bytes_ == 4) {
    return is_float ? Permutations{Intrinsic::x86_avx512_permvar_sf_512, Intrinsic::x86_avx512_vpermi2var_ps_512}
                    : Permutations{Intrinsic::x86_avx512_permvar_si_512, Intrinsic::x86_avx512_vpermi2var_d_512};
  }
  if (bits == 512 && bytes_ == 8) {
    return is_float ? Permutations{Intrinsic::x86_avx512_permvar_df_512, Intrinsic::x86_avx512_vpermi2var_pd_512}
                    : Permutations{Intrinsic::x86_avx512_permvar_di_512, Intrinsic::x86_avx512_vpermi2var_q_512};
  }
  if (bits == 256 && bytes_ == 4) {
    return is_float ? Permutations{Intrinsic::x86_avx2_permps, Intrinsic::x86_avx512_vpermi2var_ps_256}
                    : Permutations{Intrinsic::x86_avx2_permd, Intrinsic::x86_avx512_vpermi2var_d_256};
  }
  if (bits == 256 && bytes_ == 8) {
    return is_float ? Permutations{Intrinsic::x86_avx512_permvar_df_256, Intrinsic::x86_avx512_vpermi2var_pd_256}
                    : Permutations{Intrinsic::x86_avx512_permvar_di_256, Intrinsic::x86_avx512_vpermi2var_q_256};
  }
  return std::nullopt;
}

llvm::Value* ArrayAccess::LoadElements(const LaneIndex& first, int64_t count) {
  if (count == width()) return LoadRun(first, width(), nullptr);
  std::vector<llvm::Constant*> inside;
  for (int lane = 0; lane < width(); ++lane) inside.push_back(b_.getInt1(lane < count));
  return LoadRun(first, width(), llvm::ConstantVector::get(inside));
}

llvm::Value* ArrayAccess::LoadEach(llvm::Value* positions) {
  llvm::Value* result = llvm::PoisonValue::get(llvm::FixedVectorType::get(type_, width()));
  for (int lane = 0; lane < width(); ++lane) {
    llvm::Value* pointer = Pointer(b_.CreateExtractElement(positions, static_cast<uint64_t>(lane)));
    result = b_.CreateInsertElement(result, Tag(b_.CreateAlignedLoad(type_, pointer, llvm::Align(ElementAlignment()))),
                                    lane);
  }
  return result;
}

llvm::Value* ArrayAccess::LoadLanes(const LaneIndex& at) {
  llvm::Value* result = llvm::PoisonValue::get(llvm::FixedVectorType::get(type_, width()));
  for (int lane = 0; lane < width(); ++lane) {
    const LaneIndex position = at.AddConstant(lane * at.stride());
    llvm::Value* element = Tag(b_.CreateAlignedLoad(type_, Pointer(position), Alignment(position)));
    result = b_.CreateInsertElement(result, element, lane);
  }
  return result;
}

llvm::Value* ArrayAccess::LoadWhole(const LaneIndex& at) {
  if (array_.padding == 0 || at.IsArbitrary()) return nullptr;
  auto* base = llvm::dyn_cast<llvm::ConstantInt>(at.Base(context_));
  const std::optional<std::vector<int>> active = ActiveLanes(context_.lanes.mask, width());
  if (base == nullptr || !active) return nullptr;
  const int64_t components = Components(),
                lanes = std::min<int64_t>(width(), absl::bit_ceil(static_cast<uint64_t>(components))),
                vectors = (components + lanes - 1) / lanes;
  if (vectors > kWholeVectors || vectors * lanes > components + array_.padding / bytes_) return nullptr;
  std::vector<int64_t> positions(width(), -1);  // of the active lanes
  for (int lane : *active)
    positions[lane] = base->getSExtValue() + (at.IsPatterned() ? at.steps()[lane] : lane * at.stride());
  llvm::Value* result = nullptr;
  for (int64_t first = 0; first < components; first += lanes) {
    const auto is_here = [&](int64_t position) { return position >= first && position < first + lanes; };
    if (std::none_of(positions.begin(), positions.end(), is_here)) continue;
    llvm::Type* type = llvm::FixedVectorType::get(type_, static_cast<unsigned>(lanes));
    llvm::Value* pointer = b_.CreateConstInBoundsGEP1_64(type_, array_.pointer, static_cast<uint64_t>(first));
    llvm::Value* vector = Tag(b_.CreateAlignedLoad(type, pointer, Alignment(LaneIndex::Constant(first))));
    std::vector<int> shuffle(width());
    bool is_identity = lanes == width();
    for (int lane = 0; lane < width(); ++lane) {
      const int64_t from = positions[lane] - first;
      if (!is_here(positions[lane])) {
        shuffle[lane] = result == nullptr ? static_cast<int>(std::min<int64_t>(lane, lanes - 1)) : lane;
      } else {
        shuffle[lane] = static_cast<int>(result == nullptr ? from : width() + from);
      }
      is_identity = is_identity && shuffle[lane] == lane;
    }
    if (result != nullptr) {
      result = b_.CreateShuffleVector(result, vector, shuffle);
    } else {
      result = is_identity ? vector : b_.CreateShuffleVector(vector, shuffle);
    }
  }
  llvm::Constant* zero = llvm::Constant::getNullValue(llvm::FixedVectorType::get(type_, width()));
  if (result == nullptr || context_.lanes.mask == nullptr) return result == nullptr ? zero : result;
  return b_.CreateSelect(context_.lanes.mask, result, zero);
}

llvm::Value* ArrayAccess::LoadPattern(const LaneIndex& at) {
  const std::optional<std::vector<int>> active = ActiveLanes(context_.lanes.mask, width());
  if (!active) return LoadPartOfRun(at);
  if (active->empty()) return llvm::Constant::getNullValue(llvm::FixedVectorType::get(type_, width()));
  const absl::Span<const int64_t> steps = at.steps();
  int64_t low = steps[active->front()], high = low;
  for (int lane : *active) {
    low = std::min(low, steps[lane]);
    high = std::max(high, steps[lane]);
  }
  const int64_t span = high - low + 1;
  if (span > kLargestShuffledStride * width()) return nullptr;
  llvm::Value* result = nullptr;
  std::vector<bool> done(width());
  for (int64_t next = 0; next < span; next += width()) {
    // The last run ends with the last element.
    const int64_t start = std::max<int64_t>(std::min<int64_t>(next, span - width()), 0);
    llvm::Value* run = span < width() ? LoadElements(at.AddConstant(low), span)
                                      : LoadRun(at.AddConstant(low + start), width(), /*mask=*/nullptr);
    // Inactive lanes have any element: none may be poison.
    std::vector<int> shuffle(width());
    for (int lane = 0; lane < width(); ++lane) shuffle[lane] = result == nullptr ? 0 : lane;
    for (int lane : *active) {
      const int64_t from = steps[lane] - low - start;
      if (done[lane] || from >= width()) continue;
      shuffle[lane] = static_cast<int>(result == nullptr ? from : width() + from);
      done[lane] = true;
    }
    result = result == nullptr ? b_.CreateShuffleVector(run, shuffle) : b_.CreateShuffleVector(result, run, shuffle);
  }
  return result;
}

llvm::Value* ArrayAccess::LoadPartOfRun(const LaneIndex& at) {
  const std::vector<int> lanes = PossibleLanes(context_.lanes.mask, width());
  if (lanes.empty()) return nullptr;
  const absl::Span<const int64_t> steps = at.steps();
  const int64_t offset = steps[lanes[0]] - lanes[0];
  if (std::any_of(lanes.begin(), lanes.end(), [&](int lane) { return steps[lane] - lane != offset; })) return nullptr;
  return LoadRun(at.AddConstant(offset), width(), context_.lanes.mask);
}

bool ArrayAccess::IsTable(const LaneIndex& at) {
  return at.stride() > 0 && at.BaseModulo(at.stride()).has_value() &&
         ShapeUtil::ElementsIn(array_.shape) % at.stride() == 0;
}

llvm::Value* ArrayAccess::LoadShuffled(LaneIndex at) {
  const int64_t stride = std::abs(at.stride());
  const bool table = IsTable(at), descending = at.stride() < 0;
  const int64_t column = table ? *at.BaseModulo(stride) : 0;
  const int64_t span = table ? width() * stride : (width() - 1) * stride + 1;
  at = at.AddConstant(descending ? 1 - span : -column);
  if (llvm::Value* result = table ? LoadPartsOfRows(at, stride, column) : nullptr) return result;
  llvm::Value* result = nullptr;
  for (int lane = 0; lane < width();) {
    const int64_t start = std::min<int64_t>((lane * stride + column) / width() * width(), span - width());
    llvm::Value* run = LoadRun(at.AddConstant(start), width(), RowMask(start, stride));
    std::vector<int> shuffle(width(), -1);
    for (int done = 0; done < lane; ++done) shuffle[done] = done;
    const int base = result == nullptr ? 0 : width();
    for (; lane < width() && lane * stride + column < start + width(); ++lane) {
      shuffle[lane] = static_cast<int>(base + lane * stride + column - start);
    }
    result = result == nullptr ? b_.CreateShuffleVector(run, shuffle) : b_.CreateShuffleVector(result, run, shuffle);
  }
  return descending ? b_.CreateVectorReverse(result) : result;
}

llvm::Value* ArrayAccess::LoadPartsOfRows(const LaneIndex& at, int64_t elements, int64_t column) {
  const int64_t bits = type_->getPrimitiveSizeInBits(), row_bits = elements * bits;
  if (bits > 16 || (row_bits != 32 && row_bits != 64) || context_.lanes.mask != nullptr) return nullptr;
  llvm::Type* rows = llvm::FixedVectorType::get(b_.getIntNTy(static_cast<unsigned>(row_bits)), width());
  llvm::Value* value = Tag(b_.CreateAlignedLoad(rows, Pointer(at), Alignment(at)));
  value = b_.CreateLShr(value, static_cast<uint64_t>(column * bits));
  llvm::Type* parts = llvm::FixedVectorType::get(b_.getIntNTy(static_cast<unsigned>(bits)), width());
  return b_.CreateBitCast(b_.CreateTrunc(value, parts), llvm::FixedVectorType::get(type_, width()));
}

llvm::Value* ArrayAccess::RowMask(int64_t start, int64_t stride) {
  if (context_.lanes.mask == nullptr) return nullptr;
  std::vector<int> rows;
  for (int i = 0; i < width(); ++i) rows.push_back(static_cast<int>((start + i) / stride));
  return b_.CreateShuffleVector(context_.lanes.mask, rows);
}
}  // namespace hilo::codegen
