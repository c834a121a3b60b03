#include "backends/gpu/emitters/attention/score_kernel.h"

#include <algorithm>
#include <utility>

#include "backends/llvm/elements/element_convert.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

constexpr double kLog2OfE = 1.4426950408889634, kLnOf2 = 0.6931471805599453;
// Exponentials of less than this are 0.
constexpr double kMinExponent = -200;
// Hyperbolic tangents of less have two terms of their series: the third is 2/15 x^5.
constexpr double kSmallTangent = 1.0 / 16;

}  // namespace

Carried ScoreKernel::Sums::Pack() const {
  Carried carried;
  for (const OwnLines& own : lines) carried.insert(carried.end(), own.begin(), own.end());
  for (const auto& fragments : products) {
    for (const Fragment& fragment : fragments) carried.insert(carried.end(), fragment.begin(), fragment.end());
  }
  return carried;
}

ScoreKernel::Sums ScoreKernel::Sums::Unpack(const Carried& carried) const {
  Sums sums = *this;
  const auto* next = carried.data();
  const auto take = [&](auto& values) {
    std::copy_n(next, values.size(), values.begin());
    next += values.size();
  };
  for (OwnLines& own : sums.lines) take(own);
  for (auto& fragments : sums.products) {
    for (Fragment& fragment : fragments) take(fragment);
  }
  return sums;
}

llvm::Value* ScoreKernel::AtMost(llvm::Value* x, int64_t limit) {
  return codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::umin, x, Int(limit));
}

void ScoreKernel::SetLines(llvm::Value* block, int64_t lines, int64_t of_block, bool last_first) {
  const int64_t tiles = CeilDiv(lines, of_block);
  batch_ = b_.CreateUDiv(block, Int(tiles));
  llvm::Value* tile = b_.CreateURem(block, Int(tiles));
  if (last_first) tile = b_.CreateSub(Int(tiles - 1), tile, "", true, true);
  first_line_ = Times(tile, of_block);
  first_in_block_ = Times(b_.CreateUDiv(k_.Thread(), Int(kWarp)), kLines);
  llvm::Value* own = Plus(Plus(first_line_, first_in_block_), multiplier_.line());
  for (int64_t i = 0; i < kOwnLines; ++i) {
    line_[i] = Plus(own, i * kLines / kOwnLines);
    if (lines % of_block == 0) continue;
    has_line_[i] = b_.CreateICmpULT(line_[i], Int(lines));
    line_[i] = AtMost(line_[i], lines - 1);
  }
}

absl::Status ScoreKernel::IfLine(int64_t line, absl::FunctionRef<absl::Status()> body) {
  return has_line_[line] == nullptr ? body() : k_.If("line", has_line_[line], body);
}

absl::StatusOr<Carried> ScoreKernel::ForEachCopied(llvm::Value* begin, llvm::Value* end, int64_t strip, Carried carried,
                                                   CopyStrip copy, AddStrip add) {
  const auto start = [&](llvm::Value* first, llvm::Value* number) -> absl::Status {
    HILO_RETURN_IF_ERROR(k_.If("strip", b_.CreateICmpULT(first, end), [&] { return copy(first, number); }));
    k_.CommitCopies();
    return absl::OkStatus();
  };
  const auto next = [&](llvm::Value* first, const Carried& all) -> absl::StatusOr<Carried> {
    llvm::Value *number = all.back(), *other = b_.CreateXor(number, Int(1));
    k_.WaitForCopies(0);
    k_.Barrier();
    HILO_RETURN_IF_ERROR(start(Plus(first, strip), other));
    Carried sums = all;
    sums.pop_back();
    HILO_ASSIGN_OR_RETURN(sums, add(first, number, sums));
    sums.push_back(other);
    return sums;
  };
  HILO_RETURN_IF_ERROR(start(begin, Int(0)));
  carried.push_back(Int(0));
  HILO_ASSIGN_OR_RETURN(Carried sums, codegen::EmitLoop(k_.context(), "strips", begin, end, strip, carried, next));
  sums.pop_back();
  return sums;
}

ElementValue ScoreKernel::As(PrimitiveType type, llvm::Value* x) {
  return codegen::EmitConvert(k_.context(), F32, type, {x});
}

