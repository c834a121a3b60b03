// Reductions, with the producers that were fused into their operands: nests of two dimensions, the kept indices (here
// rows, though in memory they may be columns) and the reduced ones, spread over the same levels in two ways.
//
//   level                    Rows: the minor-most is reduced       Columns: the minor-most is kept
//   blocks of the grid       rows, and parts of a row              groups of results, and parts of them
//   threads of a block       rows; elements of a part              groups of results; elements (strips) of a part
//   iterations of a thread   the part's other elements             the part's other elements
//   groups of 16 bytes       adjacent elements                     adjacent results
//
// The threads that share a row combine by shuffles and, between warps, through shared memory; strips combine through
// shared memory alone. A second launch combines the parts: there are no atomics, so results are deterministic. Rows
// that fit into the registers of a block are elsewhere (row_emitter.cc): what they keep between reductions is their
// point.
//
// No identity is needed: a thread starts with its first element, and threads without one are skipped. Lanes combine
// with lanes at distance 1, 2, 4 ...; if each lane has a run of adjacent elements, this keeps their order, as required
// by computations that are associative but not known to be commutative. The others interleave, which reads memory in
// whole lines, and in groups of adjacent elements that fill 16 bytes, each of which has a running value of its own.
#include <algorithm>

#include "backends/gpu/emitters/emitters.h"
#include "backends/gpu/emitters/rows/column_parts.h"
#include "backends/llvm/elements/predication.h"
#include "backends/llvm/elements/scalar_ops.h"
#include "backends/llvm/elements/terms.h"
#include "base/math.h"
#include "hilo/status_macros.h"
#include "hlo/analysis/reduction.h"

namespace hilo::gpu {
namespace {

using codegen::Carried;
using codegen::Index;
using codegen::LaneIndex;

// Elements whose moments are merged at once: of a row, and of each column. A merge is some 30 instructions.
constexpr int64_t kRowRun = 16, kColumnRun = 8;

// One kernel of a reduction: `element` yields the elements to reduce, `result` receives the result.
class ReductionEmitter {
 public:
  using Element = absl::FunctionRef<absl::StatusOr<Elements>(llvm::Value* row, llvm::Value* column)>;
  using Group = absl::FunctionRef<absl::StatusOr<std::vector<Elements>>(llvm::Value* i)>;
  using Result = absl::FunctionRef<absl::Status(llvm::Value* row, llvm::Value* part, Elements values)>;

  ReductionEmitter(KernelEmitter& k, const Reduction& r)
      : k_(k), b_(k.b()), r_(r), terms_(k.elements(), r), group_(r.instruction->kernel()->width) {}

  // The elements of the instruction's operands.
  absl::StatusOr<Elements> Input(llvm::Value* row, llvm::Value* column) {
    return terms_.Term(k_.Delinearize(row, r_.kept_sizes), k_.Delinearize(column, r_.reduced_sizes));
  }

  // Returns those of group number `i` along `dimensions`, the kept or the reduced ones: one index each.
  std::vector<std::vector<LaneIndex>> GroupIndices(llvm::Value* i, absl::Span<const int64_t> dimensions) {
    return k_.Adjacent(b_.CreateMul(i, Int(group_), "", true, true), dimensions, group_);
  }

  // Combines with the initial values and stores.
  absl::Status Output(llvm::Value* row, const Elements& values) {
    HILO_ASSIGN_OR_RETURN(const Elements inits, terms_.Start());
    HILO_ASSIGN_OR_RETURN(const Elements sums, terms_.Merge(inits, values));
    const Index at(k_.Delinearize(row, r_.kept_sizes));
    for (int64_t i = 0; i < r_.count; ++i) k_.ArrayOf(r_.instruction, i).Store(k_.context(), at, sums[i]);
    return absl::OkStatus();
  }

  // Elements [begin, end) of a row, at least one, `step` apart, in order.
  absl::StatusOr<Elements> Run(llvm::Value* row, llvm::Value* begin, llvm::Value* end, int64_t step, Element element) {
    HILO_ASSIGN_OR_RETURN(Elements first, element(row, begin));
    auto body = [&](llvm::Value* column, const Carried& carried) -> absl::StatusOr<Carried> {
      HILO_ASSIGN_OR_RETURN(Elements next, element(row, column));
      HILO_ASSIGN_OR_RETURN(Elements sum, terms_.Merge(codegen::Unpack(carried, r_.types), next));
      return codegen::Pack(sum);
    };
    llvm::Value* second = b_.CreateAdd(begin, Int(step), "", true, true);
    HILO_ASSIGN_OR_RETURN(Carried done,
                          codegen::EmitLoop(k_.context(), "run", second, end, step, codegen::Pack(first), body));
    return codegen::Unpack(done, r_.types);
  }

