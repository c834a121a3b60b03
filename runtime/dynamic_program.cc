#include "runtime/dynamic_program.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "base/status_macros.h"
#include "hlo/analysis/dynamic_dimensions.h"
#include "hlo/passes/dynamic/expand_dynamic.h"

namespace hilo {
namespace {

// The memory of one s32, aligned as buffers are.
struct alignas(64) SizeSlot {
  int32_t value = 0;
};

class DynamicProgram : public CompiledProgram {
 public:
  DynamicProgram(std::unique_ptr<CompiledProgram> program, ProgramShape shape, DynamicInterface interface)
      : program_(std::move(program)), shape_(std::move(shape)), interface_(std::move(interface)) {
    for (const Shape& parameter : shape_.parameters) AddLeaves(parameter, &parameters_);
    AddLeaves(shape_.result, &results_);
  }

  absl::Status Run(const RunContext& context, absl::Span<const void* const> parameters,
                   absl::Span<void* const> outputs) const override {
    absl::InlinedVector<SizeSlot, 4> given(interface_.parameters.size()), returned(interface_.results.size());
    absl::InlinedVector<const void*, 16> inputs(parameters.begin(), parameters.end());
    absl::InlinedVector<void*, 16> results(outputs.begin(), outputs.end());
    for (size_t i = 0; i < given.size(); ++i) {
      const DynamicDimension& dimension = interface_.parameters[i];
      const Shape& shape = parameters_[dimension.leaf];
      std::memcpy(&given[i].value, SizeOf(static_cast<const uint8_t*>(parameters[dimension.leaf]), shape, dimension.dimension), sizeof(int32_t));
      given[i].value = WithinBound(given[i].value, shape, dimension.dimension);
      inputs.push_back(&given[i]);
    }
    for (SizeSlot& slot : returned) results.push_back(&slot);
    HILO_RETURN_IF_ERROR(program_->Run(context, inputs, results));
    for (size_t leaf = 0; leaf < results_.size(); ++leaf) {
      const Shape& shape = results_[leaf];
      for (int64_t d = 0; !shape.is_static() && d < shape.rank(); ++d) {
        StoreSize(static_cast<int32_t>(shape.dimensions(d)), outputs[leaf], shape, d);
      }
    }
    for (size_t i = 0; i < returned.size(); ++i) {
      const auto& [leaf, dimension] = interface_.results[i];
      StoreSize(WithinBound(returned[i].value, results_[leaf], dimension), outputs[leaf], results_[leaf], dimension);
    }
    return absl::OkStatus();
  }

  const ProgramShape& program_shape() const override { return shape_; }
  absl::Span<const std::pair<int64_t, int64_t>> donations() const override { return program_->donations(); }
  int64_t temp_bytes() const override { return program_->temp_bytes(); }
  int64_t code_bytes() const override { return program_->code_bytes(); }
  int64_t estimated_nanoseconds() const override { return program_->estimated_nanoseconds(); }

 private:
  static void AddLeaves(const Shape& shape, std::vector<Shape>* leaves) {
    for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(shape)) leaves->push_back(*leaf.shape);
  }
  template <typename Byte>
  static Byte* SizeOf(Byte* buffer, const Shape& shape, int64_t dimension) {
    return buffer + ShapeUtil::DynamicSizesOffset(shape) + dimension * static_cast<int64_t>(sizeof(int32_t));
  }
  static void StoreSize(int32_t size, void* buffer, const Shape& shape, int64_t dimension) {
    std::memcpy(SizeOf(static_cast<uint8_t*>(buffer), shape, dimension), &size, sizeof(size));
  }
  static int32_t WithinBound(int32_t size, const Shape& shape, int64_t dimension) {
    return static_cast<int32_t>(std::clamp<int64_t>(size, 0, shape.dimensions(dimension)));
  }

  std::unique_ptr<CompiledProgram> program_;
  ProgramShape shape_;
  DynamicInterface interface_;
  std::vector<Shape> parameters_, results_;  // leaves
};

}  // namespace

absl::StatusOr<std::unique_ptr<CompiledProgram>> CompileProgram(Compiler* compiler, std::unique_ptr<HloModule> module,
                                                                const CompileOptions& options, ThreadPool* pool) {
  if (compiler->TakesDynamicShapes() || !HasDynamicShapes(*module)) return compiler->Compile(std::move(module), options, pool);
  ProgramShape shape = module->EntryProgramShape();
  HILO_ASSIGN_OR_RETURN(DynamicInterface interface, ExpandDynamicShapes(module.get()));
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<CompiledProgram> program, compiler->Compile(std::move(module), options, pool));
  return std::make_unique<DynamicProgram>(std::move(program), std::move(shape), std::move(interface));
}

absl::StatusOr<std::unique_ptr<HloModule>> PrepareModule(const Compiler& compiler, std::unique_ptr<HloModule> module) {
  if (!compiler.TakesDynamicShapes() && HasDynamicShapes(*module)) HILO_RETURN_IF_ERROR(ExpandDynamicShapes(module.get()).status());
  return module;
}

}  // namespace hilo
