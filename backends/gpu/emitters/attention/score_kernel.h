// What the kernels of attention and of grids of scores share (attention_emitter.cc, attention_gradient_emitter.cc). A
// block has some lines of scores, sixteen for each warp, and goes through the other lines a strip at a time.
#ifndef HILO_BACKENDS_GPU_EMITTERS_ATTENTION_SCORE_KERNEL_H_
#define HILO_BACKENDS_GPU_EMITTERS_ATTENTION_SCORE_KERNEL_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "backends/gpu/emitters/attention/score_multiplier.h"
#include "backends/gpu/emitters/kernel_emitter.h"

namespace hilo::gpu {

class ScoreKernel {
 protected:
  static constexpr int64_t kLines = ScoreMultiplier::kLines, kColumns = ScoreMultiplier::kColumns,
                           kOwn = ScoreMultiplier::kOwn, kPiece = ScoreMultiplier::kPiece,
                           kOwnLines = ScoreMultiplier::kOwnLines;
  static constexpr int kLineLanes = ScoreMultiplier::kLineLanes;
  using Fragment = ScoreMultiplier::Fragment;
  using OwnLines = ScoreMultiplier::OwnLines;

  // What strips are reduced to: numbers of the lane's lines, and products, as fragments of their features.
  struct Sums {
    std::vector<OwnLines> lines;
    std::vector<std::vector<Fragment>> products;

    codegen::Carried Pack() const;
    // Returns what Pack made of sums with as many values as these.
    Sums Unpack(const codegen::Carried& carried) const;
  };

  // `type`: of the products' factors. `by_threads`, `rounds_strips`: as ScoreMultiplier has them.
  ScoreKernel(KernelEmitter& k, PrimitiveType type, bool by_threads = false, bool rounds_strips = false)
      : k_(k), b_(k.b()), type_(type), multiplier_(k, type, by_threads, rounds_strips) {}

  llvm::Value* Int(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }
  llvm::Value* Plus(llvm::Value* x, llvm::Value* y) { return b_.CreateAdd(x, y, "", true, true); }
  llvm::Value* Plus(llvm::Value* x, int64_t y) { return Plus(x, Int(y)); }
  llvm::Value* Times(llvm::Value* x, int64_t y) { return b_.CreateMul(x, Int(y), "", true, true); }
  llvm::Value* AtMost(llvm::Value* x, int64_t limit);
  llvm::Value* Float(double value) { return llvm::ConstantFP::get(b_.getFloatTy(), value); }
  Fragment Zeros() { return {Float(0), Float(0), Float(0), Float(0)}; }

  // Divides blocks of `of_block`, of which this is number `block`, among batches of `lines`: sets batch_, first_line_,
  // first_in_block_, line_ and has_line_. With `last_first` the last lines of a batch have the first block.
  void SetLines(llvm::Value* block, int64_t lines, int64_t of_block, bool last_first);
  // Calls `body` if the block has own line `line`.
  absl::Status IfLine(int64_t line, absl::FunctionRef<absl::Status()> body);

  // Emits a loop over strips of `strip` lines from `begin` to `end`, which asynchronous copies fill while the one
  // before is added: `copy` starts those of the strip that begins at `first`, to number `number`, 0 or 1, in shared
  // memory; `add` returns what is carried after that strip. Threads have left a strip at the barrier before it is
  // filled again.
  using CopyStrip = absl::FunctionRef<absl::Status(llvm::Value* first, llvm::Value* number)>;
  using AddStrip = absl::FunctionRef<absl::StatusOr<codegen::Carried>(llvm::Value* first, llvm::Value* number,
                                                                      const codegen::Carried& carried)>;
  absl::StatusOr<codegen::Carried> ForEachCopied(llvm::Value* begin, llvm::Value* end, int64_t strip,
                                                 codegen::Carried carried, CopyStrip copy, AddStrip add);

  codegen::ElementValue As(PrimitiveType type, llvm::Value* x);
  llvm::Value* AsF32(PrimitiveType type, const codegen::ElementValue& x);
  // Returns the exponential of an f32, which is not positive if factors are F32, by the machine: of about 22 bits then,
  // and else of as many as factors of 16 bits need.
  llvm::Value* Exponential(llvm::Value* x);
  // Returns the hyperbolic tangent of an f32, by the machine's exponential and reciprocal, with a relative error of
  // less than 2^-16: factors of 16 bits need no more.
  llvm::Value* Tanh(llvm::Value* x);
  // Returns the factors of f32 numbers, rounded to the products' type.
  codegen::Carried Rounded(absl::Span<const Fragment> piece);
  // Combines the values of the lanes that share a line: all of them get the result.
  llvm::Value* AcrossLine(llvm::Value* value, absl::FunctionRef<llvm::Value*(llvm::Value*, llvm::Value*)> combine);
  // Returns the index of an element after the transposes and reshapes among `users`, one after the other.
  codegen::Index IndexAfter(codegen::Index index, absl::Span<const HloInstruction* const> users);

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  const PrimitiveType type_;
  ScoreMultiplier multiplier_;
  llvm::Value *batch_ = nullptr, *first_line_ = nullptr;  // of the block
  llvm::Value* first_in_block_ = nullptr;                 // of the warp
  OwnLines line_{}, has_line_{};                          // in the batch; null: always
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_ATTENTION_SCORE_KERNEL_H_
