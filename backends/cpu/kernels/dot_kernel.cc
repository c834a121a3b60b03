// Library products: calls on blocks of rows and columns, which threads share. The products in f32 are the library's,
// those in f64, bf16 and integers in gemm/; narrower numbers become such a product in f32, s8 or s16
// (hlo/passes/expand/dot.cc). All other dots are loops: each result element adds up its products in order, with the
// lanes along the minor-most dimension of the result; several rows of vectors together, if there are rows.
#include "backends/cpu/functions/program_emitter.h"
#include "backends/cpu/kernels/gemm_plan.h"
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/nest_emitter.h"
#include "backends/cpu/kernels/sums.h"
#include "backends/cpu/runtime/cpu_runtime.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "hilo/status_macros.h"

namespace hilo::cpu {

absl::Status EmitLibraryDot(FunctionEmitter& f, const KernelParts& kernel) {
  const HloInstruction* dot = kernel.instruction;
  const Gemm gemm = *GemmOf(*dot);
  const int64_t block = kernel.config.tile[0], panel = kernel.config.tile[1];
  llvm::IRBuilder<>& b = f.b();
  llvm::Type* ptr = b.getPtrTy();
  llvm::Type* i64 = b.getInt64Ty();
  auto* type = llvm::FunctionType::get(b.getInt32Ty(), {i64, i64, i64, ptr, i64, i64, ptr, i64, i64, ptr, i64}, false);
  llvm::FunctionCallee callee = f.program().Runtime(f.function()->getParent(), GemmSymbol(*dot), type);
  llvm::Value* lhs = f.PointerTo(dot->operand(0));
  llvm::Value* rhs = f.PointerTo(dot->operand(1));
  llvm::Value* out = f.PointerTo(dot);
  llvm::Type* element = codegen::MemoryType(b.getContext(), dot->operand(0)->shape().element_type());
  llvm::Type* sum = codegen::MemoryType(b.getContext(), dot->shape().element_type());
  const auto end_of = [&](llvm::Value* first, int64_t size, int64_t all) {
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.getInt64(size), b.CreateSub(b.getInt64(all), first));
  };
  return ForEach(f, "calls", kernel.begin, kernel.end, [&](llvm::Value* unit) -> absl::Status {
    const std::vector<codegen::LaneIndex> at =
        f.Delinearize(unit, {gemm.batch, CeilDiv(gemm.m, block), CeilDiv(gemm.n, panel)});
    llvm::Value* batch = at[0].Base(f.context());
    llvm::Value* row = b.CreateNUWMul(at[1].Base(f.context()), b.getInt64(block));
    llvm::Value* column = b.CreateNUWMul(at[2].Base(f.context()), b.getInt64(panel));
    llvm::Value* a_offset = b.CreateMul(row, b.getInt64(gemm.a.transposed ? 1 : gemm.a.leading));
    llvm::Value* b_offset = b.CreateMul(column, b.getInt64(gemm.b.transposed ? gemm.b.leading : 1));
    const std::vector<codegen::LaneIndex> batches = f.Delinearize(batch, gemm.batch_sizes);
    for (size_t i = 0; i < batches.size(); ++i) {
      llvm::Value* index = batches[i].Base(f.context());
      a_offset = b.CreateAdd(a_offset, b.CreateMul(index, b.getInt64(gemm.a_batch_strides[i])));
      b_offset = b.CreateAdd(b_offset, b.CreateMul(index, b.getInt64(gemm.b_batch_strides[i])));
    }
    llvm::Value* result_row = b.CreateAdd(b.CreateMul(batch, b.getInt64(gemm.m)), row);
    llvm::Value* c_offset = b.CreateAdd(b.CreateMul(result_row, b.getInt64(gemm.n)), column);
    if (panel < gemm.n) f.PollCancellation();
    f.ReturnIfStopped(b.CreateCall(
        callee, {end_of(row, block, gemm.m), end_of(column, panel, gemm.n), b.getInt64(gemm.k),
                 b.CreateInBoundsGEP(element, lhs, a_offset), b.getInt64(gemm.a.leading), b.getInt64(gemm.a.transposed),
                 b.CreateInBoundsGEP(element, rhs, b_offset), b.getInt64(gemm.b.leading), b.getInt64(gemm.b.transposed),
                 b.CreateInBoundsGEP(sum, out, c_offset), b.getInt64(gemm.n)}));
    return absl::OkStatus();
  });
}

absl::Status EmitTiledDot(FunctionEmitter& f, const KernelParts& kernel) {
  f.SetHoldsVectors(kernel.instruction, true);
  codegen::DotTerms terms(f.elements(), *kernel.instruction);
  const DotSide lhs = LhsOf(*kernel.instruction), rhs = RhsOf(*kernel.instruction);
  const std::vector<int64_t>& tile = kernel.config.tile;
  const std::vector<int64_t> outer(rhs.free_sizes.begin(), rhs.free_sizes.end() - 1);
  const int64_t columns = rhs.free_sizes.back();
  std::vector<int64_t> partial_sums;
  if (tile[3] > 0) partial_sums.push_back(tile[3]);
  const codegen::LoopNest nest = {
      {.sizes = lhs.batch_sizes},
      {.sizes = lhs.free_sizes, .part = tile[0], .unroll = tile[1]},
      {.sizes = outer, .part = Product(outer)},
      {.sizes = {columns}, .part = columns, .unroll = tile[2], .lanes = kernel.config.width}};
  return EmitNest(f, kernel, nest, [&](absl::Span<const codegen::Position> positions) -> absl::Status {
    std::vector<std::vector<codegen::LaneIndex>> kept;
    for (const codegen::Position& position : positions) kept.push_back(Joined(f.context(), position).Dims(f.context()));
    HILO_ASSIGN_OR_RETURN(const std::vector<Elements> sums, SumInOrder(f, terms, partial_sums, kept));
    for (size_t p = 0; p < kept.size(); ++p) {
      f.ArrayOf(kernel.instruction).Store(f.context(), codegen::Index(kept[p]), terms.Finish(sums[p])[0]);
    }
    return absl::OkStatus();
  });
}

}  // namespace hilo::cpu
