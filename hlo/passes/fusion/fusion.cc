// Fusion: a producer moves into the loop of its consumers, so that its elements stay in registers.
//
//   e = f32[1000] exponential(x)                      f = f32[1000] fusion(x, y), kind=kLoop, calls=
//   ROOT m = f32[1000] multiply(e, y)        =>         { e = exponential(p0)  ROOT m = multiply(e, p1) }
//
// Groups are chosen first, from the users back to their operands. An instruction joins the group of its users when they
// are all in one group; when they are in a few groups and it is cheap, it is computed in each of them (this is the
// duplication budget); otherwise it starts a new group. No cycle can arise, because a joining instruction has no users
// outside. A producer is emitted once for every index at which the loop reads it (a stencil reads its input at five);
// the group counts these, so that stencils of stencils do not multiply. Scalars and arrays of a few elements stay out:
// they live in registers anyway.
#include <algorithm>
#include <limits>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/affine_index.h"
#include "hlo/analysis/compared_values.h"
#include "hlo/analysis/cost_model.h"
#include "hlo/analysis/in_place.h"
#include "hlo/analysis/prefix_scan.h"
#include "hlo/analysis/reduction_op.h"
#include "hlo/analysis/row_group.h"
#include "hlo/ops/table/op_attributes.h"
#include "hlo/ops/table/opcode_map.h"
#include "hlo/passes/array_sizes.h"
#include "hlo/passes/dimensions/transpose_tiles.h"
#include "hlo/passes/fusion/fused_members.h"
#include "hlo/passes/fusion/fusion_groups.h"
#include "hlo/passes/fusion/fusion_pass.h"
#include "hlo/passes/fusion/loop_work.h"
#include "hlo/passes/make_instruction.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {
namespace {

// Indices at which one loop may compute a producer: any, a cheap one, an expensive one.
constexpr size_t kMaxReads = 16;
constexpr size_t kMaxCheapReads = 4;
constexpr size_t kMaxExpensiveReads = 1;
constexpr size_t kMaxTimedReads = 4;  // of what is expensive, where that takes less time than an array
// Times that strides may take apart the elements of a producer that is computed at more than one index.
constexpr int kMaxScatters = 1;
// Users that are looked at for repeated reads.
constexpr int64_t kMaxRepeatUsers = 16;
// Loops that compute one producer, where their time is compared with the array's.
constexpr int64_t kMaxTimedCopies = 8;
// Instructions by which a scatter computes the update of a single element: storing and loading it takes about as long.
constexpr int64_t kMaxScalarInstructions = 2;
// The number of times that loops are merged and groups formed again.
constexpr int kMaxMergers = 4;

// Of a window that loops compute, which is small.
int64_t WindowElements(const HloInstruction& reduce_window) {
  int64_t elements = 1;
  for (const Window::Dimension& w : reduce_window.attrs<ReduceWindowAttrs>().window.dimensions)
    elements = CheckedMul(elements, w.size).value_or(elements);
  return elements;
}

class LoopFusion : public FusionPass {
 public:
  LoopFusion(const Target* target, double instructions_per_byte)
      : target_(*target), instructions_per_byte_(instructions_per_byte) {}
  absl::string_view name() const override { return "fuse"; }

 private:
  using Group = FusionGroup;

  // Roots that need not be fusible themselves: their kernels take producers in.
  static constexpr OpcodeSet kRoots = {HloOpcode::kDynamicUpdateSlice, HloOpcode::kReduce, HloOpcode::kScatter,
                                       HloOpcode::kSelectAndScatter};

  // Returns true for a running reduction whose kernel reads each element once.
  bool IsScan(const HloInstruction& x) const {
    return loops_are_launched() && x.opcode() == HloOpcode::kReduceWindow && x.operand_count() == 2 &&
           ScanWindowOf(x).has_value() && ReductionOp(*x.called_computation()).has_value();
  }

