// Values that are used in the regions of a program but defined outside of them.
#ifndef HILO_HLO_IMPORT_STABLEHLO_CAPTURES_H_
#define HILO_HLO_IMPORT_STABLEHLO_CAPTURES_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/import/stablehlo/mlir_module.h"

namespace hilo::stablehlo {

// In the order of first use, each once. Constants are excluded: they are rematerialized wherever they are used.
class Captures {
 public:
  // Errors: ResourceExhausted if deeply nested regions capture too much.
  static absl::StatusOr<Captures> Of(const MlirModule& program);

  absl::Span<Value* const> operator[](const Region* region) const;
  // The captures of all regions of an operation together.
  std::vector<Value*> OfAll(const Operation& op) const;

 private:
  absl::flat_hash_map<const Region*, std::vector<Value*>> values_;
};

// The stablehlo.constant that the value is, if it is one. JAX casts constants between VHLO's types and MLIR's own where
// it uses them in Shardy's operations: up to kMaxCasts casts are looked through.
inline constexpr int kMaxCasts = 8;
const Operation* ConstantOf(const Value& value);

}  // namespace hilo::stablehlo

#endif  // HILO_HLO_IMPORT_STABLEHLO_CAPTURES_H_
