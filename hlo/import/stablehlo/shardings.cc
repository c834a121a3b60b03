#include "hlo/import/stablehlo/shardings.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "hlo/import/stablehlo/attribute_text.h"

namespace hilo::stablehlo {
namespace {

using Kind = Attribute::Kind;

absl::StatusOr<std::string> MeshText(const Attribute* mesh) {
  if (mesh == nullptr || mesh->kind != Kind::kMesh) return InvalidArgument("sdy.mesh: expected a mesh");
  std::vector<std::string> axes;
  for (const Attribute* axis : mesh->elements) {
    if (axis->kind != Kind::kMeshAxis) return InvalidArgument("sdy.mesh: expected axes");
    axes.push_back(absl::StrCat(Quoted(axis->text), "=", axis->integer));
  }
  const std::string devices = mesh->integers.empty() ? "" : absl::StrCat(", device_ids=[", absl::StrJoin(mesh->integers, ", "), "]");
  return absl::StrCat("#sdy.mesh<[", absl::StrJoin(axes, ", "), "]", devices, ">");
}

absl::StatusOr<std::string> AxisText(const Attribute& axis) {
  if (axis.kind != Kind::kAxisRef) return InvalidArgument("sdy.sharding: expected references to axes");
  if (axis.elements.empty()) return Quoted(axis.text);
  const Attribute& part = *axis.elements[0];
  if (part.kind != Kind::kSubAxis || part.integers.size() != 2) return InvalidArgument("sdy.sharding: expected a part of an axis");
  return absl::StrCat(Quoted(axis.text), ":(", part.integers[0], ")", part.integers[1]);
}

absl::StatusOr<std::string> DimensionText(const Attribute& dimension) {
  if (dimension.kind != Kind::kDimSharding) return InvalidArgument("sdy.sharding: expected shardings of dimensions");
  std::vector<std::string> parts;
  for (const Attribute* axis : dimension.elements) {
    HILO_ASSIGN_OR_RETURN(parts.emplace_back(), AxisText(*axis));
  }
  if (dimension.integer == 0) parts.push_back("?");
  return absl::StrCat("{", absl::StrJoin(parts, ", "), "}");
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
        HILO_ASSIGN_OR_RETURN(const std::string text, MeshText(mesh));
        texts.push_back(absl::StrCat(name->text, " = ", text));
        if (mesh->elements.empty() && mesh->integers.size() == 1) shardings.maximal_[std::string(name->text)] = mesh->integers[0];
      }
    }
  }
  if (texts.empty()) return shardings;
  shardings.meshes_text_ = absl::StrCat("{", absl::StrJoin(texts, ", "), "}");
  HILO_ASSIGN_OR_RETURN(shardings.meshes_, MeshesFromText(shardings.meshes_text_));
  return shardings;
}

absl::StatusOr<std::string> Shardings::Text(const Attribute& sharding) const {
  if (sharding.kind != Kind::kTensorSharding || sharding.elements.empty()) return InvalidArgument("sdy.sharding: expected a sharding");
  const Attribute& mesh = *sharding.elements[0];
  if (mesh.kind == Kind::kMesh) return Unimplemented("sdy.sharding of a mesh without a name");
  if (mesh.kind != Kind::kSymbol && mesh.kind != Kind::kString) return InvalidArgument("sdy.sharding: expected the name of a mesh");
  if (!meshes_.contains(std::string(mesh.text))) return InvalidArgument("sdy.sharding: there is no mesh @", mesh.text);
  std::vector<std::string> dimensions;
  for (size_t i = 1; i < sharding.elements.size(); ++i) {
    HILO_ASSIGN_OR_RETURN(dimensions.emplace_back(), DimensionText(*sharding.elements[i]));
  }
  std::string text = absl::StrCat("<@", mesh.text, ", [", absl::StrJoin(dimensions, ", "), "]");
  for (const auto& [name, axes] : {std::pair("replicated", &sharding.more_elements), std::pair("unreduced", &sharding.unreduced_axes)}) {
    if (axes->empty()) continue;
    std::vector<std::string> parts;
    for (const Attribute* axis : *axes) {
      HILO_ASSIGN_OR_RETURN(parts.emplace_back(), AxisText(*axis));
    }
    absl::StrAppend(&text, ", ", name, "={", absl::StrJoin(parts, ", "), "}");
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
  return absl::StrCat("#sdy<manual_axes{", absl::StrJoin(axes.elements, ", ", [](std::string* out, const Attribute* axis) {
                        absl::StrAppend(out, Quoted(axis->text));
                      }), "}>");
}

absl::StatusOr<std::string> Shardings::HloText(const Attribute& sharding) const {
  HILO_ASSIGN_OR_RETURN(const std::string text, Text(sharding));
  const auto maximal = maximal_.find(std::string(sharding.elements[0]->text));
  if (maximal != maximal_.end()) return absl::StrCat("{maximal device=", maximal->second, "}");
  HILO_ASSIGN_OR_RETURN(const auto tiles, TileAssignmentsFromSdy(absl::StrCat("#sdy.sharding", text), meshes_, std::nullopt));
  return TileAssignmentToHlo(tiles[0]);
}

}  // namespace hilo::stablehlo
