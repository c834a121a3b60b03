// Lists of devices: shardings, replica groups, pairs of a permutation.
//
// A list of devices is written in one of three ways: number by number; as an iota, "[2,4]<=[4,2]T(1,0)", which is 0, 1,
// 2 ... in an array of the second dimensions, transposed and read as an array of the first; or by the axes of a mesh
// that has names, "mesh['a'=2,'b'=4], device_ids=([4,2]T(1,0)) {'b':(2)2}".
#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/import/hlo_proto_metadata.h"
#include "hlo/import/hlo_proto_text.h"
#include "hlo/text/op_metadata_text.h"

namespace hilo {
namespace {

using OptionalText = std::optional<std::string>;

std::string Braced(const std::vector<std::string>& parts, absl::string_view separator = ",") {
  return absl::StrCat("{", absl::StrJoin(parts, separator), "}");
}

// ---- iotas ----

struct Iota {
  std::vector<int64_t> reshape, transpose;
};

bool IsIdentity(const std::vector<int64_t>& permutation) {
  for (size_t i = 0; i < permutation.size(); ++i) {
    if (permutation[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

// "[4,2]T(1,0)" or "[8]"
absl::StatusOr<Iota> ReadIota(TextCursor& cursor) {
  Iota iota;
  HILO_RETURN_IF_ERROR(cursor.Expect("[", "before the dimensions of an iota"));
  HILO_ASSIGN_OR_RETURN(iota.reshape, ReadIntegersUntil("]", cursor));
  if (cursor.Consume("T(")) {
    HILO_ASSIGN_OR_RETURN(iota.transpose, ReadIntegersUntil(")", cursor));
  } else {
    for (size_t i = 0; i < iota.reshape.size(); ++i) iota.transpose.push_back(static_cast<int64_t>(i));
  }
  return iota;
}

absl::StatusOr<std::string> IotaText(const WireMessage& proto, int reshape_field, int transpose_field) {
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> reshape, proto.Ints(reshape_field));
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> transpose, proto.Ints(transpose_field));
  const std::string text = absl::StrCat("[", absl::StrJoin(reshape, ","), "]");
  return IsIdentity(transpose) ? text : absl::StrCat(text, "T(", absl::StrJoin(transpose, ","), ")");
}

// ---- meshes ----

struct ProtoMesh {
  std::vector<std::string> axes;
  WireWriter proto;
};

// 'name', of any characters but a quote.
absl::StatusOr<std::string> ReadAxisName(TextCursor& cursor) {
  HILO_RETURN_IF_ERROR(cursor.Expect("'", "before the name of an axis"));
  HILO_ASSIGN_OR_RETURN(const absl::string_view name, cursor.UpTo('\''));
  return std::string(name);
}

absl::StatusOr<std::string> AxisNameFromProto(absl::string_view name) {
  if (!absl::c_any_of(name, [](char c) { return c == '\'' || c == '\\' || absl::ascii_iscntrl(c); }))
    return std::string(name);
  return InvalidArgument("the name of an axis cannot be written: \"", absl::CHexEscape(name), "\"");
}

// Behind "mesh[": 'a'=2,'b'=4], and a list of devices if there is one.
absl::StatusOr<ProtoMesh> ReadMesh(TextCursor& cursor) {
  ProtoMesh mesh;
  while (!cursor.Consume("]")) {
    if (!mesh.axes.empty()) HILO_RETURN_IF_ERROR(cursor.Expect(",", "between the axes of a mesh"));
    HILO_ASSIGN_OR_RETURN(mesh.axes.emplace_back(), ReadAxisName(cursor));
    HILO_RETURN_IF_ERROR(cursor.Expect("=", "after the name of an axis"));
    HILO_ASSIGN_OR_RETURN(const int64_t size, cursor.Integer("the size of an axis"));
    WireWriter axis;
    axis.Bytes(1, mesh.axes.back());
    axis.Int(2, size);
    mesh.proto.Message(1, axis);
  }
  const size_t here = cursor.offset();
  if (!cursor.Consume(",") || !cursor.Consume("device_ids=(")) {
    cursor.set_offset(here);
    return mesh;
  }
  if (cursor.Peek() != '[') {
    HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> devices, ReadIntegersUntil(")", cursor));
    mesh.proto.Ints(2, devices);
    return mesh;
  }
  HILO_ASSIGN_OR_RETURN(const Iota iota, ReadIota(cursor));
  HILO_RETURN_IF_ERROR(cursor.Expect(")", "after the devices of a mesh"));
  WireWriter transform;
  transform.Ints(1, iota.reshape);
  transform.Ints(2, iota.transpose);
  mesh.proto.Message(3, transform);
  return mesh;
}

absl::StatusOr<std::vector<std::string>> AxisNames(const WireMessage& mesh) {
  std::vector<std::string> names;
  HILO_ASSIGN_OR_RETURN(const std::vector<WireMessage> axes, mesh.Messages(1));
  for (const WireMessage& axis : axes) {
    HILO_ASSIGN_OR_RETURN(names.emplace_back(), AxisNameFromProto(axis.Bytes(1)));
  }
  return names;
}

absl::StatusOr<std::string> MeshText(const WireMessage& mesh) {
  std::vector<std::string> axes;
  HILO_ASSIGN_OR_RETURN(const std::vector<WireMessage> protos, mesh.Messages(1));
  for (const WireMessage& axis : protos) axes.push_back(absl::StrCat("'", axis.Bytes(1), "'=", axis.Int(2)));
  std::string text = absl::StrCat("mesh[", absl::StrJoin(axes, ","), "]");
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> devices, mesh.Ints(2));
  HILO_ASSIGN_OR_RETURN(const WireMessage iota, mesh.Message(3));
  HILO_ASSIGN_OR_RETURN(const std::string iota_text, IotaText(iota, 1, 2));
  if (!devices.empty()) absl::StrAppend(&text, ", device_ids=(", absl::StrJoin(devices, ","), ")");
  if (absl::StrContains(iota_text, "T")) absl::StrAppend(&text, ", device_ids=(", iota_text, ")");
  return text;
}

// 'b' or, for a part of an axis, 'b':(2)2: the size of the parts before it in the axis, and its size.
absl::StatusOr<WireWriter> ReadAxis(const std::vector<std::string>& names, TextCursor& cursor) {
  HILO_ASSIGN_OR_RETURN(const std::string name, ReadAxisName(cursor));
  const auto axis = std::find(names.begin(), names.end(), name);
  if (axis == names.end()) return cursor.Error(absl::StrCat("the mesh has no axis '", name, "'"));
  WireWriter proto;
  proto.Int(1, axis - names.begin());
  if (!cursor.Consume(":(")) return proto;
  HILO_ASSIGN_OR_RETURN(const int64_t before, cursor.Integer("the size before a part of an axis"));
  HILO_RETURN_IF_ERROR(cursor.Expect(")", "after the size before a part of an axis"));
  HILO_ASSIGN_OR_RETURN(const int64_t size, cursor.Integer("the size of a part of an axis"));
  WireWriter part;
  part.Int(1, before);
  part.Int(2, size);
  proto.Message(2, part);
  return proto;
}

absl::StatusOr<std::string> AxisText(const WireMessage& axis, const std::vector<std::string>& names) {
  const int64_t index = axis.Int(1);
  if (index < 0 || index >= static_cast<int64_t>(names.size()))
    return InvalidArgument("a mesh of ", names.size(), " axes has no axis ", index);
  const std::string text = absl::StrCat("'", names[index], "'");
  if (!axis.Has(2)) return text;
  HILO_ASSIGN_OR_RETURN(const WireMessage part, axis.Message(2));
  return absl::StrCat(text, ":(", part.Int(1), ")", part.Int(2));
}

// {'a','b'} as the repeated field `field`.
absl::Status ReadAxes(const std::vector<std::string>& names, int field, TextCursor& cursor, WireWriter* out) {
  HILO_RETURN_IF_ERROR(cursor.Expect("{", "before a list of axes"));
  if (cursor.Consume("}")) return absl::OkStatus();
  do {
    HILO_ASSIGN_OR_RETURN(const WireWriter axis, ReadAxis(names, cursor));
    out->Message(field, axis);
  } while (cursor.Consume(","));
  return cursor.Expect("}", "after a list of axes");
}

absl::StatusOr<std::vector<std::string>> AxesTexts(const WireMessage& message, int field,
                                                   const std::vector<std::string>& names) {
  std::vector<std::string> texts;
  HILO_ASSIGN_OR_RETURN(const std::vector<WireMessage> axes, message.Messages(field));
  for (const WireMessage& axis : axes) {
    HILO_ASSIGN_OR_RETURN(texts.emplace_back(), AxisText(axis, names));
  }
  return texts;
}

// ---- shardings over a named mesh: {mesh['x'=2], [{'x'}, {?}], replicated={'y'}} ----

struct AxisRole {
  absl::string_view name;
  int field;
};
// In the short forms {mesh['x'=2], replicated} and so on, the whole mesh has the role.
constexpr int kReplicatedAxes = 4;
constexpr AxisRole kAxisRoles[] = {{"replicated", kReplicatedAxes}, {"unreduced", 5}, {"manual", 7}};

WireWriter WholeAxis(size_t index) {
  WireWriter axis;
  axis.Int(1, static_cast<int64_t>(index));
  return axis;
}

// One dimension: {'x', ?}; "?" leaves it open to further axes.
absl::StatusOr<WireWriter> ReadDimensionSharding(const std::vector<std::string>& names, TextCursor& cursor) {
  WireWriter dimension;
  bool closed = true;
  HILO_RETURN_IF_ERROR(cursor.Expect("{", "before the axes of a dimension"));
  if (!cursor.Consume("}")) {
    do {
      if (cursor.Consume("?")) {
        closed = false;
        break;
      }
      HILO_ASSIGN_OR_RETURN(const WireWriter axis, ReadAxis(names, cursor));
      dimension.Message(1, axis);
    } while (cursor.Consume(","));
    HILO_RETURN_IF_ERROR(cursor.Expect("}", "after the axes of a dimension"));
  }
  dimension.Bool(2, closed);
  return dimension;
}

absl::Status ReadMetadata(int field, TextCursor& cursor, WireWriter* out) {
  const size_t here = cursor.offset();
  const bool list = cursor.Consume("{") && cursor.Peek() == '{';
  if (!list) cursor.set_offset(here);
  do {
    HILO_ASSIGN_OR_RETURN(const OpMetadata metadata, ParseOpMetadata(cursor));
    out->Message(field, OpMetadataToProto(metadata));
  } while (list && cursor.Consume(","));
  return list ? cursor.Expect("}", "after a list of metadata") : absl::OkStatus();
}

absl::StatusOr<OptionalText> MetadataText(const WireMessage& message, int field) {
  HILO_ASSIGN_OR_RETURN(const std::vector<WireMessage> protos, message.Messages(field));
  std::vector<std::string> texts;
  for (const WireMessage& proto : protos) texts.push_back(PrintOpMetadata(OpMetadataFromProto(proto)));
  if (texts.empty()) return OptionalText();
  return texts.size() == 1 ? texts[0] : Braced(texts, ", ");
}

absl::Status ReadNamedSharding(TextCursor& cursor, WireWriter* out) {
  WireWriter proto;
  HILO_ASSIGN_OR_RETURN(const ProtoMesh mesh, ReadMesh(cursor));
  proto.Message(2, mesh.proto);
  while (cursor.Consume(",")) {
    if (cursor.Consume("[")) {
      if (cursor.Consume("]")) continue;
      do {
        HILO_ASSIGN_OR_RETURN(const WireWriter dimension, ReadDimensionSharding(mesh.axes, cursor));
        proto.Message(3, dimension);
      } while (cursor.Consume(","));
      HILO_RETURN_IF_ERROR(cursor.Expect("]", "after the dimensions of a sharding"));
    } else if (cursor.Consume("metadata=")) {
      HILO_RETURN_IF_ERROR(ReadMetadata(6, cursor, &proto));
    } else {
      const absl::string_view name = cursor.Word();
      const auto role =
          std::find_if(std::begin(kAxisRoles), std::end(kAxisRoles), [&](const AxisRole& r) { return r.name == name; });
      if (role == std::end(kAxisRoles)) return cursor.Expected("replicated, unreduced, manual or metadata");
      if (cursor.Consume("=")) {
        HILO_RETURN_IF_ERROR(ReadAxes(mesh.axes, role->field, cursor, &proto));
      } else if (role->field != kReplicatedAxes) {  // an array without axes is replicated
        for (size_t i = 0; i < mesh.axes.size(); ++i) proto.Message(role->field, WholeAxis(i));
      }
    }
  }
  out->Message(14, proto);
  return absl::OkStatus();
}

absl::StatusOr<std::string> NamedShardingText(const WireMessage& proto) {
  HILO_ASSIGN_OR_RETURN(const WireMessage mesh, proto.Message(2));
  HILO_ASSIGN_OR_RETURN(const std::vector<std::string> names, AxisNames(mesh));
  HILO_ASSIGN_OR_RETURN(const OptionalText metadata, MetadataText(proto, 6));
  const std::string end = metadata.has_value() ? absl::StrCat(", metadata=", *metadata, "}") : "}";
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> devices, mesh.Ints(2));
  if (names.empty() && devices.size() == 1) return absl::StrCat("{maximal_mesh[device_id=", devices[0], "]", end);
  HILO_ASSIGN_OR_RETURN(const std::string mesh_text, MeshText(mesh));
  HILO_ASSIGN_OR_RETURN(const std::vector<WireMessage> dimensions, proto.Messages(3));
  std::vector<std::string> texts;
  for (const WireMessage& dimension : dimensions) {
    HILO_ASSIGN_OR_RETURN(std::vector<std::string> axes, AxesTexts(dimension, 1, names));
    if (!dimension.Bool(2)) axes.push_back("?");
    texts.push_back(Braced(axes, ", "));
  }
  std::string roles, whole;
  for (const AxisRole& role : kAxisRoles) {
    HILO_ASSIGN_OR_RETURN(const std::vector<std::string> axes, AxesTexts(proto, role.field, names));
    if (!axes.empty()) absl::StrAppend(&roles, ", ", role.name, "=", Braced(axes, ", "));
    if (role.field != kReplicatedAxes && !axes.empty() && axes.size() == names.size()) whole = std::string(role.name);
  }
  if (roles.empty()) whole = "replicated";
  std::string text = absl::StrCat("{", mesh_text, ", [", absl::StrJoin(texts, ", "), "]", roles);
  if (dimensions.empty() && !whole.empty()) text = absl::StrCat("{", mesh_text, ", ", whole);
  return text + end;
}

// ---- shardings ----

enum ShardingType { kReplicated, kMaximal, kTuple, kOther };
constexpr absl::string_view kShardingTypes[] = {"replicated", "maximal", "tuple",    "devices",
                                                "manual",     "unknown", "unreduced"};
constexpr absl::string_view kShardGroups[] = {"shard_as", "shard_like"};

// Behind "devices=": [2,4]<=[8] or [2,2]0,1,2,3.
absl::Status ReadTileAssignment(TextCursor& cursor, WireWriter* out) {
  HILO_RETURN_IF_ERROR(cursor.Expect("[", "before the dimensions of a tile assignment"));
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> dimensions, ReadIntegersUntil("]", cursor));
  out->Ints(3, dimensions);
  if (cursor.Consume("<=")) {
    HILO_ASSIGN_OR_RETURN(const Iota iota, ReadIota(cursor));
    out->Ints(9, iota.reshape);
    out->Ints(10, iota.transpose);
    return absl::OkStatus();
  }
  std::vector<int64_t> devices;
  do {
    HILO_ASSIGN_OR_RETURN(devices.emplace_back(), cursor.Integer("a device"));
  } while (cursor.Consume(","));
  out->Ints(4, devices);
  return absl::OkStatus();
}

