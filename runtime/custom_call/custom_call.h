// A custom call of a program: its resolved function, and all run-invariant data about its arrays.
#ifndef HILO_RUNTIME_CUSTOM_CALL_CUSTOM_CALL_H_
#define HILO_RUNTIME_CUSTOM_CALL_CUSTOM_CALL_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hilo/ffi.h"
#include "hilo/literal.h"
#include "hilo/shape.h"
#include "hlo/ir/hlo_instruction.h"
#include "runtime/compiler.h"
#include "runtime/custom_call/check_call.h"
#include "runtime/lapack/small_call.h"

namespace hilo::ffi {

class CallDevice;
class TypedCall;

// Thread-safe.
class CustomCall {
 public:
  // Finds the target of a custom-call instruction that calls a function (hlo/ops/structure/custom_call.h): in
  // `registry` (null: the default one), which has LAPACK's routines too, else among the checks. Handlers of typed FFI
  // are queried for a version here, and instantiated. Errors: those of CustomCallRegistry::Find; InvalidArgument if the
  // backend_config of a typed call is no dictionary; Unimplemented for padded layouts and newer FFI versions; what an
  // instantiate handler returns.
  static absl::StatusOr<std::unique_ptr<CustomCall>> Create(const HloInstruction& instruction,
                                                            const CustomCallRegistry* registry,
                                                            absl::Span<const absl::string_view> platforms);
  ~CustomCall();

  // Calls the function. One pointer per leaf, depth first over all operands, and over the result; results overlap no
  // operand. Errors: what the function returns or throws, with the target named.
  absl::Status Run(const RunContext& run, absl::Span<const uint8_t* const> operands,
                   absl::Span<uint8_t* const> results) const;
  // Like Run on the memory of a device, for functions that are registered for its platform: they queue their work on
  // its stream. Results that start as copies of operands must be copied before.
  absl::Status RunOnDevice(const RunContext& run, absl::Span<const uint8_t* const> operands,
                           absl::Span<uint8_t* const> results, CallDevice* device) const;
  // Like Run on literals, one per operand.
  absl::StatusOr<Literal> Run(const RunContext& run, absl::Span<const Literal* const> operands) const;

  // Leaf `result` starts as a copy of leaf `operand`.
  struct Copy {
    size_t result, operand;
    int64_t bytes;
  };
  const std::vector<Copy>& copies() const { return copies_; }

 private:
  using Addresses = absl::InlinedVector<const uint8_t*, 8>;

  CustomCall() = default;
  // The operands' addresses for the function: where a result is computed in place, that of the result, which has the
  // operand's content by then. The operand's own memory keeps it for other users.
  Addresses InPlace(absl::Span<const uint8_t* const> operands, absl::Span<uint8_t* const> results) const;
  // The error that `body` returns or throws, with the target named.
  absl::Status Guarded(absl::FunctionRef<absl::Status()> body) const;
  absl::Status FindCopies(const std::vector<OutputOperandAlias>& aliases, const CallSignature& signature);
  absl::Status CallUntyped(absl::Span<const uint8_t* const> operands, absl::Span<uint8_t* const> results) const;
  absl::Status CallUntypedOnDevice(absl::Span<const uint8_t* const> operands, absl::Span<uint8_t* const> results,
                                   CallDevice* device) const;

  std::string name_;
  CustomCallApiVersion api_version_ = API_VERSION_ORIGINAL;
  void* function_ = nullptr;
  std::string opaque_;
  bool tuple_result_ = false;
  std::vector<Copy> copies_;
  // Leaves of the result whose elements have fewer than 8 bits, or are truth values: a function may leave any others
  // in their bytes.
  struct NarrowResult {
    size_t result;
    PrimitiveType type;
    int64_t bytes;
  };
  std::vector<NarrowResult> narrow_results_;
  std::vector<Shape> operands_;  // leaves, in their memory layouts
  Shape result_;
  // Either one of these or function_ is set.
  std::unique_ptr<TypedCall> typed_;
  std::optional<CheckCall> check_;
  std::optional<lapack::SmallCall> small_;
};

}  // namespace hilo::ffi

#endif  // HILO_RUNTIME_CUSTOM_CALL_CUSTOM_CALL_H_
