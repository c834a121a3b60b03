#include "pjrt/compile_options.h"

#include <algorithm>
#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/import/hlo_proto_wire.h"
#include "pjrt/xla_flags.h"

namespace hilo::pjrt {
namespace {

// Fields of CompileOptionsProto, ExecutableBuildOptionsProto, DeviceAssignmentProto and OptionOverrideProto.
enum CompileField { kBuildOptions = 3, kPortable = 4, kOverrides = 7 };
enum BuildField {
  kReplicas = 4,
  kPartitions = 5,
  kPartition = 6,
  kAssignment = 9,
  kOpenResults = 12,
  kOpenParameters = 18
};
enum AssignmentField { kReplicaCount = 1, kComputationCount = 2, kComputationDevices = 3 };
enum ComputationField { kReplicaDevices = 1 };
enum OverrideField { kString = 1, kBool = 2, kInt = 3, kDouble = 4 };

// How a value that was sent without quotes would have been written.
std::string TextOf(const WireMessage& value) {
  if (value.Has(kString)) return std::string(value.Bytes(kString));
  if (value.Has(kBool)) return value.Bool(kBool) ? "1" : "0";
  return value.Has(kInt) ? absl::StrCat(value.Int(kInt)) : absl::StrCat(value.Double(kDouble));
}

absl::Status NoValue(absl::string_view name, absl::string_view type, const WireMessage& value) {
  return InvalidArgument("While setting option ", name, ", '", TextOf(value), "' is not a valid ", type, " value.");
}

absl::StatusOr<bool> BoolOf(absl::string_view name, const WireMessage& value) {
  if (value.Has(kBool)) return value.Bool(kBool);
  const std::string text = TextOf(value);
  if (text == "true" || text == "True" || text == "1") return true;
  if (text == "false" || text == "False" || text == "0") return false;
  return NoValue(name, "bool", value);
}

absl::StatusOr<std::string> StringOf(absl::string_view name, const WireMessage& value) {
  if (!value.Has(kString)) return NoValue(name, "string", value);
  return std::string(value.Bytes(kString));
}

// A flag that is ignored.
absl::Status CheckFlag(absl::string_view name, const WireMessage& value) {
  int64_t integer;
  double number;
  switch (XlaFlagTypeOf(name)) {
    case XlaFlagType::kNone: return InvalidArgument("No such compile option: '", name, "'");
    case XlaFlagType::kBool: return BoolOf(name, value).status();
    case XlaFlagType::kInt:
      if (value.Has(kInt) || (value.Has(kString) && absl::SimpleAtoi(value.Bytes(kString), &integer)))
        return absl::OkStatus();
      return NoValue(name, "int32", value);
    case XlaFlagType::kFloat:
      if (value.Has(kDouble) || (value.Has(kString) && absl::SimpleAtod(value.Bytes(kString), &number)))
        return absl::OkStatus();
      return NoValue(name, "float", value);
    case XlaFlagType::kString: return StringOf(name, value).status();
    case XlaFlagType::kAny: break;
  }
  return absl::OkStatus();
}

absl::Status ApplyOverride(absl::string_view name, const WireMessage& value, CompileOptions* options) {
  if (name == "hilo_strict") {
    HILO_ASSIGN_OR_RETURN(options->strict, BoolOf(name, value));
  } else if (name == "xla_allow_excess_precision") {
    HILO_ASSIGN_OR_RETURN(const bool excess, BoolOf(name, value));
    options->strict = !excess;
  } else if (name == "hilo_flush_denormals") {
    HILO_ASSIGN_OR_RETURN(options->flush_denormals, BoolOf(name, value));
  } else if (name == "hilo_dump_to" || name == "xla_dump_to") {
    HILO_ASSIGN_OR_RETURN(options->dump_dir, StringOf(name, value));
  } else {
    return CheckFlag(name, value);
  }
  return absl::OkStatus();
}

// A count of the message, where 0 means 1.
absl::StatusOr<int64_t> Count(const WireMessage& message, int field, absl::string_view name) {
  const int64_t count = std::max<int64_t>(message.Int(field), 1);
  if (count > std::numeric_limits<int32_t>::max())
    return InvalidArgument(name, ": ", message.Int(field), " is out of range");
  return count;
}

// By replica and partition, from lists of replicas for each partition.
absl::StatusOr<std::vector<int>> ReadAssignment(const WireMessage& proto, int64_t replicas, int64_t partitions) {
  HILO_ASSIGN_OR_RETURN(const std::vector<WireMessage> computations, proto.Messages(kComputationDevices));
  if (proto.Int(kReplicaCount) != replicas || proto.Int(kComputationCount) != partitions ||
      static_cast<int64_t>(computations.size()) != partitions) {
    return InvalidArgument("the device assignment of ", proto.Int(kReplicaCount), " replicas and ", computations.size(),
                           " partitions is not for the program's ", replicas, " and ", partitions);
  }
  std::vector<std::vector<int64_t>> by_partition;
  for (const WireMessage& computation : computations) {
    HILO_ASSIGN_OR_RETURN(by_partition.emplace_back(), computation.Ints(kReplicaDevices));
    if (static_cast<int64_t>(by_partition.back().size()) != replicas) {
      return InvalidArgument("the device assignment has ", by_partition.back().size(), " devices for a partition of ",
                             replicas, " replicas");
    }
  }
  std::vector<int> devices;
  for (int64_t replica = 0; replica < replicas; ++replica) {
    for (const std::vector<int64_t>& partition : by_partition) {
      const int64_t device = partition[replica];
      if (device < 0 || device > std::numeric_limits<int>::max()) return InvalidArgument("there is no device ", device);
      devices.push_back(static_cast<int>(device));
    }
  }
  return devices;
}

}  // namespace

absl::StatusOr<PluginCompileOptions> ReadCompileOptions(absl::string_view bytes) {
  HILO_ASSIGN_OR_RETURN(const WireMessage proto, WireMessage::Parse(bytes));
  HILO_ASSIGN_OR_RETURN(const WireMessage build, proto.Message(kBuildOptions));
  PluginCompileOptions options;
  options.portable = proto.Bool(kPortable);
  HILO_ASSIGN_OR_RETURN(options.compile.replica_count, Count(build, kReplicas, "num_replicas"));
  HILO_ASSIGN_OR_RETURN(options.compile.num_partitions, Count(build, kPartitions, "num_partitions"));
  options.compile.partitioned = options.compile.num_partitions > 1 && !build.Bool(kPartition);
  if (build.Has(kAssignment)) {
    HILO_ASSIGN_OR_RETURN(const WireMessage assignment, build.Message(kAssignment));
    HILO_ASSIGN_OR_RETURN(options.compile.devices,
                          ReadAssignment(assignment, options.compile.replica_count, options.compile.num_partitions));
  }
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> open, build.Ints(kOpenResults));
  options.open_results.assign(open.begin(), open.end());
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> parameters, build.Ints(kOpenParameters));
  options.open_parameters.assign(parameters.begin(), parameters.end());
  HILO_ASSIGN_OR_RETURN(const std::vector<WireMessage> overrides, proto.Messages(kOverrides));
  for (const WireMessage& entry : overrides) {  // of a map: key 1, value 2
    HILO_ASSIGN_OR_RETURN(const WireMessage value, entry.Message(2));
    HILO_RETURN_IF_ERROR(ApplyOverride(entry.Bytes(1), value, &options.compile));
  }
  return options;
}

std::string DeviceAssignmentToProto(const DeviceAssignment& assignment) {
  WireWriter proto;
  proto.Int(kReplicaCount, assignment.replica_count());
  proto.Int(kComputationCount, assignment.partition_count());
  for (int64_t partition = 0; partition < assignment.partition_count(); ++partition) {
    std::vector<int64_t> devices;
    for (int64_t replica = 0; replica < assignment.replica_count(); ++replica)
      devices.push_back(assignment(replica, partition));
    WireWriter computation;
    computation.Ints(kReplicaDevices, devices);
    proto.Message(kComputationDevices, computation);
  }
  return std::move(proto).Take();
}

}  // namespace hilo::pjrt
