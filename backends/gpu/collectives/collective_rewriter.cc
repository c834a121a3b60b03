#include <algorithm>
#include <numeric>

#include "backends/gpu/collectives/collective_passes.h"
#include "backends/gpu/collectives/collective_plan.h"
#include "backends/gpu/collectives/reduction_kind.h"
#include "hilo/status_macros.h"
#include "hilo/xla_builder.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ops/collective/collective_attributes.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/passes/make_instruction.h"

namespace hilo::gpu {
namespace {

// Returns the number of elements of the dimensions before `d`.
int64_t Before(const Shape& shape, int64_t d) {
  int64_t count = 1;
  for (int64_t i = 0; i < d; ++i) count *= shape.dimensions(i);
  return count;
}

Shape WithDimensions(const Shape& like, std::vector<int64_t> dimensions) {
  return ShapeUtil::MakeShape(like.element_type(), dimensions);
}
std::vector<int64_t> Dimensions(const Shape& shape) { return {shape.dimensions().begin(), shape.dimensions().end()}; }

absl::StatusOr<HloInstruction*> Reshape(HloInstruction* x, std::vector<int64_t> dimensions) {
  const Shape shape = WithDimensions(x->shape(), std::move(dimensions));
  return x->parent()->AddOp(HloOpcode::kReshape, {x}, nullptr, {}, &shape);
}

// Moves dimension `from` to index `to`.
absl::StatusOr<HloInstruction*> Move(HloInstruction* x, int64_t from, int64_t to) {
  auto attributes = std::make_unique<TransposeAttrs>();
  attributes->dimensions.resize(x->shape().rank());
  std::iota(attributes->dimensions.begin(), attributes->dimensions.end(), 0);
  attributes->dimensions.erase(attributes->dimensions.begin() + from);
  attributes->dimensions.insert(attributes->dimensions.begin() + to, from);
  return x->parent()->AddOp(HloOpcode::kTranspose, {x}, std::move(attributes));
}

// [.., n * k, ..] becomes [n, .., k, ..].
absl::StatusOr<HloInstruction*> PiecesFirst(HloInstruction* x, int64_t d, int64_t n) {
  std::vector<int64_t> dimensions = Dimensions(x->shape());
  dimensions[d] /= n;
  dimensions.insert(dimensions.begin() + d, n);
  HILO_ASSIGN_OR_RETURN(HloInstruction * pieces, Reshape(x, std::move(dimensions)));
  return Move(pieces, d, 0);
}

// [n, .., k, ..] becomes [.., n * k, ..].
absl::StatusOr<HloInstruction*> PiecesAlong(HloInstruction* x, int64_t d) {
  HILO_ASSIGN_OR_RETURN(HloInstruction * moved, Move(x, 0, d));
  std::vector<int64_t> dimensions = Dimensions(moved->shape());
  dimensions[d + 1] *= dimensions[d];
  dimensions.erase(dimensions.begin() + d);
  return Reshape(moved, std::move(dimensions));
}

class CollectiveRewriter : public HloPass {
 public:
  absl::string_view name() const override { return "collectives"; }
  bool optional() const override { return false; }

  absl::StatusOr<bool> Run(HloModule* module, const PassContext& context) override {
    bool changed = false;
    for (HloComputation* computation : module->computations()) {
      for (HloInstruction* instruction : computation->MakePostOrder()) {
        HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
        HILO_ASSIGN_OR_RETURN(HloInstruction * replacement, Replacement(instruction));
        if (replacement == instruction) continue;
        HILO_RETURN_IF_ERROR(computation->ReplaceInstruction(instruction, replacement));
        changed = true;
      }
    }
    return changed;
  }

 private:
  static absl::StatusOr<HloInstruction*> Replacement(HloInstruction* instruction) {
    const HloOpcode opcode = instruction->opcode();
    if (opcode == HloOpcode::kAllGather) return AllGather(instruction);
    if (opcode == HloOpcode::kAllToAll) return AllToAll(instruction);
    if (opcode != HloOpcode::kAllReduce && opcode != HloOpcode::kReduceScatter) return instruction;
    HILO_ASSIGN_OR_RETURN(HloInstruction * wide, Widened(instruction));
    return wide != instruction || opcode == HloOpcode::kAllReduce ? wide : ReduceScatter(instruction);
  }

  static const Shape& ResultShape(const HloInstruction* instruction, int64_t i) {
    return instruction->shape().IsTuple() ? instruction->shape().tuple_shapes(i) : instruction->shape();
  }

