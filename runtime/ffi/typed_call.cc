#include "runtime/ffi/typed_call.h"

#include "absl/container/inlined_vector.h"
#include "base/errors.h"
#include "hilo/status_macros.h"

namespace hilo::ffi {
namespace {

void AppendBuffers(const Shape& shape, std::deque<std::vector<int64_t>>* dimensions,
                   std::vector<XLA_FFI_Buffer>* buffers) {
  for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(shape)) {
    auto& sizes = dimensions->emplace_back(leaf.shape->dimensions().begin(), leaf.shape->dimensions().end());
    buffers->push_back({.struct_size = sizeof(XLA_FFI_Buffer),
                        .extension_start = nullptr,
                        .dtype = static_cast<XLA_FFI_DataType>(leaf.shape->element_type()),
                        .data = nullptr,
                        .rank = static_cast<int64_t>(sizes.size()),
                        .dims = sizes.data()});
  }
}

// Buffers of one run, and the arrays of types and pointers that a frame requires besides them.
template <typename Type>
struct Buffers {
  absl::InlinedVector<XLA_FFI_Buffer, 8> buffers;
  absl::InlinedVector<Type, 8> types;
  absl::InlinedVector<void*, 8> pointers;

  template <typename Byte>
  Buffers(const std::vector<XLA_FFI_Buffer>& prototypes, absl::Span<Byte* const> memory)
      : buffers(prototypes.begin(), prototypes.end()) {
    types.resize(buffers.size(), static_cast<Type>(1));
    for (size_t i = 0; i < buffers.size(); ++i) {
      buffers[i].data = const_cast<uint8_t*>(memory[i]);
      pointers.push_back(&buffers[i]);
    }
  }
};

// Calls a handler and waits for its unfinished work.
absl::Status Call(XLA_FFI_Handler* handler, XLA_FFI_CallFrame* frame) {
  const absl::Status status = TakeError(handler(frame));
  if (frame->future == nullptr) return status;
  const absl::Status later = AwaitFuture(frame->future);
  return status.ok() ? later : status;
}

}  // namespace

AttributeView::AttributeView(const std::vector<NamedAttribute>& entries) {
  for (const NamedAttribute& entry : entries) {
    names_.push_back(&spans_.emplace_back(XLA_FFI_ByteSpan{entry.name.data(), entry.name.size()}));
    values_.push_back(ViewOf(entry.value));
  }
  attrs_ = {.struct_size = sizeof(XLA_FFI_Attrs),
            .extension_start = nullptr,
            .size = static_cast<int64_t>(entries.size()),
            .types = types_.data(),
            .names = names_.data(),
            .attrs = values_.data()};
}

void* AttributeView::ViewOf(const Attribute& value) {
  auto* bytes = const_cast<uint8_t*>(value.bytes.data());
  const auto type = static_cast<XLA_FFI_DataType>(value.type);
  switch (value.kind) {
    case Attribute::Kind::kArray:
      types_.push_back(XLA_FFI_AttrType_ARRAY);
      return &arrays_.emplace_back(
          XLA_FFI_Array{type, value.bytes.size() / static_cast<size_t>(PrimitiveTypeByteSize(value.type)), bytes});
    case Attribute::Kind::kDictionary:
      types_.push_back(XLA_FFI_AttrType_DICTIONARY);
      return &nested_.emplace_back(value.entries).attrs_;
    case Attribute::Kind::kScalar:
      types_.push_back(XLA_FFI_AttrType_SCALAR);
      return &scalars_.emplace_back(XLA_FFI_Scalar{type, bytes});
    case Attribute::Kind::kString:
      types_.push_back(XLA_FFI_AttrType_STRING);
      return &spans_.emplace_back(XLA_FFI_ByteSpan{reinterpret_cast<const char*>(bytes), value.bytes.size()});
  }
  return nullptr;
}

absl::StatusOr<std::unique_ptr<TypedCall>> TypedCall::Create(const FfiHandlers& handlers, absl::string_view config,
                                                             const CallSignature& signature) {
  std::unique_ptr<TypedCall> call(new TypedCall());
  call->handlers_ = handlers;
  HILO_ASSIGN_OR_RETURN(call->attributes_, ParseAttributeDictionary(config));
  call->view_ = std::make_unique<AttributeView>(call->attributes_);
  for (const Shape& operand : signature.operands) AppendBuffers(operand, &call->dimensions_, &call->operands_);
  AppendBuffers(signature.result, &call->dimensions_, &call->results_);
  HILO_RETURN_IF_ERROR(call->CheckVersion());
  if (handlers.instantiate != nullptr) HILO_RETURN_IF_ERROR(call->Instantiate());
  return call;
}

