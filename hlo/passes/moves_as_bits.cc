// Retypes kernels that only move numbers of narrow floating-point types, truth values, or complex numbers of 64 bits:
//
//   transpose(bf16[31,5] x)  =>  bitcast(u16[5,31] transpose(u16[31,5] bitcast(x)))
//
// The bitcasts forward their operands' memory. Loads would widen each number, and stores would round it again; truth
// values would become vectors of single bits, and complex numbers two vectors, of their parts. All bits are kept, also
// those of NaNs.
#include <cstring>
#include <utility>

#include "hilo/literal.h"
#include "hilo/status_macros.h"
#include "hlo/ir/hlo_computation.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/opcode_map.h"
#include "hlo/passes/change_shape.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

// What a kernel moves, by its result.
enum class Moved { kNarrowFloats, kPreds, kComplex };

Moved MovedBy(const Shape& result) {
  if (result.IsArray() && result.element_type() == PRED) return Moved::kPreds;
  return result.IsArray() && IsComplexType(result.element_type()) ? Moved::kComplex : Moved::kNarrowFloats;
}

// Whether the array has elements of the types that are moved as bits: truth values, complex numbers of 64 bits, or
// floating-point numbers that occupy one or two whole bytes.
bool IsMoved(const Shape& shape, Moved moved) {
  if (!shape.IsArray()) return false;
  if (moved == Moved::kPreds) return shape.element_type() == PRED;
  if (moved == Moved::kComplex) return shape.element_type() == C64;
  if (!IsFloatingPointType(shape.element_type())) return false;
  const int bits = PrimitiveTypeBitWidth(shape.element_type());
  return bits == 8 || bits == 16;
}

Shape AsBits(const Shape& shape) {
  const int bytes = PrimitiveTypeByteSize(shape.element_type());
  return ShapeUtil::ChangeElementType(shape, bytes == 1 ? U8 : bytes == 2 ? U16 : U64);
}

// Whether the operation is the same for numbers and for their bits. The condition of a select stays a truth value.
bool IsMove(const HloInstruction& instruction, Moved moved) {
  static constexpr OpcodeSet kOthers = {HloOpcode::kConstant, HloOpcode::kParameter};
  return HasTrait(instruction.opcode(), kMovement) || kOthers.contains(instruction.opcode()) ||
         (instruction.opcode() == HloOpcode::kSelect && moved != Moved::kPreds);
}

bool ReadsOrYieldsMoved(const HloInstruction& instruction, Moved moved) {
  if (IsMoved(instruction.shape(), moved)) return true;
  for (const HloInstruction* operand : instruction.operands()) {
    if (IsMoved(operand->shape(), moved)) return true;
  }
  return false;
}

// Whether the instruction computes an array of such a type by moves alone. Its operands of such types are arrays, or
// scalar constants: other scalars may be in registers, as numbers.
bool OnlyMoves(const HloInstruction& instruction) {
  const Moved moved = MovedBy(instruction.shape());
  if (!IsMoved(instruction.shape(), moved) || ShapeUtil::ElementsIn(instruction.shape()) < 2) return false;
  for (const HloInstruction* operand : instruction.operands()) {
    if (IsMoved(operand->shape(), moved) && ShapeUtil::ElementsIn(operand->shape()) < 2 && !operand->IsConstant())
      return false;
  }
  if (instruction.opcode() != HloOpcode::kFusion) return instruction.operand_count() > 0 && IsMove(instruction, moved);
  for (const HloInstruction* member : instruction.called_computation()->instructions()) {
    if (member->opcode() == HloOpcode::kFusion || (ReadsOrYieldsMoved(*member, moved) && !IsMove(*member, moved)))
      return false;
  }
  return true;
}

// Returns a constant of the same bytes in `computation`.
absl::StatusOr<HloInstruction*> BitsOf(const HloInstruction& constant, HloComputation* computation) {
  HILO_ASSIGN_OR_RETURN(Literal bits, Literal::Create(AsBits(constant.shape())));
  const absl::Span<const uint8_t> bytes = constant.literal().untyped_data();
  std::memcpy(bits.untyped_data().data(), bytes.data(), bytes.size());
  return computation->AddConstant(std::move(bits));
}

absl::Status RetypeMembers(HloComputation* fused, Moved moved) {
  for (HloInstruction* member : fused->MakePostOrder()) {
    if (!IsMoved(member->shape(), moved)) continue;
    if (member->IsConstant()) {
      HILO_ASSIGN_OR_RETURN(HloInstruction* const bits, BitsOf(*member, fused));
      for (HloInstruction* user : std::vector<HloInstruction*>(member->users().begin(), member->users().end())) {
        for (int64_t i = 0; i < user->operand_count(); ++i) {
          if (user->operand(i) == member) fused->ReplaceOperand(user, i, bits);
        }
      }
      HILO_RETURN_IF_ERROR(fused->RemoveInstruction(member));
    } else {
      *member->mutable_shape() = AsBits(member->shape());
    }
  }
  return absl::OkStatus();
}

absl::Status Retype(HloInstruction* instruction) {
  HloComputation* const computation = instruction->parent();
  const Moved moved = MovedBy(instruction->shape());
  for (int64_t i = 0; i < instruction->operand_count(); ++i) {
    HloInstruction* operand = instruction->mutable_operand(i);
    if (!IsMoved(operand->shape(), moved)) continue;
    if (operand->IsConstant() && operand->shape().IsScalar()) {
      HILO_ASSIGN_OR_RETURN(operand, BitsOf(*operand, computation));
    } else {
      operand = computation->AddInstruction(
          HloInstruction::Create(HloOpcode::kBitcast, AsBits(operand->shape()), {&operand, 1}));
    }
    computation->ReplaceOperand(instruction, i, operand);
  }
  if (instruction->opcode() == HloOpcode::kFusion)
    HILO_RETURN_IF_ERROR(RetypeMembers(instruction->called_computation(), moved));
  return ChangeShape(instruction, AsBits(instruction->shape()));
}

class MovesAsBits : public HloPass {
 public:
  absl::string_view name() const override { return "move-bits"; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    bool changed = false;
    for (HloComputation* computation : module->computations()) {
      if (computation->IsFusion()) continue;
      for (HloInstruction* instruction : computation->MakePostOrder()) {
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        if (!OnlyMoves(*instruction)) continue;
        HILO_RETURN_IF_ERROR(Retype(instruction));
        changed = true;
      }
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<HloPass> MakeMovesAsBits() { return std::make_unique<MovesAsBits>(); }

}  // namespace hilo
