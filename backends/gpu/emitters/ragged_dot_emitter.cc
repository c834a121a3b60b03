// ragged-dot: one thread per element of the result. Sums run over the contracting dimensions; groups are consecutive
// parts of the ragged dimension, whose sizes each thread sums. The kind of the ragged dimension determines the role of
// a group, see hlo/ops/linalg/ragged_dot.cc.
#include "absl/algorithm/container.h"
#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/emitters/nest_emitter.h"
#include "backends/llvm/elements/predication.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/ops/linalg/linalg_attributes.h"
#include "hlo/ops/reduction/sum_type.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

class RaggedDot {
 public:
  RaggedDot(KernelEmitter& k, const HloInstruction* dot)
      : k_(k),
        b_(k.b()),
        dot_(dot),
        attrs_(dot->attrs<RaggedDotAttrs>()),
        lhs_(dot->operand(0)->shape()),
        rhs_(dot->operand(1)->shape()),
        sizes_(dot->operand(2)->shape()),
        ragged_(attrs_.lhs_ragged_dims[0]),
        sum_type_(SumType(lhs_.element_type(), rhs_.element_type(), dot->shape().element_type())) {}

  absl::Status EmitElement(llvm::Value* i) {
    const std::vector<LaneIndex> out = k_.Delinearize(i, dot_->shape().dimensions());
    const bool in_batch = absl::c_linear_search(attrs_.lhs_batch_dims, ragged_),
               in_sum = absl::c_linear_search(attrs_.lhs_contracting_dims, ragged_);
    size_t next = 0;
    LaneIndex group;
    if (in_sum) group = out[next++];
    lhs_at_.assign(lhs_.rank(), LaneIndex());
    rhs_at_.assign(rhs_.rank(), LaneIndex());
    for (size_t d = 0; d < attrs_.lhs_batch_dims.size(); ++d)
      lhs_at_[attrs_.lhs_batch_dims[d]] = rhs_at_[attrs_.rhs_batch_dims[d]] = out[next++];
    for (int64_t d = 0; d < lhs_.rank(); ++d) {
      if (!absl::c_linear_search(attrs_.lhs_batch_dims, d) && !absl::c_linear_search(attrs_.lhs_contracting_dims, d))
        lhs_at_[d] = out[next++];
    }
    for (int64_t d = 0; d < rhs_.rank(); ++d) {
      const bool taken = absl::c_linear_search(attrs_.rhs_batch_dims, d) ||
                         absl::c_linear_search(attrs_.rhs_contracting_dims, d) ||
                         absl::c_linear_search(attrs_.rhs_group_dims, d);
      if (!taken) rhs_at_[d] = out[next++];
    }
    const Carried zero = codegen::Pack({codegen::EmitZero(k_.context(), sum_type_)});
    absl::StatusOr<Carried> sum;
    if (in_batch || in_sum) {
      sum = Sum(zero, in_sum ? &group : nullptr);
    } else {
      sum = SumOfGroups(zero);
    }
    if (!sum.ok()) return sum.status();
    const ElementValue value = codegen::Unpack(*sum, {&sum_type_, 1})[0];
    k_.ArrayOf(dot_).Store(k_.context(), Index(out),
                           codegen::EmitConvert(k_.context(), sum_type_, dot_->shape().element_type(), value));
    return absl::OkStatus();
  }

 private:
  llvm::Value* Int(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }

  // Returns the size of group `group`, in the list that the index in the lhs selects.
  absl::StatusOr<llvm::Value*> SizeOf(llvm::Value* group) {
    std::vector<LaneIndex> at;
    if (sizes_.rank() > 1) {
      for (int64_t d : RaggedOrder()) {
        if (d == ragged_) break;
        at.push_back(lhs_at_[d]);
      }
    }
    at.push_back(LaneIndex::Uniform(group, 1, sizes_.dimensions().back()));
    HILO_ASSIGN_OR_RETURN(ElementValue size, k_.elements().Generate(dot_->operand(2), Index(at)));
    return b_.CreateIntCast(size.re, b_.getInt64Ty(), IsSignedIntegralType(sizes_.element_type()));
  }

  std::vector<int64_t> RaggedOrder() const {
    std::vector<int64_t> order = attrs_.lhs_batch_dims;
    if (absl::c_linear_search(order, ragged_)) return order;
    if (absl::c_linear_search(attrs_.lhs_contracting_dims, ragged_)) {
      order.insert(order.end(), attrs_.lhs_contracting_dims.begin(), attrs_.lhs_contracting_dims.end());
      return order;
    }
    for (int64_t d = 0; d < lhs_.rank(); ++d) {
      if (!absl::c_linear_search(attrs_.lhs_batch_dims, d) && !absl::c_linear_search(attrs_.lhs_contracting_dims, d))
        order.push_back(d);
    }
    return order;
  }

