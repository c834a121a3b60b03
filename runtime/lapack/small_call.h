// Calls of LAPACK's targets on one small matrix. Reading the frame of such a call takes longer than its work, and is
// the same each time.
#ifndef HILO_RUNTIME_LAPACK_SMALL_CALL_H_
#define HILO_RUNTIME_LAPACK_SMALL_CALL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "hlo/ops/structure/custom_call.h"
#include "runtime/ffi/attribute_dictionary.h"
#include "runtime/ffi/xla_ffi_abi.h"

namespace hilo::lapack {

class SmallCall {
 public:
  // The equivalent of `handler` for a call of this signature and attributes, if it is that of potrf, getrf or trsm of
  // real numbers on one matrix of at most kSmallMatrix rows and columns; nullopt otherwise, and for calls for which the
  // handler must return an error.
  static std::optional<SmallCall> Of(XLA_FFI_Handler* handler, const CallSignature& signature,
                                     const std::vector<ffi::NamedAttribute>& attributes);

  // One pointer per leaf of the operands and of the result.
  void Run(absl::Span<const uint8_t* const> operands, absl::Span<uint8_t* const> results) const {
    run_(*this, operands, results);
  }

 private:
  using Code = void(const SmallCall& call, absl::Span<const uint8_t* const> operands,
                    absl::Span<uint8_t* const> results);
  template <typename T>
  static Code Cholesky;
  template <typename T>
  static Code Factor;
  template <typename T>
  static Code Solve;
  bool PrepareCholesky(const CallSignature& signature, const std::vector<ffi::NamedAttribute>& attributes);
  bool PrepareFactor(const CallSignature& signature);
  bool PrepareMatrix(const CallSignature& signature, int64_t results);
  bool PrepareSolve(const CallSignature& signature, const std::vector<ffi::NamedAttribute>& attributes);

  Code* run_ = nullptr;
  int32_t m_ = 0, n_ = 0;  // of the first result
  // Of a triangle: its side, and whether it is read along its columns, then lower, and has a unit diagonal.
  bool left_ = false, flipped_ = false, lower_ = false, unit_ = false;
};

}  // namespace hilo::lapack

#endif  // HILO_RUNTIME_LAPACK_SMALL_CALL_H_
