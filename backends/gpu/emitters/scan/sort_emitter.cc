// Sort: merges of runs of doubling length, first within tiles in a block's shared memory, in one launch, then of tiles,
// with one launch per merge. One thread per element finds how many elements of the adjacent run come before its own, by
// bisection, and so its destination. Of equal elements those of the left run come first: the sort is stable. Any
// computation and any number of arrays.
#include <algorithm>

#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/emitters/nest_emitter.h"
#include "backends/gpu/thunks/kernel_thunks.h"
#include "backends/llvm/elements/predication.h"
#include "backends/llvm/elements/scalar_computation.h"
#include "base/errors.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::Index;
using codegen::LaneIndex;

struct Sort {
  const HloInstruction* instruction;
  int64_t count;                     // arrays
  int64_t elements, length, stride;  // of all lists, of a list, between adjacent elements of a list
};

class SortKernel {
 public:
  // Loads the elements of all arrays at an index.
  using Load = absl::FunctionRef<Elements(llvm::Value* at)>;

  SortKernel(KernelEmitter& k, const Sort& s) : k_(k), b_(k.b()), s_(s) {}

  // Merges: element `at` of the arrays, row-major; element e of a list is e * stride after its first.
  absl::Status MergeElement(llvm::Value* at) {
    llvm::Value* e = b_.CreateURem(b_.CreateUDiv(at, Int(s_.stride)), Int(s_.length));
    llvm::Value* origin = b_.CreateSub(at, b_.CreateMul(e, Int(s_.stride)));
    auto element = [&](llvm::Value* i) { return b_.CreateAdd(origin, b_.CreateMul(i, Int(s_.stride))); };
    const Elements own = LoadArrays(at);
    HILO_ASSIGN_OR_RETURN(llvm::Value * merged, MergedIndex(own, e, k_.extra(2 * s_.count), Int(s_.length),
                                                            [&](llvm::Value* i) { return LoadArrays(element(i)); }));
    StoreArrays(element(merged), own);
    return absl::OkStatus();
  }

  // Sorts `tile` adjacent elements of a list in shared memory: they move from one half of the cells to the other and
  // back, in runs of doubling length.
  absl::Status SortTile(int64_t tile, int64_t block) {
    const int64_t tiles = CeilDiv(s_.length, tile);
    llvm::Value* number = k_.Block();
    llvm::Value *list = b_.CreateUDiv(number, Int(tiles)),
                *first = b_.CreateMul(b_.CreateURem(number, Int(tiles)), Int(tile), "", true, true);
    llvm::Value* size =
        b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b_.CreateSub(Int(s_.length), first, "", true, true), Int(tile));
    llvm::Value* origin = b_.CreateAdd(b_.CreateMul(b_.CreateUDiv(list, Int(s_.stride)), Int(s_.length * s_.stride)),
                                       b_.CreateURem(list, Int(s_.stride)));
    auto element = [&](llvm::Value* i) {
      return b_.CreateAdd(origin, b_.CreateMul(b_.CreateAdd(first, i), Int(s_.stride)));
    };
    llvm::Value* thread = k_.Thread();
    auto each = [&](absl::FunctionRef<absl::Status(llvm::Value*)> body) {
      return k_.ForEach("items", thread, size, block, body);
    };