  static Carried PackAll(const std::vector<Elements>& all) {
    Carried packed;
    for (const Elements& one : all) {
      for (llvm::Value* value : codegen::Pack(one)) packed.push_back(value);
    }
    return packed;
  }
  std::vector<Elements> UnpackAll(const Carried& packed, size_t count) {
    const size_t width = packed.size() / count;
    std::vector<Elements> all;
    for (size_t at = 0; at < packed.size(); at += width)
      all.push_back(codegen::Unpack(absl::MakeConstSpan(packed).subspan(at, width), r_.types));
    return all;
  }

  // Reduces what `group` yields for [begin, end), at least one, `step` apart: one running value per position in groups.
  absl::StatusOr<std::vector<Elements>> RunGroups(llvm::Value* begin, llvm::Value* end, int64_t step, Group group) {
    HILO_ASSIGN_OR_RETURN(const std::vector<Elements> first, group(begin));
    auto body = [&](llvm::Value* i, const Carried& carried) -> absl::StatusOr<Carried> {
      HILO_ASSIGN_OR_RETURN(const std::vector<Elements> next, group(i));
      std::vector<Elements> running = UnpackAll(carried, first.size());
      for (size_t j = 0; j < running.size(); ++j) {
        HILO_ASSIGN_OR_RETURN(running[j], terms_.Merge(running[j], next[j]));
      }
      return PackAll(running);
    };
    llvm::Value* second = b_.CreateAdd(begin, Int(step), "", true, true);
    HILO_ASSIGN_OR_RETURN(const Carried done,
                          codegen::EmitLoop(k_.context(), "run", second, end, step, PackAll(first), body));
    return UnpackAll(done, first.size());
  }

  // The same for moments, which are merged once for a run of `length` groups: one running value per position in groups,
  // or, if they are all of one result, one.
  absl::StatusOr<std::vector<Elements>> RunMoments(llvm::Value* begin, llvm::Value* end, int64_t step, int64_t length,
                                                   bool is_one_result, Group group) {
    const size_t count = is_one_result ? 1 : static_cast<size_t>(group_);
    Elements none;
    for (const PrimitiveType type : r_.types) none.push_back(codegen::EmitZero(k_.context(), type));
    auto add = [&](llvm::Value* first, int64_t groups, const Carried& carried) -> absl::StatusOr<Carried> {
      std::vector<std::vector<Elements>> runs(count);
      for (int64_t i = 0; i < groups; ++i) {
        HILO_ASSIGN_OR_RETURN(const std::vector<Elements> next,
                              group(b_.CreateAdd(first, Int(i * step), "", true, true)));
        for (size_t j = 0; j < next.size(); ++j) runs[is_one_result ? 0 : j].push_back(next[j]);
      }
      std::vector<Elements> running = UnpackAll(carried, count);
      for (size_t j = 0; j < count; ++j) {
        HILO_ASSIGN_OR_RETURN(running[j], terms_.AddRun(running[j], runs[j]));
      }
      return PackAll(running);
    };
    llvm::Value* groups =
        b_.CreateUDiv(b_.CreateAdd(b_.CreateSub(end, begin), Int(step - 1), "", true, true), Int(step));
    llvm::Value* runs = b_.CreateUDiv(groups, Int(length));
    HILO_ASSIGN_OR_RETURN(const Carried of_runs,
                          codegen::EmitLoop(k_.context(), "runs", Int(0), runs, 1, PackAll(std::vector(count, none)),
                                            [&](llvm::Value* i, const Carried& carried) {
                                              llvm::Value* at = b_.CreateMul(i, Int(length * step), "", true, true);
                                              return add(b_.CreateAdd(begin, at, "", true, true), length, carried);
                                            }));
    llvm::Value* rest = b_.CreateAdd(begin, b_.CreateMul(runs, Int(length * step), "", true, true), "", true, true);
    HILO_ASSIGN_OR_RETURN(const Carried done, codegen::EmitLoop(k_.context(), "rest", rest, end, step, of_runs,
                                                                [&](llvm::Value* i, const Carried& carried) {
                                                                  return add(i, 1, carried);
                                                                }));
    return UnpackAll(done, count);
  }

