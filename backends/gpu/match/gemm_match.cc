// A dot has four kinds of axes: batch, M (free in lhs), N (free in rhs), K. Each has a stride in each of the three
// arrays, 0 where it does not occur. Adjacent axes of a kind that are contiguous everywhere are merged; BLAS supports a
// product if one axis each of M, N and K is left and the batch is one axis, plus one more that we loop over. Remaining
// axes of M count as batch: all its matrices use the same rhs. So does one more axis of N, as of an image that is
// multiplied along its height: all its matrices use the same lhs, and their rows alternate in the result.
#include "backends/gpu/match/gemm_match.h"

#include <algorithm>
#include <numeric>

#include "absl/algorithm/container.h"
#include "backends/gpu/match/epilogue_match.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::gpu {
namespace {

constexpr int64_t kMaxSteps = 16;
// Matrices of fewer columns are transposed into one instead.
constexpr int64_t kMinColumns = 16;

struct Axis {
  int64_t size;
  int64_t lhs, rhs, out;  // elements from one position to the next
};

std::vector<int64_t> Strides(const Shape& shape) {
  std::vector<int64_t> strides(shape.rank());
  int64_t stride = 1;
  for (int64_t d = shape.rank() - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *= shape.dimensions(d);
  }
  return strides;
}

void Add(std::vector<Axis>& axes, const Axis& axis) {
  if (axis.size == 1) return;
  if (!axes.empty()) {
    Axis& last = axes.back();
    if (last.lhs == axis.lhs * axis.size && last.rhs == axis.rhs * axis.size && last.out == axis.out * axis.size) {
      last = {last.size * axis.size, axis.lhs, axis.rhs, axis.out};
      return;
    }
  }
  axes.push_back(axis);
}

struct DotAxes {
  std::vector<Axis> batch, m, n, k;
};

// `o`: the strides of the result's dimensions.
DotAxes AxesOf(const HloInstruction& dot, const std::vector<int64_t>& o) {
  const DotAttrs& attrs = dot.attrs<DotAttrs>();
  const Shape &lhs = dot.operand(0)->shape(), &rhs = dot.operand(1)->shape();
  const std::vector<int64_t> l = Strides(lhs), r = Strides(rhs);
  DotAxes axes;
  int64_t out = 0;
  for (size_t i = 0; i < attrs.lhs_batch_dims.size(); ++i, ++out) {
    Add(axes.batch,
        {lhs.dimensions(attrs.lhs_batch_dims[i]), l[attrs.lhs_batch_dims[i]], r[attrs.rhs_batch_dims[i]], o[out]});
  }
  for (int64_t d = 0; d < lhs.rank(); ++d) {
    if (absl::c_linear_search(attrs.lhs_batch_dims, d) || absl::c_linear_search(attrs.lhs_contracting_dims, d))
      continue;
    Add(axes.m, {lhs.dimensions(d), l[d], 0, o[out++]});
  }
  for (int64_t d = 0; d < rhs.rank(); ++d) {
    if (absl::c_linear_search(attrs.rhs_batch_dims, d) || absl::c_linear_search(attrs.rhs_contracting_dims, d))
      continue;
    Add(axes.n, {rhs.dimensions(d), 0, r[d], o[out++]});
  }
  std::vector<size_t> order(attrs.lhs_contracting_dims.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return attrs.rhs_contracting_dims[a] < attrs.rhs_contracting_dims[b]; });
  for (size_t i : order) {
    const int64_t d = attrs.lhs_contracting_dims[i];
    Add(axes.k, {lhs.dimensions(d), l[d], r[attrs.rhs_contracting_dims[i]], 0});
  }
  return axes;
}

// Returns true for algorithms that name the type of the factors; others may use higher precision.
bool IsPlainAlgorithm(const DotAttrs& attrs) {
  const std::string& name = attrs.algorithm;
  return name.empty() || name == "dot_f32_f32_f32" || name == "dot_tf32_tf32_f32" || name == "dot_f64_f64_f64" ||
         name == "dot_bf16_bf16_f32" || name == "dot_f16_f16_f32";
}

