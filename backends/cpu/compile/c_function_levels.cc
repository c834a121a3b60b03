#include "backends/cpu/compile/c_function_levels.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "backends/cpu/compile/c_function.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace hilo::cpu {
namespace {

// What a level has beyond the one before: bits of cpuid's leaf 1 (ecx), leaf 7 (ebx) and leaf 0x80000001 (ecx), and the
// registers that the system keeps (xcr0).
struct Level {
  const char* name;
  uint32_t leaf1 = 0, leaf7 = 0, extended = 0, kept = 0;
};
constexpr uint32_t Bits(std::initializer_list<int> numbers) {
  uint32_t bits = 0;
  for (const int number : numbers) bits |= uint32_t{1} << number;
  return bits;
}
constexpr int kOsxsave = 27;
constexpr Level kLevels[] = {
    {.name = "x86-64"},
    // SSE3, SSSE3, CMPXCHG16B, SSE4.1, SSE4.2, POPCNT; LAHF
    {.name = "x86-64-v2", .leaf1 = Bits({0, 9, 13, 19, 20, 23}), .extended = Bits({0})},
    // FMA, MOVBE, AVX, F16C; BMI1, AVX2, BMI2; LZCNT; the halves of 256-bit registers
    {.name = "x86-64-v3",
     .leaf1 = Bits({12, 22, kOsxsave, 28, 29}),
     .leaf7 = Bits({3, 5, 8}),
     .extended = Bits({5}),
     .kept = Bits({1, 2})},
    // AVX512 F, DQ, CD, BW, VL; the masks and the rest of 512-bit registers
    {.name = "x86-64-v4", .leaf7 = Bits({16, 17, 28, 30, 31}), .kept = Bits({5, 6, 7})},
};

// Builds code that queries the processor.
class ProcessorQuery {
 public:
  explicit ProcessorQuery(llvm::IRBuilder<>& builder) : b_(builder) {
    llvm::Value* const most = Cpuid(0, 0);
    leaf1_ = Cpuid(1, 2);
    extended_ = Cpuid(0x80000001, 2);
    leaf7_ = IfThen(b_.CreateICmpUGE(most, b_.getInt32(7)), [&] { return Cpuid(7, 1); });
    kept_ = IfThen(HasAll(leaf1_, Bits({kOsxsave})), [&] {
      llvm::Type* i32 = b_.getInt32Ty();
      auto* type = llvm::FunctionType::get(llvm::StructType::get(i32, i32), {i32}, false);
      auto* code = llvm::InlineAsm::get(type, "xgetbv", "={ax},={dx},{cx}", /*hasSideEffects=*/true);
      return b_.CreateExtractValue(b_.CreateCall(type, code, {b_.getInt32(0)}), 0);
    });
  }

  llvm::Value* Has(const Level& level) {
    llvm::Value* has = b_.getTrue();
    for (const auto& [found, wanted] : {std::pair(leaf1_, level.leaf1), std::pair(leaf7_, level.leaf7),
                                        std::pair(extended_, level.extended), std::pair(kept_, level.kept)}) {
      if (wanted != 0) has = b_.CreateAnd(has, HasAll(found, wanted));
    }
    return has;
  }

 private:
  // Register `result` of eax, ebx, ecx, edx.
  llvm::Value* Cpuid(uint32_t leaf, unsigned result) {
    llvm::Type* i32 = b_.getInt32Ty();
    auto* type = llvm::FunctionType::get(llvm::StructType::get(i32, i32, i32, i32), {i32, i32}, false);
    auto* code = llvm::InlineAsm::get(type, "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx}", /*hasSideEffects=*/true);
    return b_.CreateExtractValue(b_.CreateCall(type, code, {b_.getInt32(leaf), b_.getInt32(0)}), result);
  }
  llvm::Value* HasAll(llvm::Value* found, uint32_t wanted) {
    return b_.CreateICmpEQ(b_.CreateAnd(found, b_.getInt32(wanted)), b_.getInt32(wanted));
  }
  // The value of `then` if `condition` holds, or 0.
  template <typename Then>
  llvm::Value* IfThen(llvm::Value* condition, const Then& then) {
    llvm::BasicBlock* before = b_.GetInsertBlock();
    llvm::BasicBlock* ask = llvm::BasicBlock::Create(b_.getContext(), "ask", before->getParent());
    llvm::BasicBlock* after = llvm::BasicBlock::Create(b_.getContext(), "after", before->getParent());
    b_.CreateCondBr(condition, ask, after);
    b_.SetInsertPoint(ask);
    llvm::Value* value = then();
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
    llvm::PHINode* either = b_.CreatePHI(b_.getInt32Ty(), 2);
    either->addIncoming(value, ask);
    either->addIncoming(b_.getInt32(0), before);
    return either;
  }

