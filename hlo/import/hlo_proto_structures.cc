// The attributes that are separate messages: windows, paddings, dimension labels, aliases ...
#include <utility>

#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/import/hlo_proto_shape.h"
#include "hlo/import/hlo_proto_text.h"
#include "hlo/ops/linalg/convolution_attributes.h"
#include "hlo/ops/table/op_attributes.h"

namespace hilo {
namespace {

using OptionalText = std::optional<std::string>;

// ---- windows, paddings, slices, precisions: their structs have codecs ----

absl::Status EncodeWindow(absl::string_view text, int field, WireWriter* out) {
  Window window;
  HILO_RETURN_IF_ERROR(FieldFromText(text, &window));
  WireWriter message;
  for (const Window::Dimension& dimension : window.dimensions) {
    WireWriter written;
    written.Int(1, dimension.size);
    written.Int(2, dimension.stride);
    written.Int(3, dimension.padding_low);
    written.Int(4, dimension.padding_high);
    written.Int(5, dimension.window_dilation);
    written.Int(6, dimension.base_dilation);
    written.Bool(7, dimension.window_reversal);
    message.Message(1, written);
  }
  out->Message(field, message);
  return absl::OkStatus();
}
absl::StatusOr<OptionalText> DecodeWindow(const WireMessage& message, int field) {
  HILO_ASSIGN_OR_RETURN(const WireMessage proto, message.Message(field));
  HILO_ASSIGN_OR_RETURN(const std::vector<WireMessage> dimensions, proto.Messages(1));
  if (dimensions.empty()) return OptionalText();
  Window window;
  for (const WireMessage& dimension : dimensions) {
    window.dimensions.push_back({.size = dimension.Int(1),
                                 .stride = dimension.Int(2),
                                 .padding_low = dimension.Int(3),
                                 .padding_high = dimension.Int(4),
                                 .base_dilation = dimension.Int(6),
                                 .window_dilation = dimension.Int(5),
                                 .window_reversal = dimension.Bool(7)});
  }
  return FieldToText(window);
}

absl::Status EncodePadding(absl::string_view text, int field, WireWriter* out) {
  PaddingConfig padding;
  HILO_RETURN_IF_ERROR(FieldFromText(text, &padding));
  WireWriter message;
  for (const PaddingConfig::Dimension& dimension : padding.dimensions) {
    WireWriter written;
    written.Int(1, dimension.edge_padding_low);
    written.Int(2, dimension.edge_padding_high);
    written.Int(3, dimension.interior_padding);
    message.Message(1, written);
  }
  out->Message(field, message);
  return absl::OkStatus();
}
absl::StatusOr<OptionalText> DecodePadding(const WireMessage& message, int field) {
  HILO_ASSIGN_OR_RETURN(const WireMessage proto, message.Message(field));
  HILO_ASSIGN_OR_RETURN(const std::vector<WireMessage> dimensions, proto.Messages(1));
  if (dimensions.empty()) return OptionalText();
  PaddingConfig padding;
  for (const WireMessage& dimension : dimensions) {
    padding.dimensions.push_back({dimension.Int(1), dimension.Int(2), dimension.Int(3)});
  }
  return FieldToText(padding);
}

absl::Status EncodeSlice(absl::string_view text, int field, WireWriter* out) {
  std::vector<SliceRange> ranges;
  HILO_RETURN_IF_ERROR(FieldFromText(text, &ranges));
  for (const SliceRange& range : ranges) {
    WireWriter written;
    written.Int(1, range.start);
    written.Int(2, range.limit);
    written.Int(3, range.stride);
    out->Message(field, written);
  }
  return absl::OkStatus();
}
absl::StatusOr<OptionalText> DecodeSlice(const WireMessage& message, int field) {
  HILO_ASSIGN_OR_RETURN(const std::vector<WireMessage> protos, message.Messages(field));
  std::vector<SliceRange> ranges;
  for (const WireMessage& proto : protos) ranges.push_back({proto.Int(1), proto.Int(2), proto.Int(3)});
  return ranges.empty() ? OptionalText() : FieldToText(ranges);
}

absl::Status EncodePrecision(absl::string_view text, int field, WireWriter* out) {
  std::vector<Precision> precisions;
  HILO_RETURN_IF_ERROR(FieldFromText(text, &precisions));
  std::vector<int64_t> values;
  for (const Precision precision : precisions) values.push_back(static_cast<int64_t>(precision));
  out->Ints(field, values);
  return absl::OkStatus();
}
absl::StatusOr<OptionalText> DecodePrecision(const WireMessage& message, int field) {
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> values, message.Ints(field));
  std::vector<Precision> precisions;
  bool all_default = true;
  for (const int64_t value : values) {
    HILO_RETURN_IF_ERROR(EnumText(value, EnumNames<Precision>::names).status());
    precisions.push_back(static_cast<Precision>(value));
    all_default &= value == 0;
  }
  return all_default ? OptionalText() : FieldToText(precisions);
}

// ---- dimension labels ----

absl::Status EncodeDimLabels(absl::string_view text, int field, WireWriter* out) {
  ConvolutionDimensionNumbers numbers;
  HILO_RETURN_IF_ERROR(FieldFromText(text, &numbers));
  WireWriter message;
  message.Int(7, numbers.input_batch_dimension());
  message.Int(8, numbers.input_feature_dimension());
  message.Ints(11, numbers.input_spatial_dimensions());
  message.Int(3, numbers.kernel_input_feature_dimension());
  message.Int(4, numbers.kernel_output_feature_dimension());
  message.Ints(6, numbers.kernel_spatial_dimensions());
  message.Int(9, numbers.output_batch_dimension());
  message.Int(10, numbers.output_feature_dimension());
  message.Ints(12, numbers.output_spatial_dimensions());
  out->Message(field, message);
  return absl::OkStatus();
}
absl::StatusOr<OptionalText> DecodeDimLabels(const WireMessage& message, int field) {
  if (!message.Has(field)) return OptionalText();
  HILO_ASSIGN_OR_RETURN(const WireMessage proto, message.Message(field));
  ConvolutionDimensionNumbers numbers;
  numbers.set_input_batch_dimension(proto.Int(7));
  numbers.set_input_feature_dimension(proto.Int(8));
  HILO_ASSIGN_OR_RETURN(*numbers.mutable_input_spatial_dimensions(), proto.Ints(11));
  numbers.set_kernel_input_feature_dimension(proto.Int(3));
  numbers.set_kernel_output_feature_dimension(proto.Int(4));
  HILO_ASSIGN_OR_RETURN(*numbers.mutable_kernel_spatial_dimensions(), proto.Ints(6));
  numbers.set_output_batch_dimension(proto.Int(9));
  numbers.set_output_feature_dimension(proto.Int(10));
  HILO_ASSIGN_OR_RETURN(*numbers.mutable_output_spatial_dimensions(), proto.Ints(12));
  return FieldToText(numbers);
}

// ---- aliases: "{{0}: (1, {})}" ----

absl::Status EncodeOutputAliasing(absl::string_view text, int field, WireWriter* out) {
  ValueCursor cursor(text);
  HILO_RETURN_IF_ERROR(cursor.Expect("{", "before the aliases"));
  if (!cursor.Consume("}")) {
    do {
      WireWriter alias;
      HILO_ASSIGN_OR_RETURN(const ShapeIndex output, cursor.ReadShapeIndex());
      HILO_RETURN_IF_ERROR(cursor.Expect(":", "after an output index"));
      HILO_RETURN_IF_ERROR(cursor.Expect("(", "before an operand"));
      HILO_ASSIGN_OR_RETURN(const int64_t operand, cursor.Integer("an operand's number"));
      HILO_RETURN_IF_ERROR(cursor.Expect(",", "after an operand's number"));
      HILO_ASSIGN_OR_RETURN(const ShapeIndex index, cursor.ReadShapeIndex());
      HILO_RETURN_IF_ERROR(cursor.Expect(")", "after an operand"));
      alias.Ints(1, output);
      alias.Int(2, operand);
      alias.Ints(3, index);
      out->Message(field, alias);
    } while (cursor.Consume(","));
    HILO_RETURN_IF_ERROR(cursor.Expect("}", "after the aliases"));
  }
  return cursor.End();
}
absl::StatusOr<OptionalText> DecodeOutputAliasing(const WireMessage& message, int field) {
  HILO_ASSIGN_OR_RETURN(const std::vector<WireMessage> protos, message.Messages(field));
  std::vector<std::string> aliases;
  for (const WireMessage& proto : protos) {
    HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> output, proto.Ints(1));
    HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> index, proto.Ints(3));
    aliases.push_back(absl::StrCat(FieldToText(output), ": (", proto.Int(2), ", ", FieldToText(index), ")"));
  }
  return aliases.empty() ? OptionalText() : absl::StrCat("{", absl::StrJoin(aliases, ", "), "}");
}

