#include "backends/gpu/emitters/attention/attention_rows.h"

#include <limits>

#include "absl/algorithm/container.h"
#include "backends/gpu/emitters/emitters.h"
#include "backends/llvm/nest/loop_elements.h"
#include "base/math.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {

using codegen::Index;
using codegen::LaneIndex;

AttentionRows::AttentionRows(KernelEmitter& k, const HloInstruction* instruction, const Attention& attention)
    : ScoreKernel(k, SidesOf(attention).keys.operand->shape().element_type(), instruction->kernel()->width == 1,
                  AttentionTile::CopiesStrips(*instruction->kernel())),
      instruction_(*instruction),
      attention_(attention),
      tile_(AttentionTile::Of(*instruction->kernel())),
      results_(LoopResultsOf(*instruction)),
      sides_(SidesOf(attention)),
      parts_(instruction->kernel()->parts),
      rows_(Product(sides_.queries.free_sizes)),
      keys_(Product(sides_.keys.free_sizes)),
      depth_(Product(sides_.keys.contracting_sizes)),
      features_(Product(sides_.values.free_sizes)) {}

std::vector<LaneIndex> AttentionRows::LogitsOf(llvm::Value* batch, llvm::Value* row) {
  std::vector<LaneIndex> logits(attention_.logits->shape().rank());
  size_t next = 0;
  const auto set = [&](const std::vector<LaneIndex>& indices) {
    for (const LaneIndex& index : indices) {
      const int64_t d = attention_.score_dimensions[next++];
      if (d >= 0) logits[d] = index;
    }
  };
  set(k_.Delinearize(batch, sides_.queries.batch_sizes));
  if (attention_.keys_operand == 0) next += sides_.keys.free.size();
  set(k_.Delinearize(row, sides_.queries.free_sizes));
  return logits;
}

LaneIndex AttentionRows::InWeights(const std::vector<LaneIndex>& logits, int64_t dimension) const {
  const int64_t d = attention_.weight_dimensions[dimension];
  return d < 0 ? LaneIndex() : logits[d];
}

absl::StatusOr<llvm::Value*> AttentionRows::SinkOf(const std::vector<LaneIndex>& logits) {
  if (attention_.sink == nullptr) return Float(-std::numeric_limits<double>::infinity());
  std::vector<LaneIndex> row = logits;
  row.erase(row.begin() + attention_.key_dimension);
  HILO_ASSIGN_OR_RETURN(const codegen::ElementValue sink,
                        k_.elements().Generate(attention_.sink, Index(std::move(row))));
  return AsF32(attention_.sink->shape().element_type(), sink);
}

absl::Status AttentionRows::StoreResult(const std::vector<LaneIndex>& logits, absl::Span<const LaneIndex> feature,
                                        llvm::Value* result) {
  const HloInstruction* product = attention_.product;
  std::vector<LaneIndex> at;
  const auto add = [&](const std::vector<int64_t>& dimensions) {
    for (int64_t d : dimensions) at.push_back(InWeights(logits, d));
  };
  add(sides_.weights.batch);
  if (attention_.weights_operand == 0) add(sides_.weights.free);
  at.insert(at.end(), feature.begin(), feature.end());
  if (attention_.weights_operand == 1) add(sides_.weights.free);
  k_.SetValue(product, As(product->shape().element_type(), result));
  std::vector<const HloInstruction*> users;
  for (const HloInstruction* user = attention_.result; user != product; user = user->operand(0)) users.push_back(user);
  absl::c_reverse(users);
  const Index index = IndexAfter(Index(std::move(at)), users);
  return EmitElements(k_, results_, {&index, 1});
}

}  // namespace hilo::gpu
