// Computations are made first, each with its instructions, which follow their operands. Called computations and
// control dependencies are by number and are resolved afterwards, so the order of the computations does not matter. The
// verifier then checks what was read, as it does for text.
#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "hilo/module.h"
#include "hilo/status_macros.h"
#include "hlo/import/hlo_proto.h"
#include "hlo/import/hlo_proto_attributes.h"
#include "hlo/import/hlo_proto_metadata.h"
#include "hlo/import/hlo_proto_shape.h"
#include "hlo/import/hlo_proto_text.h"
#include "hlo/import/hlo_proto_wire.h"
#include "hlo/ir/start_scalars.h"
#include "hlo/ops/semantics.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/text/called_roles.h"

namespace hilo {
namespace {

// A name that text can hold.
std::string TextName(absl::string_view name, absl::string_view otherwise) {
  std::string clean(name.empty() ? otherwise : name);
  for (char& c : clean) {
    if (!absl::ascii_isalnum(c) && c != '_' && c != '.' && c != '-') c = '_';
  }
  return clean;
}

// Attributes that a message states and text leaves out, as they follow from the operands.
bool FollowsFromOperands(HloOpcode opcode, absl::string_view name, absl::string_view text,
                         absl::Span<HloInstruction* const> operands) {
  if (operands.empty()) return false;
  const Shape& shape = operands[0]->shape();
  if (opcode == HloOpcode::kOutfeed && name == "outfeed_shape") return text == shape.ToString(/*print_layout=*/true);
  const PrimitiveType type = shape.element_type();
  if (opcode == HloOpcode::kCompare && name == "order")
    return text == (IsIntegralType(type) || type == PRED ? "TOTAL" : "PARTIAL");
  if (opcode != HloOpcode::kCompare || name != "type") return false;
  return text == (IsSignedIntegralType(type)                     ? "SIGNED"
                  : IsUnsignedIntegralType(type) || type == PRED ? "UNSIGNED"
                                                                 : "FLOAT");
}

// The slice sizes of a collective permutation are one list on the wire; each slice has the rank of its operand.
absl::StatusOr<std::string> SliceSizesText(const WireMessage& proto, absl::Span<HloInstruction* const> operands) {
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, proto.Ints(20));
  const size_t rank = operands.empty() ? 0 : static_cast<size_t>(operands[0]->shape().rank());
  if (rank == 0 || sizes.size() % rank != 0)
    return Unimplemented("slices of a collective-permute of other than one array");
  std::vector<std::string> slices;
  for (size_t i = 0; i < sizes.size(); i += rank)
    slices.push_back(absl::StrCat("{", absl::StrJoin(absl::MakeSpan(sizes).subspan(i, rank), ","), "}"));
  return absl::StrCat("{", absl::StrJoin(slices, ","), "}");
}

class HloProtoReader {
 public:
  explicit HloProtoReader(const HloProtoOptions& options) : options_(options) {}
  absl::StatusOr<std::unique_ptr<HloModule>> Read(const WireMessage& proto);

 private:
  struct Call {
    HloInstruction* caller;
    int64_t index;  // in called_computations()
    int64_t callee;
  };
  // A computation while it is read.
  struct Body {
    HloComputation* computation;
    absl::flat_hash_map<int64_t, HloInstruction*> instructions;
    std::vector<std::pair<int64_t, HloInstruction*>> control_edges;  // from predecessor
  };

  absl::Status ReadSchedule(const WireMessage& proto);
  absl::Status ReadComputation(const WireMessage& proto);
  absl::Status FinishComputation(const WireMessage& proto, Body& body);
  absl::StatusOr<std::vector<const WireMessage*>> InOrder(int64_t computation,
                                                          const std::vector<WireMessage>& instructions);
  absl::Status ReadInstruction(const WireMessage& proto, Body& body);
  absl::StatusOr<std::vector<HloInstruction*>> ReadOperands(const WireMessage& proto, const Body& body);
  absl::StatusOr<std::vector<int64_t>> ReadCallees(HloOpcode opcode, const WireMessage& proto);
  absl::Status ReadParameter(const WireMessage& proto, const Body& body, ParameterAttrs& attributes);
  absl::Status ReadConstant(const WireMessage& proto, const Shape& shape, ConstantAttrs& attributes);
  absl::Status ReadAttributes(const WireMessage& proto, OpAttributes* attributes, HloInstruction* instruction);
  absl::Status ResolveCalls();
  absl::Status ReadHeader(const WireMessage& proto);

