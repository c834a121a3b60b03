#include "backends/cpu/kernels/gemm_plan.h"

#include <algorithm>

#include "backends/cpu/gemm/gemm.h"
#include "base/math.h"
#include "hlo/analysis/dot_sides.h"
#include "hlo/ops/reduction/sum_type.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/expand/expansions.h"

namespace hilo::cpu {
namespace {

// Multiply-adds below which emitted loops are faster than the library's 0.3 us per call.
constexpr int64_t kLibraryWork = 16 * 1024;

// Results of products of which a batch is computed in lanes at most, and products of the batch at least. No factor
// stays in a register, so that larger products are bound by the caches. Measured on AVX-512, one thread, in us, in
// lanes and as products whose factors are transposed: 128 of 2 x 256 x 2 9.6 and 158; 64 of 8 x 8 x 8 0.75 to 0.85 of
// the time; 500 of 10 x 12 x 8 41 and 15, 100 of 16 x 100 x 16 202 and 78, 8 of 16 x 64 x 64 108 and 16, 8 of 16 x 256
// x 256 2730 and 251.
constexpr int64_t kMaxBatchLaneResults = 64, kMinBatchLanes = 8;

// Streams: rows of the product at most, if the weights are as wide as the sums, if they are narrower and the library
// has a product of such numbers, and if it has none. Then columns and weights at least, and the multiple of columns
// along which vectors are adjacent. Measured on one thread, weights of 4096 x 4096 and 2, 8 and 16 rows, with the
// library (which needs the weights in f32, if they are s8) and as streams, in ms: f32 3.5, 4.1, 4.5 and 1.9, 3.7, 4.4;
// bf16 10.8, 7.9, 8.7 and 0.9, 2.8, 4.8 (2048 x 2048, 16 rows: 0.66 and 0.87); s8 5.6, 6.6, 7.3 and 0.6, 1.7, 4.0.
constexpr int64_t kFewStreamRows = 4, kNarrowStreamRows = 8, kMaxStreamRows = 16;
constexpr int64_t kMinStreamColumns = 64;
constexpr int64_t kStreamWeights = 1 << 18, kBatchWeights = 1 << 15;  // in all, and of each product of a batch
constexpr int64_t kStreamMultiple = 16;
// The same for sums along the rows of the weights, and terms of a sum at most, as each lane adds up its own one by one.
// f32[16,4096] times transposed weights of f32, bf16 and s8, with the library and as streams: 7.9, 7.9, 10.2
// and 4.9, 3.7, 3.3 ms; 32 rows: 10.4, 8.2, 12.6 and 8.0, 6.4, 6.5; 48 rows: 12.5, 9.4, 14.6 and 13.0, 9.2, 10.3.
// Fewer rows pay for shorter sums, as the lanes of each are combined: f32[8,16,128] times f32[8,2048,128] 0.94 and 0.45
// ms, bf16 0.52 and 0.52, with 8 rows 0.46 and 0.26; f32[64,32,64] times f32[64,512,64] 0.77 and 1.47.
constexpr int64_t kMaxLaneRows = 32, kMaxLaneTerms = 1 << 14;
constexpr int64_t kManyLaneTerms = 512, kFewLaneRows = 16, kMinLaneTerms = 128;

// Products in F32 that our own tiles, which read narrow and small matrices in place, compute faster than the library:
// of so many columns, rows (gemm::kFewRows) or multiply-adds. Measured on two threads, by the library and by tiles, in
// us: 1000 x 1000 x 10 209 and 171, 2000 x 1000 x 64 1297 and 1159, 2048 x 64 x 64 91 and 74, 200 x 200 x 200 79
// and 89. Or of so few terms (Zen 5): 2048 x 16 x 2048 417 and 307, 2048 x 32 x 2048 620
// and 567, 2048 x 48 x 2048 850 and 978.
constexpr int64_t kNarrowGemmColumns = 64;
constexpr double kSmallProduct = 1 << 21;
constexpr int64_t kFewTerms = 32;

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

// Returns true if elements of `weights` are computed from an array of a type narrower than `type`, perhaps with scales.
bool IsFromNarrower(const HloInstruction& weights, PrimitiveType type) {
  constexpr int kMaxSteps = 8;
  const HloInstruction* at = &weights;
  for (int step = 0; step < kMaxSteps; ++step) {
    if (PrimitiveTypeBitWidth(at->shape().element_type()) < PrimitiveTypeBitWidth(type)) return true;
    if (at->operand_count() == 0 || at->opcode() == HloOpcode::kDot || at->opcode() == HloOpcode::kSelect ||
        ShapeUtil::ElementsIn(at->operand(0)->shape()) < ShapeUtil::ElementsIn(weights.shape()))
      return false;
    // Scales are broadcast.
    at = at->operand(at->operand(0)->opcode() == HloOpcode::kBroadcast ? at->operand_count() - 1 : 0);
  }
  return false;
}

// Returns true if a product of m x k and k x n numbers is large enough for a call.
bool IsLarge(int64_t m, int64_t n, int64_t k) {
  return m >= 2 && n >= 2 && k >= 2 &&
         static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) >= kLibraryWork;
}
bool IsLarge(const std::optional<Gemm>& gemm) { return gemm.has_value() && IsLarge(gemm->m, gemm->n, gemm->k); }

// Returns true if a call of the library computes such a product fast, its operands transposed if need be.
bool HasLargeVolume(const HloInstruction& dot) {
  const DotSide lhs = LhsOf(dot), rhs = RhsOf(dot);
  return IsLarge(Product(lhs.free_sizes), Product(rhs.free_sizes), Product(lhs.contracting_sizes));
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
    const gemm::Batch batch{.count = lhs.dimensions(attrs.lhs_batch_dims[i]),
                            .a = lhs_strides[attrs.lhs_batch_dims[i]],
                            .b = rhs_strides[attrs.rhs_batch_dims[i]]};
    if (batch.count == 1) continue;
    gemm.batch *= batch.count;
    gemm::Batch* outer = gemm.batches.empty() ? nullptr : &gemm.batches.back();
    if (outer != nullptr && outer->a == batch.a * batch.count && outer->b == batch.b * batch.count) {
      *outer = {.count = outer->count * batch.count, .a = batch.a, .b = batch.b};
    } else {
      gemm.batches.push_back(batch);
    }
  }
  if (gemm.batches.size() > gemm::Calls::kMaxBatches) return std::nullopt;
  return gemm;
}

