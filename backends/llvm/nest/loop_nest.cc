#include "backends/llvm/nest/loop_nest.h"

namespace hilo::codegen {

int64_t PartsOf(const LoopNest& nest) {
  int64_t parts = 1;
  for (const NestDim& dim : nest) parts *= dim.parts();
  return parts;
}

Index Joined(EmitterContext& context, const Position& position) {
  if (position.size() == 1) return position[0];
  std::vector<LaneIndex> all;
  for (const Index& index : position) {
    for (const LaneIndex& dim : index.Dims(context)) all.push_back(dim);
  }
  return Index(std::move(all));
}

}  // namespace hilo::codegen
