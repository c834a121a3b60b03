// Sort: the operands are copied to the results, which the runtime sorts list by list.
//
// The computation becomes a function on pointers to elements. When it only compares the same expressions of both
// elements, and these comparisons are total orders, the expressions also become functions that write the elements of a
// list as unsigned keys.
//
// Many short lists of such keys are sorted in registers, a list a lane: neighbors trade where the second has the
// smaller key, in as many steps as there are elements, so that equal ones keep their order.
#include "absl/strings/str_cat.h"
#include "backends/cpu/functions/program_emitter.h"
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/sort_key.h"
#include "backends/llvm/elements/element_convert.h"
#include "backends/llvm/elements/scalar_computation.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "base/errors.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::cpu {
namespace {

using codegen::Carried;
using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

// Provides the parameters of a computation to an ElementEmitter.
class Arguments : public codegen::OperandSource {
 public:
  explicit Arguments(std::vector<ElementValue> values) : values_(std::move(values)) {}
  absl::StatusOr<std::optional<codegen::Materialized>> Find(const HloInstruction* instruction, int64_t) override {
    if (!instruction->IsParameter()) return std::nullopt;
    return codegen::Materialized{.value = values_[instruction->parameter_number()]};
  }

 private:
  std::vector<ElementValue> values_;
};

llvm::Function* NewHelper(FunctionEmitter& f, const std::string& name, llvm::Type* result,
                          absl::Span<llvm::Type* const> arguments) {
  llvm::Module* module = f.function()->getParent();
  auto* type = llvm::FunctionType::get(result, llvm::ArrayRef<llvm::Type*>(arguments.data(), arguments.size()), false);
  llvm::Function* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  llvm::BasicBlock::Create(module->getContext(), "entry", function);
  return function;
}

codegen::IrArray ScalarAt(llvm::Value* pointer, PrimitiveType type) {
  return {.pointer = pointer, .shape = ShapeUtil::MakeScalarShape(type)};
}

absl::StatusOr<llvm::Function*> EmitLess(FunctionEmitter& f, const HloInstruction* sort) {
  const HloComputation& computation = *sort->called_computation();
  llvm::Function* function = NewHelper(f, absl::StrCat("less.", sort->name()), f.b().getInt32Ty(), {f.b().getPtrTy()});
  llvm::IRBuilder<> b(&function->getEntryBlock());
  codegen::EmitterContext context(&b, f.context().target(), f.context().numerics());
  // Once the run has been stopped, loops of the comparator end it, with any result.
  context.poll = [&] {
    llvm::Value* flag = b.CreateLoad(
        b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.getPtrTy(), function->getArg(0), computation.num_parameters()));
    llvm::LoadInst* value = b.CreateAlignedLoad(b.getInt32Ty(), flag, llvm::Align(4), "cancelled_now");
    value->setVolatile(true);
    llvm::BasicBlock* stop = llvm::BasicBlock::Create(b.getContext(), "stopped", function);
    llvm::BasicBlock* go = llvm::BasicBlock::Create(b.getContext(), "go_on", function);
    b.CreateCondBr(b.CreateICmpNE(value, b.getInt32(0)), stop, go);
    b.SetInsertPoint(stop);
    b.CreateRet(b.getInt32(0));
    b.SetInsertPoint(go);
  };
  std::vector<ElementValue> arguments;
  for (int64_t i = 0; i < computation.num_parameters(); ++i) {
    llvm::Value* pointer =
        b.CreateLoad(b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.getPtrTy(), function->getArg(0), i));
    arguments.push_back(
        ScalarAt(pointer, computation.parameter_instruction(i)->shape().element_type()).Load(context, Index()));
  }
  HILO_ASSIGN_OR_RETURN(std::vector<ElementValue> result, codegen::EmitComputation(context, computation, arguments));
  b.CreateRet(b.CreateZExt(result[0].re, b.getInt32Ty()));
  return function;
}

