// The types of tuples, in bounded memory.
#ifndef HILO_HLO_IMPORT_STABLEHLO_TUPLE_TYPES_H_
#define HILO_HLO_IMPORT_STABLEHLO_TUPLE_TYPES_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "hlo/import/stablehlo/mlir_module.h"

namespace hilo::stablehlo {

// A shape holds its elements by value, while types name one another: forty types, each a pair of the one before, would
// have a million million elements. One object per module.
class TupleTypes {
 public:
  // Makes `type` the tuple of `parts`, which are complete. Errors: InvalidArgument for parts that are no values of
  // known sizes, too many elements (of one tuple, or within the tuples of all), and tuples that are nested too deeply.
  absl::Status Make(absl::Span<const Type* const> parts, Type* type);

 private:
  struct Size {
    int64_t leaves = 1;
    int depth = 0;
  };
  absl::flat_hash_map<const Type*, Size> sizes_;
  int64_t nested_leaves_ = 0;
};

}  // namespace hilo::stablehlo

#endif  // HILO_HLO_IMPORT_STABLEHLO_TUPLE_TYPES_H_
