// HloInstruction: one operation in a computation.
//
// There is one class for all opcodes. Opcode-specific data are its attributes, a struct read with attrs<T>(), and its
// called computations. Graph edits go through HloComputation, which keeps users and names consistent.
#ifndef HILO_HLO_IR_HLO_INSTRUCTION_H_
#define HILO_HLO_IR_HLO_INSTRUCTION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "hilo/shape.h"
#include "hilo/xla_data.h"
#include "hlo/ops/table/attributes.h"
#include "hlo/ops/table/hlo_opcode.h"

namespace hilo {

class HloComputation;
class HloModule;
struct KernelConfig;

class HloInstruction {
 public:
  // `attributes` may be null for ops that have none. The shape may lack layouts.
  static std::unique_ptr<HloInstruction> Create(HloOpcode opcode, Shape shape,
                                                absl::Span<HloInstruction* const> operands,
                                                std::unique_ptr<OpAttributes> attributes = nullptr,
                                                absl::Span<HloComputation* const> called = {});
  static std::unique_ptr<HloInstruction> CreateParameter(int64_t number, Shape shape, std::string name);
  static std::unique_ptr<HloInstruction> CreateConstant(std::shared_ptr<const class Literal> literal);
  ~HloInstruction();
  HloInstruction(const HloInstruction&) = delete;
  HloInstruction& operator=(const HloInstruction&) = delete;

  HloOpcode opcode() const { return opcode_; }
  const std::string& name() const { return name_; }
  const Shape& shape() const { return shape_; }
  Shape* mutable_shape() { return &shape_; }
  HloComputation* parent() const { return parent_; }
  HloModule* module() const;
  // Unique within the module, in order of creation.
  int64_t unique_id() const { return unique_id_; }

  absl::Span<HloInstruction* const> operands() const { return operands_; }
  HloInstruction* operand(int64_t i) const { return operands_[i]; }
  HloInstruction* mutable_operand(int64_t i) { return operands_[i]; }
  int64_t operand_count() const { return static_cast<int64_t>(operands_.size()); }
  // Each user once, regardless of its number of uses.
  absl::Span<HloInstruction* const> users() const { return users_; }
  int64_t user_count() const { return static_cast<int64_t>(users_.size()); }
  bool IsRoot() const;
  bool IsDead() const { return users_.empty() && !IsRoot() && control_successors_.empty(); }

  // True if the instruction itself does more than compute its result, so that it may not be deleted when unused, merged
  // or folded. Called computations are ignored.
  bool HasSideEffect() const {
    return HasTrait(opcode_, kSideEffect) || (attributes_ != nullptr && attributes_->HasSideEffect());
  }
  const OpAttributes* attributes() const { return attributes_.get(); }
  template <typename T>
  const T& attrs() const {
    return static_cast<const T&>(*attributes_);
  }
  template <typename T>
  T& mutable_attrs() {
    return static_cast<T&>(*attributes_);
  }

  absl::Span<HloComputation* const> called_computations() const { return called_computations_; }
  HloComputation* called_computation(int64_t i = 0) const { return called_computations_[i]; }
  void set_called_computation(int64_t i, HloComputation* computation) { called_computations_[i] = computation; }

  absl::Span<HloInstruction* const> control_predecessors() const { return control_predecessors_; }
  absl::Span<HloInstruction* const> control_successors() const { return control_successors_; }
  bool HasControlDependencies() const { return !control_predecessors_.empty() || !control_successors_.empty(); }
  void AddControlDependencyTo(HloInstruction* successor);
  void DropControlDependencies();

  const OpMetadata& metadata() const { return metadata_; }
  void set_metadata(OpMetadata metadata) { metadata_ = std::move(metadata); }
  // Attributes outside the opcode's struct (sharding, frontend_attributes, backend_config ...), as text.
  const AttributeText& extra_attributes() const { return extra_attributes_; }
  void add_extra_attribute(std::string name, std::string text) {
    extra_attributes_.emplace_back(std::move(name), std::move(text));
  }
  // How the backend computes it (kernel_config.h); null before kernels are chosen, and for what has no code of its own.
  // Clones of the module keep it, copies with other operands do not.
  const KernelConfig* kernel() const { return kernel_.get(); }
  void set_kernel(KernelConfig config);
  // Copies metadata and extra attributes from another instruction, for rewrites.
  void CopyOriginFrom(const HloInstruction& other);
  // Line of the text it was parsed from; 0 if none.
  int64_t source_text_line() const { return source_text_line_; }
  void set_source_text_line(int64_t line) { source_text_line_ = line; }

  // Shorthand for a frequent query.
  bool IsConstant() const { return opcode_ == HloOpcode::kConstant; }
  bool IsParameter() const { return opcode_ == HloOpcode::kParameter; }
  int64_t parameter_number() const;      // of a parameter
  const class Literal& literal() const;  // of a constant
  std::shared_ptr<const class Literal> shared_literal() const;
  int64_t tuple_index() const;  // of a get-tuple-element

  // A detached copy with other operands and shape; called computations are shared.
  std::unique_ptr<HloInstruction> CloneWithNewOperands(Shape shape, absl::Span<HloInstruction* const> operands) const;

  // "%add.1 = f32[2]{0} add(f32[2]{0} %x, ...)": one line for messages (text/hlo_printer.h prints modules).
  std::string ToString() const;

 private:
  friend class HloComputation;
  HloInstruction(HloOpcode opcode, Shape shape);
  void AddUser(HloInstruction* user);
  void RemoveUser(HloInstruction* user);

  HloOpcode opcode_;
  Shape shape_;
  std::string name_;
  HloComputation* parent_ = nullptr;
  int64_t unique_id_ = -1;
  int64_t source_text_line_ = 0;
  std::vector<HloInstruction*> operands_;
  std::vector<HloInstruction*> users_;
  absl::flat_hash_map<HloInstruction*, int64_t> user_positions_;  // filled once users are many
  std::vector<HloInstruction*> control_predecessors_, control_successors_;
  std::vector<HloComputation*> called_computations_;
  std::unique_ptr<OpAttributes> attributes_;
  OpMetadata metadata_;
  AttributeText extra_attributes_;
  std::unique_ptr<const KernelConfig> kernel_;
};

}  // namespace hilo

#endif  // HILO_HLO_IR_HLO_INSTRUCTION_H_
