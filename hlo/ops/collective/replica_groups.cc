// The compact forms are views of an array of ids: both lay ids out over dimensions, move some of
// these to the end, and split the result into groups. Reading one expands it at once, within a
// limit, so that no other code has to handle the forms.
#include "hlo/ops/collective/replica_groups.h"

#include <algorithm>
#include <numeric>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "hilo/shape.h"
#include "hilo/status_macros.h"
#include "hlo/ops/table/attribute_reader.h"

namespace hilo {
namespace {

using Ids = std::vector<int64_t>;

absl::Status ReadNumber(AttributeReader* reader, int64_t* value) { return NumberFromWord(reader->TakeWord(), value); }

// "a,b" up to `close`; the opening has been taken.
absl::Status ReadNumbers(AttributeReader* reader, char close, Ids* values) {
  if (reader->Take(close)) return absl::OkStatus();
  do {
    if (static_cast<int64_t>(values->size()) == kMaxReplicaIds) {
      return InvalidArgument("more than ", kMaxReplicaIds, " numbers in a list");
    }
    HILO_RETURN_IF_ERROR(ReadNumber(reader, &values->emplace_back()));
  } while (reader->Take(','));
  return reader->Take(close) ? absl::OkStatus() : reader->Expected(std::string(1, close));
}

absl::Status ReadToken(AttributeReader* reader, absl::string_view token) {
  for (char c : token) {
    if (!reader->Take(c)) return reader->Expected(token);
  }
  return absl::OkStatus();
}

// The product of sizes >= 1. Errors: InvalidArgument for others, and beyond the limit.
absl::StatusOr<int64_t> Volume(absl::Span<const int64_t> sizes) {
  int64_t volume = 1;
  for (int64_t size : sizes) {
    if (size < 1) return InvalidArgument("size ", size, " of a dimension must be positive");
    if (size > kMaxReplicaIds / volume) {
      return InvalidArgument("[", absl::StrJoin(sizes, ","), "] are more than ", kMaxReplicaIds, " ids");
    }
    volume *= size;
  }
  return volume;
}

// `ids` as an array of `sizes`, its dimensions in the order of `permutation`, row-major.
Ids Transposed(const Ids& ids, absl::Span<const int64_t> sizes, absl::Span<const int64_t> permutation) {
  const std::vector<int64_t> strides = ShapeUtil::RowMajorStrides(sizes);
  Ids limits, index(sizes.size(), 0), result;
  for (int64_t d : permutation) limits.push_back(sizes[d]);
  result.reserve(ids.size());
  do {
    int64_t position = 0;
    for (size_t i = 0; i < index.size(); ++i) position += index[i] * strides[permutation[i]];
    result.push_back(ids[position]);
  } while (IndexUtil::BumpIndices(limits, absl::MakeSpan(index)));
  return result;
}

std::vector<Ids> InGroups(const Ids& ids, int64_t group_size) {
  std::vector<Ids> groups;
  for (size_t i = 0; i < ids.size(); i += group_size) {
    groups.emplace_back(ids.begin() + i, ids.begin() + i + group_size);
  }
  return groups;
}

// "[4,2]T(1,0)": the ids 0, 1 ... transposed. Appends its text to *form.
absl::StatusOr<Ids> ReadIota(AttributeReader* reader, std::string* form) {
  Ids sizes, permutation;
  HILO_RETURN_IF_ERROR(ReadToken(reader, "["));
  HILO_RETURN_IF_ERROR(ReadNumbers(reader, ']', &sizes));
  HILO_ASSIGN_OR_RETURN(const int64_t volume, Volume(sizes));
  Ids ids(volume);
  std::iota(ids.begin(), ids.end(), 0);
  absl::StrAppend(form, "[", absl::StrJoin(sizes, ","), "]");
  if (!reader->Take('T')) return ids;
  HILO_RETURN_IF_ERROR(ReadToken(reader, "("));
  HILO_RETURN_IF_ERROR(ReadNumbers(reader, ')', &permutation));
  Ids sorted = permutation, all(sizes.size());
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), 0);
  if (sorted != all) {
    return InvalidArgument("T(", absl::StrJoin(permutation, ","), ") must be a permutation of the ", sizes.size(),
                           " dimensions");
  }
  absl::StrAppend(form, "T(", absl::StrJoin(permutation, ","), ")");
  return Transposed(ids, sizes, permutation);
}

