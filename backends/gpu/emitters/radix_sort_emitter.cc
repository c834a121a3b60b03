// Long lists with one key: sorts by the key's digits of eight bits, the least significant first, each pass preserving
// the order of equal digits.
//
// The comparator must compare one function of the first argument with the same of the second, as JAX does with numbers
// after removing -0 and NaN's signs; the key is then that function of one element. A digit takes three launches: tiles
// count their digits; a block per digit sums the counts of its tiles, to the number of equal digits before each tile;
// and tiles sort their elements by the digit in shared memory, in two rounds of four bits with counters of each thread,
// and move all arrays' elements, runs of equal digits together, to their positions. Arrays whose results nothing reads
// are not moved, but for the keys, which all passes but the last move.
#include <utility>

#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/match/sort_match.h"
#include "backends/llvm/elements/predication.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::gpu {
namespace {

using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

constexpr int64_t kDigitBits = 8, kDigits = int64_t{1} << kDigitBits;
constexpr int64_t kRoundBits = 4, kRoundDigits = int64_t{1} << kRoundBits;
constexpr int64_t kOwn = 8, kTile = kOwn * kBlockSize;  // elements per thread and per block
static_assert(kDigits == kBlockSize);                   // a thread sums for each digit
// A thread adds up the counts of as many tiles before a block would.
constexpr int64_t kFewTiles = 32;
// A cell of a tile: the number of an element in it, and the digit above.
constexpr int64_t kNumberBits = 16;
static_assert(kTile <= int64_t{1} << kNumberBits);

int64_t TilesOf(const KeySort& r) { return CeilDiv(r.length, kTile); }
// Of all digits in all tiles; after them come those in all lists.
int64_t CountsOf(const KeySort& r) { return r.lists() * kDigits * TilesOf(r); }

// A kernel's arguments: arrays before and after, counts, and the digit's distance from the key's end.
class RadixKernel {
 public:
  RadixKernel(KernelEmitter& k, const KeySort& r, bool is_last)
      : k_(k), b_(k.b()), r_(r), is_last_(is_last), thread_(k.Thread()), word_(b_.getInt32Ty()) {
    counts_ = k.extra(2 * r.count);
    shift_ = k.extra(2 * r.count + 1);
  }

  absl::Status Count() {
    FindTile();
    llvm::Value* counters = k_.Shared(word_, kDigits, "counters");
    HILO_RETURN_IF_ERROR(Zero(counters, kDigits));
    k_.Barrier();
    HILO_RETURN_IF_ERROR(k_.ForEach("elements", thread_, size_, kBlockSize, [&](llvm::Value* e) -> absl::Status {
      HILO_ASSIGN_OR_RETURN(llvm::Value * digit, DigitOf(e));
      b_.CreateAtomicRMW(llvm::AtomicRMWInst::Add, b_.CreateInBoundsGEP(word_, counters, digit), b_.getInt32(1),
                         llvm::MaybeAlign(4), llvm::AtomicOrdering::Monotonic);
      return absl::OkStatus();
    }));
    k_.Barrier();
    return k_.ForEach("digits", thread_, Int(kDigits), kBlockSize, [&](llvm::Value* digit) {
      k_.StoreCell(counts_, IndexOfCount(digit), k_.LoadCell(counters, digit, word_));
      return absl::OkStatus();
    });
  }

  // Replaces the counts of a list's digit by the numbers of equal digits in the tiles before; a block for each digit.
  absl::Status Scan() {
    const int64_t tiles = TilesOf(r_), own = CeilDiv(tiles, kBlockSize);
    llvm::Value *base = b_.CreateMul(k_.Block(), Int(tiles)), *last = b_.CreateAdd(base, Int(tiles - 1));
    llvm::Value* of_last = k_.LoadCell(counts_, last, word_);
    const auto at_most = [&](llvm::Value* i) { return b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, i, Int(tiles)); };
    llvm::Value* begin = b_.CreateMul(thread_, Int(own));
    HILO_RETURN_IF_ERROR(AddUp(counts_, base, at_most(begin), at_most(b_.CreateAdd(begin, Int(own)))));
    k_.Barrier();
    return k_.If("total", b_.CreateICmpEQ(thread_, Int(0)), [&]() -> absl::Status {
      k_.StoreCell(counts_, b_.CreateAdd(k_.Block(), Int(CountsOf(r_))),
                   b_.CreateAdd(k_.LoadCell(counts_, last, word_), of_last));
      return absl::OkStatus();
    });
  }

