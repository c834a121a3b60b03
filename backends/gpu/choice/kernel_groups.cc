// Small instructions in a row that do not wait for each other have one launch: each has blocks of its own
// (emitters/group_emitter.cc). So the updates of stacked results in a loop's body, and the slices of what a product
// computes for several gates, take the time of one.
#include <algorithm>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "backends/gpu/choice/kernel_choice.h"
#include "backends/gpu/choice/kernel_families.h"
#include "backends/gpu/choice/roofline.h"
#include "backends/gpu/match/launch_sizes.h"
#include "hilo/status_macros.h"
#include "hlo/memory/scheduler.h"

namespace hilo::gpu {
namespace {

// Of a launch: the code of all members is one kernel, and each buffer and constant is an argument, of which kernels may
// have some 4,000 (program_emitter.cc); these few are read once by each thread.
constexpr size_t kMaxMembers = 32, kMaxSlices = 128;
// Members that take longer than a launch gain little, and others' registers cost them occupancy.
constexpr double kMaxNs = GpuMachine().launch_ns;

struct Accesses {
  std::vector<BufferSlice> read, written;
  size_t constants = 0;
};

void AddSlices(const HloInstruction& instruction, const BufferAssignment& assignment,
               std::vector<BufferSlice>* slices) {
  if (instruction.IsConstant()) return;
  for (int64_t leaf = 0, leaves = LeafCount(instruction.shape()); leaf < leaves; ++leaf) {
    const BufferSlice& slice = assignment.slice(&instruction, leaf);
    if (slice.kind != StorageKind::kNone && slice.kind != StorageKind::kConstant) slices->push_back(slice);
  }
}

// Returns how many constants of an instruction may be arguments of its kernel.
size_t ConstantsOf(const HloInstruction& instruction) {
  const auto is_array = [](const HloInstruction* x) { return x->IsConstant() && !x->shape().IsScalar(); };
  int64_t count = absl::c_count_if(instruction.operands(), is_array);
  for (const HloComputation* called : instruction.called_computations())
    count += absl::c_count_if(called->instructions(), is_array);
  return static_cast<size_t>(count);
}

class GroupChoice {
 public:
  GroupChoice(HloModule& module, const BufferAssignment& assignment, const KernelFacts& facts)
      : module_(module), assignment_(assignment), facts_(facts) {}

  absl::Status Choose(const HloComputation& computation, const PassContext& context) {
    std::vector<HloInstruction*> members;
    Accesses all;
    for (HloInstruction* instruction : module_.OrderOf(computation)) {
      if (!IsEmitted(*instruction, assignment_)) continue;
      HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
      if (!MayShareLaunch(*instruction)) {
        HILO_RETURN_IF_ERROR(Mark(&members, &all));
        continue;
      }
      Accesses own{.constants = ConstantsOf(*instruction)};
      AddSlices(*instruction, assignment_, &own.written);
      for (const HloInstruction* operand : instruction->operands()) AddSlices(*operand, assignment_, &own.read);
      const bool has_room =
          members.size() < kMaxMembers &&
          all.read.size() + all.written.size() + all.constants + own.read.size() + own.written.size() + own.constants <=
              kMaxSlices;
      if (!has_room || Wait(own, all)) HILO_RETURN_IF_ERROR(Mark(&members, &all));
      members.push_back(instruction);
      all.read.insert(all.read.end(), own.read.begin(), own.read.end());
      all.written.insert(all.written.end(), own.written.begin(), own.written.end());
      all.constants += own.constants;
    }
    return Mark(&members, &all);
  }

 private:
  static bool MayShareLaunch(const HloInstruction& instruction) {
    const KernelKind kind = instruction.kernel()->kind;
    if (kind != KernelKind::kLoop && kind != KernelKind::kUpdate && kind != KernelKind::kCopy) return false;
    for (const ShapeUtil::Leaf& leaf : ShapeUtil::Leaves(instruction.shape())) {
      if (!leaf.shape->IsArray() || !leaf.shape->is_static() || ShapeUtil::IsZeroElementArray(*leaf.shape))
        return false;
    }
    const Roofline roofline = RooflineOf(instruction);
    return std::max(roofline.memory_ns, roofline.arithmetic_ns) <= kMaxNs;
  }

  // Returns true if one of the two reads or writes what the other writes.
  bool Wait(const Accesses& a, const Accesses& b) const {
    const auto touches = [&](const std::vector<BufferSlice>& written, const Accesses& other) {
      return absl::c_any_of(written, [&](const BufferSlice& slice) {
        const auto shares = [&](const BufferSlice& x) { return MayShare(slice, x); };
        return absl::c_any_of(other.read, shares) || absl::c_any_of(other.written, shares);
      });
    };
    return touches(a.written, b) || touches(b.written, a);
  }

  bool MayShare(const BufferSlice& a, const BufferSlice& b) const {
    if (a.SameMemory(b)) return true;
    if (a.kind == b.kind)
      return a.kind == StorageKind::kFrame ? a.offset < b.offset + b.size && b.offset < a.offset + a.size
                                           : a.index == b.index;
    const auto are_outside = [](const BufferSlice& output, const BufferSlice& parameter) {
      return output.kind == StorageKind::kOutput && parameter.kind == StorageKind::kParameter;
    };
    if (!are_outside(a, b) && !are_outside(b, a)) return false;
    // Within a call any parameter may share memory with an output; in the entry, only donated ones.
    const std::pair<int64_t, int64_t> pair =
        are_outside(a, b) ? std::pair(a.index, b.index) : std::pair(b.index, a.index);
    return assignment_.scopes().size() > 1 || absl::c_linear_search(assignment_.scopes().back().donations, pair);
  }

  absl::Status Mark(std::vector<HloInstruction*>* members, Accesses* all) {
    for (HloInstruction* member : *members) {
      if (members->size() == 1) break;
      KernelConfig config = *member->kernel();
      if (config.kind == KernelKind::kCopy) {
        HILO_ASSIGN_OR_RETURN(config, ChooseLoop(*member, facts_, config.why));
      }
      config.tile = {kBlockSize, number_};
      absl::StrAppend(&config.why, "; one launch for ", members->size());
      member->set_kernel(std::move(config));
    }
    if (members->size() > 1) ++number_;
    members->clear();
    *all = {};
    return absl::OkStatus();
  }

  HloModule& module_;
  const BufferAssignment& assignment_;
  const KernelFacts& facts_;
  int64_t number_ = 0;  // of the next launch
};

}  // namespace

absl::Status ChooseGroups(HloModule* module, const BufferAssignment& assignment, const KernelFacts& facts,
                          const PassContext& context) {
  HILO_ASSIGN_OR_RETURN(const std::vector<HloComputation*> sequential, SequentialComputations(*module));
  GroupChoice choice(*module, assignment, facts);
  for (const HloComputation* computation : sequential) HILO_RETURN_IF_ERROR(choice.Choose(*computation, context));
  return absl::OkStatus();
}

bool AreOneKernel(const KernelConfig& a, const KernelConfig& b) {
  if (a.kind == KernelKind::kSequence || b.kind == KernelKind::kSequence) return a.kind == b.kind && a.tile == b.tile;
  const auto has_group = [](const KernelConfig& config) {
    return (config.kind == KernelKind::kLoop || config.kind == KernelKind::kUpdate) && config.tile.size() == 2;
  };
  return has_group(a) && has_group(b) && a.tile[1] == b.tile[1];
}

}  // namespace hilo::gpu
