// Custom calls that every platform has: comparisons of an array with the expected one, by which programs in StableHLO
// test themselves, and what prints an array. The run fails if the check does.
#ifndef HILO_RUNTIME_CUSTOM_CALL_CHECK_CALL_H_
#define HILO_RUNTIME_CUSTOM_CALL_CHECK_CALL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hilo/literal.h"
#include "hilo/shape.h"
#include "hlo/ops/structure/custom_call_attributes.h"

namespace hilo::ffi {

// Calls of (actual, expected), arrays of one shape. NaNs are equal, and so are 0 and -0:
//
//   check.expect_eq         equal elements
//   check.expect_almost_eq  floats that differ by at most `tolerance`: f64 in the backend_config, 0.001 without it
//   check.expect_close      floats that are at most `max_ulp_difference` apart: an integer there, 3 without it
//   check.eq                equal integers, floats that differ by at most 0.0001. The result, pred[], is true.
//
// They have no result but for check.eq, which may have none. And one of one array, which it writes to the standard
// output as a line, its shape and its elements, and which has no result:
//
//   interpreter.print
class CheckCall {
 public:
  // Returns nullopt if the target is none of these. Errors: InvalidArgument for other operands, results and attributes.
  static absl::StatusOr<std::optional<CheckCall>> Of(const CustomCallAttrs& attributes, const CallSignature& signature);

  // One pointer per array; `operands` are in the layouts of `shapes`. Errors: InvalidArgument with the first and the
  // worst element if the check fails.
  absl::Status Run(absl::Span<const Shape> shapes, absl::Span<const uint8_t* const> operands,
                   absl::Span<uint8_t* const> results) const;

 private:
  bool prints_ = false;
  ErrorSpec allowed_;  // of comparisons
};

}  // namespace hilo::ffi

#endif  // HILO_RUNTIME_CUSTOM_CALL_CHECK_CALL_H_
