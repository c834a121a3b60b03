// Reductions, with the producers fused into their operands. Which loops, and why: reduce_choice.cc.
#include <functional>

#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/reduction.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/reduction_op.h"

namespace hilo::cpu {
namespace {

using codegen::Carried;
using codegen::ElementValue;
using codegen::Index;
using codegen::LaneIndex;

Index InputIndex(const Reduction& r, const std::vector<LaneIndex>& kept, const std::vector<LaneIndex>& reduced) {
  std::vector<LaneIndex> index(r.input.rank());
  for (size_t i = 0; i < kept.size(); ++i) index[r.kept[i]] = kept[i];
  for (size_t i = 0; i < reduced.size(); ++i) index[r.reduced[i]] = reduced[i];
  return Index(std::move(index));
}

void Store(FunctionEmitter& f, const Reduction& r, const Index& index, const Elements& values) {
  for (int64_t i = 0; i < r.count; ++i) f.ArrayOf(r.instruction, i).Store(f.context(), index, values[i]);
}

// Adds up all elements for one position of the kept dimensions, in row-major order, under the current lanes. The
// positions in `places` are reduced together, interleaved. `units`: the lengths of partial sums, from the innermost on.
absl::StatusOr<std::vector<Elements>> AddUp(FunctionEmitter& f, const Reduction& r, absl::Span<const int64_t> units,
                                            const std::vector<std::vector<LaneIndex>>& places) {
  HILO_ASSIGN_OR_RETURN(Elements inits, InitsOf(f, r.reduce));
  llvm::IRBuilder<>& b = f.b();
  // Concatenates the values of all positions.
  const auto splat = [&](const Elements& values) {
    Carried all;
    for (size_t p = 0; p < places.size(); ++p) {
      for (llvm::Value* value : PackLanes(f, values)) all.push_back(value);
    }
    return all;
  };
  const Carried start = splat(inits);
  const size_t stride = start.size() / places.size();
  const auto of_place = [&](const Carried& carried, size_t p) {
    return UnpackLanes(Carried(carried.begin() + p * stride, carried.begin() + (p + 1) * stride), inits);
  };
  const auto combine_each = [&](const Carried& running,
                                absl::FunctionRef<absl::StatusOr<Elements>(size_t p)> with) -> absl::StatusOr<Carried> {
    Carried next;
    for (size_t p = 0; p < places.size(); ++p) {
      HILO_ASSIGN_OR_RETURN(const Elements elements, with(p));
      HILO_ASSIGN_OR_RETURN(const Elements stepped, Combine(f, *r.computation, of_place(running, p), elements));
      for (llvm::Value* value : PackLanes(f, stepped)) next.push_back(value);
    }
    return next;
  };
  const int64_t row = r.reduced_sizes.empty() ? 1 : r.reduced_sizes.back();
  const bool by_rows = !units.empty() && units[0] == row;
  // Sums the elements from `first` on, in loops of as many levels.
  std::function<absl::StatusOr<Carried>(size_t, llvm::Value*, llvm::Value*, const Carried&)> sum =
      [&](size_t level, llvm::Value* first, llvm::Value* count, const Carried& from) -> absl::StatusOr<Carried> {
    if (level == 0) {
      std::vector<LaneIndex> at;
      if (by_rows)
        at = Delinearize(f, b.CreateUDiv(first, b.getInt64(row)),
                         absl::MakeConstSpan(r.reduced_sizes).first(r.reduced_sizes.size() - 1));
      return codegen::EmitLoop(
          f.context(), "reduce", b.getInt64(0), count, 1, from,
          [&](llvm::Value* i, const Carried& carried) {
            std::vector<LaneIndex> reduced = at;
            if (by_rows) {
              reduced.push_back(LaneIndex::Uniform(i, 1, row));
            } else {
              reduced = Delinearize(f, b.CreateNUWAdd(first, i), r.reduced_sizes);
            }
            return combine_each(carried,
                                [&](size_t p) { return ElementsOf(f, r.reduce, InputIndex(r, places[p], reduced)); });
          },
          /*at_least_once=*/false, units.empty() ? Product(r.reduced_sizes) : units[0]);
    }
    llvm::Value* unit = b.getInt64(units[level - 1]);
    return codegen::EmitLoop(
        f.context(), "sums", b.getInt64(0), count, units[level - 1], from,
        [&](llvm::Value* i, const Carried& totals) -> absl::StatusOr<Carried> {
          llvm::Value* size = level == 1 && by_rows
                                  ? unit
                                  : b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateNSWSub(count, i), unit);
          const Carried zeros =
              splat({codegen::EmitLiteral(f.context(), *IdentityOf(HloOpcode::kAdd, r.input.element_type()))});
          HILO_ASSIGN_OR_RETURN(const Carried part, sum(level - 1, b.CreateNUWAdd(first, i), size, zeros));
          return combine_each(totals, [&](size_t p) -> absl::StatusOr<Elements> { return of_place(part, p); });
        },
        /*at_least_once=*/false, (level == units.size() ? Product(r.reduced_sizes) : units[level]) / units[level - 1]);
  };
  HILO_ASSIGN_OR_RETURN(const Carried done,
                        sum(units.size(), b.getInt64(0), b.getInt64(Product(r.reduced_sizes)), start));
  std::vector<Elements> results;
  for (size_t p = 0; p < places.size(); ++p) results.push_back(of_place(done, p));
  return results;
}

// Combines the lanes of `value` by halving.
absl::StatusOr<ElementValue> CombineLanes(FunctionEmitter& f, HloOpcode opcode, PrimitiveType type, ElementValue value,
                                          int width) {
  codegen::RegionScope region(f.context());
  for (int half = width / 2; half >= 1; half /= 2) {
    const ElementValue a = Lanes(f, {value}, 0, half)[0], c = Lanes(f, {value}, half, half)[0];
    f.context().lanes = {.width = half};
    HILO_ASSIGN_OR_RETURN(value, codegen::EmitBinaryOp(f.context(), opcode, type, a, c));
  }
  return value;
}

}  // namespace

