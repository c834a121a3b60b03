// What a function does cannot be known, so this is where it is fenced in: exceptions end here, errors get the target's
// name, and a result that aliases an operand gets its content first.
#include "runtime/custom_call/custom_call.h"

#include <cstring>
#include <exception>
#include <new>

#include "base/aligned_buffer.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/ops/structure/custom_call.h"
#include "hlo/ops/structure/custom_call_attributes.h"
#include "runtime/ffi/call_device.h"
#include "runtime/ffi/custom_call_status.h"
#include "runtime/ffi/typed_call.h"
#include "shape/canonical.h"

namespace hilo::ffi {
namespace {

absl::Status CheckDense(const Shape& shape) {
  for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(shape)) {
    if (leaf.shape->has_layout() && !leaf.shape->layout().padded_dimensions.empty()) {
      return Unimplemented("custom calls on arrays in padded layouts: ", leaf.shape->ToString(true));
    }
  }
  return absl::OkStatus();
}

// Leaf shapes of a literal of `shape`, with the layouts of `like`, or row-major if that has other dimensions
// (PhysicalShape).
void AppendMemoryShapes(const Shape& shape, const Shape& like, std::vector<Shape>* leaves) {
  const std::vector<ShapeUtil::Leaf> from = ShapeUtil::Leaves(shape), layouts = ShapeUtil::Leaves(like);
  for (size_t i = 0; i < from.size(); ++i) leaves->push_back(*layouts[i].shape);
}

void AppendLeaves(const Literal& literal, std::vector<const Literal*>* leaves) {
  if (!literal.shape().IsTuple()) return leaves->push_back(&literal);
  for (int64_t i = 0; i < literal.tuple_size(); ++i) AppendLeaves(literal.element(i), leaves);
}

absl::StatusOr<Literal> ReadResult(const Shape& shape, absl::Span<uint8_t* const> leaves, size_t* next) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (const Shape& element : shape.tuple_shapes()) {
      HILO_ASSIGN_OR_RETURN(elements.emplace_back(), ReadResult(element, leaves, next));
    }
    return Literal::MakeTuple(std::move(elements));
  }
  const uint8_t* bytes = leaves[(*next)++];
  if (bytes == nullptr) return Literal::Create(shape);
  return LiteralFromBytes(bytes, shape);
}

}  // namespace

CustomCall::~CustomCall() = default;

absl::StatusOr<std::unique_ptr<CustomCall>> CustomCall::Create(const HloInstruction& instruction,
                                                               const CustomCallRegistry* registry,
                                                               absl::Span<const absl::string_view> platforms) {
  const auto& attributes = instruction.attrs<CustomCallAttrs>();
  if (registry == nullptr) registry = &CustomCallRegistry::Default();
  const absl::StatusOr<CustomCallTarget> target =
      registry->Find(attributes.custom_call_target, platforms, attributes.api_version);
  std::unique_ptr<CustomCall> call(new CustomCall());
  call->name_ = attributes.custom_call_target;
  call->api_version_ = attributes.api_version;
  call->opaque_ = attributes.backend_config.text;
  call->tuple_result_ = instruction.shape().IsTuple();
  std::vector<const Shape*> operands;
  for (const HloInstruction* operand : instruction.operands()) operands.push_back(&operand->shape());
  const CallSignature signature = SignatureOf(attributes, operands, instruction.shape());
  // Normalized calls have row-major literals of memory's dimensions; of others, the layouts apply.
  const bool normalized = attributes.signature.present;
  for (size_t i = 0; i < operands.size(); ++i) {
    HILO_RETURN_IF_ERROR(CheckDense(signature.operands[i]));
    AppendMemoryShapes(*operands[i], normalized ? *operands[i] : signature.operands[i], &call->operands_);
  }
  HILO_RETURN_IF_ERROR(CheckDense(signature.result));
  call->result_ = normalized ? instruction.shape() : signature.result;
  for (Shape& shape : call->operands_) ShapeUtil::AddMissingLayouts(&shape);
  ShapeUtil::AddMissingLayouts(&call->result_);
  HILO_RETURN_IF_ERROR(call->FindCopies(attributes.output_to_operand_aliasing, signature));
  const std::vector<ShapeUtil::Leaf> results = ShapeUtil::Leaves(call->result_);
  for (size_t i = 0; i < results.size(); ++i) {
    const Shape& shape = *results[i].shape;
    if (shape.IsArray() && (shape.element_type() == PRED || IsSubByteType(shape.element_type())))
      call->narrow_results_.push_back({i, shape.element_type(), ShapeUtil::ElementBytesOf(shape)});
  }
  if (!target.ok()) {
    HILO_ASSIGN_OR_RETURN(call->check_, CheckCall::Of(attributes, signature));
    if (!call->check_.has_value()) return target.status();
    return call;
  }
  call->function_ = target->function;
  if (attributes.api_version != API_VERSION_TYPED_FFI) return call;
  const absl::Status made = call->Guarded([&]() -> absl::Status {
    HILO_ASSIGN_OR_RETURN(call->typed_, TypedCall::Create(target->handlers, call->opaque_, signature));
    call->small_ = lapack::SmallCall::Of(target->handlers.execute, signature, call->typed_->attributes());
    return absl::OkStatus();
  });
  if (!made.ok()) return made;
  return call;
}

