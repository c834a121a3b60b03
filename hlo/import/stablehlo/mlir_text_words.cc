#include "hlo/import/stablehlo/mlir_text_words.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "hilo/status_macros.h"

namespace hilo::stablehlo {

enum class WordForm { kInteger, kList, kTwoLists, kWord, kString, kStructure, kAttribute, kFormat };
struct PrettyWord {
  absl::string_view operation, word, attribute;
  WordForm form;
};

namespace {

constexpr PrettyWord kPrettyWords[] = {
#define PRETTY_WORD(operation, word, attribute, form) {operation, word, attribute, WordForm::form},
#include "hlo/import/stablehlo/mlir_text_forms.def"
#undef PRETTY_WORD
};

}  // namespace

absl::Status MlirWordReader::ReadWord(Operation* operation) {
  const absl::string_view word = cursor_->Word();
  for (const PrettyWord& pretty : kPrettyWords) {
    if (pretty.operation != operation->name || pretty.word != word) continue;
    HILO_RETURN_IF_ERROR(cursor_->Expect("="));
    return ReadWordValue(operation, pretty);
  }
  return cursor_->Error(absl::StrCat("'", word, "' is no word of ", operation->name));
}

absl::Status MlirWordReader::ReadWordValue(Operation* operation, const PrettyWord& pretty) {
  switch (pretty.form) {
    case WordForm::kInteger: {
      HILO_ASSIGN_OR_RETURN(const int64_t value, cursor_->Integer());
      values_->AddEntry(pretty.attribute, values_->Integer(value), &operation->attributes);
      return absl::OkStatus();
    }
    case WordForm::kWord:
      values_->AddEntry(pretty.attribute, values_->Enum(cursor_->Word()), &operation->attributes);
      return absl::OkStatus();
    case WordForm::kString: {  // the text after a colon is not its type
      HILO_ASSIGN_OR_RETURN(std::string text, cursor_->String());
      values_->AddEntry(pretty.attribute, values_->String(std::move(text)), &operation->attributes);
      return absl::OkStatus();
    }
    case WordForm::kList:
    case WordForm::kAttribute: {
      HILO_ASSIGN_OR_RETURN(const Attribute* value, values_->ReadAttribute());
      values_->AddEntry(pretty.attribute, value, &operation->attributes);
      return absl::OkStatus();
    }
    case WordForm::kTwoLists:
      for (absl::string_view side : {"lhs_", "rhs_"}) {
        if (side == "rhs_") HILO_RETURN_IF_ERROR(cursor_->Expect("x"));
        HILO_ASSIGN_OR_RETURN(const Attribute* list, values_->ReadList());
        values_->AddEntry(module_->AddString(absl::StrCat(side, pretty.attribute)), list, &operation->attributes);
      }
      return absl::OkStatus();
    case WordForm::kStructure: return values_->ReadStructure(&operation->attributes);
    case WordForm::kFormat: {
      // "e5m10".
      absl::string_view format = cursor_->Word();
      const size_t split = format.find('m');
      int64_t exponent, mantissa;
      if (!absl::ConsumePrefix(&format, "e") || split == absl::string_view::npos ||
          !absl::SimpleAtoi(format.substr(0, split - 1), &exponent) ||
          !absl::SimpleAtoi(format.substr(split), &mantissa)) {
        return cursor_->Error("expected a format such as e5m10");
      }
      values_->AddEntry("exponent_bits", values_->Integer(exponent), &operation->attributes);
      values_->AddEntry("mantissa_bits", values_->Integer(mantissa), &operation->attributes);
      return absl::OkStatus();
    }
  }
  return absl::OkStatus();
}

absl::Status MlirWordReader::ReadBehindOperands(Operation* operation) {
  const absl::string_view name = operation->name;
  if (name == "stablehlo.slice") return ReadSliceRanges(operation);
  if (name == "stablehlo.get_tuple_element") {
    HILO_RETURN_IF_ERROR(cursor_->Expect("["));
    HILO_ASSIGN_OR_RETURN(const int64_t index, cursor_->Integer());
    values_->AddEntry("index", values_->Integer(index), &operation->attributes);
    return cursor_->Expect("]");
  }
  if (name == "stablehlo.convolution" || name == "stablehlo.dynamic_conv") return ReadConvolution(operation);
  if (name == "sdy.sharding_constraint" || name == "sdy.reshard") {
    HILO_ASSIGN_OR_RETURN(const Attribute* sharding, values_->ReadSharding());
    values_->AddEntry("sharding", sharding, &operation->attributes);
  } else if (absl::StartsWith(name, "sdy.") && cursor_->TakeWord("out_sharding")) {  // of collectives
    HILO_RETURN_IF_ERROR(cursor_->Expect("="));
    HILO_ASSIGN_OR_RETURN(const Attribute* sharding, values_->ReadSharding());
    values_->AddEntry("out_sharding", sharding, &operation->attributes);
  } else if (name == "sdy.sharding_group") {
    HILO_RETURN_IF_ERROR(cursor_->Expect("group_id"));
    HILO_RETURN_IF_ERROR(cursor_->Expect("="));
    HILO_ASSIGN_OR_RETURN(const int64_t group, cursor_->Integer());
    values_->AddEntry("group_id", values_->Integer(group), &operation->attributes);
  } else if (name == "sdy.propagation_barrier") {
    HILO_RETURN_IF_ERROR(cursor_->Expect("allowed_direction"));
    HILO_RETURN_IF_ERROR(cursor_->Expect("="));
    values_->AddEntry("allowed_direction", values_->Enum(cursor_->Word()), &operation->attributes);
  }
  return absl::OkStatus();
}

Attribute* MlirWordReader::NewIntegers() {
  Attribute* integers = module_->AddAttribute();
  integers->kind = Attribute::Kind::kIntegers;
  return integers;
}

// "[1:4:2, 0:5]".
absl::Status MlirWordReader::ReadSliceRanges(Operation* operation) {
  Attribute* lists[] = {NewIntegers(), NewIntegers(), NewIntegers()};
  HILO_RETURN_IF_ERROR(cursor_->Expect("["));
  while (!cursor_->Take("]")) {
    HILO_ASSIGN_OR_RETURN(lists[0]->integers.emplace_back(), cursor_->Integer());
    HILO_RETURN_IF_ERROR(cursor_->Expect(":"));
    HILO_ASSIGN_OR_RETURN(lists[1]->integers.emplace_back(), cursor_->Integer());
    lists[2]->integers.push_back(1);
    if (cursor_->Take(":")) {
      HILO_ASSIGN_OR_RETURN(lists[2]->integers.back(), cursor_->Integer());
    }
    if (!cursor_->Take(",") && !cursor_->At("]")) return cursor_->Expected("',' or ']'");
  }
  values_->AddEntry("start_indices", lists[0], &operation->attributes);
  values_->AddEntry("limit_indices", lists[1], &operation->attributes);
  values_->AddEntry("strides", lists[2], &operation->attributes);
  return absl::OkStatus();
}

// "dim_numbers = [..]x[..]->[..], window = {stride = [1, 1], pad = [[1, 1], [0, 1]], ...}".
absl::Status MlirWordReader::ReadConvolution(Operation* operation) {
  HILO_RETURN_IF_ERROR(cursor_->Expect("dim_numbers"));
  HILO_RETURN_IF_ERROR(cursor_->Expect("="));
  HILO_RETURN_IF_ERROR(values_->ReadConvolutionDimensions(&operation->attributes));
  HILO_RETURN_IF_ERROR(cursor_->Expect(","));
  HILO_RETURN_IF_ERROR(cursor_->Expect("window"));
  HILO_RETURN_IF_ERROR(cursor_->Expect("="));
  HILO_RETURN_IF_ERROR(cursor_->Expect("{"));
  std::vector<NamedAttribute> entries;
  HILO_RETURN_IF_ERROR(values_->ReadEntries("}", &entries));
  struct Name {
    absl::string_view pretty, attribute;
  };
  static constexpr Name kNames[] = {{"stride", "window_strides"},
                                    {"pad", "padding"},
                                    {"lhs_dilate", "lhs_dilation"},
                                    {"rhs_dilate", "rhs_dilation"},
                                    {"reverse", "window_reversal"}};
  for (const NamedAttribute& entry : entries) {
    for (const Name& name : kNames) {
      if (name.pretty != entry.name) continue;
      // A list of lists is one after another.
      Attribute* flat = module_->AddAttribute();
      flat->kind = Attribute::Kind::kArray;
      for (const Attribute* element : entry.value->elements) {
        if (element->kind != Attribute::Kind::kArray) flat->elements.push_back(element);
        for (const Attribute* inner : element->elements) flat->elements.push_back(inner);
      }
      values_->AddEntry(name.attribute, flat, &operation->attributes);
    }
  }
  return absl::OkStatus();
}

}  // namespace hilo::stablehlo