  // Whether `user` can take its operand number `operand` into its loop.
  bool TakesOperand(const HloInstruction* user, int64_t operand) const {
    if (IsScan(*user)) return operand == 0;
    if (user->opcode() == HloOpcode::kReduce) return operand < user->operand_count() / 2;
    if (user->opcode() == HloOpcode::kDynamicUpdateSlice) return operand == 1;
    // The updates; the indices too where each is of one element, by a thread. Loops read them again and again.
    if (user->opcode() == HloOpcode::kScatter) {
      const int64_t indices = user->operand_count() / 2;
      return operand > indices || (operand == indices && loops_are_launched() && ScattersElements(*user) &&
                                   !IsExpensiveToRepeat(*user->operand(indices)));
    }
    // What pads the array that it selects from.
    if (user->opcode() == HloOpcode::kSelectAndScatter)
      return loops_are_launched() && operand == 0 && user->operand(0)->opcode() == HloOpcode::kPad;
    if (!target_.IsFusible(*user)) return false;
    if (user->opcode() == HloOpcode::kReduceWindow) return operand < user->operand_count() / 2;
    if (user->opcode() == HloOpcode::kDynamicSlice) return operand == 0;
    // Of a gather the indices too where each is read once.
    return user->opcode() != HloOpcode::kGather || operand == 0 || Elements(user) <= Elements(user->operand(1));
  }

  // Returns true if a scatter's updates have one element each.
  static bool ScattersElements(const HloInstruction& scatter) {
    const int64_t indices = scatter.operand_count() / 2,
                  components = std::ssize(scatter.attrs<ScatterAttrs>().scatter_dims_to_operand_dims);
    return components * Elements(scatter.operand(indices + 1)) == Elements(scatter.operand(indices));
  }

  // Returns how often `user`, or a user of its reshapes, reads each element of its operand.
  int64_t ReadsPerElement(const HloInstruction* user, const HloInstruction* operand) const {
    std::vector<const HloInstruction*> users = {user};
    int64_t reads = 1;
    for (int64_t next = 0; next < static_cast<int64_t>(users.size()) && next < kMaxRepeatUsers; ++next) {
      const HloInstruction* reader = users[next];
      if (reader->opcode() == HloOpcode::kReshape)
        users.insert(users.end(), reader->users().begin(), reader->users().end());
      const bool has_windows = reader->opcode() == HloOpcode::kReduceWindow && target_.IsFusible(*reader);
      const bool expands =
          reader->opcode() == HloOpcode::kBroadcast || reader->opcode() == HloOpcode::kGather || has_windows;
      if (!expands || Elements(operand) == 0) continue;
      const int64_t terms = CheckedMul(Elements(reader), has_windows ? WindowElements(*reader) : 1)
                                .value_or(std::numeric_limits<int64_t>::max());
      int64_t here = CeilDiv(terms, Elements(operand));
      // Repeated one after the other, an element is read once for a vector.
      if (reader->opcode() == HloOpcode::kBroadcast && AdjacentRepeats(*reader) >= kVectorElements)
        here = CeilDiv(here, kVectorElements);
      reads = std::max(reads, here);
    }
    return reads;
  }

  // Returns how often the loop of `group`, which has users of `producer`, would compute each element of it.
  int64_t RepeatsIn(const FusionGroup& group, const HloInstruction& producer) const {
    int64_t most = 1;
    for (const HloInstruction* user : producer.users()) {
      if (!group.reads.contains(user)) continue;
      const auto it = group.repeats.find(user);
      const int64_t repeats = it == group.repeats.end() ? 1 : it->second;
      most = std::max(most, CheckedMul(repeats, ReadsPerElement(user, &producer)).value_or(repeats));
    }
    return most;
  }