    HILO_RETURN_IF_ERROR(each([&](llvm::Value* e) {
      const Elements values = LoadArrays(element(e));
      if (cells_.empty()) MakeCells(values, 2 * tile);
      StoreCells(e, values);
      return absl::OkStatus();
    }));
    k_.Barrier();
    int64_t passes = 0;
    while ((int64_t{1} << passes) < std::min(tile, s_.length)) ++passes;
    HILO_RETURN_IF_ERROR(k_.ForEach("passes", Int(0), Int(passes), 1, [&](llvm::Value* pass) -> absl::Status {
      llvm::Value* from = b_.CreateMul(b_.CreateAnd(pass, Int(1)), Int(tile), "", true, true);
      llvm::Value* to = b_.CreateSub(Int(tile), from, "", true, true);
      HILO_RETURN_IF_ERROR(each([&](llvm::Value* e) -> absl::Status {
        auto load = [&](llvm::Value* i) { return LoadCells(b_.CreateAdd(from, i)); };
        const Elements own = load(e);
        HILO_ASSIGN_OR_RETURN(llvm::Value * merged, MergedIndex(own, e, b_.CreateShl(Int(1), pass), size, load));
        StoreCells(b_.CreateAdd(to, merged), own);
        return absl::OkStatus();
      }));
      k_.Barrier();
      return absl::OkStatus();
    }));
    return each([&](llvm::Value* e) {
      StoreArrays(element(e), LoadCells(b_.CreateAdd(Int(passes % 2 * tile), e)));
      return absl::OkStatus();
    });
  }

 private:
  llvm::Value* Int(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }
  codegen::IrArray Array(int64_t argument, int64_t i) {
    return {.pointer = k_.extra(argument),
            .shape = ShapeUtil::MakeShape(s_.instruction->operand(i)->shape().element_type(), {s_.elements}),
            .alignment = kDeviceAlignment,
            .invariant = argument < s_.count};
  }
  Index IndexOf(llvm::Value* at) { return Index({LaneIndex::Uniform(at, 1, s_.elements)}); }
  Elements LoadArrays(llvm::Value* at) {
    Elements values;
    for (int64_t i = 0; i < s_.count; ++i) values.push_back(Array(i, i).Load(k_.context(), IndexOf(at)));
    return values;
  }
  void StoreArrays(llvm::Value* at, const Elements& values) {
    for (int64_t i = 0; i < s_.count; ++i) Array(s_.count + i, i).Store(k_.context(), IndexOf(at), values[i]);
  }

  void MakeCells(const Elements& like, int64_t count) {
    for (llvm::Value* value : codegen::Pack(like)) {
      cells_.push_back(k_.Shared(value->getType(), count, "tile"));
      cell_types_.push_back(value->getType());
    }
  }
  void StoreCells(llvm::Value* at, const Elements& values) {
    const Carried parts = codegen::Pack(values);
    for (size_t i = 0; i < parts.size(); ++i) k_.StoreCell(cells_[i], at, parts[i]);
  }
  Elements LoadCells(llvm::Value* at) {
    Carried parts;
    for (size_t i = 0; i < cells_.size(); ++i) parts.push_back(k_.LoadCell(cells_[i], at, cell_types_[i]));
    std::vector<PrimitiveType> types;
    for (int64_t i = 0; i < s_.count; ++i) types.push_back(s_.instruction->operand(i)->shape().element_type());
    return codegen::Unpack(parts, types);
  }

  // Returns the destination of element `e`, with values `own`, when runs of `width` of a list are merged in pairs.
  absl::StatusOr<llvm::Value*> MergedIndex(const Elements& own, llvm::Value* e, llvm::Value* width, llvm::Value* length,
                                           Load load) {
    llvm::Value* run = b_.CreateUDiv(e, width);
    llvm::Value* is_right = b_.CreateICmpNE(b_.CreateAnd(run, Int(1)), Int(0));
    llvm::Value* other = b_.CreateMul(b_.CreateXor(run, Int(1)), width);
    other = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, other, length);
    llvm::Value* other_end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b_.CreateAdd(other, width), length);
    HILO_ASSIGN_OR_RETURN(llvm::Value * found, Bisect(own, other, other_end, is_right, load));
    // Both counts are within their runs; the runs are adjacent.
    llvm::Value* begin = b_.CreateMul(run, width);
    llvm::Value* first = b_.CreateSelect(is_right, other, begin);
    return b_.CreateAdd(first, b_.CreateAdd(b_.CreateSub(e, begin), b_.CreateSub(found, other)));
  }

  // Returns the first of elements [low, high) of the list that does not come before the own one. For a right run: that
  // comes after it.
  absl::StatusOr<llvm::Value*> Bisect(const Elements& own, llvm::Value* low, llvm::Value* high, llvm::Value* is_right,
                                      Load load) {
    llvm::BasicBlock* before = b_.GetInsertBlock();
    auto block = [&](const char* name) { return llvm::BasicBlock::Create(b_.getContext(), name, k_.function()); };
    llvm::BasicBlock *test = block("test"), *body = block("body"), *done = block("done");
    b_.CreateBr(test);
    b_.SetInsertPoint(test);
    llvm::PHINode *from = b_.CreatePHI(b_.getInt64Ty(), 2), *to = b_.CreatePHI(b_.getInt64Ty(), 2);
    from->addIncoming(low, before);
    to->addIncoming(high, before);
    b_.CreateCondBr(b_.CreateICmpULT(from, to), body, done);
    b_.SetInsertPoint(body);
    codegen::RegionScope region(k_.context());
    llvm::Value* middle = b_.CreateLShr(b_.CreateAdd(from, to), 1);
    const Elements other = load(middle);
    // other < own, or own < other: one comparison, with its operands selected.
    Elements arguments;
    for (int64_t i = 0; i < s_.count; ++i) {
      arguments.push_back(Select(is_right, own[i], other[i]));
      arguments.push_back(Select(is_right, other[i], own[i]));
    }
    HILO_ASSIGN_OR_RETURN(Elements less,
                          codegen::EmitComputation(k_.context(), *s_.instruction->called_computation(), arguments));
    llvm::Value* goes_right = b_.CreateXor(less[0].re, is_right);
    from->addIncoming(b_.CreateSelect(goes_right, b_.CreateAdd(middle, Int(1)), from), b_.GetInsertBlock());
    to->addIncoming(b_.CreateSelect(goes_right, to, middle), b_.GetInsertBlock());
    b_.CreateBr(test);
    b_.SetInsertPoint(done);
    return from;
  }

  codegen::ElementValue Select(llvm::Value* condition, codegen::ElementValue a, codegen::ElementValue c) {
    return {b_.CreateSelect(condition, a.re, c.re), a.im == nullptr ? nullptr : b_.CreateSelect(condition, a.im, c.im)};
  }

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  const Sort& s_;
  std::vector<llvm::Value*> cells_;  // of the tile, twice
  std::vector<llvm::Type*> cell_types_;
};

}  // namespace