// A part of a sharding that is not a tuple, at a word.
absl::Status ReadShardingPart(TextCursor& cursor, WireWriter* out) {
  const size_t begin = cursor.offset();
  const absl::string_view word = cursor.Word();
  if (const auto type = EnumValue(word, kShardingTypes); type.ok() && *type != kTuple) {
    out->Int(1, *type);
    return *type == kOther && cursor.Consume("=") ? ReadTileAssignment(cursor, out) : absl::OkStatus();
  }
  if (const auto group = EnumValue(word, kShardGroups); group.ok()) {
    HILO_ASSIGN_OR_RETURN(const int64_t id, cursor.Integer("the number of a shard group"));
    out->Bool(11, true);
    out->Int(12, id);
    out->Int(13, *group);
    return absl::OkStatus();
  }
  if (word == "last_tile_dim_replicate") {
    out->Bool(6, true);
    return absl::OkStatus();
  }
  if (word == "device" && cursor.Consume("=")) {
    HILO_ASSIGN_OR_RETURN(const int64_t device, cursor.Integer("a device"));
    out->Ints(4, {device});
    return absl::OkStatus();
  }
  if (word == "metadata" && cursor.Consume("=")) return ReadMetadata(7, cursor, out);
  if (word == "last_tile_dims" && cursor.Consume("=")) {
    std::vector<int64_t> types;
    HILO_RETURN_IF_ERROR(cursor.Expect("{", "before the kinds of the last dimensions"));
    do {
      HILO_ASSIGN_OR_RETURN(types.emplace_back(), EnumValue(cursor.Word(), kShardingTypes));
    } while (cursor.Consume(","));
    out->Ints(8, types);
    return cursor.Expect("}", "after the kinds of the last dimensions");
  }
  cursor.set_offset(begin);
  return cursor.Expected("a part of a sharding such as replicated, devices= or last_tile_dim_replicate");
}

