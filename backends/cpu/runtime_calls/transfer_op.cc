// Infeed, outfeed and host transfers as runtime calls: conversion between arrays of the program and literals.
#include "backends/cpu/runtime_calls/transfer_op.h"

#include <cstring>

#include "hilo/literal.h"
#include "hilo/status_macros.h"
#include "runtime/transfer_ops.h"

namespace hilo::cpu {
namespace {

absl::StatusOr<Literal> ReadLeaves(const Shape& shape, absl::Span<const uint8_t* const> leaves) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (int64_t i = 0; i < shape.tuple_shapes_size(); ++i) {
      HILO_ASSIGN_OR_RETURN(Literal element, ReadLeaves(shape.tuple_shapes(i), leaves.subspan(i, 1)));
      elements.push_back(std::move(element));
    }
    return Literal::MakeTuple(std::move(elements));
  }
  if (leaves[0] == nullptr) return Literal::Create(shape);
  return LiteralFromBytes(leaves[0], shape);
}

void WriteLeaves(const Literal& literal, const Shape& shape, absl::Span<uint8_t* const> leaves) {
  if (shape.IsTuple()) {
    for (int64_t i = 0; i < shape.tuple_shapes_size(); ++i)
      WriteLeaves(literal.element(i), shape.tuple_shapes(i), leaves.subspan(i, 1));
  } else if (leaves[0] != nullptr) {
    LiteralToBytes(literal, shape, leaves[0]);
  }
}

class TransferRuntimeCall : public RuntimeCall {
 public:
  TransferRuntimeCall(TransferOp op, const HloInstruction& instruction)
      : op_(std::move(op)),
        is_start_(instruction.opcode() == HloOpcode::kSend || instruction.opcode() == HloOpcode::kRecv) {
    for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(instruction.shape())) {
      result_bytes_.push_back(leaf.shape->IsArray() ? ShapeUtil::ByteSizeOf(*leaf.shape) : 0);
    }
  }

  absl::Status Run(const RunContext& run, const RuntimeCallArrays& arrays) const override {
    Literal data;
    if (op_.takes_data()) {
      HILO_ASSIGN_OR_RETURN(data, ReadLeaves(op_.data_shape(), arrays.operands));
    }
    HILO_ASSIGN_OR_RETURN(const Literal result, op_.Run(run, &data));
    if (op_.yields_data()) WriteLeaves(result, op_.data_shape(), arrays.results);
    if (is_start_) ClearContext(arrays);
    return absl::OkStatus();
  }

 private:
  // Clears the context of a send or recv: only the matching done reads it, and it needs no content.
  void ClearContext(const RuntimeCallArrays& arrays) const {
    for (size_t i = 0; i < arrays.results.size(); ++i) {
      if (arrays.results[i] != nullptr) std::memset(arrays.results[i], 0, static_cast<size_t>(result_bytes_[i]));
    }
  }

  TransferOp op_;
  bool is_start_;
  std::vector<int64_t> result_bytes_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RuntimeCall>> MakeTransferOp(const HloInstruction& instruction, const CompileOptions&) {
  HILO_ASSIGN_OR_RETURN(TransferOp op, TransferOp::Create(instruction));
  return std::make_unique<TransferRuntimeCall>(std::move(op), instruction);
}

}  // namespace hilo::cpu
