// Concatenations of many arrays, as of all parameters of a model in one: each piece of a row of the result is copied as
// bytes. By elements, each vector would search its operand among all of them, in code that grows with their number.
#include <algorithm>
#include <vector>

#include "backends/cpu/functions/program_emitter.h"
#include "backends/cpu/kernels/choice_families.h"
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/row_segments.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::cpu {
namespace {

// The bytes of a piece, in the mean, from which on its copy is faster than vectors where there are several rows. One
// row has no more copies than arrays. AVX-512, by vectors and by pieces, us: 12 pieces of 16 bytes in 100 rows 1.2
// and 3.4, of 64 bytes 5.9 and 2.6, 20 of 32 bytes in 1000 rows 42 and 25; one row of 300 pieces of up to 4000 bytes
// 105 and 26, and 451 and 55 ms to compile, of 2000 pieces of 16 bytes 89 and 74, 8500 and 154 ms.
constexpr int64_t kMinMeanPiece = 32;
// Bytes of one part, and of a row of several at most, of which a part has whole ones.
constexpr int64_t kPiecesBytes = 1 << 16, kLongestRow = 1 << 20;

// A row of the result has a contiguous piece of each operand.
struct Pieces {
  explicit Pieces(const HloInstruction& concatenate) : ends{0} {
    const size_t dimension = concatenate.attrs<ConcatenateAttrs>().dimensions[0];
    const auto dimensions = concatenate.shape().dimensions();
    for (size_t d = 0; d < dimension; ++d) rows *= dimensions[d];
    for (const HloInstruction* operand : concatenate.operands())
      ends.push_back(ends.back() + static_cast<uint64_t>(ShapeUtil::ByteSizeOf(operand->shape()) / rows));
  }

  int64_t row_bytes() const { return static_cast<int64_t>(ends.back()); }
  size_t count() const { return ends.size() - 1; }

  int64_t rows = 1;
  std::vector<uint64_t> ends;  // 0, and where each piece ends in a row, in bytes
};

}  // namespace

absl::StatusOr<KernelConfig> ChooseConcatenate(const HloInstruction& concatenate, const codegen::TargetTraits& target) {
  const Shape& shape = concatenate.shape();
  if (concatenate.operand_count() <= kMaxRowSegments || ShapeUtil::ElementsIn(shape) <= kRegisterElements)
    return ChooseLoop(concatenate, target);
  const Pieces pieces(concatenate);
  if (pieces.rows > 1 &&
      (pieces.row_bytes() > kLongestRow || pieces.row_bytes() < kMinMeanPiece * static_cast<int64_t>(pieces.count())))
    return ChooseLoop(concatenate, target);
  const int64_t part = pieces.rows == 1 ? kPiecesBytes : CeilDiv(kPiecesBytes, pieces.row_bytes()) * pieces.row_bytes();
  return KernelConfig{.kind = KernelKind::kConcatenate,
                      .tile = {part},
                      .parts = CeilDiv(ShapeUtil::ByteSizeOf(shape), part),
                      .why = "many contiguous pieces"};
}

absl::Status EmitConcatenate(FunctionEmitter& f, const KernelParts& kernel) {
  const HloInstruction* concatenate = kernel.instruction;
  const Pieces pieces(*concatenate);
  const int64_t part = kernel.config.tile[0], bytes = ShapeUtil::ByteSizeOf(concatenate->shape());
  llvm::IRBuilder<>& b = f.b();
  llvm::Module* module = f.function()->getParent();
  llvm::Value* target = f.PointerTo(concatenate);
  std::vector<llvm::Value*> pointers;
  for (const HloInstruction* operand : concatenate->operands()) pointers.push_back(f.PointerTo(operand));
  llvm::Value* sources = f.PointerTable(pointers);
  llvm::Value* ends = ProgramEmitter::Numbers(module, pieces.ends);
  const auto number = [&](llvm::Value* table, llvm::Value* index) {
    return b.CreateAlignedLoad(b.getInt64Ty(), b.CreateInBoundsGEP(b.getInt64Ty(), table, index), llvm::Align(8));
  };
  const auto source = [&](llvm::Value* piece) {
    return b.CreateAlignedLoad(b.getPtrTy(), b.CreateInBoundsGEP(b.getPtrTy(), sources, piece), llvm::Align(8));
  };
  const auto copy = [&](llvm::Value* to, llvm::Value* from, llvm::Value* size) {
    b.CreateMemCpy(to, llvm::Align(1), from, llvm::Align(1), size);
  };
  llvm::Value* from = b.CreateNSWMul(kernel.begin, b.getInt64(part));
  llvm::Value* to = codegen::EmitBinaryIntrinsic(b, llvm::Intrinsic::smin, b.CreateNSWMul(kernel.end, b.getInt64(part)),
                                                 b.getInt64(bytes));
  const auto count = static_cast<int64_t>(pieces.count());
  if (pieces.rows > 1) {
    llvm::Value* row_bytes = b.getInt64(pieces.row_bytes());
    return ForEach(f, "row", b.CreateExactSDiv(from, row_bytes), b.CreateExactSDiv(to, row_bytes), [&](llvm::Value* r) {
      llvm::Value* row = b.CreatePtrAdd(target, b.CreateNSWMul(r, row_bytes));
      return ForEach(
          f, "piece", b.getInt64(0), b.getInt64(count),
          [&](llvm::Value* i) {
            llvm::Value* begin = number(ends, i);
            llvm::Value* size = b.CreateNSWSub(number(ends, b.CreateNSWAdd(i, b.getInt64(1))), begin);
            copy(b.CreatePtrAdd(row, begin), b.CreatePtrAdd(source(i), b.CreateNSWMul(r, size)), size);
            return absl::OkStatus();
          },
          /*step=*/1, count);
    });
  }
  // The piece in which each part begins, and the last one.
  std::vector<uint64_t> firsts;
  for (int64_t p = 0; p < kernel.config.parts; ++p) {
    const auto after = std::upper_bound(pieces.ends.begin(), pieces.ends.end(), static_cast<uint64_t>(p * part));
    firsts.push_back(static_cast<uint64_t>(after - pieces.ends.begin()) - 1);
  }
  firsts.push_back(pieces.count() - 1);
  llvm::Value* first_pieces = ProgramEmitter::Numbers(module, firsts);
  return ForEach(f, "piece", number(first_pieces, kernel.begin),
                 b.CreateNSWAdd(number(first_pieces, kernel.end), b.getInt64(1)), [&](llvm::Value* i) {
                   llvm::Value *begin = number(ends, i), *end = number(ends, b.CreateNSWAdd(i, b.getInt64(1)));
                   llvm::Value* here = codegen::EmitBinaryIntrinsic(b, llvm::Intrinsic::smax, begin, from);
                   end = codegen::EmitBinaryIntrinsic(b, llvm::Intrinsic::smin, end, to);
                   llvm::Value* size =
                       codegen::EmitBinaryIntrinsic(b, llvm::Intrinsic::smax, b.CreateNSWSub(end, here), b.getInt64(0));
                   copy(b.CreatePtrAdd(target, here), b.CreatePtrAdd(source(i), b.CreateNSWSub(here, begin)), size);
                   return absl::OkStatus();
                 });
}

}  // namespace hilo::cpu
