// Every access is one of: a scalar (uniform index), a run of lanes (stride 1 or -1), a small stride or a pattern made
// of a few overlapping runs that end exactly at the last element needed, lane by lane (larger strides), or a gather or
// scatter.
// Complex numbers are runs of twice as many components.
#include "backends/llvm/elements/ir_array.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>

#include "absl/numeric/bits.h"
#include "backends/llvm/elements/known_lanes.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "backends/llvm/lanes/lane_plan.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace hilo::codegen {
namespace {

// Vectors of the largest arrays that are read as whole vectors.
constexpr int64_t kWholeVectors = 8;

// Begins the keys of addresses among those of indices (EmitterContext::FindIndex), whose operations are counted from 0.
constexpr uint64_t kAddress = ~uint64_t{0};

// Accesses of one component type of one array. Positions count components.
class Access {
 public:
  Access(EmitterContext& context, const IrArray& array)
      : context_(context),
        b_(context.b()),
        array_(array),
        type_(MemoryType(context.llvm_context(), array.shape.element_type())),
        bytes_(PrimitiveTypeByteSize(ComplexComponentType(array.shape.element_type()))) {}

  llvm::Value* Load(const LaneIndex& at) {
    if (at.IsUniform() || width() == 1) return LoadScalar(at);
    if (llvm::Value* lanes = LoadWhole(at)) return lanes;
    if (at.IsPatterned()) {
      llvm::Value* pattern = LoadPattern(at);
      return pattern != nullptr ? pattern : Gather(at);
    }
    if (at.IsArbitrary()) return Gather(at);
    if (at.stride() == 1) return LoadRun(at, width(), context_.lanes.mask);
    if (at.stride() == -1) {
      return b_.CreateVectorReverse(LoadRun(RunStart(at), width(), Reversed(context_.lanes.mask)));
    }
    const bool small = std::abs(at.stride()) <= kLargestShuffledStride;
    if (context_.lanes.mask != nullptr) return small && IsTable(at) ? LoadShuffled(at) : Gather(at);
    return small ? LoadShuffled(at) : LoadLanes(at);
  }