absl::Status CustomCall::Guarded(absl::FunctionRef<absl::Status()> body) const {
  absl::Status status;
  try {
    status = body();
  } catch (const std::bad_alloc&) {
    status = ResourceExhausted("out of memory");
  } catch (const std::exception& error) {
    status = Internal("it threw ", error.what());
  } catch (...) {
    status = Internal("it threw something that is no std::exception");
  }
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat("custom call ", name_, ": ", status.message()));
}

absl::Status CustomCall::FindCopies(const std::vector<OutputOperandAlias>& aliases, const CallSignature& signature) {
  const auto first_leaf = [](const Shape& tuple, const ShapeIndex& index) {
    size_t leaf = 0;
    const std::vector<ShapeUtil::Leaf> leaves = ShapeUtil::Leaves(tuple);
    while (leaf < leaves.size() &&
           !std::equal(index.begin(), index.end(), leaves[leaf].index.begin(),
                       leaves[leaf].index.begin() + std::min(index.size(), leaves[leaf].index.size()))) {
      ++leaf;
    }
    return leaf;
  };
  const Shape operands = ShapeUtil::MakeTupleShape(signature.operands);
  for (const OutputOperandAlias& alias : aliases) {
    ShapeIndex from = {alias.operand};
    from.insert(from.end(), alias.operand_index.begin(), alias.operand_index.end());
    const size_t result = first_leaf(signature.result, alias.output_index), operand = first_leaf(operands, from);
    const auto leaves = ShapeUtil::Leaves(ShapeUtil::GetSubshape(signature.result, alias.output_index));
    for (size_t i = 0; i < leaves.size(); ++i)
      copies_.push_back({result + i, operand + i, ShapeUtil::ByteSizeOf(*leaves[i].shape)});
  }
  return absl::OkStatus();
}

absl::Status CustomCall::CallUntyped(absl::Span<const uint8_t* const> operands,
                                     absl::Span<uint8_t* const> results) const {
  absl::InlinedVector<const void*, 8> in(operands.begin(), operands.end());
  absl::InlinedVector<void*, 8> leaves(results.begin(), results.end());
  in.push_back(nullptr);  // so that there is an address without operands
  leaves.push_back(nullptr);
  void* out = tuple_result_ ? static_cast<void*>(leaves.data()) : leaves[0];
  XlaCustomCallStatus status;
  switch (api_version_) {
    case API_VERSION_ORIGINAL: reinterpret_cast<CustomCallOriginal*>(function_)(out, in.data()); break;
    case API_VERSION_STATUS_RETURNING:
      reinterpret_cast<CustomCallStatusReturning*>(function_)(out, in.data(), &status);
      break;
    case API_VERSION_STATUS_RETURNING_UNIFIED:
      reinterpret_cast<CustomCallStatusReturningUnified*>(function_)(out, in.data(), opaque_.data(), opaque_.size(),
                                                                     &status);
      break;
    case API_VERSION_UNSPECIFIED:
    case API_VERSION_TYPED_FFI: return Internal("not an untyped call");
  }
  if (status.failure.has_value()) return Internal(*status.failure);
  return absl::OkStatus();
}

