#include "backends/gpu/collectives/collective_plan.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ops/collective/collective_attributes.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo::gpu {
namespace {

using Form = CollectiveSpec::Form;

// Reads what the attributes of a collective state: groups with or without the attribute use_global_device_ids, or
// pairs.
template <typename Attributes>
absl::Status ReadGroups(const HloInstruction& instruction, CollectiveSpec* spec) {
  const Attributes& attributes = instruction.attrs<Attributes>();
  std::optional<bool> use_global_device_ids;
  if constexpr (requires { attributes.use_global_device_ids; })
    use_global_device_ids = attributes.use_global_device_ids;
  spec->groups = attributes.replica_groups;
  HILO_ASSIGN_OR_RETURN(spec->mode, GetCollectiveOpGroupMode(attributes.channel_id.has_value(), use_global_device_ids));
  return absl::OkStatus();
}

absl::Status ReadSubset(const HloInstruction& instruction, CollectiveSpec* spec) {
  spec->form = Form::kSubset;
  return ReadGroups<CollectiveBroadcastAttrs>(instruction, spec);
}

absl::Status ReadPairs(const HloInstruction& instruction, CollectiveSpec* spec) {
  const auto& attributes = instruction.attrs<CollectivePermuteAttrs>();
  spec->form = Form::kPairs;
  spec->pairs = attributes.source_target_pairs.pairs;
  HILO_ASSIGN_OR_RETURN(spec->mode, GetCollectiveOpGroupMode(attributes.channel_id.has_value(), std::nullopt));
  return absl::OkStatus();
}

constexpr OpcodeMap<absl::Status (*)(const HloInstruction& instruction, CollectiveSpec* spec)> kSpecOf = {
    {HloOpcode::kAllGather, ReadGroups<AllGatherAttrs>},
    {HloOpcode::kAllReduce, ReadGroups<AllReduceAttrs>},
    {HloOpcode::kAllToAll, ReadGroups<AllToAllAttrs>},
    {HloOpcode::kCollectiveBroadcast, ReadSubset},
    {HloOpcode::kCollectivePermute, ReadPairs},
    {HloOpcode::kRaggedAllToAll, ReadGroups<RaggedAllToAllAttrs>},
    {HloOpcode::kReduceScatter, ReadGroups<ReduceScatterAttrs>},
};

// Assigns the clique numbers that roles use; they are sorted at the end.
class CliqueTable {
 public:
  int64_t Number(CliqueSpec clique) {
    const auto [it, fresh] = numbers_.try_emplace({clique.ranks, clique.kind}, static_cast<int64_t>(cliques_.size()));
    if (fresh) cliques_.push_back(std::move(clique));
    return it->second;
  }

  // Returns the cliques in order, and for each number the index of its clique.
  std::vector<CliqueSpec> Sorted(std::vector<int64_t>* positions) {
    std::vector<int64_t> order(cliques_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      const CliqueSpec &x = cliques_[a], &y = cliques_[b];
      if (x.ranks.size() != y.ranks.size()) return x.ranks.size() > y.ranks.size();
      return std::tie(x.ranks, x.kind) < std::tie(y.ranks, y.kind);
    });
    std::vector<CliqueSpec> sorted;
    positions->resize(order.size());
    for (int64_t number : order) {
      (*positions)[number] = static_cast<int64_t>(sorted.size());
      sorted.push_back(cliques_[number]);
    }
    return sorted;
  }

 private:
  std::map<std::pair<std::vector<int64_t>, std::string>, int64_t> numbers_;
  std::vector<CliqueSpec> cliques_;
};

// GroupOf checks the ids of kGroups.
absl::Status CheckIds(const CollectiveSpec& spec, const DevicePosition& position) {
  const int64_t count = IdCount(spec.mode, position);
  const auto check = [&](std::set<int64_t>* seen, int64_t id) -> absl::Status {
    if (id < 0 || id >= count || (!seen->insert(id).second && spec.form != Form::kTransfer))
      return InvalidArgument(spec.name, ": expected different ids below ", count, ", got ", id);
    return absl::OkStatus();
  };
  std::set<int64_t> members, sources, targets;
  if (spec.form == Form::kSubset) {
    for (const std::vector<int64_t>& group : spec.groups.groups) {
      for (const int64_t id : group) HILO_RETURN_IF_ERROR(check(&members, id));
    }
  }
  for (const auto& [source, target] : spec.pairs) {
    HILO_RETURN_IF_ERROR(check(&sources, source));
    HILO_RETURN_IF_ERROR(check(&targets, target));
  }
  return absl::OkStatus();
}

int64_t IndexIn(const std::vector<int64_t>& group, int64_t rank) {
  return std::find(group.begin(), group.end(), rank) - group.begin();
}

absl::StatusOr<std::vector<int64_t>> GroupAt(const CollectiveSpec& spec, const DevicePosition& position) {
  if (spec.form != Form::kSubset || spec.groups.groups.empty()) return GroupOf(spec.groups, spec.mode, position);
  const int64_t own = IdOf(spec.mode, position);
  std::vector<int64_t> ranks;
  for (const std::vector<int64_t>& group : spec.groups.groups) {
    if (std::find(group.begin(), group.end(), own) == group.end()) continue;
    for (int64_t id : group) ranks.push_back(RanksOf(spec.mode, id, position)[0]);
  }
  return ranks;
}

