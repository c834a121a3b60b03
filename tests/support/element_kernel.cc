#include "tests/support/element_kernel.h"

#include "backends/llvm/elements/elemental_emitter.h"
#include "base/errors.h"
#include "hilo/literal.h"
#include "hilo/status_macros.h"

namespace hilo::codegen {
namespace {

// Parameters through the array of pointers, constants by the addresses of their literals.
class Arguments : public OperandSource {
 public:
  Arguments(EmitterContext& context, llvm::Value* pointers) : context_(context), pointers_(pointers) {}

  absl::StatusOr<std::optional<Materialized>> Find(const HloInstruction* instruction, int64_t) override {
    llvm::IRBuilder<>& b = context_.b();
    IrArray array;
    array.shape = instruction->shape();
    if (instruction->IsParameter() && !instruction->parent()->IsFusion()) {
      llvm::Value*& pointer = parameters_[instruction];
      if (pointer == nullptr) {
        llvm::IRBuilder<> entry(&context_.function()->getEntryBlock(), context_.function()->getEntryBlock().begin());
        pointer = entry.CreateLoad(
            b.getPtrTy(), entry.CreateConstInBoundsGEP1_64(b.getPtrTy(), pointers_, instruction->parameter_number()));
      }
      array.pointer = pointer;
    } else if (instruction->IsConstant() && ShapeUtil::ElementsIn(instruction->shape()) > 1) {
      const auto address = reinterpret_cast<uintptr_t>(instruction->literal().untyped_data().data());
      array.pointer = b.CreateIntToPtr(b.getInt64(address), b.getPtrTy());
    } else {
      return std::nullopt;
    }
    return Materialized{.array = array};
  }

 private:
  EmitterContext& context_;
  llvm::Value* pointers_;
  absl::flat_hash_map<const HloInstruction*, llvm::Value*> parameters_;
};

}  // namespace

absl::StatusOr<HostModule> BuildElementKernel(HostJit& jit, const HloComputation& computation,
                                              const ElementKernelSpec& spec) {
  HostModule result("element_kernel");
  HILO_RETURN_IF_ERROR(jit.PrepareModule(result.module.get()));
  llvm::IRBuilder<> b(*result.context);
  llvm::Function* function =
      llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getPtrTy()}, false),
                             llvm::GlobalValue::ExternalLinkage, "element_kernel", *result.module);
  b.SetInsertPoint(llvm::BasicBlock::Create(*result.context, "entry", function));
  // Everything after the entry block, where pointers are loaded.
  llvm::BasicBlock* start = llvm::BasicBlock::Create(*result.context, "start", function);
  b.CreateBr(start);
  b.SetInsertPoint(start);
  EmitterContext context(&b, TargetTraits::FromCpu(jit.cpu()), {.strict = spec.strict});
  Arguments source(context, function->getArg(0));
  ElementEmitter emitter(&context, &source);

  const HloInstruction* root = computation.root_instruction();
  const std::vector<ShapeUtil::Leaf> leaves = ShapeUtil::Leaves(root->shape());
  if (leaves.empty() || !leaves[0].shape->IsArray())
    return InvalidArgument("the root ", root->name(), " has no arrays");
  const Shape& shape = *leaves[0].shape;
  const int64_t count = ShapeUtil::ElementsIn(shape);
  const int64_t row = spec.flat || shape.rank() == 0 ? count : shape.dimensions(shape.rank() - 1);
  const absl::Span<const int64_t> outer =
      spec.flat || shape.rank() == 0 ? absl::Span<const int64_t>() : shape.dimensions().first(shape.rank() - 1);
  const int64_t rows = row == 0 ? 0 : count / row;

  auto row_body = [&](llvm::Value* r, const Carried&) -> absl::StatusOr<Carried> {
    auto vector_body = [&](llvm::Value* i, const Carried&) -> absl::StatusOr<Carried> {
      context.lanes.width = spec.width;
      const LaneIndex at = LaneIndex::Strided(i, 1, spec.width, row);
      if (spec.width > 1 && row % spec.width != 0) {
        context.lanes.mask =
            b.CreateICmpULT(LaneIndex::Strided(i, 1, spec.width).Value(context), context.Splat(b.getInt64(row)));
      }
      Index index = Index::FromLinear(at, shape.dimensions());
      if (!spec.flat && shape.rank() > 0) {
        std::vector<LaneIndex> dims = Index::FromLinear(LaneIndex::Uniform(r, 1, rows), outer).Dims(context);
        dims.push_back(at);
        index = Index(std::move(dims));
      }
      if (shape.rank() == 0) index = Index();
      HILO_ASSIGN_OR_RETURN(std::vector<ElementValue> values, emitter.GenerateLeaves(root, index));
      for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
        IrArray array{.shape = *leaves[leaf].shape};
        array.pointer =
            b.CreateLoad(b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.getPtrTy(), function->getArg(1), leaf));
        array.Store(context, index, values[leaf]);
      }
      return Carried();
    };
    auto done = EmitLoop(context, "columns", b.getInt64(0), b.getInt64(row), spec.width, {}, vector_body);
    return done;
  };
  auto done = EmitLoop(context, "rows", b.getInt64(0), b.getInt64(rows), 1, {}, row_body);
  if (!done.ok()) return done.status();
  b.CreateRetVoid();
  return result;
}

}  // namespace hilo::codegen
