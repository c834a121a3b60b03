// State shared by all emitters of values: the builder, the target, the numeric options, the active lanes, and the cache
// of values that have been emitted.
//
// Values are emitted for `lanes.width` lanes at a time. A value that is the same for all lanes stays an LLVM scalar for
// as long as possible; width 1 therefore makes plain scalar IR.
#ifndef HILO_BACKENDS_LLVM_LANES_EMITTER_CONTEXT_H_
#define HILO_BACKENDS_LLVM_LANES_EMITTER_CONTEXT_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/llvm/lanes/lane_plan.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace hilo::codegen {

struct NumericOptions {
  bool strict = false;           // no contraction; narrow floats are rounded after each operation
  bool flush_denormals = false;  // the caller sets the mode; only a few sequences depend on it
};

// The lanes that are computed together.
struct Lanes {
  int width = 1;
  // <width x i1>, or i1 when width is 1; null: all lanes are active. Inactive lanes are computed but never access
  // memory.
  llvm::Value* mask = nullptr;
  // Whether lane 0 is active wherever this code runs: true for the masks of loop tails, false for masks that a pad or a
  // concatenate makes. If true, values that are equal in all lanes are loaded without testing the mask.
  bool first_lane_active = true;
  // Whether no lane may be active far outside of an array, where perhaps no memory is.
  bool may_be_far = false;
};

// An element's value in registers: scalar when uniform over the lanes, else <width x T>. Types: PRED i1; integers iN
// (S1 to U4: i8, kept sign- or zero-extended); floats of at most 32 bits float; F64 double; complex numbers as two of
// these.
struct ElementValue {
  llvm::Value* re = nullptr;
  llvm::Value* im = nullptr;

  bool IsUniform() const { return !re->getType()->isVectorTy(); }
};

class EmitterContext {
 public:
  // `builder` must be positioned in a function of a module. Apart from errors of LLVM's verifier, nothing here fails.
  EmitterContext(llvm::IRBuilder<>* builder, const TargetTraits& target, const NumericOptions& numerics);

  llvm::IRBuilder<>& b() { return *builder_; }
  llvm::LLVMContext& llvm_context() { return builder_->getContext(); }
  llvm::Function* function() { return builder_->GetInsertBlock()->getParent(); }
  llvm::Module* module() { return function()->getParent(); }
  const TargetTraits& target() const { return target_; }
  const NumericOptions& numerics() const { return numerics_; }

  Lanes lanes;

  llvm::Value* Int64(int64_t value) { return builder_->getInt64(value); }
  // Splats a scalar to <width x T>; vectors and width 1 pass through.
  llvm::Value* Splat(llvm::Value* value);
  ElementValue Splat(ElementValue value);
  // Returns lane `lane` of a vector; a scalar passes through.
  llvm::Value* Lane(llvm::Value* value, int lane);
  // Returns an i1, true if any lane is active; null when that is known.
  llvm::Value* AnyLaneActive();
  // Returns the mask as a value: true when null; a vector if width > 1.
  llvm::Value* MaskValue();
  // Emits a return from the function if the run has been stopped; null for functions that cannot return early. EmitLoop
  // calls it in loops that may be long.
  std::function<void()> poll;
  // The loop iterations emitted since the current loop body began, between two polls: nested loops multiply.
  double work = 0;
  // Creates an alloca in the entry block.
  llvm::AllocaInst* EntryAlloca(llvm::Type* type, int64_t count, int64_t alignment, absl::string_view name);

  // Tables of emitted values. Entries are valid in the basic blocks that the current region's beginning
  // dominates.
  struct Region {
    absl::flat_hash_map<std::vector<uint64_t>, std::vector<ElementValue>> elements;
    absl::flat_hash_map<std::vector<uint64_t>, llvm::Value*> indices;
  };
  const std::vector<ElementValue>* FindElements(const std::vector<uint64_t>& key) const;
  void RememberElements(std::vector<uint64_t> key, std::vector<ElementValue> values);
  llvm::Value* FindIndex(const std::vector<uint64_t>& key) const;
  void RememberIndex(std::vector<uint64_t> key, llvm::Value* value);

 private:
  friend class RegionScope;
  llvm::IRBuilder<>* builder_;
  TargetTraits target_;
  NumericOptions numerics_;
  std::vector<Region> regions_;
};

// Brackets code that runs conditionally, repeatedly or under other lanes: values emitted within are dropped at the end,
// and the lanes are restored.
class RegionScope {
 public:
  explicit RegionScope(EmitterContext& context);
  ~RegionScope();
  RegionScope(const RegionScope&) = delete;
  RegionScope& operator=(const RegionScope&) = delete;

 private:
  EmitterContext& context_;
  Lanes lanes_;
};

// Emits a binary intrinsic, folded if both operands are constants, which IRBuilder does not do: loops whose bounds are
// known are recognized when they are emitted.
llvm::Value* EmitBinaryIntrinsic(llvm::IRBuilder<>& b, llvm::Intrinsic::ID intrinsic, llvm::Value* x, llvm::Value* y);

using Carried = std::vector<llvm::Value*>;

// Emits `for (i = lower; i < upper; i += step)` with loop-carried values of fixed types, and returns their values after
// the loop. The body runs in a region of its own and returns the next values. With `at_least_once` the first test is
// omitted. If the context polls, so do loops of more than some 10,000 iterations and those whose iterations are long
// loops themselves; `most` bounds the trip count of a loop whose bounds are not constants. Errors: the body's.
inline constexpr int64_t kManyIterations = int64_t{1} << 14;
absl::StatusOr<Carried> EmitLoop(EmitterContext& context, absl::string_view name, llvm::Value* lower,
                                 llvm::Value* upper, int64_t step, Carried initial,
                                 absl::FunctionRef<absl::StatusOr<Carried>(llvm::Value* i, const Carried&)> body,
                                 bool at_least_once = false, int64_t most = kManyIterations);

// Emits `condition ? on_true() : on_false()` with branches; both must return the same number of values of the same
// types. Each side is a region of its own. Where the condition `is_likely` to hold, the code of that side is in line.
absl::StatusOr<Carried> EmitBranches(EmitterContext& context, absl::string_view name, llvm::Value* condition,
                                     absl::FunctionRef<absl::StatusOr<Carried>()> on_true,
                                     absl::FunctionRef<absl::StatusOr<Carried>()> on_false, bool is_likely = false);

}  // namespace hilo::codegen

#endif  // HILO_BACKENDS_LLVM_LANES_EMITTER_CONTEXT_H_
