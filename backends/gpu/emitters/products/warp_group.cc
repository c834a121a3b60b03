#include "backends/gpu/emitters/products/warp_group.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "llvm/IR/InlineAsm.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;

constexpr int64_t kUnit = 16;         // bytes
constexpr int64_t kPatternLines = 8;  // of a swizzled pattern
constexpr uint64_t kAddressMask = 0x3FFF;
constexpr int kLeadingBit = 16, kStrideBit = 32, kSwizzleBit = 62;

uint64_t SwizzleMode(int64_t line_bytes) { return line_bytes == 128 ? 1 : line_bytes == 64 ? 2 : 3; }

int64_t CellBytes(const Strip& strip) { return KernelEmitter::CellBytes(strip.layout.cell); }

}  // namespace

WarpGroup::WarpGroup(KernelEmitter& k, PrimitiveType type, int64_t columns)
    : k_(k), b_(k.b()), type_(type), columns_(columns) {
  // The same register of all lanes: descriptors are uniform.
  llvm::Value* group = b_.CreateUDiv(k.Thread(), b_.getInt64(kThreads));
  group_ = b_.CreateZExt(k.ShuffleFrom(b_.CreateTrunc(group, b_.getInt32Ty()), b_.getInt32(0)), b_.getInt64Ty());
}

StripLayout WarpGroup::LayoutOf(llvm::LLVMContext& context, PrimitiveType type, int64_t positions, int64_t depth,
                                bool depth_is_minor) {
  const int64_t bytes = PrimitiveTypeByteSize(type), line = depth_is_minor ? depth : positions;
  return {.cell = codegen::MemoryType(context, type),
          .lines_are_positions = depth_is_minor,
          .pitch = line,
          .permuted = kUnit / bytes,
          .piece = std::min(line, kLineBytes / bytes),
          .lines = depth_is_minor ? positions : depth};
}

Carried WarpGroup::Assembly(const std::string& text, absl::Span<llvm::Value* const> operands, const Carried& sums) {
  // Each sum is a result and the operand in the same register.
  std::vector<std::string> constraints(sums.size(), "=f");
  std::vector<llvm::Value*> arguments(operands.begin(), operands.end());
  std::vector<llvm::Type*> types, results;
  for (llvm::Value* operand : operands) constraints.push_back(operand->getType()->isIntegerTy(64) ? "l" : "r");
  for (size_t i = 0; i < sums.size(); ++i) {
    constraints.push_back(absl::StrCat(i));
    arguments.push_back(sums[i]);
    results.push_back(sums[i]->getType());
  }
  for (llvm::Value* argument : arguments) types.push_back(argument->getType());
  llvm::Type* result = llvm::StructType::get(b_.getContext(), results);
  auto* function = llvm::FunctionType::get(result, types, false);
  llvm::CallInst* call = b_.CreateCall(
      function, llvm::InlineAsm::get(function, text, absl::StrJoin(constraints, ","), /*hasSideEffects=*/true),
      arguments);
  call->setConvergent();
  Carried all;
  for (unsigned i = 0; i < sums.size(); ++i) all.push_back(b_.CreateExtractValue(call, i));
  return all;
}

Carried WarpGroup::Fence(const Carried& sums) { return Assembly("wgmma.fence.sync.aligned;", {}, sums); }

Carried WarpGroup::Wait(const Carried& sums, int64_t pending) {
  return Assembly(absl::StrCat("wgmma.wait_group.sync.aligned ", pending, ";"), {}, sums);
}

void WarpGroup::Commit() { k_.Assembly("wgmma.commit_group.sync.aligned;"); }

llvm::Value* WarpGroup::DescriptorOf(const Strip& strip, llvm::Value* first_position) {
  const StripLayout& layout = strip.layout;
  const int64_t bytes = CellBytes(strip), line_bytes = layout.piece * bytes;
  // Of the first position: a multiple of eight lines, or of a whole part of each.
  const int64_t of_position = layout.lines_are_positions ? layout.piece : layout.lines;
  llvm::Value* cell = b_.CreateAdd(
      strip.first, b_.CreateMul(first_position, b_.getInt64(static_cast<uint64_t>(of_position)), "", true, true), "",
      true, true);
  llvm::Value* base = b_.CreatePtrToInt(strip.cells[0], b_.getInt64Ty());
  llvm::Value* address =
      b_.CreateAdd(base, b_.CreateMul(cell, b_.getInt64(static_cast<uint64_t>(bytes)), "", true, true), "", true, true);
  // From one part of the lines to the next; 1 stands for lines without parts.
  const uint64_t part = layout.lines_are_positions ? 1 : static_cast<uint64_t>(layout.lines * line_bytes / kUnit),
                 pattern = static_cast<uint64_t>(kPatternLines * line_bytes / kUnit);
  const uint64_t shape = (part & kAddressMask) << kLeadingBit | (pattern & kAddressMask) << kStrideBit |
                         SwizzleMode(line_bytes) << kSwizzleBit;
  return b_.CreateOr(b_.CreateAnd(b_.CreateLShr(address, 4), b_.getInt64(kAddressMask)), b_.getInt64(shape));
}

Carried WarpGroup::Multiply(const Strip& lhs, llvm::Value* first_row, const Strip& rhs, int64_t depth,
                            const Carried& sums) {
  std::vector<std::string> registers;
  for (size_t i = 0; i < sums.size(); ++i) registers.push_back(absl::StrCat("$", i));
  const absl::string_view name = type_ == F16 ? "f16" : "bf16";
  const std::string text =
      absl::StrCat("wgmma.mma_async.sync.aligned.m64n", columns_, "k", StepOf(type_), ".f32.", name, ".", name, " {",
                   absl::StrJoin(registers, ", "), "}, $", sums.size(), ", $", sums.size() + 1, ", 1, 1, 1, ",
                   lhs.layout.lines_are_positions ? 0 : 1, ", ", rhs.layout.lines_are_positions ? 0 : 1, ";");
  llvm::Value *x = DescriptorOf(lhs, first_row), *y = DescriptorOf(rhs, b_.getInt64(0));
  // Units from one multiplication to the next: along lines that are positions, else whole lines.
  const auto step = [&](const Strip& strip, int64_t at) {
    const int64_t cells = strip.layout.lines_are_positions ? at : at * strip.layout.piece;
    return b_.getInt64(static_cast<uint64_t>(cells * CellBytes(strip) / kUnit));
  };
  Carried all = sums;
  for (int64_t at = 0; at < depth; at += StepOf(type_)) {
    llvm::Value* operands[] = {b_.CreateAdd(x, step(lhs, at)), b_.CreateAdd(y, step(rhs, at))};
    all = Assembly(text, operands, all);
  }
  return all;
}

}  // namespace hilo::gpu