// "[2,4]<=[8]".
absl::Status ReadIotaGroups(AttributeReader* reader, ReplicaGroups* value) {
  Ids sizes;
  HILO_RETURN_IF_ERROR(ReadToken(reader, "["));
  HILO_RETURN_IF_ERROR(ReadNumbers(reader, ']', &sizes));
  HILO_RETURN_IF_ERROR(ReadToken(reader, "<="));
  if (sizes.size() != 2) return InvalidArgument("expected [groups,group size] before <=, got ", sizes.size(), " sizes");
  HILO_ASSIGN_OR_RETURN(const int64_t volume, Volume(sizes));
  value->form = absl::StrCat("[", absl::StrJoin(sizes, ","), "]<=");
  HILO_ASSIGN_OR_RETURN(const Ids ids, ReadIota(reader, &value->form));
  if (static_cast<int64_t>(ids.size()) != volume) {
    return InvalidArgument("[", absl::StrJoin(sizes, ","), "] holds ", volume, " ids, but ", ids.size(), " are given");
  }
  value->groups = InGroups(ids, sizes[1]);
  return absl::OkStatus();
}

// "'a'".
absl::StatusOr<std::string> ReadAxisName(AttributeReader* reader) {
  HILO_RETURN_IF_ERROR(ReadToken(reader, "'"));
  std::string name(reader->TakeWord());
  if (name.empty()) return reader->Expected("the name of an axis");
  HILO_RETURN_IF_ERROR(ReadToken(reader, "'"));
  return name;
}

// An axis, or a part of one: the axis is cut into sizes `before`, `size` and the rest.
struct AxisPart {
  int64_t axis, before, size;
};

struct Mesh {
  std::vector<std::string> names;
  Ids sizes;
  Ids ids;
  std::string form;
};

// "['a'=2,'b'=2], device_ids=([2,2]T(1,0))"; the word mesh has been taken.
absl::StatusOr<Mesh> ReadMesh(AttributeReader* reader) {
  Mesh mesh;
  std::vector<std::string> axes;
  HILO_RETURN_IF_ERROR(ReadToken(reader, "["));
  do {
    HILO_ASSIGN_OR_RETURN(mesh.names.emplace_back(), ReadAxisName(reader));
    HILO_RETURN_IF_ERROR(ReadToken(reader, "="));
    HILO_RETURN_IF_ERROR(ReadNumber(reader, &mesh.sizes.emplace_back()));
    axes.push_back(absl::StrCat("'", mesh.names.back(), "'=", mesh.sizes.back()));
  } while (reader->Take(','));
  HILO_RETURN_IF_ERROR(ReadToken(reader, "]"));
  HILO_ASSIGN_OR_RETURN(const int64_t volume, Volume(mesh.sizes));
  mesh.form = absl::StrCat("mesh[", absl::StrJoin(axes, ","), "]");
  if (!reader->Take(',')) {
    mesh.ids.resize(volume);
    std::iota(mesh.ids.begin(), mesh.ids.end(), 0);
    return mesh;
  }
  if (reader->TakeWord() != "device_ids") return reader->Expected("device_ids=(...)");
  HILO_RETURN_IF_ERROR(ReadToken(reader, "=("));
  mesh.form += ", device_ids=(";
  if (reader->At('[')) {
    HILO_ASSIGN_OR_RETURN(mesh.ids, ReadIota(reader, &mesh.form));
    HILO_RETURN_IF_ERROR(ReadToken(reader, ")"));
  } else {
    HILO_RETURN_IF_ERROR(ReadNumbers(reader, ')', &mesh.ids));
    mesh.form += absl::StrJoin(mesh.ids, ",");
  }
  mesh.form += ")";
  if (static_cast<int64_t>(mesh.ids.size()) != volume) {
    return InvalidArgument("the axes of the mesh hold ", volume, " ids, but device_ids has ", mesh.ids.size());
  }
  return mesh;
}

