// Communicators move whole pieces; where a collective cuts or joins along another dimension than
// the first, pieces are gathered from the rows of an array before, or spread over the rows of the
// result after.
#include "collectives/collective_op.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/aligned_buffer.h"
#include "base/errors.h"
#include "collectives/in_process.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/ops/collective/collective_attributes.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo {
namespace {

// Moves blocks of `bytes` bytes between rows and pieces: rows [row][rank] of an array and
// [rank][row] of pieces.
void GatherPieces(const uint8_t* rows, uint8_t* pieces, int64_t row_count, int64_t ranks, int64_t bytes) {
  if (bytes == 0) return;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    for (int64_t row = 0; row < row_count; ++row, pieces += bytes)
      std::memcpy(pieces, rows + (row * ranks + rank) * bytes, bytes);
  }
}
void SpreadPieces(const uint8_t* pieces, uint8_t* rows, int64_t row_count, int64_t ranks, int64_t bytes) {
  if (bytes == 0) return;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    for (int64_t row = 0; row < row_count; ++row, pieces += bytes)
      std::memcpy(rows + (row * ranks + rank) * bytes, pieces, bytes);
  }
}

int64_t RowBytes(const Shape& shape) {
  int64_t bytes = PrimitiveTypeByteSize(shape.element_type());
  for (int64_t d = 1; d < shape.rank(); ++d) bytes *= shape.dimensions(d);
  return bytes;
}

int64_t ReadOffset(const void* array, int64_t i, bool wide) {
  return wide ? static_cast<const int64_t*>(array)[i] : static_cast<const int32_t*>(array)[i];
}

}  // namespace

// What one run uses.
struct CollectiveOp::Running {
  CollectiveCall call;
  Communicator* communicator;
  ReductionFunction reduction;
  absl::Span<const void* const> operands;
  absl::Span<void* const> results;
  std::vector<AlignedBuffer> scratch;

  int64_t ranks() const { return static_cast<int64_t>(call.group.size()); }
  absl::StatusOr<uint8_t*> Scratch(int64_t bytes) {
    HILO_ASSIGN_OR_RETURN(scratch.emplace_back(), AlignedBuffer::Create(bytes));
    return scratch.back().data();
  }
};

