// Shared base of communicators: calls are checked and collected until their group ends.
#ifndef HILO_BACKENDS_GPU_COLLECTIVES_GROUPED_COMMUNICATOR_H_
#define HILO_BACKENDS_GPU_COLLECTIVES_GROUPED_COMMUNICATOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "backends/gpu/collectives/device_communicator.h"

namespace hilo::gpu {

struct CommunicatorCall {
  enum class Kind : uint8_t { kAllReduce, kReduceScatter, kAllGather, kBroadcast, kAllToAll, kSend, kReceive };
  Kind kind = Kind::kAllReduce;
  const void* send = nullptr;
  void* receive = nullptr;
  int64_t count = 0;
  PrimitiveType type = PRIMITIVE_TYPE_INVALID;
  DeviceReduction reduction = DeviceReduction::kSum;
  int64_t peer = -1;  // or root
  // In a graph: the index of the collective among those that its rank has captured, 0 for sends and receives; -1:
  // queued directly. Ranks must agree on it, too.
  int64_t captured = -1;

  bool is_collective() const { return kind != Kind::kSend && kind != Kind::kReceive; }
  int64_t bytes() const { return count * PrimitiveTypeByteSize(type); }
  // The bytes that rank `rank` of `size` reads and writes. A broadcast is read at its root alone.
  int64_t send_bytes(int64_t rank, int64_t size) const;
  int64_t receive_bytes(int64_t size) const;
  // The part on which ranks must agree: "all-reduce of 4 f32 by sum", "send of 16 u8 to rank 1".
  std::string ToString() const;
  // Adds the memory that it reads and writes as rank `rank` of `size`.
  void AddSlices(int64_t rank, int64_t size, std::vector<GpuSlice>* slices) const;
};

class GroupedCommunicator : public DeviceCommunicator {
 public:
  absl::Status GroupStart() override;
  absl::Status GroupEnd() override;
  absl::Status AllReduce(const void* send, void* receive, int64_t count, PrimitiveType type, DeviceReduction reduction,
                         GpuStream& stream) override;
  absl::Status ReduceScatter(const void* send, void* receive, int64_t count, PrimitiveType type,
                             DeviceReduction reduction, GpuStream& stream) override;
  absl::Status AllGather(const void* send, void* receive, int64_t count, PrimitiveType type,
                         GpuStream& stream) override;
  absl::Status Broadcast(const void* send, void* receive, int64_t count, PrimitiveType type, int64_t root,
                         GpuStream& stream) override;
  absl::Status Send(const void* data, int64_t count, PrimitiveType type, int64_t peer, GpuStream& stream) override;
  absl::Status Receive(void* data, int64_t count, PrimitiveType type, int64_t peer, GpuStream& stream) override;
  absl::Status AllToAll(const void* send, void* receive, int64_t count, PrimitiveType type, GpuStream& stream) override;

 protected:
  // Queues the calls, which form one nonempty group.
  virtual absl::Status Submit(std::vector<CommunicatorCall> calls, GpuStream& stream) = 0;

 private:
  absl::Status Check(const CommunicatorCall& call) const;
  absl::Status Add(const CommunicatorCall& call, GpuStream& stream);
  absl::Status SubmitGroup();

  int depth_ = 0;
  std::vector<CommunicatorCall> group_;
  GpuStream* stream_ = nullptr;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_COLLECTIVES_GROUPED_COMMUNICATOR_H_
