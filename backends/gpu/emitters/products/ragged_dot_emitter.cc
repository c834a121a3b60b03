// ragged-dot. Where groups are rows, each multiplied by a matrix of its own, tiles of results (tiled_product.h): a
// block finds the group of its tile by the groups' sizes. Rows after the last group are a group whose results are 0.
// Where a size is negative, so that rows are in several groups, the same threads compute element by element.
// Where groups are parts of the depth, each with results of its own, a block finds the part of its tile's group.
//
// Others: one thread per element of the result. Sums run over the contracting dimensions; groups are consecutive
// parts of the ragged dimension, whose sizes each thread sums. The kind of the ragged dimension determines the role of
// a group, see hlo/ops/linalg/ragged_dot.cc.
#include "absl/algorithm/container.h"
#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/emitters/nest_emitter.h"
#include "backends/gpu/emitters/products/dot_operand.h"
#include "backends/gpu/emitters/products/tiled_product.h"
#include "backends/gpu/match/product_match.h"
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

class GroupedRowsKernel {
 public:
  GroupedRowsKernel(KernelEmitter& k, const HloInstruction* dot)
      : k_(k),
        b_(k.b()),
        dot_(dot),
        tile_(ProductTile::Of(*dot->kernel())),
        grouped_(*GroupedRowsOf(*dot)),
        sum_type_(SumType(dot->operand(0)->shape().element_type(), dot->operand(1)->shape().element_type(),
                          dot->shape().element_type())),
        elements_(k, dot) {}

  TiledProduct product() {
    const auto array = [](const DotSide& side) { return side.operand->IsConstant() ? nullptr : side.operand; };
    return {.depth = Product(grouped_.lhs.contracting_sizes),
            .lhs = ProductSideOf(k_, grouped_.lhs, array(grouped_.lhs)),
            .rhs = ProductSideOf(k_, grouped_.rhs, array(grouped_.rhs)),
            .sum_type = sum_type_,
            .store = [this](auto*, auto* m, auto* n, auto sums) { return Store(m, n, sums); },
            .row_tiles = TiledProduct::RowTiles{.most = row_tiles(),
                                                .tile = [this](llvm::Value* number) { return TileOf(number); }}};
  }