// Bits of the number in memory that a word of `bits` bits is.
unsigned NumberBits(int64_t bits) { return bits <= 32 ? 32 : 64; }

// Elements that the functions of keys convert at once, if they are adjacent.
int KeyLanes(unsigned number_bits) { return static_cast<int>(512 / number_bits); }

// Emits the rest of `function`: `body` of elements [e, e + width) for all of `length`, `width` at a time and, at the
// end, one at a time.
absl::Status EmitElementLoops(llvm::IRBuilder<>& b, llvm::Value* length, int width,
                              absl::FunctionRef<absl::Status(llvm::Value* e, int width)> body) {
  llvm::Function* const function = b.GetInsertBlock()->getParent();
  llvm::Value* begin = b.getInt64(0);
  for (const int step : width > 1 ? std::vector<int>{width, 1} : std::vector<int>{1}) {
    llvm::BasicBlock* const before = b.GetInsertBlock();
    llvm::BasicBlock* const header = llvm::BasicBlock::Create(b.getContext(), "elements", function);
    llvm::BasicBlock* const block = llvm::BasicBlock::Create(b.getContext(), "convert", function);
    llvm::BasicBlock* const done = llvm::BasicBlock::Create(b.getContext(), "done", function);
    b.CreateBr(header);
    b.SetInsertPoint(header);
    llvm::PHINode* const e = b.CreatePHI(b.getInt64Ty(), 2, "e");
    e->addIncoming(begin, before);
    llvm::Value* const next = b.CreateNSWAdd(e, b.getInt64(step));
    b.CreateCondBr(b.CreateICmpSLE(next, length), block, done);
    b.SetInsertPoint(block);
    HILO_RETURN_IF_ERROR(body(e, step));
    e->addIncoming(next, b.GetInsertBlock());
    b.CreateBr(header);
    b.SetInsertPoint(done);
    begin = e;
  }
  b.CreateRetVoid();
  return absl::OkStatus();
}

llvm::Type* Lanes(llvm::Type* type, int width) { return width == 1 ? type : llvm::FixedVectorType::get(type, width); }

// Returns true if the elements of a sort's only array are told by its only key, which is as wide.
bool TellsElements(const HloInstruction* sort, absl::Span<const SortKey> keys) {
  return sort->operand_count() == 1 && keys.size() == 1 && keys[0].type != PRED &&
         keys[0].type == sort->operand(0)->shape().element_type() &&
         keys[0].bits() == PrimitiveTypeBitWidth(keys[0].type);
}

