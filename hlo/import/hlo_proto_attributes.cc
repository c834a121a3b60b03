// One row per attribute: its name in text, the path of its field, and its codec. A field within a message of the
// instruction, such as the dimension numbers of a dot, is found by a path. Rows of an op are in the order of HLO
// text.
#include "hlo/import/hlo_proto_attributes.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/import/hlo_proto_text.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo {
namespace {

using Path =
    std::array<int, 3>;  // field in the instruction, in the message there, in the message there; 0 after the end

struct Row {
  absl::string_view name;
  Path path;
  const AttributeCodec& codec;
  // The value of an attribute that text leaves out, if that is not zero or empty on the wire.
  const char* default_text = nullptr;
  bool required = false;  // an instruction without the field is wrong
};

// ---- names of enumerations, in order of their values ----

constexpr absl::string_view kFftTypes[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
constexpr absl::string_view kDistributions[] = {"rng_invalid", "rng_uniform", "rng_normal"};
constexpr absl::string_view kRandomAlgorithms[] = {"rng_default", "rng_three_fry", "rng_philox"};
constexpr absl::string_view kTransposes[] = {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};
constexpr absl::string_view kApiVersions[] = {"API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL",
                                              "API_VERSION_STATUS_RETURNING", "API_VERSION_STATUS_RETURNING_UNIFIED",
                                              "API_VERSION_TYPED_FFI"};
constexpr absl::string_view kSchedules[] = {"SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST"};
constexpr absl::string_view kPaddingTypes[] = {"PADDING_INVALID", "PADDING_VALID", "PADDING_SAME"};
constexpr absl::string_view kTriStates[] = {"unspecified", "true", "false"};
constexpr absl::string_view kAlgorithms[] = {"unset",
                                             "dot_any_f8_any_f8_f32",
                                             "dot_any_f8_any_f8_f32_fast_accum",
                                             "dot_f16_f16_f16",
                                             "dot_f16_f16_f32",
                                             "dot_bf16_bf16_bf16",
                                             "dot_bf16_bf16_f32",
                                             "dot_bf16_bf16_f32_x3",
                                             "dot_bf16_bf16_f32_x6",
                                             "dot_tf32_tf32_f32",
                                             "dot_tf32_tf32_f32_x3",
                                             "dot_f32_f32_f32",
                                             "dot_f64_f64_f64",
                                             "dot_bf16_bf16_f32_x9"};

// ---- rows ----

constexpr int kDotNumbers = 30, kRaggedDotNumbers = 90, kGatherNumbers = 33, kScatterNumbers = 48,
              kTriangularSolve = 59;

const Row kDimensions = {"dimensions", {14}, kIntsCodec};
const Row kWindow = {"window", {15}, kWindowCodec, "{}"};
const Row kDimLabels = {"dim_labels", {16}, kDimLabelsCodec, nullptr, true};
const Row kFeatureGroups = {"feature_group_count", {50}, kIntCodec, "1"};
const Row kBatchGroups = {"batch_group_count", {58}, kIntCodec, "1"};
const Row kOperandPrecision = {"operand_precision", {51, 1}, kPrecisionCodec};
const Row kChannelId = {"channel_id", {26}, kIntCodec};
const Row kReplicaGroups = {"replica_groups", {87}, kReplicaGroupsCodec};
const Row kConstrainLayout = {"constrain_layout", {56}, kBoolCodec};
const Row kGlobalIds = {"use_global_device_ids", {71}, kBoolCodec};
const Row kOutputAliasing = {"output_to_operand_aliasing", {74}, kOutputAliasingCodec};
const Row kSorted = {"indices_are_sorted", {67}, kBoolCodec};
const Row kThread = {"async_execution_thread", {79}, kStringCodec};

const Row kDotRows[] = {{"lhs_batch_dims", {kDotNumbers, 3}, kIntsCodec},
                        {"lhs_contracting_dims", {kDotNumbers, 1}, kIntsCodec},
                        {"rhs_batch_dims", {kDotNumbers, 4}, kIntsCodec},
                        {"rhs_contracting_dims", {kDotNumbers, 2}, kIntsCodec},
                        kOperandPrecision,
                        {"algorithm", {51, 2}, kEnumCodec<kAlgorithms>}};
const Row kRaggedDotRows[] = {{"lhs_batch_dims", {kRaggedDotNumbers, 1, 3}, kIntsCodec},
                              {"lhs_contracting_dims", {kRaggedDotNumbers, 1, 1}, kIntsCodec},
                              {"rhs_batch_dims", {kRaggedDotNumbers, 1, 4}, kIntsCodec},
                              {"rhs_contracting_dims", {kRaggedDotNumbers, 1, 2}, kIntsCodec},
                              {"lhs_ragged_dims", {kRaggedDotNumbers, 2}, kIntsCodec},
                              {"rhs_group_dims", {kRaggedDotNumbers, 3}, kIntsCodec},
                              kOperandPrecision};
const Row kGatherRows[] = {{"offset_dims", {kGatherNumbers, 1}, kIntsCodec},
                           {"collapsed_slice_dims", {kGatherNumbers, 2}, kIntsCodec},
                           {"start_index_map", {kGatherNumbers, 3}, kIntsCodec},
                           {"operand_batching_dims", {kGatherNumbers, 5}, kIntsCodec},
                           {"start_indices_batching_dims", {kGatherNumbers, 6}, kIntsCodec},
                           {"index_vector_dim", {kGatherNumbers, 4}, kIntCodec},
                           {"slice_sizes", {34}, kIntsCodec},
                           kSorted};
const Row kScatterRows[] = {{"update_window_dims", {kScatterNumbers, 1}, kIntsCodec},
                            {"inserted_window_dims", {kScatterNumbers, 2}, kIntsCodec},
                            {"scatter_dims_to_operand_dims", {kScatterNumbers, 3}, kIntsCodec},
                            {"input_batching_dims", {kScatterNumbers, 5}, kIntsCodec},
                            {"scatter_indices_batching_dims", {kScatterNumbers, 6}, kIntsCodec},
                            {"index_vector_dim", {kScatterNumbers, 4}, kIntCodec},
                            kSorted,
                            {"unique_indices", {69}, kBoolCodec}};
const Row kConvolutionRows[] = {kWindow, kDimLabels, kFeatureGroups, kBatchGroups, kOperandPrecision};
const Row kCustomCallRows[] = {{"window", {15}, kWindowCodec},
                               {"dim_labels", {16}, kDimLabelsCodec},
                               kFeatureGroups,
                               kBatchGroups,
                               {"padding_type", {75}, kEnumCodec<kPaddingTypes>},
                               kOperandPrecision,
                               {"custom_call_target", {28}, kStringCodec},
                               {"literal", {8}, kLiteralCodec},
                               {"operand_layout_constraints", {57}, kShapesCodec},
                               {"custom_call_has_side_effect", {65}, kBoolCodec},
                               kOutputAliasing,
                               {"schedule", {76}, kEnumCodec<kSchedules>},
                               {"api_version", {77}, kEnumCodec<kApiVersions>, "API_VERSION_ORIGINAL"}};
const Row kCollectiveRows[] = {kChannelId, kReplicaGroups, kConstrainLayout, kDimensions, kGlobalIds};
const Row kPermuteRows[] = {
    kChannelId, {"source_target_pairs", {52}, kSourceTargetPairsCodec}, {"slice_sizes", {20}, kNestedIntsCodec}};
const Row kTransferRows[] = {kChannelId, {"is_host_transfer", {47}, kBoolCodec}};
const Row kAsyncRows[] = {kThread};
const Row kParameterRows[] = {{"parameter_replication", {61, 1}, kBoolsCodec}};
const Row kCallRows[] = {{"is_composite", {89}, kBoolCodec}, kOutputAliasing};
const Row kCompareRows[] = {
    {"direction", {63}, kWordCodec, nullptr, true}, {"type", {72}, kWordCodec}, {"order", {102}, kWordCodec}};
const Row kDimensionsRows[] = {kDimensions};
const Row kDynamicSliceRows[] = {{"dynamic_slice_sizes", {20}, kIntsCodec}};
const Row kFftRows[] = {{"fft_type", {31}, kEnumCodec<kFftTypes>}, {"fft_length", {32}, kIntsCodec}};
const Row kFusionRows[] = {{"kind", {11}, kWordCodec, nullptr, true}, kOutputAliasing};
const Row kBatchNormRows[] = {{"epsilon", {24}, kFloatCodec}, {"feature_index", {25}, kIntCodec}};
const Row kCholeskyRows[] = {{"lower", {62, 1}, kBoolCodec}};
const Row kCopyStartRows[] = {{"cross_program_prefetch_index", {80}, kPresentIntCodec}};
const Row kTupleElementRows[] = {{"index", {13}, kIntCodec}};
const Row kInfeedRows[] = {{"infeed_config", {27}, kStringCodec}};
const Row kOutfeedRows[] = {{"outfeed_shape", {29}, kShapeCodec}, {"outfeed_config", {22}, kStringCodec}};
const Row kIotaRows[] = {{"iota_dimension", {14}, kSingleIntCodec}};
const Row kReshapeRows[] = {{"inferred_dimension", {14}, kOptionalIntCodec}};
const Row kPadRows[] = {{"padding", {21}, kPaddingCodec, ""}};
const Row kReducePrecisionRows[] = {{"exponent_bits", {18}, kIntCodec}, {"mantissa_bits", {19}, kIntCodec}};
const Row kWindowRows[] = {kWindow};
const Row kRngRows[] = {{"distribution", {23}, kEnumCodec<kDistributions>}};
const Row kRngBitsRows[] = {{"algorithm", {70}, kEnumCodec<kRandomAlgorithms>}};
const Row kRngStateRows[] = {{"delta", {66}, kIntCodec}};
const Row kScanRows[] = {kDimensions,
                         {"is_reverse", {94}, kBoolCodec},
                         {"num_carries", {95}, kIntCodec},
                         {"is_associative", {96}, kEnumCodec<kTriStates>, "false"}};
const Row kSliceRows[] = {{"slice", {17}, kSliceCodec}};
const Row kIsStable = {"is_stable", {60}, kBoolCodec};
const Row kSortRows[] = {kDimensions, kIsStable};
const Row kTopKRows[] = {{"k", {81}, kIntCodec}, {"largest", {85}, kBoolCodec}, kIsStable};
const Row kTriangularSolveRows[] = {{"left_side", {kTriangularSolve, 1}, kBoolCodec},
                                    {"lower", {kTriangularSolve, 2}, kBoolCodec},
                                    {"unit_diagonal", {kTriangularSolve, 3}, kBoolCodec},
                                    {"transpose_a", {kTriangularSolve, 4}, kEnumCodec<kTransposes>}};

// Attributes of any op, after its own.
const Row kCommonRows[] = {{"sharding", {40}, kShardingCodec},
                           {"frontend_attributes", {68}, kFrontendAttributesCodec},
                           {"statistics", {82}, kStatisticsCodec},
                           {"result_accuracy", {91}, kResultAccuracyCodec},
                           {"backend_config", {43}, kConfigCodec}};

// A list of rows.
struct Rows {
  const Row* begin = nullptr;
  size_t count = 0;

  constexpr Rows() = default;
  template <size_t kCount>
  constexpr Rows(const Row (&rows)[kCount]) : begin(rows), count(kCount) {}
};

constexpr OpcodeMap<Rows> kRows = {
    {HloOpcode::kAllGather, kCollectiveRows},
    {HloOpcode::kAllGatherStart, kCollectiveRows},
    {HloOpcode::kAllReduce, kCollectiveRows},
    {HloOpcode::kAllReduceStart, kCollectiveRows},
    {HloOpcode::kAllToAll, kCollectiveRows},
    {HloOpcode::kAsyncDone, kAsyncRows},
    {HloOpcode::kAsyncStart, kAsyncRows},
    {HloOpcode::kAsyncUpdate, kAsyncRows},
    {HloOpcode::kBatchNormGrad, kBatchNormRows},
    {HloOpcode::kBatchNormInference, kBatchNormRows},
    {HloOpcode::kBatchNormTraining, kBatchNormRows},
    {HloOpcode::kBroadcast, kDimensionsRows},
    {HloOpcode::kCall, kCallRows},
    {HloOpcode::kCholesky, kCholeskyRows},
    {HloOpcode::kCollectiveBroadcast, kCollectiveRows},
    {HloOpcode::kCollectivePermute, kPermuteRows},
    {HloOpcode::kCollectivePermuteStart, kPermuteRows},
    {HloOpcode::kCompare, kCompareRows},
    {HloOpcode::kConcatenate, kDimensionsRows},
    {HloOpcode::kConvolution, kConvolutionRows},
    {HloOpcode::kCopyStart, kCopyStartRows},
    {HloOpcode::kCustomCall, kCustomCallRows},
    {HloOpcode::kDot, kDotRows},
    {HloOpcode::kDynamicSlice, kDynamicSliceRows},
    {HloOpcode::kFft, kFftRows},
    {HloOpcode::kFusion, kFusionRows},
    {HloOpcode::kGather, kGatherRows},
    {HloOpcode::kGetDimensionSize, kDimensionsRows},
    {HloOpcode::kGetTupleElement, kTupleElementRows},
    {HloOpcode::kInfeed, kInfeedRows},
    {HloOpcode::kIota, kIotaRows},
    {HloOpcode::kMap, kDimensionsRows},
    {HloOpcode::kOutfeed, kOutfeedRows},
    {HloOpcode::kPad, kPadRows},
    {HloOpcode::kParameter, kParameterRows},
    {HloOpcode::kRaggedAllToAll, kCollectiveRows},
    {HloOpcode::kRaggedDot, kRaggedDotRows},
    {HloOpcode::kRecv, kTransferRows},
    {HloOpcode::kRecvDone, kTransferRows},
    {HloOpcode::kReduce, kDimensionsRows},
    {HloOpcode::kReducePrecision, kReducePrecisionRows},
    {HloOpcode::kReduceScatter, kCollectiveRows},
    {HloOpcode::kReduceWindow, kWindowRows},
    {HloOpcode::kReshape, kReshapeRows},
    {HloOpcode::kReverse, kDimensionsRows},
    {HloOpcode::kRng, kRngRows},
    {HloOpcode::kRngBitGenerator, kRngBitsRows},
    {HloOpcode::kRngGetAndUpdateState, kRngStateRows},
    {HloOpcode::kScaledDot, kDotRows},
    {HloOpcode::kScan, kScanRows},
    {HloOpcode::kScatter, kScatterRows},
    {HloOpcode::kSelectAndScatter, kWindowRows},
    {HloOpcode::kSend, kTransferRows},
    {HloOpcode::kSendDone, kTransferRows},
    {HloOpcode::kSetDimensionSize, kDimensionsRows},
    {HloOpcode::kSlice, kSliceRows},
    {HloOpcode::kSort, kSortRows},
    {HloOpcode::kTopK, kTopKRows},
    {HloOpcode::kTranspose, kDimensionsRows},
    {HloOpcode::kTriangularSolve, kTriangularSolveRows},
};
absl::Span<const Row> RowsOf(HloOpcode opcode) { return {kRows[opcode].begin, kRows[opcode].count}; }

// {kind="sharding", entry={...}, exit={...}}. The wire calls what text calls the exit the entry, and the other way
// round.
absl::Status EncodeDomain(absl::string_view text, WireWriter* out) {
  ValueCursor cursor(text);
  HILO_RETURN_IF_ERROR(cursor.Expect("{", "before a domain"));
  do {
    HILO_ASSIGN_OR_RETURN(const absl::string_view name, cursor.Name("a part of a domain"));
    HILO_RETURN_IF_ERROR(cursor.Expect("=", "after the name of a part of a domain"));
    HILO_ASSIGN_OR_RETURN(const absl::string_view value, cursor.RawValue());
    if (name == "kind" && value != "\"sharding\"")
      return Unimplemented("HloInstructionProto has no field for a domain of kind ", value);
    if (name == "entry" || name == "exit")
      HILO_RETURN_IF_ERROR(kShardingCodec.encode(value, name == "entry" ? 55 : 54, out));
  } while (cursor.Consume(","));
  HILO_RETURN_IF_ERROR(cursor.Expect("}", "after a domain"));
  return cursor.End();
}
absl::StatusOr<std::optional<std::string>> DecodeDomain(const WireMessage& proto) {
  HILO_ASSIGN_OR_RETURN(const std::optional<std::string> entry, kShardingCodec.decode(proto, 55));
  HILO_ASSIGN_OR_RETURN(const std::optional<std::string> exit, kShardingCodec.decode(proto, 54));
  if (!entry.has_value() || !exit.has_value()) return std::optional<std::string>();
  return absl::StrCat("{kind=\"sharding\", entry=", *entry, ", exit=", *exit, "}");
}

absl::StatusOr<std::optional<std::string>> DecodeRow(const Row& row, const WireMessage& proto) {
  if (row.path[1] == 0) return row.codec.decode(proto, row.path[0]);
  HILO_ASSIGN_OR_RETURN(WireMessage message, proto.Message(row.path[0]));
  if (row.path[2] == 0) return row.codec.decode(message, row.path[1]);
  HILO_ASSIGN_OR_RETURN(message, message.Message(row.path[1]));
  return row.codec.decode(message, row.path[2]);
}

// A message under construction: its own fields, and the messages in it.
struct Tree {
  WireWriter fields;
  std::map<int, Tree> messages;

  WireWriter Finish() const {
    WireWriter out = fields;
    for (const auto& [number, message] : messages) out.Message(number, message.Finish());
    return out;
  }
};

absl::Status EncodeRow(const Row& row, const std::string* text, Tree* tree) {
  size_t depth = 0;
  for (; depth + 1 < row.path.size() && row.path[depth + 1] != 0; ++depth) tree = &tree->messages[row.path[depth]];
  if (text != nullptr) return row.codec.encode(*text, row.path[depth], &tree->fields);
  return row.default_text == nullptr ? absl::OkStatus()
                                     : row.codec.encode(row.default_text, row.path[depth], &tree->fields);
}

// HloInstructionProto has no field for the signature of a custom call: it is the last of its frontend attributes.
constexpr absl::string_view kSignature = "hilo_signature=\"";

std::string WithSignature(absl::string_view frontend_attributes, absl::string_view signature) {
  absl::ConsumeSuffix(&frontend_attributes, "}");
  const absl::string_view without_braces = signature.substr(1, signature.size() - 2);
  return absl::StrCat(frontend_attributes, frontend_attributes == "{" ? "" : ",", kSignature, without_braces, "\"}");
}

// Moves the signature from the frontend attributes to an attribute of its own.
void SeparateSignature(AttributeText* attributes) {
  const auto frontend = std::find_if(attributes->begin(), attributes->end(),
                                     [](const auto& attribute) { return attribute.first == "frontend_attributes"; });
  if (frontend == attributes->end()) return;
  std::string& text = frontend->second;
  const size_t begin = absl::string_view(text).find(kSignature);
  const size_t end = begin == std::string::npos ? begin : text.find('"', begin + kSignature.size());
  if (end == std::string::npos) return;
  const std::string signature =
      absl::StrCat("{", text.substr(begin + kSignature.size(), end - begin - kSignature.size()), "}");
  const size_t comma = text[begin - 1] == ',' ? 1 : 0;
  text.erase(begin - comma, end + 1 - begin + comma);
  if (text == "{}") attributes->erase(frontend);
  attributes->emplace_back("signature", signature);
}

}  // namespace

absl::StatusOr<AttributeText> AttributesFromProto(HloOpcode opcode, const WireMessage& proto) {
  AttributeText attributes;
  for (const absl::Span<const Row> rows : {RowsOf(opcode), absl::Span<const Row>(kCommonRows)}) {
    for (const Row& row : rows) {
      absl::StatusOr<std::optional<std::string>> text = DecodeRow(row, proto);
      if (!text.ok()) return AddContext(text.status(), absl::StrCat("; in the attribute ", row.name));
      if (!text->has_value()) {
        if (!row.required) continue;
        return InvalidArgument("expected the attribute ", row.name, " of ", HloOpcodeString(opcode), "; it is missing");
      }
      if (row.default_text == nullptr || **text != row.default_text)
        attributes.emplace_back(row.name, **std::move(text));
    }
  }
  if (opcode == HloOpcode::kCustomCall) SeparateSignature(&attributes);
  if (opcode == HloOpcode::kDomain) {
    HILO_ASSIGN_OR_RETURN(std::optional<std::string> domain, DecodeDomain(proto));
    if (domain.has_value()) attributes.emplace_back("domain", *std::move(domain));
  }
  return attributes;
}

absl::StatusOr<WireWriter> AttributesToProto(HloOpcode opcode, const AttributeText& attributes) {
  Tree tree;
  absl::flat_hash_map<absl::string_view, const std::string*> texts;
  for (const auto& [name, text] : attributes) texts[name] = &text;
  texts.erase("origin");  // a note on where a value comes from, for debuggers
  // A field of 0 is one that is not there.
  if (const auto channel = texts.find("channel_id"); channel != texts.end() && *channel->second == "0") {
    return Unimplemented("HloInstructionProto has no channel_id of 0, as ", HloOpcodeString(opcode), " has");
  }
  std::string frontend_attributes;
  if (const auto signature = texts.find("signature"); opcode == HloOpcode::kCustomCall && signature != texts.end()) {
    const auto others = texts.find("frontend_attributes");
    frontend_attributes = WithSignature(others == texts.end() ? "{}" : *others->second, *signature->second);
    texts.erase(signature);
    texts["frontend_attributes"] = &frontend_attributes;
  }
  // Set for a custom call with layouts for its operands.
  if (opcode == HloOpcode::kCustomCall) tree.fields.Bool(56, texts.contains("operand_layout_constraints"));
  for (const absl::Span<const Row> rows : {RowsOf(opcode), absl::Span<const Row>(kCommonRows)}) {
    for (const Row& row : rows) {
      const auto text = texts.find(row.name);
      HILO_RETURN_IF_ERROR(AddContext(EncodeRow(row, text == texts.end() ? nullptr : text->second, &tree),
                                      absl::StrCat("; in the attribute ", row.name)));
      if (text != texts.end()) texts.erase(text);
    }
  }
  if (const auto domain = texts.find("domain"); opcode == HloOpcode::kDomain && domain != texts.end()) {
    HILO_RETURN_IF_ERROR(EncodeDomain(*domain->second, &tree.fields));
    texts.erase(domain);
  }
  if (!texts.empty()) {
    return Unimplemented("HloInstructionProto has no field for the attribute ", texts.begin()->first, " of ",
                         HloOpcodeString(opcode));
  }
  return tree.Finish();
}

}  // namespace hilo
