// Types and attributes of MLIR text.
#ifndef HILO_HLO_IMPORT_STABLEHLO_MLIR_TEXT_VALUES_H_
#define HILO_HLO_IMPORT_STABLEHLO_MLIR_TEXT_VALUES_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "hlo/import/stablehlo/mlir_cursor.h"
#include "hlo/import/stablehlo/mlir_module.h"
#include "hlo/import/stablehlo/tuple_types.h"

namespace hilo::stablehlo {

// Reads from a cursor that it shares with the reader of operations. Errors: InvalidArgument with line and column;
// nesting is bounded.
class MlirValueReader {
 public:
  MlirValueReader(MlirCursor* cursor, MlirModule* module) : cursor_(*cursor), module_(*module) {}

  absl::StatusOr<const Type*> ReadType();
  // "(T, T) -> T", "T, T", "T -> (T, T)": the types before the arrow and those after it.
  struct Signature {
    std::vector<const Type*> operands, results;
    bool has_arrow = false;
  };
  absl::StatusOr<Signature> ReadSignature();

  absl::StatusOr<const Attribute*> ReadAttribute();
  // "a = 1 : i32, b, \"c\" = {}" up to `close`, which is consumed. Structured attributes (channel_handle,
  // dimension_numbers ...) are split into those of the versioned form.
  absl::Status ReadEntries(absl::string_view close, std::vector<NamedAttribute>* entries);
  // An entry "{...}" if there is one.
  absl::Status ReadOptionalDictionary(std::vector<NamedAttribute>* entries);
  // "loc(...)"; null if there is none.
  absl::StatusOr<const Attribute*> ReadOptionalLocation();

  // "[1, 2]" as an attribute; "[b, f, 0]x[...]->[...]" of a convolution as the entries it represents.
  absl::StatusOr<const Attribute*> ReadList();
  absl::Status ReadConvolutionDimensions(std::vector<NamedAttribute>* entries);
  // "<@mesh, [{"a"}, {}]>", "[<...>, <...>]", "{"a", "b"}", "<["a"=2]>": without the dialect name in front.
  absl::StatusOr<const Attribute*> ReadSharding();
  absl::StatusOr<const Attribute*> ReadShardings();
  absl::StatusOr<const Attribute*> ReadManualAxes();
  absl::StatusOr<const Attribute*> ReadMesh();
  // The axes of a collective of the dialect sdy: "[{"a"}, {}]" by dimensions, "{"a"}", "[{"a"}: 0->1]".
  absl::StatusOr<const Attribute*> ReadCollectiveAxes();
  // "<key = value, ...>" split into entries.
  absl::Status ReadStructure(std::vector<NamedAttribute>* entries);
  // Adds an attribute under its name, split into entries if it is structured.
  void AddEntry(absl::string_view name, const Attribute* value, std::vector<NamedAttribute>* entries);
  void AddAlias(std::string name, const Attribute* value) { aliases_[std::move(name)] = value; }
  void AddLocationAlias(const std::string& name, const Attribute& location);
  void AddTypeAlias(absl::string_view name, const Type* type) { type_aliases_[name] = type; }

  // The bytes of dense_resource<name>, which are at the end of the text if there are any:
  // {-# dialect_resources: { builtin: { name: "0x..." } } #-}.
  absl::Status ReadResources();

  const Attribute* Enum(absl::string_view text);
  const Attribute* Integer(int64_t value);
  const Attribute* String(std::string text, Attribute::Kind kind = Attribute::Kind::kString);

 private:
  absl::StatusOr<const Type*> ReadType(int depth);
  absl::StatusOr<std::vector<const Type*>> ReadTypeList(int depth);
  absl::Status ReadQuantized(Type* type);
  absl::Status ReadBlocks(Quantization* quantization);
  absl::StatusOr<std::vector<int64_t>> ReadScales(Quantization* quantization);
  absl::Status ReadTensor(int depth, bool is_buffer, Type* type);
  absl::Status ReadElement(absl::string_view word, Type* type);
  absl::StatusOr<const Attribute*> ReadAttribute(int depth);
  absl::Status ReadEntries(absl::string_view close, int depth, std::vector<NamedAttribute>* entries);
  absl::StatusOr<const Attribute*> ReadDense();
  absl::StatusOr<const Attribute*> ReadDenseResource();
  absl::Status ReadDialectResources();
  absl::Status ReadResource(absl::string_view name);
  absl::StatusOr<std::string> ResourceName();
  absl::StatusOr<std::string> BytesOf(absl::string_view hexadecimal) const;
  absl::StatusOr<const Attribute*> ReadArray();
  absl::StatusOr<const Attribute*> ReadNumber();
  absl::StatusOr<const Attribute*> ReadDialectAttribute(int depth);
  absl::StatusOr<const Attribute*> ReadComplex();
  absl::StatusOr<const Attribute*> ReadAxisReference();
  absl::StatusOr<const Attribute*> ReadSubAxis();
  absl::StatusOr<const Attribute*> ReadAxisReferences();
  absl::StatusOr<const Attribute*> ReadMeshPart(Attribute::Kind kind, int depth);
  absl::StatusOr<const Attribute*> ReadAlias(int depth);
  absl::Status SkipElements(int64_t* count, bool* listed);
  absl::Status AppendElements(int64_t count, PrimitiveType type, std::string* bytes);
  absl::Status AppendElement(absl::string_view word, PrimitiveType type, std::string* bytes);
  absl::StatusOr<const Attribute*> ReadLocation(int depth);
  absl::Status ReadNamedLocation(int depth, Attribute* location);
  Attribute* LocationNamed(const std::string& name);
  absl::Status CheckDepth(int depth) const;

  MlirCursor& cursor_;
  MlirModule& module_;
  absl::flat_hash_map<std::string, const Attribute*> aliases_;
  absl::flat_hash_map<std::string, const Type*> type_aliases_;
  TupleTypes tuples_;
  absl::flat_hash_map<std::string, Attribute*> location_aliases_;
  // Those whose bytes have not been read, by their names.
  absl::flat_hash_map<std::string, std::vector<Attribute*>> resources_;
};

}  // namespace hilo::stablehlo

#endif  // HILO_HLO_IMPORT_STABLEHLO_MLIR_TEXT_VALUES_H_