  // Returns how often the elements that adjacent ones of a result read have been taken apart on the way from
  // `producer`: by strided slices, and by pads that leave out or repeat some, along the dimension of the lanes.
  static int ScattersOf(const FusionGroup& group, const HloInstruction& producer) {
    int most = 0;
    for (const HloInstruction* user : producer.users()) {
      if (!group.reads.contains(user)) continue;
      const auto it = group.scatters.find(user);
      int scatters = it == group.scatters.end() ? 0 : it->second;
      if (user->opcode() == HloOpcode::kSlice && !user->shape().IsScalar())
        scatters += user->attrs<SliceAttrs>().slice.back().stride > 1 ? 1 : 0;
      if (user->opcode() == HloOpcode::kPad && !user->shape().IsScalar())
        scatters += user->attrs<PadAttrs>().padding.dimensions.back().interior_padding > 0 ? kMaxScatters + 1 : 0;
      most = std::max(most, std::min(scatters, kMaxScatters + 1));
    }
    return most;
  }

  // Returns the elementwise instructions, up to `most` of them, that make an element of `producer` and are for it
  // alone: a loop that computes it again computes these again.
  std::vector<const HloInstruction*> WorkBehind(const HloInstruction& producer, int64_t most) const {
    absl::flat_hash_map<const HloInstruction*, size_t> readers;
    std::vector<const HloInstruction*> chain = {&producer}, work;
    for (size_t next = 0; next < chain.size() && static_cast<int64_t>(work.size()) < most; ++next) {
      if (!IsElementwise(chain[next]->opcode())) continue;
      work.push_back(chain[next]);
      absl::flat_hash_set<const HloInstruction*> operands(chain[next]->operands().begin(),
                                                          chain[next]->operands().end());
      for (const HloInstruction* operand : operands) {
        if (Elements(operand) != Elements(&producer) || !CanBeProducer(operand) || operand->IsRoot()) continue;
        if (++readers[operand] == operand->users().size()) chain.push_back(operand);
      }
    }
    return work;
  }

  LoopWork WorkFor(std::vector<const HloInstruction*> values, int64_t elements) const {
    return hilo::WorkFor(std::move(values), elements, [this](const HloInstruction& x) { return CanBeProducer(&x); });
  }

  // Returns true if computing the producer in each of several groups, `times` times there, takes less time than one
  // more loop that writes its array, and reading that in each group. A loop takes the time of its bytes or of its
  // instructions.
  bool AreCopiesFaster(const HloInstruction& producer, const std::vector<int>& joined, const std::vector<Group>& groups,
                       size_t times) const {
    const auto time_of = [&](double bytes, double instructions) {
      return std::max(bytes * instructions_per_byte_, instructions);
    };
    const int64_t elements = Elements(&producer);
    const double own_bytes = BytesRead(producer, elements);
    LoopWork own;
    std::vector<const HloInstruction*> behind;
    const std::vector<const HloInstruction*> chain = WorkBehind(producer, kMaxRepeatedWork);
    for (const HloInstruction* member : chain) {
      own.instructions += WorkOf(*member).instructions;
      for (const HloInstruction* operand : member->operands()) {
        if (!absl::c_linear_search(chain, operand)) behind.push_back(operand);
      }
    }
    if (chain.empty()) behind.assign(producer.operands().begin(), producer.operands().end());
    own.arrays = WorkFor(std::move(behind), elements).arrays;
    double stored_bytes = own_bytes;
    for (const HloInstruction* array : own.arrays) stored_bytes += BytesRead(*array, elements);
    double stored = time_of(stored_bytes, own.instructions), copied = 0;
    for (const int number : joined) {
      const Group& group = groups[number];
      const int64_t size = LoopElements(group);
      std::vector<const HloInstruction*> others;
      for (const HloInstruction* operand : group.operands) {
        if (operand != &producer) others.push_back(operand);
      }
      const LoopWork work = WorkFor(std::move(others), size);
      double bytes = BytesOfLoop(group, work);
      const double instructions = group.instructions + work.instructions;
      stored += time_of(bytes + own_bytes, instructions);
      // Through the producer: of what it slices, a part.
      const int64_t most = std::min(size, elements);
      for (const HloInstruction* array : own.arrays) bytes += work.arrays.contains(array) ? 0 : BytesRead(*array, most);
      copied += time_of(bytes, instructions + static_cast<double>(times) * own.instructions);
    }
    return copied < stored;
  }

