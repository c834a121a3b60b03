// Top-k by selection: blocks load tiles of a row to shared memory, keep the first k of each, and store them for the
// next launch, until a row is one tile.
//
// An element and its index form one integer, the element's key above the index, so that no two are equal and the order
// of integers is the requested order. A tile is sorted in chunks of k (rounded up to a power of two) by a bitonic
// network. Then pairs of chunks are merged: of element i of one and element k-1-i of the other the smaller is kept,
// which keeps the first k of both, as a bitonic sequence; half a network sorts it. The work per element is about
// log(k)^2 / 2 exchanges, whatever the length of the row.
#include <algorithm>
#include <bit>

#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/match/sort_match.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/ops/reduction/search_attributes.h"

namespace hilo::gpu {
namespace {

using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

int64_t PowerFrom(int64_t n) { return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(n))); }
int64_t Log(int64_t power) { return std::countr_zero(static_cast<uint64_t>(power)); }

struct TopK {
  const HloInstruction* instruction;
  const HloInstruction* operand;
  bool largest;
  int64_t rows, k, chunk;  // chunk: k rounded up
  int64_t cell_bytes;      // of an element with its index
};

class TopKKernel {
 public:
  TopKKernel(KernelEmitter& k, const TopK& t, int64_t tile, int64_t block)
      : k_(k),
        b_(k.b()),
        t_(t),
        tile_(tile),
        block_(block),
        type_(b_.getIntNTy(static_cast<unsigned>(8 * t.cell_bytes))),
        thread_(k.Thread()) {
    cells_ = k.Shared(type_, tile, "tile");
  }

  // Selects the first k of `tile` adjacent elements of a row of `count`, where `parts` tiles make up a row. Argument 0
  // of the kernel's own is the input (unless `first`), argument 1 the output (unless there is one part).
  absl::Status Run(int64_t count, int64_t parts, bool first) {
    llvm::Value *row = b_.CreateUDiv(k_.Block(), Int(parts)), *part = b_.CreateURem(k_.Block(), Int(parts));
    llvm::Value* begin = b_.CreateMul(part, Int(tile_), "", true, true);
    HILO_RETURN_IF_ERROR(Each(tile_, [&](llvm::Value* e) -> absl::Status {
      llvm::Value* at = b_.CreateAdd(begin, e, "", true, true);
      k_.StoreCell(cells_, e, llvm::ConstantInt::getAllOnesValue(type_));  // after all elements
      return k_.If("there", b_.CreateICmpULT(at, Int(count)), [&]() -> absl::Status {
        llvm::Value* cell = nullptr;
        if (first) {
          HILO_ASSIGN_OR_RETURN(const ElementValue value,
                                k_.elements().Generate(t_.operand, At(row, LaneIndex::Uniform(at, 1, count))));
          llvm::Value* key =
              codegen::EmitOrderKey(k_.context(), t_.operand->shape().element_type(), value.re, t_.largest);
          cell = b_.CreateOr(b_.CreateShl(b_.CreateZExt(key, type_), 32), b_.CreateZExt(at, type_));
        } else {
          cell = k_.LoadCell(k_.extra(0), b_.CreateAdd(b_.CreateMul(row, Int(count)), at), type_);
        }
        k_.StoreCell(cells_, e, cell);
        return absl::OkStatus();
      });
    }));
    k_.Barrier();
    HILO_RETURN_IF_ERROR(SortChunks());
    HILO_RETURN_IF_ERROR(MergeChunks());
    return Each(t_.k, [&](llvm::Value* e) -> absl::Status {
      llvm::Value* cell = k_.LoadCell(cells_, e, type_);
      if (parts > 1) {
        llvm::Value* list = b_.CreateAdd(b_.CreateMul(row, Int(parts)), part);
        k_.StoreCell(k_.extra(1), b_.CreateAdd(b_.CreateMul(list, Int(t_.k)), e), cell);
        return absl::OkStatus();
      }
      llvm::Value* number = b_.CreateTrunc(cell, b_.getInt32Ty());
      const int64_t size = t_.operand->shape().dimensions().back();
      HILO_ASSIGN_OR_RETURN(
          const ElementValue value,
          k_.elements().Generate(t_.operand,
                                 At(row, LaneIndex::Uniform(b_.CreateZExt(number, b_.getInt64Ty()), 1, size))));
      const Index to = At(row, LaneIndex::Uniform(e, 1, t_.k));
      k_.ArrayOf(t_.instruction, 0).Store(k_.context(), to, value);
      k_.ArrayOf(t_.instruction, 1).Store(k_.context(), to, {number});
      return absl::OkStatus();
    });
  }

 private:
  llvm::Value* Int(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }
  llvm::Value* PowerOf(llvm::Value* log) { return b_.CreateShl(Int(1), log, "", true, true); }
  llvm::Value* Low(llvm::Value* x, llvm::Value* log) { return b_.CreateAnd(x, b_.CreateSub(PowerOf(log), Int(1))); }

  absl::Status Each(int64_t count, absl::FunctionRef<absl::Status(llvm::Value*)> body) {
    return k_.ForEach("each", thread_, Int(count), block_, body);
  }

  Index At(llvm::Value* row, const LaneIndex& last) {
    const auto dimensions = t_.operand->shape().dimensions();
    std::vector<LaneIndex> at = k_.Delinearize(row, dimensions.subspan(0, dimensions.size() - 1));
    at.push_back(last);
    return Index(std::move(at));
  }