absl::Status EmitMergeSort(ProgramEmitter& program, const HloInstruction* instruction) {
  const Shape& shape = instruction->operand(0)->shape();
  const int64_t dimension = instruction->attrs<SortAttrs>().dimensions[0];
  Sort s{.instruction = instruction,
         .count = instruction->operand_count(),
         .elements = ShapeUtil::ElementsIn(shape),
         .length = shape.dimensions(dimension),
         .stride = 1};
  for (int64_t d = dimension + 1; d < shape.rank(); ++d) s.stride *= shape.dimensions(d);
  const std::vector<int64_t>& sizes = instruction->kernel()->tile;
  const int64_t block = sizes[0], tile = sizes[1];
  std::vector<KernelArgument> operands, results, scratch;
  int64_t launches = tile > 1 && s.length > 1 ? 1 : 0;
  for (int64_t width = tile; width < s.length; width *= 2) ++launches;
  for (int64_t i = 0; i < s.count; ++i) {
    HILO_ASSIGN_OR_RETURN(const BufferSlice operand, program.SliceOf(instruction->operand(i)));
    const BufferSlice& result = program.assignment().slice(instruction, i);
    operands.push_back(KernelArgument::Slice(operand, false));
    results.push_back(KernelArgument::Slice(result, true));
    if (launches == 0) program.Add(std::make_unique<CopyThunk>(result, operand, result.size));
    if (launches > 1)
      scratch.push_back(KernelArgument::Scratch(program.AllocateScratch(result.size), result.size, true));
  }
  // The last launch writes the results, the one before it scratch memory, and so on.
  int64_t width = 1;
  std::vector<KernelArgument> from = operands;
  for (int64_t left = launches; left > 0; --left) {
    const std::vector<KernelArgument>& to = left % 2 == 1 ? results : scratch;
    std::vector<KernelArgument> arguments = from;
    for (KernelArgument& argument : arguments) argument.written = false;
    arguments.insert(arguments.end(), to.begin(), to.end());
    from = to;
    if (width < tile) {
      KernelEmitter k(&program, nullptr, arguments);
      HILO_RETURN_IF_ERROR(SortKernel(k, s).SortTile(tile, block));
      HILO_ASSIGN_OR_RETURN(const int64_t number, k.Finish(static_cast<int>(block)));
      HILO_RETURN_IF_ERROR(program.Launch(instruction, number, s.elements / s.length * CeilDiv(s.length, tile),
                                          static_cast<int>(block), arguments));
      width = tile;
      continue;
    }
    arguments.push_back(KernelArgument::Integer(width));
    KernelEmitter k(&program, nullptr, arguments);
    SortKernel kernel(k, s);
    HILO_RETURN_IF_ERROR(
        EmitThreads(k, instruction, s.elements, sizes[2], [&](llvm::Value* i) { return kernel.MergeElement(i); }));
    width *= 2;
  }
  return absl::OkStatus();
}

}  // namespace hilo::gpu
