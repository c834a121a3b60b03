// Computations are numbered with callees first, the instructions of one in the order of its text; the number of an
// instruction has that of its computation in its upper half, as XLA numbers them.
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "base/errors.h"
#include "base/math.h"
#include "hilo/module.h"
#include "hilo/status_macros.h"
#include "hlo/import/hlo_proto.h"
#include "hlo/import/hlo_proto_attributes.h"
#include "hlo/import/hlo_proto_metadata.h"
#include "hlo/import/hlo_proto_shape.h"
#include "hlo/import/hlo_proto_text.h"
#include "hlo/import/hlo_proto_wire.h"
#include "hlo/ir/tile_assignment.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/text/header_attributes.h"
#include "hlo/text/hlo_printer.h"

namespace hilo {
namespace {

constexpr int64_t kMaxAssignedDevices = 1 << 20;

class HloProtoWriter {
 public:
  explicit HloProtoWriter(const HloModule& module) : module_(module) {}
  absl::StatusOr<WireWriter> Write();

 private:
  absl::Status WriteComputation(const HloComputation& computation, WireWriter* out);
  absl::StatusOr<WireWriter> WriteInstruction(const HloInstruction& instruction);
  std::vector<int64_t> Ids(absl::Span<HloInstruction* const> instructions) const;
  std::vector<int64_t> CalleeIds(const HloInstruction& instruction) const;
  absl::Status WriteHeader(WireWriter* out);
  absl::Status WriteDevices(WireWriter* out);

