// Sorted scatters: one thread per update element, or per group of them, of which those of first updates combine all
// that follow for the same window.
//
// An index that is very frequent, such as that of a padding token, would keep one thread busy for as long as its run,
// so runs are cut at tiles of the updates where the computation permits it. The part of a run in the tile where it
// begins is applied; a run that goes on from the tile before leaves its part, the tile's *head*. The heads of all tiles
// are the entries of the next launch, until there is one tile: an entry without a head is of no run. The order in which
// updates are combined depends on their number alone.
#include <utility>
#include <vector>

#include "backends/gpu/emitters/nest_emitter.h"
#include "backends/gpu/emitters/program_emitter.h"
#include "backends/gpu/emitters/scatter/scatter_kernel.h"
#include "backends/llvm/elements/predication.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/ir/kernel_config.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::Index;
using codegen::LaneIndex;

// The entries of a launch.
struct SortedLevel {
  int64_t count = 0;
  int64_t updates = 1;     // of an entry: entry i begins with update i * updates
  int64_t tile = 0;        // entries of a tile; 0: all
  bool has_heads = false;  // entries are heads: the first arguments
  bool has_next = false;   // its heads are the entries of another launch: the last arguments
};

// Register types of the parts of an update's element.
std::vector<llvm::Type*> ElementParts(llvm::LLVMContext& context, const Scatter& s) {
  std::vector<llvm::Type*> types;
  for (int64_t i = 0; i < s.count; ++i) {
    const PrimitiveType type = s.scatter->operand(i)->shape().element_type();
    types.insert(types.end(), IsComplexType(type) ? 2 : 1, codegen::RegisterType(context, type));
  }
  return types;
}

class SortedKernel {
 public:
  SortedKernel(KernelEmitter& k, const Scatter& s, const SortedLevel& level)
      : k_(k),
        b_(k.b()),
        s_(s),
        kernel_(k, s),
        level_(level),
        group_(s.instruction->kernel()->width),
        window_elements_(Product(s.WindowSizes())),
        part_types_(ElementParts(k.b().getContext(), s)) {
    for (int64_t i = 0; i < s.count; ++i) types_.push_back(s.scatter->operand(i)->shape().element_type());
  }

  // `at`: the entry, and the position in its window of the first element of the thread.
  absl::Status Emit(const std::vector<LaneIndex>& at) {
    llvm::Value* entry = at[0].Value(k_.context());
    window_.assign(at.begin() + 1, at.end());
    in_window_ = Index(window_).Linear(k_.context(), s_.WindowSizes()).Base(k_.context());
    HILO_ASSIGN_OR_RETURN(origin_, kernel_.OriginOf({Update(entry)}));
    llvm::Value* has_previous = b_.CreateICmpNE(entry, Int(0));
    HILO_ASSIGN_OR_RETURN(llvm::Value * same,
                          IsOfWindow(b_.CreateSelect(has_previous, b_.CreateSub(entry, Int(1)), entry)));
    llvm::Value* exists = level_.has_heads ? HasHead(entry) : kernel_.IsInside(origin_);
    llvm::Value* goes_on = b_.CreateAnd(exists, b_.CreateAnd(has_previous, same));
    llvm::Value* first = b_.CreateNot(goes_on);
    if (level_.tile == 0) return k_.If("first", b_.CreateAnd(exists, first), [&] { return ApplyAllFrom(entry); });
    llvm::Value* begins_tile = b_.CreateICmpEQ(b_.CreateURem(entry, Int(level_.tile)), Int(0));
    llvm::Value* is_head = level_.has_next ? b_.CreateAnd(goes_on, begins_tile) : nullptr;
    if (is_head != nullptr) {
      HILO_RETURN_IF_ERROR(
          k_.If("flag", b_.CreateAnd(begins_tile, b_.CreateICmpEQ(in_window_, Int(0))), [&]() -> absl::Status {
            k_.StoreCell(k_.extra(FirstOut()), Tile(entry), is_head);
            return absl::OkStatus();
          }));
      first = b_.CreateOr(first, is_head);
    }
    return k_.If("first", b_.CreateAnd(exists, first), [&] { return CombineFrom(entry, is_head); });
  }

 private:
  llvm::Value* Int(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }
  LaneIndex Update(llvm::Value* entry) {
    llvm::Value* update = b_.CreateMul(entry, Int(level_.updates), "", true, true);
    return LaneIndex::Uniform(update, level_.updates, s_.BatchSizes()[0]);
  }
  llvm::Value* Tile(llvm::Value* entry) { return b_.CreateUDiv(entry, Int(level_.tile)); }
  llvm::Value* HasHead(llvm::Value* entry) { return k_.LoadCell(k_.extra(0), entry, b_.getInt1Ty()); }
  // The number of the first argument for heads of the next launch.
  int64_t FirstOut() const { return level_.has_heads ? 1 + static_cast<int64_t>(part_types_.size()) : 0; }
  // The cell of an element, `j` after the thread's first, of the head number `head`.
  llvm::Value* HeadCell(llvm::Value* head, int64_t j) {
    llvm::Value* window = b_.CreateMul(head, Int(window_elements_), "", true, true);
    return b_.CreateAdd(b_.CreateAdd(window, in_window_, "", true, true), Int(j), "", true, true);
  }