  // Groups [begin, end) of a row, at least one, `step` apart, all combined.
  absl::StatusOr<Elements> RunRowGroups(llvm::Value* row, llvm::Value* begin, llvm::Value* end, int64_t step) {
    const std::vector<LaneIndex> kept = k_.Delinearize(row, r_.kept_sizes);
    auto group = [&](llvm::Value* i) -> absl::StatusOr<std::vector<Elements>> {
      std::vector<Elements> elements;
      for (const std::vector<LaneIndex>& reduced : GroupIndices(i, r_.reduced_sizes)) {
        HILO_ASSIGN_OR_RETURN(elements.emplace_back(), terms_.Term(kept, reduced));
      }
      return elements;
    };
    if (terms_.AreMoments()) {
      HILO_ASSIGN_OR_RETURN(const std::vector<Elements> moments,
                            RunMoments(begin, end, step, CeilDiv(kRowRun, group_), /*is_one_result=*/true, group));
      return moments[0];
    }
    HILO_ASSIGN_OR_RETURN(std::vector<Elements> running, RunGroups(begin, end, step, group));
    for (size_t j = 1; j < running.size(); ++j) {
      HILO_ASSIGN_OR_RETURN(running[0], terms_.Merge(running[0], running[j]));
    }
    return running[0];
  }

  // Combines the first `valid` of each `lanes` lanes, in order, into lane 0. Null: all of them.
  absl::StatusOr<Elements> CombineLanes(Elements values, int lanes, llvm::Value* lane, llvm::Value* valid) {
    for (int distance = 1; distance < lanes; distance *= 2) {
      Carried neighbour;
      const Carried mine = codegen::Pack(values);
      for (llvm::Value* value : mine) neighbour.push_back(k_.ShuffleDown(value, distance));
      HILO_ASSIGN_OR_RETURN(Elements combined, terms_.Merge(values, codegen::Unpack(neighbour, r_.types)));
      Carried next = codegen::Pack(combined);
      if (valid != nullptr) {
        llvm::Value* takes = b_.CreateICmpSLT(b_.CreateAdd(lane, Int(distance)), valid);
        for (size_t i = 0; i < next.size(); ++i) next[i] = b_.CreateSelect(takes, next[i], mine[i]);
      }
      values = codegen::Unpack(next, r_.types);
    }
    return values;
  }

  // Rows of `columns` elements in parts of `part`, each with `threads` threads of a block of `block`: some of a warp,
  // as a power of two, or whole warps. In any order (kAny): `element` is the input, in groups, of which a row that is
  // one part has at least `threads`; otherwise parts are multiples of the threads' groups.
  absl::Status Rows(int64_t rows, int64_t columns, int64_t part, int64_t threads, int64_t block, CombinationOrder order,
                    Element element, Result result) {
    const int64_t parts = CeilDiv(columns, part), all = rows * parts, lanes = std::min<int64_t>(threads, kWarp);
    llvm::Value *thread = k_.Thread(), *in_row = b_.CreateURem(thread, Int(threads));
    llvm::Value* item = b_.CreateAdd(b_.CreateMul(k_.Block(), Int(block / threads), "", true, true),
                                     b_.CreateUDiv(thread, Int(threads)), "item", true, true);
    // All lanes shuffle, so threads without a part of their own reduce the last one too.
    llvm::Value* own = all % (block / threads) == 0 ? item : Min(item, Int(all - 1));
    llvm::Value *row = b_.CreateUDiv(own, Int(parts)), *number = b_.CreateURem(own, Int(parts));
    llvm::Value* begin = parts == 1 ? Int(0) : b_.CreateMul(number, Int(part), "", true, true);
    llvm::Value* end = parts == 1 ? Int(columns) : Min(b_.CreateAdd(begin, Int(part)), Int(columns));
    llvm::Value* size = b_.CreateSub(end, begin, "", true, true);
    Elements values;
    llvm::Value* filled;  // threads that have elements
    if (order == CombinationOrder::kAny) {
      auto groups = [&](llvm::Value* elements) { return b_.CreateUDiv(elements, Int(group_)); };
      filled = Min(groups(size), Int(threads));
      llvm::Value* first = filled == Int(threads) ? in_row : Min(in_row, b_.CreateSub(groups(size), Int(1)));
      HILO_ASSIGN_OR_RETURN(
          values, RunRowGroups(row, b_.CreateAdd(groups(begin), first, "", true, true), groups(end), threads));
    } else {
      const int64_t run = CeilDiv(std::min(part, columns), threads);
      filled = b_.CreateUDiv(b_.CreateAdd(size, Int(run - 1)), Int(run));
      llvm::Value* first = b_.CreateMul(Min(in_row, b_.CreateSub(filled, Int(1))), Int(run), "", true, true);
      first = b_.CreateAdd(begin, first, "", true, true);
      HILO_ASSIGN_OR_RETURN(values, Run(row, first, Min(b_.CreateAdd(first, Int(run)), end), 1, element));
    }
    const bool all_filled = filled == Int(threads);
    llvm::Value* lane = b_.CreateURem(in_row, Int(lanes));
    llvm::Value* valid = all_filled ? nullptr : b_.CreateSub(filled, b_.CreateSub(in_row, lane));
    HILO_ASSIGN_OR_RETURN(values, CombineLanes(std::move(values), static_cast<int>(lanes), lane, valid));
    if (threads > kWarp) {
      HILO_ASSIGN_OR_RETURN(
          values, CombineWarps(values, threads / kWarp, block / kWarp, thread, lane, all_filled ? nullptr : filled));
    }
    llvm::Value* writes = b_.CreateAnd(b_.CreateICmpEQ(in_row, Int(0)), b_.CreateICmpULT(item, Int(all)));
    return k_.If("writes", writes, [&] { return result(row, number, values); });
  }