absl::StatusOr<CollectiveOp> CollectiveOp::Create(const HloInstruction& instruction) {
  CollectiveOp op;
  op.opcode_ = instruction.opcode();
  op.name_ = absl::StrCat(HloOpcodeString(op.opcode_), " %", instruction.name());
  op.key_ = instruction.unique_id();
  int64_t dimension = 0;
  auto take = [&](const auto& attributes, std::optional<bool> use_global_device_ids) -> absl::Status {
    op.groups_ = attributes.replica_groups;
    HILO_ASSIGN_OR_RETURN(op.mode_, GetCollectiveOpGroupMode(attributes.channel_id.has_value(), use_global_device_ids));
    return absl::OkStatus();
  };
  const HloModule& module = *instruction.module();
  const DevicePosition positions{.replica_count = module.replica_count(), .partition_count = module.num_partitions()};
  const Shape* result = &instruction.shape();
  switch (op.opcode_) {
    case HloOpcode::kAllGatherStart:
      result = &instruction.shape().tuple_shapes(1);
      op.opcode_ = HloOpcode::kAllGather;
      [[fallthrough]];
    case HloOpcode::kAllGather: {
      const auto& attributes = instruction.attrs<AllGatherAttrs>();
      HILO_RETURN_IF_ERROR(take(attributes, attributes.use_global_device_ids));
      dimension = attributes.dimensions[0];
      break;
    }
    case HloOpcode::kAllReduceStart: op.opcode_ = HloOpcode::kAllReduce; [[fallthrough]];
    case HloOpcode::kAllReduce: {
      const auto& attributes = instruction.attrs<AllReduceAttrs>();
      HILO_RETURN_IF_ERROR(take(attributes, attributes.use_global_device_ids));
      break;
    }
    case HloOpcode::kReduceScatter: {
      const auto& attributes = instruction.attrs<ReduceScatterAttrs>();
      HILO_RETURN_IF_ERROR(take(attributes, attributes.use_global_device_ids));
      dimension = attributes.dimensions[0];
      break;
    }
    case HloOpcode::kAllToAll: {
      const auto& attributes = instruction.attrs<AllToAllAttrs>();
      HILO_RETURN_IF_ERROR(take(attributes, std::nullopt));
      op.along_dimension_ = !attributes.dimensions.empty();
      if (op.along_dimension_) dimension = attributes.dimensions[0];
      break;
    }
    case HloOpcode::kCollectiveBroadcast:
      HILO_RETURN_IF_ERROR(take(instruction.attrs<CollectiveBroadcastAttrs>(), std::nullopt));
      break;
    case HloOpcode::kCollectivePermuteStart:
      result = &instruction.shape().tuple_shapes(1);
      op.opcode_ = HloOpcode::kCollectivePermute;
      [[fallthrough]];
    case HloOpcode::kCollectivePermute: {
      const auto& attributes = instruction.attrs<CollectivePermuteAttrs>();
      op.pairs_ = attributes.source_target_pairs;
      HILO_ASSIGN_OR_RETURN(op.mode_, GetCollectiveOpGroupMode(attributes.channel_id.has_value(), std::nullopt));
      op.groups_ = GroupsOf(op.pairs_, IdCount(op.mode_, positions));
      break;
    }
    case HloOpcode::kRaggedAllToAll:
      HILO_RETURN_IF_ERROR(take(instruction.attrs<RaggedAllToAllAttrs>(), std::nullopt));
      op.updates_ = instruction.operand(2)->shape().dimensions(0);
      op.wide_offsets_ = instruction.operand(2)->shape().element_type() == S64;
      op.ragged_row_bytes_ = RowBytes(instruction.shape());
      break;
    default: return Internal(op.name_, " is no collective");
  }
  auto array = [&](const Shape& shape) {
    Array array;
    for (int64_t d = 0; d < dimension; ++d) array.rows *= shape.dimensions(d);
    array.row_bytes = array.rows == 0 ? 0 : ShapeUtil::ByteSizeOf(shape) / array.rows;
    return array;
  };
  op.element_bytes_ = PrimitiveTypeByteSize(instruction.operand(0)->shape().element_type());
  for (const HloInstruction* operand : instruction.operands()) op.operands_.push_back(array(operand->shape()));
  for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(*result)) op.results_.push_back(array(*leaf.shape));
  HILO_RETURN_IF_ERROR(op.GroupAt(positions).status());
  return op;
}

absl::StatusOr<std::vector<int64_t>> CollectiveOp::GroupAt(const DevicePosition& position) const {
  const int64_t count = IdCount(mode_, position);
  std::vector<int64_t> ids;
  for (const auto& [source, target] : pairs_.pairs) ids.push_back(std::max(source, target));
  // A broadcast is of all devices, as those that get nothing get zeros.
  const bool of_all = opcode_ == HloOpcode::kCollectiveBroadcast;
  for (const std::vector<int64_t>& group : groups_.groups) {
    if (of_all) ids.insert(ids.end(), group.begin(), group.end());
  }
  for (int64_t id : ids) {
    if (id < count) continue;
    return InvalidArgument(name_, ": names id ", id, ", but there are ", count, " (", CollectiveOpGroupModeName(mode_),
                           " on ", position.replica_count, " replicas and ", position.partition_count, " partitions)");
  }
  auto group = GroupOf(of_all ? ReplicaGroups() : groups_, mode_, position);
  if (!group.ok()) return AddContext(group.status(), absl::StrCat("; in ", name_));
  HILO_RETURN_IF_ERROR(CheckShapes(static_cast<int64_t>(group->size())));
  return group;
}

absl::Status CollectiveOp::CheckShapes(int64_t ranks) const {
  for (size_t i = 0; i < operands_.size() && i < results_.size(); ++i) {
    const int64_t operand = operands_[i].bytes(), result = results_[i].bytes();
    if ((opcode_ == HloOpcode::kAllGather && result != operand * ranks) ||
        (opcode_ == HloOpcode::kReduceScatter && operand != result * ranks)) {
      return InvalidArgument(name_, ": operand ", i, " of ", operand, " bytes and its result of ", result,
                             " bytes do not fit a group of ", ranks, " devices");
    }
  }
  const bool array_fits = operands_[0].row_bytes % (ranks * element_bytes_) == 0;
  if (opcode_ == HloOpcode::kAllToAll &&
      (along_dimension_ ? !array_fits : static_cast<int64_t>(operands_.size()) != ranks)) {
    return InvalidArgument(name_, ": the operands cannot be cut into pieces for a group of ", ranks, " devices");
  }
  if (opcode_ == HloOpcode::kRaggedAllToAll && updates_ % ranks != 0) {
    return InvalidArgument(name_, ": ", updates_, " offsets cannot be as many for each of a group of ", ranks,
                           " devices");
  }
  return absl::OkStatus();
}

