// Places buffers with lifetimes in one frame.
#ifndef HILO_HLO_MEMORY_FRAME_PACKING_H_
#define HILO_HLO_MEMORY_FRAME_PACKING_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

namespace hilo {

struct Lifetime {
  int64_t start, end;  // moments; [start, end)
};

struct FramePiece {
  int64_t size = 0;                 // bytes
  std::vector<Lifetime> lifetimes;  // pieces that live at one moment get disjoint places
  int64_t offset = 0;               // result, a multiple of the alignment
};

// Sets every offset and returns the size of the frame in bytes.
// Errors: ResourceExhausted if the frame would exceed `limit`.
absl::StatusOr<int64_t> PackFrame(int64_t alignment, int64_t limit, std::vector<FramePiece>* pieces);

}  // namespace hilo

#endif  // HILO_HLO_MEMORY_FRAME_PACKING_H_
