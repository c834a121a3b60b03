// Assigns buffers with lifetimes to offsets in one frame.
#ifndef HILO_HLO_MEMORY_FRAME_PACKING_H_
#define HILO_HLO_MEMORY_FRAME_PACKING_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

namespace hilo {

struct Lifetime {
  int64_t start, end;  // program points; [start, end)
};

struct FramePiece {
  int64_t size = 0;                 // bytes
  std::vector<Lifetime> lifetimes;  // pieces that are live at the same point get disjoint ranges
  int64_t offset = 0;               // result, a multiple of the alignment
};

// Sets every offset and returns the size of the frame in bytes.
// Errors: ResourceExhausted if the frame would exceed `limit`.
absl::StatusOr<int64_t> PackFrame(int64_t alignment, int64_t limit, std::vector<FramePiece>* pieces);

}  // namespace hilo

#endif  // HILO_HLO_MEMORY_FRAME_PACKING_H_