absl::StatusOr<WireWriter> ReadSingleSharding(TextCursor& cursor) {
  WireWriter sharding;
  HILO_RETURN_IF_ERROR(cursor.Expect("{", "before a sharding"));
  if (cursor.Consume("maximal_mesh[device_id=")) {
    HILO_ASSIGN_OR_RETURN(const int64_t device, cursor.Integer("a device"));
    HILO_RETURN_IF_ERROR(cursor.Expect("]", "after the device of a mesh"));
    WireWriter mesh, named;
    mesh.Ints(2, {device});
    named.Message(2, mesh);
    if (cursor.Consume(",")) {
      HILO_RETURN_IF_ERROR(cursor.Expect("metadata=", "after a mesh of one device"));
      HILO_RETURN_IF_ERROR(ReadMetadata(6, cursor, &named));
    }
    HILO_RETURN_IF_ERROR(cursor.Expect("}", "after a sharding"));
    sharding.Message(14, named);
    return sharding;
  }
  if (cursor.Consume("mesh[")) {
    HILO_RETURN_IF_ERROR(ReadNamedSharding(cursor, &sharding));
    HILO_RETURN_IF_ERROR(cursor.Expect("}", "after a sharding"));
    return sharding;
  }
  while (!cursor.Consume("}")) HILO_RETURN_IF_ERROR(ReadShardingPart(cursor, &sharding));
  return sharding;
}

