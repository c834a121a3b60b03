// Nothing runs concurrently with a program's own instructions here, so an asynchronous pair is its op at the
// position of the start:
//
//   s = ((f32[4]), f32[4], u32[]) async-start(x), calls=f     c = f32[4] call(x), to_apply=f
//   d = f32[4] async-done(s)                               => s = tuple(tuple(x), c, 0)
//                                                             d = get-tuple-element(s), index=1
//
// and the rules about tuples simplify the rest. A copy-start is a copy in the same way. A domain and a copy
// of a tuple are their operands.
#include "hilo/status_macros.h"
#include "hlo/ops/collective/collective_attributes.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/opcode_map.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

using OwnedInstruction = std::unique_ptr<HloInstruction>;

OwnedInstruction GetElement(HloInstruction* tuple, int64_t index) {
  auto attributes = std::make_unique<GetTupleElementAttrs>();
  attributes->index = index;
  return HloInstruction::Create(HloOpcode::kGetTupleElement, tuple->shape().tuple_shapes(index), {tuple},
                                std::move(attributes));
}

// The op that `start` starts, with result `shape`.
OwnedInstruction Synchronous(const HloInstruction& start, HloOpcode opcode, const Shape& shape) {
  OwnedInstruction instruction = HloInstruction::Create(opcode, shape, start.operands(),
                                                        opcode == HloOpcode::kCall   ? std::make_unique<CallAttrs>()
                                                        : opcode == HloOpcode::kCopy ? nullptr
                                                                                     : start.attributes()->Clone(),
                                                        start.called_computations());
  instruction->CopyOriginFrom(start);
  return instruction;
}

// Zeros of any shape.
absl::StatusOr<HloInstruction*> AddZeros(HloComputation* computation, const Shape& shape) {
  if (shape.IsTuple()) {
    std::vector<HloInstruction*> elements;
    for (const Shape& element : shape.tuple_shapes()) {
      HILO_ASSIGN_OR_RETURN(elements.emplace_back(), AddZeros(computation, element));
    }
    return computation->AddInstruction(HloInstruction::Create(HloOpcode::kTuple, shape, elements));
  }
  if (shape.IsToken()) return computation->AddInstruction(HloInstruction::Create(HloOpcode::kAfterAll, shape, {}));
  HILO_ASSIGN_OR_RETURN(Literal zeros, Literal::Create(shape));
  return computation->AddConstant(std::move(zeros));
}

// (operands, result, zeros ...) of the shape of `start`.
absl::StatusOr<OwnedInstruction> StartTuple(const HloInstruction& start, HloInstruction* result) {
  HloComputation* computation = start.parent();
  const Shape& shape = start.shape();
  HloInstruction* operands = start.operand_count() == 1 ? start.operand(0) : nullptr;
  if (operands == nullptr || !ShapeUtil::Compatible(operands->shape(), shape.tuple_shapes(0))) {
    operands =
        computation->AddInstruction(HloInstruction::Create(HloOpcode::kTuple, shape.tuple_shapes(0), start.operands()));
  }
  std::vector<HloInstruction*> elements = {operands, result};
  for (int64_t i = 2; i < shape.tuple_shapes_size(); ++i) {
    HILO_ASSIGN_OR_RETURN(elements.emplace_back(), AddZeros(computation, shape.tuple_shapes(i)));
  }
  return HloInstruction::Create(HloOpcode::kTuple, shape, elements);
}

// `start` as the op, and the tuple that it yields.
template <HloOpcode kOpcode>
absl::StatusOr<HloInstruction*> ReplaceStart(HloInstruction* start) {
  HloComputation* computation = start->parent();
  HloInstruction* result =
      computation->AddInstruction(Synchronous(*start, kOpcode, start->shape().tuple_shapes(1)), start->name());
  HILO_ASSIGN_OR_RETURN(OwnedInstruction tuple, StartTuple(*start, result));
  return computation->AddInstruction(std::move(tuple));
}
absl::StatusOr<HloInstruction*> ReplaceAllReduceStart(HloInstruction* start) {
  return start->parent()->AddInstruction(Synchronous(*start, HloOpcode::kAllReduce, start->shape()), start->name());
}
absl::StatusOr<HloInstruction*> ReplaceCopyStart(HloInstruction* start) {
  HloComputation* computation = start->parent();
  const Shape& shape = start->shape();
  HloInstruction* copy =
      computation->AddInstruction(Synchronous(*start, HloOpcode::kCopy, shape.tuple_shapes(0)), start->name());
  HILO_ASSIGN_OR_RETURN(HloInstruction * context, AddZeros(computation, shape.tuple_shapes(2)));
  return computation->AddInstruction(
      HloInstruction::Create(HloOpcode::kTuple, shape, {copy, start->operand(0), context}));
}
absl::StatusOr<HloInstruction*> ReplaceByOperand(HloInstruction* instruction) { return instruction->operand(0); }
absl::StatusOr<HloInstruction*> ReplaceTupleCopy(HloInstruction* copy) {
  return copy->shape().IsTuple() ? copy->operand(0) : copy;
}
template <int64_t kIndex>
absl::StatusOr<HloInstruction*> ReplaceByElement(HloInstruction* done) {
  return done->parent()->AddInstruction(GetElement(done->operand(0), kIndex));
}

// Each returns the replacement of an instruction; itself if it stays.
constexpr OpcodeMap<absl::StatusOr<HloInstruction*> (*)(HloInstruction*)> kReplacements = {
    {HloOpcode::kAllGatherDone, ReplaceByElement<1>},
    {HloOpcode::kAllGatherStart, ReplaceStart<HloOpcode::kAllGather>},
    {HloOpcode::kAllReduceDone, ReplaceByOperand},
    {HloOpcode::kAllReduceStart, ReplaceAllReduceStart},
    {HloOpcode::kAsyncDone, ReplaceByElement<1>},
    {HloOpcode::kAsyncStart, ReplaceStart<HloOpcode::kCall>},
    {HloOpcode::kAsyncUpdate, ReplaceByOperand},
    {HloOpcode::kCollectivePermuteDone, ReplaceByElement<1>},
    {HloOpcode::kCollectivePermuteStart, ReplaceStart<HloOpcode::kCollectivePermute>},
    {HloOpcode::kCopy, ReplaceTupleCopy},
    {HloOpcode::kCopyDone, ReplaceByElement<0>},
    {HloOpcode::kCopyStart, ReplaceCopyStart},
    {HloOpcode::kDomain, ReplaceByOperand},
};

class AsyncToSync : public HloPass {
 public:
  absl::string_view name() const override { return "async-to-sync"; }
  bool optional() const override { return false; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    bool changed = false;
    for (HloComputation* computation : module->computations()) {
      // Operands first, so that what dies with an instruction has been passed.
      for (HloInstruction* instruction : computation->MakePostOrder()) {
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        const auto replace = kReplacements[instruction->opcode()];
        if (replace == nullptr) continue;
        HILO_ASSIGN_OR_RETURN(HloInstruction * replacement, replace(instruction));
        if (replacement == instruction) continue;
        HILO_RETURN_IF_ERROR(computation->ReplaceInstruction(instruction, replacement));
        changed = true;
      }
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<HloPass> MakeAsyncToSync() { return std::make_unique<AsyncToSync>(); }

}  // namespace hilo