  // Combines the values of each `warps` warps, of which the first `filled` threads have one (null: all), in the first
  // lane of each.
  absl::StatusOr<Elements> CombineWarps(const Elements& values, int64_t warps, int64_t block_warps, llvm::Value* thread,
                                        llvm::Value* lane, llvm::Value* filled) {
    const Carried mine = codegen::Pack(values);
    llvm::Value* warp = b_.CreateUDiv(thread, Int(kWarp));
    std::vector<llvm::Value*> cells;
    for (llvm::Value* value : mine) cells.push_back(k_.Shared(value->getType(), block_warps, "warps"));
    HILO_RETURN_IF_ERROR(k_.If("first_lane", b_.CreateICmpEQ(lane, Int(0)), [&] {
      for (size_t i = 0; i < mine.size(); ++i) k_.StoreCell(cells[i], warp, mine[i]);
      return absl::OkStatus();
    }));
    k_.Barrier();
    llvm::Value* first = b_.CreateMul(b_.CreateUDiv(warp, Int(warps)), Int(warps), "", true, true);
    llvm::Value* cell = b_.CreateAdd(first, Min(lane, Int(warps - 1)), "", true, true);
    Carried all;
    for (size_t i = 0; i < mine.size(); ++i) all.push_back(k_.LoadCell(cells[i], cell, mine[i]->getType()));
    llvm::Value* valid = filled == nullptr ? nullptr : b_.CreateUDiv(b_.CreateAdd(filled, Int(kWarp - 1)), Int(kWarp));
    return CombineLanes(codegen::Unpack(all, r_.types), static_cast<int>(warps), lane, valid);
  }