  // The same by a thread for each digit, a block for each list.
  absl::Status ScanFewTiles() {
    llvm::Value* digit = b_.CreateAdd(b_.CreateMul(k_.Block(), Int(kDigits)), thread_);
    llvm::Value* base = b_.CreateMul(digit, Int(TilesOf(r_)));
    const auto add = [&](llvm::Value* tile, const codegen::Carried& sum) -> absl::StatusOr<codegen::Carried> {
      llvm::Value *at = b_.CreateAdd(base, tile), *count = k_.LoadCell(counts_, at, word_);
      k_.StoreCell(counts_, at, sum[0]);
      return codegen::Carried{b_.CreateAdd(sum[0], count)};
    };
    HILO_ASSIGN_OR_RETURN(const codegen::Carried total,
                          codegen::EmitLoop(k_.context(), "tiles", Int(0), Int(TilesOf(r_)), 1, {b_.getInt32(0)}, add));
    k_.StoreCell(counts_, b_.CreateAdd(digit, Int(CountsOf(r_))), total[0]);
    return absl::OkStatus();
  }

  absl::Status Scatter() {
    FindTile();
    llvm::Value *cells = k_.Shared(word_, kTile, "cells"), *others = k_.Shared(word_, kTile, "others"),
                *counters = k_.Shared(word_, kRoundDigits * kBlockSize, "counters");
    llvm::Value *before = k_.Shared(word_, kDigits, "before"), *starts = k_.Shared(word_, kDigits, "starts");
    HILO_RETURN_IF_ERROR(k_.ForEach("elements", thread_, Int(kTile), kBlockSize, [&](llvm::Value* e) -> absl::Status {
      const auto store = [&](llvm::Value* digit) {
        llvm::Value* cell = b_.CreateOr(b_.CreateShl(digit, Int(kNumberBits)), e);
        k_.StoreCell(cells, e, b_.CreateTrunc(cell, word_));
      };
      store(Int(kDigits - 1));  // beyond the list: after all others
      return k_.If("there", b_.CreateICmpULT(e, size_), [&]() -> absl::Status {
        HILO_ASSIGN_OR_RETURN(llvm::Value * digit, DigitOf(e));
        store(digit);
        return absl::OkStatus();
      });
    }));
    // The elements of smaller digits in the list.
    llvm::Value* total = b_.CreateAdd(b_.CreateMul(list_, Int(kDigits)), b_.CreateAdd(thread_, Int(CountsOf(r_))));
    k_.StoreCell(before, thread_, k_.LoadCell(counts_, total, word_));
    HILO_RETURN_IF_ERROR(AddUp(before, Int(0), thread_, b_.CreateAdd(thread_, Int(1))));
    for (int64_t bits = 0; bits < kDigitBits; bits += kRoundBits) {
      HILO_RETURN_IF_ERROR(Round(cells, others, counters, kNumberBits + bits));
      std::swap(cells, others);
    }
    HILO_RETURN_IF_ERROR(k_.ForEach("starts", thread_, Int(kTile), kBlockSize, [&](llvm::Value* at) {
      llvm::Value* is_first = b_.CreateICmpEQ(at, Int(0));
      llvm::Value* previous = b_.CreateSelect(is_first, at, b_.CreateSub(at, Int(1)));
      llvm::Value *digit = DigitIn(k_.LoadCell(cells, at, word_)),
                  *other = DigitIn(k_.LoadCell(cells, previous, word_));
      return k_.If("start", b_.CreateOr(is_first, b_.CreateICmpNE(digit, other)), [&]() -> absl::Status {
        k_.StoreCell(starts, digit, b_.CreateTrunc(at, word_));
        return absl::OkStatus();
      });
    }));
    k_.Barrier();
    return k_.ForEach("moves", thread_, size_, kBlockSize, [&](llvm::Value* at) {
      llvm::Value *cell = k_.LoadCell(cells, at, word_), *digit = DigitIn(cell);
      llvm::Value* rank = b_.CreateSub(b_.CreateTrunc(at, word_), k_.LoadCell(starts, digit, word_));
      llvm::Value* of_digit =
          b_.CreateAdd(k_.LoadCell(before, digit, word_), k_.LoadCell(counts_, IndexOfCount(digit), word_));
      llvm::Value* number = b_.CreateAnd(cell, b_.getInt32((1 << kNumberBits) - 1));
      llvm::Value *source = ElementAt(b_.CreateAdd(first_, b_.CreateZExt(number, b_.getInt64Ty()))),
                  *target = ElementAt(b_.CreateZExt(b_.CreateAdd(of_digit, rank), b_.getInt64Ty()));
      for (int64_t i = 0; i < r_.count; ++i) {
        if (!r_.Moves(i, is_last_)) continue;
        Array(r_.count + i, i).Store(k_.context(), IndexOf(target), Array(i, i).Load(k_.context(), IndexOf(source)));
      }
      return absl::OkStatus();
    });
  }