  bool IsRootCandidate(const HloInstruction* instruction) const {
    // It is its operand's memory; loops over the operand's shape have simpler indices.
    if (instruction->opcode() == HloOpcode::kReshape) return false;
    if (Elements(instruction) <= kRegisterElements && instruction->opcode() != HloOpcode::kReduce) return false;
    if (kRoots.contains(instruction->opcode()) || IsScan(*instruction)) return true;
    return target_.IsFusible(*instruction) && instruction->shape().IsArray();
  }

  // Whether only a part of the result is read, which a kernel computes by itself: of gradients of padded arrays.
  bool IsSliced(const HloInstruction& select_and_scatter) const {
    if (!loops_are_launched() || select_and_scatter.opcode() != HloOpcode::kSelectAndScatter ||
        select_and_scatter.users().size() != 1)
      return false;
    const HloInstruction& slice = *select_and_scatter.users()[0];
    return slice.opcode() == HloOpcode::kSlice &&
           absl::c_all_of(slice.attrs<SliceAttrs>().slice, [](const auto& range) { return range.stride == 1; });
  }

  bool CanBeProducer(const HloInstruction* instruction) const {
    if (!target_.IsFusible(*instruction) && !IsSliced(*instruction)) return false;
    // An iota is its own index, which is not read.
    if (Elements(instruction) <= kRegisterElements && instruction->opcode() != HloOpcode::kIota) return false;
    if (instruction->HasControlDependencies()) return false;
    if (instruction->opcode() == HloOpcode::kConcatenate) return instruction->operand_count() <= 4;
    // An update in place is worth more than its fusion.
    return instruction->opcode() != HloOpcode::kDynamicUpdateSlice;
  }

  absl::StatusOr<bool> FuseComputation(HloComputation* computation, const PassContext& context) override {
    std::vector<HloInstruction*> order = computation->MakePostOrder();
    compared_ = ValuesComparedWithResults(*computation);
    kept_rows_.clear();
    Groups groups = FormGroups(order, {});
    if (!loops_are_launched() && KeepExpensiveRows(groups.groups)) groups = FormGroups(order, {});
    // Loops that become one may take in what they shared.
    absl::flat_hash_map<const HloInstruction*, int> merged;
    for (int mergers = 0; mergers < kMaxMergers; ++mergers) {
      HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
      auto found = MergedRoots(*computation, groups.groups, groups.membership, context);
      absl::erase_if(found, [&](const auto& root) { return kept_rows_.contains(root.first); });
      if (found.size() <= merged.size()) break;
      Groups next = FormGroups(order, found);
      if (!CanBeOrdered(*computation, next.groups, next.membership)) break;
      merged = std::move(found);
      groups = std::move(next);
    }
    if (loops_are_launched()) {
      HILO_ASSIGN_OR_RETURN(const bool repeats,
                            RepeatReads(
                                order, groups.groups, compared_, instructions_per_byte_,
                                [this](const HloInstruction& x) { return CanBeProducer(&x); }, context));
      if (repeats) {
        order = computation->MakePostOrder();
        groups = FormGroups(order, merged);
        if (!CanBeOrdered(*computation, groups.groups, groups.membership)) groups = FormGroups(order, {});
      }
    }
    bool changed = false;
    // Roots that others read come first, so operands are final when a group is built.
    for (auto number = static_cast<int>(groups.groups.size()); number-- > 0;) {
      if (groups.groups[number].members.size() < 2) continue;
      HILO_RETURN_IF_ERROR(context.CheckNotCancelled());
      HILO_ASSIGN_OR_RETURN(const bool built, Build(groups, number));
      changed |= built;
    }
    return changed;
  }

