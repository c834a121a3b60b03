#include "runtime/dynamic_program.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "base/status_macros.h"
#include "hlo/analysis/dynamic_dimensions.h"
#include "hlo/passes/dynamic/expand_dynamic.h"
#include "runtime/device_memory.h"

namespace hilo {
namespace {

// The memory of one s32, aligned as buffers are.
struct alignas(64) SizeSlot {
  int32_t value = 0;
};

// The s32 scalars beside the arrays of one run, where the run's memory is.
class SizeSlots {
 public:
  SizeSlots(DeviceMemory* device, size_t count) : device_(device), count_(count), host_(device == nullptr ? count : 0) {}
  SizeSlots(const SizeSlots&) = delete;
  SizeSlots& operator=(const SizeSlots&) = delete;
  ~SizeSlots() {
    if (memory_ != nullptr) device_->Free(memory_, Bytes());
  }

  absl::Status Allocate() {
    if (device_ == nullptr || count_ == 0) return absl::OkStatus();
    HILO_ASSIGN_OR_RETURN(memory_, device_->Allocate(Bytes()));
    return absl::OkStatus();
  }
  void* at(size_t i) { return device_ == nullptr ? static_cast<void*>(&host_[i]) : static_cast<SizeSlot*>(memory_) + i; }

  // Single numbers anywhere in the run's memory.
  absl::StatusOr<int32_t> Load(const void* from) const {
    int32_t size = 0;
    if (device_ != nullptr) {
      HILO_RETURN_IF_ERROR(device_->CopyToHost(&size, from, sizeof(size)));
    } else {
      std::memcpy(&size, from, sizeof(size));
    }
    return size;
  }
  absl::Status Store(int32_t size, void* to) const {
    if (device_ != nullptr) return device_->CopyFromHost(to, &size, sizeof(size));
    std::memcpy(to, &size, sizeof(size));
    return absl::OkStatus();
  }

 private:
  int64_t Bytes() const { return static_cast<int64_t>(count_ * sizeof(SizeSlot)); }

  DeviceMemory* const device_;
  const size_t count_;
  absl::InlinedVector<SizeSlot, 4> host_;
  void* memory_ = nullptr;
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
    SizeSlots given(context.memory, interface_.parameters.size()), returned(context.memory, interface_.results.size());
    HILO_RETURN_IF_ERROR(given.Allocate());
    HILO_RETURN_IF_ERROR(returned.Allocate());
    absl::InlinedVector<const void*, 16> inputs(parameters.begin(), parameters.end());
    absl::InlinedVector<void*, 16> results(outputs.begin(), outputs.end());
    for (size_t i = 0; i < interface_.parameters.size(); ++i) {
      const auto& [leaf, dimension] = interface_.parameters[i];
      const Shape& shape = parameters_[leaf];
      HILO_ASSIGN_OR_RETURN(const int32_t size, given.Load(SizeOf(static_cast<const uint8_t*>(parameters[leaf]), shape, dimension)));
      HILO_RETURN_IF_ERROR(given.Store(WithinBound(size, shape, dimension), given.at(i)));
      inputs.push_back(given.at(i));
    }
    for (size_t i = 0; i < interface_.results.size(); ++i) results.push_back(returned.at(i));
    HILO_RETURN_IF_ERROR(program_->Run(context, inputs, results));
    for (size_t leaf = 0; leaf < results_.size(); ++leaf) {
      const Shape& shape = results_[leaf];
      for (int64_t d = 0; !shape.is_static() && d < shape.rank(); ++d) {
        HILO_RETURN_IF_ERROR(returned.Store(static_cast<int32_t>(shape.dimensions(d)), SizeOf(static_cast<uint8_t*>(outputs[leaf]), shape, d)));
      }
    }
    for (size_t i = 0; i < interface_.results.size(); ++i) {
      const auto& [leaf, dimension] = interface_.results[i];
      HILO_ASSIGN_OR_RETURN(const int32_t size, returned.Load(returned.at(i)));
      const Shape& shape = results_[leaf];
      HILO_RETURN_IF_ERROR(returned.Store(WithinBound(size, shape, dimension), SizeOf(static_cast<uint8_t*>(outputs[leaf]), shape, dimension)));
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
