#include "runtime/ffi/lapack_call.h"

#include <cstring>

#include "base/errors.h"
#include "base/status_macros.h"
#include "hlo/ops/hlo_opcode.h"
#include "runtime/ffi/attribute_dictionary.h"

namespace hilo::ffi {
namespace {

const lapack::Target* FindTarget(absl::string_view name) {
  for (const lapack::Target& target : lapack::Targets()) {
    if (target.name == name) return &target;
  }
  return nullptr;
}

absl::StatusOr<int64_t> WholeNumber(const NamedAttribute& attribute) {
  const Attribute& value = attribute.value;
  const bool whole = value.type == PRED || InTypeClass(value.type, kInt);
  if (value.kind != Attribute::Kind::kScalar || !whole) return InvalidArgument("attribute ", attribute.name, ": expected a whole number");
  int64_t number = 0;
  std::memcpy(&number, value.bytes.data(), value.bytes.size());  // little-endian
  const int unused = 64 - 8 * static_cast<int>(value.bytes.size());
  if (InTypeClass(value.type, kSignedInt)) return static_cast<int64_t>(static_cast<uint64_t>(number) << unused) >> unused;
  return number;
}

void AppendLeaves(const Shape& shape, std::vector<Shape>* leaves) {
  for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(shape)) leaves->push_back(*leaf.shape);
}

}  // namespace

bool LapackCall::IsTarget(absl::string_view name) { return FindTarget(name) != nullptr; }

absl::StatusOr<std::unique_ptr<LapackCall>> LapackCall::Create(absl::string_view name, absl::string_view config, const CallSignature& signature) {
  const lapack::Target* target = FindTarget(name);
  if (target == nullptr) return NotFound("there is no routine ", name);
  std::unique_ptr<LapackCall> call(new LapackCall());
  call->function_ = target->function;
  HILO_ASSIGN_OR_RETURN(const std::vector<NamedAttribute> attributes, ParseAttributeDictionary(config));
  for (const NamedAttribute& attribute : attributes) {
    HILO_ASSIGN_OR_RETURN(const int64_t number, WholeNumber(attribute));
    call->attributes_.emplace_back(attribute.name, number);
  }
  for (const Shape& operand : signature.operands) AppendLeaves(operand, &call->operands_);
  AppendLeaves(signature.result, &call->results_);
  return call;
}

absl::Status LapackCall::Run(absl::Span<const uint8_t* const> operands, absl::Span<uint8_t* const> results) const {
  std::vector<lapack::Array> in, out;
  for (size_t i = 0; i < operands_.size(); ++i) {
    in.push_back({operands_[i].element_type(), operands_[i].dimensions(), const_cast<uint8_t*>(operands[i])});
  }
  for (size_t i = 0; i < results_.size(); ++i) out.push_back({results_[i].element_type(), results_[i].dimensions(), results[i]});
  std::vector<std::pair<absl::string_view, int64_t>> attributes;
  for (const auto& [name, number] : attributes_) attributes.emplace_back(name, number);
  return function_({.operands = in, .results = out, .attributes = attributes});
}

}  // namespace hilo::ffi