// Half a unit in the last place of 1, for the types whose epilogues are matched.
double RoundingError(PrimitiveType type) {
  switch (type) {
    case BF16: return 0x1p-8;
    case F16: return 0x1p-11;
    default: return 0x1p-24;
  }
}

// Matches constants that are `value` rounded to their own type. A constant that was rounded to a narrower type
// differs.
auto IsRounded(double value) {
  return [value](const HloInstruction* instruction) {
    const std::optional<double> number = UniformNumber(instruction);
    return number.has_value() &&
           std::abs(*number - value) <= RoundingError(instruction->shape().element_type()) * value;
  };
}
auto IsNumber(double value) {
  return [value](const HloInstruction* instruction) { return UniformNumber(instruction) == value; };
}
// Returns true if `cube` is x^3.
bool IsCube(const HloInstruction* cube, const HloInstruction* x) {
  if (cube->opcode() == HloOpcode::kPower) return cube->operand(0) == x && UniformNumber(cube->operand(1)) == 3.0;
  const HloInstruction* square = OtherOperand(cube, HloOpcode::kMultiply, Is(x));
  return square != nullptr && square->opcode() == HloOpcode::kMultiply && square->operand(0) == x &&
         square->operand(1) == x;
}

// Returns true if `tanh` is tanh(sqrt(2 / pi) (x + 0.044715 x^3)).
bool IsGeluTanh(const HloInstruction* tanh, const HloInstruction* x) {
  if (tanh->opcode() != HloOpcode::kTanh) return false;
  const HloInstruction* sum = OtherOperand(tanh->operand(0), HloOpcode::kMultiply, IsRounded(0.7978845608028654));
  const HloInstruction* term = sum == nullptr ? nullptr : OtherOperand(sum, HloOpcode::kAdd, Is(x));
  const HloInstruction* cube =
      term == nullptr ? nullptr : OtherOperand(term, HloOpcode::kMultiply, IsRounded(0.044715));
  return cube != nullptr && IsCube(cube, x);
}

// Returns true if `root` is x (0.5 (1 + tanh(...))), in any order of the three factors.
bool IsGelu(const HloInstruction* root, const HloInstruction* x) {
  if (root->opcode() != HloOpcode::kMultiply) return false;
  const HloInstruction* factors[3];
  for (int64_t side : {0, 1}) {
    const HloInstruction* inner = root->operand(1 - side);
    if (inner->opcode() != HloOpcode::kMultiply) continue;
    factors[0] = root->operand(side);
    factors[1] = inner->operand(0);
    factors[2] = inner->operand(1);
    int own = 0, half = 0, rest = 0;
    for (const HloInstruction* factor : factors) {
      if (factor == x) {
        ++own;
      } else if (IsNumber(0.5)(factor)) {
        ++half;
      } else {
        const HloInstruction* tanh = OtherOperand(factor, HloOpcode::kAdd, IsNumber(1));
        rest += tanh != nullptr && IsGeluTanh(tanh, x);
      }
    }
    if (own == 1 && half == 1 && rest == 1) return true;
  }
  return false;
}

// Extends a match to the instructions after a dot.
class GemmEpilogueMatcher {
 public:
  explicit GemmEpilogueMatcher(GemmMatch match) : match_(std::move(match)) { Take(match_.dot); }

  GemmMatch Grow() {
    const PrimitiveType a = match_.gemm.a_type;
    if (a == S8 || IsComplexType(a)) return std::move(match_);
    if (const HloInstruction* user = OnlyUser()) Scale(user);
    for (const HloInstruction* user = OnlyUser(); user != nullptr && AddTerm(user); user = OnlyUser()) {
    }
    const bool small = a == F32 || a == F16 || a == BF16;
    if (small) Activate();
    if (const HloInstruction* user = OnlyUser(); user != nullptr && (a == F16 || a == BF16)) Round(user);
    return std::move(match_);
  }

 private:
  const HloInstruction* OnlyUser() const { return gpu::OnlyUser(match_.root); }
  void Take(const HloInstruction* instruction) {
    if (!absl::c_linear_search(match_.members, instruction)) match_.members.push_back(instruction);
  }
  // Adds constants and broadcasts too, even if they have other users.
  void TakeWithNumbers(const HloInstruction* instruction) {
    for (const HloInstruction* operand : instruction->operands()) {
      if (UniformNumber(operand).has_value() && operand->opcode() == HloOpcode::kBroadcast) Take(operand);
    }
    Take(instruction);
    match_.root = instruction;
  }

