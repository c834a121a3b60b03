// Long lists with one key: sorts by the key's digits of eight bits, the least significant first, each pass preserving
// the order of equal digits.
//
// The comparator must compare one function of the first argument with the same of the second, as JAX does with numbers
// after removing -0 and NaN's signs; the key is then that function of one element. One launch counts the digits of all
// passes. Then a pass is one launch, which reads and writes each array once: a block ranks the elements of a tile by
// their digits, learns how many equal digits precede the tile, and moves the elements through shared memory, so that
// runs of equal digits are written together. Arrays whose results nothing reads are not moved, but for the keys, which
// all passes but the last move.
//
// *Look-back*: each tile has a word per digit, in which its block stores how many elements of the tile have the digit,
// and later how many of this and all earlier tiles. A block walks back through the words of earlier tiles, adding up,
// to the first of the second kind, and waits where there is no word yet. Tiles are numbered by a counter in the order
// in which blocks start: a block waits for blocks that have started alone, whatever the order in which the device
// starts them. The state of a word and its number are one word, which is stored and loaded whole, so nothing else needs
// an order. States differ between passes: one memory serves all, and is cleared once.
#include <algorithm>
#include <utility>

#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/emitters/scan/look_back.h"
#include "backends/gpu/match/radix_tile.h"
#include "backends/gpu/match/sort_match.h"
#include "backends/llvm/elements/predication.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;
using Atomic = llvm::AtomicOrdering;

constexpr int64_t kDigits = kRadixDigits, kTile = kRadixTile;
static_assert(kDigits == kBlockSize);  // a thread sums for each digit
constexpr int64_t kWarps = kBlockSize / kWarp;
// Blocks that count, two a multiprocessor of an H100: each adds its counts to those of all.
constexpr int64_t kCountingBlocks = 264;
constexpr int64_t kTicketWords = 64;  // a counter for each pass

// A kernel's arguments: arrays before and, of a pass, after it, and the state of all passes: numbers of elements by
// list, pass and digit; counters of tiles by pass; words by list, tile and digit. A pass has the distance of its digit
// from the key's end, too.
class RadixKernel {
 public:
  // `state`: its argument.
  RadixKernel(KernelEmitter& k, const KeySort& r, int64_t passes, int64_t state, bool is_first, bool is_last)
      : k_(k),
        b_(k.b()),
        r_(r),
        passes_(passes),
        is_first_(is_first),
        is_last_(is_last),
        thread_(k.Thread()),
        word_(b_.getInt32Ty()),
        state_type_(b_.getIntNTy(static_cast<unsigned>(8 * RadixWordBytes(r)))),
        state_(k.extra(state)) {}

  static int64_t TotalWords(const KeySort& r, int64_t passes) { return r.lists() * passes * kDigits; }
  static int64_t StateBytes(const KeySort& r, int64_t passes) {
    return (TotalWords(r, passes) + kTicketWords) * 4 + r.lists() * RadixTiles(r) * kDigits * RadixWordBytes(r);
  }

