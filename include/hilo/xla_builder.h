// XlaBuilder: builds computations in C++, with XLA's names.
//
//   XlaBuilder b("axpy");
//   XlaOp a = Parameter(&b, 0, ShapeUtil::MakeShape(F32, {}), "a");
//   XlaOp x = Parameter(&b, 1, ShapeUtil::MakeShape(F32, {8}), "x");
//   absl::StatusOr<XlaComputation> axpy = (a * x + ConstantR0<float>(&b, 1)).builder()->Build();
//
// Every function that adds an op infers and checks its shape at once. The first error is kept: the
// op that it belongs to, and all that are built on it, are invalid ops, and Build() returns the
// error, InvalidArgument unless stated otherwise. No function here ends the process, for any
// arguments. Each op means what XLA's "Operation Semantics" says under its name, which comments cite
// as the specification. Not thread-safe: one builder, one thread.
#ifndef HILO_XLA_BUILDER_H_
#define HILO_XLA_BUILDER_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hilo/export.h"
#include "hilo/literal.h"
#include "hilo/shape.h"
#include "hilo/xla_data.h"

namespace hilo {

class HloInstruction;
class HloModule;
class XlaBuilder;

// A finished computation, ready to be compiled or to be called by another one: a verified module that copies share;
// never changed once built.
class HILO_EXPORT XlaComputation {
 public:
  XlaComputation() = default;
  // For Hilo's own code, as is module(): no public header defines HloModule.
  explicit XlaComputation(std::shared_ptr<const HloModule> module) : module_(std::move(module)) {}

  bool IsNull() const { return module_ == nullptr; }
  // The name that its builder had; empty if null.
  const std::string& name() const;
  // Errors: InvalidArgument if null.
  absl::StatusOr<ProgramShape> GetProgramShape() const;
  // Null if this is null.
  const std::shared_ptr<const HloModule>& module() const { return module_; }

 private:
  std::shared_ptr<const HloModule> module_;
};

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

class HILO_EXPORT XlaBuilder {
 public:
  explicit XlaBuilder(const std::string& computation_name);
  ~XlaBuilder();
  XlaBuilder(const XlaBuilder&) = delete;
  XlaBuilder& operator=(const XlaBuilder&) = delete;

  const std::string& name() const;

  // The computation whose result is `root`, or the op added last. The builder is consumed. Errors:
  // the first error of any op; InvalidArgument if there is no op or a parameter number is left out.
  absl::StatusOr<XlaComputation> Build();
  absl::StatusOr<XlaComputation> Build(XlaOp root);

  const absl::Status& first_error() const;
  const absl::Status& GetCurrentStatus() const { return first_error(); }
  // Keeps `error` if it is the first; returns an invalid op.
  XlaOp ReportError(const absl::Status& error);
  XlaOp ReportErrorOrReturn(const absl::StatusOr<XlaOp>& op);

  // Errors: InvalidArgument for an op that is invalid or of another builder; the first error if
  // there is one.
  absl::StatusOr<Shape> GetShape(XlaOp op) const;

  // Metadata of the ops that follow.
  void SetOpMetadata(OpMetadata metadata);
  void ClearOpMetadata();

  XlaOp Parameter(int64_t number, const Shape& shape, const std::string& name);
  XlaOp ConstantLiteral(const Literal& literal);
  XlaOp Max(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions = {});