 private:
  llvm::Value* Int(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }
  codegen::IrArray Array(int64_t argument, int64_t i) {
    return {.pointer = k_.extra(argument),
            .shape = ShapeUtil::MakeShape(r_.instruction->operand(i)->shape().element_type(), {r_.elements}),
            .alignment = kDeviceAlignment,
            .invariant = argument < r_.count};
  }
  Index IndexOf(llvm::Value* at) { return Index({LaneIndex::Uniform(at, 1, r_.elements)}); }

  void FindTile() {
    llvm::Value* block = k_.Block();
    list_ = b_.CreateUDiv(block, Int(TilesOf(r_)));
    tile_ = b_.CreateURem(block, Int(TilesOf(r_)));
    first_ = b_.CreateMul(tile_, Int(kTile), "", true, true);
    size_ = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b_.CreateSub(Int(r_.length), first_, "", true, true),
                                     Int(kTile));
    origin_ = b_.CreateAdd(b_.CreateMul(b_.CreateUDiv(list_, Int(r_.stride)), Int(r_.length * r_.stride)),
                           b_.CreateURem(list_, Int(r_.stride)));
  }
  llvm::Value* ElementAt(llvm::Value* i) { return b_.CreateAdd(origin_, b_.CreateMul(i, Int(r_.stride))); }
  llvm::Value* IndexOfCount(llvm::Value* digit) {
    return b_.CreateAdd(b_.CreateMul(b_.CreateAdd(b_.CreateMul(list_, Int(kDigits)), digit), Int(TilesOf(r_))), tile_);
  }

  absl::Status Zero(llvm::Value* cells, int64_t count) {
    return k_.ForEach("zero", thread_, Int(count), kBlockSize, [&](llvm::Value* i) {
      k_.StoreCell(cells, i, b_.getInt32(0));
      return absl::OkStatus();
    });
  }

  // Returns the digit in a cell of a tile, i64.
  llvm::Value* DigitIn(llvm::Value* cell) {
    return b_.CreateZExt(b_.CreateLShr(cell, b_.getInt32(kNumberBits)), b_.getInt64Ty());
  }

  // Sorts a tile's cells by the four bits from `shift` on: a thread has neighbouring ones.
  absl::Status Round(llvm::Value* from, llvm::Value* to, llvm::Value* counters, int64_t shift) {
    HILO_RETURN_IF_ERROR(Zero(counters, kRoundDigits * kBlockSize));
    k_.Barrier();
    const auto own = [&](absl::FunctionRef<void(llvm::Value * cell, llvm::Value * counter)> body) {
      llvm::Value* first = b_.CreateMul(thread_, Int(kOwn));
      return k_.ForEach("own", first, b_.CreateAdd(first, Int(kOwn)), 1, [&](llvm::Value* at) {
        llvm::Value* cell = k_.LoadCell(from, at, word_);
        llvm::Value* digit =
            b_.CreateAnd(b_.CreateLShr(cell, b_.getInt32(static_cast<uint32_t>(shift))), b_.getInt32(kRoundDigits - 1));
        llvm::Value* line = b_.CreateMul(b_.CreateZExt(digit, b_.getInt64Ty()), Int(kBlockSize));
        body(cell, b_.CreateAdd(line, thread_));
        return absl::OkStatus();
      });
    };
    HILO_RETURN_IF_ERROR(own([&](llvm::Value*, llvm::Value* counter) {
      k_.StoreCell(counters, counter, b_.CreateAdd(k_.LoadCell(counters, counter, word_), b_.getInt32(1)));
    }));
    k_.Barrier();
    llvm::Value* first = b_.CreateMul(thread_, Int(kRoundDigits));
    HILO_RETURN_IF_ERROR(AddUp(counters, Int(0), first, b_.CreateAdd(first, Int(kRoundDigits))));
    k_.Barrier();
    HILO_RETURN_IF_ERROR(own([&](llvm::Value* cell, llvm::Value* counter) {
      llvm::Value* rank = k_.LoadCell(counters, counter, word_);
      k_.StoreCell(to, b_.CreateZExt(rank, b_.getInt64Ty()), cell);
      k_.StoreCell(counters, counter, b_.CreateAdd(rank, b_.getInt32(1)));
    }));
    k_.Barrier();
    return absl::OkStatus();
  }

  // The digit of element `e` of the tile, i64.
  absl::StatusOr<llvm::Value*> DigitOf(llvm::Value* e) {
    codegen::RegionScope region(k_.context());
    absl::flat_hash_map<const HloInstruction*, ElementValue> values;
    const ElementValue element =
        Array(r_.key_array, r_.key_array).Load(k_.context(), IndexOf(ElementAt(b_.CreateAdd(first_, e))));
    for (const HloInstruction* instruction : r_.key->parent()->MakePostOrder()) {
      if (instruction->IsParameter()) {
        if (instruction->parameter_number() == 2 * r_.key_array) values[instruction] = element;
      } else if (instruction->IsConstant()) {
        if (instruction->shape().rank() == 0)
          values[instruction] = codegen::EmitLiteral(k_.context(), instruction->literal());
      } else if (IsKeyOp(instruction->opcode())) {
        std::vector<ElementValue> operands;
        for (const HloInstruction* operand : instruction->operands()) {
          if (values.contains(operand)) operands.push_back(values[operand]);
        }
        if (static_cast<int64_t>(operands.size()) < instruction->operand_count()) continue;  // of the other element
        HILO_ASSIGN_OR_RETURN(values[instruction], codegen::EmitElementwise(k_.context(), instruction, operands));
      }
      if (instruction == r_.key) break;
    }
    llvm::Value* key =
        codegen::EmitOrderKey(k_.context(), r_.key->shape().element_type(), values.at(r_.key).re, r_.descending);
    llvm::Value* wide = b_.CreateZExtOrTrunc(key, b_.getInt64Ty());
    return b_.CreateAnd(b_.CreateLShr(wide, shift_), Int(kDigits - 1));
  }

  // Replaces cells [begin, end) of each of the block's threads, from `base` on, by the sums of all cells before them.
  absl::Status AddUp(llvm::Value* cells, llvm::Value* base, llvm::Value* begin, llvm::Value* end) {
    llvm::Value* sums = k_.Shared(word_, kBlockSize, "sums");
    const auto walk = [&](llvm::Value* start, bool store) -> absl::StatusOr<llvm::Value*> {
      auto iteration = [&](llvm::Value* i, const codegen::Carried& sum) -> absl::StatusOr<codegen::Carried> {
        llvm::Value *at = b_.CreateAdd(base, i), *cell = k_.LoadCell(cells, at, word_);
        if (store) k_.StoreCell(cells, at, sum[0]);
        return codegen::Carried{b_.CreateAdd(sum[0], cell)};
      };
      HILO_ASSIGN_OR_RETURN(const codegen::Carried sum,
                            codegen::EmitLoop(k_.context(), "walk", begin, end, 1, {start}, iteration));
      return sum[0];
    };
    HILO_ASSIGN_OR_RETURN(llvm::Value * own, walk(b_.getInt32(0), false));
    k_.StoreCell(sums, thread_, own);
    k_.Barrier();
    for (int64_t distance = 1; distance < kBlockSize; distance *= 2) {
      llvm::Value* has = b_.CreateICmpUGE(thread_, Int(distance));
      llvm::Value* other =
          k_.LoadCell(sums, b_.CreateSelect(has, b_.CreateSub(thread_, Int(distance)), thread_), word_);
      llvm::Value* sum = b_.CreateAdd(k_.LoadCell(sums, thread_, word_), b_.CreateSelect(has, other, b_.getInt32(0)));
      k_.Barrier();
      k_.StoreCell(sums, thread_, sum);
      k_.Barrier();
    }
    return walk(b_.CreateSub(k_.LoadCell(sums, thread_, word_), own), true).status();
  }

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  const KeySort& r_;
  const bool is_last_;  // of the passes
  llvm::Value* thread_;
  llvm::Type* word_;
  llvm::Value *counts_, *shift_;
  llvm::Value *list_ = nullptr, *tile_ = nullptr, *first_ = nullptr, *size_ = nullptr,
              *origin_ =
                  nullptr;  // of the block: its list, tile, the tile's offset and size in the list; the list's offset
};

}  // namespace

