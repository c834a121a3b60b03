#include "backends/gpu/emitters/attention/score_multiplier.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::ElementValue;

// Cells of F32 that are read together.
constexpr int64_t kVector = 4;
// Lines of F32 are longer by so many cells, so that lanes read different banks: four lines of pairs along the depth,
// two lines apart along the positions, lines of vectors.
constexpr int64_t kPairGap = 8, kLineGap = 4;

}  // namespace

StripLayout ScoreMultiplier::LayoutOf(int64_t positions, int64_t strip, bool depth_is_minor) const {
  if (type_ != F32) return core_.LayoutOf(positions, strip, depth_is_minor);
  const int64_t gap = depth_is_minor && !by_threads_ ? kPairGap : kLineGap;
  return {.cell = b_.getFloatTy(),
          .lines_are_positions = depth_is_minor,
          .pitch = (depth_is_minor ? strip : positions) + gap};
}

// Tensor cores ignore the last bits of F32: what is left is rounded here. Returns an i32.
llvm::Value* ScoreMultiplier::ToTf32(llvm::Value* x) {
  return b_.CreateIntrinsic(b_.getInt32Ty(), llvm::Intrinsic::nvvm_f2tf32_rna, {x});
}

Carried ScoreMultiplier::CellsOf(const ElementValue& element) {
  if (type_ != F32) return core_.ToCells(element);
  if (by_threads_) return {element.re};
  return {b_.CreateBitCast(ToTf32(element.re), b_.getFloatTy())};
}

llvm::Value* ScoreMultiplier::Word(const ElementValue& low, const ElementValue& high) {
  llvm::Value* cells[] = {core_.ToCells(low)[0], core_.ToCells(high)[0]};
  llvm::Value* pair = llvm::PoisonValue::get(llvm::FixedVectorType::get(cells[0]->getType(), 2));
  for (uint64_t i = 0; i < 2; ++i) pair = b_.CreateInsertElement(pair, cells[i], i);
  return b_.CreateBitCast(pair, b_.getInt32Ty());
}

Carried ScoreMultiplier::Read(const Strip& strip, llvm::Value* position, llvm::Value* depth, bool along_depth,
                              int64_t count) {
  Carried cells;
  if (along_depth != strip.layout.lines_are_positions) {
    for (int64_t i = 0; i < count; ++i) {
      llvm::Value* cell =
          strip.Cell(b_, along_depth ? position : Plus(position, i), along_depth ? Plus(depth, i) : depth);
      cells.push_back(k_.LoadCell(strip.cells[0], cell, strip.layout.cell));
    }
    return cells;
  }
  llvm::Value* address = b_.CreateInBoundsGEP(strip.layout.cell, strip.cells[0], strip.Cell(b_, position, depth));
  llvm::Value* vector =
      b_.CreateAlignedLoad(llvm::FixedVectorType::get(strip.layout.cell, static_cast<unsigned>(count)), address,
                           llvm::Align(count * KernelEmitter::CellBytes(strip.layout.cell)));
  for (int64_t i = 0; i < count; ++i) cells.push_back(b_.CreateExtractElement(vector, static_cast<uint64_t>(i)));
  return cells;
}

// By line and depth: each of the lanes that share a line has two numbers of each half.
Carried ScoreMultiplier::Gather(const Piece& piece) {
  llvm::Value* first = b_.CreateAnd(b_.CreateTrunc(lane(), b_.getInt32Ty()), b_.getInt32(~(kLineLanes - 1U)));
  Carried factors;
  for (int64_t line = 0; line < kOwnLines; ++line) {
    for (const auto& half : piece) {
      for (int owner = 0; owner < kLineLanes; ++owner) {
        for (int64_t i = 0; i < 2; ++i)
          factors.push_back(k_.ShuffleFrom(half[2 * line + i].re, b_.CreateOr(first, b_.getInt32(owner))));
      }
    }
  }
  return factors;
}

Carried ScoreMultiplier::FactorsOf(const Piece& piece) {
  if (by_threads_) return Gather(piece);
  Carried words;
  for (const auto& half : piece) {
    if (type_ == F32) {
      for (int64_t i : {0, 2, 1, 3}) words.push_back(Bits(CellsOf(half[i])[0]));
    } else {
      for (int64_t i = 0; i < kOwn; i += 2) words.push_back(Word(half[i], half[i + 1]));
    }
  }
  return words;
}