absl::Status EmitReduceUnrolled(FunctionEmitter& f, const KernelParts& kernel) {
  const Reduction r = ReductionOf(kernel.instruction);
  HILO_ASSIGN_OR_RETURN(Elements inits, InitsOf(f, r.reduce));
  std::vector<int64_t> kept(r.kept.size(), 0);
  do {
    Elements running = inits;
    std::vector<LaneIndex> kept_index;
    for (int64_t i : kept) kept_index.push_back(LaneIndex::Constant(i));
    std::vector<int64_t> reduced(r.reduced.size(), 0);
    if (Product(r.reduced_sizes) > 0) {
      do {
        std::vector<LaneIndex> reduced_index;
        for (int64_t i : reduced) reduced_index.push_back(LaneIndex::Constant(i));
        HILO_ASSIGN_OR_RETURN(Elements elements, ElementsOf(f, r.reduce, InputIndex(r, kept_index, reduced_index)));
        HILO_ASSIGN_OR_RETURN(running, Combine(f, *r.computation, std::move(running), elements));
      } while (IndexUtil::BumpIndices(r.reduced_sizes, absl::MakeSpan(reduced)));
    }
    Store(f, r, Index(kept_index), running);
  } while (IndexUtil::BumpIndices(r.kept_sizes, absl::MakeSpan(kept)));
  return absl::OkStatus();
}

