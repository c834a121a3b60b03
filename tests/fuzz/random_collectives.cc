// Collectives on two to four replicas. Integers only, and floats that are not computed with: what arrives is then known
// to the bit.
#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/ops/collective/collective_attributes.h"
#include "hlo/ops/table/op_attributes.h"
#include "tests/fuzz/random_module.h"
#include "tests/fuzz/random_numbers.h"

namespace hilo::fuzz {
namespace {

constexpr PrimitiveType kCollectiveTypes[] = {S32, S32, U8, S64, U32, F32, BF16, PRED, S4};

class CollectiveProgram {
 public:
  explicit CollectiveProgram(uint64_t seed)
      : random_(seed),
        replicas_(2 + random_.Below(3)),
        module_(std::make_unique<HloModule>(absl::StrCat("replicated_", seed))) {
    main_ = module_->AddComputation("main");
    module_->set_entry_computation(main_);
    module_->set_replica_count(replicas_);
  }

  RandomProgram Make() {
    for (int64_t i = 1 + random_.Below(3); i > 0; --i) AddParameter();
    for (int64_t wanted = 2 + random_.Below(8), tries = 0; wanted > 0 && tries < 100; ++tries) wanted -= Step();
    std::vector<HloInstruction*> ends;
    for (HloInstruction* array : arrays_) {
      if (array->users().empty()) ends.push_back(array);
    }
    (void)main_->set_root_instruction(*main_->AddOp(HloOpcode::kTuple, ends), true);
    (void)module_->RemoveUnusedComputations();
    RandomProgram program{.module = std::move(module_)};
    for (int64_t replica = 0; replica < replicas_; ++replica) {
      for (const HloInstruction* parameter : main_->parameter_instructions())
        program.arguments.push_back(Argument(parameter->shape()));
    }
    return program;
  }

 private:
  using Operands = std::vector<HloInstruction*>;

  void AddParameter() {
    std::vector<int64_t> dims(random_.Below(3));
    for (int64_t& d : dims) d = random_.Chance(50) ? replicas_ * (1 + random_.Below(2)) : 1 + random_.Below(5);
    const auto number = main_->num_parameters();
    const std::string name = absl::StrCat("p", number);
    arrays_.push_back(main_->AddInstruction(
        HloInstruction::CreateParameter(number, ShapeUtil::MakeShape(random_.Of(kCollectiveTypes), dims), name), name));
  }
  Literal Argument(const Shape& shape) {
    Literal wide = *Literal::Create(ShapeUtil::MakeShape(F64, shape.dimensions()));
    for (double& x : wide.data<double>())
      x = static_cast<double>(random_.Below(shape.element_type() == PRED ? 2 : 100));
    return *wide.Convert(shape.element_type());
  }
  HloInstruction* Pick() { return arrays_[std::max(random_.Below(arrays_.size()), random_.Below(arrays_.size()))]; }

