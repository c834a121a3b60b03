// Attributes of the collectives and of asynchronous pairs.
#ifndef HILO_HLO_OPS_COLLECTIVE_COLLECTIVE_ATTRIBUTES_H_
#define HILO_HLO_OPS_COLLECTIVE_COLLECTIVE_ATTRIBUTES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hlo/ops/collective/replica_groups.h"
#include "hlo/ops/table/attributes.h"

namespace hilo {

struct AllGatherAttrs : Attributes<AllGatherAttrs> {
  ReplicaGroups replica_groups;
  std::optional<int64_t> channel_id;
  std::vector<int64_t> dimensions;  // exactly one
  bool constrain_layout = false;
  bool use_global_device_ids = false;
  static constexpr auto Fields() {
    return std::make_tuple(Field("channel_id", &AllGatherAttrs::channel_id, Presence::kOptional),
                           Field("replica_groups", &AllGatherAttrs::replica_groups, Presence::kOptional),
                           Field("constrain_layout", &AllGatherAttrs::constrain_layout, Presence::kOptional),
                           Field("dimensions", &AllGatherAttrs::dimensions),
                           Field("use_global_device_ids", &AllGatherAttrs::use_global_device_ids, Presence::kOptional));
  }
};

struct AllReduceAttrs : Attributes<AllReduceAttrs> {
  ReplicaGroups replica_groups;
  std::optional<int64_t> channel_id;
  bool constrain_layout = false;
  bool use_global_device_ids = false;
  static constexpr auto Fields() {
    return std::make_tuple(Field("channel_id", &AllReduceAttrs::channel_id, Presence::kOptional),
                           Field("replica_groups", &AllReduceAttrs::replica_groups, Presence::kOptional),
                           Field("constrain_layout", &AllReduceAttrs::constrain_layout, Presence::kOptional),
                           Field("use_global_device_ids", &AllReduceAttrs::use_global_device_ids, Presence::kOptional));
  }
};

struct AllToAllAttrs : Attributes<AllToAllAttrs> {
  ReplicaGroups replica_groups;
  std::optional<int64_t> channel_id;
  std::vector<int64_t> dimensions;  // one, or none for the form with tuples
  bool constrain_layout = false;
  static constexpr auto Fields() {
    return std::make_tuple(Field("channel_id", &AllToAllAttrs::channel_id, Presence::kOptional),
                           Field("replica_groups", &AllToAllAttrs::replica_groups, Presence::kOptional),
                           Field("constrain_layout", &AllToAllAttrs::constrain_layout, Presence::kOptional),
                           Field("dimensions", &AllToAllAttrs::dimensions, Presence::kOptional));
  }
};

struct CollectiveBroadcastAttrs : Attributes<CollectiveBroadcastAttrs> {
  ReplicaGroups replica_groups;
  std::optional<int64_t> channel_id;
  static constexpr auto Fields() {
    return std::make_tuple(Field("channel_id", &CollectiveBroadcastAttrs::channel_id, Presence::kOptional),
                           Field("replica_groups", &CollectiveBroadcastAttrs::replica_groups, Presence::kOptional));
  }
};

struct CollectivePermuteAttrs : Attributes<CollectivePermuteAttrs> {
  SourceTargetPairs source_target_pairs;
  std::optional<int64_t> channel_id;
  Verbatim slice_sizes;  // of the form that sends slices of buffers; inference rejects it
  static constexpr auto Fields() {
    return std::make_tuple(Field("channel_id", &CollectivePermuteAttrs::channel_id, Presence::kOptional),
                           Field("source_target_pairs", &CollectivePermuteAttrs::source_target_pairs),
                           Field("slice_sizes", &CollectivePermuteAttrs::slice_sizes, Presence::kOptional));
  }
};

struct RaggedAllToAllAttrs : Attributes<RaggedAllToAllAttrs> {
  ReplicaGroups replica_groups;
  std::optional<int64_t> channel_id;
  static constexpr auto Fields() {
    return std::make_tuple(Field("channel_id", &RaggedAllToAllAttrs::channel_id, Presence::kOptional),
                           Field("replica_groups", &RaggedAllToAllAttrs::replica_groups, Presence::kOptional));
  }
};

struct ReduceScatterAttrs : Attributes<ReduceScatterAttrs> {
  ReplicaGroups replica_groups;
  std::optional<int64_t> channel_id;
  std::vector<int64_t> dimensions;  // exactly one
  bool constrain_layout = false;
  bool use_global_device_ids = false;
  static constexpr auto Fields() {
    return std::make_tuple(
        Field("channel_id", &ReduceScatterAttrs::channel_id, Presence::kOptional),
        Field("replica_groups", &ReduceScatterAttrs::replica_groups, Presence::kOptional),
        Field("constrain_layout", &ReduceScatterAttrs::constrain_layout, Presence::kOptional),
        Field("use_global_device_ids", &ReduceScatterAttrs::use_global_device_ids, Presence::kOptional),
        Field("dimensions", &ReduceScatterAttrs::dimensions));
  }
};

// async-start, async-update and async-done.
struct AsyncAttrs : Attributes<AsyncAttrs> {
  std::string async_execution_thread;
  static constexpr auto Fields() {
    return std::make_tuple(Field("async_execution_thread", &AsyncAttrs::async_execution_thread, Presence::kOptional));
  }
};

}  // namespace hilo

#endif  // HILO_HLO_OPS_COLLECTIVE_COLLECTIVE_ATTRIBUTES_H_
