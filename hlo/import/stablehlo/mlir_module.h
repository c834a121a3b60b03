// An MLIR program in memory: filled by the readers of bytecode and of text, and read by the converter to HLO.
//
// Names are those of StableHLO text, for either input form: operations "stablehlo.add", "func.func",
// "func.call", "stablehlo.return" (of functions too), "sdy.mesh" ...; attributes those of the newest versioned form,
// one list per operation, properties and others alike ("broadcast_dimensions", "lhs_contracting_dimensions",
// "sdy.sharding"). An attribute that a version lacks is missing.
//
// All parts are owned by the module, in flat lists, and point to each other; so neither depth nor cycles of a damaged
// program do harm. A cycle can only pass through attributes: code that follows those must bound the depth.
#ifndef HILO_HLO_IMPORT_STABLEHLO_MLIR_MODULE_H_
#define HILO_HLO_IMPORT_STABLEHLO_MLIR_MODULE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hilo/shape.h"
#include "hlo/import/stablehlo/quantized_type.h"
#include "hlo/text/source_text.h"

namespace hilo::stablehlo {

// Size of a dimension that a type leaves open.
inline constexpr int64_t kDynamicSize = std::numeric_limits<int64_t>::min();

struct Attribute;
struct Operation;
struct Region;

struct Type {
  enum class Kind {
    kForeign,   // one that HLO lacks; `name` is its name
    kElement,   // an element type by itself: i32, f32, index (as s64), complex<f32>
    kTensor,    // `shape`, unless `open_dimensions` is not empty
    kToken,     // `shape`
    kTuple,     // `shape`
    kFunction,  // `inputs` to `results`
    kFuture,    // `results`, being made
    kNone,
  };
  Kind kind = Kind::kForeign;
  // The type of a kElement, or of the elements of a kTensor.
  PrimitiveType element = PRIMITIVE_TYPE_INVALID;
  // The shape of a kTensor, kToken or kTuple, without layouts. Bounded dimensions are dynamic ones at their bounds.
  Shape shape;
  // All sizes of a kTensor of which some are left open (kDynamicSize); empty for other types.
  std::vector<int64_t> open_dimensions;
  bool is_index = false;
  bool is_buffer = false;  // a kTensor that is written memref<...>: it holds an array
  // How elements are quantized, whose integers are of type `element`; null if they are not.
  std::shared_ptr<const Quantization> quantization;
  std::vector<const Type*> inputs, results;
  std::string name;  // the name of a kForeign, for messages

