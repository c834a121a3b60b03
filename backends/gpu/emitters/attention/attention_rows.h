// What the kernels of attention share: attention_emitter.cc, which computes rows of results, or of parts of the keys,
// and attention_parts.cc, which merges the latter.
#ifndef HILO_BACKENDS_GPU_EMITTERS_ATTENTION_ATTENTION_ROWS_H_
#define HILO_BACKENDS_GPU_EMITTERS_ATTENTION_ATTENTION_ROWS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/gpu/emitters/attention/score_kernel.h"
#include "backends/gpu/emitters/program_emitter.h"
#include "backends/gpu/match/attention_tile.h"
#include "hlo/analysis/attention.h"
#include "hlo/analysis/loop_results.h"

namespace hilo::gpu {

class AttentionRows : protected ScoreKernel {
 protected:
  AttentionRows(KernelEmitter& k, const HloInstruction* instruction, const Attention& attention);

  int64_t batches() const { return Product(sides_.queries.batch_sizes); }
  int64_t padded_depth() const { return CeilDiv(depth_, kPiece) * kPiece; }
  int64_t padded_features() const { return CeilDiv(features_, kPiece) * kPiece; }

  // Returns the indices of the logits of row `row` of batch `batch` of the queries, with 0 for the key.
  std::vector<codegen::LaneIndex> LogitsOf(llvm::Value* batch, llvm::Value* row);
  // Returns the index of these logits in a dimension of the weights.
  codegen::LaneIndex InWeights(const std::vector<codegen::LaneIndex>& logits, int64_t dimension) const;
  // Returns the sink of a row with these logits, as f32: -inf if there is none.
  absl::StatusOr<llvm::Value*> SinkOf(const std::vector<codegen::LaneIndex>& logits);
  // Stores the result, an f32, of these logits and a feature, whose indices are `feature`.
  absl::Status StoreResult(const std::vector<codegen::LaneIndex>& logits, absl::Span<const codegen::LaneIndex> feature,
                           llvm::Value* result);

  const HloInstruction& instruction_;
  const Attention& attention_;
  const AttentionTile tile_;
  const LoopResults results_;
  const AttentionSides sides_;
  const int64_t parts_;  // of the keys
  const int64_t rows_, keys_, depth_, features_;
};

// What is known of rows, in scratch memory, once a part of the keys is added up: the maximum of the logits, and
// relative to that, the sum of the exponentials and that of their products with the values. All are f32.
class PartialRows {
 public:
  // Allocates the memory of `rows` rows with `features` features each, an even number.
  PartialRows(ProgramEmitter& program, int64_t rows, int64_t parts, int64_t features);

  // Returns the arguments of the kernel that writes them, or reads them.
  std::vector<KernelArgument> Arguments(bool written) const;

  // Of a row of all batches and a part. The kernel's arguments are those above.
  void Store(KernelEmitter& k, llvm::Value* row, llvm::Value* part, llvm::Value* maximum, llvm::Value* sum) const;
  llvm::Value* Maximum(KernelEmitter& k, llvm::Value* row, llvm::Value* part) const;
  llvm::Value* Sum(KernelEmitter& k, llvm::Value* row, llvm::Value* part) const;
  // Two results from `feature` on, an even number; and one.
  void StorePair(KernelEmitter& k, llvm::Value* row, llvm::Value* part, llvm::Value* feature, llvm::Value* first,
                 llvm::Value* second) const;
  llvm::Value* Result(KernelEmitter& k, llvm::Value* row, llvm::Value* part, llvm::Value* feature) const;

 private:
  llvm::Value* CellOf(KernelEmitter& k, llvm::Value* row, llvm::Value* part) const;
  llvm::Value* CellOf(KernelEmitter& k, llvm::Value* row, llvm::Value* part, llvm::Value* feature) const;

  const int64_t parts_, features_;
  std::vector<KernelArgument> memory_;  // maxima, sums, results
};

// Adds the kernel that makes results of the parts of rows.
absl::Status EmitAttentionParts(ProgramEmitter& program, const HloInstruction* instruction, const Attention& attention,
                                const PartialRows& parts);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_ATTENTION_ATTENTION_ROWS_H_
