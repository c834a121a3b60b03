// A row-major matrix is a transposed one to LAPACK, which is column-major: JAX requests singular values of wide
// matrices in this way, and gets the vectors exchanged. The Jacobi and polar methods return V, where LAPACK returns its
// adjoint.
#include "backends/gpu/match/cuda_calls.h"

#include <map>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hilo/xla_builder.h"
#include "hlo/builder/add_op.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/ops/structure/custom_call.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/inline_computation.h"
#include "runtime/ffi/attribute_dictionary.h"
#include "runtime/lapack/lapack_targets.h"

namespace hilo::gpu {
namespace {

// A call that is being rewritten.
struct CudaCall {
  const HloInstruction& instruction;
  XlaBuilder* builder;
  Shape* lapack;  // results of the replacing call, with their layouts, which the builder does not support
  std::vector<XlaOp> operands;
  std::map<std::string, bool> flags;

  const Shape& operand(int64_t i) const { return instruction.operand(i)->shape(); }
  const Shape& result(int64_t i) const {
    return instruction.shape().IsTuple() ? instruction.shape().tuple_shapes(i) : instruction.shape();
  }
  PrimitiveType type() const { return operand(0).element_type(); }
  std::string uplo() const { return absl::StrCat("uplo = ", int{flags.at("lower") ? 'L' : 'U'}, " : ui8"); }
};

Shape WithSizes(const Shape& like, PrimitiveType type, int64_t rows, int64_t columns) {
  std::vector<int64_t> dimensions(like.dimensions().begin(), like.dimensions().end() - 2);
  dimensions.insert(dimensions.end(), {rows, columns});
  return ShapeUtil::MakeShape(type, dimensions);
}

// Returns the shape of column-major matrices.
Shape ByColumns(Shape shape) {
  Layout layout = LayoutUtil::MakeDescendingLayout(shape.rank());
  std::swap(layout.minor_to_major[0], layout.minor_to_major[1]);
  shape.set_layout(std::move(layout));
  return shape;
}

// The diagonal is extracted as a sum, whose other terms are zero.
XlaComputation SumOf(PrimitiveType type) {
  XlaBuilder builder("sum");
  const Shape scalar = ShapeUtil::MakeShape(type, {});
  Add(Parameter(&builder, 0, scalar, "a"), Parameter(&builder, 1, scalar, "b"));
  return *builder.Build();
}

XlaOp Transposed(const Shape& shape, XlaOp x) {
  std::vector<int64_t> permutation(shape.rank());
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[shape.rank() - 2], permutation[shape.rank() - 1]);
  return Transpose(x, permutation);
}

// Calls LAPACK's `routine` instead, with results of `shape` (null: the call's own), on the call's operands, or on one
// of another shape.
XlaOp Lapack(const CudaCall& call, absl::string_view routine, absl::string_view attributes,
             const Shape* shape = nullptr, const Shape* operand = nullptr) {
  const PrimitiveType type = call.type();
  auto attrs = std::make_unique<CustomCallAttrs>(call.instruction.attrs<CustomCallAttrs>());
  attrs->custom_call_target = absl::StrCat("lapack_",
                                           type == F32   ? "s"
                                           : type == F64 ? "d"
                                           : type == C64 ? "c"
                                                         : "z",
                                           routine, "_ffi");
  attrs->backend_config.text = absl::StrCat("{", attributes, "}");
  attrs->output_to_operand_aliasing.clear();
  if (operand != nullptr) attrs->operand_layout_constraints.shapes = {*operand};
  *call.lapack = shape == nullptr ? call.instruction.shape() : *shape;
  return AddOp(call.builder, HloOpcode::kCustomCall, call.operands, std::move(attrs), {}, call.lapack);
}
template <const char* kReal, const char* kComplex = kReal>
absl::StatusOr<XlaOp> Same(const CudaCall& call) {
  return Lapack(call, IsComplexType(call.type()) ? kComplex : kReal,
                call.flags.contains("left")
                    ? absl::StrCat("left = ", call.flags.at("left") ? "true" : "false",
                                   ", transpose = ", call.flags.at("transpose") ? "true" : "false")
                    : std::string());
}
template <const char* kReal, const char* kComplex = kReal>
absl::StatusOr<XlaOp> OfTriangle(const CudaCall& call) {
  return Lapack(call, IsComplexType(call.type()) ? kComplex : kReal, call.uplo());
}
constexpr char kPotrf[] = "potrf", kGetrf[] = "getrf", kGeqrf[] = "geqrf", kOrgqr[] = "orgqr", kUngqr[] = "ungqr",
               kOrmqr[] = "ormqr", kUnmqr[] = "unmqr", kSytrd[] = "sytrd", kHetrd[] = "hetrd";

absl::StatusOr<XlaOp> Syevd(const CudaCall& call) {
  return Lapack(call, IsComplexType(call.type()) ? "heevd" : "syevd", absl::StrCat("mode = 86 : ui8, ", call.uplo()));
}

// Returns the singular values of the transpose of the call's operand, or of the operand itself, with as many vectors as
// `mode` specifies.
XlaOp SingularValues(const CudaCall& call, bool transposed, char mode) {
  const Shape& a = call.operand(0);
  int64_t m = a.dimensions(a.rank() - 2), n = a.dimensions(a.rank() - 1);
  CudaCall passed = call;
  if (transposed) {
    passed.operands[0] = Transposed(a, call.operands[0]);
    std::swap(m, n);
  }
  const int64_t k = std::min(m, n),
                left = mode == 'N'   ? 1
                       : mode == 'A' ? m
                                     : k,
                right = mode == 'N'   ? 1
                        : mode == 'A' ? n
                                      : k;
  const PrimitiveType type = call.type();
  const Shape matrix = ByColumns(WithSizes(a, type, m, n));
  const Shape u = ByColumns(WithSizes(a, type, mode == 'N' ? 1 : m, left)),
              vt = ByColumns(WithSizes(a, type, right, mode == 'N' ? 1 : n));
  const Shape results = ShapeUtil::MakeTupleShape({matrix, call.result(1), u, vt, call.result(4)});
  return Lapack(passed, "gesvd", absl::StrCat("mode = ", int{mode}, " : ui8"), &results, &matrix);
}

absl::StatusOr<XlaOp> Gesvd(const CudaCall& call) {
  const bool transposed = call.flags.at("transposed"), vectors = call.flags.at("compute_uv");
  const XlaOp values = SingularValues(call, transposed, !vectors ? 'N' : call.flags.at("full_matrices") ? 'A' : 'S');
  std::vector<XlaOp> results;
  for (int64_t i = 0; i < 5; ++i) {
    if (!vectors && (i == 2 || i == 3)) {
      const XlaOp zero = ConstantLiteral(call.builder, LiteralUtil::Zero(call.type()));
      results.push_back(Broadcast(zero, call.result(i).dimensions()));
      continue;
    }
    const XlaOp value = GetTupleElement(values, i);
    results.push_back(transposed && (i == 0 || i == 2 || i == 3) ? Transposed(call.operand(0), value) : value);
  }
  return Tuple(call.builder, results);
}

absl::StatusOr<XlaOp> Gesvdj(const CudaCall& call) {
  const XlaOp values = SingularValues(call, false, call.flags.at("full_matrices") ? 'A' : 'S');
  std::vector<XlaOp> results;
  for (int64_t i = 0; i < 5; ++i) results.push_back(GetTupleElement(values, i));
  results[3] = Transposed(call.operand(0), results[3]);
  if (IsComplexType(call.type())) results[3] = Complex(Real(results[3]), Neg(Imag(results[3])));
  return Tuple(call.builder, results);
}

// LAPACK's JAX call returns the vectors of a real matrix as complex numbers; CUDA's returns those of a conjugate pair
// as two columns: real and imaginary parts.
absl::StatusOr<XlaOp> Geev(const CudaCall& call) {
  const Shape& a = call.operand(0);
  const PrimitiveType type = call.type(), complex_type = type == F32 || type == C64 ? C64 : C128;
  const bool is_real = !IsComplexType(type);
  const Shape values = ShapeUtil::MakeShape(type, a.dimensions().subspan(0, a.rank() - 1));
  const Shape vectors = ByColumns(WithSizes(a, complex_type, a.dimensions(a.rank() - 2), a.dimensions(a.rank() - 1)));
  std::vector<Shape> results(is_real ? 2 : 1, values);
  results.insert(results.end(), {vectors, vectors, call.result(4)});
  const Shape shape = ShapeUtil::MakeTupleShape(results);
  const auto letter = [&](const char* flag) { return int{call.flags.at(flag) ? 'V' : 'N'}; };
  const XlaOp all = Lapack(
      call, "geev",
      absl::StrCat("compute_left = ", letter("left"), " : ui8, compute_right = ", letter("right"), " : ui8"), &shape);
  const int64_t first = is_real ? 2 : 1;
  const auto packed = [&](const char* flag, int64_t index) {
    if (!call.flags.at(flag)) return Broadcast(ConstantLiteral(call.builder, LiteralUtil::Zero(type)), a.dimensions());
    const XlaOp found = GetTupleElement(all, index);
    if (!is_real) return found;
    std::vector<int64_t> columns(a.rank() - 1);
    std::iota(columns.begin(), columns.end(), 0);
    columns.back() = a.rank() - 1;
    const XlaOp zero = Broadcast(ConstantLiteral(call.builder, LiteralUtil::Zero(type)), values.dimensions());
    const XlaOp is_second = BroadcastInDim(Lt(GetTupleElement(all, 1), zero), a.dimensions(), columns);
    return Select(is_second, Neg(Imag(found)), Real(found));
  };
  const XlaOp w = is_real ? Complex(GetTupleElement(all, 0), GetTupleElement(all, 1)) : GetTupleElement(all, 0);
  return Tuple(call.builder, {call.operands[0], w, packed("left", first), packed("right", first + 1),
                              GetTupleElement(all, first + 2)});
}

// The factor of r^T r + w w^T is that of r with w as an additional row. The signs of its rows are free: those with
// positive diagonals are returned.
absl::StatusOr<XlaOp> CholeskyUpdate(const CudaCall& call) {
  const Shape& r = call.operand(0);
  if (r.rank() != 2 || r.dimensions(0) != r.dimensions(1) || call.operand(1).rank() != 1 ||
      call.operand(1).dimensions(0) != r.dimensions(0)) {
    return InvalidArgument("cu_cholesky_update_ffi: expected a square matrix and a vector of its size, got ",
                           r.ToString(), " and ", call.operand(1).ToString());
  }
  const int64_t n = r.dimensions(0);
  const PrimitiveType type = call.type();
  const Shape positions = ShapeUtil::MakeShape(S32, {n, n});
  const XlaOp row = Iota(call.builder, positions, 0), column = Iota(call.builder, positions, 1);
  const auto zeros = [&](absl::Span<const int64_t> dimensions) {
    return Broadcast(ConstantLiteral(call.builder, LiteralUtil::Zero(type)), dimensions);
  };
  const auto upper = [&](XlaOp x) { return Select(Le(row, column), x, zeros({n, n})); };
  CudaCall stacked = call;
  stacked.operands = {ConcatInDim(call.builder, {upper(call.operands[0]), Reshape(call.operands[1], {1, n})}, 0)};
  const Shape matrix = ByColumns(ShapeUtil::MakeShape(type, {n + 1, n})),
              results = ShapeUtil::MakeTupleShape({matrix, ShapeUtil::MakeShape(type, {n})});
  const XlaOp factor =
      upper(Slice(GetTupleElement(Lapack(stacked, kGeqrf, "", &results, &matrix), 0), {0, 0}, {n, n}, {1, 1}));
  const XlaOp diagonal = Reduce(Select(Eq(row, column), factor, zeros({n, n})),
                                ConstantLiteral(call.builder, LiteralUtil::Zero(type)), SumOf(type), {1});
  const XlaOp is_negative = BroadcastInDim(Lt(diagonal, zeros({n})), {n, n}, {0});
  return Tuple(call.builder, {Select(is_negative, Neg(factor), factor), call.operands[1]});
}

// alpha a a^T + beta c, or with a transposed.
absl::StatusOr<XlaOp> Syrk(const CudaCall& call) {
  const Shape& a = call.operand(0);
  DotDimensionNumbers numbers;
  for (int64_t d = 0; d < a.rank() - 2; ++d) {
    numbers.add_lhs_batch_dimensions(d);
    numbers.add_rhs_batch_dimensions(d);
  }
  const int64_t contracted = a.rank() - (call.flags.at("transpose") ? 2 : 1);
  numbers.add_lhs_contracting_dimensions(contracted);
  numbers.add_rhs_contracting_dimensions(contracted);
  const auto scaled = [&](int64_t factor, XlaOp x) {
    return Mul(Broadcast(call.operands[factor], call.result(0).dimensions()), x);
  };
  return Add(scaled(2, DotGeneral(call.operands[0], call.operands[0], numbers)), scaled(3, call.operands[1]));
}

absl::StatusOr<XlaOp> Gtsv2(const CudaCall& call) {
  std::vector<Shape> results;
  for (int64_t i = 0; i < 4; ++i) results.push_back(i < 3 ? call.operand(i) : call.result(0));
  const auto sizes = call.operand(0).dimensions();
  results.push_back(ShapeUtil::MakeShape(S32, sizes.subspan(0, sizes.size() - 1)));
  const Shape shape = ShapeUtil::MakeTupleShape(results);
  return GetTupleElement(Lapack(call, "gtsv", "", &shape), 3);
}

struct Rewrite {
  absl::string_view target;
  int64_t operands, results;
  int64_t rank;  // of operand 0, at least
  std::vector<absl::string_view> flags;
  absl::StatusOr<XlaOp> (*rewrite)(const CudaCall& call);
};

const std::vector<Rewrite>& Rewrites() {
  static const auto* const list = new std::vector<Rewrite>{
      {"cusolver_potrf_ffi", 1, 2, 2, {"lower"}, &OfTriangle<kPotrf>},
      {"cusolver_getrf_ffi", 1, 3, 2, {}, &Same<kGetrf>},
      {"cublas_getrf_batched_ffi", 1, 3, 2, {}, &Same<kGetrf>},
      {"cu_cholesky_update_ffi", 2, 2, 2, {}, &CholeskyUpdate},
      {"cusolver_geev_ffi", 1, 5, 2, {"left", "right"}, &Geev},
      {"cusolver_geqrf_ffi", 1, 2, 2, {}, &Same<kGeqrf>},
      {"cusolver_orgqr_ffi", 2, 1, 2, {}, &Same<kOrgqr, kUngqr>},
      {"cusolver_ormqr_ffi", 3, 1, 2, {"left", "transpose"}, &Same<kOrmqr, kUnmqr>},
      {"cusolver_syevd_ffi", 1, 3, 2, {"lower"}, &Syevd},
      {"cusolver_sytrd_ffi", 1, 5, 2, {"lower"}, &OfTriangle<kSytrd, kHetrd>},
      {"cusolver_gesvd_ffi", 1, 5, 2, {"full_matrices", "compute_uv", "transposed"}, &Gesvd},
      {"cusolver_gesvdj_ffi", 1, 5, 2, {"full_matrices"}, &Gesvdj},
      {"cusolver_gesvdp_ffi", 1, 5, 2, {"full_matrices"}, &Gesvdj},
      {"cusolver_syrk_ffi", 4, 1, 2, {"transpose"}, &Syrk},
      {"cusparse_gtsv2_ffi", 4, 1, 1, {}, &Gtsv2},
  };
  return *list;
}

// Errors: InvalidArgument unless the call matches the signature of its function.
absl::Status ReadFlags(const Rewrite& rewrite, CudaCall* call) {
  const HloInstruction& instruction = call->instruction;
  const int64_t results = instruction.shape().IsTuple() ? instruction.shape().tuple_shapes_size() : 1;
  if (instruction.operand_count() != rewrite.operands || results != rewrite.results) {
    return InvalidArgument(rewrite.target, ": expected ", rewrite.operands, " operands and ", rewrite.results,
                           " results, got ", instruction.operand_count(), " and ", results);
  }
  for (int64_t i = 0; i < rewrite.operands; ++i) {
    if (!call->operand(i).IsArray())
      return InvalidArgument(rewrite.target, ": expected arrays, got ", call->operand(i).ToString());
  }
  for (int64_t i = 0; i < rewrite.results; ++i) {
    if (!call->result(i).IsArray())
      return InvalidArgument(rewrite.target, ": expected results that are arrays, got ", call->result(i).ToString());
  }
  if (call->operand(0).rank() < rewrite.rank)
    return InvalidArgument(rewrite.target, ": expected at least ", rewrite.rank, " dimensions, got ",
                           call->operand(0).ToString());
  HILO_ASSIGN_OR_RETURN(const std::vector<ffi::NamedAttribute> attributes,
                        ffi::ParseAttributeDictionary(instruction.attrs<CustomCallAttrs>().backend_config.text));
  for (const absl::string_view flag : rewrite.flags) {
    const auto found = std::find_if(attributes.begin(), attributes.end(),
                                    [&](const ffi::NamedAttribute& attribute) { return attribute.name == flag; });
    if (found == attributes.end() || found->value.kind != ffi::Attribute::Kind::kScalar || found->value.type != PRED) {
      return InvalidArgument(rewrite.target, ": expected an attribute ", flag, " that is true or false");
    }
    call->flags[std::string(flag)] = found->value.bytes[0] != 0;
  }
  return absl::OkStatus();
}

class CudaCalls : public HloPass {
 public:
  absl::string_view name() const override { return "cuda-calls"; }
  bool optional() const override { return false; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    bool changed = false;
    for (HloComputation* computation : module->computations()) {
      for (HloInstruction* instruction : computation->MakePostOrder()) {
        if (instruction->opcode() != HloOpcode::kCustomCall) continue;
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        const absl::StatusOr<bool> replaced = Replace(instruction);
        if (!replaced.ok()) return AddContext(replaced.status(), InstructionContext(*instruction));
        changed |= *replaced;
      }
    }
    return changed;
  }