// Emits the function HiloSortKeys of backends/cpu/runtime/cpu_runtime.h for a word of the keys. `is_dense`: the
// elements of an array are adjacent.
absl::StatusOr<llvm::Function*> EmitKeys(FunctionEmitter& f, const HloInstruction* sort, absl::Span<const SortKey> keys,
                                         int64_t bits, bool is_dense) {
  llvm::Type* i64 = f.b().getInt64Ty();
  llvm::Type* ptr = f.b().getPtrTy();
  llvm::Function* function = NewHelper(f, absl::StrCat(sort->name(), ".keys"), f.b().getVoidTy(), {ptr, ptr, i64, ptr});
  llvm::IRBuilder<> b(&function->getEntryBlock());
  std::vector<llvm::Value*> lists, steps;
  for (const SortKey& key : keys) {
    lists.push_back(b.CreateLoad(ptr, b.CreateConstInBoundsGEP1_64(ptr, function->getArg(0), key.array)));
    steps.push_back(b.CreateLoad(i64, b.CreateConstInBoundsGEP1_64(i64, function->getArg(1), key.array)));
  }
  codegen::EmitterContext context(&b, f.context().target(), f.context().numerics());
  const unsigned number_bits = NumberBits(bits);
  llvm::Type* const number = b.getIntNTy(number_bits);
  const auto convert = [&](llvm::Value* e, int width) -> absl::Status {
    const codegen::RegionScope region(context);
    context.lanes.width = width;
    std::vector<ElementValue> arguments(2 * sort->operand_count());
    for (size_t i = 0; i < keys.size(); ++i) {
      const PrimitiveType type = sort->operand(keys[i].array)->shape().element_type();
      llvm::Value* element = b.CreateInBoundsGEP(b.getInt8Ty(), lists[i], b.CreateNSWMul(e, steps[i]));
      if (width == 1) {
        arguments[2 * keys[i].array] = ScalarAt(element, type).Load(context, Index());
      } else {
        arguments[2 * keys[i].array].re = b.CreateAlignedLoad(Lanes(codegen::RegisterType(b.getContext(), type), width),
                                                              element, llvm::Align(PrimitiveTypeByteSize(type)));
      }
    }
    Arguments source(std::move(arguments));
    codegen::ElementEmitter elements(&context, &source);
    llvm::Value* word = llvm::Constant::getNullValue(Lanes(number, width));
    for (const SortKey& key : keys) {
      HILO_ASSIGN_OR_RETURN(ElementValue value, elements.Generate(key.expression, Index()));
      if (width > 1) value = context.Splat(value);
      llvm::Value* bits =
          b.CreateZExt(codegen::EmitOrderKey(context, key.type, value.re, key.descending), word->getType());
      word = key.bits() == number_bits ? bits : b.CreateOr(b.CreateShl(word, static_cast<uint64_t>(key.bits())), bits);
    }
    b.CreateAlignedStore(word, b.CreateInBoundsGEP(number, function->getArg(3), e), llvm::Align(number_bits / 8));
    return absl::OkStatus();
  };
  const int width = is_dense && TellsElements(sort, keys) ? KeyLanes(number_bits) : 1;
  HILO_RETURN_IF_ERROR(EmitElementLoops(b, function->getArg(2), width, convert));
  return function;
}

// Emits the function HiloSortElements of backends/cpu/runtime/cpu_runtime.h for a key that tells the elements.
absl::StatusOr<llvm::Function*> EmitElements(FunctionEmitter& f, const HloInstruction* sort, const SortKey& key) {
  llvm::Type *i64 = f.b().getInt64Ty(), *ptr = f.b().getPtrTy();
  llvm::Function* function = NewHelper(f, absl::StrCat(sort->name(), ".elements"), f.b().getVoidTy(), {ptr, i64, ptr});
  llvm::IRBuilder<> b(&function->getEntryBlock());
  codegen::EmitterContext context(&b, f.context().target(), f.context().numerics());
  llvm::Type* const bits = b.getIntNTy(static_cast<unsigned>(key.bits()));
  const unsigned number_bits = NumberBits(key.bits());
  llvm::Type* const number = b.getIntNTy(number_bits);
  const auto convert = [&](llvm::Value* e, int width) {
    llvm::Value* word = b.CreateAlignedLoad(Lanes(number, width), b.CreateInBoundsGEP(number, function->getArg(0), e),
                                            llvm::Align(number_bits / 8));
    b.CreateAlignedStore(
        codegen::EmitElementOfOrderKey(context, key.type, b.CreateTrunc(word, Lanes(bits, width)), key.descending),
        b.CreateInBoundsGEP(bits, function->getArg(2), e), llvm::Align(PrimitiveTypeByteSize(key.type)));
    return absl::OkStatus();
  };
  HILO_RETURN_IF_ERROR(EmitElementLoops(b, function->getArg(1), KeyLanes(number_bits), convert));
  return function;
}

