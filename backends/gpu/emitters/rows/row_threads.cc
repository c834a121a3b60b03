#include "backends/gpu/emitters/rows/row_threads.h"

#include <algorithm>
#include <vector>

#include "backends/gpu/match/launch_sizes.h"
#include "backends/llvm/elements/predication.h"
#include "backends/llvm/elements/scalar_computation.h"
#include "hilo/status_macros.h"

namespace hilo::gpu {
namespace {

using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

// Returns the count of leading dimensions that have `elements` elements; -1 if there is none.
int64_t LeadingDimensions(absl::Span<const int64_t> dimensions, int64_t elements) {
  int64_t product = 1;
  for (size_t d = 0; d <= dimensions.size(); ++d) {
    if (product == elements && (d == dimensions.size() || dimensions[d] != 1)) return static_cast<int64_t>(d);
    if (d < dimensions.size()) product *= dimensions[d];
  }
  return -1;
}

// Every lane gets the combination of `lanes` adjacent ones.
absl::StatusOr<ElementValue> CombineLanes(KernelEmitter& k, const HloInstruction* reduce, ElementValue value,
                                          int64_t lanes) {
  for (int distance = 1; distance < lanes; distance *= 2) {
    ElementValue other{.re = k.ShuffleAcross(value.re, distance)};
    if (value.im != nullptr) other.im = k.ShuffleAcross(value.im, distance);
    HILO_ASSIGN_OR_RETURN(value, CombineTerms(k, reduce, value, other));
  }
  return value;
}

absl::Status CombineWarps(KernelEmitter& k, const RowThreads& at, absl::Span<const HloInstruction* const> level,
                          Elements* sums) {
  llvm::IRBuilder<>& b = k.b();
  const auto number = [&](int64_t value) { return b.getInt64(static_cast<uint64_t>(value)); };
  const int64_t warps = at.threads / kWarp;
  llvm::Value* first = b.CreateMul(at.row_in_block, number(warps), "", true, true);
  llvm::Value* own = b.CreateAdd(first, b.CreateLShr(at.lane, 5), "", true, true);
  std::vector<std::vector<llvm::Value*>> cells;
  for (const ElementValue& sum : *sums) {
    std::vector<llvm::Value*>& mine = cells.emplace_back();
    for (llvm::Value* part : codegen::Pack({sum}))
      mine.push_back(k.Shared(part->getType(), at.block_rows * warps, "warps"));
  }
  llvm::Value* in_warp = b.CreateAnd(at.lane, number(kWarp - 1));
  HILO_RETURN_IF_ERROR(k.If("first_lane", b.CreateICmpEQ(in_warp, number(0)), [&] {
    for (size_t i = 0; i < cells.size(); ++i) {
      const codegen::Carried parts = codegen::Pack({(*sums)[i]});
      for (size_t p = 0; p < parts.size(); ++p) k.StoreCell(cells[i][p], own, parts[p]);
    }
    return absl::OkStatus();
  }));
  k.Barrier();
  llvm::Value* cell = b.CreateAdd(first, b.CreateAnd(in_warp, number(warps - 1)), "", true, true);
  for (size_t i = 0; i < cells.size(); ++i) {
    const ElementValue& sum = (*sums)[i];
    ElementValue partial{.re = k.LoadCell(cells[i][0], cell, sum.re->getType())};
    if (sum.im != nullptr) partial.im = k.LoadCell(cells[i][1], cell, sum.im->getType());
    HILO_ASSIGN_OR_RETURN((*sums)[i], CombineLanes(k, level[i], partial, warps));
  }
  return absl::OkStatus();
}

}  // namespace

Index FullIndexOf(KernelEmitter& k, const RowSpace& space, absl::Span<const int64_t> dimensions, llvm::Value* row,
                  const LaneIndex& group, int64_t j) {
  const auto& [rows, columns] = space;
  const int64_t leading = LeadingDimensions(dimensions, rows);
  if (leading < 0) {
    const LaneIndex column = group.AddConstant(j).WithRange({0, columns - 1});
    return Index({LaneIndex::Uniform(row, 1, rows), column}).Reshape(k.context(), {rows, columns}, dimensions);
  }
  std::vector<LaneIndex> index = k.Delinearize(row, dimensions.first(leading));
  const auto trailing = dimensions.subspan(leading);
  std::vector<LaneIndex> in_row = Index::FromLinear(group, trailing).Dims(k.context());
  in_row.back() = in_row.back().AddConstant(j).WithRange({0, trailing.back() - 1});
  index.insert(index.end(), in_row.begin(), in_row.end());
  return Index(std::move(index));
}

Index RowIndexOf(KernelEmitter& k, const Shape& shape, llvm::Value* row) {
  return shape.rank() == 0 ? Index() : Index(k.Delinearize(row, shape.dimensions()));
}

std::vector<const HloInstruction*> FullArraysOf(const HloInstruction* instruction, const RowSpace& space,
                                                absl::Span<const HloInstruction* const> wanted,
                                                absl::flat_hash_set<const HloInstruction*>* visited) {
  std::vector<const HloInstruction*> arrays, stack(wanted.begin(), wanted.end());
  while (!stack.empty()) {
    const HloInstruction* member = stack.back();
    stack.pop_back();
    if (!visited->insert(member).second || member->opcode() == HloOpcode::kReduce) continue;
    if (member->IsParameter() || (member != instruction && !member->parent()->IsFusion())) {
      if (space.IsFull(member->shape())) arrays.push_back(member);
    } else {
      stack.insert(stack.end(), member->operands().begin(), member->operands().end());
    }
  }
  return arrays;
}

bool SharesMemory(KernelEmitter& k, const HloInstruction* instruction) {
  for (int64_t leaf = 0, results = LeafCount(instruction->shape()); leaf < results; ++leaf) {
    for (const HloInstruction* operand : instruction->operands()) {
      for (int64_t other = 0, leaves = LeafCount(operand->shape()); other < leaves; ++other) {
        if (k.SameMemory(instruction, leaf, operand, other)) return true;
      }
    }
  }
  return false;
}

absl::StatusOr<ElementValue> CombineTerms(KernelEmitter& k, const HloInstruction* reduce, const ElementValue& a,
                                          const ElementValue& b) {
  HILO_ASSIGN_OR_RETURN(const Elements both,
                        codegen::EmitComputation(k.context(), *reduce->called_computation(), {a, b}));
  return both[0];
}

absl::Status CombineThreads(KernelEmitter& k, const RowThreads& at, absl::Span<const HloInstruction* const> level,
                            Elements values) {
  for (size_t i = 0; i < level.size(); ++i) {
    HILO_ASSIGN_OR_RETURN(values[i], CombineLanes(k, level[i], values[i], std::min<int64_t>(at.threads, kWarp)));
  }
  if (at.threads > kWarp) HILO_RETURN_IF_ERROR(CombineWarps(k, at, level, &values));
  for (size_t i = 0; i < level.size(); ++i) {
    HILO_ASSIGN_OR_RETURN(const ElementValue init, k.elements().Generate(level[i]->operand(1), Index()));
    HILO_ASSIGN_OR_RETURN(const ElementValue sum, CombineTerms(k, level[i], init, values[i]));
    k.SetValue(level[i], sum);
  }
  return absl::OkStatus();
}

}  // namespace hilo::gpu
