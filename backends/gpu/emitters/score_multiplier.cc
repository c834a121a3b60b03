#include "backends/gpu/emitters/score_multiplier.h"

namespace hilo::gpu {

using codegen::Carried;
using codegen::ElementValue;

llvm::Value* ScoreMultiplier::Word(const ElementValue& low, const ElementValue& high) {
  llvm::Value* cells[] = {core_.ToCells(low)[0], core_.ToCells(high)[0]};
  llvm::Value* pair = llvm::PoisonValue::get(llvm::FixedVectorType::get(cells[0]->getType(), 2));
  for (uint64_t i = 0; i < 2; ++i) pair = b_.CreateInsertElement(pair, cells[i], i);
  return b_.CreateBitCast(pair, b_.getInt32Ty());
}

Carried ScoreMultiplier::FactorsOf(const Piece& piece) {
  Carried words;
  for (const auto& half : piece) {
    for (int64_t i = 0; i < kOwn; i += 2) words.push_back(Word(half[i], half[i + 1]));
  }
  return words;
}

void ScoreMultiplier::Multiply(absl::Span<const Carried> factors, const Strip& strip, int64_t position, int64_t depth,
                               Fragment* sums) {
  const Carried both = core_.Load(strip, b_.getInt64(0), position, depth, /*depth_first=*/true);
  for (const Carried& words : factors) {
    core_.Multiply(words, absl::MakeSpan(both).first(2), sums[0].data());
    core_.Multiply(words, absl::MakeSpan(both).last(2), sums[1].data());
  }
}

}  // namespace hilo::gpu
