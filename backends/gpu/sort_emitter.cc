// Sort: merges of runs, whose length doubles with each launch. A thread an element finds how many elements of the neighbouring run come before its own, by bisection, and so
// where it goes. Of equal elements those of the left run come first: the sort is stable. Any computation and any number of arrays.
#include "backends/gpu/emitters.h"
#include "backends/llvm/scalar_computation.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "hlo/ops/op_attributes.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::Index;
using codegen::LaneIndex;

struct Sort {
  const HloInstruction* instruction;
  int64_t count;                     // arrays
  int64_t elements, length, stride;  // of all lists, of a list, between neighbours in a list
};

class MergeKernel {
 public:
  MergeKernel(KernelEmitter& k, const Sort& s) : k_(k), b_(k.b()), s_(s) {}

  // Element `at` of the arrays, row-major; element e of a list is e * stride behind its first.
  absl::Status EmitElement(llvm::Value* at) {
    llvm::Value* const width = k_.extra(2 * s_.count);
    llvm::Value* e = b_.CreateURem(b_.CreateUDiv(at, Int(s_.stride)), Int(s_.length));
    origin_ = b_.CreateSub(at, b_.CreateMul(e, Int(s_.stride)));
    llvm::Value* run = b_.CreateUDiv(e, width);
    llvm::Value* is_right = b_.CreateICmpNE(b_.CreateAnd(run, Int(1)), Int(0));
    llvm::Value* other = b_.CreateMul(b_.CreateXor(run, Int(1)), width);
    other = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, other, Int(s_.length));
    llvm::Value* other_end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b_.CreateAdd(other, width), Int(s_.length));
    own_ = Load(at);
    HILO_ASSIGN_OR_RETURN(llvm::Value * found, Bisect(other, other_end, is_right));
    // Both counts are within their runs; the runs follow one another.
    llvm::Value* begin = b_.CreateMul(run, width);
    llvm::Value* first = b_.CreateSelect(is_right, other, begin);
    llvm::Value* place = b_.CreateAdd(first, b_.CreateAdd(b_.CreateSub(e, begin), b_.CreateSub(found, other)));
    llvm::Value* to = b_.CreateAdd(origin_, b_.CreateMul(place, Int(s_.stride)));
    for (int64_t i = 0; i < s_.count; ++i) Array(s_.count + i, i).Store(k_.context(), IndexOf(to), own_[i]);
    return absl::OkStatus();
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
  Elements Load(llvm::Value* at) {
    Elements values;
    for (int64_t i = 0; i < s_.count; ++i) values.push_back(Array(i, i).Load(k_.context(), IndexOf(at)));
    return values;
  }

  // The first of elements [low, high) of the list that does not come before the own one. Of a right run: that comes after it.
  absl::StatusOr<llvm::Value*> Bisect(llvm::Value* low, llvm::Value* high, llvm::Value* is_right) {
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
    const Elements other = Load(b_.CreateAdd(origin_, b_.CreateMul(middle, Int(s_.stride))));
    // other < own, or own < other: one comparison, with its sides chosen.
    Elements arguments;
    for (int64_t i = 0; i < s_.count; ++i) {
      arguments.push_back(Select(is_right, own_[i], other[i]));
      arguments.push_back(Select(is_right, other[i], own_[i]));
    }
    HILO_ASSIGN_OR_RETURN(Elements less, codegen::EmitComputation(k_.context(), *s_.instruction->called_computation(), arguments));
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
  llvm::Value* origin_ = nullptr;
  Elements own_;
};

}  // namespace

absl::Status EmitSort(ProgramEmitter& program, const HloInstruction* instruction) {
  if (HeroOf(instruction) != instruction) return Unimplemented("sort inside a fusion is not supported on this platform yet");
  const Shape& shape = instruction->operand(0)->shape();
  const int64_t dimension = instruction->attrs<SortAttrs>().dimensions[0];
  Sort s{.instruction = instruction, .count = instruction->operand_count(), .elements = ShapeUtil::ElementsIn(shape), .length = shape.dimensions(dimension), .stride = 1};
  if (s.elements == 0) return absl::OkStatus();
  for (int64_t d = dimension + 1; d < shape.rank(); ++d) s.stride *= shape.dimensions(d);

  std::vector<KernelArgument> operands, results, scratch;
  int64_t launches = 0;
  for (int64_t width = 1; width < s.length; width *= 2) ++launches;
  for (int64_t i = 0; i < s.count; ++i) {
    HILO_ASSIGN_OR_RETURN(const BufferSlice operand, program.SliceOf(instruction->operand(i)));
    const BufferSlice& result = program.assignment().slice(instruction, i);
    operands.push_back(KernelArgument::Slice(operand, false));
    results.push_back(KernelArgument::Slice(result, true));
    if (launches == 0) program.Add(std::make_unique<CopyThunk>(result, operand, result.size));
    if (launches > 1) scratch.push_back(KernelArgument::Scratch(program.AllocateScratch(result.size), result.size, true));
  }
  // The last launch writes the results, the one before it scratch memory, and so on.
  int64_t width = 1;
  std::vector<KernelArgument> from = operands;
  for (int64_t left = launches; left > 0; --left, width *= 2) {
    const std::vector<KernelArgument>& to = left % 2 == 1 ? results : scratch;
    std::vector<KernelArgument> arguments = from;
    for (KernelArgument& argument : arguments) argument.written = false;
    arguments.insert(arguments.end(), to.begin(), to.end());
    arguments.push_back(KernelArgument::Integer(width));
    const int block = BlockFor(s.elements);
    KernelEmitter k(&program, nullptr, arguments);
    MergeKernel kernel(k, s);
    llvm::Value* i = k.GlobalThread(block);
    HILO_RETURN_IF_ERROR(k.If("in_range", k.b().CreateICmpULT(i, k.b().getInt64(static_cast<uint64_t>(s.elements))), [&] { return kernel.EmitElement(i); }));
    HILO_ASSIGN_OR_RETURN(const int64_t number, program.Finish(k, block));
    HILO_RETURN_IF_ERROR(program.Launch(instruction, number, CeilDiv(s.elements, block), block, arguments));
    from = to;
  }
  return absl::OkStatus();
}

}  // namespace hilo::gpu