CollectiveRole TransferRole(const CollectiveSpec& spec, const DevicePosition& position, CliqueTable* cliques) {
  CollectiveRole role;
  const int64_t own = IdOf(spec.mode, position);
  auto clique = [&](int64_t source, int64_t target) {
    return cliques->Number({{RanksOf(spec.mode, source, position)[0], RanksOf(spec.mode, target, position)[0]},
                            absl::StrCat("channel ", spec.channel)});
  };
  for (const auto& [source, target] : spec.pairs) {
    if (source == own && target == own) {
      role.sends_to_itself = true;
    } else if (source == own && role.send_clique < 0) {
      role.send_clique = clique(source, target);
    } else if (target == own && role.receive_clique < 0) {
      role.receive_clique = clique(source, target);
    }
  }
  return role;
}

absl::StatusOr<CollectiveRole> RoleOf(const CollectiveSpec& spec, const DevicePosition& position,
                                      CliqueTable* cliques) {
  if (spec.form == Form::kTransfer) return TransferRole(spec, position, cliques);
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> group, GroupAt(spec, position));
  CollectiveRole role{.size = static_cast<int64_t>(group.size()),
                      .index = IndexIn(group, position.rank()),
                      .takes_part = !group.empty()};
  if (group.size() > 1) role.clique = cliques->Number({group, ""});
  if (spec.form != Form::kPairs) return role;
  const int64_t own = IdOf(spec.mode, position);
  for (const auto& [from, to] : spec.pairs) {
    if (to == own) role.source = IndexIn(group, RanksOf(spec.mode, from, position)[0]);
    if (from == own) role.target = IndexIn(group, RanksOf(spec.mode, to, position)[0]);
  }
  if (std::max(role.source, role.target) >= role.size)
    return InvalidArgument("rank ", position.rank(), " exchanges data with one that is not of its group");
  return role;
}

}  // namespace

std::string CliqueSpec::ToString() const {
  return absl::StrCat("{", absl::StrJoin(ranks, ","), "}", kind.empty() ? "" : " ", kind);
}

absl::StatusOr<CollectiveSpec> CollectiveSpecOf(const HloInstruction& instruction) {
  CollectiveSpec spec{.name = absl::StrCat(HloOpcodeString(instruction.opcode()), " %", instruction.name())};
  const auto read = kSpecOf[instruction.opcode()];
  if (read == nullptr) return Internal(spec.name, " is no collective of the GPU backend");
  HILO_RETURN_IF_ERROR(read(instruction, &spec));
  return spec;
}

int64_t LargestGroup(const CollectiveSpec& spec, int64_t replica_count, int64_t partition_count) {
  const DevicePosition position{.replica_count = replica_count, .partition_count = partition_count};
  int64_t ids = IdCount(spec.mode, position);
  if (!spec.groups.groups.empty()) {
    ids = 0;
    for (const std::vector<int64_t>& group : spec.groups.groups)
      ids = std::max(ids, static_cast<int64_t>(group.size()));
  }
  return spec.mode == CollectiveOpGroupMode::kCrossReplicaAndPartition ? ids * partition_count : ids;
}

absl::StatusOr<CollectivePlan> CollectivePlan::Create(absl::Span<const CollectiveSpec> specs, int64_t replica_count,
                                                      int64_t partition_count) {
  CollectivePlan plan;
  CliqueTable cliques;
  for (const CollectiveSpec& spec : specs) {
    HILO_RETURN_IF_ERROR(CheckIds(spec, {.replica_count = replica_count, .partition_count = partition_count}));
    std::vector<CollectiveRole>& roles = plan.roles_.emplace_back();
    for (int64_t rank = 0; rank < replica_count * partition_count; ++rank) {
      const DevicePosition position{rank / partition_count, rank % partition_count, replica_count, partition_count};
      absl::StatusOr<CollectiveRole> role = RoleOf(spec, position, &cliques);
      if (!role.ok()) return AddContext(role.status(), absl::StrCat("; in ", spec.name));
      roles.push_back(*role);
    }
  }
  std::vector<int64_t> positions;
  plan.cliques_ = cliques.Sorted(&positions);
  std::string text;
  for (const CollectiveSpec& spec : specs) absl::StrAppend(&text, spec.name, "\n");
  for (const CliqueSpec& clique : plan.cliques_) absl::StrAppend(&text, clique.ToString(), "\n");
  plan.fingerprint_ = std::hash<std::string>()(text);
  for (std::vector<CollectiveRole>& roles : plan.roles_) {
    for (CollectiveRole& role : roles) {
      for (int64_t* number : {&role.clique, &role.send_clique, &role.receive_clique}) {
        if (*number >= 0) *number = positions[*number];
      }
    }
  }
  return plan;
}

bool CollectivePlan::has_overlapping_cliques() const {
  std::set<int64_t> seen;
  for (const CliqueSpec& clique : cliques_) {
    for (int64_t rank : clique.ranks) {
      if (!seen.insert(rank).second) return true;
    }
  }
  return false;
}

}  // namespace hilo::gpu