  struct Groups {
    std::vector<Group> groups;
    FusionMembership membership;
  };

  // Roots with the same number in `merged` are results of one group.
  Groups FormGroups(const std::vector<HloInstruction*>& order,
                    const absl::flat_hash_map<const HloInstruction*, int>& merged) const {
    Groups result;
    std::vector<Group>& groups = result.groups;
    absl::flat_hash_map<int, int> group_of;
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      HloInstruction* instruction = *it;
      if (instruction->IsParameter() || instruction->IsConstant() || instruction->opcode() == HloOpcode::kFusion)
        continue;
      std::vector<int> joined = GroupsToJoin(instruction, groups, result.membership);
      if (joined.empty() && IsRootCandidate(instruction)) {
        int group = static_cast<int>(groups.size());
        if (const auto set = merged.find(instruction); set != merged.end()) {
          const int other = group_of.emplace(set->second, group).first->second;
          if (other == group || HasRoomFor(groups[other], *instruction)) group = other;
        }
        if (group == static_cast<int>(groups.size())) groups.emplace_back();
        groups[group].has_threads = loops_are_launched();
        groups[group].roots.push_back(instruction);
        AddMember(instruction, &groups[group]);
        groups[group].reads[instruction] = {0};
        joined = {group};
      } else {
        for (int group : joined) {
          AddMember(instruction, &groups[group]);
          groups[group].reads[instruction] = ReadsOf(groups[group], instruction, kMaxReads);
          groups[group].emitted += static_cast<int64_t>(groups[group].reads[instruction].size());
          // What is free may have as many users as there are groups.
          if (static_cast<int64_t>(joined.size()) > kMaxCopies) continue;
          if (const int scatters = ScattersOf(groups[group], *instruction); scatters > 0)
            groups[group].scatters[instruction] = scatters;
          if (joined.size() > 1) continue;  // its expensive operands do not join
          if (const int64_t repeats = RepeatsIn(groups[group], *instruction); repeats > 1)
            groups[group].repeats[instruction] = repeats;
        }
      }
      if (!joined.empty()) result.membership[instruction] = std::move(joined);
    }
    return result;
  }

  // Adds what cuts the rows of expensive loops to kept_rows_; true if there is any.
  bool KeepExpensiveRows(const std::vector<Group>& groups) {
    for (const Group& group : groups) {
      for (const HloInstruction* member : group.members) {
        if (!absl::c_linear_search(group.roots, member) && CutsExpensiveRows(*member, group)) kept_rows_.insert(member);
      }
    }
    return !kept_rows_.empty();
  }