// Computes results along rows of them; a few long rows are several parts each.
absl::Status EmitReduceColumns(FunctionEmitter& f, const KernelParts& kernel) {
  f.SetHoldsVectors(kernel.instruction);
  const Reduction r = ReductionOf(kernel.instruction);
  const int width = static_cast<int>(kernel.config.width);
  const int64_t block = kernel.config.tile[0], vectors = kernel.config.tile[1], group = width * vectors;
  const absl::Span<const int64_t> sums = absl::MakeConstSpan(kernel.config.tile).subspan(2);
  const int64_t row = r.kept_sizes.back(), grouped = row / group * group, parts = (row + block - 1) / block;
  HILO_RETURN_IF_ERROR(f.LoadScalarOperands(r.instruction));
  llvm::IRBuilder<>& b = f.b();
  absl::Span<const int64_t> outer = absl::MakeConstSpan(r.kept_sizes).first(r.kept_sizes.size() - 1);
  return ForEach(f, "rows", kernel.begin, kernel.end, [&](llvm::Value* unit) -> absl::Status {
    llvm::Value *place = unit, *from = b.getInt64(0), *to = b.getInt64(grouped), *is_last = b.getTrue();
    if (parts > 1) {
      llvm::Value* part = b.CreateURem(unit, b.getInt64(parts));
      place = b.CreateUDiv(unit, b.getInt64(parts));
      from = b.CreateNUWMul(part, b.getInt64(block));
      to = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateNSWAdd(from, b.getInt64(block)), to);
      is_last = b.CreateICmpEQ(part, b.getInt64(parts - 1));
    }
    const std::vector<LaneIndex> prefix = Delinearize(f, place, outer);
    auto emit = [&](const std::vector<LaneIndex>& columns) -> absl::Status {
      std::vector<std::vector<LaneIndex>> places;
      for (const LaneIndex& column : columns) {
        places.push_back(prefix);
        places.back().push_back(column);
      }
      HILO_ASSIGN_OR_RETURN(auto results, AddUp(f, r, sums, places));
      for (size_t p = 0; p < places.size(); ++p) Store(f, r, Index(places[p]), results[p]);
      return absl::OkStatus();
    };
    if (grouped > 0) {
      codegen::RegionScope region(f.context());
      f.context().lanes = {.width = width};
      HILO_RETURN_IF_ERROR(ForEach(
          f, "groups", from, to,
          [&](llvm::Value* i) {
            std::vector<LaneIndex> columns;
            for (int64_t a = 0; a < vectors; ++a) {
              columns.push_back(LaneIndex::Strided(b.CreateNSWAdd(i, b.getInt64(a * width)), 1, width, row));
            }
            return emit(columns);
          },
          group, block / group));
    }
    auto rest = [&]() -> absl::StatusOr<Carried> {
      HILO_RETURN_IF_ERROR(ForEachVector(f, "columns", row - grouped, width, [&](const LaneIndex& i) {
        return emit({i.AddConstant(grouped).WithRange({0, row - 1})});
      }));
      return Carried();
    };
    if (parts == 1) return rest().status();
    if (row == grouped) return absl::OkStatus();
    return codegen::EmitBranches(f.context(), "rest", is_last, rest,
                                 []() -> absl::StatusOr<Carried> { return Carried(); })
        .status();
  });
}

absl::Status EmitReduceEach(FunctionEmitter& f, const KernelParts& kernel) {
  const Reduction r = ReductionOf(kernel.instruction);
  HILO_RETURN_IF_ERROR(f.LoadScalarOperands(r.instruction));
  return ForEach(f, "results", kernel.begin, kernel.end, [&](llvm::Value* unit) -> absl::Status {
    const std::vector<LaneIndex> place = Delinearize(f, unit, r.kept_sizes);
    HILO_ASSIGN_OR_RETURN(auto results, AddUp(f, r, kernel.config.tile, {place}));
    Store(f, r, Index(place), results[0]);
    return absl::OkStatus();
  });
}