 private:
  llvm::Value* Int(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }
  llvm::Value* Min(llvm::Value* x, llvm::Value* y) {
    return codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::smin, x, y);
  }

  // Each group, and the rows after the last, may have a tile that is not full.
  int64_t row_tiles() const { return CeilDiv(grouped_.rows(), tile_.rows) + grouped_.groups(); }

  absl::StatusOr<llvm::Value*> SizeOf(llvm::Value* group) {
    const Index at({LaneIndex::Uniform(group, 1, grouped_.groups())});
    HILO_ASSIGN_OR_RETURN(const ElementValue size, k_.elements().Generate(dot_->operand(2), at));
    return b_.CreateIntCast(size.re, b_.getInt64Ty(), IsSignedIntegralType(dot_->operand(2)->shape().element_type()));
  }

  absl::StatusOr<TiledProduct::RowTile> TileOf(llvm::Value* number) {
    llvm::Value *groups = Int(grouped_.groups()), *rows = Int(grouped_.rows());
    // Carries the sum of the sizes, which ends the group, the group's first tile, and whether groups are in order; the
    // tile's group, first row, and end of the group's rows.
    const auto next = [&](llvm::Value* group, const Carried& carried) -> absl::StatusOr<Carried> {
      llvm::Value* first = carried[1];
      HILO_ASSIGN_OR_RETURN(llvm::Value * size, SizeOf(group));
      llvm::Value* sum = b_.CreateAdd(carried[0], size);
      llvm::Value *begin = Min(carried[0], rows), *end = Min(sum, rows);
      llvm::Value* tiles = b_.CreateUDiv(b_.CreateAdd(b_.CreateSub(end, begin), Int(tile_.rows - 1)), Int(tile_.rows));
      llvm::Value* after = b_.CreateAdd(first, tiles);
      llvm::Value* has = b_.CreateAnd(b_.CreateICmpUGE(number, first), b_.CreateICmpULT(number, after));
      llvm::Value* in_order = b_.CreateAnd(carried[2], b_.CreateICmpSGE(sum, carried[0]));
      return Carried{sum,
                     after,
                     in_order,
                     b_.CreateSelect(has, group, carried[3]),
                     b_.CreateSelect(has, RowOf(begin, first, number), carried[4]),
                     b_.CreateSelect(has, end, carried[5])};
    };
    HILO_ASSIGN_OR_RETURN(const Carried found,
                          codegen::EmitLoop(k_.context(), "groups", Int(0), groups, 1,
                                            {Int(0), Int(0), b_.getTrue(), groups, rows, rows}, next));
    llvm::Value* in_order = found[2];
    HILO_RETURN_IF_ERROR(k_.If("overlapping", b_.CreateNot(in_order), [&] { return EmitElements(); }));
    in_group_ = b_.CreateICmpULT(found[3], groups);
    end_ = found[5];
    llvm::Value* first = b_.CreateSelect(in_group_, found[4], RowOf(Min(found[0], rows), found[1], number));
    return TiledProduct::RowTile{.batch = Min(found[3], Int(grouped_.groups() - 1)),
                                 .first = first,
                                 .exists = b_.CreateAnd(in_order, b_.CreateICmpULT(first, rows))};
  }

  // The threads of all blocks compute all elements of the result.
  absl::Status EmitElements() {
    const int64_t threads = tile_.threads * row_tiles() * CeilDiv(Product(grouped_.rhs.free_sizes), tile_.columns);
    return k_.ForEach("element", k_.GlobalThread(tile_.threads), Int(ShapeUtil::ElementsIn(dot_->shape())), threads,
                      [&](llvm::Value* i) { return elements_.EmitElement(i); });
  }

  llvm::Value* RowOf(llvm::Value* begin, llvm::Value* first, llvm::Value* number) {
    llvm::Value* tiles = b_.CreateSub(number, first, "", false, true);
    return b_.CreateAdd(begin, b_.CreateMul(tiles, Int(tile_.rows), "", false, true), "", false, true);
  }

  absl::Status Store(llvm::Value* m, llvm::Value* n, absl::Span<const ElementValue> sums) {
    return k_.If("row", b_.CreateICmpULT(m, end_), [&]() -> absl::Status {
      for (size_t i = 0; i < sums.size(); ++i) {
        std::vector<LaneIndex> at = {LaneIndex::Uniform(m, 1, grouped_.rows())};
        const std::vector<LaneIndex> column = k_.Delinearize(b_.CreateAdd(n, b_.getInt64(i)), grouped_.rhs.free_sizes);
        at.insert(at.end(), column.begin(), column.end());
        ElementValue sum = sums[i];
        const ElementValue zero = codegen::EmitZero(k_.context(), sum_type_);
        sum.re = b_.CreateSelect(in_group_, sum.re, zero.re);
        if (sum.im != nullptr) sum.im = b_.CreateSelect(in_group_, sum.im, zero.im);
        k_.ArrayOf(dot_).Store(k_.context(), Index(std::move(at)),
                               codegen::EmitConvert(k_.context(), sum_type_, dot_->shape().element_type(), sum));
      }
      return absl::OkStatus();
    });
  }

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  const HloInstruction* dot_;
  const ProductTile tile_;
  const GroupedRows grouped_;
  const PrimitiveType sum_type_;
  RaggedDot elements_;
  llvm::Value *in_group_ = nullptr, *end_ = nullptr;  // of the block's tile: false for rows after the last group
};

class GroupedDepthKernel {
 public:
  GroupedDepthKernel(KernelEmitter& k, const HloInstruction* dot, const GroupedDepth& grouped)
      : k_(k),
        b_(k.b()),
        dot_(dot),
        grouped_(grouped),
        sum_type_(SumType(dot->operand(0)->shape().element_type(), dot->operand(1)->shape().element_type(),
                          dot->shape().element_type())) {}