  void Scale(const HloInstruction* user) {
    const HloInstruction* factor = OtherOperand(user, HloOpcode::kMultiply, Is(match_.root));
    const std::optional<double> number = factor == nullptr ? std::nullopt : UniformNumber(factor);
    if (!number.has_value()) return;
    match_.gemm.alpha = *number;
    TakeWithNumbers(user);
  }

  // residual - alpha * product, as of a weight and its gradient.
  bool SubtractFrom(const HloInstruction* user) {
    const HloInstruction* minuend = user->opcode() == HloOpcode::kSubtract ? user->operand(0) : nullptr;
    if (minuend == nullptr || minuend == match_.root || user->operand(1) != match_.root || match_.bias != nullptr ||
        match_.residual != nullptr || minuend->opcode() == HloOpcode::kBroadcast || UniformNumber(minuend).has_value())
      return false;
    match_.gemm.alpha = -match_.gemm.alpha;
    match_.residual = minuend;
    match_.gemm.beta = 1;
    Take(user);
    match_.root = user;
    return true;
  }

  bool AddTerm(const HloInstruction* user) {
    if (SubtractFrom(user)) return true;
    const HloInstruction* term = OtherOperand(user, HloOpcode::kAdd, Is(match_.root));
    if (term == nullptr || term == match_.root || UniformNumber(term).has_value()) return false;
    if (IsBias(term) && match_.bias == nullptr) {
      match_.bias = term->operand(0);
      match_.gemm.has_bias = true;
      Take(term);
    } else if (match_.residual == nullptr && term->opcode() != HloOpcode::kBroadcast) {
      match_.residual = term;
      match_.gemm.beta = 1;
    } else {
      return false;
    }
    Take(user);
    match_.root = user;
    return true;
  }

  // A vector over the free dimensions of rhs, which are the result's last.
  bool IsBias(const HloInstruction* term) const {
    if (match_.gemm.a_type != F32 && match_.gemm.a_type != F16 && match_.gemm.a_type != BF16) return false;
    if (term->opcode() != HloOpcode::kBroadcast || ShapeUtil::ElementsIn(term->operand(0)->shape()) != match_.gemm.m)
      return false;
    const std::vector<int64_t>& dimensions = term->attrs<BroadcastAttrs>().dimensions;
    for (size_t i = 0; i < dimensions.size(); ++i) {
      if (dimensions[i] != term->shape().rank() - static_cast<int64_t>(dimensions.size() - i)) return false;
    }
    return true;
  }

  void Activate() {
    const HloInstruction* x = match_.root;
    if (x->IsRoot()) return;
    if (const HloInstruction* user = OnlyUser()) {
      const HloInstruction* floor = OtherOperand(user, HloOpcode::kMaximum, Is(x));
      if (floor == nullptr || UniformNumber(floor) != 0.0) return;
      match_.gemm.activation = GemmActivation::kRelu;
      TakeWithNumbers(user);
      return;
    }
    ActivateByGelu(x);
  }

