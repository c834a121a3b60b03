#include "backends/llvm/lanes/emitter_context.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/llvm/llvm_compat.h"
#include "hilo/status_macros.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/MDBuilder.h"

namespace hilo::codegen {

EmitterContext::EmitterContext(llvm::IRBuilder<>* builder, const TargetTraits& target, const NumericOptions& numerics)
    : builder_(builder), target_(target), numerics_(numerics), regions_(1) {
  llvm::FastMathFlags flags;
  flags.setAllowContract(!numerics.strict);
  builder_->setFastMathFlags(flags);
}

llvm::Value* EmitterContext::Splat(llvm::Value* value) {
  if (lanes.width == 1 || value == nullptr || value->getType()->isVectorTy()) return value;
  return builder_->CreateVectorSplat(lanes.width, value);
}

ElementValue EmitterContext::Splat(ElementValue value) { return {Splat(value.re), Splat(value.im)}; }

llvm::Value* EmitterContext::Lane(llvm::Value* value, int lane) {
  return value->getType()->isVectorTy() ? builder_->CreateExtractElement(value, lane) : value;
}

llvm::Value* EmitterContext::AnyLaneActive() {
  if (lanes.mask == nullptr || lanes.first_lane_active) return nullptr;
  return lanes.width == 1 ? lanes.mask : builder_->CreateOrReduce(lanes.mask);
}

llvm::Value* EmitterContext::MaskValue() { return lanes.mask != nullptr ? lanes.mask : Splat(builder_->getTrue()); }

llvm::AllocaInst* EmitterContext::EntryAlloca(llvm::Type* type, int64_t count, int64_t alignment,
                                              absl::string_view name) {
  llvm::BasicBlock& entry = function()->getEntryBlock();
  llvm::IRBuilder<> at_entry(&entry, entry.begin());
  llvm::AllocaInst* alloca =
      at_entry.CreateAlloca(type, count == 1 ? nullptr : at_entry.getInt64(count), ToStringRef(name));
  alloca->setAlignment(llvm::Align(alignment));
  return alloca;
}

const std::vector<ElementValue>* EmitterContext::FindElements(const std::vector<uint64_t>& key) const {
  for (auto region = regions_.rbegin(); region != regions_.rend(); ++region) {
    if (auto it = region->elements.find(key); it != region->elements.end()) return &it->second;
  }
  return nullptr;
}

void EmitterContext::RememberElements(std::vector<uint64_t> key, std::vector<ElementValue> values) {
  regions_.back().elements.insert_or_assign(std::move(key), std::move(values));
}

llvm::Value* EmitterContext::FindIndex(const std::vector<uint64_t>& key) const {
  for (auto region = regions_.rbegin(); region != regions_.rend(); ++region) {
    if (auto it = region->indices.find(key); it != region->indices.end()) return it->second;
  }
  return nullptr;
}

void EmitterContext::RememberIndex(std::vector<uint64_t> key, llvm::Value* value) {
  regions_.back().indices.insert_or_assign(std::move(key), value);
}

RegionScope::RegionScope(EmitterContext& context) : context_(context), lanes_(context.lanes) {
  context_.regions_.emplace_back();
}

RegionScope::~RegionScope() {
  context_.regions_.pop_back();
  context_.lanes = lanes_;
}

namespace {

// The test is at the bottom: one branch per iteration, and a loop that runs at least once needs no test before it.
absl::StatusOr<Carried> EmitOneLoop(EmitterContext& context, absl::string_view name, llvm::Value* lower,
                                    llvm::Value* upper, int64_t step, Carried initial,
                                    absl::FunctionRef<absl::StatusOr<Carried>(llvm::Value*, const Carried&)> body,
                                    bool at_least_once, double iterations) {
  llvm::IRBuilder<>& b = context.b();
  llvm::Value* runs = b.CreateICmpSLT(lower, upper);
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(runs)) {
    if (known->isZero() && !at_least_once) return initial;
    at_least_once = true;
    const auto *first = llvm::dyn_cast<llvm::ConstantInt>(lower), *end = llvm::dyn_cast<llvm::ConstantInt>(upper);
    if (known->isOne() && first != nullptr && end != nullptr && end->getSExtValue() - first->getSExtValue() <= step) {
      RegionScope region(context);  // one iteration, which needs no loop
      return body(lower, initial);
    }
  }
  const std::string prefix(name);
  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::BasicBlock* block = llvm::BasicBlock::Create(context.llvm_context(), prefix + ".loop", context.function());
  llvm::BasicBlock* exit = llvm::BasicBlock::Create(context.llvm_context(), prefix + ".exit", context.function());
  if (at_least_once) {
    b.CreateBr(block);
  } else {
    b.CreateCondBr(runs, block, exit);
  }
  b.SetInsertPoint(block);
  llvm::PHINode* i = b.CreatePHI(lower->getType(), 2, prefix + ".i");
  i->addIncoming(lower, before);
  Carried current;
  for (llvm::Value* value : initial) {
    llvm::PHINode* phi = b.CreatePHI(value->getType(), 2);
    phi->addIncoming(value, before);
    current.push_back(phi);
  }
  Carried next;
  const double before_loop = std::exchange(context.work, 0);
  {
    RegionScope region(context);
    HILO_ASSIGN_OR_RETURN(next, body(i, current));
  }
  // A poll takes about as long as an iteration.
  constexpr double kPolledIteration = 1024;
  const double iteration = 1 + context.work;
  context.work = before_loop;
  if (context.poll && iteration >= kPolledIteration) {
    context.poll();
  } else {
    context.work += iterations * iteration;
  }
  HILO_RET_CHECK(next.size() == current.size());
  llvm::BasicBlock* latch = b.GetInsertBlock();
  llvm::Value* next_i = b.CreateNSWAdd(i, llvm::ConstantInt::get(i->getType(), step));
  i->addIncoming(next_i, latch);
  for (size_t k = 0; k < next.size(); ++k) {
    HILO_RET_CHECK(next[k]->getType() == current[k]->getType());
    llvm::cast<llvm::PHINode>(current[k])->addIncoming(next[k], latch);
  }
  b.CreateCondBr(b.CreateICmpSLT(next_i, upper), block, exit);
  b.SetInsertPoint(exit);
  if (at_least_once) return next;
  for (size_t k = 0; k < next.size(); ++k) {
    llvm::PHINode* phi = b.CreatePHI(next[k]->getType(), 2);
    phi->addIncoming(initial[k], before);
    phi->addIncoming(next[k], latch);
    next[k] = phi;
  }
  return next;
}

}  // namespace