  const HloModule& module_;
  absl::flat_hash_map<const HloComputation*, int64_t> computation_ids_;
  absl::flat_hash_map<const HloInstruction*, int64_t> ids_;
  WireWriter schedule_;
};

absl::StatusOr<WireWriter> HloProtoWriter::Write() {
  if (module_.entry_computation() == nullptr)
    return InvalidArgument("module ", module_.name(), " has no entry computation");
  WireWriter out;
  out.PutBytes(1, module_.name());
  out.PutBytes(2, module_.entry_computation()->name());
  HILO_ASSIGN_OR_RETURN(const std::vector<HloComputation*> computations, module_.MakeComputationPostOrder());
  for (const HloComputation* computation : computations) {
    computation_ids_.emplace(computation, static_cast<int64_t>(computation_ids_.size()));
    HILO_RETURN_IF_ERROR(WriteComputation(*computation, &out));
  }
  out.Int(6, computation_ids_.at(module_.entry_computation()));
  HILO_RETURN_IF_ERROR(WriteHeader(&out));
  return out;
}

absl::Status HloProtoWriter::WriteComputation(const HloComputation& computation, WireWriter* out) {
  const int64_t id = computation_ids_.at(&computation);
  const std::vector<HloInstruction*> order = TextOrder(computation);
  for (size_t i = 0; i < order.size(); ++i) ids_[order[i]] = id << 32 | static_cast<int64_t>(i);
  WireWriter proto;
  proto.PutBytes(1, computation.name());
  for (const HloInstruction* instruction : order) {
    absl::StatusOr<WireWriter> written = WriteInstruction(*instruction);
    if (!written.ok()) return AddContext(written.status(), InstructionContext(*instruction));
    proto.Message(2, *written);
  }
  HILO_ASSIGN_OR_RETURN(const WireWriter shape, ProgramShapeToProto(computation.ComputeProgramShape()));
  proto.Message(4, shape);
  proto.Int(5, id);
  proto.Int(6, ids_.at(computation.root_instruction()));
  proto.Bool(7, computation.IsFusion());
  out->Message(3, proto);
  if (!computation.IsFusion()) {
    WireWriter sequence, entry;
    sequence.Ints(1, Ids(order));
    entry.PutInt(1, id);
    entry.Message(2, sequence);
    schedule_.Message(1, entry);
  }
  return absl::OkStatus();
}

std::vector<int64_t> HloProtoWriter::Ids(absl::Span<HloInstruction* const> instructions) const {
  std::vector<int64_t> ids;
  for (const HloInstruction* instruction : instructions) ids.push_back(ids_.at(instruction));
  return ids;
}

// See HloProtoReader::ReadCallees.
std::vector<int64_t> HloProtoWriter::CalleeIds(const HloInstruction& instruction) const {
  const HloInstruction* caller = &instruction;
  while ((caller->opcode() == HloOpcode::kAsyncUpdate || caller->opcode() == HloOpcode::kAsyncDone) &&
         caller->operand_count() == 1) {
    caller = caller->operand(0);
  }
  std::vector<int64_t> ids;
  for (const HloComputation* callee : caller->called_computations()) ids.push_back(computation_ids_.at(callee));
  if (instruction.opcode() == HloOpcode::kWhile) std::swap(ids[0], ids[1]);
  return ids;
}

absl::StatusOr<WireWriter> HloProtoWriter::WriteInstruction(const HloInstruction& instruction) {
  WireWriter out;
  out.PutBytes(1, instruction.name());
  out.PutBytes(2, HloOpcodeString(instruction.opcode()));
  HILO_ASSIGN_OR_RETURN(const WireWriter shape, ShapeToProto(instruction.shape()));
  out.Message(3, shape);
  if (!instruction.metadata().empty()) out.Message(7, OpMetadataToProto(instruction.metadata()));
  AttributeText attributes = instruction.extra_attributes();
  if (instruction.IsParameter()) out.Int(9, instruction.parameter_number());
  if (instruction.IsConstant()) {
    HILO_ASSIGN_OR_RETURN(const WireWriter literal, LiteralToProto(instruction.literal(), instruction.shape()));
    out.Message(8, literal);
  } else if (instruction.attributes() != nullptr) {
    for (auto& [name, text] : instruction.attributes()->ToText()) {
      if (!instruction.IsParameter() || name != "number") attributes.emplace_back(std::move(name), std::move(text));
    }
  }
  // XLA requires it where text omits it; a stated shape comes later and takes precedence.
  if (instruction.opcode() == HloOpcode::kOutfeed) {
    attributes.insert(attributes.begin(),
                      {"outfeed_shape", instruction.operand(0)->shape().ToString(/*print_layout=*/true)});
  }
  out.Int(35, ids_.at(&instruction));
  out.Ints(36, Ids(instruction.operands()));
  out.Ints(37, Ids(instruction.control_predecessors()));
  out.Ints(38, CalleeIds(instruction));
  HILO_ASSIGN_OR_RETURN(const WireWriter written, AttributesToProto(instruction.opcode(), attributes));
  out.Append(written);
  return out;
}

absl::Status HloProtoWriter::WriteHeader(WireWriter* out) {
  ProgramShape entry = module_.EntryProgramShape();
  entry.parameter_names = module_.entry_computation()->ComputeProgramShape().parameter_names;
  HILO_ASSIGN_OR_RETURN(const WireWriter shape, ProgramShapeToProto(entry));
  out->Message(4, shape);
  if (module_.is_scheduled()) out->Message(7, schedule_);
  WireWriter aliases, donors, frames;
  for (const InputOutputAlias& alias : module_.input_output_aliases()) {
    WireWriter entry;
    entry.Ints(1, alias.output_index);
    entry.Int(2, alias.parameter_number);
    entry.Ints(3, alias.parameter_index);
    entry.Int(4, alias.must_alias ? 2 : 1);
    aliases.Message(1, entry);
  }
  for (const BufferDonor& donor : module_.buffer_donors()) {
    WireWriter entry;
    entry.Int(1, donor.parameter_number);
    entry.Ints(2, donor.parameter_index);
    donors.Message(1, entry);
  }
  out->Message(8, aliases);
  out->Message(18, donors);
  HILO_RETURN_IF_ERROR(WriteDevices(out));
  for (const auto& [name, text] : module_.extra_attributes()) {
    if (IsHeaderTable(name)) {
      HILO_RETURN_IF_ERROR(AddContext(AddFrameTable(name, text, &frames), absl::StrCat("; in the table ", name)));
    } else if (name == "frontend_attributes") {
      HILO_RETURN_IF_ERROR(kFrontendAttributesCodec.encode(text, 19, out));
    } else if (name == "is_spmd_partitioned") {
      // Messages represent it by the sharding of the result, even if that is replicated.
      const absl::string_view sharding =
          ExtraAttribute(module_.entry_computation()->root_instruction()->extra_attributes(), "sharding");
      if (text == "true")
        HILO_RETURN_IF_ERROR(kShardingCodec.encode(sharding.empty() ? "{replicated}" : sharding, 12, out));
    } else if (name != "spmd_output_sharding" && !absl::StartsWith(name, "allow_spmd_sharding_propagation")) {
      return Unimplemented("HloModuleProto has no field for the header attribute ", name);
    }
  }
  out->Bytes(17, frames.bytes());
  return absl::OkStatus();
}

absl::Status HloProtoWriter::WriteDevices(WireWriter* out) {
  const int64_t replicas = module_.replica_count(), partitions = module_.num_partitions();
  if (replicas == 1 && partitions == 1) return absl::OkStatus();
  const std::optional<int64_t> count = CheckedMul(replicas, partitions);
  if (!count.has_value() || *count > kMaxAssignedDevices)
    return ResourceExhausted(replicas, " replicas of ", partitions, " partitions are too many to be listed");
  WireWriter devices;
  devices.Int(1, replicas);
  devices.Int(2, partitions);
  for (int64_t partition = 0; partition < partitions; ++partition) {
    std::vector<int64_t> ids;
    for (int64_t replica = 0; replica < replicas; ++replica) ids.push_back(partition + replica * partitions);
    WireWriter list;
    list.Ints(1, ids);
    devices.Message(3, list);
  }
  out->Message(15, devices);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> HloModuleToProto(const HloModule& module) {
  HILO_ASSIGN_OR_RETURN(WireWriter proto, HloProtoWriter(module).Write());
  return std::move(proto).Take();
}

absl::StatusOr<std::string> HloModuleToHloProto(const HloModule& module) {
  HILO_ASSIGN_OR_RETURN(const WireWriter proto, HloProtoWriter(module).Write());
  WireWriter out;
  out.Message(1, proto);
  return std::move(out).Take();
}

absl::StatusOr<std::string> SerializeAsHloModuleProto(const XlaComputation& computation) {
  if (computation.IsNull()) return InvalidArgument("an empty XlaComputation has no proto");
  return HloModuleToProto(*computation.module());
}

}  // namespace hilo