  // All values between x and the root must have no users outside.
  void ActivateByGelu(const HloInstruction* x) {
    for (const HloInstruction* user : x->users()) {
      for (const HloInstruction* root : Product(user)) {
        if (!IsGelu(root, x)) continue;
        std::vector<const HloInstruction*> inside;
        if (!Collect(root, x, &inside)) continue;
        for (const HloInstruction* instruction : inside) Take(instruction);
        match_.gemm.activation = GemmActivation::kGelu;
        match_.root = root;
        return;
      }
    }
  }
  // `user` and the products that read it.
  static std::vector<const HloInstruction*> Product(const HloInstruction* user) {
    std::vector<const HloInstruction*> roots = {user};
    for (const HloInstruction* next : user->users()) roots.push_back(next);
    return roots;
  }
  // Collects the instructions from which `root` is computed, back to x, operands first.
  static bool Collect(const HloInstruction* root, const HloInstruction* x, std::vector<const HloInstruction*>* inside) {
    constexpr size_t kMax = 32;
    std::vector<const HloInstruction*> found = {root};
    for (size_t i = 0; i < found.size() && found.size() < kMax; ++i) {
      for (const HloInstruction* operand : found[i]->operands()) {
        if (operand != x && !operand->IsConstant() && !absl::c_linear_search(found, operand)) found.push_back(operand);
      }
    }
    auto is_inside = [&](const HloInstruction* instruction) { return absl::c_linear_search(found, instruction); };
    for (const HloInstruction* instruction : found) {
      if (instruction == root || UniformNumber(instruction).has_value()) continue;
      if (instruction->IsRoot() || !absl::c_all_of(instruction->users(), is_inside)) return false;
    }
    if (!absl::c_all_of(x->users(), is_inside)) return false;
    for (HloInstruction* instruction : root->parent()->MakePostOrder()) {
      if (is_inside(instruction)) inside->push_back(instruction);
    }
    return found.size() < kMax;
  }

  // Fuses the rounding of an f32 result to the factors' type.
  void Round(const HloInstruction* user) {
    GemmDescriptor& gemm = match_.gemm;
    if (user->opcode() != HloOpcode::kConvert || gemm.d_type != F32 || user->shape().element_type() != gemm.a_type)
      return;
    if (gemm.has_bias || match_.residual != nullptr) return;  // these are f32
    gemm.d_type = gemm.a_type;
    if (match_.loop.count > 1)
      gemm.alignment_d = std::gcd(kDeviceAlignment, match_.loop.step_d * PrimitiveTypeByteSize(gemm.d_type));
    Take(user);
    match_.root = user;
  }

  GemmMatch match_;
};

// Matches the dot, whose result has these strides.
std::optional<GemmMatch> MatchInto(const HloInstruction& dot, const std::vector<int64_t>& strides) {
  const DotAttrs& attrs = dot.attrs<DotAttrs>();
  if (ShapeUtil::ElementsIn(dot.shape()) == 0 || ShapeUtil::ElementsIn(dot.operand(0)->shape()) == 0 ||
      !IsPlainAlgorithm(attrs))
    return std::nullopt;
  DotAxes axes = AxesOf(dot, strides);
  if (axes.n.size() > 2 || axes.k.size() > 1) return std::nullopt;
  while (axes.m.size() > 1) {
    Add(axes.batch, axes.m.front());
    axes.m.erase(axes.m.begin());
  }
  if (axes.n.size() == 2) {
    if (axes.n.back().size < kMinColumns) return std::nullopt;
    Add(axes.batch, axes.n.front());
    axes.n.erase(axes.n.begin());
  }
  if (axes.batch.size() > 2) return std::nullopt;
  const Axis one = {1, 0, 0, 0};
  auto only = [&](const std::vector<Axis>& list) { return list.empty() ? one : list[0]; };
  const Axis m = only(axes.m), n = only(axes.n), k = only(axes.k);
  if (n.size > 1 && n.out != 1) return std::nullopt;

  GemmMatch match{.dot = &dot, .root = &dot};
  GemmDescriptor& gemm = match.gemm;
  gemm.a_type = dot.operand(1)->shape().element_type();
  gemm.b_type = dot.operand(0)->shape().element_type();
  gemm.d_type = dot.shape().element_type();
  gemm.m = n.size;
  gemm.n = m.size;
  gemm.k = k.size;
  gemm.ldd = m.size == 1 ? n.size : m.out;
  const bool k_is_minor_in_rhs = k.size == 1 || k.rhs == 1;
  if ((n.size == 1 || n.rhs == 1) && !(WantsTransposedA(gemm.a_type) && k_is_minor_in_rhs)) {
    gemm.lda = std::max(k.size == 1 ? 0 : k.rhs, gemm.m);
    if (k.size > 1 && k.rhs < gemm.m) return std::nullopt;
  } else if (k_is_minor_in_rhs) {
    gemm.transpose_a = true;
    gemm.lda = n.size == 1 ? gemm.k : n.rhs;
    if (gemm.lda < gemm.k) return std::nullopt;
  } else {
    return std::nullopt;
  }
  if (k.size == 1 || k.lhs == 1) {
    gemm.ldb = m.size == 1 ? gemm.k : m.lhs;
    if (gemm.ldb < gemm.k) return std::nullopt;
  } else if (m.size == 1 || m.lhs == 1) {
    gemm.transpose_b = true;
    gemm.ldb = k.lhs;
    if (gemm.ldb < gemm.n) return std::nullopt;
  } else {
    return std::nullopt;
  }
  if (!axes.batch.empty()) {
    const Axis& batch = axes.batch.back();
    gemm.batch = batch.size;
    gemm.stride_a = batch.rhs;
    gemm.stride_b = batch.lhs;
    gemm.stride_d = batch.out;
  }
  if (axes.batch.size() == 2) {
    const Axis& outer = axes.batch[0];
    if (outer.size > kMaxSteps) return std::nullopt;
    match.loop = {.count = outer.size, .step_a = outer.rhs, .step_b = outer.lhs, .step_d = outer.out};
    const auto alignment = [](int64_t step, PrimitiveType type) {
      return std::gcd(kDeviceAlignment, step * PrimitiveTypeByteSize(type));
    };
    gemm.alignment_a = alignment(match.loop.step_a, gemm.a_type);
    gemm.alignment_b = alignment(match.loop.step_b, gemm.b_type);
    gemm.alignment_d = alignment(match.loop.step_d, gemm.d_type);
  }
  gemm.allow_tf32 = gemm.a_type == F32 && AllowsTf32(attrs);
  // The rules that are independent of addresses; strides of iterations and batches keep the alignment of matrices.
  char* aligned = reinterpret_cast<char*>(kDeviceAlignment);
  for (int64_t i : {int64_t{0}, match.loop.count - 1}) {
    const GemmOperands operands{.a = aligned + i * match.loop.step_a * PrimitiveTypeByteSize(gemm.a_type),
                                .b = aligned + i * match.loop.step_b * PrimitiveTypeByteSize(gemm.b_type),
                                .d = aligned + i * match.loop.step_d * PrimitiveTypeByteSize(gemm.d_type)};
    if (!CheckGemm(gemm, operands).ok()) return std::nullopt;
  }
  return match;
}

}  // namespace