  // Selects the lanes of a short row of the array, which all of them read at any position. Null if they do not, or if
  // it is too long.
  llvm::Value* LoadFromRow(const Index& index) {
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

  // `count` consecutive components; `mask` has as many lanes, or is null.
  llvm::Value* LoadRun(const LaneIndex& at, int count, llvm::Value* mask) {
    llvm::Type* type = llvm::FixedVectorType::get(type_, count);
    llvm::Value* pointer = Pointer(at);
    if (mask == nullptr) return Tag(b_.CreateAlignedLoad(type, pointer, Alignment(at)));
    if (IsPadded(at, count)) {
      llvm::Value* all = Tag(b_.CreateAlignedLoad(type, pointer, Alignment(at)));
      return b_.CreateSelect(mask, all, llvm::Constant::getNullValue(type));
    }
    llvm::Align alignment = Alignment(at);
    if (context_.lanes.may_be_far) {
      pointer = NearPointer(at, count);
      alignment = llvm::Align(ElementAlignment());
    }
    return Tag(b_.CreateMaskedLoad(type, pointer, alignment, mask, llvm::Constant::getNullValue(type)));
  }

  void Store(const LaneIndex& at, llvm::Value* value) {
    if (width() == 1 && context_.lanes.mask != nullptr) return StoreIf(context_.lanes.mask, at, value);
    if (at.IsUniform() || width() == 1) {
      value = context_.Lane(value, 0);
      llvm::Value* any = context_.AnyLaneActive();
      return any == nullptr ? StoreScalar(at, value) : StoreIf(any, at, value);
    }
    value = context_.Splat(value);
    const bool is_strided = !at.IsArbitrary() && !at.IsPatterned();
    if (at.stride() == 1 && is_strided) return StoreRun(at, value, context_.lanes.mask);
    if (at.stride() == -1 && is_strided) {
      return StoreRun(RunStart(at), b_.CreateVectorReverse(value), Reversed(context_.lanes.mask));
    }
    if (is_strided && context_.lanes.mask == nullptr && !context_.target().has_avx512) return StoreLanes(at, value, 1);
    Tag(b_.CreateMaskedScatter(value, Pointers(at), llvm::Align(ElementAlignment()), context_.MaskValue()));
  }

  // Stores `count` consecutive components for each lane of `at`. `values` has those of the first lane first.
  void StoreLanes(const LaneIndex& at, llvm::Value* values, int count) {
    for (int lane = 0; lane < width(); ++lane) {
      const LaneIndex position = at.AddConstant(lane * at.stride());
      std::vector<int> of_lane(static_cast<size_t>(count));
      std::iota(of_lane.begin(), of_lane.end(), lane * count);
      llvm::Value* element = count == 1 ? b_.CreateExtractElement(values, static_cast<uint64_t>(lane))
                                        : b_.CreateShuffleVector(values, of_lane);
      Tag(b_.CreateAlignedStore(element, Pointer(position), Alignment(position)));
    }
  }

  // Stores one component of each of `columns` for each lane, which together are consecutive: vector by vector, each of
  // which takes its lanes from one column after the other. LLVM would take a shuffle of all of them apart.
  void StoreInterleaved(const LaneIndex& at, absl::Span<llvm::Value* const> columns) {
    const int count = static_cast<int>(columns.size());
    for (int vector = 0; vector < count; ++vector) {
      std::vector<int> rows(width());
      for (int lane = 0; lane < width(); ++lane) rows[lane] = (vector * width() + lane) / count;
      llvm::Value* result = nullptr;
      for (int column = 0; column < count; ++column) {
        std::vector<int> shuffle(width());
        bool is_used = false;
        for (int lane = 0; lane < width(); ++lane) {
          const bool is_here = (vector * width() + lane) % count == column;
          is_used = is_used || is_here;
          shuffle[lane] = result == nullptr ? rows[lane] : is_here ? width() + rows[lane] : lane;
        }
        if (!is_used) continue;
        result = result == nullptr ? b_.CreateShuffleVector(columns[column], shuffle)
                                   : b_.CreateShuffleVector(result, columns[column], shuffle);
      }
      llvm::Value* mask = context_.lanes.mask;
      StoreRun(at.AddConstant(vector * width()), result,
               mask == nullptr ? nullptr : b_.CreateShuffleVector(mask, rows));
    }
  }

  void StoreRun(const LaneIndex& at, llvm::Value* value, llvm::Value* mask) {
    llvm::Value* pointer = Pointer(at);
    if (mask == nullptr || WritesOnlyPadding(at, value, mask)) {
      Tag(b_.CreateAlignedStore(value, pointer, Alignment(at)));
    } else if (const std::optional<std::vector<int>> active = ActiveLanes(mask, LanesOf(value));
               active && !active->empty() && active->back() + 1 == static_cast<int>(active->size())) {
      StoreFirst(at, value, static_cast<int64_t>(active->size()));
    } else {
      Tag(b_.CreateMaskedStore(value, pointer, Alignment(at), mask));
    }
  }

 private:
  int width() const { return context_.lanes.width; }

  // Returns the address of Base(). Those that are constants apart are relative to one, which may be outside the array.
  llvm::Value* Pointer(const LaneIndex& at) {
    llvm::Value* variable = at.BaseVariable();
    if (variable == nullptr || at.BaseConstant() == 0) return Pointer(at.Base(context_));
    const auto bits = [](const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); };
    std::vector<uint64_t> key{kAddress, bits(array_.pointer), bits(type_), bits(variable)};
    llvm::Value* address = context_.FindIndex(key);
    if (address == nullptr) {
      address = b_.CreateGEP(type_, array_.pointer, variable);
      context_.RememberIndex(std::move(key), address);
    }
    return b_.CreateGEP(type_, address, context_.Int64(at.BaseConstant()));
  }

  // Under a mask the first lane may be outside the array.
  llvm::Value* Pointer(llvm::Value* position) {
    return context_.lanes.mask == nullptr ? b_.CreateInBoundsGEP(type_, array_.pointer, position)
                                          : b_.CreateGEP(type_, array_.pointer, position);
  }