absl::Status EmitReduceRows(FunctionEmitter& f, const KernelParts& kernel) {
  const Reduction r = ReductionOf(kernel.instruction);
  const int width = static_cast<int>(kernel.config.width), accumulators = static_cast<int>(kernel.config.tile[0]);
  const int64_t section = kernel.config.tile[1];
  const HloOpcode opcode = *ReductionOp(*r.computation);
  HILO_RETURN_IF_ERROR(f.LoadScalarOperands(r.instruction));
  llvm::IRBuilder<>& b = f.b();
  const PrimitiveType type = r.input.element_type();
  const int64_t row = r.reduced_sizes.back();
  const std::vector<int64_t> outer(r.reduced_sizes.begin(), r.reduced_sizes.end() - 1);
  const int64_t group = int64_t{width} * accumulators;
  const int64_t grouped = accumulators > 1 ? row / group * group : 0;
  const int64_t whole = row / width * width;
  const Literal identity = *IdentityOf(opcode, type);
  return ForEach(f, "results", kernel.begin, kernel.end, [&](llvm::Value* unit) -> absl::Status {
    const std::vector<LaneIndex> place = Delinearize(f, unit, r.kept_sizes);
    codegen::RegionScope region(f.context());
    f.context().lanes = {.width = width};
    const ElementValue neutral = codegen::EmitLiteral(f.context(), identity);
    Carried start;
    for (int a = 0; a < accumulators; ++a) {
      for (llvm::Value* value : PackLanes(f, {neutral})) start.push_back(value);
    }
    const size_t parts = start.size() / accumulators;
    // One step: accumulator `a` adds the elements of the row at `i`.
    auto step = [&](const std::vector<LaneIndex>& prefix, const LaneIndex& i, int a, Carried* carried) -> absl::Status {
      std::vector<LaneIndex> reduced = prefix;
      reduced.push_back(i);
      HILO_ASSIGN_OR_RETURN(ElementValue element,
                            f.elements().Generate(r.reduce->operand(0), InputIndex(r, place, reduced)));
      if (f.context().lanes.mask != nullptr) {
        element = codegen::EmitSelect(f.context(), f.context().MaskValue(), element, neutral);
      }
      const Carried mine(carried->begin() + a * parts, carried->begin() + (a + 1) * parts);
      HILO_ASSIGN_OR_RETURN(ElementValue sum,
                            codegen::EmitBinaryOp(f.context(), opcode, type, UnpackLanes(mine, {neutral})[0], element));
      const Carried packed = PackLanes(f, {sum});
      std::copy(packed.begin(), packed.end(), carried->begin() + a * parts);
      return absl::OkStatus();
    };
    auto along_row = [&](const std::vector<LaneIndex>& prefix, Carried carried) -> absl::StatusOr<Carried> {
      auto steps = [&](llvm::Value* from, llvm::Value* to, int64_t stride, int count, const Carried& first) {
        return codegen::EmitLoop(
            f.context(), "row", from, to, stride, first,
            [&](llvm::Value* i, const Carried& now) -> absl::StatusOr<Carried> {
              Carried next = now;
              for (int a = 0; a < count; ++a) {
                HILO_RETURN_IF_ERROR(step(
                    prefix, LaneIndex::Strided(b.CreateNSWAdd(i, b.getInt64(a * width)), 1, width, row), a, &next));
              }
              return next;
            },
            /*at_least_once=*/true, section / group);
      };
      auto loop = [&](int64_t from, int64_t to, int64_t stride, int count) -> absl::Status {
        if (from >= to) return absl::OkStatus();
        HILO_ASSIGN_OR_RETURN(carried, steps(b.getInt64(from), b.getInt64(to), stride, count, carried));
        return absl::OkStatus();
      };
      const int64_t sections = section > 0 ? grouped / section * section : 0;
      if (sections > 0) {
        HILO_ASSIGN_OR_RETURN(
            carried, codegen::EmitLoop(f.context(), "sections", b.getInt64(0), b.getInt64(sections), section, carried,
                                       [&](llvm::Value* i, const Carried& totals) -> absl::StatusOr<Carried> {
                                         HILO_ASSIGN_OR_RETURN(const Carried part,
                                                               steps(i, b.CreateNSWAdd(i, b.getInt64(section)), group,
                                                                     accumulators, start));
                                         Carried next;
                                         for (size_t v = 0; v < part.size(); ++v)
                                           next.push_back(b.CreateFAdd(totals[v], part[v]));
                                         return next;
                                       }));
      }
      HILO_RETURN_IF_ERROR(loop(sections, grouped, group, accumulators));
      HILO_RETURN_IF_ERROR(loop(grouped, whole, width, 1));
      if (whole < row) {
        codegen::RegionScope tail(f.context());
        std::vector<llvm::Constant*> active;
        for (int lane = 0; lane < width; ++lane) active.push_back(b.getInt1(lane < row - whole));
        f.context().lanes = {.width = width, .mask = llvm::ConstantVector::get(active)};
        HILO_RETURN_IF_ERROR(step(prefix, LaneIndex::Strided(b.getInt64(whole), 1, width, row), 0, &carried));
      }
      return carried;
    };
    Carried sums;
    if (Product(outer) == 1) {
      HILO_ASSIGN_OR_RETURN(sums, along_row(std::vector<LaneIndex>(outer.size(), LaneIndex::Constant(0)), start));
    } else {
      HILO_ASSIGN_OR_RETURN(sums, codegen::EmitLoop(f.context(), "reduce", b.getInt64(0), b.getInt64(Product(outer)), 1,
                                                    start, [&](llvm::Value* i, const Carried& carried) {
                                                      return along_row(Delinearize(f, i, outer), carried);
                                                    }));
    }
    ElementValue total = UnpackLanes(Carried(sums.begin(), sums.begin() + parts), {neutral})[0];
    for (int a = 1; a < accumulators; ++a) {
      const ElementValue other =
          UnpackLanes(Carried(sums.begin() + a * parts, sums.begin() + (a + 1) * parts), {neutral})[0];
      HILO_ASSIGN_OR_RETURN(total, codegen::EmitBinaryOp(f.context(), opcode, type, total, other));
    }
    HILO_ASSIGN_OR_RETURN(total, CombineLanes(f, opcode, type, total, width));
    f.context().lanes = {.width = 1};
    HILO_ASSIGN_OR_RETURN(Elements inits, InitsOf(f, r.reduce));
    HILO_ASSIGN_OR_RETURN(ElementValue result, codegen::EmitBinaryOp(f.context(), opcode, type, inits[0], total));
    Store(f, r, Index(place), {result});
    return absl::OkStatus();
  });
}

}  // namespace hilo::cpu
