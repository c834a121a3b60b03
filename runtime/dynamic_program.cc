#include "runtime/dynamic_program.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "base/byte_stream.h"
#include "base/errors.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/dynamic_dimensions.h"
#include "hlo/passes/dynamic/expand_dynamic.h"
#include "hlo/passes/standard_pipeline.h"
#include "runtime/artifact.h"
#include "runtime/device_memory.h"
#include "runtime/shape_bytes.h"

namespace hilo {
namespace {

constexpr char kSection[] = "dynamic";

// The memory of one s32, aligned as buffers are.
struct alignas(64) SizeSlot {
  int32_t value = 0;
};

// The s32 scalars next to the arrays of one run, in the memory space of the run.
class SizeSlots {
 public:
  SizeSlots(DeviceMemory* device, size_t count)
      : device_(device), count_(count), host_(device == nullptr ? count : 0) {}
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
  void* at(size_t i) {
    return device_ == nullptr ? static_cast<void*>(&host_[i]) : static_cast<SizeSlot*>(memory_) + i;
  }

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
      HILO_ASSIGN_OR_RETURN(const int32_t size,
                            given.Load(SizeOf(static_cast<const uint8_t*>(parameters[leaf]), shape, dimension)));
      HILO_RETURN_IF_ERROR(given.Store(WithinBound(size, shape, dimension), given.at(i)));
      inputs.push_back(given.at(i));
    }
    for (size_t i = 0; i < interface_.results.size(); ++i) results.push_back(returned.at(i));
    HILO_RETURN_IF_ERROR(program_->Run(context, inputs, results));
    for (size_t leaf = 0; leaf < results_.size(); ++leaf) {
      const Shape& shape = results_[leaf];
      for (int64_t d = 0; !shape.is_static() && d < shape.rank(); ++d) {
        HILO_RETURN_IF_ERROR(returned.Store(static_cast<int32_t>(shape.dimensions(d)),
                                            SizeOf(static_cast<uint8_t*>(outputs[leaf]), shape, d)));
      }
    }
    for (size_t i = 0; i < interface_.results.size(); ++i) {
      const auto& [leaf, dimension] = interface_.results[i];
      HILO_ASSIGN_OR_RETURN(const int32_t size, returned.Load(returned.at(i)));
      const Shape& shape = results_[leaf];
      HILO_RETURN_IF_ERROR(returned.Store(WithinBound(size, shape, dimension),
                                          SizeOf(static_cast<uint8_t*>(outputs[leaf]), shape, dimension)));
    }
    return absl::OkStatus();
  }

  absl::Status Serialize(Artifact* artifact) const override {
    ByteWriter out;
    WriteProgramShape(shape_, &out);
    for (const std::vector<DynamicDimension>* list : {&interface_.parameters, &interface_.results}) {
      out.U64(list->size());
      for (const DynamicDimension& one : *list) {
        out.I64(one.leaf);
        out.I64(one.dimension);
      }
    }
    artifact->sections.push_back({kSection, out.Take()});
    return program_->Serialize(artifact);
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

std::vector<DynamicDimension> ReadDimensions(absl::Span<const ShapeUtil::Leaf> leaves, ByteReader* in) {
  std::vector<DynamicDimension> list;
  for (uint64_t count = in->Count(16); count > 0 && in->ok(); --count) {
    const int64_t leaf = in->I64();
    if (leaf < 0 || leaf >= static_cast<int64_t>(leaves.size()))
      in->Fail(absl::StrCat("one of ", leaves.size(), " leaves"));
    const int64_t dimension = in->I64();
    if (in->ok() && (dimension < 0 || dimension >= leaves[leaf].shape->rank() ||
                     !leaves[leaf].shape->is_dynamic_dimension(dimension))) {
      in->Fail(absl::StrCat("a dynamic dimension of ", leaves[leaf].shape->ToString()));
    }
    list.push_back({leaf, dimension});
  }
  return list;
}

// The leaves of `inner` are those of `outer` at their bounds, and a size for each of `sizes`.
bool Wraps(absl::Span<const ShapeUtil::Leaf> outer, absl::Span<const ShapeUtil::Leaf> inner, size_t sizes) {
  if (inner.size() != outer.size() + sizes) return false;
  for (size_t i = 0; i < inner.size(); ++i) {
    const Shape& expected = i < outer.size() ? *outer[i].shape : ShapeUtil::MakeScalarShape(S32);
    if (!ShapeUtil::Compatible(*inner[i].shape, expected) || !inner[i].shape->is_static()) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CompiledProgram>> LoadProgram(Compiler* compiler, const Artifact& artifact,
                                                             const CompileOptions& options) {
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<CompiledProgram> program, compiler->Load(artifact, options));
  const absl::StatusOr<absl::string_view> section = artifact.Find(kSection);
  if (!section.ok()) return program;
  ByteReader in(*section, kSection);
  ProgramShape shape = ReadProgramShape(&in);
  HILO_RETURN_IF_ERROR(in.status());
  const Shape parameters = ShapeUtil::MakeTupleShape(shape.parameters),
              inner = ShapeUtil::MakeTupleShape(program->program_shape().parameters);
  const std::vector<ShapeUtil::Leaf> leaves = ShapeUtil::Leaves(parameters), results = ShapeUtil::Leaves(shape.result);
  DynamicInterface interface;
  interface.parameters = ReadDimensions(leaves, &in);
  interface.results = ReadDimensions(results, &in);
  HILO_RETURN_IF_ERROR(in.Finish());
  if (!Wraps(leaves, ShapeUtil::Leaves(inner), interface.parameters.size()) ||
      !Wraps(results, ShapeUtil::Leaves(program->program_shape().result), interface.results.size())) {
    return InvalidArgument("serialized executable: a program ", shape.ToString(),
                           " was expected to stand on one with its sizes beside it, got ",
                           program->program_shape().ToString());
  }
  return std::make_unique<DynamicProgram>(std::move(program), std::move(shape), std::move(interface));
}

absl::StatusOr<std::unique_ptr<CompiledProgram>> CompileProgram(Compiler* compiler, std::unique_ptr<HloModule> module,
                                                                const CompileOptions& options, ThreadPool* pool) {
  if (compiler->TakesDynamicShapes() || !HasDynamicShapes(*module))
    return compiler->Compile(std::move(module), options, pool);
  ProgramShape shape = module->EntryProgramShape();
  HILO_ASSIGN_OR_RETURN(DynamicInterface interface,
                        ExpandDynamicShapes(module.get(), {.cancellation = options.cancellation.get()}));
  HILO_ASSIGN_OR_RETURN(std::unique_ptr<CompiledProgram> program, compiler->Compile(std::move(module), options, pool));
  return std::make_unique<DynamicProgram>(std::move(program), std::move(shape), std::move(interface));
}

absl::Status PartitionModule(HloModule* module, const CompileOptions& options, OpenValues open,
                             std::vector<ShardingNote>* notes) {
  if (options.partitioned) MarkPartitioned(module);
  return InputPipeline(std::move(open), notes).Run(module, {.cancellation = options.cancellation.get()});
}

absl::StatusOr<std::unique_ptr<HloModule>> PrepareModule(const Compiler& compiler, std::unique_ptr<HloModule> module,
                                                         const CompileOptions& options) {
  HILO_RETURN_IF_ERROR(PartitionModule(module.get(), options));
  if (!compiler.TakesDynamicShapes() && HasDynamicShapes(*module)) {
    HILO_RETURN_IF_ERROR(ExpandDynamicShapes(module.get(), {.cancellation = options.cancellation.get()}).status());
  }
  return module;
}

}  // namespace hilo