  TiledProduct product() {
    const auto array = [](const DotSide& side) { return side.operand->IsConstant() ? nullptr : side.operand; };
    return {.batch = grouped_.groups,
            .depth = grouped_.depth(),
            .lhs = ProductSideOf(k_, grouped_.lhs, array(grouped_.lhs)),
            .rhs = ProductSideOf(k_, grouped_.rhs, array(grouped_.rhs)),
            .sum_type = sum_type_,
            .store = [this](auto* group, auto* m, auto* n, auto sums) { return Store(group, m, n, sums); },
            .depth_range = [this](auto* group) { return RangeOf(group); }};
  }

 private:
  llvm::Value* Int(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }

  absl::StatusOr<llvm::Value*> SizeOf(llvm::Value* group) {
    const Index at({LaneIndex::Uniform(group, 1, grouped_.groups)});
    HILO_ASSIGN_OR_RETURN(const ElementValue size, k_.elements().Generate(dot_->operand(2), at));
    const bool is_signed = IsSignedIntegralType(dot_->operand(2)->shape().element_type());
    return b_.CreateIntCast(size.re, b_.getInt64Ty(), is_signed);
  }

  // The depths from the sum of the sizes before, up to that and its own, of those that there are.
  absl::StatusOr<TiledProduct::DepthRange> RangeOf(llvm::Value* group) {
    const auto add = [&](llvm::Value* before, const Carried& carried) -> absl::StatusOr<Carried> {
      HILO_ASSIGN_OR_RETURN(llvm::Value * size, SizeOf(before));
      return Carried{b_.CreateAdd(carried[0], size)};
    };
    HILO_ASSIGN_OR_RETURN(const Carried sum,
                          codegen::EmitLoop(k_.context(), "groups", Int(0), group, 1, {Int(0)}, add));
    HILO_ASSIGN_OR_RETURN(llvm::Value * size, SizeOf(group));
    const auto clamped = [&](llvm::Value* depth, llvm::Value* least) {
      llvm::Value* most = codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::smin, depth, Int(grouped_.depth()));
      return codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::smax, most, least);
    };
    llvm::Value* begin = clamped(sum[0], Int(0));
    return TiledProduct::DepthRange{.begin = begin, .end = clamped(b_.CreateAdd(sum[0], size), begin)};
  }

  absl::Status Store(llvm::Value* group, llvm::Value* m, llvm::Value* n, absl::Span<const ElementValue> sums) {
    for (size_t i = 0; i < sums.size(); ++i) {
      std::vector<LaneIndex> at = {LaneIndex::Uniform(group, 1, grouped_.groups)};
      const std::vector<LaneIndex> row = k_.Delinearize(m, grouped_.lhs.free_sizes),
                                   column = k_.Delinearize(b_.CreateAdd(n, b_.getInt64(i), "", true, true),
                                                           grouped_.rhs.free_sizes);
      at.insert(at.end(), row.begin(), row.end());
      at.insert(at.end(), column.begin(), column.end());
      k_.ArrayOf(dot_).Store(k_.context(), Index(std::move(at)),
                             codegen::EmitConvert(k_.context(), sum_type_, dot_->shape().element_type(), sums[i]));
    }
    return absl::OkStatus();
  }

  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  const HloInstruction* dot_;
  const GroupedDepth grouped_;
  const PrimitiveType sum_type_;
};

}  // namespace

absl::Status EmitTiledRaggedDot(ProgramEmitter& program, const HloInstruction* instruction) {
  KernelEmitter k(&program, instruction);
  if (const std::optional<GroupedDepth> grouped = GroupedDepthOf(*instruction)) {
    GroupedDepthKernel kernel(k, instruction, *grouped);
    return kernel.product().EmitAndLaunch(instruction, k);
  }
  GroupedRowsKernel kernel(k, instruction);
  return kernel.product().EmitAndLaunch(instruction, k);
}

absl::Status EmitRaggedDot(ProgramEmitter& program, const HloInstruction* instruction) {
  const int64_t count = ShapeUtil::ElementsIn(instruction->shape());
  const int64_t block = instruction->kernel()->tile[0];
  KernelEmitter k(&program, instruction);
  RaggedDot emitter(k, instruction);
  return EmitThreads(k, instruction, count, block, [&](llvm::Value* i) { return emitter.EmitElement(i); });
}

}  // namespace hilo::gpu
