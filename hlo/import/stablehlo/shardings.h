// Shardings of Shardy (dialect sdy) in the forms that HLO supports: Shardy's own text inside frontend attributes, and
// HLO's `sharding=`.
#ifndef HILO_HLO_IMPORT_STABLEHLO_SHARDINGS_H_
#define HILO_HLO_IMPORT_STABLEHLO_SHARDINGS_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/import/stablehlo/mlir_module.h"
#include "hlo/ir/tile_assignment.h"
#include "hlo/ops/collective/replica_groups.h"

namespace hilo::stablehlo {

class Shardings {
 public:
  // The meshes that the operations of the module's body define. Errors: InvalidArgument for invalid meshes.
  static absl::StatusOr<Shardings> Of(const Operation& module);

  // "{mesh = #sdy.mesh<["a"=2]>}"; empty without meshes.
  const std::string& meshes_text() const { return meshes_text_; }

  // `<@mesh, [{"a"}, {"b", ?}p1]>`. Errors: InvalidArgument for an invalid sharding.
  absl::StatusOr<std::string> Text(const Attribute& sharding) const;
  // `#sdy.sharding_per_value<[...]>` of an attribute with a sharding for each value.
  absl::StatusOr<std::string> PerValueText(const Attribute& shardings) const;
  // `#sdy<manual_axes{"a"}>`.
  absl::StatusOr<std::string> ManualAxesText(const Attribute& axes) const;
  // Replica groups along axes of a mesh: devices that differ in these axes only form a group, in the order of the axes.
  absl::StatusOr<ReplicaGroups> Groups(const Attribute& groups) const;
  // `{devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}`, `{replicated}`, `{maximal device=0}`.
  absl::StatusOr<std::string> HloText(const Attribute& sharding) const;
  // Frontend attributes with texts of Text(), one a value.
  static std::string FrontendText(absl::Span<const std::string> texts);

 private:
  absl::flat_hash_map<std::string, Mesh> meshes_;
  absl::flat_hash_map<std::string, const Attribute*> mesh_attributes_;
  std::string meshes_text_;
};

}  // namespace hilo::stablehlo

#endif  // HILO_HLO_IMPORT_STABLEHLO_SHARDINGS_H_
