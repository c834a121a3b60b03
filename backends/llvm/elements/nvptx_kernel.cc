#include "backends/llvm/elements/nvptx_kernel.h"

#include <algorithm>
#include <memory>

#include "backends/llvm/elements/elemental_emitter.h"
#include "backends/llvm/elements/scalar_computation.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "backends/llvm/jit/optimizer.h"
#include "backends/llvm/llvm_compat.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace hilo::codegen {
namespace {

constexpr int kWarp = 32;

absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeMachine(absl::string_view arch) {
  static const bool initialized = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)initialized;
  std::string error;
  const char* triple = "nvptx64-nvidia-cuda";
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (target == nullptr) return Internal("LLVM has no code generator for ", triple, ": ", error);
  std::unique_ptr<llvm::MCSubtargetInfo> known(target->createMCSubtargetInfo(triple, "", ""));
  if (known == nullptr || !known->isCPUStringValid(ToStringRef(arch))) {
    return InvalidArgument("expected a GPU architecture as in sm_80, got ", arch);
  }
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, ToStringRef(arch), "+ptx78", {}, llvm::Reloc::PIC_));
}

class Kernel : public OperandSource {
 public:
  Kernel(const HloComputation& computation, std::unique_ptr<llvm::TargetMachine> machine)
      : computation_(computation), machine_(std::move(machine)), module_("kernel", llvm_), b_(llvm_) {
    module_.setTargetTriple(machine_->getTargetTriple().str());
    module_.setDataLayout(machine_->createDataLayout());
    leaves_ = ShapeUtil::Leaves(computation.root_instruction()->shape());
    const std::vector<llvm::Type*> pointers(computation.num_parameters() + leaves_.size(), b_.getPtrTy(1));
    function_ = llvm::Function::Create(llvm::FunctionType::get(b_.getVoidTy(), pointers, false),
                                       llvm::GlobalValue::ExternalLinkage, "kernel", module_);
    function_->setCallingConv(llvm::CallingConv::PTX_Kernel);
    llvm::Metadata* const threads[] = {llvm::ValueAsMetadata::get(function_), llvm::MDString::get(llvm_, "maxntidx"),
                                       llvm::ConstantAsMetadata::get(b_.getInt32(kNvptxBlockSize))};
    module_.getOrInsertNamedMetadata("nvvm.annotations")->addOperand(llvm::MDNode::get(llvm_, threads));
    for (llvm::Argument& argument : function_->args()) argument.addAttr(llvm::Attribute::NoAlias);
    b_.SetInsertPoint(llvm::BasicBlock::Create(llvm_, "entry", function_));
    // No vectors: a thread is a lane.
    context_ = std::make_unique<EmitterContext>(&b_, TargetTraits{.vector_bits = 0, .has_fma = true}, NumericOptions{});
    elements_ = std::make_unique<ElementEmitter>(context_.get(), this);
  }

  absl::StatusOr<std::optional<Materialized>> Find(const HloInstruction* instruction, int64_t) override {
    if (!instruction->IsParameter() || instruction->parent() != &computation_) return std::nullopt;
    return Materialized{.array = Array(instruction->parameter_number(), instruction->shape(), true)};
  }

  absl::Status Loop() {
    const HloInstruction* root = computation_.root_instruction();
    if (leaves_.empty() || !leaves_[0].shape->IsArray())
      return InvalidArgument("the root ", root->name(), " has no arrays");
    const Shape& shape = *leaves_[0].shape;
    llvm::Value* block =
        b_.CreateMul(Special(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x), b_.getInt64(kNvptxBlockSize));
    llvm::Value* i = b_.CreateAdd(block, Special(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x), "i");
    const int64_t count = ShapeUtil::ElementsIn(shape);
    auto body = [&]() -> absl::StatusOr<Carried> {
      const Index index = Index::FromLinear(LaneIndex::Uniform(i, 1, count), shape.dimensions());
      HILO_ASSIGN_OR_RETURN(std::vector<ElementValue> values, elements_->GenerateLeaves(root, index));
      for (size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
        Array(computation_.num_parameters() + leaf, *leaves_[leaf].shape, false).Store(*context_, index, values[leaf]);
      }
      return Carried();
    };
    return EmitBranches(*context_, "in_range", b_.CreateICmpULT(i, b_.getInt64(count)), body, [] { return Carried(); })
        .status();
  }