  // Adds the products over the contracting dimensions; with a group, over the positions in the group.
  absl::StatusOr<Carried> Sum(const Carried& start, const LaneIndex* group) {
    std::vector<int64_t> sizes;
    for (int64_t d : attrs_.lhs_contracting_dims) sizes.push_back(lhs_.dimensions(d));
    auto body = [&](llvm::Value* c, const Carried& carried) -> absl::StatusOr<Carried> {
      const std::vector<LaneIndex> position = k_.Delinearize(c, sizes);
      for (size_t d = 0; d < position.size(); ++d)
        lhs_at_[attrs_.lhs_contracting_dims[d]] = rhs_at_[attrs_.rhs_contracting_dims[d]] = position[d];
      if (group == nullptr) return Add(carried);
      HILO_ASSIGN_OR_RETURN(llvm::Value * holds, Holds(group->Base(k_.context()), lhs_at_[ragged_].Base(k_.context())));
      return codegen::EmitBranches(
          k_.context(), "holds", holds, [&] { return Add(carried); },
          [&]() -> absl::StatusOr<Carried> { return carried; });
    };
    return codegen::EmitLoop(k_.context(), "contract", Int(0), Int(Product(sizes)), 1, start, body);
  }

  absl::StatusOr<Carried> Add(const Carried& carried) {
    HILO_ASSIGN_OR_RETURN(ElementValue x, k_.elements().Generate(dot_->operand(0), Index(lhs_at_)));
    HILO_ASSIGN_OR_RETURN(ElementValue y, k_.elements().Generate(dot_->operand(1), Index(rhs_at_)));
    x = codegen::EmitConvert(k_.context(), lhs_.element_type(), sum_type_, x);
    y = codegen::EmitConvert(k_.context(), rhs_.element_type(), sum_type_, y);
    HILO_ASSIGN_OR_RETURN(ElementValue product,
                          codegen::EmitBinaryOp(k_.context(), HloOpcode::kMultiply, sum_type_, x, y));
    HILO_ASSIGN_OR_RETURN(ElementValue sum,
                          codegen::EmitBinaryOp(k_.context(), HloOpcode::kAdd, sum_type_,
                                                codegen::Unpack(carried, {&sum_type_, 1})[0], product));
    return codegen::Pack({sum});
  }

  // Whether `at` of the ragged dimension is in `group`.
  absl::StatusOr<llvm::Value*> Holds(llvm::Value* group, llvm::Value* at) {
    auto add = [&](llvm::Value* g, const Carried& carried) -> absl::StatusOr<Carried> {
      HILO_ASSIGN_OR_RETURN(llvm::Value * size, SizeOf(g));
      return Carried{b_.CreateAdd(carried[0], size)};
    };
    HILO_ASSIGN_OR_RETURN(Carried begin, codegen::EmitLoop(k_.context(), "groups", Int(0), group, 1, {Int(0)}, add));
    HILO_ASSIGN_OR_RETURN(llvm::Value * size, SizeOf(group));
    return b_.CreateAnd(b_.CreateICmpSGE(at, begin[0]), b_.CreateICmpSLT(at, b_.CreateAdd(begin[0], size)));
  }

  // A row of the lhs is multiplied with the matrices of all groups that contain it.
  absl::StatusOr<Carried> SumOfGroups(Carried start) {
    start.push_back(Int(0));
    llvm::Value* at = lhs_at_[ragged_].Base(k_.context());
    auto body = [&](llvm::Value* group, const Carried& carried) -> absl::StatusOr<Carried> {
      HILO_ASSIGN_OR_RETURN(llvm::Value * size, SizeOf(group));
      llvm::Value *begin = carried.back(), *end = b_.CreateAdd(begin, size);
      for (int64_t d : attrs_.rhs_group_dims) rhs_at_[d] = LaneIndex::Uniform(group, 1, sizes_.dimensions().back());
      const Carried sum(carried.begin(), carried.end() - 1);
      llvm::Value* holds = b_.CreateAnd(b_.CreateICmpSGE(at, begin), b_.CreateICmpSLT(at, end));
      HILO_ASSIGN_OR_RETURN(Carried next, codegen::EmitBranches(
                                              k_.context(), "holds", holds, [&] { return Sum(sum, nullptr); },
                                              [&]() -> absl::StatusOr<Carried> { return sum; }));
      next.push_back(end);
      return next;
    };
    HILO_ASSIGN_OR_RETURN(Carried sum, codegen::EmitLoop(k_.context(), "groups", Int(0),
                                                         Int(sizes_.dimensions().back()), 1, start, body));
    sum.pop_back();
    return sum;
  }

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  const HloInstruction* dot_;
  const RaggedDotAttrs& attrs_;
  const Shape &lhs_, &rhs_, &sizes_;
  int64_t ragged_;
  PrimitiveType sum_type_;
  std::vector<LaneIndex> lhs_at_, rhs_at_;
};

}  // namespace

absl::Status EmitRaggedDot(ProgramEmitter& program, const HloInstruction* instruction) {
  const int64_t count = ShapeUtil::ElementsIn(instruction->shape());
  const int64_t block = instruction->kernel()->tile[0];
  KernelEmitter k(&program, instruction);
  RaggedDot emitter(k, instruction);
  return EmitThreads(k, instruction, count, block, [&](llvm::Value* i) { return emitter.EmitElement(i); });
}

}  // namespace hilo::gpu
