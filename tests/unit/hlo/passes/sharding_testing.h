// Programs of which the partitioner decides how the only result is divided.
#ifndef HILO_TESTS_UNIT_HLO_PASSES_SHARDING_TESTING_H_
#define HILO_TESTS_UNIT_HLO_PASSES_SHARDING_TESTING_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "hlo/import/stablehlo/stablehlo_import.h"
#include "hlo/passes/standard_passes.h"
#include "hlo/text/hlo_printer.h"

namespace hilo::testing {

// That of the only result.
inline std::string ResultSharding(absl::StatusOr<std::unique_ptr<HloModule>> module) {
  if (!module.ok()) return std::string(module.status().message());
  auto pass = MakePartitioner({.results = {true}});
  const auto run = pass->Run(module->get(), {});
  if (!run.ok()) return std::string(run.status().message());
  return std::string(ExtraAttribute((*module)->extra_attributes(), "spmd_output_sharding"));
}

inline std::string OfStablehlo(absl::string_view arguments, absl::string_view body) {
  auto program = ImportStablehlo(absl::StrCat(R"(module attributes {mhlo.num_partitions = 8 : i32} {
sdy.mesh @m = <["a"=2, "b"=4]>
func.func public @main()",
                                              arguments, ") -> tensor<8x16xf32> {\n", body, "\n}\n}\n"));
  if (!program.ok()) return std::string(program.status().message());
  return ResultSharding(std::move(program->module));
}

// Along "a" and "b" of the mesh above.
inline constexpr char kAOnRows[] = "{devices=[2,1,4]0,1,2,3,4,5,6,7 last_tile_dim_replicate}",
                      kBOnRows[] = "{devices=[4,1,2]0,4,1,5,2,6,3,7 last_tile_dim_replicate}",
                      kAOnColumns[] = "{devices=[1,2,4]0,1,2,3,4,5,6,7 last_tile_dim_replicate}",
                      kBOnColumns[] = "{devices=[1,4,2]0,4,1,5,2,6,3,7 last_tile_dim_replicate}",
                      kBothOnRowsAndColumns[] = "{devices=[2,4]0,1,2,3,4,5,6,7}";

}  // namespace hilo::testing

#endif  // HILO_TESTS_UNIT_HLO_PASSES_SHARDING_TESTING_H_
