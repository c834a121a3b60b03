// A dot is a batch of matrix products. Large ones in f32 go to the library, in f64 and integers to gemm/, in blocks of
// rows that are parallelized over threads; the operands' free and contracting dimensions must each have one stride, one
// of which is 1, which covers every order of dimensions that attention and its gradient use. Narrower numbers become
// such a product in f32, s8 or s16 (hlo/passes/expand/dot.cc). All others are loops: each result element adds up its
// products in order, with the lanes along the minor-most dimension of the result.
#include "backends/cpu/kernels/dot_kernel.h"

#include <algorithm>
#include <optional>

#include "backends/cpu/compile/program_emitter.h"
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/runtime/cpu_runtime.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/expand/expansions.h"

namespace hilo::cpu {
namespace {

// Multiply-adds below which emitted loops are faster than the library's 0.3 us per call.
constexpr int64_t kLibraryWork = 16 * 1024;
// Rows per block of a thread.
constexpr int64_t kRowBlock = 256;
// Products per library call, about 10 ms, if that leaves at least this many columns.
constexpr double kPanelProducts = 5e8;
constexpr int64_t kMinPanel = 256;

struct Extent {
  int64_t size = 1, stride = 1;
};

// Returns the common stride of several dimensions in order, if there is one.
std::optional<Extent> Collapse(const Shape& shape, const std::vector<int64_t>& dimensions) {
  const std::vector<int64_t> strides = ShapeUtil::RowMajorStrides(shape.dimensions());
  Extent extent;
  bool first = true;
  for (auto it = dimensions.rbegin(); it != dimensions.rend(); ++it) {
    const int64_t size = shape.dimensions(*it);
    if (size == 1) continue;
    if (first) {
      extent = {size, strides[*it]};
      first = false;
    } else if (strides[*it] == extent.stride * extent.size) {
      extent.size *= size;
    } else {
      return std::nullopt;
    }
  }
  return extent;
}

std::vector<int64_t> FreeDimensions(const Shape& shape, const std::vector<int64_t>& batch,
                                    const std::vector<int64_t>& contracting) {
  std::vector<int64_t> free;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (std::find(batch.begin(), batch.end(), d) == batch.end() &&
        std::find(contracting.begin(), contracting.end(), d) == contracting.end()) {
      free.push_back(d);
    }
  }
  return free;
}

// A matrix as the library reads it: `leading` elements between rows of the stored form.
struct Matrix {
  bool transposed = false;
  int64_t leading = 1;
};

std::optional<Matrix> MatrixOf(const Extent& rows, const Extent& columns) {
  if (columns.stride == 1 || columns.size == 1) {
    return Matrix{false, rows.size == 1 ? std::max<int64_t>(1, columns.size) : rows.stride};
  }
  if (rows.stride == 1 || rows.size == 1) return Matrix{true, columns.stride};
  return std::nullopt;
}

struct Gemm {
  int64_t m, n, k, batch = 1;
  Matrix a, b;
  std::vector<int64_t> batch_sizes, a_batch_strides, b_batch_strides;
};

std::optional<Gemm> GemmOf(const HloInstruction& dot) {
  const DotAttrs& attrs = dot.attrs<DotAttrs>();
  const Shape& lhs = dot.operand(0)->shape();
  const Shape& rhs = dot.operand(1)->shape();
  const auto m = Collapse(lhs, FreeDimensions(lhs, attrs.lhs_batch_dims, attrs.lhs_contracting_dims));
  const auto n = Collapse(rhs, FreeDimensions(rhs, attrs.rhs_batch_dims, attrs.rhs_contracting_dims));
  const auto k_lhs = Collapse(lhs, attrs.lhs_contracting_dims);
  const auto k_rhs = Collapse(rhs, attrs.rhs_contracting_dims);
  if (!m || !n || !k_lhs || !k_rhs) return std::nullopt;
  Gemm gemm{.m = m->size, .n = n->size, .k = k_lhs->size};
  const auto a = MatrixOf(*m, *k_lhs);
  const auto b = MatrixOf(*k_rhs, *n);
  if (!a || !b) return std::nullopt;
  gemm.a = *a;
  gemm.b = *b;
  const std::vector<int64_t> lhs_strides = ShapeUtil::RowMajorStrides(lhs.dimensions());
  const std::vector<int64_t> rhs_strides = ShapeUtil::RowMajorStrides(rhs.dimensions());
  for (size_t i = 0; i < attrs.lhs_batch_dims.size(); ++i) {
    gemm.batch_sizes.push_back(lhs.dimensions(attrs.lhs_batch_dims[i]));
    gemm.batch *= gemm.batch_sizes.back();
    gemm.a_batch_strides.push_back(lhs_strides[attrs.lhs_batch_dims[i]]);
    gemm.b_batch_strides.push_back(rhs_strides[attrs.rhs_batch_dims[i]]);
  }
  return gemm;
}

// Returns null if there are no products of these types.
const char* GemmSymbol(const HloInstruction& dot) {
  const PrimitiveType type = dot.operand(0)->shape().element_type(), result = dot.shape().element_type();
  if (dot.operand(1)->shape().element_type() != type) return nullptr;
  if (result == S32 || result == U32) {
    if (type == S8) return "hilo_cpu_gemm_s8";
    if (type == S16) return "hilo_cpu_gemm_s16";
  }
  if (type != result) return nullptr;
  switch (type) {
    case F32: return "hilo_cpu_gemm_f32";
    case F64: return "hilo_cpu_gemm_f64";
    case S32:
    case U32: return "hilo_cpu_gemm_u32";
    default: return nullptr;
  }
}

// Returns true if a product of m x k and k x n numbers is large enough for a call.
bool IsLarge(int64_t m, int64_t n, int64_t k) {
  return m >= 2 && n >= 2 && k >= 2 &&
         static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) >= kLibraryWork;
}
bool IsLarge(const std::optional<Gemm>& gemm) { return gemm.has_value() && IsLarge(gemm->m, gemm->n, gemm->k); }

