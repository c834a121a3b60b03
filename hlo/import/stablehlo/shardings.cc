#include "hlo/import/stablehlo/shardings.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/import/stablehlo/attribute_text.h"
#include "hlo/import/stablehlo/dense_literal.h"

namespace hilo::stablehlo {
namespace {

using Kind = Attribute::Kind;

constexpr absl::string_view kDialect = "#sdy.";

// The device of a mesh that has no axes.
std::optional<int64_t> OnlyDevice(const Attribute& mesh) {
  if (mesh.kind != Kind::kMesh || !mesh.elements.empty() || mesh.integers.size() != 1) return std::nullopt;
  return mesh.integers[0];
}

// The axes of a mesh, which may be in a separate array.
absl::StatusOr<absl::Span<const Attribute* const>> AxesOf(const Attribute* mesh) {
  if (mesh == nullptr || mesh->kind != Kind::kMesh) return InvalidArgument("expected a mesh");
  absl::Span<const Attribute* const> axes = mesh->elements;
  if (axes.size() == 1 && axes[0]->kind == Kind::kArray) axes = axes[0]->elements;
  for (const Attribute* axis : axes) {
    if (axis->kind != Kind::kMeshAxis) return InvalidArgument("expected axes of a mesh");
  }
  return axes;
}

absl::StatusOr<std::string> MeshText(const Attribute* mesh) {
  std::vector<std::string> axes;
  HILO_ASSIGN_OR_RETURN(const auto mesh_axes, AxesOf(mesh));
  for (const Attribute* axis : mesh_axes) axes.push_back(absl::StrCat(Quoted(axis->text), "=", axis->integer));
  const std::string devices =
      mesh->integers.empty() ? "" : absl::StrCat(", device_ids=[", absl::StrJoin(mesh->integers, ", "), "]");
  return absl::StrCat(kDialect, "mesh<[", absl::StrJoin(axes, ", "), "]", devices, ">");
}

absl::StatusOr<std::string> AxisText(const Attribute& axis) {
  if (axis.kind != Kind::kAxisRef) return InvalidArgument("sdy.sharding: expected references to axes");
  if (axis.elements.empty()) return Quoted(axis.text);
  const Attribute& part = *axis.elements[0];
  if (part.kind != Kind::kSubAxis || part.integers.size() != 2)
    return InvalidArgument("sdy.sharding: expected a part of an axis");
  return absl::StrCat(Quoted(axis.text), ":(", part.integers[0], ")", part.integers[1]);
}

int64_t PriorityOf(const Attribute& dimension) { return dimension.integers.empty() ? 0 : dimension.integers[0]; }

absl::StatusOr<std::string> DimensionText(const Attribute& dimension) {
  if (dimension.kind != Kind::kDimSharding) return InvalidArgument("sdy.sharding: expected shardings of dimensions");
  std::vector<std::string> parts;
  for (const Attribute* axis : dimension.elements) {
    HILO_ASSIGN_OR_RETURN(parts.emplace_back(), AxisText(*axis));
  }
  if (dimension.integer == 0) parts.push_back("?");
  const int64_t priority = PriorityOf(dimension);
  return absl::StrCat("{", absl::StrJoin(parts, ", "), "}", priority == 0 ? "" : absl::StrCat("p", priority));
}

}  // namespace

absl::StatusOr<Shardings> Shardings::Of(const Operation& module) {
  Shardings shardings;
  std::vector<std::string> texts;
  for (const Region* region : module.regions) {
    for (const Block& block : region->blocks) {
      for (const Operation* op : block.operations) {
        if (op->name != "sdy.mesh") continue;
        const Attribute* name = op->Find("sym_name");
        const Attribute* mesh = op->Find("mesh");
        if (name == nullptr || name->text.empty()) return InvalidArgument("sdy.mesh: expected a name");
        const absl::StatusOr<std::string> text = MeshText(mesh);
        if (!text.ok()) return AddContext(text.status(), absl::StrCat("; in sdy.mesh @", name->text));
        shardings.mesh_attributes_[std::string(name->text)] = mesh;
        texts.push_back(absl::StrCat(name->text, " = ", *text));
      }
    }
  }
  if (texts.empty()) return shardings;
  shardings.meshes_text_ = absl::StrCat("{", absl::StrJoin(texts, ", "), "}");
  HILO_ASSIGN_OR_RETURN(shardings.meshes_, MeshesFromText(shardings.meshes_text_));
  return shardings;
}

absl::StatusOr<std::string> Shardings::Text(const Attribute& sharding) const {
  if (sharding.kind != Kind::kTensorSharding || sharding.elements.empty())
    return InvalidArgument("sdy.sharding: expected a sharding");
  const Attribute& mesh = *sharding.elements[0];
  std::string mesh_text = absl::StrCat("@", mesh.text);
  if (mesh.kind == Kind::kMesh) {
    HILO_ASSIGN_OR_RETURN(mesh_text, MeshText(&mesh));
    mesh_text.erase(0, kDialect.size());
  } else if (mesh.kind != Kind::kSymbol && mesh.kind != Kind::kString) {
    return InvalidArgument("sdy.sharding: expected the name of a mesh");
  } else if (!meshes_.contains(std::string(mesh.text))) {
    return InvalidArgument("sdy.sharding: there is no mesh @", mesh.text);
  }
  std::vector<std::string> dimensions;
  for (size_t i = 1; i < sharding.elements.size(); ++i) {
    HILO_ASSIGN_OR_RETURN(dimensions.emplace_back(), DimensionText(*sharding.elements[i]));
  }
  std::string text = absl::StrCat("<", mesh_text, ", [", absl::StrJoin(dimensions, ", "), "]");
  static constexpr absl::string_view kUnreduced[] = {"unreduced=", "unreduced=max", "unreduced=min"};
  if (sharding.integer < 0 || sharding.integer > 2)
    return InvalidArgument("sdy.sharding: unknown reduction ", sharding.integer);
  for (const auto& [name, axes] : {std::pair(absl::string_view("replicated="), &sharding.more_elements),
                                   std::pair(kUnreduced[sharding.integer], &sharding.unreduced_axes)}) {
    if (axes->empty()) continue;
    std::vector<std::string> parts;
    for (const Attribute* axis : *axes) {
      HILO_ASSIGN_OR_RETURN(parts.emplace_back(), AxisText(*axis));
    }
    absl::StrAppend(&text, ", ", name, "{", absl::StrJoin(parts, ", "), "}");
  }
  return absl::StrCat(text, ">");
}

absl::StatusOr<std::string> Shardings::PerValueText(const Attribute& shardings) const {
  if (shardings.kind != Kind::kPerValue) return InvalidArgument("expected a sharding for each value");
  std::vector<std::string> texts;
  for (const Attribute* sharding : shardings.elements) {
    HILO_ASSIGN_OR_RETURN(texts.emplace_back(), Text(*sharding));
  }
  return absl::StrCat("#sdy.sharding_per_value<[", absl::StrJoin(texts, ", "), "]>");
}

absl::StatusOr<std::string> Shardings::ManualAxesText(const Attribute& axes) const {
  if (axes.kind != Kind::kManualAxes && axes.kind != Kind::kArray) return InvalidArgument("expected manual_axes");
  return absl::StrCat(
      "#sdy<manual_axes{",
      absl::StrJoin(axes.elements, ", ",
                    [](std::string* out, const Attribute* axis) { absl::StrAppend(out, Quoted(axis->text)); }),
      "}>");
}

absl::StatusOr<ReplicaGroups> Shardings::Groups(const Attribute& groups) const {
  if (groups.kind != Kind::kMeshGroups || groups.elements[1]->kind != Kind::kArray) {
    return InvalidArgument("expected groups along the axes of a mesh");
  }
  const Attribute* mesh = groups.elements[0];
  if (mesh->kind == Kind::kSymbol || mesh->kind == Kind::kString) {
    const auto named = mesh_attributes_.find(std::string(mesh->text));
    if (named == mesh_attributes_.end()) return InvalidArgument("there is no mesh @", mesh->text);
    mesh = named->second;
  }
  // HLO's text allows fewer characters in names: they are replaced by numbers.
  HILO_ASSIGN_OR_RETURN(const auto axes, AxesOf(mesh));
  std::vector<std::string> sizes, parts;
  for (size_t i = 0; i < axes.size(); ++i) sizes.push_back(absl::StrCat("'", i, "'=", axes[i]->integer));
  for (const Attribute* part : groups.elements[1]->elements) {
    HILO_RETURN_IF_ERROR(AxisText(*part).status());
    const auto axis = absl::c_find_if(axes, [&](const Attribute* one) { return one->text == part->text; });
    if (axis == axes.end()) return InvalidArgument("the mesh has no axis ", Quoted(part->text));
    parts.push_back(absl::StrCat("'", axis - axes.begin(), "'"));
    if (part->elements.empty()) continue;
    const std::vector<int64_t>& cut = part->elements[0]->integers;
    absl::StrAppend(&parts.back(), ":(", cut[0], ")", cut[1]);
  }
  std::vector<int64_t> devices = mesh->integers;
  if (!mesh->more_elements.empty()) {
    HILO_ASSIGN_OR_RETURN(devices, IntegersOf(*mesh->more_elements[0]));
  }
  if (axes.empty()) return InvalidArgument("replica_groups of a mesh without axes");
  const std::string ids = devices.empty() ? "" : absl::StrCat(", device_ids=(", absl::StrJoin(devices, ","), ")");
  ReplicaGroups result;
  HILO_RETURN_IF_ERROR(FieldFromText(
      absl::StrCat("mesh[", absl::StrJoin(sizes, ","), "]", ids, " {", absl::StrJoin(parts, ","), "}"), &result));
  result.form.clear();
  return result;
}

std::string Shardings::FrontendText(absl::Span<const std::string> texts) {
  return absl::StrCat("{xla.sdy.sharding=",
                      FieldToText(absl::StrCat("#sdy.sharding_per_value<[", absl::StrJoin(texts, ", "), "]>")), "}");
}

absl::StatusOr<std::string> Shardings::HloText(const Attribute& sharding) const {
  HILO_ASSIGN_OR_RETURN(const std::string text, Text(sharding));
  const Attribute* mesh = sharding.elements[0];
  if (const auto it = mesh_attributes_.find(std::string(mesh->text)); it != mesh_attributes_.end()) mesh = it->second;
  if (const auto device = OnlyDevice(*mesh); device.has_value()) return absl::StrCat("{maximal device=", *device, "}");
  HILO_ASSIGN_OR_RETURN(const auto tiles,
                        TileAssignmentsFromSdy(absl::StrCat("#sdy.sharding", text), meshes_, std::nullopt));
  return TileAssignmentToHlo(tiles[0]);
}

}  // namespace hilo::stablehlo
