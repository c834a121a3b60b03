// The passes of the middle end, one file each; a backend's pipeline is a list of these.
#ifndef HILO_HLO_PASSES_STANDARD_PASSES_H_
#define HILO_HLO_PASSES_STANDARD_PASSES_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hlo/ir/tile_assignment.h"
#include "hlo/passes/hlo_pass.h"

namespace hilo {

struct ShardingNote {
  std::string name;
  TileAssignment tiles;
};

// What the interface of a program leaves to sharding propagation. Other parameters and results without a stated
// sharding are whole.
struct OpenValues {
  std::vector<bool> parameters;  // of each; empty: none is open
  std::vector<bool> results;     // of each array of the result; empty: none is open
};

// "dce": removes instructions without effect, unused computations, and loop state that nothing reads.
std::unique_ptr<HloPass> MakeDce();
// "library-calls": XLA's custom calls for linear algebra become calls of LAPACK, those for products with scales become
// scaled-dots. Required.
std::unique_ptr<HloPass> MakeLibraryCalls();
// "partition": the program that each partition of a sharded one runs; manual computations stay divided. Required.
// The parameters and results in `open` have the sharding that propagation gives them: parameters get the attribute, and
// the module's attribute spmd_output_sharding states those of the results. Calls of InspectSharding query how
// their operands are sharded: `notes`, if not null, gets an answer for each that is reached, by its backend_config.
std::unique_ptr<HloPass> MakePartitioner(OpenValues open = {}, std::vector<ShardingNote>* notes = nullptr);
// Marks the module's header (is_spmd_partitioned=true) as the program of one partition already: shapes are
// those of tiles, described by shardings. The partitioner leaves such a module unchanged.
void MarkPartitioned(HloModule* module);
// "async-to-sync": replaces each asynchronous pair by a synchronous op and removes domains. Required.
std::unique_ptr<HloPass> MakeAsyncToSync();
// "batch-loop-dots": one product for those that a loop computes per iteration. Sums in another order.
std::unique_ptr<HloPass> MakeLoopDotBatching();
// "hoist-invariants": computes before a loop what is the same in all iterations, where that is worth an element of the
// loop's state.
std::unique_ptr<HloPass> MakeLoopInvariantMotion();
// "unroll-loops": loops of few iterations of element-wise work on large arrays become that work.
std::unique_ptr<HloPass> MakeLoopUnrolling();
// "inline-fusions": inlines the fusions that the input module contains. Required where no
// fusions were made before.
std::unique_ptr<HloPass> MakeFusionInliner();
// "inline-calls": inlines computations that are small or called only once.
std::unique_ptr<HloPass> MakeCallInliner();
// "flatten": clones computations so that every while and conditional has separate ones. Required by copy insertion.
std::unique_ptr<HloPass> MakeFlattenCallGraph();
// "expand": rewrites instructions that the target does not emit in terms of others (expand/expansions.h). Required.
std::unique_ptr<HloPass> MakeExpander(const Target* target);
// "check-support": rejects instructions that the target does not emit, by name. Required.
std::unique_ptr<HloPass> MakeSupportCheck(const Target* target);
// "cse": common subexpression elimination.
std::unique_ptr<HloPass> MakeCse();
// "simplify": rewrite rules that reduce work (simplify.cc). `strict`: only those that preserve every bit. `keep_dots`:
// dots with a vector, as attention of one query has them, do not become sums.
std::unique_ptr<HloPass> MakeSimplifier(bool strict, bool keep_dots = false);
// "fold-constants": evaluates instructions whose operands are constants, up to `limit` elements.
std::unique_ptr<HloPass> MakeConstantFolding(int64_t limit);
// "normalize-layout": makes every array row-major; other layouts of the entry's parameters and results become
// transposes. Required.
std::unique_ptr<HloPass> MakeLayoutNormalization();
// "fold-reductions": reductions over leading dimensions take several short rows as one. Sums in another order.
std::unique_ptr<HloPass> MakeReductionFold();
// "separate-windows": reduce-windows of several dimensions become one for each of them, and those of long windows two,
// where that combines far fewer elements. `strict`: only where any order gives the same bits.
std::unique_ptr<HloPass> MakeWindowSeparation(bool strict);
// "split-reductions": sums to at most `max_results` for which `is_long` returns true become partial sums, which are
// parts for threads, and their sum. Sums in another order.
std::unique_ptr<HloPass> MakeReductionSplit(int64_t max_results,
                                            std::function<bool(const HloInstruction& reduce)> is_long);
// "split-dots": dots whose sums are over the first dimension of both factors, for which `sections_of` returns more than
// 1, a divisor of its size, become so many products of sections and their sum. Sums in another order.
std::unique_ptr<HloPass> MakeDotSplit(std::function<int64_t(const HloInstruction& dot)> sections_of);
// "factor-sums": factors of a sum that are one number for each result are multiplied with the sum. Roundings differ.
std::unique_ptr<HloPass> MakeSumFactors();
// "merge-reductions": reductions for which `accepts` returns true, and that read the same arrays, become one with
// several results. `strict`: only those of which any order gives the same bits.
std::unique_ptr<HloPass> MakeReductionMerge(bool strict, std::function<bool(const HloInstruction& reduce)> accepts);
// "separate-components": grids whose elements have components, such as the differences of points, become a grid for
// each, where all that is read of them are reductions. Sums of components are in the order of their index.
std::unique_ptr<HloPass> MakeComponentSeparation();
// "fuse-pairs": fuses reductions of arrays that are computed from much smaller ones with these arrays, several times
// where that takes less time than to store them: `instructions_per_byte` as of MakeFusion. Only where at least
// `min_reductions` along the same dimensions share elements.
std::unique_ptr<HloPass> MakePairFusion(const Target* target, bool strict, double instructions_per_byte,
                                        size_t min_reductions);
// "one-pass-reductions": sums for which `accepts` returns true, of squared differences from the mean of their array or
// of exponentials less its maximum, and that mean or maximum, become one reduction, which reads the array once. Sums in
// another order.
std::unique_ptr<HloPass> MakeOnePassReductions(std::function<bool(const HloInstruction& reduce)> accepts);
// "merge-columns": several adjacent free dimensions of the right factors of dots for which `accepts` returns true
// become one.
std::unique_ptr<HloPass> MakeColumnMerge(std::function<bool(const HloInstruction& dot)> accepts);
// "transpose-factors": the right factors of dots for which `accepts` returns true are transposed, so that the rows of
// the result read rows of them.
std::unique_ptr<HloPass> MakeFactorTransposition(std::function<bool(const HloInstruction& dot)> accepts);
// "sort-rows": sorts for which `accepts` returns true become sorts along the last dimension of transposed arrays.
std::unique_ptr<HloPass> MakeSortTransposition(std::function<bool(const HloInstruction& sort)> accepts);
// "transpose-loop-factors": matrices that are the same in all iterations of a loop, which adds up the products of their
// rows and a vector in reduces for which `accepts` returns true, are transposed. Before "hoist-invariants".
std::unique_ptr<HloPass> MakeLoopFactorTransposition(std::function<bool(const HloInstruction& reduce)> accepts);
// "merge-transposed-dimensions": dimensions of transposes that stay next to each other become one. After fusion.
std::unique_ptr<HloPass> MakeTransposeMerge();
// "move-bits": kernels that only move floating-point numbers of 8 or 16 bits, truth values or complex numbers of 64
// bits move integers. After fusion.
std::unique_ptr<HloPass> MakeMovesAsBits();
// "fuse": fuses producers into the loops of their consumers. A computation that many loops would repeat is not
// duplicated beyond a budget: `instructions_per_byte`, if it is not 0, are those that a device executes while it moves
// a byte, and what is computed again must take less time than the array's write and reads.
std::unique_ptr<HloPass> MakeFusion(const Target* target, double instructions_per_byte = 0);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_STANDARD_PASSES_H_