  // Moves the smaller of two cells to the first.
  absl::Status Exchange(llvm::Value* low, llvm::Value* high) {
    llvm::Value *a = k_.LoadCell(cells_, low, type_), *c = k_.LoadCell(cells_, high, type_);
    k_.StoreCell(cells_, low, b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, a, c));
    k_.StoreCell(cells_, high, b_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, a, c));
    return absl::OkStatus();
  }

  // Sorts bitonic sequences of 2^log cells in ascending order, `pairs` exchanges at a time; `cell` maps i to its
  // cell.
  absl::Status Rise(llvm::Value* log, llvm::Value* pairs, absl::FunctionRef<llvm::Value*(llvm::Value*)> cell) {
    return k_.ForEach("strides", Int(0), log, 1, [&](llvm::Value* iteration) -> absl::Status {
      llvm::Value* stride = b_.CreateSub(b_.CreateSub(log, iteration), Int(1));
      HILO_RETURN_IF_ERROR(k_.ForEach("pairs", thread_, pairs, block_, [&](llvm::Value* p) {
        llvm::Value* low =
            b_.CreateAdd(b_.CreateShl(b_.CreateLShr(p, stride), b_.CreateAdd(stride, Int(1))), Low(p, stride));
        return Exchange(cell(low), cell(b_.CreateAdd(low, PowerOf(stride))));
      }));
      k_.Barrier();
      return absl::OkStatus();
    });
  }

  absl::Status SortChunks() {
    return k_.ForEach("sizes", Int(1), Int(Log(t_.chunk) + 1), 1, [&](llvm::Value* log) -> absl::Status {
      llvm::Value* half = b_.CreateSub(log, Int(1));
      // Two ascending halves: each cell of one with its mirror image in the other.
      HILO_RETURN_IF_ERROR(Each(tile_ / 2, [&](llvm::Value* p) {
        llvm::Value *begin = b_.CreateShl(b_.CreateLShr(p, half), log), *i = Low(p, half);
        return Exchange(b_.CreateAdd(begin, i),
                        b_.CreateSub(b_.CreateAdd(begin, b_.CreateSub(PowerOf(log), Int(1))), i));
      }));
      k_.Barrier();
      return Rise(half, Int(tile_ / 2), [](llvm::Value* i) { return i; });
    });
  }

  // Chunks stay in place: in iteration r those at multiples of 2^(r+1) chunks take what the ones 2^r chunks after them
  // have.
  absl::Status MergeChunks() {
    const int64_t log_chunk = Log(t_.chunk);
    return k_.ForEach("merges", Int(0), Int(Log(tile_) - log_chunk), 1, [&](llvm::Value* iteration) -> absl::Status {
      llvm::Value* log_distance = b_.CreateAdd(iteration, Int(log_chunk));
      llvm::Value *distance = PowerOf(log_distance),
                  *left = b_.CreateLShr(Int(tile_ / 2), iteration);  // cells after this iteration
      const auto cell = [&](llvm::Value* i) {
        llvm::Value* chunk = b_.CreateLShr(i, Int(log_chunk));
        return b_.CreateAdd(b_.CreateShl(chunk, b_.CreateAdd(log_distance, Int(1))),
                            b_.CreateAnd(i, Int(t_.chunk - 1)));
      };
      HILO_RETURN_IF_ERROR(k_.ForEach("pairs", thread_, left, block_, [&](llvm::Value* p) {
        llvm::Value *i = b_.CreateAnd(p, Int(t_.chunk - 1)), *mine = cell(p);
        llvm::Value* other =
            b_.CreateAdd(b_.CreateSub(mine, i), b_.CreateAdd(distance, b_.CreateSub(Int(t_.chunk - 1), i)));
        k_.StoreCell(cells_, mine,
                     b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, k_.LoadCell(cells_, mine, type_),
                                              k_.LoadCell(cells_, other, type_)));
        return absl::OkStatus();
      }));
      k_.Barrier();
      return Rise(Int(log_chunk), b_.CreateLShr(left, 1), cell);
    });
  }

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  const TopK& t_;
  const int64_t tile_, block_;
  llvm::Type* type_;
  llvm::Value* thread_;
  llvm::Value* cells_;
};

}  // namespace

absl::Status EmitTopK(ProgramEmitter& program, const HloInstruction* instruction) {
  const TopKAttrs& attrs = instruction->attrs<TopKAttrs>();
  const Shape& shape = instruction->operand(0)->shape();
  const TopK t{.instruction = instruction,
               .operand = instruction->operand(0),
               .largest = attrs.largest,
               .rows = ShapeUtil::ElementsIn(shape) / shape.dimensions().back(),
               .k = attrs.k,
               .chunk = PowerFrom(attrs.k),
               .cell_bytes = TopKCellBytes(shape.element_type())};
  KernelArgument from = KernelArgument::Scratch(0, 0, false);
  int64_t count = shape.dimensions().back();
  for (bool first = true;; first = false) {
    const int64_t tile = std::min(instruction->kernel()->tile[1], std::max(t.chunk, PowerFrom(count))),
                  parts = CeilDiv(count, tile);
    const int block = BlockFor(tile / 2);
    const int64_t bytes = parts > 1 ? t.rows * parts * t.k * t.cell_bytes : 0;
    KernelArgument to = KernelArgument::Scratch(program.AllocateScratch(bytes), bytes, true);
    KernelEmitter k(&program, instruction, {from, to});
    HILO_RETURN_IF_ERROR(TopKKernel(k, t, tile, block).Run(count, parts, first));
    HILO_RETURN_IF_ERROR(k.FinishAndLaunch(instruction, t.rows * parts, block));
    if (parts == 1) return absl::OkStatus();
    to.written = false;
    from = to;
    count = parts * t.k;
  }
}

}  // namespace hilo::gpu