absl::Status CollectiveOp::Run(const DevicePosition& position, Communicator* communicator,
                               const CancellationToken* cancellation,
                               const decltype(ReductionFunction::combine)& combine,
                               absl::Span<const void* const> operands, absl::Span<void* const> results) const {
  std::vector<std::unique_ptr<Communicator>> alone;
  if (communicator == nullptr) {
    if (position.size() != 1)
      return FailedPrecondition(name_, ": there is no communicator between the ", position.size(), " devices");
    alone = MakeInProcessCommunicators(1);
    communicator = alone[0].get();
  }
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> group, GroupAt(position));
  Running run{.call = {.name = name_, .key = key_, .group = group, .cancellation = cancellation},
              .communicator = communicator,
              .reduction = {.element_bytes = element_bytes_, .combine = combine},
              .operands = operands,
              .results = results};
  static constexpr OpcodeMap<absl::Status (CollectiveOp::*)(Running&, const DevicePosition&) const> kRun = {
      {HloOpcode::kAllGather, &CollectiveOp::AllGather},
      {HloOpcode::kAllReduce, &CollectiveOp::AllReduce},
      {HloOpcode::kAllToAll, &CollectiveOp::AllToAll},
      {HloOpcode::kCollectiveBroadcast, &CollectiveOp::Broadcast},
      {HloOpcode::kCollectivePermute, &CollectiveOp::Permute},
      {HloOpcode::kRaggedAllToAll, &CollectiveOp::Ragged},
      {HloOpcode::kReduceScatter, &CollectiveOp::ReduceScatter},
  };
  return (this->*kRun[opcode_])(run, position);  // Create takes no others
}

absl::Status CollectiveOp::AllReduce(Running& run, const DevicePosition&) const {
  std::vector<CollectiveBuffer> buffers;
  for (size_t i = 0; i < operands_.size(); ++i)
    buffers.push_back({run.operands[i], run.results[i], operands_[i].bytes()});
  return run.communicator->AllReduce(run.call, buffers, run.reduction);
}

absl::Status CollectiveOp::AllGather(Running& run, const DevicePosition&) const {
  std::vector<CollectiveBuffer> buffers;
  for (size_t i = 0; i < operands_.size(); ++i) {
    void* receive = run.results[i];
    if (operands_[i].rows != 1) {
      HILO_ASSIGN_OR_RETURN(receive, run.Scratch(results_[i].bytes()));
    }
    buffers.push_back({run.operands[i], receive, operands_[i].bytes()});
  }
  HILO_RETURN_IF_ERROR(run.communicator->AllGather(run.call, buffers));
  for (size_t i = 0; i < operands_.size(); ++i) {
    if (operands_[i].rows == 1) continue;
    SpreadPieces(static_cast<const uint8_t*>(buffers[i].receive), static_cast<uint8_t*>(run.results[i]),
                 operands_[i].rows, run.ranks(), operands_[i].row_bytes);
  }
  return absl::OkStatus();
}

absl::Status CollectiveOp::ReduceScatter(Running& run, const DevicePosition&) const {
  std::vector<CollectiveBuffer> buffers;
  for (size_t i = 0; i < operands_.size(); ++i) {
    const void* send = run.operands[i];
    if (operands_[i].rows != 1) {
      HILO_ASSIGN_OR_RETURN(uint8_t* pieces, run.Scratch(operands_[i].bytes()));
      GatherPieces(static_cast<const uint8_t*>(send), pieces, operands_[i].rows, run.ranks(), results_[i].row_bytes);
      send = pieces;
    }
    buffers.push_back({send, run.results[i], results_[i].bytes()});
  }
  return run.communicator->ReduceScatter(run.call, buffers, run.reduction);
}