  absl::Status RowReduction() {
    const HloInstruction* reduce = computation_.root_instruction();
    if (reduce->opcode() != HloOpcode::kReduce || reduce->operand_count() != 2)
      return Unimplemented("a row reduction of ", reduce->ToString());
    const Shape& input = reduce->operand(0)->shape();
    const int64_t rank = input.rank(), columns = rank == 0 ? 0 : input.dimensions(rank - 1);
    const PrimitiveType type = input.element_type();
    if (reduce->attrs<ReduceAttrs>().dimensions != std::vector<int64_t>{rank - 1} || columns == 0 ||
        PrimitiveTypeByteSize(type) != 4) {
      return Unimplemented("a row reduction over other than one minor-most, non-empty dimension of 32-bit elements: ",
                           reduce->ToString());
    }
    llvm::Value* row = Special(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x);
    llvm::Value* thread = Special(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x);
    const Index out = Index::FromLinear(LaneIndex::Uniform(row, 1, ShapeUtil::ElementsIn(reduce->shape())),
                                        reduce->shape().dimensions());
    const std::vector<LaneIndex> outer = out.Dims(*context_);
    auto element = [&](llvm::Value* column) -> absl::StatusOr<llvm::Value*> {
      std::vector<LaneIndex> at = outer;
      at.push_back(LaneIndex::Uniform(column, 1, columns));
      HILO_ASSIGN_OR_RETURN(ElementValue value, elements_->Generate(reduce->operand(0), Index(std::move(at))));
      return value.re;
    };
    // A thread without a column of its own reads the last one, and its result is never read.
    const int64_t partials = std::min<int64_t>(columns, kNvptxBlockSize);
    llvm::Value* first = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, thread, b_.getInt64(columns - 1));
    HILO_ASSIGN_OR_RETURN(llvm::Value * value, element(first));
    auto step = [&](llvm::Value* column, const Carried& carried) -> absl::StatusOr<Carried> {
      HILO_ASSIGN_OR_RETURN(llvm::Value * next, element(column));
      HILO_ASSIGN_OR_RETURN(llvm::Value * combined, Combine(reduce, carried[0], next));
      return Carried{combined};
    };
    HILO_ASSIGN_OR_RETURN(Carried sums, EmitLoop(*context_, "row", b_.CreateAdd(thread, b_.getInt64(kNvptxBlockSize)),
                                                 b_.getInt64(columns), kNvptxBlockSize, {value}, step));
    llvm::Value* lane = b_.CreateAnd(thread, b_.getInt64(kWarp - 1));
    HILO_ASSIGN_OR_RETURN(
        value, CombineWarp(reduce, sums[0], lane, b_.CreateSub(b_.getInt64(partials), b_.CreateSub(thread, lane))));

