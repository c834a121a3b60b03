#include "backends/gpu/emitters/rows/column_parts.h"

#include <algorithm>
#include <utility>

#include "backends/gpu/emitters/program_emitter.h"
#include "backends/llvm/elements/element_convert.h"
#include "base/math.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

// Threads that share the parts of a column: one after the other would wait for memory as often as there are parts.
constexpr int64_t kMaxStrips = kBlockSize / kWarp;

llvm::Value* Int(KernelEmitter& k, int64_t value) { return k.b().getInt64(static_cast<uint64_t>(value)); }

}  // namespace

std::vector<llvm::Type*> ComponentTypes(llvm::LLVMContext& context, absl::Span<const PrimitiveType> types) {
  std::vector<llvm::Type*> components;
  for (PrimitiveType type : types)
    components.insert(components.end(), IsComplexType(type) ? 2 : 1, codegen::RegisterType(context, type));
  return components;
}

ColumnParts::ColumnParts(ProgramEmitter& program, absl::Span<const PrimitiveType> types, int64_t columns, int64_t parts)
    : types_(types.begin(), types.end()), columns_(columns), parts_(parts) {
  for (llvm::Type* type : ComponentTypes(program.llvm_context(), types)) {
    const int64_t bytes = KernelEmitter::CellBytes(type) * columns * parts;
    memory_.push_back(KernelArgument::Scratch(program.AllocateScratch(bytes), bytes, true));
  }
}

// The columns of a part are adjacent.
llvm::Value* ColumnParts::Cell(KernelEmitter& k, llvm::Value* column, llvm::Value* part) const {
  return k.b().CreateAdd(k.b().CreateMul(part, Int(k, columns_), "", true, true), column, "", true, true);
}

void ColumnParts::Store(KernelEmitter& k, llvm::Value* column, llvm::Value* part, const Carried& values,
                        size_t first) const {
  for (size_t i = 0; i < values.size(); ++i)
    k.StoreCell(k.extra(static_cast<int64_t>(first + i)), Cell(k, column, part), values[i]);
}

codegen::Carried ColumnParts::Load(KernelEmitter& k, llvm::Value* column, llvm::Value* part) const {
  Carried values;
  for (llvm::Type* type : ComponentTypes(k.b().getContext(), types_))
    values.push_back(k.LoadCell(k.extra(static_cast<int64_t>(values.size())), Cell(k, column, part), type));
  return values;
}

// A block has a warp of columns, and for each of them `strips` threads, which take every strips-th part. The first one
// then combines what they have.
absl::Status ColumnParts::EmitCombination(ProgramEmitter& program, const HloInstruction* instruction, Merge merge,
                                          Output output) const {
  std::vector<KernelArgument> arguments = memory_;
  for (KernelArgument& argument : arguments) argument.written = false;
  KernelEmitter k(&program, instruction, arguments);
  llvm::IRBuilder<>& b = k.b();
  int64_t strips = kMaxStrips;
  while (strips > parts_) strips /= 2;
  llvm::Value *thread = k.Thread(), *lane = b.CreateURem(thread, Int(k, kWarp)),
              *strip = b.CreateUDiv(thread, Int(k, kWarp));
  llvm::Value* own = b.CreateAdd(b.CreateMul(k.Block(), Int(k, kWarp), "", true, true), lane, "", true, true);
  llvm::Value* has = b.CreateICmpULT(own, Int(k, columns_));
  llvm::Value* column = b.CreateSelect(has, own, Int(k, columns_ - 1));
  const auto add = [&](llvm::Value* part, const Carried& running) { return merge(k, running, Load(k, column, part)); };
  HILO_ASSIGN_OR_RETURN(const Carried mine, codegen::EmitLoop(k.context(), "parts", b.CreateAdd(strip, Int(k, strips)),
                                                              Int(k, parts_), strips, Load(k, column, strip), add));
  std::vector<llvm::Value*> cells;
  const std::vector<llvm::Type*> types = ComponentTypes(b.getContext(), types_);
  for (llvm::Type* type : types) cells.push_back(k.Shared(type, strips * kWarp, "strips"));
  for (size_t i = 0; i < cells.size(); ++i) k.StoreCell(cells[i], thread, mine[i]);
  k.Barrier();
  HILO_RETURN_IF_ERROR(k.If("first", b.CreateAnd(has, b.CreateICmpEQ(strip, Int(k, 0))), [&]() -> absl::Status {
    const auto next = [&](llvm::Value* s, const Carried& running) {
      llvm::Value* cell = b.CreateAdd(b.CreateMul(s, Int(k, kWarp), "", true, true), lane, "", true, true);
      Carried values;
      for (size_t i = 0; i < cells.size(); ++i) values.push_back(k.LoadCell(cells[i], cell, types[i]));
      return merge(k, running, values);
    };
    HILO_ASSIGN_OR_RETURN(const Carried all,
                          codegen::EmitLoop(k.context(), "strips", Int(k, 1), Int(k, strips), 1, mine, next));
    return output(k, own, all);
  }));
  return k.FinishAndLaunch(instruction, CeilDiv(columns_, kWarp), static_cast<int>(strips * kWarp));
}

}  // namespace hilo::gpu