  // Columns split into parts of `part` elements. A block has `lanes` groups of adjacent columns side by side and
  // `strips` threads for each, which interleave along its part.
  absl::Status Columns(int64_t part, int64_t lanes, int64_t strips, Result result) {
    const int64_t groups = r_.rows / group_, column_blocks = CeilDiv(groups, lanes);
    llvm::Value *thread = k_.Thread(), *block = k_.Block();
    llvm::Value *lane = b_.CreateURem(thread, Int(lanes)), *strip = b_.CreateUDiv(thread, Int(lanes));
    llvm::Value *number = b_.CreateUDiv(block, Int(column_blocks)),
                *first_group = b_.CreateMul(b_.CreateURem(block, Int(column_blocks)), Int(lanes), "", true, true);
    llvm::Value* own = b_.CreateAdd(first_group, lane, "", true, true);
    llvm::Value* has = groups % lanes == 0 ? nullptr : b_.CreateICmpULT(own, Int(groups));
    // Threads without a column or an element of their own use the last one, and discard the result.
    if (has != nullptr) own = Min(own, Int(groups - 1));
    llvm::Value* begin = b_.CreateMul(number, Int(part), "", true, true);
    llvm::Value* end = Min(b_.CreateAdd(begin, Int(part)), Int(r_.columns));
    llvm::Value* size = b_.CreateSub(end, begin, "", true, true);
    llvm::Value* first = b_.CreateAdd(begin, Min(strip, b_.CreateSub(size, Int(1))), "", true, true);
    const std::vector<std::vector<LaneIndex>> kept = GroupIndices(own, r_.kept_sizes);
    auto group = [&](llvm::Value* column) -> absl::StatusOr<std::vector<Elements>> {
      const std::vector<LaneIndex> reduced = k_.Delinearize(column, r_.reduced_sizes);
      std::vector<Elements> elements;
      for (const std::vector<LaneIndex>& at : kept) {
        HILO_ASSIGN_OR_RETURN(elements.emplace_back(), terms_.Term(at, reduced));
      }
      return elements;
    };
    HILO_ASSIGN_OR_RETURN(const std::vector<Elements> running,
                          terms_.AreMoments()
                              ? RunMoments(first, end, strips, kColumnRun, /*is_one_result=*/false, group)
                              : RunGroups(first, end, strips, group));
    if (strips == 1) {
      auto write = [&]() -> absl::Status {
        for (int64_t j = 0; j < group_; ++j) {
          HILO_RETURN_IF_ERROR(
              result(b_.CreateAdd(b_.CreateMul(own, Int(group_), "", true, true), Int(j), "", true, true), number,
                     running[j]));
        }
        return absl::OkStatus();
      };
      return has == nullptr ? write() : k_.If("writes", has, write);
    }
    // Column c of the block is element c % group of lane c / group. Lines of cells are one longer than the number of
    // lanes, and the elements' lines begin 32 / group banks apart, so that bank conflicts are rare on either side.
    const int64_t lines = strips * (lanes + 1), pitch = lines + ((kWarp / group_ - lines) % kWarp + kWarp) % kWarp;
    std::vector<llvm::Value*> cells;
    const Carried like = codegen::Pack(running[0]);
    for (llvm::Value* value : like) cells.push_back(k_.Shared(value->getType(), group_ * pitch, "strips"));
    auto cell = [&](llvm::Value* j, llvm::Value* s, llvm::Value* l) {
      llvm::Value* line = b_.CreateAdd(b_.CreateMul(j, Int(pitch), "", true, true),
                                       b_.CreateMul(s, Int(lanes + 1), "", true, true), "", true, true);
      return b_.CreateAdd(line, l, "", true, true);
    };
    for (int64_t j = 0; j < group_; ++j) {
      const Carried mine = codegen::Pack(running[j]);
      for (size_t i = 0; i < mine.size(); ++i) k_.StoreCell(cells[i], cell(Int(j), strip, lane), mine[i]);
    }
    k_.Barrier();
    llvm::Value* row = b_.CreateAdd(b_.CreateMul(first_group, Int(group_), "", true, true), thread, "", true, true);
    llvm::Value* writes =
        b_.CreateAnd(b_.CreateICmpULT(thread, Int(lanes * group_)), b_.CreateICmpULT(row, Int(r_.rows)));
    return k_.If("writes", writes, [&]() -> absl::Status {
      llvm::Value *j = b_.CreateURem(thread, Int(group_)), *l = b_.CreateUDiv(thread, Int(group_));
      auto load = [&](llvm::Value* s) {
        Carried loaded;
        for (size_t i = 0; i < cells.size(); ++i)
          loaded.push_back(k_.LoadCell(cells[i], cell(j, s, l), like[i]->getType()));
        return loaded;
      };
      llvm::Value* filled = Min(size, Int(strips));
      auto body = [&](llvm::Value* s, const Carried& carried) -> absl::StatusOr<Carried> {
        HILO_ASSIGN_OR_RETURN(const Elements sum,
                              terms_.Merge(codegen::Unpack(carried, r_.types), codegen::Unpack(load(s), r_.types)));
        return codegen::Pack(sum);
      };
      HILO_ASSIGN_OR_RETURN(const Carried sums,
                            codegen::EmitLoop(k_.context(), "strips", Int(1), filled, 1, load(Int(0)), body));
      return result(row, number, codegen::Unpack(sums, r_.types));
    });
  }