  // All replicas, in some order, in one group; or in groups of equal size.
  ReplicaGroups Groups(int64_t* size) {
    std::vector<int64_t> ids(replicas_);
    for (int64_t i = 0; i < replicas_; ++i) std::swap(ids[i] = i, ids[random_.Below(i + 1)]);
    *size = replicas_ == 4 && random_.Chance(40) ? 2 : replicas_;
    ReplicaGroups groups;
    if (*size == replicas_ && random_.Chance(30)) return groups;  // none says all
    for (int64_t i = 0; i < replicas_; i += *size) groups.groups.emplace_back(ids.begin() + i, ids.begin() + i + *size);
    return groups;
  }
  HloComputation* Combiner(PrimitiveType type) {
    static constexpr HloOpcode kAny[] = {HloOpcode::kMaximum, HloOpcode::kMinimum},
                               kLogic[] = {HloOpcode::kAnd, HloOpcode::kOr},
                               kInteger[] = {HloOpcode::kAdd, HloOpcode::kMultiply, HloOpcode::kMaximum,
                                             HloOpcode::kXor};
    HloComputation* computation = module_->AddComputation("combine");
    const Shape scalar = ShapeUtil::MakeShape(type, {});
    HloInstruction* a = computation->AddInstruction(HloInstruction::CreateParameter(0, scalar, "a"), "a");
    HloInstruction* b = computation->AddInstruction(HloInstruction::CreateParameter(1, scalar, "b"), "b");
    const HloOpcode opcode = type == PRED           ? random_.Of(kLogic)
                             : IsIntegralType(type) ? random_.Of(kInteger)
                                                    : random_.Of(kAny);
    (void)computation->set_root_instruction(*computation->AddOp(opcode, {a, b}), true);
    return computation;
  }
  // The arrays of the result are new values; null if inference refuses it.
  HloInstruction* Add(HloOpcode opcode, const Operands& operands, std::unique_ptr<OpAttributes> attributes = nullptr,
                      std::vector<HloComputation*> called = {}, const Shape* stated = nullptr) {
    auto added = main_->AddOp(opcode, operands, std::move(attributes), called, stated);
    if (!added.ok()) return nullptr;
    const Shape& shape = (*added)->shape();
    if (shape.IsArray()) {
      arrays_.push_back(*added);
    } else if (!opens_) {
      for (int64_t i = 0; i < shape.tuple_shapes_size(); ++i) {
        auto index = std::make_unique<GetTupleElementAttrs>();
        index->index = i;
        arrays_.push_back(*main_->AddOp(HloOpcode::kGetTupleElement, {*added}, std::move(index)));
      }
    }
    return *added;
  }
  // The start of a pair, whose result has no other user.
  HloInstruction* Open(HloOpcode opcode, const Operands& operands, std::unique_ptr<OpAttributes> attributes,
                       std::vector<HloComputation*> called, const Shape* stated) {
    opens_ = true;
    const size_t arrays = arrays_.size();
    HloInstruction* start = Add(opcode, operands, std::move(attributes), std::move(called), stated);
    arrays_.resize(arrays);
    opens_ = false;
    return start;
  }