absl::StatusOr<WireWriter> ReadSharding(TextCursor& cursor) {
  const size_t here = cursor.offset();
  HILO_RETURN_IF_ERROR(cursor.Expect("{", "before a sharding"));
  if (cursor.Peek() != '{' && cursor.Peek() != '}') {
    cursor.set_offset(here);
    return ReadSingleSharding(cursor);
  }
  WireWriter sharding;
  sharding.Int(1, kTuple);
  if (!cursor.Consume("}")) {
    do {
      HILO_ASSIGN_OR_RETURN(const WireWriter element, ReadSingleSharding(cursor));
      sharding.Message(5, element);
    } while (cursor.Consume(","));
    HILO_RETURN_IF_ERROR(cursor.Expect("}", "after the shardings of a tuple"));
  }
  return sharding;
}

absl::StatusOr<std::string> TileAssignmentText(const WireMessage& proto) {
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> dimensions, proto.Ints(3));
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> devices, proto.Ints(4));
  HILO_ASSIGN_OR_RETURN(const std::string iota, IotaText(proto, 9, 10));
  std::string text = absl::StrCat("devices=[", absl::StrJoin(dimensions, ","), "]");
  absl::StrAppend(&text, iota == "[]" ? absl::StrJoin(devices, ",") : absl::StrCat("<=", iota));
  if (proto.Bool(6)) absl::StrAppend(&text, " last_tile_dim_replicate");
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> last, proto.Ints(8));
  std::vector<std::string> kinds;
  for (const int64_t kind : last) {
    HILO_ASSIGN_OR_RETURN(kinds.emplace_back(), EnumText(kind, kShardingTypes));
  }
  if (!kinds.empty()) absl::StrAppend(&text, " last_tile_dims=", Braced(kinds, ", "));
  return text;
}