// "{'a','b':(1)2}"; appends its text to mesh->form.
absl::StatusOr<std::vector<AxisPart>> ReadAxisParts(AttributeReader* reader, Mesh* mesh) {
  std::vector<AxisPart> parts;
  HILO_RETURN_IF_ERROR(ReadToken(reader, "{"));
  mesh->form += " {";
  if (!reader->Take('}')) {
    do {
      HILO_ASSIGN_OR_RETURN(const std::string name, ReadAxisName(reader));
      const auto found = std::find(mesh->names.begin(), mesh->names.end(), name);
      if (found == mesh->names.end()) return InvalidArgument("the mesh has no axis '", name, "'");
      AxisPart& part = parts.emplace_back();
      part = {found - mesh->names.begin(), 1, mesh->sizes[found - mesh->names.begin()]};
      absl::StrAppend(&mesh->form, parts.size() == 1 ? "" : ",", "'", name, "'");
      if (!reader->Take(':')) continue;
      HILO_RETURN_IF_ERROR(ReadToken(reader, "("));
      HILO_RETURN_IF_ERROR(ReadNumber(reader, &part.before));
      HILO_RETURN_IF_ERROR(ReadToken(reader, ")"));
      HILO_RETURN_IF_ERROR(ReadNumber(reader, &part.size));
      absl::StrAppend(&mesh->form, ":(", part.before, ")", part.size);
    } while (reader->Take(','));
    HILO_RETURN_IF_ERROR(ReadToken(reader, "}"));
  }
  mesh->form += "}";
  return parts;
}

// Splits every axis into the named parts and those between them; the parts become the last
// dimensions, in the order in which they are named.
absl::StatusOr<std::vector<Ids>> GroupsAlong(const Mesh& mesh, const std::vector<AxisPart>& parts) {
  std::vector<size_t> order(parts.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::make_pair(parts[a].axis, parts[a].before) < std::make_pair(parts[b].axis, parts[b].before);
  });
  Ids sizes, permutation, of_part(parts.size());
  size_t next = 0;
  int64_t group_size = 1;
  for (size_t axis = 0; axis < mesh.sizes.size(); ++axis) {
    int64_t before = 1;
    auto add_between = [&](int64_t size) {
      permutation.push_back(static_cast<int64_t>(sizes.size()));
      sizes.push_back(size);
    };
    for (; next < order.size() && parts[order[next]].axis == static_cast<int64_t>(axis); ++next) {
      const AxisPart& part = parts[order[next]];
      const bool fits = part.before >= before && part.before <= mesh.sizes[axis] && part.before % before == 0 &&
                        part.size >= 1 && part.size <= mesh.sizes[axis] / part.before &&
                        mesh.sizes[axis] % (part.before * part.size) == 0;
      if (!fits) {
        return InvalidArgument("('", mesh.names[axis], "':(", part.before, ")", part.size, ") does not fit axis '",
                               mesh.names[axis], "' of size ", mesh.sizes[axis], " and its other parts");
      }
      add_between(part.before / before);
      of_part[order[next]] = static_cast<int64_t>(sizes.size());
      sizes.push_back(part.size);
      before = part.before * part.size;
      group_size *= part.size;
    }
    add_between(mesh.sizes[axis] / before);
  }
  permutation.insert(permutation.end(), of_part.begin(), of_part.end());
  return InGroups(Transposed(mesh.ids, sizes, permutation), group_size);
}

absl::Status ReadMeshGroups(AttributeReader* reader, ReplicaGroups* value) {
  if (reader->TakeWord() != "mesh") return reader->Expected("{, [ or mesh");
  HILO_ASSIGN_OR_RETURN(Mesh mesh, ReadMesh(reader));
  HILO_ASSIGN_OR_RETURN(const std::vector<AxisPart> parts, ReadAxisParts(reader, &mesh));
  HILO_ASSIGN_OR_RETURN(value->groups, GroupsAlong(mesh, parts));
  value->form = std::move(mesh.form);
  return absl::OkStatus();
}

