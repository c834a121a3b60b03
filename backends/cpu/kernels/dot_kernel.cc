// Library products: calls on blocks of rows and columns, which threads share. Large products in f32 are the library's,
// others those of gemm/; narrower numbers become such a product in f32, s8 or s16 (hlo/passes/expand/dot.cc). Few rows
// times many weights that are computed or transposed are loops that read the weights as streams. Where the rows of
// both factors are contiguous, lanes add them up (reduce_kernel.cc). All other dots are loops: each result element adds
// up its products in order, with the lanes along the minor-most dimension of the result; several rows of vectors
// together, if there are rows.
#include <algorithm>
#include <array>
#include <bit>
#include <iterator>

#include "backends/cpu/gemm/gemm_calls.h"
#include "backends/cpu/kernels/gemm_plan.h"
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/library_call.h"
#include "backends/cpu/kernels/nest_emitter.h"
#include "backends/cpu/kernels/sums.h"
#include "backends/llvm/elements/predication.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/hero.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::cpu {

namespace {

// A type of the size of an element in memory.
llvm::Type* ElementBytes(llvm::LLVMContext& context, PrimitiveType type) {
  return llvm::ArrayType::get(llvm::Type::getInt8Ty(context), static_cast<uint64_t>(PrimitiveTypeByteSize(type)));
}

// Returns the address of the first element of an array, or of a contiguous view of one (hlo/analysis/contiguous_view.h)
// inside a fusion.
absl::StatusOr<llvm::Value*> PointerToView(FunctionEmitter& f, const HloInstruction* view) {
  llvm::IRBuilder<>& b = f.b();
  llvm::Value* offset = b.getInt64(0);
  const auto add = [&](llvm::Value* start, const Shape& whole, int64_t d) {
    const int64_t stride = ShapeUtil::RowMajorStrides(whole.dimensions())[d];
    offset = b.CreateAdd(offset, b.CreateMul(start, b.getInt64(static_cast<uint64_t>(stride))));
  };
  while (!view->IsParameter() && view->parent()->IsFusion()) {
    const Shape &part = view->shape(), &whole = view->operand(0)->shape();
    if (view->opcode() == HloOpcode::kSlice) {
      const auto& ranges = view->attrs<SliceAttrs>().slice;
      for (int64_t d = 0; d < part.rank(); ++d) add(b.getInt64(static_cast<uint64_t>(ranges[d].start)), whole, d);
    } else if (view->opcode() == HloOpcode::kDynamicSlice) {
      for (int64_t d = 0; d < part.rank(); ++d) {
        const HloInstruction* index = view->operand(d + 1);
        HILO_ASSIGN_OR_RETURN(const codegen::ElementValue value, f.elements().Generate(index, codegen::Index()));
        const codegen::LaneIndex start = codegen::ClampedIndex(f.context(), index->shape().element_type(), value,
                                                               whole.dimensions(d) - part.dimensions(d));
        add(start.Base(f.context()), whole, d);
      }
    } else {
      HILO_RET_CHECK(view->opcode() == HloOpcode::kReshape) << "no view: " << HloOpcodeString(view->opcode());
    }
    view = view->operand(0);
  }
  if (view->parent()->IsFusion()) view = view->parent()->fusion_instruction()->operand(view->parameter_number());
  return b.CreateInBoundsGEP(ElementBytes(b.getContext(), view->shape().element_type()), f.PointerTo(view), offset);
}

// Stores the sums of the terms from `first` on, or adds them to those of the terms before, which the result has.
absl::Status AddToResult(FunctionEmitter& f, const KernelParts& kernel, codegen::DotTerms& terms, llvm::Value* first,
                         absl::Span<const Elements> sums, absl::Span<const std::vector<codegen::LaneIndex>> kept) {
  llvm::IRBuilder<>& b = f.b();
  const codegen::IrArray result = f.ArrayOf(kernel.instruction);
  const auto start = [&]() -> absl::StatusOr<codegen::Carried> {
    codegen::Carried totals;
    for (const Elements& sum : sums) totals.push_back(sum[0].re);
    return totals;
  };
  // All loads before all stores: rows are often a multiple of 4 KB apart, and a load waits for such a store.
  const auto add = [&]() -> absl::StatusOr<codegen::Carried> {
    codegen::Carried totals;
    for (size_t p = 0; p < kept.size(); ++p) {
      const Elements before = {result.Load(f.context(), codegen::Index(kept[p]))};
      HILO_ASSIGN_OR_RETURN(const Elements total, terms.Merge(before, sums[p]));
      totals.push_back(total[0].re);
    }
    return totals;
  };
  HILO_ASSIGN_OR_RETURN(const codegen::Carried totals,
                        codegen::EmitBranches(f.context(), "first", b.CreateICmpEQ(first, b.getInt64(0)), start, add));
  for (size_t p = 0; p < kept.size(); ++p)
    result.Store(f.context(), codegen::Index(kept[p]), codegen::ElementValue{totals[p]});
  return absl::OkStatus();
}

}  // namespace