absl::StatusOr<std::string> SingleShardingText(const WireMessage& proto) {
  if (proto.Has(14)) {
    HILO_ASSIGN_OR_RETURN(const WireMessage named, proto.Message(14));
    return NamedShardingText(named);
  }
  HILO_ASSIGN_OR_RETURN(std::string text, EnumText(proto.Int(1), kShardingTypes));
  if (proto.Int(1) == kTuple) return InvalidArgument("a sharding of a tuple holds another one");
  if (proto.Int(1) == kMaximal) {
    HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> devices, proto.Ints(4));
    if (devices.size() != 1) return InvalidArgument("expected one device in a maximal sharding; got ", devices.size());
    absl::StrAppend(&text, " device=", devices[0]);
  } else if (proto.Int(1) == kOther) {
    HILO_ASSIGN_OR_RETURN(text, TileAssignmentText(proto));
  }
  if (proto.Bool(11)) {
    HILO_ASSIGN_OR_RETURN(const std::string group, EnumText(proto.Int(13), kShardGroups));
    absl::StrAppend(&text, " ", group, " ", proto.Int(12));
  }
  HILO_ASSIGN_OR_RETURN(const OptionalText metadata, MetadataText(proto, 7));
  if (metadata.has_value()) absl::StrAppend(&text, " metadata=", *metadata);
  return absl::StrCat("{", text, "}");
}