// Returns an array of HiloSortWord in memory, and sets `count` to its size.
absl::StatusOr<llvm::Value*> EmitWords(FunctionEmitter& f, const HloInstruction* sort, bool is_dense, int64_t* count) {
  const std::vector<SortKey> keys = SortKeysOf(*sort->called_computation());
  const std::vector<SortKeyRange> ranges = WordsOf(keys);
  llvm::IRBuilder<>& b = f.b();
  *count = static_cast<int64_t>(ranges.size());
  llvm::StructType* type = llvm::StructType::get(b.getPtrTy(), b.getInt64Ty(), b.getPtrTy());
  llvm::Value* words = f.context().EntryAlloca(type, *count, 8, "words");
  for (size_t i = 0; i < ranges.size(); ++i) {
    const absl::Span<const SortKey> all = keys;
    HILO_ASSIGN_OR_RETURN(
        llvm::Value * write,
        EmitKeys(f, sort, all.subspan(ranges[i].begin, ranges[i].end - ranges[i].begin), ranges[i].bits, is_dense));
    llvm::Value* word = b.CreateConstInBoundsGEP1_64(type, words, i);
    b.CreateStore(write, b.CreateStructGEP(type, word, 0));
    b.CreateStore(b.getInt64(static_cast<uint64_t>(ranges[i].bits)), b.CreateStructGEP(type, word, 1));
    llvm::Value* read = llvm::ConstantPointerNull::get(b.getPtrTy());
    if (TellsElements(sort, keys)) {
      HILO_ASSIGN_OR_RETURN(read, EmitElements(f, sort, keys[0]));
    }
    b.CreateStore(read, b.CreateStructGEP(type, word, 2));
  }
  return words;
}

// The elements of one position of several lists, one a lane, and their keys.
struct SortPosition {
  std::vector<llvm::Value*> keys;
  std::vector<ElementValue> elements;
};

// Lanes that are true where the keys of `x`, the most significant first, come before those of `y`.
llvm::Value* ComesBefore(llvm::IRBuilder<>& b, const SortPosition& x, const SortPosition& y) {
  llvm::Value* before = nullptr;
  for (size_t i = x.keys.size(); i-- > 0;) {
    llvm::Value* less = b.CreateICmpULT(x.keys[i], y.keys[i]);
    before = before == nullptr ? less : b.CreateOr(less, b.CreateAnd(b.CreateICmpEQ(x.keys[i], y.keys[i]), before));
  }
  return before;
}

void TradeIfBefore(codegen::EmitterContext& context, SortPosition& first, SortPosition& second) {
  llvm::IRBuilder<>& b = context.b();
  llvm::Value* trade = ComesBefore(b, second, first);
  for (size_t i = 0; i < first.keys.size(); ++i) {
    llvm::Value* key = first.keys[i];
    first.keys[i] = b.CreateSelect(trade, second.keys[i], key);
    second.keys[i] = b.CreateSelect(trade, key, second.keys[i]);
  }
  for (size_t i = 0; i < first.elements.size(); ++i) {
    const ElementValue element = first.elements[i];
    first.elements[i] = codegen::EmitSelect(context, trade, second.elements[i], element);
    second.elements[i] = codegen::EmitSelect(context, trade, element, second.elements[i]);
  }
}