// "{{0,1},{2}}".
absl::Status ReadList(AttributeReader* reader, std::vector<Ids>* lists) {
  HILO_RETURN_IF_ERROR(ReadToken(reader, "{"));
  if (reader->Take('}')) return absl::OkStatus();
  int64_t count = 0;
  do {
    HILO_RETURN_IF_ERROR(ReadToken(reader, "{"));
    HILO_RETURN_IF_ERROR(ReadNumbers(reader, '}', &lists->emplace_back()));
    count += static_cast<int64_t>(lists->back().size()) + 1;
    if (count > 2 * kMaxReplicaIds) {
      return InvalidArgument("more than ", kMaxReplicaIds, " ids in a list of groups");
    }
  } while (reader->Take(','));
  return ReadToken(reader, "}");
}

}  // namespace

int64_t ReplicaGroups::id_count() const {
  int64_t count = 0;
  for (const Ids& group : groups) count += static_cast<int64_t>(group.size());
  return count;
}

std::string FieldToText(const ReplicaGroups& value) {
  if (!value.form.empty()) return value.form;
  return absl::StrCat("{",
                      absl::StrJoin(value.groups, ",",
                                    [](std::string* out, const Ids& group) {
                                      absl::StrAppend(out, "{", absl::StrJoin(group, ","), "}");
                                    }),
                      "}");
}

absl::Status FieldFromText(absl::string_view text, ReplicaGroups* value) {
  *value = ReplicaGroups();
  AttributeReader reader(text);
  if (reader.At('{')) {
    HILO_RETURN_IF_ERROR(ReadList(&reader, &value->groups));
    if (value->groups.empty()) value->form = "{}";
  } else if (reader.At('[')) {
    HILO_RETURN_IF_ERROR(ReadIotaGroups(&reader, value));
  } else {
    HILO_RETURN_IF_ERROR(ReadMeshGroups(&reader, value));
  }
  return ReadEnd(reader);
}

std::string FieldToText(const SourceTargetPairs& value) {
  return absl::StrCat("{",
                      absl::StrJoin(value.pairs, ",",
                                    [](std::string* out, const std::pair<int64_t, int64_t>& pair) {
                                      absl::StrAppend(out, "{", pair.first, ",", pair.second, "}");
                                    }),
                      "}");
}

absl::Status FieldFromText(absl::string_view text, SourceTargetPairs* value) {
  value->pairs.clear();
  AttributeReader reader(text);
  std::vector<Ids> lists;
  HILO_RETURN_IF_ERROR(ReadList(&reader, &lists));
  for (const Ids& list : lists) {
    if (list.size() != 2) {
      return InvalidArgument("expected pairs {source,target}, got a list of ", list.size(), " numbers");
    }
    value->pairs.emplace_back(list[0], list[1]);
  }
  return ReadEnd(reader);
}

absl::string_view CollectiveOpGroupModeName(CollectiveOpGroupMode mode) {
  switch (mode) {
    case CollectiveOpGroupMode::kCrossReplica: return "cross_replica";
    case CollectiveOpGroupMode::kCrossPartition: return "cross_partition";
    case CollectiveOpGroupMode::kCrossReplicaAndPartition: return "cross_replica_and_partition";
    case CollectiveOpGroupMode::kFlattenedID: return "flattened_id";
  }
  return "";
}

absl::StatusOr<CollectiveOpGroupMode> GetCollectiveOpGroupMode(bool has_channel_id,
                                                               std::optional<bool> use_global_device_ids) {
  if (!has_channel_id) {
    if (use_global_device_ids.value_or(false)) {
      return InvalidArgument("use_global_device_ids=true needs a channel_id");
    }
    return CollectiveOpGroupMode::kCrossReplica;
  }
  if (!use_global_device_ids.has_value()) return CollectiveOpGroupMode::kCrossPartition;
  return *use_global_device_ids ? CollectiveOpGroupMode::kFlattenedID
                                : CollectiveOpGroupMode::kCrossReplicaAndPartition;
}

}  // namespace hilo
