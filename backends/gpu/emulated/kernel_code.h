// The code of one emulated kernel while it is made: the thread's context, calls of the runtime, checked accesses.
#ifndef HILO_BACKENDS_GPU_EMULATED_KERNEL_CODE_H_
#define HILO_BACKENDS_GPU_EMULATED_KERNEL_CODE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace hilo::gpu {

struct EmulatedKernelInfo {
  std::string name;
  int64_t parameter_count = 0;
  int64_t max_threads = 1024;
  int64_t shared_bytes = 0;   // static
  int64_t stack_bytes = 0;    // of its variables
  bool has_barriers = false;  // or warp operations: threads must be able to block
  bool waits_for_blocks = false;
};

inline constexpr unsigned kSharedSpace = 3;

class KernelCode {
 public:
  KernelCode(llvm::Module* module, bool checked) : module_(*module), b_(module->getContext()), checked_(checked) {}

  // What follows is code of the kernel that `info` describes; null for code that no thread's context is known in.
  void Begin(EmulatedKernelInfo* info, llvm::Value* thread);

  llvm::Module& module() { return module_; }
  llvm::IRBuilder<>& b() { return b_; }
  // Of the current kernel.
  EmulatedKernelInfo& info() { return *info_; }
  llvm::Value* thread() { return thread_; }

  // Errors: Unimplemented, naming `operation`, where no thread's context is known. Threads must be able to block.
  absl::Status NeedsThread(absl::string_view operation);

  // Returns a field of the thread's context.
  llvm::Value* Field(size_t offset, llvm::Type* type);
  llvm::Value* Call(const char* name, llvm::Type* result, llvm::ArrayRef<llvm::Value*> arguments);
  // Returns the number of the next program point that a report can name.
  llvm::Value* NextSite() { return b_.getInt32(++site_); }
  llvm::Value* Generic(llvm::Value* pointer);
  // Returns memory of the thread for the registers of operations on matrices, by warps or by warp groups.
  llvm::Value* WarpWords(llvm::CallInst* call);
  llvm::Value* GroupWords(llvm::CallInst* call);

  // If accesses are checked: the instruction asks the checker first, if it accesses memory that threads share.
  void Check(llvm::Instruction* instruction);
  // If accesses are checked, returns an address that can be read, a line of a matrix in shared memory.
  llvm::Value* CheckedMatrixLine(llvm::Value* address);

 private:
  void CheckRange(llvm::MemIntrinsic* memory);
  llvm::Value* WordsOf(llvm::CallInst* call, llvm::Value** memory, int count);

  llvm::Module& module_;
  llvm::IRBuilder<> b_;
  const bool checked_;
  uint32_t site_ = 0;
  EmulatedKernelInfo* info_ = nullptr;
  llvm::Value* thread_ = nullptr;
  llvm::Value *warp_words_ = nullptr, *group_words_ = nullptr;  // null before the first use
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMULATED_KERNEL_CODE_H_