  const HloProtoOptions& options_;
  std::unique_ptr<HloModule> module_;
  absl::flat_hash_map<int64_t, HloComputation*> computations_;
  absl::flat_hash_map<int64_t, std::vector<int64_t>> schedule_;  // instructions of a computation
  std::vector<absl::string_view> payloads_;                      // configurations that instructions point to
  std::vector<Call> calls_;
  int64_t instruction_count_ = 0;
};

absl::StatusOr<std::unique_ptr<HloModule>> HloProtoReader::Read(const WireMessage& proto) {
  module_ = std::make_unique<HloModule>(TextName(proto.Bytes(1), "module"));
  payloads_ = proto.AllBytes(22);
  HILO_RETURN_IF_ERROR(ReadSchedule(proto));
  for (const absl::string_view bytes : proto.AllBytes(3)) {
    HILO_ASSIGN_OR_RETURN(const WireMessage computation, WireMessage::Parse(bytes));
    HILO_RETURN_IF_ERROR(AddContext(ReadComputation(computation),
                                    absl::StrCat("; in computation ", TextName(computation.Bytes(1), "computation"))));
  }
  HILO_RETURN_IF_ERROR(ResolveCalls());
  const auto entry = computations_.find(proto.Int(6));
  if (entry == computations_.end())
    return InvalidArgument("expected an entry computation of number ", proto.Int(6), "; there is none");
  module_->set_entry_computation(entry->second);
  HILO_RETURN_IF_ERROR(ReadHeader(proto));
  if (options_.verify) HILO_RETURN_IF_ERROR(VerifyHloModule(*module_, HloStage::kInput, options_.limits));
  return std::move(module_);
}

absl::Status HloProtoReader::ReadSchedule(const WireMessage& proto) {
  module_->set_is_scheduled(proto.Has(7));
  HILO_ASSIGN_OR_RETURN(const WireMessage schedule, proto.Message(7));
  HILO_ASSIGN_OR_RETURN(const std::vector<WireMessage> sequences, schedule.Messages(1));
  for (const WireMessage& sequence : sequences) {
    HILO_ASSIGN_OR_RETURN(const WireMessage instructions, sequence.Message(2));
    HILO_ASSIGN_OR_RETURN(schedule_[sequence.Int(1)], instructions.Ints(1));
  }
  return absl::OkStatus();
}

absl::Status HloProtoReader::ReadComputation(const WireMessage& proto) {
  const int64_t id = proto.Int(5);
  Body body{.computation = module_->AddComputation(TextName(proto.Bytes(1), "computation")),
            .instructions = {},
            .control_edges = {}};
  if (!computations_.emplace(id, body.computation).second)
    return InvalidArgument("expected a number of its own; there is another computation ", id);
  HILO_ASSIGN_OR_RETURN(const std::vector<WireMessage> instructions, proto.Messages(2));
  instruction_count_ += static_cast<int64_t>(instructions.size());
  if (instruction_count_ > options_.limits.max_instructions) {
    return ResourceExhausted("expected at most ", options_.limits.max_instructions, " instructions in a module");
  }
  HILO_ASSIGN_OR_RETURN(const std::vector<const WireMessage*> order, InOrder(id, instructions));
  for (const WireMessage* instruction : order) {
    HILO_RETURN_IF_ERROR(AddContext(ReadInstruction(*instruction, body),
                                    absl::StrCat("; in instruction ", TextName(instruction->Bytes(1), "?"))));
  }
  return FinishComputation(proto, body);
}

absl::Status HloProtoReader::FinishComputation(const WireMessage& proto, Body& body) {
  for (int64_t i = 0; i < body.computation->num_parameters(); ++i) {
    if (body.computation->parameter_instruction(i) == nullptr) {
      return InvalidArgument("expected parameters 0 to ", body.computation->num_parameters() - 1, "; parameter ", i,
                             " is missing");
    }
  }
  for (const auto& [predecessor, instruction] : body.control_edges) {
    const auto found = body.instructions.find(predecessor);
    if (found == body.instructions.end())
      return InvalidArgument("there is no control predecessor ", predecessor, " of ", instruction->name());
    found->second->AddControlDependencyTo(instruction);
  }
  const auto root = body.instructions.find(proto.Int(6));
  if (root == body.instructions.end())
    return InvalidArgument("expected a root instruction of number ", proto.Int(6), "; there is none");
  return body.computation->set_root_instruction(root->second);
}

// The instructions in the order of the schedule, if there is one.
absl::StatusOr<std::vector<const WireMessage*>> HloProtoReader::InOrder(int64_t computation,
                                                                        const std::vector<WireMessage>& instructions) {
  std::vector<const WireMessage*> order;
  const auto sequence = schedule_.find(computation);
  if (sequence == schedule_.end()) {
    for (const WireMessage& instruction : instructions) order.push_back(&instruction);
    return order;
  }
  absl::flat_hash_map<int64_t, const WireMessage*> by_id;
  for (const WireMessage& instruction : instructions) by_id[instruction.Int(35)] = &instruction;
  for (const int64_t id : sequence->second) {
    const auto found = by_id.find(id);
    if (found == by_id.end()) return InvalidArgument("the schedule names instruction ", id, " twice, or there is none");
    order.push_back(found->second);
    by_id.erase(found);
  }
  if (!by_id.empty()) return InvalidArgument("the schedule leaves out ", by_id.size(), " instructions");
  return order;
}

absl::Status HloProtoReader::ReadInstruction(const WireMessage& proto, Body& body) {
  const std::optional<HloOpcode> opcode = HloOpcodeFromString(proto.Bytes(2));
  if (!opcode.has_value()) return InvalidArgument("expected an opcode; got ", TextName(proto.Bytes(2), "none"));
  HILO_ASSIGN_OR_RETURN(const WireMessage shape_proto, proto.Message(3));
  HILO_ASSIGN_OR_RETURN(Shape shape, ShapeFromProto(shape_proto));
  HILO_ASSIGN_OR_RETURN(std::vector<HloInstruction*> operands, ReadOperands(proto, body));
  HILO_ASSIGN_OR_RETURN(operands, WithStartScalars(*opcode, std::move(operands), body.computation));
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> callees, ReadCallees(*opcode, proto));
  std::unique_ptr<OpAttributes> attributes = MakeAttributes(*opcode);
  if (opcode == HloOpcode::kParameter)
    HILO_RETURN_IF_ERROR(ReadParameter(proto, body, static_cast<ParameterAttrs&>(*attributes)));
  if (opcode == HloOpcode::kConstant)
    HILO_RETURN_IF_ERROR(ReadConstant(proto, shape, static_cast<ConstantAttrs&>(*attributes)));

