// A typed FFI call: handlers, attributes and the descriptions of arrays, prepared for every run.
#ifndef HILO_RUNTIME_FFI_TYPED_CALL_H_
#define HILO_RUNTIME_FFI_TYPED_CALL_H_

#include <deque>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hilo/ffi.h"
#include "hlo/ops/structure/custom_call_attributes.h"
#include "runtime/compiler.h"
#include "runtime/ffi/attribute_dictionary.h"
#include "runtime/ffi/ffi_api.h"
#include "runtime/ffi/xla_ffi_abi.h"

namespace hilo::ffi {

// Attributes in the form that handlers read. Points into the values it was made from.
class AttributeView {
 public:
  explicit AttributeView(const std::vector<NamedAttribute>& entries);
  AttributeView(const AttributeView&) = delete;
  AttributeView& operator=(const AttributeView&) = delete;
  const XLA_FFI_Attrs& attrs() const { return attrs_; }

 private:
  void* ViewOf(const Attribute& value);

  std::vector<XLA_FFI_AttrType> types_;
  std::vector<XLA_FFI_ByteSpan*> names_;
  std::vector<void*> values_;
  std::deque<XLA_FFI_ByteSpan> spans_;  // deques: their elements have stable addresses
  std::deque<XLA_FFI_Scalar> scalars_;
  std::deque<XLA_FFI_Array> arrays_;
  std::deque<AttributeView> nested_;
  XLA_FFI_Attrs attrs_;
};

// Thread-safe.
class TypedCall {
 public:
  // Queries the version of the execute handler, and instantiates. Errors: as CustomCall::Create.
  static absl::StatusOr<std::unique_ptr<TypedCall>> Create(const FfiHandlers& handlers, absl::string_view config,
                                                           const CallSignature& signature);

  // Pointers to the leaves, as CustomCall::Run gets them.
  absl::Status Run(const RunContext& run, absl::Span<const uint8_t* const> operands, absl::Span<uint8_t* const> results,
                   CallDevice* device) const;
  const std::vector<NamedAttribute>& attributes() const { return attributes_; }

 private:
  TypedCall() = default;
  absl::Status CheckVersion() const;
  absl::Status Instantiate();
  XLA_FFI_CallFrame Frame(XLA_FFI_ExecutionStage stage, XLA_FFI_InvokeContext* context) const;

  FfiHandlers handlers_;
  std::vector<NamedAttribute> attributes_;
  std::unique_ptr<AttributeView> view_;
  std::deque<std::vector<int64_t>> dimensions_;
  std::vector<XLA_FFI_Buffer> operands_, results_;  // without their memory
  mutable State state_;                             // of the instance; set once, by Create
};

}  // namespace hilo::ffi

#endif  // HILO_RUNTIME_FFI_TYPED_CALL_H_
