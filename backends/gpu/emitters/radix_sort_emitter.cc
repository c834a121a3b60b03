// Long lists with one key: sorts by the key's digits of four bits, the least significant first, each pass preserving
// the order of equal digits.
//
// The comparator must compare one function of the first argument with the same of the second, as JAX does with numbers
// after removing -0 and NaN's signs; the key is then that function of one element. A digit takes three launches: tiles
// count their digits; one block per list sums the counts, digit before tile, to the start of each tile's elements of a
// digit; and tiles compute the rank of each of their elements among equal digits, by per-thread counters, and move all
// arrays' elements to their positions.
#include <algorithm>

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

constexpr int64_t kDigitBits = 4, kDigits = int64_t{1} << kDigitBits;
constexpr int64_t kOwn = 8, kTile = kOwn * kBlockSize;  // elements per thread and per block
constexpr int64_t kScanBlock = 1024;

int64_t TilesOf(const KeySort& r) { return CeilDiv(r.length, kTile); }

// A kernel's arguments: arrays before and after, counts, and the digit's distance from the key's end.
class RadixKernel {
 public:
  RadixKernel(KernelEmitter& k, const KeySort& r)
      : k_(k), b_(k.b()), r_(r), thread_(k.Thread()), word_(b_.getInt32Ty()) {
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

  // Replaces counts by the number of elements before them; one block per list.
  absl::Status Scan() {
    const int64_t cells = kDigits * TilesOf(r_), own = CeilDiv(cells, kScanBlock);
    llvm::Value* list = b_.CreateMul(k_.Block(), Int(cells));
    llvm::Value* begin = b_.CreateMul(thread_, Int(own));
    llvm::Value* end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b_.CreateAdd(begin, Int(own)), Int(cells));
    return AddUp(counts_, list, begin, end, kScanBlock);
  }

  absl::Status Scatter() {
    FindTile();
    llvm::Value *digits = k_.Shared(word_, kTile, "digits"),
                *counters = k_.Shared(word_, kDigits * kBlockSize, "counters"),
                *ranks = k_.Shared(word_, kTile, "ranks");
    llvm::Value* starts = k_.Shared(word_, kDigits, "starts");
    HILO_RETURN_IF_ERROR(k_.ForEach("elements", thread_, Int(kTile), kBlockSize, [&](llvm::Value* e) -> absl::Status {
      k_.StoreCell(digits, e, b_.getInt32(kDigits - 1));  // beyond the list: after all others
      return k_.If("there", b_.CreateICmpULT(e, size_), [&]() -> absl::Status {
        HILO_ASSIGN_OR_RETURN(llvm::Value * digit, DigitOf(e));
        k_.StoreCell(digits, e, b_.CreateTrunc(digit, word_));
        return absl::OkStatus();
      });
    }));
    HILO_RETURN_IF_ERROR(Zero(counters, kDigits * kBlockSize));
    k_.Barrier();
    const auto own = [&](absl::FunctionRef<void(llvm::Value * e, llvm::Value * counter)> body) {
      llvm::Value* first = b_.CreateMul(thread_, Int(kOwn));
      return k_.ForEach("own", first, b_.CreateAdd(first, Int(kOwn)), 1, [&](llvm::Value* e) {
        llvm::Value* digit = b_.CreateZExt(k_.LoadCell(digits, e, word_), b_.getInt64Ty());
        body(e, b_.CreateAdd(b_.CreateMul(digit, Int(kBlockSize)), thread_));
        return absl::OkStatus();
      });
    };
    HILO_RETURN_IF_ERROR(own([&](llvm::Value*, llvm::Value* counter) {
      k_.StoreCell(counters, counter, b_.CreateAdd(k_.LoadCell(counters, counter, word_), b_.getInt32(1)));
    }));
    k_.Barrier();
    llvm::Value* first = b_.CreateMul(thread_, Int(kDigits));
    HILO_RETURN_IF_ERROR(AddUp(counters, Int(0), first, b_.CreateAdd(first, Int(kDigits)), kBlockSize));
    k_.Barrier();
    HILO_RETURN_IF_ERROR(k_.ForEach("digits", thread_, Int(kDigits), kBlockSize, [&](llvm::Value* digit) {
      k_.StoreCell(starts, digit, k_.LoadCell(counters, b_.CreateMul(digit, Int(kBlockSize)), word_));
      return absl::OkStatus();
    }));
    k_.Barrier();
    HILO_RETURN_IF_ERROR(own([&](llvm::Value* e, llvm::Value* counter) {
      llvm::Value* rank = k_.LoadCell(counters, counter, word_);
      k_.StoreCell(ranks, e, rank);
      k_.StoreCell(counters, counter, b_.CreateAdd(rank, b_.getInt32(1)));
    }));
    k_.Barrier();
    return k_.ForEach("moves", thread_, size_, kBlockSize, [&](llvm::Value* e) {
      llvm::Value* digit = b_.CreateZExt(k_.LoadCell(digits, e, word_), b_.getInt64Ty());
      llvm::Value* rank = b_.CreateSub(k_.LoadCell(ranks, e, word_), k_.LoadCell(starts, digit, word_));
      llvm::Value* to =
          b_.CreateZExt(b_.CreateAdd(k_.LoadCell(counts_, IndexOfCount(digit), word_), rank), b_.getInt64Ty());
      llvm::Value *at = ElementAt(b_.CreateAdd(first_, e)), *target = ElementAt(to);
      for (int64_t i = 0; i < r_.count; ++i)
        Array(r_.count + i, i).Store(k_.context(), IndexOf(target), Array(i, i).Load(k_.context(), IndexOf(at)));
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
  absl::Status AddUp(llvm::Value* cells, llvm::Value* base, llvm::Value* begin, llvm::Value* end, int64_t threads) {
    llvm::Value* sums = k_.Shared(word_, threads, "sums");
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
    for (int64_t distance = 1; distance < threads; distance *= 2) {
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
  const int64_t count_bytes = r->lists() * kDigits * TilesOf(*r) * 4;
  const KernelArgument counts = KernelArgument::Scratch(program.AllocateScratch(count_bytes), count_bytes, true);
  // The last pass writes the results, the one before it scratch memory, and so on.
  for (int64_t left = passes; left > 0; --left) {
    const std::vector<KernelArgument>& to = left % 2 == 1 ? results : scratch;
    for (KernelArgument& argument : from) argument.written = false;
    const auto emit = [&](absl::Status (RadixKernel::*code)(), int64_t blocks, int64_t block, bool moves,
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
      RadixKernel kernel(k, *r);
      HILO_RETURN_IF_ERROR((kernel.*code)());
      HILO_ASSIGN_OR_RETURN(const int64_t number, k.Finish(static_cast<int>(block)));
      return program.Launch(instruction, number, blocks, static_cast<int>(block), arguments);
    };
    HILO_RETURN_IF_ERROR(emit(&RadixKernel::Count, r->lists() * TilesOf(*r), kBlockSize, false, true));
    HILO_RETURN_IF_ERROR(emit(&RadixKernel::Scan, r->lists(), kScanBlock, false, true));
    HILO_RETURN_IF_ERROR(emit(&RadixKernel::Scatter, r->lists() * TilesOf(*r), kBlockSize, true, false));
    from = to;
  }
  return absl::OkStatus();
}

}  // namespace hilo::gpu