  const std::vector<HloComputation*> called(callees.size(), nullptr);
  OpAttributes* known = attributes.get();
  const std::string name = TextName(proto.Bytes(1), proto.Bytes(2));
  HloInstruction* const instruction =
      opcode == HloOpcode::kConstant && shape.IsTuple()
          ? body.computation->AddConstant(static_cast<ConstantAttrs&>(*attributes).literal.value->Clone(), name)
          : body.computation->AddInstruction(
                HloInstruction::Create(*opcode, std::move(shape), operands, std::move(attributes), called), name);
  if (!body.instructions.emplace(proto.Int(35), instruction).second) {
    return InvalidArgument("expected a number of its own; there is another instruction ", proto.Int(35));
  }
  for (size_t i = 0; i < callees.size(); ++i) calls_.push_back({instruction, static_cast<int64_t>(i), callees[i]});
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> predecessors, proto.Ints(37));
  for (const int64_t predecessor : predecessors) body.control_edges.emplace_back(predecessor, instruction);
  HILO_ASSIGN_OR_RETURN(const WireMessage metadata, proto.Message(7));
  instruction->set_metadata(OpMetadataFromProto(metadata));
  return ReadAttributes(proto, known, instruction);
}

absl::StatusOr<std::vector<HloInstruction*>> HloProtoReader::ReadOperands(const WireMessage& proto, const Body& body) {
  std::vector<HloInstruction*> operands;
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> ids, proto.Ints(36));
  for (const int64_t id : ids) {
    const auto operand = body.instructions.find(id);
    if (operand == body.instructions.end()) return InvalidArgument("operand ", id, " is not defined before its use");
    operands.push_back(operand->second);
  }
  return operands;
}