// ---- shapes and literals ----

absl::Status EncodeShape(absl::string_view text, int field, WireWriter* out) {
  HILO_ASSIGN_OR_RETURN(const Shape shape, ParseShape(text));
  HILO_ASSIGN_OR_RETURN(const WireWriter written, ShapeToProto(shape));
  out->Message(field, written);
  return absl::OkStatus();
}
absl::StatusOr<OptionalText> DecodeShape(const WireMessage& message, int field) {
  if (!message.Has(field)) return OptionalText();
  HILO_ASSIGN_OR_RETURN(const WireMessage proto, message.Message(field));
  HILO_ASSIGN_OR_RETURN(const Shape shape, ShapeFromProto(proto));
  return shape.ToString(/*print_layout=*/true);
}

absl::Status EncodeShapes(absl::string_view text, int field, WireWriter* out) {
  ValueCursor cursor(text);
  HILO_RETURN_IF_ERROR(cursor.Expect("{", "before a list of shapes"));
  if (!cursor.Consume("}")) {
    do {
      HILO_ASSIGN_OR_RETURN(const Shape shape, cursor.ReadShape());
      HILO_ASSIGN_OR_RETURN(const WireWriter written, ShapeToProto(shape));
      out->Message(field, written);
    } while (cursor.Consume(","));
    HILO_RETURN_IF_ERROR(cursor.Expect("}", "after a list of shapes"));
  }
  return cursor.End();
}
absl::StatusOr<OptionalText> DecodeShapes(const WireMessage& message, int field) {
  HILO_ASSIGN_OR_RETURN(const std::vector<WireMessage> protos, message.Messages(field));
  std::vector<std::string> shapes;
  for (const WireMessage& proto : protos) {
    HILO_ASSIGN_OR_RETURN(const Shape shape, ShapeFromProto(proto));
    shapes.push_back(shape.ToString(/*print_layout=*/true));
  }
  return shapes.empty() ? OptionalText() : absl::StrCat("{", absl::StrJoin(shapes, ", "), "}");
}