int64_t Volume(const Shape& shape, const std::vector<int64_t>& dimensions) {
  int64_t volume = 1;
  for (int64_t d : dimensions) volume *= shape.dimensions(d);
  return volume;
}

Kernel LibraryKernel(const HloInstruction* dot, const Gemm& gemm) {
  const int64_t block = gemm.m >= 2 * kRowBlock          ? kRowBlock
                        : gemm.batch < 8 && gemm.m >= 64 ? (gemm.m / 2 + 15) / 16 * 16
                                                         : gemm.m;
  const int64_t blocks = (gemm.m + block - 1) / block;
  // The columns of one call, between which cancellation is polled.
  const double column_products = static_cast<double>(block) * static_cast<double>(gemm.k);
  const int64_t panel = std::min(
      gemm.n, std::max(kMinPanel, static_cast<int64_t>(kPanelProducts / column_products) / kMinPanel * kMinPanel));
  Kernel kernel;
  kernel.units = gemm.batch * blocks;
  kernel.emit = [dot, gemm, block, blocks, panel](FunctionEmitter& f, llvm::Value* begin,
                                                  llvm::Value* end) -> absl::Status {
    llvm::IRBuilder<>& b = f.b();
    llvm::Type* ptr = b.getPtrTy();
    llvm::Type* i64 = b.getInt64Ty();
    auto* type =
        llvm::FunctionType::get(b.getInt32Ty(), {i64, i64, i64, ptr, i64, i64, ptr, i64, i64, ptr, i64}, false);
    llvm::FunctionCallee callee = f.program().Runtime(f.function()->getParent(), GemmSymbol(*dot), type);
    llvm::Value* lhs = f.PointerTo(dot->operand(0));
    llvm::Value* rhs = f.PointerTo(dot->operand(1));
    llvm::Value* out = f.PointerTo(dot);
    return ForEach(f, "blocks", begin, end, [&](llvm::Value* unit) -> absl::Status {
      llvm::Value* batch = b.CreateUDiv(unit, b.getInt64(blocks));
      llvm::Value* first_row = b.CreateNUWMul(b.CreateURem(unit, b.getInt64(blocks)), b.getInt64(block));
      llvm::Value* rows =
          b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.getInt64(block), b.CreateSub(b.getInt64(gemm.m), first_row));
      llvm::Value* a_offset = b.CreateMul(first_row, b.getInt64(gemm.a.transposed ? 1 : gemm.a.leading));
      llvm::Value* b_offset = b.getInt64(0);
      const std::vector<codegen::LaneIndex> place = Delinearize(f, batch, gemm.batch_sizes);
      for (size_t i = 0; i < place.size(); ++i) {
        llvm::Value* at = place[i].Base(f.context());
        a_offset = b.CreateAdd(a_offset, b.CreateMul(at, b.getInt64(gemm.a_batch_strides[i])));
        b_offset = b.CreateAdd(b_offset, b.CreateMul(at, b.getInt64(gemm.b_batch_strides[i])));
      }
      llvm::Value* c_offset =
          b.CreateMul(b.CreateAdd(b.CreateMul(batch, b.getInt64(gemm.m)), first_row), b.getInt64(gemm.n));
      llvm::Type* element = codegen::MemoryType(b.getContext(), dot->operand(0)->shape().element_type());
      llvm::Type* sum = codegen::MemoryType(b.getContext(), dot->shape().element_type());
      return ForEach(
          f, "panels", b.getInt64(0), b.getInt64(gemm.n),
          [&](llvm::Value* column) -> absl::Status {
            if (panel < gemm.n) f.PollCancellation();
            llvm::Value* columns = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.getInt64(panel),
                                                           b.CreateSub(b.getInt64(gemm.n), column));
            llvm::Value* b_column =
                b.CreateAdd(b_offset, b.CreateMul(column, b.getInt64(gemm.b.transposed ? gemm.b.leading : 1)));
            f.ReturnIfStopped(b.CreateCall(
                callee,
                {rows, columns, b.getInt64(gemm.k), b.CreateInBoundsGEP(element, lhs, a_offset),
                 b.getInt64(gemm.a.leading), b.getInt64(gemm.a.transposed), b.CreateInBoundsGEP(element, rhs, b_column),
                 b.getInt64(gemm.b.leading), b.getInt64(gemm.b.transposed),
                 b.CreateInBoundsGEP(sum, out, b.CreateAdd(c_offset, column)), b.getInt64(gemm.n)}));
            return absl::OkStatus();
          },
          panel);
    });
  };
  return kernel;
}

}  // namespace