absl::Status CollectiveOp::AllToAll(Running& run, const DevicePosition&) const {
  if (along_dimension_) return AllToAllOfArray(run);
  return run.communicator->AllToAll(run.call, run.operands, run.results, operands_[0].bytes());
}

absl::Status CollectiveOp::AllToAllOfArray(Running& run) const {
  const Array& array = operands_[0];
  const int64_t ranks = run.ranks(), block = array.row_bytes / ranks, piece = array.rows * block;
  const auto* send = static_cast<const uint8_t*>(run.operands[0]);
  auto* receive = static_cast<uint8_t*>(run.results[0]);
  if (array.rows != 1) {
    HILO_ASSIGN_OR_RETURN(uint8_t* pieces, run.Scratch(array.bytes()));
    GatherPieces(send, pieces, array.rows, ranks, block);
    send = pieces;
    HILO_ASSIGN_OR_RETURN(receive, run.Scratch(array.bytes()));
  }
  std::vector<const void*> sends;
  std::vector<void*> receives;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    sends.push_back(send + rank * piece);
    receives.push_back(receive + rank * piece);
  }
  HILO_RETURN_IF_ERROR(run.communicator->AllToAll(run.call, sends, receives, piece));
  if (array.rows != 1) SpreadPieces(receive, static_cast<uint8_t*>(run.results[0]), array.rows, ranks, block);
  return absl::OkStatus();
}

absl::Status CollectiveOp::Permute(Running& run, const DevicePosition& position) const {
  const int64_t own = IdOf(mode_, position);
  int64_t source = -1, target = -1;
  for (const auto& [from, to] : pairs_.pairs) {
    if (to == own) source = RanksOf(mode_, from, position)[0];
    if (from == own) target = RanksOf(mode_, to, position)[0];
  }
  std::vector<CollectiveBuffer> buffers;
  for (size_t i = 0; i < operands_.size(); ++i)
    buffers.push_back({run.operands[i], run.results[i], operands_[i].bytes()});
  return run.communicator->CollectivePermute(run.call, buffers, source, target);
}

absl::Status CollectiveOp::Broadcast(Running& run, const DevicePosition& position) const {
  const int64_t own = IdOf(mode_, position);
  // Without groups it is one of all.
  std::vector<int64_t> ranks;
  if (groups_.groups.empty()) ranks.assign(run.call.group.begin(), run.call.group.end());
  for (const std::vector<int64_t>& group : groups_.groups) {
    if (std::find(group.begin(), group.end(), own) == group.end()) continue;
    for (int64_t id : group) ranks.push_back(RanksOf(mode_, id, position)[0]);
  }
  std::vector<CollectiveBuffer> buffers;
  for (size_t i = 0; i < operands_.size(); ++i) {
    const int64_t bytes = operands_[i].bytes();
    if (ranks.empty() && bytes > 0) std::memset(run.results[i], 0, bytes);
    buffers.push_back({run.operands[i], run.results[i], bytes});
  }
  if (ranks.empty()) return absl::OkStatus();
  run.call.group = ranks;
  return run.communicator->CollectiveBroadcast(run.call, buffers);
}

absl::Status CollectiveOp::Ragged(Running& run, const DevicePosition&) const {
  const int64_t output_bytes = results_[0].bytes(), input_bytes = operands_[0].bytes();
  if (output_bytes > 0) std::memcpy(run.results[0], run.operands[1], output_bytes);
  std::vector<RaggedUpdate> updates;
  for (int64_t i = 0; i < updates_; ++i) {
    RaggedUpdate& update = updates.emplace_back();
    update = {ReadOffset(run.operands[2], i, wide_offsets_), ReadOffset(run.operands[4], i, wide_offsets_),
              ReadOffset(run.operands[3], i, wide_offsets_)};
    for (int64_t* rows : {&update.from, &update.to, &update.bytes}) {
      if (__builtin_mul_overflow(*rows, ragged_row_bytes_, rows)) *rows = -1;  // refused with what leaves the arrays
    }
  }
  return run.communicator->RaggedAllToAll(run.call, run.operands[0], input_bytes, run.results[0], output_bytes,
                                          updates);
}

}  // namespace hilo
