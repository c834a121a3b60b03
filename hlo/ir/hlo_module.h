// HloModule: computations, one of them the entry, and the contents of a module's header.
#ifndef HILO_HLO_IR_HLO_MODULE_H_
#define HILO_HLO_IR_HLO_MODULE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "hlo/ir/hlo_computation.h"

namespace hilo {

// Stages of the middle end; each includes the invariants of the earlier ones.
enum class HloStage {
  kInput,      // any legal HLO
  kCore,       // only ops that the target emits
  kLaidOut,    // every array in the default (row-major) layout; entry layouts are implemented by explicit transposes
  kFused,      // each kernel one instruction or fusion; the rest library calls and control flow
  kScheduled,  // one total order per computation
  kAliased,    // copies make every sharing of memory safe
};
absl::string_view HloStageName(HloStage stage);

// Output leaf `output_index` may live in the buffer of a donated parameter.
struct InputOutputAlias {
  ShapeIndex output_index;
  int64_t parameter_number = 0;
  ShapeIndex parameter_index;
  bool must_alias = false;
  bool operator==(const InputOutputAlias&) const = default;
};
// A parameter leaf that the caller donates without naming an output.
struct BufferDonor {
  int64_t parameter_number = 0;
  ShapeIndex parameter_index;
  bool operator==(const BufferDonor&) const = default;
};

class HloModule {
 public:
  explicit HloModule(std::string name) : name_(std::move(name)) {}
  HloModule(const HloModule&) = delete;
  HloModule& operator=(const HloModule&) = delete;

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

  // In order of addition.
  std::vector<HloComputation*> computations() const;
  HloComputation* entry_computation() const { return entry_; }
  void set_entry_computation(HloComputation* entry) { entry_ = entry; }
  HloComputation* GetComputation(absl::string_view name) const;  // null if there is none
  // Callees before callers. Iterative. Errors: InvalidArgument when computations call each other in a cycle.
  absl::StatusOr<std::vector<HloComputation*>> MakeComputationPostOrder() const;

  // An empty computation; the name is made unique.
  HloComputation* AddComputation(absl::string_view name);
  // A deep copy of `computation` (from this or another module; computations that it calls are copied too unless they
  // are this module's).
  HloComputation* CloneComputation(const HloComputation& computation, absl::string_view suffix = "clone");
  // Removes computations that are unreachable from the entry. Returns how many were removed.
  absl::StatusOr<int64_t> RemoveUnusedComputations();

  int64_t instruction_count() const;
  std::unique_ptr<HloModule> Clone() const;

  // --- header ---
  // Parameter and result shapes with the layouts that callers see; the entry's own where unspecified.
  const std::optional<ProgramShape>& entry_computation_layout() const { return entry_layout_; }
  void set_entry_computation_layout(std::optional<ProgramShape> layout) { entry_layout_ = std::move(layout); }
  // Entry layout with defaults filled in.
  ProgramShape EntryProgramShape() const;
  std::vector<InputOutputAlias>& input_output_aliases() { return aliases_; }
  const std::vector<InputOutputAlias>& input_output_aliases() const { return aliases_; }
  std::vector<BufferDonor>& buffer_donors() { return donors_; }
  const std::vector<BufferDonor>& buffer_donors() const { return donors_; }
  int64_t replica_count() const { return replica_count_; }
  void set_replica_count(int64_t count) { replica_count_ = count; }
  int64_t num_partitions() const { return num_partitions_; }
  void set_num_partitions(int64_t count) { num_partitions_ = count; }
  // The text order of instructions is a schedule (is_scheduled=true).
  bool is_scheduled() const { return is_scheduled_; }
  void set_is_scheduled(bool scheduled) { is_scheduled_ = scheduled; }
  // Header attributes that Hilo does not read, as text, and tables such as FileNames as blocks of lines.
  AttributeText& extra_attributes() { return extra_attributes_; }
  const AttributeText& extra_attributes() const { return extra_attributes_; }

  // Total orders of the scheduled stages; empty before kScheduled. Maintained by the scheduler and by copy insertion.
  absl::flat_hash_map<const HloComputation*, std::vector<HloInstruction*>>& schedule() { return schedule_; }
  const absl::flat_hash_map<const HloComputation*, std::vector<HloInstruction*>>& schedule() const { return schedule_; }
  // The order in which to visit `computation`: its schedule, or a post order.
  std::vector<HloInstruction*> OrderOf(const HloComputation& computation) const;

  // Used by HloComputation.
  std::string UniqueName(absl::string_view wanted);
  int64_t NextUniqueId() { return next_id_++; }

 private:
  std::string name_;
  HloComputation* entry_ = nullptr;
  std::vector<std::unique_ptr<HloComputation>> computations_;
  std::optional<ProgramShape> entry_layout_;
  std::vector<InputOutputAlias> aliases_;
  std::vector<BufferDonor> donors_;
  int64_t replica_count_ = 1;
  int64_t num_partitions_ = 1;
  bool is_scheduled_ = false;
  AttributeText extra_attributes_;
  absl::flat_hash_map<const HloComputation*, std::vector<HloInstruction*>> schedule_;
  absl::flat_hash_set<std::string> names_;
  absl::flat_hash_map<std::string, int64_t> name_counters_;
  int64_t next_id_ = 0;
};

}  // namespace hilo

#endif  // HILO_HLO_IR_HLO_MODULE_H_