  bool IsStatic() const { return open_dimensions.empty(); }
  bool IsValue() const { return kind == Kind::kTensor || kind == Kind::kToken || kind == Kind::kTuple; }
};

struct NamedAttribute {
  absl::string_view name;
  const Attribute* value = nullptr;
};

struct Attribute {
  enum class Kind {
    kForeign,  // one of a kind that no conversion needs; `text` names it
    kUnit,
    kBool,        // `integer`
    kInteger,     // `integer` of `type`
    kFloat,       // `number` of `type`
    kString,      // `text`
    kSymbol,      // `text`, without the @
    kEnum,        // `text`: "EQ", "HIGHEST"
    kType,        // `type`
    kArray,       // `elements`
    kDictionary,  // `entries`
    kIntegers,    // `integers`: array<i64: ...>, bounds
    kDense,       // an array of `type`; `text` its bytes
    kAlias,       // output_operand_alias: `lists` output indices, operand indices; `integer` operand
    kLocation,    // `text` a name or file, `integer` the line (file) or 0, `elements` locations inside
    kManualAxes,  // `elements` strings
    kMeshAxis,    // `text` name, `integer` size
    kMesh,        // `elements` axes, or an array of them; `integers` device ids, or `more_elements[0]` an array of them
    kSubAxis,     // `integers` {pre-size, size}
    kAxisRef,     // `text` axis, `elements` at most one sub-axis
    kDimSharding,     // `elements` axis references, `integer` 1 if closed, `integers` the priority if there is one
    kTensorSharding,  // `elements[0]` mesh or its symbol; lists below; `integer` how unreduced parts are combined: 0
                      // sum, 1 max, 2 min
    kPerValue,        // `elements` tensor shardings
    kMeshGroups,      // replica groups: `elements[0]` mesh or its symbol, `elements[1]` array of axis references
  };
  Kind kind = Kind::kForeign;
  const Type* type = nullptr;
  int64_t integer = 0;
  double number = 0;
  // Views of the bytes that were read, or of strings that the module owns.
  absl::string_view text;
  std::vector<const Attribute*> elements;
  std::vector<NamedAttribute> entries;
  std::vector<int64_t> integers;
  std::vector<int64_t> more_integers;  // kAlias: operand indices (`integers`: output indices)
  std::vector<const Attribute*>
      more_elements;  // kTensorSharding: replicated axes (`elements`: mesh, then dimension shardings)
  std::vector<const Attribute*> unreduced_axes;  // kTensorSharding
};

struct Value {
  const Type* type = nullptr;
  const Region* region = nullptr;         // in which it is defined
  const Operation* defined_by = nullptr;  // null for arguments of blocks
  int64_t result_number = 0;              // of its operation or block
};

struct Block {
  std::vector<Value*> arguments;
  std::vector<Operation*> operations;
};

struct Region {
  Operation* parent = nullptr;  // null only around the module
  std::vector<Block> blocks;
};

struct Operation {
  absl::string_view name;
  std::vector<Value*> operands;
  std::vector<Value*> results;
  std::vector<NamedAttribute> attributes;
  std::vector<Region*> regions;
  Region* region = nullptr;             // the region that contains it
  const Attribute* location = nullptr;  // null if unknown
  int64_t line = 0;                     // of text; 0 in bytecode
  size_t offset = 0;                    // of its name in the text; 0 in bytecode

  // Null if it is missing.
  const Attribute* Find(absl::string_view attribute) const;
};

class MlirModule {
 public:
  MlirModule() = default;
  MlirModule(const MlirModule&) = delete;
  MlirModule& operator=(const MlirModule&) = delete;

  // The one operation "builtin.module"; null until the reader sets it.
  Operation* root = nullptr;
  // What was read, for messages that point into it; empty for bytecode.
  SourceText source;

  Type* AddType() { return &types_.emplace_back(); }
  Attribute* AddAttribute() { return &attributes_.emplace_back(); }
  Value* AddValue() { return &values_.emplace_back(); }
  Operation* AddOperation() { return &operations_.emplace_back(); }
  Region* AddRegion() { return &regions_.emplace_back(); }
  // Stores a string that is not part of the bytes read.
  absl::string_view AddString(std::string text) { return strings_.emplace_back(std::move(text)); }

  const std::deque<Operation>& operations() const { return operations_; }

 private:
  std::deque<Type> types_;
  std::deque<Attribute> attributes_;
  std::deque<Value> values_;
  std::deque<Operation> operations_;
  std::deque<Region> regions_;
  std::deque<std::string> strings_;
};

// Whether the types are the same one. Types within a function's or a future's are compared as far as their kinds.
bool SameType(const Type& a, const Type& b);

// Errors: InvalidArgument, unless the arguments of the function's region, and what it returns, have the types that the
// function's type states.
absl::Status CheckFunctionType(const Operation& function);

// MLIR's name of an element type or of a tensor's elements: "i32" for XLA's s32, "complex<f32>" for c64. Names of
// floats are XLA's.
std::string ElementText(const Type& type);

// "tensor<4x?xf32>", "!stablehlo.token", "(tensor<f32>) -> ()": for messages.
std::string TypeText(const Type& type);

// A tensor type of `element` and `dimensions`, with kDynamicSize where open; `bounds` is empty or holds a bound or
// kDynamicSize for each. Errors: InvalidArgument for sizes that no shape can have.
absl::Status SetTensor(PrimitiveType element, std::vector<int64_t> dimensions, const std::vector<int64_t>& bounds,
                       Type* type);

}  // namespace hilo::stablehlo

#endif  // HILO_HLO_IMPORT_STABLEHLO_MLIR_MODULE_H_