  llvm::IRBuilder<>& b_;
  llvm::Value* leaf1_ = nullptr;
  llvm::Value* leaf7_ = nullptr;
  llvm::Value* extended_ = nullptr;
  llvm::Value* kept_ = nullptr;
};

// A function that returns 1 + the index of the highest of `levels` that the processor has; 1 if it has none.
llvm::Function* EmitDetection(llvm::Module& module, absl::Span<const std::string> levels) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* i32 = llvm::Type::getInt32Ty(context);
  auto* function = llvm::Function::Create(llvm::FunctionType::get(i32, {}, false), llvm::GlobalValue::InternalLinkage,
                                          "detect_level", module);
  function->addFnAttr(llvm::Attribute::NoInline);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "code", function));
  ProcessorQuery query(b);
  llvm::Value* has = b.getTrue();
  llvm::Value* result = b.getInt32(1);
  uint32_t index = 0;
  for (const Level& level : kLevels) {
    has = b.CreateAnd(has, query.Has(level));
    if (index < levels.size() && levels[index] == level.name) result = b.CreateSelect(has, b.getInt32(++index), result);
  }
  b.CreateRet(result);
  return function;
}

}  // namespace

std::string FunctionOfLevel(const std::string& name, const std::string& level) {
  return absl::StrCat(name, ".", absl::StrReplaceAll(level, {{"-", "_"}}));
}

absl::Status CheckLevels(absl::Span<const std::string> levels) {
  auto next = std::begin(kLevels);
  for (const std::string& level : levels) {
    next = std::find_if(next, std::end(kLevels), [&](const Level& known) { return level == known.name; });
    if (next == std::end(kLevels)) {
      return InvalidArgument("expected some of x86-64, x86-64-v2, x86-64-v3 and x86-64-v4 in this order, got ",
                             absl::StrJoin(levels, ","));
    }
    ++next;
  }
  return absl::OkStatus();
}

absl::StatusOr<codegen::HostModule> CombineLevels(const std::string& name, std::vector<LevelFunction> functions) {
  std::vector<std::string> levels;
  std::vector<codegen::HostModule> modules;
  for (LevelFunction& function : functions) {
    for (llvm::Function& one : *function.module.module) {
      if (!one.isDeclaration()) one.addFnAttr("target-cpu", function.level);
    }
    levels.push_back(function.level);
    modules.push_back(std::move(function.module));
  }
  HILO_ASSIGN_OR_RETURN(codegen::HostModule whole, LinkModules(std::move(modules)));
  llvm::Module& module = *whole.module;
  llvm::LLVMContext& context = module.getContext();
  llvm::Function* detection = EmitDetection(module, levels);
  llvm::Type* i32 = llvm::Type::getInt32Ty(context);
  auto* known = new llvm::GlobalVariable(module, i32, /*isConstant=*/false, llvm::GlobalValue::InternalLinkage,
                                         llvm::ConstantInt::get(i32, 0), "level");
  llvm::Function* first = module.getFunction(FunctionOfLevel(name, levels[0]));
  HILO_RET_CHECK(first != nullptr) << "there is no function of level " << levels[0];
  auto* function = llvm::Function::Create(first->getFunctionType(), llvm::GlobalValue::ExternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  llvm::BasicBlock* start = llvm::BasicBlock::Create(context, "code", function);
  llvm::BasicBlock* ask = llvm::BasicBlock::Create(context, "ask", function);
  llvm::BasicBlock* call = llvm::BasicBlock::Create(context, "call", function);
  llvm::IRBuilder<> b(start);
  // Threads that come first at once find out the same.
  llvm::LoadInst* kept = b.CreateAlignedLoad(i32, known, llvm::Align(4));
  kept->setAtomic(llvm::AtomicOrdering::Monotonic);
  b.CreateCondBr(b.CreateIsNotNull(kept), call, ask);
  b.SetInsertPoint(ask);
  llvm::Value* found = b.CreateCall(detection);
  b.CreateAlignedStore(found, known, llvm::Align(4))->setAtomic(llvm::AtomicOrdering::Monotonic);
  b.CreateBr(call);
  b.SetInsertPoint(call);
  llvm::PHINode* level = b.CreatePHI(i32, 2);
  level->addIncoming(kept, start);
  level->addIncoming(found, ask);
  std::vector<llvm::Value*> arguments;
  for (llvm::Argument& argument : function->args()) arguments.push_back(&argument);
  llvm::BasicBlock* never = llvm::BasicBlock::Create(context, "never", function);
  llvm::SwitchInst* choice = b.CreateSwitch(level, never, static_cast<unsigned>(levels.size()));
  for (size_t i = 0; i < levels.size(); ++i) {
    llvm::Function* callee = module.getFunction(FunctionOfLevel(name, levels[i]));
    HILO_RET_CHECK(callee != nullptr) << "there is no function of level " << levels[i];
    callee->setLinkage(llvm::GlobalValue::InternalLinkage);
    llvm::BasicBlock* block = llvm::BasicBlock::Create(context, levels[i], function);
    choice->addCase(b.getInt32(static_cast<uint32_t>(i) + 1), block);
    b.SetInsertPoint(block);
    b.CreateCall(callee, arguments);
    b.CreateRetVoid();
  }
  b.SetInsertPoint(never);
  b.CreateUnreachable();
  return whole;
}

}  // namespace hilo::cpu