 private:
  static absl::StatusOr<bool> Replace(HloInstruction* instruction) {
    const std::string& target = instruction->attrs<CustomCallAttrs>().custom_call_target;
    const auto found = std::find_if(Rewrites().begin(), Rewrites().end(),
                                    [&](const Rewrite& rewrite) { return rewrite.target == target; });
    if (found == Rewrites().end()) return false;
    XlaBuilder builder(instruction->name());
    Shape lapack;
    CudaCall call{.instruction = *instruction, .builder = &builder, .lapack = &lapack};
    HILO_RETURN_IF_ERROR(ReadFlags(*found, &call));
    const PrimitiveType type = call.type();
    if (type != F32 && type != F64 && type != C64 && type != C128) return false;
    for (int64_t i = 0; i < instruction->operand_count(); ++i)
      call.operands.push_back(Parameter(&builder, i, call.operand(i), ""));
    HILO_ASSIGN_OR_RETURN(const XlaOp result, found->rewrite(call));
    HILO_ASSIGN_OR_RETURN(const XlaComputation built, builder.Build(result));
    std::vector<HloInstruction*> added;
    HloInstruction* replacement =
        InlineComputation(*built.module()->entry_computation(), instruction->operands(), instruction->parent(), &added);
    for (HloInstruction* one : added) {
      if (one->opcode() == HloOpcode::kCustomCall) *one->mutable_shape() = lapack;
    }
    if (!ShapeUtil::Compatible(replacement->shape(), instruction->shape())) {
      return InvalidArgument(target, ": expected results ", replacement->shape().ToString(), ", got ",
                             instruction->shape().ToString());
    }
    replacement->CopyOriginFrom(*instruction);
    HILO_RETURN_IF_ERROR(instruction->parent()->ReplaceInstruction(instruction, replacement));
    return true;
  }
};

}  // namespace

std::unique_ptr<HloPass> MakeCudaCalls() { return std::make_unique<CudaCalls>(); }

}  // namespace hilo::gpu