absl::Status EncodeLiteral(absl::string_view text, int field, WireWriter* out) {
  HILO_ASSIGN_OR_RETURN(const Literal literal, ParseLiteral(text));
  HILO_ASSIGN_OR_RETURN(const WireWriter written, LiteralToProto(literal, literal.shape()));
  out->Message(field, written);
  return absl::OkStatus();
}
absl::StatusOr<OptionalText> DecodeLiteral(const WireMessage& message, int field) {
  if (!message.Has(field)) return OptionalText();
  HILO_ASSIGN_OR_RETURN(const WireMessage proto, message.Message(field));
  HILO_ASSIGN_OR_RETURN(const Literal literal, LiteralFromProto(proto));
  return absl::StrCat(literal.shape().ToString(/*print_layout=*/true), " ", literal.ToString(/*with_shape=*/false));
}

// ---- notes ----

// {name="value",other={x = 1}}: a value that is a dictionary is written without quotes.
absl::Status EncodeFrontendAttributes(absl::string_view text, int field, WireWriter* out) {
  ValueCursor cursor(text);
  WireWriter map;
  HILO_RETURN_IF_ERROR(cursor.Expect("{", "before the frontend's attributes"));
  if (!cursor.Consume("}")) {
    do {
      WireWriter entry;
      HILO_ASSIGN_OR_RETURN(const absl::string_view name, cursor.Name("a frontend attribute"));
      HILO_RETURN_IF_ERROR(cursor.Expect("=", "after the name of a frontend attribute"));
      HILO_ASSIGN_OR_RETURN(const absl::string_view value, cursor.RawValue());
      entry.PutBytes(1, name);
      HILO_RETURN_IF_ERROR(kConfigCodec.encode(value, 2, &entry));
      map.Message(1, entry);
    } while (cursor.Consume(","));
    HILO_RETURN_IF_ERROR(cursor.Expect("}", "after the frontend's attributes"));
  }
  out->Message(field, map);
  return cursor.End();
}
absl::StatusOr<OptionalText> DecodeFrontendAttributes(const WireMessage& message, int field) {
  HILO_ASSIGN_OR_RETURN(const WireMessage proto, message.Message(field));
  HILO_ASSIGN_OR_RETURN(const std::vector<WireMessage> entries, proto.Messages(1));
  std::vector<std::string> texts;
  for (const WireMessage& entry : entries) {
    HILO_ASSIGN_OR_RETURN(const OptionalText value, kConfigCodec.decode(entry, 2));
    HILO_ASSIGN_OR_RETURN(const std::string name, WordFromProto(entry.Bytes(1)));
    texts.push_back(absl::StrCat(name, "=", value.value_or("\"\"")));
  }
  return texts.empty() ? OptionalText() : absl::StrCat("{", absl::StrJoin(texts, ","), "}");
}

