// The time that kernels would take if memory or arithmetic were all that they wait for.
#ifndef HILO_BACKENDS_GPU_CHOICE_ROOFLINE_H_
#define HILO_BACKENDS_GPU_CHOICE_ROOFLINE_H_

#include <cstdint>
#include <string>

#include "backends/gpu/match/product_match.h"
#include "backends/gpu/match/row_plan.h"
#include "hlo/analysis/attention.h"
#include "hlo/analysis/score_grid.h"
#include "hlo/ir/hlo_module.h"
#include "hlo/ir/kernel_config.h"

namespace hilo::gpu {

// An H100 with HBM3. Rates are those that good kernels reach, about 0.85 of the data sheet's for memory.
struct GpuMachine {
  double bytes_per_ns = 2850;
  double cache_bytes_per_ns = 5500;     // of the second cache
  double instructions_per_ns = 29'600;  // one per lane and cycle: 132 * 128 at 1.755 GHz
  double launch_ns = 2000;
  double latency_ns = 700;  // of a read from memory that waits for others
  int64_t multiprocessors = 132;
};

enum class ProductUnit { kThreads, kOwnTensorCores, kOwnPipeline, kWarpGroups, kLibrary };

// The flops per nanosecond of products with factors of `type`. Of the peak of tensor cores libraries reach about 0.7;
// mma.sync is taken to reach half of that, and 0.5 of the peak with strips that asynchronous copies fill. Warp groups
// are taken to reach what libraries do, where shared memory is as fast (WarpGroupPart).
double ProductFlopsPerNs(PrimitiveType type, ProductUnit unit);

// Returns the part of the tensor cores' time for which shared memory feeds them, where warp groups multiply: each reads
// its rows and all columns of the tile from there, where strips of both are written too.
double WarpGroupPart(const ProductTile& tile);

struct Roofline {
  double bytes = 0, flops = 0;
  double memory_ns = 0, arithmetic_ns = 0, launch_ns = 0;

  double ns() const;
  // Returns what takes longest: "memory", "arithmetic" or "launch".
  const char* bound() const;
};

// Of one execution of an instruction that has a KernelConfig.
Roofline RooflineOf(const HloInstruction& instruction);

// Of one execution of a sort by kernels of `config`. What the bisections of merges wait for is not counted.
Roofline SortRoofline(const HloInstruction& sort, const KernelConfig& config);

// Of one execution of a kernel of streamed rows: what it computes again, and reads again from the second cache, is
// counted in its times.
Roofline StreamedRowsRoofline(const HloInstruction& instruction, const RowPlan& plan);

// Of one execution of a kernel that computes the attention, or the grid of scores, whose strips asynchronous copies
// fill or not.
Roofline AttentionRoofline(const Attention& attention, const KernelConfig& config);
Roofline ScoreGridRoofline(const ScoreGrid& grid, bool copies_strips);
// Return the time of the same work by products of a library, and kernels of the rows that read the scores and write the
// products' factors: one of an attention, and one for each set of scores that factors of a grid are computed from.
double AttentionInPartsNs(const Attention& attention);
double ScoreGridInPartsNs(const ScoreGrid& grid);

// Returns a line for each kernel of a scheduled module, computation by computation.
std::string RooflineText(const HloModule& module);

}  // namespace hilo::gpu

#endif  // HILO_BACKENDS_GPU_CHOICE_ROOFLINE_H_
