// Attributes of MLIR text.
#include <algorithm>
#include <cstring>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "hilo/literal.h"
#include "hilo/status_macros.h"
#include "hlo/import/stablehlo/mlir_text_values.h"
#include "shape/number_text.h"

namespace hilo::stablehlo {

using Kind = Attribute::Kind;

const Attribute* MlirValueReader::Enum(absl::string_view text) { return String(std::string(text), Kind::kEnum); }

const Attribute* MlirValueReader::String(std::string text, Kind kind) {
  Attribute* attribute = module_.AddAttribute();
  attribute->kind = kind;
  attribute->text = module_.AddString(std::move(text));
  return attribute;
}

const Attribute* MlirValueReader::Integer(int64_t value) {
  Type* type = module_.AddType();
  type->kind = Type::Kind::kElement;
  type->element = S64;
  Attribute* attribute = module_.AddAttribute();
  attribute->kind = Kind::kInteger;
  attribute->type = type;
  attribute->integer = value;
  return attribute;
}

// A handle of a channel is its number, the dimension numbers and algorithms the lists and types in them.
void MlirValueReader::AddEntry(absl::string_view name, const Attribute* value, std::vector<NamedAttribute>* entries) {
  const bool is_channel = name == "channel_handle";
  const bool is_structure = is_channel || name == "algorithm" || absl::EndsWith(name, "dimension_numbers");
  if (!is_structure || value->kind != Kind::kDictionary) {
    entries->push_back({name, value});
    return;
  }
  for (const NamedAttribute& entry : value->entries) {
    entries->push_back(
        {is_channel ? (entry.name == "handle" ? "channel_id" : "channel_type") : entry.name, entry.value});
  }
}

absl::Status MlirValueReader::ReadEntries(absl::string_view close, std::vector<NamedAttribute>* entries) {
  return ReadEntries(close, 0, entries);
}

absl::Status MlirValueReader::ReadEntries(absl::string_view close, int depth, std::vector<NamedAttribute>* entries) {
  std::set<std::string> seen;
  while (!cursor_.Take(close)) {
    std::string name;
    if (cursor_.Peek() == '"') {
      HILO_ASSIGN_OR_RETURN(name, cursor_.String());
    } else {
      name = std::string(cursor_.Word());
    }
    if (name.empty()) return cursor_.Expected("the name of an attribute");
    if (!seen.insert(name).second) return cursor_.Error(absl::StrCat("attribute ", name, " is given twice"));
    const Attribute* value;
    if (cursor_.Take("=")) {
      HILO_ASSIGN_OR_RETURN(value, ReadAttribute(depth + 1));
    } else {
      Attribute* unit = module_.AddAttribute();
      unit->kind = Kind::kUnit;
      value = unit;
    }
    AddEntry(module_.AddString(std::move(name)), value, entries);
    if (!cursor_.Take(",") && !cursor_.At(close)) return cursor_.Expected(absl::StrCat("',' or '", close, "'"));
  }
  return absl::OkStatus();
}

absl::Status MlirValueReader::ReadOptionalDictionary(std::vector<NamedAttribute>* entries) {
  return cursor_.Take("{") ? ReadEntries("}", entries) : absl::OkStatus();
}

absl::Status MlirValueReader::ReadStructure(std::vector<NamedAttribute>* entries) {
  HILO_RETURN_IF_ERROR(cursor_.Expect("<"));
  return ReadEntries(">", entries);
}

absl::StatusOr<const Attribute*> MlirValueReader::ReadAttribute() { return ReadAttribute(0); }

absl::StatusOr<const Attribute*> MlirValueReader::ReadList() {
  if (cursor_.Peek() != '[') return cursor_.Expected("'['");
  return ReadAttribute();
}

absl::StatusOr<const Attribute*> MlirValueReader::ReadAttribute(int depth) {
  HILO_RETURN_IF_ERROR(CheckDepth(depth));
  const char next = cursor_.Peek();
  if (next == '"') {
    HILO_ASSIGN_OR_RETURN(std::string text, cursor_.String());
    if (cursor_.Take(":")) HILO_RETURN_IF_ERROR(ReadType(depth).status());
    return String(std::move(text));
  }
  if (next == '@') {
    HILO_ASSIGN_OR_RETURN(std::string name, cursor_.Sigil('@'));
    return String(std::move(name), Kind::kSymbol);
  }
  if (next == '#') return ReadDialectAttribute(depth);
  if (cursor_.At("loc(")) return ReadOptionalLocation();
  Attribute* attribute = module_.AddAttribute();
  if (cursor_.Take("[")) {
    attribute->kind = Kind::kArray;
    while (!cursor_.Take("]")) {
      HILO_ASSIGN_OR_RETURN(attribute->elements.emplace_back(), ReadAttribute(depth + 1));
      if (!cursor_.Take(",") && !cursor_.At("]")) return cursor_.Expected("',' or ']'");
    }
    return attribute;
  }
  if (cursor_.Take("{")) {
    attribute->kind = Kind::kDictionary;
    HILO_RETURN_IF_ERROR(ReadEntries("}", depth, &attribute->entries));
    return attribute;
  }
  if (cursor_.TakeWord("true") || cursor_.At("false")) {
    attribute->kind = Kind::kBool;
    attribute->integer = cursor_.TakeWord("false") ? 0 : 1;
    return attribute;
  }
  if (cursor_.TakeWord("unit")) {
    attribute->kind = Kind::kUnit;
    return attribute;
  }
  if (cursor_.Take("dense<")) return ReadDense();
  if (cursor_.Take("dense_resource<")) return ReadDenseResource();
  if (cursor_.Take("array<")) return ReadArray();
  if (next == '-' || next == '+' || absl::ascii_isdigit(next)) return ReadNumber();
  // A type, or a word such as a value of an enumeration.
  if (absl::ascii_isupper(next)) return Enum(cursor_.Word());
  attribute->kind = Kind::kType;
  HILO_ASSIGN_OR_RETURN(attribute->type, ReadType(depth));
  return attribute;
}

absl::StatusOr<const Attribute*> MlirValueReader::ReadNumber() {
  const std::string word(cursor_.Number());
  const bool is_hex = absl::StrContains(word, "0x");
  const bool looks_float = !is_hex && word.find_first_of(".eE") != std::string::npos;
  const Type* type = nullptr;
  if (cursor_.Take(":")) {
    HILO_ASSIGN_OR_RETURN(type, ReadType());
  } else {
    Type* implied = module_.AddType();
    implied->kind = Type::Kind::kElement;
    implied->element = looks_float ? F64 : S64;
    type = implied;
  }
  Attribute* attribute = module_.AddAttribute();
  attribute->type = type;
  if (type->kind != Type::Kind::kElement) return cursor_.Error("a number of what is no element type");
  std::string bytes;
  HILO_RETURN_IF_ERROR(AppendElement(word, type->element, &bytes));
  HILO_ASSIGN_OR_RETURN(Literal value, Literal::Create(ShapeUtil::MakeScalarShape(type->element)));
  std::memcpy(value.untyped_data().data(), bytes.data(), bytes.size());
  if (IsFloatingPointType(type->element)) {
    attribute->kind = Kind::kFloat;
    attribute->number = value.GetAsDouble(0);
    return attribute;
  }
  if (IsComplexType(type->element)) return cursor_.Error("a complex number alone");
  attribute->kind = type->element == PRED ? Kind::kBool : Kind::kInteger;
  attribute->integer =
      type->element == U64 ? static_cast<int64_t>(value.GetFirstElement<uint64_t>()) : value.GetAsInt64(0);
  return attribute;
}

// "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]": letters are the dimensions that are not spatial, digits number the spatial
// ones.
absl::Status MlirValueReader::ReadConvolutionDimensions(std::vector<NamedAttribute>* entries) {
  struct Part {
    absl::string_view before, first, second, first_name, second_name, spatial_name;
  };
  static constexpr Part kParts[] = {
      {"", "b", "f", "input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions"},
      {"x", "i", "o", "kernel_input_feature_dimension", "kernel_output_feature_dimension", "kernel_spatial_dimensions"},
      {"->", "b", "f", "output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions"}};
  for (const Part& part : kParts) {
    HILO_RETURN_IF_ERROR(cursor_.Expect(part.before));
    HILO_RETURN_IF_ERROR(cursor_.Expect("["));
    Attribute* spatial = module_.AddAttribute();
    spatial->kind = Kind::kIntegers;
    std::set<std::string> seen;
    for (int64_t dimension = 0; !cursor_.Take("]"); ++dimension) {
      const std::string label(cursor_.Word());
      if (!seen.insert(label).second) return cursor_.Error(absl::StrCat("dimension ", label, " is given twice"));
      int64_t number = 0;
      if (label == part.first || label == part.second) {
        entries->push_back({label == part.first ? part.first_name : part.second_name, Integer(dimension)});
      } else if (absl::SimpleAtoi(label, &number) && number >= 0 && number < 64) {
        spatial->integers.resize(std::max<size_t>(spatial->integers.size(), number + 1), -1);
        spatial->integers[number] = dimension;
      } else {
        return cursor_.Error(
            absl::StrCat("expected ", part.first, ", ", part.second, " or a number as a dimension, got '", label, "'"));
      }
      if (!cursor_.Take(",") && !cursor_.At("]")) return cursor_.Expected("',' or ']'");
    }
    entries->push_back({part.spatial_name, spatial});
  }
  return absl::OkStatus();
}

// "a" or "a":(1)2.
absl::StatusOr<const Attribute*> MlirValueReader::ReadAxisReference() {
  HILO_ASSIGN_OR_RETURN(std::string name, cursor_.String());
  Attribute* axis = module_.AddAttribute();
  axis->kind = Kind::kAxisRef;
  axis->text = module_.AddString(std::move(name));
  if (cursor_.Take(":")) {
    HILO_ASSIGN_OR_RETURN(axis->elements.emplace_back(), ReadSubAxis());
  }
  return axis;
}

// (1)2.
absl::StatusOr<const Attribute*> MlirValueReader::ReadSubAxis() {
  Attribute* part = module_.AddAttribute();
  part->kind = Kind::kSubAxis;
  HILO_RETURN_IF_ERROR(cursor_.Expect("("));
  HILO_ASSIGN_OR_RETURN(part->integers.emplace_back(), cursor_.Integer());
  HILO_RETURN_IF_ERROR(cursor_.Expect(")"));
  HILO_ASSIGN_OR_RETURN(part->integers.emplace_back(), cursor_.Integer());
  return part;
}

// The rest of attributes that describe replica groups by a mesh, after their names, such as
//   <mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "a", size = 4>],
//                           device_ids = dense<[0, 1, 3, 2]> : tensor<4xi64>>,
//    axes = [#stablehlo.axis_ref<name = "a", sub_axis_info = (1)2>]>
absl::StatusOr<const Attribute*> MlirValueReader::ReadMeshPart(Kind kind, int depth) {
  Attribute* attribute = module_.AddAttribute();
  attribute->kind = kind;
  if (kind == Kind::kMeshGroups) attribute->elements.resize(2);
  HILO_RETURN_IF_ERROR(CheckDepth(depth));
  HILO_RETURN_IF_ERROR(cursor_.Expect("<"));
  while (!cursor_.Take(">")) {
    const absl::string_view key = cursor_.Word();
    HILO_RETURN_IF_ERROR(cursor_.Expect("="));
    if (key == "sub_axis_info") {
      HILO_ASSIGN_OR_RETURN(attribute->elements.emplace_back(), ReadSubAxis());
    } else {
      HILO_ASSIGN_OR_RETURN(const Attribute* value, ReadAttribute(depth + 1));
      if (key == "name") {
        attribute->text = value->text;
      } else if (key == "size") {
        attribute->integer = value->integer;
      } else if (key == "device_ids") {
        attribute->more_elements = {value};
      } else if (key == "axes" && kind == Kind::kMesh) {
        attribute->elements = {value};
      } else if ((key == "axes" || key == "mesh" || key == "mesh_name") && kind == Kind::kMeshGroups) {
        attribute->elements[key == "axes" ? 1 : 0] = value;
      } else {
        return cursor_.Error(absl::StrCat("there is no '", key, "' of a mesh or its axes"));
      }
    }
    if (!cursor_.Take(",") && !cursor_.At(">")) return cursor_.Expected("',' or '>'");
  }
  if (absl::c_linear_search(attribute->elements, nullptr)) return cursor_.Expected("mesh and axes");
  return attribute;
}

absl::StatusOr<const Attribute*> MlirValueReader::ReadSharding() {
  Attribute* sharding = module_.AddAttribute();
  sharding->kind = Kind::kTensorSharding;
  HILO_RETURN_IF_ERROR(cursor_.Expect("<"));
  if (cursor_.Peek() == '@') {
    HILO_ASSIGN_OR_RETURN(std::string mesh, cursor_.Sigil('@'));
    sharding->elements = {String(std::move(mesh), Kind::kSymbol)};
  } else {
    HILO_RETURN_IF_ERROR(cursor_.Expect("mesh"));
    HILO_ASSIGN_OR_RETURN(sharding->elements.emplace_back(), ReadMesh());
  }
  HILO_RETURN_IF_ERROR(cursor_.Expect(","));
  HILO_RETURN_IF_ERROR(cursor_.Expect("["));
  while (!cursor_.Take("]")) {
    Attribute* dimension = module_.AddAttribute();
    dimension->kind = Kind::kDimSharding;
    dimension->integer = 1;
    HILO_RETURN_IF_ERROR(cursor_.Expect("{"));
    while (!cursor_.Take("}")) {
      if (cursor_.Take("?")) {
        dimension->integer = 0;
      } else {
        HILO_ASSIGN_OR_RETURN(dimension->elements.emplace_back(), ReadAxisReference());
      }
      if (!cursor_.Take(",") && !cursor_.At("}")) return cursor_.Expected("',' or '}'");
    }
    if (cursor_.Peek() == 'p') {
      const absl::string_view word = cursor_.Word();
      if (!absl::SimpleAtoi(word.substr(1), &dimension->integers.emplace_back()) || dimension->integers[0] < 0)
        return cursor_.Error(absl::StrCat("expected a priority such as p1, got ", word));
    }
    sharding->elements.push_back(dimension);
    if (!cursor_.Take(",") && !cursor_.At("]")) return cursor_.Expected("',' or ']'");
  }
  while (cursor_.Take(",")) {
    const bool replicated = cursor_.TakeWord("replicated");
    if (!replicated && !cursor_.TakeWord("unreduced")) return cursor_.Expected("replicated or unreduced");
    HILO_RETURN_IF_ERROR(cursor_.Expect("="));
    if (!replicated) sharding->integer = cursor_.TakeWord("max") ? 1 : cursor_.TakeWord("min") ? 2 : 0;
    HILO_RETURN_IF_ERROR(cursor_.Expect("{"));
    while (!cursor_.Take("}")) {
      HILO_ASSIGN_OR_RETURN(const Attribute* axis, ReadAxisReference());
      (replicated ? sharding->more_elements : sharding->unreduced_axes).push_back(axis);
      if (!cursor_.Take(",") && !cursor_.At("}")) return cursor_.Expected("',' or '}'");
    }
  }
  HILO_RETURN_IF_ERROR(cursor_.Expect(">"));
  return sharding;
}

absl::StatusOr<const Attribute*> MlirValueReader::ReadShardings() {
  Attribute* shardings = module_.AddAttribute();
  shardings->kind = Kind::kPerValue;
  HILO_RETURN_IF_ERROR(cursor_.Expect("["));
  while (!cursor_.Take("]")) {
    HILO_ASSIGN_OR_RETURN(shardings->elements.emplace_back(), ReadSharding());
    if (!cursor_.Take(",") && !cursor_.At("]")) return cursor_.Expected("',' or ']'");
  }
  return shardings;
}

absl::StatusOr<const Attribute*> MlirValueReader::ReadManualAxes() {
  Attribute* axes = module_.AddAttribute();
  axes->kind = Kind::kManualAxes;
  HILO_RETURN_IF_ERROR(cursor_.Expect("{"));
  while (!cursor_.Take("}")) {
    HILO_ASSIGN_OR_RETURN(std::string name, cursor_.String());
    axes->elements.push_back(String(std::move(name)));
    if (!cursor_.Take(",") && !cursor_.At("}")) return cursor_.Expected("',' or '}'");
  }
  return axes;
}

absl::StatusOr<const Attribute*> MlirValueReader::ReadAxisReferences() {
  Attribute* axes = module_.AddAttribute();
  axes->kind = Kind::kArray;
  HILO_RETURN_IF_ERROR(cursor_.Expect("{"));
  while (!cursor_.Take("}")) {
    HILO_ASSIGN_OR_RETURN(axes->elements.emplace_back(), ReadAxisReference());
    if (!cursor_.Take(",") && !cursor_.At("}")) return cursor_.Expected("',' or '}'");
  }
  return axes;
}

absl::StatusOr<const Attribute*> MlirValueReader::ReadCollectiveAxes() {
  if (!cursor_.Take("[")) return ReadAxisReferences();
  Attribute* lists = module_.AddAttribute();
  lists->kind = Kind::kArray;
  while (!cursor_.Take("]")) {
    HILO_ASSIGN_OR_RETURN(lists->elements.emplace_back(), ReadAxisReferences());
    if (cursor_.Take(":")) {  // from a dimension to another one
      HILO_ASSIGN_OR_RETURN(const int64_t from, cursor_.Integer());
      HILO_RETURN_IF_ERROR(cursor_.Expect("->"));
      HILO_ASSIGN_OR_RETURN(const int64_t to, cursor_.Integer());
      lists->elements.push_back(Integer(from));
      lists->elements.push_back(Integer(to));
    }
    if (!cursor_.Take(",") && !cursor_.At("]")) return cursor_.Expected("',' or ']'");
  }
  return lists;
}

absl::StatusOr<const Attribute*> MlirValueReader::ReadMesh() {
  Attribute* mesh = module_.AddAttribute();
  mesh->kind = Kind::kMesh;
  HILO_RETURN_IF_ERROR(cursor_.Expect("<"));
  HILO_RETURN_IF_ERROR(cursor_.Expect("["));
  while (!cursor_.Take("]")) {
    Attribute* axis = module_.AddAttribute();
    axis->kind = Kind::kMeshAxis;
    HILO_ASSIGN_OR_RETURN(std::string name, cursor_.String());
    axis->text = module_.AddString(std::move(name));
    HILO_RETURN_IF_ERROR(cursor_.Expect("="));
    HILO_ASSIGN_OR_RETURN(axis->integer, cursor_.Integer());
    mesh->elements.push_back(axis);
    if (!cursor_.Take(",") && !cursor_.At("]")) return cursor_.Expected("',' or ']'");
  }
  if (cursor_.Take(",")) {
    HILO_RETURN_IF_ERROR(cursor_.Expect("device_ids"));
    HILO_RETURN_IF_ERROR(cursor_.Expect("="));
    HILO_RETURN_IF_ERROR(cursor_.Expect("["));
    while (!cursor_.Take("]")) {
      HILO_ASSIGN_OR_RETURN(mesh->integers.emplace_back(), cursor_.Integer());
      if (!cursor_.Take(",") && !cursor_.At("]")) return cursor_.Expected("',' or ']'");
    }
  }
  HILO_RETURN_IF_ERROR(cursor_.Expect(">"));
  return mesh;
}

absl::StatusOr<const Attribute*> MlirValueReader::ReadAlias(int depth) {
  Attribute* attribute = module_.AddAttribute();
  attribute->kind = Kind::kDictionary;
  HILO_RETURN_IF_ERROR(cursor_.Expect("<"));
  HILO_RETURN_IF_ERROR(ReadEntries(">", depth, &attribute->entries));
  Attribute* alias = module_.AddAttribute();
  alias->kind = Kind::kAlias;
  for (const NamedAttribute& entry : attribute->entries) {
    if (entry.name == "operand_index") alias->integer = entry.value->integer;
    std::vector<int64_t>& indices = entry.name == "output_tuple_indices" ? alias->integers : alias->more_integers;
    for (const Attribute* index : entry.value->elements) indices.push_back(index->integer);
  }
  return alias;
}

// "<:f32 1.0, -2.0> : complex<f32>", as its two parts.
absl::StatusOr<const Attribute*> MlirValueReader::ReadComplex() {
  Attribute* parts = module_.AddAttribute();
  parts->kind = Kind::kArray;
  HILO_RETURN_IF_ERROR(cursor_.Expect("<"));
  HILO_RETURN_IF_ERROR(cursor_.Expect(":"));
  HILO_ASSIGN_OR_RETURN(const Type* type, ReadType());
  if (type->kind != Type::Kind::kElement || !IsFloatingPointType(type->element))
    return cursor_.Error("expected the type of a complex number's parts");
  do {
    std::string bytes;
    HILO_RETURN_IF_ERROR(AppendElement(cursor_.Number(), type->element, &bytes));
    HILO_ASSIGN_OR_RETURN(Literal value, Literal::Create(ShapeUtil::MakeScalarShape(type->element)));
    std::memcpy(value.untyped_data().data(), bytes.data(), bytes.size());
    Attribute* part = module_.AddAttribute();
    part->kind = Kind::kFloat;
    part->type = type;
    part->number = value.GetAsDouble(0);
    parts->elements.push_back(part);
  } while (cursor_.Take(","));
  if (parts->elements.size() != 2) return cursor_.Expected("the two parts of a complex number");
  HILO_RETURN_IF_ERROR(cursor_.Expect(">"));
  if (cursor_.Take(":")) HILO_RETURN_IF_ERROR(ReadType().status());
  return parts;
}

// "#stablehlo<precision HIGH>", "#stablehlo.gather<offset_dims = [1]>", "#sdy.sharding<@mesh, [{}]>", "#name" of an
// alias.
absl::StatusOr<const Attribute*> MlirValueReader::ReadDialectAttribute(int depth) {
  HILO_ASSIGN_OR_RETURN(const std::string name, cursor_.Sigil('#'));
  if (cursor_.Peek() != '<') {
    const auto alias = aliases_.find(name);
    if (alias != aliases_.end()) return alias->second;
    return cursor_.Error(absl::StrCat("there is no attribute #", name));
  }
  if (name == "stablehlo" || name == "chlo") {
    cursor_.Take("<");
    cursor_.Word();
    const Attribute* value = Enum(cursor_.Word());
    HILO_RETURN_IF_ERROR(cursor_.Expect(">"));
    return value;
  }
  if (name == "complex.number") return ReadComplex();
  if (name == "sdy.sharding") return ReadSharding();
  if (name == "sdy.mesh") return ReadMesh();
  if (name == "sdy.sharding_per_value") {
    HILO_RETURN_IF_ERROR(cursor_.Expect("<"));
    HILO_ASSIGN_OR_RETURN(const Attribute* shardings, ReadShardings());
    HILO_RETURN_IF_ERROR(cursor_.Expect(">"));
    return shardings;
  }
  if (name == "sdy") {
    HILO_RETURN_IF_ERROR(cursor_.Expect("<"));
    if (cursor_.TakeWord("manual_axes")) {
      HILO_ASSIGN_OR_RETURN(const Attribute* axes, ReadManualAxes());
      HILO_RETURN_IF_ERROR(cursor_.Expect(">"));
      return axes;
    }
    if (cursor_.TakeWord("axis_ref")) {
      HILO_ASSIGN_OR_RETURN(const Attribute* axis, ReadAxisReference());
      HILO_RETURN_IF_ERROR(cursor_.Expect(">"));
      return axis;
    }
    for (absl::string_view word : {"list_of_axis_ref_lists", "axis_ref_list", "all_to_all_param_list"}) {
      if (!cursor_.TakeWord(word)) continue;
      HILO_ASSIGN_OR_RETURN(const Attribute* axes, ReadCollectiveAxes());
      HILO_RETURN_IF_ERROR(cursor_.Expect(">"));
      return axes;
    }
    return cursor_.Expected("manual_axes, axis_ref or a list of axes");
  }
  if (name == "stablehlo.output_operand_alias") return ReadAlias(depth);
  for (const auto& [word, kind] :
       {std::pair("stablehlo.replica_group_mesh_axes", Kind::kMeshGroups), std::pair("stablehlo.mesh", Kind::kMesh),
        std::pair("stablehlo.mesh_axis", Kind::kMeshAxis), std::pair("stablehlo.axis_ref", Kind::kAxisRef)}) {
    if (name == word) return ReadMeshPart(kind, depth);
  }
  Attribute* attribute = module_.AddAttribute();
  if (name == "stablehlo.conv") {
    attribute->kind = Kind::kDictionary;
    HILO_RETURN_IF_ERROR(cursor_.Expect("<"));
    if (cursor_.TakeWord("raw")) {  // numbers by their names, of which [b, f, 0, 1]x... is short
      HILO_RETURN_IF_ERROR(ReadEntries(">", depth, &attribute->entries));
      return attribute;
    }
    HILO_RETURN_IF_ERROR(ReadConvolutionDimensions(&attribute->entries));
    HILO_RETURN_IF_ERROR(cursor_.Expect(">"));
    return attribute;
  }
  for (absl::string_view structure : {"stablehlo.gather", "stablehlo.scatter", "stablehlo.dot",
                                      "stablehlo.channel_handle", "stablehlo.dot_algorithm", "chlo.ragged_dot"}) {
    if (name != structure) continue;
    attribute->kind = Kind::kDictionary;
    HILO_RETURN_IF_ERROR(cursor_.Expect("<"));
    HILO_RETURN_IF_ERROR(ReadEntries(">", depth, &attribute->entries));
    return attribute;
  }
  attribute->text = module_.AddString(name);
  HILO_RETURN_IF_ERROR(cursor_.SkipBrackets());
  return attribute;
}

}  // namespace hilo::stablehlo
