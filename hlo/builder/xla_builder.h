// XlaBuilder: builds computations in C++, with XLA's names.
//
//   XlaBuilder b("axpy");
//   XlaOp a = Parameter(&b, 0, ShapeUtil::MakeShape(F32, {}), "a");
//   XlaOp x = Parameter(&b, 1, ShapeUtil::MakeShape(F32, {8}), "x");
//   absl::StatusOr<XlaComputation> axpy = (a * x + ConstantR0<float>(&b, 1)).builder()->Build();
//
// Every function that adds an op infers and checks its shape at once. The first error is kept: the
// op that it belongs to, and all that are built on it, are invalid ops, and Build() returns the
// error. No function here ends the process, for any arguments. The semantics of each op are in the
// section of the specification with the same name. Not thread-safe: one builder, one thread.
#ifndef HILO_HLO_BUILDER_XLA_BUILDER_H_
#define HILO_HLO_BUILDER_XLA_BUILDER_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/builder/batch_norm_ops.h"
#include "hlo/builder/collective_ops.h"
#include "hlo/builder/custom_call_ops.h"
#include "hlo/builder/dimension_numbers.h"
#include "hlo/builder/dynamic_shape_ops.h"
#include "hlo/builder/linalg_ops.h"
#include "hlo/builder/padding.h"
#include "hlo/builder/random_ops.h"
#include "hlo/builder/top_k.h"
#include "hlo/builder/transfer_ops.h"
#include "hlo/builder/xla_computation.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/ops/table/op_attributes.h"
#include "shape/literal.h"

namespace hilo {

class XlaBuilder;

// Handle of a value in a computation under construction. Must not outlive its builder.
class XlaOp {
 public:
  XlaOp() = default;
  XlaBuilder* builder() const { return builder_; }
  // False for a default-constructed op and for one whose construction failed.
  bool valid() const { return instruction_ != nullptr; }
  bool IsUninitialized() const { return builder_ == nullptr; }
  bool IsIdenticalTo(XlaOp other) const { return builder_ == other.builder_ && instruction_ == other.instruction_; }

 private:
  friend class XlaBuilder;
  XlaOp(XlaBuilder* builder, HloInstruction* instruction) : builder_(builder), instruction_(instruction) {}

  XlaBuilder* builder_ = nullptr;
  HloInstruction* instruction_ = nullptr;
};

class XlaBuilder {
 public:
  explicit XlaBuilder(const std::string& computation_name);
  XlaBuilder(const XlaBuilder&) = delete;
  XlaBuilder& operator=(const XlaBuilder&) = delete;

  const std::string& name() const { return name_; }

  // The computation whose result is `root`, or the op added last. The builder is consumed. Errors:
  // the first error of any op; InvalidArgument if there is no op or a parameter number is left out.
  absl::StatusOr<XlaComputation> Build();
  absl::StatusOr<XlaComputation> Build(XlaOp root);

  const absl::Status& first_error() const { return first_error_; }
  const absl::Status& GetCurrentStatus() const { return first_error_; }
  // Keeps `error` if it is the first; returns an invalid op.
  XlaOp ReportError(const absl::Status& error);
  XlaOp ReportErrorOrReturn(const absl::StatusOr<XlaOp>& op);

  // Errors: InvalidArgument for an op that is invalid or of another builder; the first error if
  // there is one.
  absl::StatusOr<Shape> GetShape(XlaOp op) const;

  // Metadata of the ops that follow.
  void SetOpMetadata(OpMetadata metadata) { metadata_ = std::move(metadata); }
  void ClearOpMetadata() { metadata_ = OpMetadata(); }

  // Adds any op: the basis of the functions below. `stated` is the result's shape where
  // inference cannot determine it.
  XlaOp AddOp(HloOpcode opcode, absl::Span<const XlaOp> operands, std::unique_ptr<OpAttributes> attributes = nullptr,
              absl::Span<const XlaComputation* const> called = {}, const Shape* stated = nullptr);
  // Stores an attribute that no opcode defines, as HLO text, on the op.
  void AddExtraAttribute(XlaOp op, std::string name, std::string text);

  XlaOp Parameter(int64_t number, const Shape& shape, const std::string& name);
  XlaOp ConstantLiteral(const Literal& literal);
  XlaOp Max(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions = {});