// {visualizing_index=0,name=1.5,other=2}
absl::Status EncodeStatistics(absl::string_view text, int field, WireWriter* out) {
  ValueCursor cursor(text);
  WireWriter message;
  HILO_RETURN_IF_ERROR(cursor.Expect("{", "before statistics"));
  do {
    HILO_ASSIGN_OR_RETURN(const absl::string_view name, cursor.Name("a statistic"));
    HILO_RETURN_IF_ERROR(cursor.Expect("=", "after the name of a statistic"));
    HILO_ASSIGN_OR_RETURN(const absl::string_view value, cursor.RawValue());
    if (name == "visualizing_index") {
      HILO_RETURN_IF_ERROR(kIntCodec.encode(value, 1, &message));
      continue;
    }
    double number = 0;
    HILO_RETURN_IF_ERROR(FieldFromText(value, &number));
    WireWriter statistic;
    statistic.PutBytes(1, name);
    statistic.Double(2, number);
    message.Message(2, statistic);
  } while (cursor.Consume(","));
  HILO_RETURN_IF_ERROR(cursor.Expect("}", "after statistics"));
  out->Message(field, message);
  return cursor.End();
}
absl::StatusOr<OptionalText> DecodeStatistics(const WireMessage& message, int field) {
  HILO_ASSIGN_OR_RETURN(const WireMessage proto, message.Message(field));
  HILO_ASSIGN_OR_RETURN(const std::vector<WireMessage> statistics, proto.Messages(2));
  if (statistics.empty()) return OptionalText();
  std::string text = absl::StrCat("{visualizing_index=", proto.Int(1));
  for (const WireMessage& statistic : statistics) {
    HILO_ASSIGN_OR_RETURN(const std::string name, WordFromProto(statistic.Bytes(1)));
    absl::StrAppend(&text, ",", name, "=", FieldToText(statistic.Double(2)));
  }
  return text + "}";
}