absl::Status CustomCall::CallUntypedOnDevice(absl::Span<const uint8_t* const> operands,
                                             absl::Span<uint8_t* const> results, CallDevice* device) const {
  absl::InlinedVector<void*, 8> buffers;
  for (const uint8_t* operand : operands) buffers.push_back(const_cast<uint8_t*>(operand));
  buffers.insert(buffers.end(), results.begin(), results.end());
  buffers.push_back(nullptr);  // so that there is an address without arrays
  if (api_version_ == API_VERSION_ORIGINAL) {
    reinterpret_cast<CustomCallOnStream*>(function_)(device->stream(), buffers.data(), opaque_.data(), opaque_.size());
    return absl::OkStatus();
  }
  XlaCustomCallStatus status;
  reinterpret_cast<CustomCallOnStreamStatusReturning*>(function_)(device->stream(), buffers.data(), opaque_.data(),
                                                                  opaque_.size(), &status);
  if (status.failure.has_value()) return Internal(*status.failure);
  return absl::OkStatus();
}

CustomCall::Addresses CustomCall::InPlace(absl::Span<const uint8_t* const> operands,
                                          absl::Span<uint8_t* const> results) const {
  Addresses addresses(operands.begin(), operands.end());
  for (const Copy& copy : copies_) addresses[copy.operand] = results[copy.result];
  return addresses;
}

absl::Status CustomCall::Run(const RunContext& run, absl::Span<const uint8_t* const> operands,
                             absl::Span<uint8_t* const> results) const {
  for (const Copy& copy : copies_) {
    if (copy.bytes > 0 && results[copy.result] != operands[copy.operand]) {
      std::memcpy(results[copy.result], operands[copy.operand], static_cast<size_t>(copy.bytes));
    }
  }
  if (small_.has_value()) {
    small_->Run(operands, results);
    return absl::OkStatus();
  }
  HILO_RETURN_IF_ERROR(Guarded([&] {
    if (check_.has_value()) return check_->Run(operands_, operands, results);
    const Addresses in = InPlace(operands, results);
    return typed_ == nullptr ? CallUntyped(in, results) : typed_->Run(run, in, results, nullptr);
  }));
  for (const NarrowResult& narrow : narrow_results_) {
    if (narrow.bytes > 0)
      Canonicalize(narrow.type, absl::MakeSpan(results[narrow.result], static_cast<size_t>(narrow.bytes)));
  }
  return absl::OkStatus();
}

absl::Status CustomCall::RunOnDevice(const RunContext& run, absl::Span<const uint8_t* const> operands,
                                     absl::Span<uint8_t* const> results, CallDevice* device) const {
  return Guarded([&] {
    const Addresses in = InPlace(operands, results);
    return typed_ == nullptr ? CallUntypedOnDevice(in, results, device) : typed_->Run(run, in, results, device);
  });
}

absl::StatusOr<Literal> CustomCall::Run(const RunContext& run, absl::Span<const Literal* const> operands) const {
  std::vector<const Literal*> literals;
  for (const Literal* operand : operands) AppendLeaves(*operand, &literals);
  std::vector<AlignedBuffer> memory;
  const auto allocate = [&](const Shape& shape) -> absl::StatusOr<uint8_t*> {
    const int64_t bytes = shape.IsArray() ? ShapeUtil::ByteSizeOf(shape) : 0;
    if (bytes == 0) return nullptr;
    HILO_ASSIGN_OR_RETURN(memory.emplace_back(), AlignedBuffer::Create(bytes));
    return memory.back().data();
  };
  std::vector<const uint8_t*> in;
  for (size_t i = 0; i < literals.size(); ++i) {
    HILO_ASSIGN_OR_RETURN(uint8_t* bytes, allocate(operands_[i]));
    if (bytes != nullptr) LiteralToBytes(*literals[i], operands_[i], bytes);
    in.push_back(bytes);
  }
  std::vector<uint8_t*> out;
  for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(result_)) {
    HILO_ASSIGN_OR_RETURN(out.emplace_back(), allocate(*leaf.shape));
  }
  HILO_RETURN_IF_ERROR(Run(run, in, out));
  size_t next = 0;
  return ReadResult(result_, out, &next);
}

}  // namespace hilo::ffi