absl::Status EncodeSharding(absl::string_view text, int field, WireWriter* out) {
  ValueCursor cursor(text);
  HILO_ASSIGN_OR_RETURN(const WireWriter sharding, ReadSharding(cursor));
  out->Message(field, sharding);
  return cursor.End();
}
absl::StatusOr<OptionalText> DecodeSharding(const WireMessage& message, int field) {
  if (!message.Has(field)) return OptionalText();
  HILO_ASSIGN_OR_RETURN(const WireMessage proto, message.Message(field));
  if (proto.Int(1) != kTuple) {
    HILO_ASSIGN_OR_RETURN(std::string text, SingleShardingText(proto));
    return OptionalText(std::move(text));
  }
  HILO_ASSIGN_OR_RETURN(const std::vector<WireMessage> elements, proto.Messages(5));
  std::vector<std::string> texts;
  for (const WireMessage& element : elements) {
    HILO_ASSIGN_OR_RETURN(texts.emplace_back(), SingleShardingText(element));
  }
  return Braced(texts, ", ");
}

// ---- replica groups ----

// Lists of groups are in `field`, iotas and meshes in separate fields; old modules have the groups themselves in
// a fourth.
constexpr int kIotaGroups = 92, kMeshGroups = 93, kOldGroups = 49;

// {{0,1},{2}}
absl::StatusOr<WireWriter> ReadGroupList(TextCursor& cursor) {
  WireWriter list;
  HILO_RETURN_IF_ERROR(cursor.Expect("{", "before replica groups"));
  if (cursor.Consume("}")) return list;
  do {
    HILO_RETURN_IF_ERROR(cursor.Expect("{", "before a replica group"));
    HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> ids, ReadIntegersUntil("}", cursor));
    WireWriter group;
    group.Ints(1, ids);
    list.Message(1, group);
  } while (cursor.Consume(","));
  HILO_RETURN_IF_ERROR(cursor.Expect("}", "after replica groups"));
  return list;
}

// [2,4]<=[4,2]T(1,0)
absl::StatusOr<WireWriter> ReadIotaGroups(TextCursor& cursor) {
  HILO_RETURN_IF_ERROR(cursor.Expect("[", "before the dimensions of replica groups"));
  HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> dimensions, ReadIntegersUntil("]", cursor));
  if (dimensions.size() != 2) return cursor.Error("expected the number of replica groups and their size");
  HILO_RETURN_IF_ERROR(cursor.Expect("<=", "after the dimensions of replica groups"));
  HILO_ASSIGN_OR_RETURN(const Iota iota, ReadIota(cursor));
  WireWriter proto;
  proto.Int(1, dimensions[0]);
  proto.Int(2, dimensions[1]);
  proto.Ints(3, iota.reshape);
  proto.Ints(4, iota.transpose);
  return proto;
}