constexpr absl::string_view kAccuracyModes[] = {"default", "highest"};

// {mode=highest} or {tolerance={atol=0.1,rtol=0.2,ulps=3}}
absl::Status EncodeResultAccuracy(absl::string_view text, int field, WireWriter* out) {
  ValueCursor cursor(text);
  WireWriter message;
  HILO_RETURN_IF_ERROR(cursor.Expect("{", "before the accuracy"));
  if (cursor.Consume("mode=")) {
    HILO_ASSIGN_OR_RETURN(const int64_t mode, EnumValue(cursor.Word(), kAccuracyModes));
    message.PutInt(1, mode);
  } else {
    WireWriter tolerance;
    HILO_RETURN_IF_ERROR(cursor.Expect("tolerance={", "or mode= in an accuracy"));
    do {
      const absl::string_view name = cursor.Word();
      const int part = name == "atol" ? 1 : name == "rtol" ? 2 : 3;
      if (part == 3 && name != "ulps") return cursor.Expected("atol, rtol or ulps");
      HILO_RETURN_IF_ERROR(cursor.Expect("=", "in a tolerance"));
      HILO_ASSIGN_OR_RETURN(const absl::string_view value, cursor.RawValue());
      double number = 0;
      HILO_RETURN_IF_ERROR(part == 3 ? kIntCodec.encode(value, part, &tolerance) : FieldFromText(value, &number));
      if (part != 3) tolerance.Double(part, number);
    } while (cursor.Consume(","));
    HILO_RETURN_IF_ERROR(cursor.Expect("}", "after a tolerance"));
    message.Message(2, tolerance);
  }
  HILO_RETURN_IF_ERROR(cursor.Expect("}", "after the accuracy"));
  out->Message(field, message);
  return cursor.End();
}
absl::StatusOr<OptionalText> DecodeResultAccuracy(const WireMessage& message, int field) {
  HILO_ASSIGN_OR_RETURN(const WireMessage proto, message.Message(field));
  if (proto.Has(2)) {
    HILO_ASSIGN_OR_RETURN(const WireMessage tolerance, proto.Message(2));
    return absl::StrCat("{tolerance={atol=", FieldToText(tolerance.Double(1)),
                        ",rtol=", FieldToText(tolerance.Double(2)), ",ulps=", tolerance.Int(3), "}}");
  }
  if (proto.Int(1) == 0) return OptionalText();
  HILO_ASSIGN_OR_RETURN(const std::string mode, EnumText(proto.Int(1), kAccuracyModes));
  return absl::StrCat("{mode=", mode, "}");
}

}  // namespace

const AttributeCodec kWindowCodec = {&EncodeWindow, &DecodeWindow};
const AttributeCodec kPaddingCodec = {&EncodePadding, &DecodePadding};
const AttributeCodec kSliceCodec = {&EncodeSlice, &DecodeSlice};
const AttributeCodec kPrecisionCodec = {&EncodePrecision, &DecodePrecision};
const AttributeCodec kDimLabelsCodec = {&EncodeDimLabels, &DecodeDimLabels};
const AttributeCodec kOutputAliasingCodec = {&EncodeOutputAliasing, &DecodeOutputAliasing};
const AttributeCodec kShapeCodec = {&EncodeShape, &DecodeShape};
const AttributeCodec kShapesCodec = {&EncodeShapes, &DecodeShapes};
const AttributeCodec kLiteralCodec = {&EncodeLiteral, &DecodeLiteral};
const AttributeCodec kFrontendAttributesCodec = {&EncodeFrontendAttributes, &DecodeFrontendAttributes};
const AttributeCodec kStatisticsCodec = {&EncodeStatistics, &DecodeStatistics};
const AttributeCodec kResultAccuracyCodec = {&EncodeResultAccuracy, &DecodeResultAccuracy};

}  // namespace hilo
