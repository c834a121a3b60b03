#include "backends/gpu/collectives/grouped_communicator.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

using Kind = CommunicatorCall::Kind;

}  // namespace

absl::string_view DeviceReductionName(DeviceReduction reduction) {
  static constexpr absl::string_view kNames[] = {"sum", "prod", "max", "min"};
  return kNames[static_cast<int>(reduction)];
}

bool IsCommunicable(PrimitiveType type) {
  switch (type) {
    case S8:
    case U8:
    case S32:
    case U32:
    case S64:
    case U64:
    case F16:
    case BF16:
    case F32:
    case F64: return true;
    default: return false;
  }
}

std::string CommunicatorCall::ToString() const {
  static constexpr const char* kNames[] = {"all-reduce", "reduce-scatter", "all-gather", "broadcast",
                                           "all-to-all", "send",           "receive"};
  std::string text = absl::StrCat(kNames[static_cast<int>(kind)], " of ", count, " ", PrimitiveTypeName(type));
  if (kind == Kind::kAllReduce || kind == Kind::kReduceScatter)
    absl::StrAppend(&text, " by ", DeviceReductionName(reduction));
  if (kind == Kind::kBroadcast || kind == Kind::kReceive) absl::StrAppend(&text, " from rank ", peer);
  if (kind == Kind::kSend) absl::StrAppend(&text, " to rank ", peer);
  if (captured >= 0) absl::StrAppend(&text, " of a graph, captured as number ", captured);
  return text;
}

int64_t CommunicatorCall::send_bytes(int64_t rank, int64_t size) const {
  if (kind == Kind::kReceive || (kind == Kind::kBroadcast && peer != rank)) return 0;
  return bytes() * (kind == Kind::kReduceScatter || kind == Kind::kAllToAll ? size : 1);
}

int64_t CommunicatorCall::receive_bytes(int64_t size) const {
  if (kind == Kind::kSend) return 0;
  return bytes() * (kind == Kind::kAllGather || kind == Kind::kAllToAll ? size : 1);
}

void CommunicatorCall::AddSlices(int64_t rank, int64_t size, std::vector<GpuSlice>* slices) const {
  if (const int64_t read = send_bytes(rank, size); read > 0) slices->push_back(GpuSlice::Read(send, read));
  if (const int64_t written = receive_bytes(size); written > 0) slices->push_back(GpuSlice::Write(receive, written));
}

absl::Status GroupedCommunicator::GroupStart() {
  ++depth_;
  return absl::OkStatus();
}

absl::Status GroupedCommunicator::GroupEnd() {
  if (depth_ == 0) return InvalidArgument("the end of a group that has not begun");
  return --depth_ > 0 ? absl::OkStatus() : SubmitGroup();
}

absl::Status GroupedCommunicator::AllReduce(const void* send, void* receive, int64_t count, PrimitiveType type,
                                            DeviceReduction reduction, GpuStream& stream) {
  return Add({.kind = Kind::kAllReduce,
              .send = send,
              .receive = receive,
              .count = count,
              .type = type,
              .reduction = reduction},
             stream);
}
absl::Status GroupedCommunicator::ReduceScatter(const void* send, void* receive, int64_t count, PrimitiveType type,
                                                DeviceReduction reduction, GpuStream& stream) {
  return Add({.kind = Kind::kReduceScatter,
              .send = send,
              .receive = receive,
              .count = count,
              .type = type,
              .reduction = reduction},
             stream);
}
absl::Status GroupedCommunicator::AllGather(const void* send, void* receive, int64_t count, PrimitiveType type,
                                            GpuStream& stream) {
  return Add({.kind = Kind::kAllGather, .send = send, .receive = receive, .count = count, .type = type}, stream);
}
absl::Status GroupedCommunicator::Broadcast(const void* send, void* receive, int64_t count, PrimitiveType type,
                                            int64_t root, GpuStream& stream) {
  return Add({.kind = Kind::kBroadcast, .send = send, .receive = receive, .count = count, .type = type, .peer = root},
             stream);
}
absl::Status GroupedCommunicator::Send(const void* data, int64_t count, PrimitiveType type, int64_t peer,
                                       GpuStream& stream) {
  return Add({.kind = Kind::kSend, .send = data, .count = count, .type = type, .peer = peer}, stream);
}
absl::Status GroupedCommunicator::Receive(void* data, int64_t count, PrimitiveType type, int64_t peer,
                                          GpuStream& stream) {
  return Add({.kind = Kind::kReceive, .receive = data, .count = count, .type = type, .peer = peer}, stream);
}
absl::Status GroupedCommunicator::AllToAll(const void* send, void* receive, int64_t count, PrimitiveType type,
                                           GpuStream& stream) {
  if (!has_all_to_all()) return Unimplemented("AllToAll: the library has no such call");
  return Add({.kind = Kind::kAllToAll, .send = send, .receive = receive, .count = count, .type = type}, stream);
}

absl::Status GroupedCommunicator::Check(const CommunicatorCall& call) const {
  if (!IsCommunicable(call.type))
    return InvalidArgument("a communicator takes no elements of type ", PrimitiveTypeName(call.type));
  if (call.count < 0) return InvalidArgument("expected a number of elements, got ", call.count);
  const bool has_peer = call.kind == Kind::kBroadcast || !call.is_collective();
  if (has_peer && (call.peer < 0 || call.peer >= size()))
    return InvalidArgument("expected a rank below ", size(), ", got ", call.peer);
  return absl::OkStatus();
}

absl::Status GroupedCommunicator::Add(const CommunicatorCall& call, GpuStream& stream) {
  HILO_RETURN_IF_ERROR(AsyncError());
  HILO_RETURN_IF_ERROR(Check(call));
  if (!group_.empty() && stream_ != &stream) return Unimplemented("calls of one group on several streams");
  group_.push_back(call);
  stream_ = &stream;
  return depth_ > 0 ? absl::OkStatus() : SubmitGroup();
}

absl::Status GroupedCommunicator::SubmitGroup() {
  return group_.empty() ? absl::OkStatus() : Submit(std::exchange(group_, {}), *stream_);
}

}  // namespace hilo::gpu