absl::Status EncodeReplicaGroups(absl::string_view text, int field, WireWriter* out) {
  ValueCursor cursor(text);
  if (cursor.Consume("mesh[")) {
    HILO_ASSIGN_OR_RETURN(const ProtoMesh mesh, ReadMesh(cursor));
    WireWriter proto;
    proto.Message(1, mesh.proto);
    HILO_RETURN_IF_ERROR(ReadAxes(mesh.axes, 2, cursor, &proto));
    out->Message(kMeshGroups, proto);
  } else if (cursor.Peek() == '[') {
    HILO_ASSIGN_OR_RETURN(const WireWriter proto, ReadIotaGroups(cursor));
    out->Message(kIotaGroups, proto);
  } else {
    HILO_ASSIGN_OR_RETURN(const WireWriter proto, ReadGroupList(cursor));
    out->Message(field, proto);
  }
  return cursor.End();
}

absl::StatusOr<std::string> GroupListText(const WireMessage& list, int field) {
  HILO_ASSIGN_OR_RETURN(const std::vector<WireMessage> groups, list.Messages(field));
  std::vector<std::string> texts;
  for (const WireMessage& group : groups) {
    HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> ids, group.Ints(1));
    texts.push_back(absl::StrCat("{", absl::StrJoin(ids, ","), "}"));
  }
  return Braced(texts);
}

absl::StatusOr<std::string> MeshGroupsText(const WireMessage& proto) {
  HILO_ASSIGN_OR_RETURN(const WireMessage mesh, proto.Message(1));
  HILO_ASSIGN_OR_RETURN(const std::vector<std::string> names, AxisNames(mesh));
  HILO_ASSIGN_OR_RETURN(const std::string mesh_text, MeshText(mesh));
  HILO_ASSIGN_OR_RETURN(const std::vector<std::string> axes, AxesTexts(proto, 2, names));
  return absl::StrCat(mesh_text, " ", Braced(axes));
}

absl::StatusOr<OptionalText> DecodeReplicaGroups(const WireMessage& message, int field) {
  for (const int present : {kMeshGroups, kIotaGroups, field, kOldGroups}) {
    if (!message.Has(present)) continue;
    if (present == kOldGroups) return GroupListText(message, kOldGroups);
    HILO_ASSIGN_OR_RETURN(const WireMessage proto, message.Message(present));
    if (present == field) return GroupListText(proto, 1);
    if (present == kMeshGroups) return MeshGroupsText(proto);
    HILO_ASSIGN_OR_RETURN(const std::string iota, IotaText(proto, 3, 4));
    return absl::StrCat("[", proto.Int(1), ",", proto.Int(2), "]<=", iota);
  }
  return OptionalText();
}

// ---- pairs: {{0,1},{1,0}} ----

absl::Status EncodePairs(absl::string_view text, int field, WireWriter* out) {
  ValueCursor cursor(text);
  HILO_RETURN_IF_ERROR(cursor.Expect("{", "before pairs of devices"));
  if (!cursor.Consume("}")) {
    do {
      HILO_RETURN_IF_ERROR(cursor.Expect("{", "before a pair of devices"));
      HILO_ASSIGN_OR_RETURN(const std::vector<int64_t> pair, ReadIntegersUntil("}", cursor));
      if (pair.size() != 2) return cursor.Error("expected a source and a target");
      WireWriter proto;
      proto.Int(1, pair[0]);
      proto.Int(2, pair[1]);
      out->Message(field, proto);
    } while (cursor.Consume(","));
    HILO_RETURN_IF_ERROR(cursor.Expect("}", "after pairs of devices"));
  }
  return cursor.End();
}
absl::StatusOr<OptionalText> DecodePairs(const WireMessage& message, int field) {
  HILO_ASSIGN_OR_RETURN(const std::vector<WireMessage> protos, message.Messages(field));
  std::vector<std::string> pairs;
  for (const WireMessage& proto : protos) pairs.push_back(absl::StrCat("{", proto.Int(1), ",", proto.Int(2), "}"));
  return pairs.empty() ? OptionalText() : Braced(pairs);
}

}  // namespace

const AttributeCodec kShardingCodec = {&EncodeSharding, &DecodeSharding};
const AttributeCodec kReplicaGroupsCodec = {&EncodeReplicaGroups, &DecodeReplicaGroups};
const AttributeCodec kSourceTargetPairsCodec = {&EncodePairs, &DecodePairs};

}  // namespace hilo