bool HasNarrowOperands(const HloInstruction& dot) {
  const auto is_narrow = [](const Shape& shape) {
    return IsFloatingPointType(shape.element_type()) && PrimitiveTypeBitWidth(shape.element_type()) < 32;
  };
  return is_narrow(dot.operand(0)->shape()) && is_narrow(dot.operand(1)->shape()) &&
         (is_narrow(dot.shape()) || dot.shape().element_type() == F32);
}

bool IsWidenedDot(const HloInstruction& dot) {
  return dot.opcode() == HloOpcode::kDot && (HasNarrowOperands(dot) || IsDotOfSmallIntegers(dot)) &&
         IsLarge(GemmOf(dot));
}

bool IsTransposedDot(const HloInstruction& dot) {
  if (dot.opcode() != HloOpcode::kDot || GemmSymbol(dot) == nullptr || GemmOf(dot).has_value()) return false;
  const DotAttrs& attrs = dot.attrs<DotAttrs>();
  const Shape &lhs = dot.operand(0)->shape(), &rhs = dot.operand(1)->shape();
  return IsLarge(Volume(lhs, FreeDimensions(lhs, attrs.lhs_batch_dims, attrs.lhs_contracting_dims)),
                 Volume(rhs, FreeDimensions(rhs, attrs.rhs_batch_dims, attrs.rhs_contracting_dims)),
                 Volume(lhs, attrs.lhs_contracting_dims));
}

bool IsLibraryDot(const HloInstruction& dot) {
  return dot.opcode() == HloOpcode::kDot && GemmSymbol(dot) != nullptr && IsLarge(GemmOf(dot));
}

absl::StatusOr<Kernel> DotKernel(FunctionEmitter& f, const HloInstruction* instruction) {
  if (HeroOf(instruction) == instruction && !f.context().numerics().strict && IsLibraryDot(*instruction)) {
    return LibraryKernel(instruction, *GemmOf(*instruction));
  }
  return LoopKernel(f, instruction);
}

}  // namespace hilo::cpu