std::optional<GemmMatch> MatchDot(const HloInstruction& dot) { return MatchInto(dot, Strides(dot.shape())); }

std::optional<GemmMatch> MatchTransposedDot(const HloInstruction& dot, const HloInstruction& transpose) {
  const std::vector<int64_t>& dimensions = transpose.attrs<TransposeAttrs>().dimensions;
  const std::vector<int64_t> of_result = Strides(transpose.shape());
  std::vector<int64_t> strides(dimensions.size());
  for (size_t i = 0; i < dimensions.size(); ++i) strides[dimensions[i]] = of_result[i];
  std::optional<GemmMatch> match = MatchInto(dot, strides);
  if (!match.has_value()) return std::nullopt;
  match->root = &transpose;
  match->members = {&dot, &transpose};
  return match;
}

std::optional<GemmMatch> MatchGemm(const HloInstruction& dot) {
  const HloInstruction* user = OnlyUser(&dot);
  std::optional<GemmMatch> match;
  if (user != nullptr && user->opcode() == HloOpcode::kTranspose) match = MatchTransposedDot(dot, *user);
  if (!match.has_value()) match = MatchDot(dot);
  if (match.has_value()) match = GemmEpilogueMatcher(*std::move(match)).Grow();
  return match;
}

std::optional<GemmMatch> GemmOf(const HloInstruction& instruction) {
  if (instruction.opcode() != HloOpcode::kFusion || instruction.attrs<FusionAttrs>().kind != FusionKind::kCustom)
    return std::nullopt;
  const HloComputation* computation = instruction.called_computation();
  for (const HloInstruction* inner : computation->instructions()) {
    if (inner->opcode() != HloOpcode::kDot) continue;
    std::optional<GemmMatch> match = MatchGemm(*inner);
    if (match.has_value() && match->root == computation->root_instruction()) return match;
  }
  return std::nullopt;
}

}  // namespace hilo::gpu