llvm::Value* EmitBinaryIntrinsic(llvm::IRBuilder<>& b, llvm::Intrinsic::ID intrinsic, llvm::Value* x, llvm::Value* y) {
  auto *known_x = llvm::dyn_cast<llvm::Constant>(x), *known_y = llvm::dyn_cast<llvm::Constant>(y);
  if (known_x != nullptr && known_y != nullptr) {
    if (llvm::Constant* known = llvm::ConstantFoldBinaryIntrinsic(intrinsic, known_x, known_y, x->getType(), nullptr)) {
      return known;
    }
  }
  return b.CreateBinaryIntrinsic(intrinsic, x, y);
}

absl::StatusOr<Carried> EmitLoop(EmitterContext& context, absl::string_view name, llvm::Value* lower,
                                 llvm::Value* upper, int64_t step, Carried initial,
                                 absl::FunctionRef<absl::StatusOr<Carried>(llvm::Value*, const Carried&)> body,
                                 bool at_least_once, int64_t most) {
  const auto *first = llvm::dyn_cast<llvm::ConstantInt>(lower), *end = llvm::dyn_cast<llvm::ConstantInt>(upper);
  if (first != nullptr && end != nullptr) most = (end->getSExtValue() - first->getSExtValue() + step - 1) / step;
  if (!context.poll || most <= kManyIterations) {
    return EmitOneLoop(context, name, lower, upper, step, std::move(initial), body, at_least_once,
                       static_cast<double>(most));
  }
  llvm::IRBuilder<>& b = context.b();
  const int64_t strip = kManyIterations * step;
  // Polled by the loop of the strips, whose iterations are long.
  const auto iterations = [&](llvm::Value* i, const Carried& now) {
    llvm::Value* limit = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin,
                                                 b.CreateNSWAdd(i, llvm::ConstantInt::get(i->getType(), strip)), upper);
    return EmitOneLoop(context, name, i, limit, step, now, body, /*at_least_once=*/true, kManyIterations);
  };
  return EmitOneLoop(context, absl::StrCat(name, ".strips"), lower, upper, strip, std::move(initial), iterations,
                     at_least_once, static_cast<double>(most) / kManyIterations);
}

absl::StatusOr<Carried> EmitBranches(EmitterContext& context, absl::string_view name, llvm::Value* condition,
                                     absl::FunctionRef<absl::StatusOr<Carried>()> on_true,
                                     absl::FunctionRef<absl::StatusOr<Carried>()> on_false, bool is_likely) {
  llvm::IRBuilder<>& b = context.b();
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition)) {
    return known->isZero() ? on_false() : on_true();
  }
  const std::string prefix(name);
  llvm::BasicBlock* blocks[2];
  for (auto& block : blocks) {
    block = llvm::BasicBlock::Create(context.llvm_context(), prefix + (&block == blocks ? ".true" : ".false"),
                                     context.function());
  }
  llvm::BasicBlock* join = llvm::BasicBlock::Create(context.llvm_context(), prefix + ".join", context.function());
  b.CreateCondBr(condition, blocks[0], blocks[1],
                 is_likely ? llvm::MDBuilder(context.llvm_context()).createLikelyBranchWeights() : nullptr);
  Carried values[2];
  llvm::BasicBlock* ends[2];
  for (int side = 0; side < 2; ++side) {
    b.SetInsertPoint(blocks[side]);
    RegionScope region(context);
    HILO_ASSIGN_OR_RETURN(values[side], side == 0 ? on_true() : on_false());
    ends[side] = b.GetInsertBlock();
    b.CreateBr(join);
  }
  HILO_RET_CHECK(values[0].size() == values[1].size());
  b.SetInsertPoint(join);
  Carried result;
  for (size_t k = 0; k < values[0].size(); ++k) {
    HILO_RET_CHECK(values[0][k]->getType() == values[1][k]->getType());
    llvm::PHINode* phi = b.CreatePHI(values[0][k]->getType(), 2);
    for (int side = 0; side < 2; ++side) phi->addIncoming(values[side][k], ends[side]);
    result.push_back(phi);
  }
  return result;
}

}  // namespace hilo::codegen