bool IsTileProduct(const HloInstruction& dot) {
  if (dot.operand(0)->shape().element_type() != F32) return true;
  const std::optional<Gemm> gemm = GemmOf(dot);
  return gemm.has_value() &&
         (gemm->n <= kNarrowGemmColumns || gemm->k <= kFewTerms || (gemm->m <= gemm::kFewRows && !gemm->b.transposed) ||
          static_cast<double>(gemm->m) * static_cast<double>(gemm->n) * static_cast<double>(gemm->k) <= kSmallProduct);
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
    case F32: return IsTileProduct(dot) ? "hilo_cpu_gemm_tiles_f32" : "hilo_cpu_gemm_f32";
    case F64: return "hilo_cpu_gemm_f64";
    case BF16: return "hilo_cpu_gemm_bf16_rounded";
    case C64: return "hilo_cpu_gemm_c64";
    case C128: return "hilo_cpu_gemm_c128";
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
  if (dot.opcode() != HloOpcode::kDot || !HasLargeVolume(dot)) return false;
  if (GemmSymbol(dot) == nullptr) return HasNarrowOperands(dot) || IsDotOfSmallIntegers(dot);
  // A stream of the weights, which has sums in F32, computes them from the narrower numbers.
  const PrimitiveType type = dot.shape().element_type();
  const std::optional<Gemm> gemm = GemmOf(dot);
  return type == BF16 && gemm.has_value() && gemm->m <= kMaxStreamRows && IsFromNarrower(*dot.operand(1), type);
}

bool IsTransposedDot(const HloInstruction& dot) {
  return dot.opcode() == HloOpcode::kDot && !GemmOf(dot).has_value() && HasLargeVolume(dot);
}

bool IsFasterInBatchLanes(const HloInstruction& dot) {
  const DotSide lhs = LhsOf(dot);
  return Product(lhs.free_sizes) * Product(RhsOf(dot).free_sizes) <= kMaxBatchLaneResults &&
         lhs.batch_sizes.back() >= kMinBatchLanes;
}

bool CanStream(const HloInstruction& dot) {
  const PrimitiveType type = dot.shape().element_type();
  if (dot.opcode() != HloOpcode::kDot || (type != F32 && type != F64)) return false;
  const Shape& weights = dot.operand(1)->shape();
  if (SumType(dot.operand(0)->shape().element_type(), weights.element_type(), type) != type) return false;
  const std::optional<Gemm> gemm = GemmOf(dot);
  if (!gemm.has_value() || gemm->m < 2 || gemm->n < kMinStreamColumns) return false;
  if (gemm->b.transposed) {
    return gemm->m <= kMaxLaneRows && !gemm->a.transposed && dot.attrs<DotAttrs>().rhs_contracting_dims.size() == 1 &&
           gemm->k % kStreamMultiple == 0 && gemm->k <= kMaxLaneTerms;
  }
  const int64_t row = RhsOf(dot).free_sizes.back();
  return gemm->m <= kMaxStreamRows && (gemm->n == row || row % kStreamMultiple == 0);
}

bool IsStreamDot(const HloInstruction& dot) {
  if (!CanStream(dot)) return false;
  const PrimitiveType type = dot.shape().element_type();
  const Gemm gemm = *GemmOf(dot);
  int64_t most = kFewStreamRows;
  if (gemm.b.transposed) {
    most = gemm.k >= kManyLaneTerms ? kMaxLaneRows : gemm.k >= kMinLaneTerms ? kFewLaneRows : 0;
  } else if (IsFromNarrower(*dot.operand(1), type)) {
    const bool has_library = dot.operand(1)->shape().element_type() != type && GemmSymbol(dot) != nullptr;
    most = has_library ? kNarrowStreamRows : kMaxStreamRows;
  }
  const int64_t weights = gemm.k * gemm.n;
  return gemm.m <= most && weights >= kBatchWeights && gemm.batch * weights >= kStreamWeights;
}

bool IsLibraryDot(const HloInstruction& dot) {
  return dot.opcode() == HloOpcode::kDot && GemmSymbol(dot) != nullptr && IsLarge(GemmOf(dot));
}

bool IsLibraryStream(const HloInstruction& dot) { return IsLibraryDot(dot) && !GemmOf(dot)->b.transposed; }

}  // namespace hilo::cpu