// Sorts the lists of the context's lanes. `at` returns the index of an element of them.
absl::Status SortLanes(FunctionEmitter& f, const HloInstruction* sort, int64_t length, absl::Span<const SortKey> keys,
                       absl::FunctionRef<Index(int64_t)> at) {
  codegen::EmitterContext& context = f.context();
  const int64_t count = sort->operand_count();
  std::vector<SortPosition> list(length);
  for (int64_t e = 0; e < length; ++e) {
    const Index index = at(e);
    std::vector<ElementValue> arguments(2 * count);
    for (int64_t i = 0; i < count; ++i) {
      const ElementValue element = context.Splat(f.ArrayOf(sort->operand(i)).Load(context, index));
      list[e].elements.push_back(element);
      arguments[2 * i] = element;
    }
    const codegen::RegionScope region(context);  // the expressions have another value for each element
    Arguments source(std::move(arguments));
    codegen::ElementEmitter elements(&context, &source);
    for (const SortKey& key : keys) {
      HILO_ASSIGN_OR_RETURN(const ElementValue value, elements.Generate(key.expression, Index()));
      list[e].keys.push_back(codegen::EmitOrderKey(context, key.type, context.Splat(value).re, key.descending));
    }
  }
  for (int64_t step = 0; step < length; ++step) {
    for (int64_t e = step % 2; e + 1 < length; e += 2) TradeIfBefore(context, list[e], list[e + 1]);
  }
  for (int64_t e = 0; e < length; ++e) {
    for (int64_t i = 0; i < count; ++i) f.ArrayOf(sort, i).Store(context, at(e), list[e].elements[i]);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status EmitLaneSort(FunctionEmitter& f, const KernelParts& kernel) {
  const HloInstruction* sort = kernel.instruction;
  const int width = static_cast<int>(kernel.config.width);
  const Shape& shape = sort->operand(0)->shape();
  const int64_t dimension = sort->attrs<SortAttrs>().dimensions[0], length = shape.dimensions(dimension);
  const int64_t outer = Product(shape.dimensions().first(dimension)),
                inner = Product(shape.dimensions().subspan(dimension + 1));
  // Lanes are adjacent lists: along the dimensions after the sorted one, or before it if there are none.
  const int64_t lists = inner > 1 ? inner : outer, blocks = CeilDiv(lists, width), whole = lists / width;
  const std::vector<SortKey> keys = SortKeysOf(*sort->called_computation());
  llvm::IRBuilder<>& b = f.b();
  return ForEach(f, "parts", kernel.begin, kernel.end, [&](llvm::Value* unit) -> absl::Status {
    const std::vector<LaneIndex> part = f.Delinearize(unit, {inner > 1 ? outer : 1, blocks});
    llvm::Value* block = part[1].Base(f.context());
    const auto run = [&](llvm::Value* mask) -> absl::StatusOr<Carried> {
      codegen::RegionScope region(f.context());
      f.context().lanes = {.width = width, .mask = mask};
      const LaneIndex lane = LaneIndex::Strided(b.CreateNSWMul(block, b.getInt64(width)), 1, width, lists);
      HILO_RETURN_IF_ERROR(SortLanes(f, sort, length, keys, [&](int64_t e) {
        const LaneIndex element = LaneIndex::Constant(e), none = LaneIndex::Constant(0);
        const Index index = inner > 1 ? Index({part[0], element, lane}) : Index({lane, element, none});
        return index.Reshape(f.context(), {outer, length, inner},
                             std::vector<int64_t>(shape.dimensions().begin(), shape.dimensions().end()));
      }));
      return Carried();
    };
    if (whole == blocks) return run(nullptr).status();
    std::vector<llvm::Constant*> active;
    for (int lane = 0; lane < width; ++lane) active.push_back(b.getInt1(lane < lists - whole * width));
    llvm::Value* rest = llvm::ConstantVector::get(active);
    if (whole == 0) return run(rest).status();
    return codegen::EmitBranches(
               f.context(), "lists", b.CreateICmpSLT(block, b.getInt64(whole)), [&] { return run(nullptr); },
               [&] { return run(rest); })
        .status();
  });
}

absl::Status EmitSort(FunctionEmitter& f, const KernelParts& kernel) {
  const HloInstruction* instruction = kernel.instruction;
  const int64_t dimension = instruction->attrs<SortAttrs>().dimensions[0];
  const Shape& shape = instruction->operand(0)->shape();
  int64_t stride = 1;
  for (int64_t d = dimension + 1; d < shape.rank(); ++d) stride *= shape.dimensions(d);
  const int64_t length = shape.dimensions(dimension);
  llvm::IRBuilder<>& b = f.b();
  const int64_t count = instruction->operand_count();
  llvm::Value* arrays = f.context().EntryAlloca(b.getPtrTy(), count, 8, "arrays");
  llvm::Value* sizes = f.context().EntryAlloca(b.getInt64Ty(), count, 8, "sizes");
  for (int64_t i = 0; i < count; ++i) {
    const int64_t size = PrimitiveTypeByteSize(instruction->operand(i)->shape().element_type());
    llvm::Value* target = f.PointerTo(instruction, i);
    llvm::Value* source = f.PointerTo(instruction->operand(i));
    // Copies elements [from, to).
    const auto copy = [&](llvm::Value* from, llvm::Value* to) {
      from = b.CreateNSWMul(from, b.getInt64(size));
      llvm::Value* bytes = b.CreateNSWSub(b.CreateNSWMul(to, b.getInt64(size)), from);
      b.CreateMemCpy(b.CreateInBoundsGEP(b.getInt8Ty(), target, from), llvm::Align(1),
                     b.CreateInBoundsGEP(b.getInt8Ty(), source, from), llvm::Align(1), bytes);
    };
    if (stride == 1) {
      copy(b.CreateNSWMul(kernel.begin, b.getInt64(length)), b.CreateNSWMul(kernel.end, b.getInt64(length)));
    } else {
      // The lists of a block alternate in memory: element e of all of them is a row.
      llvm::Value* first_block = b.CreateUDiv(kernel.begin, b.getInt64(stride));
      llvm::Value* end_block = b.CreateUDiv(b.CreateNSWAdd(kernel.end, b.getInt64(stride - 1)), b.getInt64(stride));
      HILO_RETURN_IF_ERROR(ForEach(f, "blocks", first_block, end_block, [&](llvm::Value* block) {
        llvm::Value* first = b.CreateNSWMul(block, b.getInt64(stride));
        llvm::Value* origin = b.CreateNSWMul(first, b.getInt64(length));
        const auto within = [&](llvm::Intrinsic::ID id, llvm::Value* list, int64_t limit) {
          return b.CreateBinaryIntrinsic(id, b.CreateNSWSub(list, first), b.getInt64(limit));
        };
        llvm::Value* begin = within(llvm::Intrinsic::smax, kernel.begin, 0);
        llvm::Value* end = within(llvm::Intrinsic::smin, kernel.end, stride);
        return ForEach(f, "rows", b.getInt64(0), b.getInt64(length), [&](llvm::Value* e) -> absl::Status {
          llvm::Value* row = b.CreateNSWAdd(origin, b.CreateNSWMul(e, b.getInt64(stride)));
          copy(b.CreateNSWAdd(row, begin), b.CreateNSWAdd(row, end));
          return absl::OkStatus();
        });
      }));
    }
    b.CreateStore(target, b.CreateConstInBoundsGEP1_64(b.getPtrTy(), arrays, i));
    b.CreateStore(b.getInt64(size), b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), sizes, i));
  }
  HILO_ASSIGN_OR_RETURN(llvm::Value * less, EmitLess(f, instruction));
  llvm::Value* words = llvm::ConstantPointerNull::get(b.getPtrTy());
  int64_t word_count = 0;
  if (kernel.config.kind == KernelKind::kKeySort) {
    HILO_ASSIGN_OR_RETURN(words, EmitWords(f, instruction, /*is_dense=*/stride == 1, &word_count));
  }
  llvm::Type* ptr = b.getPtrTy();
  llvm::Type* i64 = b.getInt64Ty();
  auto* type = llvm::FunctionType::get(b.getInt32Ty(), {ptr, i64, ptr, ptr, i64, i64, i64, i64, ptr, ptr, i64}, false);
  llvm::FunctionCallee callee = f.program().Runtime(f.function()->getParent(), "hilo_cpu_sort", type);
  f.ReturnIfStopped(
      b.CreateCall(callee, {f.run_context(), b.getInt64(count), arrays, sizes, kernel.begin, kernel.end,
                            b.getInt64(length), b.getInt64(stride), less, words, b.getInt64(word_count)}));
  return absl::OkStatus();
}

}  // namespace hilo::cpu