absl::Status EmitLibraryDot(FunctionEmitter& f, const KernelParts& kernel) {
  const HloInstruction* dot = HeroOf(kernel.instruction);
  const Gemm gemm = *GemmOf(*dot);
  gemm::Calls calls{.m = gemm.m,
                    .n = gemm.n,
                    .k = gemm.k,
                    .block = kernel.config.tile[0],
                    .panel = kernel.config.tile[1],
                    .a_leading = gemm.a.leading,
                    .a_transposed = gemm.a.transposed ? 1 : 0,
                    .b_leading = gemm.b.leading,
                    .b_transposed = gemm.b.transposed ? 1 : 0};
  std::copy_backward(gemm.batches.begin(), gemm.batches.end(), std::end(calls.batches));
  HILO_RETURN_IF_ERROR(f.LoadScalarOperands(kernel.instruction));
  HILO_ASSIGN_OR_RETURN(llvm::Value * lhs, PointerToView(f, dot->operand(0)));
  HILO_ASSIGN_OR_RETURN(llvm::Value * rhs, PointerToView(f, dot->operand(1)));
  using Numbers = std::array<uint64_t, sizeof(gemm::Calls) / sizeof(int64_t)>;
  EmitLibraryCall(f, kernel, GemmSymbol(*dot), std::bit_cast<Numbers>(calls),
                  {lhs, rhs, f.PointerTo(kernel.instruction)});
  return absl::OkStatus();
}

// Multiplies one block of rows of the weights after the other; the totals of a part are in the result meanwhile. Blocks
// are unrolled: so each load of weights advances along a row, which processors prefetch.
absl::Status EmitStreamDot(FunctionEmitter& f, const KernelParts& kernel) {
  f.SetHoldsVectors(kernel.instruction, true);
  const HloInstruction& dot = *HeroOf(kernel.instruction);
  codegen::DotTerms terms(f.elements(), dot);
  const DotSide lhs = LhsOf(dot), rhs = RhsOf(dot);
  const std::vector<int64_t>& tile = kernel.config.tile;
  const int64_t block = tile[3], blocks = CeilDiv(Product(terms.reduced()), block);
  const int64_t rows = Product(lhs.free_sizes);
  const codegen::LoopNest nest = {
      {.sizes = lhs.batch_sizes},
      {.sizes = {blocks}, .part = blocks},
      {.sizes = lhs.free_sizes, .part = rows, .unroll = tile[2]},
      {.sizes = rhs.free_sizes, .part = tile[0], .unroll = tile[1], .lanes = kernel.config.width}};
  llvm::IRBuilder<>& b = f.b();
  return EmitNest(f, kernel, nest, [&](absl::Span<const codegen::Position> positions) -> absl::Status {
    llvm::Value* first = b.CreateNSWMul(positions[0][1].Dims(f.context())[0].Base(f.context()),
                                        b.getInt64(static_cast<uint64_t>(block)));
    std::vector<std::vector<codegen::LaneIndex>> kept;
    for (const codegen::Position& position : positions)
      kept.push_back(Joined(f.context(), {position[0], position[2], position[3]}).Dims(f.context()));
    HILO_ASSIGN_OR_RETURN(const std::vector<Elements> sums, SumBlock(f, terms, first, block, kept));
    return AddToResult(f, kernel, terms, first, sums, kept);
  });
}