// In the order of HloInstruction::called_computations(): XLA has the body of a loop before its condition, and repeats
// at the end of an asynchronous pair what is called at its start.
absl::StatusOr<std::vector<int64_t>> HloProtoReader::ReadCallees(HloOpcode opcode, const WireMessage& proto) {
  HILO_ASSIGN_OR_RETURN(std::vector<int64_t> callees, proto.Ints(38));
  const CalledRoles roles(opcode);
  if (roles.names.empty()) return std::vector<int64_t>();
  if (!roles.is_list && callees.size() != roles.names.size()) {
    return InvalidArgument("expected ", roles.names.size(), " called computations of ", HloOpcodeString(opcode),
                           "; got ", callees.size());
  }
  if (opcode == HloOpcode::kWhile) std::swap(callees[0], callees[1]);
  return callees;
}

absl::Status HloProtoReader::ReadParameter(const WireMessage& proto, const Body& body, ParameterAttrs& attributes) {
  attributes.number = proto.Int(9);
  if (attributes.number < 0 || attributes.number >= options_.limits.max_parameters) {
    return InvalidArgument("expected a parameter number from 0 to ", options_.limits.max_parameters - 1, "; got ",
                           attributes.number);
  }
  if (attributes.number < body.computation->num_parameters() &&
      body.computation->parameter_instruction(attributes.number) != nullptr) {
    return InvalidArgument("parameter ", attributes.number, " is defined twice");
  }
  return absl::OkStatus();
}

absl::Status HloProtoReader::ReadConstant(const WireMessage& proto, const Shape& shape, ConstantAttrs& attributes) {
  if (!proto.Has(8)) return InvalidArgument("expected the elements of a constant; they are left out");
  HILO_ASSIGN_OR_RETURN(const WireMessage literal_proto, proto.Message(8));
  HILO_ASSIGN_OR_RETURN(Literal literal, LiteralFromProto(literal_proto));
  if (!ShapeUtil::Compatible(literal.shape(), shape)) {
    return InvalidArgument("expected a literal of ", shape.ToString(), "; got one of ", literal.shape().ToString());
  }
  *literal.mutable_shape_do_not_resize() = shape;
  attributes.literal.value = std::make_shared<const Literal>(std::move(literal));
  return absl::OkStatus();
}

absl::Status HloProtoReader::ReadAttributes(const WireMessage& proto, OpAttributes* attributes,
                                            HloInstruction* instruction) {
  HILO_ASSIGN_OR_RETURN(AttributeText texts, AttributesFromProto(instruction->opcode(), proto));
  if (proto.Has(99)) {
    HILO_ASSIGN_OR_RETURN(const WireMessage payload, proto.Message(99));
    const int64_t id = payload.Int(2);
    const bool by_number = !payload.Has(1);
    if (by_number && (id < 0 || id >= static_cast<int64_t>(payloads_.size())))
      return InvalidArgument("the module has no payload ", id);
    WireWriter config;
    config.Bytes(1, by_number ? payloads_[id] : payload.Bytes(1));
    HILO_ASSIGN_OR_RETURN(const WireMessage read, WireMessage::Parse(config.bytes()));
    HILO_ASSIGN_OR_RETURN(std::optional<std::string> text, kConfigCodec.decode(read, 1));
    if (text.has_value()) texts.emplace_back("backend_config", *std::move(text));
  }
  for (auto& [name, text] : texts) {
    if (FollowsFromOperands(instruction->opcode(), name, text, instruction->operands())) continue;
    if (name == "slice_sizes" && instruction->opcode() != HloOpcode::kGather) {
      HILO_ASSIGN_OR_RETURN(text, SliceSizesText(proto, instruction->operands()));
    }
    bool found = false;
    if (attributes != nullptr) {
      HILO_ASSIGN_OR_RETURN(found, attributes->ParseField(name, text));
    }
    if (!found) instruction->add_extra_attribute(std::move(name), std::move(text));
  }
  return absl::OkStatus();
}

absl::Status HloProtoReader::ResolveCalls() {
  for (const Call& call : calls_) {
    const auto callee = computations_.find(call.callee);
    if (callee == computations_.end())
      return InvalidArgument("there is no computation ", call.callee, ", which ", call.caller->name(), " calls");
    call.caller->set_called_computation(call.index, callee->second);
    if (call.caller->opcode() == HloOpcode::kFusion) callee->second->set_fusion_instruction(call.caller);
  }
  return absl::OkStatus();
}

