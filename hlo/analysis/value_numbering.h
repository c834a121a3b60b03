// Value numbering: which instructions, of one computation or of several, compute the same.
#ifndef HILO_HLO_ANALYSIS_VALUE_NUMBERING_H_
#define HILO_HLO_ANALYSIS_VALUE_NUMBERING_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "hlo/ir/hlo_computation.h"

namespace hilo {

// An instruction with what stands for its operands, and the numbers of its called computations. Equal expressions
// compute the same. Metadata does not count, nor does which channel a collective has: the devices exchange the same
// data. Constants of more than 64 KiB are equal if they are the same literal.
struct Expression {
  const HloInstruction* instruction;
  absl::InlinedVector<const HloInstruction*, 4> operands;
  absl::InlinedVector<int64_t, 1> called;
  std::string collective = {};  // the attributes of one but for the number of its channel; empty for others

  // `operands` and `called` are to be filled in.
  static Expression Of(const HloInstruction& instruction);

  friend bool operator==(const Expression& x, const Expression& y);

  template <typename H>
  friend H AbslHashValue(H state, const Expression& expression) {
    return H::combine(std::move(state), HashOfInstruction(*expression.instruction), expression.operands,
                      expression.called, expression.collective);
  }

 private:
  static size_t HashOfInstruction(const HloInstruction& instruction);
};

// Numbers computations; equal ones have the same number. An instruction with side effects is equal to itself alone,
// and so is one that calls a computation without a number.
class ValueNumbering {
 public:
  // Numbers a computation, after those that it calls.
  int64_t Number(const HloComputation& computation);
  // Returns the number of a computation that has one.
  int64_t NumberOf(const HloComputation* computation) const { return numbers_.at(computation); }
  bool HasNumber(const HloComputation* computation) const { return numbers_.contains(computation); }

  // Returns the first instruction that was found equal to this one, whose operands have been asked for before.
  const HloInstruction* FirstEqual(const HloInstruction* instruction);
  // Takes an instruction for equal to `first`, whatever the two compute.
  void SetFirstEqual(const HloInstruction* instruction, const HloInstruction* first) { first_[instruction] = first; }

 private:
  absl::flat_hash_map<Expression, const HloInstruction*> expressions_;
  absl::flat_hash_map<const HloInstruction*, const HloInstruction*> first_;
  absl::flat_hash_map<const HloInstruction*, int64_t> roots_;
  absl::flat_hash_map<const HloComputation*, int64_t> numbers_;
};

}  // namespace hilo

#endif  // HILO_HLO_ANALYSIS_VALUE_NUMBERING_H_
