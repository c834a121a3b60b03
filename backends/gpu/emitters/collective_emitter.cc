#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/gpu/collectives/collective_plan.h"
#include "backends/gpu/collectives/reduction_kind.h"
#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/thunks/collective_thunk.h"
#include "backends/llvm/elements/predication.h"
#include "backends/llvm/elements/scalar_computation.h"
#include "base/errors.h"
#include "collectives/collective_op.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/ir/hlo_verifier.h"
#include "hlo/ops/collective/collective_attributes.h"
#include "hlo/ops/table/opcode_map.h"

namespace hilo::gpu {
namespace {

using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

constexpr OpcodeMap<CollectiveKind> kKinds = {
    {HloOpcode::kAllGather, CollectiveKind::kAllGather},
    {HloOpcode::kAllReduce, CollectiveKind::kAllReduce},
    {HloOpcode::kAllToAll, CollectiveKind::kAllToAll},
    {HloOpcode::kCollectiveBroadcast, CollectiveKind::kBroadcast},
    {HloOpcode::kCollectivePermute, CollectiveKind::kPermute},
    {HloOpcode::kRaggedAllToAll, CollectiveKind::kRagged},
    {HloOpcode::kReduceScatter, CollectiveKind::kReduceScatter},
};

// The library's reduction for elements of `type`: its type, and how many of them an element is. Null if there is none.
struct LibraryReduction {
  DeviceReduction reduction;
  PrimitiveType type;
  int64_t count = 1;
};
std::optional<LibraryReduction> InLibrary(const HloComputation& computation, PrimitiveType type) {
  const std::optional<HloOpcode> opcode = ReductionOp(computation);
  if (!opcode.has_value()) return std::nullopt;
  if (type == PRED) {  // bytes of 0 and 1
    if (*opcode == HloOpcode::kAnd || *opcode == HloOpcode::kMultiply || *opcode == HloOpcode::kMinimum)
      return LibraryReduction{DeviceReduction::kMin, U8};
    if (*opcode == HloOpcode::kOr || *opcode == HloOpcode::kAdd || *opcode == HloOpcode::kMaximum)
      return LibraryReduction{DeviceReduction::kMax, U8};
    return std::nullopt;
  }
  if (IsComplexType(type)) {
    if (*opcode != HloOpcode::kAdd) return std::nullopt;
    return LibraryReduction{DeviceReduction::kSum, ComplexComponentType(type), 2};
  }
  const std::optional<DeviceReduction> reduction = DeviceReductionOf(*opcode);
  if (!reduction.has_value() || !IsCommunicable(type)) return std::nullopt;
  return LibraryReduction{*reduction, type};
}

class CollectiveEmitter {
 public:
  CollectiveEmitter(ProgramEmitter& program, const HloInstruction* instruction)
      : program_(program), instruction_(*instruction) {}

  absl::Status Emit() {
    HILO_RETURN_IF_ERROR(CollectiveOp::Create(instruction_).status());  // validates the instruction
    HILO_ASSIGN_OR_RETURN(CollectiveSpec spec, CollectiveSpecOf(instruction_));
    // Where a rank may not get to a permute, only those that exchange data wait for each other. Elsewhere permutes are
    // of all ranks, which need fewer communicators that way.
    if (spec.form == CollectiveSpec::Form::kPairs && !program_.is_for_all_ranks()) {
      const HloModule& module = *instruction_.module();
      const DevicePosition positions{.replica_count = module.replica_count(),
                                     .partition_count = module.num_partitions()};
      spec.groups =
          GroupsOf(instruction_.attrs<CollectivePermuteAttrs>().source_target_pairs, IdCount(spec.mode, positions));
    }
    largest_ = LargestGroup(spec, instruction_.module()->replica_count(), instruction_.module()->num_partitions());
    p_.kind = kKinds[instruction_.opcode()];
    p_.name = spec.name;
    p_.context = InstructionContext(instruction_);
    const int64_t leaves = LeafCount(instruction_.shape());
    for (int64_t i = 0; i < leaves; ++i) HILO_RETURN_IF_ERROR(AddArray(i));
    if (p_.kind == CollectiveKind::kAllToAll)
      p_.along_dimension = !instruction_.attrs<AllToAllAttrs>().dimensions.empty();
    if (p_.kind == CollectiveKind::kAllReduce || p_.kind == CollectiveKind::kReduceScatter)
      HILO_RETURN_IF_ERROR(ChooseReduction());
    if (p_.kind == CollectiveKind::kRagged) HILO_RETURN_IF_ERROR(DescribeRagged());
    p_.spec = program_.AddCollective(std::move(spec));
    program_.Add(std::make_unique<CollectiveThunk>(std::move(p_)));
    return absl::OkStatus();
  }

 private:
  absl::Status AddArray(int64_t i) {
    const HloInstruction* operand = instruction_.operand(i);
    CollectiveArray& array = p_.arrays.emplace_back();
    HILO_ASSIGN_OR_RETURN(array.operand, program_.SliceOf(operand));
    array.result = program_.assignment().slice(&instruction_, i);
    const bool gets = p_.kind == CollectiveKind::kReduceScatter;
    array.bytes = gets ? array.result.size : array.operand.size;
    if (array.operand.kind == StorageKind::kNone || array.result.kind == StorageKind::kNone) array.bytes = 0;
    array.element_bytes = PrimitiveTypeByteSize(operand->shape().element_type());
    return absl::OkStatus();
  }