  // Returns whether the window of an entry is the thread's.
  absl::StatusOr<llvm::Value*> IsOfWindow(llvm::Value* entry) {
    HILO_ASSIGN_OR_RETURN(const std::vector<llvm::Value*> origin, kernel_.OriginOf({Update(entry)}));
    llvm::Value* same = level_.has_heads ? HasHead(entry) : b_.getTrue();
    for (int64_t d : s_.attrs->scatter_dims_to_operand_dims)
      same = b_.CreateAnd(same, b_.CreateICmpEQ(origin[d], origin_[d]));
    return same;
  }

  std::vector<LaneIndex> InWindow(int64_t j) const {
    std::vector<LaneIndex> at = window_;
    if (j > 0) at.back() = at.back().AddConstant(j).WithRange({0, s_.operand.dimensions().back() - 1});
    return at;
  }

  // Returns the entry after the last of those from `entry` on, before `limit`, that are of the thread's window.
  absl::StatusOr<llvm::Value*> EndOfRun(llvm::Value* entry, llvm::Value* limit) {
    llvm::LLVMContext& context = b_.getContext();
    llvm::BasicBlock *before = b_.GetInsertBlock(),
                     *body = llvm::BasicBlock::Create(context, "run", before->getParent()),
                     *after = llvm::BasicBlock::Create(context, "ran", before->getParent());
    llvm::Value* second = b_.CreateAdd(entry, Int(1), "", true, true);
    b_.CreateBr(body);
    b_.SetInsertPoint(body);
    codegen::RegionScope region(k_.context());
    llvm::PHINode* next = b_.CreatePHI(b_.getInt64Ty(), 2);
    next->addIncoming(second, before);
    llvm::Value* has_next = b_.CreateICmpULT(next, limit);
    HILO_ASSIGN_OR_RETURN(llvm::Value * same, IsOfWindow(b_.CreateSelect(has_next, next, entry)));
    next->addIncoming(b_.CreateAdd(next, Int(1), "", true, true), b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateAnd(has_next, same), body, after);
    b_.SetInsertPoint(after);
    return next;
  }

  // Returns the thread's elements of an entry, packed.
  absl::StatusOr<Carried> ValuesOf(llvm::Value* entry) {
    Carried values;
    for (int64_t j = 0; j < group_; ++j) {
      if (level_.has_heads) {
        for (size_t i = 0; i < part_types_.size(); ++i)
          values.push_back(k_.LoadCell(k_.extra(1 + static_cast<int64_t>(i)), HeadCell(entry, j), part_types_[i]));
        continue;
      }
      HILO_ASSIGN_OR_RETURN(const Elements updates, kernel_.UpdatesAt({Update(entry)}, InWindow(j)));
      const Carried packed = codegen::Pack(updates);
      values.insert(values.end(), packed.begin(), packed.end());
    }
    return values;
  }

  Elements ElementOf(const Carried& values, int64_t j) const {
    return codegen::Unpack(
        absl::MakeConstSpan(values).subspan(static_cast<size_t>(j) * part_types_.size(), part_types_.size()), types_);
  }

  // Combines `values` with those of the entries from `begin` to `end`.
  absl::StatusOr<Carried> CombineAll(Carried values, llvm::Value* begin, llvm::Value* end) {
    return codegen::EmitLoop(k_.context(), "updates", begin, end, 1, std::move(values),
                             [&](llvm::Value* entry, const Carried& running) -> absl::StatusOr<Carried> {
                               HILO_ASSIGN_OR_RETURN(const Carried updates, ValuesOf(entry));
                               Carried next;
                               for (int64_t j = 0; j < group_; ++j) {
                                 HILO_ASSIGN_OR_RETURN(const Elements combined,
                                                       kernel_.Combined(ElementOf(running, j), ElementOf(updates, j)));
                                 const Carried packed = codegen::Pack(combined);
                                 next.insert(next.end(), packed.begin(), packed.end());
                               }
                               return next;
                             });
  }

  Carried Load() {
    Carried values;
    for (int64_t j = 0; j < group_; ++j) {
      const Carried packed = codegen::Pack(kernel_.Load(Index(kernel_.PositionOf(origin_, InWindow(j)))));
      values.insert(values.end(), packed.begin(), packed.end());
    }
    return values;
  }
  void Store(const Carried& values) {
    for (int64_t j = 0; j < group_; ++j)
      kernel_.Store(Index(kernel_.PositionOf(origin_, InWindow(j))), ElementOf(values, j));
  }