// Tiles of vectors of sums, which read rows of both factors, a section of the rows after the other.
absl::Status EmitLaneDot(FunctionEmitter& f, const KernelParts& kernel) {
  f.SetHoldsVectors(kernel.instruction, false);
  const HloInstruction& dot = *HeroOf(kernel.instruction);
  codegen::DotTerms terms(f.elements(), dot);
  const DotSide lhs = LhsOf(dot), rhs = RhsOf(dot);
  const std::vector<int64_t>& tile = kernel.config.tile;
  const int64_t section = tile[3], sections = CeilDiv(terms.reduced()[0], section);
  const codegen::LoopNest nest = {{.sizes = lhs.batch_sizes},
                                  {.sizes = {sections}, .part = sections},
                                  {.sizes = rhs.free_sizes, .part = tile[0], .unroll = tile[1]},
                                  {.sizes = lhs.free_sizes, .part = Product(lhs.free_sizes), .unroll = tile[2]}};
  llvm::IRBuilder<>& b = f.b();
  return EmitNest(f, kernel, nest, [&](absl::Span<const codegen::Position> positions) -> absl::Status {
    llvm::Value* first = b.CreateNSWMul(positions[0][1].Dims(f.context())[0].Base(f.context()),
                                        b.getInt64(static_cast<uint64_t>(section)));
    std::vector<std::vector<codegen::LaneIndex>> kept;
    for (const codegen::Position& position : positions)
      kept.push_back(Joined(f.context(), {position[0], position[3], position[2]}).Dims(f.context()));
    HILO_ASSIGN_OR_RETURN(const std::vector<Elements> sums,
                          SumTileInLanes(f, terms, static_cast<int>(kernel.config.width), first, section, kept));
    return AddToResult(f, kernel, terms, first, sums, kept);
  });
}

absl::Status EmitTiledDot(FunctionEmitter& f, const KernelParts& kernel) {
  f.SetHoldsVectors(kernel.instruction, true);
  const HloInstruction& dot = *HeroOf(kernel.instruction);
  codegen::DotTerms terms(f.elements(), dot);
  const DotSide lhs = LhsOf(dot), rhs = RhsOf(dot);
  const std::vector<int64_t>& tile = kernel.config.tile;
  const std::vector<int64_t> outer(rhs.free_sizes.begin(), rhs.free_sizes.end() - 1);
  const int64_t columns = rhs.free_sizes.back();
  std::vector<int64_t> partial_sums;
  const bool is_unrolled = tile[3] == Product(terms.reduced());
  if (tile[3] > 0) partial_sums.push_back(tile[3]);
  const bool repeats = MayRepeat(f, *kernel.instruction);
  const codegen::LoopNest nest = {
      {.sizes = lhs.batch_sizes},
      {.sizes = lhs.free_sizes, .part = tile[0], .unroll = tile[1], .repeats = repeats},
      {.sizes = outer, .part = Product(outer)},
      {.sizes = {columns}, .part = columns, .unroll = tile[2], .lanes = kernel.config.width, .repeats = repeats}};
  return EmitNest(f, kernel, nest, [&](absl::Span<const codegen::Position> positions) -> absl::Status {
    std::vector<std::vector<codegen::LaneIndex>> kept;
    for (const codegen::Position& position : positions) kept.push_back(Joined(f.context(), position).Dims(f.context()));
    HILO_ASSIGN_OR_RETURN(const std::vector<Elements> sums,
                          is_unrolled ? SumUnrolled(terms, kept) : SumInOrder(f, terms, partial_sums, kept));
    for (size_t p = 0; p < kept.size(); ++p) {
      f.ArrayOf(kernel.instruction).Store(f.context(), codegen::Index(kept[p]), terms.Finish(sums[p])[0]);
    }
    return absl::OkStatus();
  });
}

}  // namespace hilo::cpu
