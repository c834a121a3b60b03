#include "backends/llvm/elements/known_lanes.h"

#include <cstddef>

#include "llvm/IR/Constants.h"
#include "llvm/IR/InstrTypes.h"

namespace hilo::codegen {

std::optional<std::vector<int>> ActiveLanes(llvm::Value* mask, int lanes) {
  auto* constant = llvm::dyn_cast_or_null<llvm::Constant>(mask);
  if (mask != nullptr && constant == nullptr) return std::nullopt;
  std::vector<int> active;
  for (int lane = 0; lane < lanes; ++lane) {
    llvm::Constant* is_active = constant == nullptr ? nullptr : constant->getAggregateElement(lane);
    if (constant != nullptr && (is_active == nullptr || !llvm::isa<llvm::ConstantInt>(is_active))) return std::nullopt;
    if (constant == nullptr || is_active->isOneValue()) active.push_back(lane);
  }
  return active;
}

std::vector<int> PossibleLanes(llvm::Value* mask, int lanes) {
  constexpr size_t kMaxConditions = 16;
  std::vector<llvm::Value*> conditions = {mask};
  std::vector<bool> possible(static_cast<size_t>(lanes), true);
  for (size_t next = 0; next < conditions.size() && next < kMaxConditions; ++next) {
    auto* both = llvm::dyn_cast<llvm::BinaryOperator>(conditions[next]);
    if (both != nullptr && both->getOpcode() == llvm::Instruction::And)
      conditions.insert(conditions.end(), both->op_begin(), both->op_end());
    const std::optional<std::vector<int>> active = ActiveLanes(conditions[next], lanes);
    if (!active) continue;
    std::vector<bool> here(static_cast<size_t>(lanes));
    for (int lane : *active) here[lane] = true;
    for (int lane = 0; lane < lanes; ++lane) possible[lane] = possible[lane] && here[lane];
  }
  std::vector<int> result;
  for (int lane = 0; lane < lanes; ++lane) {
    if (possible[lane]) result.push_back(lane);
  }
  return result;
}

}  // namespace hilo::codegen