  // The groups in which all users of `producer` are, if it may join them; else empty.
  std::vector<int> GroupsToJoin(const HloInstruction* producer, const std::vector<Group>& groups,
                                const FusionMembership& membership) const {
    if (producer->IsRoot() || producer->users().empty() || !CanBeProducer(producer)) return {};
    if (kept_rows_.contains(producer)) return {};
    std::vector<int> joined;
    int64_t repeats = 1;
    const bool expensive = IsExpensiveToRepeat(*producer), free = IsFree(*producer);
    for (const HloInstruction* user : producer->users()) {
      auto it = membership.find(user);
      if (it == membership.end()) return {};
      if (!loops_are_launched() && PreventsTiles(*producer, *user)) return {};
      for (int64_t i = 0; i < user->operand_count(); ++i) {
        if (user->operand(i) == producer && !TakesOperand(user, i)) return {};
      }
      repeats = std::max(repeats, ReadsPerElement(user, producer));
      if (repeats > (expensive ? 1 : kMaxRepeats)) {
        const bool pads_windows = producer->opcode() == HloOpcode::kPad && user->opcode() == HloOpcode::kReduceWindow;
        if ((producer->opcode() != HloOpcode::kReshape || RepeatsRow(*producer)) && !free && !pads_windows) return {};
      }
      for (int group : it->second) {
        if (std::find(joined.begin(), joined.end(), group) == joined.end()) joined.push_back(group);
      }
      if (static_cast<int64_t>(joined.size()) > (instructions_per_byte_ > 0 ? kMaxTimedCopies : kMaxCopies) && !free)
        return {};
    }
    if (joined.size() > 1 && compared_.contains(producer)) return {};
    if (instructions_per_byte_ > 0 && repeats == 1) {
      if (joined.size() > 1 && !free && !AreCopiesFaster(*producer, joined, groups, /*times=*/1)) return {};
    } else {
      if (joined.size() > 1 && expensive) return {};
      const int64_t wasted = repeats * static_cast<int64_t>(joined.size()) - 1;
      if (wasted > 0 && !free &&
          wasted * static_cast<int64_t>(WorkBehind(*producer, kMaxRepeatedWork).size()) > kMaxRepeatedWork)
        return {};
    }
    for (int group : joined) {
      if (!free && !MayJoinWindows(*producer, groups[group])) return {};
      if (!HasRoomFor(groups[group], *producer) || PreventsUpdateInPlace(*producer, groups[group])) return {};
      if (!loops_are_launched() && LosesLanes(*producer, *groups[group].roots[0])) return {};
      // Behind a cheap member that is repeated.
      if (expensive && !loops_are_launched() && RepeatsIn(groups[group], *producer) > 1) return {};
      const size_t reads = ReadsOf(groups[group], producer, kMaxReads).size();
      const bool moves_only = HasTrait(producer->opcode(), kMovement) || producer->opcode() == HloOpcode::kIota;
      size_t most = expensive ? kMaxExpensiveReads : moves_only ? kMaxReads : kMaxCheapReads;
      if (!moves_only && !loops_are_launched() && ScattersOf(groups[group], *producer) > kMaxScatters)
        most = kMaxExpensiveReads;
      if (reads > most && !IsSameEverywhere(*producer)) {
        // Of several operands of a concatenation, for example.
        const bool is_timed =
            instructions_per_byte_ > 0 && expensive && joined.size() == 1 && repeats == 1 && reads <= kMaxTimedReads;
        if (!is_timed || !AreCopiesFaster(*producer, joined, groups, reads)) return {};
      }
      if (free) continue;  // an array in memory would cost more, whatever the size of the group
      if (groups[group].members.size() >= kLoopLimits.members) return {};
      if (groups[group].emitted + static_cast<int64_t>(reads) > kMaxEmittedOfGroup) return {};
    }
    return joined;
  }

  // True if an element costs nothing inside a loop: also what is an affine function of its index, which lanes know
  // without an array. A gather at such indices reads runs.
  static bool IsFree(const HloInstruction& producer) {
    if (IsFreeToRepeat(producer)) return true;
    const HloOpcode opcode = producer.opcode();
    return (opcode == HloOpcode::kAdd || opcode == HloOpcode::kMultiply || opcode == HloOpcode::kConvert ||
            opcode == HloOpcode::kReshape) &&
           AffineIndexOf(producer).has_value();
  }

  // A reshape of a row that is repeated: its elements are read at the remainder of an index, which lanes would gather.
  bool RepeatsRow(const HloInstruction& reshape) const {
    const HloInstruction& operand = *reshape.operand(0);
    return !loops_are_launched() && operand.opcode() == HloOpcode::kBroadcast && !IsSameEverywhere(operand);
  }

