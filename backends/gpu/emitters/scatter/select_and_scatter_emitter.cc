// Select-and-scatter from the side of the result: one thread per element visits all windows that contain the element,
// in order, and takes the source of those that select it. Nothing is written twice, and sums have the order of the
// windows. A fusion may compute a part of the result, and pad the array that it selects from.
#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/emitters/nest_emitter.h"
#include "backends/llvm/elements/predication.h"
#include "backends/llvm/elements/scalar_computation.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/hero.h"
#include "hlo/ops/reduction/search_attributes.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

class SelectAndScatter {
 public:
  SelectAndScatter(KernelEmitter& k, const HloInstruction* instruction)
      : k_(k),
        b_(k.b()),
        instruction_(instruction),
        slice_(SliceOf(instruction)),
        hero_(slice_ != nullptr ? slice_->operand(0) : HeroOf(instruction)),
        operand_(hero_->operand(0)->shape()),
        source_(hero_->operand(1)->shape()),
        window_(hero_->attrs<SelectAndScatterAttrs>().window.dimensions),
        types_{operand_.element_type()} {
    for (const Window::Dimension& w : window_) sizes_.push_back(w.size);
  }

  absl::Status EmitElement(llvm::Value* i) {
    const std::vector<LaneIndex> result = k_.Delinearize(i, instruction_->shape().dimensions());
    std::vector<LaneIndex> at = result;  // in the operand
    if (slice_ != nullptr) {
      const auto& ranges = slice_->attrs<SliceAttrs>().slice;
      for (size_t d = 0; d < at.size(); ++d) {
        at[d] = LaneIndex::Uniform(b_.CreateAdd(result[d].Base(k_.context()), Int(ranges[d].start)), 1,
                                   operand_.dimensions(static_cast<int64_t>(d)));
      }
      i = Index(at).Linear(k_.context(), operand_.dimensions()).Base(k_.context());
    }
    HILO_ASSIGN_OR_RETURN(ElementValue init, k_.elements().Generate(hero_->operand(2), Index()));
    auto body = [&](llvm::Value* w, const Carried& carried) -> absl::StatusOr<Carried> {
      // The last position of the window is the first window.
      const std::vector<LaneIndex> tap = k_.Delinearize(b_.CreateSub(Int(Product(sizes_) - 1), w), sizes_);
      llvm::Value* exists = b_.getTrue();
      std::vector<llvm::Value*> out;
      for (size_t d = 0; d < window_.size(); ++d) {
        llvm::Value* start = b_.CreateAdd(b_.CreateMul(at[d].Base(k_.context()), Int(window_[d].base_dilation)),
                                          Int(window_[d].padding_low));
        start = b_.CreateSub(start, b_.CreateMul(tap[d].Base(k_.context()), Int(window_[d].window_dilation)));
        exists = b_.CreateAnd(exists, b_.CreateICmpSGE(start, Int(0)));
        exists = b_.CreateAnd(exists, b_.CreateICmpEQ(b_.CreateURem(start, Int(window_[d].stride)), Int(0)));
        out.push_back(b_.CreateUDiv(start, Int(window_[d].stride)));
        exists = b_.CreateAnd(exists, b_.CreateICmpULT(out.back(), Int(source_.dimensions(static_cast<int64_t>(d)))));
      }
      auto look = [&]() -> absl::StatusOr<Carried> {
        HILO_ASSIGN_OR_RETURN(llvm::Value * chosen, Choose(out));
        return codegen::EmitBranches(
            k_.context(), "chosen", b_.CreateICmpEQ(chosen, i), [&] { return Scatter(carried, out); },
            [&]() -> absl::StatusOr<Carried> { return carried; });
      };
      return codegen::EmitBranches(k_.context(), "exists", exists, look,
                                   [&]() -> absl::StatusOr<Carried> { return carried; });
    };
    HILO_ASSIGN_OR_RETURN(Carried sum, codegen::EmitLoop(k_.context(), "windows", Int(0), Int(Product(sizes_)), 1,
                                                         codegen::Pack({init}), body));
    k_.ArrayOf(instruction_).Store(k_.context(), Index(result), codegen::Unpack(sum, types_)[0]);
    return absl::OkStatus();
  }

 private:
  // Returns the slice of the result that is computed; null: all of it.
  static const HloInstruction* SliceOf(const HloInstruction* instruction) {
    const HloInstruction* const root = HeroOf(instruction);
    return root->opcode() == HloOpcode::kSlice ? root : nullptr;
  }

  llvm::Value* Int(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }

