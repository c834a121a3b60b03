#include "backends/cpu/kernels/gemm_plan.h"

#include <algorithm>

#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/expand/expansions.h"

namespace hilo::cpu {
namespace {

// Multiply-adds below which emitted loops are faster than the library's 0.3 us per call.
constexpr int64_t kLibraryWork = 16 * 1024;

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

std::optional<Matrix> MatrixOf(const Extent& rows, const Extent& columns) {
  if (columns.stride == 1 || columns.size == 1) {
    return Matrix{false, rows.size == 1 ? std::max<int64_t>(1, columns.size) : rows.stride};
  }
  if (rows.stride == 1 || rows.size == 1) return Matrix{true, columns.stride};
  return std::nullopt;
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

}  // namespace

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

const char* GemmSymbol(const HloInstruction& dot) {
  const PrimitiveType type = dot.operand(0)->shape().element_type(), result = dot.shape().element_type();
  if (dot.operand(1)->shape().element_type() != type) return nullptr;
  if (result == S32 || result == U32) {
    if (type == S8) return "hilo_cpu_gemm_s8";
    if (type == S16) return "hilo_cpu_gemm_s16";
  }
  if (type == BF16 && result == F32) return "hilo_cpu_gemm_bf16";
  if (type != result) return nullptr;
  switch (type) {
    case F32: return "hilo_cpu_gemm_f32";
    case F64: return "hilo_cpu_gemm_f64";
    case S32:
    case U32: return "hilo_cpu_gemm_u32";
    default: return nullptr;
  }
}

bool HasNarrowOperands(const HloInstruction& dot) {
  const auto is_narrow = [](const Shape& shape) {
    return IsFloatingPointType(shape.element_type()) && PrimitiveTypeBitWidth(shape.element_type()) < 32;
  };
  return is_narrow(dot.operand(0)->shape()) && is_narrow(dot.operand(1)->shape()) &&
         (is_narrow(dot.shape()) || dot.shape().element_type() == F32);
}

bool IsWidenedDot(const HloInstruction& dot) {
  return dot.opcode() == HloOpcode::kDot && GemmSymbol(dot) == nullptr &&
         (HasNarrowOperands(dot) || IsDotOfSmallIntegers(dot)) && IsLarge(GemmOf(dot));
}

bool IsTransposedDot(const HloInstruction& dot) {
  if (dot.opcode() != HloOpcode::kDot || GemmSymbol(dot) == nullptr) return false;
  const DotAttrs& attrs = dot.attrs<DotAttrs>();
  const Shape &lhs = dot.operand(0)->shape(), &rhs = dot.operand(1)->shape();
  if (attrs.lhs_contracting_dims.empty()) {
    // A loop over the result, which reads rows of the rhs.
    const std::vector<int64_t>& batch = attrs.rhs_batch_dims;
    return ShapeUtil::ElementsIn(dot.shape()) >= kLibraryWork && rhs.rank() > static_cast<int64_t>(batch.size()) &&
           std::find(batch.begin(), batch.end(), rhs.rank() - 1) != batch.end();
  }
  return !GemmOf(dot).has_value() &&
         IsLarge(Volume(lhs, FreeDimensions(lhs, attrs.lhs_batch_dims, attrs.lhs_contracting_dims)),
                 Volume(rhs, FreeDimensions(rhs, attrs.rhs_batch_dims, attrs.rhs_contracting_dims)),
                 Volume(lhs, attrs.lhs_contracting_dims));
}

bool IsLibraryDot(const HloInstruction& dot) {
  return dot.opcode() == HloOpcode::kDot && GemmSymbol(dot) != nullptr && IsLarge(GemmOf(dot));
}

}  // namespace hilo::cpu