  llvm::Value* Int(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }
  llvm::Value* Min(llvm::Value* x, llvm::Value* y) {
    return codegen::EmitBinaryIntrinsic(b_, llvm::Intrinsic::umin, x, y);
  }

 private:
  KernelEmitter& k_;
  llvm::IRBuilder<>& b_;
  const Reduction& r_;
  codegen::ReduceTerms terms_;
  const int64_t group_;  // adjacent elements along the minor-most dimension that a thread processes together
};

// The results of parts of rows in scratch memory, one array for each component of the running values: the parts of a
// row are adjacent.
struct Partials {
  Partials(ProgramEmitter& program, const Reduction& r, int64_t parts) : parts(parts) {
    for (llvm::Type* type : ComponentTypes(program.llvm_context(), r.types)) {
      const int64_t bytes = KernelEmitter::CellBytes(type) * r.rows * parts;
      memory.push_back(KernelArgument::Scratch(program.AllocateScratch(bytes), bytes, true));
    }
  }
  std::vector<KernelArgument> ForReading() const {
    std::vector<KernelArgument> arguments = memory;
    for (KernelArgument& argument : arguments) argument.written = false;
    return arguments;
  }
  llvm::Value* Cell(KernelEmitter& k, llvm::Value* row, llvm::Value* part) const {
    llvm::Value* first = k.b().CreateMul(row, k.b().getInt64(static_cast<uint64_t>(parts)), "", true, true);
    return k.b().CreateAdd(first, part, "", true, true);
  }
  absl::Status Store(KernelEmitter& k, llvm::Value* row, llvm::Value* part, const Elements& values) const {
    const Carried packed = codegen::Pack(values);
    for (size_t i = 0; i < packed.size(); ++i)
      k.StoreCell(k.extra(static_cast<int64_t>(i)), Cell(k, row, part), packed[i]);
    return absl::OkStatus();
  }
  Elements Load(KernelEmitter& k, const Reduction& r, llvm::Value* row, llvm::Value* part) const {
    Carried packed;
    const std::vector<llvm::Type*> types = ComponentTypes(k.module().getContext(), r.types);
    for (size_t i = 0; i < types.size(); ++i)
      packed.push_back(k.LoadCell(k.extra(static_cast<int64_t>(i)), Cell(k, row, part), types[i]));
    return codegen::Unpack(packed, r.types);
  }

