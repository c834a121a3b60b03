// One operation of a program on its way to HLO instructions.
#ifndef HILO_HLO_IMPORT_STABLEHLO_OP_CONVERSION_H_
#define HILO_HLO_IMPORT_STABLEHLO_OP_CONVERSION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/import/stablehlo/mlir_module.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo::stablehlo {

class Shardings;

// The value of each result.
using Results = std::vector<HloInstruction*>;

// State shared by the conversions of all operations.
struct ConversionState {
  HloModule* module = nullptr;
  const Shardings* shardings = nullptr;
  // Constants by their attribute: several operations may share one.
  absl::flat_hash_map<const Attribute*, std::shared_ptr<const Literal>> literals;
  // Metadata of instructions, by location.
  absl::flat_hash_map<const Attribute*, OpMetadata> metadata;
  // Bytes that the dictionaries of custom calls may still have as text. An attribute may contain another one twice,
  // which contains the next one twice ...: the text doubles with each, and the program does not.
  int64_t call_text_left = int64_t{16} << 20;
  // What the operations interpreter.probe keep, and where, by its name.
  absl::flat_hash_map<std::string, std::pair<HloComputation*, HloInstruction*>> probes;
};

// Attributes are looked up by name. A missing list is empty, a missing flag false; errors name the attribute.
class OpConversion {
 public:
  OpConversion(const Operation& op, HloComputation* computation, std::vector<HloInstruction*> operands,
               std::vector<HloComputation*> regions, ConversionState* state)
      : op(op), computation(computation), operands(std::move(operands)), regions(std::move(regions)), state(*state) {}

  const Operation& op;
  HloComputation* const computation;
  const std::vector<HloInstruction*> operands;
  const std::vector<HloComputation*> regions;  // converted
  ConversionState& state;

  bool Has(absl::string_view name) const { return op.Find(name) != nullptr; }
  absl::StatusOr<int64_t> Integer(absl::string_view name) const;
  absl::StatusOr<int64_t> IntegerOr(absl::string_view name, int64_t otherwise) const;
  absl::StatusOr<double> Number(absl::string_view name) const;
  absl::StatusOr<std::vector<int64_t>> Integers(absl::string_view name) const;
  // `count` integers; all equal to `otherwise` if the list is missing or empty.
  absl::StatusOr<std::vector<int64_t>> Integers(absl::string_view name, int64_t count, int64_t otherwise) const;
  // A list of pairs, flat or of shape [n, 2].
  absl::StatusOr<std::vector<std::pair<int64_t, int64_t>>> Pairs(absl::string_view name) const;
  bool Flag(absl::string_view name) const;
  // A string, symbol or enumeration value; empty if it is missing.
  absl::string_view Text(absl::string_view name) const;
  // As Text. Errors: InvalidArgument for other texts than `words`.
  absl::StatusOr<absl::string_view> OneOf(absl::string_view name, absl::Span<const absl::string_view> words) const;

  // Errors: InvalidArgument unless there are `count` operands, or results, or regions.
  absl::Status ExpectOperands(size_t count) const;
  absl::Status ExpectAtLeast(size_t count) const;
  absl::Status ExpectResults(size_t count) const;
  const Type& ResultType(size_t i = 0) const { return *op.results[i]->type; }
  // The shape that the program states. Errors: Unimplemented for a type with unknown sizes, or one that HLO lacks.
  absl::StatusOr<Shape> ResultShape(size_t i = 0) const;
  // Like ResultShape, of all results: a shape if there is one, else a tuple.
  absl::StatusOr<Shape> ResultShapes() const;
  // Dimensions of an operand with the element type of result i: the shape of an open-sized result for most operations.
  absl::StatusOr<Shape> ResultShapeLike(const HloInstruction& operand, size_t i = 0) const;

  // Adds an instruction with the operation's metadata. `stated`: where inference is ambiguous. Errors: inference's.
  absl::StatusOr<HloInstruction*> Add(HloOpcode opcode, absl::Span<HloInstruction* const> operands,
                                      std::unique_ptr<OpAttributes> attributes = nullptr,
                                      absl::Span<HloComputation* const> called = {}, const Shape* stated = nullptr);
  HloInstruction* AddConstant(std::shared_ptr<const Literal> literal);
  // The array of an attribute dense<...>. Many elements of one value are a broadcast.
  absl::StatusOr<HloInstruction*> AddDense(const Attribute& value);
  absl::StatusOr<HloInstruction*> Reshape(HloInstruction* operand, std::vector<int64_t> dimensions);
  absl::StatusOr<HloInstruction*> Transpose(HloInstruction* operand, std::vector<int64_t> permutation);
  absl::StatusOr<HloInstruction*> Element(HloInstruction* tuple, int64_t index);
  // One operand as it is, or several as a tuple.
  absl::StatusOr<HloInstruction*> Joined(absl::Span<HloInstruction* const> values);
  // The results of an instruction: itself if the operation has one, else the elements of the tuple that it is.
  absl::StatusOr<Results> Split(HloInstruction* instruction);
  absl::StatusOr<Results> Split(absl::StatusOr<HloInstruction*> instruction);

  // The value of an instruction that depends on constants only. Errors: Unimplemented if it does not, naming `what`.
  absl::StatusOr<Literal> ConstantValue(HloInstruction* instruction, absl::string_view what) const;
  absl::StatusOr<std::vector<int64_t>> ConstantIntegers(HloInstruction* instruction, absl::string_view what) const;

 private:
  const OpMetadata& Metadata();
};

// The attribute precision_config; empty if all entries are DEFAULT.
absl::StatusOr<std::vector<Precision>> Precisions(const OpConversion& c);

using Converter = absl::StatusOr<Results> (*)(OpConversion&);
struct ConversionRule {
  absl::string_view name;
  Converter convert;
};
// One file for each.
absl::Span<const ConversionRule> ElementwiseRules();
absl::Span<const ConversionRule> MovementRules();
absl::Span<const ConversionRule> ReductionRules();
absl::Span<const ConversionRule> ContractionRules();
absl::Span<const ConversionRule> CollectiveRules();
// A custom call of this name, with the groups in its backend_config.
absl::StatusOr<Results> RaggedAllToAll(OpConversion& c);
absl::Span<const ConversionRule> TransferRules();
absl::Span<const ConversionRule> DynamicShapeRules();
absl::Span<const ConversionRule> CallRules();
absl::Span<const ConversionRule> ChloRules();
absl::Span<const ConversionRule> DeprecatedRules();
absl::Span<const ConversionRule> SpecialFunctionRules();
absl::Span<const ConversionRule> ShardingRules();
absl::Span<const ConversionRule> InterpreterRules();
// Adds to the custom call that makes `results` its shardings, such as the device that makes the call.
absl::Status ShardCustomCall(const OpConversion& c, const Results& results);

// The rule of an operation. Null if there is none.
Converter FindConverter(absl::string_view name);

// The native conversion of a composite, such as "chlo.erf". Null if its decomposition must be called.
Converter FindCompositeConverter(absl::string_view name);

// The parts of `location` that HLO keeps: the innermost name, file and line.
OpMetadata MetadataOf(const Attribute* location);

}  // namespace hilo::stablehlo

#endif  // HILO_HLO_IMPORT_STABLEHLO_OP_CONVERSION_H_