Carried ScoreMultiplier::Load(const Strip& lines, llvm::Value* first, int64_t depth) {
  if (type_ != F32) return core_.Load(lines, first, 0, depth, /*depth_first=*/false);
  const int64_t apart = kLines / kOwnLines;
  llvm::Value* own = b_.CreateAdd(first, line(), "", true, true);
  Carried factors;
  if (by_threads_) {
    for (int64_t line = 0; line < kOwnLines; ++line) {
      for (int64_t i = 0; i < kPiece; i += kVector) {
        const Carried read = Read(lines, Plus(own, line * apart), Int(depth + i), /*along_depth=*/true, kVector);
        factors.insert(factors.end(), read.begin(), read.end());
      }
    }
    return factors;
  }
  for (int64_t half = 0; half < 2; ++half) {
    llvm::Value* at = Plus(column(), depth + half * kColumns);
    const Carried low = Read(lines, own, at, /*along_depth=*/true, 2),
                  high = Read(lines, Plus(own, apart), at, /*along_depth=*/true, 2);
    for (llvm::Value* x : {low[0], high[0], low[1], high[1]}) factors.push_back(Bits(x));
  }
  return factors;
}

void ScoreMultiplier::Multiply(absl::Span<const Carried> factors, const Strip& strip, int64_t position, int64_t depth,
                               Fragment* sums) {
  if (by_threads_) return MultiplyByThreads(factors, strip, position, depth, sums);
  if (type_ == F32) return MultiplyTf32(factors, strip, position, depth, sums);
  const Carried both = core_.Load(strip, Int(0), position, depth, /*depth_first=*/true);
  for (const Carried& words : factors) {
    core_.Multiply(words, absl::MakeSpan(both).first(2), sums[0].data());
    core_.Multiply(words, absl::MakeSpan(both).last(2), sums[1].data());
  }
}

void ScoreMultiplier::MultiplyTf32(absl::Span<const Carried> factors, const Strip& strip, int64_t position,
                                   int64_t depth, Fragment* sums) {
  for (int64_t half = 0; half < 2; ++half) {
    for (int64_t n = 0; n < 2; ++n) {
      Carried words = Read(strip, Plus(line(), position + n * kColumns), Plus(column(), depth + half * kColumns),
                           /*along_depth=*/true, 2);
      for (llvm::Value*& word : words) word = rounds_strips_ ? ToTf32(word) : Bits(word);
      for (const Carried& all : factors)
        core_.Multiply(absl::MakeSpan(all).subspan(half * kOwn, kOwn), words, sums[n].data());
    }
  }
}

void ScoreMultiplier::MultiplyByThreads(absl::Span<const Carried> factors, const Strip& strip, int64_t position,
                                        int64_t depth, Fragment* sums) {
  const auto add = [&](int64_t n, int64_t i, int64_t d, llvm::Value* x) {
    for (const Carried& of_lines : factors) {
      for (int64_t line = 0; line < kOwnLines; ++line) {
        llvm::Value*& sum = sums[n][2 * line + i];
        sum = b_.CreateIntrinsic(b_.getFloatTy(), llvm::Intrinsic::fma, {of_lines[line * kPiece + d], x, sum});
      }
    }
  };
  for (int64_t n = 0; n < 2; ++n) {
    llvm::Value* own = Plus(column(), position + n * kColumns);
    if (strip.layout.lines_are_positions) {
      for (int64_t i = 0; i < 2; ++i) {
        for (int64_t d = 0; d < kPiece; d += kVector) {
          const Carried read = Read(strip, Plus(own, i), Int(depth + d), /*along_depth=*/true, kVector);
          for (int64_t j = 0; j < kVector; ++j) add(n, i, d + j, read[j]);
        }
      }
    } else {
      for (int64_t d = 0; d < kPiece; ++d) {
        const Carried read = Read(strip, own, Int(depth + d), /*along_depth=*/false, 2);
        for (int64_t i = 0; i < 2; ++i) add(n, i, d, read[i]);
      }
    }
  }
}

}  // namespace hilo::gpu