 private:
  struct Impl;
  friend struct XlaBuilderAccess;
  std::unique_ptr<Impl> impl_;
};

// --- leaves ---
HILO_EXPORT XlaOp Parameter(XlaBuilder* builder, int64_t number, const Shape& shape, const std::string& name);
HILO_EXPORT XlaOp ConstantLiteral(XlaBuilder* builder, const Literal& literal);
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
HILO_EXPORT XlaOp Iota(XlaBuilder* builder, const Shape& shape, int64_t iota_dimension);
HILO_EXPORT XlaOp Iota(XlaBuilder* builder, PrimitiveType type, int64_t size);

// --- element-wise, one operand ---
HILO_EXPORT XlaOp Abs(XlaOp operand);
HILO_EXPORT XlaOp Acos(XlaOp operand);
HILO_EXPORT XlaOp Acosh(XlaOp operand);
HILO_EXPORT XlaOp Asin(XlaOp operand);
HILO_EXPORT XlaOp Asinh(XlaOp operand);
HILO_EXPORT XlaOp Atanh(XlaOp operand);
HILO_EXPORT XlaOp Cbrt(XlaOp operand);
HILO_EXPORT XlaOp Ceil(XlaOp operand);
HILO_EXPORT XlaOp Clz(XlaOp operand);
HILO_EXPORT XlaOp Cos(XlaOp operand);
HILO_EXPORT XlaOp Cosh(XlaOp operand);
HILO_EXPORT XlaOp Erf(XlaOp operand);
HILO_EXPORT XlaOp Exp(XlaOp operand);
HILO_EXPORT XlaOp Expm1(XlaOp operand);
HILO_EXPORT XlaOp Floor(XlaOp operand);
HILO_EXPORT XlaOp Imag(XlaOp operand);
HILO_EXPORT XlaOp IsFinite(XlaOp operand);
HILO_EXPORT XlaOp Log(XlaOp operand);
HILO_EXPORT XlaOp Log1p(XlaOp operand);
HILO_EXPORT XlaOp Logistic(XlaOp operand);
HILO_EXPORT XlaOp Neg(XlaOp operand);
HILO_EXPORT XlaOp Not(XlaOp operand);
HILO_EXPORT XlaOp PopulationCount(XlaOp operand);
HILO_EXPORT XlaOp Real(XlaOp operand);
HILO_EXPORT XlaOp Round(XlaOp operand);
HILO_EXPORT XlaOp RoundNearestEven(XlaOp operand);
HILO_EXPORT XlaOp Rsqrt(XlaOp operand);
HILO_EXPORT XlaOp Sign(XlaOp operand);
HILO_EXPORT XlaOp Sin(XlaOp operand);
HILO_EXPORT XlaOp Sinh(XlaOp operand);
HILO_EXPORT XlaOp Sqrt(XlaOp operand);
HILO_EXPORT XlaOp Tan(XlaOp operand);
HILO_EXPORT XlaOp Tanh(XlaOp operand);

// --- element-wise, two operands ---
// Operands of equal rank are stretched where one has size 1, and a scalar broadcasts to any shape.
// Operands of different rank need `broadcast_dimensions`: the dimension of the higher-ranking one
// that each dimension of the other matches, increasing. (specification: Broadcasting semantics)
HILO_EXPORT XlaOp Add(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions = {});
HILO_EXPORT XlaOp And(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions = {});
HILO_EXPORT XlaOp Atan2(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions = {});
HILO_EXPORT XlaOp Complex(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions = {});
HILO_EXPORT XlaOp Div(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions = {});
HILO_EXPORT XlaOp Max(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions = {});
HILO_EXPORT XlaOp Min(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions = {});
HILO_EXPORT XlaOp Mul(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions = {});
HILO_EXPORT XlaOp Mulhi(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions = {});
HILO_EXPORT XlaOp Or(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions = {});
HILO_EXPORT XlaOp Pow(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions = {});
HILO_EXPORT XlaOp Rem(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions = {});
HILO_EXPORT XlaOp ShiftLeft(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions = {});
HILO_EXPORT XlaOp ShiftRightArithmetic(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions = {});
HILO_EXPORT XlaOp ShiftRightLogical(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions = {});
HILO_EXPORT XlaOp Sub(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions = {});
HILO_EXPORT XlaOp Xor(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions = {});

// Comparisons, broadcast in the same way; the ...TotalOrder ones order all floats, NaNs and zeros
// included.
#define HILO_COMPARISON_FUNCTIONS(X) X(Eq, kEq) X(Ne, kNe) X(Ge, kGe) X(Gt, kGt) X(Le, kLe) X(Lt, kLt)
#define HILO_DECLARE(Function, direction)                                                                \
  HILO_EXPORT XlaOp Function(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions = {}); \
  HILO_EXPORT XlaOp Function##TotalOrder(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions = {});
HILO_COMPARISON_FUNCTIONS(HILO_DECLARE)
#undef HILO_DECLARE
HILO_EXPORT XlaOp Compare(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions,
                          ComparisonDirection direction, ComparisonType type = ComparisonType::kDefault);
HILO_EXPORT XlaOp Compare(XlaOp lhs, XlaOp rhs, ComparisonDirection direction);

HILO_EXPORT XlaOp operator-(XlaOp x);
HILO_EXPORT XlaOp operator~(XlaOp x);
HILO_EXPORT XlaOp operator+(XlaOp x, XlaOp y);
HILO_EXPORT XlaOp operator-(XlaOp x, XlaOp y);
HILO_EXPORT XlaOp operator*(XlaOp x, XlaOp y);
HILO_EXPORT XlaOp operator/(XlaOp x, XlaOp y);
HILO_EXPORT XlaOp operator%(XlaOp x, XlaOp y);
HILO_EXPORT XlaOp operator&(XlaOp x, XlaOp y);
HILO_EXPORT XlaOp operator|(XlaOp x, XlaOp y);
HILO_EXPORT XlaOp operator^(XlaOp x, XlaOp y);
HILO_EXPORT XlaOp operator<<(XlaOp x, XlaOp y);
HILO_EXPORT XlaOp operator>>(XlaOp x, XlaOp y);  // arithmetic for signed integers, else logical

// --- other element-wise ops ---
// Also selects between tuples of one shape, by a scalar.
HILO_EXPORT XlaOp Select(XlaOp pred, XlaOp on_true, XlaOp on_false);
HILO_EXPORT XlaOp Clamp(XlaOp min, XlaOp operand, XlaOp max);
HILO_EXPORT XlaOp ConvertElementType(XlaOp operand, PrimitiveType new_element_type);
HILO_EXPORT XlaOp BitcastConvertType(XlaOp operand, PrimitiveType new_element_type);
HILO_EXPORT XlaOp ReducePrecision(XlaOp operand, int exponent_bits, int mantissa_bits);
// `dimensions` must be all of the operands' dimensions, in order; there are no static operands.
HILO_EXPORT XlaOp Map(XlaBuilder* builder, absl::Span<const XlaOp> operands, const XlaComputation& computation,
                      absl::Span<const int64_t> dimensions);

// --- shape and movement ---
HILO_EXPORT XlaOp Broadcast(XlaOp operand, absl::Span<const int64_t> broadcast_sizes);
HILO_EXPORT XlaOp BroadcastInDim(XlaOp operand, absl::Span<const int64_t> out_dim_size,
                                 absl::Span<const int64_t> broadcast_dimensions);
HILO_EXPORT XlaOp Reshape(XlaOp operand, absl::Span<const int64_t> new_sizes);
HILO_EXPORT XlaOp Collapse(XlaOp operand, absl::Span<const int64_t> dimensions);
HILO_EXPORT XlaOp Transpose(XlaOp operand, absl::Span<const int64_t> permutation);
HILO_EXPORT XlaOp Rev(XlaOp operand, absl::Span<const int64_t> dimensions);
// Empty strides are all 1.
HILO_EXPORT XlaOp Slice(XlaOp operand, absl::Span<const int64_t> start_indices, absl::Span<const int64_t> limit_indices,
                        absl::Span<const int64_t> strides = {});
HILO_EXPORT XlaOp SliceInDim(XlaOp operand, int64_t start_index, int64_t limit_index, int64_t stride,
                             int64_t dimension);
// Start indices are scalars, one per dimension, or one vector.
HILO_EXPORT XlaOp DynamicSlice(XlaOp operand, absl::Span<const XlaOp> start_indices,
                               absl::Span<const int64_t> slice_sizes);
HILO_EXPORT XlaOp DynamicSlice(XlaOp operand, XlaOp start_indices, absl::Span<const int64_t> slice_sizes);
HILO_EXPORT XlaOp DynamicUpdateSlice(XlaOp operand, XlaOp update, absl::Span<const XlaOp> start_indices);
HILO_EXPORT XlaOp DynamicUpdateSlice(XlaOp operand, XlaOp update, XlaOp start_indices);
HILO_EXPORT XlaOp ConcatInDim(XlaBuilder* builder, absl::Span<const XlaOp> operands, int64_t dimension);
HILO_EXPORT XlaOp Pad(XlaOp operand, XlaOp padding_value, const PaddingConfig& padding_config);
HILO_EXPORT XlaOp PadInDim(XlaOp operand, XlaOp padding_value, int64_t dimension, int64_t low, int64_t high);
// Slices of `slice_sizes`, one size per dimension of `operand`, at starts that are clamped so that slices are inside.
// `start_indices`: integers; its dimension index_vector_dim, of as many elements as start_index_map, is a start.
// Returns the other dimensions of `start_indices`, with those of a slice at offset_dims.
HILO_EXPORT XlaOp Gather(XlaOp operand, XlaOp start_indices, const GatherDimensionNumbers& dimension_numbers,
                         absl::Span<const int64_t> slice_sizes, bool indices_are_sorted = false);
// `operand` with each element e that an update u reaches replaced by update_computation(e, u), for one update after the
// other; updates that would reach beyond `operand` are skipped. Of several operands, which have the same dimensions,
// `update_computation` takes the elements of all and then the updates of all, and returns a tuple of the new elements.
HILO_EXPORT XlaOp Scatter(XlaOp operand, XlaOp scatter_indices, XlaOp updates, const XlaComputation& update_computation,
                          const ScatterDimensionNumbers& dimension_numbers, bool indices_are_sorted = false,
                          bool unique_indices = false);
HILO_EXPORT XlaOp Scatter(absl::Span<const XlaOp> operands, XlaOp scatter_indices, absl::Span<const XlaOp> updates,
                          const XlaComputation& update_computation, const ScatterDimensionNumbers& dimension_numbers,
                          bool indices_are_sorted = false, bool unique_indices = false);
// Sorts operands of the same dimensions together. `comparator`: (a0, b0, a1, b1 ...) -> pred[], two elements of each
// operand; true if a comes before b. Dimension -1 is the last.
HILO_EXPORT XlaOp Sort(absl::Span<const XlaOp> operands, const XlaComputation& comparator, int64_t dimension = -1,
                       bool is_stable = false);

// --- reductions and products ---
// `computation`: (accumulator, element) -> accumulator, scalars of the type of `init_value`; of several operands, which
// have the same dimensions, (accumulators..., elements...) -> tuple of accumulators. The order of the elements is
// unspecified. Returns the operand's shape without `dimensions_to_reduce`, a tuple for several operands.
HILO_EXPORT XlaOp Reduce(XlaOp operand, XlaOp init_value, const XlaComputation& computation,
                         absl::Span<const int64_t> dimensions_to_reduce);
HILO_EXPORT XlaOp Reduce(XlaBuilder* builder, absl::Span<const XlaOp> operands, absl::Span<const XlaOp> init_values,
                         const XlaComputation& computation, absl::Span<const int64_t> dimensions_to_reduce);
HILO_EXPORT XlaOp ReduceAll(XlaOp operand, XlaOp init_value, const XlaComputation& computation);

// Reduces each window by `computation`, as Reduce has it. Lists have an entry per dimension of the operand; empty
// strides and dilations are all 1.
HILO_EXPORT XlaOp ReduceWindow(XlaOp operand, XlaOp init_value, const XlaComputation& computation,
                               absl::Span<const int64_t> window_dimensions, absl::Span<const int64_t> window_strides,
                               Padding padding);
HILO_EXPORT XlaOp ReduceWindow(absl::Span<const XlaOp> operands, absl::Span<const XlaOp> init_values,
                               const XlaComputation& computation, absl::Span<const int64_t> window_dimensions,
                               absl::Span<const int64_t> window_strides, Padding padding);
HILO_EXPORT XlaOp ReduceWindowWithGeneralPadding(XlaOp operand, XlaOp init_value, const XlaComputation& computation,
                                                 absl::Span<const int64_t> window_dimensions,
                                                 absl::Span<const int64_t> window_strides,
                                                 absl::Span<const int64_t> base_dilations,
                                                 absl::Span<const int64_t> window_dilations,
                                                 absl::Span<const std::pair<int64_t, int64_t>> padding);
HILO_EXPORT XlaOp ReduceWindowWithGeneralPadding(absl::Span<const XlaOp> operands, absl::Span<const XlaOp> init_values,
                                                 const XlaComputation& computation,
                                                 absl::Span<const int64_t> window_dimensions,
                                                 absl::Span<const int64_t> window_strides,
                                                 absl::Span<const int64_t> base_dilations,
                                                 absl::Span<const int64_t> window_dilations,
                                                 absl::Span<const std::pair<int64_t, int64_t>> padding);
HILO_EXPORT XlaOp SelectAndScatter(XlaOp operand, const XlaComputation& select,
                                   absl::Span<const int64_t> window_dimensions,
                                   absl::Span<const int64_t> window_strides, Padding padding, XlaOp source,
                                   XlaOp init_value, const XlaComputation& scatter);
HILO_EXPORT XlaOp SelectAndScatterWithGeneralPadding(XlaOp operand, const XlaComputation& select,
                                                     absl::Span<const int64_t> window_dimensions,
                                                     absl::Span<const int64_t> window_strides,
                                                     absl::Span<const std::pair<int64_t, int64_t>> padding,
                                                     XlaOp source, XlaOp init_value, const XlaComputation& scatter);
// `to_apply` takes a slice of each input, without the scan dimension, and the carries; it returns an element of each
// output and the carries.
HILO_EXPORT XlaOp Scan(absl::Span<const XlaOp> inputs, absl::Span<const XlaOp> inits, const XlaComputation& to_apply,
                       int64_t scan_dimension, bool is_reverse = false, bool is_associative = false);

HILO_EXPORT XlaOp Dot(XlaOp lhs, XlaOp rhs, std::optional<PrimitiveType> preferred_element_type = std::nullopt);
// Returns the batch dimensions, those that `lhs` keeps, then those that `rhs` keeps. Batch and contracting dimensions
// have the same sizes in both.
HILO_EXPORT XlaOp DotGeneral(XlaOp lhs, XlaOp rhs, const DotDimensionNumbers& dimension_numbers,
                             std::optional<PrimitiveType> preferred_element_type = std::nullopt);

// --- tuples, tokens, control flow ---
HILO_EXPORT XlaOp Tuple(XlaBuilder* builder, absl::Span<const XlaOp> elements);
HILO_EXPORT XlaOp GetTupleElement(XlaOp tuple, int64_t index);
// `condition`: T -> pred[], `body`: T -> T, for the shape T of `init`, which may be a tuple; returns T.
HILO_EXPORT XlaOp While(const XlaComputation& condition, const XlaComputation& body, XlaOp init);
// Each computation takes its operand; all return the same shape. Only the chosen one runs: by a pred[], or by an s32[],
// which chooses the last one if it is out of range.
HILO_EXPORT XlaOp Conditional(XlaOp predicate, XlaOp true_operand, const XlaComputation& true_computation,
                              XlaOp false_operand, const XlaComputation& false_computation);
HILO_EXPORT XlaOp Conditional(XlaOp branch_index, absl::Span<const XlaComputation* const> branch_computations,
                              absl::Span<const XlaOp> branch_operands);
HILO_EXPORT XlaOp Call(XlaBuilder* builder, const XlaComputation& computation, absl::Span<const XlaOp> operands);
// `attributes` is a dictionary such as "{n = 1 : i32}".
HILO_EXPORT XlaOp CompositeCall(XlaBuilder* builder, const XlaComputation& computation,
                                absl::Span<const XlaOp> operands, const std::string& name,
                                std::optional<std::string> attributes = std::nullopt,
                                std::optional<int64_t> version = std::nullopt);
HILO_EXPORT XlaOp OptimizationBarrier(XlaOp operand);
HILO_EXPORT XlaOp CreateToken(XlaBuilder* builder);
// At least one token.
HILO_EXPORT XlaOp AfterAll(XlaBuilder* builder, absl::Span<const XlaOp> tokens);

// --- convolution, and dots other than Dot ---
// batch, feature, spatial ...; the kernel's output feature, input feature, spatial ...
HILO_EXPORT ConvolutionDimensionNumbers CreateDefaultConvDimensionNumbers(int num_spatial_dims = 2);

// Convolutions (specification: Conv, ConvWithGeneralPadding). Lists have an entry for each spatial dimension; lists of
// dilations and of reversals may be empty. The first two take the default dimension numbers. `preferred_element_type`
// is that of the result.
HILO_EXPORT XlaOp Conv(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> window_strides, Padding padding,
                       int64_t feature_group_count = 1, int64_t batch_group_count = 1,
                       const PrecisionConfig* precision_config = nullptr,
                       std::optional<PrimitiveType> preferred_element_type = std::nullopt);
HILO_EXPORT XlaOp ConvWithGeneralPadding(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> window_strides,
                                         absl::Span<const std::pair<int64_t, int64_t>> padding,
                                         int64_t feature_group_count = 1, int64_t batch_group_count = 1,
                                         const PrecisionConfig* precision_config = nullptr,
                                         std::optional<PrimitiveType> preferred_element_type = std::nullopt);
HILO_EXPORT XlaOp ConvWithGeneralPadding(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> window_strides,
                                         absl::Span<const std::pair<int64_t, int64_t>> padding,
                                         absl::Span<const int64_t> lhs_dilation, absl::Span<const int64_t> rhs_dilation,
                                         int64_t feature_group_count = 1, int64_t batch_group_count = 1);
HILO_EXPORT XlaOp ConvWithGeneralDimensions(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> window_strides,
                                            Padding padding, const ConvolutionDimensionNumbers& dimension_numbers,
                                            int64_t feature_group_count = 1, int64_t batch_group_count = 1,
                                            const PrecisionConfig* precision_config = nullptr,
                                            std::optional<PrimitiveType> preferred_element_type = std::nullopt);
HILO_EXPORT XlaOp ConvGeneral(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> window_strides,
                              absl::Span<const std::pair<int64_t, int64_t>> padding,
                              const ConvolutionDimensionNumbers& dimension_numbers, int64_t feature_group_count = 1,
                              int64_t batch_group_count = 1, const PrecisionConfig* precision_config = nullptr,
                              std::optional<PrimitiveType> preferred_element_type = std::nullopt);
HILO_EXPORT XlaOp ConvGeneralDilated(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> window_strides,
                                     absl::Span<const std::pair<int64_t, int64_t>> padding,
                                     absl::Span<const int64_t> lhs_dilation, absl::Span<const int64_t> rhs_dilation,
                                     const ConvolutionDimensionNumbers& dimension_numbers,
                                     int64_t feature_group_count = 1, int64_t batch_group_count = 1,
                                     const PrecisionConfig* precision_config = nullptr,
                                     std::optional<PrimitiveType> preferred_element_type = std::nullopt,
                                     std::optional<std::vector<bool>> window_reversal = std::nullopt);

// A dot whose lhs is split into groups of run-time sizes along one dimension (hlo/ops/linalg/ragged_dot.cc).
HILO_EXPORT XlaOp RaggedDot(XlaOp lhs, XlaOp rhs, XlaOp group_sizes, const RaggedDotDimensionNumbers& dimension_numbers,
                            const PrecisionConfig* precision_config = nullptr,
                            std::optional<PrimitiveType> preferred_element_type = std::nullopt);
// A dot of operands that are multiplied by scales, one scale per block (hlo/ops/linalg/scaled_dot.cc).
HILO_EXPORT XlaOp ScaledDot(XlaOp lhs, XlaOp rhs, XlaOp lhs_scale, XlaOp rhs_scale,
                            const DotDimensionNumbers& dimension_numbers,
                            const PrecisionConfig* precision_config = nullptr,
                            std::optional<PrimitiveType> preferred_element_type = std::nullopt);

// --- batch normalizations ---
// A tuple: the normalized operand, and the mean and variance of each feature.
HILO_EXPORT XlaOp BatchNormTraining(XlaOp operand, XlaOp scale, XlaOp offset, float epsilon, int64_t feature_index);
HILO_EXPORT XlaOp BatchNormInference(XlaOp operand, XlaOp scale, XlaOp offset, XlaOp mean, XlaOp variance,
                                     float epsilon, int64_t feature_index);
// A tuple: the gradients of the operand, of scale and of offset.
HILO_EXPORT XlaOp BatchNormGrad(XlaOp operand, XlaOp scale, XlaOp batch_mean, XlaOp batch_var, XlaOp grad_output,
                                float epsilon, int64_t feature_index);

// --- linear algebra ---
// Transforms the minor dimensions, as many as fft_length (the sizes in the time domain) has
// entries.
HILO_EXPORT XlaOp Fft(XlaOp operand, FftType fft_type, absl::Span<const int64_t> fft_length);
// The factor of a = l l^H (lower) or a = u^H u, of a batch of matrices. Only that triangle of `a`
// is read.
HILO_EXPORT XlaOp Cholesky(XlaOp a, bool lower);
// x of op(a) x = b, or of x op(a) = b without left_side, for a batch of triangular matrices.
HILO_EXPORT XlaOp TriangularSolve(XlaOp a, XlaOp b, bool left_side, bool lower, bool unit_diagonal,
                                  TransposeKind transpose_a);

// --- rows: the largest or smallest elements ---
// A tuple: the k largest (or smallest) elements along the last dimension in order, and their indices, as S32.
HILO_EXPORT XlaOp TopK(XlaOp operand, int64_t k, bool largest);
// The largest, with indices of `index_type`, an integer type.
HILO_EXPORT XlaOp TopK(XlaOp operand, int64_t k, PrimitiveType index_type = S32);

// --- random numbers ---
// Arrays of `shape` of fresh random numbers; the parameters are scalars of its element type.
HILO_EXPORT XlaOp RngNormal(XlaOp mu, XlaOp sigma, const Shape& shape);
HILO_EXPORT XlaOp RngUniform(XlaOp a, XlaOp b, const Shape& shape);
// A tuple: the new state, and random bits of `shape`, which depend on the state alone.
HILO_EXPORT XlaOp RngBitGenerator(RandomAlgorithm algorithm, XlaOp initial_state, const Shape& shape);
// The process's random state, u64[2] with the low word first, before `delta` is added to it.
HILO_EXPORT XlaOp RngGetAndUpdateState(XlaBuilder* builder, int64_t delta);
// Rounds up where `random`, unsigned numbers as wide as the operand's, is below the fraction.
HILO_EXPORT XlaOp StochasticConvertType(XlaOp operand, XlaOp random, PrimitiveType new_element_type);

// --- sizes of dynamic dimensions ---
// The size of the dimension at run time, s32[].
HILO_EXPORT XlaOp GetDimensionSize(XlaOp operand, int64_t dimension);
// The operand, of which only the first `val` (s32[]) elements along the dimension are valid from here on.
HILO_EXPORT XlaOp SetDimensionSize(XlaOp operand, XlaOp val, int64_t dimension);
// All elements up to the bound are valid again; the dimension is static.
HILO_EXPORT XlaOp RemoveDynamicDimension(XlaOp operand, int64_t dimension);
// The valid elements, in order, under the sizes `dim_sizes` (s32[] each) within the bounds `new_size_bounds`;
// sizes of dimensions that are not `dims_are_dynamic` are the bounds.
HILO_EXPORT XlaOp DynamicReshape(XlaOp operand, absl::Span<const XlaOp> dim_sizes,
                                 absl::Span<const int64_t> new_size_bounds, const std::vector<bool>& dims_are_dynamic);

// --- custom calls ---
// Result index; operand and the index in it.
using OutputOperandAliasing = std::pair<ShapeIndex, std::pair<int64_t, ShapeIndex>>;

// Calls the function that is registered as `call_target_name` (hilo/ffi.h) and returns a result
// of `shape`. `opaque` is its backend_config. A call without side effects may be removed if its result is unused,
// and be merged with another. Errors, in the builder: InvalidArgument unless aliases name equal shapes.
HILO_EXPORT XlaOp CustomCall(XlaBuilder* builder, const std::string& call_target_name, absl::Span<const XlaOp> operands,
                             const Shape& shape, const std::string& opaque = "", bool has_side_effect = false,
                             absl::Span<const OutputOperandAliasing> output_operand_aliasing = {},
                             const Literal* literal = nullptr, CustomCallSchedule schedule = SCHEDULE_NONE,
                             CustomCallApiVersion api_version = API_VERSION_ORIGINAL);

// With a computation that is passed to the function.
HILO_EXPORT XlaOp CustomCallWithComputation(
    XlaBuilder* builder, const std::string& call_target_name, absl::Span<const XlaOp> operands,
    const XlaComputation& computation, const Shape& shape, const std::string& opaque = "", bool has_side_effect = false,
    absl::Span<const OutputOperandAliasing> output_operand_aliasing = {}, const Literal* literal = nullptr,
    CustomCallSchedule schedule = SCHEDULE_NONE, CustomCallApiVersion api_version = API_VERSION_ORIGINAL);

// With operands in the layouts of `operand_shapes_with_layout`, and the result in that of `shape_with_layout`.
// Errors: also InvalidArgument if one of these arrays has no layout.
HILO_EXPORT XlaOp CustomCallWithLayout(XlaBuilder* builder, const std::string& call_target_name,
                                       absl::Span<const XlaOp> operands, const Shape& shape_with_layout,
                                       absl::Span<const Shape> operand_shapes_with_layout,
                                       const std::string& opaque = "", bool has_side_effect = false,
                                       absl::Span<const OutputOperandAliasing> output_operand_aliasing = {},
                                       const Literal* literal = nullptr, CustomCallSchedule schedule = SCHEDULE_NONE,
                                       CustomCallApiVersion api_version = API_VERSION_ORIGINAL);

// --- infeed, outfeed, send and recv ---
// The next item of the device's infeed, an array or a tuple of arrays. Infeeds without token are unordered.
HILO_EXPORT XlaOp Infeed(XlaBuilder* builder, const Shape& shape, const std::string& config = "");
// A tuple of the item and a token.
HILO_EXPORT XlaOp InfeedWithToken(XlaOp token, const Shape& shape, const std::string& config = "");
// Puts the operand, an array or a tuple of arrays, into the device's outfeed.
HILO_EXPORT void Outfeed(XlaOp operand, const Shape& shape_with_layout, const std::string& outfeed_config);
// A token.
HILO_EXPORT XlaOp OutfeedWithToken(XlaOp operand, XlaOp token, const Shape& shape_with_layout,
                                   const std::string& outfeed_config);

// To and from another device.
HILO_EXPORT void Send(XlaOp operand, const ChannelHandle& handle);
HILO_EXPORT XlaOp Recv(XlaBuilder* builder, const Shape& shape, const ChannelHandle& handle);
HILO_EXPORT XlaOp SendWithToken(XlaOp operand, XlaOp token, const ChannelHandle& handle);  // a token
HILO_EXPORT XlaOp RecvWithToken(XlaOp token, const Shape& shape,
                                const ChannelHandle& handle);  // a tuple of the data and a token
// To and from the callbacks that the host gives to the run (ExecuteOptions::host_callbacks), by number. The type of the
// handle must be DEVICE_TO_HOST and HOST_TO_DEVICE.
HILO_EXPORT XlaOp SendToHost(XlaOp operand, XlaOp token, const Shape& shape_with_layout,
                             const ChannelHandle& handle);  // a token
HILO_EXPORT XlaOp RecvFromHost(XlaOp token, const Shape& shape,
                               const ChannelHandle& handle);  // a tuple of the data and a token

// --- collectives ---
//
// Without replica groups, one group of all devices participates; the number of shards is then given by
// the caller. A requested layout only marks the op (constrain_layout): layouts of results are
// chosen where programs access memory.
// An operand that is a tuple is reduced element by element; its elements are of one type.
HILO_EXPORT XlaOp AllReduce(XlaOp operand, const XlaComputation& computation,
                            absl::Span<const ReplicaGroup> replica_groups = {},
                            const std::optional<ChannelHandle>& channel_id = std::nullopt,
                            const std::optional<Shape>& shape_with_layout = std::nullopt,
                            std::optional<bool> use_global_device_ids = std::nullopt);
// A tuple of results.
HILO_EXPORT XlaOp AllReduceTuple(absl::Span<const XlaOp> operands, const XlaComputation& computation,
                                 absl::Span<const ReplicaGroup> replica_groups = {},
                                 const std::optional<ChannelHandle>& channel_id = std::nullopt,
                                 const std::optional<Shape>& shape_with_layout = std::nullopt,
                                 std::optional<bool> use_global_device_ids = std::nullopt);
// AllReduce with the sum; of PREDs with their logical or.
HILO_EXPORT XlaOp CrossReplicaSum(XlaOp operand, absl::Span<const ReplicaGroup> replica_groups = {});

HILO_EXPORT XlaOp AllGather(XlaOp operand, int64_t all_gather_dimension, int64_t shard_count,
                            absl::Span<const ReplicaGroup> replica_groups = {},
                            const std::optional<ChannelHandle>& channel_id = std::nullopt,
                            const std::optional<Layout>& layout = std::nullopt,
                            std::optional<bool> use_global_device_ids = std::nullopt);
HILO_EXPORT XlaOp AllGatherTuple(absl::Span<const XlaOp> operands, int64_t all_gather_dimension, int64_t shard_count,
                                 absl::Span<const ReplicaGroup> replica_groups = {},
                                 const std::optional<ChannelHandle>& channel_id = std::nullopt,
                                 const std::optional<Layout>& layout = std::nullopt,
                                 std::optional<bool> use_global_device_ids = std::nullopt);

// As AllReduce for tuples.
HILO_EXPORT XlaOp ReduceScatter(XlaOp operand, const XlaComputation& computation, int64_t scatter_dimension,
                                int64_t shard_count, absl::Span<const ReplicaGroup> replica_groups = {},
                                const std::optional<ChannelHandle>& channel_id = std::nullopt,
                                const std::optional<Layout>& layout = std::nullopt,
                                std::optional<bool> use_global_device_ids = std::nullopt);

HILO_EXPORT XlaOp AllToAll(XlaOp operand, int64_t split_dimension, int64_t concat_dimension, int64_t split_count,
                           absl::Span<const ReplicaGroup> replica_groups = {},
                           const std::optional<Layout>& layout = std::nullopt,
                           const std::optional<ChannelHandle>& channel_id = std::nullopt);
// One operand for each device of a group; a tuple of the received operands.
HILO_EXPORT XlaOp AllToAllTuple(absl::Span<const XlaOp> operands, absl::Span<const ReplicaGroup> replica_groups = {},
                                const std::optional<Layout>& layout = std::nullopt,
                                const std::optional<ChannelHandle>& channel_id = std::nullopt);
// AllToAll by way of a tuple of slices.
HILO_EXPORT XlaOp AllToAllTuple(XlaOp operand, int64_t split_dimension, int64_t concat_dimension, int64_t split_count,
                                absl::Span<const ReplicaGroup> replica_groups,
                                const std::optional<Layout>& layout = std::nullopt,
                                const std::optional<ChannelHandle>& channel_id = std::nullopt);

// Pairs of source and target.
HILO_EXPORT XlaOp CollectivePermute(XlaOp operand, const std::vector<std::pair<int64_t, int64_t>>& source_target_pairs,
                                    const std::optional<ChannelHandle>& channel_id = std::nullopt);
// A tuple of results.
HILO_EXPORT XlaOp MultiCollectivePermute(absl::Span<const XlaOp> operands,
                                         const std::vector<std::pair<int64_t, int64_t>>& source_target_pairs,
                                         const std::optional<ChannelHandle>& channel_id = std::nullopt);
HILO_EXPORT XlaOp CollectiveBroadcast(XlaOp operand, absl::Span<const ReplicaGroup> replica_groups = {},
                                      const std::optional<ChannelHandle>& channel_id = std::nullopt);
HILO_EXPORT XlaOp RaggedAllToAll(XlaOp input, XlaOp input_offsets, XlaOp send_sizes, XlaOp output, XlaOp output_offsets,
                                 XlaOp recv_sizes, absl::Span<const ReplicaGroup> replica_groups = {},
                                 const std::optional<ChannelHandle>& channel_id = std::nullopt);

HILO_EXPORT XlaOp ReplicaId(XlaBuilder* builder);

}  // namespace hilo

#endif  // HILO_XLA_BUILDER_H_