llvm::Value* ScoreKernel::AsF32(PrimitiveType type, const ElementValue& x) {
  return codegen::EmitConvert(k_.context(), type, F32, x).re;
}

llvm::Value* ScoreKernel::Exponential(llvm::Value* x) {
  const auto exp2 = [&](llvm::Value* power) {
    return b_.CreateIntrinsic(b_.getFloatTy(), llvm::Intrinsic::nvvm_ex2_approx_f, {power});
  };
  if (type_ != F32) return exp2(b_.CreateFMul(x, Float(kLog2OfE)));
  // 2^(p + r) = 2^p (1 + r ln 2), where p is the power as it is rounded, and r the rest.
  const auto fma = [&](llvm::Value* a, llvm::Value* b, llvm::Value* c) {
    return b_.CreateIntrinsic(b_.getFloatTy(), llvm::Intrinsic::fma, {a, b, c});
  };
  constexpr auto kRounded = static_cast<float>(kLog2OfE);
  x = codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::maximum, x, Float(kMinExponent));
  llvm::Value* power = b_.CreateFMul(x, Float(kRounded));
  llvm::Value* rest = fma(x, Float(kRounded), b_.CreateFNeg(power));
  rest = fma(x, Float(kLog2OfE - static_cast<double>(kRounded)), rest);
  llvm::Value* whole = exp2(power);
  return fma(whole, b_.CreateFMul(rest, Float(kLnOf2)), whole);
}

llvm::Value* ScoreKernel::Tanh(llvm::Value* x) {
  const auto fma = [&](llvm::Value* a, llvm::Value* b, llvm::Value* c) {
    return b_.CreateIntrinsic(b_.getFloatTy(), llvm::Intrinsic::fma, {a, b, c});
  };
  // 1 - 2 / (1 + e^2x), which is -1 or 1 where e^2x is 0 or infinite.
  llvm::Value* power =
      b_.CreateIntrinsic(b_.getFloatTy(), llvm::Intrinsic::nvvm_ex2_approx_f, {b_.CreateFMul(x, Float(2 * kLog2OfE))});
  llvm::Value* part =
      b_.CreateIntrinsic(b_.getFloatTy(), llvm::Intrinsic::nvvm_rcp_approx_ftz_f, {b_.CreateFAdd(power, Float(1))});
  llvm::Value* large = fma(part, Float(-2), Float(1));
  // x - x^3 / 3, where that subtraction would cancel.
  llvm::Value* small = fma(b_.CreateFMul(b_.CreateFMul(x, x), x), Float(-1.0 / 3), x);
  llvm::Value* size = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  return b_.CreateSelect(b_.CreateFCmpOLT(size, Float(kSmallTangent)), small, large);
}

Carried ScoreKernel::Rounded(absl::Span<const Fragment> piece) {
  ScoreMultiplier::Piece elements;
  for (size_t half = 0; half < elements.size(); ++half) {
    for (int64_t i = 0; i < kOwn; ++i) elements[half][i] = As(type_, piece[half][i]);
  }
  return multiplier_.FactorsOf(elements);
}

llvm::Value* ScoreKernel::AcrossLine(llvm::Value* value,
                                     absl::FunctionRef<llvm::Value*(llvm::Value*, llvm::Value*)> combine) {
  for (int lanes = 1; lanes < kLineLanes; lanes *= 2) value = combine(value, k_.ShuffleAcross(value, lanes));
  return value;
}

Index ScoreKernel::IndexAfter(Index index, absl::Span<const HloInstruction* const> users) {
  for (const HloInstruction* user : users) {
    if (user->opcode() == HloOpcode::kTranspose) {
      const std::vector<LaneIndex> from = index.Dims(k_.context());
      std::vector<LaneIndex> to;
      for (int64_t d : user->attrs<TransposeAttrs>().dimensions) to.push_back(from[d]);
      index = Index(std::move(to));
    } else if (user->opcode() == HloOpcode::kReshape) {
      index = index.Reshape(k_.context(), user->operand(0)->shape().dimensions(), user->shape().dimensions());
    }
  }
  return index;
}

}  // namespace hilo::gpu