  int64_t parts;
  std::vector<KernelArgument> memory;
};

// Emits the kernel of a reduction of rows, of `blocks` blocks for each part, and one that combines the parts if there
// are several: with `threads` threads for each row. `emit` emits the former; it gets what stores a result.
absl::Status EmitInParts(ProgramEmitter& program, const Reduction& r, int64_t blocks, int64_t threads,
                         absl::FunctionRef<absl::Status(ReductionEmitter&, ReductionEmitter::Result)> emit) {
  const KernelConfig& config = *r.instruction->kernel();
  std::optional<Partials> partials;
  if (config.parts > 1) partials.emplace(program, r, config.parts);
  {
    KernelEmitter k(&program, r.instruction, partials.has_value() ? partials->memory : std::vector<KernelArgument>());
    ReductionEmitter kernel(k, r);
    HILO_RETURN_IF_ERROR(emit(kernel, [&](llvm::Value* row, llvm::Value* number, const Elements& values) {
      return partials.has_value() ? partials->Store(k, row, number, values) : kernel.Output(row, values);
    }));
    HILO_RETURN_IF_ERROR(k.FinishAndLaunch(r.instruction, blocks, static_cast<int>(config.tile[0])));
  }
  if (!partials.has_value()) return absl::OkStatus();
  KernelEmitter k(&program, r.instruction, partials->ForReading());
  ReductionEmitter kernel(k, r);
  auto part = [&](llvm::Value* row, llvm::Value* number) -> absl::StatusOr<Elements> {
    return partials->Load(k, r, row, number);
  };
  auto result = [&](llvm::Value* row, llvm::Value*, const Elements& values) { return kernel.Output(row, values); };
  HILO_RETURN_IF_ERROR(kernel.Rows(r.rows, config.parts, config.parts, threads, kBlockSize,
                                   CombinationOrder::kAssociative, part, result));
  return k.FinishAndLaunch(r.instruction, CeilDiv(r.rows, kBlockSize / threads), kBlockSize);
}

// Rows in parts of `part` elements, with `threads` threads for each; `combining` threads combine the parts of a row.
absl::Status EmitRows(ProgramEmitter& program, const Reduction& r, CombinationOrder order, int64_t part,
                      int64_t threads, int64_t combining) {
  const KernelConfig& config = *r.instruction->kernel();
  const int64_t block = config.tile[0];
  return EmitInParts(program, r, CeilDiv(r.rows * config.parts, block / threads), combining,
                     [&](ReductionEmitter& kernel, ReductionEmitter::Result result) {
                       auto element = [&](llvm::Value* row, llvm::Value* column) { return kernel.Input(row, column); };
                       return kernel.Rows(r.rows, r.columns, part, threads, block, order, element, result);
                     });
}

absl::Status EmitWarpRowsIn(CombinationOrder order, ProgramEmitter& program, const HloInstruction* instruction) {
  const Reduction r = ReductionOf(*instruction);
  return EmitRows(program, r, order, r.columns, instruction->kernel()->tile[1], /*combining=*/1);
}

absl::Status EmitBlockRowsIn(CombinationOrder order, ProgramEmitter& program, const HloInstruction* instruction) {
  const std::vector<int64_t>& tile = instruction->kernel()->tile;
  return EmitRows(program, ReductionOf(*instruction), order, tile[1], tile[0], tile[2]);
}

}  // namespace

absl::Status EmitWarpRows(ProgramEmitter& program, const HloInstruction* instruction) {
  return EmitWarpRowsIn(CombinationOrder::kAny, program, instruction);
}

absl::Status EmitWarpRowsInOrder(ProgramEmitter& program, const HloInstruction* instruction) {
  return EmitWarpRowsIn(CombinationOrder::kAssociative, program, instruction);
}

absl::Status EmitBlockRows(ProgramEmitter& program, const HloInstruction* instruction) {
  return EmitBlockRowsIn(CombinationOrder::kAny, program, instruction);
}

absl::Status EmitBlockRowsInOrder(ProgramEmitter& program, const HloInstruction* instruction) {
  return EmitBlockRowsIn(CombinationOrder::kAssociative, program, instruction);
}

absl::Status EmitColumns(ProgramEmitter& program, const HloInstruction* instruction) {
  const Reduction r = ReductionOf(*instruction);
  const KernelConfig& config = *instruction->kernel();
  const int64_t block = config.tile[0], lanes = config.tile[1], part = config.tile[2];
  const int64_t blocks = CeilDiv(r.rows / config.width, lanes) * config.parts;
  if (config.parts == 1) {
    KernelEmitter k(&program, instruction);
    ReductionEmitter kernel(k, r);
    HILO_RETURN_IF_ERROR(kernel.Columns(
        part, lanes, block / lanes,
        [&](llvm::Value* column, llvm::Value*, const Elements& values) { return kernel.Output(column, values); }));
    return k.FinishAndLaunch(instruction, blocks, static_cast<int>(block));
  }
  const ColumnParts parts(program, r.types, r.rows, config.parts);
  KernelEmitter k(&program, instruction, parts.memory());
  ReductionEmitter kernel(k, r);
  HILO_RETURN_IF_ERROR(
      kernel.Columns(part, lanes, block / lanes, [&](llvm::Value* column, llvm::Value* number, const Elements& values) {
        parts.Store(k, column, number, codegen::Pack(values));
        return absl::OkStatus();
      }));
  HILO_RETURN_IF_ERROR(k.FinishAndLaunch(instruction, blocks, static_cast<int>(block)));
  return parts.EmitCombination(
      program, instruction,
      [&](KernelEmitter& combining, const Carried& earlier, const Carried& later) -> absl::StatusOr<Carried> {
        HILO_ASSIGN_OR_RETURN(const Elements both,
                              codegen::Combine(combining.context(), r.computation(), codegen::Unpack(earlier, r.types),
                                               codegen::Unpack(later, r.types)));
        return codegen::Pack(both);
      },
      [&](KernelEmitter& combining, llvm::Value* column, const Carried& value) {
        return ReductionEmitter(combining, r).Output(column, codegen::Unpack(value, r.types));
      });
}

}  // namespace hilo::gpu