absl::Status HloProtoReader::ReadHeader(const WireMessage& proto) {
  if (proto.Has(4)) {
    HILO_ASSIGN_OR_RETURN(const WireMessage shape, proto.Message(4));
    HILO_ASSIGN_OR_RETURN(ProgramShape layout, ProgramShapeFromProto(shape));
    module_->set_entry_computation_layout(std::move(layout));
  }
  HILO_ASSIGN_OR_RETURN(const WireMessage alias_proto, proto.Message(8));
  HILO_ASSIGN_OR_RETURN(const std::vector<WireMessage> aliases, alias_proto.Messages(1));
  for (const WireMessage& alias : aliases) {
    InputOutputAlias& read = module_->input_output_aliases().emplace_back();
    HILO_ASSIGN_OR_RETURN(read.output_index, alias.Ints(1));
    read.parameter_number = alias.Int(2);
    HILO_ASSIGN_OR_RETURN(read.parameter_index, alias.Ints(3));
    read.must_alias = alias.Int(4) == 2;
  }
  HILO_ASSIGN_OR_RETURN(const WireMessage donor_proto, proto.Message(18));
  HILO_ASSIGN_OR_RETURN(const std::vector<WireMessage> donors, donor_proto.Messages(1));
  for (const WireMessage& donor : donors) {
    BufferDonor& read = module_->buffer_donors().emplace_back();
    read.parameter_number = donor.Int(1);
    HILO_ASSIGN_OR_RETURN(read.parameter_index, donor.Ints(2));
  }
  HILO_ASSIGN_OR_RETURN(const WireMessage devices, proto.Message(15));
  module_->set_replica_count(std::max<int64_t>(1, static_cast<int32_t>(devices.Int(1))));
  module_->set_num_partitions(std::max<int64_t>(1, static_cast<int32_t>(devices.Int(2))));
  HILO_ASSIGN_OR_RETURN(std::optional<std::string> frontend, kFrontendAttributesCodec.decode(proto, 19));
  if (frontend.has_value()) module_->extra_attributes().emplace_back("frontend_attributes", *std::move(frontend));
  // How the result and the parameters are cut is written down when a module is partitioned.
  if (proto.Has(12) || proto.Has(14)) module_->extra_attributes().emplace_back("is_spmd_partitioned", "true");
  if (proto.Has(17)) {
    HILO_ASSIGN_OR_RETURN(const WireMessage frames, proto.Message(17));
    HILO_ASSIGN_OR_RETURN(AttributeText tables, FrameTablesFromProto(frames));
    for (auto& table : tables) module_->extra_attributes().push_back(std::move(table));
  }
  return absl::OkStatus();
}

// The module in an HloProto, or the message itself.
absl::StatusOr<WireMessage> ModuleMessage(WireMessage proto) {
  // A module has an entry; an HloProto has no field of that number.
  if (proto.Has(2) || proto.Has(6)) return proto;
  absl::StatusOr<WireMessage> inner = proto.Message(1);
  return inner.ok() && inner->Has(3) ? inner : absl::StatusOr<WireMessage>(std::move(proto));
}

}  // namespace

absl::StatusOr<std::unique_ptr<HloModule>> HloModuleFromProto(absl::string_view bytes, const HloProtoOptions& options) {
  HILO_ASSIGN_OR_RETURN(WireMessage proto, WireMessage::Parse(bytes));
  HILO_ASSIGN_OR_RETURN(const WireMessage module, ModuleMessage(std::move(proto)));
  if (!module.Has(3))
    return InvalidArgument("expected an HloModuleProto or HloProto; the message holds no computation");
  return HloProtoReader(options).Read(module);
}

bool LooksLikeHloProto(absl::string_view bytes) {
  // Tags of the fields of bytes that may follow a module's name: its entry's name or its computations; after the
  // module of an HloProto, a buffer assignment or nothing.
  constexpr char kName = 0x0a, kEntryName = 0x12, kComputations = 0x1a;
  if (bytes.size() < 3 || bytes[0] != kName) return false;
  uint64_t size = 0;
  size_t i = 1;
  for (int shift = 0; i < bytes.size() && shift < 35; shift += 7) {
    size |= static_cast<uint64_t>(bytes[i] & 0x7f) << shift;
    if ((bytes[i++] & 0x80) == 0) break;
  }
  if (size > bytes.size() - i) return false;
  const absl::string_view rest = bytes.substr(i + size);
  if (rest.empty()) return size > 2 && bytes[i] == kName && LooksLikeHloProto(bytes.substr(i));
  return rest[0] == kEntryName || rest[0] == kComputations;
}

absl::StatusOr<XlaComputation> XlaComputationFromProto(absl::string_view bytes) {
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<HloModule> module, HloModuleFromProto(bytes));
  return XlaComputation(std::move(module));
}

}  // namespace hilo