  // Returns the address of Base() if one of `count` components from there is in the array, otherwise one next to the
  // array: where no memory is, processors take 500 cycles to find that no lane is read.
  llvm::Value* NearPointer(const LaneIndex& at, int count) {
    llvm::Value* first = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, at.Base(context_), context_.Int64(-count));
    return Pointer(b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, first, context_.Int64(Components())));
  }

  static int LanesOf(llvm::Value* value) {
    return static_cast<int>(llvm::cast<llvm::FixedVectorType>(value->getType())->getNumElements());
  }

  // Components of the array.
  int64_t Components() const {
    return ShapeUtil::ElementsIn(array_.shape) * (IsComplexType(array_.shape.element_type()) ? 2 : 1);
  }

  // Returns true if `count` components are known to be in the array or its padding: they are then accessed without a
  // mask, so that arrays on the stack become registers.
  bool IsPadded(const LaneIndex& at, int64_t count) {
    if (array_.padding == 0) return false;
    auto* first = llvm::dyn_cast<llvm::ConstantInt>(at.Base(context_));
    return first != nullptr && first->getSExtValue() >= 0 &&
           first->getSExtValue() + count <= Components() + array_.padding / bytes_;
  }
  // Returns true if a vector may be stored without its mask: what that excludes is in the padding.
  bool WritesOnlyPadding(const LaneIndex& at, llvm::Value* value, llvm::Value* mask) {
    const int lanes = LanesOf(value);
    const std::optional<std::vector<int>> active = ActiveLanes(mask, lanes);
    if (!active || !IsPadded(at, lanes)) return false;
    const int64_t first = llvm::cast<llvm::ConstantInt>(at.Base(context_))->getSExtValue();
    const int64_t inside = std::clamp<int64_t>(Components() - first, 0, lanes);
    return inside == 0 || (static_cast<int64_t>(active->size()) >= inside && (*active)[inside - 1] == inside - 1);
  }

  // One pointer per lane. 32-bit indices gather twice as many lanes at once.
  llvm::Value* Pointers(const LaneIndex& at) {
    llvm::Value* narrow = at.Value32(context_);
    return Pointer(narrow != nullptr ? narrow : at.Value(context_));
  }

  // The known alignment of the array: an element's, unless stated otherwise.
  uint64_t ElementAlignment() const { return std::gcd(std::max<int64_t>(array_.alignment, 1), bytes_); }
  llvm::Align Alignment(const LaneIndex& at) const {
    int64_t bytes = std::gcd(std::max<int64_t>(array_.alignment, 1), at.BaseMultiple() * bytes_);
    return llvm::Align(std::max<int64_t>(bytes & -bytes, 1));
  }

  template <typename T>
  T* Tag(T* instruction) {
    if (array_.alias_scope != nullptr) instruction->setMetadata(llvm::LLVMContext::MD_alias_scope, array_.alias_scope);
    if (array_.noalias != nullptr) instruction->setMetadata(llvm::LLVMContext::MD_noalias, array_.noalias);
    if (array_.invariant && instruction->mayReadFromMemory() && !instruction->mayWriteToMemory()) {
      instruction->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_.llvm_context(), {}));
    }
    return instruction;
  }

  llvm::Value* LoadScalar(const LaneIndex& at) {
    // If no lane may be active, the index is arbitrary: element 0 is as good as any.
    llvm::Value* active = width() == 1 ? context_.lanes.mask : context_.AnyLaneActive();
    if (active == nullptr) return Tag(b_.CreateAlignedLoad(type_, Pointer(at), Alignment(at)));
    llvm::Value* position = b_.CreateSelect(active, at.Base(context_), context_.Int64(0));
    return Tag(b_.CreateAlignedLoad(type_, Pointer(position), llvm::Align(ElementAlignment())));
  }

  void StoreScalar(const LaneIndex& at, llvm::Value* value) {
    Tag(b_.CreateAlignedStore(value, Pointer(at), Alignment(at)));
  }

  void StoreIf(llvm::Value* condition, const LaneIndex& at, llvm::Value* value) {
    llvm::BasicBlock* store = llvm::BasicBlock::Create(context_.llvm_context(), "store", context_.function());
    llvm::BasicBlock* after = llvm::BasicBlock::Create(context_.llvm_context(), "stored", context_.function());
    llvm::Value* pointer = Pointer(at);
    b_.CreateCondBr(condition, store, after);
    b_.SetInsertPoint(store);
    Tag(b_.CreateAlignedStore(value, pointer, Alignment(at)));
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
  }

  // Stores the first `count` lanes by stores of their exact sizes. A processor takes a masked store for one of the
  // whole vector: where the next row of the same array is loaded behind it, the load would wait until it is in the
  // cache.
  void StoreFirst(const LaneIndex& at, llvm::Value* value, int64_t count) {
    for (int64_t done = 0; done < count;) {
      const int64_t size = int64_t{1} << (63 - absl::countl_zero(static_cast<uint64_t>(count - done)));
      std::vector<int> lanes(static_cast<size_t>(size));
      std::iota(lanes.begin(), lanes.end(), static_cast<int>(done));
      const LaneIndex here = at.AddConstant(done);
      Tag(b_.CreateAlignedStore(b_.CreateShuffleVector(value, lanes), Pointer(here), Alignment(here)));
      done += size;
    }
  }

  // Lane width - 1 of a descending run.
  LaneIndex RunStart(const LaneIndex& at) { return at.AddConstant(1 - width()); }
  llvm::Value* Reversed(llvm::Value* mask) { return mask == nullptr ? nullptr : b_.CreateVectorReverse(mask); }

  llvm::Value* Gather(const LaneIndex& at) {
    llvm::Type* type = llvm::FixedVectorType::get(type_, width());
    const int64_t count = ShapeUtil::ElementsIn(array_.shape);
    if (llvm::Value* element = LoadFromRegisters(at, LaneIndex::Constant(0), count)) return element;
    if (bytes_ < 4 && context_.target().has_avx512 && array_.alignment % 4 == 0) return GatherNarrow(at);
    // There are no gathers of less than 32 bits.
    if (bytes_ < 4 && context_.lanes.mask == nullptr) return LoadEach(at.Value(context_));
    return Tag(b_.CreateMaskedGather(type, Pointers(at), llvm::Align(ElementAlignment()), context_.MaskValue(),
                                     llvm::Constant::getNullValue(type)));
  }

  // Gathers the aligned words of 32 bits that contain the elements, and shifts them. The last word may reach beyond the
  // array, but not beyond its page.
  llvm::Value* GatherNarrow(const LaneIndex& at) {
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

  // Selects the elements at positions among `count` of the array from `begin` on, if they fit in up to four
  // registers, by permutations, which take a tenth of the time of a gather: JAX's gammaln of 50,000 elements, 14 tables
  // of 16 coefficients, 370 -> 187 us. Returns null for more elements.
  llvm::Value* LoadFromRegisters(const LaneIndex& at, const LaneIndex& begin, int64_t count) {
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
          rest <= 0 ? b_.CreateIntrinsic(permutations->of_one, {}, {low, positions})
                    : b_.CreateIntrinsic(
                          permutations->of_two, {},
                          {low, positions,
                           LoadElements(begin.AddConstant(first + width()), std::min<int64_t>(rest, width()))});
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

  // The instructions that permute the elements of one and of two registers.
  struct Permutations {
    llvm::Intrinsic::ID of_one, of_two;
  };
  // Returns those of AVX-512 for registers of `bits`; nullopt if there are none.
  std::optional<Permutations> PermutationsOf(int64_t bits) const {
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

  // Loads `count` elements, at most as many as there are lanes, to the first lanes of a register, whichever lanes are
  // active.
  llvm::Value* LoadElements(const LaneIndex& first, int64_t count) {
    if (count == width()) return LoadRun(first, width(), nullptr);
    std::vector<llvm::Constant*> inside;
    for (int lane = 0; lane < width(); ++lane) inside.push_back(b_.getInt1(lane < count));
    return LoadRun(first, width(), llvm::ConstantVector::get(inside));
  }

  llvm::Value* LoadEach(llvm::Value* positions) {
    llvm::Value* result = llvm::PoisonValue::get(llvm::FixedVectorType::get(type_, width()));
    for (int lane = 0; lane < width(); ++lane) {
      llvm::Value* pointer = Pointer(b_.CreateExtractElement(positions, static_cast<uint64_t>(lane)));
      result = b_.CreateInsertElement(result,
                                      Tag(b_.CreateAlignedLoad(type_, pointer, llvm::Align(ElementAlignment()))), lane);
    }
    return result;
  }

  llvm::Value* LoadLanes(const LaneIndex& at) {
    llvm::Value* result = llvm::PoisonValue::get(llvm::FixedVectorType::get(type_, width()));
    for (int lane = 0; lane < width(); ++lane) {
      const LaneIndex position = at.AddConstant(lane * at.stride());
      llvm::Value* element = Tag(b_.CreateAlignedLoad(type_, Pointer(position), Alignment(position)));
      result = b_.CreateInsertElement(result, element, lane);
    }
    return result;
  }

  // Loads whole vectors, as they are stored, of a padded array of few of them, and permutes them: arrays on the stack
  // then become registers, whatever is read of them. Null if the positions or the mask are not constants.
  llvm::Value* LoadWhole(const LaneIndex& at) {
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

  // Loads the runs from the first to the last element that the active lanes of a pattern need, and permutes them. Null
  // if the elements are far apart, or if the mask is not a constant and not all lanes are one run.
  llvm::Value* LoadPattern(const LaneIndex& at) {
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

  // Loads the run that a pattern is in all lanes that may be active under a mask, as in the columns that a
  // concatenation puts side by side. Null if it is none.
  llvm::Value* LoadPartOfRun(const LaneIndex& at) {
    const std::vector<int> lanes = PossibleLanes(context_.lanes.mask, width());
    if (lanes.empty()) return nullptr;
    const absl::Span<const int64_t> steps = at.steps();
    const int64_t offset = steps[lanes[0]] - lanes[0];
    if (std::any_of(lanes.begin(), lanes.end(), [&](int lane) { return steps[lane] - lane != offset; })) return nullptr;
    return LoadRun(at.AddConstant(offset), width(), context_.lanes.mask);
  }

  // Returns true if the lanes are in one column of a table, whose row length is the lanes' stride: whole rows may then
  // be loaded.
  bool IsTable(const LaneIndex& at) {
    return at.stride() > 0 && at.BaseModulo(at.stride()).has_value() &&
           ShapeUtil::ElementsIn(array_.shape) % at.stride() == 0;
  }

  // Loads runs from the first element needed to the last; for a table from the first row to the last, so that other
  // columns share the same loads.
  llvm::Value* LoadShuffled(LaneIndex at) {
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

  // Loads rows, of which there are as many as lanes, as integers, and returns the elements of one column: for rows of
  // 32 and 64 bits of narrower elements, which processors cut out of integers faster than LLVM finds shuffles that do.
  // Null for others.
  llvm::Value* LoadPartsOfRows(const LaneIndex& at, int64_t elements, int64_t column) {
    const int64_t bits = type_->getPrimitiveSizeInBits(), row_bits = elements * bits;
    if (bits > 16 || (row_bits != 32 && row_bits != 64) || context_.lanes.mask != nullptr) return nullptr;
    llvm::Type* rows = llvm::FixedVectorType::get(b_.getIntNTy(static_cast<unsigned>(row_bits)), width());
    llvm::Value* value = Tag(b_.CreateAlignedLoad(rows, Pointer(at), Alignment(at)));
    value = b_.CreateLShr(value, static_cast<uint64_t>(column * bits));
    llvm::Type* parts = llvm::FixedVectorType::get(b_.getIntNTy(static_cast<unsigned>(bits)), width());
    return b_.CreateBitCast(b_.CreateTrunc(value, parts), llvm::FixedVectorType::get(type_, width()));
  }

  // Returns the mask of the run that begins `start` elements after the first row; null if all lanes are active.
  llvm::Value* RowMask(int64_t start, int64_t stride) {
    if (context_.lanes.mask == nullptr) return nullptr;
    std::vector<int> rows;
    for (int i = 0; i < width(); ++i) rows.push_back(static_cast<int>((start + i) / stride));
    return b_.CreateShuffleVector(context_.lanes.mask, rows);
  }

  EmitterContext& context_;
  llvm::IRBuilder<>& b_;
  const IrArray& array_;
  llvm::Type* type_;
  int64_t bytes_;
};

// {0, w, 2 w, ..., 1, w + 1, ...}: converts `vectors` concatenated vectors of w lanes to groups of one lane of each.
std::vector<int> Interleave(int width, int vectors = 2) {
  std::vector<int> shuffle;
  for (int lane = 0; lane < width; ++lane) {
    for (int i = 0; i < vectors; ++i) shuffle.push_back(i * width + lane);
  }
  return shuffle;
}

llvm::Value* PairMask(EmitterContext& context) {
  llvm::Value* mask = context.lanes.mask;
  return mask == nullptr ? nullptr : context.b().CreateShuffleVector(mask, mask, Interleave(context.lanes.width));
}

bool IsRun(EmitterContext& context, const LaneIndex& at) {
  return context.lanes.width > 1 && !at.IsArbitrary() && !at.IsPatterned() && at.stride() == 1;
}

}  // namespace

ElementValue IrArray::Load(EmitterContext& context, const Index& index) const {
  const PrimitiveType type = shape.element_type();
  if (ShapeUtil::IsZeroElementArray(shape)) return EmitZero(context, type);
  Access access(context, *this);
  if (!IsComplexType(type)) {
    if (llvm::Value* lanes = access.LoadFromRow(index)) return {FromMemory(context, type, lanes)};
  }
  const LaneIndex at = index.Linear(context, shape.dimensions());
  if (!IsComplexType(type)) return {FromMemory(context, type, access.Load(at))};
  const LaneIndex real = at.MulConstant(context, 2);
  if (!IsRun(context, at)) return {access.Load(real), access.Load(real.AddConstant(1))};
  const int width = context.lanes.width;
  llvm::Value* pairs = access.LoadRun(real, 2 * width, PairMask(context));
  std::vector<int> even, odd;
  for (int lane = 0; lane < width; ++lane) {
    even.push_back(2 * lane);
    odd.push_back(2 * lane + 1);
  }
  return {context.b().CreateShuffleVector(pairs, even), context.b().CreateShuffleVector(pairs, odd)};
}

void IrArray::Store(EmitterContext& context, const Index& index, ElementValue value) const {
  const PrimitiveType type = shape.element_type();
  if (ShapeUtil::IsZeroElementArray(shape)) return;
  Access access(context, *this);
  const LaneIndex at = index.Linear(context, shape.dimensions());
  if (!IsComplexType(type)) return access.Store(at, ToMemory(context, type, value.re));
  const LaneIndex real = at.MulConstant(context, 2);
  if (IsRun(context, at)) {
    value = context.Splat(value);
    llvm::Value* pairs = context.b().CreateShuffleVector(value.re, value.im, Interleave(context.lanes.width));
    return access.StoreRun(real, pairs, PairMask(context));
  }
  access.Store(real, value.re);
  access.Store(real.AddConstant(1), value.im);
}

void IrArray::StoreColumns(EmitterContext& context, const Index& first, absl::Span<const ElementValue> values) const {
  const PrimitiveType type = shape.element_type();
  Access access(context, *this);
  const int width = context.lanes.width;
  LaneIndex at = first.Linear(context, shape.dimensions());
  std::vector<llvm::Value*> columns;
  for (const ElementValue& value : values) {
    const ElementValue splat = context.Splat(value);
    for (llvm::Value* component : {splat.re, splat.im}) {
      if (component != nullptr) columns.push_back(ToMemory(context, type, component));
    }
  }
  if (IsComplexType(type)) at = at.MulConstant(context, 2);
  const int count = static_cast<int>(columns.size());
  if (at.stride() > count && context.lanes.mask != nullptr) {
    for (int column = 0; column < count; ++column) access.Store(at.AddConstant(column), columns[column]);
    return;
  }
  if (static_cast<int64_t>(values.size()) > kLargestShuffledStride && at.stride() == count)
    return access.StoreInterleaved(at, columns);
  const std::vector<int> shuffle = Interleave(width, count);
  llvm::Value* mask = context.lanes.mask;
  if (mask != nullptr && count > 1)
    mask = llvm::concatenateVectors(context.b(), std::vector<llvm::Value*>(count, mask));
  if (mask != nullptr && count > 1) mask = context.b().CreateShuffleVector(mask, shuffle);
  llvm::Value* rows = columns[0];
  if (count > 1) rows = context.b().CreateShuffleVector(llvm::concatenateVectors(context.b(), columns), shuffle);
  if (at.stride() > count) return access.StoreLanes(at, rows, count);
  access.StoreRun(at, rows, mask);
}

}  // namespace hilo::codegen