  // Clones the collective with other operands, and results of `shapes`.
  static absl::StatusOr<HloInstruction*> Again(HloInstruction* instruction,
                                               const std::vector<HloInstruction*>& operands, std::vector<Shape> shapes,
                                               std::unique_ptr<OpAttributes> attributes,
                                               absl::Span<HloComputation* const> called) {
    const Shape shape = instruction->shape().IsTuple() ? ShapeUtil::MakeTupleShape(shapes) : shapes[0];
    HILO_ASSIGN_OR_RETURN(HloInstruction * again, instruction->parent()->AddOp(instruction->opcode(), operands,
                                                                               std::move(attributes), called, &shape));
    again->CopyOriginFrom(*instruction);
    return again;
  }

  // Converts each result i of `collective` by `finish` to a replacement of result i of `instruction`.
  template <typename Finish>
  static absl::StatusOr<HloInstruction*> Results(const HloInstruction* instruction, HloInstruction* collective,
                                                 Finish finish) {
    if (!instruction->shape().IsTuple()) return finish(collective, 0);
    std::vector<HloInstruction*> results;
    for (int64_t i = 0; i < instruction->shape().tuple_shapes_size(); ++i) {
      HILO_ASSIGN_OR_RETURN(HloInstruction * element, MakeTupleElement(collective, i));
      HILO_ASSIGN_OR_RETURN(results.emplace_back(), finish(element, i));
    }
    return collective->parent()->AddOp(HloOpcode::kTuple, results);
  }

  static absl::StatusOr<HloInstruction*> AllGather(HloInstruction* instruction) {
    const int64_t d = instruction->attrs<AllGatherAttrs>().dimensions[0];
    bool is_major = true;
    for (int64_t i = 0; i < instruction->operand_count(); ++i) {
      const Shape& operand = instruction->operand(i)->shape();
      if (ShapeUtil::ElementsIn(operand) == 0 || ResultShape(instruction, i).dimensions(d) % operand.dimensions(d) != 0)
        return instruction;
      is_major &= Before(operand, d) == 1;
    }
    if (is_major) return instruction;
    std::vector<HloInstruction*> operands;
    std::vector<Shape> shapes;
    for (int64_t i = 0; i < instruction->operand_count(); ++i) {
      std::vector<int64_t> dimensions = Dimensions(instruction->operand(i)->shape());
      const int64_t n = ResultShape(instruction, i).dimensions(d) / dimensions[d];
      dimensions.insert(dimensions.begin(), 1);
      HILO_ASSIGN_OR_RETURN(operands.emplace_back(), Reshape(instruction->operand(i), dimensions));
      dimensions[0] = n;
      shapes.push_back(WithDimensions(instruction->operand(i)->shape(), std::move(dimensions)));
    }
    auto attributes = std::make_unique<AllGatherAttrs>(instruction->attrs<AllGatherAttrs>());
    attributes->dimensions = {0};
    HILO_ASSIGN_OR_RETURN(HloInstruction * gathered,
                          Again(instruction, operands, std::move(shapes), std::move(attributes), {}));
    return Results(instruction, gathered, [&](HloInstruction* result, int64_t) { return PiecesAlong(result, d); });
  }

  static absl::StatusOr<HloInstruction*> ReduceScatter(HloInstruction* instruction) {
    const int64_t d = instruction->attrs<ReduceScatterAttrs>().dimensions[0];
    bool is_major = true;
    for (int64_t i = 0; i < instruction->operand_count(); ++i) {
      const Shape &operand = instruction->operand(i)->shape(), &result = ResultShape(instruction, i);
      if (ShapeUtil::ElementsIn(result) == 0 || operand.dimensions(d) % result.dimensions(d) != 0) return instruction;
      is_major &= Before(operand, d) == 1;
    }
    if (is_major) return instruction;
    std::vector<HloInstruction*> operands;
    std::vector<Shape> shapes;
    for (int64_t i = 0; i < instruction->operand_count(); ++i) {
      HloInstruction* operand = instruction->operand(i);
      HILO_ASSIGN_OR_RETURN(
          operands.emplace_back(),
          PiecesFirst(operand, d, operand->shape().dimensions(d) / ResultShape(instruction, i).dimensions(d)));
      std::vector<int64_t> dimensions = Dimensions(operands.back()->shape());
      dimensions[0] = 1;
      shapes.push_back(WithDimensions(operand->shape(), std::move(dimensions)));
    }
    auto attributes = std::make_unique<ReduceScatterAttrs>(instruction->attrs<ReduceScatterAttrs>());
    attributes->dimensions = {0};
    HILO_ASSIGN_OR_RETURN(HloInstruction * scattered, Again(instruction, operands, std::move(shapes),
                                                            std::move(attributes), instruction->called_computations()));
    return Results(instruction, scattered, [&](HloInstruction* result, int64_t i) {
      return Reshape(result, Dimensions(ResultShape(instruction, i)));
    });
  }

