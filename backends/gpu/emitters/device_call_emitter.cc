// Custom calls that the device performs itself.
#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/emitters/nest_emitter.h"
#include "backends/gpu/match/library_match.h"
#include "backends/gpu/thunks/library_thunks.h"
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

}  // namespace

absl::Status EmitLibrarySolver(ProgramEmitter& program, const HloInstruction* instruction) {
  std::optional<SolverMatch> match = SolverCallOf(*instruction);
  HILO_RET_CHECK(match.has_value());
  HILO_ASSIGN_OR_RETURN(const std::vector<ffi::NamedAttribute> attributes,
                        ffi::ParseAttributeDictionary(instruction->attrs<CustomCallAttrs>().backend_config.text));
  match->call.attributes = NumbersOf(attributes);
  std::vector<KernelArgument> operands, results;
  for (const HloInstruction* operand : instruction->operands()) {
    HILO_ASSIGN_OR_RETURN(const BufferSlice slice, program.SliceOf(operand));
    operands.push_back(KernelArgument::Slice(slice, false));
  }
  for (size_t i = 0; i < match->call.results.size(); ++i) {
    results.push_back(KernelArgument::Slice(program.assignment().slice(instruction, static_cast<int64_t>(i)), true));
  }
  program.Add(std::make_unique<SolverThunk>(instruction->name(), std::move(match->call), std::move(operands),
                                            std::move(results)));
  return absl::OkStatus();
}

// Converts sequential row exchanges to a permutation: one thread per list.
absl::Status EmitPivotsToPermutation(ProgramEmitter& program, const HloInstruction* instruction) {
  const Shape& result = instruction->shape();
  const int64_t size = result.dimensions().back(), count = instruction->operand(0)->shape().dimensions().back(),
                lists = ShapeUtil::ElementsIn(result) / size;
  HILO_ASSIGN_OR_RETURN(const BufferSlice from, program.SliceOf(instruction->operand(0)));
  KernelEmitter k(
      &program, nullptr,
      {KernelArgument::Slice(from, false), KernelArgument::Slice(program.assignment().slice(instruction), true)});
  llvm::IRBuilder<>& b = k.b();
  return EmitThreads(k, instruction, lists, BlockFor(lists), [&](llvm::Value* list) -> absl::Status {
    auto integer = [&](int64_t value) { return b.getInt64(static_cast<uint64_t>(value)); };
    llvm::Type* const type = b.getInt32Ty();
    llvm::Value* first = b.CreateMul(list, integer(size), "", true, true);
    auto slot = [&](llvm::Value* i) {
      return b.CreateInBoundsGEP(type, k.extra(1), b.CreateAdd(first, i, "", true, true));
    };
    HILO_RETURN_IF_ERROR(k.ForEach("places", integer(0), integer(size), 1, [&](llvm::Value* i) {
      b.CreateStore(b.CreateTrunc(i, type), slot(i));
      return absl::OkStatus();
    }));
    return k.ForEach("exchanges", integer(0), integer(count), 1, [&](llvm::Value* i) {
      llvm::Value* pivot =
          b.CreateLoad(type, b.CreateInBoundsGEP(type, k.extra(0), b.CreateAdd(b.CreateMul(list, integer(count)), i)));
      llvm::Value* other = b.CreateZExt(pivot, b.getInt64Ty());
      return k.If("inside", b.CreateICmpULT(other, integer(size)), [&] {
        llvm::Value *mine = slot(i), *its = slot(other);
        llvm::Value *x = b.CreateLoad(type, mine), *y = b.CreateLoad(type, its);
        b.CreateStore(y, mine);
        b.CreateStore(x, its);
        return absl::OkStatus();
      });
    });
  });
}

}  // namespace hilo::gpu
