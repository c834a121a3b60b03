// The pipeline shared by backends that generate code: stages, their passes, and why the order matters. A backend adds
// its own passes at the hooks.
#ifndef HILO_HLO_PASSES_STANDARD_PIPELINE_H_
#define HILO_HLO_PASSES_STANDARD_PIPELINE_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "hlo/passes/hlo_pass.h"
#include "hlo/passes/standard_passes.h"

namespace hilo {

using PassList = std::vector<std::unique_ptr<HloPass>>;

template <typename... Passes>
PassList MakePassList(Passes... passes) {
  PassList list;
  (list.push_back(std::move(passes)), ...);
  return list;
}

struct StandardPipelineOptions {
  bool strict = false;
  int64_t constant_folding_limit = 0;
  bool keep_dots = false;            // of the simplifier: the backend runs it again, without, once attention is fused
  double instructions_per_byte = 0;  // see MakeFusion
};

// Passes of a backend, each list in order.
struct PipelineHooks {
  PassList before_expansion;  // in kCore, repeated with it: on operations before expansion
  PassList after_layout;      // at the end of kLaidOut
  PassList before_fusion;     // in kFused, once loops and branches own their computations
  PassList after_fusion;      // at the end of kFused
};

// What precedes every backend, and leads to kInput again: calls of LAPACK, and the program of one partition of a
// sharded module. Arguments as those of MakePartitioner.
PassPipeline InputPipeline(OpenValues open = {}, std::vector<ShardingNote>* notes = nullptr);

// The stages from kInput to kFused. `target` outlives the pipeline.
PassPipeline StandardPipeline(const Target* target, const StandardPipelineOptions& options, PipelineHooks hooks = {});

}  // namespace hilo

#endif  // HILO_HLO_PASSES_STANDARD_PIPELINE_H_