  absl::Status ChooseReduction() {
    const HloComputation& computation = *instruction_.called_computation();
    bool in_library = true;
    for (size_t i = 0; i < p_.arrays.size(); ++i) {
      const std::optional<LibraryReduction> how =
          InLibrary(computation, instruction_.operand(static_cast<int64_t>(i))->shape().element_type());
      if (!how.has_value()) {
        in_library = false;
        break;
      }
      p_.arrays[i].reduction = how->reduction;
      p_.arrays[i].type = how->type;
      p_.arrays[i].count = p_.arrays[i].bytes / p_.arrays[i].element_bytes * how->count;
    }
    if (in_library) return absl::OkStatus();
    for (size_t i = 0; i < p_.arrays.size(); ++i) {
      CollectiveArray& array = p_.arrays[i];
      int64_t bytes;
      if (__builtin_mul_overflow(array.bytes, largest_, &bytes))
        return ResourceExhausted("what ", largest_, " ranks bring does not fit into memory");
      array.pieces = KernelArgument::Scratch(program_.AllocateScratch(bytes), bytes, true);
      HILO_ASSIGN_OR_RETURN(p_.kernels.emplace_back(),
                            EmitCombine(instruction_.operand(static_cast<int64_t>(i))->shape().element_type(), array));
    }
    return absl::OkStatus();
  }

  // result[i] = pieces[0][i] combined with pieces[1][i], pieces[2][i] ... in this order.
  absl::StatusOr<ReductionKernel> EmitCombine(PrimitiveType type, const CollectiveArray& array) {
    KernelArgument pieces = array.pieces;
    pieces.written = false;
    KernelArgument result = KernelArgument::Slice(array.result, true);
    const int64_t count = std::max<int64_t>(array.bytes / array.element_bytes, 1);
    KernelEmitter k(&program_, nullptr, {pieces, result, KernelArgument::Integer(0), KernelArgument::Integer(0)});
    llvm::IRBuilder<>& b = k.b();
    auto load = [&](llvm::Value* at) {
      const int64_t all = count * largest_;
      return codegen::IrArray{
          .pointer = k.extra(0), .shape = ShapeUtil::MakeShape(type, {all}), .alignment = array.element_bytes}
          .Load(k.context(), Index({LaneIndex::Uniform(at, 1, all)}));
    };
    llvm::Value *i = k.GlobalThread(kCombineBlock), *elements = k.extra(2), *ranks = k.extra(3);
    HILO_RETURN_IF_ERROR(k.If("in_range", b.CreateICmpULT(i, elements), [&]() -> absl::Status {
      const ElementValue first = load(i);
      auto body = [&](llvm::Value* rank, const codegen::Carried& carried) -> absl::StatusOr<codegen::Carried> {
        const ElementValue next = load(b.CreateAdd(b.CreateMul(rank, elements), i));
        const ElementValue sum{carried[0], carried.size() > 1 ? carried[1] : nullptr};
        HILO_ASSIGN_OR_RETURN(const std::vector<ElementValue> combined,
                              codegen::EmitComputation(k.context(), *instruction_.called_computation(), {sum, next}));
        codegen::Carried result{combined[0].re};
        if (carried.size() > 1) result.push_back(combined[0].im);
        return result;
      };
      codegen::Carried initial{first.re};
      if (first.im != nullptr) initial.push_back(first.im);
      HILO_ASSIGN_OR_RETURN(const codegen::Carried sum,
                            codegen::EmitLoop(k.context(), "ranks", b.getInt64(1), ranks, 1, initial, body));
      codegen::IrArray{
          .pointer = k.extra(1), .shape = ShapeUtil::MakeShape(type, {count}), .alignment = array.element_bytes}
          .Store(k.context(), Index({LaneIndex::Uniform(i, 1, count)}), {sum[0], sum.size() > 1 ? sum[1] : nullptr});
      return absl::OkStatus();
    }));
    HILO_ASSIGN_OR_RETURN(const int64_t number, k.Finish(kCombineBlock));
    return ReductionKernel{number, program_.kernel_name(number)};
  }

  absl::Status DescribeRagged() {
    HILO_ASSIGN_OR_RETURN(p_.initial, program_.SliceOf(instruction_.operand(1)));
    HILO_ASSIGN_OR_RETURN(p_.input_offsets, program_.SliceOf(instruction_.operand(2)));
    HILO_ASSIGN_OR_RETURN(p_.send_sizes, program_.SliceOf(instruction_.operand(3)));
    HILO_ASSIGN_OR_RETURN(p_.output_offsets, program_.SliceOf(instruction_.operand(4)));
    const Shape& offsets = instruction_.operand(2)->shape();
    p_.updates = offsets.dimensions(0);
    p_.index_bytes = PrimitiveTypeByteSize(offsets.element_type());
    const Shape& result = instruction_.shape();
    p_.row_bytes = PrimitiveTypeByteSize(result.element_type());
    for (int64_t d = 1; d < result.rank(); ++d) p_.row_bytes *= result.dimensions(d);
    const int64_t bytes = 2 * p_.updates * p_.index_bytes;
    p_.exchanged = KernelArgument::Scratch(program_.AllocateScratch(bytes), bytes, true);
    return absl::OkStatus();
  }

  ProgramEmitter& program_;
  const HloInstruction& instruction_;
  int64_t largest_ = 1;
  CollectiveProgram p_;
};

}  // namespace

absl::Status EmitCollective(ProgramEmitter& program, const HloInstruction* instruction) {
  return CollectiveEmitter(program, instruction).Emit();
}

}  // namespace hilo::gpu
