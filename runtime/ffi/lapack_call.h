// Calls of LAPACK's routines (runtime/lapack), which need no registration.
#ifndef HILO_RUNTIME_FFI_LAPACK_CALL_H_
#define HILO_RUNTIME_FFI_LAPACK_CALL_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/ops/custom_call_attributes.h"
#include "runtime/lapack/lapack_targets.h"

namespace hilo::ffi {

// Thread-safe.
class LapackCall {
 public:
  static bool IsTarget(absl::string_view name);
  // Errors: InvalidArgument if `config` is no dictionary of whole numbers.
  static absl::StatusOr<std::unique_ptr<LapackCall>> Create(absl::string_view name, absl::string_view config, const CallSignature& signature);
  // Pointers to the leaves, as CustomCall::Run gets them. Errors: the routine's.
  absl::Status Run(absl::Span<const uint8_t* const> operands, absl::Span<uint8_t* const> results) const;

 private:
  LapackCall() = default;

  lapack::Function function_ = nullptr;
  std::vector<std::pair<std::string, int64_t>> attributes_;
  std::vector<Shape> operands_, results_;  // leaves
};

}  // namespace hilo::ffi

#endif  // HILO_RUNTIME_FFI_LAPACK_CALL_H_
