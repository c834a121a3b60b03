// Reductions of columns whose rows are in parts: a value of each column for each part, in scratch memory, and the
// launch that combines them, in an order that the number of parts alone determines.
#ifndef HILO_BACKENDS_GPU_EMITTERS_ROWS_COLUMN_PARTS_H_
#define HILO_BACKENDS_GPU_EMITTERS_ROWS_COLUMN_PARTS_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/gpu/emitters/kernel_emitter.h"

namespace hilo::gpu {

// The register types of the components of elements of `types`.
std::vector<llvm::Type*> ComponentTypes(llvm::LLVMContext& context, absl::Span<const PrimitiveType> types);

class ColumnParts {
 public:
  using Carried = codegen::Carried;
  // Combines two values of a column, that of earlier rows first.
  using Merge =
      absl::FunctionRef<absl::StatusOr<Carried>(KernelEmitter&, const Carried& earlier, const Carried& later)>;
  // Stores the result of a column, without its initial value.
  using Output = absl::FunctionRef<absl::Status(KernelEmitter&, llvm::Value* column, const Carried& value)>;

  // Allocates scratch memory. A value of a column has an element of each of `types`: a component, or two if it is
  // complex.
  ColumnParts(ProgramEmitter& program, absl::Span<const PrimitiveType> types, int64_t columns, int64_t parts);

  // Arguments of the kernel that stores values: its first extra ones.
  const std::vector<KernelArgument>& memory() const { return memory_; }
  // Stores components from number `first` on of the value of a column.
  void Store(KernelEmitter& k, llvm::Value* column, llvm::Value* part, const Carried& values, size_t first = 0) const;

  // Adds the launch that combines the parts.
  absl::Status EmitCombination(ProgramEmitter& program, const HloInstruction* instruction, Merge merge,
                               Output output) const;

 private:
  llvm::Value* Cell(KernelEmitter& k, llvm::Value* column, llvm::Value* part) const;
  Carried Load(KernelEmitter& k, llvm::Value* column, llvm::Value* part) const;

  const std::vector<PrimitiveType> types_;
  const int64_t columns_, parts_;
  std::vector<KernelArgument> memory_;
};

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_EMITTERS_ROWS_COLUMN_PARTS_H_
