// Custom calls that the device performs itself.
#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/match/cuda_calls.h"
#include "backends/gpu/thunks/library_thunks.h"
#include "backends/gpu/thunks/stream_call.h"
#include "hilo/status_macros.h"
#include "hlo/ops/structure/custom_call.h"
#include "runtime/ffi/attribute_dictionary.h"

namespace hilo::gpu {
namespace {

// Converts numbers and letters alike; no routine here has other attributes.
std::vector<std::pair<std::string, int64_t>> NumbersOf(const std::vector<ffi::NamedAttribute>& attributes) {
  std::vector<std::pair<std::string, int64_t>> numbers;
  for (const auto& [name, value] : attributes) {
    if (value.kind == ffi::Attribute::Kind::kScalar && value.bytes.size() == 1)
      numbers.emplace_back(name, value.bytes[0]);
  }
  return numbers;
}

absl::StatusOr<bool> EmitSolverCall(ProgramEmitter& program, const HloInstruction* instruction,
                                    const std::string& routine) {
  Libraries* const libraries = program.emission().libraries;
  if (libraries == nullptr) return false;
  const CustomCallAttrs& attrs = instruction->attrs<CustomCallAttrs>();
  std::vector<const Shape*> operand_shapes;
  for (const HloInstruction* operand : instruction->operands()) operand_shapes.push_back(&operand->shape());
  // The arrays as the function sees them, column-major.
  const CallSignature signature = SignatureOf(attrs, operand_shapes, instruction->shape());
  SolverCall call{.routine = routine};
  const auto array_of = [](const Shape& shape) {
    return SolverArray{.type = shape.element_type(),
                       .dimensions = {shape.dimensions().begin(), shape.dimensions().end()}};
  };
  for (const Shape& shape : signature.operands) {
    if (!shape.IsArray() || ShapeUtil::IsZeroElementArray(shape)) return false;
    call.operands.push_back(array_of(shape));
  }
  for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(signature.result)) {
    if (!leaf.shape->IsArray() || ShapeUtil::IsZeroElementArray(*leaf.shape)) return false;
    call.results.push_back(array_of(*leaf.shape));
  }
  if (call.operands.empty() || call.operands[0].dimensions.size() < 2) return false;
  const std::vector<int64_t>& sizes = call.operands[0].dimensions;
  const int64_t rows = sizes[sizes.size() - 2], columns = sizes.back();
  if (routine == "gesvd" && rows < columns) return false;  // cuSOLVER supports none of these
  if (!libraries->SelectSolver(routine, call.type(), std::max(rows, columns),
                               ShapeUtil::ElementsIn(signature.operands[0]) / (rows * columns)))
    return false;
  HILO_ASSIGN_OR_RETURN(const std::vector<ffi::NamedAttribute> attributes,
                        ffi::ParseAttributeDictionary(attrs.backend_config.text));
  call.attributes = NumbersOf(attributes);
  std::vector<KernelArgument> operands, results;
  for (const HloInstruction* operand : instruction->operands()) {
    HILO_ASSIGN_OR_RETURN(const BufferSlice slice, program.SliceOf(operand));
    operands.push_back(KernelArgument::Slice(slice, false));
  }
  for (size_t i = 0; i < call.results.size(); ++i) {
    results.push_back(KernelArgument::Slice(program.assignment().slice(instruction, static_cast<int64_t>(i)), true));
  }
  program.Add(
      std::make_unique<SolverThunk>(instruction->name(), std::move(call), std::move(operands), std::move(results)));
  return true;
}

// Converts sequential row exchanges to a permutation: one thread per list.
absl::StatusOr<bool> EmitPermutation(ProgramEmitter& program, const HloInstruction* instruction) {
  const Shape& result = instruction->shape();
  if (instruction->operand_count() != 1 || !result.IsArray() || result.element_type() != S32 || result.rank() == 0)
    return false;
  const Shape& pivots = instruction->operand(0)->shape();
  if (!pivots.IsArray() || pivots.element_type() != S32 || pivots.rank() != result.rank() ||
      ShapeUtil::IsZeroElementArray(result))
    return false;
  const int64_t size = result.dimensions().back(), count = pivots.dimensions().back(),
                lists = ShapeUtil::ElementsIn(result) / size;
  if (count > size || ShapeUtil::ElementsIn(pivots) != lists * count) return false;
  HILO_ASSIGN_OR_RETURN(const BufferSlice from, program.SliceOf(instruction->operand(0)));
  const std::vector<KernelArgument> arguments = {KernelArgument::Slice(from, false),
                                                 KernelArgument::Slice(program.assignment().slice(instruction), true)};
  HILO_RETURN_IF_ERROR(
      EmitThreads(program, instruction, lists, arguments, [&](KernelEmitter& k, llvm::Value* list) -> absl::Status {
        llvm::IRBuilder<>& b = k.b();
        auto integer = [&](int64_t value) { return b.getInt64(static_cast<uint64_t>(value)); };
        llvm::Type* const type = b.getInt32Ty();
        llvm::Value* first = b.CreateMul(list, integer(size), "", true, true);
        auto place = [&](llvm::Value* i) {
          return b.CreateInBoundsGEP(type, k.extra(1), b.CreateAdd(first, i, "", true, true));
        };
        HILO_RETURN_IF_ERROR(k.ForEach("places", integer(0), integer(size), 1, [&](llvm::Value* i) {
          b.CreateStore(b.CreateTrunc(i, type), place(i));
          return absl::OkStatus();
        }));
        return k.ForEach("exchanges", integer(0), integer(count), 1, [&](llvm::Value* i) {
          llvm::Value* pivot = b.CreateLoad(
              type, b.CreateInBoundsGEP(type, k.extra(0), b.CreateAdd(b.CreateMul(list, integer(count)), i)));
          llvm::Value* other = b.CreateZExt(pivot, b.getInt64Ty());
          return k.If("inside", b.CreateICmpULT(other, integer(size)), [&] {
            llvm::Value *mine = place(i), *its = place(other);
            llvm::Value *x = b.CreateLoad(type, mine), *y = b.CreateLoad(type, its);
            b.CreateStore(y, mine);
            b.CreateStore(x, its);
            return absl::OkStatus();
          });
        });
      }));
  return true;
}

}  // namespace

absl::StatusOr<bool> EmitDeviceCall(ProgramEmitter& program, const HloInstruction* instruction) {
  const std::string& target = instruction->attrs<CustomCallAttrs>().custom_call_target;
  if (target == "cu_lu_pivots_to_permutation") return EmitPermutation(program, instruction);
  const std::string routine = SolverRoutineOf(target);
  return routine.empty() ? EmitStreamCall(program, instruction) : EmitSolverCall(program, instruction, routine);
}

}  // namespace hilo::gpu