  absl::StatusOr<Carried> Scatter(const Carried& carried, const std::vector<llvm::Value*>& out) {
    std::vector<LaneIndex> from;
    for (size_t d = 0; d < out.size(); ++d)
      from.push_back(LaneIndex::Uniform(out[d], 1, source_.dimensions(static_cast<int64_t>(d))));
    HILO_ASSIGN_OR_RETURN(ElementValue source, k_.elements().Generate(hero_->operand(1), Index(from)));
    HILO_ASSIGN_OR_RETURN(Elements sum, codegen::EmitComputation(k_.context(), *hero_->called_computation(1),
                                                                 {codegen::Unpack(carried, types_)[0], source}));
    return codegen::Pack(sum);
  }

  // Returns the row-major index of the element that window `out` selects; -1: none.
  absl::StatusOr<llvm::Value*> Choose(const std::vector<llvm::Value*>& out) {
    Carried initial = codegen::Pack({codegen::EmitZero(k_.context(), types_[0])});
    initial.push_back(Int(-1));
    auto body = [&](llvm::Value* w, const Carried& carried) -> absl::StatusOr<Carried> {
      const std::vector<LaneIndex> tap = k_.Delinearize(w, sizes_);
      llvm::Value* inside = b_.getTrue();
      std::vector<LaneIndex> at;
      for (size_t d = 0; d < window_.size(); ++d) {
        const int64_t size = operand_.dimensions(static_cast<int64_t>(d));
        llvm::Value* position = b_.CreateAdd(b_.CreateMul(out[d], Int(window_[d].stride)),
                                             b_.CreateMul(tap[d].Base(k_.context()), Int(window_[d].window_dilation)));
        position = b_.CreateSub(position, Int(window_[d].padding_low));
        inside = b_.CreateAnd(inside, b_.CreateICmpSGE(position, Int(0)));
        inside = b_.CreateAnd(inside, b_.CreateICmpEQ(b_.CreateURem(position, Int(window_[d].base_dilation)), Int(0)));
        llvm::Value* coordinate = b_.CreateUDiv(position, Int(window_[d].base_dilation));
        inside = b_.CreateAnd(inside, b_.CreateICmpULT(coordinate, Int(size)));
        at.push_back(LaneIndex::Uniform(coordinate, 1, size));
      }
      auto candidate = [&]() -> absl::StatusOr<Carried> { return Candidate(carried, Index(at)); };
      return codegen::EmitBranches(k_.context(), "inside", inside, candidate,
                                   [&]() -> absl::StatusOr<Carried> { return carried; });
    };
    HILO_ASSIGN_OR_RETURN(Carried chosen,
                          codegen::EmitLoop(k_.context(), "window", Int(0), Int(Product(sizes_)), 1, initial, body));
    return chosen.back();
  }

  // The selected element is kept for as long as select(selected, candidate) holds.
  absl::StatusOr<Carried> Candidate(const Carried& carried, const Index& at) {
    const Carried chosen(carried.begin(), carried.end() - 1);
    HILO_ASSIGN_OR_RETURN(ElementValue value, k_.elements().Generate(hero_->operand(0), at));
    HILO_ASSIGN_OR_RETURN(Elements stays, codegen::EmitComputation(k_.context(), *hero_->called_computation(0),
                                                                   {codegen::Unpack(chosen, types_)[0], value}));
    llvm::Value* keeps = b_.CreateAnd(b_.CreateICmpSGE(carried.back(), Int(0)), stays[0].re);
    Carried next = codegen::Pack({value});
    next.push_back(at.Linear(k_.context(), operand_.dimensions()).Base(k_.context()));
    for (size_t i = 0; i < next.size(); ++i) next[i] = b_.CreateSelect(keeps, carried[i], next[i]);
    return next;
  }

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  const HloInstruction *instruction_, *slice_, *hero_;
  Shape operand_, source_;
  std::vector<Window::Dimension> window_;
  std::vector<int64_t> sizes_;
  std::vector<PrimitiveType> types_;
};

}  // namespace

absl::Status EmitSelectAndScatter(ProgramEmitter& program, const HloInstruction* instruction) {
  const int64_t count = ShapeUtil::ElementsIn(instruction->shape());
  const int64_t block = instruction->kernel()->tile[0];
  KernelEmitter k(&program, instruction);
  SelectAndScatter emitter(k, instruction);
  return EmitThreads(k, instruction, count, block, [&](llvm::Value* i) { return emitter.EmitElement(i); });
}

}  // namespace hilo::gpu