  // Counts the digits of all passes in elements [part * n, part * (n + 1)) of a list: blocks n of the list.
  absl::Status Count(int64_t part) {
    const int64_t blocks = CeilDiv(r_.length, part);
    FindList(b_.CreateUDiv(k_.Block(), Int(blocks)));
    llvm::Value* begin = b_.CreateMul(b_.CreateURem(k_.Block(), Int(blocks)), Int(part));
    llvm::Value* end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b_.CreateAdd(begin, Int(part)), Int(r_.length));
    llvm::Value* counters = k_.Shared(word_, passes_ * kDigits, "counters");
    HILO_RETURN_IF_ERROR(Clear(counters, passes_ * kDigits));
    k_.Barrier();
    HILO_RETURN_IF_ERROR(k_.ForEach("tiles", begin, end, kTile, [&](llvm::Value* first) -> absl::Status {
      std::vector<llvm::Value*> at;
      std::vector<ElementValue> elements;
      for (int64_t i = 0; i < kRadixOwn; ++i) {
        at.push_back(b_.CreateAdd(first, b_.CreateAdd(thread_, Int(i * kBlockSize))));
        elements.push_back(Load(r_.key_array, Bounded(at[i], end)));
      }
      for (int64_t i = 0; i < kRadixOwn; ++i) {
        HILO_RETURN_IF_ERROR(k_.If("there", b_.CreateICmpULT(at[i], end), [&]() -> absl::Status {
          HILO_ASSIGN_OR_RETURN(llvm::Value * key, KeyOf(elements[i]));
          for (int64_t pass = 0; pass < passes_; ++pass) {
            llvm::Value* digit = DigitOf(key, llvm::ConstantInt::get(key->getType(), pass * kRadixBits));
            b_.CreateAtomicRMW(llvm::AtomicRMWInst::Add,
                               b_.CreateInBoundsGEP(word_, counters, Wide(b_.CreateAdd(digit, Word(pass * kDigits)))),
                               Word(1), llvm::MaybeAlign(4), Atomic::Monotonic);
          }
          return absl::OkStatus();
        }));
      }
      return absl::OkStatus();
    }));
    k_.Barrier();
    return k_.ForEach("digits", thread_, Int(passes_ * kDigits), kBlockSize, [&](llvm::Value* i) {
      llvm::Value* count = k_.LoadCell(counters, i, word_);
      return k_.If("any", b_.CreateICmpNE(count, Word(0)), [&]() -> absl::Status {
        b_.CreateAtomicRMW(llvm::AtomicRMWInst::Add, b_.CreateInBoundsGEP(word_, state_, b_.CreateAdd(FirstTotal(), i)),
                           count, llvm::MaybeAlign(4), Atomic::Monotonic);
        return absl::OkStatus();
      });
    });
  }

  absl::Status Pass() {
    shift_ = k_.extra(2 * r_.count + 1);
    llvm::Value *counters = k_.Shared(word_, kWarps * kDigits, "counters"),
                *digits = k_.Shared(b_.getInt8Ty(), kTile, "digits"), *offsets = k_.Shared(word_, kDigits, "offsets");
    llvm::Value* cells = k_.Shared(b_.getInt64Ty(), kTile * RadixCellBytes(r_) / 8, "cells");
    HILO_RETURN_IF_ERROR(Clear(counters, kWarps * kDigits));
    HILO_RETURN_IF_ERROR(TakeTile());
    HILO_RETURN_IF_ERROR(Rank(counters, cells));
    k_.Barrier();
    HILO_RETURN_IF_ERROR(Place(counters, offsets));
    k_.Barrier();
    for (Element& own : own_) {
      llvm::Value *cell = k_.LoadCell(cells, own.at, word_), *digit = b_.CreateAnd(cell, Word(kDigits - 1));
      own.position =
          Wide(b_.CreateAdd(k_.LoadCell(counters, CounterOf(digit), word_), b_.CreateLShr(cell, kRadixBits)));
      k_.StoreCell(digits, own.position, b_.CreateTrunc(digit, b_.getInt8Ty()));
    }
    k_.Barrier();
    return Move(digits, offsets, cells);
  }

 private:
  // One of a thread's elements in a pass.
  struct Element {
    llvm::Value* at;   // in the tile
    ElementValue key;  // of the array of keys
    llvm::Value* digit;
    llvm::Value* position;  // in the tile, by digits
  };

  llvm::Value* Int(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }
  llvm::Value* Word(int64_t value) { return b_.getInt32(static_cast<uint32_t>(value)); }
  llvm::Value* Wide(llvm::Value* word) { return b_.CreateZExt(word, b_.getInt64Ty()); }
  codegen::IrArray Array(int64_t argument, int64_t i) {
    return {.pointer = k_.extra(argument),
            .shape = ShapeUtil::MakeShape(r_.instruction->operand(i)->shape().element_type(), {r_.elements}),
            .alignment = kDeviceAlignment,
            .invariant = argument < r_.count};
  }
  Index IndexOf(llvm::Value* at) { return Index({LaneIndex::Uniform(at, 1, r_.elements)}); }
  llvm::Value* Bounded(llvm::Value* at, llvm::Value* end) {
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, at, b_.CreateSub(end, Int(1)));
  }

  void FindList(llvm::Value* list) {
    list_ = list;
    origin_ = b_.CreateAdd(b_.CreateMul(b_.CreateUDiv(list, Int(r_.stride)), Int(r_.length * r_.stride)),
                           b_.CreateURem(list, Int(r_.stride)));
  }
  llvm::Value* ElementAt(llvm::Value* i) { return b_.CreateAdd(origin_, b_.CreateMul(i, Int(r_.stride))); }
  ElementValue Load(int64_t array, llvm::Value* i) {
    if (is_first_ && r_.Generates(array)) {
      const PrimitiveType type = r_.instruction->operand(array)->shape().element_type();
      return {b_.CreateZExtOrTrunc(i, codegen::RegisterType(b_.getContext(), type))};
    }
    return Array(array, array).Load(k_.context(), IndexOf(ElementAt(i)));
  }
  // The index of the list's number of elements with the first digit, in the first pass.
  llvm::Value* FirstTotal() { return b_.CreateMul(list_, Int(passes_ * kDigits)); }

  absl::Status Clear(llvm::Value* cells, int64_t count) {
    return k_.ForEach("clear", thread_, Int(count), kBlockSize, [&](llvm::Value* i) {
      k_.StoreCell(cells, i, Word(0));
      return absl::OkStatus();
    });
  }

  // Takes the next tile, with a barrier.
  absl::Status TakeTile() {
    llvm::Value* tickets =
        b_.CreateInBoundsGEP(word_, state_, b_.CreateAdd(b_.CreateLShr(shift_, Int(3)), Int(TotalWords(r_, passes_))));
    HILO_ASSIGN_OR_RETURN(llvm::Value * number, TakeNumber(k_, tickets));
    const int64_t tiles = RadixTiles(r_);
    FindList(b_.CreateUDiv(number, Int(tiles)));
    tile_ = b_.CreateURem(number, Int(tiles));
    first_ = b_.CreateMul(tile_, Int(kTile), "", true, true);
    size_ = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b_.CreateSub(Int(r_.length), first_, "", true, true),
                                     Int(kTile));
    return absl::OkStatus();
  }

  llvm::Value* CounterOf(llvm::Value* digit) {
    return b_.CreateAdd(b_.CreateMul(b_.CreateLShr(thread_, 5), Int(kDigits)), Wide(digit));
  }

  // Loads the thread's elements, and ranks them among those of its warp, whose counters end as the warp's numbers of
  // digits. A warp has adjacent elements; elements beyond the list have the last digit, after all others. Digits and
  // ranks wait in `cells`, for they would take half of the registers.
  absl::Status Rank(llvm::Value* counters, llvm::Value* cells) {
    llvm::Value *warp = b_.CreateLShr(thread_, 5), *lane = b_.CreateAnd(thread_, Int(kWarp - 1));
    llvm::Value* begin = b_.CreateAdd(b_.CreateMul(warp, Int(kRadixOwn * kWarp)), lane);
    for (int64_t i = 0; i < kRadixOwn; ++i) {
      Element& own = own_.emplace_back();
      own.at = b_.CreateAdd(begin, Int(i * kWarp));
      own.key = Load(r_.key_array, b_.CreateAdd(first_, Bounded(own.at, size_)));
    }
    llvm::Value* earlier_lanes = b_.CreateSub(b_.CreateShl(Word(1), b_.CreateTrunc(lane, word_)), Word(1));
    for (Element& own : own_) {
      HILO_ASSIGN_OR_RETURN(llvm::Value * key, KeyOf(own.key));
      own.digit = b_.CreateSelect(b_.CreateICmpULT(own.at, size_),
                                  DigitOf(key, b_.CreateZExtOrTrunc(shift_, key->getType())), Word(kDigits - 1));
    }
    for (Element& own : own_) {
      llvm::Value *peers = k_.MatchLanes(own.digit), *counter = CounterOf(own.digit);
      llvm::Value *before = k_.LoadCell(counters, counter, word_),
                  *earlier = b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, b_.CreateAnd(peers, earlier_lanes));
      k_.WarpBarrier();
      HILO_RETURN_IF_ERROR(k_.If("first", b_.CreateICmpEQ(earlier, Word(0)), [&] {
        k_.StoreCell(counters, counter, b_.CreateAdd(before, b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, peers)));
        return absl::OkStatus();
      }));
      k_.WarpBarrier();
      k_.StoreCell(cells, own.at, b_.CreateOr(b_.CreateShl(b_.CreateAdd(before, earlier), kRadixBits), own.digit));
    }
    return absl::OkStatus();
  }

  // A thread is a digit here. The warps' counters become the positions in the tile of their first elements with the
  // digit; `offsets`: what to add to a position in the tile to get that in the list.
  absl::Status Place(llvm::Value* counters, llvm::Value* offsets) {
    const auto counter = [&](int64_t warp) { return b_.CreateAdd(thread_, Int(warp * kDigits)); };
    std::vector<llvm::Value*> counts;
    llvm::Value* count = Word(0);
    for (int64_t warp = 0; warp < kWarps; ++warp) {
      counts.push_back(k_.LoadCell(counters, counter(warp), word_));
      count = b_.CreateAdd(count, counts.back());
    }
    Publish(b_.CreateSelect(b_.CreateICmpEQ(tile_, Int(0)), Prefix(), Aggregate()), count);
    llvm::Value* total = k_.LoadCell(
        state_, b_.CreateAdd(FirstTotal(), b_.CreateAdd(b_.CreateMul(shift_, Int(kDigits / kRadixBits)), thread_)),
        word_);
    HILO_ASSIGN_OR_RETURN(const Carried before, AddUpThreads({count, total}));
    llvm::Value* position = before[0];
    for (int64_t warp = 0; warp < kWarps; ++warp) {
      k_.StoreCell(counters, counter(warp), position);
      position = b_.CreateAdd(position, counts[warp]);
    }
    llvm::Value* in_earlier_tiles = LookBack();
    Publish(Prefix(), b_.CreateAdd(in_earlier_tiles, count));
    k_.StoreCell(offsets, thread_, b_.CreateSub(b_.CreateAdd(before[1], in_earlier_tiles), before[0]));
    return absl::OkStatus();
  }

  // Returns the sums of the values of all threads before this one, with a barrier.
  absl::StatusOr<Carried> AddUpThreads(const Carried& values) {
    llvm::Value *warp = b_.CreateLShr(thread_, 5), *lane = b_.CreateAnd(thread_, Int(kWarp - 1));
    Carried sums = values;
    std::vector<llvm::Value*> of_warps;
    for (llvm::Value*& sum : sums) {
      for (int distance = 1; distance < kWarp; distance *= 2) {
        llvm::Value* other = k_.ShuffleUp(sum, distance);
        sum = b_.CreateAdd(sum, b_.CreateSelect(b_.CreateICmpUGE(lane, Int(distance)), other, Word(0)));
      }
      of_warps.push_back(k_.Shared(word_, kWarps, "warps"));
    }
    HILO_RETURN_IF_ERROR(k_.If("last_lane", b_.CreateICmpEQ(lane, Int(kWarp - 1)), [&] {
      for (size_t i = 0; i < sums.size(); ++i) k_.StoreCell(of_warps[i], warp, sums[i]);
      return absl::OkStatus();
    }));
    k_.Barrier();
    for (size_t i = 0; i < sums.size(); ++i) {
      sums[i] = b_.CreateSub(sums[i], values[i]);
      for (int64_t w = 0; w + 1 < kWarps; ++w) {
        llvm::Value* earlier =
            b_.CreateSelect(b_.CreateICmpUGT(warp, Int(w)), k_.LoadCell(of_warps[i], Int(w), word_), Word(0));
        sums[i] = b_.CreateAdd(sums[i], earlier);
      }
    }
    return sums;
  }

  // The states of a word in this pass: of a tile alone, or with all earlier ones. Those of other passes differ.
  llvm::Value* Aggregate() { return b_.CreateAdd(b_.CreateLShr(b_.CreateTrunc(shift_, word_), Word(2)), Word(1)); }
  llvm::Value* Prefix() { return b_.CreateAdd(Aggregate(), Word(1)); }
  llvm::Value* WordOf(llvm::Value* tile) {
    llvm::Value* words = b_.CreateInBoundsGEP(word_, state_, Int(TotalWords(r_, passes_) + kTicketWords));
    llvm::Value* line = b_.CreateAdd(b_.CreateMul(list_, Int(RadixTiles(r_))), tile);
    return b_.CreateInBoundsGEP(state_type_, words, b_.CreateAdd(b_.CreateMul(line, Int(kDigits)), thread_));
  }
  void Publish(llvm::Value* state, llvm::Value* count) {
    llvm::Value* high = b_.CreateShl(b_.CreateZExtOrTrunc(state, state_type_), RadixCountBits(r_));
    StoreWord(k_, b_.CreateOr(high, b_.CreateZExtOrTrunc(count, state_type_)), WordOf(tile_));
  }

  // Returns the number of elements of earlier tiles that have the thread's digit.
  llvm::Value* LookBack() {
    llvm::BasicBlock* before = b_.GetInsertBlock();
    const auto block = [&](const char* name) { return llvm::BasicBlock::Create(b_.getContext(), name, k_.function()); };
    llvm::BasicBlock *back = block("back"), *look = block("earlier"), *done = block("done");
    b_.CreateBr(back);
    b_.SetInsertPoint(back);
    llvm::PHINode *tile = b_.CreatePHI(b_.getInt64Ty(), 2), *sum = b_.CreatePHI(word_, 2);
    tile->addIncoming(tile_, before);
    sum->addIncoming(Word(0), before);
    b_.CreateCondBr(b_.CreateICmpEQ(tile, Int(0)), done, look);
    b_.SetInsertPoint(look);
    llvm::Value* previous = b_.CreateSub(tile, Int(1));
    llvm::Value* state = nullptr;
    const auto is_ready = [&](llvm::Value* loaded) {
      state = b_.CreateZExtOrTrunc(b_.CreateLShr(loaded, RadixCountBits(r_)), word_);
      return b_.CreateICmpULE(b_.CreateSub(state, Aggregate()), Word(1));
    };
    llvm::Value* word = AwaitWords(k_, state_type_, {WordOf(previous)}, is_ready)[0];
    llvm::BasicBlock* add = b_.GetInsertBlock();
    llvm::Value* count = b_.CreateAnd(b_.CreateZExtOrTrunc(word, word_),
                                      Word((int64_t{1} << std::min<int64_t>(RadixCountBits(r_), 32)) - 1));
    llvm::Value* next = b_.CreateAdd(sum, count);
    tile->addIncoming(previous, add);
    sum->addIncoming(next, add);
    b_.CreateCondBr(b_.CreateICmpEQ(state, Prefix()), done, back);
    b_.SetInsertPoint(done);
    llvm::PHINode* result = b_.CreatePHI(word_, 2);
    result->addIncoming(sum, back);
    result->addIncoming(next, add);
    return result;
  }

  // Moves the elements of all arrays through shared memory, where they lie by digits.
  absl::Status Move(llvm::Value* digits, llvm::Value* offsets, llvm::Value* cells) {
    for (int64_t array = 0; array < r_.count; ++array) {
      if (!r_.Moves(array, is_last_)) continue;
      std::vector<Carried> parts;
      for (const Element& own : own_) {
        parts.push_back(codegen::Pack(
            {array == r_.key_array ? own.key : Load(array, b_.CreateAdd(first_, Bounded(own.at, size_)))}));
      }
      for (size_t part = 0; part < parts[0].size(); ++part) {
        for (int64_t i = 0; i < kRadixOwn; ++i) k_.StoreCell(cells, own_[i].position, parts[i][part]);
        k_.Barrier();
        for (int64_t i = 0; i < kRadixOwn; ++i) {
          parts[i][part] = k_.LoadCell(cells, b_.CreateAdd(thread_, Int(i * kBlockSize)), parts[i][part]->getType());
        }
        k_.Barrier();
      }
      for (int64_t i = 0; i < kRadixOwn; ++i) {
        llvm::Value* at = b_.CreateAdd(thread_, Int(i * kBlockSize));
        HILO_RETURN_IF_ERROR(k_.If("there", b_.CreateICmpULT(at, size_), [&] {
          llvm::Value* offset = k_.LoadCell(offsets, Wide(k_.LoadCell(digits, at, b_.getInt8Ty())), word_);
          llvm::Value* target = Wide(b_.CreateAdd(offset, b_.CreateTrunc(at, word_)));
          const PrimitiveType type = r_.instruction->operand(array)->shape().element_type();
          Array(r_.count + array, array)
              .Store(k_.context(), IndexOf(ElementAt(target)), codegen::Unpack(parts[i], {type})[0]);
          return absl::OkStatus();
        }));
      }
    }
    return absl::OkStatus();
  }

  // Returns the key of an element, an integer in the order of the sort.
  absl::StatusOr<llvm::Value*> KeyOf(const ElementValue& element) {
    codegen::RegionScope region(k_.context());
    absl::flat_hash_map<const HloInstruction*, ElementValue> values;
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
    return codegen::EmitOrderKey(k_.context(), r_.key->shape().element_type(), values.at(r_.key).re, r_.descending);
  }
  // Returns the digit of a key, a word; `shift` has the type of the key.
  llvm::Value* DigitOf(llvm::Value* key, llvm::Value* shift) {
    return b_.CreateAnd(b_.CreateZExtOrTrunc(b_.CreateLShr(key, shift), word_), Word(kDigits - 1));
  }

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  const KeySort& r_;
  const int64_t passes_;
  const bool is_first_, is_last_;  // of the passes
  llvm::Value* thread_;
  llvm::Type *word_, *state_type_;
  llvm::Value *state_, *shift_ = nullptr;
  // Of the block: its list and tile, the tile's offset and size in the list; the list's offset.
  llvm::Value *list_ = nullptr, *tile_ = nullptr, *first_ = nullptr, *size_ = nullptr, *origin_ = nullptr;
  std::vector<Element> own_;
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
  HILO_ASSIGN_OR_RETURN(const KernelArgument state,
                        EmitClearedScratch(program, instruction, RadixKernel::StateBytes(*r, passes)));
  const auto emit = [&](absl::FunctionRef<absl::Status(RadixKernel&)> code, int64_t state_argument, bool is_first,
                        bool is_last, int64_t blocks, const std::vector<KernelArgument>& arguments) -> absl::Status {
    KernelEmitter k(&program, nullptr, arguments);
    RadixKernel kernel(k, *r, passes, state_argument, is_first, is_last);
    HILO_RETURN_IF_ERROR(code(kernel));
    HILO_ASSIGN_OR_RETURN(const int64_t number, k.Finish(kBlockSize));
    return program.Launch(instruction, number, blocks, kBlockSize, arguments);
  };
  const int64_t counting = std::max<int64_t>(1, kCountingBlocks / r->lists()),
                part = CeilDiv(CeilDiv(r->length, counting), kTile) * kTile;
  std::vector<KernelArgument> arguments = from;
  arguments.push_back(state);
  HILO_RETURN_IF_ERROR(emit([&](RadixKernel& kernel) { return kernel.Count(part); }, r->count, true, false,
                            r->lists() * CeilDiv(r->length, part), arguments));
  // The last pass writes the results, the one before it scratch memory, and so on.
  for (int64_t left = passes; left > 0; --left) {
    const std::vector<KernelArgument>& to = left % 2 == 1 ? results : scratch;
    for (KernelArgument& argument : from) argument.written = false;
    arguments = from;
    arguments.insert(arguments.end(), to.begin(), to.end());
    arguments.push_back(state);
    arguments.push_back(KernelArgument::Integer(kRadixBits * (passes - left)));
    HILO_RETURN_IF_ERROR(emit([](RadixKernel& kernel) { return kernel.Pass(); }, 2 * r->count, left == passes,
                              left == 1, r->lists() * RadixTiles(*r), arguments));
    from = to;
  }
  return absl::OkStatus();
}

absl::Status EmitGenerated(ProgramEmitter&, const HloInstruction*) { return absl::OkStatus(); }

}  // namespace hilo::gpu