  static absl::StatusOr<HloInstruction*> AllToAll(HloInstruction* instruction) {
    const auto& attributes = instruction->attrs<AllToAllAttrs>();
    if (attributes.dimensions.empty()) return instruction;
    const int64_t d = attributes.dimensions[0];
    const Shape& shape = instruction->shape();
    HILO_ASSIGN_OR_RETURN(const CollectiveSpec spec, CollectiveSpecOf(*instruction));
    const int64_t n =
        LargestGroup(spec, instruction->module()->replica_count(), instruction->module()->num_partitions());
    if (Before(shape, d) == 1 || ShapeUtil::ElementsIn(shape) == 0 || n == 0 || shape.dimensions(d) % n != 0)
      return instruction;
    HILO_ASSIGN_OR_RETURN(HloInstruction * pieces, PiecesFirst(instruction->operand(0), d, n));
    auto major = std::make_unique<AllToAllAttrs>(attributes);
    major->dimensions = {0};
    HILO_ASSIGN_OR_RETURN(HloInstruction * exchanged,
                          Again(instruction, {pieces}, {pieces->shape()}, std::move(major), {}));
    return PiecesAlong(exchanged, d);
  }

  static PrimitiveType WiderType(PrimitiveType type) {
    switch (type) {
      case S2:
      case S4:
      case S16: return S32;
      case U2:
      case U4:
      case U16: return U32;
      default: return type;
    }
  }

  // Sums and products of integers are correct modulo any smaller power of two, so they are truncated at the end.
  static absl::StatusOr<HloInstruction*> Widened(HloInstruction* instruction) {
    const PrimitiveType type = instruction->operand(0)->shape().element_type(), wider = WiderType(type);
    const std::optional<HloOpcode> opcode = ReductionOp(*instruction->called_computation());
    if (wider == type || !opcode.has_value() || !DeviceReductionOf(*opcode).has_value()) return instruction;
    HloModule* module = instruction->module();
    XlaBuilder builder("wider");
    const Shape scalar = ShapeUtil::MakeScalarShape(wider);
    const XlaOp x = Parameter(&builder, 0, scalar, "x"), y = Parameter(&builder, 1, scalar, "y");
    const XlaOp result = *opcode == HloOpcode::kAdd        ? Add(x, y)
                         : *opcode == HloOpcode::kMultiply ? Mul(x, y)
                         : *opcode == HloOpcode::kMaximum  ? Max(x, y)
                                                           : Min(x, y);
    HILO_ASSIGN_OR_RETURN(const XlaComputation computation, builder.Build(result));
    HloComputation* called = module->CloneComputation(*computation.module()->entry_computation(), "wider");
    auto convert = [](HloInstruction* operand, PrimitiveType to) {
      const Shape shape = ShapeUtil::ChangeElementType(operand->shape(), to);
      return operand->parent()->AddOp(HloOpcode::kConvert, {operand}, nullptr, {}, &shape);
    };
    std::vector<HloInstruction*> operands;
    std::vector<Shape> shapes;
    for (int64_t i = 0; i < instruction->operand_count(); ++i) {
      HILO_ASSIGN_OR_RETURN(operands.emplace_back(), convert(instruction->operand(i), wider));
      shapes.push_back(ShapeUtil::ChangeElementType(ResultShape(instruction, i), wider));
    }
    HILO_ASSIGN_OR_RETURN(HloInstruction * wide, Again(instruction, operands, std::move(shapes),
                                                       instruction->attributes()->Clone(), {called}));
    return Results(instruction, wide, [&](HloInstruction* narrow, int64_t) { return convert(narrow, type); });
  }
};

}  // namespace

std::unique_ptr<HloPass> MakeCollectiveRewriter() { return std::make_unique<CollectiveRewriter>(); }

}  // namespace hilo::gpu