    // One value per warp through shared memory.
    llvm::ArrayType* cells = llvm::ArrayType::get(value->getType(), kNvptxBlockSize / kWarp);
    auto* shared =
        new llvm::GlobalVariable(module_, cells, false, llvm::GlobalValue::InternalLinkage,
                                 llvm::PoisonValue::get(cells), "warps", nullptr, llvm::GlobalValue::NotThreadLocal, 3);
    auto cell = [&](llvm::Value* i) { return b_.CreateInBoundsGEP(value->getType(), shared, i); };
    If(b_.CreateICmpEQ(lane, b_.getInt64(0)),
       [&] { b_.CreateStore(value, cell(b_.CreateLShr(thread, b_.getInt64(5)))); });
    b_.CreateIntrinsic(b_.getVoidTy(), llvm::Intrinsic::nvvm_barrier0, {});
    llvm::Value* own = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, lane, b_.getInt64(kNvptxBlockSize / kWarp - 1));
    value = b_.CreateLoad(value->getType(), cell(own));
    HILO_ASSIGN_OR_RETURN(value, CombineWarp(reduce, value, lane, b_.getInt64((partials + kWarp - 1) / kWarp)));
    HILO_ASSIGN_OR_RETURN(ElementValue init, elements_->Generate(reduce->operand(1), Index()));
    HILO_ASSIGN_OR_RETURN(value, Combine(reduce, init.re, value));
    If(b_.CreateICmpEQ(thread, b_.getInt64(0)),
       [&] { Array(computation_.num_parameters(), reduce->shape(), false).Store(*context_, out, {value}); });
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Ptx() {
    b_.CreateRetVoid();
    std::string error;
    llvm::raw_string_ostream errors(error);
    if (llvm::verifyModule(module_, &errors)) return Internal("the kernel's code is not valid: ", error);
    Optimize(&module_, machine_.get(), OptLevel::kFast);
    llvm::SmallString<0> text;
    llvm::raw_svector_ostream out(text);
    llvm::legacy::PassManager passes;
    if (machine_->addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::AssemblyFile))
      return Internal("LLVM emits no PTX");
    passes.run(module_);
    return std::string(text.str());
  }

 private:
  llvm::Value* Special(llvm::Intrinsic::ID id) {
    return b_.CreateZExt(b_.CreateIntrinsic(b_.getInt32Ty(), id, {}), b_.getInt64Ty());
  }

  IrArray Array(int64_t argument, const Shape& shape, bool invariant) {
    return {.pointer = function_->getArg(argument), .shape = shape, .alignment = 256, .invariant = invariant};
  }

  template <typename Body>
  void If(llvm::Value* condition, Body&& body) {
    llvm::BasicBlock* then = llvm::BasicBlock::Create(llvm_, "then", function_);
    llvm::BasicBlock* after = llvm::BasicBlock::Create(llvm_, "after", function_);
    b_.CreateCondBr(condition, then, after);
    b_.SetInsertPoint(then);
    body();
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
  }

  absl::StatusOr<llvm::Value*> Combine(const HloInstruction* reduce, llvm::Value* x, llvm::Value* y) {
    HILO_ASSIGN_OR_RETURN(std::vector<ElementValue> values, EmitComputation(*context_, *reduce->called_computation(),
                                                                            {ElementValue{x}, ElementValue{y}}));
    return values[0].re;
  }

  // Combines the first `valid` lanes into lane 0; distances halve, and a lane takes another lane's value only if that
  // one is valid.
  absl::StatusOr<llvm::Value*> CombineWarp(const HloInstruction* reduce, llvm::Value* value, llvm::Value* lane,
                                           llvm::Value* valid) {
    for (int distance = kWarp / 2; distance > 0; distance /= 2) {
      llvm::Value* bits = b_.CreateBitCast(value, b_.getInt32Ty());
      bits = b_.CreateIntrinsic(b_.getInt32Ty(), llvm::Intrinsic::nvvm_shfl_sync_down_i32,
                                {b_.getInt32(-1), bits, b_.getInt32(distance), b_.getInt32(kWarp - 1)});
      HILO_ASSIGN_OR_RETURN(llvm::Value * combined, Combine(reduce, value, b_.CreateBitCast(bits, value->getType())));
      llvm::Value* neighbour = b_.CreateAdd(lane, b_.getInt64(distance));
      value = b_.CreateSelect(b_.CreateICmpSLT(neighbour, valid), combined, value);
    }
    return value;
  }

  const HloComputation& computation_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  llvm::LLVMContext llvm_;
  llvm::Module module_;
  llvm::IRBuilder<> b_;
  llvm::Function* function_ = nullptr;
  std::vector<ShapeUtil::Leaf> leaves_;
  std::unique_ptr<EmitterContext> context_;
  std::unique_ptr<ElementEmitter> elements_;
};

}  // namespace

absl::StatusOr<std::string> EmitNvptxLoop(const HloComputation& computation, absl::string_view arch) {
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<llvm::TargetMachine> machine, MakeMachine(arch));
  Kernel kernel(computation, std::move(machine));
  HILO_RETURN_IF_ERROR(kernel.Loop());
  return kernel.Ptx();
}

absl::StatusOr<std::string> EmitNvptxRowReduction(const HloComputation& computation, absl::string_view arch) {
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<llvm::TargetMachine> machine, MakeMachine(arch));
  Kernel kernel(computation, std::move(machine));
  HILO_RETURN_IF_ERROR(kernel.RowReduction());
  return kernel.Ptx();
}

}  // namespace hilo::codegen