  // Returns false if the producer would be computed too often for the windows that the group has: a kernel of a
  // select-and-scatter takes in what pads the array and what takes a part of the result, and nothing else.
  bool MayJoinWindows(const HloInstruction& producer, const Group& group) const {
    if (!loops_are_launched()) return true;
    if (producer.opcode() == HloOpcode::kSelectAndScatter) return group.members.size() == 1;
    bool has_windows = false;
    for (const HloInstruction* member : group.members) {
      if (member->opcode() == HloOpcode::kSelectAndScatter && producer.opcode() != HloOpcode::kPad) return false;
      has_windows |= member->opcode() == HloOpcode::kReduceWindow;
    }
    if (!has_windows) return true;
    const int64_t repeats = RepeatsIn(group, producer);
    const auto work = static_cast<int64_t>(WorkBehind(producer, kMaxRepeatedWork).size());
    return repeats == 1 || (!IsExpensiveToRepeat(producer) && repeats * work <= kMaxRepeatedWork);
  }

  // Returns true if the group updates a part of an array that the producer reads elsewhere: the kernel would have to
  // copy the array, which may be many times the producer's size.
  static bool PreventsUpdateInPlace(const HloInstruction& producer, const Group& group) {
    const HloInstruction& root = *group.roots[0];
    const bool is_slice_update = root.opcode() == HloOpcode::kDynamicUpdateSlice;
    if (!is_slice_update && root.opcode() != HloOpcode::kScatter) return false;
    const HloInstruction* array = root.operand(0);
    const auto& operands = producer.operands();
    if (std::find(operands.begin(), operands.end(), array) == operands.end()) return false;
    return 2 * Elements(&producer) <= Elements(array) && !(is_slice_update && ReadsWrittenWindow(producer, root));
  }

  // Returns true if a loop computes the producer in lanes, and `root` is a scatter of windows without rows, which has
  // none: a scalar exponential takes ten times as long as one of a vector's, and so do many operations together.
  bool LosesLanes(const HloInstruction& producer, const HloInstruction& root) const {
    if (root.opcode() != HloOpcode::kScatter) return false;
    const bool is_function = CostFacts(producer.opcode()).transcendental;
    if (!is_function && !(IsUpdateOf(producer, root) && HasMuchWorkBehind(producer))) return false;
    const ScatterAttrs& attrs = root.attrs<ScatterAttrs>();
    const int64_t minor = root.operand(0)->shape().rank() - 1;
    const Shape& updates = root.operand(root.operand_count() / 2 + 1)->shape();
    return attrs.update_window_dims.empty() || absl::c_linear_search(attrs.inserted_window_dims, minor) ||
           absl::c_linear_search(attrs.input_batching_dims, minor) ||
           updates.dimensions(attrs.update_window_dims.back()) == 1;
  }

  // Returns true if `producer` is what `scatter` adds, or reshapes first.
  static bool IsUpdateOf(const HloInstruction& producer, const HloInstruction& scatter) {
    const int64_t arrays = scatter.operand_count() / 2;
    for (int64_t i = 0; i < arrays; ++i) {
      const HloInstruction* update = scatter.operand(arrays + 1 + i);
      while (update != &producer && update->opcode() == HloOpcode::kReshape) update = update->operand(0);
      if (update == &producer) return true;
    }
    return false;
  }

  bool HasMuchWorkBehind(const HloInstruction& producer) const {
    const int64_t elements = Elements(&producer);
    return WorkFor({&producer}, elements).instructions > static_cast<double>(kMaxScalarInstructions * elements);
  }

  // One loop more then costs more than what it saves of repeated functions and of elements that lie apart.
  bool loops_are_launched() const { return instructions_per_byte_ > 0; }

  // Whether all elements are one, so that they need no array however many indices it is read at.
  static bool IsSameEverywhere(const HloInstruction& instruction) {
    return instruction.opcode() == HloOpcode::kBroadcast && instruction.operand(0)->shape().IsScalar();
  }