  // In order, beginning with the operand.
  absl::Status ApplyAllFrom(llvm::Value* entry) {
    HILO_ASSIGN_OR_RETURN(llvm::Value * end, EndOfRun(entry, Int(level_.count)));
    HILO_ASSIGN_OR_RETURN(const Carried applied, CombineAll(Load(), entry, end));
    Store(applied);
    return absl::OkStatus();
  }

  // Combines the entries of the tile from `entry` on, then applies the result, or stores it if it is the tile's head.
  absl::Status CombineFrom(llvm::Value* entry, llvm::Value* is_head) {
    llvm::Value* tile_end = b_.CreateMul(b_.CreateAdd(Tile(entry), Int(1)), Int(level_.tile), "", true, true);
    llvm::Value* limit = codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::umin, tile_end, Int(level_.count));
    HILO_ASSIGN_OR_RETURN(llvm::Value * end, EndOfRun(entry, limit));
    HILO_ASSIGN_OR_RETURN(Carried values, ValuesOf(entry));
    HILO_ASSIGN_OR_RETURN(values, CombineAll(std::move(values), b_.CreateAdd(entry, Int(1), "", true, true), end));
    const auto apply = [&]() -> absl::Status {
      const Carried old = Load();
      Carried applied;
      for (int64_t j = 0; j < group_; ++j) {
        HILO_ASSIGN_OR_RETURN(const Elements combined, kernel_.Combined(ElementOf(old, j), ElementOf(values, j)));
        const Carried packed = codegen::Pack(combined);
        applied.insert(applied.end(), packed.begin(), packed.end());
      }
      Store(applied);
      return absl::OkStatus();
    };
    if (is_head == nullptr) return apply();
    HILO_RETURN_IF_ERROR(k_.If("head", is_head, [&] {
      for (size_t i = 0; i < values.size(); ++i) {
        const auto j = static_cast<int64_t>(i / part_types_.size()),
                   part = static_cast<int64_t>(i % part_types_.size());
        k_.StoreCell(k_.extra(FirstOut() + 1 + part), HeadCell(Tile(entry), j), values[i]);
      }
      return absl::OkStatus();
    }));
    return k_.If("applies", b_.CreateNot(is_head), apply);
  }

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  const Scatter& s_;
  ScatterKernel kernel_;
  const SortedLevel level_;
  const int64_t group_, window_elements_;
  const std::vector<llvm::Type*> part_types_;
  std::vector<PrimitiveType> types_;
  std::vector<LaneIndex> window_;     // of the thread
  llvm::Value* in_window_ = nullptr;  // its number
  std::vector<llvm::Value*> origin_;  // of its window
};

// Returns scratch memory for the heads of tiles: whether there is one, and the parts of its elements.
std::vector<KernelArgument> TileHeads(ProgramEmitter& program, const Scatter& s, int64_t tiles) {
  std::vector<KernelArgument> heads;
  const auto add = [&](int64_t bytes) {
    heads.push_back(KernelArgument::Scratch(program.AllocateScratch(bytes), bytes, true));
  };
  add(tiles);
  for (llvm::Type* type : ElementParts(program.llvm_context(), s))
    add(tiles * Product(s.WindowSizes()) * KernelEmitter::CellBytes(type));
  return heads;
}

}  // namespace

absl::Status EmitSortedUpdates(ProgramEmitter& program, const Scatter& s, int64_t tile) {
  SortedLevel level{.count = s.BatchSizes()[0], .tile = tile > 1 ? tile : 0};
  const KernelConfig& config = *s.instruction->kernel();
  std::vector<KernelArgument> heads;
  while (true) {
    const int64_t tiles = level.tile == 0 ? 1 : CeilDiv(level.count, level.tile);
    level.has_next = tiles > 1;
    std::vector<KernelArgument> next = level.has_next ? TileHeads(program, s, tiles) : std::vector<KernelArgument>(),
                                arguments = heads;
    arguments.insert(arguments.end(), next.begin(), next.end());
    std::vector<int64_t> sizes = {level.count};
    for (int64_t size : s.WindowSizes()) sizes.push_back(size);
    const codegen::NestDim nest = PerThread(std::move(sizes), config.tile[0], config.width);
    KernelEmitter k(&program, s.instruction, arguments);
    SortedKernel kernel(k, s, level);
    HILO_RETURN_IF_ERROR(EmitNestKernel(k, s.instruction, nest, [&](absl::Span<const Index> indices) {
      return kernel.Emit(indices[0].Dims(k.context()));
    }));
    if (!level.has_next) return absl::OkStatus();
    for (KernelArgument& argument : next) argument.written = false;
    heads = std::move(next);
    level = {.count = tiles, .updates = level.updates * level.tile, .tile = level.tile, .has_heads = true};
  }
}

}  // namespace hilo::gpu
