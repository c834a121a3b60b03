// The tables of attributes and types in MLIR bytecode.
#ifndef HILO_HLO_IMPORT_STABLEHLO_BYTECODE_ENTRIES_H_
#define HILO_HLO_IMPORT_STABLEHLO_BYTECODE_ENTRIES_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "hlo/import/stablehlo/bytecode_cursor.h"
#include "hlo/import/stablehlo/mlir_module.h"

namespace hilo::stablehlo {

// The location of an encoded attribute or type, and the dialect that encodes it.
struct EncodedEntry {
  absl::string_view dialect;
  size_t begin = 0, end = 0;
  bool has_encoding = false;  // else MLIR text
};

// Entries by number. Every attribute and type has an address in the module before any is decoded; so entries may name
// each other in any order, and decoding follows no reference.
class BytecodeEntries {
 public:
  BytecodeEntries(absl::string_view bytes, const std::vector<absl::string_view>& strings, MlirModule* module)
      : bytes_(bytes), strings_(strings), module_(*module) {}

  // Decodes all entries. Errors: InvalidArgument naming the byte. Unknown kinds of attributes and types
  // become kForeign.
  absl::Status Decode(const std::vector<EncodedEntry>& attributes, const std::vector<EncodedEntry>& types);

  // The entry whose number `cursor` reads. Null, and an error stored in the cursor, if there is none.
  const Attribute* ReadAttribute(BytecodeCursor& cursor) const { return AttributeAt(cursor.Varint(), cursor); }
  const Attribute* AttributeAt(uint64_t number, BytecodeCursor& cursor) const;
  const Type* ReadType(BytecodeCursor& cursor) const { return TypeAt(cursor.Varint(), cursor); }
  const Type* TypeAt(uint64_t number, BytecodeCursor& cursor) const;
  absl::string_view ReadString(BytecodeCursor& cursor) const;

 private:
  // The encoding of a type before the types and attributes that it names are looked up.
  struct RawType {
    enum class Form { kDone, kComplex, kQuantized, kTensor, kTuple, kFunction, kFuture } form = Form::kDone;
    int bits = 0;              // of an element type
    bool is_unsigned = false;  // of quantized elements: stored
    std::vector<int64_t> dimensions;
    int64_t encoding = -1;  // an attribute's number
    std::vector<uint64_t> inputs, results;
    std::shared_ptr<Quantization> quantization;  // without its types
    size_t begin = 0;
  };

  RawType RawTypeOf(const EncodedEntry& entry, Type* type, BytecodeCursor& cursor) const;
  void VhloType(uint64_t code, Type* type, RawType* raw, BytecodeCursor& cursor) const;
  static void ReadQuantized(bool per_axis, RawType* raw, BytecodeCursor& cursor);
  void BuiltinType(uint64_t code, Type* type, RawType* raw, BytecodeCursor& cursor) const;
  // Adds the storage and expressed types.
  absl::Status ResolveQuantized(size_t number);
  absl::Status ResolveType(size_t number);
  absl::Status ResolveTuples();

  absl::Status DecodeAttribute(const EncodedEntry& entry, bool strings_only, Attribute* attribute);
  void VhloAttribute(uint64_t code, Attribute* attribute, BytecodeCursor& cursor);
  void BuiltinAttribute(uint64_t code, Attribute* attribute, BytecodeCursor& cursor);
  void ChloAttribute(uint64_t code, Attribute* attribute, BytecodeCursor& cursor);
  // An attribute without encoding is written as in text. An unknown one is kept as it is.
  void ReadTextAttribute(absl::string_view text, Attribute* attribute);
  void SdyAttribute(uint64_t code, Attribute* attribute, BytecodeCursor& cursor);
  std::vector<const Attribute*> ReadAttributes(BytecodeCursor& cursor) const;
  std::vector<NamedAttribute> ReadEntries(BytecodeCursor& cursor) const;
  // The text of an attribute that is a string: strings are decoded before entries that name them.
  absl::string_view ReadName(BytecodeCursor& cursor) const;
  // A number preceded by its type.
  void ReadInteger(Attribute* attribute, BytecodeCursor& cursor) const;
  void ReadFloat(Attribute* attribute, BytecodeCursor& cursor) const;

  absl::string_view bytes_;
  const std::vector<absl::string_view>& strings_;
  MlirModule& module_;
  std::vector<Attribute*> attributes_;
  std::vector<Type*> types_;
  std::vector<RawType> raw_types_;
};

}  // namespace hilo::stablehlo

#endif  // HILO_HLO_IMPORT_STABLEHLO_BYTECODE_ENTRIES_H_