absl::Status EmitRadixSort(ProgramEmitter& program, const HloInstruction* instruction) {
  const std::optional<KeySort> r = KeySortOf(*instruction);
  HILO_RET_CHECK(r.has_value());
  const int64_t passes = instruction->kernel()->tile[1];
  std::vector<KernelArgument> from, results, scratch;
  for (int64_t i = 0; i < r->count; ++i) {
    HILO_ASSIGN_OR_RETURN(const BufferSlice operand, program.SliceOf(instruction->operand(i)));
    const BufferSlice& result = program.assignment().slice(instruction, i);
    from.push_back(KernelArgument::Slice(operand, false));
    results.push_back(KernelArgument::Slice(result, true));
    if (passes > 1) scratch.push_back(KernelArgument::Scratch(program.AllocateScratch(result.size), result.size, true));
  }
  const int64_t count_bytes = (CountsOf(*r) + r->lists() * kDigits) * 4;
  const KernelArgument counts = KernelArgument::Scratch(program.AllocateScratch(count_bytes), count_bytes, true);
  // The last pass writes the results, the one before it scratch memory, and so on.
  for (int64_t left = passes; left > 0; --left) {
    const std::vector<KernelArgument>& to = left % 2 == 1 ? results : scratch;
    for (KernelArgument& argument : from) argument.written = false;
    const auto emit = [&](absl::Status (RadixKernel::*code)(), int64_t blocks, bool moves,
                          bool writes_counts) -> absl::Status {
      std::vector<KernelArgument> arguments = from;
      arguments.insert(arguments.end(), to.begin(), to.end());
      if (!moves) {
        for (int64_t i = r->count; i < 2 * r->count; ++i) arguments[i].written = false;
      }
      arguments.push_back(counts);
      arguments.back().written = writes_counts;
      arguments.push_back(KernelArgument::Integer(kDigitBits * (passes - left)));
      KernelEmitter k(&program, nullptr, arguments);
      RadixKernel kernel(k, *r, left == 1);
      HILO_RETURN_IF_ERROR((kernel.*code)());
      HILO_ASSIGN_OR_RETURN(const int64_t number, k.Finish(kBlockSize));
      return program.Launch(instruction, number, blocks, kBlockSize, arguments);
    };
    HILO_RETURN_IF_ERROR(emit(&RadixKernel::Count, r->lists() * TilesOf(*r), false, true));
    const bool has_few_tiles = TilesOf(*r) <= kFewTiles;
    HILO_RETURN_IF_ERROR(emit(has_few_tiles ? &RadixKernel::ScanFewTiles : &RadixKernel::Scan,
                              has_few_tiles ? r->lists() : r->lists() * kDigits, false, true));
    HILO_RETURN_IF_ERROR(emit(&RadixKernel::Scatter, r->lists() * TilesOf(*r), true, false));
    from = to;
  }
  return absl::OkStatus();
}

}  // namespace hilo::gpu