 private:
  absl::Status CheckUsable(XlaOp op) const;
  absl::StatusOr<XlaOp> TryAddOp(HloOpcode opcode, absl::Span<const XlaOp> operands,
                                 std::unique_ptr<OpAttributes> attributes,
                                 absl::Span<const XlaComputation* const> called, const Shape* stated);
  absl::StatusOr<HloComputation*> Embed(const XlaComputation* computation);
  XlaOp Added(HloInstruction* instruction);
  absl::StatusOr<XlaComputation> BuildFrom(HloInstruction* root);

  std::string name_;
  std::unique_ptr<HloModule> module_;  // null once built
  HloComputation* entry_;
  HloInstruction* last_ = nullptr;
  absl::Status first_error_;
  OpMetadata metadata_;
  // Computations that have been copied into the module; the key is kept alive by the value.
  struct Embedded {
    std::shared_ptr<const HloModule> source;
    HloComputation* copy;
  };
  absl::flat_hash_map<const HloModule*, Embedded> embedded_;
};

// --- leaves ---
XlaOp Parameter(XlaBuilder* builder, int64_t number, const Shape& shape, const std::string& name);
XlaOp ConstantLiteral(XlaBuilder* builder, const Literal& literal);
template <typename T>
XlaOp ConstantR0(XlaBuilder* builder, T value) {
  return ConstantLiteral(builder, LiteralUtil::CreateR0<T>(value));
}
template <typename T>
XlaOp ConstantR1(XlaBuilder* builder, absl::Span<const T> values) {
  return ConstantLiteral(builder, LiteralUtil::CreateR1<T>(values));
}
template <typename T>
XlaOp ConstantR1(XlaBuilder* builder, std::initializer_list<T> values) {
  return ConstantLiteral(builder, LiteralUtil::CreateR1<T>(values));
}
template <typename T>
XlaOp ConstantR2(XlaBuilder* builder, std::initializer_list<std::initializer_list<T>> values) {
  return ConstantLiteral(builder, LiteralUtil::CreateR2<T>(values));
}
XlaOp Iota(XlaBuilder* builder, const Shape& shape, int64_t iota_dimension);
XlaOp Iota(XlaBuilder* builder, PrimitiveType type, int64_t size);

// --- element-wise, one operand: Abs(x), Acos(x), ... as in hlo_opcode.def ---
#define HLO_UNARY(opcode, text, function, ...) XlaOp function(XlaOp operand);
#define HLO_BINARY(...)
#define HLO_OP(...)
#include "hlo/ops/table/hlo_opcode.def"
#undef HLO_UNARY
#undef HLO_BINARY
#undef HLO_OP

// --- element-wise, two operands: Add(x, y), And(x, y), ... as in hlo_opcode.def ---
// Operands of equal rank are stretched where one has size 1, and a scalar broadcasts to any shape.
// Operands of different rank need `broadcast_dimensions`: the dimension of the higher-ranking one
// that each dimension of the other matches, increasing. (specification: Broadcasting semantics)
#define HLO_UNARY(...)
#define HLO_BINARY(opcode, text, function, ...) \
  XlaOp function(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions = {});
#define HLO_OP(...)
#include "hlo/ops/table/hlo_opcode.def"
#undef HLO_UNARY
#undef HLO_BINARY
#undef HLO_OP

// Comparisons, broadcast in the same way; the ...TotalOrder ones order all floats, NaNs and zeros
// included.
#define HILO_COMPARISON_FUNCTIONS(X) X(Eq, kEq) X(Ne, kNe) X(Ge, kGe) X(Gt, kGt) X(Le, kLe) X(Lt, kLt)
#define HILO_DECLARE(Function, direction)                                                    \
  XlaOp Function(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions = {}); \
  XlaOp Function##TotalOrder(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions = {});
HILO_COMPARISON_FUNCTIONS(HILO_DECLARE)
#undef HILO_DECLARE
XlaOp Compare(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions, ComparisonDirection direction,
              ComparisonType type = ComparisonType::kDefault);
XlaOp Compare(XlaOp lhs, XlaOp rhs, ComparisonDirection direction);

XlaOp operator-(XlaOp x);
XlaOp operator~(XlaOp x);
XlaOp operator+(XlaOp x, XlaOp y);
XlaOp operator-(XlaOp x, XlaOp y);
XlaOp operator*(XlaOp x, XlaOp y);
XlaOp operator/(XlaOp x, XlaOp y);
XlaOp operator%(XlaOp x, XlaOp y);
XlaOp operator&(XlaOp x, XlaOp y);
XlaOp operator|(XlaOp x, XlaOp y);
XlaOp operator^(XlaOp x, XlaOp y);
XlaOp operator<<(XlaOp x, XlaOp y);
XlaOp operator>>(XlaOp x, XlaOp y);  // arithmetic for signed integers, else logical

// --- other element-wise ops ---
// Also selects between tuples of one shape, by a scalar.
XlaOp Select(XlaOp pred, XlaOp on_true, XlaOp on_false);
XlaOp Clamp(XlaOp min, XlaOp operand, XlaOp max);
XlaOp ConvertElementType(XlaOp operand, PrimitiveType new_element_type);
XlaOp BitcastConvertType(XlaOp operand, PrimitiveType new_element_type);
XlaOp ReducePrecision(XlaOp operand, int exponent_bits, int mantissa_bits);
// `dimensions` must be all of the operands' dimensions, in order; there are no static operands.
XlaOp Map(XlaBuilder* builder, absl::Span<const XlaOp> operands, const XlaComputation& computation,
          absl::Span<const int64_t> dimensions);

// --- shape and movement ---
XlaOp Broadcast(XlaOp operand, absl::Span<const int64_t> broadcast_sizes);
XlaOp BroadcastInDim(XlaOp operand, absl::Span<const int64_t> out_dim_size,
                     absl::Span<const int64_t> broadcast_dimensions);
XlaOp Reshape(XlaOp operand, absl::Span<const int64_t> new_sizes);
XlaOp Collapse(XlaOp operand, absl::Span<const int64_t> dimensions);
XlaOp Transpose(XlaOp operand, absl::Span<const int64_t> permutation);
XlaOp Rev(XlaOp operand, absl::Span<const int64_t> dimensions);
// Empty strides are all 1.
XlaOp Slice(XlaOp operand, absl::Span<const int64_t> start_indices, absl::Span<const int64_t> limit_indices,
            absl::Span<const int64_t> strides = {});
XlaOp SliceInDim(XlaOp operand, int64_t start_index, int64_t limit_index, int64_t stride, int64_t dimension);
// Start indices are scalars, one per dimension, or one vector.
XlaOp DynamicSlice(XlaOp operand, absl::Span<const XlaOp> start_indices, absl::Span<const int64_t> slice_sizes);
XlaOp DynamicSlice(XlaOp operand, XlaOp start_indices, absl::Span<const int64_t> slice_sizes);
XlaOp DynamicUpdateSlice(XlaOp operand, XlaOp update, absl::Span<const XlaOp> start_indices);
XlaOp DynamicUpdateSlice(XlaOp operand, XlaOp update, XlaOp start_indices);
XlaOp ConcatInDim(XlaBuilder* builder, absl::Span<const XlaOp> operands, int64_t dimension);
XlaOp Pad(XlaOp operand, XlaOp padding_value, const PaddingConfig& padding_config);
XlaOp PadInDim(XlaOp operand, XlaOp padding_value, int64_t dimension, int64_t low, int64_t high);
XlaOp Gather(XlaOp operand, XlaOp start_indices, const GatherDimensionNumbers& dimension_numbers,
             absl::Span<const int64_t> slice_sizes, bool indices_are_sorted = false);
XlaOp Scatter(XlaOp operand, XlaOp scatter_indices, XlaOp updates, const XlaComputation& update_computation,
              const ScatterDimensionNumbers& dimension_numbers, bool indices_are_sorted = false,
              bool unique_indices = false);
XlaOp Scatter(absl::Span<const XlaOp> operands, XlaOp scatter_indices, absl::Span<const XlaOp> updates,
              const XlaComputation& update_computation, const ScatterDimensionNumbers& dimension_numbers,
              bool indices_are_sorted = false, bool unique_indices = false);
// Dimension -1 is the last.
XlaOp Sort(absl::Span<const XlaOp> operands, const XlaComputation& comparator, int64_t dimension = -1,
           bool is_stable = false);

// --- reductions and products ---
XlaOp Reduce(XlaOp operand, XlaOp init_value, const XlaComputation& computation,
             absl::Span<const int64_t> dimensions_to_reduce);
XlaOp Reduce(XlaBuilder* builder, absl::Span<const XlaOp> operands, absl::Span<const XlaOp> init_values,
             const XlaComputation& computation, absl::Span<const int64_t> dimensions_to_reduce);
XlaOp ReduceAll(XlaOp operand, XlaOp init_value, const XlaComputation& computation);

// Empty strides and dilations are all 1.
XlaOp ReduceWindow(XlaOp operand, XlaOp init_value, const XlaComputation& computation,
                   absl::Span<const int64_t> window_dimensions, absl::Span<const int64_t> window_strides,
                   Padding padding);
XlaOp ReduceWindow(absl::Span<const XlaOp> operands, absl::Span<const XlaOp> init_values,
                   const XlaComputation& computation, absl::Span<const int64_t> window_dimensions,
                   absl::Span<const int64_t> window_strides, Padding padding);
XlaOp ReduceWindowWithGeneralPadding(XlaOp operand, XlaOp init_value, const XlaComputation& computation,
                                     absl::Span<const int64_t> window_dimensions,
                                     absl::Span<const int64_t> window_strides, absl::Span<const int64_t> base_dilations,
                                     absl::Span<const int64_t> window_dilations,
                                     absl::Span<const std::pair<int64_t, int64_t>> padding);
XlaOp ReduceWindowWithGeneralPadding(absl::Span<const XlaOp> operands, absl::Span<const XlaOp> init_values,
                                     const XlaComputation& computation, absl::Span<const int64_t> window_dimensions,
                                     absl::Span<const int64_t> window_strides, absl::Span<const int64_t> base_dilations,
                                     absl::Span<const int64_t> window_dilations,
                                     absl::Span<const std::pair<int64_t, int64_t>> padding);
XlaOp SelectAndScatter(XlaOp operand, const XlaComputation& select, absl::Span<const int64_t> window_dimensions,
                       absl::Span<const int64_t> window_strides, Padding padding, XlaOp source, XlaOp init_value,
                       const XlaComputation& scatter);
XlaOp SelectAndScatterWithGeneralPadding(XlaOp operand, const XlaComputation& select,
                                         absl::Span<const int64_t> window_dimensions,
                                         absl::Span<const int64_t> window_strides,
                                         absl::Span<const std::pair<int64_t, int64_t>> padding, XlaOp source,
                                         XlaOp init_value, const XlaComputation& scatter);
// `to_apply` takes a slice of each input, without the scan dimension, and the carries; it returns an element of each
// output and the carries.
XlaOp Scan(absl::Span<const XlaOp> inputs, absl::Span<const XlaOp> inits, const XlaComputation& to_apply,
           int64_t scan_dimension, bool is_reverse = false, bool is_associative = false);

XlaOp Dot(XlaOp lhs, XlaOp rhs, std::optional<PrimitiveType> preferred_element_type = std::nullopt);
XlaOp DotGeneral(XlaOp lhs, XlaOp rhs, const DotDimensionNumbers& dimension_numbers,
                 std::optional<PrimitiveType> preferred_element_type = std::nullopt);

// --- tuples, tokens, control flow ---
XlaOp Tuple(XlaBuilder* builder, absl::Span<const XlaOp> elements);
XlaOp GetTupleElement(XlaOp tuple, int64_t index);
XlaOp While(const XlaComputation& condition, const XlaComputation& body, XlaOp init);
XlaOp Conditional(XlaOp predicate, XlaOp true_operand, const XlaComputation& true_computation, XlaOp false_operand,
                  const XlaComputation& false_computation);
XlaOp Conditional(XlaOp branch_index, absl::Span<const XlaComputation* const> branch_computations,
                  absl::Span<const XlaOp> branch_operands);
XlaOp Call(XlaBuilder* builder, const XlaComputation& computation, absl::Span<const XlaOp> operands);
// `attributes` is a dictionary such as "{n = 1 : i32}".
XlaOp CompositeCall(XlaBuilder* builder, const XlaComputation& computation, absl::Span<const XlaOp> operands,
                    const std::string& name, std::optional<std::string> attributes = std::nullopt,
                    std::optional<int64_t> version = std::nullopt);
XlaOp OptimizationBarrier(XlaOp operand);
XlaOp CreateToken(XlaBuilder* builder);
// At least one token.
XlaOp AfterAll(XlaBuilder* builder, absl::Span<const XlaOp> tokens);

}  // namespace hilo

#include "hlo/builder/convolution_ops.h"

#endif  // HILO_HLO_BUILDER_XLA_BUILDER_H_