  bool Step() {
    switch (random_.Below(12)) {
      case 0: return Add(HloOpcode::kReplicaId, {});
      case 1: return Add(HloOpcode::kPartitionId, {});
      case 2: return Local();
      case 3:
      case 4: return AllReduce();
      case 5: return AllGather();
      case 6: return ReduceScatter();
      case 7: return AllToAll();
      case 8: return Permute();
      case 9: return Broadcast();
      case 10: return Ragged();
      default: AddParameter(); return true;
    }
  }
  bool Local() {
    HloInstruction* x = Pick();
    if (!IsIntegralType(x->shape().element_type())) return Add(HloOpcode::kCopy, {x});
    return Add(random_.Chance(50) ? HloOpcode::kAdd : HloOpcode::kXor, {x, x});
  }
  bool AllReduce() {
    int64_t size;
    auto attributes = std::make_unique<AllReduceAttrs>();
    attributes->replica_groups = Groups(&size);
    HloInstruction* x = Pick();
    HloComputation* combine = Combiner(x->shape().element_type());
    if (random_.Chance(70)) return Add(HloOpcode::kAllReduce, {x}, std::move(attributes), {combine});
    const Shape shape = x->shape();
    HloInstruction* start = Open(HloOpcode::kAllReduceStart, {x}, std::move(attributes), {combine}, &shape);
    return start != nullptr && Add(HloOpcode::kAllReduceDone, {start});
  }
  bool AllGather() {
    HloInstruction* x = Pick();
    if (x->shape().rank() == 0) return false;
    int64_t size;
    auto attributes = std::make_unique<AllGatherAttrs>();
    attributes->replica_groups = Groups(&size);
    const int64_t d = random_.Below(x->shape().rank());
    attributes->dimensions = {d};
    Shape shape = x->shape();
    shape.set_dimensions(d, shape.dimensions(d) * size);
    if (ShapeUtil::ElementsIn(shape) > 4096) return false;
    if (random_.Chance(70)) return Add(HloOpcode::kAllGather, {x}, std::move(attributes), {}, &shape);
    const Shape state = ShapeUtil::MakeTupleShape({x->shape(), shape});
    HloInstruction* start = Open(HloOpcode::kAllGatherStart, {x}, std::move(attributes), {}, &state);
    return start != nullptr && Add(HloOpcode::kAllGatherDone, {start});
  }
  bool ReduceScatter() {
    HloInstruction* x = Pick();
    if (x->shape().rank() == 0) return false;
    int64_t size;
    auto attributes = std::make_unique<ReduceScatterAttrs>();
    attributes->replica_groups = Groups(&size);
    const int64_t d = random_.Below(x->shape().rank());
    attributes->dimensions = {d};
    Shape shape = x->shape();
    if (shape.dimensions(d) % size != 0) return false;
    shape.set_dimensions(d, shape.dimensions(d) / size);
    return Add(HloOpcode::kReduceScatter, {x}, std::move(attributes), {Combiner(shape.element_type())}, &shape);
  }
  // A dimension in pieces, or one array to each.
  bool AllToAll() {
    HloInstruction* x = Pick();
    int64_t size;
    auto attributes = std::make_unique<AllToAllAttrs>();
    attributes->replica_groups = Groups(&size);
    if (random_.Chance(40)) {
      Operands operands = {x};
      while (static_cast<int64_t>(operands.size()) < size) {
        HloInstruction* y = Pick();
        operands.push_back(y->shape() == x->shape() ? y : x);
      }
      return Add(HloOpcode::kAllToAll, operands, std::move(attributes));
    }
    if (x->shape().rank() == 0) return false;
    const int64_t d = random_.Below(x->shape().rank());
    if (x->shape().dimensions(d) % size != 0) return false;
    attributes->dimensions = {d};
    return Add(HloOpcode::kAllToAll, {x}, std::move(attributes));
  }
  bool Permute() {
    HloInstruction* x = Pick();
    auto attributes = std::make_unique<CollectivePermuteAttrs>();
    const int64_t shift = random_.Below(replicas_);
    for (int64_t i = 0; i < replicas_; ++i) {
      if (random_.Chance(80)) attributes->source_target_pairs.pairs.emplace_back(i, (i + shift) % replicas_);
    }
    if (random_.Chance(70)) return Add(HloOpcode::kCollectivePermute, {x}, std::move(attributes));
    const Shape state = ShapeUtil::MakeTupleShape({x->shape(), x->shape()});
    HloInstruction* start = Open(HloOpcode::kCollectivePermuteStart, {x}, std::move(attributes), {}, &state);
    return start != nullptr && Add(HloOpcode::kCollectivePermuteDone, {start});
  }
  bool Broadcast() {
    int64_t size;
    auto attributes = std::make_unique<CollectiveBroadcastAttrs>();
    attributes->replica_groups = Groups(&size);
    return Add(HloOpcode::kCollectiveBroadcast, {Pick()}, std::move(attributes));
  }
  // One row to each, to the row that has the sender's place.
  bool Ragged() {
    HloInstruction* x = Pick();
    if (x->shape().rank() == 0 || x->shape().dimensions(0) < replicas_) return false;
    auto attributes = std::make_unique<RaggedAllToAllAttrs>();
    const Shape list = ShapeUtil::MakeShape(S32, {replicas_});
    Literal numbers = *Literal::Create(list), ones = *Literal::Create(list);
    for (int64_t i = 0; i < replicas_; ++i) {
      numbers.data<int32_t>()[i] = static_cast<int32_t>(i);
      ones.data<int32_t>()[i] = 1;
    }
    HloInstruction* id = *main_->AddOp(HloOpcode::kReplicaId, {});
    const Shape scalar = ShapeUtil::MakeShape(S32, {});
    HloInstruction* place = *main_->AddOp(HloOpcode::kConvert, {id}, nullptr, {}, &scalar);
    HloInstruction* to = *main_->AddOp(HloOpcode::kBroadcast, {place}, std::make_unique<BroadcastAttrs>(), {}, &list);
    HloInstruction* from = main_->AddConstant(std::move(numbers));
    HloInstruction* one = main_->AddConstant(std::move(ones));
    return Add(HloOpcode::kRaggedAllToAll, {x, x, from, one, to, one}, std::move(attributes));
  }

  Random random_;
  int64_t replicas_;
  std::unique_ptr<HloModule> module_;
  HloComputation* main_;
  std::vector<HloInstruction*> arrays_;
  bool opens_ = false;
};

}  // namespace

RandomProgram MakeReplicatedProgram(uint64_t seed) { return CollectiveProgram(seed).Make(); }

}  // namespace hilo::fuzz