  // The roots that are read outside of group number `number`, or by what other groups compute too. A loop that has been
  // merged with all of its readers has none: it goes with them.
  static std::vector<HloInstruction*> ResultsOf(const Groups& groups, int number) {
    std::vector<HloInstruction*> results;
    for (HloInstruction* root : groups.groups[number].roots) {
      const bool is_result = root->IsRoot() || absl::c_any_of(root->users(), [&](const HloInstruction* user) {
                               const auto it = groups.membership.find(user);
                               return it == groups.membership.end() || it->second != std::vector<int>{number};
                             });
      if (is_result) results.push_back(root);
    }
    return results;
  }

  // Replaces the members by a fusion; false if all of them belong to other groups too, which compute them.
  static absl::StatusOr<bool> Build(const Groups& groups, int number) {
    const Group& group = groups.groups[number];
    HloComputation* computation = group.roots[0]->parent();
    HloModule* module = computation->parent();
    const std::vector<HloInstruction*> results = ResultsOf(groups, number);
    if (results.empty()) return false;
    std::vector<HloInstruction*> operands;
    absl::flat_hash_map<const HloInstruction*, HloInstruction*> inside;
    HloComputation* fused = module->AddComputation("fused_computation");
    for (auto it = group.members.rbegin(); it != group.members.rend(); ++it) {
      const HloInstruction* member = *it;
      std::vector<HloInstruction*> mapped;
      for (HloInstruction* operand : member->operands()) {
        auto found = inside.find(operand);
        if (found == inside.end()) {
          HloInstruction* entry;
          if (IsFusedConstant(*operand)) {
            entry = fused->AddInstruction(operand->CloneWithNewOperands(operand->shape(), {}));
          } else {
            entry = fused->AddInstruction(HloInstruction::CreateParameter(
                static_cast<int64_t>(operands.size()), operand->shape(), absl::StrCat("param_", operands.size())));
            operands.push_back(operand);
          }
          found = inside.emplace(operand, entry).first;
        }
        mapped.push_back(found->second);
      }
      inside[member] = fused->AddInstruction(member->CloneWithNewOperands(member->shape(), mapped));
    }
    HloInstruction* root = inside.at(results[0]);
    if (results.size() > 1) {
      std::vector<HloInstruction*> elements;
      for (const HloInstruction* result : results) elements.push_back(inside.at(result));
      HILO_ASSIGN_OR_RETURN(root, fused->AddOp(HloOpcode::kTuple, elements));
    }
    HILO_RETURN_IF_ERROR(fused->set_root_instruction(root));
    auto attributes = std::make_unique<FusionAttrs>();
    attributes->kind = root->opcode() == HloOpcode::kReduce ? FusionKind::kInput : FusionKind::kLoop;
    HloInstruction* fusion = computation->AddInstruction(
        HloInstruction::Create(HloOpcode::kFusion, root->shape(), operands, std::move(attributes), {&fused, 1}),
        absl::StrCat(results[0]->name(), "_fusion"));
    fused->set_fusion_instruction(fusion);
    if (results.size() == 1) {
      HILO_RETURN_IF_ERROR(computation->ReplaceInstruction(results[0], fusion));
      return true;
    }
    for (size_t i = 0; i < results.size(); ++i) {
      HILO_ASSIGN_OR_RETURN(HloInstruction * result, MakeTupleElement(fusion, static_cast<int64_t>(i)));
      HILO_RETURN_IF_ERROR(computation->ReplaceInstruction(results[i], result));
    }
    return true;
  }

  const Target& target_;
  const double instructions_per_byte_;                    // 0: copies are counted instead
  absl::flat_hash_set<const HloInstruction*> compared_;   // those of the computation that are computed once
  absl::flat_hash_set<const HloInstruction*> kept_rows_;  // those that are arrays, as they would cut expensive rows
};

}  // namespace

std::unique_ptr<HloPass> MakeFusion(const Target* target, double instructions_per_byte) {
  return std::make_unique<LoopFusion>(target, instructions_per_byte);
}

}  // namespace hilo
