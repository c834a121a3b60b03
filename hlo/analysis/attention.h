// Attention as programs write it: the softmax, over keys, of logits that are computed element by element from the
// product of queries and keys, multiplied by values:
//
//   s = f32[b,q,k] dot(queries, keys)
//   x = f32[b,q,k] ...                 of s: scales, soft caps, biases, masks; dimensions may be transposed
//   e = f32[b,q,k] exponential(x - broadcast(reduce-max(x)))
//   p = f32[b,q,k] divide(e, broadcast(reduce-add(e)))
//   o = f32[b,q,d] dot(p, values)
//
// Rows may have a sink, a logit t = f32[b,q] that has no value:
//
//   e = exponential(x - broadcast(m)), m = maximum(reduce-max(x), t)
//   p = divide(e, broadcast(add(reduce-add(e), exponential(t - m))))
//
// Converts between floating-point types, and reshapes that add or remove dimensions of size 1, may be anywhere. A
// kernel can compute it a strip of keys at a time, without arrays of the size of x: it keeps the maximum and the sum of
// each row so far, and scales them and its results as the maximum grows.
#ifndef HILO_HLO_ANALYSIS_ATTENTION_H_
#define HILO_HLO_ANALYSIS_ATTENTION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "hlo/ir/hlo_instruction.h"

namespace hilo {

struct Attention {
  const HloInstruction* product = nullptr;  // the dot of weights and values
  // The product, or the last of a transpose and converts that each are all that reads what is before.
  const HloInstruction* result = nullptr;
  const HloInstruction* scores = nullptr;  // the dot of queries and keys
  const HloInstruction* logits = nullptr;  // x: depends on `scores` and on what is outside
  const HloInstruction* sink = nullptr;    // t: has the logits' dimensions but that of the keys; null: there is none
  int64_t weights_operand = 0;             // of the product: 0 or 1
  int64_t keys_operand = 0;                // of the scores: 0 or 1
  int64_t key_dimension = 0;               // of the logits
  // The dimension of the logits that each dimension of the scores, and of the weights, is; -1: none, as its size is 1.
  std::vector<int64_t> score_dimensions, weight_dimensions;
  // All instructions from the scores to the result, operands first. Only the result is read by others.
  std::vector<const HloInstruction*> members;
};

// Returns the attention whose product is `instruction`, or whose result is the root of `instruction` if that is a
// fusion. Both dots have the same batch dimensions; all other dimensions of the queries are rows.
std::optional<Attention> AttentionOf(const HloInstruction& instruction);

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_ATTENTION_H_
