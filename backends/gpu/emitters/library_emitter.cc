// Instructions that are assigned to libraries.
#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/emitters/nest_emitter.h"
#include "backends/gpu/match/convolution_match.h"
#include "backends/gpu/match/gemm_match.h"
#include "backends/gpu/match/library_match.h"
#include "backends/gpu/thunks/library_thunks.h"
#include "backends/llvm/elements/predication.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ops/linalg/linalg_attributes.h"

namespace hilo::gpu {
namespace {

// Returns the memory of a fusion's parameter, or of an operand outside of one.
absl::StatusOr<BufferSlice> SliceOfOperand(ProgramEmitter& program, const HloInstruction* fusion,
                                           const HloInstruction* operand) {
  if (operand == nullptr) return BufferSlice{};
  if (operand->IsParameter() && fusion->opcode() == HloOpcode::kFusion)
    operand = fusion->operand(operand->parameter_number());
  return program.SliceOf(operand);
}

absl::Status NotChosen(absl::string_view what) {
  return Internal("the library was chosen for ", what, " that it cannot do");
}

// Element `i` of an argument that is an array of `count`.
codegen::IrArray ArrayAt(KernelEmitter& k, int64_t argument, PrimitiveType type, int64_t count) {
  return {.pointer = k.extra(argument), .shape = ShapeUtil::MakeShape(type, {count}), .alignment = kDeviceAlignment};
}
codegen::Index Linear(llvm::Value* i, int64_t count) {
  return codegen::Index({codegen::LaneIndex::Uniform(i, 1, count)});
}

// The library omits the division by the number of points.
absl::Status EmitScale(ProgramEmitter& program, const HloInstruction* instruction, PrimitiveType part, int64_t points) {
  const KernelArgument result = KernelArgument::Slice(program.assignment().slice(instruction), true);
  const int64_t count = ShapeUtil::ByteSizeOf(instruction->shape()) / PrimitiveTypeByteSize(part);
  KernelEmitter k(&program, nullptr, {result});
  return EmitThreads(k, instruction, count, BlockFor(count), [&](llvm::Value* i) {
    const codegen::IrArray array = ArrayAt(k, 0, part, count);
    llvm::Value* x = array.Load(k.context(), Linear(i, count)).re;
    array.Store(k.context(), Linear(i, count),
                {k.b().CreateFDiv(x, llvm::ConstantFP::get(x->getType(), static_cast<double>(points)))});
    return absl::OkStatus();
  });
}

}  // namespace

absl::Status EmitLibraryDot(ProgramEmitter& program, const HloInstruction* instruction) {
  const std::optional<GemmMatch> match = GemmOf(*instruction);
  std::optional<LibraryChoice> choice;
  if (match.has_value()) choice = program.emission().libraries->SelectGemm(match->gemm);
  if (!choice.has_value()) return NotChosen("a product");
  GemmThunk::Arrays arrays{.d = program.assignment().slice(instruction)};
  HILO_ASSIGN_OR_RETURN(arrays.a, SliceOfOperand(program, instruction, match->dot->operand(1)));
  HILO_ASSIGN_OR_RETURN(arrays.b, SliceOfOperand(program, instruction, match->dot->operand(0)));
  HILO_ASSIGN_OR_RETURN(arrays.c, SliceOfOperand(program, instruction, match->residual));
  HILO_ASSIGN_OR_RETURN(arrays.bias, SliceOfOperand(program, instruction, match->bias));
  program.NeedWorkspace(choice->algorithm.workspace_bytes);
  program.Add(std::make_unique<GemmThunk>(instruction->name(), match->gemm, match->loop, *std::move(choice), arrays));
  return absl::OkStatus();
}

absl::Status EmitLibraryConvolution(ProgramEmitter& program, const HloInstruction* instruction) {
  const std::optional<ConvolutionMatch> match = ConvolutionOf(*instruction);
  std::optional<LibraryChoice> choice;
  if (match.has_value()) choice = program.emission().libraries->SelectConvolution(match->descriptor);
  if (!choice.has_value()) return NotChosen("a convolution");
  ConvolutionThunk::Arrays arrays{.result = program.assignment().slice(instruction)};
  HILO_ASSIGN_OR_RETURN(arrays.lhs, SliceOfOperand(program, instruction, match->convolution->operand(0)));
  HILO_ASSIGN_OR_RETURN(arrays.rhs, SliceOfOperand(program, instruction, match->convolution->operand(1)));
  HILO_ASSIGN_OR_RETURN(arrays.residual, SliceOfOperand(program, instruction, match->residual));
  HILO_ASSIGN_OR_RETURN(arrays.bias, SliceOfOperand(program, instruction, match->bias));
  program.NeedWorkspace(choice->algorithm.workspace_bytes);
  program.Add(std::make_unique<ConvolutionThunk>(instruction->name(), match->descriptor, *std::move(choice), arrays));
  return absl::OkStatus();
}

absl::Status EmitLibraryFft(ProgramEmitter& program, const HloInstruction* instruction) {
  const std::optional<FftDescriptor> fft = FftOf(*instruction);
  std::optional<int64_t> bytes;
  if (fft.has_value()) bytes = program.emission().libraries->SelectFft(*fft);
  if (!bytes.has_value()) return NotChosen("a transform");
  HILO_ASSIGN_OR_RETURN(const BufferSlice in, program.SliceOf(instruction->operand(0)));
  const int64_t copied = fft->type == FftType::kIrfft ? fft->InputBytes() : 0;
  const KernelArgument copy = KernelArgument::Scratch(program.AllocateScratch(copied), copied, true);
  program.NeedWorkspace(*bytes);
  program.Add(
      std::make_unique<FftThunk>(instruction->name(), *fft, in, program.assignment().slice(instruction), copy, *bytes));
  return fft->IsInverse() ? EmitScale(program, instruction, fft->part, fft->Points()) : absl::OkStatus();
}

// What the library leaves in the other triangle is set to 0, and matrices without a factor to NaN.
absl::Status EmitLibraryCholesky(ProgramEmitter& program, const HloInstruction* instruction) {
  std::optional<SolverMatch> match = CholeskyCallOf(*instruction);
  HILO_RET_CHECK(match.has_value());
  const int64_t count = ShapeUtil::ElementsIn(instruction->shape()), n = match->rows;
  const PrimitiveType type = instruction->shape().element_type();
  const bool lower = instruction->attrs<CholeskyAttrs>().lower;
  HILO_ASSIGN_OR_RETURN(const BufferSlice operand, program.SliceOf(instruction->operand(0)));
  const int64_t info_bytes = count / (n * n) * 4;
  KernelArgument info = KernelArgument::Scratch(program.AllocateScratch(info_bytes), info_bytes, true);
  const KernelArgument result = KernelArgument::Slice(program.assignment().slice(instruction), true);
  program.Add(std::make_unique<SolverThunk>(instruction->name(), std::move(match->call),
                                            std::vector<KernelArgument>{KernelArgument::Slice(operand, false)},
                                            std::vector<KernelArgument>{result, info}));

  const auto is_failed = [&](KernelEmitter& k, llvm::Value* matrix) {
    return k.b().CreateICmpNE(k.LoadCell(k.extra(1), matrix, k.b().getInt32Ty()), k.b().getInt32(0));
  };
  // Not every implementation reports a NaN, or propagates it: each number of the diagonal is tested.
  KernelArgument read = result;
  read.written = false;
  {
    KernelEmitter k(&program, nullptr, {read, info});
    llvm::IRBuilder<>& b = k.b();
    auto integer = [&](int64_t value) { return b.getInt64(static_cast<uint64_t>(value)); };
    HILO_RETURN_IF_ERROR(EmitThreads(k, instruction, count / n, BlockFor(count / n), [&](llvm::Value* i) {
      llvm::Value* x =
          ArrayAt(k, 0, type, count)
              .Load(k.context(), Linear(b.CreateAdd(b.CreateMul(i, integer(n)), b.CreateURem(i, integer(n))), count))
              .re;
      return k.If("nan", b.CreateFCmpUNO(x, x), [&] {
        llvm::Value* flag = b.CreateGEP(b.getInt32Ty(), k.extra(1), b.CreateUDiv(i, integer(n)));
        b.CreateAtomicRMW(llvm::AtomicRMWInst::Or, flag, b.getInt32(1), llvm::MaybeAlign(4),
                          llvm::AtomicOrdering::Monotonic);
        return absl::OkStatus();
      });
    }));
  }
  info.written = false;
  KernelEmitter k(&program, nullptr, {result, info});
  llvm::IRBuilder<>& b = k.b();
  auto integer = [&](int64_t value) { return b.getInt64(static_cast<uint64_t>(value)); };
  return EmitThreads(k, instruction, count, BlockFor(count), [&](llvm::Value* i) {
    const codegen::IrArray factors = ArrayAt(k, 0, type, count);
    llvm::Value *row = b.CreateURem(b.CreateUDiv(i, integer(n)), integer(n)), *column = b.CreateURem(i, integer(n));
    llvm::Value* other = lower ? b.CreateICmpUGT(column, row) : b.CreateICmpULT(column, row);
    const codegen::ElementValue value = factors.Load(k.context(), Linear(i, count)),
                                zero = codegen::EmitZero(k.context(), type);
    codegen::ElementValue nan = zero;
    nan.re = llvm::ConstantFP::getNaN(zero.re->getType());
    const codegen::ElementValue factor = codegen::EmitSelect(k.context(), other, zero, value);
    factors.Store(k.context(), Linear(i, count),
                  codegen::EmitSelect(k.context(), is_failed(k, b.CreateUDiv(i, integer(n * n))), nan, factor));
    return absl::OkStatus();
  });
}

absl::Status EmitLibraryTriangularSolve(ProgramEmitter& program, const HloInstruction* instruction) {
  std::optional<SolverMatch> match = TriangularSolveCallOf(*instruction);
  HILO_RET_CHECK(match.has_value());
  HILO_ASSIGN_OR_RETURN(const BufferSlice triangle, program.SliceOf(instruction->operand(0)));
  HILO_ASSIGN_OR_RETURN(const BufferSlice given, program.SliceOf(instruction->operand(1)));
  program.Add(std::make_unique<SolverThunk>(
      instruction->name(), std::move(match->call),
      std::vector<KernelArgument>{KernelArgument::Slice(triangle, false), KernelArgument::Slice(given, false)},
      std::vector<KernelArgument>{KernelArgument::Slice(program.assignment().slice(instruction), true)}));
  return absl::OkStatus();
}

}  // namespace hilo::gpu
