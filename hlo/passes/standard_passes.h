// The passes of the middle, one file each; a backend's pipeline is a list of these.
#ifndef HILO_HLO_PASSES_STANDARD_PASSES_H_
#define HILO_HLO_PASSES_STANDARD_PASSES_H_

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

// "dce": removes instructions without effect, unused computations, and loop state that nothing reads.
std::unique_ptr<HloPass> MakeDce();
// "partition": the program that each partition of a sharded one runs; manual computations stay divided. Needed.
// With `open_results`, one for each array of the result, those that the program says nothing of and that are open stay
// cut as they are computed, and the module's attribute spmd_output_sharding says how. Calls of InspectSharding ask how
// their operands are cut: `notes`, if it is not null, gets an answer for each that is reached, by its backend_config.
std::unique_ptr<HloPass> MakePartitioner(std::vector<bool> open_results = {},
                                         std::vector<ShardingNote>* notes = nullptr);
// Says in the module's header (is_spmd_partitioned=true) that it is the program of one partition already: shapes are
// those of tiles, and shardings tell which. The partitioner leaves such a module alone.
void MarkPartitioned(HloModule* module);
// "async-to-sync": an op in place of each asynchronous pair of it; domains go. Needed.
std::unique_ptr<HloPass> MakeAsyncToSync();
// "loop-products": one product of all rounds for those that a loop computes round by round. Adds up in another order.
std::unique_ptr<HloPass> MakeLoopProducts();
// "inline-fusions": puts the instructions of fusions that the module brings along in their place. Needed where no
// fusions were made before.
std::unique_ptr<HloPass> MakeFusionInliner();
// "inline-calls": puts small or only once called computations in the place of their calls.
std::unique_ptr<HloPass> MakeCallInliner();
// "flatten": gives every while and conditional computations of its own. Needed by copy insertion.
std::unique_ptr<HloPass> MakeFlattenCallGraph();
// "expand": writes instructions that the target does not emit in others (expand/expansions.h). Needed.
std::unique_ptr<HloPass> MakeExpander(const Target* target);
// "check-support": refuses instructions that the target does not emit, by name. Needed.
std::unique_ptr<HloPass> MakeSupportCheck(const Target* target);
// "cse": one instruction for equal ones.
std::unique_ptr<HloPass> MakeCse();
// "simplify": rules that make less work of an instruction (simplify.cc). `strict`: only those that keep every bit.
std::unique_ptr<HloPass> MakeSimplifier(bool strict);
// "fold-constants": evaluates instructions whose operands are constants, up to `limit` elements.
std::unique_ptr<HloPass> MakeConstantFolding(int64_t limit);
// "normalize-layout": every array row-major; other layouts of the entry's parameters and results become transposes.
// Needed.
std::unique_ptr<HloPass> MakeLayoutNormalization();
// "fuse": puts producers into the loops of their consumers. A computation that many loops would repeat is not
// duplicated beyond a budget.
std::unique_ptr<HloPass> MakeFusion(const Target* target);

}  // namespace hilo

#endif  // HILO_HLO_PASSES_STANDARD_PASSES_H_
