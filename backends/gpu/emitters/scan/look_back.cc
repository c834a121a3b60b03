#include "backends/gpu/emitters/scan/look_back.h"

#include "backends/gpu/emitters/nest_emitter.h"
#include "base/math.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

constexpr int64_t kClearedBytes = 16;  // by a thread
constexpr uint32_t kPollNs = 32;

llvm::Align AlignOf(llvm::Type* word) { return llvm::Align(KernelEmitter::CellBytes(word)); }

}  // namespace

absl::StatusOr<KernelArgument> EmitClearedScratch(ProgramEmitter& program, const HloInstruction* instruction,
                                                  int64_t bytes) {
  const int64_t groups = CeilDiv(bytes, kClearedBytes);
  const KernelArgument scratch =
      KernelArgument::Scratch(program.AllocateScratch(groups * kClearedBytes), groups * kClearedBytes, true);
  KernelEmitter k(&program, nullptr, {scratch});
  llvm::Type* cleared = llvm::FixedVectorType::get(k.b().getInt32Ty(), kClearedBytes / 4);
  HILO_RETURN_IF_ERROR(EmitThreads(k, instruction, groups, kBlockSize, [&](llvm::Value* i) {
    k.b().CreateAlignedStore(llvm::Constant::getNullValue(cleared), k.b().CreateInBoundsGEP(cleared, k.extra(0), i),
                             llvm::Align(kClearedBytes));
    return absl::OkStatus();
  }));
  return scratch;
}

absl::StatusOr<llvm::Value*> TakeNumber(KernelEmitter& k, llvm::Value* counter) {
  llvm::IRBuilder<>& b = k.b();
  llvm::Value* cell = k.Shared(b.getInt32Ty(), 1, "number");
  HILO_RETURN_IF_ERROR(k.If("first", b.CreateICmpEQ(k.Thread(), b.getInt64(0)), [&] {
    k.StoreCell(cell, b.getInt64(0),
                b.CreateAtomicRMW(llvm::AtomicRMWInst::Add, counter, b.getInt32(1), llvm::MaybeAlign(4),
                                  llvm::AtomicOrdering::Monotonic));
    return absl::OkStatus();
  }));
  k.Barrier();
  return b.CreateZExt(k.LoadCell(cell, b.getInt64(0), b.getInt32Ty()), b.getInt64Ty());
}

void StoreWord(KernelEmitter& k, llvm::Value* word, llvm::Value* pointer) {
  k.b().CreateAlignedStore(word, pointer, AlignOf(word->getType()))->setAtomic(llvm::AtomicOrdering::Monotonic);
}

std::vector<llvm::Value*> AwaitWords(KernelEmitter& k, llvm::Type* type, absl::Span<llvm::Value* const> pointers,
                                     absl::FunctionRef<llvm::Value*(llvm::Value* word)> is_ready) {
  llvm::IRBuilder<>& b = k.b();
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(b.getContext(), name, k.function()); };
  llvm::BasicBlock *look = block("look"), *wait = block("wait"), *ready = block("ready");
  b.CreateBr(look);
  b.SetInsertPoint(look);
  std::vector<llvm::Value*> words;
  for (llvm::Value* pointer : pointers) {
    llvm::LoadInst* word = b.CreateAlignedLoad(type, pointer, AlignOf(type));
    word->setAtomic(llvm::AtomicOrdering::Monotonic);
    words.push_back(word);
  }
  llvm::Value* all = b.getTrue();
  for (llvm::Value* word : words) all = b.CreateAnd(all, is_ready(word));
  b.CreateCondBr(all, ready, wait);
  b.SetInsertPoint(wait);
  k.WaitForBlocks(kPollNs);
  b.CreateBr(look);
  b.SetInsertPoint(ready);
  return words;
}

}  // namespace hilo::gpu
