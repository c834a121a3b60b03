#include "backends/gpu/emitters/scatter/scatter_kernel.h"

#include "backends/llvm/elements/scalar_computation.h"
#include "backends/llvm/elements/scatter_origin.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::gpu {

using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

absl::StatusOr<std::vector<llvm::Value*>> ScatterKernel::OriginOf(const std::vector<LaneIndex>& batch) {
  return codegen::EmitScatterOrigin(k_.elements(), k_.context(), *s_.scatter, batch);
}

llvm::Value* ScatterKernel::IsInside(const std::vector<llvm::Value*>& origin) {
  llvm::Value* inside = b_.getTrue();
  for (int64_t d = 0; d < s_.operand.rank(); ++d) {
    const int64_t room = s_.operand.dimensions(d) - s_.WindowSize(d);
    if (room < 0) return b_.getFalse();
    inside = b_.CreateAnd(inside, b_.CreateICmpULE(origin[d], b_.getInt64(static_cast<uint64_t>(room))));
  }
  return inside;
}

std::vector<LaneIndex> ScatterKernel::PositionOf(const std::vector<llvm::Value*>& origin,
                                                 const std::vector<LaneIndex>& window) {
  std::vector<LaneIndex> position;
  for (int64_t d = 0; d < s_.operand.rank(); ++d)
    position.push_back(LaneIndex::Uniform(origin[d], 1, s_.operand.dimensions(d)));
  for (size_t i = 0; i < window.size(); ++i) {
    LaneIndex& coordinate = position[s_.window_dims[i]];
    coordinate = coordinate.Add(k_.context(), window[i]).WithRange({0, s_.operand.dimensions(s_.window_dims[i]) - 1});
  }
  return position;
}

absl::StatusOr<Elements> ScatterKernel::UpdatesAt(const std::vector<LaneIndex>& batch,
                                                  const std::vector<LaneIndex>& window) {
  std::vector<LaneIndex> at(s_.updates.rank());
  for (size_t i = 0; i < window.size(); ++i) at[s_.attrs->update_window_dims[i]] = window[i];
  for (size_t i = 0; i < batch.size(); ++i) at[s_.index_dims[i]] = batch[i];
  Elements updates;
  for (int64_t i = 0; i < s_.count; ++i) {
    HILO_ASSIGN_OR_RETURN(updates.emplace_back(),
                          k_.elements().Generate(s_.scatter->operand(s_.count + 1 + i), Index(at)));
  }
  return updates;
}

Elements ScatterKernel::Load(const Index& position) {
  Elements values;
  for (int64_t i = 0; i < s_.count; ++i) values.push_back(k_.ArrayOf(s_.instruction, i).Load(k_.context(), position));
  return values;
}

absl::StatusOr<Elements> ScatterKernel::Combined(Elements values, const Elements& updates) {
  values.insert(values.end(), updates.begin(), updates.end());
  return codegen::EmitComputation(k_.context(), s_.computation(), values);
}

void ScatterKernel::Store(const Index& position, const Elements& values) {
  for (int64_t i = 0; i < s_.count; ++i) k_.ArrayOf(s_.instruction, i).Store(k_.context(), position, values[i]);
}

absl::Status ScatterKernel::Apply(const Index& position, const Elements& updates) {
  HILO_ASSIGN_OR_RETURN(const Elements combined, Combined(Load(position), updates));
  Store(position, combined);
  return absl::OkStatus();
}

absl::Status ScatterKernel::ApplyToGroup(const std::vector<llvm::Value*>& origin, const std::vector<LaneIndex>& batch,
                                         const std::vector<LaneIndex>& window, int64_t group) {
  std::vector<Index> positions;
  std::vector<Elements> values;
  for (int64_t j = 0; j < group; ++j) {
    std::vector<LaneIndex> at = window;
    at.back() = at.back().AddConstant(j).WithRange({0, s_.operand.dimensions().back() - 1});
    positions.emplace_back(PositionOf(origin, at));
    HILO_ASSIGN_OR_RETURN(const Elements updates, UpdatesAt(batch, at));
    HILO_ASSIGN_OR_RETURN(values.emplace_back(), Combined(Load(positions.back()), updates));
  }
  for (int64_t j = 0; j < group; ++j) Store(positions[j], values[j]);
  return absl::OkStatus();
}

absl::Status ScatterKernel::ApplyAtomically(llvm::AtomicRMWInst::BinOp operation, const Index& position,
                                            const ElementValue& update) {
  const int64_t bytes = PrimitiveTypeByteSize(s_.operand.element_type());
  b_.CreateAtomicRMW(operation, AddressOf(position), update.re, llvm::Align(bytes), llvm::AtomicOrdering::Monotonic);
  return absl::OkStatus();
}

absl::Status ScatterKernel::ApplyByExchange(const Index& position, const ElementValue& update) {
  llvm::Type* type = update.re->getType();
  const int64_t bytes = PrimitiveTypeByteSize(s_.operand.element_type());
  llvm::Type* word = b_.getIntNTy(static_cast<unsigned>(8 * bytes));
  const llvm::Align align(bytes);
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(b_.getContext(), name, k_.function()); };
  llvm::BasicBlock *start = b_.GetInsertBlock(), *combine = block("combine"), *exchange = block("exchange"),
                   *end = block("end");
  llvm::Value* pointer = AddressOf(position);
  llvm::LoadInst* first = b_.CreateAlignedLoad(word, pointer, align);
  first->setAtomic(llvm::AtomicOrdering::Monotonic);
  b_.CreateBr(combine);
  b_.SetInsertPoint(combine);
  llvm::PHINode* before = b_.CreatePHI(word, 2, "before");
  before->addIncoming(first, start);
  HILO_ASSIGN_OR_RETURN(const Elements combined, Combined({{b_.CreateBitCast(before, type)}}, {update}));
  llvm::Value *value = combined[0].re, *is_nan = b_.CreateFCmpUNO(value, value);
  value = b_.CreateBitCast(b_.CreateSelect(is_nan, llvm::ConstantFP::getNaN(type), value), word);
  b_.CreateCondBr(b_.CreateICmpEQ(value, before), end, exchange);
  b_.SetInsertPoint(exchange);
  llvm::Value* result = b_.CreateAtomicCmpXchg(pointer, before, value, align, llvm::AtomicOrdering::Monotonic,
                                               llvm::AtomicOrdering::Monotonic);
  before->addIncoming(b_.CreateExtractValue(result, 0), exchange);
  b_.CreateCondBr(b_.CreateExtractValue(result, 1), end, combine);
  b_.SetInsertPoint(end);
  return absl::OkStatus();
}

llvm::Value* ScatterKernel::AddressOf(const Index& position) {
  llvm::Value* at = position.Linear(k_.context(), s_.operand.dimensions()).Base(k_.context());
  llvm::Type* type = codegen::MemoryType(k_.module().getContext(), s_.operand.element_type());
  return b_.CreateInBoundsGEP(type, k_.ArrayOf(s_.instruction).pointer, at);
}

}  // namespace hilo::gpu