XLA_FFI_CallFrame TypedCall::Frame(XLA_FFI_ExecutionStage stage, XLA_FFI_InvokeContext* context) const {
  if (context != nullptr) context->stage = stage;
  return {.struct_size = XLA_FFI_CallFrame_STRUCT_SIZE,
          .extension_start = nullptr,
          .api = GetXlaFfiApi(),
          .ctx = context,
          .stage = stage,
          .args = {.struct_size = sizeof(XLA_FFI_Args),
                   .extension_start = nullptr,
                   .size = 0,
                   .types = nullptr,
                   .args = nullptr},
          .rets = {.struct_size = sizeof(XLA_FFI_Rets),
                   .extension_start = nullptr,
                   .size = 0,
                   .types = nullptr,
                   .rets = nullptr},
          .attrs = view_->attrs(),
          .future = nullptr};
}

absl::Status TypedCall::CheckVersion() const {
  XLA_FFI_Metadata metadata = {.struct_size = sizeof(XLA_FFI_Metadata),
                               .api_version = {sizeof(XLA_FFI_Api_Version), nullptr, 0, 0},
                               .traits = 0,
                               .state_type_id = {0}};
  XLA_FFI_Metadata_Extension extension = {.extension_base = {.struct_size = sizeof(XLA_FFI_Metadata_Extension),
                                                             .type = XLA_FFI_Extension_Metadata,
                                                             .next = nullptr},
                                          .metadata = &metadata};
  XLA_FFI_CallFrame frame = Frame(XLA_FFI_ExecutionStage_EXECUTE, nullptr);
  frame.extension_start = &extension.extension_base;
  HILO_RETURN_IF_ERROR(Call(handlers_.execute, &frame));
  const XLA_FFI_Api_Version& version = metadata.api_version;
  if (version.major_version == XLA_FFI_API_MAJOR && version.minor_version <= XLA_FFI_API_MINOR) return absl::OkStatus();
  return Unimplemented("the handler is of FFI version ", version.major_version, ".", version.minor_version,
                       "; Hilo's is ", XLA_FFI_API_MAJOR, ".", XLA_FFI_API_MINOR);
}

absl::Status TypedCall::Instantiate() {
  XLA_FFI_InvokeContext context;
  context.states[0] = &state_;
  XLA_FFI_CallFrame frame = Frame(XLA_FFI_ExecutionStage_INSTANTIATE, &context);
  return Call(handlers_.instantiate, &frame);
}

absl::Status TypedCall::Run(const RunContext& run, absl::Span<const uint8_t* const> operands,
                            absl::Span<uint8_t* const> results, CallDevice* device) const {
  Buffers<XLA_FFI_ArgType> args(operands_, operands);
  Buffers<XLA_FFI_RetType> rets(results_, results);
  State prepared, initialized;
  XLA_FFI_InvokeContext context;
  context.run = &run;
  context.device = device;
  context.states = {&state_, &prepared, &initialized};
  const std::pair<XLA_FFI_ExecutionStage, XLA_FFI_Handler*> stages[] = {
      {XLA_FFI_ExecutionStage_PREPARE, handlers_.prepare},
      {XLA_FFI_ExecutionStage_INITIALIZE, handlers_.initialize},
      {XLA_FFI_ExecutionStage_EXECUTE, handlers_.execute}};
  for (const auto& [stage, handler] : stages) {
    if (handler == nullptr) continue;
    XLA_FFI_CallFrame frame = Frame(stage, &context);
    frame.args.size = static_cast<int64_t>(args.buffers.size());
    frame.args.types = args.types.data();
    frame.args.args = args.pointers.data();
    frame.rets.size = static_cast<int64_t>(rets.buffers.size());
    frame.rets.types = rets.types.data();
    frame.rets.rets = rets.pointers.data();
    HILO_RETURN_IF_ERROR(Call(handler, &frame));
  }
  return absl::OkStatus();
}

}  // namespace hilo::ffi
